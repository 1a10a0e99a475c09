//! Several sources, or pieces of PTX, that become one module: the same on an NVIDIA GPU and on the CPU device, there
//! compiled, interpreted and checked.

use warpaint::{
    device::{
        Device, Error, LaunchConfig, LinkInput, Stream,
        cpu::{Check, LaunchOptions},
    },
    kernel::{self, Context, Source, SourceModule},
};

use crate::support::{contexts, launch_with};

/// What both sources of the test below have: a function with shared memory, of which one is left.
const SHARED: &str = "
    typedef int (*Function)(int);
    template<class T> __device__ __noinline__ T turned(T x) {
        __shared__ T all[64];
        __syncthreads();
        all[threadIdx.x] = x;
        __syncthreads();
        return all[63 - threadIdx.x];
    }
    struct Shape { __device__ virtual int area(int x) const; };
    extern __shared__ int dynamic[];
";
const FIELD: &str = "
    __device__ int counter = 5;
    __constant__ int table[4] = {10, 20, 30, 40};
    static __device__ int own[2] = {1000, 2000};
    static __device__ __noinline__ int step(int x) { return 3 * x + own[x & 1]; }
    __device__ Function chosen = step;
    __device__ int Shape::area(int x) const { return x * x; }
    __device__ int field(int x, int k) {
        return step(x) + table[k & 3] + counter + dynamic[k] + turned(x);
    }
";
const RUN: &str = "
    extern __device__ int counter;
    extern __constant__ int table[];
    extern __device__ Function chosen;
    __device__ int field(int x, int k);
    static __device__ int own[3] = {1, 2, 3};
    static __device__ __noinline__ int step(int x) { return x + own[x % 3]; }
    struct Square : Shape { int side; };
    __global__ void run(int *x) {
        int k = threadIdx.x;
        dynamic[k] = 7 * k;
        Square square;
        const Shape *shape = &square;
        x[k] = field(step(x[k]), k) - table[1] * counter + chosen(x[k]) + turned(x[k]) + shape->area(k);
    }
";

/// What `run` gives, where `counter` is so much.
fn expected(x: &[i32; 64], counter: i32) -> Vec<i32> {
    let (table, own) = ([10, 20, 30, 40], [[1000, 2000, 0], [1, 2, 3]]);
    let step = |x: i32| x + own[1][x as usize % 3];
    let field_step = |x: i32| 3 * x + own[0][x as usize & 1];
    let of = |k: usize| {
        let (x, turned) = (x[k], x[63 - k]);
        let field = field_step(step(x)) + table[k & 3] + counter + 7 * k as i32 + step(turned);
        field - table[1] * counter + field_step(x) + turned + (k * k) as i32
    };
    (0..64).map(of).collect()
}

/// Launches `run` with 64 threads.
fn run(
    context: &Context,
    module: &SourceModule,
    x: &[i32],
    options: &LaunchOptions,
) -> Result<Vec<i32>, Error> {
    let (stream, kernel) = (context.stream(), module.kernel("run").unwrap());
    let memory = context.device().alloc(4 * x.len())?;
    let all = memory.slice(..)?;
    stream.upload(all, bytemuck::cast_slice(x))?;
    let arguments = kernel.arguments(&[all.into()]).unwrap();
    let config = LaunchConfig { shared_bytes: 256, ..LaunchConfig::new(1, 64) };
    launch_with(stream, kernel.function(), &config, &arguments, options)?;
    Ok(bytemuck::pod_collect_to_vec(&stream.download(all)?.wait()?))
}

fn read(stream: &Stream, module: &SourceModule, name: &str) -> Vec<i32> {
    let bytes = stream.download(module.global(name).unwrap()).unwrap().wait().unwrap();
    bytemuck::pod_collect_to_vec(&bytes)
}

#[test]
fn sources_use_each_others_functions_and_variables() {
    let source = |name: &str, text: &str| Source::new(format!("{SHARED}{text}")).named(name);
    let sources = [source("field.cu", FIELD), source("run.cu", RUN)];
    let x = std::array::from_fn(|k| (k * k % 50) as i32);
    let ways = [
        LaunchOptions::default(),
        LaunchOptions::interpreted(),
        LaunchOptions::checked(&Check::default()),
    ];
    for context in contexts() {
        let mut order = sources.to_vec();
        for _ in 0..2 {
            let module = context.link(&order, &[]).unwrap();
            let stream = context.stream();
            assert_eq!(read(stream, &module, "table"), [10, 20, 30, 40]);
            for (counter, options) in [5, -8, 0].into_iter().zip(&ways) {
                let memory = module.global("counter").unwrap();
                stream.upload(memory, &i32::to_ne_bytes(counter)).unwrap();
                let found = run(&context, &module, &x, options).unwrap();
                assert_eq!(found, expected(&x, counter), "{}", context.device().info());
            }
            order.reverse();
        }
        let short = module_error(context.link(&sources[1..], &[]));
        assert!(["field", "counter"].iter().any(|name| short.contains(name)), "{short}");
    }
}

