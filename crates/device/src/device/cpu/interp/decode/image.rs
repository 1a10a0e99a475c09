//! Textures and surfaces.

use super::{Decoder, Step, Unsupported};
use crate::{
    device::cpu::{
        interp::program::{Image, ImageCall, Inst, Slot},
        texture::{Fetch, SurfaceAccess, is_answered},
    },
    ptx::{
        inst::Instruction,
        modifier::{Clamp, Geometry, Mip, Query, Surface, Tex},
        operand::Operand,
        types::Type,
    },
};

/// How many coordinates count of those that an instruction of this shape has.
fn coordinates(geometry: Geometry) -> Step<usize> {
    geometry.coordinates().ok_or(Unsupported::Part("textures with several samples"))
}

impl Decoder<'_> {
    /// The first source becomes the handle.
    pub(super) fn image(
        &mut self,
        i: &Instruction,
        inst: &mut Inst,
        image: impl FnOnce(&mut Self) -> Step<Image>,
    ) -> Step<Box<Image>> {
        inst.src[0] = match i.src.first() {
            Some(operand @ Operand::Reg(_)) => self.source(operand, Type::U64)?,
            _ => return Err(Unsupported::Part("a texture reference, where an object is needed")),
        };
        image(self).map(Box::new)
    }

    pub(super) fn read(&mut self, i: &Instruction, surface: &Surface) -> Step<Image> {
        if surface.formatted {
            return Err(Unsupported::Operation);
        }
        let mut image = self.surface(i, surface, ImageCall::Read)?;
        let to = i.dst.first().ok_or(Unsupported::Part("no destination"))?;
        let into = to.lanes().iter().map(|lane| self.destination(lane));
        image.into = into.collect::<Step<_>>()?;
        Ok(image)
    }

    pub(super) fn write(&mut self, i: &Instruction, surface: &Surface) -> Step<Image> {
        if surface.formatted && surface.ty.bytes() != 4 {
            return Err(Unsupported::Operation);
        }
        let mut image = self.surface(i, surface, ImageCall::Write)?;
        let data = i.src.get(2).ok_or(Unsupported::Part("too few operands"))?;
        let data = data.lanes().iter().map(|lane| self.source(lane, surface.ty));
        image.data = data.collect::<Step<_>>()?;
        Ok(image)
    }

    pub(super) fn fetch(&mut self, i: &Instruction, tex: &Tex, gather: Option<u8>) -> Step<Image> {
        if tex.sampler {
            return Err(Unsupported::Part("a sampler apart from its texture"));
        }
        if tex.to.bytes() != 4 || tex.to.is_packed() {
            return Err(Unsupported::Part("a result of halves"));
        }
        if !matches!(tex.coord, Type::S32 | Type::F32) {
            return Err(Unsupported::Part("coordinates of this type"));
        }
        let texel = tex.coord == Type::S32;
        let at = self.coordinates(i, tex.geometry)?;
        // There is one mipmap level, whatever is asked for.
        let skipped = match tex.mip {
            Mip::Default | Mip::Base => 2,
            Mip::Level => 3,
            Mip::Grad => 4,
        };
        let offset = match &i.src[skipped.min(i.src.len())..] {
            [] => Box::default(),
            rest => {
                let [offset @ Operand::Vector(_)] = rest else {
                    return Err(Unsupported::Part("depth comparison"));
                };
                let lanes = offset.lanes().iter().take(3).map(|lane| self.source(lane, Type::S32));
                lanes.collect::<Step<_>>()?
            }
        };
        let to = i.dst.first().ok_or(Unsupported::Part("no destination"))?;
        let into = to.lanes().iter().take(4).map(|lane| self.destination(lane));
        let into = into.collect::<Step<_>>()?;
        let resident = i.dst.get(1).map(|operand| self.destination(operand)).transpose()?;
        let call = ImageCall::Fetch(Fetch { geometry: tex.geometry, texel, gather });
        Ok(Image { call, at, offset, data: Box::default(), into, resident, ty: tex.to })
    }

    fn surface(
        &mut self,
        i: &Instruction,
        surface: &Surface,
        call: fn(SurfaceAccess) -> ImageCall,
    ) -> Step<Image> {
        let bytes = surface.ty.bytes() * u32::from(surface.lanes.max(1));
        if !matches!(bytes, 1 | 2 | 4 | 8 | 16) {
            return Err(Unsupported::Part("a surface access of this width"));
        }
        if matches!(surface.geometry, Geometry::Cube | Geometry::Acube) {
            return Err(Unsupported::Part("a surface of this shape"));
        }
        let access = SurfaceAccess {
            geometry: surface.geometry,
            clamp: surface.clamp.unwrap_or(Clamp::Trap),
            bytes: bytes as u8,
            formatted: surface.formatted,
        };
        let at = self.coordinates(i, surface.geometry)?;
        let none = || Box::default();
        let (offset, into, data) = (none(), Box::default(), none());
        Ok(Image { call: call(access), at, offset, data, into, resident: None, ty: surface.ty })
    }

    pub(super) fn query(
        &mut self,
        i: &Instruction,
        query: Query,
        call: fn(Query) -> ImageCall,
    ) -> Step<Image> {
        if !is_answered(query) {
            return Err(Unsupported::Part("this query"));
        }
        let call = call(query);
        let to = i.dst.first().ok_or(Unsupported::Part("no destination"))?;
        let into = Box::new([self.destination(to)?]);
        let (at, offset, data) = (Box::default(), Box::default(), Box::default());
        Ok(Image { call, at, offset, data, into, resident: None, ty: Type::B32 })
    }

    fn coordinates(&mut self, i: &Instruction, geometry: Geometry) -> Step<Box<[Slot]>> {
        let lanes = i.src.get(1).ok_or(Unsupported::Part("no coordinates"))?.lanes();
        let count = coordinates(geometry)?;
        if lanes.len() < count {
            return Err(Unsupported::Part("too few coordinates"));
        }
        lanes.iter().take(count).map(|lane| self.source(lane, Type::B32)).collect()
    }
}
