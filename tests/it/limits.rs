//! Time has limits, and whoever waits can end it: kernels, statistics, compilations; and what a fault's message says.

use crate::skip::{Need, skip};
use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use super::support::{self, COUNTER, Ended, Workplace};

/// Far less than the default limits of a step, and far more than a busy machine needs to end a process: what takes
/// longer hangs.
const SOON: Duration = Duration::from_secs(15);

/// A scene of 64 numbers with `manifest` behind its pass, which launches `kernel`.
fn scene(manifest: &str, kernel: &str) -> String {
    format!(
        "/*---\n[array.out]\ntype = \"uint\"\ncount = 64\n[[pass]]\nkernel = \"k\"\ngrid = 1\nblock = 64\n\
         {manifest}\n---*/\n{kernel}\n"
    )
}

/// A kernel that ends at once.
const QUICK: &str = "__global__ void k(unsigned *out) { out[threadIdx.x] = threadIdx.x; }";
/// One that never ends, and says that it has begun.
const ENDLESS: &str = "__global__ void k(volatile unsigned *out) {\n    if (threadIdx.x == 0) printf(\"runs\\n\");\n    \
                       while (out[0] < 100) ;\n}";
/// A statistic that never ends, and says that it has begun.
const ENDLESS_STAT: &str = "[[stat]]\nname = \"slow\"\nof = \"out\"\nreduce = \"sum\"\n\
     map = '[&]() { if (i == 0) printf(\"runs\\n\"); while (true) asm volatile(\"\"); return 1.0f; }()'";

fn line_of(text: &str, needle: &str) -> usize {
    text.lines().position(|line| line.contains(needle)).unwrap() + 1
}

#[test]
fn an_endless_statistic_is_stopped_by_the_limit_of_a_step() {
    let place = Workplace::new();
    let check = "\n[[check]]\nstat = \"slow\"\nmax = 1.0";
    let text = scene(&(ENDLESS_STAT.to_owned() + check), QUICK);
    place.file("scene.cu", &text);
    let line = line_of(&text, "map = ");
    let started = Instant::now();
    for command in [&["render", "--json", "r.json"][..], &["test", "--steps", "1"]] {
        let more = ["scene.cu", "--device", "cpu", "--step-timeout", "1"];
        let ended = place.run(&[command, &more].concat());
        let place = format!("scene.cu:{line}");
        let told = "fault: statistic \"slow\": stopped after 1 s (the limit; `--step-timeout` raises it), block";
        ended.expect(4, &[&place, told]);
    }
    assert!(started.elapsed() < 2 * SOON);
    assert!(!place.path("r.json").exists());
}

/// More launches than fit any memory are not all put on the stream at once, and the limit counts from the first.
#[test]
fn launches_of_a_step_have_its_limit() {
    let place = Workplace::new();
    let passes = "[[pass]]\nkernel = \"k\"\ngrid = 1\nblock = 64\nrepeat = 1000000\n".repeat(300);
    for (on, kernel) in [("step", "more.cu"), ("reset", "reset.cu")] {
        let passes = passes.replace("repeat", &format!("on = \"{on}\"\nrepeat"));
        place.file(kernel, &scene(&passes, QUICK));
        let started = Instant::now();
        let ended = place.run(&["render", kernel, "--device", "cpu", "--step-timeout", "1"]);
        let told = "fault: kernel `k`: stopped after 1 s (the limit; `--step-timeout` raises it)";
        ended.expect(4, &[kernel, told]);
        assert!(started.elapsed() < SOON);
    }
}

