//! States and runs as files: `render --save`, `--from`, `--record`, `warpaint replay`.

use std::{
    collections::BTreeMap,
    fs,
    io::{Read as _, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use ndarray_npy::ReadNpyExt as _;
use zip::write::SimpleFileOptions;

mod asked;
mod kills;
mod memory;
mod runs;
mod signal;
mod variables;
mod versions;

use super::support::{binary, left_folder};

const SCENE: &str = r#"/*---
[buffer.value]
type  = "float4"
count = 100
[array.slow]
type   = "half"
count  = 10
double = true
[texture.dye]
format = "rgba8"
size   = [6, 4]
[param.gain]
value = 0.1
min   = 0.0
max   = 1.0
[[pass]]
kernel = "begin"
on     = "reset"
over   = "value"
[[pass]]
kernel = "advance"
over   = "value"
[[pass]]
kernel = "shift"
over   = "slow"
[[pass]]
kernel = "paint"
over   = "dye"
---*/
#include <cuda_fp16.h>
__device__ unsigned calls;
__global__ void begin(float4 *value, int value_count, float gain)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < value_count) value[i] = make_float4(0.0f, gain, 0.0f, 0.0f);
}
__global__ void advance(float4 *value, int value_count, float gain, float time)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) calls++;
    if (i < value_count) value[i] = make_float4(value[i].x + gain * i, time, value[i].y, 1.0f);
}
__global__ void shift(const half *slow, half *slow_next, int slow_count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < slow_count && i % 2) slow_next[i] = __hadd(slow[i], __float2half(0.5f * calls));
}
__global__ void paint(cudaSurfaceObject_t dye, int dye_width, int dye_height, unsigned long long step)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < dye_width && y < dye_height)
        surf2Dwrite(make_uchar4(step, x, y, calls), dye, x * 4, y);
}
"#;

/// A folder with the scene.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("scene.cu"), SCENE).unwrap();
    folder
}

/// What the program says, and its exit code.
fn run(folder: &Path, arguments: &[&str]) -> (String, i32) {
    let output = Command::new(binary()).args(arguments).current_dir(folder).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&said).into_owned(), output.status.code().unwrap_or(-1))
}

fn render(folder: &Path, arguments: &[&str]) -> String {
    let all = [&["render", "scene.cu", "--device", "cpu"], arguments].concat();
    let (said, code) = run(folder, &all);
    assert_eq!(code, 0, "{said}");
    said
}

fn npy(folder: &Path, names: &[&str]) -> Vec<Vec<u8>> {
    names.iter().map(|name| fs::read(folder.join(name)).unwrap()).collect()
}

#[test]
fn a_saved_state_goes_on_as_if_it_had_never_been_left() {
    let folder = folder();
    let at = folder.path();
    let dumps = |name: &str| ["value", "slow", "dye"].map(|of| format!("{of}={name}-{of}.npy"));
    let (straight, resumed) = (dumps("a"), dumps("b"));
    let npys = |all: &[String; 3]| {
        all.iter().flat_map(|of| ["--npy".to_owned(), of.clone()]).collect::<Vec<_>>()
    };
    let with = |first: &[&str], dumps: &[String; 3]| {
        let npys = npys(dumps);
        let all: Vec<&str> = first.iter().copied().chain(npys.iter().map(String::as_str)).collect();
        render(at, &all)
    };
    with(&["--steps", "17", "--param", "gain=0.37"], &straight);
    render(at, &["--steps", "9", "--param", "gain=0.37", "--save", "s.npz"]);
    with(&["--steps", "8", "--from", "s.npz"], &resumed);
    let from = ["render", "scene.cu", "--device", "cpu", "--from", "s.npz"];
    let (said, code) = run(at, &[&from[..], &["--json", "s.npz"]].concat());
    assert!(code == 2 && said.contains("would replace the state that it begins with"), "{said}");
    for of in ["value", "slow", "dye"] {
        let [a, b] = [format!("a-{of}.npy"), format!("b-{of}.npy")];
        let [a, b] = npy(at, &[&a, &b]).try_into().unwrap();
        assert!(a == b, "{of}");
    }
}

