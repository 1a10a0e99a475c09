//! What there is to be said of a scene before it runs: its manifest, its arguments, what the compiler makes of it.

use std::{
    collections::{BTreeSet, HashMap},
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use super::{
    contents::{Contents, Reader},
    included::{included, reach_from, read_included},
    layout, parameter_names,
    request::request,
};
use crate::{
    compile::{
        self, Compiled, Compiler, Limits, Outcome, PRELUDE_NAME, Request, Target, debug_info,
        remark_of_name,
    },
    data::Cache,
    diagnostic::{Diagnostic, Severity},
    ptx::outline::Outline,
    scene::{self, Plan, PlannedPass, Scene, parted},
};

/// What binding and compiling made of a scene.
pub(crate) struct Examined {
    /// `None` where parameters of kernels do not bind.
    pub(super) plan: Option<Plan>,
    /// `None` where the source does not compile.
    pub(super) compiled: Option<Compiled>,
    /// What it begins with; `None` where that cannot be had.
    pub(super) contents: Option<Contents>,
    /// All that is to be said about the scene: the manifest's, the binding's and the compiler's remarks.
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(super) log: Arc<str>,
    /// The files beside the scene that it includes or reads, or would if they were there.
    pub(super) included: Vec<PathBuf>,
    /// Files that it wants to include or to read and may not.
    pub(super) untrusted: Vec<String>,
}

/// Binds and compiles `scene` for `target`, with `options` for the compiler, and reads the files that it begins with.
pub(super) fn examine_with(
    scene: &mut Scene,
    target: Target,
    options: Vec<String>,
    compiler: &Compiler,
    files: &mut Cache,
) -> compile::Result<Examined> {
    let mut included = read_included(scene);
    let mut diagnostics = scene.warnings.clone();
    let (plan, outcome) = planned(scene, target, &options, compiler)?;
    let plan = plan.map_err(|errors| diagnostics.extend(errors)).ok();
    let (compiled, log, mut untrusted) = match outcome {
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
            let mut found = layout::lay_out(scene, &compiled.ptx);
            // A draft is to be seen soon; what was misread is told when the whole comes.
            if options.is_empty() {
                found.extend(parameter_names::misread(scene, &plan, compiled, target, compiler)?);
            }
            let is_sound = found.iter().all(|d| d.severity < Severity::Error);
            diagnostics.extend(found);
            match layout::typed(scene, plan, &compiled.ptx) {
                Ok(plan) => Some(plan).filter(|_| is_sound),
                Err(errors) => {
                    diagnostics.extend(errors);
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

/// What the passes of a scene bind to, and what its compilation leads to. Where functions are overloaded, or branches
/// have different ones, the compiler says which there are, if the text did not: with what its debug information tells.
fn planned(
    scene: &mut Scene,
    target: Target,
    options: &[String],
    compiler: &Compiler,
) -> compile::Result<(Result<Plan, Vec<Diagnostic>>, Outcome)> {
    // A kernel that does not exist would be an error inside the compiler's own text: ask only for those of a
    // sound plan, and compile an unsound one for what else there is to say about it.
    let compile = |scene: &Scene, plan: Option<&Plan>| {
        let mut request = request(scene, target, plan);
        request.options.extend_from_slice(options);
        compile(scene, &mut request, compiler)
    };
    let mut plan = scene.plan();
    let mut outcome = compile(scene, plan.as_ref().ok())?;
    let unclear = unclear_names(plan.as_ref().ok(), &outcome);
    if !unclear.is_empty() {
        plan = scene.plan_by_types(&unclear);
        outcome = compile(scene, plan.as_ref().ok())?;
    }
    let is_sound = plan.is_ok() && matches!(outcome, Outcome::Compiled(_));
    if is_sound || !scene.is_overloaded() {
        return Ok((plan, outcome));
    }
    let mut request = request(scene, target, None);
    request.options.extend(debug_info::OPTIONS.map(String::from));
    if let Outcome::Compiled(compiled) = compiler.compile(&request)? {
        // What cannot be read tells nothing.
        let parameters = debug_info::parameters(&compiled.ptx).unwrap_or_default();
        let named = parameters.into_iter().map(|(kernel, parameters)| {
            (kernel, parameters.into_iter().map(|parameter| parameter.name).collect())
        });
        let names: HashMap<String, Vec<String>> = named.collect();
        let entries = Outline::new(&compiled.ptx).entries;
        let compiled = entries.iter().map(|entry| {
            let names = names.get(&entry.name).map(Vec::as_slice);
            (entry.name.as_str(), names)
        });
        if scene.settle_kernels(compiled) {
            let plan = scene.plan_by_types(&unclear);
            let outcome = compile(scene, plan.as_ref().ok())?;
            return Ok((plan, outcome));
        }
    }
    Ok((plan, outcome))
}

/// The names of kernels, as the compiler is given them, that are those of other functions, too, as `max` is one of
/// CUDA's headers.
fn unclear_names(plan: Option<&Plan>, outcome: &Outcome) -> BTreeSet<String> {
    let Outcome::Rejected { diagnostics, .. } = outcome else { return BTreeSet::new() };
    let is_unclear = |name: &&String| {
        let remark = remark_of_name(name);
        let mut texts = diagnostics.iter().map(|diagnostic| diagnostic.text.as_str());
        texts.any(|text| text.strip_prefix(&remark).is_some_and(|text| text.contains(UNCLEAR)))
    };
    let names = plan.into_iter().flat_map(|plan| &plan.passes).map(|pass| &pass.name_expression);
    names.filter(is_unclear).cloned().collect()
}

/// What the compiler says of a name that several functions have.
const UNCLEAR: &str = "cannot determine which instance of overloaded function";

/// A remark about a kernel's name, with its template arguments, placed where a pass names it; any other one as it is.
fn at_pass(plan: Option<&Plan>, diagnostic: Diagnostic) -> Diagnostic {
    let mut passes = plan.into_iter().flat_map(|plan| &plan.passes);
    let is_meant =
        |pass: &&PlannedPass| diagnostic.text.starts_with(&remark_of_name(&pass.name_expression));
    match passes.find(is_meant).filter(|_| diagnostic.line.is_none()) {
        Some(PlannedPass { declared, name_expression, .. }) => {
            let mut remark = diagnostic.at(declared.at.line, declared.at.column);
            if name_expression.starts_with("static_cast<") && remark.text.contains(NO_CAST) {
                let (name, types) = (parted(&declared.kernel).0, types_of_cast(name_expression));
                remark.text = format!("no kernel `{name}` that takes `({types})` is compiled");
            }
            remark
        }
        None => diagnostic,
    }
}

/// What the compiler says of a cast to the type of a function that there is not.
const NO_CAST: &str = "invalid type conversion";

/// The types of the parameters in `static_cast<void (*)(float *)>(k)`.
fn types_of_cast(cast: &str) -> &str {
    let types = cast.split_once(")(").and_then(|(_, types)| types.split_once(")>("));
    types.map_or("", |(types, _)| types)
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

/// Reads a scene from its text, which lies at `path`. Where that alone does not explain it, the headers beside it are
/// looked at: they may define structures that it names, and variables that it sets.
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
    let parsed = Scene::parse(name, text, overrides);
    let is_whole = parsed.as_ref().is_ok_and(|scene| scene.manifest.variables.is_empty());
    let Some(beside) = path.filter(|_| !is_whole) else { return parsed.map(placed) };
    let own = beside.parent().map(Path::to_owned).into_iter();
    let searched: Vec<PathBuf> = own.chain(overrides.include_dirs.iter().cloned()).collect();
    let reach = reach_from(path, trusted, &overrides.include_dirs);
    let headers = included(text, beside, &searched, &reach).files.into_iter();
    let headers: Vec<String> = headers.filter_map(|header| header.text).collect();
    if headers.is_empty() {
        return parsed.map(placed);
    }
    Scene::parse(name, text, &scene::Overrides { headers, ..overrides.clone() }).map(placed)
}
