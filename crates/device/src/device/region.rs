//! Regions: what copies read and write. A range of memory, rows with gaps between them, or a box of an array.

use super::{ArrayRegion, DeviceId, Error, Result, Slice};

/// How rows lie in linear memory.
///
/// ```
/// use warpaint::device::{Device, Pitch};
///
/// let device = Device::cpu()?;
/// let (stream, memory) = (device.stream()?, device.alloc(6)?);
/// stream.upload(memory.slice(..)?, &[1, 2, 0, 3, 4, 0])?;
/// let apart = Pitch { row_bytes: 3, rows: 2 }; // rows of two bytes, with a third between
/// let rows = memory.slice(..)?.rows(apart, [2, 2, 1])?;
/// assert_eq!(stream.download(rows)?.wait()?, [1, 2, 3, 4]);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pitch {
    /// From the start of a row to that of the next, in bytes.
    pub row_bytes: usize,
    /// From a slice to the next, in rows.
    pub rows: usize,
}

impl Pitch {
    /// Without gaps: for rows of so many bytes, so many rows a slice, and any number of slices.
    ///
    /// ```
    /// # use warpaint::device::Pitch;
    /// let extent = [640, 480, 3]; // three pictures of 480 rows of 640 bytes
    /// assert_eq!(Pitch::tight(extent), Pitch { row_bytes: 640, rows: 480 });
    /// ```
    pub fn tight([row_bytes, rows, _]: [usize; 3]) -> Self {
        Self { row_bytes, rows }
    }

    /// The same for rows of such an extent: how far a row is from the next does not matter where there is but one, nor
    /// where the next slice starts.
    pub(super) fn of_rows(self, [row_bytes, rows, slices]: [usize; 3]) -> Self {
        let least = if slices > 1 { 0 } else { rows };
        let least_bytes = if rows > 1 || slices > 1 { 0 } else { row_bytes };
        Self { row_bytes: self.row_bytes.max(least_bytes), rows: self.rows.max(least) }
    }

    /// Bytes from the start of the first row to that of `row` of `slice`; `None` where no memory is so long.
    fn offset(self, row: usize, slice: usize) -> Option<usize> {
        slice.checked_mul(self.rows)?.checked_add(row)?.checked_mul(self.row_bytes)
    }

    /// That so many bytes of a row, rows and slices fit `bytes` bytes of memory.
    pub(super) fn check(self, [row_bytes, rows, slices]: [usize; 3], bytes: usize) -> Result<()> {
        if row_bytes == 0 || rows == 0 || slices == 0 {
            return Ok(());
        }
        let misfit = |end, bytes| Err(Error::OutOfRange { start: 0, end, bytes });
        if self.row_bytes < row_bytes {
            return misfit(row_bytes, self.row_bytes);
        }
        if self.rows < rows {
            return misfit(rows, self.rows);
        }
        let last = self.offset(rows - 1, slices - 1);
        match last.and_then(|start| start.checked_add(row_bytes)) {
            Some(end) if end <= bytes => Ok(()),
            end => misfit(end.unwrap_or(usize::MAX), bytes),
        }
    }
}

/// Rows of bytes in linear memory, in one slice or several: part of a matrix or of a volume.
///
/// ```
/// use warpaint::device::{Device, Pitch};
///
/// let device = Device::cpu()?;
/// let stream = device.stream()?;
/// let matrix = device.alloc(12)?; // three rows of four bytes
/// stream.upload(matrix.slice(..)?, &[0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23])?;
///
/// let whole = matrix.slice(..)?.rows(Pitch { row_bytes: 4, rows: 3 }, [4, 3, 1])?;
/// let corner = whole.part([1, 1, 0], [2, 2, 1])?;
/// assert_eq!(stream.download(corner)?.wait()?, [11, 12, 21, 22]);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    memory: Slice<'a>,
    pitch: Pitch,
    extent: [usize; 3],
}

