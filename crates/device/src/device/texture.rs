//! Texture and surface objects: how kernels read and write arrays.

use super::{Array, Channel, DeviceId, Error, Format, Result, Slice, cpu, each, nvidia};

/// What a coordinate outside the texture reads (CUDA C++ programming guide, "Texture memory").
///
/// ```
/// use warpaint::device::{
///     AddressMode, ArrayDescriptor, ArrayShape, Device, Format, TextureObject, TextureDescriptor,
/// };
/// # use warpaint::{device::LaunchConfig, kernel::{Context, Source}};
/// # let context = Context::new(Device::cpu()?)?;
/// # let source = Source::new(
/// #     "__global__ void read(cudaTextureObject_t t, float x, float *to) { *to = tex1D<float>(t, x); }",
/// # );
/// # let kernel = context.module(&source)?.kernel("read")?;
/// # let (device, stream) = (context.device(), context.stream());
/// # let read = |texture: &TextureObject, x: f32| -> Result<f32, Box<dyn std::error::Error>> {
/// #     let to = device.alloc(4)?;
/// #     let arguments = [texture.handle().into(), x.into(), to.slice(..)?.into()];
/// #     // SAFETY: `to` has the `float` that the kernel writes.
/// #     unsafe { kernel.launch(stream, &LaunchConfig::new(1, 1), &arguments)? };
/// #     Ok(bytemuck::pod_collect_to_vec(&stream.download(to.slice(..)?)?.wait()?)[0])
/// # };
///
/// let row = device.array(&ArrayDescriptor::new(ArrayShape::D1 { width: 4 }, Format::R32F))?;
/// stream.upload(row.region(), bytemuck::cast_slice(&[1.0f32, 2.0, 3.0, 4.0]))?;
/// let texture = |mode| {
///     let normalized = TextureDescriptor { normalized: true, ..TextureDescriptor::default() };
///     device.texture(&row, &TextureDescriptor { address: [mode; 3], ..normalized })
/// };
/// // `read` launches a kernel that gives tex1D<float>(texture, x); 1.1 lies in the texel behind the last.
/// assert_eq!(read(&texture(AddressMode::Clamp)?, 1.1)?, 4.0);
/// assert_eq!(read(&texture(AddressMode::Wrap)?, 1.3)?, 2.0);
/// assert_eq!(read(&texture(AddressMode::Mirror)?, 1.3)?, 3.0);
/// assert_eq!(read(&texture(AddressMode::Border)?, 1.1)?, 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AddressMode {
    /// The nearest texel inside.
    #[default]
    Clamp,
    /// The texture again, side by side; normalised coordinates only.
    Wrap,
    /// The texture again, each second time mirrored; normalised coordinates only.
    Mirror,
    /// The border colour.
    Border,
}

/// What is read between texels.
///
/// ```
/// use warpaint::device::{
///     ArrayDescriptor, ArrayShape, Device, Filter, Format, TextureObject, TextureDescriptor,
/// };
/// # use warpaint::{device::LaunchConfig, kernel::{Context, Source}};
/// # let context = Context::new(Device::cpu()?)?;
/// # let source = Source::new(
/// #     "__global__ void read(cudaTextureObject_t t, float x, float *to) { *to = tex1D<float>(t, x); }",
/// # );
/// # let kernel = context.module(&source)?.kernel("read")?;
/// # let (device, stream) = (context.device(), context.stream());
/// # let read = |texture: &TextureObject, x: f32| -> Result<f32, Box<dyn std::error::Error>> {
/// #     let to = device.alloc(4)?;
/// #     let arguments = [texture.handle().into(), x.into(), to.slice(..)?.into()];
/// #     // SAFETY: `to` has the `float` that the kernel writes.
/// #     unsafe { kernel.launch(stream, &LaunchConfig::new(1, 1), &arguments)? };
/// #     Ok(bytemuck::pod_collect_to_vec(&stream.download(to.slice(..)?)?.wait()?)[0])
/// # };
///
/// let row = device.array(&ArrayDescriptor::new(ArrayShape::D1 { width: 2 }, Format::R32F))?;
/// stream.upload(row.region(), bytemuck::cast_slice(&[0.0f32, 100.0]))?;
/// let texture = |filter| {
///     device.texture(&row, &TextureDescriptor { filter, ..TextureDescriptor::default() })
/// };
/// // `read` launches a kernel that gives tex1D<float>(texture, x). Texels have their middles at 0.5 and 1.5.
/// let (point, linear) = (texture(Filter::Point)?, texture(Filter::Linear)?);
/// assert_eq!((read(&point, 0.75)?, read(&linear, 0.75)?), (0.0, 25.0));
/// // Weights have 8 bits: 0.01 counts as 3/256.
/// assert_eq!(read(&linear, 0.51)?, 100.0 * 3.0 / 256.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The texel that the coordinate falls into.
    #[default]
    Point,
    /// The nearest two, four or eight, weighted in steps of 1/256; textures that are read as `float` only.
    Linear,
}

