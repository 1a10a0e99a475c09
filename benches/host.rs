//! What calls cost the host, beside the driver's own launch, in one run: `cargo bench --bench host`. Without a GPU the CPU
//! device shows its own times. What a call allocates is counted, too: on a GPU all of it is this library's, on the CPU
//! device there is the device's.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints and may panic")]

use std::{hint::black_box, time::Instant};

use warpaint::{
    array::{ElementwiseKernel, Expr, GpuArray, ReductionKernel, random::Generator},
    compile::{Cache, Compiler, Request, Target},
    device::{Arguments, Choice, Device, HostFlags, LaunchConfig, Prepared},
    kernel::{Context, Source},
};

/// Calls that are timed, one by one.
const CALLS: usize = 4000;
/// Calls between two waits for the device, which are not timed: a full queue would make the host wait for it.
const QUEUED: usize = 32;
/// Elements of the arrays.
const FEW: usize = 4096;

/// A kernel that does nothing, with one parameter, in PTX that every driver reads.
const EMPTY: &str = ".version 6.0
.target sm_50
.address_size 64
.visible .entry empty(.param .u64 address) { ret; }
";

fn main() {
    let device = Device::open(Choice::Auto).unwrap();
    println!("{}", device.info());
    println!("{:<44}{:>10}{:>12}{:>13}", "", "min, µs", "median, µs", "allocations");
    let context = Context::new(device).unwrap();
    launches(&context);
    arrays(&context);
    compilations();
    transfers(&context);
}

/// Times calls that put work on the stream of `context`.
fn time(context: &Context, name: &str, mut work: impl FnMut()) {
    (0..100).for_each(|_| work());
    let (mut times, mut allocations) = (Vec::with_capacity(CALLS), 0);
    for call in 0..CALLS {
        if call % QUEUED == 0 {
            context.synchronize().unwrap();
        }
        let before = allocations::so_far();
        let start = Instant::now();
        work();
        times.push(start.elapsed().as_secs_f64() * 1e6);
        allocations += allocations::so_far() - before;
    }
    context.synchronize().unwrap();
    let (least, median) = least_and_median(times);
    let allocations = allocations as f64 / CALLS as f64;
    println!("{name:<44}{least:>10.2}{median:>12.2}{allocations:>13.1}");
}

fn show(name: &str, times: Vec<f64>) {
    let (least, median) = least_and_median(times);
    println!("{name:<44}{least:>10.2}{median:>12.2}");
}

fn least_and_median(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[0], times[times.len() / 2])
}

/// Copies of 256 MiB that the host waits for, from and to page-locked memory and, beside it, ordinary memory by arrays.
fn transfers(context: &Context) {
    let (stream, bytes) = (context.stream(), 1 << 28);
    let memory = context.device().alloc(bytes).unwrap();
    let memory = memory.slice(..).unwrap();
    let mut locked = Some(context.device().alloc_host(bytes, HostFlags::default()).unwrap());
    let ordinary = vec![1.0f32; bytes / size_of::<f32>()];
    let mut array = GpuArray::zeros(context, &[ordinary.len()]).unwrap();
    println!("{:<44}{:>10}", "", "GB/s");
    rate("upload, page-locked", bytes, || {
        locked = Some(stream.upload_from(memory, locked.take().unwrap()).unwrap().wait().unwrap());
    });
    rate("download, page-locked", bytes, || {
        locked = Some(stream.download_to(locked.take().unwrap(), memory).unwrap().wait().unwrap());
    });
    rate("array, set from a slice", bytes, || {
        array.set(&ordinary).unwrap();
        context.synchronize().unwrap();
    });
    rate("array, read as a vector", bytes, || drop(black_box(array.to_vec().unwrap())));
    let mut there = ordinary.clone();
    rate("array, read into a slice", bytes, || array.copy_to_slice(&mut there).unwrap());
}

/// The best of some calls that copy so many bytes.
fn rate(name: &str, bytes: usize, mut copy: impl FnMut()) {
    let best = (0..8).map(|_| {
        let start = Instant::now();
        copy();
        start.elapsed().as_secs_f64()
    });
    println!("{name:<44}{:>10.1}", bytes as f64 / 1e9 / best.fold(f64::INFINITY, f64::min));
}