/// Where nothing but copies is done there is no kernel to tell of.
#[test]
fn copies_of_a_step_have_its_limit() {
    let place = Workplace::new();
    let mut manifest = String::new();
    for name in ["a", "b"] {
        manifest += &format!("[array.{name}]\ntype = \"float\"\ncount = 64\n");
    }
    let mut header = "pass".to_owned();
    for _ in 0..4 {
        manifest += &format!("[[{header}]]\nrepeat = 1000000\n");
        header += ".pass";
    }
    manifest += &format!("[[{header}]]\ncopy = {{ from = \"a\", to = \"b\" }}\n");
    place.file("scene.cu", &format!("/*---\n{manifest}---*/\n"));
    let ended = place.run(&["render", "scene.cu", "--device", "cpu", "--step-timeout", "0.5"]);
    ended.expect(4, &["scene.cu: fault: a step: stopped after 0.5 s (the limit"]);
}

#[test]
fn a_fault_in_a_statistic_is_a_fault() {
    let place = Workplace::new();
    let stat = "[[stat]]\nname = \"wild\"\nof = \"out\"\nreduce = \"sum\"\nmap = \"(float)*(volatile int*)(8192 + 8192*x)\"";
    let text = scene(&format!("{stat}\n[[check]]\nstat = \"wild\"\nmax = 1.0"), QUICK);
    place.file("scene.cu", &text);
    let told = format!("scene.cu:{}", line_of(&text, "map = "));
    for command in [&["render", "--json", "r.json"][..], &["test", "--steps", "1"]] {
        let ended = place.run(&[command, &["scene.cu", "--device", "cpu"]].concat());
        ended.expect(4, &[&told, "fault: statistic \"wild\": read outside every allocation"]);
    }
}

#[test]
fn the_limit_of_a_step_is_told_with_how_to_raise_it() {
    let place = Workplace::new();
    place.file("scene.cu", &scene("", ENDLESS));
    let ended = place.run(&["render", "scene.cu", "--device", "cpu", "--step-timeout", "0.5"]);
    let told =
        "fault: kernel `k`: stopped after 0.5 s (the limit; `--step-timeout` raises it), block";
    ended.expect(4, &["scene.cu:", told]);
}

#[test]
fn so_many_statistics_are_too_many() {
    let stats =
        (0..2000).map(|n| format!("[[stat]]\nname = \"s{n}\"\nof = \"out\"\nreduce = \"sum\"\n"));
    let text = scene(&stats.collect::<String>(), QUICK);
    let place = Workplace::new();
    place.file("scene.cu", &text);
    let line = line_of(&text, "\"s256\"") - 1;
    let ended = place.run(&["check", "scene.cu"]);
    ended.expect_one_line(1, &[&format!("scene.cu:{line}:"), "error: [[stat]] is one too many"]);
}

/// Starts the program; its first line says that the kernel runs.
fn begun(place: &Workplace, arguments: &[&str]) -> Child {
    let mut command = place.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "runs\n");
    child
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Sends a signal and waits for the end, which comes soon.
fn ended_by(child: Child, name: &str) -> Ended {
    let sent = Instant::now();
    signal(&child, name);
    let ended = Ended::new(child.wait_with_output().unwrap());
    assert!(sent.elapsed() < SOON, "{:?}: {ended:#?}", sent.elapsed());
    ended
}

#[test]
fn the_first_signal_stops_a_kernel_and_a_statistic() {
    let place = Workplace::new();
    place.file("kernel.cu", &scene("", ENDLESS));
    let check = "\n[[check]]\nstat = \"slow\"\nmax = 1.0";
    place.file("stat.cu", &scene(&(ENDLESS_STAT.to_owned() + check), QUICK));
    for arguments in [
        &["render", "kernel.cu", "--json", "r.json"][..],
        &["render", "stat.cu", "--json", "r.json"],
        &["test", "kernel.cu", "kernel.cu"],
        &["test", "stat.cu"],
    ] {
        let arguments = [arguments, &["--device", "cpu"]].concat();
        let ended = ended_by(begun(&place, &arguments), "-INT");
        ended.expect(130, &["Ctrl-C again ends it at once", "stopped before its last step"]);
        ended_by(begun(&place, &arguments), "-TERM").expect(143, &["stopped before its last step"]);
    }
    assert!(!place.path("r.json").exists());
}

