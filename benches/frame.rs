//! The host's time for one step of a scene with two passes and one shared buffer: map, launch, launch, unmap.
//!
//! Needs an NVIDIA GPU whose EGL can make a context. `cargo bench --bench frame`

#![expect(unsafe_code, reason = "a kernel's accesses cannot be proved on an NVIDIA device")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::{
    array,
    time::{Duration, Instant},
};

use warpaint::{
    device::{Arguments, Choice, Device, Function, LaunchConfig, Stream},
    gl::{CurrentContext, Headless},
    interop::{Interop, Path, SharedBuffer},
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Elements of the buffer, `float4` each.
const COUNT: u32 = 262_144;
const BLOCK: u32 = 256;
const STAGES: [&str; 5] = ["map", "first launch", "second launch", "unmap", "whole step"];

/// `values[i] = 0.5 * values[i] + 1` for `count` floats.
const KERNEL: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry relax(.param .u64 values, .param .u32 count)
{
    .reg .pred %p<2>;
    .reg .f32 %f<3>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [values];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4];
    fma.rn.f32 %f2, %f1, 0f3F000000, 0f3F800000;
    st.global.f32 [%rd4], %f2;
done:
    ret;
}
";

fn main() -> Result<()> {
    let cycles = if std::env::args().any(|argument| argument == "--bench") { 20_000 } else { 100 };
    let device = match Device::open(Choice::Cuda(0)) {
        Ok(device) => device,
        Err(error) => return skip(&error.to_string()),
    };
    let context = match CurrentContext::headless(Headless { cuda_ordinal: Some(0) }) {
        Ok(context) => context,
        Err(error) => return skip(&error.to_string()),
    };
    let interop = Interop::new(context.gl(), &device);
    if *interop.path() != Path::Registered {
        return skip(&interop.path().to_string());
    }
    let mut step = Step::new(&device, &interop)?;
    println!("{}, {}", device.info(), context.info().version);
    println!(
        "one buffer of {COUNT} float4, two launches, {cycles} steps; host time in microseconds"
    );
    step.measure("device idle before each step", cycles, true)?;
    step.measure("steps back to back", cycles, false)?;
    Ok(())
}

fn skip(why: &str) -> Result<()> {
    println!("SKIPPED: {why}");
    Ok(())
}

struct Step {
    buffer: SharedBuffer,
    stream: Stream,
    function: Function,
    config: LaunchConfig,
    arguments: Arguments,
}

impl Step {
    fn new(device: &Device, interop: &Interop) -> Result<Self> {
        Ok(Self {
            buffer: interop.buffer(COUNT as usize * 16)?,
            stream: device.stream()?,
            function: device.load(KERNEL)?.function("relax")?,
            config: LaunchConfig::over(COUNT as usize * 4, BLOCK),
            arguments: Arguments::new(),
        })
    }

    /// One step; the time of each stage and of all.
    fn run(&mut self) -> Result<[Duration; STAGES.len()]> {
        let start = Instant::now();
        let mapped = self.buffer.map(&self.stream)?;
        let after_map = Instant::now();
        let arguments = &mut self.arguments;
        *arguments = Arguments::new();
        arguments.push(&mapped.slice().address()).push(&(COUNT * 4));
        // SAFETY: the kernel writes `count` floats, which the buffer has, and nobody else uses it meanwhile.
        unsafe { self.stream.launch(&self.function, &self.config, arguments) }?;
        let after_first = Instant::now();
        // SAFETY: as above.
        unsafe { self.stream.launch(&self.function, &self.config, arguments) }?;
        let after_second = Instant::now();
        mapped.unmap()?;
        let end = Instant::now();
        Ok([
            after_map - start,
            after_first - after_map,
            after_second - after_first,
            end - after_second,
            end - start,
        ])
    }

    fn measure(&mut self, title: &str, cycles: usize, idle: bool) -> Result<()> {
        let mut times: [Vec<Duration>; STAGES.len()] = array::from_fn(|_| Vec::new());
        for cycle in 0..cycles + 50 {
            if idle {
                self.stream.synchronize()?;
            }
            let step = self.run()?;
            // The first ones load the kernel and fill caches.
            if cycle >= 50 {
                times.iter_mut().zip(step).for_each(|(list, time)| list.push(time));
            }
        }
        self.stream.synchronize()?;
        println!("\n{title}\n{:<16} {:>8} {:>8} {:>8}", "stage", "median", "p90", "p99");
        for (stage, mut list) in STAGES.into_iter().zip(times) {
            list.sort();
            let at = |percent: usize| list[(list.len() - 1) * percent / 100].as_secs_f64() * 1e6;
            println!("{stage:<16} {:>8.2} {:>8.2} {:>8.2}", at(50), at(90), at(99));
        }
        Ok(())
    }
}
