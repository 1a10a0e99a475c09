//! Whether the parameters of a scene's kernels were read as the compiler reads them.
//!
//! Enters: a scene, what its passes bind to, and what was compiled. Leaves: remarks on passes whose kernels have other
//! parameters. Must not know: `device`, `gl`, `state`.
//!
//! PTX has the types of parameters, but not their names, which arguments go by. These are read from the text, and there
//! a head may be read that the compiler leaves out (`#if`), one that declares what is defined elsewhere by other names,
//! or a name that macros make. Two parameters of one type would then change places without a word. So the compiler is
//! asked once more, for debug information.

use std::collections::HashMap;

use super::examine::request;
use crate::{
    compile::{self, Compiled, Compiler, Outcome, Target, debug_info},
    diagnostic::{Diagnostic, Severity},
    scene::{Plan, PlannedPass, Scene, parted},
};

/// What is to be said of passes whose kernels have other parameters than `plan` has.
///
/// # Errors
/// Those of the compiler.
pub(super) fn misread(
    scene: &Scene,
    plan: &Plan,
    compiled: &Compiled,
    target: Target,
    compiler: &Compiler,
) -> compile::Result<Vec<Diagnostic>> {
    let mut request = request(scene, target, Some(plan));
    request.options.extend(debug_info::OPTIONS.map(String::from));
    let outcome = match compiler.compile(&request) {
        // What was compiled without a compiler was kept: a built-in scene, or a text that was asked for this before.
        Err(compile::Error::NvrtcNotFound { .. } | compile::Error::NvrtcVariable { .. }) => {
            return Ok(Vec::new());
        }
        outcome => outcome?,
    };
    let names = match outcome {
        Outcome::Compiled(debugged) => debug_info::parameter_names(&debugged.ptx),
        Outcome::Rejected { diagnostics, .. } => {
            let why = diagnostics.first().map_or_else(String::new, |first| format!(": {first}"));
            return Ok(vec![not_asked(scene, &format!("it does not compile for that{why}"))]);
        }
    };
    let names = match names {
        Ok(names) => names,
        Err(error) => return Ok(vec![not_asked(scene, &error.to_string())]),
    };
    let remark = |pass: &PlannedPass| {
        let lowered = compiled.names.get(&pass.name_expression).unwrap_or(&pass.name_expression);
        difference(pass, lowered, &names).map(|text| {
            let at = pass.declared.at;
            Diagnostic::error(&*scene.name, text).at(at.line, at.column)
        })
    };
    Ok(plan.passes.iter().filter_map(remark).collect())
}

/// That the compiler could not be asked, and why.
fn not_asked(scene: &Scene, why: &str) -> Diagnostic {
    let text = format!(
        "what the parameters of kernels are called is as their text was read, for the compiler was asked in vain for its \
         debug information, which tells: {why}"
    );
    Diagnostic::error(&*scene.name, text).with_severity(Severity::Warning)
}

/// How the parameters of the kernel `lowered` differ from those that a pass has arguments for.
fn difference(
    pass: &PlannedPass,
    lowered: &str,
    names: &HashMap<String, Vec<String>>,
) -> Option<String> {
    let kernel = parted(&pass.declared.kernel).0;
    let read: Vec<&str> = pass.arguments.iter().map(|argument| &*argument.name).collect();
    let Some(compiled) = names.get(lowered) else {
        return Some(format!("the compiler's debug information has no kernel `{kernel}`"));
    };
    // A parameter without a name is called by its place.
    let is_same = |(place, (read, compiled)): (usize, (&&str, &String))| match compiled.is_empty() {
        true => read.parse() == Ok(place),
        false => read == compiled,
    };
    if read.len() == compiled.len() && (1..).zip(read.iter().zip(compiled)).all(is_same) {
        return None;
    }
    Some(format!(
        "the parameters of `{kernel}` are ({}) to the compiler, but its text was read as ({}): which of its heads \
         counts, or what macros make of it, was not understood; a text with one head of plain names is",
        compiled.join(", "),
        read.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_parameters_than_were_read_are_told() {
        let text = "/*---\n[array.a]\ntype = \"float\"\ncount = 1\n[array.b]\ntype = \"float\"\ncount = 1\n\
                    [[pass]]\nkernel = \"k\"\nargs = { 3 = 1.0 }\ngrid = 1\nblock = 1\n---*/\n\
                    __global__ void k(float *a, float *b, float) {}\n";
        let scene = Scene::parse("s.cu", text, &Default::default()).unwrap();
        let plan = scene.plan().unwrap();
        let told = |lowered: &str, names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let all = HashMap::from([("_Z1kPfS_f".to_owned(), names)]);
            difference(&plan.passes[0], lowered, &all)
        };
        assert_eq!(told("_Z1kPfS_f", &["a", "b", ""]), None);
        let swapped = told("_Z1kPfS_f", &["b", "a", ""]).unwrap();
        assert!(swapped.contains("(b, a, ) to the compiler") && swapped.contains("as (a, b, 3)"));
        for others in [&["a", "b"][..], &["a", "b", "c"], &["a", "", "b"], &["a", "b", "", ""]] {
            assert!(told("_Z1kPfS_f", others).is_some(), "{others:?}");
        }
        assert!(told("_Z1kPf", &["a", "b", ""]).unwrap().contains("no kernel `k`"));
    }
}
