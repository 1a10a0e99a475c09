//! Variables of the source: a part of the state as long as the text means the same ones.

use super::*;

/// A scene whose one kernel, of this signature, sets the numbers of `out` to what `body` counts.
fn counting(declared: &str, signature: &str, body: &str) -> String {
    format!(
        "/*---\n[array.out]\ntype = \"int\"\ncount = 4\n[[pass]]\nkernel = \"k\"\ngrid = 1\nblock = 1\n---*/\n\
         {declared}\n__global__ void k({signature}) {{ {body} }}\n"
    )
}

fn numbers(at: &Path, file: &str) -> Vec<i32> {
    let array = ndarray::Array1::<i32>::read_npy(fs::File::open(at.join(file)).unwrap());
    array.unwrap().to_vec()
}

/// What `out` holds after six steps of which `after` does the last three; and what the program says of it.
fn edited(at: &Path, [before, after]: [&str; 2]) -> (Vec<i32>, String) {
    fs::write(at.join("scene.cu"), before).unwrap();
    render(at, &["--steps", "6", "--record", "run.json"]);
    let run_file = fs::read_to_string(at.join("run.json")).unwrap();
    let mut run_file: serde_json::Value = serde_json::from_str(&run_file).unwrap();
    let mut text = run_file["texts"][0].clone();
    (text["text"], text["step"]) = (after.into(), 3.into());
    text["entered"] = serde_json::Value::Null;
    run_file["texts"].as_array_mut().unwrap().push(text);
    fs::write(at.join("edited.json"), run_file.to_string()).unwrap();
    let (said, _) =
        run(at, &["replay", "edited.json", "--device", "cpu", "--npy", "out=edited.npy"]);
    (numbers(at, "edited.npy"), said)
}

/// The same with a file between: `after` goes on from the state that `before` has left, as another file.
fn resumed(at: &Path, [before, after]: [&str; 2]) -> (Vec<i32>, String) {
    fs::write(at.join("scene.cu"), before).unwrap();
    fs::write(at.join("other.cu"), after).unwrap();
    render(at, &["--steps", "3", "--save", "s.npz"]);
    let from = ["render", "other.cu", "--device", "cpu", "--from", "s.npz", "--steps", "3"];
    let (said, code) = run(at, &[&from[..], &["--npy", "out=resumed.npy"]].concat());
    assert_eq!(code, 0, "{said}");
    (numbers(at, "resumed.npy"), said)
}

#[test]
fn managed_ones_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let declared = "__managed__ int m = 5; __device__ int d = 5; __managed__ int2 pair[2];";
    let text = |more: &str| {
        let body = format!("out[0] = m += 1{more}; out[1] = ++d; out[2] = ++pair[1].y;");
        counting(declared, "int *out", &body)
    };
    let texts = [text(""), text(" + 0")];
    let [before, after] = texts.each_ref().map(String::as_str);
    assert_eq!(resumed(at, [before, before]).0, [11, 11, 6, 0]);
    assert_eq!(resumed(at, [before, after]).0, [11, 11, 6, 0]);
    assert_eq!(edited(at, [before, after]).0, [11, 11, 6, 0]);
}

/// NVRTC puts the file's name and the first kernel's signature into the names of what other files cannot name, and a
/// kernel's signature into those of its static variables.
#[test]
fn hidden_ones_go_on_in_another_file_and_under_another_signature() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let declared = "__device__ int plain;\nnamespace { __device__ int hidden; }\n\
                    namespace a { static __device__ int own; namespace { namespace b { __device__ int deep; } } }";
    let body = "static int local; out[0] = ++plain; out[1] = ++hidden; \
                out[2] = ++a::own + ++a::b::deep; out[3] = ++local; { static int local; out[3] += ++local * 100; }";
    let before = counting(declared, "int *out", body);
    let after = counting(declared, "int *out, float time", body);
    let whole = vec![6, 6, 12, 606];
    assert_eq!(edited(at, [&before, &after]).0, whole);
    assert_eq!(resumed(at, [&before, &before]).0, whole);
    let (numbers, said) = resumed(at, [&before, &after]);
    assert!(numbers == whole && !said.contains("reset"), "{numbers:?} {said}");
    // What begins with another number is another one, whatever it is called.
    let other =
        counting(&declared.replace("hidden;", "hidden = 40;"), "int *out, float time", body);
    assert_eq!(edited(at, [&before, &other]).0, [6, 43, 12, 606]);
    let (numbers, said) = resumed(at, [&before, &other]);
    assert_eq!(numbers, [6, 43, 12, 606]);
    assert!(said.contains("another initial value of `hidden`: as after a reset"), "{said}");
}
