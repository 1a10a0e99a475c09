//! Textures that kernels write and OpenGL draws from.

use super::{Access, Error, Interop, Path, Result, registered_image::RegisteredImage};
use crate::{
    device::{
        self, Array, ArrayDescriptor, ArrayRegion, ArrayShape, Device, Readback, Stream,
        SurfaceObject, TextureDescriptor, TextureObject,
    },
    gl,
};

/// A texture that kernels read and write through objects, and OpenGL draws from.
///
/// Dropping it makes its OpenGL context current, unregisters it and deletes OpenGL's texture.
///
/// ```
/// use warpaint::{device::Device, gl::{Format, Size}, interop::Interop};
///
/// let device = Device::cpu()?;
/// let interop = Interop::none(&device); // or `Interop::new`, to draw it
/// let mut picture = interop.texture(Format::Rgba8, Size::Flat([2, 1]))?;
///
/// let stream = device.stream()?;
/// let mut mapped = picture.map(&stream)?;
/// stream.upload(mapped.region(), &[255, 0, 0, 255, 0, 255, 0, 255])?;
/// let handle = mapped.surface()?; // an argument of kernels
/// # let _ = handle;
/// mapped.unmap()?;
///
/// stream.synchronize()?;
/// assert!(picture.present()?); // now OpenGL may draw from `picture.gl()`
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SharedTexture {
    device: Device,
    descriptor: ArrayDescriptor,
    storage: Storage,
    /// While it is mapped: the stream in whose order it is unmapped.
    mapping: Option<Stream>,
    /// The array that it was mapped to last, and the objects that were made of it. The driver gives the same array
    /// each time, as a rule.
    objects: Option<Objects>,
}

#[derive(Debug)]
struct Objects {
    array: Array,
    textures: Vec<(TextureDescriptor, TextureObject)>,
    surface: Option<SurfaceObject>,
}

#[derive(Debug)]
enum Storage {
    Registered(RegisteredImage),
    Copied(Copied),
    Plain(Array),
}

/// An array of the device and OpenGL's copy of it.
#[derive(Debug)]
struct Copied {
    array: Array,
    texture: gl::Texture,
    access: Access,
    /// What the last unmap gave back, until OpenGL has it.
    on_its_way: Option<Readback>,
}

impl Interop {
    /// A shared texture with undefined content.
    ///
    /// ```
    /// # use warpaint::{device::Device, gl::{Format, Size}, interop::Interop};
    /// let interop = Interop::none(&Device::cpu()?);
    /// let field = interop.texture(Format::R32f, Size::Flat([256, 128]))?;
    /// assert_eq!(field.descriptor().bytes(), 256 * 128 * 4);
    /// assert!(interop.texture(Format::R32f, Size::Flat([256, 0])).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`] or [`Error::Gl`] where memory is short, or the texture larger than either allows.
    pub fn texture(&self, format: gl::Format, size: gl::Size) -> Result<SharedTexture> {
        self.texture_for(format, size, Access::default())
    }

