//! Binds the parameters of kernels by name to what the manifest declares.
//!
//! Enters: a scene with its kernels. Leaves: what each parameter of each pass's kernel receives, or what does not fit.
//! Must not know: `scene::view`, `scene::plot`, `scene::draft`.

mod overloads;

use std::collections::{BTreeSet, HashMap, HashSet};

pub(crate) use self::overloads::parted;
use super::{
    Argument, Builtin, Control, Element, Field, Formula, Given, Kind, Manifest, Number, Pass, Plan,
    PlannedPass, Resource, ResourceId, ResourceKind, Scalar, Scene, Source, Term, Texels, Value,
    Wrap,
    cpp_number::literal_of_cpp,
    decode::{derived_names, round_of},
    pointers::pointed,
    suggestion::suggestion,
};
use crate::cuda::{CType, KernelParameter, Pointee, Signature};
use crate::diagnostic::Diagnostic;

/// The most arguments of all passes together: a large scene has some thousands.
const MOST_ARGUMENTS: usize = 50_000;

/// So many kernels of one name are tried for a pass.
const MOST_OVERLOADS: usize = 16;

/// So many faults are looked into. To tell what was meant takes its time for each, and nobody reads so many.
const MOST_FAULTS: usize = 1000;

/// Whether the name of a pass's kernel is that of several.
pub(super) fn is_overloaded(scene: &Scene) -> bool {
    let mut kernels = Kernels { all: &scene.kernels, known: HashMap::new() };
    let mut names = scene.manifest.passes.iter().map(|pass| parted(&pass.kernel).0);
    names.any(|name| kernels.find(name).is_ok_and(|found| found.len() > 1))
}

