//! Time an element of the algorithms over arrays, and what part of the bandwidth of a copy they reach, measured in the
//! same run: `cargo bench --bench algorithms`. Needs NVRTC.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints and may panic")]

use std::time::Instant;

use warpaint::{
    array::{Expr, GpuArray, Order},
    device::{Choice, Device},
    kernel::Context,
};

const RUNS: u32 = 5;

struct Bench {
    context: Context,
    elements: usize,
    /// Bytes a second of a copy on the device, reads and writes.
    copy: f64,
}

impl Bench {
    /// Seconds of the fastest run.
    fn seconds(&self, run: impl Fn()) -> f64 {
        let once = || {
            let start = Instant::now();
            run();
            self.context.synchronize().unwrap();
            start.elapsed().as_secs_f64()
        };
        once();
        (0..RUNS).map(|_| once()).fold(f64::INFINITY, f64::min)
    }

    /// Prints what `run` took; `bytes` of memory an element have to be read or written at least.
    fn show(&self, name: &str, bytes: usize, run: impl Fn()) {
        let seconds = self.seconds(run);
        let rate = (self.elements * bytes) as f64 / seconds;
        println!(
            "{name:<28} {:>9.4} ns/element {:>8.1} GB/s {:>6.3} of the copy",
            seconds * 1e9 / self.elements as f64,
            rate / 1e9,
            rate / self.copy,
        );
    }
}

fn main() {
    bench(&Context::new(Device::cpu().unwrap()).unwrap(), 1 << 24);
    match Context::open(Choice::Cuda(0)) {
        Ok(context) => bench(&context, 1 << 28),
        Err(error) => println!("skipped: no NVIDIA device: {error}"),
    }
}

fn bench(context: &Context, elements: usize) {
    println!("{}, {elements} elements", context.device().info());
    let mut bench = Bench { context: context.clone(), elements, copy: f64::INFINITY };
    // Bits without order, and numbers between 0 and 1 made of them.
    let counted = GpuArray::<u32>::arange(context, elements).unwrap();
    let bits = ((&counted * 2_654_435_761_u32) ^ 0x5bd1_e995).eval().unwrap();
    let numbers = (bits.cast::<f32>() * 2f32.powi(-32)).eval().unwrap();
    drop(counted);

    let alloc = || context.pool().alloc(context.stream(), elements * 4).unwrap();
    let (from, to) = (alloc(), alloc());
    let copy = || context.stream().copy(to.slice(..).unwrap(), from.slice(..).unwrap()).unwrap();
    let seconds = bench.seconds(copy);
    bench.copy = (elements * 8) as f64 / seconds;
    println!(
        "{:<28} {:>9.4} ns/element {:>8.1} GB/s",
        "copy",
        seconds * 1e9 / elements as f64,
        bench.copy / 1e9
    );

    let expr = Expr::from(&numbers);
    bench.show("sum f32", 4, || drop(expr.sum().unwrap()));
    bench.show("cumsum f32", 8, || drop(expr.cumsum().unwrap()));
    bench.show("cumsum of an expression", 8, || drop((&numbers * 2.0 + 1.0).cumsum().unwrap()));
    bench.show("cumsum u32", 8, || drop(bits.cumsum().unwrap()));
    bench.show("cummax f32", 8, || drop(expr.cummax().unwrap()));
    let rows = numbers.reshape(&[elements / 1024, 1024]).unwrap();
    bench.show("cumsum f32 rows of 1024", 8, || drop(rows.cumsum_along(1).unwrap()));
    bench.show("cumsum f32 columns of 1024", 8, || drop(rows.transpose().cumsum_along(0).unwrap()));
    let columns = numbers.reshape(&[1024, elements / 1024]).unwrap();
    bench.show("cumsum f32 along axis 0", 8, || drop(columns.cumsum_along(0).unwrap()));
    drop((rows, columns));
    for few in [64, 4] {
        let columns = numbers.reshape(&[elements / few, few]).unwrap();
        let name = format!("cumsum f32 down {few} columns");
        bench.show(&name, 8, || drop(columns.cumsum_along(0).unwrap()));
    }

    let mask = numbers.gt(0.5);
    bench.show("compress half of f32", 4 + 2, || drop(numbers.compress(&mask).unwrap()));
    bench.show("flatnonzero, half", 4 + 4, || drop(mask.flatnonzero().unwrap()));
    bench.show("partition f32", 4 + 4, || drop(numbers.partition(&mask).unwrap()));
    // A key is read once to be counted, and read and written once for each of its bytes.
    bench.show("sort u32", 4 + 4 * 8, || drop(bits.sort(Order::Ascending).unwrap()));
    bench.show("sort f32", 4 + 4 * 8, || drop(numbers.sort(Order::Ascending).unwrap()));
    let wide = bits.cast::<u64>();
    bench.show("sort u64", 8 + 8 * 16, || drop(wide.sort(Order::Ascending).unwrap()));
    let pairs = || drop(bits.sort_by_key(&numbers, Order::Ascending).unwrap());
    bench.show("sort u32 with f32", 4 + 4 * 16, pairs);
    bench.show("argsort u32", 4 + 4 * 16, || drop(bits.argsort(Order::Ascending).unwrap()));
    bench.show("unique of u32", 4 + 4 * 8 + 8, || drop(bits.unique().unwrap()));
}
