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
