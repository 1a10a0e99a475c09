//! Sources that NVRTC does not survive, or for which it takes any amount of time and memory.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use warpaint::{
    compile::{Cache, Cancel, Compiler, Error, Limits, Outcome, Request, Target},
    device::Device,
    kernel::{self, Context, Source},
};

use super::{compiled, compiler, rejected, request};

/// Enough for NVRTC, and reached by a bomb in a second.
const SMALL: Limits = Limits { time: Duration::from_secs(60), memory_bytes: 128 << 20 };

/// 2 to the 22nd types.
pub const TYPES: &str = "
template <int D, int N> struct T { static constexpr long v = T<D - 1, 2 * N>::v + T<D - 1, 2 * N + 1>::v; };
template <int N> struct T<0, N> { static constexpr long v = N; };
__device__ long sum = T<22, 1>::v;
__global__ void k(unsigned *out) { out[threadIdx.x] = threadIdx.x; }
";

/// A line of 10 to the 8th terms.
pub const MACROS: &str = "
#define A B B B B B B B B B B
#define B C C C C C C C C C C
#define C D D D D D D D D D D
#define D E E E E E E E E E E
#define E F F F F F F F F F F
#define F G G G G G G G G G G
#define G H H H H H H H H H H
#define H 1 +
__device__ int x = A 1;
__global__ void k(unsigned *out) { out[threadIdx.x] = x; }
";

/// A table of 256 MiB.
pub const TABLE: &str = "
__device__ unsigned char x[1 << 28] = { 1 };
__global__ void k(unsigned *out) { out[threadIdx.x] = x[threadIdx.x]; }
";

#[test]
fn bombs_end_at_the_limit_of_memory() {
    let Some(compiler) = compiler() else { return };
    let compiler = compiler.with_limits(SMALL);
    for bomb in [TYPES, MACROS, TABLE] {
        let found = rejected(&compiler, &request(bomb));
        let [only] = &found[..] else { panic!("{found:#?}") };
        assert!(only.contains("more than the 128 MiB of memory"), "{only}");
        assert!(only.contains("WARPAINT_COMPILE_MIB"), "{only}");
    }
    compiled(&compiler, &request("__global__ void k() {}"));
}

#[test]
fn bombs_end_at_the_limit_of_time() {
    let Some(compiler) = compiler() else { return };
    let time = Duration::from_millis(500);
    let compiler = compiler.with_limits(Limits { time, ..Limits::default() });
    let start = Instant::now();
    let found = rejected(&compiler, &request(TYPES));
    let [only] = &found[..] else { panic!("{found:#?}") };
    assert!(
        only.contains("stopped after 500ms") && only.contains("WARPAINT_COMPILE_SECONDS"),
        "{only}"
    );
    // Generous, for a machine that has much else to do: without a limit it takes minutes.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let patient = compiler.with_limits(Limits::default());
    compiled(&patient, &request("__global__ void k() {}"));
}

/// NVRTC 13.5 ends its process for these where it looks up the kernel.
#[test]
fn what_crashes_nvrtc_is_told_by_its_real_mistake() {
    let Some(compiler) = compiler() else { return };
    for (parameters, unknown) in [("flaot *a", "flaot"), ("half *a, half *b", "half")] {
        let text = format!("template <int A> __global__ void k({parameters}) {{ a[0] = A; }}");
        let mut wrong = request(&text);
        wrong.name_expressions = vec!["k<16>".into()];
        let found = rejected(&compiler, &wrong);
        let expected =
            format!("kernels/test.cu:1:36: error: identifier \"{unknown}\" is undefined");
        assert!(found.contains(&expected), "{found:#?}");
    }
    compiled(&compiler, &request("__global__ void k() {}"));
}

