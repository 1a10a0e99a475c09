//! Binds the parameters of kernels by name to what the manifest declares.
//!
//! Enters: a scene with its kernels. Leaves: what each parameter of each pass's kernel receives, or what does not fit.
//! Must not know: `scene::view`, `scene::plot`, `scene::draft`.

mod check;
mod kernels;
mod overloads;

use std::collections::{BTreeSet, HashSet};

#[cfg(feature = "gl")]
pub(crate) use self::check::check_given;
pub(crate) use self::overloads::parted;
use self::{
    check::{check, check_cast, check_on_purpose},
    kernels::Kernels,
};
use super::{
    Argument, Formula, Given, Kind, Manifest, Number, Pass, Plan, PlannedPass, ResourceId,
    ResourceKind, Scene, Source, Term,
    cpp_number::literal_of_cpp,
    meaning::{hint, meaning, round_of},
    suggestion::suggestion,
};
use crate::cuda::{KernelParameter, Signature};
use crate::diagnostic::Diagnostic;

/// The most arguments of all passes together: a large scene has some thousands.
const MOST_ARGUMENTS: usize = 50_000;

/// So many faults are looked into. To tell what was meant takes its time for each, and nobody reads so many.
const MOST_FAULTS: usize = 1000;

/// Whether the name of a pass's kernel is that of several.
pub(super) fn is_overloaded(scene: &Scene) -> bool {
    let mut kernels = Kernels::new(&scene.kernels);
    let mut names = scene.manifest.passes.iter().map(|pass| parted(&pass.kernel).0);
    names.any(|name| kernels.find(name).is_ok_and(|found| found.len() > 1))
}

/// Binds every pass of `scene`. The kernels that the compiler calls as those in `unclear`, which may mean other
/// functions, too, are called by their types.
pub(super) fn plan(scene: &Scene, unclear: &BTreeSet<String>) -> Result<Plan, Vec<Diagnostic>> {
    let mut binder = Binder {
        scene,
        unclear,
        kernels: Kernels::new(&scene.kernels),
        arguments_left: MOST_ARGUMENTS,
        faults_left: MOST_FAULTS,
        found: Vec::new(),
    };
    let passes: Vec<_> =
        scene.manifest.passes.iter().filter_map(|pass| binder.pass(pass)).collect();
    let mut found = binder.found;
    found.sort_by_key(|d| (d.line, d.column));
    found.dedup();
    if found.is_empty() { Ok(Plan { passes }) } else { Err(found) }
}

struct Binder<'a> {
    scene: &'a Scene,
    unclear: &'a BTreeSet<String>,
    kernels: Kernels<'a>,
    arguments_left: usize,
    /// Faults that may still be looked into.
    faults_left: usize,
    found: Vec<Diagnostic>,
}

impl<'a> Binder<'a> {
    /// The pass with its arguments; faults are noted.
    fn pass(&mut self, pass: &'a Pass) -> Option<PlannedPass> {
        if self.faults_left == 0 {
            return None;
        }
        let kernels = match self.kernels(pass) {
            Ok(kernels) => kernels,
            Err(text) => {
                self.note(pass, text);
                return None;
            }
        };
        let [kernel] = kernels.as_slice() else { return self.fitting(pass, &kernels) };
        let name = match parted(&pass.kernel) {
            (_, Some(_)) => name_of_overload(pass, kernel),
            (name, None) => kernel.lowered.clone().unwrap_or_else(|| instance_named(name, kernel)),
        };
        let name = match self.unclear.contains(&name) {
            true => name_of_overload(pass, kernel),
            false => name,
        };
        self.bind(pass, kernel, name)
    }

    fn note(&mut self, pass: &Pass, text: String) {
        let at = pass.at;
        self.fault(Diagnostic::error(&self.scene.name, text).at(at.line, at.column));
    }

    fn fault(&mut self, fault: Diagnostic) {
        self.faults_left = self.faults_left.saturating_sub(1);
        self.found.push(fault);
    }