/// As what texels are read.
///
/// ```
/// use warpaint::device::{
///     ArrayDescriptor, ArrayShape, Channel, Device, Error, Format, ReadMode, TextureDescriptor,
/// };
///
/// let device = Device::cpu()?;
/// let of = |channel| {
///     let format = Format::new(channel, 1)?;
///     let array = device.array(&ArrayDescriptor::new(ArrayShape::D1 { width: 8 }, format))?;
///     let read = ReadMode::NormalizedFloat;
///     device.texture(&array, &TextureDescriptor { read, ..TextureDescriptor::default() })
/// };
/// assert!(of(Channel::I16).is_ok()); // tex1D<float>: -32768 as -1, 32767 as 1
/// assert!(matches!(of(Channel::I32), Err(Error::InvalidTexture { .. }))); // only 8 and 16 bits
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReadMode {
    /// As they are; halves as `float`.
    #[default]
    Element,
    /// Integers of 8 and 16 bits as `float` in 0 to 1, signed ones in -1 to 1.
    NormalizedFloat,
}

/// How a texture is read.
///
/// ```
/// use warpaint::device::{
///     AddressMode, ArrayDescriptor, ArrayShape, Device, Error, Filter, Format, ReadMode, TextureDescriptor,
/// };
///
/// let device = Device::cpu()?;
/// let shape = ArrayShape::D2 { width: 64, height: 64 };
/// let picture = device.array(&ArrayDescriptor::new(shape, Format::RGBA8))?;
/// let tiled = TextureDescriptor {
///     address: [AddressMode::Wrap; 3],
///     filter: Filter::Linear,
///     read: ReadMode::NormalizedFloat,
///     normalized: true,
///     srgb: true,
///     ..TextureDescriptor::default()
/// };
/// assert_eq!(device.texture(&picture, &tiled)?.device_id(), device.id());
///
/// let by_texel = TextureDescriptor { normalized: false, ..tiled }; // so it cannot wrap
/// assert!(matches!(device.texture(&picture, &by_texel), Err(Error::InvalidTexture { .. })));
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextureDescriptor {
    /// Coordinates outside the texture, in x, y and z.
    pub address: [AddressMode; 3],
    /// Between texels.
    pub filter: Filter,
    /// As what texels are read.
    pub read: ReadMode,
    /// Coordinates go from 0 to 1 along each side, else from 0 to the number of texels.
    pub normalized: bool,
    /// Colours are sRGB, and become linear when read; `U8` read as normalised float only.
    pub srgb: bool,
    /// What [`AddressMode::Border`] reads; zero for textures that are read as integers.
    pub border: [f32; 4],
}

impl TextureDescriptor {
    /// Whether texels are read as `float`.
    pub(super) fn reads_floats(&self, format: Format) -> bool {
        format.channel().is_float() || self.read == ReadMode::NormalizedFloat
    }

    fn check(&self, source: &TextureSource<'_>) -> std::result::Result<(), String> {
        let format = source.format();
        let floats = self.reads_floats(format);
        let modes = &self.address[..source.dimensions()];
        let repeats = |mode: &&AddressMode| matches!(mode, AddressMode::Wrap | AddressMode::Mirror);
        if let (false, Some(mode)) = (self.normalized, modes.iter().find(repeats)) {
            return Err(format!("address mode {mode:?} needs normalised coordinates"));
        }
        if self.read == ReadMode::NormalizedFloat && !is_normalizable(format.channel()) {
            return Err(format!(
                "{format} cannot be read as normalised float, only 8 and 16 bit integers"
            ));
        }
        if self.filter == Filter::Linear && !floats {
            return Err(format!("{format} is read as integers, which cannot be filtered"));
        }
        if self.srgb && (self.read, format.channel()) != (ReadMode::NormalizedFloat, Channel::U8) {
            return Err(format!("{format} is not sRGB: that is u8 read as normalised float"));
        }
        if !floats && self.border != [0.0; 4] {
            return Err(format!("{format} is read as integers, whose border is zero"));
        }
        match source {
            TextureSource::Array(array)
                if array.descriptor().shape.is_cube() && !self.normalized =>
            {
                Err("cube maps have normalised coordinates".to_owned())
            }
            TextureSource::Linear { .. } if self.filter == Filter::Linear || self.normalized => {
                Err("linear memory is read by whole texels: no filter, no normalised coordinates"
                    .into())
            }
            TextureSource::Array(_)
            | TextureSource::Linear { .. }
            | TextureSource::Pitched { .. } => Ok(()),
        }
    }
}

fn is_normalizable(channel: Channel) -> bool {
    matches!(channel, Channel::U8 | Channel::I8 | Channel::U16 | Channel::I16)
}