#[test]
fn parameters_of_a_file_are_held_to_their_range_and_the_command_lines_come_first() {
    let folder = folder();
    let at = folder.path();
    render(at, &["--steps", "2", "--param", "gain=0.5", "--save", "s.npz"]);
    let gain = |more: &[&str], file: &str| {
        let first = ["--steps", "1", "--from", file, "--save", "next.npz"];
        render(at, &[&first, more].concat());
        let about: serde_json::Value =
            serde_json::from_str(&about_of(&at.join("next.npz"))).unwrap();
        about["parameters"]["gain"].as_f64().unwrap()
    };
    assert_eq!(gain(&[], "s.npz"), 0.5);
    assert_eq!(gain(&["--param", "gain=0.75"], "s.npz"), 0.75);
    // Somebody else's file says what no slider of this scene can.
    let beyond = about_of(&at.join("s.npz")).replace("\"gain\": 0.5", "\"gain\": 1e9");
    rewrite(&at.join("s.npz"), &at.join("b.npz"), &[("state.json", beyond.into_bytes())]);
    assert_eq!(gain(&[], "b.npz"), 0.1);
    let said = render(at, &["--steps", "1", "--from", "b.npz"]);
    assert!(said.contains("b.npz has no value that fits `gain`: as after a reset"), "{said}");
}

#[test]
fn numpy_opens_a_state() {
    let folder = folder();
    render(folder.path(), &["--steps", "3", "--save", "s.npz"]);
    let file = fs::File::open(folder.path().join("s.npz")).unwrap();
    let mut zip = zip_of(file);
    let value = ndarray::Array2::<f32>::read_npy(std::io::Cursor::new(&zip["value.npy"])).unwrap();
    assert_eq!(value.dim(), (100, 4));
    assert_eq!(value[[10, 0]], 3.0 * (0.1 * 10.0));
    let dye = ndarray::Array3::<u8>::read_npy(std::io::Cursor::new(&zip["dye.npy"])).unwrap();
    assert_eq!((dye.dim(), dye[[3, 5, 0]], dye[[3, 5, 1]]), ((4, 6, 4), 2, 5));
    let about: serde_json::Value =
        serde_json::from_slice(&zip.remove("state.json").unwrap()).unwrap();
    assert_eq!(about["format"], "warpaint state");
    assert_eq!((&about["version"], &about["step"]), (&1.into(), &3.into()));
    assert_eq!(about["parameters"]["gain"], 0.1);
    assert!(zip.contains_key("slow.next.npy") && zip.contains_key("variables/calls.npy"));
}

/// The files of an archive whose files are stored as they are: by APPNOTE.TXT of PKWARE, 4.3.7 and 4.3.12.
fn zip_of(mut file: fs::File) -> BTreeMap<String, Vec<u8>> {
    let mut all = Vec::new();
    file.read_to_end(&mut all).unwrap();
    let number = |at: usize, bytes: usize| {
        all[at..at + bytes]
            .iter()
            .rev()
            .fold(0_usize, |number, byte| number << 8 | usize::from(*byte))
    };
    let end = all.windows(4).rposition(|bytes| bytes == b"PK\x05\x06").unwrap();
    let (count, mut at) = (number(end + 10, 2), number(end + 16, 4));
    let mut found = BTreeMap::new();
    for _ in 0..count {
        let (size, name, extra, comment) =
            (number(at + 20, 4), number(at + 28, 2), number(at + 30, 2), number(at + 32, 2));
        let local = number(at + 42, 4);
        let start = local + 30 + number(local + 26, 2) + number(local + 28, 2);
        let called = String::from_utf8(all[at + 46..at + 46 + name].to_vec()).unwrap();
        assert_eq!(number(at + 10, 2), 0, "{called} is compressed");
        found.insert(called, all[start..start + size].to_vec());
        at += 46 + name + extra + comment;
    }
    found
}

#[test]
fn what_is_no_state_is_told() {
    let folder = folder();
    let at = folder.path();
    render(at, &["--steps", "2", "--save", "s.npz"]);
    let whole = fs::read(at.join("s.npz")).unwrap();
    let mut damaged = whole.clone();
    let place = damaged.windows(9).position(|bytes| bytes == b"\"version\"").unwrap();
    damaged[place] = b'x';
    fs::write(at.join("damaged.npz"), &damaged).unwrap();
    fs::write(at.join("short.npz"), &whole[..whole.len() / 2]).unwrap();
    fs::write(at.join("text.npz"), "no zip").unwrap();
    // A step after which there is none.
    let about = |step: &str| about_of(&at.join("s.npz")).replace("\"step\": 2", step);
    let last = format!("\"step\": {}", u64::MAX);
    rewrite(&at.join("s.npz"), &at.join("last.npz"), &[("state.json", about(&last).into_bytes())]);
    let other =
        fs::read_to_string(at.join("scene.cu")).unwrap().replace("count = 100", "count = 99");
    fs::write(at.join("other.cu"), other).unwrap();
    for (scene, file, expected) in [
        ("scene.cu", "damaged.npz", "cannot read damaged.npz: "),
        ("scene.cu", "short.npz", "cannot read short.npz: it is no `.npz` file, or a damaged one"),
        ("scene.cu", "text.npz", "cannot read text.npz: it is no `.npz` file, or a damaged one"),
        ("scene.cu", "last.npz", "cannot read last.npz: its state.json is damaged"),
        ("scene.cu", "none.npz", "cannot read none.npz: No such file"),
        ("other.cu", "s.npz", "value.npy does not fit the buffer value (99 float4): "),
    ] {
        let (said, code) = run(at, &["render", scene, "--device", "cpu", "--from", file]);
        assert!(code == 2 && said.contains(expected), "{code} {file}: {said}");
    }
}

