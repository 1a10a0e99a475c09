//! How scenes are compiled: `[compile]` of the manifest, and `-D` and `-I` of the command line.

use std::fs;

use ndarray_npy::ReadNpyExt as _;

use super::support::Workplace;

/// A scene that stores what its macros are, with this `[compile]`.
fn scene(compile: &str) -> String {
    format!(
        "/*---\n{compile}\n[array.out]\ntype = \"float\"\ncount = 4\n[[pass]]\nkernel = \"k\"\nover = \"out\"\n---*/\n\
         #include \"value.h\"\n#ifndef FLAG\n#define FLAG 0\n#endif\n\
         __global__ void k(float *out) {{\n    if (threadIdx.x == 0) {{ out[0] = N; out[1] = FLAG; out[2] = VALUE; \
         out[3] = __cplusplus / 100; }}\n}}\n"
    )
}

fn values(place: &Workplace, arguments: &[&str]) -> Vec<f32> {
    let command = ["render", "scenes/scene.cu", "--device", "cpu", "--npy", "out=out.npy"];
    place.run(&[&command[..], arguments].concat()).expect(0, &[]);
    let file = fs::File::open(place.path("out.npy")).unwrap();
    ndarray::Array1::<f32>::read_npy(file).unwrap().to_vec()
}

#[test]
fn macros_folders_and_the_standard_are_the_manifests_and_the_command_lines() {
    let place = Workplace::new();
    for folder in ["scenes/parts", "elsewhere"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    place.file("scenes/parts/value.h", "#define VALUE 7\n");
    place.file("elsewhere/value.h", "#define VALUE 8\n");
    let compile = "[compile]\ndefine = { N = 1024, FLAG = true, OFF = false }\ninclude = [\"parts\"]\nstandard = \"c++20\"";
    place.file("scenes/scene.cu", &scene(compile));
    assert_eq!(values(&place, &[]), [1024.0, 1.0, 7.0, 2020.0]);
    assert_eq!(values(&place, &["-D", "N=3", "-DFLAG"]), [3.0, 1.0, 7.0, 2020.0]);

    // The user may name any folder, a scene only those below its own.
    place.file("scenes/scene.cu", &scene("[compile]\ndefine = { N = \"2 + 3\" }"));
    assert_eq!(values(&place, &["-I", "elsewhere"]), [5.0, 0.0, 8.0, 2017.0]);
    place.file(
        "scenes/scene.cu",
        &scene("[compile]\ninclude = [\"../elsewhere\"]\ndefine = { N = 1 }"),
    );
    let arguments = ["check", "scenes/scene.cu"];
    place
        .run(&arguments)
        .expect(1, &["scene.cu:12: error: `value.h` may not be included", "--trust"]);
    place.run(&["check", "--trust", "scenes/scene.cu"]).expect(0, &[]);
}

#[test]
fn fast_arithmetic_and_registers_are_the_manifests() {
    let place = Workplace::new();
    let kernel = "__global__ void k(float *a) { a[threadIdx.x] = 1.0f / a[threadIdx.x]; }";
    let scene = |compile: &str| {
        format!(
            "/*---\n{compile}\n[array.a]\ntype = \"float\"\ncount = 64\n[[pass]]\nkernel = \"k\"\nover = \"a\"\n---*/\n{kernel}\n"
        )
    };
    place.file("scene.cu", &scene("[compile]\nfast_math = true\nmax_registers = 32"));
    place.run(&["check", "scene.cu", "--device", "cpu"]).expect(0, &[]);
    for (compile, told) in [
        ("[compile]\nfast_math = 1", "`fast_math` must be true or false"),
        ("[compile]\nstandard = \"c++98\"", "`standard` must be one of c++11"),
        ("[compile]\ndefine = { \"a b\" = 1 }", "`a b` cannot be a macro's name"),
        ("[compile]\ndefine = { \"a\\nb\" = 1 }", "`a\\u{a}b` cannot be a macro's name"),
        ("[compile]\ndefine = { A = \"x\\ny\" }", "`A` needs a value on one line"),
        ("[compile]\ndefine = 1", "`define` must be a table"),
        ("[compile]\ninclude = [1]", "`include` takes names of folders"),
        ("[compile]\nmax_registers = 3", "`max_registers`"),
        ("[compile]\noptions = \"-G\"", "has no key `options`"),
    ] {
        place.file("scene.cu", &scene(compile));
        place.run(&["check", "scene.cu"]).expect(1, &[told]);
    }
    place.run(&["check", "-D", "1=2", "scene.cu"]).expect(2, &["expected NAME or NAME=VALUE"]);
}
