//! OpenGL, made safe: contexts with a window or without, one type a GL object, each deleted by its `Drop`.
//!
//! Enters: sizes, formats, bytes, text of shaders. Leaves: objects that draw, and pixels. Must not know: `device`,
//! `scene`, `draw`, `session`.
//!
//! Every object holds a [`Gl`], so a context lives until its last object is gone, whatever the order of the
//! drops, and each call first makes its own context current: two contexts on a thread do not disturb each
//! other. Nothing here is `Send`: OpenGL stays on the thread that made the context.
//!
//! All calls into OpenGL are in `calls.rs`, as safe methods, but for those that load it (`loader.rs`). [`DrawCall`]
//! sets every state that it relies on and leaves the bound framebuffer as it found it, so that other painters (egui's)
//! are not disturbed.

mod blit;
mod bound;
mod buffer;
mod calls;
mod context;
mod debug;
mod dispatch;
mod draw_call;
mod error;
mod framebuffer;
mod loader;
mod program;
mod target;
mod texture;
mod timer;
mod vertex_array;

pub use buffer::Buffer;
pub use context::{ContextInfo, CurrentContext, EglDevice, Gl, Headless, Kind, egl_devices};
pub use dispatch::{Dispatch, Storage};
pub use draw_call::{Blend, Depth, DrawCall, Primitive};
pub use error::{Attempt, Error, Result};
pub use framebuffer::{Framebuffer, Samples};
pub use program::{Program, Source, Uniform};
pub use target::Target;
pub use texture::{Filter, Format, Pixels, Size, Texture, Wrap};
pub use timer::TimerQuery;
pub use vertex_array::{Attribute, Component, VertexArray};
