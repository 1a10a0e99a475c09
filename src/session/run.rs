//! What determines a run from its reset on, as a file that shows the same on another machine.
//!
//! A scene is a function of its texts, its constants, the seed and what enters its steps. A run file has all of these,
//! and digests of what came out, by which whoever repeats it knows whether it was the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{
    Error, Session,
    digests::Digests,
    effort::Effort,
    line::{Line, Text as Logged},
    options::Engine,
    run_files::{Reading, RunFile, Unpacked},
};
use crate::{
    device::DeviceKind,
    file,
    interrupt::Interrupt,
    scene::{Inputs, Keys, Overrides, Scene, Value},
    state::MOST_STEPS,
};

/// What the first entry of every run file is.
const FORMAT: &str = "warpaint run";
/// The newest version. Every older one is read: before 3 no text says what entered its reset passes, before 2 one text
/// at most takes over at a step.
const VERSION: u32 = 4;

/// A run, as its file has it: JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// `warpaint run`.
    format: String,
    /// The version of the format.
    version: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// The name of the scene's file. Where it lay is nobody's business but its owner's.
    pub name: String,
    /// The device that it ran on.
    pub device: String,
    /// The version of CUDA that its driver is for, as in `13.0`; `None` where there was none, and in files of older
    /// programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// NVRTC's version.
    pub nvrtc: Option<String>,
    /// The run's seed.
    pub seed: u64,
    /// Whether `[constant.cpu]` stood over `[constant]`; the first files do not say it.
    #[serde(default)]
    pub cpu: Option<bool>,
    /// Whether the CPU device's interpreter ran it, as it does with `--checked`: approximations have other last bits
    /// there than in compiled code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interpreted: bool,
    /// Constants that were replaced.
    pub constants: BTreeMap<String, String>,
    /// Macros that were defined.
    pub defines: BTreeMap<String, String>,
    /// Finished steps at its end.
    pub steps: u64,
    /// The texts, each with the steps that were finished when it took over.
    pub texts: Vec<Text>,
    /// What entered steps, where it is not as in the step before.
    pub inputs: Vec<Entered>,
    /// Digests of the resources.
    pub digests: Vec<Digests>,
    /// The files that the scene reads beside its own. `None` in what older programs wrote: they lie beside the run's
    /// file.
    #[serde(default)]
    pub files: Option<Vec<RunFile>>,
    /// The folders of `-I`, as names of files go.
    #[serde(default)]
    pub include: Vec<String>,
    /// Folders that are only gone through on the way to a file, as names of files go.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub folders: BTreeSet<String>,
    /// The files among them that are given to resources by `--load`.
    #[serde(default)]
    pub loads: BTreeMap<String, String>,
}

/// A text of a scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// Steps that were finished when it took over.
    pub step: u64,
    /// The text.
    pub text: String,
    /// How much its compiler optimised; in files of older programs as usual.
    #[serde(default)]
    pub effort: Effort,
    /// What entered the reset passes that it did; `None` where it did none to their end, and in files of older
    /// programs.
    #[serde(default)]
    pub entered: Option<Entered>,
}

/// What entered a step and those after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entered {
    /// Steps that were finished before.
    pub step: u64,
    /// See [`Inputs::mouse`].
    pub mouse: [f32; 4],
    /// See [`Inputs::keys`].
    pub keys: [u32; 4],
    /// The values of the parameters.
    pub parameters: BTreeMap<String, Value>,
}