impl<'a> Slice<'a> {
    /// This memory as rows: `extent` is the bytes of a row, the rows of a slice, and the slices.
    ///
    /// ```
    /// # use warpaint::device::{Device, Pitch};
    /// let memory = Device::cpu()?.alloc(10)?;
    /// let rows = |row_bytes, extent| memory.slice(..)?.rows(Pitch { row_bytes, rows: 3 }, extent);
    /// assert_eq!(rows(4, [2, 3, 1])?.extent(), [2, 3, 1]); // the last row needs no gap behind it
    /// assert!(rows(4, [3, 3, 1]).is_err(), "ends at byte 11");
    /// assert!(rows(1, [2, 3, 1]).is_err(), "a row begins inside the one before");
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] where they overlap or end behind it.
    pub fn rows(self, pitch: Pitch, extent: [usize; 3]) -> Result<Rows<'a>> {
        let pitch = pitch.of_rows(extent);
        pitch.check(extent, self.bytes())?;
        Ok(Rows { memory: self, pitch, extent })
    }
}

impl<'a> Rows<'a> {
    /// Where a kernel sees the first row.
    pub fn address(&self) -> u64 {
        self.memory.address()
    }

    /// How they lie.
    pub fn pitch(&self) -> Pitch {
        self.pitch
    }

    /// Bytes of a row, rows of a slice, and slices.
    pub fn extent(&self) -> [usize; 3] {
        self.extent
    }

    /// A part of them: `extent` from byte, row and slice `origin` on.
    ///
    /// ```
    /// # use warpaint::device::{Device, Pitch};
    /// # let device = Device::cpu()?;
    /// # let (stream, memory) = (device.stream()?, device.alloc(12)?);
    /// stream.upload(memory.slice(..)?, &[0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112])?;
    /// // Two slices of two rows of three bytes.
    /// let volume = memory.slice(..)?.rows(Pitch::tight([3, 2, 2]), [3, 2, 2])?;
    /// let column = volume.part([2, 0, 0], [1, 2, 2])?;
    /// assert_eq!(stream.download(column)?.wait()?, [2, 12, 102, 112]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::RegionOutOfRange`] where it ends behind them.
    pub fn part(&self, origin: [usize; 3], extent: [usize; 3]) -> Result<Self> {
        expect_inside(origin, extent, self.extent)?;
        let [byte, row, slice] = origin;
        let start = self.pitch.offset(row, slice).and_then(|start| start.checked_add(byte));
        // Behind the last row there may be no memory at all, which an empty part does not need.
        let start = start.unwrap_or(usize::MAX).min(self.memory.bytes());
        Ok(Self { memory: self.memory.slice(start..)?, pitch: self.pitch, extent })
    }

    /// As what is done to them: where there is no byte, there are no rows and slices to walk along either.
    pub(super) fn walked(self) -> Self {
        let extent = if self.extent.contains(&0) { [0; 3] } else { self.extent };
        Self { extent, ..self }
    }

    /// Whether no gap is between them.
    pub(super) fn is_contiguous(&self) -> bool {
        let [row_bytes, rows, slices] = self.extent;
        let rows_touch = self.pitch.row_bytes == row_bytes || rows <= 1 && slices <= 1;
        rows_touch && (self.pitch.rows == rows || slices <= 1)
    }
}

/// What a copy reads or writes; made by `From` of [`Slice`], [`Rows`] and [`ArrayRegion`].
///
/// ```
/// use warpaint::device::{ArrayDescriptor, ArrayShape, Device, Format, Region, Result, Stream};
///
/// /// Any of them.
/// fn read<'a>(stream: &Stream, from: impl Into<Region<'a>>) -> Result<Vec<u8>> {
///     stream.download(from)?.wait()
/// }
///
/// let device = Device::cpu()?;
/// let (stream, memory) = (device.stream()?, device.alloc(8)?);
/// let array = device.array(&ArrayDescriptor::new(ArrayShape::D1 { width: 2 }, Format::RGBA8))?;
/// stream.upload(memory.slice(..)?, &[1, 2, 3, 4, 5, 6, 7, 8])?;
/// stream.copy(array.region(), memory.slice(..)?)?;
/// assert_eq!(read(&stream, memory.slice(..)?)?, read(&stream, array.region())?);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Region<'a> {
    /// Linear memory.
    Rows(Rows<'a>),
    /// Texels.
    Array(ArrayRegion<'a>),
}

impl<'a> From<Slice<'a>> for Region<'a> {
    fn from(memory: Slice<'a>) -> Self {
        Rows::from(memory).into()
    }
}

impl<'a> From<Slice<'a>> for Rows<'a> {
    /// One row.
    fn from(memory: Slice<'a>) -> Self {
        let extent = [memory.bytes(), 1, 1];
        Self { memory, pitch: Pitch::tight(extent), extent }
    }
}

