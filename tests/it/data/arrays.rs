//! `file` of buffers and arrays.

use half::f16;
use ndarray::{Array, Array1, Array2, Array3, ShapeBuilder as _};
use ndarray_npy::write_npy;
use warpaint::device::Device;

use super::{Folder, npy, on_each_device, read, scene, write};

/// An array of the manifest with a file of its name.
fn array(name: &str, element: &str, count: usize) -> String {
    format!("[array.{name}]\ntype = \"{element}\"\ncount = {count}\nfile = \"{name}.npy\"\n")
}

#[test]
fn numbers_that_lose_nothing_become_those_of_the_elements() {
    on_each_device(|device| {
        let folder = Folder::new();
        let path = |name: &str| folder.path(&format!("{name}.npy"));
        write_npy(path("same"), &Array1::from(vec![0.1_f32, -2.5, f32::INFINITY])).unwrap();
        write_npy(path("bytes"), &Array1::from(vec![0_u8, 7, 255])).unwrap();
        write_npy(path("wide"), &Array1::from(vec![0_u8, 7, 255])).unwrap();
        write_npy(path("negative"), &Array1::from(vec![-128_i8, 0, 127])).unwrap();
        write_npy(path("precise"), &Array1::from(vec![i32::MIN, 0, i32::MAX])).unwrap();
        write_npy(path("longs"), &Array1::from(vec![i64::MIN, 3, i64::MAX])).unwrap();
        write_npy(path("flags"), &Array1::from(vec![false, true, true])).unwrap();
        write_npy(path("truths"), &Array1::from(vec![true, false, true])).unwrap();
        write(
            &path("halves"),
            npy(
                "<f2",
                false,
                "(3,)",
                &[1.5, -2.0, 0.25].map(|n| f16::from_f32(n).to_le_bytes()).concat(),
            ),
        );
        write(
            &path("big"),
            npy(">i2", false, "(3,)", &[1, 0, -2_i16].map(i16::to_be_bytes).concat()),
        );
        let manifest = [
            array("same", "float", 3),
            array("bytes", "float", 3),
            array("wide", "int", 3),
            array("negative", "half", 3),
            array("precise", "double", 3),
            array("longs", "long long", 3),
            array("truths", "uchar", 3),
            array("flags", "bool", 3),
            array("halves", "float", 3),
            array("big", "short", 3),
        ];
        let mut session = folder.begun(device, &scene(&manifest.concat(), ""));
        assert_eq!(read::<f32>(&mut session, "same"), [0.1, -2.5, f32::INFINITY]);
        assert_eq!(read::<f32>(&mut session, "bytes"), [0.0, 7.0, 255.0]);
        assert_eq!(read::<i32>(&mut session, "wide"), [0, 7, 255]);
        assert_eq!(read::<f16>(&mut session, "negative"), [-128.0, 0.0, 127.0].map(f16::from_f32));
        assert_eq!(read::<f64>(&mut session, "precise"), [i32::MIN.into(), 0.0, i32::MAX.into()]);
        assert_eq!(read::<i64>(&mut session, "longs"), [i64::MIN, 3, i64::MAX]);
        assert_eq!(read::<u8>(&mut session, "truths"), [1, 0, 1]);
        assert_eq!(read::<u8>(&mut session, "flags"), [0, 1, 1]);
        assert_eq!(read::<f32>(&mut session, "halves"), [1.5, -2.0, 0.25]);
        assert_eq!(read::<i16>(&mut session, "big"), [1, 0, -2]);
    });
}

