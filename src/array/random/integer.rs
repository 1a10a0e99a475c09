//! Integers of every width.

use crate::array::Real;

/// An integer type of at most 64 bits.
///
/// ```
/// use warpaint::array::{GpuArray, Result, random::{Generator, Integer}};
/// use warpaint::{device::Device, kernel::Context};
///
/// /// Steps of a walk on a grid.
/// fn steps<T: Integer + From<i8>>(random: &mut Generator, context: &Context) -> Result<GpuArray<T>> {
///     random.integers(context, &[1000], T::from(-1)..=T::from(1))
/// }
///
/// let context = Context::new(Device::cpu()?)?;
/// let steps = steps::<i64>(&mut Generator::new(7), &context)?;
/// assert_eq!(steps.unique()?.elements()?.to_vec()?, [-1, 0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Integer: Real + Copy + Into<i128> {}

macro_rules! integer {
    ($($rust:ty),*) => { $(impl Integer for $rust {})* };
}

integer!(i8, u8, i16, u16, i32, u32, i64, u64);
