//! What two sides differ in, as one picture.

use super::cover;
use crate::gl::{
    Blend, Format, Framebuffer, Gl, Program, Result, Size, Source, Texture, Uniform, VertexArray,
};

/// Draws what two pictures, or two images, differ in.
#[derive(Debug)]
pub struct Difference {
    gl: Gl,
    tints: Program,
    subtraction: Program,
    nothing: VertexArray,
    picture: Option<Framebuffer>,
    image: Option<Framebuffer>,
}

const TINTS: Source = Source {
    name: "shaders/difference.frag",
    text: concat!("#version 330 core\n", include_str!("../../shaders/difference.frag")),
};
const SUBTRACTION: Source = Source {
    name: "shaders/difference.frag",
    text: concat!(
        "#version 330 core\n#define IMAGES\n",
        include_str!("../../shaders/difference.frag")
    ),
};

impl Difference {
    /// The colour, in sRGB from 0 to 1, of what is in one picture alone. Both together are white.
    pub const TINTS: [[f32; 3]; 2] = [[1.0, 0.62, 0.16], [0.0, 0.38, 0.84]];

    /// Prepares it.
    ///
    /// # Errors
    /// [`Error::Shader`](crate::gl::Error::Shader) when the driver does not take a shader.
    pub fn new(gl: &Gl) -> Result<Self> {
        Ok(Self {
            gl: gl.clone(),
            tints: Program::new(gl, cover::VERTEX, TINTS)?,
            subtraction: Program::new(gl, cover::VERTEX, SUBTRACTION)?,
            nothing: VertexArray::new(gl, &[])?,
            picture: None,
            image: None,
        })
    }

    /// Two pictures in one: what is bright in one alone has its [tint](Self::TINTS), and what is in both is gray.
    /// `None` where they are not of one size.
    ///
    /// # Errors
    /// [`Error::WrongContext`](crate::gl::Error::WrongContext), and where memory is out.
    pub fn of_pictures(&mut self, [a, b]: [&Framebuffer; 2]) -> Result<Option<&Framebuffer>> {
        let (Some(one), Some(other)) = (a.texture(), b.texture()) else { return Ok(None) };
        if a.size() != b.size() {
            return Ok(None);
        }
        let [tint_a, tint_b] = Self::TINTS;
        self.tints.set("tint_a", Uniform::Vec3(tint_a));
        self.tints.set("tint_b", Uniform::Vec3(tint_b));
        let target = sized(&mut self.picture, &self.gl, Format::Rgba8, a.size())?;
        cover(target, &self.tints, &self.nothing, [one, other])?;
        Ok(Some(target))
    }

    /// The picture that [`of_pictures`](Self::of_pictures) made last.
    pub fn picture(&self) -> Option<&Framebuffer> {
        self.picture.as_ref()
    }

    /// How far the components of two textures of two dimensions are apart, as a texture. `None` where they are not of
    /// one size.
    ///
    /// # Errors
    /// As [`of_pictures`](Self::of_pictures).
    pub fn of_images(&mut self, sides: [&Texture; 2]) -> Result<Option<&Texture>> {
        let [Size::Flat(size), Size::Flat(other)] = sides.map(Texture::size) else {
            return Ok(None);
        };
        if size != other {
            return Ok(None);
        }
        let target = sized(&mut self.image, &self.gl, Format::Rgba32f, size)?;
        cover(target, &self.subtraction, &self.nothing, sides)?;
        Ok(target.texture())
    }
}

/// What is in `slot`, made anew where it has another size.
fn sized<'a>(
    slot: &'a mut Option<Framebuffer>,
    gl: &Gl,
    format: Format,
    size: [u32; 2],
) -> Result<&'a Framebuffer> {
    let kept = slot.take().filter(|kept| kept.size() == size);
    let kept = match kept {
        Some(kept) => kept,
        None => Framebuffer::new(gl, format, size, false)?,
    };
    Ok(slot.insert(kept))
}

fn cover(
    target: &Framebuffer,
    program: &Program,
    nothing: &VertexArray,
    [a, b]: [&Texture; 2],
) -> Result<()> {
    program.set("a", Uniform::I32(0));
    program.set("b", Uniform::I32(1));
    cover::cover(target, program, nothing, Blend::Replace, &[(0, a), (1, b)], &[])
}
