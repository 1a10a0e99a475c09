//! Makes programs of scenes: examines them, loads what the compiler made, checks each launch.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{
    Error,
    address_lists::AddressLists,
    effort::Effort,
    examine::{Examined, examine_with},
    fetched::Fetched,
    guarding,
    layout::declared_at,
    made::Made,
    program::{Pass, Program, shapes},
    request::values_of,
    reset_edit,
    run_files::used_files,
    stat::Stat,
    summaries::Summaries,
    unwritten,
    variables::Variables,
};
use crate::{
    array::Checksum,
    compile::{Compiled, Compiler, Target},
    cuda::mangled,
    data::Cache,
    device::{self, Device, Function, GuardOptions, Module, Versions, nvidia::JitOptions},
    diagnostic::{Diagnostic, Severity},
    kernel,
    ptx::outline::Outline,
    scene::{self, PlannedPass, Scene},
    state::Aside,
};

/// NVRTC's option for a draft: it halves the compilation of the particles scene and makes its step 1.2 times as
/// long. The level above it, `max`, makes steps eight times as long.
const DRAFT: &str = "--Ofast-compile=mid";
/// How much the driver's JIT compiler optimises a draft: it takes two thirds of the time that its usual level does, and
/// needs no more registers.
const DRAFT_LEVEL: u32 = 1;
/// The first version of NVRTC for which that was tried.
const FIRST_TO_DRAFT: (u32, u32) = (13, 0);

/// Makes programs for one device.
pub(super) struct Builder {
    device: Device,
    compiler: Compiler,
    own: OwnKernels,
    /// Whether kernels of scenes are guarded.
    guarded: bool,
    /// Whether compiled kernels are being loaded.
    pub(super) loading: Arc<AtomicBool>,
    /// The statistics kernels of the last scene: most edits leave its element types alone.
    summary: Option<Arc<Summaries>>,
    /// What tells bits of states apart, once it is made.
    checksum: Option<Arc<Checksum>>,
    /// The files that the last scene began with.
    files: Cache,
}

/// Either a program, or the reasons why there is none.
pub(super) struct Built {
    pub(super) program: Option<Program>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) log: Arc<str>,
    pub(super) cached: bool,
    /// The files beside the scene that it includes or reads, or would if they were there; `None` where that is not
    /// known.
    pub(super) included: Option<Vec<PathBuf>>,
    /// Files that it wants to include or to read and may not.
    pub(super) untrusted: Vec<String>,
    /// It has no manifest.
    pub(super) lacks_manifest: bool,
}

impl Built {
    /// What became of a source that did not come to the compiler.
    pub(super) fn rejected(diagnostics: Vec<Diagnostic>) -> Self {
        let (log, untrusted) = (Arc::from(""), Vec::new());
        Self {
            program: None,
            diagnostics,
            log,
            cached: false,
            included: None,
            untrusted,
            lacks_manifest: false,
        }
    }
}

/// What is to be there with each program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OwnKernels {
    /// The kernels of statistics, which are taken all the time.
    pub(super) statistics: bool,
    /// That of checksums, as the past is kept.
    pub(super) checksum: bool,
}

/// Says that kernels are being loaded, as long as it is there.
struct Loading(Arc<AtomicBool>);

impl Loading {
    fn begin(loading: &Arc<AtomicBool>) -> Self {
        loading.store(true, Ordering::Release);
        Self(loading.clone())
    }
}

impl Drop for Loading {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Builder {
    pub(super) fn new(device: Device, compiler: Compiler, own: OwnKernels, guarded: bool) -> Self {
        let files = Cache::default();
        let loading = Arc::default();
        Self { device, compiler, own, guarded, loading, summary: None, checksum: None, files }
    }