impl Run {
    /// Reads a run file.
    ///
    /// # Errors
    /// A sentence with the place, where the file is damaged, or of another kind.
    pub fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        let head: Head = serde_json::from_str(text)
            .map_err(|error| format!("it is no run file, or a damaged one: {error}"))?;
        if head.format != FORMAT {
            return Err(format!("it is a `{}`, and no `{FORMAT}`", head.format));
        }
        if head.version > VERSION {
            return Err(format!(
                "its version, {}, is newer than {VERSION}, which this program reads",
                head.version
            ));
        }
        let run: Self =
            serde_json::from_str(text).map_err(|error| format!("it is damaged: {error}"))?;
        run.check()?;
        Ok(run)
    }

    /// That a run can be made of it: a text is there from the first step on, and all is in order.
    fn check(&self) -> Result<(), String> {
        let lists: [(&str, Vec<u64>); 3] = [
            ("texts", self.texts.iter().map(|text| text.step).collect()),
            ("inputs", self.inputs.iter().map(|entered| entered.step).collect()),
            ("digests", self.digests.iter().map(|digests| digests.step).collect()),
        ];
        for (name, steps) in lists {
            let may_repeat = name == "texts" && self.version > 1;
            if !steps.is_sorted_by(|before, next| before < next || may_repeat && before == next) {
                return Err(format!("it is damaged: the steps of its `{name}` do not ascend"));
            }
        }
        if self.steps > MOST_STEPS {
            return Err("it is damaged: no run has so many steps".to_owned());
        }
        if self.texts.first().is_none_or(|text| text.step != 0) {
            return Err("it is damaged: it has no text for the first step".to_owned());
        }
        // Every run has those of its end: without them nothing would tell whether the same came out.
        if self.digests.last().is_none_or(|digests| digests.step != self.steps) {
            return Err("it is damaged: it has no digests of its last step".to_owned());
        }
        Ok(())
    }

    /// Whether its texts say what entered their reset passes.
    pub fn knows_resets(&self) -> bool {
        self.version >= 3
    }

    /// The file's text.
    pub fn to_json(&self) -> String {
        // Maps have texts for keys, so that nothing of it cannot be JSON.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let written = file::replace(path, self.to_json());
        written.map_err(|error| Error::of_file("write", path, error.into()))
    }

    /// The files of the run in a folder of their own; `None` where they lie beside the run's file. Once `interrupt` is
    /// raised that ends with an error, and without the folder.
    ///
    /// # Errors
    /// A sentence.
    pub fn unpack(&self, interrupt: &Interrupt) -> Result<Option<Unpacked>, String> {
        let Some(files) = &self.files else { return Ok(None) };
        let others: Vec<String> = self.include.iter().chain(self.loads.values()).cloned().collect();
        Unpacked::new(files, &self.folders, &others, interrupt).map(Some)
    }

    /// Whether `[constant.cpu]` stands over `[constant]`: as the file says, or else on a CPU device.
    fn is_for_cpu(&self) -> bool {
        self.cpu.unwrap_or_else(|| !self.device.contains("cuda:"))
    }

    /// What the scene is compiled with; `files` are those of the run.
    pub fn overrides(&self, files: Option<&Unpacked>) -> Overrides {
        let (constants, defines) = (self.constants.clone(), self.defines.clone());
        let overrides =
            Overrides { constants, defines, cpu: Some(self.is_for_cpu()), ..Overrides::default() };
        let Some(files) = files else { return overrides };
        let include_dirs = self.include.iter().map(|name| files.place(name));
        let loads = self.loads.iter().map(|(of, name)| (of.clone(), files.place(name)));
        Overrides {
            // What lies above the scene's folder is the run's own, too.
            include_dirs: include_dirs.chain([files.root().to_owned()]).collect(),
            loads: loads.collect(),
            ..overrides
        }
    }
}

impl Entered {
    /// `names` are those of the parameters.
    fn of(step: u64, inputs: &Inputs, names: &[String]) -> Self {
        let named = names.iter().cloned().zip(inputs.parameters.iter().cloned());
        let Inputs { mouse, keys: Keys(keys), .. } = *inputs;
        Self { step, mouse, keys, parameters: named.collect() }
    }
}

/// The last part of a path.
fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name();
    name.map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

impl Session {
    /// What determines the present state, from its reset on; with digests of what the resources hold now, and of what
    /// they held at some of the steps that are kept. Waits for all of it.
    ///
    /// # Errors
    /// [`Error::NoRun`] where the past is not kept, or does not begin with a reset; the device's.
    pub fn run(&mut self) -> Result<Run, Error> {
        self.finish_seeking()?;
        let (mut run, present) = (self.undigested_run()?, self.digests()?);
        run.files = Some(self.reading()?.read()?);
        let mut digests = BTreeMap::from([(present.step, present)]);
        for moment in self.digested_moments() {
            let checkpoint = self.history.as_ref().and_then(|history| history.checkpoint(moment));
            if let Some(checkpoint) = checkpoint {
                let copy = checkpoint.download(&self.stream)?.wait()?;
                digests.entry(moment.step).or_insert_with(|| Digests::of(&copy));
            }
        }
        run.digests = digests.into_values().collect();
        Ok(run)
    }

    /// That [`Session::run`] can have all that the run reads.
    ///
    /// # Errors
    /// [`Error::NoRun`], [`Error::File`].
    pub fn expect_run(&self) -> Result<(), Error> {
        self.reading()?.check()
    }