/// What a texture reads from.
///
/// ```
/// use warpaint::device::{Device, Error, Format, TextureDescriptor, TextureSource};
///
/// let device = Device::cpu()?;
/// let memory = device.alloc(4096)?;
/// let (memory, format) = (memory.slice(..)?, Format::R32F);
/// let rows = |pitch_bytes| TextureSource::Pitched { memory, format, width: 10, height: 8, pitch_bytes };
/// let usual = TextureDescriptor::default();
/// assert_eq!(device.texture(rows(64), &usual)?.device_id(), device.id());
/// assert!(matches!(device.texture(rows(40), &usual), Err(Error::InvalidTexture { .. }))); // no multiple of 32
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum TextureSource<'a> {
    /// An array, which the texture keeps alive.
    Array(&'a Array),
    /// Linear memory (`tex1Dfetch`): whole texels by integer coordinates; zero outside. The memory must live until
    /// the kernels that read it have ended.
    Linear {
        /// The texels.
        memory: Slice<'a>,
        /// What they consist of.
        format: Format,
    },
    /// Rows in linear memory, read as a 2-D texture. The memory must live until the kernels that read it have ended.
    Pitched {
        /// The rows; the first starts at a multiple of 512 bytes.
        memory: Slice<'a>,
        /// What texels consist of.
        format: Format,
        /// Texels of a row.
        width: usize,
        /// Rows.
        height: usize,
        /// From a row to the next: a multiple of 32.
        pitch_bytes: usize,
    },
}

impl<'a> From<&'a Array> for TextureSource<'a> {
    fn from(array: &'a Array) -> Self {
        Self::Array(array)
    }
}

impl TextureSource<'_> {
    /// What its texels consist of.
    ///
    /// ```
    /// # use warpaint::device::{ArrayDescriptor, ArrayShape, Device, Format, TextureSource};
    /// let shape = ArrayShape::D1 { width: 4 };
    /// let array = Device::cpu()?.array(&ArrayDescriptor::new(shape, Format::RG32F))?;
    /// assert_eq!(TextureSource::from(&array).format(), Format::RG32F);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    pub fn format(&self) -> Format {
        match self {
            Self::Array(array) => array.descriptor().format,
            Self::Linear { format, .. } | Self::Pitched { format, .. } => *format,
        }
    }

    pub(super) fn device_id(&self) -> DeviceId {
        match self {
            Self::Array(array) => array.device_id(),
            Self::Linear { memory, .. } | Self::Pitched { memory, .. } => memory.device_id(),
        }
    }

    pub(super) fn dimensions(&self) -> usize {
        match self {
            Self::Array(array) => array.descriptor().shape.dimensions(),
            // Its coordinates are integers, which no mode changes.
            Self::Linear { .. } => 0,
            Self::Pitched { .. } => 2,
        }
    }

    /// The device's limits are `most_linear` texels, and as many texels in x and y as `most_pitched`.
    pub(super) fn check(
        &self,
        descriptor: &TextureDescriptor,
        most_linear: usize,
        most_pitched: [usize; 2],
    ) -> Result<()> {
        let limit = |limit, requested: usize, allowed: usize| match requested {
            requested if requested == 0 || requested > allowed => Err(Error::InvalidExtent {
                object: "texture",
                limit,
                requested: requested as u64,
                allowed: allowed as u64,
            }),
            _ => Ok(()),
        };
        let invalid = |reason| Error::InvalidTexture { object: "texture", reason };
        descriptor.check(self).map_err(invalid)?;
        match *self {
            Self::Array(_) => Ok(()),
            Self::Linear { memory, format } => {
                aligned("the memory's address", memory.address(), format.bytes() as u64)?;
                limit("texels of linear memory", memory.bytes() / format.bytes(), most_linear)
            }
            Self::Pitched { memory, format, width, height, pitch_bytes } => {
                limit("texels in x", width, most_pitched[0])?;
                limit("texels in y", height, most_pitched[1])?;
                aligned("the memory's address", memory.address(), ADDRESS_ALIGNMENT)?;
                aligned("the pitch", pitch_bytes as u64, PITCH_ALIGNMENT)?;
                let row = width * format.bytes();
                if pitch_bytes < row {
                    return Err(Error::OutOfRange { start: 0, end: row, bytes: pitch_bytes });
                }
                match (height - 1).checked_mul(pitch_bytes).and_then(|start| start.checked_add(row))
                {
                    Some(end) if end <= memory.bytes() => Ok(()),
                    end => Err(Error::OutOfRange {
                        start: 0,
                        end: end.unwrap_or(usize::MAX),
                        bytes: memory.bytes(),
                    }),
                }
            }
        }
    }
}