#[test]
fn a_resource_that_the_file_lacks_begins_as_after_a_reset() {
    let folder = folder();
    let at = folder.path();
    render(at, &["--steps", "2", "--save", "s.npz"]);
    let text = fs::read_to_string(at.join("scene.cu")).unwrap();
    let text = text.replace(
        "[param.gain]",
        "[array.more]\ntype = \"int\"\ncount = 3\nvalue = 7\n[param.gain]",
    );
    fs::write(at.join("scene.cu"), text).unwrap();
    let said = render(at, &["--steps", "1", "--from", "s.npz", "--npy", "more=m.npy"]);
    assert!(said.contains("warning: s.npz has no `more`: as after a reset"), "{said}");
    let more = ndarray::Array1::<i32>::read_npy(fs::File::open(at.join("m.npy")).unwrap()).unwrap();
    assert_eq!(more.to_vec(), [7, 7, 7]);

    // A variable of another size is none of the file's, and what is being written is not what was written last.
    let text = fs::read_to_string(at.join("scene.cu")).unwrap();
    let text = text.replace("unsigned calls;", "unsigned calls, old_calls;");
    let text = text.replace("calls++;", "{ calls++; old_calls++; }");
    fs::write(at.join("scene.cu"), text).unwrap();
    let of_file = zip_of(fs::File::open(at.join("s.npz")).unwrap());
    assert_eq!(of_file.keys().filter(|name| name.starts_with("variables/")).count(), 1);
    without(&at.join("s.npz"), &at.join("half.npz"), "slow.npy");
    let said = render(at, &["--steps", "1", "--from", "half.npz"]);
    assert!(said.contains("half.npz has no `slow`, `more`, `old_calls`: as after"), "{said}");
}

/// What a variable points to in one program is something else in another: virtual tables and pointers begin anew.
#[test]
fn addresses_are_in_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let scene = |more: &str| {
        let text = format!(
            "/*---\n[array.a]\ntype = \"int\"\ncount = 2\n[[pass]]\nkernel = \"k\"\ngrid = 1\nblock = 1\n---*/\n\
             struct S {{ int n; {more} __device__ virtual int f() {{ return n + 1; }} }};\n\
             struct R : S {{ __device__ int f() override {{ return n + 2; }} }};\n\
             __device__ int x[4], calls;\n__device__ int *p = x;\n\
             __global__ void k(int *a, int step) {{\n    R r; S s; r.n = s.n = ++calls;\n    \
             S *of = step % 2 ? &r : &s;\n    a[0] += of->f();\n    a[1] = ++*p;\n    \
             if (step == 1) p = x + 1;\n}}\n"
        );
        fs::write(at.join("scene.cu"), text).unwrap();
    };
    let values = |file: &str| {
        let array = ndarray::Array1::<i32>::read_npy(fs::File::open(at.join(file)).unwrap());
        array.unwrap().to_vec()
    };
    scene("");
    render(at, &["--steps", "6", "--npy", "a=whole.npy"]);
    render(at, &["--steps", "3", "--save", "s.npz"]);
    scene("__device__ virtual int g() { return -77; }");
    let said = render(at, &["--steps", "3", "--from", "s.npz", "--npy", "a=a.npy"]);
    // It counts in `x[0]` again.
    assert_eq!((values("whole.npy"), values("a.npy")[0]), (vec![30, 4], 30));
    assert_eq!(values("a.npy")[1], 5);
    assert!(said.contains("s.npz has no `p`: as after a reset"), "{said}");
    // Nobody is told of tables that nothing writes.
    let said = render(at, &["--steps", "1", "--save", "t.npz"]);
    let again = render(at, &["--steps", "1", "--from", "t.npz"]);
    assert!(!said.contains("reset") && !again.contains("reset"), "{again}");
}