    /// The pass with the arguments of its `kernel`; faults are noted.
    fn bind(
        &mut self,
        pass: &Pass,
        kernel: &Signature,
        name_expression: String,
    ) -> Option<PlannedPass> {
        if let Some(KernelParameter { name, at, .. }) = twice(&kernel.parameters) {
            let text = format!(
                "the kernel `{}` seems to have two parameters `{name}`: perhaps an `#if` among them whose condition is \
                 not known here; write a declaration for each of its branches",
                kernel.name
            );
            let fault = Diagnostic::error(kernel.file.as_ref(), text);
            self.fault(fault.at(at.line, at.column));
            return None;
        }
        let bound: Vec<_> =
            kernel.parameters.iter().map(|p| self.argument(pass, kernel, p)).collect();
        self.expect_taken(pass, kernel);
        let arguments: Vec<Argument> = bound.into_iter().collect::<Option<_>>()?;
        let mut swaps: Vec<ResourceId> =
            arguments.iter().flat_map(|argument| argument.source.next()).collect();
        swaps.sort_unstable();
        swaps.dedup();
        let given = arguments.iter().flat_map(|argument| argument.source.formulas());
        let reads = Term::read_by(pass.formulas().chain(given));
        Some(PlannedPass { declared: pass.clone(), name_expression, arguments, swaps, reads })
    }

    /// The pass with the one of several kernels of its name whose parameters all mean something that they can take.
    fn fitting(&mut self, pass: &Pass, kernels: &[Signature]) -> Option<PlannedPass> {
        let mut fitting = Vec::new();
        for kernel in kernels {
            let before = self.found.len();
            let bound = self.bind(pass, kernel, name_of_overload(pass, kernel));
            if self.found.len() == before {
                fitting.extend(bound);
            }
            self.found.truncate(before);
        }
        if let Some(nearest) = overloads::nearest(&self.scene.manifest, &fitting) {
            return Some(fitting.swap_remove(nearest));
        }
        let (name, count) = (parted(&pass.kernel).0, kernels.len());
        let lines: Vec<String> = kernels.iter().map(|kernel| kernel.at.line.to_string()).collect();
        let fit = if fitting.is_empty() { "none fits" } else { "more than one fits" };
        let first =
            kernels.first().map_or_else(String::new, |kernel| overloads::called(name, kernel));
        let text = format!(
            "there are {count} kernels `{name}` with different parameters, on lines {}, of which {fit} what the \
             manifest has for them; `kernel = \"{first}\"` names one of them",
            lines.join(", ")
        );
        self.note(pass, text);
        None
    }

    /// The kernels that the pass may mean: one, where functions are not overloaded. A parameter without a name is
    /// called by its place, counted from 1.
    fn kernels(&mut self, pass: &'a Pass) -> Result<Vec<Signature>, String> {
        let (name, types) = parted(&pass.kernel);
        let kernels = self.kernels.find(name)?;
        let parameters: usize = kernels.iter().map(|kernel| kernel.parameters.len()).sum();
        let left = self.arguments_left.checked_sub(parameters);
        self.arguments_left = left.ok_or_else(|| {
            format!("up to here the passes take more than {MOST_ARGUMENTS} arguments, the most that a scene has")
        })?;
        let instance = |kernel: &&Signature| {
            let mut kernel = kernel.instance(name);
            for (place, parameter) in (1..).zip(&mut kernel.parameters) {
                if parameter.name.is_empty() {
                    parameter.name = usize::to_string(&place);
                }
            }
            kernel
        };
        let all: Vec<Signature> = kernels.iter().map(instance).collect();
        let Some(types) = types else { return Ok(all) };
        let (taking, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|kernel| overloads::takes(kernel, types));
        if taking.is_empty() {
            let known =
                others.iter().map(|kernel| format!("`{}`", overloads::called(name, kernel)));
            let known: Vec<String> = known.collect();
            return Err(format!(
                "no kernel `{name}` takes `({types})`; there is {}",
                known.join(", ")
            ));
        }
        Ok(taking)
    }

    /// What `parameter` receives: what the pass gives it, else what its name means.
    fn argument(
        &mut self,
        pass: &Pass,
        kernel: &Signature,
        parameter: &KernelParameter,
    ) -> Option<Argument> {
        if self.faults_left == 0 {
            return None;
        }
        let manifest = &self.scene.manifest;
        let given = pass.given.iter().find(|given| given.parameter == parameter.name);
        let fault = match given {
            Some(Given { source, cast, at, .. }) => {
                match check_cast(manifest, source, cast.as_deref(), parameter) {
                    Ok(()) => return Some(argument(parameter, source.clone())),
                    Err(problem) => {
                        let text =
                            format!("{}, which the pass gives it{}", problem.text, problem.hint);
                        Diagnostic::error(&self.scene.name, text).at(at.line, at.column)
                    }
                }
            }
            None => match by_name(manifest, pass, kernel, parameter) {
                Ok(source) => return Some(argument(parameter, source)),
                Err(text) => Diagnostic::error(kernel.file.as_ref(), text)
                    .at(parameter.at.line, parameter.at.column),
            },
        };
        self.fault(fault);
        None
    }

