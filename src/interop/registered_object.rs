//! OpenGL objects that somebody else made, registered with CUDA by their names: buffers, and images with all their
//! levels, layers and faces.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{ffi::c_uint, marker::PhantomData, ptr};

use cudarc::driver::sys;

use super::{
    Access, Error, Result,
    registered::{Described, Graphics, driver_stream, flags},
};
use crate::{
    device::{
        self, Array, ArrayDescriptor, ArrayRegion, ArrayShape, Channel, Device, Format, Slice,
        Stream, SurfaceObject, TextureDescriptor, TextureObject, nvidia,
    },
    gl::Gl,
};

/// What kind of image a name of OpenGL's stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageTarget {
    /// `GL_TEXTURE_2D`.
    Texture2d,
    /// `GL_TEXTURE_RECTANGLE`.
    Rectangle,
    /// `GL_TEXTURE_CUBE_MAP`, whose faces are layers 0 to 5.
    CubeMap,
    /// `GL_TEXTURE_3D`.
    Texture3d,
    /// `GL_TEXTURE_2D_ARRAY`.
    Array2d,
    /// `GL_RENDERBUFFER`.
    Renderbuffer,
}

impl ImageTarget {
    fn constant(self) -> c_uint {
        match self {
            Self::Texture2d => 0x0DE1,
            Self::Rectangle => 0x84F5,
            Self::CubeMap => 0x8513,
            Self::Texture3d => 0x806F,
            Self::Array2d => 0x8C1A,
            Self::Renderbuffer => 0x8D41,
        }
    }
}

/// What kernels do with an image (`CU_GRAPHICS_REGISTER_FLAGS`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ImageUse {
    /// Whether they read and write it.
    pub access: Access,
    /// Whether they write it through surfaces.
    pub surface: bool,
    /// Whether they gather its texels (`tex2Dgather`).
    pub gather: bool,
}

impl ImageUse {
    fn flags(self) -> c_uint {
        use sys::CUgraphicsRegisterFlags::*;
        let bit =
            |wanted, flag: sys::CUgraphicsRegisterFlags| if wanted { flag as c_uint } else { 0 };
        flags(self.access)
            | bit(self.surface, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST)
            | bit(self.gather, CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER)
    }
}

/// An OpenGL object, registered with CUDA by its name.
///
/// For objects of other libraries; [`Interop`](super::Interop) makes objects of its own, and works without an NVIDIA
/// GPU, too. Dropping it makes its OpenGL context current and unregisters the object, which stays.
///
/// ```
/// use warpaint::{device::{Choice, Device, Fill}, gl};
/// use warpaint::interop::{Access, GlObject, cuda_devices_of, map_objects};
///
/// let context = gl::CurrentContext::headless(gl::Headless::default())?;
/// let gpus = cuda_devices_of(context.gl()).unwrap_or_default();
/// let Some(gpu) = gpus.first() else { return Ok(()) }; // OpenGL is not NVIDIA's here
/// let device = Device::open(Choice::Cuda(*gpu))?;
/// let buffer = gl::Buffer::new(context.gl(), 1024)?; // or whoever's
/// // SAFETY: the buffer outlives its registration.
/// let mut object = unsafe {
///     GlObject::buffer(context.gl(), &device, buffer.name(), Access::WriteDiscard)?
/// };
/// let stream = device.stream()?;
/// let mut objects = [&mut object];
/// let mapped = map_objects(&mut objects, &stream)?;
/// stream.fill(mapped.memory(0)?, Fill::U32(7))?;
/// mapped.unmap()?;
/// let mut bytes = [0; 4];
/// buffer.read(0, &mut bytes)?; // waits for the device by itself
/// assert_eq!(bytes, [7, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GlObject {
    graphics: &'static Graphics,
    gl: Gl,
    device: nvidia::Device,
    resource: sys::CUgraphicsResource,
}

impl GlObject {
    /// Registers the buffer called `name`.
    ///
    /// # Safety
    /// `name` must be a buffer of this OpenGL context's with its storage, and stay so until this is dropped.
    ///
    /// # Errors
    /// [`device::Error::Unsupported`] on the CPU device; [`Error::Device`] where the driver refuses it, [`Error::Gl`].
    pub unsafe fn buffer(gl: &Gl, device: &Device, name: u32, access: Access) -> Result<Self> {
        Self::register(gl, device, |graphics, resource| {
            // SAFETY: the context is current; `resource` is written before the call returns.
            unsafe { graphics.cuGraphicsGLRegisterBuffer(resource, name, flags(access)) }
        })
    }

