//! Elements of a buffer or an array as texels: what an image or a surface of them draws.

use std::rc::Rc;

use crate::{
    element::{Element, Scalar},
    gl::{self, Component, Format, Pixels, Size},
    interop::{Error, Interop},
    scene::{Grid, Manifest, ResourceId, View, ViewKind},
    state::{Resources, TooLarge},
};

/// A texture with the elements that a view draws as a grid; views that draw the same share it.
#[derive(Clone, Debug)]
pub(super) struct GridTexture {
    grid: Grid,
    element: Element,
    kind: Component,
    texture: Rc<gl::Texture>,
}

/// Those of the views of `manifest`, in their order: one for each that draws elements, where anything is drawn.
pub(super) fn grid_textures(
    manifest: &Manifest,
    interop: &Interop,
) -> Result<Result<Vec<Option<GridTexture>>, TooLarge>, Error> {
    let mut grids: Vec<Option<GridTexture>> = Vec::new();
    for view in &manifest.views {
        let known =
            grids.iter().flatten().find(|known| Some(known.grid) == drawn_by(view)).cloned();
        let found =
            known.map_or_else(|| GridTexture::new(view, manifest, interop), |it| Ok(Some(it)));
        match found {
            Ok(grid_texture) => grids.push(grid_texture),
            Err(error) => {
                let at = view.at.unwrap_or_default();
                let too_large =
                    TooLarge::of(&format!("picture of the view `{}`", view.name), at, &error);
                return too_large.map(Err).ok_or(error);
            }
        }
    }
    Ok(Ok(grids))
}

/// The elements that a view draws as a grid.
fn drawn_by(view: &View) -> Option<Grid> {
    match view.kind {
        ViewKind::Image { grid, .. } | ViewKind::Surface { grid, .. } => Some(grid),
        ViewKind::Points { .. } | ViewKind::Volume { .. } => None,
    }
}

impl GridTexture {
    fn new(view: &View, manifest: &Manifest, interop: &Interop) -> Result<Option<Self>, Error> {
        let Some(grid) = drawn_by(view) else { return Ok(None) };
        let Grid { of, size } = grid;
        let resource = manifest.resource(of);
        let (None, Some(gl), Some(element)) =
            (resource.texture(), interop.gl(), resource.element())
        else {
            return Ok(None);
        };
        let Some(kind) = component(element.scalar) else { return Ok(None) };
        let texture = gl::Texture::new(gl, format(element.lanes, kind), Size::Flat(size))?;
        Ok(Some(Self { grid, element, kind, texture: Rc::new(texture) }))
    }

    /// Takes over what the elements are after the last finished step.
    pub(super) fn refresh(&self, resources: &Resources) -> Result<(), Error> {
        let resource = resources.iter().nth(self.grid.of.0);
        let Some(buffer) = resource.and_then(|resource| resource.drawn()) else { return Ok(()) };
        let pixels = Pixels { buffer, components: self.element.lanes, kind: self.kind };
        Ok(self.texture.write_from(pixels)?)
    }

    pub(super) fn texture(&self) -> &gl::Texture {
        &self.texture
    }

    /// What the texture's values are to be multiplied by.
    pub(super) fn scale(&self) -> f32 {
        match self.kind {
            Component::F32 | Component::F64 | Component::F16 | Component::U8 => 1.0,
            Component::I32 => i32::MAX as f32,
            Component::U32 => u32::MAX as f32,
        }
    }

    /// The components of the element in this place, as they are stored in `buffer`.
    pub(super) fn element(&self, buffer: &gl::Buffer, [x, y]: [u32; 2]) -> Result<Vec<f64>, Error> {
        let [width, ..] = self.texture.size().extents();
        let mut bytes = vec![0; self.element.bytes()];
        let index = y as usize * width as usize + x as usize;
        buffer.read(index * bytes.len(), &mut bytes)?;
        let numbers = bytes.chunks_exact(self.kind.bytes());
        Ok(numbers.map(|bytes| number(self.kind, bytes)).collect())
    }

    pub(super) fn of(&self) -> ResourceId {
        self.grid.of
    }
}

/// What OpenGL calls a number, where it knows such.
pub(super) fn component(scalar: Scalar) -> Option<Component> {
    match scalar {
        Scalar::F32 => Some(Component::F32),
        Scalar::F64 => Some(Component::F64),
        Scalar::F16 => Some(Component::F16),
        Scalar::I32 => Some(Component::I32),
        Scalar::U32 => Some(Component::U32),
        Scalar::U8 => Some(Component::U8),
        Scalar::Bool
        | Scalar::I8
        | Scalar::I16
        | Scalar::U16
        | Scalar::I64
        | Scalar::U64
        | Scalar::BF16 => None,
    }
}

/// The texels that hold them.
fn format(lanes: u8, kind: Component) -> Format {
    match (kind, lanes) {
        (Component::U8, _) => Format::Rgba8,
        (Component::F16, _) => Format::Rgba16f,
        (Component::F32 | Component::F64 | Component::I32 | Component::U32, 1) => Format::R32f,
        (Component::F32 | Component::F64 | Component::I32 | Component::U32, 2) => Format::Rg32f,
        (Component::F32 | Component::F64 | Component::I32 | Component::U32, _) => Format::Rgba32f,
    }
}

fn number(kind: Component, bytes: &[u8]) -> f64 {
    match kind {
        Component::F32 => f64::from(bytemuck::pod_read_unaligned::<f32>(bytes)),
        Component::F64 => bytemuck::pod_read_unaligned(bytes),
        Component::F16 => bytemuck::pod_read_unaligned::<half::f16>(bytes).to_f64(),
        Component::I32 => f64::from(bytemuck::pod_read_unaligned::<i32>(bytes)),
        Component::U32 => f64::from(bytemuck::pod_read_unaligned::<u32>(bytes)),
        Component::U8 => bytes.first().copied().map_or(0.0, f64::from),
    }
}
