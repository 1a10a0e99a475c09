//! What is said of kernels that do something wrong, of sources, and of calls of the driver.

use warpaint::{
    compile::{Cache, Compiler, Outcome, Request, Target},
    device::{
        Arguments, Call, Device, Error, LaunchConfig, StreamOptions,
        cpu::{self, Check, Finding, LaunchOptions},
    },
    kernel::{Context, Source},
};

use super::{context, expect, expect_part, told};

/// What is said of a launch of `kernel` with `threads` that writes and reads `bytes` of zeros.
#[expect(unsafe_code, reason = "the CPU device checks every access")]
fn launched(
    context: &Context,
    source: &Source,
    kernel: &str,
    threads: u32,
    bytes: usize,
) -> String {
    let kernel = context.module(source).unwrap().kernel(kernel).unwrap();
    let (stream, memory) = (context.stream(), context.device().alloc(bytes).unwrap());
    let memory = memory.slice(..).unwrap();
    stream.upload(memory, &vec![0; bytes]).unwrap();
    // SAFETY: the CPU device checks every access.
    unsafe { kernel.launch(stream, &LaunchConfig::new(1, threads), &[memory.into()]).unwrap() };
    match context.synchronize() {
        Ok(()) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn of_faults() {
    let context = context();
    let wild =
        Source::new("__global__ void wild(int *x) {\n    x[1 << 20] = 1;\n}").named("wild.cu");
    let late =
        Source::new("__global__ void f(int *x) {\n    x[threadIdx.x] = 1;\n}").named("late.cu");
    let store = "__device__ void store(int *x, int i) { x[i] = i; }
__global__ void f(int *x) { store(x, threadIdx.x); }";
    let store = Source::new(store).named("store.cu");
    let late = launched(&context, &late, "f", 4, 12);
    expect_part([
        (
            launched(&context, &wild, "wild", 1, 4),
            "wild.cu:2:5: fault: kernel `wild`: write outside every allocation",
        ),
        (late.clone(), "fault: kernel `f`: write outside every allocation"),
        (late, "byte 12 of an allocation of 12 bytes"),
        (launched(&context, &store, "f", 2, 4), "\n  in `store`, called at store.cu:2"),
    ]);
}

fn findings(check: &Check) -> Vec<Finding> {
    check.report().findings
}

#[test]
fn of_findings() {
    let (device, check) = (cpu::Device::new().unwrap(), Check::all());
    device.set_launch_options(LaunchOptions::checked(&check));
    let context = Context::new(Device::Cpu(device)).unwrap();
    let total = "__global__ void total(int *sum) {\n    *sum += threadIdx.x; // not atomic\n}";
    let total = Source::new(total).named("total.cu");
    assert_eq!(launched(&context, &total, "total", 2, 4), "");
    let text = findings(&check)[0].to_string();
    assert!(text.starts_with("kernel `total`: race (4 bytes at global address "), "{text}");
    assert!(text.ends_with(": write by block (0, 0, 0), thread (0, 0, 0)"), "{text}");

    let ptx = ".version 7.0 .target sm_75 .address_size 64
        .visible .entry count(.param .u64 x) {
            .reg .b64 %x;
            .reg .b32 %v;
            ld.param.u64 %x, [x];
            ld.global.u32 %v, [%x];
            add.u32 %v, %v, 1;
            st.global.u32 [%x], %v;
            ret;
        }";
    let (device, check) = (cpu::Device::new().unwrap(), Check::all());
    let (x, mut arguments) = (device.alloc(4).unwrap(), Arguments::new());
    arguments.push(&x.address());
    let count = device.load(ptx).unwrap().function("count").unwrap();
    let stream = device.stream(StreamOptions::default()).unwrap();
    let (one, options) = (LaunchConfig::new(1, 1), LaunchOptions::checked(&check));
    stream.launch_with(&count, &one, &arguments, &options).unwrap();
    stream.synchronize().unwrap();
    expect_part([(findings(&check)[0].to_string(), ", once\n  PTX line 6: read by")]);
}

#[test]
fn of_mistakes_in_sources() {
    let compiler = Compiler::new(Cache::memory());
    let rejected = |request: &Request| match compiler.compile(request).unwrap() {
        Outcome::Rejected { diagnostics, .. } => diagnostics[0].to_string(),
        Outcome::Compiled(compiled) => panic!("{}", compiled.ptx),
    };
    let undefined = Request::new("k.cu", "__global__ void k() {\n    int x = y;\n}", Target::CPU);
    expect([(rejected(&undefined), "k.cu:2:13: error: identifier \"y\" is undefined")]);

    let mut unknown = Request::new("k.cu", "__global__ void k() {}", Target::CPU);
    unknown.options.push("--fastest".into());
    let unused = Source::new("__global__ void k() {\n    int unused;\n}").named("k.cu");
    let module = context().module(&unused).unwrap();
    let ptx =
        ".version 8.0\n.target sm_90a\n.visible .entry k() {\nwgmma.fence.sync.aligned;\nret;\n}";
    expect_part([
        (rejected(&unknown), "--fastest"),
        (
            module.warnings()[0].to_string(),
            "k.cu:2:9: warning: variable \"unused\" was declared but never",
        ),
        (cpu::unsupported_instructions(ptx)[0].to_string(), "wgmma"),
    ]);
}

#[test]
fn of_calls_of_the_driver() {
    let call = Call {
        call: "cuLaunchKernel",
        code: 1,
        name: "CUDA_ERROR_INVALID_VALUE".to_owned(),
        text: "invalid argument".to_owned(),
        device: "NVIDIA H200 (cuda:0)".to_owned(),
        launch: Some(("_ZN5field7advanceEPf".to_owned(), LaunchConfig::new(8, 256))),
    };
    let failed: Result<(), Error> = Err(Box::new(call).into());
    expect([(
        told(failed),
        "cuLaunchKernel failed on NVIDIA H200 (cuda:0): CUDA_ERROR_INVALID_VALUE (1), invalid argument; \
         kernel `field::advance`, grid 8x1x1, block 256x1x1, 0 bytes of shared memory",
    )]);
}

#[test]
#[cfg(feature = "gl")]
fn of_paths_to_opengl() {
    use warpaint::interop::Path;

    expect([
        (Path::Registered.to_string(), "registered with CUDA"),
        (Path::Copied("to compare".to_owned()).to_string(), "copied through the host: to compare"),
        (Path::None.to_string(), "not drawn"),
    ]);
}