/// As after an edit: what is written in the text comes before what was saved of another text.
#[test]
fn variables_that_begin_with_something_else_are_those_of_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let scene = |table: i32, zero: &str| {
        let text = format!(
            "/*---\n[array.a]\ntype = \"int\"\ncount = 3\n[[pass]]\nkernel = \"k\"\ngrid = 1\nblock = 1\n---*/\n\
             __device__ const int table[2] = {{{table}, 7}};\n__device__ int calls{zero}, other = 2;\n\
             __global__ void k(int *a, int step) {{\n    a[0] += table[(step + a[2]) & 1];\n    a[1] = ++calls;\n    \
             a[2] = (other += 2) * 2;\n}}\n"
        );
        fs::write(at.join("scene.cu"), text).unwrap();
    };
    let values = |file: &str| {
        let array = ndarray::Array1::<i32>::read_npy(fs::File::open(at.join(file)).unwrap());
        array.unwrap().to_vec()
    };
    scene(1, "");
    render(at, &["--steps", "2", "--save", "s.npz", "--npy", "a=two.npy"]);
    assert_eq!(values("two.npy"), [8, 2, 12]);
    scene(100, " = 0");
    let said = render(at, &["--steps", "1", "--from", "s.npz", "--npy", "a=a.npy"]);
    assert_eq!(values("a.npy"), [108, 3, 16]);
    assert!(
        said.contains("s.npz has another initial value of `table`: as after a reset"),
        "{said}"
    );
    scene(1, "");
    let said = render(at, &["--steps", "1", "--from", "s.npz", "--npy", "a=a.npy"]);
    assert!(values("a.npy") == [9, 3, 16] && !said.contains("initial"), "{said}");
}

#[test]
fn a_state_has_members_that_are_no_fields() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "/*---\n[array.a]\ntype = \"P\"\ncount = 2\n[array.seen]\ntype = \"int\"\ncount = 4\n[[pass]]\nkernel = \"k\"\n\
                grid = 1\nblock = 1\n---*/\nstruct Base { int inherited; };\nstruct P : Base {\n    int own;\n    \
                mutable int cached;\n    __device__ int &part() { return hidden; }\n  private:\n    int hidden;\n};\n\
                __global__ void k(P *a, int *seen) {\n    P &p = a[1];\n    seen[0] = ++p.inherited, seen[1] = ++p.own;\n    \
                seen[2] = ++p.cached, seen[3] = ++p.part();\n}\n";
    fs::write(at.join("scene.cu"), text).unwrap();
    render(at, &["--steps", "2", "--save", "s.npz"]);
    render(at, &["--steps", "1", "--from", "s.npz", "--npy", "seen=seen.npy"]);
    let seen = ndarray::Array1::<i32>::read_npy(fs::File::open(at.join("seen.npy")).unwrap());
    assert_eq!(seen.unwrap().to_vec(), [3; 4]);
}

/// Also those that are no truth values, and that arithmetic would make others. A foreign file's are what they stand
/// for.
#[test]
fn a_state_has_the_bits_that_memory_held() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let scene = |more: &str| {
        let text = format!(
            "/*---\n[array.flags]\ntype = \"bool\"\ncount = 4\n{more}[array.s]\ntype = \"S\"\ncount = 1\n\
             [array.small]\ntype = \"nv_bfloat16\"\ncount = 2\n[array.seen]\ntype = \"int\"\ncount = 6\n\
             [[pass]]\nkernel = \"k\"\ngrid = 1\nblock = 1\n---*/\n\
             #include <cuda_bf16.h>\nstruct S {{ int n; bool b; }};\n\
             __global__ void k(void *flags, S *s, void *small, int *seen) {{\n    \
             unsigned char *f = (unsigned char *)flags, *b = (unsigned char *)&s->b;\n    \
             for (int i = 0; i < 4; i++) seen[i] = f[i] += i;\n    seen[4] = *b += 3;\n    \
             unsigned short *h = (unsigned short *)small;\n    seen[5] = *h = *h ? *h + 1 : 0x7f81;\n}}\n"
        );
        fs::write(at.join("scene.cu"), text).unwrap();
    };
    let seen = || {
        let file = fs::File::open(at.join("seen.npy")).unwrap();
        ndarray::Array1::<i32>::read_npy(file).unwrap().to_vec()
    };
    scene("");
    render(at, &["--steps", "3", "--npy", "seen=seen.npy"]);
    let whole = seen();
    assert_eq!(whole, [0, 3, 6, 9, 9, 0x7f83]);
    render(at, &["--steps", "2", "--save", "s.npz", "--npy", "flags=flags.npy"]);
    render(at, &["--steps", "1", "--from", "s.npz", "--npy", "seen=seen.npy"]);
    assert_eq!(seen(), whole);
    scene("file = \"flags.npy\"\n");
    render(at, &["--steps", "1", "--npy", "seen=seen.npy"]);
    assert_eq!(seen()[..4], [0, 2, 3, 4]);
}

