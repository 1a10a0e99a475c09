//! A scene that is ready to run: compiled, loaded, its arguments checked against the compiled kernels.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Instant,
};

use super::{
    Error, Reset,
    contents::{Contents, Reader},
    layout,
    stat::{self, Stat},
    worker::Built,
};
use crate::{
    array::{Binning, Summary, Values},
    compile::{
        self, Compiled, Compiler, Header, Limits, Outcome, PRELUDE_NAME, Reach, Request, Target,
        remark_of_name,
    },
    cuda,
    data::Cache,
    device::{self, Device, DeviceKind, Function, LaunchConfig, Module, Pool, Slice, Stream},
    diagnostic::{Diagnostic, Severity},
    element::Type,
    ptx::outline::{Outline, Variable},
    scene::{self, Entry, Inputs, Number, Plan, PlannedPass, ResourceId, Scene, Scope, What},
    state::{Borrowed, Checkpoint},
};

/// A loaded scene.
pub(super) struct Program {
    pub(super) scene: Scene,
    pub(super) passes: Vec<Pass>,
    pub(super) summary: Arc<Summaries>,
    /// What statistics read each resource as.
    pub(super) types: Vec<Type>,
    /// The manifest's own statistics.
    pub(super) stats: Vec<Stat>,
    pub(super) ptx: Arc<str>,
    module: Module,
    /// The variables of the module that kernels may write.
    variables: Vec<Variable>,
    /// What everything holds at the start.
    contents: Contents,
    /// Which of the texts given to the session it was made from: they are counted.
    pub(super) generation: u64,
}

/// A pass with its kernel.
pub(super) struct Pass {
    pub(super) plan: PlannedPass,
    pub(super) function: Function,
    /// The shape of its launches, where it is always the same.
    config: Option<LaunchConfig>,
    /// Threads of a block that the occupancy suggests.
    suggested: u32,
}