fn launches(context: &Context) {
    let stream = context.stream();
    let block = context.pool().alloc(stream, 256).unwrap();
    if context.device().as_nvidia().is_some() {
        driver::Launch::new().time(block.address());
    }
    let function = context.device().load(EMPTY).unwrap().function("empty").unwrap();
    let config = LaunchConfig::new(1, 32);
    let mut arguments = Arguments::new();
    arguments.push(&block.address());
    let prepared = Prepared::new(&function, &config, arguments.clone()).unwrap();
    time(context, "prepared launch", || {
        // SAFETY: the kernel does nothing.
        #[expect(unsafe_code, reason = "a kernel launch")]
        unsafe {
            stream.launch_prepared(&prepared).unwrap();
        }
    });
    time(context, "launch", || {
        // SAFETY: the kernel does nothing.
        #[expect(unsafe_code, reason = "a kernel launch")]
        unsafe {
            stream.launch(&function, &config, &arguments).unwrap();
        }
    });
    time(context, "wait for an idle stream", || stream.synchronize().unwrap());
    let text = "__global__ void k(float *x) { x[threadIdx.x] += 1.0f; }";
    let source = Source::new(text);
    drop(context.module(&source).unwrap());
    let one = |_| {
        let start = Instant::now();
        black_box(context.module(&source).unwrap());
        start.elapsed().as_secs_f64() * 1e6
    };
    show("module from the memory cache, loaded", (0..50).map(one).collect());
}

fn arrays(context: &Context) {
    let few = GpuArray::<f32>::arange(context, FEW).unwrap();
    let mut out = few.copy().unwrap();
    // SAFETY: only the element `i` of each array is used.
    #[expect(unsafe_code, reason = "a kernel of our own making")]
    let axpy = unsafe {
        ElementwiseKernel::new("float a, const float *x, float *y", "y[i] += a * x[i]").unwrap()
    };
    // SAFETY: the same.
    #[expect(unsafe_code, reason = "a kernel of our own making")]
    let total = unsafe { ReductionKernel::<f32>::new("const float *x", "0", "a + b", "x[i]") };
    let (total, mut philox) = (total.unwrap(), Generator::new(1));
    time(context, "elementwise kernel", || {
        axpy.call(&[2f32.into(), (&few).into(), (&out).into()]).unwrap();
    });
    time(context, "expression into an array", || out.assign(&few * 2.0 + 1.0).unwrap());
    time(context, "expression, new array", || drop((&few * 2.0 + 1.0).eval().unwrap()));
    time(context, "random numbers", || philox.fill_uniform(&mut out).unwrap());
    time(context, "sum, new array", || drop(few.sum().unwrap()));
    let all = Expr::from(&few);
    let mut one = few.sum().unwrap();
    time(context, "sum into an array", || all.reduce().sum().eval_into(&mut one).unwrap());
    time(context, "running sums", || drop(all.cumsum().unwrap()));
    time(context, "sum of 4096, read on the host", || {
        black_box(all.reduce().sum().item().unwrap());
    });
    time(context, "the same by a reduction kernel", || {
        black_box(total.item(&[(&few).into()]).unwrap());
    });
    time(context, "the same through a new array", || {
        black_box(all.sum().unwrap().item().unwrap());
    });
}

/// What an answer of the compiler's cache costs.
fn compilations() {
    let temp = tempfile::tempdir().unwrap();
    let text = "extern \"C\" __global__ void k(float *x) { x[threadIdx.x] += 1.0f; }";
    let request = Request::new("bench.cu", text, Target::CPU);
    let open = || Compiler::new(Cache::open(temp.path()));
    let compiler = open();
    if let Err(error) = compiler.compile(&request) {
        println!("skipped: {error}");
        return;
    }
    let timed = |compiler: &Compiler, calls: u32| {
        let start = Instant::now();
        (0..calls).for_each(|_| drop(black_box(compiler.compile(&request).unwrap())));
        start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
    };
    show(
        "compiled source from the memory cache",
        (0..100).map(|_| timed(&compiler, 100)).collect(),
    );
    let from_disk = |_| {
        let other = open();
        other.nvrtc().unwrap();
        timed(&other, 1)
    };
    show("compiled source from the disk", (0..20).map(from_disk).collect());
}

