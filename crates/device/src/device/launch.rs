//! The shape of a launch and its packed arguments.

use std::fmt;

use smallvec::SmallVec;

use super::{DeviceInfo, Error, Function, Result};

/// A size in up to three dimensions.
///
/// ```
/// use warpaint::device::Dim3;
///
/// let block: Dim3 = [16, 8].into();
/// assert_eq!((block.z, block.count(), block.to_string().as_str()), (1, 128, "16x8x1"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// Fastest-moving.
    pub x: u32,
    /// Second.
    pub y: u32,
    /// Third.
    pub z: u32,
}

impl Dim3 {
    /// `x * y * z`, at most [`u64::MAX`].
    pub fn count(self) -> u64 {
        let area = u64::from(self.x) * u64::from(self.y);
        area.saturating_mul(self.z.into())
    }

    /// The place of the `index`-th element, x first.
    ///
    /// ```
    /// use warpaint::device::Dim3;
    ///
    /// assert_eq!(Dim3::from([4, 3, 2]).position(4 * 3 + 6), Dim3::from([2, 1, 1]));
    /// ```
    pub fn position(self, index: u64) -> Self {
        let (x, y) = (u64::from(self.x.max(1)), u64::from(self.y.max(1)));
        Self { x: (index % x) as u32, y: (index / x % y) as u32, z: (index / x / y) as u32 }
    }

    fn axes(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self { x, y: 1, z: 1 }
    }
}

impl From<[u32; 2]> for Dim3 {
    fn from([x, y]: [u32; 2]) -> Self {
        Self { x, y, z: 1 }
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from([x, y, z]: [u32; 3]) -> Self {
        Self { x, y, z }
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.x, self.y, self.z)
    }
}

/// How many blocks of how many threads a kernel runs with.
///
/// ```
/// use warpaint::device::LaunchConfig;
///
/// let config = LaunchConfig { shared_bytes: 1024, ..LaunchConfig::new([4, 2], [16, 16]) };
/// assert_eq!(config.to_string(), "grid 4x2x1, block 16x16x1, 1024 bytes of shared memory");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchConfig {
    /// Blocks.
    pub grid: Dim3,
    /// Threads in each block.
    pub block: Dim3,
    /// Dynamic shared memory of each block in bytes.
    pub shared_bytes: u32,
    /// All blocks are there at once, so that they may wait for each other (`grid.sync()` of cooperative groups).
    pub cooperative: bool,
    /// The threads of a warp go from instruction to instruction together, as on GPUs before Volta: kernels that
    /// exchange data within a warp without `__syncwarp()` rely on it. An NVIDIA device runs the kernel as it does any
    /// other; the CPU device runs it in its interpreter, slowly.
    pub lockstep: bool,
}

impl LaunchConfig {
    /// `grid` blocks of `block` threads, no dynamic shared memory, not cooperative, not in lockstep.
    ///
    /// ```
    /// # use warpaint::device::{Dim3, LaunchConfig};
    /// let config = LaunchConfig::new(3, [8, 8]);
    /// assert_eq!((config.grid, config.block), (Dim3::from(3), Dim3::from([8, 8, 1])));
    /// ```
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        let (grid, block) = (grid.into(), block.into());
        Self { grid, block, shared_bytes: 0, cooperative: false, lockstep: false }
    }

    /// At least one thread for each of `count` elements, in blocks of `block` threads.
    ///
    /// Counts of more than 2^31 - 1 blocks are cut off there; such kernels stride over the grid.
    ///
    /// ```
    /// # use warpaint::device::LaunchConfig;
    /// let config = LaunchConfig::over(1000, 256);
    /// assert_eq!((config.grid.x, config.block.x), (4, 256)); // the last 24 threads have no element
    /// assert_eq!(LaunchConfig::over(0, 256).grid.x, 1); // no grid is empty
    /// ```
    pub fn over(count: usize, block: u32) -> Self {
        let blocks = count.div_ceil(block.max(1) as usize).clamp(1, i32::MAX as usize);
        Self::new(blocks as u32, block)
    }

    /// That `function` can be launched so on a device with these limits.
    #[doc(hidden)]
    pub fn check(&self, function: &Function, device: &DeviceInfo) -> Result<()> {
        let info = function.info();
        let broken = |limit, requested: u64, allowed: u64| Error::InvalidLaunch {
            kernel: function.name().to_owned(),
            limit,
            requested,
            allowed,
        };
        let max_threads = u64::from(info.max_threads.min(device.max_threads_per_block));
        if self.block.count() == 0 || self.block.count() > max_threads {
            return Err(broken("threads in a block", self.block.count(), max_threads));
        }
        let axes = [
            ("threads of a block in x", "blocks of the grid in x"),
            ("threads of a block in y", "blocks of the grid in y"),
            ("threads of a block in z", "blocks of the grid in z"),
        ];
        for (axis, (block_limit, grid_limit)) in axes.into_iter().enumerate() {
            let (block, grid) = (self.block.axes()[axis], self.grid.axes()[axis]);
            if block > device.max_block[axis] {
                return Err(broken(block_limit, block.into(), device.max_block[axis].into()));
            }
            if grid == 0 || grid > device.max_grid[axis] {
                return Err(broken(grid_limit, grid.into(), device.max_grid[axis].into()));
            }
        }
        let shared = u64::from(info.shared_bytes) + u64::from(self.shared_bytes);
        if shared > u64::from(device.max_shared_bytes) {
            return Err(broken("bytes of shared memory", shared, device.max_shared_bytes.into()));
        }
        if self.cooperative {
            let most = function.max_cooperative_blocks(self)?;
            if self.grid.count() > most {
                let limit =
                    "blocks in the grid of a cooperative launch, which must all be there at once";
                return Err(broken(limit, self.grid.count(), most));
            }
        }
        Ok(())
    }
}

