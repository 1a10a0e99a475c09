//! What B is opened with.

use std::{
    collections::BTreeMap,
    io,
    thread::{self, JoinHandle},
};

use super::{
    Variant,
    companion::{Companion, Stage},
    comparer::Comparer,
    figures::Figures,
};
use crate::{
    device::{self, Choice, Device, DeviceKind, Pool},
    session::{Engine, Error, Options, Phase, Session, options::Past, source::Source},
};

/// A variant that is to be B.
pub(in crate::session) struct Wanted {
    variant: Variant,
    /// What it is made of, or why there is none.
    source: Result<Source, String>,
    /// A device of its own. A thread opens it: the driver may take a second.
    device: Option<io::Result<JoinHandle<Result<Device, String>>>>,
}

impl Wanted {
    /// Begins to open what it needs.
    pub(super) fn new(variant: Variant, source: Result<Source, String>) -> Self {
        let open = |selector: String| {
            let thread = thread::Builder::new().name("open device".to_owned());
            thread.spawn(move || open(&selector))
        };
        Self { device: variant.device.clone().map(open), variant, source }
    }

    /// Whether [`Companion::new`] waits for nothing.
    pub(super) fn is_ready(&self) -> bool {
        match &self.device {
            Some(Ok(opening)) => opening.is_finished(),
            Some(Err(_)) | None => true,
        }
    }
}

impl Companion {
    /// A variant of `a`.
    pub(in crate::session) fn new(a: &Session, wanted: Wanted) -> Result<Self, Error> {
        let Wanted { variant, source, device } = wanted;
        let opened = device.map(|opening| match opening {
            Ok(opening) => opening.join().map_err(|_| Error::WorkerLost),
            Err(error) => Err(Error::Thread(error)),
        });
        let (elsewhere, source) = match opened.transpose()?.transpose() {
            Ok(device) => (device, source),
            Err(problem) => (None, Err(problem)),
        };
        let of_a = a.program.as_ref();
        let text = match &source {
            Ok(Source::Text(text)) => text.clone(),
            Ok(Source::Made(made)) => made.scene.source.clone(),
            Err(_) => of_a.map(|of_a| of_a.scene.source.clone()).unwrap_or_default(),
        };
        let files = match &source {
            Ok(Source::Made(made)) => made.files.clone(),
            Ok(Source::Text(_)) | Err(_) => of_a.map(|of_a| of_a.files.clone()).unwrap_or_default(),
        };
        let options = options(a, &variant, elsewhere.as_ref());
        let measures = a.options.statistics_every.is_some();
        let device = elsewhere.clone().unwrap_or_else(|| a.device.clone());
        let interop = match &elsewhere {
            Some(device) => a.interop.on(device),
            None => a.interop.clone(),
        };
        let compiler = a.worker.compiler().clone();
        let mut other = Session::open_empty(options, device, compiler, interop, || {}, measures)?;
        other.pause();
        let mut companion = Self {
            variant,
            text,
            files,
            pool: Pool::new(&a.device),
            other,
            is_elsewhere: elsewhere.is_some(),
            program: None,
            stage: Stage::Compiling,
            is_stale: false,
            is_ending: false,
            of_a: None,
            entered: BTreeMap::new(),
            figures: Figures::default(),
            comparer: Comparer::start()?,
            due: None,
        };
        match source {
            Ok(source) => _ = companion.other.submit(source, None),
            Err(problem) => {
                companion.other.edit.compile.phase = Phase::Rejected;
                companion.refuse(problem);
            }
        }
        Ok(companion)
    }
}

/// The device that is called so.
fn open(selector: &str) -> Result<Device, String> {
    let choice = selector.parse::<Choice>()?;
    Device::open(choice).map_err(|error: device::Error| error.to_string())
}

fn options(a: &Session, variant: &Variant, elsewhere: Option<&Device>) -> Options {
    let mut overrides = a.options.overrides.clone();
    overrides.constants.extend(variant.constants.clone());
    overrides.fast_math = variant.fast_math.or(overrides.fast_math);
    // Both are to run the same: what `[constant.cpu]` makes smaller is as in A.
    let is_cpu = a.device.info().kind == DeviceKind::Cpu;
    overrides.cpu = overrides.cpu.or(Some(is_cpu));
    let usual = match elsewhere {
        Some(_) => Engine::Device,
        None => a.options.engine,
    };
    Options {
        path: a.options.path.clone(),
        trust: a.options.trust,
        overrides,
        parameters: a.options.parameters.clone(),
        seed: a.state.inputs.seed,
        step_timeout: a.options.step_timeout,
        interrupt: a.options.interrupt.clone(),
        guarded: variant.guarded.unwrap_or(a.options.guarded),
        engine: variant.engine.unwrap_or(usual),
        history: Past::Forgotten,
        ..Options::new(&a.options.name, "")
    }
}
