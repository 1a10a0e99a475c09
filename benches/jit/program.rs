//! The kernels as PTX, and what the process needs of memory.

use std::sync::Arc;

use warpaint::compile::{Cache, Compiler, Header, Outcome, Request, Target};

/// A kernel's PTX.
pub(crate) struct Program {
    pub(crate) ptx: Arc<str>,
}

macro_rules! sources {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../kernels/", $name)))),*]
    };
}

const KERNELS: [(&str, &str); 22] = sources![
    "copy.cu" "curl.cu" "empty.cu" "histogram.cu" "jacobi.cu" "jacobi_tile.cu" "large.cu" "layernorm.cu"
    "mandelbrot.cu" "march.cu" "md5.cu" "nbody.cu" "philox.cu" "saxpy.cu" "scan.cu" "sgemm.cu" "sgemm_tile.cu"
    "softmax.cu" "softmax_rows.cu" "stencil.cu" "sum.cu" "waits.cu"
];
const HEADERS: [(&str, &str); 5] = sources!["body.h" "curl.h" "march.h" "md5.h" "philox.h"];

impl Program {
    /// The kernel `name`, from NVRTC or the user's cache.
    pub(crate) fn of(name: &str) -> Self {
        let file = format!("{name}.cu");
        let (_, source) = KERNELS.iter().find(|(kernel, _)| *kernel == file).unwrap();
        let mut request = Request::new(&file, *source, Target::CPU);
        let headers = HEADERS.iter();
        request.headers = headers
            .map(|(name, text)| Header { name: (*name).to_owned(), text: (*text).into() })
            .collect();
        match Compiler::new(Cache::user()).compile(&request).unwrap() {
            Outcome::Compiled(compiled) => Self { ptx: compiled.ptx },
            Outcome::Rejected { log, .. } => panic!("{log}"),
        }
    }

    /// How many instructions its functions have.
    pub(crate) fn instructions(&self) -> usize {
        let module = warpaint::ptx::parse(&self.ptx).unwrap();
        let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
        bodies.map(|body| body.instructions().count()).sum()
    }
}

/// Memory of this process that is in RAM; 0 where the system does not tell.
pub(crate) fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

/// Milliseconds that this thread has had a processor, which other programs' load does not change; time of the
/// clock where the system does not tell.
pub(crate) fn processor_ms(since: std::time::Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = told.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    ns.map_or_else(|| since.elapsed().as_secs_f64() * 1e3, |ns| ns / 1e6)
}

/// Milliseconds that the process has had processors, to 10 ms; 0 where the system does not tell.
pub(crate) fn all_processors_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // User and system time, fields 14 and 15 (proc(5)), in hundredths of a second.
    let ticks = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() * 10.0
}