impl<'a> From<Rows<'a>> for Region<'a> {
    fn from(rows: Rows<'a>) -> Self {
        Self::Rows(rows.walked())
    }
}

impl<'a> From<ArrayRegion<'a>> for Region<'a> {
    fn from(region: ArrayRegion<'a>) -> Self {
        Self::Array(region)
    }
}

impl<'a> Region<'a> {
    /// Bytes of a row, rows of a slice, and slices, layers or faces.
    ///
    /// ```
    /// # use warpaint::device::{Device, Pitch, Region};
    /// let memory = Device::cpu()?.alloc(16)?;
    /// assert_eq!(Region::from(memory.slice(..)?).extent(), [16, 1, 1]);
    /// let rows = memory.slice(..)?.rows(Pitch { row_bytes: 8, rows: 2 }, [5, 2, 1])?;
    /// assert_eq!((Region::from(rows).extent(), Region::from(rows).bytes()), ([5, 2, 1], 10));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn extent(&self) -> [usize; 3] {
        match self {
            Self::Rows(rows) => rows.extent,
            Self::Array(region) => region.extent(),
        }
    }

    /// Its bytes without gaps.
    ///
    /// ```
    /// # use warpaint::device::{ArrayDescriptor, ArrayShape, Device, Format, Region};
    /// let shape = ArrayShape::D2 { width: 5, height: 3 };
    /// let array = Device::cpu()?.array(&ArrayDescriptor::new(shape, Format::RGBA8))?;
    /// assert_eq!(Region::from(array.region()).bytes(), 5 * 3 * 4);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn bytes(&self) -> usize {
        bytes_of(self.extent())
    }

    /// Its memory, where that has no gaps.
    pub(super) fn linear(&self) -> Option<Slice<'a>> {
        match self {
            Self::Rows(rows) if rows.is_contiguous() => rows.memory.slice(..self.bytes()).ok(),
            _ => None,
        }
    }

    pub(super) fn expect_device(&self, device: DeviceId) -> Result<()> {
        match self {
            Self::Rows(rows) => rows.memory.expect_device(device),
            Self::Array(region) => region.expect_device(device),
        }
    }

    /// Both sides of a copy in one shape: memory without gaps takes that of the other side.
    pub(super) fn alike(self, from: Self) -> Result<(Self, Self)> {
        let to = self.shaped(from.extent());
        let from = from.shaped(to.extent());
        let mut texels = to.texel_bytes().into_iter().zip(from.texel_bytes());
        if to.extent() == from.extent() && texels.all(|(to, from)| to == from) {
            return Ok((to, from));
        }
        if to.linear().is_some() || from.linear().is_some() {
            return Err(Error::OutOfRange { start: 0, end: from.bytes(), bytes: to.bytes() });
        }
        Err(Error::RegionsDiffer { to: to.describe(), from: from.describe() })
    }

    fn shaped(self, extent: [usize; 3]) -> Self {
        match self.linear() {
            Some(memory) if memory.bytes() == bytes_of(extent) => {
                Rows { memory, pitch: Pitch::tight(extent), extent }.into()
            }
            _ => self,
        }
    }

    /// The size of what it consists of, where that is texels.
    fn texel_bytes(&self) -> Option<usize> {
        match self {
            Self::Rows(_) => None,
            Self::Array(region) => Some(region.descriptor().format.bytes()),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Rows(rows) => format!("{:?} bytes", rows.extent),
            Self::Array(region) => {
                format!("{:?} {} texels", region.size(), region.descriptor().format)
            }
        }
    }
}

fn bytes_of(extent: [usize; 3]) -> usize {
    extent.into_iter().fold(1, usize::saturating_mul)
}

/// That `extent` from `origin` on lies inside `within`.
pub(super) fn expect_inside(
    origin: [usize; 3],
    extent: [usize; 3],
    within: [usize; 3],
) -> Result<()> {
    let mut axes = origin.iter().zip(&extent).zip(&within);
    let fits = axes.all(|((&start, &length), &end)| {
        start.checked_add(length).is_some_and(|behind| behind <= end)
    });
    match fits {
        true => Ok(()),
        false => Err(Error::RegionOutOfRange { origin, size: extent, within }),
    }
}
