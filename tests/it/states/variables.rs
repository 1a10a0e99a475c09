//! Variables of the source: a part of the state as long as the text means the same ones.

use super::*;

/// A scene whose one kernel, of this signature, sets the numbers of `out` to what `body` counts.
fn counting(declared: &str, signature: &str, body: &str) -> String {
    format!(
        "/*---\n[array.out]\ntype = \"int\"\ncount = 4\n[[pass]]\nkernel = \"k\"\ngrid = 1\nblock = 1\n---*/\n\
         {declared}\n__global__ void k({signature}) {{ {body} }}\n"
    )
}

fn numbers_of(at: &Path, file: &str) -> Vec<i32> {
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
    (numbers_of(at, "edited.npy"), said)
}

/// The same with a file between: `after` goes on from the state that `before` has left, as another file.
fn resumed(at: &Path, [before, after]: [&str; 2]) -> (Vec<i32>, String) {
    fs::write(at.join("scene.cu"), before).unwrap();
    fs::write(at.join("other.cu"), after).unwrap();
    render(at, &["--steps", "3", "--save", "s.npz"]);
    let from = ["render", "other.cu", "--device", "cpu", "--from", "s.npz", "--steps", "3"];
    let (said, code) = run(at, &[&from[..], &["--npy", "out=resumed.npy"]].concat());
    assert_eq!(code, 0, "{said}");
    (numbers_of(at, "resumed.npy"), said)
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

/// The sine of large numbers reads digits of π from a variable that the compiler brings.
#[test]
fn variables_of_the_compiler_are_not_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let before = counting("__device__ int calls;", "int *out", "out[0] = ++calls;");
    let body = "out[0] = ++calls; out[1] = (int)(100.0f * sinf(1e7f * (float)calls));";
    let after = counting("__device__ int calls;", "int *out", body);
    let (numbers, said) = resumed(at, [&before, &after]);
    let sine = (100.0 * (1e7_f64 * f64::from(numbers[0])).sin()) as i32;
    assert_eq!((numbers[0], numbers[1]), (6, sine));
    assert!(!said.contains("reset"), "{said}");
    let anew =
        counting("__device__ int calls, more;", "int *out", &format!("{body} out[2] = ++more;"));
    assert!(resumed(at, [&before, &anew]).1.contains("no `more`: as after a reset"));
}

/// As when the text is edited while it runs; what the text says as before goes on as it was.
#[test]
fn another_size_and_damage_are_told_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let before = counting("__device__ int table[4];", "int *out", "out[0] = ++table[1];");
    let after = before.replace("table[4]", "table[6]");
    let (numbers, said) = resumed(at, [&before, &after]);
    assert_eq!(numbers[0], 3);
    assert!(said.contains("s.npz has another size of `table`: as after a reset"), "{said}");
    let name = "variables/table.npy";
    let whole = zip_of(fs::File::open(at.join("s.npz")).unwrap())[name].clone();
    for cut in [1, 7, whole.len() - 7] {
        let content = whole[..whole.len() - cut].to_vec();
        rewrite(&at.join("s.npz"), &at.join("cut.npz"), &[(name, content)]);
        let from = ["render", "scene.cu", "--device", "cpu", "--from", "cut.npz", "--steps", "3"];
        let (said, code) = run(at, &from);
        assert!(code == 2 && said.contains(name), "{cut}: {code} {said}");
    }
}

#[test]
fn what_the_manifest_sets_anew_comes_before_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = |value: &str, more: &str| {
        let declared = "__device__ int set[2], other[2], spare;";
        let body = "out[0] = ++set[0]; out[1] = ++set[1]; out[2] = ++other[1]; out[3] = ++spare;";
        let table = |name: &str, value: &str| {
            format!("[variable.{name}]\ntype = \"int\"\nvalue = {value}\n")
        };
        let tables = format!("{}{}{more}[[pass]]", table("set", value), table("other", "[8, 9]"));
        counting(declared, "int *out", body).replacen("[[pass]]", &tables, 1)
    };
    let before = text("[5, 5]", "");
    // One number for all is the same.
    let (numbers, said) = resumed(at, [&before, &text("5", "")]);
    assert!(numbers == [11, 11, 15, 6] && !said.contains("reset"), "{numbers:?} {said}");
    let (numbers, said) = resumed(at, [&before, &text("[5, 6]", "")]);
    assert_eq!(numbers, [8, 9, 15, 6]);
    assert!(said.contains("another initial value of `set`: as after a reset"), "{said}");
    let spare = "[variable.spare]\ntype = \"int\"\nvalue = 70\n";
    assert_eq!(resumed(at, [&before, &text("[5, 5]", spare)]).0, [11, 11, 15, 73]);
    assert_eq!(resumed(at, [&text("[5, 5]", spare), &before]).0, [11, 11, 15, 76]);

    // A file of an older program does not say what was set.
    let about = about_of(&at.join("s.npz"));
    let mut about: serde_json::Value = serde_json::from_str(&about).unwrap();
    assert!(about.as_object_mut().unwrap().remove("set").is_some());
    rewrite(&at.join("s.npz"), &at.join("old.npz"), &[("state.json", about.to_string().into())]);
    let from = ["render", "other.cu", "--device", "cpu", "--from", "old.npz", "--steps", "3"];
    let (said, code) = run(at, &[&from[..], &["--npy", "out=old.npy"]].concat());
    assert_eq!((code, numbers_of(at, "old.npy")), (0, vec![11, 11, 15, 76]), "{said}");
}
