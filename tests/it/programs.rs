//! Programs whose host code launches kernels in loops, as they are found in textbooks and benchmarks: each is driven by
//! a manifest with its kernels as they stand, and compared with a computation on the host in double precision.

mod graphs;
mod host;
mod linear;
mod lockstep;
mod matrices;
mod sorting;

use warpaint::{
    compile::{Cache, Compiler},
    device::Device,
    interop::Interop,
    session::{Options, Session},
};

use super::support::devices;

/// A scene that is run on each device, without OpenGL.
struct Program {
    session: Session,
}

impl Program {
    fn open(device: &Device, source: &str) -> Self {
        let options = Options::new("program.cu", source);
        let (compiler, interop) = (Compiler::new(Cache::user()), Interop::none(device));
        let mut session = Session::open(options, device.clone(), compiler, interop, || {}).unwrap();
        assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile);
        Self { session }
    }

    /// Goes on by `steps`, without a fault.
    fn run(&mut self, steps: u64) -> &mut Self {
        self.session.run_steps(steps, |_| {}).unwrap();
        let fault = self.session.snapshot().fault;
        assert!(fault.is_none(), "{fault:#?}");
        self
    }

    /// The contents of a resource.
    fn read<T: bytemuck::Pod>(&mut self, name: &str) -> Vec<T> {
        bytemuck::pod_collect_to_vec(&self.session.read(name).unwrap())
    }
}

/// Runs `source` for a step on each device, and looks at what it gives.
fn on_each(source: &str, check: impl Fn(&mut Program)) {
    for device in devices() {
        check(Program::open(&device, source).run(1));
    }
}

/// What the reset kernels of these programs fill arrays with: the same on the host.
fn noise(i: u32) -> u32 {
    let x = i.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let x = ((x >> ((x >> 28) + 4)) ^ x).wrapping_mul(277_803_737);
    (x >> 22) ^ x
}

/// [`noise`] as a number in [0, 1).
fn unit(i: u32) -> f32 {
    (noise(i) >> 8) as f32 / 16_777_216.0
}

/// These functions for kernels.
const NOISE: &str = "
__device__ unsigned noise(unsigned i)
{
    unsigned x = i * 747796405u + 2891336453u;
    x = ((x >> ((x >> 28) + 4)) ^ x) * 277803737u;
    return (x >> 22) ^ x;
}
__device__ float unit(unsigned i) { return (noise(i) >> 8) / 16777216.0f; }
";