    /// Registers the texture or renderbuffer called `name`, with all its levels and layers. Of formats, CUDA takes
    /// those with one, two or four channels of 8, 16 or 32 bits.
    ///
    /// # Safety
    /// `name` must be an image of this kind of this OpenGL context's with its storage, and stay so until this is
    /// dropped.
    ///
    /// # Errors
    /// As [`GlObject::buffer`].
    pub unsafe fn image(
        gl: &Gl,
        device: &Device,
        name: u32,
        target: ImageTarget,
        used: ImageUse,
    ) -> Result<Self> {
        Self::register(gl, device, |graphics, resource| {
            let (target, flags) = (target.constant(), used.flags());
            // SAFETY: the context is current; `resource` is written before the call returns.
            unsafe { graphics.cuGraphicsGLRegisterImage(resource, name, target, flags) }
        })
    }

    fn register(
        gl: &Gl,
        device: &Device,
        register: impl FnOnce(&Graphics, *mut sys::CUgraphicsResource) -> nvidia::driver::Status,
    ) -> Result<Self> {
        let Device::Nvidia(device) = device else {
            let (operation, device) = ("registering an OpenGL object", device.info().to_string());
            return Err(device::Error::Unsupported { operation, device }.into());
        };
        let graphics = Graphics::get()?;
        device.context().activate()?;
        gl.make_current()?;
        let mut resource = ptr::null_mut();
        device.context().check(register(graphics, &raw mut resource))?;
        Ok(Self { graphics, gl: gl.clone(), device: device.clone(), resource })
    }

    /// Says anew what kernels do with it while it is mapped, from the next mapping on.
    ///
    /// # Errors
    /// [`Error::Device`] from the driver.
    pub fn set_access(&mut self, access: Access) -> Result<()> {
        use sys::CUgraphicsMapResourceFlags::*;
        let flags = match access {
            Access::ReadWrite => CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE,
            Access::ReadOnly => CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY,
            Access::WriteDiscard => CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD,
        };
        let context = self.device.context();
        context.activate()?;
        // SAFETY: the resource is registered, and not mapped, for that would borrow it.
        Ok(context.check(unsafe {
            self.graphics.cuGraphicsResourceSetMapFlags_v2(self.resource, flags as c_uint)
        })?)
    }
}

impl Drop for GlObject {
    fn drop(&mut self) {
        if let Err(error) = self.gl.make_current() {
            tracing::error!("an OpenGL object stays registered with CUDA: {error}");
            return;
        }
        let context = self.device.context();
        context.on_drop(|| {
            // Streams other than the one that it was mapped on may still use it.
            context.wait_for_work()?;
            // SAFETY: registered once, and OpenGL's object is alive in the context that is current.
            context.check(unsafe { self.graphics.cuGraphicsUnregisterResource(self.resource) })
        });
    }
}

/// Several objects that the device may use, until [`unmap`](Self::unmap); what they give cannot be used longer.
///
/// Dropping it unmaps too, and logs the error.
#[derive(Debug)]
pub struct MappedObjects<'a, 'b> {
    objects: &'a mut [&'b mut GlObject],
    stream: nvidia::Stream,
    mapped: bool,
}

/// Maps objects of one OpenGL context for the device with one call: work put on `stream` from now on comes after what
/// OpenGL was told to do before.
///
/// # Errors
/// [`device::Error::WrongDevice`] for objects of another device or of several OpenGL contexts; [`Error::Device`] from
/// the driver. None of them is mapped then.
pub fn map_objects<'a, 'b>(
    objects: &'a mut [&'b mut GlObject],
    stream: &Stream,
) -> Result<MappedObjects<'a, 'b>> {
    let wrong = || Error::from(device::Error::WrongDevice { operation: "map OpenGL objects" });
    let Stream::Nvidia(stream) = stream else { return Err(wrong()) };
    let device = stream.device().id();
    let together = |object: &&mut GlObject| {
        object.device.id() == device
            && objects.first().is_none_or(|first| first.gl.same(&object.gl))
    };
    if !objects.iter().all(together) {
        return Err(wrong());
    }
    let mut mapped = MappedObjects { objects, stream: stream.clone(), mapped: false };
    mapped.call(|graphics, count, list, stream| {
        // SAFETY: the resources are registered and unmapped, the stream is of their device, and their OpenGL context is
        // current.
        unsafe { graphics.cuGraphicsMapResources(count, list, stream) }
    })?;
    mapped.mapped = true;
    Ok(mapped)
}