/// The fields of another structure are found by their names; nothing tells where the rest of it belongs.
#[test]
fn members_that_are_lost_with_a_structure_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let scene = |members: &str| {
        let text = format!(
            "/*---\n[array.b]\ntype = \"B\"\ncount = 1\n[array.out]\ntype = \"int\"\ncount = 2\n[[pass]]\nkernel = \"k\"\n\
             grid = 1\nblock = 1\n---*/\nstruct U {{ int hid; }};\nstruct B {{ {members} }};\n\
             __global__ void k(B *b, int *out) {{ out[0] = ++b->a; out[1] = ++b->u.hid; }}\n"
        );
        fs::write(at.join("scene.cu"), text).unwrap();
    };
    let resumed = |file: &str| {
        let said = render(at, &["--steps", "1", "--from", file, "--npy", "out=out.npy"]);
        let out = ndarray::Array1::<i32>::read_npy(fs::File::open(at.join("out.npy")).unwrap());
        (out.unwrap().to_vec(), said)
    };
    let union = "union { int hid; float z; } u;";
    scene(&format!("int a; {union}"));
    render(at, &["--steps", "2", "--save", "s.npz"]);
    let (out, said) = resumed("s.npz");
    assert!(out == [3, 3] && !said.contains("zeros"), "{out:?} {said}");
    scene(&format!("{union} int a;"));
    let (out, said) = resumed("s.npz");
    assert_eq!(out, [3, 1]);
    let expected = "s.npz has another structure of `b`: members that are no fields (those of base classes, of unions, bit \
                    fields, private ones) begin with zeros";
    assert!(said.contains(expected), "{said}");
    // Of a file of an older program what is known is what the structure has now.
    let about = about_of(&at.join("s.npz"));
    let mut about: serde_json::Value = serde_json::from_str(&about).unwrap();
    assert!(about.as_object_mut().unwrap().remove("other_members").is_some());
    rewrite(&at.join("s.npz"), &at.join("old.npz"), &[("state.json", about.to_string().into())]);
    let (out, said) = resumed("old.npz");
    assert!(out == [3, 1] && said.contains("begin with zeros"), "{out:?} {said}");
    // A structure without others loses nothing, whatever it becomes.
    scene("int a; U u;");
    render(at, &["--steps", "2", "--save", "s.npz"]);
    scene(&format!("{union} int a;"));
    let (out, said) = resumed("s.npz");
    assert!(out == [3, 1] && !said.contains("zeros"), "{out:?} {said}");
}