    /// Whether the compiler makes drafts: its optimiser is what an edit waits for.
    pub(super) fn drafts(&self) -> bool {
        self.compiler.nvrtc().is_ok_and(|nvrtc| nvrtc.version >= FIRST_TO_DRAFT)
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
        if let (Some(plan), Some(Compiled { ptx, names, .. }), Some(contents)) =
            (plan, compiled, contents)
        {
            let (names, files) = (Arc::new(names), used_files(&included));
            program = self.load(
                Made { scene, plan, ptx, names, contents, files, effort },
                &mut diagnostics,
            )?;
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

    /// Loads once more what was made of a text before.
    pub(super) fn rebuild(&mut self, made: Made) -> Result<Built, Error> {
        let mut diagnostics = Vec::new();
        let program = self.load(made, &mut diagnostics)?;
        Ok(Built { program, ..Built::rejected(diagnostics) })
    }

    /// The program, unless `diagnostics` say then why there is none.
    fn load(
        &mut self,
        made: Made,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Option<Program>, Error> {
        let _loading = Loading::begin(&self.loading);
        let (module, passes, stats, not_guarded) = match load(&made, &self.device, self.guarded)? {
            Ok(loaded) => loaded,
            Err(errors) => {
                diagnostics.extend(errors);
                return Ok(None);
            }
        };
        let Made { scene, plan, ptx, names, contents, files, effort } = made;
        diagnostics.extend(not_guarded);
        diagnostics.extend(unwritten::warnings(&scene, &passes, &ptx));
        let (summary, checksum) = (self.summary(&scene)?, self.checksum()?);
        let types = scene.manifest.resources().iter().map(scene::Resource::of).collect();
        let beginning = reset_edit::beginning(&scene, &plan.passes);
        let outline = Outline::new(&ptx);
        let allocates = outline.allocates;
        let variables = Variables::of(&ptx, outline, &module, &self.device)?;
        let loaded = Aside::new((module.clone(), summary.clone(), checksum.clone()));
        Ok(Some(Program {
            scene,
            passes,
            summary,
            types,
            stats,
            ptx,
            names,
            module,
            variables,
            fetched: Fetched::default(),
            address_lists: AddressLists::default(),
            beginning,
            files,
            allocates,
            contents,
            checksum,
            effort,
            generation: 0,
            loaded,
        }))
    }

    fn checksum(&mut self) -> Result<Option<Arc<Checksum>>, Error> {
        if self.own.checksum && self.checksum.is_none() {
            let made = Checksum::new(&self.compiler, &self.device, target_of(&self.device))?;
            self.checksum = Some(Arc::new(made));
        }
        Ok(self.checksum.clone())
    }

    fn summary(&mut self, scene: &Scene) -> Result<Arc<Summaries>, Error> {
        let values = values_of(scene);
        let known = self.summary.take().filter(|known| *known.values() == values);
        let summary = known.unwrap_or_else(|| {
            let of = (&self.compiler, target_of(&self.device));
            Arc::new(Summaries::new(of, &self.device, values))
        });
        if self.own.statistics {
            summary.get()?;
        }
        self.summary = Some(summary.clone());
        Ok(summary)
    }
}

/// The architecture that a device's kernels are compiled for: its own, at most what our PTX reader knows.
pub(super) fn target_of(device: &Device) -> Target {
    let (major, minor) = device.info().compute_capability;
    Target::of_device(major, minor)
}

/// The last one is a remark.
type Loaded = Result<(Module, Vec<Pass>, Vec<Stat>, Option<Diagnostic>), Vec<Diagnostic>>;

fn load(made: &Made, device: &Device, guarded: bool) -> Result<Loaded, Error> {
    let Made { scene, plan, ptx, .. } = made;
    let mut diagnostics = Vec::new();
    let plain = plan.passes.iter().filter(|pass| !pass.declared.guarded);
    let plain: Vec<&str> = plain.map(|pass| lowered(made, &pass.name_expression)).collect();
    let (versions, optimization_level) = match made.effort {
        Effort::Draft => (Versions::Whole, Some(DRAFT_LEVEL)),
        Effort::Full => (Versions::Proved, None),
    };
    let guard = GuardOptions { plain: &plain, versions, ..GuardOptions::default() };
    let jit = JitOptions { optimization_level, ..JitOptions::default() };
    let (module, not_guarded) = match kernel::guarding::load(device, ptx, guarded, guard, jit) {
        Ok(loaded) => loaded,
        Err(error) => return refusal(scene, error).map(|diagnostic| Err(vec![diagnostic])),
    };
    let mut passes = Vec::new();
    for pass in plan.passes.iter().cloned() {
        let function = match module.function(lowered(made, &pass.name_expression)) {
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
    let not_guarded = not_guarded
        .map(|why| guarding::remark(scene, &why))
        .or_else(|| guarding::remark_on_unchecked(scene, &module));
    Ok(Ok((module, passes, stats, not_guarded)))
}

/// The name of a kernel in the PTX: that of a template's instance is mangled.
fn lowered<'a>(made: &'a Made, kernel: &'a str) -> &'a str {
    made.names.get(kernel).map_or(kernel, String::as_str)
}

/// What a device does not want to load is a remark about the source; a broken device is an error.
pub(super) fn refusal(scene: &Scene, error: device::Error) -> Result<Diagnostic, Error> {
    match error {
        device::Error::UnsupportedPtx { ref instruction, location: Some(ref at) } => Ok(
            Diagnostic::error(&at.file, format!("the CPU device does not support `{instruction}`"))
                .at(at.line, (at.column > 0).then_some(at.column)),
        ),
        device::Error::Load { location: Some(ref at), .. } => {
            let remark = Diagnostic::error(&at.file, in_source(&error.to_string()));
            Ok(remark.at(at.line, (at.column > 0).then_some(at.column)))
        }
        device::Error::Load { .. }
        | device::Error::UnsupportedPtx { .. }
        | device::Error::NoSuchFunction { .. } => {
            Ok(Diagnostic::error(&scene.name, in_source(&error.to_string())))
        }
        other => Err(other.into()),
    }
}

/// A sentence with the names of kernels as the source has them.
fn in_source(text: &str) -> String {
    let parts: Vec<String> = text
        .split('`')
        .map(|part| match mangled::Function::of(part) {
            Some(function) if part.starts_with("_Z") => function.name,
            Some(_) | None => part.to_owned(),
        })
        .collect();
    parts.join("`")
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
    let (text, at) = match arguments.find(|(argument, p)| wrong(argument, p.bytes)) {
        Some((argument, parameter)) => (
            format!(
                "kernel `{}`: its parameter `{}` has {} bytes, and `{}` should have another size",
                pass.declared.kernel, argument.name, parameter.bytes, argument.ctype
            ),
            declared_at(&pass.declared, argument),
        ),
        None if pass.arguments.len() != parameters.len() => (
            format!(
                "kernel `{}` has {} parameters where its text shows {}: does a macro hide some?",
                pass.declared.kernel,
                parameters.len(),
                pass.arguments.len()
            ),
            pass.declared.at,
        ),
        None => return None,
    };
    Some(Diagnostic::error(&scene.name, text).at(at.line, at.column))
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
    let (own, all) = (function.info().max_threads, device.info().max_threads_per_block);
    let remark = if own < all && *requested > own.into() {
        let bound = "its `__launch_bounds__`, or the registers that it needs, allow no more than";
        Diagnostic::usage(&scene.name, format!("{error}: {bound} {own}"))
    } else {
        Diagnostic::error(&scene.name, error.to_string())
    };
    let at = pass.declared.at;
    Ok(remark.at(at.line, at.column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_called_as_in_the_source() {
        for (text, expected) in [
            (
                "on CPU: `_Z12compute_gemmPK6__halfS1_PKf` is too large",
                "on CPU: `compute_gemm` is too large",
            ),
            ("`_ZN1n1tILi4EEvPT_` and `k` and `_Z`", "`n::t` and `k` and `_Z`"),
        ] {
            assert_eq!(in_source(text), expected);
        }
    }
}
