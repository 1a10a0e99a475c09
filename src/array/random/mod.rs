//! Random numbers: generators whose sequences do not depend on the device.
//!
//! Enters: a seed, a distribution, a shape. Leaves: arrays of random numbers. Must not know: `compile`,
//! `array::algorithm`, `array::exchange`.
//!
//! A [`Generator`] stands for one long sequence, and each number that it gives follows from its seed and the number's
//! place in that sequence alone. So a seed gives the same numbers on every device, for any layout of the array they are
//! written to, in one call or in several, and [`Generator::skip_ahead`] takes no longer for a longer way. (Uniform
//! numbers, integers and normal numbers of `f32` are the same to the bit; where `f64` logarithms and exponentials are
//! taken, devices may differ in the last one.)
//!
//! | numbers | here | numpy |
//! |---|---|---|
//! | uniform in `[0, 1)` | [`Generator::uniform`] | `random` |
//! | normal | [`Generator::normal`] | `normal` |
//! | log-normal | [`Generator::log_normal`] | `lognormal` |
//! | Poisson | [`Generator::poisson`], [`Generator::poisson_of`] | `poisson` |
//! | integers of a range | [`Generator::integers`] | `integers` |
//!
//! Sequences are Philox 4×32-10 ([`Generator::new`]), XORWOW, MRG32k3a, and Sobol's evenly distributed points, plain
//! and scrambled. Each method has a twin that overwrites an array: `fill_uniform` and so on. Kernels have the same
//! functions one number at a time in `<warpaint/random.cuh>`.
//!
//! ```
//! use warpaint::{array::random::Generator, device::Device, kernel::Context};
//!
//! let context = Context::new(Device::cpu()?)?;
//! for (mut points, error) in [(Generator::new(7), 0.05), (Generator::sobol32(2)?, 0.005)] {
//!     let points = points.uniform::<f64>(&context, &[16_384, 2])?;
//!     let inside = (&points * &points).reduce().along(&[1]).sum().eval()?.lt(1.0);
//!     let pi = 4.0 * inside.cast::<f64>().reduce().mean().item()?;
//!     assert!((pi - std::f64::consts::PI).abs() < error, "{pi}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod class;
mod distribution;
mod engine;
mod fill;
mod generator;
mod integer;
mod lanes;
mod member;
mod mrg32k3a;
mod philox;
mod sobol;
mod tables;
mod xorwow;

pub use generator::Generator;
pub use integer::Integer;
pub use sobol::Directions;
