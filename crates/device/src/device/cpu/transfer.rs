//! Copies and fills that are put on a stream, and those on their way to the host.

use std::sync::PoisonError;

use super::{
    HostMemory, Stream,
    copy::{Copy, HostSlot, Kind, Lines, Slot},
    stream::Pending,
};
use crate::device::{Fill, Region, Result, Rows, host_part::HostRows};

impl Stream {
    /// Copies `bytes` of the host to `to`.
    ///
    /// # Errors
    /// None that is known before the copy is done.
    pub fn upload(&self, to: &Region<'_>, bytes: &[u8]) -> Result<()> {
        let (lines, array) = Lines::of(to)?;
        let kind = Kind::Upload { to: lines, bytes: bytes.to_vec() };
        self.push_copy(Copy { kind, extent: to.extent(), _kept: [array, None] });
        Ok(())
    }

    /// Starts to copy `from` to the host.
    ///
    /// # Errors
    /// None that is known before the copy is done.
    pub fn download(&self, from: &Region<'_>) -> Result<Readback> {
        let (lines, array) = Lines::of(from)?;
        let slot = Slot::default();
        let kind = Kind::Download { from: lines, to: slot.clone() };
        let number = self.push_copy(Copy { kind, extent: from.extent(), _kept: [array, None] });
        Ok(Readback(self.pending(number, slot)))
    }

    /// Copies `from` to `to`, which has the same shape.
    ///
    /// # Errors
    /// None that is known before the copy is done.
    pub fn copy(&self, to: &Region<'_>, from: &Region<'_>) -> Result<()> {
        let ((to, to_array), (from, from_array), extent) =
            (Lines::of(to)?, Lines::of(from)?, to.extent());
        let kind = Kind::Copy { to, from };
        self.push_copy(Copy { kind, extent, _kept: [to_array, from_array] });
        Ok(())
    }

    /// Copies from the memory of another device, behind what is on `peer`, a stream there; what is put on `peer` later
    /// waits for the copy, and so does who frees that memory.
    ///
    /// # Errors
    /// None that is known before the copy is done.
    pub fn copy_from_peer(&self, to: &Region<'_>, peer: &Self, from: &Region<'_>) -> Result<()> {
        let ((to, to_array), (from, from_array), extent) =
            (Lines::of(to)?, Lines::of(from)?, to.extent());
        self.wait_for(peer);
        let kind = Kind::Peer { to, from, arena: peer.device().shared.arena.clone() };
        self.push_copy(Copy { kind, extent, _kept: [to_array, from_array] });
        peer.wait_for(self);
        Ok(())
    }

    /// Starts to copy between a region and rows of host memory: to the region if `upload`.
    ///
    /// # Errors
    /// None that is known before the copy is done.
    pub(in crate::device) fn transfer(
        &self,
        region: &Region<'_>,
        memory: HostMemory,
        rows: HostRows,
        upload: bool,
    ) -> Result<Transfer> {
        let slot: HostSlot = Slot::default();
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(memory);
        let number = self.push_transfer(region, slot.clone(), rows, upload)?;
        Ok(Transfer(self.pending(number, slot)))
    }

    /// Copies between a region and host memory; the number of this piece of work.
    fn push_transfer(
        &self,
        region: &Region<'_>,
        host: HostSlot,
        rows: HostRows,
        upload: bool,
    ) -> Result<u64> {
        let (device, array) = Lines::of(region)?;
        let kind = Kind::Transfer { device, host, rows, upload };
        Ok(self.push_copy(Copy { kind, extent: rows.extent, _kept: [array, None] }))
    }

    /// Fills `to` with a value.
    ///
    /// # Errors
    /// None that is known before the fill is done.
    pub fn fill(&self, to: &Rows<'_>, value: Fill) -> Result<()> {
        let kind = Kind::Fill { to: Lines { address: to.address(), pitch: to.pitch() }, value };
        self.push_copy(Copy { kind, extent: to.extent(), _kept: [None, None] });
        Ok(())
    }
}

/// Bytes on their way to the host, in the order of the stream that copies them.
#[derive(Debug)]
pub struct Readback(pub(super) Pending<Vec<u8>>);

impl Readback {
    /// Whether [`Readback::wait_with`] would return at once.
    ///
    /// # Errors
    /// None on this device.
    pub fn is_ready(&self) -> Result<bool> {
        Ok(self.0.is_ready())
    }

    /// The bytes, once they are there.
    ///
    /// # Errors
    /// An error of the stream before the copy that was not reported yet.
    pub fn wait(self) -> Result<Vec<u8>> {
        Ok(self.0.wait()?.unwrap_or_default())
    }

    /// What `read` makes of the bytes, once they are there.
    ///
    /// # Errors
    /// As [`Readback::wait`].
    pub fn wait_with<R>(self, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        Ok(read(&self.wait()?))
    }
}

/// A copy that is under way, with the host's memory.
#[derive(Debug)]
pub struct Transfer(Pending<HostMemory>);

impl Transfer {
    /// Whether the copy has ended.
    ///
    /// # Errors
    /// None on this device.
    pub fn is_ready(&self) -> Result<bool> {
        Ok(self.0.is_ready())
    }

    /// Waits for its end; the memory, and, with `report`, the first error of the work up to the copy that was not
    /// reported yet.
    pub(in crate::device) fn end(self, report: bool) -> (Option<HostMemory>, Result<()>) {
        self.0.end(report)
    }
}
