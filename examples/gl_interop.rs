//! A kernel writes an OpenGL buffer; OpenGL reads it. No window is needed.
//!
//! One learns what stands in for PyCUDA's `gl.RegisteredBuffer`: [`Interop`] registers OpenGL's buffers with CUDA where
//! that is possible, and copies behind the same face where it is not (the CPU device, another GPU's OpenGL). While a
//! buffer is mapped for the device, the borrow checker sees to it that OpenGL is not told to use it.

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use std::error::Error;

use warpaint::{
    device::{Choice, LaunchConfig},
    gl::{self, Headless},
    interop::{Access, Interop},
    kernel::{Context, Source},
};

/// How many points.
const N: u16 = 1000;

const SOURCE: &str = "
__global__ void ring(float4 *position, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float angle = 6.2831853f * i / n;
    position[i] = make_float4(cosf(angle), sinf(angle), 0.0f, 1.0f);
}";

/// Fills a vertex buffer with points on a circle, and reads it through OpenGL.
pub fn main() -> Result<(), Box<dyn Error>> {
    let context = Context::open(Choice::Auto)?;
    let window = gl::CurrentContext::headless(Headless::default())?;
    run(&context, &window)
}

#[expect(unsafe_code, reason = "launches a kernel, whose accesses nothing proves on an NVIDIA GPU")]
fn run(context: &Context, window: &gl::CurrentContext) -> Result<(), Box<dyn Error>> {
    let interop = Interop::new(window.gl(), context.device());
    println!("{} and {}: {}", context.device().info(), window.info().renderer, interop.path());
    let mut positions = interop.buffer_for(usize::from(N) * 16, Access::WriteDiscard)?;

    let ring = context.module(&Source::new(SOURCE))?.kernel("ring")?;
    let config = LaunchConfig::over(N.into(), 256);
    let mapped = positions.map(context.stream())?;
    // SAFETY: the buffer has the N elements that the kernel writes.
    unsafe {
        ring.launch(context.stream(), &config, &[mapped.slice().into(), i32::from(N).into()])?;
    }
    mapped.unmap()?;

    // Where results are copied, they are there once the stream has come so far. A program that draws asks each frame.
    context.synchronize()?;
    assert!(positions.present()?);
    let buffer = positions.gl().ok_or("there is OpenGL")?;
    let mut points = vec![[0.0f32; 4]; N.into()];
    buffer.read(0, bytemuck::cast_slice_mut(&mut points))?;
    println!("OpenGL's buffer {} begins with {:?}", buffer.name(), points[0]);
    // The device's sine and cosine may be off by 2 ulp each, and the angle is rounded.
    assert!(points.iter().all(|[x, y, _, _]| (x.hypot(*y) - 1.0).abs() < 1e-6));
    Ok(())
}
