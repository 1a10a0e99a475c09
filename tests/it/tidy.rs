//! The invariants of ARCHITECTURE.md that can be read off the sources.

mod defaults;
mod examples;
mod fields;
mod heads;
mod source;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    skip::{Need, skip},
    support::root,
};

pub use source::sources;
use source::{Name, ROOTS, Source};

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

/// The lines that are code: no comments, no unit tests.
pub fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let tests = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    text[..tests]
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[test]
fn foreign_crates_stay_where_they_belong() {
    let rules: [(&[&str], &[&str]); 7] = [
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
        (&["egui_tiles"], &["studio/panes/"]),
        (&["epaint"], &["draw/"]),
        (&["winit", "glutin_winit"], &["studio/", "gl/context"]),
    ];
    let mut wrong = Vec::new();
    for source in sources() {
        for (crates, allowed) in rules {
            if allowed.iter().any(|prefix| source.path.starts_with(prefix)) {
                continue;
            }
            for name in &source.names {
                let path = source.absolute(name);
                if crates.contains(&path[0].as_str()) {
                    let at = source.at(name.line);
                    wrong.push(format!("{at}: {} outside {allowed:?}", path[0]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The flow, left to right: a module names only those before it. (`headless` and `studio` stand side by side, as the
/// head of `studio` says.)
const FLOW: [&str; 24] = [
    "reserve",
    "machine",
    "diagnostic",
    "number",
    "interrupt",
    "file",
    "element",
    "cuda",
    "scene",
    "ptx",
    "compile",
    "device",
    "kernel",
    "array",
    "data",
    "gl",
    "interop",
    "draw",
    "record",
    "state",
    "session",
    "headless",
    "studio",
    "cli",
];

#[test]
fn modules_name_only_modules_to_their_left() {
    let mut wrong = Vec::new();
    for source in sources() {
        let Some(own) = source.module.first() else { continue };
        let place = FLOW.iter().position(|module| module == own);
        let place = place.unwrap_or_else(|| panic!("`{own}` has no place in the flow"));
        for (name, module) in named_modules(&source) {
            if FLOW[place + 1..].contains(&module.as_str()) {
                let at = source.at(name.line);
                wrong.push(format!("{at}: `{own}` names `{module}`, to its right"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_lies_two_modules_up_is_named_from_the_root() {
    let places =
        |source: &Source| source.climbs.iter().map(|line| source.at(*line)).collect::<Vec<_>>();
    let wrong: Vec<_> = sources().iter().flat_map(places).collect();
    assert!(wrong.is_empty(), "`super::super` in:\n{}", wrong.join("\n"));
}

/// The names of a source that lead from the crate's root, each with the module below the root that it leads to.
fn named_modules(source: &Source) -> impl Iterator<Item = (&Name, String)> {
    source.names.iter().filter_map(|name| {
        let path = source.absolute(name);
        (path[0] == "crate").then(|| Some((name, path.get(1)?.clone())))?
    })
}

/// What the modules of `parent` name of each other: who, whom, and one place each. The parent's head is one of them,
/// with what it defines itself.
fn edges(sources: &[Source], parent: &[&str]) -> BTreeMap<(String, String), String> {
    let head = sources.iter().find(|source| source.module == parent).unwrap();
    let depth = parent.len();
    let mut edges = BTreeMap::new();
    let of = |module: &[String]| module.get(depth).or(module.last()).cloned();
    for source in sources.iter().filter(|source| source.module.starts_with(&head.module)) {
        let Some(own) = of(&source.module) else { continue };
        if source.module.iter().any(|module| module == "tests") {
            continue;
        }
        for name in &source.names {
            let path = source.absolute(name);
            if path[0] != "crate" || path.len() < depth + 2 || path[1..=depth] != *parent {
                continue;
            }
            // What the parent only passes on belongs to the module that has it.
            let item = Name { line: name.line, path: path[depth + 1..].to_vec() };
            let path = head.absolute(&item);
            let module = path.get(1..depth + 2).filter(|_| path[0] == "crate");
            let module = module.filter(|module| sources.iter().any(|s| s.module[..] == **module));
            // What it imports from elsewhere is nobody's here; all else is its own.
            let is_foreign = module.is_none() && path != item.path;
            let Some(other) = of(module.unwrap_or(&head.module)).filter(|_| !is_foreign) else {
                continue;
            };
            if other != own {
                edges.entry((own.clone(), other)).or_insert_with(|| source.at(name.line));
            }
        }
    }
    edges
}

/// Those of the edges that are part of a circle, or lead from one to another.
fn circles(mut edges: BTreeMap<(String, String), String>) -> BTreeMap<(String, String), String> {
    loop {
        let before = edges.len();
        let is_left = |module: &String, end: fn(&(String, String)) -> &String| {
            edges.keys().any(|edge| end(edge) == module)
        };
        let ends: Vec<_> = edges
            .keys()
            .filter(|(from, to)| !is_left(to, |edge| &edge.0) || !is_left(from, |edge| &edge.1))
            .cloned()
            .collect();
        ends.iter().for_each(|edge| _ = edges.remove(edge));
        if edges.len() == before {
            return edges;
        }
    }
}

#[test]
fn circles_are_found() {
    let edges = |list: &[(&str, &str)]| {
        let edge = |(from, to): &(&str, &str)| ((from.to_string(), to.to_string()), String::new());
        list.iter().map(edge).collect()
    };
    let found = circles(edges(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("a", "d")]));
    assert_eq!(found, edges(&[("b", "c"), ("c", "b")]));
    assert_eq!(circles(edges(&[("a", "b"), ("b", "c"), ("a", "c")])), BTreeMap::new());
}

#[test]
fn what_a_head_defines_is_a_part_of_a_circle() {
    let file = |path: &str, text: &str| Source::new("src", path.to_owned(), text.to_owned());
    let head = |text: &str| file("a/mod.rs", text);
    let user = || file("a/b.rs", "use super::{Owner, Passed, Foreign}; pub struct Leaf;");
    let passed = || file("a/c.rs", "pub struct Passed;");
    let of = |head| edges(&[head, user(), passed()], &["a"]).into_keys().collect::<Vec<_>>();
    let edge = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    let begin = "mod b; mod c; pub use c::Passed; use std::fs as Foreign;";
    let circle = of(head(&format!("{begin} use b::Leaf; struct Owner(Leaf);")));
    assert_eq!(circle, [edge("a", "b"), edge("a", "c"), edge("b", "a"), edge("b", "c")]);
}

#[test]
fn parts_of_the_cpu_device_name_each_other_in_one_direction() {
    let sources = sources();
    if sources.is_empty() {
        return;
    }
    let circles = circles(edges(&sources, &["device", "cpu"]));
    let told: Vec<_> =
        circles.iter().map(|((from, to), at)| format!("{at}: `{from}` names `{to}`")).collect();
    assert!(told.is_empty(), "in circles:\n{}", told.join("\n"));
}

/// Folders whose modules name each other in circles, what their heads define not counted. None may be added; one that
/// is free of them goes from here.
const TIED: [&str; 1] = [
    // A handle of the seam is one of either backend, and both are given regions and sources of textures, which hold
    // such handles: with types of their own for these, each backend would say again what the seam does.
    "device",
];

#[test]
fn modules_of_one_folder_name_each_other_in_one_direction() {
    let sources = sources();
    let mut tied = Vec::new();
    for head in &sources {
        let parent: Vec<&str> = head.module.iter().map(String::as_str).collect();
        let is_inside = |source: &Source| {
            source.module.len() == parent.len() + 1 && source.module.starts_with(&head.module)
        };
        let (Some(own), true) = (parent.last(), sources.iter().any(is_inside)) else { continue };
        let all = edges(&sources, &parent).into_iter();
        let circles = circles(all.filter(|((from, to), _)| from != own && to != own).collect());
        if circles.is_empty() {
            continue;
        }
        let of = parent.join("::");
        let told = circles.iter().map(|((from, to), at)| format!("{at}: `{from}` names `{to}`"));
        tied.push((of, told.collect::<Vec<_>>().join("\n")));
    }
    let is_new = |(of, _): &&(String, String)| !TIED.contains(&of.as_str());
    let new: Vec<_> = tied.iter().filter(is_new).map(|(_, told)| told.as_str()).collect();
    assert!(new.is_empty(), "in circles:\n{}", new.join("\n"));
    let is_free = |of: &&&str| !tied.iter().any(|(tied, _)| tied == **of);
    let free: Vec<_> = TIED.iter().filter(is_free).filter(|_| !sources.is_empty()).collect();
    assert!(free.is_empty(), "no circles in: {free:?}");
}

/// As the CUDA manual has it: threads diverge and reconverge.
#[test]
fn threads_diverge_and_do_not_part() {
    let wrong =
        ["group parts", "groups part", "group parted", "threads part ", "part_unless", "may part"];
    let mut found = Vec::new();
    for source in sources().iter().filter(|source| source.path.starts_with("device/cpu/")) {
        for (line, text) in (1..).zip(source.text.lines()) {
            found
                .extend(wrong.iter().filter(|word| text.contains(**word)).map(|_| source.at(line)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
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
        "array/expression/elementwise.rs",
        "array/user_kernel/elementwise_kernel.rs",
        "array/algorithm/bins.rs",
        "array/algorithm/checksum.rs",
        "array/algorithm/histogram.rs",
        "array/exchange/interface.rs",
        "array/user_kernel/reduction_kernel.rs",
        "array/algorithm/reduction.rs",
        "array/user_kernel/scan_kernel.rs",
        "array/algorithm/sort.rs",
        "array/algorithm/sort/radix.rs",
        "array/algorithm/summary.rs",
        "array/algorithm/columns.rs",
        "array/algorithm/sweep.rs",
        "headless/ceilings.rs",
        "session/launch.rs",
        "session/stat.rs",
    ];
    let mut wrong = Vec::new();
    for source in sources() {
        if allowed.iter().any(|prefix| source.path.starts_with(prefix)) {
            continue;
        }
        for line in &source.is_unsafe {
            wrong.push(format!("{}: unsafe outside {allowed:?}", source.at(*line)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_shader_has_its_drawing_code() {
    let shaders = root().join("shaders");
    if !root().join("src").is_dir() {
        return skip(Need::Sources, "there are no sources beside the tests");
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
        return skip(Need::Sources, "there are no sources beside the tests");
    }
    let mut wrong = Vec::new();
    for folder in ROOTS.into_iter().chain(["tests/it", "kernels", "shaders"]) {
        for (path, text) in texts(&root().join(folder)) {
            if path.ends_with(".txt") {
                continue;
            }
            let rust = path.ends_with(".rs");
            let long = |line: &&str| line.chars().count() > 120 && !line.contains("scene -> ptx");
            let lines = (1..).zip(text.lines()).filter(|(_, line)| long(line));
            let counts = |line: &str| !rust || line.trim_start().starts_with("//");
            let found = lines.filter(|(_, line)| counts(line));
            wrong.extend(found.map(|(number, _)| format!("{folder}/{path}:{number}")));
        }
    }
    assert!(wrong.is_empty(), "longer than 120 columns:\n{}", wrong.join("\n"));
}

#[test]
fn files_stay_short_enough_to_read() {
    // What a session and its state are is many nouns, each of which is to have a file.
    let is_narrow = |path: &str| path.starts_with("session/") || path.starts_with("state/");
    let most = |path: &str| if is_narrow(path) { 500 } else { 1000 };
    let long: Vec<_> = sources()
        .into_iter()
        .map(|source| (source.text.lines().count(), source.path))
        .filter(|(lines, path)| *lines > most(path))
        .collect();
    assert!(long.is_empty(), "too many lines: {long:?}");
}
