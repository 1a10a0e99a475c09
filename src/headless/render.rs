//! `warpaint render`: runs a scene for some steps and writes down what came out.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{
    Error, Result, Run, SceneSource, npy,
    run::{progress_bar, run_to},
};
use crate::{
    compile::Compiler,
    device::{Device, DeviceInfo},
    diagnostic::Diagnostic,
    draw, gl,
    interop::Interop,
    session::{self, Session, Snapshot},
};

/// What to render, and where to.
#[derive(Clone, Debug)]
pub struct Render {
    /// The scene.
    pub scene: SceneSource,
    /// Steps to run after the reset.
    pub steps: u64,
    /// Width and height of the picture in pixels.
    pub size_px: [u32; 2],
    /// The picture; `None`: nothing is drawn and no OpenGL is needed.
    pub out: Option<PathBuf>,
    /// A picture every so many steps, too; the file name has a `%d` or `%04d` for the step.
    pub every: Option<u64>,
    /// Resources to dump.
    pub dumps: Vec<Dump>,
    /// Statistics, timings and device, as JSON.
    pub json: Option<PathBuf>,
    /// How it runs.
    pub run: Run,
}

/// A resource to write as `.npy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The resource.
    pub resource: String,
    /// The file.
    pub path: PathBuf,
}

/// What `--json` writes.
#[derive(Debug, Serialize)]
struct Report<'a> {
    version: &'static str,
    scene: &'a str,
    seed: u64,
    steps: u64,
    device: &'a DeviceInfo,
    #[serde(flatten)]
    snapshot: Snapshot,
}

/// Runs the scene and writes the files. Returns the compiler's warnings.
///
/// # Errors
/// See [`Error`]: everything that is wrong with the request or the source comes before the first step, and
/// each file is written whole or not at all.
pub fn render(request: &Render, compiler: &Compiler) -> Result<Vec<Diagnostic>> {
    let pattern =
        request.out.as_deref().map(|out| FramePattern::new(out, request.every)).transpose()?;
    check_folders(request)?;
    let device = Device::open(request.run.device)?;
    check_names(request, &device)?;
    let mut stage = pattern.as_ref().map(|_| Stage::new(&device, request.size_px)).transpose()?;
    let interop = match &stage {
        Some(stage) => Interop::new(stage.context.gl(), &device),
        None => Interop::none(&device),
    };
    request.run.session(&request.scene, &device, compiler, interop, |session, remarks| {
        let bar = progress_bar(request.steps);
        let mut done = 0;
        loop {
            let stop = next_stop(done, request);
            run_to(session, stop, &bar)?;
            done = stop;
            if let (Some(pattern), Some(stage)) = (&pattern, &mut stage)
                && (done == request.steps || request.every.is_some())
            {
                pattern.write(done, stage, session)?;
            }
            if done == request.steps {
                break;
            }
        }
        bar.finish_and_clear();
        write_data(request, session)?;
        Ok(remarks)
    })
}

/// The step after which something is to be written next.
fn next_stop(done: u64, request: &Render) -> u64 {
    let every = request.every.filter(|_| request.out.is_some());
    every.map_or(request.steps, |every| (done + every).min(request.steps))
}

/// What can be known to be wrong before anything runs.
fn check_names(request: &Render, device: &Device) -> Result<()> {
    let scene = request.run.parse(&request.scene, device.info().kind)?;
    for dump in &request.dumps {
        if scene.manifest.find_resource(&dump.resource).is_none() {
            let available = scene.manifest.resources().iter().map(|r| r.name.clone()).collect();
            let name = dump.resource.clone();
            return Err(session::Error::NoSuchResource { name, available }.into());
        }
    }
    if request.out.is_some() && scene.manifest.view.is_none() {
        return Err(Error::Usage(format!(
            "{} has nothing to draw: it needs a [view]",
            request.scene.name
        )));
    }
    Ok(())
}

/// That the folders of all files are there: not to be found out after the last step.
fn check_folders(request: &Render) -> Result<()> {
    let dumps = request.dumps.iter().map(|dump| &dump.path);
    for path in request.out.iter().chain(dumps).chain(&request.json) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // A folder whose name has the step's number in it is seen when the step has come.
        let known = folder.filter(|folder| !folder.to_string_lossy().contains('%'));
        if let Some(folder) = known.filter(|folder| !folder.is_dir()) {
            let (path, folder) = (path.display(), folder.display());
            return Err(Error::Usage(format!("cannot write {path}: there is no folder {folder}")));
        }
    }
    Ok(())
}

