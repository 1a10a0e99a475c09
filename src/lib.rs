//! A live CUDA studio, and the library below it.
//!
//! ```text
//! cuda -> scene -> ptx -> compile -> device { nvidia | cpu } -> kernel -> array
//!      -> data -> gl -> interop -> draw -> record -> state -> session -> { studio | headless } -> cli
//! ```
//!
//! A *scene* is a `.cu` file that says in its first comment what it needs. NVRTC *compiles* it to *PTX*, which runs
//! on a *device*: an NVIDIA GPU, or the embedded CPU device, which translates PTX to machine code and checks every
//! memory access. Kernels write into *OpenGL* buffers that both sides share (*interop*), which are *drawn* while the
//! *session* runs the next step. The *studio* shows it in a window; *headless* commands do the same without one.
//!
//! Each module names only modules to its left; `ARCHITECTURE.md` says more. Without default features everything up to
//! [`mod@array`] but [`scene`] is there, for NVIDIA GPUs. Feature `cpu` adds the CPU device, feature `gl` adds scenes
//! and [`gl`] to [`session`], and feature `cli` the program, whose window (*studio*) and commands (*headless*) are no
//! interface.
//!
//! # Arrays
//!
//! What nearly every program names stands at the root, too:
//!
//! ```
//! use warpaint::{Context, Device, GpuArray};
//!
//! fn main() -> Result<(), warpaint::Error> {
//!     let context = Context::new(Device::cpu()?)?; // `Device::open` takes a GPU
//!     let x = GpuArray::<f32>::arange(&context, 1000)?;
//!     assert_eq!((&x * 2.0 + 1.0).sum()?.item()?, 1_000_000.0);
//!     Ok(())
//! }
//! ```
//!
//! # A kernel on the CPU device
//!
//! ```
//! use warpaint::compile::{Cache, Compiler, Outcome, Request, Target};
//! use warpaint::device::{Arguments, Device, LaunchConfig};
//!
//! let source = r#"
//! extern "C" __global__ void twice(float *x, int n) {
//!     int i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i < n) x[i] *= 2.0f;
//! }"#;
//! let compiler = Compiler::new(Cache::user());
//! let compiled = match compiler.compile(&Request::new("twice.cu", source, Target::CPU))? {
//!     Outcome::Compiled(compiled) => compiled,
//!     Outcome::Rejected { log, .. } => panic!("{log}"),
//! };
//!
//! let device = Device::cpu()?;
//! let stream = device.stream()?;
//! let twice = device.load(&compiled.ptx)?.function("twice")?;
//! let x = device.alloc(12)?;
//! stream.upload(x.slice(..)?, bytemuck::cast_slice(&[1.0f32, 2.5, -3.0]))?;
//! let mut arguments = Arguments::new();
//! arguments.push(&x.address()).push(&3i32);
//! // SAFETY: `x` has the three elements that the kernel uses, and is kept until the result is there.
//! unsafe { stream.launch(&twice, &LaunchConfig::over(3, 128), &arguments)? };
//! let result = stream.download(x.slice(..)?)?.wait()?;
//! assert_eq!(bytemuck::pod_collect_to_vec::<u8, f32>(&result), [2.0, 5.0, -6.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use warpaint_device::machine;
#[doc(inline)]
pub use warpaint_device::{device, diagnostic, ptx};

pub mod element;
mod file;
pub mod interrupt;
#[cfg(feature = "gl")]
mod number;

pub mod cuda;

#[cfg(feature = "gl")]
pub mod scene;

pub mod compile;

pub mod kernel;

pub mod array;

pub use array::{Error, Expr, GpuArray, Result};
pub use device::Device;
// `device::Module` is what a `SourceModule` is loaded as; few programs name it.
pub use kernel::{Context, Kernel, Source, SourceModule};

#[cfg(feature = "gl")]
mod data;

#[cfg(feature = "gl")]
pub mod gl;

#[cfg(feature = "gl")]
pub mod interop;

#[cfg(feature = "gl")]
pub mod draw;

#[cfg(feature = "gl")]
pub mod record;

#[cfg(feature = "gl")]
mod state;

#[cfg(feature = "gl")]
pub mod session;

#[cfg(feature = "cli")]
mod headless;

#[cfg(feature = "cli")]
mod studio;

#[cfg(feature = "cli")]
pub mod cli;
