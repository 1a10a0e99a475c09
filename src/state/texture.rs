//! A texture of the scene: arrays that kernels reach through objects, and the twin that OpenGL draws.

use std::mem;

use super::{free::free, parity::Parity};
use crate::{
    data::Found,
    device::{
        self, AddressMode, Array, ArrayDescriptor, ArrayRegion, ArrayShape, Device, Fill, Memory,
        ReadMode, Slice, Stream, SurfaceObject, TextureDescriptor,
    },
    gl,
    interop::{Error, Interop, TextureTwin},
    scene::{self, Filter, Format, Handle, Wrap},
};

/// So many bytes are filled with zeros in one copy, or a row of a texture, where that is longer.
const ZEROS: usize = 1 << 20;

/// A texture: one array, or two that take turns where it is double.
pub(crate) struct SceneTexture {
    halves: Vec<Half>,
    parity: Parity,
    /// What OpenGL draws, where it does.
    twin: Option<TextureTwin>,
    /// The content in linear memory, once somebody wanted it.
    linear: Option<Memory>,
    /// Zeros: to make them anew each time, and free them, would be to wait for the stream.
    zeros: Memory,
}

/// An array, and the objects through which kernels reach it.
struct Half {
    surface: SurfaceObject,
    sampler: device::TextureObject,
    sampled_as: TextureDescriptor,
    array: Array,
}

impl SceneTexture {
    /// One full of zeros; OpenGL draws it where `interop` is given.
    pub(crate) fn allocate(
        declared: &scene::Texels,
        stream: &Stream,
        interop: Option<&Interop>,
    ) -> Result<Self, Error> {
        let device = stream.device();
        let parity = Parity::new(declared.double);
        let halves: Vec<Half> =
            parity.halves().map(|_| Half::new(&device, declared)).collect::<Result<_, _>>()?;
        let (format, size) = (gl_format(declared.format), gl_size(declared));
        let twin = match interop {
            Some(interop) => interop.texture_twin(format, size)?,
            None => None,
        };
        let zeros = zeros(&halves, stream)?;
        let made = Self { halves, parity, twin, linear: None, zeros };
        made.clear(stream)?;
        Ok(made)
    }

    /// What it has on the device, for another thread to free; what OpenGL has is freed here.
    pub(super) fn into_memory(self) -> impl Send {
        let Self { halves, linear, zeros, parity: _, twin: _ } = self;
        (halves, linear, zeros)
    }

    /// Fills it with zeros, both halves where there are two.
    pub(crate) fn clear(&self, stream: &Stream) -> Result<(), Error> {
        self.halves.iter().try_for_each(|half| clear(&half.array, &self.zeros, stream))
    }

    /// Gives it these texels, both halves where there are two.
    pub(crate) fn set(&self, found: &Found, stream: &Stream) -> Result<(), Error> {
        match found {
            Found::All(texels) => {
                let each = |half: &Half| Ok(stream.upload(half.array.region(), texels)?);
                self.halves.iter().try_for_each(each)
            }
            // No texture is filled with one texel.
            Found::One(_) => self.clear(stream),
        }
    }

    /// From now on texture objects read it as `declared`.
    pub(crate) fn sample_as(
        &mut self,
        declared: &scene::Texels,
        device: &Device,
    ) -> Result<(), Error> {
        let descriptor = sampling(declared);
        for half in self.halves.iter_mut().filter(|half| half.sampled_as != descriptor) {
            let sampler = device.texture(&half.array, &descriptor)?;
            free(mem::replace(&mut half.sampler, sampler));
            half.sampled_as = descriptor;
        }
        Ok(())
    }

    /// What a kernel takes of it, or of the half that is being written.
    pub(crate) fn handle(&self, next: bool, handle: Handle) -> u64 {
        let half = &self.halves[self.parity.half(next)];
        match handle {
            Handle::Surface => half.surface.handle(),
            Handle::Texture => half.sampler.handle(),
            // No kernel takes the address of a texture: there is none.
            Handle::Address => 0,
        }
    }

    /// What was being written has been written.
    pub(crate) fn swap(&mut self) {
        self.parity.swap();
    }

