//! CUDA arrays: memory laid out for textures and surfaces, of up to three dimensions, in layers or cube faces.

use std::fmt;

use super::{DeviceId, Error, Result, cpu, each, nvidia, region::expect_inside};

/// The kind of number in each channel of a texel.
///
/// ```
/// use warpaint::device::Channel;
///
/// assert_eq!(Channel::F16.bytes(), 2);
/// assert!(Channel::F16.is_float() && !Channel::U16.is_float());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 16 bits.
    U16,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 32 bits.
    I32,
    /// IEEE binary16; kernels read it as `float`.
    F16,
    /// IEEE binary32.
    F32,
}

impl Channel {
    /// Its size in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
        }
    }

    /// Whether it is `F16` or `F32`.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32)
    }
}

/// What a texel consists of: one, two or four channels of one kind.
///
/// ```
/// use warpaint::device::{Channel, Format};
///
/// let velocity = Format::new(Channel::F16, 2)?;
/// assert_eq!((velocity.bytes(), velocity.to_string().as_str()), (4, "f16x2"));
/// assert_eq!(Format::new(Channel::U8, 4)?, Format::RGBA8);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    channel: Channel,
    channels: u8,
}

impl Format {
    /// `uchar4`, a picture's usual format.
    pub const RGBA8: Self = Self { channel: Channel::U8, channels: 4 };
    /// Four halves.
    pub const RGBA16F: Self = Self { channel: Channel::F16, channels: 4 };
    /// `float4`.
    pub const RGBA32F: Self = Self { channel: Channel::F32, channels: 4 };
    /// `float2`.
    pub const RG32F: Self = Self { channel: Channel::F32, channels: 2 };
    /// `float`.
    pub const R32F: Self = Self { channel: Channel::F32, channels: 1 };

    /// Texels of `channels` channels.
    ///
    /// ```
    /// # use warpaint::device::{Channel, Error, Format};
    /// assert!(matches!(Format::new(Channel::U8, 3), Err(Error::InvalidTexture { .. })));
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidTexture`] for other than 1, 2 or 4 channels.
    pub fn new(channel: Channel, channels: u32) -> Result<Self> {
        match channels {
            1 | 2 | 4 => Ok(Self { channel, channels: channels as u8 }),
            _ => Err(Error::InvalidTexture {
                object: "format",
                reason: format!("texels have 1, 2 or 4 channels, not {channels}"),
            }),
        }
    }

    /// The kind of each channel.
    pub const fn channel(self) -> Channel {
        self.channel
    }

    /// How many there are.
    pub const fn channels(self) -> usize {
        self.channels as usize
    }

    /// Size of a texel in bytes.
    pub const fn bytes(self) -> usize {
        self.channel.bytes() * self.channels as usize
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let channel = format!("{:?}", self.channel).to_lowercase();
        write!(f, "{channel}x{}", self.channels)
    }
}

/// Dimensions and sizes of an array, in texels.
///
/// ```
/// use warpaint::device::ArrayShape;
///
/// let cube = ArrayShape::Cube { width: 16 };
/// assert_eq!((cube.extent(), cube.to_string().as_str()), ([16, 16, 6], "6 faces of 16x16"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArrayShape {
    /// A row.
    D1 {
        /// Texels.
        width: usize,
    },
    /// A picture.
    D2 {
        /// Texels of a row.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// A volume.
    D3 {
        /// Texels of a row.
        width: usize,
        /// Rows of a slice.
        height: usize,
        /// Slices.
        depth: usize,
    },
    /// Rows that are never filtered together (`tex1DLayered`).
    Layered1 {
        /// Texels of a row.
        width: usize,
        /// Rows.
        layers: usize,
    },
    /// Pictures that are never filtered together (`tex2DLayered`).
    Layered2 {
        /// Texels of a row.
        width: usize,
        /// Rows of a layer.
        height: usize,
        /// Layers.
        layers: usize,
    },
    /// Six square pictures, addressed by a direction (`texCubemap`).
    Cube {
        /// Edge of a face.
        width: usize,
    },
    /// Several of them (`texCubemapLayered`).
    LayeredCube {
        /// Edge of a face.
        width: usize,
        /// Cubes.
        cubes: usize,
    },
}

impl ArrayShape {
    /// Texels in x, in y, and in z: slices, layers or faces. What a shape does not have is 1.
    ///
    /// ```
    /// # use warpaint::device::ArrayShape;
    /// assert_eq!(ArrayShape::Layered1 { width: 9, layers: 4 }.extent(), [9, 1, 4]);
    /// assert_eq!(ArrayShape::LayeredCube { width: 8, cubes: 2 }.extent(), [8, 8, 12]);
    /// ```
    pub const fn extent(self) -> [usize; 3] {
        match self {
            Self::D1 { width } => [width, 1, 1],
            Self::D2 { width, height } => [width, height, 1],
            Self::D3 { width, height, depth } => [width, height, depth],
            Self::Layered1 { width, layers } => [width, 1, layers],
            Self::Layered2 { width, height, layers } => [width, height, layers],
            Self::Cube { width } => [width, width, 6],
            Self::LayeredCube { width, cubes } => [width, width, cubes.saturating_mul(6)],
        }
    }

