//! What a device is, in values with one meaning for both backends.

use std::{
    fmt,
    str::FromStr,
    sync::atomic::{AtomicU64, Ordering},
};

use super::Error;

/// Tells one opened device's handles from another's, within this process.
///
/// ```
/// use warpaint::device::Device;
///
/// let (one, other) = (Device::cpu()?, Device::cpu()?);
/// assert_eq!(one.id(), one.clone().id());
/// assert_ne!(one.id(), other.id()); // memory of the one is not for the other
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceId(u64);

impl DeviceId {
    /// An id that no other opened device has.
    #[doc(hidden)]
    pub fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Which backend a device belongs to.
///
/// ```
/// use warpaint::device::{Device, DeviceKind};
///
/// assert_eq!(Device::cpu()?.info().kind, DeviceKind::Cpu);
/// assert_eq!(serde_json::to_string(&DeviceKind::Nvidia)?, "\"nvidia\"");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// An NVIDIA GPU.
    Nvidia,
    /// The embedded CPU device.
    Cpu,
}

/// What the user asked for with `--device`: `auto`, `cuda`, `cuda:N` or `cpu`.
///
/// ```
/// use warpaint::device::Choice;
///
/// assert_eq!("cuda:1".parse(), Ok(Choice::Cuda(1)));
/// assert!("gpu".parse::<Choice>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The first NVIDIA GPU, else the CPU.
    #[default]
    Auto,
    /// The NVIDIA GPU with this ordinal.
    Cuda(u32),
    /// The CPU device.
    Cpu,
}

impl Choice {
    /// What the user chose for all programs: the variable `WARPAINT_DEVICE` (`auto`, `cuda`, `cuda:N` or `cpu`), or
    /// else what PyCUDA reads, an ordinal in the variable `CUDA_DEVICE` or in the file `.cuda-device` in the home
    /// folder. [`Choice::Auto`] where there is none of them.
    ///
    /// ```
    /// # use warpaint::device::{Choice, Device};
    /// let device = Device::open(Choice::of_user()?)?;
    /// let known = Device::all().devices;
    /// assert!(known.iter().any(|info| info.selector == device.info().selector));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Choice`] where one of them holds something else.
    pub fn of_user() -> super::Result<Self> {
        let file = || {
            let home = directories::BaseDirs::new()?.home_dir().join(".cuda-device");
            std::fs::read_to_string(home).ok()
        };
        Self::chosen(|name| std::env::var(name).ok(), file)
    }

    fn chosen(
        variable: impl Fn(&str) -> Option<String>,
        file: impl FnOnce() -> Option<String>,
    ) -> super::Result<Self> {
        let given = |text: &String| !text.trim().is_empty();
        if let Some(text) = variable("WARPAINT_DEVICE").filter(given) {
            let wrong = |problem| Error::Choice { place: "WARPAINT_DEVICE", problem };
            return text.trim().parse().map_err(wrong);
        }
        let (place, text) = match variable("CUDA_DEVICE").filter(given) {
            Some(text) => ("CUDA_DEVICE", text),
            None => match file().filter(given) {
                Some(text) => ("~/.cuda-device", text),
                None => return Ok(Self::Auto),
            },
        };
        let wrong =
            |_| Error::Choice { place, problem: format!("`{}` is no ordinal", text.trim()) };
        text.trim().parse().map(Self::Cuda).map_err(wrong)
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("`{text}` is no device; use auto, cuda, cuda:N or cpu");
        match text.split_once(':') {
            None if text == "auto" => Ok(Self::Auto),
            None if text == "cpu" => Ok(Self::Cpu),
            None if text == "cuda" => Ok(Self::Cuda(0)),
            Some(("cuda", ordinal)) => ordinal.parse().map(Self::Cuda).map_err(|_| unknown()),
            _ => Err(unknown()),
        }
    }
}