impl Pass {
    /// The shape of a launch in `scope`; `None` where there is nothing to launch. The inner error is the manifest's: a
    /// sentence.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn config(
        &self,
        scope: &Scope<'_>,
        device: &Device,
    ) -> Result<Result<Option<LaunchConfig>, String>, Error> {
        if let Some(config) = self.config {
            return Ok(Ok(Some(config)));
        }
        match shape(&self.plan.declared, self.suggested, scope) {
            Ok(shape) => self.checked(shape, device),
            Err(problem) => Ok(Err(problem)),
        }
    }

    fn checked(
        &self,
        shape: Option<LaunchConfig>,
        device: &Device,
    ) -> Result<Result<Option<LaunchConfig>, String>, Error> {
        let Some(config) = shape else { return Ok(Ok(None)) };
        match config.check(&self.function, device.info()) {
            Ok(()) => Ok(Ok(Some(config))),
            Err(error @ device::Error::InvalidLaunch { .. }) => Ok(Err(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }
}

impl Program {
    /// The resources that an entry of the manifest may write.
    pub(super) fn written_by<'a>(
        &'a self,
        entry: &'a Entry,
    ) -> Box<dyn Iterator<Item = ResourceId> + 'a> {
        let cleared = entry.clear.iter().map(|half| half.resource);
        match &entry.what {
            What::Launch(index) => {
                let pass = self.passes.get(*index).into_iter();
                Box::new(cleared.chain(pass.flat_map(|pass| pass.plan.writes())))
            }
            What::Group { entries, .. } => {
                Box::new(cleared.chain(entries.iter().flat_map(|entry| self.written_by(entry))))
            }
            What::Copy { to, .. } => Box::new(cleared.chain([to.resource])),
        }
    }

    /// Puts everything that `reset` begins anew on `stream` as it is at the start.
    pub(super) fn restore(
        &self,
        reset: &Reset,
        borrowed: &mut [Borrowed<'_>],
        stream: &Stream,
    ) -> Result<(), Error> {
        self.contents.restore(reset, (&self.scene.manifest, &self.module), borrowed, stream)
    }

    /// Sets the variables of the source, which begin anew with each program.
    pub(super) fn set_variables(&self, stream: &Stream) -> Result<(), Error> {
        self.contents.set_variables(&self.module, stream)
    }

    /// Puts a copy of all that a step reads on `stream`.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn checkpoint(
        &self,
        borrowed: &[Borrowed<'_>],
        inputs: Inputs,
        pool: &Pool,
        stream: &Stream,
    ) -> Result<Checkpoint, Error> {
        let of = (&self.scene.manifest, borrowed);
        Ok(Checkpoint::take(of, &self.variables()?, inputs, pool, stream)?)
    }

    /// Puts on `stream` that all is as it was when `checkpoint` was taken.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn go_back_to(
        &self,
        checkpoint: &Checkpoint,
        borrowed: &[Borrowed<'_>],
        stream: &Stream,
    ) -> Result<(), Error> {
        let of = (&self.scene.manifest, borrowed);
        Ok(checkpoint.restore(of, &self.variables()?, stream)?)
    }

    /// The bytes of such a copy, about.
    pub(super) fn state_bytes(&self) -> u64 {
        let resources = self.scene.manifest.resources().iter();
        resources.map(|of| of.bytes() * if of.double() { 2 } else { 1 }).sum()
    }

    fn variables(&self) -> Result<Vec<(&str, Slice<'_>)>, Error> {
        let names = self.variables.iter().map(|variable| variable.name.as_str());
        names.map(|name| Ok((name, self.module.global(name)?))).collect()
    }

    /// Puts on `stream` that variables hold what they hold in `old`, where they are declared there as here.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn carry_variables(&self, old: &Self, stream: &Stream) -> Result<(), Error> {
        let initial = |of: &Self, variable: &Variable| {
            of.ptx.get(variable.initial.clone()).map(str::to_owned)
        };
        for variable in &self.variables {
            let Variable { name, bytes, .. } = variable;
            let same = old.variables.iter().find(|known| {
                (&known.name, &known.bytes) == (name, bytes)
                    && initial(old, known) == initial(self, variable)
            });
            if let Some(same) = same {
                stream.copy(self.module.global(name)?, old.module.global(&same.name)?)?;
            }
        }
        Ok(())
    }

    /// The resources that hold something else at the start than in `old`.
    pub(super) fn changed_contents(&self, old: &Self) -> BTreeSet<String> {
        let (new, before) = (&self.scene.manifest, &old.scene.manifest);
        self.contents.changed(new, &old.contents, before)
    }

    /// Whether some kernel has an array of shared memory whose size is that of the launch.
    pub(super) fn has_dynamic_shared(&self) -> bool {
        self.ptx.contains(".extern .shared")
    }
}

/// How much the compiler optimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// Little: for the first look at an edit.
    Draft,
    /// As usual.
    Full,
}

/// NVRTC's option for a draft: it halves the compilation of the particles scene and makes its step 1.2 times as
/// long. The level above it, `max`, makes steps eight times as long.
const DRAFT: &str = "--Ofast-compile=mid";
/// The first version of NVRTC for which that was tried.
const FIRST_TO_DRAFT: (u32, u32) = (13, 0);

/// Makes programs for one device.
pub(super) struct Builder {
    device: Device,
    compiler: Compiler,
    /// Whether statistics are taken all the time, so that their kernels are to be there with the program.
    measures: bool,
    /// The statistics kernels of the last scene: most edits leave its element types alone.
    summary: Option<Arc<Summaries>>,
    /// The files that the last scene began with.
    files: Cache,
}

/// The statistics kernels of what some resources hold. To translate them takes as long as a scene, so they are made
/// when they are needed first.
pub(super) struct Summaries {
    device: Device,
    compiler: Compiler,
    values: BTreeSet<Values>,
    made: OnceLock<Summary>,
    binning: OnceLock<Binning>,
}

impl Summaries {
    /// The kernels.
    ///
    /// # Errors
    /// The compiler's and the device's, when they are made.
    pub(super) fn get(&self) -> Result<&Summary, Error> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let (target, values) = (target_of(&self.device), self.values.iter().copied());
        let made = Summary::of_values(&self.compiler, &self.device, target, values)?;
        Ok(self.made.get_or_init(|| made))
    }

    /// The kernels of histograms, likewise.
    ///
    /// # Errors
    /// The compiler's and the device's, when they are made.
    pub(super) fn binning(&self) -> Result<&Binning, Error> {
        if let Some(made) = self.binning.get() {
            return Ok(made);
        }
        let scalars = self.values.iter().map(|values| values.element().scalar).collect();
        let made = Binning::new(&self.compiler, &self.device, target_of(&self.device), &scalars)?;
        Ok(self.binning.get_or_init(|| made))
    }
}

