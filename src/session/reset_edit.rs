//! Whether what begins the scene was edited since it began: then only a reset shows what the edit does.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    cuda::lexer,
    scene::{Manifest, PlannedPass, Scene, What, When},
};

/// The kernels of the reset passes, each with its text without blanks and comments.
pub(super) type Beginning = BTreeMap<String, String>;

/// What a scene begins with whose manifest's launches are these passes.
pub(super) fn beginning(scene: &Scene, passes: &[PlannedPass]) -> Beginning {
    let kernels = kernels(&scene.manifest, passes);
    let names = kernels.iter().map(|kernel| plain(kernel)).collect();
    let texts = definitions(&scene.source, names);
    let text = |kernel: &str| texts.get(plain(kernel)).cloned().unwrap_or_default();
    kernels.iter().map(|kernel| (kernel.clone(), text(kernel))).collect()
}

fn kernels(manifest: &Manifest, passes: &[PlannedPass]) -> Vec<String> {
    let mut entries: Vec<_> = manifest.entries(When::Reset).collect();
    let mut kernels = Vec::new();
    while let Some(entry) = entries.pop() {
        match &entry.what {
            What::Launch(index) => {
                kernels.extend(passes.get(*index).map(|pass| pass.declared.kernel.clone()))
            }
            What::Group { entries: within, .. } => entries.extend(within),
            What::Copy { .. } => {}
        }
    }
    kernels
}

/// A kernel's name without its namespaces and template arguments.
fn plain(kernel: &str) -> &str {
    let name = kernel.split('<').next().unwrap_or(kernel);
    name.rsplit("::").next().unwrap_or(name).trim()
}

/// The text of the first definition of each of these kernels, from its name on; none of one in another file. Goes over
/// the source once, however many there are.
fn definitions<'a>(source: &str, mut names: BTreeSet<&'a str>) -> BTreeMap<&'a str, String> {
    let mut tokens = lexer::code(source).map(|token| token.text).peekable();
    let (mut found, mut is_global) = (BTreeMap::new(), false);
    while let Some(token) = tokens.next() {
        match token {
            "__global__" => is_global = true,
            ";" | "}" => is_global = false,
            _ => {}
        }
        let is_call = is_global && tokens.peek() == Some(&"(");
        let Some(name) = is_call.then(|| names.take(token)).flatten() else { continue };
        let (mut text, mut depth) = (name.to_owned(), 0);
        for token in tokens.by_ref() {
            text.push(' ');
            text.push_str(token);
            depth += i32::from(token == "{") - i32::from(token == "}");
            if depth == 0 && matches!(token, "}" | ";") {
                break;
            }
        }
        is_global = false;
        found.insert(name, text);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(text: &str, kernel: &str) -> String {
        let name = plain(kernel);
        definitions(text, [name].into()).remove(name).unwrap_or_default()
    }

    #[test]
    fn blanks_and_comments_do_not_count_and_other_kernels_do_not() {
        let text = "__device__ int f() { return 1; }\n__global__ void begin(int *a) { if (a) { a[0] = 1; } }\n\
                    __global__ void move(int *a) { a[0] += 1; }";
        let begin = definition(text, "begin");
        assert!(begin.starts_with("begin ( int") && begin.ends_with("; } }"), "{begin}");
        let same = text.replace("a[0] = 1;", "a[0]  = 1; // one\n").replace("+= 1", "+= 2");
        assert_eq!(definition(&same, "begin"), begin);
        assert_ne!(definition(&text.replace("a[0] = 1", "a[0] = 2"), "begin"), begin);
        assert_eq!(definition(text, "other"), "");
        assert!(definition(text, "field::move<4>").contains("+ ="), "{}", definition(text, "move"));
        let both = definitions(text, ["begin", "move", "other"].into());
        assert_eq!(both.keys().copied().collect::<Vec<_>>(), ["begin", "move"]);
        assert_eq!(both["begin"], begin);
    }
}