/// Binds every pass of `scene`. The kernels that the compiler calls as those in `unclear`, which may mean other
/// functions, too, are called by their types.
pub(super) fn plan(scene: &Scene, unclear: &BTreeSet<String>) -> Result<Plan, Vec<Diagnostic>> {
    let mut binder = Binder {
        scene,
        unclear,
        kernels: Kernels { all: &scene.kernels, known: HashMap::new() },
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

/// The kernels of a scene.
struct Kernels<'a> {
    all: &'a [Signature],
    /// What was found for the names that were asked for.
    known: HashMap<&'a str, Result<Vec<&'a Signature>, String>>,
}

impl<'a> Kernels<'a> {
    /// The kernels that `name`, perhaps with template arguments, may mean.
    fn find(&mut self, name: &'a str) -> Result<Vec<&'a Signature>, String> {
        let (stem, arguments) = name.find('<').map_or((name, ""), |at| name.split_at(at));
        let stem = stem.trim_start_matches("::");
        let found = self.known.entry(stem).or_insert_with(|| named(self.all, stem));
        let mut kernels = found.clone()?;
        let is_template = kernels.iter().any(|kernel| kernel.template);
        if kernels.len() > 1 {
            kernels.retain(|kernel| kernel.template != arguments.is_empty());
        }
        let is_meant = |kernel: &&Signature| {
            let own = kernel.specialised.as_deref();
            own.is_some_and(|own| arguments.split_whitespace().collect::<String>() == own)
        };
        match kernels.iter().any(is_meant) {
            true => kernels.retain(|kernel| is_meant(kernel)),
            false => kernels.retain(|kernel| kernel.specialised.is_none()),
        }
        match (is_template, arguments.is_empty()) {
            (true, true) if kernels.iter().all(|k| k.template && !k.has_defaults()) => {
                Err(format!(
                    "the kernel `{stem}` is a template: name its arguments too, as in `{stem}<4>`"
                ))
            }
            (false, false) => {
                Err(format!("the kernel `{stem}` is no template: leave out `{arguments}`"))
            }
            (true | false, _) => Ok(kernels),
        }
    }
}

/// The kernels with the name `stem` that differ in their parameters. A definition counts more than declarations, and
/// what is compiled more than what probably is not.
fn named<'a>(kernels: &'a [Signature], stem: &str) -> Result<Vec<&'a Signature>, String> {
    let mut candidates: Vec<&Signature> = kernels.iter().filter(|k| k.is_called(stem)).collect();
    if candidates.iter().any(|k| !k.left_out) {
        candidates.retain(|k| !k.left_out);
    }
    if candidates.iter().any(|k| k.defined) {
        candidates.retain(|k| k.defined);
    }
    if candidates.is_empty() {
        let hint = suggestion(stem, kernels.iter().map(|k| k.name.as_str()));
        return Err(format!("there is no kernel `{stem}` in the file{hint}"));
    }
    let same = |a: &&'a Signature, b: &'a Signature| {
        let parameters =
            |kernel: &'a Signature| kernel.parameters.iter().map(|p| (&p.name, &p.ctype));
        parameters(a).eq(parameters(b))
    };
    let mut different: Vec<&Signature> = Vec::new();
    for kernel in candidates {
        if different.len() < MOST_OVERLOADS && !different.iter().any(|known| same(known, kernel)) {
            different.push(kernel);
        }
    }
    Ok(different)
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

/// What `name` means in the scene.
pub(super) fn meaning(manifest: &Manifest, name: &str) -> Option<Source> {
    resource_source(manifest, name)
        .or_else(|| manifest.find_constant(name).map(|number| Source::Number(number.into())))
        .or_else(|| manifest.find_parameter(name).map(Source::Parameter))
        .or_else(|| Builtin::parse(name).map(Source::Builtin))
}

fn resource_source(manifest: &Manifest, name: &str) -> Option<Source> {
    if let Some(id) = manifest.find_resource(name) {
        return Some(Source::Resource(id));
    }
    manifest.resources.iter().enumerate().find_map(|(index, resource)| {
        let ending = name.strip_prefix(resource.name.as_str())?.strip_prefix('_')?;
        let id = ResourceId(index);
        let extent = |axis: u8| Source::Extent(id, axis, resource.extent()[usize::from(axis)]);
        match (ending, resource.texture()) {
            ("count", _) => Some(Source::Count(id, resource.count())),
            ("width", Some(_)) => Some(extent(0)),
            ("height", Some(_)) => Some(extent(1)),
            ("depth", Some(_)) => Some(extent(2)),
            ("next", _) if resource.double() => Some(Source::Next(id)),
            _ => None,
        }
    })
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

/// What may have been meant by `name`, which means nothing in the scene.
pub(super) fn hint(manifest: &Manifest, name: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    names.extend(manifest.resources.iter().map(|r| r.name.clone()));
    names.extend(manifest.constants.iter().map(|c| c.name.clone()));
    names.extend(manifest.parameters.iter().map(|p| p.name.clone()));
    names
        .extend((0..manifest.resources.len()).flat_map(|i| derived_names(manifest, ResourceId(i))));
    names.extend(Builtin::ALL.iter().map(|(name, _)| (*name).to_owned()));
    suggestion(name, names.iter().map(String::as_str))
}

/// Why a parameter cannot take what is meant for it.
struct Mismatch {
    text: String,
    /// What to write before the parameter's name instead, where that would do.
    write: Option<String>,
    /// How the pass gives it what it takes, where that is known.
    hint: &'static str,
}

/// What makes a whole number of a float in the manifest's expressions.
const WHOLE: &str = "; `int(...)` makes a whole number of it";

impl Mismatch {
    /// With what to write instead: for what is bound by its name.
    fn with_advice(self, parameter: &KernelParameter) -> String {
        match self.write {
            Some(write) => format!(
                "{}: write `{write}{}`, or let the pass's `args` give it something else",
                self.text, parameter.name
            ),
            None => self.text,
        }
    }
}

impl From<String> for Mismatch {
    fn from(text: String) -> Self {
        Self { text, write: None, hint: "" }
    }
}

/// That the parameter's type can take what its name means.
fn check(
    manifest: &Manifest,
    source: &Source,
    parameter: &KernelParameter,
) -> Result<(), Mismatch> {
    if source.is_list() {
        return match pointed(&parameter.ctype) {
            Some(pointer) => check_pointers(manifest, source, pointer, parameter),
            None => Err(mismatch(parameter, "a list", "")),
        };
    }
    if let CType::Named(_) = parameter.ctype {
        // What that is, and how its fields lie, is known when the source is compiled.
        return Ok(());
    }
    match source {
        Source::Resource(id) | Source::Next(id) => check_resource(manifest, *id, parameter),
        Source::Element { .. } if parameter.ctype == CType::Texture => {
            Err(mismatch(parameter, "a part of an array", "cudaTextureObject_t "))
        }
        Source::Element { of, .. } => check_resource(manifest, of.resource, parameter),
        Source::Count(_, value) | Source::Extent(_, _, value) => {
            integer(parameter, "a count, an integer", [i128::from(*value); 2])
        }
        Source::Number(formula) => check_number(formula, parameter),
        Source::Vector(formulas) => check_vector(manifest, formulas, parameter),
        Source::Structure(_) => Err(mismatch(parameter, "a structure", "")),
        Source::Parameter(index) => check_parameter(manifest, *index, parameter),
        Source::Builtin(builtin) => check_builtin(*builtin, parameter),
    }
}

fn mismatch(parameter: &KernelParameter, what: &str, write: &str) -> Mismatch {
    let (name, ctype) = (&parameter.name, &parameter.text);
    let text = format!("`{name}` is {what}, but the kernel takes `{ctype}`");
    Mismatch { text, write: Some(write.to_owned()), hint: "" }
}

fn check_resource(
    manifest: &Manifest,
    id: ResourceId,
    parameter: &KernelParameter,
) -> Result<(), Mismatch> {
    let resource = manifest.resource(id);
    let what = format!("the {resource}");
    if resource.texture().is_none() {
        let of = resource.of();
        let fits = match (&parameter.ctype, of.element()) {
            (CType::Pointer { to: Pointee::Element(to), .. }, Some(element)) => {
                fits(element, resource.count(), *to)
            }
            // Of a structure its bytes are seen otherwise.
            (CType::Pointer { to: Pointee::Element(to), .. }, None) => to.bytes() == 1,
            (CType::Pointer { to: Pointee::Void | Pointee::Named(_), .. }, _) => true,
            (CType::Texture, Some(element)) => is_fetchable(element),
            (CType::Texture, None) | (CType::Value(_) | CType::Surface | CType::Named(_), _) => {
                false
            }
        };
        let write = format!("{of} *");
        return if fits { Ok(()) } else { Err(mismatch(parameter, &what, &write)) };
    }
    match (&parameter.ctype, resource.texture()) {
        (CType::Texture, Some(texture)) => check_sampling(resource, texture),
        (CType::Surface, _) => Ok(()),
        (CType::Texture, None) | (CType::Value(_) | CType::Pointer { .. } | CType::Named(_), _) => {
            Err(mismatch(parameter, &what, "cudaSurfaceObject_t "))
        }
    }
}

/// Whether texture objects read such elements as they lie in memory (`tex1Dfetch`). Of 64 bits they read the halves.
fn is_fetchable(element: Element) -> bool {
    match element.scalar {
        Scalar::Bool | Scalar::BF16 => false,
        Scalar::I64 | Scalar::U64 | Scalar::F64 => element.lanes <= 2,
        Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 => element.lanes != 3,
        Scalar::I32 | Scalar::U32 | Scalar::F16 | Scalar::F32 => element.lanes != 3,
    }
}

/// That a texture object can read the texture as the manifest says.
fn check_sampling(resource: &Resource, texture: &Texels) -> Result<(), Mismatch> {
    match texture.wrap {
        Wrap::Repeat | Wrap::Mirror if !texture.normalized => Err(format!(
            "the {resource} cannot `{}` where coordinates count texels: give it `normalized = true`, and \
             coordinates from 0 to 1",
            texture.wrap.name()
        )
        .into()),
        Wrap::Clamp | Wrap::Repeat | Wrap::Mirror => Ok(()),
    }
}

/// Whether `count` of `element` can be seen as some of `to`: same scalars, and none left over.
fn fits(element: Element, count: u64, to: Element) -> bool {
    let scalars = count * u64::from(element.lanes);
    // A `bool` is a byte.
    let is_byte = |scalar| matches!(scalar, Scalar::Bool | Scalar::U8 | Scalar::I8);
    let is_bool = element.scalar == Scalar::Bool || to.scalar == Scalar::Bool;
    let is_same = match is_bool {
        true => is_byte(element.scalar) && is_byte(to.scalar),
        false => element.scalar == to.scalar,
    };
    is_same && scalars.is_multiple_of(u64::from(to.lanes))
}

/// That the parameter is an integer that holds the numbers from the first to the second.
fn integer(parameter: &KernelParameter, what: &str, range: [i128; 2]) -> Result<(), Mismatch> {
    let CType::Value(Element { scalar, lanes: 1 }) = parameter.ctype else {
        return Err(mismatch(parameter, what, "int "));
    };
    let Some((least, greatest)) = scalar.integer_range() else {
        return Err(mismatch(parameter, what, "int "));
    };
    let [from, to] = range;
    match [from, to].into_iter().find(|value| !(least..=greatest).contains(value)) {
        None => Ok(()),
        Some(value) => {
            let (name, ctype) = (&parameter.name, &parameter.text);
            Err(format!("`{name}` can be {value}, which does not fit into the kernel's `{ctype}`")
                .into())
        }
    }
}

fn float(parameter: &KernelParameter, what: &str) -> Result<(), Mismatch> {
    match parameter.ctype {
        CType::Value(Element { scalar, lanes: 1 }) if scalar.is_float() => Ok(()),
        _ => Err(mismatch(parameter, what, "float ")),
    }
}

/// A vector of `lanes` of one of `scalars`; the first is what is suggested.
fn vector(parameter: &KernelParameter, what: &str, all: &[Element]) -> Result<(), Mismatch> {
    match parameter.ctype {
        CType::Value(element) if all.contains(&element) => Ok(()),
        _ => Err(mismatch(parameter, what, &format!("{} ", all[0]))),
    }
}

/// That `parameter` can take what the manifest gives it.
///
/// # Errors
///
/// A sentence, where it cannot.
#[cfg(feature = "gl")]
pub(crate) fn check_given(
    manifest: &Manifest,
    source: &Source,
    cast: Option<&str>,
    parameter: &KernelParameter,
) -> Result<(), String> {
    check_cast(manifest, source, cast, parameter).map_err(|problem| problem.text + problem.hint)
}

/// That a pointer to pointers can take a list: of buffers, arrays and pointers into them, or 0 for none.
fn check_pointers(
    manifest: &Manifest,
    source: &Source,
    pointer: CType,
    parameter: &KernelParameter,
) -> Result<(), Mismatch> {
    let Source::Structure(fields) = source else { return Ok(()) };
    let text = parameter.text.trim_end();
    let text = text.strip_suffix('*').unwrap_or(text).trim_end().to_owned();
    for Field { name, source, cast, .. } in fields {
        let element = KernelParameter {
            name: format!("{}{name}", parameter.name),
            ctype: pointer.clone(),
            text: text.clone(),
            ..parameter.clone()
        };
        check_cast(manifest, source, cast.as_deref(), &element)?;
    }
    Ok(())
}

/// That the parameter can take what the manifest gives it, after the cast to a pointer's type if there is one.
fn check_cast(
    manifest: &Manifest,
    source: &Source,
    cast: Option<&str>,
    parameter: &KernelParameter,
) -> Result<(), Mismatch> {
    let Some(cast) = cast else { return check_on_purpose(manifest, source, parameter) };
    let is_address = source.addressed().is_some_and(|id| manifest.resource(id).texture().is_none());
    if !is_address {
        return Err(mismatch(parameter, "cast, and no buffer or array", ""));
    }
    let is_same = match (&parameter.ctype, CType::parse(cast)) {
        (CType::Named(_), _) => true,
        (CType::Pointer { to, .. }, CType::Pointer { to: cast, .. }) => {
            *to == cast || *to == Pointee::Void
        }
        (CType::Pointer { .. } | CType::Value(_) | CType::Surface | CType::Texture, _) => false,
    };
    match is_same {
        true => Ok(()),
        false => Err(mismatch(parameter, &format!("cast to `{cast}`"), "")),
    }
}

/// That the parameter can take what the manifest gives it on purpose: a float takes what is whole, too.
fn check_on_purpose(
    manifest: &Manifest,
    source: &Source,
    parameter: &KernelParameter,
) -> Result<(), Mismatch> {
    let is_whole = match source {
        Source::Count(..) | Source::Extent(..) => true,
        Source::Number(formula) => formula.kind() == Kind::Int,
        Source::Parameter(index) => matches!(manifest.parameters[*index].default, Value::Int(_)),
        Source::Builtin(builtin) => builtin.kind() == Some(Kind::Int),
        Source::Resource(_)
        | Source::Next(_)
        | Source::Element { .. }
        | Source::Vector(_)
        | Source::Structure(_) => false,
    };
    let takes_float =
        matches!(parameter.ctype, CType::Value(Element { scalar, lanes: 1 }) if scalar.is_float());
    if is_whole && takes_float { Ok(()) } else { check(manifest, source, parameter) }
}

/// That the parameter can take a constant or an expression. A pointer or an object takes 0 for none.
fn check_number(formula: &Formula, parameter: &KernelParameter) -> Result<(), Mismatch> {
    let takes_address = !matches!(parameter.ctype, CType::Value(_) | CType::Named(_));
    match (formula.kind(), formula.constant()) {
        (_, Some(Number::Int(0))) if takes_address => Ok(()),
        (_, Some(Number::Int(value))) => integer(parameter, "an int constant", [value; 2]),
        (_, Some(Number::Float(value))) => {
            let what = format!("a float constant, {value:?}");
            float(parameter, &what).map_err(|problem| or_whole(problem, parameter))
        }
        (_, Some(Number::Bool(_))) => truth(parameter, "a bool constant", "bool "),
        (Kind::Int, None) => integer(parameter, "an int expression", [0; 2]),
        (Kind::Float, None) => {
            float(parameter, "a float expression").map_err(|problem| or_whole(problem, parameter))
        }
        (Kind::Bool, None) => truth(parameter, "a bool expression", "bool "),
    }
}

/// With how an integer takes a float.
fn or_whole(problem: Mismatch, parameter: &KernelParameter) -> Mismatch {
    match parameter.ctype {
        CType::Value(Element { scalar, lanes: 1 }) if scalar.is_integer() => {
            Mismatch { hint: WHOLE, ..problem }
        }
        CType::Value(_)
        | CType::Pointer { .. }
        | CType::Surface
        | CType::Texture
        | CType::Named(_) => problem,
    }
}

/// That the parameter is a vector of so many components, which take these numbers.
fn check_vector(
    manifest: &Manifest,
    formulas: &[Formula],
    parameter: &KernelParameter,
) -> Result<(), Mismatch> {
    let CType::Value(element) = parameter.ctype else {
        return Err(mismatch(parameter, "a vector", ""));
    };
    if formulas.len() != usize::from(element.lanes) {
        let what = format!("a vector of {} numbers", formulas.len());
        return Err(mismatch(parameter, &what, ""));
    }
    let scalar = Element::scalar(element.scalar);
    let component = KernelParameter {
        ctype: CType::Value(scalar),
        text: scalar.to_string(),
        ..parameter.clone()
    };
    let number = |formula: &Formula| {
        check_on_purpose(manifest, &Source::Number(formula.clone()), &component)
    };
    formulas.iter().try_for_each(number)
}

/// That the parameter is `bool` or an integer.
fn truth(parameter: &KernelParameter, what: &str, write: &str) -> Result<(), Mismatch> {
    match parameter.ctype {
        CType::Value(Element { scalar, lanes: 1 })
            if scalar == Scalar::Bool || scalar.is_integer() =>
        {
            Ok(())
        }
        _ => Err(mismatch(parameter, what, write)),
    }
}

fn check_parameter(
    manifest: &Manifest,
    index: usize,
    parameter: &KernelParameter,
) -> Result<(), Mismatch> {
    const FLOAT3: Element = Element::vector(Scalar::F32, 3);
    const FLOAT4: Element = Element::vector(Scalar::F32, 4);
    let declared = &manifest.parameters[index];
    match (&declared.default, &declared.control) {
        (Value::Float(_), _) => float(parameter, "a float parameter"),
        (Value::Int(_), Control::Slider { min, max, .. }) => {
            // The ends are kept as `f64`s, of which the last one above may round to what no integer here is.
            integer(parameter, "an int parameter", [*min as i64, *max as i64].map(i128::from))
        }
        (Value::Int(_), Control::Choice(choices)) => {
            integer(parameter, "a choice, an int parameter", [0, choices.len() as i128 - 1])
        }
        (Value::Int(value), _) => integer(parameter, "an int parameter", [i128::from(*value); 2]),
        (Value::Toggle(_), _) => truth(parameter, "a toggle, an int parameter", "int "),
        (Value::Color(_), Control::Color(true)) => {
            vector(parameter, "a color with alpha, a float4 parameter", &[FLOAT4])
        }
        (Value::Color(_), _) => vector(parameter, "a color, a float3 parameter", &[FLOAT3, FLOAT4]),
    }
}

fn check_builtin(builtin: Builtin, parameter: &KernelParameter) -> Result<(), Mismatch> {
    const FLOAT4: Element = Element::vector(Scalar::F32, 4);
    const FLOAT2: Element = Element::vector(Scalar::F32, 2);
    const UINT4: Element = Element::vector(Scalar::U32, 4);
    // Steps and frames stay below 2^31 for a year of 60 a second; a seed's low half is as good a seed.
    match builtin {
        Builtin::Time => float(parameter, "the time in seconds"),
        Builtin::Dt => float(parameter, "the time step in seconds"),
        Builtin::Frame | Builtin::Step => {
            integer(parameter, "a counter", [0, i128::from(i32::MAX)])
        }
        Builtin::Seed => integer(parameter, "the seed", [0, i128::from(i32::MAX)]),
        Builtin::Mouse => vector(parameter, "the mouse's x, y, buttons, wheel", &[FLOAT4, FLOAT2]),
        Builtin::Keys => vector(parameter, "the mask of the keys held", &[UINT4]),
    }
}

#[cfg(test)]
mod tests;
