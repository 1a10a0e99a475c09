//! Kernels from expressions in C, in PyCUDA's manner: one statement for each element, a reduction, a scan.
//!
//! One learns where Rust's expressions end: a statement may write several arrays, call functions of a preamble, and use
//! structures of one's own ([`Data`]). Arrays may have any layout; `x[i]` is the `i`th element in C order.

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use std::error::Error;

use warpaint::{
    array::{DType, Data, ElementwiseKernel, GpuArray, InclusiveScanKernel, ReductionKernel},
    device::Choice,
    kernel::Context,
};

/// The least and the greatest of some numbers: a structure that the host and the kernels declare alike.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Extent {
    least: f32,
    greatest: f32,
}

impl Data for Extent {
    const DTYPE: DType = DType {
        name: "Extent",
        definition: "struct Extent { float least, greatest; };",
        bytes: size_of::<Self>(),
        align: align_of::<Self>(),
    };
}

/// A statement, a reduction and a scan.
#[expect(
    unsafe_code,
    reason = "nothing proves on an NVIDIA GPU that the expressions stay inside the arrays"
)]
pub fn main() -> Result<(), Box<dyn Error>> {
    let context = Context::open(Choice::Auto)?;
    let angle = GpuArray::<f32>::linspace(&context, 0.0, 6.0, 1001, true)?;
    let (x, y) = (angle.empty_like()?, angle.empty_like()?);

    // SAFETY: here and below, only the element `i` of each array is used.
    let circle = unsafe {
        ElementwiseKernel::new(
            "float radius, const float *angle, float *x, float *y",
            "x[i] = radius * cosf(angle[i]); y[i] = radius * sinf(angle[i])",
        )?
    };
    circle.call(&[2.0f32.into(), (&angle).into(), (&x).into(), (&y).into()])?;

    // SAFETY: as above.
    let extent = unsafe {
        ReductionKernel::<Extent>::new(
            "const float *x",
            "Extent{INFINITY, -INFINITY}",
            "Extent{fminf(a.least, b.least), fmaxf(a.greatest, b.greatest)}",
            "Extent{x[i], x[i]}",
        )?
    };
    let found = extent.call(&[(&x).into()])?.item()?;
    println!("x reaches from {} to {} on {}", found.least, found.greatest, context.device().info());
    assert_eq!(found.greatest, 2.0);
    assert!((found.least + 2.0).abs() < 1e-4, "the nearest angle is 3 / 1000 from pi at most");

    // SAFETY: a scan's expression sees values only.
    let running = unsafe { InclusiveScanKernel::<f32>::new("fmaxf(a, b)") };
    let highest = running.call(&y)?.to_vec()?;
    println!("y rises to {}, and stays there", highest[1000]);
    assert!(highest.is_sorted());
    Ok(())
}
