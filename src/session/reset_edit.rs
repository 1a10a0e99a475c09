//! Whether what begins the scene was edited since it began: then only a reset shows what the edit does.

use std::collections::BTreeMap;

use super::program::Program;
use crate::{
    cuda::lexer,
    scene::{Manifest, What, When},
};

/// The kernels of the reset passes, each with its text without blanks and comments.
pub(super) type Beginning = BTreeMap<String, String>;

/// What a program begins with.
pub(super) fn beginning(program: &Program) -> Beginning {
    let (manifest, source) = (&program.scene.manifest, &program.scene.source);
    kernels(manifest, program)
        .into_iter()
        .map(|kernel| {
            let text = definition(source, &kernel);
            (kernel, text)
        })
        .collect()
}

fn kernels(manifest: &Manifest, program: &Program) -> Vec<String> {
    let mut entries: Vec<_> = manifest.entries(When::Reset).collect();
    let mut kernels = Vec::new();
    while let Some(entry) = entries.pop() {
        match &entry.what {
            What::Launch(index) => kernels
                .extend(program.passes.get(*index).map(|pass| pass.plan.declared.kernel.clone())),
            What::Group { entries: within, .. } => entries.extend(within),
            What::Copy { .. } => {}
        }
    }
    kernels
}

/// The text of a kernel's definition, from its parameters on; empty where it is in another file.
fn definition(source: &str, kernel: &str) -> String {
    let name = kernel.split('<').next().unwrap_or(kernel);
    let name = name.rsplit("::").next().unwrap_or(name).trim();
    let tokens: Vec<&str> = lexer::code(source).map(|token| token.text).collect();
    let is_kernel = |at: &usize| {
        let before = &tokens[..*at];
        // Back to the end of what stands before.
        let head = before.iter().rev().take_while(|token| !matches!(**token, ";" | "}"));
        tokens[*at] == name
            && tokens.get(at + 1) == Some(&"(")
            && head.into_iter().any(|token| *token == "__global__")
    };
    let Some(from) = (0..tokens.len()).find(is_kernel) else { return String::new() };
    let mut depth = 0;
    let end = tokens[from..].iter().position(|token| {
        depth += i32::from(*token == "{") - i32::from(*token == "}");
        depth == 0 && matches!(*token, "}" | ";")
    });
    tokens[from..]
        .iter()
        .take(end.map_or(usize::MAX, |end| end + 1))
        .copied()
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
