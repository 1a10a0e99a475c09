//! Fields of structures in states and goldens: they go by their names, and have their types.

use super::scene;
use crate::support::{Ended, Workplace};

/// A scene whose array `p` of structures with these `fields` a kernel fills by `fill`, and whose `out` another one
/// fills by `look`.
fn text(fields: &str, fill: &str, look: &str, more: &str) -> String {
    let manifest = format!(
        "[array.p]\ntype = 'P'\ncount = 3\n[array.out]\ntype = 'double'\ncount = 3\n\
         [[pass]]\nkernel = 'fill'\non = 'reset'\nover = 'p'\n[[pass]]\nkernel = 'look'\nover = 'p'\n{more}"
    );
    let code = format!(
        "#include <cuda_bf16.h>\nstruct P {{ {fields} }};\n\
         __global__ void fill(P *p) {{ int i = threadIdx.x; if (i < 3) {{ {fill} }} }}\n\
         __global__ void look(const P *p, double *out) {{ int i = threadIdx.x; if (i < 3) out[i] = {look}; }}"
    );
    scene(&manifest, &code)
}

const FIELDS: &str = "float x; __nv_bfloat16 h; unsigned short s;";
const FILL: &str = "p[i].x = i; p[i].h = __float2bfloat16(i + 1.5f); p[i].s = 5 + i;";

#[test]
fn a_state_gives_fields_of_another_structure_what_they_held() {
    let place = Workplace::new();
    let before = place.file("before.cu", &text(FIELDS, FILL, "0", ""));
    place.run(&["render", before, "--device", "cpu", "--save", "s.npz"]).expect(0, &[]);
    let held = "p[i].x + 10 * (double)(float)p[i].h + 1000 * (double)(float)p[i].s";
    for (fields, look, expected) in [
        (FIELDS, held, [5015.0, 6026.0, 7037.0]),
        ("unsigned short s; __nv_bfloat16 h; float x;", held, [5015.0, 6026.0, 7037.0]),
        ("double h, x, s;", held, [5015.0, 6026.0, 7037.0]),
        ("__nv_bfloat16 h;", "(float)p[i].h", [1.5, 2.5, 3.5]),
        ("float x; int added[2]; float h;", "p[i].h + p[i].added[1]", [1.5, 2.5, 3.5]),
    ] {
        let after = place.file("after.cu", &text(fields, "", look, ""));
        let arguments = ["render", after, "--device", "cpu", "--from", "s.npz", "--steps", "2"];
        place.run(&[&arguments[..], &["--npy", "out=out.npy"]].concat()).expect(0, &[]);
        let out: ndarray::Array1<f64> = ndarray_npy::read_npy(place.path("out.npy")).unwrap();
        assert_eq!(out.to_vec(), expected, "{fields}");
    }
    // A field that is wanted of a user's file is in it.
    let file = "float x; int added;";
    let data = text(file, "", "0", "")
        .replace("count = 3\n[array.out]", "count = 3\nfile = 'p.npy'\n[array.out]");
    place.run(&["render", before, "--device", "cpu", "--npy", "p=p.npy"]).expect(0, &[]);
    let after = place.file("data.cu", &data);
    place.run(&["render", after, "--device", "cpu"]).expect(1, &["no field `added` as `P` has"]);
}

/// That a check failed, and what is told of it.
fn differs(ended: &Ended, expected: &str) {
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.out.contains(expected), "{}", ended.out);
}

#[test]
fn goldens_compare_fields_by_their_names_and_exactly() {
    let golden = |tolerance: &str| format!("[[golden]]\nof = 'p'\nfile = 'p.npy'\n{tolerance}");
    let fields = "unsigned long long key; __nv_bfloat16 h; int a, b[2];";
    let fill = "p[i].key = 0x9e3779b97f4a7c15ull + KEY; p[i].h = __float2bfloat16(H); p[i].a = 1; p[i].b[0] = 2; p[i].b[1] = 3;";
    let place = Workplace::new();
    let run = |fields: &str, defines: [&str; 2], tolerance: &str, update: bool| {
        let scene = place.file("p.cu", &text(fields, fill, "0", &golden(tolerance)));
        let [key, h] = defines.map(str::to_owned);
        let (key, h) = (format!("KEY={key}"), format!("H={h}"));
        let mut arguments = vec!["test", scene, "--device", "cpu", "-D", &key, "-D", &h];
        arguments.extend(update.then_some("--update-golden"));
        place.run(&arguments)
    };
    run(fields, ["0", "1.0f"], "", true).expect(0, &[]);
    run(fields, ["0", "1.0f"], "", false).expect(0, &[]);
    // One more than what a `double` can tell apart.
    differs(
        &run(fields, ["1", "1.0f"], "", false),
        "the first at [0] `key`: 11400714819323198486, not 11400714819323198485",
    );
    differs(
        &run(fields, ["0", "2.0f"], "relative = 0.01", false),
        "the first at [0] `h`: 2, not 1",
    );
    run(fields, ["0", "1.0625f"], "tolerance = 0.1", false).expect(0, &[]);
    let other_order = "int b[2], a; __nv_bfloat16 h; unsigned long long key;";
    run(other_order, ["0", "1.0f"], "", false).expect(0, &[]);
    let exchanged = fill.replace("b[1] = 3", "b[1] = 2").replace("b[0] = 2", "b[0] = 3");
    let scene = place.file("p.cu", &text(other_order, &exchanged, "0", &golden("")));
    differs(
        &place.run(&["test", scene, "--device", "cpu", "-D", "KEY=0", "-D", "H=1.0f"]),
        "6 of 15 numbers differ, the first at [0, 0] `b`: 3, not 2",
    );
    let fewer = "unsigned long long key; __nv_bfloat16 h; int b[2];";
    let scene =
        place.file("p.cu", &text(fewer, &fill.replace("p[i].a = 1;", ""), "0", &golden("")));
    differs(
        &place.run(&["test", scene, "--device", "cpu", "-D", "KEY=0", "-D", "H=1.0f"]),
        "it alone has the field `a`",
    );
}