    /// How many of a texel's coordinates are filtered along.
    pub(super) const fn dimensions(self) -> usize {
        match self {
            Self::D1 { .. } | Self::Layered1 { .. } => 1,
            Self::D2 { .. } | Self::Layered2 { .. } => 2,
            Self::Cube { .. } | Self::LayeredCube { .. } => 2,
            Self::D3 { .. } => 3,
        }
    }

    pub(super) const fn is_cube(self) -> bool {
        matches!(self, Self::Cube { .. } | Self::LayeredCube { .. })
    }

    /// That no side is empty or longer than `most`.
    fn check(self, most: [usize; 3]) -> Result<()> {
        const LIMITS: [&str; 3] = ["texels in x", "texels in y", "slices, layers or faces"];
        let sides = self.extent().into_iter().zip(most).zip(LIMITS);
        for ((requested, allowed), limit) in sides {
            if requested == 0 || requested > allowed {
                let (requested, allowed) = (requested as u64, allowed as u64);
                return Err(Error::InvalidExtent { object: "array", limit, requested, allowed });
            }
        }
        Ok(())
    }
}

impl fmt::Display for ArrayShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::D1 { width } => write!(f, "{width}"),
            Self::D2 { width, height } => write!(f, "{width}x{height}"),
            Self::D3 { width, height, depth } => write!(f, "{width}x{height}x{depth}"),
            Self::Layered1 { width, layers } => write!(f, "{layers} layers of {width}"),
            Self::Layered2 { width, height, layers } => {
                write!(f, "{layers} layers of {width}x{height}")
            }
            Self::Cube { width } => write!(f, "6 faces of {width}x{width}"),
            Self::LayeredCube { width, cubes } => {
                write!(f, "{cubes} times 6 faces of {width}x{width}")
            }
        }
    }
}

/// What an array is made as.
///
/// ```
/// use warpaint::device::{ArrayDescriptor, ArrayShape, Format};
///
/// let shape = ArrayShape::Layered2 { width: 64, height: 32, layers: 3 };
/// let pictures = ArrayDescriptor::new(shape, Format::RGBA8).with_surface();
/// assert_eq!(pictures.bytes(), 3 * 32 * 64 * 4);
/// assert_eq!(pictures.to_string(), "3 layers of 64x32 of u8x4");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArrayDescriptor {
    /// Its sizes.
    pub shape: ArrayShape,
    /// Its texels.
    pub format: Format,
    /// Whether kernels may write it, through a [`SurfaceObject`](super::SurfaceObject).
    pub surface: bool,
    /// Whether kernels may read four texels at once (`tex2Dgather`); 2-D only.
    pub gather: bool,
}

impl ArrayDescriptor {
    /// An array that kernels only read.
    pub const fn new(shape: ArrayShape, format: Format) -> Self {
        Self { shape, format, surface: false, gather: false }
    }

