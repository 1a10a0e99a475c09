//! A picture turned by a texture, which reads between the pixels: PyCUDA's example `rotate.py`.
//!
//! One learns what stands in for PyCUDA's texture references, which CUDA 12 has no more: an [`Array`] of texels, a
//! texture object that says how it is read, and its handle as an argument. The kernel writes to memory of the host's by
//! way of [`Out`].
//!
//! [`Array`]: warpaint::device::Array

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use std::error::Error;

use warpaint::{
    device::{
        ArrayDescriptor, ArrayShape, Choice, Filter, Format, LaunchConfig, TextureDescriptor,
    },
    kernel::{Context, Out, Source},
};

/// Texels along each side.
const SIDE: usize = 64;

/// In PyCUDA's source `texture<float, 2> picture;` stands before the kernel, and `tex2D(picture, x, y)` in it. The middles
/// of texels are at 0.5, 1.5, ...
const SOURCE: &str = "
__global__ void rotate(float *out, cudaTextureObject_t picture, int side, float sine, float cosine) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side) return;
    float right = x + 0.5f - 0.5f * side, down = y + 0.5f - 0.5f * side;
    out[y * side + x] = tex2D<float>(picture, cosine * right - sine * down + 0.5f * side,
                                     sine * right + cosine * down + 0.5f * side);
}";

/// Turns a picture by a quarter, which has an exact answer, and by 30 degrees.
pub fn main() -> Result<(), Box<dyn Error>> {
    let context = Context::open(Choice::Auto)?;
    // A ramp: texel (x, y) is x + SIDE y. Between texels, a linear filter gives the same plane.
    let picture: Vec<f32> = (0..SIDE * SIDE).map(|i| i as f32).collect();

    let turned = rotated(&context, &picture, 90.0)?;
    let expected = |x: usize, y: usize| picture[x * SIDE + (SIDE - 1 - y)];
    assert!((0..SIDE * SIDE).all(|i| turned[i] == expected(i % SIDE, i / SIDE)));

    let turned = rotated(&context, &picture, 30.0)?;
    let middle = &turned[SIDE * SIDE / 2..][..SIDE];
    let info = context.device().info();
    println!("the middle row, by 30 degrees on {info}: {:?} ...", &middle[SIDE / 2..][..4]);
    // From texel to texel the row goes cos 30 to the right and sin 30 down. Filters weigh by multiples of 1/256.
    let step = 30.0_f32.to_radians().cos() + SIDE as f32 * 30.0_f32.to_radians().sin();
    let inner = &middle[SIDE / 4..3 * SIDE / 4];
    assert!(inner.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() < SIDE as f32 / 128.0));
    Ok(())
}

/// `picture` turned around its middle; beyond its edges they go on.
#[expect(unsafe_code, reason = "launches a kernel, whose accesses nothing proves on an NVIDIA GPU")]
fn rotated(context: &Context, picture: &[f32], degrees: f32) -> Result<Vec<f32>, Box<dyn Error>> {
    let shape = ArrayShape::D2 { width: SIDE, height: SIDE };
    let texels = context.device().array(&ArrayDescriptor::new(shape, Format::R32F))?;
    context.stream().upload(texels.region(), bytemuck::cast_slice(picture))?;
    let linear = TextureDescriptor { filter: Filter::Linear, ..TextureDescriptor::default() };
    let texture = context.device().texture(&texels, &linear)?;

    let rotate = context.module(&Source::new(SOURCE).named("rotate.cu"))?.kernel("rotate")?;
    let blocks = SIDE.div_ceil(16) as u32;
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let mut out = vec![0.0f32; SIDE * SIDE];
    let arguments = &mut [
        Out(&mut out).into(),
        texture.handle().into(),
        (SIDE as i32).into(),
        sine.into(),
        cosine.into(),
    ];
    // SAFETY: the kernel writes the SIDE x SIDE elements of `out`.
    unsafe {
        rotate.call(context, &LaunchConfig::new([blocks; 2], [16; 2]), arguments)?;
    }
    Ok(out)
}
