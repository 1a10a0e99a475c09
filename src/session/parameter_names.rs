//! Whether the parameters of a scene's kernels were read as the compiler reads them, by name and type.
//!
//! Enters: a scene, what its passes bind to, and what was compiled. Leaves: remarks on passes whose kernels have other
//! parameters. Must not know: `device`, `gl`, `state`.
//!
//! PTX has not the names of parameters, which arguments go by, and of their types the sizes alone. These are read from
//! the text, and there a head may be read that the compiler leaves out (`#if`), one that declares what is defined
//! elsewhere by other names, or a name or a type that macros make. Two parameters would then change places, or a number
//! be taken for another one, without a word. So the compiler is asked once more, for debug information.

use std::collections::HashMap;

use super::request::request;
use crate::{
    compile::{
        self, Compiled, Compiler, Outcome, Target,
        debug_info::{self, Parameter},
    },
    cuda::{CType, Pointee},
    diagnostic::{Diagnostic, Severity},
    scene::{Argument, Plan, PlannedPass, Scene, parted},
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
    let parameters = match outcome {
        Outcome::Compiled(debugged) => debug_info::parameters(&debugged.ptx),
        Outcome::Rejected { diagnostics, .. } => {
            let why = diagnostics.first().map_or_else(String::new, |first| format!(": {first}"));
            return Ok(vec![not_asked(scene, &format!("it does not compile for that{why}"))]);
        }
    };
    let parameters = match parameters {
        Ok(parameters) => parameters,
        Err(error) => return Ok(vec![not_asked(scene, &error.to_string())]),
    };
    let remark = |pass: &PlannedPass| {
        let lowered = compiled.names.get(&pass.name_expression).unwrap_or(&pass.name_expression);
        difference(pass, lowered, &parameters).map(|text| {
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
    parameters: &HashMap<String, Vec<Parameter>>,
) -> Option<String> {
    let kernel = parted(&pass.declared.kernel).0;
    let read = &pass.arguments;
    let Some(compiled) = parameters.get(lowered) else {
        return Some(format!("the compiler's debug information has no kernel `{kernel}`"));
    };
    // A parameter without a name is called by its place.
    let is_same = |(place, (read, compiled)): (usize, (&Argument, &Parameter))| {
        let is_same_name = match compiled.name.is_empty() {
            true => read.name.parse() == Ok(place),
            false => read.name == compiled.name,
        };
        is_same_name && may_be(&read.ctype, &compiled.of)
    };
    if read.len() == compiled.len() && (1..).zip(read.iter().zip(compiled)).all(is_same) {
        return None;
    }
    let listed = |all: &mut dyn Iterator<Item = (&CType, &str)>| {
        let all: Vec<String> =
            all.map(|(of, name)| format!("{of} {name}").trim_end().replace("* ", "*")).collect();
        all.join(", ")
    };
    Some(format!(
        "the parameters of `{kernel}` are ({}) to the compiler, but its text was read as ({}): which of its heads \
         counts, or what macros make of it, was not understood; a text with one head of plain names is",
        listed(&mut compiled.iter().map(|parameter| (&parameter.of, &*parameter.name))),
        listed(&mut read.iter().map(|argument| (&argument.ctype, &*argument.name)))
    ))
}

/// Whether a type that was read may be the one that was compiled: what a name stands for was not read.
fn may_be(read: &CType, compiled: &CType) -> bool {
    match (read, compiled) {
        (CType::Named(_), _) => true,
        (CType::Value(read), CType::Value(compiled)) => read == compiled,
        (CType::Pointer { to: read, .. }, CType::Pointer { to: compiled, .. }) => match read {
            Pointee::Named(_) => true,
            Pointee::Element(_) | Pointee::Void => read == compiled,
        },
        (CType::Texture, CType::Texture) | (CType::Surface, CType::Surface) => true,
        (
            CType::Value(_) | CType::Pointer { .. } | CType::Texture | CType::Surface,
            CType::Value(_)
            | CType::Pointer { .. }
            | CType::Texture
            | CType::Surface
            | CType::Named(_),
        ) => false,
    }
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
        let told = |lowered: &str, parameters: &[(&str, &str)]| {
            let parameter = |(of, name): &(&str, &str)| Parameter {
                name: (*name).to_owned(),
                of: CType::parse(of),
            };
            let all = parameters.iter().map(parameter).collect();
            difference(&plan.passes[0], lowered, &HashMap::from([("_Z1kPfS_f".to_owned(), all)]))
        };
        let [a, b, third] = [("float *", "a"), ("float *", "b"), ("float", "")];
        assert_eq!(told("_Z1kPfS_f", &[a, b, third]), None);
        let swapped = told("_Z1kPfS_f", &[b, a, third]).unwrap();
        assert!(
            swapped.contains("(float *b, float *a, float) to the compiler")
                && swapped.contains("as (float *a, float *b, float 3)"),
            "{swapped}"
        );
        let (c, nameless) = (("float", "c"), ("float *", ""));
        let (value, of_other, whole) = (("float", "b"), ("int *", "b"), ("int", ""));
        for others in [
            &[a, b][..],
            &[a, b, c],
            &[a, nameless, third],
            &[a, b, third, third],
            &[a, value, third],
            &[a, of_other, third],
            &[a, b, whole],
        ] {
            assert!(told("_Z1kPfS_f", others).is_some(), "{others:?}");
        }
        assert!(told("_Z1kPf", &[a, b, third]).unwrap().contains("no kernel `k`"));
    }
}