    /// The same, which kernels may write too.
    ///
    /// ```
    /// # use warpaint::device::{ArrayDescriptor, ArrayShape, Device, Error, Format};
    /// # let device = Device::cpu()?;
    /// let shape = ArrayShape::D2 { width: 4, height: 3 };
    /// let descriptor = ArrayDescriptor::new(shape, Format::R32F);
    /// assert!(matches!(device.surface(&device.array(&descriptor)?), Err(Error::InvalidTexture { .. })));
    ///
    /// let array = device.array(&descriptor.with_surface())?;
    /// assert_eq!(device.surface(&array)?.device_id(), device.id());
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub const fn with_surface(self) -> Self {
        Self { surface: true, ..self }
    }

    /// The same, from which kernels may gather.
    ///
    /// ```
    /// # use warpaint::device::{ArrayDescriptor, ArrayShape, Device, Error, Format};
    /// let shape = ArrayShape::D3 { width: 4, height: 4, depth: 4 };
    /// let volume = ArrayDescriptor::new(shape, Format::R32F).with_gather(); // only 2-D arrays can be gathered from
    /// assert!(matches!(Device::cpu()?.array(&volume), Err(Error::InvalidTexture { .. })));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub const fn with_gather(self) -> Self {
        Self { gather: true, ..self }
    }

    /// Size of all texels in bytes.
    pub fn bytes(&self) -> usize {
        let texels = self.shape.extent().into_iter().fold(1, usize::saturating_mul);
        texels.saturating_mul(self.format.bytes())
    }

    /// That a device with these limits can have it.
    pub(super) fn check(&self, most: [usize; 3]) -> Result<()> {
        if self.gather && !matches!(self.shape, ArrayShape::D2 { .. }) {
            let reason = "only 2-D arrays can be gathered from".to_owned();
            return Err(Error::InvalidTexture { object: "array", reason });
        }
        self.shape.check(most)
    }
}

impl fmt::Display for ArrayDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.shape, self.format)
    }
}

/// Memory laid out for textures and surfaces. Clones are the same array; the last one frees it, after the work
/// that may still use it.
///
/// Kernels reach it through a [`TextureObject`](super::TextureObject) or a [`SurfaceObject`](super::SurfaceObject),
/// which keep it alive; the host and other memory by copies on a [`Stream`](super::Stream).
///
/// ```
/// use warpaint::device::{ArrayDescriptor, ArrayShape, Device, Format};
///
/// let device = Device::cpu()?;
/// let stream = device.stream()?;
/// let shape = ArrayShape::D2 { width: 4, height: 2 };
/// let array = device.array(&ArrayDescriptor::new(shape, Format::R32F))?;
///
/// let texels = [0.0f32, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0];
/// stream.upload(array.region(), bytemuck::cast_slice(&texels))?;
///
/// let corner = array.region().part([2, 0, 0], [2, 2, 1])?;
/// let read = stream.download(corner)?.wait()?;
/// assert_eq!(bytemuck::pod_collect_to_vec::<u8, f32>(&read), [2.0, 3.0, 12.0, 13.0]);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub enum Array {
    /// Of an NVIDIA GPU.
    Nvidia(nvidia::Array),
    /// Of the CPU device.
    Cpu(cpu::Array),
}

impl Array {
    /// What it was made as.
    pub fn descriptor(&self) -> &ArrayDescriptor {
        each!(self, a => a.descriptor())
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        each!(self, a => a.device_id())
    }

    /// All of its texels.
    ///
    /// ```
    /// # use warpaint::device::{ArrayDescriptor, ArrayShape, Device, Format};
    /// # let device = Device::cpu()?;
    /// # let stream = device.stream()?;
    /// let descriptor = ArrayDescriptor::new(ArrayShape::D2 { width: 1, height: 2 }, Format::RGBA8);
    /// let (first, second) = (device.array(&descriptor)?, device.array(&descriptor)?);
    /// stream.upload(first.region(), &[1, 2, 3, 4, 5, 6, 7, 8])?;
    /// stream.copy(second.region(), first.region())?;
    /// assert_eq!(stream.download(second.region())?.wait()?, [1, 2, 3, 4, 5, 6, 7, 8]);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn region(&self) -> ArrayRegion<'_> {
        ArrayRegion { array: self, origin: [0; 3], size: self.descriptor().shape.extent() }
    }
}