/// What the linker said.
fn module_error(result: kernel::Result<SourceModule>) -> String {
    match result {
        Err(kernel::Error::Device(Error::Load { log, .. })) => log,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_does_not_go_together_is_said_with_the_sources_names() {
    let twice = |x: &str| Source::new(format!("__device__ int twice(int x) {{ return {x}; }}"));
    let (one, other) = (twice("2 * x").named("one.cu"), twice("x + x").named("other.cu"));
    let user = "\n__device__ int twice(int x);\n\n__global__ void run(int *x) { *x = twice(*x); }";
    let user = Source::new(user).named("user.cu");
    let variable = |name: &str, text: &str| Source::new(text).named(name);
    let large = variable("large.cu", "__device__ int field[8];");
    let small = variable(
        "small.cu",
        "extern __device__ int field[4];
        __global__ void run(int *x) { *x = field[1]; }",
    );
    for context in contexts() {
        let link = |sources: &[&Source]| {
            let sources: Vec<_> = sources.iter().map(|source| (*source).clone()).collect();
            context.link(&sources, &[])
        };
        let module = link(&[&user, &other]).unwrap();
        assert!(module.ptx().contains("_Z5twicei") && module.kernel("run").is_ok());
        let cases: [(&[&Source], &[&str]); 3] = [
            (&[&one, &user, &other], &["twice", "one.cu", "other.cu"]),
            (&[&user], &["twice", "user.cu"]),
            (&[&large, &small], &["field", "large.cu", "small.cu"]),
        ];
        for (sources, words) in cases {
            // Which pieces the driver's linker names is its own.
            let words = if context.device().as_nvidia().is_some() { &words[..1] } else { words };
            let error = module_error(link(sources));
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
        if context.device().as_nvidia().is_none() {
            let error = module_error(link(&[&user]));
            assert!(error.starts_with("user.cu:4:"), "the line of its use: {error}");
        }
        let compiles = context.link(&[user.clone(), Source::new("nonsense")], &[]);
        assert!(matches!(compiles, Err(kernel::Error::Rejected { .. })), "{compiles:?}");
    }
}

#[test]
fn code_that_is_there_is_linked_with_sources() {
    let twice = "__device__ int twice(int x) { return 2 * x; }";
    let user = "__device__ int twice(int x); __global__ void run(int *x) { x[threadIdx.x] = twice(threadIdx.x); }";
    for context in contexts() {
        let relocatable = Source::new(twice).option("--relocatable-device-code=true");
        let ptx = context.module(&relocatable).unwrap();
        let inputs = [LinkInput::ptx("twice", ptx.ptx())];
        let module = context.link(&[Source::new(user)], &inputs).unwrap();
        let found = run(&context, &module, &[0; 64], &LaunchOptions::default()).unwrap();
        assert_eq!(found, (0..128).step_by(2).collect::<Vec<_>>());
    }
}

#[test]
fn faults_name_the_source_that_they_are_in() {
    let device = Device::cpu().unwrap();
    let context = Context::new(device).unwrap();
    let store = "\n\n__device__ void store(int *x, int v) {\n    x[1 << 20] = v;\n}";
    let user =
        "__device__ void store(int *x, int v);\n__global__ void run(int *x) { store(x, 1); }";
    let sources = [Source::new(user).named("run.cu"), Source::new(store).named("store.cu")];
    let module = context.link(&sources, &[]).unwrap();
    for options in [LaunchOptions::default(), LaunchOptions::interpreted()] {
        let Err(Error::Fault(fault)) = run(&context, &module, &[0; 64], &options) else { panic!() };
        let place = fault.location.unwrap();
        assert!(place.file.ends_with("store.cu") && place.line == 4, "{place}");
        assert_eq!(fault.kernel, module.kernel("run").unwrap().function().name());
    }
    // What is not supported is shown as it stands in its own text.
    let wgmma = "\n\n\n\n__device__ void store(int *x, int v) { asm volatile(\"wgmma.fence.sync.aligned;\"); }";
    let sources = [sources[0].clone(), Source::new(wgmma).named("wgmma.cu")];
    match context.link(&sources, &[]) {
        Err(kernel::Error::Device(Error::UnsupportedPtx { instruction, location })) => {
            assert!(instruction.contains("wgmma.fence"), "{instruction}");
            assert_eq!(location.unwrap().line, 5);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_wrong_in_a_piece_is_placed_there() {
    let device = Device::cpu().unwrap();
    let head = ".version 8.0\n.target sm_80\n.address_size 64\n";
    let entry = |body: &str| format!("{head}.visible .entry k()\n{{\n{body}\nret;\n}}\n");
    let fine = format!("{head}.visible .global .u32 x;\n");
    for wrong in ["mov.u32 %r1, 0;", ".reg .b32 %r<2>; mov.u64 %r1, 0;"] {
        let wrong = entry(wrong);
        let inputs = [LinkInput::ptx("fine", &fine), LinkInput::ptx("wrong", &wrong)];
        match device.link(&inputs) {
            Err(Error::Load { log, .. }) => assert!(log.starts_with("wrong:6"), "{log}"),
            other => panic!("{other:?}"),
        }
    }
    match device.load(&format!("{head}.extern .global .u32 x;\n.visible .global .u64 p = x;\n")) {
        Err(Error::Load { log, .. }) => assert!(log.contains("nothing defines it"), "{log}"),
        other => panic!("{other:?}"),
    }
}
