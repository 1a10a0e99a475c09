//! The kernels that a pass may mean.

use std::collections::HashMap;

use crate::cuda::Signature;
use crate::scene::suggestion::suggestion;

/// So many kernels of one name are tried for a pass.
const MOST_OVERLOADS: usize = 16;

/// The kernels of a scene.
pub(super) struct Kernels<'a> {
    all: &'a [Signature],
    /// What was found for the names that were asked for.
    known: HashMap<&'a str, Result<Vec<&'a Signature>, String>>,
}

impl<'a> Kernels<'a> {
    pub(super) fn new(all: &'a [Signature]) -> Self {
        Self { all, known: HashMap::new() }
    }

    /// The kernels that `name`, perhaps with template arguments, may mean.
    pub(super) fn find(&mut self, name: &'a str) -> Result<Vec<&'a Signature>, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_found_by_name() {
        let kernels = |source: &str| crate::cuda::scan("t.cu", source);
        let find = |all: &[Signature], name| {
            Kernels::new(all).find(name).map(|found| found.into_iter().cloned().collect::<Vec<_>>())
        };
        let cases = [
            ("__global__ void advnace() {}", "f", "did you mean"),
            ("__global__ void advnace() {}", "advance", "did you mean `advnace`"),
            ("", "f", "there is no kernel `f`"),
            ("template<int N> __global__ void f() {}", "f", "as in `f<4>`"),
            ("template<int N, class T = float> __global__ void f() {}", "f", "as in `f<4>`"),
            ("template<class... T> __global__ void f(T... a) {}", "f", "as in `f<4>`"),
            ("__global__ void f() {}", "f<4>", "no template"),
        ];
        for (source, name, part) in cases {
            let found = kernels(source);
            let text = find(&found, name).expect_err(source);
            assert!(
                text.contains(part) || (part == "did you mean" && text.contains("known are")),
                "{text}"
            );
        }
        let good = [
            ("template<int N> __global__ void f() {}", "f<4>"),
            ("template<class T = float, int N = 4> __global__ void f(T *a) {}", "f"),
            ("__global__ void f(int);\n__global__ void f(int a) {}", "f"),
            ("namespace a { __global__ void f() {} }", "a::f"),
            ("namespace a { template<class T> __global__ void f() {} }", "::a::f<float4>"),
        ];
        for (source, name) in good {
            assert!(
                find(&kernels(source), name).is_ok_and(|k| k.len() == 1 && k[0].defined),
                "{name}"
            );
        }
    }
}