/// A box of an array's texels, for copies. Its bytes lie row after row, slice after slice, without gaps.
///
/// ```
/// use warpaint::device::{ArrayDescriptor, ArrayShape, Device, Format};
///
/// let device = Device::cpu()?;
/// let stream = device.stream()?;
/// let cube = device.array(&ArrayDescriptor::new(ArrayShape::Cube { width: 2 }, Format::R32F))?;
/// let face = cube.region().part([0, 0, 4], [2, 2, 1])?;
/// stream.upload(face, bytemuck::cast_slice(&[1.0f32, 2.0, 3.0, 4.0]))?;
///
/// let row = face.part([0, 1, 0], [2, 1, 1])?;
/// assert_eq!((row.origin(), row.bytes()), ([0, 1, 4], 8));
/// let read = stream.download(row)?.wait()?;
/// assert_eq!(bytemuck::pod_collect_to_vec::<u8, f32>(&read), [3.0, 4.0]);
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ArrayRegion<'a> {
    array: &'a Array,
    origin: [usize; 3],
    size: [usize; 3],
}

impl<'a> ArrayRegion<'a> {
    /// The array. Not for everybody: a copy of its handle could outlive the mapping of an OpenGL texture.
    #[doc(hidden)]
    pub fn array(&self) -> &'a Array {
        self.array
    }

    /// What its array was made as.
    pub fn descriptor(&self) -> &'a ArrayDescriptor {
        self.array.descriptor()
    }

    /// Its first texel: x, y, and the slice, layer or face.
    pub fn origin(&self) -> [usize; 3] {
        self.origin
    }

    /// How many texels it has in each direction.
    pub fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Its bytes without gaps.
    pub fn bytes(&self) -> usize {
        self.row_bytes() * self.size[1] * self.size[2]
    }

    /// Bytes of a row.
    pub fn row_bytes(&self) -> usize {
        self.size[0] * self.array.descriptor().format.bytes()
    }

    /// Bytes of a row, rows, and slices, layers or faces.
    ///
    /// ```
    /// # use warpaint::device::{ArrayDescriptor, ArrayShape, Device, Format};
    /// let shape = ArrayShape::D2 { width: 3, height: 2 };
    /// let array = Device::cpu()?.array(&ArrayDescriptor::new(shape, Format::RG32F))?;
    /// assert_eq!(array.region().size(), [3, 2, 1]); // texels
    /// assert_eq!(array.region().extent(), [24, 2, 1]); // three texels of eight bytes, two rows
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn extent(&self) -> [usize; 3] {
        [self.row_bytes(), self.size[1], self.size[2]]
    }

    /// A part of it: `size` texels from `origin` on, counted from its own first texel.
    ///
    /// ```
    /// # use warpaint::device::{ArrayDescriptor, ArrayShape, Device, Error, Format};
    /// # let shape = ArrayShape::D2 { width: 4, height: 4 };
    /// # let array = Device::cpu()?.array(&ArrayDescriptor::new(shape, Format::R32F))?;
    /// let middle = array.region().part([1, 1, 0], [2, 2, 1])?;
    /// assert_eq!(middle.part([1, 0, 0], [1, 2, 1])?.origin(), [2, 1, 0]);
    /// let beyond = middle.part([1, 0, 0], [2, 2, 1]); // the array goes on there
    /// assert!(matches!(beyond, Err(Error::RegionOutOfRange { .. })));
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::RegionOutOfRange`] when it ends behind this one.
    pub fn part(&self, origin: [usize; 3], size: [usize; 3]) -> Result<Self> {
        expect_inside(origin, size, self.size)?;
        let origin = std::array::from_fn(|axis| self.origin[axis] + origin[axis]);
        Ok(Self { origin, size, ..*self })
    }

    pub(super) fn expect_device(&self, device: DeviceId) -> Result<()> {
        match self.array.device_id() == device {
            true => Ok(()),
            false => Err(Error::WrongDevice { operation: "copy" }),
        }
    }
}