#[test]
fn a_library_survives_them_too() {
    if compiler().is_none() {
        return;
    }
    let compiler = Compiler::new(Cache::disabled()).with_limits(SMALL);
    let context = Context::with_compiler(Device::cpu().unwrap(), compiler).unwrap();
    let module = |source: &Source| match context.module(source) {
        Err(kernel::Error::Rejected { diagnostics, .. }) => format!("{diagnostics:?}"),
        other => panic!("{other:?}"),
    };
    let misspelt = "template <int A> __global__ void k(flaot *a) { a[0] = A; }";
    let told = module(&Source::new(misspelt).instance("k<16>"));
    assert!(told.contains("flaot"), "{told}");
    let told = module(&Source::new(TYPES));
    assert!(told.contains("more than the 128 MiB of memory"), "{told}");
    let good = Source::new("extern \"C\" __global__ void k(int *x) { *x = 1; }");
    context.module(&good).unwrap().kernel("k").unwrap();
}

#[test]
fn a_compilation_is_cancelled_from_another_thread() {
    let Some(compiler) = compiler() else { return };
    // As the handler of a signal has it.
    let flag = Arc::new(AtomicBool::new(false));
    let compiler = compiler.cancelled_by(&Cancel::from(Arc::clone(&flag)));
    compiler.warm();
    thread::scope(|scope| {
        let bomb = scope.spawn(|| compiler.compile(&request(TYPES)));
        thread::sleep(Duration::from_millis(200));
        let start = Instant::now();
        flag.store(true, Ordering::Relaxed);
        assert!(matches!(bomb.join().unwrap(), Err(Error::Cancelled)));
        // What is asked for is a second, which a busy machine may miss; the bomb itself takes minutes.
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    });
    assert!(matches!(compiler.compile(&request("int x;")), Err(Error::Cancelled)));
}

#[test]
fn a_time_that_has_come_cancels() {
    let Some(compiler) = compiler() else { return };
    let cancel = Cancel::default();
    let compiler = compiler.cancelled_by(&cancel);
    cancel.cancel_at(Instant::now() + Duration::from_secs(3600));
    compiled(&compiler, &request("__global__ void k() {}"));
    cancel.cancel_at(Instant::now() + Duration::from_millis(300));
    assert!(matches!(compiler.compile(&request(TYPES)), Err(Error::Cancelled)));
}

/// Neither a pipe nor a device is opened, whoever names it and by whatever way.
#[test]
fn pipes_and_devices_are_no_includes() {
    let Some(compiler) = compiler() else { return };
    let folder = tempfile::tempdir().unwrap();
    let [pipe, link] = ["pipe.h", "zero.h"].map(|name| folder.path().join(name));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
    fs::write(folder.path().join("leads.h"), "// here\n#include \"pipe.h\"\n").unwrap();
    for (name, line) in [("pipe.h", 2), ("zero.h", 2), ("/dev/zero", 2), ("/dev/stdin", 2)] {
        let text = format!("\n#include \"{name}\"\n__global__ void k() {{}}");
        let mut request = Request::new("a.cu", text, Target::CPU);
        request.include_dirs = vec![folder.path().to_owned()];
        let found = rejected(&compiler, &request);
        let expected =
            format!("a.cu:{line}: error: `{name}` cannot be included: it is a pipe or a device");
        // Where standard input is a file, it is one.
        if name != "/dev/stdin" {
            assert!(found[0].starts_with(&expected), "{found:?}");
        }
    }
    let mut request = request("#include <leads.h>\n");
    request.include_dirs = vec![folder.path().to_owned()];
    let found = rejected(&compiler, &request);
    assert!(found[0].contains("leads.h:2: error: `pipe.h` cannot be included"), "{found:?}");
    // By a macro it comes to the compiler, which is stopped if it opens it.
    request.source = "#define NAME \"pipe.h\"\n#include NAME\n__global__ void k() {}".into();
    let compiler = compiler.with_limits(Limits { time: Duration::from_secs(3), ..SMALL });
    assert!(matches!(compiler.compile(&request).unwrap(), Outcome::Rejected { .. }));
}