#[test]
fn a_recorded_run_is_repeated_to_the_bit() {
    let folder = folder();
    let at = folder.path();
    render(at, &["--steps", "40", "--seed", "5", "--param", "gain=0.7", "--record", "run.json"]);
    fs::remove_file(at.join("scene.cu")).unwrap();
    let (said, code) = run(at, &["replay", "run.json", "--device", "cpu", "--npy", "value=v.npy"]);
    assert!(code == 0 && said.starts_with("40 steps, the same bits at all "), "{code}: {said}");
    assert!(at.join("v.npy").exists());

    let text = fs::read_to_string(at.join("run.json")).unwrap();
    let mut run_file: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        run_file["cpu"], true,
        "the constants of the CPU device count wherever it is repeated"
    );
    let digests = run_file["digests"].as_array_mut().unwrap();
    assert!(digests.len() > 1, "{digests:#?}");
    let middle = digests.len() / 2;
    let step = digests[middle]["step"].as_u64().unwrap();
    let before = digests[middle - 1]["step"].as_u64().unwrap();
    digests[middle]["resources"]["slow"] = "00".into();
    fs::write(at.join("other.json"), run_file.to_string()).unwrap();
    let (said, code) = run(at, &["replay", "other.json", "--device", "cpu"]);
    let expected =
        format!("`slow` is not as it was after step {step} (it was after step {before}); ");
    assert!(code == 1 && said.contains(&expected), "{code}: {said}");
    // Without a resource nothing would be compared.
    run_file["digests"][middle]["resources"] = serde_json::json!({});
    fs::write(at.join("other.json"), run_file.to_string()).unwrap();
    let (said, code) = run(at, &["replay", "other.json", "--device", "cpu"]);
    let expected = format!("is not as it was after step {step} (it was after step {before}); ");
    assert!(code == 1 && said.contains(&expected), "{code}: {said}");

    // One of the first version, with the fields that this had.
    let mut older: serde_json::Value = serde_json::from_str(&text).unwrap();
    older["version"] = 1.into();
    let first = [
        "format",
        "version",
        "program",
        "name",
        "device",
        "nvrtc",
        "seed",
        "constants",
        "defines",
        "steps",
        "texts",
        "inputs",
        "digests",
    ];
    older.as_object_mut().unwrap().retain(|name, _| first.contains(&name.as_str()));
    let text_of_it = older["texts"][0].as_object_mut().unwrap();
    text_of_it.retain(|name, _| ["step", "text"].contains(&name.as_str()));
    fs::write(at.join("older.json"), older.to_string()).unwrap();
    let (said, code) = run(at, &["replay", "older.json", "--device", "cpu"]);
    assert!(code == 0 && said.starts_with("40 steps, the same bits at all "), "{code}: {said}");

    for (damaged, expected) in [
        (
            text.replacen("\"texts\": [", "\"texts\": [,", 1),
            "damaged.json: it is no run file, or a damaged one: ",
        ),
        (text.replacen("warpaint run", "other", 1), "it is a `other`, and no `warpaint run`"),
        (text.replacen("\"version\": 4", "\"version\": 9", 1), "its version, 9, is newer than 4"),
        (text.replacen("\"steps\": 40", "\"steps\": -1", 1), "it is damaged: "),
        (
            text.replacen("\"steps\": 40", "\"steps\": 18446744073709551615", 1),
            "it is damaged: no run has so many steps",
        ),
        (
            text.replacen("\"steps\": 40", "\"steps\": 41", 1),
            "it is damaged: it has no digests of its last step",
        ),
    ] {
        fs::write(at.join("damaged.json"), damaged).unwrap();
        let (said, code) = run(at, &["replay", "damaged.json", "--device", "cpu"]);
        assert!(code == 2 && said.contains(expected), "{code}: {said}");
    }
}

/// One file shows the same elsewhere: all that the scene reads is in it, wherever it lay.
#[test]
fn a_run_file_has_what_the_scene_reads() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for folder in ["work/scenes/sub", "work/common", "far/lib"] {
        fs::create_dir_all(at.join(folder)).unwrap();
    }
    let header = |name: &str, value: u32, more: &str| {
        let text = format!("{more}__device__ inline int {name}() {{ return {value}; }}\n");
        text.into_bytes()
    };
    let numbers = |first: i32| {
        let mut bytes = Vec::new();
        let all = ndarray::Array1::from_iter(first..first + 4);
        ndarray_npy::WriteNpyExt::write_npy(&all, &mut bytes).unwrap();
        bytes
    };
    let scene = r#"/*---