    /// What the programs read that led to the present state.
    pub(super) fn reading(&self) -> Result<Reading, Error> {
        let history = self.history.as_ref().ok_or_else(|| Error::NoRun("it is not kept".into()))?;
        let of_past = history.texts(self.moment()).map(|text| text.files.clone());
        let present = self.program.iter().map(|program| program.files.clone());
        let Overrides { include_dirs, loads, .. } = self.options.overrides.clone();
        let used = of_past.chain(present).collect();
        Ok(Reading { scene: self.options.path.clone(), include_dirs, loads, used })
    }

    /// The run without digests and files.
    pub(super) fn undigested_run(&self) -> Result<Run, Error> {
        let history = self.history.as_ref().ok_or_else(|| Error::NoRun("it is not kept".into()))?;
        let at = self.moment();
        let mut lines: Vec<(&Line, u64)> = history.ancestry(at).collect();
        lines.reverse();
        match lines.first() {
            Some((line, _)) if line.is_loaded => {
                let reason =
                    "it goes on from the state in a file, and a run file begins with a reset";
                return Err(Error::NoRun(reason.into()));
            }
            Some((line, _)) if line.parent.is_none() => {}
            Some(_) | None => return Err(Error::NoRun("it does not begin with a reset".into())),
        }
        let text = |of: &Logged| {
            let (step, text) = (of.step, of.text.to_string());
            let entered = of.entered.as_ref();
            let entered = entered.map(|inputs| Entered::of(step, inputs, &self.names_of(&text)));
            Text { step, text, effort: of.effort, entered }
        };
        let mut logged: Vec<&Logged> = history.texts(at).collect();
        logged.reverse();
        // A text that goes on in another line is one text.
        logged.dedup_by(|next, before| {
            let is_same = (&next.text, next.effort) == (&before.text, before.effort);
            is_same && next.has_done_nothing()
        });
        let mut texts: Vec<Text> = logged.into_iter().map(text).collect();
        let mut inputs = Vec::new();
        for (line, end) in lines {
            let names = line.log.texts.iter().map(|of| (of.step, self.names_of(&of.text)));
            let names: Vec<(u64, Vec<String>)> = names.collect();
            for (step, entered) in line.log.entered.range(..end) {
                let own = names.iter().rev().find(|(first, _)| first <= step);
                let own = own.map_or(&[][..], |(_, names)| names);
                inputs.push(Entered::of(*step, entered, own));
            }
        }
        // No step has been done by it.
        if let (true, Some(program)) = (texts.is_empty(), &self.program) {
            let (text, effort) = (program.scene.source.to_string(), program.effort);
            texts.push(Text { step: 0, text, effort, entered: None });
        }
        let reading = self.reading()?;
        let Overrides { constants, defines, .. } = self.options.overrides.clone();
        let is_cpu = self.device.info().kind == DeviceKind::Cpu;
        Ok(Run {
            format: FORMAT.to_owned(),
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            name: file_name(&self.options.name),
            device: self.device.info().to_string(),
            driver: self
                .device
                .info()
                .driver_version
                .map(|(major, minor)| format!("{major}.{minor}")),
            nvrtc: self.worker.nvrtc(),
            seed: self.state.inputs.seed,
            cpu: Some(self.options.overrides.cpu.unwrap_or(is_cpu)),
            interpreted: self.options.engine != Engine::Device,
            constants,
            defines,
            steps: self.state.inputs.step,
            texts,
            inputs,
            digests: Vec::new(),
            files: None,
            include: reading.include_dirs(),
            folders: reading.passed_folders(),
            loads: reading.loads(),
        })
    }

    /// Lets the next step have these inputs.
    pub fn enter(&mut self, entered: &Entered) {
        let Some(program) = &self.program else { return };
        let inputs = &mut self.state.inputs;
        inputs.parameters =
            program.scene.manifest.take_values(&entered.parameters, &inputs.parameters);
        (inputs.mouse, inputs.keys) = (entered.mouse, Keys(entered.keys));
    }

    /// Lets the next reset have these inputs, whatever program does it.
    pub fn enter_reset(&mut self, entered: Option<Entered>) {
        self.resets.inputs = entered;
    }

    /// The names of the parameters that a text declares.
    fn names_of(&self, text: &str) -> Vec<String> {
        let scene = Scene::parse(&self.options.name, text, &self.options.overrides);
        scene.map_or_else(
            |_| Vec::new(),
            |scene| scene.manifest.parameters.into_iter().map(|parameter| parameter.name).collect(),
        )
    }
}