impl Builder {
    pub(super) fn new(device: Device, compiler: Compiler, measures: bool) -> Self {
        Self { device, compiler, measures, summary: None, files: Cache::default() }
    }

    /// Whether a draft is there sooner than the real thing: on the CPU device, whose translation is quick, the
    /// compiler's optimiser is what an edit waits for.
    pub(super) fn drafts(&self) -> bool {
        let translates_quickly = self.device.info().kind == DeviceKind::Cpu;
        translates_quickly
            && self.compiler.nvrtc().is_ok_and(|nvrtc| nvrtc.version >= FIRST_TO_DRAFT)
    }

    /// Compiles by `compiler` and loads `scene`. Mistakes of the scene are diagnostics in the result.
    pub(super) fn build(
        &mut self,
        mut scene: Scene,
        effort: Effort,
        compiler: &Compiler,
    ) -> Result<Built, Error> {
        let target = target_of(&self.device);
        let options = if effort == Effort::Draft { vec![DRAFT.to_owned()] } else { Vec::new() };
        let Examined { plan, compiled, contents, mut diagnostics, log, included, untrusted } =
            examine_with(&mut scene, target, options, compiler, &mut self.files)?;
        if effort == Effort::Draft {
            // What has no line is about the option for drafts: NVRTC 13.5 remarks on one of its own.
            diagnostics.retain(|d| d.line.is_some() || d.severity >= Severity::Error);
        }
        let cached = compiled.as_ref().is_some_and(|c| c.cached);
        let mut program = None;
        if let (Some(plan), Some(compiled), Some(contents)) = (plan, compiled, contents) {
            match load(&scene, plan, &compiled, &self.device)? {
                Ok((module, passes, stats)) => {
                    let summary = self.summary(&scene)?;
                    let types =
                        scene.manifest.resources().iter().map(scene::Resource::of).collect();
                    let ptx = compiled.ptx;
                    let variables = written_variables(&ptx, &module);
                    program = Some(Program {
                        scene,
                        passes,
                        summary,
                        types,
                        stats,
                        ptx,
                        module,
                        variables,
                        contents,
                        generation: 0,
                    });
                }
                Err(errors) => diagnostics.extend(errors),
            }
        }
        Ok(Built {
            program,
            diagnostics,
            log,
            cached,
            included: Some(included),
            untrusted,
            lacks_manifest: false,
        })
    }

    fn summary(&mut self, scene: &Scene) -> Result<Arc<Summaries>, Error> {
        let values = values_of(scene);
        let known = self.summary.take().filter(|known| known.values == values);
        let summary = known.unwrap_or_else(|| {
            let (device, compiler) = (self.device.clone(), self.compiler.clone());
            Arc::new(Summaries {
                device,
                compiler,
                values,
                made: OnceLock::new(),
                binning: OnceLock::new(),
            })
        });
        if self.measures {
            summary.get()?;
        }
        self.summary = Some(summary.clone());
        Ok(summary)
    }
}

/// The variables of a module that its kernels may write, and that are found there.
fn written_variables(ptx: &str, module: &Module) -> Vec<Variable> {
    let variables = Outline::new(ptx).variables.into_iter();
    // The texts of `printf` have names that no source can have.
    let written = variables.filter(|of| !of.is_constant && !of.name.starts_with('$'));
    written.filter(|of| module.global(&of.name).is_ok()).collect()
}

/// The architecture that a device's kernels are compiled for: its own, at most what our PTX reader knows.
fn target_of(device: &Device) -> Target {
    let (major, minor) = device.info().compute_capability;
    Target::of_device(major, minor)
}

