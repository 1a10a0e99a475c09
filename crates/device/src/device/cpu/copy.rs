//! Copies and fills: rows of bytes in the arena and on the host, as a piece of a stream's work.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Array, HostMemory, memory::Arena};
use crate::device::{self, Error, Fill, Pitch, Region, Result, host_part::HostRows};

/// Where a piece of work leaves its result, or finds what it works with.
pub(super) type Slot<T> = Arc<Mutex<Option<T>>>;

/// Host memory while a copy owns it.
pub(super) type HostSlot = Slot<HostMemory>;

/// Rows of bytes in the arena: where the first one starts, and how the others follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    pub(super) address: u64,
    pub(super) pitch: Pitch,
}

impl Lines {
    /// Of a region, and the array that it lies in.
    pub(super) fn of(region: &Region<'_>) -> Result<(Self, Option<Array>)> {
        match region {
            Region::Rows(rows) => Ok((Self { address: rows.address(), pitch: rows.pitch() }, None)),
            Region::Array(region) => {
                let device::Array::Cpu(array) = region.array() else {
                    return Err(Error::WrongDevice { operation: "copy" });
                };
                let (address, pitch) = array.rows(region);
                Ok((Self { address, pitch }, Some(array.clone())))
            }
        }
    }

    /// Bytes from the first row to another.
    fn offset(pitch: Pitch, (row, slice): (usize, usize)) -> usize {
        (slice * pitch.rows + row) * pitch.row_bytes
    }

    fn address(&self, at: (usize, usize)) -> u64 {
        self.address + Self::offset(self.pitch, at) as u64
    }
}

/// A copy or a fill of rows.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) kind: Kind,
    /// Bytes of a row, rows, slices.
    pub(super) extent: [usize; 3],
    /// The arrays that take part, which live until it is done.
    pub(super) _kept: [Option<Array>; 2],
}

/// What goes where.
#[derive(Debug)]
pub(super) enum Kind {
    Upload {
        to: Lines,
        bytes: Vec<u8>,
    },
    Download {
        from: Lines,
        to: Slot<Vec<u8>>,
    },
    Copy {
        to: Lines,
        from: Lines,
    },
    Fill {
        to: Lines,
        value: Fill,
    },
    /// From another device's memory.
    Peer {
        to: Lines,
        from: Lines,
        arena: Arc<Arena>,
    },
    /// Between the device and host memory that stays its owner's: to the device if `upload`.
    Transfer {
        device: Lines,
        host: HostSlot,
        rows: HostRows,
        upload: bool,
    },
}

impl Copy {
    /// Does it; false where a row does not lie in an allocation.
    pub(super) fn run(self, arena: &Arena) -> bool {
        let [row_bytes, rows, slices] = self.extent;
        let mut each = (0..slices).flat_map(|slice| (0..rows).map(move |row| (row, slice)));
        match self.kind {
            Kind::Transfer { device, host, rows, upload } => {
                let mut slot = host.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(memory) = slot.as_mut() else { return false };
                each.all(|at| {
                    let start = rows.offset + Lines::offset(rows.pitch, at);
                    let row = memory.get_mut(start..start + row_bytes);
                    row.is_some_and(|row| match upload {
                        true => arena.write(device.address(at), row),
                        false => arena.read(device.address(at), row),
                    })
                })
            }
            Kind::Peer { to, from, arena: theirs } => {
                let mut row = Vec::with_capacity(row_bytes);
                each.all(|at| {
                    row.clear();
                    let read = theirs.append(from.address(at), row_bytes, &mut row);
                    read && arena.write(to.address(at), &row)
                })
            }
            Kind::Upload { .. } | Kind::Copy { .. } | Kind::Fill { .. } if row_bytes == 0 => true,
            Kind::Upload { to, bytes } => {
                each.zip(bytes.chunks(row_bytes)).all(|(at, row)| arena.write(to.address(at), row))
            }
            Kind::Copy { to, from } => {
                each.all(|at| arena.copy(to.address(at), from.address(at), row_bytes))
            }
            Kind::Fill { to, value } => each.all(|at| arena.fill(to.address(at), row_bytes, value)),
            Kind::Download { from, to } => {
                let mut bytes = Vec::with_capacity(row_bytes * rows * slices);
                let fits = each.all(|at| arena.append(from.address(at), row_bytes, &mut bytes));
                *to.lock().unwrap_or_else(PoisonError::into_inner) = fits.then_some(bytes);
                fits
            }
        }
    }
}