[array.value]
type  = "int"
count = 4
file  = "sub/value.npy"
[array.given]
type  = "int"
count = 4
[[pass]]
kernel = "add"
over   = "value"
---*/
#include "sub/first.cuh"
#include "../common/common.cuh"
#include <lib/far.cuh>
__global__ void add(int* value, const int* given)
{
    int i = threadIdx.x;
    if (i < 4) value[i] += given[i] * first() + common() + far_away();
}
"#;
    for (name, content) in [
        ("work/scenes/scene.cu", scene.as_bytes().to_vec()),
        ("work/scenes/sub/first.cuh", header("first", 3, "#include \"second.cuh\"\n")),
        ("work/scenes/sub/second.cuh", header("second", 0, "")),
        ("work/common/common.cuh", header("common", 100, "")),
        ("far/lib/far.cuh", header("far_away", 1000, "")),
        ("work/scenes/sub/value.npy", numbers(10)),
        ("given.npy", numbers(1)),
    ] {
        fs::write(at.join(name), content).unwrap();
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("run.json");
    let arguments = ["render", "scenes/scene.cu", "--device", "cpu", "--steps", "2", "--trust"];
    let load = format!("given={}", at.join("given.npy").display());
    let more = ["-I", "../far", "--load", &load, "--record", file.to_str().unwrap()];
    let (said, code) = run(&at.join("work"), &[&arguments[..], &more].concat());
    assert_eq!(code, 0, "{said}");
    drop(folder);

    // What it reads is not what it writes.
    let beside = ["replay", "run.json", "--device", "cpu", "--json", "./run.json"];
    let (said, code) = run(elsewhere.path(), &beside);
    assert!(code == 2 && said.contains("would replace the run file itself"), "{code}: {said}");
    // A file in the folder where it is repeated is none of the run's.
    fs::create_dir_all(elsewhere.path().join("sub")).unwrap();
    fs::write(elsewhere.path().join("sub/first.cuh"), header("first", 7, "")).unwrap();
    // Nobody needs to be trusted for what comes with the run.
    let replay = |file: &str| {
        let arguments = ["replay", file, "--device", "cpu", "--npy", "value=v.npy"];
        run(elsewhere.path(), &arguments)
    };
    let (said, code) = replay("run.json");
    assert!(code == 0 && said.starts_with("2 steps, the same bits"), "{code}: {said}");
    let value = fs::File::open(elsewhere.path().join("v.npy")).unwrap();
    let value = ndarray::Array1::<i32>::read_npy(value).unwrap();
    let expected = (0..4).map(|i| 10 + i + 2 * ((1 + i) * 3 + 1100));
    assert_eq!(value.to_vec(), expected.collect::<Vec<i32>>());

    let text = fs::read_to_string(&file).unwrap();
    let up = "../".repeat(9);
    for name in ["/tmp/x.cuh", "sub/../../x.cuh", "..", "", &format!("{up}x.cuh")] {
        let quoted = |name: &str| format!("\"name\": \"{name}\"");
        let forged = text.replacen(&quoted("sub/second.cuh"), &quoted(name), 1);
        assert_ne!(forged, text);
        fs::write(elsewhere.path().join("forged.json"), forged).unwrap();
        let (said, code) = replay("forged.json");
        assert!(code == 2 && said.contains("forged.json: "), "{name}: {code}: {said}");
    }
    let value = text.find("\"base64\": \"").unwrap() + "\"base64\": \"".len();
    fs::write(
        elsewhere.path().join("forged.json"),
        text[..value].to_owned() + "!" + &text[value..],
    )
    .unwrap();
    let (said, code) = replay("forged.json");
    assert!(code == 2 && said.contains("it is damaged: the file "), "{code}: {said}");
}

