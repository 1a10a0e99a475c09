//! What the command line asks for comes before a state that is gone on from.

use super::*;

#[test]
fn a_seed_and_data_of_the_command_line_come_before_those_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "/*---\n[array.a]\ntype = \"int\"\ncount = 3\n[array.b]\ntype = \"int\"\ncount = 3\n\
                [variable.\"limits::first\"]\ntype = \"int\"\nvalue = 1\n\
                [[pass]]\nkernel = \"k\"\ngrid = 1\nblock = 1\n---*/\n\
                namespace limits { __device__ int first; }\n\
                __global__ void k(int *a, int *b, unsigned seed) {\n    a[0] = limits::first++; a[1]++; a[2] = seed; b[1]++;\n}\n";
    fs::write(at.join("scene.cu"), text).unwrap();
    for (name, count) in [("three.npy", 3), ("one.npy", 1)] {
        let all = ndarray::Array1::from_elem(count, 50);
        let file = fs::File::create(at.join(name)).unwrap();
        ndarray_npy::WriteNpyExt::write_npy(&all, file).unwrap();
    }
    render(at, &["--steps", "2", "--seed", "5", "--save", "s.npz"]);
    let resumed = |more: &[&str]| {
        let outputs = ["--npy", "a=a.npy", "--npy", "b=b.npy", "--json", "r.json"];
        let said = render(at, &[&["--steps", "1", "--from", "s.npz"], &outputs[..], more].concat());
        assert!(!said.contains("reset"), "{said}");
        let report = fs::read_to_string(at.join("r.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let [a, b] = ["a.npy", "b.npy"].map(|name| {
            let file = fs::File::open(at.join(name)).unwrap();
            ndarray::Array1::<i32>::read_npy(file).unwrap().to_vec()
        });
        assert_eq!(report["seed"], a[2]);
        (a, b)
    };
    assert_eq!(resumed(&[]), (vec![3, 3, 5], vec![0, 3, 0]));
    // The usual one, which the file's is not.
    assert_eq!(resumed(&["--seed", "1"]), (vec![3, 3, 1], vec![0, 3, 0]));
    assert_eq!(resumed(&["--load", "b=three.npy"]), (vec![3, 3, 5], vec![50, 51, 50]));
    let load = "limits::first=one.npy";
    assert_eq!(resumed(&["--load", load]), (vec![50, 3, 5], vec![0, 3, 0]));
}
