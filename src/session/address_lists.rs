//! Lists of addresses in memory of the device, for kernels that take a pointer to pointers.

use std::{
    collections::HashMap,
    mem,
    sync::{Mutex, PoisonError},
};

use crate::device::{self, Memory, Stream};

/// So many lists are kept before those that no launch has taken for as long go: where addresses follow the step, each
/// step has others.
const MOST: usize = 512;

/// The lists of a program, by what they hold: the same addresses are in the same list, whichever launch takes them, but
/// for launches that may change them.
#[derive(Default)]
pub(super) struct AddressLists(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Those that were taken last, [`MOST`] at most.
    recent: HashMap<Key, Memory>,
    /// As many before them.
    before: HashMap<Key, Memory>,
}

/// What tells one list from another.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The addresses, one after the other.
    pub(super) addresses: Vec<u8>,
    /// The parameter by which a kernel may change it: it has one of its own, which each launch is given as the manifest
    /// says.
    pub(super) changed_by: Option<usize>,
}

impl AddressLists {
    /// Where these addresses lie one after the other once the stream has come here.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn address(&self, stream: &Stream, key: Key) -> device::Result<u64> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = known.recent.get(&key) {
            if key.changed_by.is_some() {
                stream.upload(list.slice(..)?, &key.addresses)?;
            }
            return Ok(list.address());
        }
        let (list, is_new) = match known.before.remove(&key) {
            Some(list) => (list, false),
            None => (stream.device().alloc(key.addresses.len())?, true),
        };
        if is_new || key.changed_by.is_some() {
            stream.upload(list.slice(..)?, &key.addresses)?;
        }
        if known.recent.len() == MOST {
            // Kernels that were put on the stream may read them yet.
            stream.synchronize()?;
            known.before = mem::take(&mut known.recent);
        }
        let address = list.address();
        known.recent.insert(key, list);
        Ok(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    #[test]
    fn lists_that_follow_the_step_do_not_pile_up() {
        let device = Device::cpu().unwrap();
        let (stream, lists) = (device.stream().unwrap(), AddressLists::default());
        let key = |number: u64| Key { addresses: number.to_le_bytes().into(), changed_by: None };
        let of = |number| lists.address(&stream, key(number)).unwrap();
        let first = of(0);
        for step in 1..3 * MOST as u64 {
            of(step);
            assert_eq!(of(0), first, "what every step takes stays where it is");
        }
        let known = lists.0.lock().unwrap();
        assert!(known.recent.len() <= MOST && known.before.len() <= MOST);
    }
}