    /// Its texels.
    pub(crate) fn region(&self) -> ArrayRegion<'_> {
        self.halves[self.parity.half(false)].array.region()
    }

    /// The texels of its halves: of the last one, and behind it of the one that is being written.
    pub(crate) fn regions(&self) -> impl Iterator<Item = ArrayRegion<'_>> {
        self.parity.in_order().map(|half| self.halves[half].array.region())
    }

    /// Its texels in linear memory, for work that is put on `stream` now.
    pub(crate) fn linear(&mut self, stream: &Stream) -> Result<Slice<'_>, Error> {
        let region = self.halves[self.parity.half(false)].array.region();
        let memory = match self.linear.take() {
            Some(memory) => memory,
            None => stream.device().alloc(region.bytes())?,
        };
        let slice = self.linear.insert(memory).slice(..)?;
        stream.copy(slice, region)?;
        Ok(slice)
    }

    /// All work on it has been put on `stream`: what can be done for OpenGL comes behind.
    pub(crate) fn send(&mut self, stream: &Stream) -> Result<(), Error> {
        let region = self.halves[self.parity.half(false)].array.region();
        if let Some(twin) = &mut self.twin {
            twin.send(stream, region)?;
        }
        Ok(())
    }

    /// That work has ended: OpenGL is to see what it made.
    pub(crate) fn show(&mut self, stream: &Stream) -> Result<(), Error> {
        self.parity.finish();
        let region = self.halves[self.parity.half(false)].array.region();
        if let Some(twin) = &mut self.twin {
            twin.present(stream, region)?;
        }
        Ok(())
    }

    /// That work has ended, and OpenGL is not to see it.
    pub(crate) fn advance(&mut self) {
        self.parity.finish();
    }

    /// That work has faulted: what a double texture held before is there still, if it was launched for once.
    pub(crate) fn abandon(&mut self) {
        self.parity.abandon();
    }

    /// What OpenGL draws.
    pub(crate) fn gl(&self) -> Option<&gl::Texture> {
        self.twin.as_ref().map(TextureTwin::gl)
    }
}

impl Half {
    fn new(device: &Device, declared: &scene::Texels) -> Result<Self, Error> {
        let array = device.array(&array_descriptor(declared))?;
        let sampled_as = sampling(declared);
        let (surface, sampler) = (device.surface(&array)?, device.texture(&array, &sampled_as)?);
        Ok(Self { surface, sampler, sampled_as, array })
    }
}

/// Zeros for some of the rows of each.
fn zeros(halves: &[Half], stream: &Stream) -> Result<Memory, Error> {
    let slice = |half: &Half| -> device::Result<[usize; 2]> {
        let region = half.array.region();
        let [width, height, _] = region.size();
        let row = region.part([0; 3], [width, 1, 1])?.bytes();
        Ok([row, row * height])
    };
    let [row, slice] = halves.first().map_or(Ok([0; 2]), slice)?;
    let zeros = stream.device().alloc(slice.min(ZEROS).max(row))?;
    stream.fill(zeros.slice(..)?, Fill::U8(0))?;
    Ok(zeros)
}

/// Fills it with `zeros`, some rows at a time.
fn clear(array: &Array, zeros: &Memory, stream: &Stream) -> Result<(), Error> {
    let region = array.region();
    let [width, height, depth] = region.size();
    let row = region.part([0; 3], [width, 1, 1])?.bytes();
    let rows = (zeros.bytes() / row.max(1)).max(1);
    for z in 0..depth {
        for y in (0..height).step_by(rows) {
            let part = region.part([0, y, z], [width, rows.min(height - y), 1])?;
            stream.copy(part, zeros.slice(..part.bytes())?)?;
        }
    }
    Ok(())
}

fn array_descriptor(declared: &scene::Texels) -> ArrayDescriptor {
    let [width, height, depth] = declared.size.map(|n| n as usize);
    let shape = match declared.dimensions {
        1 => ArrayShape::D1 { width },
        3 => ArrayShape::D3 { width, height, depth },
        _ => ArrayShape::D2 { width, height },
    };
    let format = match declared.format {
        Format::Rgba8 => device::Format::RGBA8,
        Format::Rgba16f => device::Format::RGBA16F,
        Format::Rgba32f => device::Format::RGBA32F,
        Format::Rg32f => device::Format::RG32F,
        Format::R32f => device::Format::R32F,
    };
    ArrayDescriptor::new(shape, format).with_surface()
}

fn sampling(declared: &scene::Texels) -> TextureDescriptor {
    // Coordinates that count texels are clamped; a kernel that wants more was refused.
    let address = match declared.wrap {
        Wrap::Repeat if declared.normalized => AddressMode::Wrap,
        Wrap::Mirror if declared.normalized => AddressMode::Mirror,
        Wrap::Clamp | Wrap::Repeat | Wrap::Mirror => AddressMode::Clamp,
    };
    TextureDescriptor {
        address: [address; 3],
        filter: match declared.filter {
            Filter::Nearest => device::Filter::Point,
            Filter::Linear => device::Filter::Linear,
        },
        read: match declared.format {
            Format::Rgba8 => ReadMode::NormalizedFloat,
            Format::Rgba16f | Format::Rgba32f | Format::Rg32f | Format::R32f => ReadMode::Element,
        },
        normalized: declared.normalized,
        ..TextureDescriptor::default()
    }
}

fn gl_format(format: Format) -> gl::Format {
    match format {
        Format::Rgba8 => gl::Format::Rgba8,
        Format::Rgba16f => gl::Format::Rgba16f,
        Format::Rgba32f => gl::Format::Rgba32f,
        Format::Rg32f => gl::Format::Rg32f,
        Format::R32f => gl::Format::R32f,
    }
}

fn gl_size(declared: &scene::Texels) -> gl::Size {
    let [width, height, depth] = declared.size;
    match declared.dimensions {
        3 => gl::Size::Solid([width, height, depth]),
        _ => gl::Size::Flat([width, height]),
    }
}