/// What binding and compiling made of a scene.
pub(crate) struct Examined {
    /// `None` where parameters of kernels do not bind.
    plan: Option<Plan>,
    /// `None` where the source does not compile.
    compiled: Option<Compiled>,
    /// What it begins with; `None` where that cannot be had.
    contents: Option<Contents>,
    /// All that is to be said about the scene: the manifest's, the binding's and the compiler's remarks.
    pub(crate) diagnostics: Vec<Diagnostic>,
    log: Arc<str>,
    /// The files beside the scene that it includes or reads, or would if they were there.
    included: Vec<PathBuf>,
    /// Files that it wants to include or to read and may not.
    untrusted: Vec<String>,
}

/// Binds, compiles and loads `scene` on `device`: all that is to be said about it.
#[cfg(feature = "cli")]
pub(crate) fn examine_on(
    scene: Scene,
    device: &Device,
    compiler: &Compiler,
) -> Result<Vec<Diagnostic>, Error> {
    let mut builder = Builder::new(device.clone(), compiler.clone(), false);
    Ok(builder.build(scene, Effort::Full, compiler)?.diagnostics)
}

/// Compiles a [plain](Scene::plain) file as it stands, and loads it on `device`: all that is to be said about it, first
/// what it has.
///
/// # Errors
/// Those of the compiler and of the device.
#[cfg(feature = "cli")]
pub(crate) fn examine_plain(
    scene: &Scene,
    device: &Device,
    compiler: &Compiler,
) -> Result<Vec<Diagnostic>, Error> {
    let mut request = request(scene, target_of(device), None);
    // Nothing of ours: it is a file for nvcc.
    request.prelude.clear();
    let compiled = match compiler.compile(&request)? {
        Outcome::Compiled(compiled) => compiled,
        Outcome::Rejected { diagnostics, .. } => return Ok(diagnostics),
    };
    let mut remarks = compiled.diagnostics;
    if let Err(error) = device.load(&compiled.ptx) {
        let is_unsupported = matches!(error, device::Error::UnsupportedPtx { .. });
        let all = match is_unsupported {
            true => device::cpu::unsupported_instructions(&compiled.ptx),
            false => Vec::new(),
        };
        let all = if all.is_empty() { vec![error] } else { all };
        for error in all {
            let remark = refusal(scene, error)?;
            // An instruction comes as often as a loop is unrolled.
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
        return Ok(remarks);
    }
    remarks.insert(0, loaded(scene, &compiled.ptx, device));
    Ok(remarks)
}

/// What of a plain file is on a device now.
#[cfg(feature = "cli")]
fn loaded(scene: &Scene, ptx: &str, device: &Device) -> Diagnostic {
    let count = ptx.lines().filter(|line| line.contains(".entry ")).count();
    let templates: BTreeSet<&str> =
        scene.kernels.iter().filter(|kernel| kernel.template).map(|kernel| &*kernel.name).collect();
    let mut text = match count {
        1 => format!("1 kernel compiles and loads on {}", device.info().name),
        count => format!("{count} kernels compile and load on {}", device.info().name),
    };
    if !templates.is_empty() {
        let names: Vec<String> = templates.iter().map(|name| format!("`{name}`")).collect();
        text.push_str(&format!("; of templates, instances alone: {}", names.join(", ")));
    }
    Diagnostic::error(&scene.name, text).with_severity(Severity::Note)
}

/// Binds and compiles `scene` for `target`, and reads the files that it begins with: all that is to be said about it.
#[cfg(feature = "cli")]
pub(crate) fn examine(
    scene: &mut Scene,
    target: Target,
    compiler: &Compiler,
) -> compile::Result<Vec<Diagnostic>> {
    let files = &mut Cache::default();
    Ok(examine_with(scene, target, Vec::new(), compiler, files)?.diagnostics)
}

/// Binds and compiles `scene` for `target`, with `options` for the compiler, and reads the files that it begins with.
fn examine_with(
    scene: &mut Scene,
    target: Target,
    options: Vec<String>,
    compiler: &Compiler,
    files: &mut Cache,
) -> compile::Result<Examined> {
    let mut included = read_included(scene);
    let mut diagnostics = scene.warnings.clone();
    let plan = scene.plan().map_err(|errors| diagnostics.extend(errors)).ok();
    // A kernel that does not exist would be an error inside the compiler's own text: ask only for those of a
    // sound plan, and compile an unsound one for what else there is to say about it.
    let mut request = request(scene, target, plan.as_ref());
    request.options.extend(options);
    let (compiled, log, mut untrusted) = match compile(scene, &mut request, compiler)? {
        Outcome::Compiled(compiled) => {
            diagnostics.extend(compiled.diagnostics.iter().cloned());
            let log = Arc::from(compiled.log.as_str());
            (Some(compiled), log, Vec::new())
        }
        Outcome::Rejected { diagnostics: errors, log, untrusted } => {
            diagnostics.extend(errors);
            (None, Arc::from(log), untrusted)
        }
    };
    let diagnostics =
        diagnostics.into_iter().map(|d| at_pass(plan.as_ref(), in_manifest(scene, d)));
    let diagnostics = diagnostics.collect();
    let mut diagnostics = layout::without_repetitions(scene, diagnostics);
    let plan = match (plan, &compiled) {
        (Some(plan), Some(compiled)) => {
            let typed = layout::typed(scene, plan, &compiled.ptx);
            let found = layout::lay_out(scene, &compiled.ptx);
            let is_laid_out = found.is_empty();
            diagnostics.extend(found);
            match typed {
                Ok(plan) => Some(plan).filter(|_| is_laid_out),
                Err(found) => {
                    diagnostics.extend(found);
                    None
                }
            }
        }
        (plan, _) => plan,
    };
    let mut reader = Reader::new(scene, files, compiler);
    reader.read_resources();
    if let Some(compiled) = &compiled {
        reader.read_variables(&compiled.ptx);
    }
    included.append(&mut reader.files);
    untrusted.append(&mut reader.untrusted);
    let is_whole = reader.diagnostics.is_empty();
    diagnostics.append(&mut reader.diagnostics);
    let contents = Some(reader.finish()).filter(|_| is_whole);
    Ok(Examined { plan, compiled, contents, diagnostics, log, included, untrusted })
}

/// A remark about a kernel's name, with its template arguments, placed where a pass names it; any other one as it is.
fn at_pass(plan: Option<&Plan>, diagnostic: Diagnostic) -> Diagnostic {
    let mut passes = plan.into_iter().flat_map(|plan| &plan.passes);
    let is_meant =
        |pass: &&PlannedPass| diagnostic.text.starts_with(&remark_of_name(&pass.name_expression));
    match passes.find(is_meant).filter(|_| diagnostic.line.is_none()) {
        Some(PlannedPass { declared, .. }) => diagnostic.at(declared.at.line, declared.at.column),
        None => diagnostic,
    }
}

/// A remark about the prelude, placed where the manifest declares the constant that it is about; any other one as it
/// is, but for the lines of the prelude that it names.
fn in_manifest(scene: &Scene, mut diagnostic: Diagnostic) -> Diagnostic {
    if diagnostic.file == PRELUDE_NAME {
        let mut constants = scene.manifest.lines_of_prelude();
        let found = constants.find(|(line, _)| diagnostic.line == Some(*line));
        let Some((_, constant)) = found else { return diagnostic };
        let text = format!("the constant `{}`: {}", constant.name, diagnostic.text);
        let remark = Diagnostic { file: scene.name.clone(), text, ..diagnostic };
        return remark.at(constant.at.line, constant.at.column);
    }
    if diagnostic.text.contains(PRELUDE_NAME) {
        for (line, constant) in scene.manifest.lines_of_prelude() {
            let named = format!("at line {line} of {PRELUDE_NAME}");
            let meant = format!("at line {}", constant.at.line);
            diagnostic.text = diagnostic.text.replace(&named, &meant);
        }
    }
    diagnostic
}

/// Compiles `scene`; where its own text is wrong, what the compiler says of that alone: an open brace in it would show
/// as a mistake in what stands behind it.
/// Both together take no longer than one compilation may.
fn compile(scene: &Scene, request: &mut Request, compiler: &Compiler) -> compile::Result<Outcome> {
    let started = Instant::now();
    let outcome = compiler.compile(request)?;
    let is_alone = request.source.len() == scene.source.len();
    let limits = compiler.limits();
    let time = limits.time.saturating_sub(started.elapsed());
    if is_alone || time < limits.time / 2 || matches!(outcome, Outcome::Compiled(_)) {
        return Ok(outcome);
    }
    request.source = scene.source.to_string();
    let compiler = compiler.clone().with_limits(Limits { time, ..limits });
    Ok(match compiler.compile(request)? {
        Outcome::Compiled(_) => outcome,
        rejected @ Outcome::Rejected { .. } => rejected,
    })
}

/// Reads the kernels of the files beside the scene that it includes, directly or by way of one another, and names the
/// files. What cannot be read is for the compiler to say.
fn read_included(scene: &mut Scene) -> Vec<PathBuf> {
    let Some(path) = scene.path.clone() else { return Vec::new() };
    let source = scene.source.clone();
    let included = included(&source, &path, &include_dirs(scene), &reach(scene));
    let mut paths = Vec::new();
    for (path, text) in included {
        if let Some(text) = text {
            scene.include(&path.display().to_string(), &text);
        }
        paths.push(path);
    }
    paths.sort_unstable();
    paths
}

/// The files beside a `source` that it includes, directly or by way of one another, in the order in which they are
/// read. What cannot be read has no text.
fn included(
    source: &str,
    path: &Path,
    searched: &[PathBuf],
    reach: &Reach,
) -> Vec<(PathBuf, Option<String>)> {
    let beside = |text: &str, path: &Path| {
        let own = path.parent().unwrap_or(Path::new("")).to_owned();
        let folders: Vec<PathBuf> = [own].into_iter().chain(searched.iter().cloned()).collect();
        let names = compile::included_names(text.as_bytes()).unwrap_or_default();
        // The first one that is there, or where it would be.
        names.into_iter().map(move |name| {
            let places = folders.iter().map(|folder| folder.join(&name));
            let found = places.clone().find(|path| path.is_file());
            found.unwrap_or_else(|| folders[0].join(&name))
        })
    };
    let mut budget = compile::Budget::new();
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    let mut open: Vec<PathBuf> = beside(source, path).collect();
    // What is too much is told before it is compiled.
    while let Some(path) = open.pop().filter(|_| budget.follow()) {
        if !seen.insert(path.clone()) {
            continue;
        }
        let text = reach.holds(&path).then(|| budget.read(&path).ok()).flatten();
        let text = text.and_then(|text| String::from_utf8(text).ok());
        open.extend(text.iter().flat_map(|text| beside(text, &path)));
        found.push((path, text));
    }
    found
}

/// Reads a scene from its text, which lies at `path`. Where that alone does not explain it, the headers beside it are
/// looked at: they may define structures that it names.
///
/// # Errors
/// All that is wrong with its manifest.
pub(crate) fn parse(
    name: &str,
    text: &str,
    (path, trusted): (Option<&Path>, bool),
    overrides: &scene::Overrides,
) -> Result<Scene, Vec<Diagnostic>> {
    let placed = |mut scene: Scene| {
        (scene.path, scene.trusted) = (path.map(Path::to_owned), trusted);
        scene
    };
    let (faults, beside) = match (Scene::parse(name, text, overrides), path) {
        (Err(faults), Some(beside)) => (faults, beside),
        (parsed, _) => return parsed.map(placed),
    };
    let own = beside.parent().map(Path::to_owned).into_iter();
    let searched: Vec<PathBuf> = own.chain(overrides.include_dirs.iter().cloned()).collect();
    let reach = reach_from(path, trusted, &overrides.include_dirs);
    let headers =
        included(text, beside, &searched, &reach).into_iter().filter_map(|(_, text)| text);
    let headers: Vec<String> = headers.collect();
    if headers.is_empty() {
        return Err(faults);
    }
    Scene::parse(name, text, &scene::Overrides { headers, ..overrides.clone() }).map(placed)
}

/// Which files a scene may include.
fn reach(scene: &Scene) -> Reach {
    reach_from(scene.path.as_deref(), scene.trusted, &scene.include_dirs)
}

fn reach_from(path: Option<&Path>, trusted: bool, include_dirs: &[PathBuf]) -> Reach {
    if trusted { Reach::Anywhere } else { Reach::of_file(path).and(include_dirs) }
}

/// The folders in which included files are looked for: the scene's own, those that its manifest names, and those of the
/// command line.
fn include_dirs(scene: &Scene) -> Vec<PathBuf> {
    let own = scene.path.as_deref().and_then(Path::parent);
    let named = scene.manifest.compile.include.iter();
    let named = named.map(|folder| own.unwrap_or(Path::new("")).join(folder));
    let own = own.map(Path::to_owned).into_iter();
    own.chain(named).chain(scene.include_dirs.iter().cloned()).collect()
}

/// What the compiler is asked to do for a scene, and for its kernels if they bind as `plan` says.
fn request(scene: &Scene, target: Target, plan: Option<&Plan>) -> Request {
    let probes = plan.map_or_else(String::new, |plan| layout::probes(scene, plan));
    let stats = [stat::kernels(scene), stat::library(scene)].concat();
    let source = [&*scene.source, &probes, &stats].concat();
    let mut request = Request::new(&*scene.name, source, target);
    request.prelude = scene.prelude();
    request.headers = cuda::headers()
        .iter()
        .map(|header| Header { name: header.name.to_owned(), text: header.text.to_owned() })
        .collect();
    request.include_dirs = include_dirs(scene);
    request.options = scene.manifest.compile.arguments();
    request.name_expressions = plan.map_or_else(Vec::new, Plan::name_expressions);
    request.reach = reach(scene);
    request
}

/// What the built-in scenes ask the compiler for, statistics included: the seed of its cache is made from these.
pub fn requests_of_built_ins(target: Target) -> Vec<Request> {
    let overrides =
        scene::Overrides { cpu: Some(target == Target::CPU), ..scene::Overrides::default() };
    let mut requests = Vec::new();
    for built_in in scene::built_ins() {
        let name = format!("{}.cu", built_in.name);
        let Ok(scene) = Scene::parse(&name, built_in.source, &overrides) else {
            continue;
        };
        requests.push(request(&scene, target, scene.plan().ok().as_ref()));
        requests.push(Summary::request_of_values(values_of(&scene), target));
    }
    requests
}

fn values_of(scene: &Scene) -> BTreeSet<Values> {
    let resources = scene.manifest.resources().iter();
    resources.flat_map(|resource| Values::of(&resource.of())).collect()
}

type Loaded = Result<(Module, Vec<Pass>, Vec<Stat>), Vec<Diagnostic>>;

fn load(scene: &Scene, plan: Plan, compiled: &Compiled, device: &Device) -> Result<Loaded, Error> {
    let mut diagnostics = Vec::new();
    let module = match device.load(&compiled.ptx) {
        Ok(module) => module,
        Err(error) => return refusal(scene, error).map(|diagnostic| Err(vec![diagnostic])),
    };
    let mut passes = Vec::new();
    for pass in plan.passes {
        let function = match module.function(lowered(compiled, &pass.name_expression)) {
            Ok(function) => function,
            Err(error) => {
                diagnostics.push(refusal(scene, error)?);
                continue;
            }
        };
        if let Some(mismatch) = size_mismatch(scene, &pass, &function) {
            diagnostics.push(mismatch);
            continue;
        }
        match shapes(&pass.declared, &function, device) {
            Ok((suggested, config)) => {
                passes.push(Pass { plan: pass, function, config, suggested });
            }
            Err(error) => diagnostics.push(refused_shape(scene, &pass, &function, device, error)?),
        }
    }
    if !diagnostics.is_empty() {
        return Ok(Err(diagnostics));
    }
    let stats = Stat::load(scene, &module)?;
    Ok(Ok((module, passes, stats)))
}

/// The name of a kernel in the PTX: that of a template's instance is mangled.
fn lowered<'a>(compiled: &'a Compiled, kernel: &'a str) -> &'a str {
    compiled.names.get(kernel).map_or(kernel, String::as_str)
}

/// What a device does not want to load is a remark about the source; a broken device is an error.
fn refusal(scene: &Scene, error: device::Error) -> Result<Diagnostic, Error> {
    match error {
        device::Error::UnsupportedPtx { ref instruction, location: Some(ref at) } => Ok(
            Diagnostic::error(&at.file, format!("the CPU device does not support `{instruction}`"))
                .at(at.line, (at.column > 0).then_some(at.column)),
        ),
        device::Error::Load { .. }
        | device::Error::UnsupportedPtx { .. }
        | device::Error::NoSuchFunction { .. } => {
            Ok(Diagnostic::error(&scene.name, error.to_string()))
        }
        other => Err(other.into()),
    }
}

/// The first argument whose size the compiled kernel sees otherwise: a type that is not what its name says.
fn size_mismatch(scene: &Scene, pass: &PlannedPass, function: &Function) -> Option<Diagnostic> {
    let parameters = &function.info().parameters;
    let mut arguments = pass.arguments.iter().zip(parameters);
    let size = |a: &scene::Argument| {
        let of_structure = a.layout.as_ref().map(|layout| layout.bytes);
        a.ctype.layout().map(|(size, _)| size).or(of_structure)
    };
    let wrong = |a: &scene::Argument, bytes| size(a).is_some_and(|size| size != bytes);
    let text = match arguments.find(|(argument, p)| wrong(argument, p.bytes)) {
        Some((argument, parameter)) => format!(
            "kernel `{}`: its parameter `{}` has {} bytes, and `{}` should have another size",
            pass.declared.kernel, argument.name, parameter.bytes, argument.ctype
        ),
        None if pass.arguments.len() != parameters.len() => format!(
            "kernel `{}` has {} parameters where its text shows {}: does a macro hide some?",
            pass.declared.kernel,
            parameters.len(),
            pass.arguments.len()
        ),
        None => return None,
    };
    Some(Diagnostic::error(&scene.name, text))
}

/// Threads of a block that the occupancy suggests for a pass, and the shape of its launches, where that is always the
/// same.
///
/// # Errors
/// The device's, where it does not allow that shape.
fn shapes(
    declared: &scene::Pass,
    function: &Function,
    device: &Device,
) -> device::Result<(u32, Option<LaunchConfig>)> {
    let shared_bytes = match declared.shared_bytes.constant() {
        Some(Number::Int(bytes)) => bytes as u32,
        Some(Number::Float(_) | Number::Bool(_)) | None => 0,
    };
    let suggested = function.suggested_block(shared_bytes)?;
    if !declared.is_constant() {
        return Ok((suggested, None));
    }
    let (inputs, rounds) = (Inputs::default(), []);
    // A constant shape was looked at when the manifest was read: it has a value, and is not empty.
    let config = shape(declared, suggested, &Scope { inputs: &inputs, rounds: &rounds, read: &[] });
    let config = config.unwrap_or_default();
    config.map_or(Ok(()), |config| config.check(function, device.info()))?;
    Ok((suggested, config))
}

/// The shape of a launch in `scope`, where the occupancy suggests a block; `None` where there is nothing to launch.
fn shape(
    declared: &scene::Pass,
    suggested: u32,
    scope: &Scope<'_>,
) -> Result<Option<LaunchConfig>, String> {
    let Some((grid, block)) = declared.shape.launch(scope, suggested)? else { return Ok(None) };
    let bytes = scope.integer(&declared.shared_bytes);
    let bytes = bytes.map_err(|problem| format!("`shared`: {problem}"))?;
    let mut config = LaunchConfig::new(grid, block);
    config.shared_bytes = u32::try_from(bytes)
        .map_err(|_| format!("`shared` is {bytes}, which is no size in bytes"))?;
    config.lockstep = declared.lockstep;
    config.cooperative = declared.cooperative;
    Ok(Some(config))
}

/// A shape that the kernel or the device does not allow is a remark about the pass.
fn refused_shape(
    scene: &Scene,
    pass: &PlannedPass,
    function: &Function,
    device: &Device,
    error: device::Error,
) -> Result<Diagnostic, Error> {
    let device::Error::InvalidLaunch { requested, .. } = &error else {
        return refusal(scene, error);
    };
    let mut text = error.to_string();
    let (own, all) = (function.info().max_threads, device.info().max_threads_per_block);
    if own < all && *requested > own.into() {
        text += &format!(
            ": its `__launch_bounds__`, or the registers that it needs, allow no more than {own}"
        );
    }
    let at = pass.declared.at;
    Ok(Diagnostic::error(&scene.name, text).at(at.line, at.column))
}
