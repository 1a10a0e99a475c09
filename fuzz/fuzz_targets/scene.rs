//! Any bytes as a scene: its manifest, its kernels' signatures and its plan.
#![no_main]

use libfuzzer_sys::fuzz_target;
use warpaint::scene::{Overrides, Scene};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    match Scene::parse("fuzz.cu", &text, &Overrides::default()) {
        Ok(scene) => drop((scene.prelude(), scene.name_expressions(), scene.plan())),
        Err(diagnostics) => assert!(!diagnostics.is_empty(), "refused without a reason"),
    }
});