impl fmt::Display for LaunchConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "grid {}, block {}, {} bytes of shared memory{}{}",
            self.grid,
            self.block,
            self.shared_bytes,
            if self.cooperative { ", cooperative" } else { "" },
            if self.lockstep { ", in lockstep" } else { "" }
        )
    }
}

/// What most kernels' arguments take, which needs no allocation.
const USUAL_BYTES: usize = 128;
/// How many those are.
const USUAL_COUNT: usize = 12;

/// Kernel arguments, packed as the PTX ABI lays parameters out: each at the next multiple of its alignment.
///
/// ```
/// use warpaint::device::Arguments;
///
/// let mut arguments = Arguments::new();
/// arguments.push(&1.5f32).push(&0xdead_beef_u64);
/// assert_eq!(arguments.bytes().len(), 16); // the u64 starts at 8
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments {
    bytes: SmallVec<[u8; USUAL_BYTES]>,
    parameters: SmallVec<[super::Parameter; USUAL_COUNT]>,
}

impl Arguments {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a value, aligned as Rust aligns it: right for scalars and for what is `repr(C)`. CUDA aligns its vector
    /// types further; those written as arrays need [`Arguments::push_bytes`].
    ///
    /// ```
    /// # use warpaint::device::Arguments;
    /// let mut arguments = Arguments::new();
    /// arguments.push(&1u8).push(&0x0302u16).push(&4u32);
    /// assert_eq!(arguments.bytes(), [1, 0, 2, 3, 4, 0, 0, 0]);
    /// ```
    pub fn push<T: bytemuck::NoUninit>(&mut self, value: &T) -> &mut Self {
        self.push_bytes(bytemuck::bytes_of(value), align_of::<T>())
    }

    /// Appends raw bytes at the next multiple of `align` (a power of two).
    ///
    /// ```
    /// # use warpaint::device::{Arguments, Parameter};
    /// let mut arguments = Arguments::new();
    /// arguments.push(&7i32).push_bytes(bytemuck::bytes_of(&[1.0f32; 4]), 16); // an `int`, a `float4`
    /// assert_eq!(arguments.parameters()[1], Parameter { offset: 16, bytes: 16 });
    /// ```
    pub fn push_bytes(&mut self, value: &[u8], align: usize) -> &mut Self {
        let offset = self.bytes.len().next_multiple_of(align.max(1));
        self.bytes.resize(offset, 0);
        self.bytes.extend_from_slice(value);
        self.parameters.push(super::Parameter { offset, bytes: value.len() });
        self
    }

    /// Replaces an argument by bytes of the same length; false, and nothing done, where it has another.
    pub(super) fn replace(&mut self, index: usize, value: &[u8]) -> bool {
        let place = self.parameters.get(index).filter(|place| place.bytes == value.len());
        let bytes =
            place.and_then(|place| self.bytes.get_mut(place.offset..)?.get_mut(..place.bytes));
        bytes.map(|bytes| bytes.copy_from_slice(value)).is_some()
    }

    /// The packed bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where each argument lies in [`Arguments::bytes`].
    ///
    /// ```
    /// # use warpaint::device::Arguments;
    /// let mut arguments = Arguments::new();
    /// arguments.push(&1u8).push(&2.5f64).push(&3u8);
    /// let offsets: Vec<_> = arguments.parameters().iter().map(|place| place.offset).collect();
    /// assert_eq!((offsets, arguments.bytes().len()), (vec![0, 8, 16], 17));
    /// ```
    pub fn parameters(&self) -> &[super::Parameter] {
        &self.parameters
    }

    /// That they fit the parameters of `function` one by one.
    pub(super) fn check(&self, function: &Function) -> Result<()> {
        let expected = &function.info().parameters;
        if expected[..] == self.parameters[..] {
            return Ok(());
        }
        let index = expected.iter().zip(&self.parameters).position(|(a, b)| a != b);
        Err(Error::WrongArguments {
            kernel: function.name().to_owned(),
            expected: expected.len(),
            found: self.parameters.len(),
            mismatch: index.map(|i| (i, expected[i], self.parameters[i])),
        })
    }
}
