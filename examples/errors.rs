//! What goes wrong, and how it is told: a kernel that does not compile, a wrong argument, an access out of bounds.
//!
//! One learns that each is an `Err` with what one needs to know (file, line, the parameter's name, block and thread) and
//! that the device goes on afterwards. It runs on the CPU device, which checks every access; on an NVIDIA GPU a wild
//! access ends CUDA for the whole process.

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use std::error::Error;

use warpaint::{
    array::{self, Expr, GpuArray},
    device::{self, Choice, LaunchConfig},
    kernel::{self, Argument, Context, Source},
};

/// Line 2 writes one element too many if there are as many threads as elements.
const SHIFT: &str = "__global__ void shift(float *x, float by) {
    x[threadIdx.x + 1] = x[threadIdx.x] + by;
}";

/// Makes four mistakes.
pub fn main() -> Result<(), Box<dyn Error>> {
    let context = Context::open(Choice::Cpu)?;
    does_not_compile(&context)?;

    let x = GpuArray::from_slice(&context, &[1.0f32, 2.0, 3.0, 4.0])?;
    let shift = context.module(&Source::new(SHIFT).named("shift.cu"))?.kernel("shift")?;
    wrong_argument(shift.arguments(&[x.argument()?, 1i32.into()]));
    out_of_bounds(&context, &shift, &[x.argument()?, 1.0f32.into()]);

    let longer = GpuArray::<f32>::zeros(&context, &[5])?;
    shapes_that_do_not_fit((&x + &longer).eval());

    // The device is as it was.
    let sum: Expr<f32> = &x + 1.0;
    println!("and on it goes: {}", sum.eval()?);
    Ok(())
}

/// Diagnostics are data: file, line, column, severity, text.
fn does_not_compile(context: &Context) -> Result<(), Box<dyn Error>> {
    let source =
        Source::new("__global__ void broken(float *x) {\n    x[0] = y;\n}").named("broken.cu");
    match context.module(&source) {
        Err(kernel::Error::Rejected { diagnostics, .. }) => {
            for diagnostic in &diagnostics {
                println!("{diagnostic}");
            }
            assert_eq!(diagnostics[0].line, Some(2));
            Ok(())
        }
        Err(other) => Err(other.into()),
        Ok(_) => Err("what is broken compiles".into()),
    }
}

/// The parameter's name and type are the source's.
fn wrong_argument(packed: kernel::Result<device::Arguments>) {
    let error = packed.map(drop).expect_err("an int is no float");
    println!("{error}");
    assert!(matches!(error, kernel::Error::Argument { parameter, .. } if parameter == "by"));
}

/// A launch does not wait: a fault comes from whatever asks for its result. (Arrays take their memory from a pool, which
/// rounds 16 bytes up to 256, so that thread 63 is the first outside.)
#[expect(unsafe_code, reason = "launches a kernel that is wrong")]
fn out_of_bounds(context: &Context, shift: &kernel::Kernel, arguments: &[Argument]) {
    // SAFETY: the CPU device checks every access.
    let launched = unsafe { shift.launch(context.stream(), &LaunchConfig::new(1, 300), arguments) };
    let error =
        launched.and_then(|()| context.synchronize()).expect_err("there are not 300 elements");
    println!("{error}");
    let kernel::Error::Device(device::Error::Fault(fault)) = error else { panic!("{error}") };
    assert_eq!(fault.location.map(|location| location.line), Some(2));
}

/// Arrays tell their shapes.
fn shapes_that_do_not_fit(result: array::Result<GpuArray<f32>>) {
    let error = result.expect_err("4 and 5 elements");
    println!("{error}");
    assert!(matches!(error, array::Error::Broadcast { .. }));
}