/// Name, limits and capabilities of a device.
///
/// ```
/// use warpaint::device::{Device, DeviceKind};
///
/// let device = Device::cpu()?;
/// let info = device.info();
/// assert_eq!((info.kind, info.selector.as_str()), (DeviceKind::Cpu, "cpu"));
/// assert_eq!(info.to_string(), format!("{} (cpu)", info.name));
/// assert_eq!((info.warp_size, info.max_block), (32, [1024, 1024, 64]));
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Debug, serde::Serialize)]
pub struct DeviceInfo {
    /// Which backend.
    pub kind: DeviceKind,
    /// How `--device` names it: `cuda:0`, `cpu`.
    pub selector: String,
    /// The maker's name for it.
    pub name: String,
    /// Compute capability, major and minor; the CPU device gives the one that it compiles for.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors, or cores that run blocks.
    pub multiprocessors: u32,
    /// Threads of a warp.
    pub warp_size: u32,
    /// Most threads in a block.
    pub max_threads_per_block: u32,
    /// Most threads of a block in x, y and z.
    pub max_block: [u32; 3],
    /// Most blocks of a grid in x, y and z.
    pub max_grid: [u32; 3],
    /// Most shared memory of a block in bytes, static and dynamic together.
    pub max_shared_bytes: u32,
    /// Memory in bytes.
    pub total_memory_bytes: u64,
    /// The newest CUDA version that the driver knows, major and minor; `None` for the CPU device.
    pub driver_version: Option<(u32, u32)>,
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.selector)
    }
}

/// Every device of a machine.
///
/// ```
/// use warpaint::device::{Device, DeviceKind};
///
/// let inventory = Device::all();
/// for info in &inventory.devices {
///     println!("{info}: {} MiB", info.total_memory_bytes >> 20);
/// }
/// let has_gpu = inventory.devices[0].kind == DeviceKind::Nvidia;
/// assert_eq!(has_gpu, inventory.nvidia_missing.is_none());
/// ```
#[derive(Clone, Debug, serde::Serialize)]
pub struct Inventory {
    /// NVIDIA GPUs by ordinal, then the CPU device.
    pub devices: Vec<DeviceInfo>,
    /// Why there is no NVIDIA device, in one sentence, where there is none.
    pub nvidia_missing: Option<String>,
}

/// Memory of a device in bytes.
///
/// ```
/// use warpaint::device::Device;
///
/// let device = Device::cpu()?;
/// let before = device.memory_info()?;
/// let memory = device.alloc(1 << 20)?;
/// assert_eq!(before.free - device.memory_info()?.free, 1 << 20);
/// drop(memory);
/// assert_eq!(device.memory_info()?, before);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MemoryInfo {
    /// Not allocated.
    pub free: u64,
    /// All of it.
    pub total: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_choice_has_an_order() {
        let chosen = |ours: Option<&str>, pycuda: Option<&str>, file: Option<&str>| {
            let variable = |name: &str| match name {
                "WARPAINT_DEVICE" => ours.map(str::to_owned),
                _ => pycuda.map(str::to_owned),
            };
            Choice::chosen(variable, || file.map(str::to_owned))
        };
        assert_eq!(chosen(None, None, None).unwrap(), Choice::Auto);
        assert_eq!(chosen(None, None, Some("2\n")).unwrap(), Choice::Cuda(2));
        assert_eq!(chosen(None, Some("1"), Some("2")).unwrap(), Choice::Cuda(1));
        assert_eq!(chosen(Some("cpu"), Some("1"), Some("2")).unwrap(), Choice::Cpu);
        assert_eq!(chosen(Some(""), Some(" "), None).unwrap(), Choice::Auto);
        let wrong = chosen(None, Some("first"), None).unwrap_err().to_string();
        assert_eq!(wrong, "CUDA_DEVICE names no device: `first` is no ordinal");
        assert!(matches!(chosen(Some("gpu"), None, None), Err(Error::Choice { .. })));
    }
}
