//! Contexts without a window: EGL device list, display of a device, surfaceless context.
//!
//! `EGL_EXT_device_enumeration`, `EGL_EXT_platform_device`, `EGL_KHR_surfaceless_context`; which CUDA device
//! an EGL device is, `EGL_NV_device_cuda` tells.
#![expect(unsafe_code, reason = "glutin's display and context creation, and one EGL query")]

use glutin::{
    api::egl::{Egl, context::NotCurrentContext, device::Device, display::Display},
    config::{Api, ConfigSurfaceTypes, ConfigTemplateBuilder},
    prelude::*,
};
use serde::Serialize;

use super::{
    Attempt, CurrentContext, Error, Gl, Kind, Result, Wish, leave_current, platform::Platform,
};

/// `EGL_CUDA_DEVICE_NV` of `EGL_NV_device_cuda`.
const CUDA_DEVICE_NV: i32 = 0x323A;

/// Which context to make when there is no window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headless {
    /// The CUDA device that the context should share with: its EGL device is tried before all others. The
    /// result's [`ContextInfo::cuda_ordinal`](super::ContextInfo::cuda_ordinal) says whether it was had.
    pub cuda_ordinal: Option<u32>,
}

/// A device that EGL can draw on without a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EglDevice {
    /// Its name where EGL tells one, else its render node, else its number.
    pub name: String,
    /// The CUDA device that it is.
    pub cuda_ordinal: Option<u32>,
    /// Whether the processor draws.
    pub software: bool,
}

impl CurrentContext {
    /// A context without a window or a display server, current on this thread.
    ///
    /// Tried in this order: the device with the CUDA ordinal asked for, hardware, software; on each OpenGL
    /// 4.5, 4.3 and 3.3 core.
    ///
    /// # Errors
    /// [`Error::NoEgl`] without EGL or any driver for it; [`Error::NoContext`] with everything tried.
    pub fn headless(wish: Headless) -> Result<Self> {
        leave_current();
        let mut attempts = Vec::new();
        for candidate in candidates(wish.cuda_ordinal)? {
            match candidate.context(&mut attempts) {
                Some(gl) => return Ok(Self { gl: gl? }),
                None => {
                    tracing::debug!(target: "warpaint::gl", "no context on {}", candidate.about.name)
                }
            }
        }
        Err(Error::NoContext { attempts })
    }
}

/// The devices that EGL can draw on, in the order in which [`CurrentContext::headless`] tries them.
///
/// # Errors
/// [`Error::NoEgl`] without EGL or any driver for it.
pub fn egl_devices() -> Result<Vec<EglDevice>> {
    Ok(candidates(None)?.into_iter().map(|candidate| candidate.about).collect())
}

struct Candidate {
    device: Device,
    about: EglDevice,
}

fn candidates(cuda_ordinal: Option<u32>) -> Result<Vec<Candidate>> {
    let devices: Vec<_> =
        Device::query_devices().map_err(|error| Error::NoEgl { reason: no_egl(&error) })?.collect();
    if devices.is_empty() {
        return Err(Error::NoEgl { reason: "libEGL knows no driver".into() });
    }
    let egl = devices.iter().find_map(|device| display(device).ok()).map(|display| display.egl());
    let mut list: Vec<_> = devices
        .into_iter()
        .enumerate()
        .map(|(index, device)| Candidate { about: about(index, &device, egl), device })
        .collect();
    list.sort_by_key(|candidate| {
        let wanted = cuda_ordinal.is_some() && candidate.about.cuda_ordinal == cuda_ordinal;
        (!wanted, candidate.about.software, candidate.about.cuda_ordinal.is_none())
    });
    Ok(list)
}

fn no_egl(error: &glutin::error::Error) -> String {
    use glutin::error::ErrorKind;
    match error.error_kind() {
        ErrorKind::NotFound => "the library libEGL.so.1 was not found".into(),
        _ => format!("its devices cannot be listed ({error})"),
    }
}

fn about(index: usize, device: &Device, egl: Option<&Egl>) -> EglDevice {
    let node = || device.drm_render_device_node_path().map(|path| path.display().to_string());
    let software = device.extensions().contains("EGL_MESA_device_software");
    let fallback = || if software { "Mesa software".into() } else { format!("EGL device {index}") };
    EglDevice {
        name: device.name().map(str::to_owned).or_else(node).unwrap_or_else(fallback),
        cuda_ordinal: egl.and_then(|egl| cuda_ordinal(egl, device)),
        software,
    }
}

fn cuda_ordinal(egl: &Egl, device: &Device) -> Option<u32> {
    if !device.extensions().contains("EGL_NV_device_cuda") || !egl.QueryDeviceAttribEXT.is_loaded()
    {
        return None;
    }
    let mut value: isize = -1;
    // SAFETY: the function is loaded, the device comes from the same EGL and has the extension that defines
    // the attribute; `value` is an EGLAttrib that lives through the call.
    let found =
        unsafe { egl.QueryDeviceAttribEXT(device.raw_device(), CUDA_DEVICE_NV, &raw mut value) };
    (found != 0).then_some(value).and_then(|value| u32::try_from(value).ok())
}

fn display(device: &Device) -> glutin::error::Result<Display> {
    // SAFETY: no display handle is given that would have to stay open.
    unsafe { Display::with_device(device, None) }
}

impl Candidate {
    /// A context on this device, or `None` with the reasons added to `attempts`.
    fn context(&self, attempts: &mut Vec<Attempt>) -> Option<Result<Gl>> {
        let mut note = |what: String, why: String| {
            attempts.push(Attempt { what: format!("EGL on {}, {what}", self.about.name), why });
        };
        let display = match display(&self.device) {
            Ok(display) => display,
            Err(error) => {
                note("its display".into(), error.to_string());
                return None;
            }
        };
        for wish in Wish::list(Kind::Egl) {
            match context(&display, wish) {
                Ok(context) => {
                    let platform = Platform::Egl(context);
                    return Some(Gl::adopt(platform, wish, Kind::Egl, self.about.cuda_ordinal));
                }
                Err(error) => note(wish.to_string(), error.to_string()),
            }
        }
        None
    }
}

fn context(
    display: &Display,
    wish: Wish,
) -> glutin::error::Result<glutin::api::egl::context::PossiblyCurrentContext> {
    let template = ConfigTemplateBuilder::new()
        .with_surface_type(ConfigSurfaceTypes::empty())
        .with_api(Api::OPENGL)
        .build();
    // SAFETY: the template names no native window or pixmap.
    let config = unsafe { display.find_configs(template) }?
        .next()
        .ok_or(glutin::error::ErrorKind::BadConfig)?;
    // SAFETY: the attributes hold no window handle.
    let context: NotCurrentContext =
        unsafe { display.create_context(&config, &wish.attributes(None)) }?;
    context.make_current_surfaceless()
}