#[test]
fn any_shape_with_as_many_numbers_is_taken_in_c_order() {
    let folder = Folder::new();
    let path = |name: &str| folder.path(&format!("{name}.npy"));
    let counted = |n: usize| (0..n).map(|i| i as f32).collect::<Vec<_>>();
    write_npy(path("image"), &Array2::from_shape_vec((2, 3), counted(6)).unwrap()).unwrap();
    write_npy(path("rows"), &Array2::from_shape_vec((6, 4), counted(24)).unwrap()).unwrap();
    write_npy(path("flat"), &Array1::from(counted(24))).unwrap();
    write_npy(path("grid"), &Array3::from_shape_vec((2, 3, 4), counted(24)).unwrap()).unwrap();
    let fortran = Array::from_shape_fn((2, 3, 4).f(), |(i, j, k)| (12 * i + 4 * j + k) as f32);
    write_npy(path("fortran"), &fortran).unwrap();
    let header =
        String::from_utf8_lossy(&std::fs::read(path("fortran")).unwrap()[..80]).into_owned();
    assert!(header.contains("'fortran_order': True"), "{header}");
    let manifest = [
        array("image", "float", 6),
        array("rows", "float4", 6),
        array("flat", "float4", 6),
        array("grid", "float4", 6),
        array("fortran", "float4", 6).replace("[array", "[buffer"),
    ];
    let mut session = folder.begun(&Device::cpu().unwrap(), &scene(&manifest.concat(), ""));
    assert_eq!(read::<f32>(&mut session, "image"), counted(6));
    for name in ["rows", "flat", "grid", "fortran"] {
        assert_eq!(read::<f32>(&mut session, name), counted(24), "{name}");
    }
}

#[test]
fn what_does_not_fit_is_told_on_its_line_all_at_once() {
    let folder = Folder::new();
    let path = |name: &str| folder.path(&format!("{name}.npy"));
    let ones = |n: usize| Array1::from(vec![1.0_f64; n]);
    write_npy(path("a"), &ones(3)).unwrap();
    write_npy(path("b"), &ones(3).mapv(|n| n as i64)).unwrap();
    write_npy(path("c"), &ones(3).mapv(|n| n as f32)).unwrap();
    write_npy(path("d"), &ones(12).mapv(|n| n as f32).into_shape_with_order((4, 3)).unwrap())
        .unwrap();
    write(&path("e"), npy("<f4", false, "(3,)", &[0; 11]));
    write(&path("f"), npy("<c8", false, "(3,)", &[0; 24]));
    write(&path("g"), "no array at all");
    write(&path("h"), &npy("<f4", false, "(3,)", &[0; 12])[..30]);
    write(&path("i"), npy("<f4", false, "(99999999999, 99999999999, 99999999999)", &[]));
    let manifest = [
        array("a", "float", 3),
        array("b", "int", 3),
        array("c", "float", 4),
        array("d", "float4", 3),
        array("e", "float", 3),
        array("f", "float2", 3),
        array("g", "float", 3),
        array("h", "float", 3),
        array("i", "float", 3),
        array("missing", "float", 3),
    ];
    let told = folder.told(&scene(&manifest.concat(), ""));
    let expected = [
        "a.npy does not fit the array a (3 float): it has float64, which does not become float without loss: \
         save it with `.astype(\"float32\")`",
        "b.npy does not fit the array b (3 int): it has int64, which does not become int without loss: \
         save it with `.astype(\"int32\")`",
        "c.npy does not fit the array c (4 float): it has the shape (3,), not (4,)",
        "d.npy does not fit the array d (3 float4): it has the shape (4, 3), not (3, 4) or (12,); \
         `.T` of numpy turns it round",
        "e.npy does not fit the array e (3 float): it is damaged: 11 bytes cannot have the shape (3,)",
        "f.npy does not fit the array f (3 float2): its numbers are of numpy's type `c8`, which no element has",
        "g.npy does not fit the array g (3 float): it is no `.npy` file; numbers without a header need `dtype`, \
         such as `dtype = \"float32\"`",
        "h.npy does not fit the array h (3 float): it ends within its header",
        "i.npy does not fit the array i (3 float): it has the shape (99999999999, 99999999999, 99999999999), not (3,)",
        "cannot read missing.npy: No such file or directory (os error 2)",
    ];
    for (index, (told, expected)) in told.iter().zip(expected).enumerate() {
        assert_eq!(*told, format!("scene.cu:{}:8: error: {expected}", 4 * index + 5));
    }
    assert_eq!(told.len(), expected.len(), "{told:#?}");
}