/// Counts what each thread allocates.
mod allocations {
    #![expect(unsafe_code, reason = "an allocator")]

    use std::{
        alloc::{GlobalAlloc, Layout, System},
        cell::Cell,
    };

    thread_local! {
        static COUNT: Cell<u64> = const { Cell::new(0) };
    }

    /// How often this thread has asked for memory.
    pub fn so_far() -> u64 {
        COUNT.get()
    }

    struct Counting;

    #[global_allocator]
    static COUNTING: Counting = Counting;

    // SAFETY: the system's allocator does it.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            COUNT.set(COUNT.get() + 1);
            // SAFETY: the caller's duties are passed on unchanged.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            // SAFETY: as above.
            unsafe { System.dealloc(memory, layout) }
        }

        unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
            COUNT.set(COUNT.get() + 1);
            // SAFETY: as above.
            unsafe { System.realloc(memory, layout, bytes) }
        }
    }
}

/// The driver's own calls, without anything of this library's.
mod driver {
    #![expect(unsafe_code, reason = "the driver is a C library")]
    #![allow(clippy::multiple_unsafe_ops_per_block, reason = "one driver's calls, one reason")]

    use std::{ffi::CString, ptr, time::Instant};

    use cudarc::driver::sys;

    /// An empty kernel and a stream for it, in the primary context.
    pub struct Launch {
        function: sys::CUfunction,
        stream: sys::CUstream,
    }

    impl Launch {
        pub fn new() -> Self {
            let text = CString::new(super::EMPTY).unwrap();
            let (mut context, mut module) = (ptr::null_mut(), ptr::null_mut());
            let (mut function, mut stream) = (ptr::null_mut(), ptr::null_mut());
            // SAFETY: each handle is written before it is used; the text ends with a NUL.
            unsafe {
                sys::cuDevicePrimaryCtxRetain(&raw mut context, 0).result().unwrap();
                sys::cuCtxSetCurrent(context).result().unwrap();
                sys::cuModuleLoadData(&raw mut module, text.as_ptr().cast()).result().unwrap();
                sys::cuModuleGetFunction(&raw mut function, module, c"empty".as_ptr())
                    .result()
                    .unwrap();
                sys::cuStreamCreate(&raw mut stream, 1).result().unwrap();
            }
            Self { function, stream }
        }

        /// Shows what launches cost with pointers to the arguments, and with the arguments packed.
        pub fn time(&self, mut address: u64) {
            let mut pointers = [(&raw mut address).cast()];
            let mut bytes = size_of::<u64>();
            let number = |value: u32| ptr::without_provenance_mut(value as usize);
            let mut packed = [
                number(sys::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT),
                (&raw mut address).cast(),
                number(sys::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT),
                (&raw mut bytes).cast(),
                number(sys::CU_LAUNCH_PARAM_END_AS_INT),
            ];
            let (pointers, packed) = (pointers.as_mut_ptr(), packed.as_mut_ptr());
            self.time_with("driver's launch, pointers to arguments", pointers, ptr::null_mut());
            self.time_with("driver's launch, packed arguments", ptr::null_mut(), packed);
        }

        fn time_with(
            &self,
            name: &str,
            pointers: *mut *mut std::ffi::c_void,
            packed: *mut *mut std::ffi::c_void,
        ) {
            let mut times = Vec::with_capacity(super::CALLS);
            for call in 0..super::CALLS {
                if call % super::QUEUED == 0 {
                    // SAFETY: the stream is alive.
                    unsafe { sys::cuStreamSynchronize(self.stream).result().unwrap() };
                }
                let start = Instant::now();
                // SAFETY: the handles are alive, the arguments are the kernel's, and it does nothing.
                let status = unsafe {
                    sys::cuLaunchKernel(
                        self.function,
                        1,
                        1,
                        1,
                        32,
                        1,
                        1,
                        0,
                        self.stream,
                        pointers,
                        packed,
                    )
                };
                times.push(start.elapsed().as_secs_f64() * 1e6);
                status.result().unwrap();
            }
            super::show(name, times);
        }
    }
}
