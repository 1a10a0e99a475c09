//! CUDA C++ that nobody would write, against the compiler in its process.

use std::time::Duration;

use warpaint::{
    compile::{Cache, Compiler, Error, Limits, Outcome, Request, Target},
    cuda,
    device::Device,
};

use crate::skip::{Need, skip};

/// A text that compiles: that it does says that the compiler is still there.
const SOUND: &str = "__global__ void sound(int *x) { *x = 1; }";

/// Compiles texts one after the other.
pub struct Sources {
    compiler: Compiler,
    device: Device,
    tried: u64,
}

impl Sources {
    /// `None`, said aloud, where there is no NVRTC.
    pub fn new() -> Option<Self> {
        let limits = Limits { time: Duration::from_secs(5), memory_bytes: 2 << 30 };
        let compiler = Compiler::new(Cache::memory()).with_limits(limits);
        if let Err(error @ Error::NvrtcNotFound { .. }) = compiler.nvrtc() {
            skip(Need::Nvrtc, error);
            return None;
        }
        Some(Self { compiler, device: Device::cpu().unwrap(), tried: 0 })
    }

    /// Reads and compiles a text, and loads what comes of it. Whatever that is, it is data: mistakes with places in the
    /// text, or PTX that is read.
    ///
    /// # Errors
    /// What else there was.
    pub fn exercise(&mut self, text: &str) -> Result<(), String> {
        let kernels = cuda::scan("fuzz.cu", text);
        self.tried += 1;
        if self.tried.is_multiple_of(16) {
            self.expect_alive()?;
        }
        let mut request = Request::new("fuzz.cu", text, Target::CPU);
        let plain = kernels.iter().filter(|kernel| !kernel.template && !kernel.left_out);
        request.name_expressions = plain.map(|kernel| kernel.name.clone()).take(4).collect();
        let diagnostics = match self.compiler.compile(&request).map_err(|e| e.to_string())? {
            Outcome::Compiled(compiled) => {
                // What the device does not take it refuses; it is not to panic.
                let _ = self.device.load(&compiled.ptx);
                compiled.diagnostics.clone()
            }
            Outcome::Rejected { diagnostics, .. } if diagnostics.is_empty() => {
                return Err("rejected without a reason".to_owned());
            }
            Outcome::Rejected { diagnostics, .. } => diagnostics,
        };
        let lines = text.lines().count().max(1) as u32;
        let is_outside = |line: u32| line == 0 || line > lines + 1;
        let mut own = diagnostics.iter().filter(|found| found.file == "fuzz.cu");
        match own.find(|found| found.line.is_some_and(is_outside)) {
            // A `#line` gives lines other numbers.
            Some(found) if !text.contains("line") => Err(format!("no such line: {found}")),
            Some(_) | None => Ok(()),
        }
    }

    fn expect_alive(&self) -> Result<(), String> {
        // A text that was compiled before would come from the cache.
        let source = format!("{SOUND} // {}", self.tried);
        match self.compiler.compile(&Request::new("sound.cu", source, Target::CPU)) {
            Ok(Outcome::Compiled(_)) => Ok(()),
            Ok(Outcome::Rejected { log, .. }) => Err(format!("the sound text is rejected: {log}")),
            Err(error) => Err(format!("the sound text is not compiled: {error}")),
        }
    }
}