impl MappedObjects<'_, '_> {
    /// Where the device sees the buffer with this index; the next time that may be somewhere else.
    ///
    /// # Errors
    /// [`device::Error::OutOfRange`] for an index that none has; [`Error::Device`] for an image, whose texels have no
    /// address.
    pub fn memory(&self, index: usize) -> Result<Slice<'_>> {
        let object = self.object(index)?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the resource is mapped; both are written before the call returns.
        let status = unsafe {
            object.graphics.cuGraphicsResourceGetMappedPointer_v2(
                &raw mut address,
                &raw mut bytes,
                object.resource,
            )
        };
        object.device.context().check(status)?;
        object.device.context().knows(address, bytes);
        Ok(Slice::new(object.device.id(), address, bytes))
    }

    /// A level of the image with this index: of its layer or face `layer`, 0 where it has none.
    ///
    /// # Errors
    /// [`device::Error::OutOfRange`] for an index that none has; [`Error::Device`] for a buffer, and for a layer or
    /// level that the image has not; [`device::Error::InvalidTexture`] for a format that CUDA's arrays have not.
    pub fn image(&self, index: usize, layer: u32, level: u32) -> Result<MappedImage<'_>> {
        let GlObject { graphics, device, resource, .. } = self.object(index)?;
        let mut array = ptr::null_mut();
        // SAFETY: the resource is mapped; `array` is written before the call returns.
        let status = unsafe {
            graphics.cuGraphicsSubResourceGetMappedArray(&raw mut array, *resource, layer, level)
        };
        device.context().check(status)?;
        let mut described = Described::default();
        // SAFETY: the array is the driver's; `described` is written before the call returns.
        let status = unsafe { graphics.cuArray3DGetDescriptor_v2(&raw mut described, array) };
        device.context().check(status)?;
        let descriptor = described.to_descriptor()?;
        // SAFETY: the descriptor is the driver's own; what is made of the array here ends with the mapping.
        let array = Array::Nvidia(unsafe { nvidia::Array::borrowed(device, array, descriptor) });
        Ok(MappedImage { device: Device::Nvidia(device.clone()), array, mapping: PhantomData })
    }

    fn object(&self, index: usize) -> Result<&GlObject> {
        self.stream.device().context().activate()?;
        let bytes = self.objects.len();
        let missing =
            device::Error::OutOfRange { start: index, end: index.saturating_add(1), bytes };
        self.objects.get(index).map(|object| &**object).ok_or_else(|| missing.into())
    }

    /// Gives all of them back to OpenGL: what it is told to do from now on comes after the work put on the stream
    /// before.
    ///
    /// # Errors
    /// [`Error::Device`] from the driver.
    pub fn unmap(mut self) -> Result<()> {
        self.give_back()
    }

    fn give_back(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.mapped) {
            return Ok(());
        }
        self.call(|graphics, count, list, stream| {
            // SAFETY: the resources are mapped, the stream is of their device, and their OpenGL context is current.
            unsafe { graphics.cuGraphicsUnmapResources(count, list, stream) }
        })
    }

    /// Calls `call` for all of them together; both contexts are current.
    fn call(
        &self,
        call: impl FnOnce(
            &Graphics,
            c_uint,
            *mut sys::CUgraphicsResource,
            sys::CUstream,
        ) -> nvidia::driver::Status,
    ) -> Result<()> {
        let Some(first) = self.objects.first() else { return Ok(()) };
        let mut list: Vec<_> = self.objects.iter().map(|object| object.resource).collect();
        let context = first.device.context();
        context.activate()?;
        first.gl.make_current()?;
        let status = call(
            first.graphics,
            list.len() as c_uint,
            list.as_mut_ptr(),
            driver_stream(&self.stream),
        );
        Ok(context.check(status)?)
    }
}

impl Drop for MappedObjects<'_, '_> {
    fn drop(&mut self) {
        if let Err(error) = self.give_back() {
            tracing::error!("while unmapping OpenGL objects: {error}");
        }
    }
}

