//! Lists of addresses in memory of the device, for kernels that take a pointer to pointers.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use crate::device::{self, Memory, Stream};

/// The lists of a program, by what they hold: the same addresses are in the same list, whichever launch takes them.
#[derive(Default)]
pub(super) struct Tables(Mutex<HashMap<Vec<u8>, Memory>>);

impl Tables {
    /// Where these addresses lie one after the other once the stream has come here.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn address(&self, stream: &Stream, addresses: &[u8]) -> device::Result<u64> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = known.get(addresses) {
            return Ok(table.address());
        }
        let table = stream.device().alloc(addresses.len())?;
        stream.upload(table.slice(..)?, addresses)?;
        let address = table.address();
        known.insert(addresses.to_vec(), table);
        Ok(address)
    }
}