    /// Notes what the pass gives to parameters that the kernel has not.
    fn expect_taken(&mut self, pass: &Pass, kernel: &Signature) {
        for given in &pass.given {
            let name = &given.parameter;
            if kernel.parameters.iter().any(|parameter| parameter.name == *name) {
                continue;
            }
            let names = kernel.parameters.iter().map(|parameter| parameter.name.as_str());
            let hint = suggestion(name, names);
            let text = format!("the kernel `{}` has no parameter `{name}`{hint}", kernel.name);
            let fault = Diagnostic::error(&self.scene.name, text);
            self.fault(fault.at(given.at.line, given.at.column));
        }
    }
}

/// What the compiler calls one of several kernels of a name: a cast to its type, where it did not say more.
fn name_of_overload(pass: &Pass, kernel: &Signature) -> String {
    let (name, types) = (parted(&pass.kernel).0, overloads::types_of(kernel));
    let cast = || format!("static_cast<void (*)({types})>({})", instance_named(name, kernel));
    kernel.lowered.clone().unwrap_or_else(cast)
}

/// What the compiler calls the instance of a template that the manifest calls `name`.
fn instance_named(name: &str, kernel: &Signature) -> String {
    let are_left_out = kernel.template && !name.contains('<');
    if are_left_out { format!("{name}<>") } else { name.to_owned() }
}

/// A parameter with the name of one before it.
fn twice(parameters: &[KernelParameter]) -> Option<&KernelParameter> {
    let mut names = HashSet::new();
    parameters.iter().find(|parameter| !names.insert(&parameter.name))
}

fn argument(parameter: &KernelParameter, source: Source) -> Argument {
    Argument { name: parameter.name.clone(), ctype: parameter.ctype.clone(), source, layout: None }
}

/// What the name of a parameter means, and its type can take; where it means nothing, its default argument.
fn by_name(
    manifest: &Manifest,
    pass: &Pass,
    kernel: &Signature,
    parameter: &KernelParameter,
) -> Result<Source, String> {
    let found = source(manifest, pass, kernel, &parameter.name);
    if let (Err(_), Some(default)) = (&found, default_argument(parameter)) {
        let source = Source::Number(default.into());
        check_on_purpose(manifest, &source, parameter).map_err(|problem| problem.text)?;
        return Ok(source);
    }
    let source = found?;
    check(manifest, &source, parameter).map_err(|problem| problem.with_advice(parameter))?;
    Ok(source)
}

/// What the name of a kernel's parameter means.
fn source(
    manifest: &Manifest,
    pass: &Pass,
    kernel: &Signature,
    name: &str,
) -> Result<Source, String> {
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        let kernel = &kernel.name;
        return Err(format!(
            "this parameter of `{kernel}` has no name: `args` gives it something by its place, \
             `args = {{ {name} = 0 }}`"
        ));
    }
    let round = || {
        let depth = round_of(&pass.counters, name)?;
        Some(Source::Number(Formula::of_term(Term::Round(depth), Kind::Int)))
    };
    meaning(manifest, name).or_else(round).ok_or_else(|| unknown(manifest, kernel, name))
}

/// The number that a default argument is; 0 of a null pointer.
fn default_argument(parameter: &KernelParameter) -> Option<Number> {
    match parameter.default.as_deref()? {
        "NULL" | "nullptr" => Some(Number::Int(0)),
        "true" => Some(Number::Bool(true)),
        "false" => Some(Number::Bool(false)),
        text => literal_of_cpp(text),
    }
}

fn unknown(manifest: &Manifest, kernel: &Signature, name: &str) -> String {
    let single = |stem: &str| {
        let halved = |kind: &ResourceKind| !matches!(kind, ResourceKind::Buffer(_));
        manifest.resources.iter().find(|one| one.name == stem && halved(&one.kind))
    };
    if let Some(resource) = name.strip_suffix("_next").and_then(single) {
        return format!(
            "there is no `{name}`: the {resource} is a single one; `double = true` gives it two halves"
        );
    }
    let (hint, kernel) = (hint(manifest, name), &kernel.name);
    format!(
        "`{name}` of the kernel `{kernel}` is no resource, constant, parameter or built-in{hint}"
    )
}

#[cfg(test)]
mod tests;
