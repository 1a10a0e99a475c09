//! What a scene's plots show: computed here alone, whenever statistics are taken.

use std::{ops::Range, sync::Arc};

use super::{
    Error, program::Program, statistics::Board, summaries::Summaries, time_series::TimeSeries,
};
use crate::{
    array::{Counts, PendingCounts},
    device::{Pitch, Readback, Stream},
    draw::{Chart, Marks, Series},
    element::{Part, Scalar, Type},
    scene::{Along, Components, Manifest, Measured, Plot, PlotKind, Selection},
    state::Borrowed,
};

/// What numbers are called whose elements have no components.
const SCALAR: &str = "value";

/// The plots of a scene, in the manifest's order.
#[derive(Default)]
pub(super) struct Plots {
    list: Vec<Plotted>,
    pending: Vec<(usize, Awaited)>,
}

/// A plot, and what it shows.
struct Plotted {
    declared: Plot,
    /// Of a plot over the steps, one for each line.
    lines: Vec<TimeSeries>,
    chart: Arc<Chart>,
}

/// What is on its way from the device.
enum Awaited {
    Counts(PendingCounts),
    Values(Readback),
}

/// What a plot of a resource shows: lanes of one of its parts.
struct Selected {
    of: Type,
    part: Part,
    /// Where the part stands among all.
    index: usize,
    lanes: Range<u8>,
    /// What the lanes are called.
    names: Vec<String>,
}

impl Selected {
    /// `None` for what the resource does not have.
    fn of(of: &Type, components: Option<Components>) -> Option<Self> {
        let all = of.parts();
        let first = components.map_or(0, |components| usize::from(components.first));
        let (part, lane) = of.part_of(first)?;
        let lanes = components.map_or(part.element.lanes.into(), |components| components.count);
        let lanes = lane as u8..(lane as u8).saturating_add(lanes as u8);
        let index = all.iter().position(|other| *other == part)?;
        let name = |name: String| if name.is_empty() { SCALAR.to_owned() } else { name };
        let names = of.components().into_iter().skip(first).take(lanes.len()).map(name);
        Some(Self { of: of.clone(), index, names: names.collect(), part, lanes })
    }

    /// What a plot shows of the resources of `manifest`; `None` for statistics over the steps.
    fn by(kind: &PlotKind, types: &[Type]) -> Option<Self> {
        match kind {
            PlotKind::Time { .. } => None,
            PlotKind::Histogram { of, .. } | PlotKind::Line { of, .. } => {
                Self::of(types.get(of.of.0)?, of.components)
            }
        }
    }
}

impl Plots {
    /// Becomes the plots of `manifest`. Those over the steps go on where they are declared as before.
    pub(super) fn follow(&mut self, manifest: &Manifest) {
        let mut before = std::mem::take(&mut self.list);
        self.pending.clear();
        let plotted = |declared: &Plot| {
            let known = before.iter().position(|old| continues(&old.declared, declared));
            let known = known.map(|index| before.swap_remove(index));
            let mut plotted = Plotted {
                declared: declared.clone(),
                lines: known.map_or_else(Vec::new, |known| known.lines),
                chart: Arc::new(empty(declared, manifest)),
            };
            plotted.draw_tracks();
            plotted
        };
        self.list = manifest.plots.iter().map(plotted).collect();
    }

    /// Forgets the steps so far: the scene starts anew.
    pub(super) fn restart(&mut self) {
        for plotted in &mut self.list {
            plotted.lines.clear();
        }
    }

    /// Gives up what is on its way.
    pub(super) fn abandon(&mut self) {
        self.pending.clear();
    }

