//! `--checked`: what the checker finds in the passes of a scene, in the scene's words.

use std::{fs, process::Stdio};

use crate::support::{Ended, Workplace, left_folder};

/// Its two blocks add to the same numbers; a half of `s` is never written; every second divisor is 0.
const MISTAKES: &str = "/*---
[array.sum]
type = 'int'
count = 4
[array.quotient]
type = 'int'
count = 32
[[pass]]
kernel = 'total'
grid = 2
block = 32
---*/
__global__ void total(int *sum, int *quotient)
{
    __shared__ int s[64];
    if (threadIdx.x == 0)
        sum[2] += 1;
    s[threadIdx.x] = 7;
    int unwritten = s[threadIdx.x + 32];
    if (blockIdx.x == 0)
        quotient[threadIdx.x] = (9 + unwritten) / (threadIdx.x & 1);
}";

/// The number of the line on which `text` stands.
fn line(source: &str, text: &str) -> usize {
    source.lines().position(|line| line.contains(text)).unwrap() + 1
}

#[test]
fn mistakes_are_told_at_their_lines_and_with_what_they_access() {
    let place = Workplace::new();
    let scene = place.file("mistakes.cu", MISTAKES);
    let [sum, unwritten, quotient] =
        ["sum[2] +=", "int unwritten", "quotient[threadIdx.x] ="].map(|text| line(MISTAKES, text));
    let ended =
        place.run(&["render", scene, "--checked", "--npy", "sum=sum.npy", "--json", "run.json"]);
    ended.expect(
        1,
        &[
            &format!("mistakes.cu:{sum}:"),
            "race: thread (0, 0, 0) of block (1, 0, 0) reads `sum[2]` here, thread (0, 0, 0) of block (0, 0, 0) writes \
             it at the same place, and nothing orders them",
            &format!("mistakes.cu:{unwritten}:"),
            "reads 4 bytes of shared memory at offset 128 here, which nobody has written (32 times)",
            &format!("mistakes.cu:{quotient}:"),
            "divides an integer by zero (16 times)",
        ],
    );
    assert_eq!(ended.err.lines().count(), 3, "{}", ended.err);
    assert!(ended.err.lines().all(|line| line.starts_with("mistakes.cu:")), "{}", ended.err);
    // What came out is written all the same.
    assert!(place.path("sum.npy").exists());
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(place.path("run.json")).unwrap()).unwrap();
    let lines = report["findings"].as_array().unwrap().iter().map(|f| f["line"].as_u64().unwrap());
    assert_eq!(lines.collect::<Vec<_>>(), [sum, unwritten, quotient].map(|line| line as u64));
    place.run(&["render", scene, "--device", "cpu"]).expect(0, &[]);
}

/// After so many steps elsewhere a step is watched: what is wrong in the third one alone is seen by whom it is told to
/// watch that.
#[test]
fn a_step_is_watched_after_others_that_are_not() {
    let place = Workplace::new();
    let text = MISTAKES
        .replace("if (threadIdx.x == 0)", "if (threadIdx.x == 0 && step == 2)")
        .replace("s[threadIdx.x] = 7;", "s[threadIdx.x] = s[threadIdx.x + 32] = 7;")
        .replace("/ (threadIdx.x & 1)", "/ (threadIdx.x | 1)")
        .replace("int *quotient)", "int *quotient, unsigned step)");
    let scene = place.file("later.cu", &text);
    let watched =
        |steps: &str| place.run(&["check", scene, "--device", "cpu", "--run", "--steps", steps]);
    watched("1").expect(0, &[]);
    watched("2")
        .expect(1, &[&format!("later.cu:{}:", line(&text, "sum[2] +=")), "race: thread (0, 0, 0)"]);
    place.run(&["check", scene, "--steps", "2"]).expect(2, &["--run"]);
    // Of two scenes all is told.
    let other = place.file("other.cu", &text);
    place
        .run(&["check", scene, other, "--device", "cpu", "--run", "--steps", "2"])
        .expect(1, &["later.cu:", "other.cu:"]);
}

/// Its copy of the state lies in a folder of its own, whose name nobody foresees, and which goes.
#[test]
fn the_copy_of_a_state_that_is_watched_goes() {
    let place = Workplace::new();
    let scene = place.file("fine.cu", FINE);
    let temporary = place.path("temporary");
    let left = left_folder(&temporary, "warpaint-check-left");
    fs::write(left.join("state.npz"), "of a process that was killed").unwrap();
    let mut command = place.command(&["check", scene, "--device", "cpu", "--run", "--steps", "1"]);
    let process = command
        .env("TMPDIR", &temporary)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Links where somebody who knows the process could expect it.
    let victim = place.file("victim", "kept");
    let foreseen = temporary.join(format!("warpaint-check-{}-0.npz", process.id()));
    std::os::unix::fs::symlink(place.path("victim"), &foreseen).unwrap();
    Ended::new(process.wait_with_output().unwrap()).expect(0, &[]);
    assert_eq!(fs::read_to_string(place.path(victim)).unwrap(), "kept");
    let left: Vec<_> = fs::read_dir(&temporary).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(left, [foreseen]);
}

