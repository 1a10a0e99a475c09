//! OpenGL's twin of an array that kernels alone write: what is drawn while they go on.

use super::{Access, Interop, Path, Result, registered_image::RegisteredImage};
use crate::{
    device::{self, Array, ArrayRegion, Device, Readback, Stream},
    gl,
};

/// An OpenGL texture that shows what an array of the device held at a moment.
///
/// Kernels keep the array, and with it what they wrote: nothing is carried over from a texture that OpenGL draws.
/// The twin is brought up to date by one copy, on the device where it is registered with CUDA, else through the host.
///
/// ```
/// use warpaint::{device::{ArrayDescriptor, ArrayShape, Choice, Device, Format}, gl, interop::Interop};
///
/// let device = Device::open(Choice::Auto)?;
/// let context = gl::CurrentContext::headless(gl::Headless::default())?;
/// let interop = Interop::new(context.gl(), &device);
/// let shape = ArrayShape::D2 { width: 2, height: 1 };
/// let array = device.array(&ArrayDescriptor::new(shape, Format::R32F).with_surface())?;
/// let twin = interop.texture_twin(gl::Format::R32f, gl::Size::Flat([2, 1]))?;
/// let mut twin = twin.ok_or("nothing is drawn")?;
///
/// let stream = device.stream()?;
/// stream.upload(array.region(), bytemuck::cast_slice(&[1.0f32, 2.0]))?; // or kernels that write it
/// twin.send(&stream, array.region())?;
/// twin.present(&stream, array.region())?; // now OpenGL may draw from `twin.gl()`
/// assert_eq!(twin.gl().read_texel([1, 0, 0])?[0], 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TextureTwin {
    storage: Storage,
}

#[derive(Debug)]
enum Storage {
    Registered(RegisteredImage),
    Copied {
        texture: gl::Texture,
        /// What was sent, until OpenGL has it.
        on_its_way: Option<Readback>,
    },
}

impl Interop {
    /// An OpenGL texture of zeros for arrays of this format and size; `None` where nothing is drawn.
    ///
    /// ```
    /// # use warpaint::{device::Device, gl::{self, Format, Size}, interop::Interop};
    /// let (device, size) = (Device::cpu()?, Size::Flat([4, 4]));
    /// assert!(Interop::none(&device).texture_twin(Format::R32f, size)?.is_none());
    /// let context = gl::CurrentContext::headless(gl::Headless::default())?;
    /// let interop = Interop::new(context.gl(), &device);
    /// let twin = interop.texture_twin(Format::R32f, size)?.ok_or("nothing is drawn")?;
    /// assert_eq!(twin.gl().read_texel([3, 3, 0])?[0], 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Gl`](super::Error::Gl) where memory is short, or the texture larger than OpenGL allows;
    /// [`Error::Device`](super::Error::Device) where CUDA does not register it.
    pub fn texture_twin(&self, format: gl::Format, size: gl::Size) -> Result<Option<TextureTwin>> {
        let Some(gl) = &self.gl else { return Ok(None) };
        let texture = gl::Texture::new(gl, format, size)?;
        texture.write(&vec![0; texture.bytes()])?;
        let storage = match (&self.device, &self.path) {
            (Device::Nvidia(device), Path::Registered) => {
                Storage::Registered(RegisteredImage::new(device, texture, Access::WriteDiscard)?)
            }
            _ => Storage::Copied { texture, on_its_way: None },
        };
        Ok(Some(TextureTwin { storage }))
    }
}

impl TextureTwin {
    /// OpenGL's texture, as it was [presented](Self::present) last.
    pub fn gl(&self) -> &gl::Texture {
        match &self.storage {
            Storage::Registered(registered) => registered.gl(),
            Storage::Copied { texture, .. } => texture,
        }
    }

    /// Puts what can be done for [`present`](Self::present) behind the work on `stream` that writes `from`. OpenGL
    /// may go on drawing what it has.
    ///
    /// ```
    /// # use warpaint::{device::{ArrayDescriptor, ArrayShape, Device, Format}, gl, interop::Interop};
    /// # let device = Device::cpu()?;
    /// # let (stream, context) = (device.stream()?, gl::CurrentContext::headless(gl::Headless::default())?);
    /// # let interop = Interop::new(context.gl(), &device);
    /// # let of_array = ArrayDescriptor::new(ArrayShape::D2 { width: 1, height: 1 }, Format::R32F);
    /// # let array = device.array(&of_array.with_surface())?;
    /// # let twin = interop.texture_twin(gl::Format::R32f, gl::Size::Flat([1, 1]))?;
    /// # let mut twin = twin.ok_or("nothing is drawn")?;
    /// stream.upload(array.region(), &1.0f32.to_le_bytes())?;
    /// twin.send(&stream, array.region())?;
    /// stream.upload(array.region(), &2.0f32.to_le_bytes())?; // the next step goes on at once
    /// assert_eq!(twin.gl().read_texel([0, 0, 0])?[0], 0.0); // OpenGL has neither yet
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`](super::Error::Device).
    pub fn send(&mut self, stream: &Stream, from: ArrayRegion<'_>) -> Result<()> {
        match &mut self.storage {
            // To map it now would make OpenGL wait for all that work.
            Storage::Registered(_) => {}
            // What nobody presented is given up: it is older.
            Storage::Copied { on_its_way, .. } => *on_its_way = Some(stream.download(from)?),
        }
        Ok(())
    }

    /// Shows OpenGL what was sent, once the stream has come so far: what it draws from now on has the content of
    /// `from`.
    ///
    /// ```
    /// # use warpaint::{device::{ArrayDescriptor, ArrayShape, Device, Format}, gl, interop::Interop};
    /// # let device = Device::cpu()?;
    /// # let (stream, context) = (device.stream()?, gl::CurrentContext::headless(gl::Headless::default())?);
    /// # let interop = Interop::new(context.gl(), &device);
    /// # let of_array = ArrayDescriptor::new(ArrayShape::D2 { width: 1, height: 1 }, Format::R32F);
    /// # let array = device.array(&of_array.with_surface())?;
    /// # let twin = interop.texture_twin(gl::Format::R32f, gl::Size::Flat([1, 1]))?;
    /// # let mut twin = twin.ok_or("nothing is drawn")?;
    /// for step in [1.0f32, 2.0] {
    ///     stream.upload(array.region(), &step.to_le_bytes())?; // or a kernel
    ///     twin.send(&stream, array.region())?;
    ///     twin.present(&stream, array.region())?;
    ///     assert_eq!(twin.gl().read_texel([0, 0, 0])?[0], step);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Device`](super::Error::Device), [`Error::Gl`](super::Error::Gl).
    pub fn present(&mut self, stream: &Stream, from: ArrayRegion<'_>) -> Result<()> {
        match (&mut self.storage, stream) {
            (Storage::Registered(registered), Stream::Nvidia(nvidia)) => {
                let array = Array::Nvidia(registered.map(nvidia, from.descriptor())?);
                let copied = stream.copy(array.region(), from);
                registered.unmap(nvidia)?;
                copied?;
            }
            (Storage::Registered(_), Stream::Cpu(_)) => {
                return Err(device::Error::WrongDevice { operation: "show an array" }.into());
            }
            (Storage::Copied { texture, on_its_way }, _) => {
                if let Some(readback) = on_its_way.take() {
                    texture.write(&readback.wait()?)?;
                }
            }
        }
        Ok(())
    }
}
