//! Lists of addresses in memory of the device, for kernels that take a pointer to pointers.

use std::{
    collections::HashMap,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{
    device::{self, Memory, Stream},
    state::free,
};

/// So many lists are kept before those that no launch has taken for as long go: where addresses follow the step, each
/// step has others.
const MOST: usize = 512;

/// The lists of a program, by what they hold: the same addresses are in the same list, whichever launch takes them, but
/// for launches that may change them.
#[derive(Default)]
pub(super) struct AddressLists(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// Those that were taken last, [`MOST`] and those of one launch at most.
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
    /// Those of one launch: none of them goes before it is on the stream, however many it takes.
    pub(super) fn of_launch<'a>(&'a self, stream: &'a Stream) -> OfLaunch<'a> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.recent.len() >= MOST {
            // Kernels that were put on the stream may read them yet: to free them waits for those.
            let recent = mem::take(&mut known.recent);
            free(mem::replace(&mut known.before, recent));
        }
        OfLaunch { known, stream }
    }
}

impl Drop for AddressLists {
    fn drop(&mut self) {
        let known = mem::take(self.0.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !known.recent.is_empty() || !known.before.is_empty() {
            free(known);
        }
    }
}

/// The lists of a launch whose arguments are being made.
pub(super) struct OfLaunch<'a> {
    known: MutexGuard<'a, Known>,
    stream: &'a Stream,
}

impl OfLaunch<'_> {
    /// Where these addresses lie one after the other once the stream has come here.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn address(&mut self, key: Key) -> device::Result<u64> {
        let Known { recent, before } = &mut *self.known;
        let (list, is_new) = match recent.remove(&key).or_else(|| before.remove(&key)) {
            Some(list) => (list, false),
            None => (self.stream.device().alloc(key.addresses.len())?, true),
        };
        if is_new || key.changed_by.is_some() {
            self.stream.upload(list.slice(..)?, &key.addresses)?;
        }
        let address = list.address();
        recent.insert(key, list);
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
        let of = |number| lists.of_launch(&stream).address(key(number)).unwrap();
        let first = of(0);
        for step in 1..3 * MOST as u64 {
            of(step);
            assert_eq!(of(0), first, "what every step takes stays where it is");
        }
        let known = lists.0.lock().unwrap();
        assert!(known.recent.len() <= MOST && known.before.len() <= MOST);
    }

    #[test]
    fn the_lists_of_a_launch_stay_until_it_is_on_the_stream() {
        let device = Device::cpu().unwrap();
        let (stream, lists) = (device.stream().unwrap(), AddressLists::default());
        let key = |number: u64| Key { addresses: number.to_le_bytes().into(), changed_by: None };
        // Others were taken in the step before.
        for number in 0..MOST as u64 - 10 {
            lists.of_launch(&stream).address(key(number)).unwrap();
        }
        let numbers = 1000..1000 + 3 * MOST as u64;
        let mut of_launch = lists.of_launch(&stream);
        let addresses: Vec<_> =
            numbers.clone().map(|n| of_launch.address(key(n)).unwrap()).collect();
        drop(of_launch);
        // Each is memory of its own that holds what it was given: none was freed and handed out again.
        let known = lists.0.lock().unwrap();
        for (number, address) in numbers.zip(addresses) {
            let list = &known.recent[&key(number)];
            let found = stream.download(list.slice(..).unwrap()).unwrap().wait().unwrap();
            assert_eq!((list.address(), &found[..]), (address, &number.to_le_bytes()[..]));
        }
    }
}
