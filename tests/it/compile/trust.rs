//! What a scene may include, and what `--trust` adds.

use std::{fs, os::unix::fs::symlink};

use crate::support::{COUNTER, Workplace};

/// A folder `scenes` beside a header of somebody else's.
fn place(include: &str) -> Workplace {
    let place = Workplace::new();
    fs::create_dir_all(place.path("scenes/sub")).unwrap();
    place.file("outside.h", "#define OUTSIDE 1\n");
    for name in ["scenes/inside.h", "scenes/sub/inside.h"] {
        place.file(name, "#define INSIDE 1\n");
    }
    symlink("../outside.h", place.path("scenes/link.h")).unwrap();
    let scene = COUNTER.replacen("---*/", &format!("---*/\n{include}"), 1);
    place.file("scenes/scene.cu", &scene);
    place
}

/// The line behind the manifest.
const LINE: usize = 23;

#[test]
fn a_scene_includes_only_what_lies_below_it() {
    for inside in [
        "\"inside.h\"",
        "<inside.h>",
        "\"sub/inside.h\"",
        "\"sub/../inside.h\"",
        "<warpaint/noise.cuh>",
    ] {
        let place = place(&format!("#include {inside}"));
        place.run(&["check", "scenes/scene.cu"]).expect(0, &[]);
    }
    for outside in ["\"../outside.h\"", "\"link.h\"", "\"/etc/passwd\"", "\"/proc/self/environ\""] {
        let place = place(&format!("#include {outside}"));
        let at = format!(
            "scenes/scene.cu:{LINE}: error: `{}` may not be included",
            outside.trim_matches('"')
        );
        place.run(&["check", "scenes/scene.cu"]).expect_one_line(1, &[&at, "--trust"]);
        let render = ["render", "scenes/scene.cu", "--device", "cpu"];
        place.run(&render).expect_one_line(1, &[&at, "--trust"]);
    }
}

/// Since C++23 blanks may stand between a backslash and the end of the line that it joins.
#[test]
fn what_joined_lines_include_is_found() {
    let place = place("#inc\\ \t\nlude \"../outside.h\"");
    let scene = fs::read_to_string(place.path("scenes/scene.cu")).unwrap();
    let standard =
        |of: &str| scene.replacen("/*---\n", &format!("/*---\ncompile.standard = \"{of}\"\n"), 1);
    for of in ["c++17", "c++23"] {
        let file = place.file("scenes/scene.cu", &standard(of));
        place.run(&["check", file]).expect(1, &[]);
    }
    // A header may have such lines; the text itself is read by the older rule, and may not.
    place.file("scenes/inside.h", "#inc\\ \nlude \"../outside.h\"\n");
    let text =
        standard("c++23").replace("#inc\\ \t\nlude \"../outside.h\"", "#include \"inside.h\"");
    let ended = place.run(&["check", place.file("scenes/scene.cu", &text)]);
    ended.expect_one_line(1, &["scenes/inside.h:", "`../outside.h` may not be included"]);
    let text =
        standard("c++23").replace("#inc\\ \t\nlude \"../outside.h\"", "// one \\ \n#define A");
    let ended = place.run(&["check", place.file("scenes/scene.cu", &text)]);
    ended.expect_one_line(1, &["scenes/scene.cu:24:1: error: since C++23"]);
    let text =
        standard("c++14").replace("#inc\\ \t\nlude \"../outside.h\"", "// really??/\n#define A");
    let ended = place.run(&["check", place.file("scenes/scene.cu", &text)]);
    ended.expect_one_line(1, &["scenes/scene.cu:24:1: error: before C++17"]);
}

#[test]
fn trust_allows_it() {
    for outside in ["\"../outside.h\"", "\"link.h\""] {
        let place = place(&format!("#include {outside}\nstatic_assert(OUTSIDE, \"\");"));
        place.run(&["check", "scenes/scene.cu", "--trust"]).expect(0, &[]);
        place.run(&["render", "scenes/scene.cu", "--device", "cpu", "--trust"]).expect(0, &[]);
    }
    let by_macro = place("#define NAME \"inside.h\"\n#include NAME");
    let line = format!("scenes/scene.cu:{}: error: what this includes cannot be told", LINE + 1);
    by_macro.run(&["check", "scenes/scene.cu"]).expect_one_line(1, &[&line, "--trust"]);
    by_macro.run(&["check", "scenes/scene.cu", "--trust"]).expect(0, &[]);
}

#[test]
fn bombs_and_crashes_are_remarks_of_check() {
    let check = |scene: &str, told: &[&str]| {
        let place = Workplace::new();
        place.file("scene.cu", scene);
        let mut command = place.command(&["check", "scene.cu"]);
        command.env("WARPAINT_COMPILE_SECONDS", "2").env("WARPAINT_COMPILE_MIB", "128");
        crate::support::Ended::new(command.output().unwrap()).expect(1, told);
    };
    let scene = |kernel: &str, source: &str| {
        format!(
            "/*---\n[array.out]\ntype = \"uint\"\ncount = 64\n[[pass]]\nkernel = \"{kernel}\"\ngrid = 1\n\
             block = 64\n---*/\n{source}"
        )
    };
    for bomb in [super::limits::TYPES, super::limits::MACROS, super::limits::TABLE] {
        check(&scene("k", bomb), &["scene.cu: error: the compiler ", "WARPAINT_COMPILE_"]);
    }
    let crash = "template <int A> __global__ void k(flaot *out) { out[0] = A; }";
    check(&scene("k<16>", crash), &["identifier \"flaot\" is undefined"]);
    // A line of NVRTC's own file of kernel names.
    check(
        &scene("k\\n#include </etc/passwd>\\n", "__global__ void k(unsigned *out) {}"),
        &["error"],
    );
}