/// A scene without a mistake.
const FINE: &str = "/*---
[array.x]
type = 'float'
count = 64
[[pass]]
kernel = 'k'
over = 'x'
---*/
__global__ void k(float *x, int x_count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < x_count) x[i] = i;
}
";

/// Bytes of one word that several threads write, and texels of a surface.
#[test]
fn races_of_bytes_and_of_texels_are_told() {
    let place = Workplace::new();
    let text = "/*---
[texture.t]
format = 'r32f'
size = [64, 1]
[array.x]
type = 'float'
count = 64
[[pass]]
kernel = 'k'
block = 64
grid = 1
---*/
__global__ void k(float *x, cudaSurfaceObject_t t)
{
    __shared__ unsigned char s[64];
    int i = threadIdx.x;
    s[i] = i;
    SYNC1
    x[i] = s[i / 4 * 4] + s[i / 4 * 4 + 1];
    surf2Dwrite(x[i], t, 4 * i, 0);
    SYNC2
    float v;
    surf2Dread(&v, t, 4 * (63 - i), 0);
    x[i] = v;
}
";
    let [bytes, texels] = ["x[i] = s[", "surf2Dread"].map(|part| line(text, part));
    for (first, second, found) in [
        ("__syncthreads();", "__syncthreads();", &[][..]),
        ("", "__syncthreads();", &[("bytes of shared memory", bytes)][..]),
        ("__syncthreads();", "", &[("bytes of surface memory", texels)][..]),
    ] {
        let text = text.replace("SYNC1", first).replace("SYNC2", second);
        let ended = place.run(&["render", place.file("races.cu", &text), "--checked"]);
        let told: Vec<String> = found.iter().map(|(_, line)| format!("races.cu:{line}:")).collect();
        let parts = told.iter().map(String::as_str).chain(found.iter().map(|(what, _)| *what));
        ended.expect(i32::from(!found.is_empty()), &parts.collect::<Vec<_>>());
        assert_eq!(ended.err.matches("race: ").count(), found.len(), "{}", ended.err);
    }
}

#[test]
fn a_mistake_is_a_failed_check_of_the_test_mode() {
    let place = Workplace::new();
    let scene = place.file("mistakes.cu", MISTAKES);
    let arguments = ["test", scene, "--steps", "2", "--checked", "--junit", "results.xml"];
    let ended = place.run(&arguments);
    ended.expect(1, &["3 of 3 checks failed"]);
    let sum =
        format!("FAILED  mistakes.cu:{}: kernel `total`: race: ", line(MISTAKES, "sum[2] +="));
    assert!(ended.out.contains(&sum), "{}", ended.out);
    let results = fs::read_to_string(place.path("results.xml")).unwrap();
    assert_eq!(results.matches("<failure").count(), 3, "{results}");
    let sound = MISTAKES.replace("sum[2] += 1", "atomicAdd(sum + 2, 1)");
    let sound = sound.replace("int s[64]", "int s[32]").replace("x + 32]", "x]");
    let sound = sound.replace("(threadIdx.x & 1)", "(threadIdx.x + 1)");
    place.file("sound.cu", &sound);
    let ended = place.run(&["test", "sound.cu", "--steps", "2", "--checked"]);
    ended.expect(0, &[]);
    assert!(ended.out.starts_with("ok"), "{}", ended.out);
}

#[test]
fn what_only_a_warp_in_lockstep_does_is_told_unless_it_is_one() {
    let source = "/*---
[array.out]
type = 'int'
count = 32
[[pass]]
kernel = 'k'
grid = 1
block = 32
---*/
__global__ void k(int *out)
{
    __shared__ volatile int s[32];
    s[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = s[31 - threadIdx.x];
}";
    let place = Workplace::new();
    let scene = place.file("warp.cu", source);
    let [write, read] = ["s[threadIdx.x] =", "out[threadIdx.x] ="].map(|text| line(source, text));
    place.run(&["render", scene, "--checked"]).expect(
        1,
        &[
            &format!("warp.cu:{write}:"),
            &format!("of its warp reads it at warp.cu:{read}:"),
            "only a warp in lockstep has an order here",
            "`__syncwarp()`",
            "`lockstep = true`",
        ],
    );
    place.file("ordered.cu", &source.replace("= threadIdx.x;\n", "= threadIdx.x; __syncwarp();\n"));
    place.file("lockstep.cu", &source.replace("block = 32", "block = 32\nlockstep = true"));
    for sound in ["ordered.cu", "lockstep.cu"] {
        place.run(&["render", sound, "--checked"]).expect(0, &[]);
    }
}

#[test]
fn a_fault_is_told_beside_what_was_found_before_it() {
    let place = Workplace::new();
    let faulty = MISTAKES.replace("(threadIdx.x & 1);", "(threadIdx.x & 1) + sum[1 << 20];");
    let scene = place.file("faulty.cu", &faulty);
    let sentences = ["fault: kernel `total`", "which nobody has written"];
    place.run(&["render", scene, "--checked"]).expect(4, &sentences);
}

#[test]
fn the_checker_is_the_cpu_devices() {
    let place = Workplace::new();
    let scene = place.file("mistakes.cu", MISTAKES);
    let ended = place.run(&["render", scene, "--checked", "--device", "cuda"]);
    ended.expect_one_line(2, &["--checked is for the CPU device"]);
}
