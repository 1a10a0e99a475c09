//! The textures of a drafted manifest, and the arrays that kernels read through texture objects.

use std::fmt::Write as _;

use super::{Draft, FILL_IN, arrays::element_of, extents::Extent, guess::Guess, names};
use crate::{
    cuda::{CType, Pointee},
    scene::draft::{
        code::pointers::{Offset, without_casts},
        host::{Host, MOST_LAUNCHES},
        values::place::Place,
    },
};

/// A texture, as kernels read or write it.
pub(in crate::scene::draft) struct DraftedTexture {
    format: &'static str,
    /// Whether the host says that texels are so.
    is_format_known: bool,
    dimensions: u8,
    /// Its size, where the host says it.
    extent: Option<Extent>,
    /// Some kernel writes it.
    pub(in crate::scene::draft) is_written: bool,
}

impl DraftedTexture {
    pub(in crate::scene::draft) fn written(&self, name: &str) -> String {
        let Self { format, is_format_known, dimensions, extent, is_written } = self;
        let some = match dimensions {
            1 => "[1024]",
            3 => "[64, 64, 64]",
            _ => "[512, 512]",
        };
        let size = match extent {
            Some(Extent { sides, doubt, .. }) => {
                let what = doubt.as_deref().unwrap_or_default();
                let size = Guess::of((format!("{sides:?}"), doubt.is_none()), what);
                format!("{}{}", size.text, size.remark())
            }
            None => format!("{some} # {FILL_IN}"),
        };
        let mark = if *is_format_known { String::new() } else { format!(" # {FILL_IN}") };
        let mut text = format!("\n[texture.{name}]\nformat = \"{format}\"{mark}\n");
        let _ = writeln!(text, "size   = {size}");
        if !is_written {
            let _ = writeln!(text, "# The host fills it, as `file = \"{name}.png\"` would.");
        }
        text
    }
}

impl<'s> Host<'s> {
    /// The functions by which kernels read or write the texture `name`, each with the type that it has of a texel:
    /// `tex2D<float4>(name, x, y)`.
    fn uses_of_texture(&self, name: &str) -> impl Iterator<Item = (&'s str, &'s str)> {
        let is_use = |at: &usize| {
            let function = self.text_at(*at);
            (function.starts_with("tex") || function.starts_with("surf"))
                && self.text_at(at + 1) == "<"
        };
        // A surface's name stands behind what is written there.
        let of = move |at: &usize| match self.text_at(*at).starts_with("tex") {
            true => self.text_at(at + 5) == name,
            false => (at + 3..at + 16).any(|near| self.text_at(near) == name),
        };
        let found = (0..self.code.len()).filter(is_use).filter(of);
        found.map(|at| (self.text_at(at), self.text_at(at + 2)))
    }

    /// The pointer to the linear memory that the texture object `name` is made of: `desc.res.linear.devPtr = name`.
    fn memory_of_texture(&self, name: &str) -> Option<(&'s str, Place<'_, 's>)> {
        let is_made = |at: &usize| {
            self.text_at(*at) == "cudaCreateTextureObject" && self.text_at(at + 3) == name
        };
        let made = (0..self.code.len()).find(is_made).unwrap_or(self.code.len());
        let set = (0..made)
            .rev()
            .find(|at| self.text_at(*at) == "devPtr" && self.text_at(at + 1) == "=")?;
        let end = (set..made).find(|at| self.text_at(*at) == ";")?;
        let pointer = self.base(&without_casts(&self.code, set + 2..end))?;
        Some((pointer, Place::of(set)))
    }
}

impl Draft<'_, '_> {
    /// What a kernel is given as its parameter `of_kernel`, which the host calls `name`: a texture, or an array whose
    /// elements it fetches.
    pub(in crate::scene::draft) fn texture(
        &mut self,
        name: &str,
        of_kernel: &str,
        ctype: &CType,
    ) -> Guess {
        let host = self.host;
        self.textures_looked_for += 1;
        let is_looked_for = self.textures_looked_for < MOST_LAUNCHES;
        let found = is_looked_for.then(|| host.uses_of_texture(of_kernel).next()).flatten();
        if let Some(("tex1Dfetch", texel)) = found {
            return self.fetched(name, texel);
        }
        let of_host = name;
        let name = self.names.of(name, names::TEXTURE);
        let texture = self.textures.entry(name.clone()).or_insert_with(|| {
            let (function, texel) = found.unwrap_or_default();
            let digits = function.trim_start_matches(|c: char| !c.is_ascii_digit());
            let dimensions = digits.bytes().next().map_or(2, |digit| digit - b'0');
            let extent = host.extent_of(of_host, dimensions.into());
            // What kernels see of a texel may be a number made of it.
            let told = extent.as_ref().and_then(|extent| extent.texel.as_deref());
            let known = told.and_then(format_known);
            DraftedTexture {
                format: known.unwrap_or_else(|| format_known(texel).unwrap_or("r32f")),
                is_format_known: known.is_some(),
                dimensions,
                extent,
                is_written: false,
            }
        });
        texture.is_written |= matches!(ctype, CType::Surface);
        Guess::known(format!("\"{name}\""))
    }

    /// The array behind a texture object of linear memory.
    fn fetched(&mut self, name: &str, texel: &str) -> Guess {
        let host = self.host;
        let element = element_of(self.structures, &Pointee::Void, Some(texel));
        let memory = host.memory_of_texture(name);
        match memory.map(|(pointer, place)| host.pointer_of(pointer, &place)) {
            Some((pointer, there)) => {
                let own = self.own_element(pointer, &there, &element);
                let array = self.array_of(pointer, &own);
                let cast = (element != own).then_some(element.as_str());
                self.address(pointer, array, Offset::None, cast)
            }
            None => Guess::known(format!("\"{}\"", self.array(name, &element, None, false))),
        }
    }
}

/// The format whose texels are of this type.
fn format_known(texel: &str) -> Option<&'static str> {
    match texel {
        "float4" => Some("rgba32f"),
        "float2" => Some("rg32f"),
        "uchar4" => Some("rgba8"),
        "float" => Some("r32f"),
        _ => None,
    }
}