/// A pipe that is full takes no more, so that the kernel's thread waits in `printf` with the lock of the output.
const PRINTS: &str = "__global__ void k(unsigned *out) {\n    if (threadIdx.x == 0) \
                      for (int j = 0; j < 100000; j++) printf(\"runs\\n\");\n}";

/// Waits for the end of a process whose output nobody reads: a pipe holds 64 KiB.
fn ended_unread(mut child: Child) -> Ended {
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < SOON, "it does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    Ended::new(child.wait_with_output().unwrap())
}

#[test]
fn a_signal_ends_what_waits_for_a_full_pipe() {
    let place = Workplace::new();
    place.file("kernel.cu", &scene("", PRINTS));
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let child = begun(&place, &["render", "kernel.cu", "--device", "cpu"]);
        std::thread::sleep(Duration::from_secs(1));
        signal(&child, name);
        ended_unread(child).expect(code, &[]);
    }
}

#[test]
fn the_limit_ends_what_waits_for_a_full_pipe() {
    let place = Workplace::new();
    place.file("kernel.cu", &scene("", PRINTS));
    // `test` tells what it found on the same output, and so waits for whoever reads it.
    let arguments = ["render", "kernel.cu", "--device", "cpu", "--step-timeout", "1"];
    // The kernel is given some seconds more than its limit to end.
    let ended = ended_unread(begun(&place, &arguments));
    ended.expect(4, &["a step takes longer than 1 s", "cannot stop it"]);
}

#[test]
fn results_before_a_signal_are_kept() {
    let place = Workplace::new();
    place.file("good.cu", COUNTER);
    place.file("kernel.cu", &scene("", ENDLESS));
    let arguments =
        ["test", "good.cu", "kernel.cu", "--steps", "1", "--device", "cpu", "--junit", "r.xml"];
    let mut child =
        place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().starts_with("ok      good.cu"));
    assert_eq!(lines.next().unwrap(), "runs");
    ended_by(child, "-INT").expect(130, &[]);
    let xml = fs::read_to_string(place.path("r.xml")).unwrap();
    assert!(
        xml.contains("tests=\"1\" failures=\"0\" errors=\"0\"") && xml.ends_with("</testsuites>\n"),
        "{xml}"
    );
}

#[test]
fn the_first_signal_ends_a_compilation() {
    let place = Workplace::new();
    // Two to the power of 22 instances of a template: NVRTC is at it for half a minute, and takes gigabytes.
    let bomb = "template<int D, int N> struct T { static constexpr long v = T<D-1,2*N>::v + T<D-1,2*N+1>::v; };\n\
                template<int N> struct T<0,N> { static constexpr long v = N; };\n__device__ long q = T<22,1>::v;\n";
    place.file("scene.cu", &scene("", &format!("{bomb}{QUICK}")));
    for command in ["check", "render"] {
        let child = place.command(&[command, "scene.cu"]).stderr(Stdio::piped()).spawn().unwrap();
        // Nothing tells when the compiler has begun; a signal that comes before has the same end.
        std::thread::sleep(Duration::from_millis(1500));
        ended_by(child, "-INT").expect(130, &["Ctrl-C again ends it at once"]);
    }
}

#[test]
fn drafts_of_a_killed_process_go_with_the_next_file() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    let drafts = || {
        let names = fs::read_dir(place.path("")).unwrap().flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().starts_with(".warpaint")).count()
    };
    let endless = [
        "render", "scene.cu", "--device", "cpu", "--size", "32x18", "--out", "a.gif", "--every",
        "2",
    ];
    let mut command = place.command(&[&endless[..], &["--steps", "1000000000"]].concat());
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let Some(mut child) = support::when_it_writes(child, drafts) else { return };
    let write = || {
        let arguments = ["render", "scene.cu", "--device", "cpu", "--npy", "value=v.npy"];
        place.run(&arguments).expect(0, &[]);
    };
    // A draft that is young may have been made a moment ago by a process that lives.
    std::thread::sleep(Duration::from_millis(2500));
    write();
    assert_eq!(drafts(), 1, "its process lives");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(drafts(), 1, "nothing can clear it when its process is killed");
    std::thread::sleep(Duration::from_millis(2500));
    write();
    assert_eq!(drafts(), 0);
}

