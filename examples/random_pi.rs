//! Pi from random points: the part of them in the quarter circle, counted without storing a condition.
//!
//! One learns how random numbers are drawn, that they follow from a seed on every device, and that points which fill
//! the square evenly (Sobol's) come nearer with as many.

#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use std::{error::Error, f64::consts::PI};

use warpaint::{
    array::{Result, random::Generator},
    device::Choice,
    index,
    kernel::Context,
};

/// How many points.
const POINTS: usize = 1 << 18;

/// Two estimates of pi.
pub fn main() -> std::result::Result<(), Box<dyn Error>> {
    let context = Context::open(Choice::Auto)?;
    println!("{POINTS} points on {}", context.device().info());
    let random = estimate(&context, &mut Generator::new(7))?;
    let even = estimate(&context, &mut Generator::sobol32(2)?)?;
    println!("random points: {random:.6}, off by {:.6}", (random - PI).abs());
    println!("Sobol's points: {even:.6}, off by {:.6}", (even - PI).abs());

    // Five standard deviations of the part of random points that lie inside.
    let bound = 5.0 * (PI * (4.0 - PI) / POINTS as f64).sqrt();
    assert!((random - PI).abs() < bound && (even - PI).abs() < bound / 10.0);
    Ok(())
}

/// Four times the part of points in the unit square that lie in the unit circle.
fn estimate(context: &Context, generator: &mut Generator) -> Result<f64> {
    let points = generator.uniform::<f32>(context, &[POINTS, 2])?;
    let (x, y) = (points.slice(&index![.., 0])?, points.slice(&index![.., 1])?);
    let inside = (&x * &x + &y * &y).lt(1.0).cast::<u64>().sum()?.item()?;
    Ok(4.0 * inside as f64 / POINTS as f64)
}
