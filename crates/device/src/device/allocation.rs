//! Where an allocation lies.

/// The allocation nearest to a faulting address.
///
/// ```
/// use warpaint::device::Device;
///
/// let device = Device::cpu()?;
/// let memory = device.alloc(100)?;
/// let found = device.address_range(memory.address() + 99)?.ok_or("in none")?;
/// assert_eq!((found.address, found.bytes), (memory.address(), 100));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Its first address.
    pub address: u64,
    /// Its length.
    pub bytes: u64,
}

impl Allocation {
    /// Whether an address lies in it.
    #[doc(hidden)]
    pub fn holds(self, address: u64) -> bool {
        address.checked_sub(self.address).is_some_and(|offset| offset < self.bytes)
    }

    /// Bytes between an address and the nearest one in it.
    #[doc(hidden)]
    pub fn distance(self, address: u64) -> u64 {
        match address.checked_sub(self.address) {
            Some(offset) => offset.saturating_sub(self.bytes),
            None => self.address - address,
        }
    }
}
