//! Kernels that take the half of a double resource which is being written, and never write it.
//!
//! The halves change places behind such a launch, so that what the next one reads is what was there two launches ago.

use std::collections::BTreeSet;

use super::program::{Pass, Program};
use crate::{
    diagnostic::{Diagnostic, Severity},
    scene::{Manifest, Source},
};

/// Of longer kernels nothing is said: their instructions are gone through while the window waits.
const LONGEST: usize = 1 << 20;
/// So often they are gone through: what is computed from a register stands behind it, but for loops.
const MOST_ROUNDS: usize = 8;

/// A warning for each pass of `program` that does so; `file` is the scene's.
pub(super) fn warnings(program: &Program, file: &str) -> Vec<Diagnostic> {
    let (manifest, ptx) = (&program.scene.manifest, &program.ptx);
    program.passes.iter().flat_map(|pass| of_pass(pass, manifest, ptx, file)).collect()
}

fn of_pass(pass: &Pass, manifest: &Manifest, ptx: &str, file: &str) -> Vec<Diagnostic> {
    let next =
        pass.plan.arguments.iter().enumerate().filter_map(|(index, argument)| {
            match argument.source {
                Source::Next(id) => Some((index, &argument.name, &manifest.resource(id).name)),
                _ => None,
            }
        });
    let kernel = pass.function.name();
    let Some(body) = body(ptx, kernel) else { return Vec::new() };
    let unwritten = next.filter(|(index, ..)| !may_write(body, &format!("{kernel}_param_{index}")));
    unwritten
        .map(|(_, name, resource)| {
            let declared = &pass.plan.declared;
            let text = format!(
                "kernel `{}` takes `{name}` and never writes it: the halves of `{resource}` change places behind its \
                 launch all the same, so that the next one reads what was there before; take `{resource}` alone",
                declared.kernel
            );
            let at = declared.at;
            Diagnostic::error(file, text).at(at.line, at.column).with_severity(Severity::Warning)
        })
        .collect()
}

/// The instructions of an entry.
fn body<'p>(ptx: &'p str, kernel: &str) -> Option<&'p str> {
    let head = format!(".entry {kernel}(");
    let from = &ptx[ptx.find(&head)?..];
    let from = &from[from.find('{')?..];
    from.find("\n}").map(|end| &from[..end])
}

/// Whether a kernel's instructions may write where a parameter leads. What is computed from it is followed through the
/// registers; where it is given away, or kept in memory, it may.
fn may_write(body: &str, parameter: &str) -> bool {
    let mut led: BTreeSet<&str> = BTreeSet::new();
    if body.len() > LONGEST {
        return true;
    }
    for _ in 0..MOST_ROUNDS {
        let before = led.len();
        for line in body.lines() {
            let Some((operation, operands)) = instruction(line) else { continue };
            let mentions = |words: &[&'_ str]| {
                words.iter().any(|word| led.contains(word) || *word == parameter)
            };
            let writes = ["st", "atom", "red", "sust", "sured", "cp", "call", "multimem"];
            let is_write = writes.contains(&operation.split('.').next().unwrap_or_default());
            if is_write && mentions(&operands) {
                return true;
            }
            if let Some((to, from)) = operands.split_first()
                && to.starts_with('%')
                && mentions(from)
                && !reads(operation)
            {
                led.insert(to);
            }
        }
        if led.len() == before {
            return false;
        }
    }
    true
}

/// Whether an operation reads memory: what it gives leads nowhere.
fn reads(operation: &str) -> bool {
    let reads_memory = operation.starts_with("ld") && !operation.starts_with("ld.param");
    reads_memory || operation.starts_with("suld") || operation.starts_with("tex")
}

/// What a line does, and the names in it.
fn instruction(line: &str) -> Option<(&str, Vec<&str>)> {
    let line = line.trim();
    // Under a condition.
    let line = match line.strip_prefix('@') {
        Some(rest) => rest.split_once(char::is_whitespace)?.1.trim_start(),
        None => line,
    };
    let (operation, operands) = line.split_once(char::is_whitespace)?;
    let is_name = |c: char| c.is_alphanumeric() || "_%$".contains(c);
    let operands = operands.split(|c: char| !is_name(c)).filter(|word| !word.is_empty());
    (!operation.starts_with('.')).then(|| (operation, operands.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = ".visible .entry k(\n\t.param .u64 k_param_0,\n\t.param .u64 k_param_1\n)\n{\n\
        \tld.param.u64 \t%rd1, [k_param_0];\n\tld.param.u64 \t%rd2, [k_param_1];\n\
        \tcvta.to.global.u64 \t%rd3, %rd1;\n\tmad.wide.s32 \t%rd4, %r1, 4, %rd3;\n\
        \tld.global.f32 \t%f1, [%rd4];\n\tcvta.to.global.u64 \t%rd5, %rd2;\n\
        \tadd.s64 \t%rd6, %rd5, 16;\n\t@%p1 st.global.f32 \t[%rd6+4], %f1;\n\tret;\n\n}\n";

    #[test]
    fn what_is_written_is_followed_through_the_registers() {
        let body = body(KERNEL, "k").unwrap();
        assert!(
            !may_write(body, "k_param_0"),
            "it is only read, and what is read is written elsewhere"
        );
        assert!(may_write(body, "k_param_1"));
        assert!(!may_write(body, "k_param_2"), "it is not used");
        assert!(super::body(KERNEL, "other").is_none());
    }

    #[test]
    fn what_would_take_long_is_not_followed() {
        let backwards = |count: usize| {
            let moves = (1..count).rev().map(|n| format!("\tmov.u64 %rd{}, %rd{n};\n", n + 1));
            moves.collect::<String>() + "\tld.param.u64 %rd1, [p];\n"
        };
        assert!(!may_write(&backwards(4), "p"));
        assert!(may_write(&backwards(20_000), "p"), "nothing is known of it");
        assert!(may_write(&"\tmov.u64 %rd1, %rd2;\n".repeat(LONGEST / 20), "p"));
    }

    #[test]
    fn surfaces_and_what_is_given_away_count() {
        assert!(may_write(
            "\tld.param.u64 %rd1, [p];\n\tsust.b.2d.b32.trap [%rd1, {%r1, %r2}], {%r3};",
            "p"
        ));
        assert!(!may_write(
            "\tld.param.u64 %rd1, [p];\n\tsuld.b.2d.b32.trap {%r3}, [%rd1, {%r1, %r2}];",
            "p"
        ));
        assert!(may_write("\tld.param.u64 %rd1, [p];\n\tst.param.b64 [param0], %rd1;", "p"));
    }
}