/// What a scene of one kernel ends with on the CPU device.
fn rendered(arrays: &str, block: u32, kernel: &str) -> (Ended, String) {
    let place = Workplace::new();
    let text = format!(
        "/*---\n{arrays}\n[[pass]]\nkernel = \"k\"\ngrid = 1\nblock = {block}\n---*/\n{kernel}\n"
    );
    place.file("scene.cu", &text);
    (place.run(&["render", "scene.cu", "--device", "cpu"]), text)
}

const FLOATS: &str = "[array.a]\ntype = \"float\"\ncount = 256";

#[test]
fn a_shared_array_without_memory_is_told_of_shared() {
    let kernel = "__global__ void k(float *a) {\n    extern __shared__ float s[];\n    s[threadIdx.x] = 1;\n    \
                  a[threadIdx.x] = s[threadIdx.x];\n}";
    let (ended, text) = rendered(FLOATS, 32, kernel);
    let place = format!("scene.cu:{}", line_of(&text, "s[threadIdx.x] = 1"));
    ended.expect(
        4,
        &[
            &place,
            "shared address",
            "its pass has no `shared = BYTES` for `extern __shared__` arrays",
        ],
    );
}

#[test]
fn a_null_pointer_is_called_so() {
    let arrays = "[array.p]\ntype = \"unsigned long long\"\ncount = 4";
    let (ended, text) = rendered(arrays, 1, "__global__ void k(float **p) {\n    p[0][1] = 1;\n}");
    let place = format!("scene.cu:{}", line_of(&text, "p[0][1]"));
    ended.expect(4, &[&place, "address 0x4, through a null pointer)"]);
}

#[test]
fn a_block_that_the_kernel_does_not_allow_is_told_at_its_pass() {
    let kernel = "__global__ void __launch_bounds__(128) k(float *a) { a[0] = blockDim.x; }";
    let (ended, text) = rendered(FLOATS, 256, kernel);
    let place = format!("scene.cu:{}:", line_of(&text, "kernel = "));
    ended.expect(
        2,
        &[&place, "256 threads in a block, where at most 128 are allowed", "`__launch_bounds__`"],
    );
}

#[test]
fn what_a_device_does_not_support_is_told_at_its_line_also_without_a_run() {
    let arrays = "[array.c]\ntype = \"float\"\ncount = 256";
    let kernel =
        "__global__ void k(float *c) {\nasm volatile(\"wgmma.fence.sync.aligned;\");\nc[0] = 1;\n}";
    let (ended, text) = rendered(arrays, 32, kernel);
    ended.expect(1, &["error: the CPU device does not support `wgmma.fence"]);
    let place = Workplace::new();
    place.file("scene.cu", &text);
    place.run(&["check", "scene.cu"]).expect(0, &[]);
    let told = place.run(&["check", "scene.cu", "--device", "cpu"]);
    told.expect(1, &["error: the CPU device does not support `wgmma.fence"]);
    let at = |ended: &Ended| ended.err.split(": error").next().unwrap().contains(":");
    assert!(at(&ended) && at(&told), "{told:#?}");
}

/// Without a loop in which it would be looked for the end.
#[test]
fn calls_of_the_host_are_under_the_limit_of_a_step() {
    let tenfold = (1..4).map(|n| format!("#define P{n} {}\n", format!("P{} ", n - 1).repeat(10)));
    let tenfold: String = tenfold.collect();
    let format = "%4095d".repeat(680);
    for call in [&format!("printf(\"{format}\", 1, 2);"), "free(malloc(1 << 30));"] {
        let kernel = format!(
            "#define P0 {call}\n{tenfold}__global__ void k(unsigned *out) {{ P3 out[threadIdx.x & 63] = 1; }}"
        );
        let place = Workplace::new();
        place.file("scene.cu", &scene("", &kernel).replace("block = 64", "block = 1024"));
        let started = Instant::now();
        let ended = place.run(&["render", "scene.cu", "--device", "cpu", "--step-timeout", "1"]);
        assert!(matches!(ended.code, Some(0 | 4)), "{ended:#?}");
        // The compiler has its part in it.
        assert!(started.elapsed() < 4 * SOON, "{:?}: {call}", started.elapsed());
    }
}