    /// A shared texture for a certain access by the device.
    ///
    /// ```
    /// # use warpaint::{device::Device, gl::{Format, Size}, interop::{Access, Interop}};
    /// let interop = Interop::none(&Device::cpu()?);
    /// let volume = Size::Solid([8, 8, 4]);
    /// let smoke = interop.texture_for(Format::R32f, volume, Access::WriteDiscard)?;
    /// assert_eq!(smoke.descriptor().to_string(), "8x8x4 of f32x1");
    /// assert!(smoke.descriptor().surface); // kernels may write it
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Interop::texture`].
    pub fn texture_for(
        &self,
        format: gl::Format,
        size: gl::Size,
        access: Access,
    ) -> Result<SharedTexture> {
        let descriptor = descriptor(format, size);
        let of_gl = |gl| gl::Texture::new(gl, format, size);
        let storage = match (&self.gl, &self.device, &self.path) {
            (Some(gl), Device::Nvidia(device), Path::Registered) => {
                Storage::Registered(RegisteredImage::new(device, of_gl(gl)?, access)?)
            }
            (Some(gl), device, Path::Registered | Path::Copied(_) | Path::None) => {
                Storage::Copied(Copied {
                    array: device.array(&descriptor)?,
                    texture: of_gl(gl)?,
                    access,
                    on_its_way: None,
                })
            }
            (None, device, _) => Storage::Plain(device.array(&descriptor)?),
        };
        Ok(SharedTexture {
            device: self.device.clone(),
            descriptor,
            storage,
            mapping: None,
            objects: None,
        })
    }
}

/// The array that an OpenGL texture of this format and size is to CUDA.
pub(super) fn descriptor(format: gl::Format, size: gl::Size) -> ArrayDescriptor {
    let format = match format {
        gl::Format::Rgba8 => device::Format::RGBA8,
        gl::Format::Rgba16f => device::Format::RGBA16F,
        gl::Format::Rgba32f => device::Format::RGBA32F,
        gl::Format::Rg32f => device::Format::RG32F,
        gl::Format::R32f => device::Format::R32F,
    };
    let [width, height, depth] = size.extents().map(|n| n as usize);
    let shape = match size {
        gl::Size::Flat(_) => ArrayShape::D2 { width, height },
        gl::Size::Solid(_) => ArrayShape::D3 { width, height, depth },
    };
    ArrayDescriptor::new(shape, format).with_surface()
}

impl SharedTexture {
    /// Sizes and format, as the device sees them.
    pub fn descriptor(&self) -> &ArrayDescriptor {
        &self.descriptor
    }

    /// OpenGL's texture; `None` for one that is never drawn.
    ///
    /// Its content is that of the last [`unmap`](MappedTexture::unmap) for which [`present`](Self::present) was true.
    ///
    /// ```
    /// # use warpaint::{device::Device, gl::{self, Format, Size}, interop::Interop};
    /// # let device = Device::cpu()?;
    /// # let (stream, context) = (device.stream()?, gl::CurrentContext::headless(gl::Headless::default())?);
    /// let interop = Interop::new(context.gl(), &device);
    /// let mut picture = interop.texture(Format::Rgba8, Size::Flat([1, 1]))?;
    /// let mapped = picture.map(&stream)?;
    /// stream.upload(mapped.region(), &[255, 0, 51, 255])?;
    /// mapped.unmap()?;
    /// stream.synchronize()?;
    /// picture.present()?;
    /// let texel = picture.gl().ok_or("is never drawn")?.read_texel([0, 0, 0])?;
    /// assert_eq!(texel, [255.0, 0.0, 51.0, 255.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gl(&self) -> Option<&gl::Texture> {
        match &self.storage {
            Storage::Registered(registered) => Some(registered.gl()),
            Storage::Copied(copied) => Some(&copied.texture),
            Storage::Plain(_) => None,
        }
    }

    /// Maps the texture for the device: work put on `stream` from now on may use it, after all that OpenGL was told
    /// to do before.
    ///
    /// ```
    /// # use warpaint::{device::Device, gl::{Format, Size}, interop::Interop};
    /// # let device = Device::cpu()?;
    /// # let stream = device.stream()?;
    /// # let mut picture = Interop::none(&device).texture(Format::R32f, Size::Flat([1, 1]))?;
    /// let mapped = picture.map(&stream)?;
    /// stream.upload(mapped.region(), &1.5f32.to_le_bytes())?;
    /// drop(mapped); // unmaps it, too
    /// let mapped = picture.map(&stream)?;
    /// assert_eq!(stream.download(mapped.region())?.wait()?, 1.5f32.to_le_bytes());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`] from the driver, or for a stream of another device.
    pub fn map(&mut self, stream: &Stream) -> Result<MappedTexture<'_>> {
        if stream.device().id() != self.device.id() {
            return Err(device::Error::WrongDevice { operation: "map a shared texture" }.into());
        }
        // One whose guard was forgotten.
        self.unmap(true)?;
        let array = match (&self.storage, stream) {
            (Storage::Registered(registered), Stream::Nvidia(stream)) => {
                Array::Nvidia(registered.map(stream, &self.descriptor)?)
            }
            (Storage::Registered(_), Stream::Cpu(_)) => {
                return Err(Error::Device(device::Error::WrongDevice {
                    operation: "map a shared texture",
                }));
            }
            (Storage::Copied(Copied { array, .. }) | Storage::Plain(array), _) => array.clone(),
        };
        self.mapping = Some(stream.clone());
        if !self.objects.as_ref().is_some_and(|objects| is_same(&objects.array, &array)) {
            let array = array.clone();
            self.objects = Some(Objects { array, textures: Vec::new(), surface: None });
        }
        Ok(MappedTexture { texture: self, array })
    }

    /// Brings what the last unmap gave back to OpenGL, where it is copied; to be called before drawing.
    ///
    /// Gives whether OpenGL's texture has it, as [`SharedBuffer::present`](super::SharedBuffer::present) does. Never
    /// waits.
    ///
    /// ```
    /// # use warpaint::{device::Device, gl::{self, Format, Size}, interop::Interop};
    /// # let device = Device::cpu()?;
    /// # let (stream, context) = (device.stream()?, gl::CurrentContext::headless(gl::Headless::default())?);
    /// let interop = Interop::new(context.gl(), &device);
    /// let mut field = interop.texture(Format::R32f, Size::Flat([1, 1]))?;
    /// for value in [1.0f32, 2.0] {
    ///     let mapped = field.map(&stream)?;
    ///     stream.upload(mapped.region(), &value.to_le_bytes())?;
    ///     mapped.unmap()?;
    /// }
    /// stream.synchronize()?;
    /// assert!(field.present()?); // the last one; the one before it was never shown
    /// assert_eq!(field.gl().ok_or("is never drawn")?.read_texel([0, 0, 0])?[0], 2.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`] for an error of the work before the unmap, [`Error::Gl`].
    pub fn present(&mut self) -> Result<bool> {
        let Storage::Copied(copied) = &mut self.storage else { return Ok(true) };
        let Some(readback) = copied.on_its_way.take() else { return Ok(true) };
        if !readback.is_ready()? {
            copied.on_its_way = Some(readback);
            return Ok(false);
        }
        copied.texture.write(&readback.wait()?)?;
        Ok(true)
    }

    /// Gives it back where it is mapped.
    fn unmap(&mut self, written: bool) -> Result<()> {
        let Some(stream) = self.mapping.take() else { return Ok(()) };
        match (&mut self.storage, &stream) {
            (Storage::Registered(registered), Stream::Nvidia(stream)) => {
                registered.unmap(stream)?
            }
            (Storage::Copied(copied), stream) if written && copied.access != Access::ReadOnly => {
                // One that nobody fetched is given up: it is older.
                copied.on_its_way = Some(stream.download(copied.array.region())?);
            }
            (Storage::Registered(_) | Storage::Copied(_) | Storage::Plain(_), _) => {}
        }
        Ok(())
    }
}