/// `CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT` of every GPU so far.
const ADDRESS_ALIGNMENT: u64 = 512;
/// `CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT` of every GPU so far.
const PITCH_ALIGNMENT: u64 = 32;

fn aligned(what: &str, value: u64, alignment: u64) -> Result<()> {
    if value.is_multiple_of(alignment) {
        return Ok(());
    }
    let reason = format!("{what} is {value:#x}, no multiple of {alignment}");
    Err(Error::InvalidTexture { object: "texture", reason })
}

/// A texture object: what kernels read an array or memory through (`cudaTextureObject_t`).
///
/// It keeps its array alive. Dropping it waits for the work that may still use it.
///
/// ```
/// use warpaint::device::{
///     Arguments, ArrayDescriptor, ArrayShape, Device, Filter, Format, LaunchConfig, TextureDescriptor,
/// };
///
/// // out[0] = tex1D<float>(texture, 1.0f)
/// let ptx = "
///     .version 7.0
///     .target sm_80
///     .address_size 64
///     .visible .entry read(.param .u64 out, .param .u64 texture) {
///         .reg .b64 %rd<3>;
///         .reg .f32 %f<6>;
///         ld.param.u64 %rd1, [out];
///         ld.param.u64 %rd2, [texture];
///         mov.f32 %f5, 0f3F800000;
///         tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f5}];
///         st.global.f32 [%rd1], %f1;
///         ret;
///     }";
/// let device = Device::cpu()?;
/// let stream = device.stream()?;
/// let array = device.array(&ArrayDescriptor::new(ArrayShape::D1 { width: 2 }, Format::R32F))?;
/// stream.upload(array.region(), bytemuck::cast_slice(&[10.0f32, 20.0]))?;
/// let linear = TextureDescriptor { filter: Filter::Linear, ..TextureDescriptor::default() };
/// let texture = device.texture(&array, &linear)?;
///
/// let out = device.alloc(4)?;
/// let mut arguments = Arguments::new();
/// arguments.push(&out.address()).push(&texture.handle());
/// let read = device.load(ptx)?.function("read")?;
/// // SAFETY: the kernel writes the four bytes of `out`, which lives until the download has ended.
/// unsafe { stream.launch(&read, &LaunchConfig::new(1, 1), &arguments)? };
/// let read = stream.download(out.slice(..)?)?.wait()?;
/// assert_eq!(read, 15.0f32.to_le_bytes()); // half-way between the middles of two texels
/// # Ok::<(), warpaint::device::Error>(())
/// ```
#[derive(Debug)]
pub enum TextureObject {
    /// Of an NVIDIA GPU.
    Nvidia(nvidia::TextureObject),
    /// Of the CPU device.
    Cpu(cpu::TextureObject),
}

impl TextureObject {
    /// What a kernel takes for it: push it to the [`Arguments`](super::Arguments).
    pub fn handle(&self) -> u64 {
        each!(self, t => t.handle())
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        each!(self, t => t.device_id())
    }
}

/// A surface object: what kernels write (and read) an array through (`cudaSurfaceObject_t`).
///
/// It keeps its array alive. Dropping it waits for the work that may still use it.
///
/// ```
/// use warpaint::device::{ArrayDescriptor, ArrayShape, Device, Format, LaunchConfig};
/// use warpaint::kernel::{Context, Source};
///
/// let context = Context::new(Device::cpu()?)?;
/// let source = "__global__ void ramp(cudaSurfaceObject_t s) {
///     surf1Dwrite(0.5f * threadIdx.x, s, threadIdx.x * sizeof(float)); // bytes, not texels
/// }";
/// let ramp = context.module(&Source::new(source))?.kernel("ramp")?;
///
/// let (device, stream) = (context.device(), context.stream());
/// let descriptor = ArrayDescriptor::new(ArrayShape::D1 { width: 4 }, Format::R32F).with_surface();
/// let array = device.array(&descriptor)?;
/// let surface = device.surface(&array)?;
/// // SAFETY: one thread a texel; the surface lives until the download has ended.
/// unsafe { ramp.launch(stream, &LaunchConfig::new(1, 4), &[surface.handle().into()])? };
/// let texels = stream.download(array.region())?.wait()?;
/// assert_eq!(bytemuck::pod_collect_to_vec::<u8, f32>(&texels), [0.0, 0.5, 1.0, 1.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum SurfaceObject {
    /// Of an NVIDIA GPU.
    Nvidia(nvidia::SurfaceObject),
    /// Of the CPU device.
    Cpu(cpu::SurfaceObject),
}

impl SurfaceObject {
    /// What a kernel takes for it: push it to the [`Arguments`](super::Arguments).
    pub fn handle(&self) -> u64 {
        each!(self, s => s.handle())
    }

    /// The device it belongs to.
    pub fn device_id(&self) -> DeviceId {
        each!(self, s => s.device_id())
    }
}
