//! A part of the host's page-locked memory.

use super::{Error, HostMemory, Pitch, Result};

/// The host's side of a copy: where it starts, and how its rows lie. [`HostMemory`] itself is one, too: without gaps,
/// from its first byte.
///
/// ```
/// use warpaint::device::{Device, HostFlags, Pitch};
///
/// let device = Device::cpu()?;
/// let (stream, memory) = (device.stream()?, device.alloc(4)?);
/// stream.upload(memory.slice(..)?, &[1, 2, 3, 4])?;
/// let square = memory.slice(..)?.rows(Pitch { row_bytes: 2, rows: 2 }, [2, 2, 1])?;
///
/// // To the lower right of a picture of three rows of four bytes.
/// let picture = device.alloc_host(12, HostFlags::default())?;
/// let part = picture.at(6).pitched(Pitch { row_bytes: 4, rows: 2 });
/// let picture = stream.download_to(part, square)?.wait()?;
/// assert_eq!(*picture, [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4]);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Debug)]
pub struct HostPart {
    pub(super) memory: HostMemory,
    pub(super) offset: usize,
    pub(super) pitch: Option<Pitch>,
}

impl HostPart {
    /// The same, with its rows so far apart.
    ///
    /// ```
    /// # use warpaint::device::{Device, HostFlags, Pitch};
    /// # let device = Device::cpu()?;
    /// # let (stream, memory) = (device.stream()?, device.alloc(4)?);
    /// let mut host = device.alloc_host(6, HostFlags::default())?;
    /// host.copy_from_slice(&[1, 2, 0, 3, 4, 0]); // a byte between rows of two
    /// let rows = memory.slice(..)?.rows(Pitch::tight([2, 2, 1]), [2, 2, 1])?;
    /// stream.upload_from(rows, host.at(0).pitched(Pitch { row_bytes: 3, rows: 2 }))?.wait()?;
    /// assert_eq!(stream.download(memory.slice(..)?)?.wait()?, [1, 2, 3, 4]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    #[must_use]
    pub fn pitched(self, pitch: Pitch) -> Self {
        Self { pitch: Some(pitch), ..self }
    }

    /// That rows of such an extent lie in it; how they lie.
    pub(super) fn check(&self, extent: [usize; 3]) -> Result<HostRows> {
        let pitch = self.pitch.unwrap_or(Pitch::tight(extent)).of_rows(extent);
        let bytes = self.memory.len();
        let Some(rest) = bytes.checked_sub(self.offset) else {
            return Err(Error::OutOfRange { start: self.offset, end: self.offset, bytes });
        };
        pitch.check(extent, rest)?;
        Ok(HostRows { offset: self.offset, pitch, extent })
    }
}

impl From<HostMemory> for HostPart {
    fn from(memory: HostMemory) -> Self {
        memory.at(0)
    }
}

/// Where rows lie in host memory, which has room for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostRows {
    pub(super) offset: usize,
    pub(super) pitch: Pitch,
    /// Bytes of a row, rows, and slices.
    pub(super) extent: [usize; 3],
}
