//! Everything that may be done with a PTX text.

use std::time::{Duration, Instant};

use fastrand::Rng;
use warpaint::{
    device::{Arguments, Device, Error, Fill, Function, LaunchConfig},
    diagnostic, ptx,
};

/// How long a kernel may run before it is cancelled.
const RUN: Duration = Duration::from_millis(30);
/// How long a cancelled kernel may take to end, on a busy machine.
const CANCEL: Duration = Duration::from_secs(20);
/// Bytes of memory that kernels are given.
const MEMORY: usize = 4096;

/// Parses, checks, prints, loads and launches `text`; what is wrong with *us*, if anything.
pub fn exercise(device: &Device, text: &str, seed: u64) -> Result<(), String> {
    if let Ok(module) = ptx::parse(text) {
        let fine = !diagnostic::has_errors(&ptx::verify(&module));
        let printed = ptx::print(&module);
        let again = ptx::parse(&printed);
        if fine && let Err(diagnostics) = again {
            return Err(format!("what was printed does not parse: {}\n{printed}", diagnostics[0]));
        }
    }
    let loaded = match device.load(text) {
        Ok(loaded) => loaded,
        Err(Error::Load { log, .. }) if log.contains("internal error") => return Err(log),
        Err(_) => return Ok(()),
    };
    // A loop around `printf` would fill the log.
    if text.contains("vprintf") {
        return Ok(());
    }
    let mut rng = Rng::with_seed(seed);
    let names = kernels(text);
    for _ in 0..names.len().min(3) {
        let name = &names[rng.usize(0..names.len())];
        if let Ok(function) = loaded.function(name) {
            launch(device, &function, &mut rng)?;
        }
    }
    Ok(())
}

fn kernels(text: &str) -> Vec<String> {
    let Ok(module) = ptx::parse(text) else { return Vec::new() };
    module.entries().map(|function| function.name.clone()).collect()
}

fn config(rng: &mut Rng) -> LaunchConfig {
    let block = match rng.u32(0..4) {
        0 => [1, 1, 1],
        1 => [rng.u32(1..70), 1, 1],
        2 => [rng.u32(1..9), rng.u32(1..5), rng.u32(1..4)],
        _ => [*[32, 64, 33, 31, 128].get(rng.usize(0..5)).unwrap_or(&32), 1, 1],
    };
    let mut config = LaunchConfig::new([rng.u32(1..3), 1], block);
    config.shared_bytes = [0, 0, 4, 64, 1024, 49152][rng.usize(0..6)];
    config
}

/// Arguments that fit: addresses, and numbers that are small, large or neither.
fn arguments(function: &Function, address: u64, rng: &mut Rng) -> Arguments {
    let mut arguments = Arguments::new();
    for parameter in &function.info().parameters {
        let mut bytes = vec![0; parameter.bytes];
        if parameter.bytes == 8 {
            let value = match rng.u32(0..8) {
                0 => rng.u64(..),
                1 => 0,
                2 => rng.u64(0..64),
                _ => address + rng.u64(0..MEMORY as u64 / 16) * 16,
            };
            bytes.copy_from_slice(&value.to_le_bytes());
        } else {
            rng.fill(&mut bytes);
            if rng.bool() {
                bytes.iter_mut().skip(1).for_each(|byte| *byte = 0);
            }
        }
        let used = arguments.bytes().len();
        let fits = |align: &usize| used.next_multiple_of(*align) == parameter.offset;
        let align = (0..30).map(|power| 1 << power).find(fits).unwrap_or(1);
        arguments.push_bytes(&bytes, align);
    }
    arguments
}

#[expect(unsafe_code, reason = "the CPU device checks every access")]
fn launch(device: &Device, function: &Function, rng: &mut Rng) -> Result<(), String> {
    if function.info().parameters.iter().any(|parameter| parameter.bytes > MEMORY) {
        return Ok(());
    }
    let stream = device.stream().map_err(|e| e.to_string())?;
    let memory = device.alloc(MEMORY).map_err(|e| e.to_string())?;
    let whole = memory.slice(..).map_err(|e| e.to_string())?;
    stream.fill(whole, Fill::U32(rng.u32(..))).map_err(|e| e.to_string())?;
    let arguments = arguments(function, memory.address(), rng);
    let config = config(rng);
    // SAFETY: the CPU device checks every access.
    if unsafe { stream.launch(function, &config, &arguments) }.is_err() {
        return Ok(());
    }
    if !is_idle(&stream, RUN) {
        stream.cancel().map_err(|e| e.to_string())?;
        if !is_idle(&stream, CANCEL) {
            return Err(format!("`{}` cannot be cancelled", function.name()));
        }
    }
    match stream.synchronize() {
        Err(Error::Fault(fault)) => drop(fault.to_string()),
        Err(error @ Error::Unsupported { .. }) => return Err(error.to_string()),
        Err(error) => drop(error.to_string()),
        Ok(()) => {}
    }
    Ok(())
}

fn is_idle(stream: &warpaint::device::Stream, within: Duration) -> bool {
    let end = Instant::now() + within;
    let mut pause = Duration::from_micros(20);
    loop {
        if stream.is_idle().unwrap_or(true) {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
    }
}
