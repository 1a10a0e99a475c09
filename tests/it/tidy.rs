//! The invariants of ARCHITECTURE.md that can be read off the text of the sources.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::support::root;

/// Every file below a folder, with its path from there.
fn texts(folder: &Path) -> Vec<(String, String)> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => walk(&path, files),
                false => files.push(path),
            }
        }
    }
    let mut files = Vec::new();
    walk(folder, &mut files);
    let relative = |path: &Path| path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (relative(path), fs::read_to_string(path).unwrap())).collect()
}

/// Every Rust file below `src`, with its path from there.
pub fn sources() -> Vec<(String, String)> {
    let src = root().join("src");
    if !src.is_dir() {
        return Vec::new(); // an installed copy of the tests has no sources to read
    }
    let mut files = texts(&src);
    files.retain(|(path, _)| path.ends_with(".rs"));
    assert!(files.len() > 30, "the sources are where this test looks for them");
    files
}

/// The lines that are code: no comments, no unit tests.
pub fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let tests = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    text[..tests]
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Whether `word` stands in `line` as the start of a path: `word::`.
fn names_crate(line: &str, word: &str) -> bool {
    line.match_indices(&format!("{word}::"))
        .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'))
        || line.trim() == format!("use {word};")
}

#[test]
fn foreign_crates_stay_where_they_belong() {
    let rules: [(&[&str], &[&str]); 6] = [
        (&["cudarc"], &["device/nvidia/", "interop/registered"]),
        (
            &[
                "cranelift_codegen",
                "cranelift_frontend",
                "cranelift_jit",
                "cranelift_module",
                "cranelift_native",
            ],
            &["device/cpu/"],
        ),
        (&["glow", "glutin"], &["gl/"]),
        (&["egui", "egui_glow", "egui_winit", "egui_plot", "egui_extras"], &["studio/"]),
        (&["epaint"], &["draw/"]),
        (&["winit", "glutin_winit"], &["studio/", "gl/context"]),
    ];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        for (crates, allowed) in rules {
            if allowed.iter().any(|prefix| path.starts_with(prefix)) {
                continue;
            }
            for (number, line) in code(&text) {
                for name in crates.iter().filter(|name| names_crate(line, name)) {
                    wrong.push(format!("src/{path}:{number}: {name} is used outside {allowed:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The flow, left to right: a module names only those before it. The last two stand side by side.
const FLOW: [&str; 14] = [
    "diagnostic",
    "element",
    "scene",
    "compile",
    "ptx",
    "device",
    "kernel",
    "array",
    "gl",
    "interop",
    "draw",
    "record",
    "session",
    "headless",
];

#[test]
fn modules_name_only_modules_to_their_left() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let own = path.split(['/', '.']).next().unwrap();
        let Some(place) = FLOW.iter().position(|m| *m == own) else { continue };
        let forbidden = FLOW[place + 1..].iter().chain(["studio"].iter());
        for module in forbidden {
            for (number, _) in naming(&text, module) {
                wrong.push(format!("src/{path}:{number}: `{own}` names `{module}`, to its right"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lines of code that name `module` from the crate's root: as `crate::module`, or in a `use crate::{ ... }` over
/// several lines.
fn naming<'t>(text: &'t str, module: &str) -> Vec<(usize, &'t str)> {
    let (path, mut grouped) = (format!("crate::{module}"), false);
    let named = |(_, line): &(usize, &str)| {
        grouped = *line == "use crate::{" || grouped && *line != "};";
        let first = line.strip_prefix("    ").and_then(|rest| rest.strip_prefix(module));
        let imported = first.is_some_and(|rest| rest.starts_with(',') || rest.starts_with("::"));
        line.contains(&path) || grouped && imported
    };
    code(text).filter(named).collect()
}

#[test]
fn panels_call_neither_device_nor_opengl() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if !path.starts_with("studio/panels/") {
            continue;
        }
        for module in ["device", "gl", "interop", "draw", "compile"] {
            for (number, _) in naming(&text, module) {
                wrong.push(format!("src/{path}:{number}: a panel names `{module}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_named_places_are_unsafe() {
    let allowed = [
        "device/nvidia/",
        "device/cpu/",
        "device/pool.rs",
        "device/stream.rs",
        "gl/",
        "interop/registered",
        "compile/nvrtc",
        "compile/server/",
        "kernel/function.rs",
        "kernel/host_argument.rs",
        "kernel/prepared.rs",
        "array/elementwise.rs",
        "array/elementwise_kernel.rs",
        "array/histogram.rs",
        "array/interface.rs",
        "array/reduction_kernel.rs",
        "array/reduction.rs",
        "array/scan_kernel.rs",
        "array/sort.rs",
        "array/summary.rs",
        "array/columns.rs",
        "array/sweep.rs",
        "headless/ceilings.rs",
        "session/flight.rs",
        "session/stat.rs",
    ];
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        if allowed.iter().any(|prefix| path.starts_with(prefix)) {
            continue;
        }
        for (number, line) in code(&text) {
            if line.contains("unsafe {")
                || line.contains("unsafe fn")
                || line.contains("unsafe impl")
            {
                wrong.push(format!("src/{path}:{number}: unsafe outside {allowed:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_shader_has_its_drawing_code() {
    let shaders = root().join("shaders");
    if !root().join("src").is_dir() {
        return;
    }
    let mut seen = 0;
    for entry in fs::read_dir(shaders).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(
            root().join(format!("src/draw/{stem}.rs")).exists(),
            "shaders/{} has no src/draw/{stem}.rs",
            path.file_name().unwrap().to_string_lossy()
        );
        seen += 1;
    }
    assert!(seen >= 2);
}

/// Comments, and all of CUDA C++ and of shaders; rustfmt sees to Rust but for texts, and tables are as wide as they
/// are.
#[test]
fn lines_are_120_columns_at_most() {
    if !root().join("src").is_dir() {
        return;
    }
    let mut wrong = Vec::new();
    for folder in ["src", "tests/it", "kernels", "shaders"] {
        for (path, text) in texts(&root().join(folder)) {
            if path.ends_with(".txt") {
                continue;
            }
            let rust = path.ends_with(".rs");
            let long =
                |line: &&str| line.chars().count() > 120 && !line.contains("scene -> compile");
            let lines = (1..).zip(text.lines()).filter(|(_, line)| long(line));
            let counts = |line: &str| !rust || line.trim_start().starts_with("//");
            let found = lines.filter(|(_, line)| counts(line));
            wrong.extend(found.map(|(number, _)| format!("{folder}/{path}:{number}")));
        }
    }
    assert!(wrong.is_empty(), "longer than 120 columns:\n{}", wrong.join("\n"));
}

/// Whether a line declares a public function or type, as it stands or in a macro.
fn declares(line: &str) -> bool {
    let Some(item) = line.trim_start().strip_prefix("pub ") else { return false };
    let mut words = item.split_whitespace().skip_while(|word| ["const", "unsafe"].contains(word));
    words.next().is_some_and(|word| ["fn", "struct", "enum", "trait", "type"].contains(&word))
}

/// Of each part of the library, its public functions and types without an example, and how many there are.
#[test]
fn most_public_items_have_an_example() {
    for folder in ["compile/", "device/", "kernel/", "array/", "interop/"] {
        let (mut without, mut items) = (Vec::new(), 0);
        for (path, text) in sources().into_iter().filter(|(path, _)| path.starts_with(folder)) {
            // What a device does behind the seam.
            if ["device/cpu/", "device/nvidia/"].iter().any(|inner| path.starts_with(inner)) {
                continue;
            }
            let lines: Vec<_> = text.lines().collect();
            for (at, line) in lines.iter().enumerate().filter(|(_, line)| declares(line)) {
                let above = lines[..at].iter().rev().take_while(|line| !line.trim().is_empty());
                let is_shown = |line: &str| {
                    ["```", "= example!(", "= example_of_"].iter().any(|mark| line.contains(mark))
                };
                let shown = above.filter(|line| is_shown(line));
                items += 1;
                if shown.count() == 0 {
                    without.push(format!("src/{path}:{}: {}", at + 1, line.trim()));
                }
            }
        }
        let most = without.len() * 2 < items || items == 0;
        assert!(most, "{folder}: {items} items, without an example:\n{}", without.join("\n"));
    }
}

#[test]
fn files_stay_short_enough_to_read() {
    let long: Vec<_> = sources()
        .into_iter()
        .map(|(path, text)| (text.lines().count(), path))
        .filter(|(lines, _)| *lines > 1000)
        .collect();
    assert!(long.is_empty(), "longer than 1000 lines: {long:?}");
}
