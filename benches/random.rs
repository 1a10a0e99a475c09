//! Random numbers against filling the same memory, in one run: `cargo bench --bench random`.
//!
//! The first NVIDIA device where there is one, else the CPU device. Bandwidth is that of the memory written, and the
//! ratio is to the best `fill` of as many bytes.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints and may panic")]

use warpaint::{
    array::{Data, GpuArray, Result, random::Generator},
    device::{Choice, Device},
    kernel::Context,
};

fn main() {
    let device = Device::open(Choice::Auto).unwrap();
    let is_cpu = device.as_nvidia().is_none();
    let (n, runs) = if is_cpu { (1 << 24, 5) } else { (1 << 28, 20) };
    println!("{}\n{n} numbers, best of {runs} runs", device.info());
    println!("{:<28}{:>10}{:>10}{:>12}", "", "ms", "GB/s", "of fill");
    let bench = Bench { context: Context::new(device).unwrap(), n, runs };

    let mut philox = Generator::new(1);
    bench.run::<f32>("Philox, uniform f32", |out| philox.fill_uniform(out));
    bench.run::<f64>("Philox, uniform f64", |out| philox.fill_uniform(out));
    bench.run::<half::f16>("Philox, uniform f16", |out| philox.fill_uniform(out));
    bench.run::<u32>("Philox, integers u32", |out| philox.fill_integers(out, ..));
    bench.run::<u32>("Philox, integers below 1000", |out| philox.fill_integers(out, 0..1000));
    bench.run::<f32>("Philox, normal f32", |out| philox.fill_normal(out, 0.0, 1.0));
    bench.run::<f64>("Philox, normal f64", |out| philox.fill_normal(out, 0.0, 1.0));
    bench.run::<u32>("Philox, Poisson of 5, u32", |out| philox.fill_poisson(out, 5.0));
    bench.run::<u32>("Philox, Poisson of 50, u32", |out| philox.fill_poisson(out, 50.0));

    // 4 words of each of 65536 lanes at a time; Sobol in as many dimensions as a renderer uses.
    let mut xorwow = Generator::xorwow(1);
    bench.run::<f32>("XORWOW, uniform f32", |out| xorwow.fill_uniform(out));
    bench.run::<f32>("XORWOW, normal f32", |out| xorwow.fill_normal(out, 0.0, 1.0));
    let mut mrg = Generator::mrg32k3a(1);
    bench.run::<f32>("MRG32k3a, uniform f32", |out| mrg.fill_uniform(out));
    for dimensions in [1, 16] {
        let sobol = Generator::sobol32(dimensions).unwrap();
        let name = format!("Sobol in {dimensions}, uniform f32");
        bench.run::<f32>(&name, |out| sobol.clone().fill_uniform(out));
        let name = format!("Sobol in {dimensions}, normal f32");
        bench.run::<f32>(&name, |out| sobol.clone().fill_normal(out, 0.0, 1.0));
    }
}

struct Bench {
    context: Context,
    n: usize,
    runs: usize,
}

impl Bench {
    /// Times `work` on an array, beside `fill` on the same.
    fn run<T: Data + bytemuck::Zeroable>(
        &self,
        name: &str,
        mut work: impl FnMut(&mut GpuArray<T>) -> Result<()>,
    ) {
        let mut out = GpuArray::<T>::zeros(&self.context, &[self.n]).unwrap();
        let fill = self.best(|| out.fill(T::zeroed()).unwrap());
        let ms = self.best(|| work(&mut out).unwrap());
        let speed = (self.n * size_of::<T>()) as f64 / ms / 1e6;
        println!("{name:<28}{ms:>10.3}{speed:>10.1}{:>12.2}", fill / ms);
    }

    /// The least time in milliseconds, by events; the first run, which compiles, does not count.
    fn best(&self, mut work: impl FnMut()) -> f64 {
        let stream = self.context.stream();
        let time = |_| {
            let (start, end) = (self.context.device().event(), self.context.device().event());
            let (start, end) = (start.unwrap(), end.unwrap());
            stream.record(&start).unwrap();
            work();
            stream.record(&end).unwrap();
            end.synchronize().unwrap();
            f64::from(end.elapsed_ms(&start).unwrap())
        };
        (0..=self.runs).map(time).skip(1).fold(f64::INFINITY, f64::min)
    }
}
