//! Nanoseconds of a texture fetch and of a surface access on one core of the CPU device, and on an NVIDIA GPU the rate
//! of all of it: `cargo bench --bench texture`. Needs NVRTC.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints and may panic")]

use std::time::Instant;

use warpaint::{
    compile::{Cache, Compiler, Outcome, Request, Target},
    device::{
        Arguments, Array, ArrayDescriptor, ArrayShape, Choice, Device, Filter, Format, Function,
        LaunchConfig, ReadMode, Stream, TextureDescriptor,
    },
};

/// Threads stand for texels of a picture of 1024 by 1024; each repeats its access 16 times.
const SOURCE: &str = r#"
#define EACH int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y; float4 sum = make_float4(0, 0, 0, 0);
#define TIMES _Pragma("unroll 1") for (int i = 0; i < 16; i++)
#define ADD(v) { float4 v_ = v; sum.x += v_.x; sum.y += v_.y; sum.z += v_.z; sum.w += v_.w; }
#define LEAVE if (sum.x == 1e30f) out[x] = sum;
extern "C" __global__ void nothing(float4 *out, cudaTextureObject_t t) {
    EACH TIMES ADD(make_float4(x + 0.3f * i, y, i, 1.0f)) LEAVE
}
extern "C" __global__ void fetch_2d(float4 *out, cudaTextureObject_t t) {
    EACH TIMES ADD(tex2D<float4>(t, x + 0.3f * i, y + 0.7f)) LEAVE
}
extern "C" __global__ void fetch_2d_float(float4 *out, cudaTextureObject_t t) {
    EACH TIMES ADD(make_float4(tex2D<float>(t, x + 0.3f * i, y + 0.7f), 0, 0, 0)) LEAVE
}
extern "C" __global__ void fetch_2d_normalized(float4 *out, cudaTextureObject_t t) {
    EACH TIMES ADD(tex2D<float4>(t, (x + 0.3f * i) / 1024, (y + 0.7f) / 1024)) LEAVE
}
extern "C" __global__ void store_2d(float4 *out, cudaSurfaceObject_t s) {
    EACH TIMES surf2Dwrite(make_float4(x, y, i, 1.0f), s, x * 16, y);
}
extern "C" __global__ void store_2d_float(float4 *out, cudaSurfaceObject_t s) {
    EACH TIMES surf2Dwrite(x + 0.5f * i, s, x * 16, y);
}
extern "C" __global__ void load_2d(float4 *out, cudaSurfaceObject_t s) {
    EACH TIMES ADD(surf2Dread<float4>(s, x * 16, y ^ i)) LEAVE
}
"#;

const SIDE: u32 = 1024;
const TIMES: f64 = 16.0;
const RUNS: u32 = 4;

/// What this process has used of the processors so far, where the system tells.
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    // User and system time, in ticks of 10 ms.
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

struct Bench {
    stream: Stream,
    out: warpaint::device::Memory,
    is_cpu: bool,
}

impl Bench {
    /// Nanoseconds of one access: of a processor's time on the CPU device, which other work on it does not count
    /// to, else of time.
    #[expect(unsafe_code, reason = "the kernels write to `out` only")]
    fn run(&self, function: &Function, handle: u64) -> f64 {
        let mut arguments = Arguments::new();
        arguments.push(&self.out.address()).push(&handle);
        let config = LaunchConfig::new([SIDE / 128, SIDE], 128);
        let (start, before) = (Instant::now(), processor_seconds());
        for _ in 0..RUNS {
            // SAFETY: `out` lives as long as the bench.
            unsafe { self.stream.launch(function, &config, &arguments) }.unwrap();
        }
        self.stream.synchronize().unwrap();
        let seconds = match (self.is_cpu, before, processor_seconds()) {
            (true, Some(before), Some(after)) => after - before,
            _ => start.elapsed().as_secs_f64(),
        };
        seconds * 1e9 / (f64::from(RUNS) * f64::from(SIDE) * f64::from(SIDE) * TIMES)
    }
}

fn main() {
    bench(&Device::cpu().unwrap());
    match Device::open(Choice::Cuda(0)) {
        Ok(device) => bench(&device),
        Err(error) => println!("skipped: no NVIDIA device: {error}"),
    }
}

fn bench(device: &Device) {
    println!("{}", device.info());
    let compiler = Compiler::new(Cache::disabled());
    let outcome = compiler.compile(&Request::new("texture.cu", SOURCE, Target::CPU)).unwrap();
    let Outcome::Compiled(compiled) = outcome else { panic!("{outcome:?}") };
    let module = device.load(&compiled.ptx).unwrap();
    let bench = Bench {
        stream: device.stream().unwrap(),
        out: device.alloc(16 * SIDE as usize).unwrap(),
        is_cpu: device.as_nvidia().is_none(),
    };
    let array = |format, texel: &[u8]| {
        let shape = ArrayShape::D2 { width: SIDE as usize, height: SIDE as usize };
        let descriptor = ArrayDescriptor::new(shape, format).with_surface();
        let array: Array = device.array(&descriptor).unwrap();
        bench
            .stream
            .upload(array.region(), &texel.repeat(descriptor.bytes() / texel.len()))
            .unwrap();
        array
    };
    let (colour, single, bytes) = (
        array(Format::RGBA32F, &1.5f32.to_le_bytes()),
        array(Format::R32F, &1.5f32.to_le_bytes()),
        array(Format::RGBA8, &[100]),
    );
    let half = array(Format::RGBA16F, &[0, 0x3e]);
    let point = TextureDescriptor::default();
    let linear = TextureDescriptor { filter: Filter::Linear, ..point };
    let wrap = TextureDescriptor {
        address: [warpaint::device::AddressMode::Wrap; 3],
        normalized: true,
        ..linear
    };
    let fractions = TextureDescriptor { read: ReadMode::NormalizedFloat, ..linear };
    let kernel = |name| module.function(name).unwrap();
    let nothing = bench.run(&kernel("nothing"), 0);
    println!("{:<34} {:>8.2} ns", "the loop alone", nothing);
    let show = |name: &str, ns: f64| println!("{name:<34} {:>8.2} ns", ns - nothing);
    let fetch = |name, kernel_name, array: &Array, descriptor: &TextureDescriptor| {
        let texture = device.texture(array, descriptor).unwrap();
        show(name, bench.run(&kernel(kernel_name), texture.handle()));
    };
    fetch("tex2D float4 linear", "fetch_2d", &colour, &linear);
    fetch("tex2D float4 point", "fetch_2d", &colour, &point);
    fetch("tex2D float4 linear wrap", "fetch_2d_normalized", &colour, &wrap);
    fetch("tex2D float linear", "fetch_2d_float", &single, &linear);
    fetch("tex2D uchar4 fractions linear", "fetch_2d", &bytes, &fractions);
    fetch("tex2D half4 linear", "fetch_2d", &half, &linear);
    let surface = device.surface(&colour).unwrap();
    show("surf2Dwrite float4", bench.run(&kernel("store_2d"), surface.handle()));
    show("surf2Dwrite float", bench.run(&kernel("store_2d_float"), surface.handle()));
    show("surf2Dread float4", bench.run(&kernel("load_2d"), surface.handle()));
}
