//! Kernels that try to do harm: whole modules whose operands have spaces, kinds, sizes and alignments mixed at
//! random, run in child processes whose memory is marked. Whatever they do, the process goes on, and they neither read
//! nor write what is not the device's.
//!
//! ```text
//! WARPAINT_FUZZ_SECONDS=3600  how long it goes on, on all cores; what is found goes to a folder, shortened
//! WARPAINT_FUZZ_SEED=1234     the first case's number
//! WARPAINT_FUZZ_WORKERS=8     children at once (default: the number of cores)
//! WARPAINT_FUZZ_FINDINGS=DIR  that folder (default: warpaint-fuzz-attack in the folder for temporary files)
//! WARPAINT_FUZZ_REPLAY=FILE   tries one of its files in every setting and mode
//! WARPAINT_FUZZ_SHOW=1234     prints the module of a case
//! ```
//!
//! It needs nothing but the test binary: `it --exact --nocapture fuzz::attack::kernels_harm_nobody`.

mod case;
mod child;
mod fixed;
mod fixture;
mod instruction;
mod marks;
mod operand;
mod parent;
mod tidy;
mod writer;

use std::{env, time::Duration};

use case::SETTINGS;
use parent::Summary;

/// Modules of each setting that CI tries.
const CASES: u64 = 120;

#[test]
fn kernels_harm_nobody() {
    if let Ok(path) = env::var("WARPAINT_FUZZ_REPLAY") {
        let harms = parent::replay(&path);
        assert!(harms.is_empty(), "{}", harms.join("\n"));
        return;
    }
    if let Ok(number) = env::var("WARPAINT_FUZZ_SHOW") {
        return eprintln!("{}", child::generate(number.parse().unwrap()).0);
    }
    let first = super::first();
    let (summary, found): (Summary, Vec<String>) = match super::number("WARPAINT_FUZZ_SECONDS") {
        Some(seconds) => {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            let workers =
                super::number("WARPAINT_FUZZ_WORKERS").map_or(cores, |count| count as usize);
            // Each was kept when it was found.
            let summary = parent::run_for(Duration::from_secs_f64(seconds), workers, first);
            let found =
                summary.harms.values().flatten().map(|finding| format!("{finding:?}")).collect();
            (summary, found)
        }
        None => {
            let mut all = Summary::default();
            for (setting, start) in SETTINGS.into_iter().zip((first..).step_by(CASES as usize)) {
                all.merge(parent::run(setting, start, CASES));
            }
            let found = parent::keep_all(&all);
            (all, found)
        }
    };
    eprintln!("{}", summary.text());
    // What is refused finds nothing.
    let loaded = summary.at_once + summary.shorter;
    assert!(2 * loaded > summary.cases, "{loaded} of {} modules were loaded", summary.cases);
    assert!(found.is_empty(), "{} findings\n{}", found.len(), found.join("\n\n"));
}

/// Not a test: the process in which [`kernels_harm_nobody`] lets kernels try.
#[test]
#[ignore = "started by another test"]
fn child_that_may_come_to_harm() {
    child::serve();
}