    /// Puts what they need of the resources on `stream`, behind the statistics that `board` has put there.
    pub(super) fn enqueue(
        &mut self,
        program: &Program,
        stream: &Stream,
        borrowed: &mut [Borrowed<'_>],
        board: &Board,
    ) -> Result<(), Error> {
        self.pending.clear();
        for (index, plotted) in self.list.iter().enumerate() {
            let awaited = match &plotted.declared.kind {
                PlotKind::Time { .. } => None,
                PlotKind::Histogram { of, bins, range } => {
                    let what = (*of, *bins, *range);
                    counts(what, program, &program.summary, stream, borrowed, board)?
                }
                PlotKind::Line { of, along } => {
                    values(*of, *along, &program.types, stream, borrowed)?
                }
            };
            self.pending.extend(awaited.map(|awaited| (index, awaited)));
        }
        Ok(())
    }

    /// Takes over what has been put on the stream, which has arrived with the statistics; `number` tells these. They
    /// are those of `step`, where plots over the steps are to have them.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn collect(
        &mut self,
        step: Option<u64>,
        types: &[Type],
        number: impl Fn(Measured) -> f64,
    ) -> Result<(), Error> {
        for plotted in &mut self.list {
            step.into_iter().for_each(|step| plotted.note(step, &number));
        }
        for (index, awaited) in std::mem::take(&mut self.pending) {
            let Some(Plotted { declared, chart, .. }) = self.list.get_mut(index) else { continue };
            let Some(selected) = Selected::by(&declared.kind, types) else { continue };
            let found = match awaited {
                Awaited::Counts(pending) => of_counts(&pending.wait()?),
                Awaited::Values(readback) => of_values(&readback.wait()?, &selected),
            };
            let named = selected.names.into_iter().zip(found);
            let series = named.map(|(name, points)| Series { name, points });
            Arc::make_mut(chart).series = series.collect();
        }
        Ok(())
    }

    /// What they show.
    pub(super) fn charts(&self) -> Vec<Arc<Chart>> {
        self.list.iter().map(|plotted| plotted.chart.clone()).collect()
    }
}

impl Plotted {
    /// Notes the statistics of `step`, where it shows some.
    fn note(&mut self, step: u64, number: &impl Fn(Measured) -> f64) {
        let PlotKind::Time { of } = &self.declared.kind else { return };
        self.lines.resize(of.len(), TimeSeries::default());
        for ((_, measured), time_series) in of.iter().zip(&mut self.lines) {
            time_series.push(step, number(*measured));
        }
        self.draw_tracks();
    }

    fn draw_tracks(&mut self) {
        let PlotKind::Time { of } = &self.declared.kind else { return };
        let series = of.iter().zip(&self.lines);
        let series = series.map(|((name, _), time_series)| Series {
            name: name.clone(),
            points: time_series.points(),
        });
        Arc::make_mut(&mut self.chart).series = series.collect();
    }
}

/// Whether a plot over the steps is one that there was before.
fn continues(old: &Plot, new: &Plot) -> bool {
    let names = |plot: &Plot| match &plot.kind {
        PlotKind::Time { of } => Some(of.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()),
        PlotKind::Histogram { .. } | PlotKind::Line { .. } => None,
    };
    old.name == new.name && names(old).is_some() && names(old) == names(new)
}

/// Everything of a chart but its numbers.
fn empty(declared: &Plot, manifest: &Manifest) -> Chart {
    let in_unit = |text: &str| match declared.unit.as_str() {
        "" => text.to_owned(),
        unit => format!("{text} in {unit}"),
    };
    let (marks, title, x_label) = match &declared.kind {
        PlotKind::Time { .. } => (Marks::Line, in_unit(&declared.title), "step".to_owned()),
        PlotKind::Histogram { of, .. } => {
            (Marks::Bars, declared.title.clone(), in_unit(&of.name(manifest)))
        }
        PlotKind::Line { along, .. } => {
            let x_label = match along {
                Along::Elements { .. } => "element",
                Along::Row(_) => "x",
                Along::Column(_) => "y",
            };
            (Marks::Line, in_unit(&declared.title), x_label.to_owned())
        }
    };
    Chart { title, x_label, log: declared.log, marks, series: Vec::new() }
}