/// Points so large that any OpenGL draws them for longer than the limit, and so few that their statistics take less.
#[test]
fn drawing_is_under_the_limit_of_a_step() {
    let place = Workplace::new();
    place.file(
        "scene.cu",
        "/*---\n[buffer.p]\ntype = \"float4\"\ncount = 1000000\n[[pass]]\nkernel = \"k\"\nover = \"p\"\n\
         [view]\nkind = \"points\"\nposition = \"p\"\nsize = 200\n---*/\n\
         __global__ void k(float4 *p, int p_count) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
         if (i < p_count) p[i] = make_float4(i % 100 * 0.01f, i / 100 % 100 * 0.01f, 0.0f, 1.0f);\n}\n",
    );
    let limit = ["--step-timeout", "3", "--device", "cpu"];
    let ended = place.run(&[&["render", "scene.cu", "--out", "o.png"], &limit[..]].concat());
    if ended.code == Some(3) {
        return skip(Need::Gl, &ended.err);
    }
    ended.expect_one_line(4, &["drawing takes longer than 3 s", "OpenGL cannot stop it"]);
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 1, "neither a picture nor a draft");
}

/// The program with a limit of the shell's.
#[cfg(target_os = "linux")]
fn limited(place: &Workplace, limit: &str, arguments: &[&str]) -> Ended {
    let program = place.command(arguments);
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\"")]);
    limited.arg(program.get_program()).args(program.get_args());
    limited.current_dir(place.path("")).envs(program.get_envs().filter_map(|(k, v)| Some((k, v?))));
    Ended::new(limited.output().unwrap())
}

/// The CPU device reserves addresses for all the memory that a machine may have; a process may be allowed fewer.
#[cfg(target_os = "linux")]
#[test]
fn the_cpu_device_opens_where_addresses_are_few() {
    let place = Workplace::new();
    place.file("scene.cu", COUNTER);
    // What the allocator takes in advance is most of the second and the third.
    for kilobytes in [4_000_000, 1_600_000, 1_200_000, 1_000_000] {
        let limit = format!("-v {kilobytes}");
        let ended = limited(&place, &limit, &["render", "scene.cu", "--device", "cpu"]);
        ended.expect_one_line(0, &["`ulimit -v`", "bytes of memory"]);
    }
}

/// The system ends a process that writes beyond this limit, unless it says that it can do without.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_becomes_too_large_is_an_error_of_that_file() {
    let place = Workplace::new();
    let text = scene("", QUICK).replace("count = 64", "count = 1000000");
    place.file("scene.cu", &text);
    let arguments = ["render", "scene.cu", "--device", "cpu", "--npy", "out=out.npy"];
    // In blocks of 512 or of 1024 bytes: less than the array, and more than what the compiler's cache keeps.
    limited(&place, "-f 2000", &arguments).expect_one_line(2, &["cannot write out.npy"]);
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 1, "neither an array nor a draft");
}

#[test]
fn a_mistake_in_a_constant_stands_where_it_is_declared() {
    let place = Workplace::new();
    let constants = "[constant]\nn = 3\n  max = 12\n[[pass]]";
    let text = scene("", QUICK).replace("[[pass]]", constants);
    place.file("scene.cu", &text);
    let ended = place.run(&["check", "scene.cu"]);
    let line = line_of(&text, "max = 12");
    ended.expect(1, &[&format!("scene.cu:{line}:3: error: the constant `max`: ")]);
    assert!(!format!("{ended:?}").contains("<prelude>"), "{ended:#?}");
}
