//! Plots as files: SVG, PNG or comma-separated values.

use std::path::{Path, PathBuf};

use super::{Error, Result, Run, run::measure, stage::Stage};
use crate::{
    draw::Chart,
    record,
    scene::{Manifest, PlotKind},
    session::Session,
};

/// A plot to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotFile {
    /// The plot.
    pub plot: String,
    /// The file: `.svg`, `.png` or `.csv`.
    pub path: PathBuf,
}

/// What a plot becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Svg,
    Png,
    Csv,
}

impl Format {
    fn of(path: &Path) -> Result<Self> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("csv") => Ok(Self::Csv),
            _ => Err(Error::Usage(format!(
                "{}: plots are written as .svg, .png or .csv",
                path.display()
            ))),
        }
    }
}

/// The plots that a run is to write.
pub(super) struct Plots<'a> {
    files: Vec<(usize, &'a Path, Format)>,
    /// Whether some are over the steps, so that statistics are to be taken on the way.
    over_steps: bool,
}

impl<'a> Plots<'a> {
    /// # Errors
    /// [`Error::Usage`] for a plot that the scene does not have, or a file of another kind.
    pub(super) fn of(files: &'a [PlotFile], manifest: &Manifest, scene: &str) -> Result<Self> {
        let file = |file: &'a PlotFile| {
            let index = manifest.find_plot(&file.plot);
            let index = index.map_err(|problem| Error::Usage(format!("{scene}: {problem}")))?;
            Ok((index, file.path.as_path(), Format::of(&file.path)?))
        };
        let files = files.iter().map(file).collect::<Result<Vec<_>>>()?;
        let over_steps = |(index, ..): &(usize, _, _)| {
            matches!(manifest.plots[*index].kind, PlotKind::Time { .. })
        };
        let over_steps = files.iter().any(over_steps);
        Ok(Self { files, over_steps })
    }

    /// Whether OpenGL draws some of them.
    pub(super) fn are_drawn(&self) -> bool {
        self.files.iter().any(|(_, _, format)| *format == Format::Png)
    }

    /// The steps on the way to `end`, behind `step`, after which statistics are to be taken: every `every`th.
    pub(super) fn stops(
        &self,
        step: u64,
        end: u64,
        every: u64,
    ) -> impl Iterator<Item = u64> + use<> {
        let every = every.max(1);
        let wanted = self.over_steps;
        (step / every + 1..)
            .map(move |k| k.saturating_mul(every))
            .take_while(move |stop| wanted && *stop <= end)
    }

    /// Writes them as they are after the last step.
    ///
    /// # Errors
    /// The session's; those of OpenGL and of writing.
    pub(super) fn write(
        &self,
        session: &mut Session,
        mut stage: Option<&mut Stage>,
        run: &Run,
        size_px: [u32; 2],
    ) -> Result<()> {
        if self.files.is_empty() {
            return Ok(());
        }
        measure(session)?;
        let charts = session.snapshot().plots;
        for (index, path, format) in &self.files {
            let Some(chart) = charts.get(*index) else { continue };
            match format {
                Format::Svg => Error::write(path, chart.to_svg(size_px))?,
                Format::Csv => Error::write(path, chart.to_csv())?,
                Format::Png => png(path, chart, stage.as_deref_mut(), run, size_px)?,
            }
        }
        Ok(())
    }
}

fn png(
    path: &Path,
    chart: &Chart,
    stage: Option<&mut Stage>,
    run: &Run,
    size_px: [u32; 2],
) -> Result<()> {
    let Some(stage) = stage else { return Err(Error::NoStage("there is no OpenGL".to_owned())) };
    let rgba = stage.chart(chart, run, size_px)?;
    Ok(record::png(path, size_px, &rgba)?)
}
