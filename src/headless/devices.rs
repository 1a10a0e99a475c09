//! `warpaint devices`: what there is to run on, and what it shares with OpenGL.

use std::{collections::BTreeMap, fmt::Write};

use serde::Serialize;

use crate::{
    device::{Device, DeviceInfo, DeviceKind, Inventory},
    gl, interop,
};

/// Every device and what it can share with.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// NVIDIA GPUs, then the CPU device.
    pub devices: Vec<Entry>,
    /// Why there is no NVIDIA device, where there is none.
    pub nvidia_missing: Option<String>,
}

/// One device.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The device.
    #[serde(flatten)]
    pub info: DeviceInfo,
    /// The OpenGL without a window that it would draw with.
    pub opengl: OpenGl,
    /// Every property that the driver tells, where that was asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<&'static str, i32>,
    /// Its place on the PCI bus, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pci_bus_id: Option<String>,
}

/// The OpenGL that goes with a device.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OpenGl {
    /// Kernels write into OpenGL's buffers.
    Shared {
        /// The renderer's name.
        renderer: String,
        /// The version of OpenGL.
        version: String,
    },
    /// Results are copied.
    Copied {
        /// The renderer's name.
        renderer: String,
        /// The version of OpenGL.
        version: String,
        /// Why they cannot be shared.
        reason: String,
    },
    /// There is none.
    Missing(String),
}

/// Looks at every device of this machine, with all of its properties if `verbose`. Never fails: what is missing is in
/// the report.
pub fn devices(verbose: bool) -> Report {
    let Inventory { devices, nvidia_missing } = Device::all();
    let devices = devices.into_iter().map(|info| entry(info, verbose)).collect();
    Report { devices, nvidia_missing }
}

fn entry(info: DeviceInfo, verbose: bool) -> Entry {
    let opened = verbose.then(|| info.selector.parse().ok().and_then(|c| Device::open(c).ok()));
    let device = opened.flatten();
    let attributes = device.as_ref().and_then(|device| device.attributes().ok());
    let attributes = attributes.unwrap_or_default().into_iter();
    Entry {
        opengl: opengl_of(&info),
        info,
        attributes: attributes.map(|(attribute, value)| (attribute.name(), value)).collect(),
        pci_bus_id: device.as_ref().and_then(Device::as_nvidia).and_then(|d| d.pci_bus_id().ok()),
    }
}

fn opengl_of(info: &DeviceInfo) -> OpenGl {
    probe(info).unwrap_or_else(OpenGl::Missing)
}

fn probe(info: &DeviceInfo) -> Result<OpenGl, String> {
    let choice = info.selector.parse()?;
    let device = Device::open(choice).map_err(|e| e.to_string())?;
    let cuda_ordinal = match choice {
        crate::device::Choice::Cuda(ordinal) => Some(ordinal),
        crate::device::Choice::Auto | crate::device::Choice::Cpu => None,
    };
    let context =
        gl::CurrentContext::headless(gl::Headless { cuda_ordinal }).map_err(|e| e.to_string())?;
    let (renderer, version) = (context.info().renderer.clone(), context.info().version.clone());
    Ok(match interop::Interop::new(context.gl(), &device).path() {
        interop::Path::Copied(reason) => {
            OpenGl::Copied { renderer, version, reason: reason.clone() }
        }
        interop::Path::Registered | interop::Path::None => OpenGl::Shared { renderer, version },
    })
}

impl Report {
    /// The report as lines to read.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        if let Some(reason) = &self.nvidia_missing {
            line(&mut text, format_args!("no NVIDIA device: {reason}"));
        }
        for Entry { info, opengl, attributes, pci_bus_id } in &self.devices {
            let (major, minor) = info.compute_capability;
            line(&mut text, format_args!("{:<8} {}", info.selector, info.name));
            let gib = info.total_memory_bytes as f64 / f64::from(1 << 30);
            let units = match info.kind {
                DeviceKind::Nvidia => "multiprocessors",
                DeviceKind::Cpu => "cores",
            };
            line(
                &mut text,
                format_args!(
                    "         compute {major}.{minor}, {} {units}, {gib:.1} GiB, {} threads a block, {} KiB shared",
                    info.multiprocessors,
                    info.max_threads_per_block,
                    info.max_shared_bytes / 1024,
                ),
            );
            if let Some((major, minor)) = info.driver_version {
                line(&mut text, format_args!("         driver for CUDA {major}.{minor}"));
            }
            line(&mut text, format_args!("         {opengl}"));
            if let Some(bus_id) = pci_bus_id {
                line(&mut text, format_args!("         PCI bus {bus_id}"));
            }
            for (name, value) in attributes {
                line(&mut text, format_args!("         {name:<57} {value}"));
            }
        }
        text
    }
}

impl std::fmt::Display for OpenGl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Shared { renderer, version } => {
                write!(f, "OpenGL {version}, {renderer}: kernels write into its buffers")
            }
            Self::Copied { renderer, version, reason } => {
                write!(f, "OpenGL {version}, {renderer}: results are copied ({reason})")
            }
            Self::Missing(reason) => write!(f, "no OpenGL: {reason}"),
        }
    }
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "{arguments}");
}