fn write_data(request: &Render, session: &mut Session) -> Result<()> {
    for dump in &request.dumps {
        let bytes = session.read(&dump.resource)?;
        if let Some(resource) = session.resource(&dump.resource) {
            npy::write(&dump.path, resource, &bytes)?;
        }
    }
    if let Some(path) = &request.json {
        session.measure()?;
        let snapshot = session.snapshot();
        let report = Report {
            version: env!("CARGO_PKG_VERSION"),
            scene: &request.scene.name,
            seed: request.run.seed,
            steps: request.steps,
            device: session.device().info(),
            snapshot,
        };
        let mut text = serde_json::to_vec_pretty(&report).map_err(|error| {
            Error::Usage(format!("the report cannot be written as JSON: {error}"))
        })?;
        text.push(b'\n');
        Error::write(path, text)?;
    }
    Ok(())
}

/// An OpenGL context without a window and the picture drawn there.
struct Stage {
    context: gl::Context,
    view: draw::View,
}

impl Stage {
    fn new(device: &Device, size_px: [u32; 2]) -> Result<Self> {
        let cuda_ordinal = device.as_nvidia().map(crate::device::nvidia::Device::ordinal);
        let context = gl::Context::headless(gl::Headless { cuda_ordinal })?;
        let view = draw::View::new(context.gl(), size_px)?;
        Ok(Self { context, view })
    }

    /// The picture as rows of RGBA, top row first.
    fn picture(&mut self, session: &mut Session) -> Result<Vec<u8>> {
        if session.needs_statistics_to_draw() {
            session.measure()?;
        }
        let camera = session.start_camera();
        Ok(self.view.draw(&session.frame(&camera))?.read_rgba8()?)
    }
}

/// Where pictures go.
enum FramePattern {
    /// Into one file.
    One(PathBuf),
    /// Into one for each step, whose number stands between, with so many digits.
    Numbered { before: String, digits: usize, after: String },
}

impl FramePattern {
    /// `shot.png`, or `frame_%04d.png` for several.
    fn new(out: &Path, every: Option<u64>) -> Result<Self> {
        let text = out.to_string_lossy();
        let usage = |message: String| Err(Error::Usage(message));
        if every == Some(0) {
            return usage("--every needs a number of steps above 0".to_owned());
        }
        let Some((before, rest)) = text.split_once('%') else {
            return match every {
                Some(_) => {
                    usage(format!("--every writes many pictures: give {text} a %04d for the step"))
                }
                None => Ok(Self::One(out.to_owned())),
            };
        };
        match rest.split_once('d') {
            Some((digits, after))
                if digits.chars().all(|c| c.is_ascii_digit()) && digits.len() < 3 =>
            {
                let digits = digits.parse().unwrap_or(0);
                Ok(Self::Numbered { before: before.to_owned(), digits, after: after.to_owned() })
            }
            _ => usage(format!("{text}: only %d and %04d stand for the step")),
        }
    }

    fn path(&self, step: u64) -> PathBuf {
        match self {
            Self::One(path) => path.clone(),
            Self::Numbered { before, digits, after } => {
                format!("{before}{step:0digits$}{after}").into()
            }
        }
    }

    fn write(&self, step: u64, stage: &mut Stage, session: &mut Session) -> Result<()> {
        let pixels = stage.picture(session)?;
        let [width, height] = stage.view.size();
        let path = self.path(step);
        let mut png = Vec::new();
        let encoder = image::codecs::png::PngEncoder::new(&mut png);
        let rgba = image::ExtendedColorType::Rgba8;
        image::ImageEncoder::write_image(encoder, &pixels, width, height, rgba).map_err(
            |error| Error::Usage(format!("{} cannot be encoded: {error}", path.display())),
        )?;
        Error::write(&path, png)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_the_names_that_were_asked_for() {
        let path = |out: &Path, every| FramePattern::new(out, every).map(|p| p.path(12));
        assert_eq!(path("a.png".as_ref(), None).unwrap(), Path::new("a.png"));
        assert_eq!(path("a_%04d_b.png".as_ref(), Some(2)).unwrap(), Path::new("a_0012_b.png"));
        assert_eq!(path("%d.png".as_ref(), None).unwrap(), Path::new("12.png"));
        for (out, every) in
            [("a.png", Some(2)), ("a%d.png", Some(0)), ("a%s.png", None), ("a%123d", None)]
        {
            assert!(matches!(path(out.as_ref(), every), Err(Error::Usage(_))), "{out} {every:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_no_unicode_is_kept() {
        use std::os::unix::ffi::OsStrExt;
        let out = Path::new(std::ffi::OsStr::from_bytes(b"b\xff.png"));
        assert_eq!(FramePattern::new(out, None).unwrap().path(1), out);
    }
}
