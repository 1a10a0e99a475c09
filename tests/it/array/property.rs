//! Every family of operations on random shapes, views, types and values, against references on the host.
//!
//! Cases follow from their numbers alone. `WARPAINT_FUZZ_SECONDS` and `WARPAINT_FUZZ_SEED` make each test go on longer,
//! from another case on, as for the fuzzers; a failure names its case.

mod algorithms;
mod bad_input;
mod elementwise;
mod numpy;
mod places;
mod reduce;
mod value;
mod view;

use fastrand::Rng;
use warpaint::kernel::Context;

use crate::fuzz::{Budget, generator};

/// Runs `check` on each device with so many cases of the test `name`.
fn cases(name: &str, count: u64, check: impl Fn(&Context, &mut Rng, u64)) {
    for context in super::contexts() {
        for case in Budget::cases(count) {
            let run = || check(&context, &mut generator(name, case), case);
            if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
                eprintln!("case {case} of {name}: WARPAINT_FUZZ_SEED={case}");
                std::panic::resume_unwind(panic);
            }
        }
    }
}