#[test]
fn what_may_not_be_read_is_named_for_the_question_whether_to_trust() {
    let folder = Folder::new();
    let manifest = array("a", "float", 3).replace("a.npy", "../a.npy");
    let mut session = folder.session(&Device::cpu().unwrap(), &scene(&manifest, ""));
    assert!(!session.wait_for_program().unwrap());
    let untrusted = session.snapshot().compile.untrusted;
    assert_eq!(untrusted, [folder.path("../a.npy").display().to_string()]);
}

#[test]
fn files_without_a_header_are_numbers_of_their_dtype() {
    let folder = Folder::new();
    write(&folder.path("a.raw"), [1, 2, 3_u16].map(u16::to_le_bytes).concat());
    let raw = |dtype: &str| {
        scene(&format!("[array.a]\ntype = \"float\"\ncount = 3\nfile = \"a.raw\"\n{dtype}"), "")
    };
    let mut session = folder.begun(&Device::cpu().unwrap(), &raw("dtype = \"uint16\""));
    assert_eq!(read::<f32>(&mut session, "a"), [1.0, 2.0, 3.0]);
    for (dtype, told) in [
        ("dtype = \"float32\"", "it has 6 bytes, not 12 (3 numbers of float32)"),
        ("dtype = \"float64\"", "it has 6 bytes, not 24 (3 numbers of float64)"),
        ("dtype = \"float\"", "`dtype` cannot be \"float\"; did you mean"),
        ("", "numbers without a header need `dtype`"),
    ] {
        let all = folder.told(&raw(dtype));
        assert!(all.len() == 1 && all[0].contains(told), "{dtype}: {all:#?}");
    }
    // A header that says otherwise is not passed over.
    write_npy(folder.path("a.raw"), &Array1::from(vec![1_u16, 2, 3])).unwrap();
    folder.begun(&Device::cpu().unwrap(), &raw("dtype = \"uint16\""));
    let all = folder.told(&raw("dtype = \"float32\""));
    let told =
        "its numbers are uint16, as its header says, and not float32; such a file needs no `dtype`";
    assert!(all.len() == 1 && all[0].contains(told), "{all:#?}");
}

const KERNELS: &str = "__global__ void twice(float *a, int a_count) {
    int i = threadIdx.x;
    if (i < a_count) a[i] *= 2.0f;
}
__global__ void add(const float *a, float *a_next, int a_count) {
    int i = threadIdx.x;
    if (i < a_count && i > 0) a_next[i] = a[i] + 1.0f;
}
";

#[test]
fn reset_passes_find_it_and_a_reset_brings_it_back() {
    on_each_device(|device| {
        let folder = Folder::new();
        write_npy(folder.path("a.npy"), &Array1::from(vec![1.0_f32, 2.0, 3.0])).unwrap();
        let passes = "[[pass]]\nkernel = \"twice\"\non = \"reset\"\nover = \"a\"\n\
                      [[pass]]\nkernel = \"twice\"\nover = \"a\"";
        let source = scene(&format!("{}{passes}", array("a", "float", 3)), KERNELS);
        let mut session = folder.begun(device, &source);
        assert_eq!(read::<f32>(&mut session, "a"), [2.0, 4.0, 6.0]);
        session.run_steps(2, |_| {}).unwrap();
        assert_eq!(read::<f32>(&mut session, "a"), [8.0, 16.0, 24.0]);
        session.reset();
        session.run_steps(1, |_| {}).unwrap();
        assert_eq!(read::<f32>(&mut session, "a"), [4.0, 8.0, 12.0]);
    });
}

#[test]
fn both_halves_of_a_double_array_begin_with_it() {
    on_each_device(|device| {
        let folder = Folder::new();
        write_npy(folder.path("a.npy"), &Array1::from(vec![7.0_f32, 2.0, 3.0])).unwrap();
        let pass = "double = true\n[[pass]]\nkernel = \"add\"\nover = \"a\"";
        let source = scene(&format!("{}{pass}", array("a", "float", 3)), KERNELS);
        let mut session = folder.begun(device, &source);
        session.run_steps(1, |_| {}).unwrap();
        assert_eq!(
            read::<f32>(&mut session, "a"),
            [7.0, 3.0, 4.0],
            "no kernel wrote the first one"
        );
    });
}
