//! How many instructions the guard adds, counted in what NVIDIA's assembler makes of the built-in scenes' kernels: what
//! the table of docs/performance.md was made with.
//!
//! ```text
//! cargo test --test it -- --ignored --nocapture guard::counts
//! WARPAINT_GUARD_PTX=FOLDER   the texts are written there, too, plain and guarded
//! ```

use std::{collections::BTreeMap, env, fs, path::PathBuf};

use warpaint::{
    compile::Target,
    ptx::{
        self,
        pass::guard::{GuardOptions, guard},
    },
};

use super::scenes::programs;
use crate::fuzz::assembler::Assembler;

const ARCHITECTURE: u32 = 90;

/// The text of a version that the assembler, which is older than the compiler, takes.
fn older(text: &str) -> String {
    let (_, rest) = text.split_once(".version").unwrap();
    let (_, rest) = rest.split_once('\n').unwrap();
    format!(".version 9.0\n{rest}")
}

/// Which of the kernel's versions a name is of: the number of those with fewer checks.
fn version_of<'a>(kernel: &str, name: &'a str) -> Option<&'a str> {
    let rest = name.strip_prefix("__warpaint_proved_")?;
    rest.split_once('_').filter(|(_, of)| *of == kernel).map(|(version, _)| version)
}

#[test]
#[ignore = "a table to read"]
fn instructions_of_kernels() {
    let Some(assembler) = Assembler::find() else { return };
    let folder = env::var_os("WARPAINT_GUARD_PTX").map(PathBuf::from);
    eprintln!(
        "| scene | kernel | accesses | always | at the launch | checked | plain | all checks | launched |"
    );
    eprintln!("|---|---|---|---|---|---|---|---|---|");
    for (name, text) in programs(Target(9, 0)) {
        if !name.ends_with(".cu") || name == "summary.cu" || name == "checksum.cu" {
            continue;
        }
        let guarded = guard(&ptx::parse(&text).unwrap(), &GuardOptions::default()).unwrap();
        let printed = ptx::print(&guarded.module);
        let file = name.replace(['/', '.'], "-");
        for (what, text) in [("plain", &*text), ("guarded", &printed)] {
            if let Some(folder) = &folder {
                fs::write(folder.join(format!("{file}-{what}.ptx")), older(text)).unwrap();
            }
        }
        let [plain, all]: [BTreeMap<String, (u64, u32)>; 2] =
            [&*text, &printed].map(|text| assembler.sizes(&older(text), ARCHITECTURE));
        for kernel in guarded.kernels.iter().filter(|of| !of.name.starts_with("warpaint_stat")) {
            let of = |name: &str, sizes: &BTreeMap<String, (u64, u32)>| {
                let size = sizes.get(name);
                size.map_or_else(
                    || "-".to_owned(),
                    |(count, registers)| format!("{count} ({registers})"),
                )
            };
            let versions =
                all.iter().filter(|(name, _)| version_of(&kernel.name, name) == Some("0"));
            let launched: Vec<String> =
                versions.map(|(_, (count, registers))| format!("{count} ({registers})")).collect();
            let counts = kernel.counts;
            eprintln!(
                "| {name} | {} | {} | {} | {} | {} | {} | {} | {} |",
                kernel.name,
                counts.accesses,
                counts.proved,
                counts.launches,
                counts.checked - counts.launches,
                of(&kernel.name, &plain),
                of(&kernel.name, &all),
                launched.join(" "),
            );
        }
    }
}