impl Drop for SharedTexture {
    fn drop(&mut self) {
        // Mapped still: its guard was forgotten.
        if let Err(error) = self.unmap(false) {
            tracing::error!("while dropping a mapped texture: {error}");
        }
        // Before what they are made of.
        self.objects = None;
    }
}

fn is_same(a: &Array, b: &Array) -> bool {
    match (a, b) {
        (Array::Nvidia(a), Array::Nvidia(b)) => a.is_same(b),
        // The copied path has one array for all times.
        (Array::Cpu(_), Array::Cpu(_)) => true,
        (Array::Nvidia(_) | Array::Cpu(_), _) => false,
    }
}

/// A texture that the device may use, until [`unmap`](Self::unmap).
///
/// Dropping it unmaps too, and logs the error.
///
/// ```
/// use warpaint::{device::{Device, Filter, TextureDescriptor}, gl::{Format, Size}, interop::Interop};
///
/// let device = Device::cpu()?;
/// let stream = device.stream()?;
/// let mut dye = Interop::none(&device).texture(Format::R32f, Size::Flat([64, 64]))?;
/// let mut mapped = dye.map(&stream)?;
/// // Arguments of kernels: to read it with filtering, and to write it.
/// let smooth = TextureDescriptor { filter: Filter::Linear, ..TextureDescriptor::default() };
/// let (texture, surface) = (mapped.texture(&smooth)?, mapped.surface()?);
/// assert_ne!(texture, surface);
/// assert_eq!(mapped.texture(&smooth)?, texture); // was kept
/// mapped.unmap()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MappedTexture<'a> {
    texture: &'a mut SharedTexture,
    array: Array,
}

