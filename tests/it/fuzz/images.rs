//! Textures and surfaces that instructions are tried on, and coordinates that mostly lie in them.

use std::fmt::Write as _;

use fastrand::Rng;
use warpaint::{
    device::{
        Arguments, Array, ArrayDescriptor, ArrayShape, Channel, Device, Error, Format, Stream,
        SurfaceObject, TextureDescriptor, TextureObject,
    },
    ptx::{
        modifier::{Clamp, Geometry, Surface},
        op::Op,
        types::Type,
    },
};

use super::{operands, values};

/// Texels of a texture along each side; coordinates are more than four beyond it.
const SIDE: usize = 8;
/// Texels of a surface in x: one for each thread.
const WIDTH: usize = operands::THREADS;
/// Texels of a surface along its other sides, and layers.
const LAYERS: usize = 4;

/// A texture or a surface, and what it holds before.
#[derive(Clone)]
pub struct Image {
    is_surface: bool,
    descriptor: ArrayDescriptor,
    normalized: bool,
    bytes: Vec<u8>,
}

/// An image that is on a device.
pub struct Held {
    array: Array,
    _texture: Option<TextureObject>,
    _surface: Option<SurfaceObject>,
}

impl Image {
    /// One that the operation can take, if it takes any.
    pub fn new(op: &Op, rng: &mut Rng) -> Option<Self> {
        let is_surface = match op {
            Op::Tex(_) | Op::Tld4 { .. } | Op::Txq { .. } => false,
            Op::Suld(_) | Op::Sust(_) | Op::Sured(_) | Op::Suq { .. } => true,
            _ => return None,
        };
        let geometry = operands::image(op).map_or(Geometry::D2, |(geometry, _)| geometry);
        let shape =
            if is_surface { shape(geometry, WIDTH, LAYERS)? } else { shape(geometry, SIDE, SIDE)? };
        let channel = match op {
            Op::Tex(tex) | Op::Tld4 { tex, .. } => match tex.to {
                Type::F32 => Channel::F32,
                Type::S32 => Channel::I32,
                _ => Channel::U32,
            },
            _ => Channel::U32,
        };
        let format = Format::new(channel, 4).ok()?;
        let descriptor = ArrayDescriptor::new(shape, format);
        let descriptor = match op {
            _ if is_surface => descriptor.with_surface(),
            // Only these are made for it.
            Op::Tld4 { .. } if geometry == Geometry::D2 => descriptor.with_gather(),
            _ => descriptor,
        };
        let normalized = matches!(geometry, Geometry::Cube | Geometry::Acube);
        let count = texels(shape) * 16 / 8;
        let bytes = (0..count).flat_map(|_| values::wide(rng).to_le_bytes()).collect();
        Some(Self { is_surface, descriptor, normalized, bytes })
    }

    /// Makes it on the device, and adds its handle to the arguments.
    pub fn push(
        &self,
        device: &Device,
        stream: &Stream,
        arguments: &mut Arguments,
    ) -> Result<Held, Error> {
        let array = device.array(&self.descriptor)?;
        stream.upload(array.region(), &self.bytes)?;
        let mut held = Held { array, _texture: None, _surface: None };
        if self.is_surface {
            let surface = device.surface(&held.array)?;
            arguments.push(&surface.handle());
            held._surface = Some(surface);
        } else {
            let descriptor =
                TextureDescriptor { normalized: self.normalized, ..TextureDescriptor::default() };
            let texture = device.texture(&held.array, &descriptor)?;
            arguments.push(&texture.handle());
            held._texture = Some(texture);
        }
        Ok(held)
    }
}

impl Held {
    /// What it holds now.
    pub fn read(&self, stream: &Stream) -> Result<Vec<u8>, Error> {
        stream.download(self.array.region())?.wait()
    }
}

fn shape(geometry: Geometry, width: usize, other: usize) -> Option<ArrayShape> {
    let (height, depth, layers) = (other, other, LAYERS);
    Some(match geometry {
        Geometry::D1 => ArrayShape::D1 { width },
        Geometry::D2 => ArrayShape::D2 { width, height },
        Geometry::D3 => ArrayShape::D3 { width, height, depth },
        Geometry::A1d => ArrayShape::Layered1 { width, layers },
        Geometry::A2d => ArrayShape::Layered2 { width, height, layers },
        Geometry::Cube => ArrayShape::Cube { width },
        Geometry::Acube => ArrayShape::LayeredCube { width, cubes: layers },
        Geometry::D2ms | Geometry::A2dms => return None,
    })
}

fn texels(shape: ArrayShape) -> usize {
    match shape {
        ArrayShape::D1 { width } => width,
        ArrayShape::D2 { width, height } => width * height,
        ArrayShape::D3 { width, height, depth } => width * height * depth,
        ArrayShape::Layered1 { width, layers } => width * layers,
        ArrayShape::Layered2 { width, height, layers } => width * height * layers,
        ArrayShape::Cube { width } => 6 * width * width,
        ArrayShape::LayeredCube { width, cubes } => 6 * width * width * cubes,
    }
}

/// Gives the registers a value that an instruction names for its place in an image.
pub fn give_coordinates(op: &Op, instruction: &str, out: &mut String) {
    let is_named = |register: &String| instruction.contains(register.as_str());
    if instruction.contains("%layer") {
        let _ = writeln!(out, "and.b32 %layer, %r3, {};", LAYERS - 1);
    }
    for at in (0..4).filter(|at| is_named(&format!("%at{at}"))) {
        match op {
            Op::Suld(surface) => in_surface(surface, at, false, out),
            Op::Sust(surface) => in_surface(surface, at, true, out),
            _ => _ = writeln!(out, "and.b32 %at{at}, %r{at}, 15;\nsub.s32 %at{at}, %at{at}, 4;"),
        }
    }
    for at in (0..4).filter(|at| is_named(&format!("%pos{at}"))) {
        // Sixteenths, none of them where one texel ends and another begins.
        let _ = writeln!(
            out,
            "and.b32 %pos{at}, %r{at}, 255;\nsub.s32 %pos{at}, %pos{at}, 64;\n\
             cvt.rn.f32.s32 %pos{at}, %pos{at};\nfma.rn.f32 %pos{at}, %pos{at}, 0.0625, 0.03125;"
        );
    }
}

/// A coordinate of a surface: x in bytes, where it is not formatted; outside only where that does not end the launch. A
/// store is to a place of each thread's own.
fn in_surface(surface: &Surface, at: usize, stores: bool, out: &mut String) {
    let ends = surface.clamp.is_none_or(|clamp| clamp == Clamp::Trap);
    let vanishes = surface.clamp == Some(Clamp::Zero);
    let (most, less) = match (at, stores) {
        (0, true) => (0, if vanishes { 8 } else { 0 }),
        (0, false) => (WIDTH - 1, if ends { 0 } else { 8 }),
        (_, _) if ends => (LAYERS - 1, 0),
        (_, _) => (2 * LAYERS - 1, 2),
    };
    let _ = match most {
        0 => writeln!(out, "sub.s32 %at{at}, %tn, {less};"),
        _ => writeln!(out, "and.b32 %at{at}, %r{at}, {most};\nsub.s32 %at{at}, %at{at}, {less};"),
    };
    if at == 0 && !surface.formatted {
        let bytes = surface.ty.bytes() * u32::from(surface.lanes.max(1));
        let _ = writeln!(out, "mul.lo.s32 %at0, %at0, {bytes};");
    }
}