/// A folder into which a run was unpacked by a process that was killed: the next one that unpacks a run removes it.
#[test]
fn what_a_killed_replay_left_is_removed() {
    let folder = folder();
    let at = folder.path();
    fs::write(at.join("one.cuh"), "").unwrap();
    let scene = SCENE.replace("__global__", "#include \"one.cuh\"\n__global__");
    fs::write(at.join("scene.cu"), scene).unwrap();
    let arguments = ["render", "scene.cu", "--device", "cpu", "--steps", "1"];
    let (said, code) = run(at, &[&arguments[..], &["--record", "run.json"]].concat());
    assert_eq!(code, 0, "{said}");
    let temporary = at.join("temporary");
    for folder in ["warpaint-run-notes", "other"] {
        fs::create_dir_all(temporary.join(folder)).unwrap();
    }
    let killed = left_folder(&temporary, "warpaint-run-Killed");
    fs::create_dir(killed.join("sub")).unwrap();
    fs::write(killed.join("sub/one.cuh"), "").unwrap();
    let mut command = Command::new(binary());
    command.current_dir(at).env("TMPDIR", &temporary);
    let output = command.args(["replay", "run.json", "--device", "cpu"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let names = fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["other", "warpaint-run-notes"]);
}

/// A run file from a stranger names no folder of its own: what it includes lies below its own one.
#[test]
fn the_name_in_a_run_file_leads_nowhere() {
    let folder = folder();
    let at = folder.path();
    fs::create_dir(at.join("below")).unwrap();
    fs::write(at.join("secret.cuh"), "__device__ inline float secret() { return 2.0f; }\n")
        .unwrap();
    let scene = "/*---\n[buffer.value]\ntype = \"float4\"\ncount = 4\n[[pass]]\nkernel = \"k\"\nover = \"value\"\n---*/\n\
                 #include \"../secret.cuh\"\n__global__ void k(float4* value) { value[0].x = secret(); }\n";
    fs::write(at.join("scene.cu"), scene.replace("../secret", "secret")).unwrap();
    render(at, &["--steps", "1", "--record", "below/r.json"]);
    let text = fs::read_to_string(at.join("below/r.json")).unwrap();
    for name in [at.join("x.cu").to_str().unwrap(), "../x.cu"] {
        let mut run_file: serde_json::Value = serde_json::from_str(&text).unwrap();
        run_file["name"] = name.into();
        // Whether its files lie beside it, as those of older programs, or it has none.
        for files in [serde_json::Value::Null, serde_json::json!([])] {
            run_file["files"] = files;
            fs::write(at.join("below/r.json"), run_file.to_string()).unwrap();
            let (said, code) = run(at, &["replay", "below/r.json", "--device", "cpu"]);
            assert_ne!(code, 0, "{name}: {said}");
            assert!(said.contains("secret.cuh"), "{said}");
        }
    }
}

/// What `state.json` says in an archive.
fn about_of(path: &Path) -> String {
    let files = zip_of(fs::File::open(path).unwrap());
    String::from_utf8(files["state.json"].clone()).unwrap()
}

/// Copies an archive without one of its files.
fn without(from: &Path, to: &Path, name: &str) {
    let mut archive = zip::ZipArchive::new(fs::File::open(from).unwrap()).unwrap();
    let mut copy = zip::ZipWriter::new(fs::File::create(to).unwrap());
    for at in 0..archive.len() {
        let file = archive.by_index_raw(at).unwrap();
        if file.name().unwrap() != name {
            copy.raw_copy_file(file).unwrap();
        }
    }
    copy.finish().unwrap();
}

/// Copies an archive with some of its files replaced, or added, compressed.
fn rewrite(from: &Path, to: &Path, files: &[(&str, Vec<u8>)]) {
    let mut archive = zip::ZipArchive::new(fs::File::open(from).unwrap()).unwrap();
    let mut copy = zip::ZipWriter::new(fs::File::create(to).unwrap());
    for at in 0..archive.len() {
        let file = archive.by_index_raw(at).unwrap();
        let name = file.name().unwrap().into_owned();
        if files.iter().all(|(other, _)| *other != name) {
            copy.raw_copy_file(file).unwrap();
        }
    }
    let compressed =
        SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, content) in files {
        copy.start_file(*name, compressed).unwrap();
        copy.write_all(content).unwrap();
    }
    copy.finish().unwrap();
}

/// What takes up room in an archive and belongs to nothing of the scene is not looked at: a small file may be packed
/// from a very large one.
/// What does not fit is refused by its header: of a small file very much may be unpacked. What fits is compared with
/// its checksum.
#[test]
fn an_array_that_does_not_fit_is_not_unpacked() {
    let folder = folder();
    let at = folder.path();
    render(at, &["--steps", "2", "--save", "s.npz"]);
    let whole = fs::read(at.join("s.npz")).unwrap();
    let place = |text: &[u8]| whole.windows(text.len()).position(|bytes| bytes == text).unwrap();
    let shape = place(b"(100, 4");
    for (byte, to, expected) in [
        (shape + 3, b'9', "value.npy does not fit the buffer value (100 float4): "),
        (shape + 200, 0xa5, "Invalid checksum"),
    ] {
        let mut damaged = whole.clone();
        assert_ne!(damaged[byte], to);
        damaged[byte] = to;
        fs::write(at.join("damaged.npz"), damaged).unwrap();
        let from = ["render", "scene.cu", "--device", "cpu", "--from", "damaged.npz"];
        let (said, code) = run(at, &from);
        assert!(code == 2 && said.contains(expected), "{code}: {said}");
    }
}

#[test]
fn what_the_scene_does_not_have_is_not_read() {
    let folder = folder();
    let at = folder.path();
    render(at, &["--steps", "2", "--save", "s.npz"]);
    let files = zip_of(fs::File::open(at.join("s.npz")).unwrap());
    let own = files.keys().find(|name| name.starts_with("variables/")).unwrap();
    // Neither is a `.npy`, which would be an error if it was read.
    let large = || vec![7; 3 << 20];
    let files = [("variables/none.npy", large()), (own.as_str(), large())];
    rewrite(&at.join("s.npz"), &at.join("more.npz"), &files);
    render(at, &["--steps", "1", "--from", "more.npz"]);
    // One that is the scene's, by name and size, is read.
    rewrite(&at.join("s.npz"), &at.join("less.npz"), &[(own.as_str(), vec![7; 100])]);
    let (said, code) =
        run(at, &["render", "scene.cu", "--device", "cpu", "--from", "less.npz", "--steps", "1"]);
    assert!(code == 2 && said.contains(own.as_str()), "{code}: {said}");
}
