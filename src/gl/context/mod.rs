//! OpenGL contexts: one type, with a window or without.
//!
//! Enters: a window, or the wish for none. Leaves: a context that is current on the thread. Must not know: `device`,
//! `gl::program`, `gl::framebuffer`.

mod egl;
mod platform;
#[cfg(feature = "cli")]
mod surface;
#[cfg(feature = "cli")]
mod window;

use std::{
    cell::{Cell, RefCell},
    ffi::{CStr, c_void},
    fmt,
    rc::{Rc, Weak},
    sync::Arc,
};

use serde::Serialize;

pub use egl::{EglDevice, Headless, egl_devices};

use platform::Platform;

use super::{Attempt, Error, Result, debug, loader};

thread_local! {
    /// Which of our contexts is current on this thread; 0: none.
    static CURRENT: Cell<u64> = const { Cell::new(0) };
    /// The same, to leave it: some platforms refuse a context while one of another kind is current.
    static LEAVE: RefCell<Weak<Shared>> = const { RefCell::new(Weak::new()) };
    static NEXT_ID: Cell<u64> = const { Cell::new(1) };
}

/// An OpenGL context that is current on this thread, with a window or without.
#[derive(Debug)]
pub struct CurrentContext {
    gl: Gl,
}

/// A context that objects share: it is destroyed when the last of them is gone.
#[derive(Clone)]
pub struct Gl(Rc<Shared>);

struct Shared {
    // Before `platform`: glow takes its debug callback back while the context still exists.
    glow: Arc<glow::Context>,
    info: ContextInfo,
    id: u64,
    platform: Platform,
}

/// What a context is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextInfo {
    /// `GL_VENDOR`.
    pub vendor: String,
    /// `GL_RENDERER`: the GPU, or the software that draws.
    pub renderer: String,
    /// `GL_VERSION`.
    pub version: String,
    /// Whether it has a window.
    pub kind: Kind,
    /// The version and profile that it was asked for, such as `OpenGL 4.5 core`.
    pub profile: String,
    /// The CUDA device that its EGL device is (`EGL_NV_device_cuda`), where EGL says so. With a window, ask
    /// `cuGLGetDevices` instead.
    pub cuda_ordinal: Option<u32>,
    /// Whether it sends debug messages to the log.
    pub debug: bool,
}

/// Kinds of contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// With a window.
    Window,
    /// Without a window or a display server, through an EGL device.
    Egl,
}

impl CurrentContext {
    /// What all objects are made with.
    pub fn gl(&self) -> &Gl {
        &self.gl
    }

    /// What it is.
    pub fn info(&self) -> &ContextInfo {
        self.gl.info()
    }

    /// The functions, for egui's painter. They must be called on this thread only, while this context is
    /// current ([`make_current`](Self::make_current)).
    pub fn glow(&self) -> Arc<glow::Context> {
        Arc::clone(&self.gl.0.glow)
    }

    /// Makes it the thread's current context; needed only before calls through [`glow`](Self::glow).
    ///
    /// # Errors
    /// [`Error::Surface`] when the platform refuses, as after a lost device.
    pub fn make_current(&self) -> Result<()> {
        self.gl.make_current()
    }

    /// Tells a window's surface its new size in pixels; nothing without a window. Zero counts as one.
    pub fn resize(&self, [width, height]: [u32; 2]) {
        self.gl.0.platform.resize([width, height]);
    }

    /// Shows what was drawn into the window; nothing without one.
    ///
    /// # Errors
    /// [`Error::Surface`] when the window is gone or the device lost.
    pub fn swap_buffers(&self) -> Result<()> {
        self.make_current()?;
        self.gl.0.platform.swap_buffers()
    }

    /// Whether the driver has taken away what the context holds, because a program, this one or another, has made the
    /// GPU fail: nothing is drawn any more. Only a window's context hears of it, and only where the driver tells.
    pub fn is_reset(&self) -> bool {
        self.gl.is_reset()
    }

    /// Whether [`swap_buffers`](Self::swap_buffers) waits for the display; nothing without a window.
    ///
    /// # Errors
    /// [`Error::Surface`] where the platform cannot do it.
    pub fn set_vsync(&self, wait: bool) -> Result<()> {
        self.make_current()?;
        self.gl.0.platform.set_vsync(wait)
    }
}

impl Gl {
    /// What the context is.
    pub fn info(&self) -> &ContextInfo {
        &self.0.info
    }

    /// Whether it has compute shaders and storage buffers (OpenGL 4.3).
    pub fn computes(&self) -> bool {
        let version = [glow::MAJOR_VERSION, glow::MINOR_VERSION];
        version.map(|number| self.get_parameter_i32(number)) >= [4, 3]
    }

    /// How many pixels a picture that is drawn into can have along each side.
    pub fn max_picture_side(&self) -> u32 {
        let limits = [glow::MAX_TEXTURE_SIZE, glow::MAX_RENDERBUFFER_SIZE];
        let [texture, buffer] = limits.map(|limit| self.get_parameter_i32(limit));
        u32::try_from(texture.min(buffer)).unwrap_or(1)
    }

    /// The largest buffer in bytes that a shader's `buffer` block can name.
    pub fn max_storage_bytes(&self) -> usize {
        usize::try_from(self.get_parameter_i32(glow::MAX_SHADER_STORAGE_BLOCK_SIZE)).unwrap_or(0)
    }

