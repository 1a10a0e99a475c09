//! `[variable.*]`: `__constant__` and `__device__` variables that are set.

use ndarray::{Array1, Array2};
use ndarray_npy::write_npy;

use super::{Folder, npy_of, on_each_device, read, scene, write};

/// A kernel that copies variables, one of which it changes.
const COPY: &str = "#include \"filters.cuh\"
__constant__ float filter[9];
__device__ int counter;
static __constant__ float2 pair;
namespace {
__device__ float hidden[2];
}
__global__ void copy(float *out) {
    for (int i = 0; i < 9; ++i) out[i] = filter[i];
    out[9] = counter;
    out[10] = pair.x;
    out[11] = pair.y;
    out[12] = filters::blur[0] + filters::blur[1] + filters::blur[2];
    out[13] = hidden[0] + hidden[1];
    counter += 1;
}
";

const OUT: &str =
    "[array.out]\ntype = \"float\"\ncount = 16\n[[pass]]\nkernel = \"copy\"\ngrid = 1\nblock = 1\n";

const VARIABLES: &str = "
[variable.filter]
type = \"float\"
file = \"filter.npy\"
[variable.counter]
type = \"int\"
value = 40
[variable.pair]
type = \"float\"
value = [1.5, 2.5]
[variable.\"filters::blur\"]
type = \"float\"
value = 2
[variable.hidden]
type = \"float\"
file = \"one.raw\"
dtype = \"float32\"
";

fn folder() -> Folder {
    let folder = Folder::new();
    write(&folder.path("filters.cuh"), "namespace filters { __constant__ float blur[3]; }\n");
    let counted = Array2::from_shape_fn((3, 3), |(i, j)| (3 * i + j) as f32);
    write_npy(folder.path("filter.npy"), &counted).unwrap();
    write(&folder.path("one.raw"), 0.25_f32.to_le_bytes());
    folder
}

#[test]
fn they_are_set_when_the_program_is_loaded_and_after_each_reset() {
    on_each_device(|device| {
        let folder = folder();
        let source = scene(&format!("{OUT}{VARIABLES}"), COPY);
        let mut session = folder.begun(device, &source);
        let expected = |counter: f32| {
            let counted = (0..9).map(|i| i as f32);
            counted.chain([counter, 1.5, 2.5, 6.0, 0.5]).collect::<Vec<f32>>()
        };
        session.run_steps(1, |_| {}).unwrap();
        assert_eq!(read::<f32>(&mut session, "out")[..14], expected(40.0));
        session.run_steps(2, |_| {}).unwrap();
        assert_eq!(read::<f32>(&mut session, "out")[9], 42.0, "the kernel counts");
        session.reset();
        session.run_steps(1, |_| {}).unwrap();
        assert_eq!(read::<f32>(&mut session, "out")[..14], expected(40.0));

        // An edit makes a new module, whose variables are set, too; the scene goes on.
        session.set_source(source.replace("value = 40", "value = 50"));
        assert!(session.wait_for_program().unwrap());
        session.run_steps(1, |_| {}).unwrap();
        assert_eq!(read::<f32>(&mut session, "out")[..14], expected(50.0));
        assert_eq!(session.clock().step, 2);
    });
}

#[test]
fn what_is_wrong_with_them_is_told_on_their_lines() {
    let folder = folder();
    write_npy(folder.path("two.npy"), &Array1::from(vec![1.0_f32, 2.0])).unwrap();
    let variables = "
[variable.filtr]
type = \"float\"
value = 1
[variable.filter]
type = \"float\"
value = [1, 2]
[variable.blur]
type = \"float\"
value = 1
[variable.\"filters::blur\"]
type = \"float\"
file = \"two.npy\"
[variable.pair]
type = \"float3\"
value = 1
";
    let told = folder.told(&scene(&format!("{OUT}{variables}"), COPY));
    let expected = [
        ":10:11: error: the kernels use no __constant__ or __device__ variable `filtr`; did you mean `filter`",
        ":15:9: error: `value` has 2 float, and the variable `filter` (9 float) takes as many as it has, or one for all",
        ":16:11: error: the kernels use no __constant__ or __device__ variable `blur`; did you mean `filters::blur`?",
        ":21:8: error: two.npy does not fit the variable `filters::blur` (3 float): it has the shape (2,), not (3,), \
         nor one for all",
        ":22:11: error: the variable `pair` has 8 bytes, which no number of float3 has",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.contains(expected), "{told}\n{expected}");
    }
    for (variable, expected) in [
        (
            "[variable.counter]\ntype = \"float\"\nvalue = 1.5",
            ":10:8: error: `counter` has elements of type `int` in the source, not of `float`",
        ),
        (
            "[variable.\"filters::blur\"]\ntype = \"int\"\nvalue = 1",
            "`filters::blur` has elements of type `float` in the source, not of `int`",
        ),
        ("[variable.counter]\ntype = \"int\"", "[variable.counter] needs `file` or `value`"),
        ("[variable.counter]\nvalue = 1", "[variable.counter] needs `type`, such as"),
        (
            "[variable.\"a b\"]\ntype = \"int\"\nvalue = 1",
            "[variable.a b] must be a name of CUDA C++",
        ),
        (
            "[variable.out]\ntype = \"int\"\nvalue = 1",
            "has a name that the resource `out` has already",
        ),
        ("[variable.counter]\ntype = \"int\"\nvalue = 1\ncount = 1", "has no key `count`"),
    ] {
        let told = folder.told(&scene(&format!("{OUT}{variable}"), COPY));
        assert!(told.len() == 1 && told[0].contains(expected), "{variable}: {told:#?}");
    }
}

#[test]
fn variables_of_structures_take_their_fields() {
    let code = "struct Box { float3 low; unsigned char kind; };\n\
                struct Setup { int n; double dt; float w[2]; Box box; };\n\
                __constant__ Setup setup;\n__device__ Box boxes[2];\n__constant__ Setup loaded;\n\
                __global__ void copy(float *out) {\n\
                const Setup *both[2] = { &setup, &loaded };\n\
                for (int i = 0; i < 2; ++i) {\n\
                out[4 * i] = both[i]->n; out[4 * i + 1] = both[i]->dt; out[4 * i + 2] = both[i]->w[1];\n\
                out[4 * i + 3] = both[i]->box.low.z; }\n\
                for (int i = 0; i < 2; ++i) { out[8 + 2 * i] = boxes[i].low.y; out[9 + 2 * i] = boxes[i].kind; }\n}\n";
    let folder = folder();
    let data = [&5_i32.to_le_bytes()[..], &0.25_f64.to_le_bytes()].concat();
    let file = npy_of("[('n', '<i4'), ('dt', '<f8')]", false, "(1,)", &data);
    write(&folder.path("setup.npy"), file);
    let variables = "
[variable.setup]
type = \"Setup\"
value = { n = 3, dt = 0.5, w = [1, 2], box = { low = [7, 8, 9] } }
[variable.boxes]
type = \"Box\"
value = [{ kind = 4 }, { low = [1, 2, 3], kind = 5 }]
[variable.loaded]
type = \"Setup\"
fields = { n = \"int\", dt = \"double\" }
file = \"setup.npy\"
";
    on_each_device(|device| {
        let text = scene(&format!("{OUT}{variables}"), code);
        let mut session = folder.begun(device, &text);
        session.run_steps(1, |_| {}).unwrap();
        let out = read::<f32>(&mut session, "out");
        assert_eq!(out[..12], [3.0, 0.5, 2.0, 9.0, 5.0, 0.25, 0.0, 0.0, 0.0, 4.0, 2.0, 5.0]);
    });
    for (value, expected) in [
        ("{ m = 1 }", ":11:15: error: `Setup` has no field `m`"),
        ("{ n = 1.5 }", ":11:15: error: `n`: 1.5 is no int"),
        ("{ w = [1] }", ":11:15: error: `w` has 2 numbers, and is given 1"),
        ("3", "`value` of a structure names its fields"),
        ("[{ n = 1 }, { n = 2 }]", "takes as many as it has, or one for all"),
    ] {
        let variables = format!("[variable.setup]\ntype = \"Setup\"\nvalue = {value}\n");
        let told = folder.told(&scene(&format!("{OUT}{variables}"), code));
        assert!(told.len() == 1 && told[0].contains(expected), "{value}: {told:#?}");
    }
}
