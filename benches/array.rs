//! Arrays on an NVIDIA GPU against CUB and against copies, in one run: `cargo bench --bench array`. CUB's part is
//! `peers/cub.cu`, built with the `nvcc` that is found in `CUDA_PATH`, in `/usr/local/cuda` or on the path. Without a
//! GPU the CPU device shows its own times.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints and may panic")]

use std::{collections::HashMap, path::PathBuf, process::Command, time::Instant};

use warpaint::{
    array::{Expr, GpuArray, Order, random::Generator},
    device::{Choice, Device, Fill},
    kernel::Context,
};

/// Calls one behind the other, of which the time is shared out.
const CALLS: u32 = 10;
const ROUNDS: u32 = 6;

struct Bench {
    context: Context,
    /// Milliseconds of the peers.
    peers: HashMap<String, f64>,
}

fn main() {
    let device = Device::open(Choice::Auto).unwrap();
    let elements = if device.as_nvidia().is_some() { 1 << 28 } else { 1 << 22 };
    println!("{}, {elements} elements", device.info());
    let peers = if device.as_nvidia().is_some() { peers(elements) } else { HashMap::new() };
    let bench = Bench { context: Context::new(device).unwrap(), peers };
    bench.bandwidth(elements);
}

/// Builds and runs CUB's part.
fn peers(elements: usize) -> HashMap<String, f64> {
    let root = std::env::var_os("WARPAINT_ROOT").map(PathBuf::from);
    let root = root.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("cub");
    let toolkit = std::env::var_os("CUDA_PATH").unwrap_or_else(|| "/usr/local/cuda".into());
    let own = PathBuf::from(toolkit).join("bin/nvcc");
    let nvcc = if own.exists() { own } else { "nvcc".into() };
    let mut build = Command::new(nvcc);
    build.args(["-O3", "-std=c++17", "-arch=native", "-o"]).arg(&program);
    if !build.arg(root.join("benches/peers/cub.cu")).status().is_ok_and(|status| status.success()) {
        println!("skipped: no nvcc to build CUB's part with");
        return HashMap::new();
    }
    let output = Command::new(program).arg(elements.to_string()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |line: &str| {
        let (name, ms) = line.split_once(' ')?;
        Some((name.to_owned(), ms.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

impl Bench {
    /// Milliseconds of one of several calls.
    fn ms(&self, mut work: impl FnMut()) -> f64 {
        work();
        self.context.synchronize().unwrap();
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            (0..CALLS).for_each(|_| work());
            self.context.synchronize().unwrap();
            best = best.min(start.elapsed().as_secs_f64() * 1e3 / f64::from(CALLS));
        }
        best
    }

    /// A line with the peer's time and the ratio, where there is a peer.
    fn show(&self, name: &str, peer: Option<f64>, work: impl FnMut()) -> f64 {
        let ms = self.ms(work);
        match peer {
            Some(peer) => println!("{name:<28}{ms:>10.4}{peer:>10.4}{:>8.3}", peer / ms),
            None => println!("{name:<28}{ms:>10.4}"),
        }
        ms
    }

    fn bandwidth(&self, n: usize) {
        println!("{:<28}{:>10}{:>10}{:>8}", "", "ms", "peer, ms", "ratio");
        let (context, stream) = (&self.context, self.context.stream());
        let peer = |name: &str| self.peers.get(name).copied();
        let counted = GpuArray::<u32>::arange(context, n).unwrap();
        let keys = ((&counted * 2_654_435_761_u32) ^ 0x5bd1_e995).eval().unwrap();
        let x = (keys.cast::<f32>() * 2f32.powi(-32)).eval().unwrap();
        let (mut y, mut z) = (x.copy().unwrap(), counted.cast::<f32>().eval().unwrap());
        drop(counted);
        let block = |bytes: usize| context.pool().alloc(stream, bytes).unwrap();
        let (from, to) = (block(n * 4), block(n * 4));
        let copy = self.show("copy (peer: the runtime's)", peer("copy"), || {
            stream.copy(to.slice(..).unwrap(), from.slice(..).unwrap()).unwrap();
        });
        let fill = self.show("fill (peer: memset)", peer("memset"), || {
            stream.fill(to.slice(..).unwrap(), Fill::U32(0)).unwrap();
        });
        drop((from, to));
        let all = Expr::from(&x);
        self.show("sum", peer("sum"), || drop(all.sum().unwrap()));
        self.show("min", peer("min"), || drop(all.min().unwrap()));
        self.show("max", peer("max"), || drop(all.max().unwrap()));
        self.show("dot", peer("dot"), || drop((&x * &y).sum().unwrap()));
        self.show("inclusive scan", peer("scan"), || drop(all.cumsum().unwrap()));
        self.show("sort of u32", peer("sort"), || drop(keys.sort(Order::Ascending).unwrap()));
        // Three arrays are read or written, where a copy reads one and writes one.
        self.show("axpy (peer: copies)", Some(copy * 1.5), || y.assign(&x * 2.0 + &y).unwrap());
        self.show("sin (peer: copy)", Some(copy), || z.assign(x.sin()).unwrap());
        let mut philox = Generator::new(1);
        self.show("uniform f32 (peer: fill)", Some(fill), || philox.fill_uniform(&mut y).unwrap());
    }
}
