//! Any bytes as PTX: parsed, verified and printed without a panic; what was printed means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpaint::{diagnostic, ptx};

fuzz_target!(|bytes: &[u8]| {
    let Ok(module) = ptx::parse(&String::from_utf8_lossy(bytes)) else { return };
    let fine = !diagnostic::has_errors(&ptx::verify(&module));
    let printed = ptx::print(&module);
    let again = ptx::parse(&printed);
    assert!(!fine || again.is_ok(), "what was printed does not parse:\n{printed}");
});