impl MappedTexture<'_> {
    /// Its texels, for copies.
    ///
    /// ```
    /// # use warpaint::{device::{ArrayDescriptor, ArrayShape, Device, Format}, gl, interop::Interop};
    /// # let device = Device::cpu()?;
    /// # let stream = device.stream()?;
    /// let size = ArrayShape::D2 { width: 2, height: 2 };
    /// let computed = device.array(&ArrayDescriptor::new(size, Format::R32F))?;
    /// stream.upload(computed.region(), bytemuck::cast_slice(&[1.0f32, 2.0, 3.0, 4.0]))?;
    /// let mut field = Interop::none(&device).texture(gl::Format::R32f, gl::Size::Flat([2, 2]))?;
    /// let mapped = field.map(&stream)?;
    /// stream.copy(mapped.region(), computed.region())?;
    /// let lower = mapped.region().part([0, 1, 0], [2, 1, 1])?;
    /// assert_eq!(stream.download(lower)?.wait()?, bytemuck::cast_slice::<f32, u8>(&[3.0, 4.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn region(&self) -> ArrayRegion<'_> {
        self.array.region()
    }

    /// The handle of a texture object for it, for kernels that are put on the stream before it is unmapped: the next
    /// time it may be another one. Objects are kept for the next time, where they can be.
    ///
    /// ```
    /// # use warpaint::{array::GpuArray, device::{Device, Filter, LaunchConfig, TextureDescriptor}};
    /// # use warpaint::{gl::{Format, Size}, interop::Interop, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let sample = context.module(&Source::new(
    ///     "__global__ void sample(cudaTextureObject_t field, float *out) { *out = tex2D<float>(field, 1.0f, 0.5f); }",
    /// ))?;
    /// let mut field = Interop::none(context.device()).texture(Format::R32f, Size::Flat([2, 1]))?;
    /// let mut mapped = field.map(context.stream())?;
    /// context.stream().upload(mapped.region(), bytemuck::cast_slice(&[3.0f32, 4.0]))?;
    /// let smooth = TextureDescriptor { filter: Filter::Linear, ..TextureDescriptor::default() };
    /// let (texture, out) = (mapped.texture(&smooth)?, GpuArray::<f32>::zeros(&context, &[1])?);
    /// let arguments = [texture.into(), out.argument()?];
    /// // SAFETY: one thread, one element.
    /// unsafe { sample.kernel("sample")?.launch(context.stream(), &LaunchConfig::new(1, 1), &arguments)? };
    /// assert_eq!(out.item()?, 3.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::texture`].
    pub fn texture(&mut self, descriptor: &TextureDescriptor) -> Result<u64> {
        let SharedTexture { device, objects: Some(objects), .. } = &mut *self.texture else {
            return Err(not_mapped());
        };
        let known = objects.textures.iter().find(|(known, _)| known == descriptor);
        if let Some((_, texture)) = known {
            return Ok(texture.handle());
        }
        let texture = device.texture(&self.array, descriptor)?;
        let handle = texture.handle();
        objects.textures.push((*descriptor, texture));
        Ok(handle)
    }

    /// The handle of a surface object for it, as [`MappedTexture::texture`].
    ///
    /// ```
    /// # use warpaint::{device::{Device, LaunchConfig}, gl::{Format, Size}};
    /// # use warpaint::{interop::Interop, kernel::{Context, Source}};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let body = "surf2Dwrite(float(threadIdx.x), to, threadIdx.x * 4, 0);";
    /// let source = format!("__global__ void paint(cudaSurfaceObject_t to) {{ {body} }}");
    /// let paint = context.module(&Source::new(source))?;
    /// let mut field = Interop::none(context.device()).texture(Format::R32f, Size::Flat([3, 1]))?;
    /// let mut mapped = field.map(context.stream())?;
    /// let arguments = [mapped.surface()?.into()];
    /// // SAFETY: three threads, three texels.
    /// unsafe { paint.kernel("paint")?.launch(context.stream(), &LaunchConfig::new(1, 3), &arguments)? };
    /// let texels = context.stream().download(mapped.region())?.wait()?;
    /// assert_eq!(bytemuck::pod_collect_to_vec::<u8, f32>(&texels), [0.0, 1.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::surface`].
    pub fn surface(&mut self) -> Result<u64> {
        let SharedTexture { device, objects: Some(objects), .. } = &mut *self.texture else {
            return Err(not_mapped());
        };
        let surface = match objects.surface.take() {
            Some(surface) => surface,
            None => device.surface(&self.array)?,
        };
        Ok(objects.surface.insert(surface).handle())
    }

    /// Gives the texture back to OpenGL, after all work put on the stream so far.
    ///
    /// # Errors
    /// [`Error::Device`] from the driver.
    pub fn unmap(self) -> Result<()> {
        self.texture.unmap(true)
    }

    /// Gives it back unchanged: the device has only read it, and there is nothing to copy.
    ///
    /// ```
    /// # use warpaint::{device::Device, gl::{self, Format, Size}, interop::Interop};
    /// # let device = Device::cpu()?;
    /// # let (stream, context) = (device.stream()?, gl::CurrentContext::headless(gl::Headless::default())?);
    /// # let interop = Interop::new(context.gl(), &device);
    /// # let mut picture = interop.texture(Format::Rgba8, Size::Flat([64, 64]))?;
    /// let mapped = picture.map(&stream)?;
    /// let read = stream.download(mapped.region())?;
    /// mapped.unmap_unchanged()?;
    /// assert!(picture.present()?); // at once: OpenGL waits for nothing
    /// assert_eq!(read.wait()?.len(), 64 * 64 * 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`MappedTexture::unmap`].
    pub fn unmap_unchanged(self) -> Result<()> {
        self.texture.unmap(false)
    }
}

fn not_mapped() -> Error {
    let reason = "the shared texture is not mapped".to_owned();
    device::Error::InvalidTexture { object: "texture", reason }.into()
}

impl Drop for MappedTexture<'_> {
    fn drop(&mut self) {
        // After `unmap` there is nothing left to do.
        if let Err(error) = self.texture.unmap(true) {
            tracing::error!("while unmapping a texture: {error}");
        }
    }
}
