//! Any bytes as PTX: loaded on the CPU device, and its kernels launched and cancelled.
#![no_main]

use std::{
    sync::LazyLock,
    time::{Duration, Instant},
};

use libfuzzer_sys::{Corpus, fuzz_target};
use warpaint::{
    device::{Arguments, Device, Error, Function, LaunchConfig},
    ptx,
};

static DEVICE: LazyLock<Device> = LazyLock::new(|| Device::cpu().expect("the CPU device starts"));

/// How long a kernel may run before it is cancelled.
const RUN: Duration = Duration::from_millis(10);

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let text = String::from_utf8_lossy(bytes);
    // Only what the verifier lets pass is worth keeping.
    let Ok(module) = ptx::parse(&text) else { return Corpus::Reject };
    match DEVICE.load(&text) {
        Ok(loaded) if !text.contains("vprintf") => {
            for entry in module.entries().take(4) {
                let function = loaded.function(&entry.name).expect("a kernel that is loaded");
                launch(&function);
            }
        }
        Err(Error::Load { log, .. }) => assert!(!log.contains("internal error"), "{log}"),
        _ => {}
    }
    Corpus::Keep
});

fn launch(function: &Function) {
    let Ok(memory) = DEVICE.alloc(4096) else { return };
    let Ok(stream) = DEVICE.stream() else { return };
    let mut arguments = Arguments::new();
    for parameter in &function.info().parameters {
        let mut bytes = vec![0; parameter.bytes];
        if let Some(start) = bytes.get_mut(..8) {
            start.copy_from_slice(&memory.address().to_le_bytes());
        }
        let used = arguments.bytes().len();
        let fits = |align: &usize| used.next_multiple_of(*align) == parameter.offset;
        let align = (0..30).map(|power| 1 << power).find(fits).unwrap_or(1);
        arguments.push_bytes(&bytes, align);
    }
    // SAFETY: the CPU device checks every access.
    if unsafe { stream.launch(function, &LaunchConfig::new(2, 33), &arguments) }.is_err() {
        return;
    }
    let end = Instant::now() + RUN;
    while !stream.is_idle().unwrap_or(true) {
        if Instant::now() > end {
            stream.cancel().expect("a stream that exists is cancelled");
        }
        std::thread::yield_now();
    }
    drop(stream.synchronize());
}