    /// Whether two objects' contexts are one.
    pub fn same(&self, other: &Gl) -> bool {
        self.0.id == other.0.id
    }

    pub(super) fn expect_same(&self, other: &Gl, operation: &'static str) -> Result<()> {
        if self.same(other) { Ok(()) } else { Err(Error::WrongContext { operation }) }
    }

    /// The functions, with this context current.
    pub(super) fn current(&self) -> &glow::Context {
        if let Err(error) = self.make_current() {
            tracing::error!(target: "warpaint::gl", "{error}");
        }
        &self.0.glow
    }

    /// Makes it the thread's current context; needed only before others' calls that expect that.
    ///
    /// # Errors
    /// [`Error::Surface`] when the platform refuses, as after a lost device.
    pub fn make_current(&self) -> Result<()> {
        if self.0.is_current() {
            return Ok(());
        }
        self.0.make_current()?;
        let _ = LEAVE.try_with(|leave| leave.replace(Rc::downgrade(&self.0)));
        Ok(())
    }

    /// Where a function of the driver's is; null where it has none.
    pub(super) fn address(&self, name: &CStr) -> *const c_void {
        self.0.platform.address(name)
    }

    /// Takes over a context that was just made current.
    fn adopt(
        platform: Platform,
        wish: Wish,
        kind: Kind,
        cuda_ordinal: Option<u32>,
    ) -> Result<Self> {
        let id = NEXT_ID.replace(NEXT_ID.get() + 1);
        CURRENT.set(id);
        let mut glow = loader::load(&|name| platform.address(name)).ok_or_else(|| {
            let why = "the library has no glGetString".into();
            Error::NoContext { attempts: vec![Attempt { what: wish.to_string(), why }] }
        })?;
        let info = ContextInfo {
            vendor: loader::string(&glow, glow::VENDOR),
            renderer: loader::string(&glow, glow::RENDERER),
            version: loader::string(&glow, glow::VERSION),
            kind,
            profile: wish.to_string(),
            cuda_ordinal,
            debug: wish.debug && debug::install(&mut glow),
        };
        tracing::info!(target: "warpaint::gl", "{} ({})", info.renderer, info.version);
        let shared = Rc::new(Shared { glow: Arc::new(glow), info, id, platform });
        LEAVE.set(Rc::downgrade(&shared));
        Ok(Self(shared))
    }
}

/// Leaves the thread's current context, if it is one of ours.
fn leave_current() {
    let _ = CURRENT.try_with(|current| current.set(0));
    let left = LEAVE.try_with(RefCell::take).ok().and_then(|left| left.upgrade());
    if let Some(shared) = left {
        shared.platform.leave();
    }
}

impl Shared {
    fn is_current(&self) -> bool {
        // During a thread's end its statics may be gone; then the platform is asked each time.
        CURRENT.try_with(Cell::get) == Ok(self.id)
    }

    fn make_current(&self) -> Result<()> {
        leave_current();
        self.platform.make_current()?;
        let _ = CURRENT.try_with(|current| current.set(self.id));
        Ok(())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // glow unsets its debug callback in its own drop, which follows, and needs the context for it.
        if !self.is_current() && self.make_current().is_err() {
            tracing::warn!(target: "warpaint::gl", "a context was lost before it was dropped");
        }
        let _ = CURRENT.try_with(|current| current.set(0));
    }
}

impl fmt::Debug for Gl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gl").field(&self.0.info.renderer).finish()
    }
}

/// A kind of context to ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wish {
    version: (u8, u8),
    debug: bool,
    /// To be told where the GPU was reset.
    robust: bool,
}

impl Wish {
    /// Best first. 4.5 has what interop likes (direct state access, clip control), 4.3 debug output, 3.3 is
    /// what our shaders need.
    fn list(kind: Kind) -> Vec<Self> {
        let debug: &[bool] = if debug::wanted() { &[true, false] } else { &[false] };
        // A window stays open for days; who draws without one has no use for it.
        let robust: &[bool] = if kind == Kind::Window { &[true, false] } else { &[false] };
        let versions = [(4, 5), (4, 3), (3, 3)].into_iter();
        let of = |version| {
            let of = move |debug| robust.iter().map(move |&robust| Self { version, debug, robust });
            debug.iter().copied().flat_map(of)
        };
        versions.flat_map(of).collect()
    }

    fn attributes(
        self,
        window: Option<raw_window_handle::RawWindowHandle>,
    ) -> glutin::context::ContextAttributes {
        use glutin::context::{
            ContextApi, ContextAttributesBuilder, GlProfile, Robustness, Version,
        };
        let (major, minor) = self.version;
        let robustness = match self.robust {
            true => Robustness::RobustLoseContextOnReset,
            false => Robustness::NotRobust,
        };
        ContextAttributesBuilder::new()
            .with_robustness(robustness)
            .with_context_api(ContextApi::OpenGl(Some(Version::new(major, minor))))
            .with_profile(GlProfile::Core)
            .with_debug(self.debug)
            .build(window)
    }
}

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.version;
        write!(
            f,
            "OpenGL {major}.{minor} core{}",
            if self.debug { " with debug output" } else { "" }
        )
    }
}