/// A level of an image while it is mapped.
#[derive(Debug)]
pub struct MappedImage<'a> {
    device: Device,
    array: Array,
    mapping: PhantomData<&'a ()>,
}

/// A texture or surface object of a mapped image; it ends before the mapping.
#[derive(Debug)]
pub struct ImageObject<'a, T> {
    object: T,
    image: PhantomData<&'a ()>,
}

impl MappedImage<'_> {
    /// Sizes and format of the level.
    pub fn descriptor(&self) -> &ArrayDescriptor {
        self.array.descriptor()
    }

    /// Its texels, for copies.
    pub fn region(&self) -> ArrayRegion<'_> {
        self.array.region()
    }

    /// A texture object for it.
    ///
    /// # Errors
    /// As [`Device::texture`].
    pub fn texture(
        &self,
        descriptor: &TextureDescriptor,
    ) -> Result<ImageObject<'_, TextureObject>> {
        let object = self.device.texture(&self.array, descriptor)?;
        Ok(ImageObject { object, image: PhantomData })
    }

    /// A surface object for it, where it was registered for surfaces.
    ///
    /// # Errors
    /// As [`Device::surface`].
    pub fn surface(&self) -> Result<ImageObject<'_, SurfaceObject>> {
        Ok(ImageObject { object: self.device.surface(&self.array)?, image: PhantomData })
    }
}

impl ImageObject<'_, TextureObject> {
    /// The kernel's argument; for kernels that are put on the stream before the mapping ends.
    pub fn handle(&self) -> u64 {
        self.object.handle()
    }
}

impl ImageObject<'_, SurfaceObject> {
    /// The kernel's argument; for kernels that are put on the stream before the mapping ends.
    pub fn handle(&self) -> u64 {
        self.object.handle()
    }
}

impl Described {
    /// What the driver says of an array, as it would be made here.
    fn to_descriptor(self) -> Result<ArrayDescriptor> {
        let [layered, surface, cube, gather]: [c_uint; 4] = [1, 2, 4, 8];
        let Self { width, height, depth, .. } = self;
        let shape = match (self.flags & cube != 0, self.flags & layered != 0) {
            (true, true) => ArrayShape::LayeredCube { width, cubes: depth / 6 },
            (true, false) => ArrayShape::Cube { width },
            (false, true) if height == 0 => ArrayShape::Layered1 { width, layers: depth },
            (false, true) => ArrayShape::Layered2 { width, height, layers: depth },
            (false, false) if height == 0 => ArrayShape::D1 { width },
            (false, false) if depth == 0 => ArrayShape::D2 { width, height },
            (false, false) => ArrayShape::D3 { width, height, depth },
        };
        let channel = match self.format {
            0x01 => Channel::U8,
            0x02 => Channel::U16,
            0x03 => Channel::U32,
            0x08 => Channel::I8,
            0x09 => Channel::I16,
            0x0a => Channel::I32,
            0x10 => Channel::F16,
            0x20 => Channel::F32,
            other => {
                let reason = format!("its format has CUDA's number {other:#x}, which is unknown");
                return Err(device::Error::InvalidTexture { object: "image", reason }.into());
            }
        };
        let mut descriptor = ArrayDescriptor::new(shape, Format::new(channel, self.channels)?);
        descriptor.surface = self.flags & surface != 0;
        descriptor.gather = self.flags & gather != 0;
        Ok(descriptor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_says_of_arrays_is_understood() {
        let of = |[width, height, depth]: [usize; 3], format, flags| {
            let described = Described { width, height, depth, format, channels: 4, flags };
            described.to_descriptor()
        };
        let flat = of([4, 3, 0], 0x20, 2).unwrap();
        assert_eq!(flat.shape, ArrayShape::D2 { width: 4, height: 3 });
        assert!(flat.surface && !flat.gather && flat.format == Format::RGBA32F);
        assert_eq!(of([4, 3, 2], 0x01, 0).unwrap().shape.extent(), [4, 3, 2]);
        assert_eq!(of([4, 4, 6], 0x01, 4).unwrap().shape, ArrayShape::Cube { width: 4 });
        let layers = of([4, 3, 5], 0x10, 1).unwrap().shape;
        assert_eq!(layers, ArrayShape::Layered2 { width: 4, height: 3, layers: 5 });
        assert!(of([4, 3, 0], 0xb0, 0).is_err(), "a format of video");
    }
}