fn counts(
    (of, bins, range): (Selection, u32, Option<[f64; 2]>),
    program: &Program,
    kernels: &Summaries,
    stream: &Stream,
    borrowed: &mut [Borrowed<'_>],
    board: &Board,
) -> Result<Option<Awaited>, Error> {
    let selected = program.types.get(of.of.0).and_then(|types| Selected::of(types, of.components));
    let (Some(borrowed), Some(selected)) = (borrowed.get_mut(of.of.0), selected) else {
        return Ok(None);
    };
    let statistics = board.on_the_way(of.of).and_then(|all| all.get(selected.index));
    let Some(statistics) = statistics else { return Ok(None) };
    let data = (borrowed.linear(stream)?, &selected.part, selected.of.bytes());
    let what = (bins, range);
    let pending = kernels.binning()?.enqueue(stream, data, selected.lanes, what, statistics)?;
    Ok(Some(Awaited::Counts(pending)))
}

fn values(
    of: Selection,
    along: Along,
    types: &[Type],
    stream: &Stream,
    borrowed: &mut [Borrowed<'_>],
) -> Result<Option<Awaited>, Error> {
    let selected = types.get(of.of.0).and_then(|types| Selected::of(types, of.components));
    let (Some(borrowed), Some(selected)) = (borrowed.get_mut(of.of.0), selected) else {
        return Ok(None);
    };
    let readback = match (along, borrowed.texture()) {
        (Along::Row(row), Some(texture)) => {
            let [width, ..] = texture.region().size();
            stream.download(texture.region().part([0, row as usize, 0], [width, 1, 1])?)?
        }
        (Along::Column(column), Some(texture)) => {
            let [_, height, _] = texture.region().size();
            stream.download(texture.region().part([column as usize, 0, 0], [1, height, 1])?)?
        }
        (Along::Elements { first, step, count }, None) => {
            // Of structures the field alone: they may have many others.
            let (bytes, each) = (selected.part.element.bytes(), selected.of.bytes().max(1));
            let elements = borrowed.linear(stream)?;
            let (stride, count) = (each * step as usize, count as usize);
            let start = each * first as usize + selected.part.offset;
            let fields = elements.slice(start.min(elements.bytes())..)?;
            let pitch = Pitch { row_bytes: stride, rows: count };
            stream.download(fields.rows(pitch, [bytes, count, 1])?)?
        }
        // The manifest gives textures cuts alone, and others elements.
        (Along::Elements { .. }, Some(_)) | (Along::Row(_) | Along::Column(_), None) => {
            return Ok(None);
        }
    };
    Ok(Some(Awaited::Values(readback)))
}

/// The bars of each component that was counted.
fn of_counts(counted: &Counts) -> Vec<Vec<[f64; 2]>> {
    let ends = counted.ends();
    // Behind the last one there is nothing.
    let bars = |counts: &Vec<u64>| {
        let heights = counts.iter().map(|count| *count as f64).chain([0.0]);
        ends.iter().zip(heights).map(|(end, height)| [*end, height]).collect()
    };
    counted.counts.iter().map(bars).collect()
}

/// The numbers of each of the selected components, side by side, in elements that are theirs alone; of an array that is
/// a field its first ones.
fn of_values(bytes: &[u8], selected: &Selected) -> Vec<Vec<[f64; 2]>> {
    let Selected { part, lanes, .. } = selected;
    let scalar = part.element.scalar;
    let lane = |lane: usize| {
        let start = lane * scalar.bytes();
        let value = |element: &[u8]| {
            let found = element.get(start..start + scalar.bytes());
            found.map_or(f64::NAN, |bytes| number(bytes, scalar))
        };
        let elements = bytes.chunks_exact(part.element.bytes()).enumerate();
        elements.map(|(index, element)| [index as f64, value(element)]).collect()
    };
    lanes.clone().map(usize::from).map(lane).collect()
}

/// The number that the bytes of a scalar stand for.
fn number(bytes: &[u8], scalar: Scalar) -> f64 {
    let bits = Scalar::bits_in(bytes);
    let integer = || scalar.integer_of(bits).map(|integer| integer as f64);
    scalar.value_of(bits).or_else(integer).unwrap_or(f64::from(u8::from(bits != 0)))
}
