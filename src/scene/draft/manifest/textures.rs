//! The textures of a drafted manifest, and the arrays that kernels read through texture objects.

use std::fmt::Write as _;

use super::{
    Draft, FILL_IN, arrays::element_of, descriptions::Object, extents::Extent, guess::Guess, names,
    sampling::Sampling,
};
use crate::{
    cuda::{CType, Pointee},
    scene::draft::{
        code::pointers::{Offset, without_casts},
        expression::text::one_line,
        host::{Host, MOST_LAUNCHES, place::Place},
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
    /// The host copies texels to it, as far as it is known.
    is_filled: bool,
    sampling: Option<Sampling>,
    /// What of its description is not known, or has no key here.
    doubts: Vec<String>,
}

impl DraftedTexture {
    pub(in crate::scene::draft) fn written(&self, name: &str) -> String {
        let Self { format, is_format_known, dimensions, extent, .. } = self;
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
        text.push_str(&self.sampling.map_or_else(String::new, Sampling::written));
        for doubt in &self.doubts {
            let _ = writeln!(text, "# {FILL_IN}: {}", one_line(doubt));
        }
        if !self.is_written || self.is_filled {
            let file = format!("# The host fills it, as `file = \"{name}.png\"` would.");
            let _ = writeln!(text, "{file} # {FILL_IN}: its texels");
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

impl Host<'_> {
    /// Whether the host copies texels to the array `name`, or perhaps does.
    fn fills_array(&self, name: Option<&str>) -> bool {
        (0..self.code.len()).any(|at| match self.text_at(at) {
            "cudaMemcpyToArray"
            | "cudaMemcpyToArrayAsync"
            | "cudaMemcpy2DToArray"
            | "cudaMemcpy2DToArrayAsync"
            | "cudaMemcpyArrayToArray"
            | "cudaMemcpy2DArrayToArray" => {
                let target = self.parts_of_call(at).into_iter().next();
                let target = target.and_then(|target| self.word(&target));
                target.is_none() || name.is_none() || target == name
            }
            "cudaMemcpy3D" | "cudaMemcpy3DAsync" => true,
            _ => false,
        })
    }
}

impl<'s> Draft<'_, 's> {
    /// What the object is made of that the host calls `name`.
    fn object(&self, name: &str) -> Option<&Object> {
        let found = self.objects.iter().find(|(own, _)| *own == name)?;
        found.1.as_ref()
    }

    /// The array that an object is made of.
    fn array_behind(&self, object: &Object) -> Option<&'s str> {
        self.host.word(object.resource.fields.get("res.array.array")?)
    }

    /// The first object that is made of the array that this one is made of, too.
    fn first_of_array<'n>(&self, name: &'n str) -> &'n str
    where
        's: 'n,
    {
        let own = self.object(name).and_then(|object| self.array_behind(object));
        let is_it = |object: &Object| own.is_some() && self.array_behind(object) == own;
        let first = self.objects.iter().find(|(_, other)| other.as_ref().is_some_and(is_it));
        first.map_or(name, |(first, _)| first)
    }

    /// Notes how a kernel reads a texture through the object `name`.
    fn sampled(&mut self, texture: &str, name: &str) {
        let object = self.objects.iter().find(|(own, _)| *own == name);
        let Some(texture) = self.textures.get_mut(texture) else { return };
        let doubts = match object
            .map(|(_, object)| object.as_ref().and_then(|o| o.texture.as_ref()))
        {
            Some(Some(of)) => {
                let (own, mut doubts) = self.host.sampling(of, texture.dimensions, texture.format);
                if own != *texture.sampling.get_or_insert(own) {
                    doubts.push(format!("`{name}` does so in another way"));
                }
                doubts
            }
            // Nothing launches it.
            None if self.host.launches.is_empty() => return,
            Some(None) | None => vec![format!("what `{name}` is made of")],
        };
        for doubt in doubts {
            let doubt = format!("how it is read: {doubt}");
            if !texture.doubts.contains(&doubt) {
                texture.doubts.push(doubt);
            }
        }
    }
}

impl<'s> Draft<'_, 's> {
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
        let name = self.names.of(self.first_of_array(name), names::TEXTURE);
        let array = self.object(of_host).and_then(|object| self.array_behind(object));
        let is_known = array.is_some() || self.objects.iter().all(|(own, _)| *own != of_host);
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
                is_filled: host.fills_array(array),
                sampling: None,
                doubts: Vec::new(),
            }
        });
        texture.is_written |= matches!(ctype, CType::Surface);
        let doubt = format!("which array `{of_host}` is made of");
        if !is_known && !texture.doubts.contains(&doubt) {
            texture.doubts.push(doubt);
        }
        if matches!(ctype, CType::Texture) {
            self.sampled(&name, of_host);
        }
        Guess::known(format!("\"{name}\""))
    }

    /// The array behind a texture object of linear memory.
    fn fetched(&mut self, name: &str, texel: &str) -> Guess {
        let host = self.host;
        let element = element_of(self.structures, &Pointee::Void, Some(texel));
        let Some((pointer, place)) = host.memory_of_texture(name) else {
            let array = format!("\"{}\"", self.array(name, &element, None, false));
            return match host.launches.is_empty() {
                true => Guess::known(array),
                false => Guess::open(array, "the memory that it is made of"),
            };
        };
        let ((pointer, there), is_sure) = host.surely(|_| host.pointer_of(pointer, &place));
        let own = self.own_element(pointer, &there, &element);
        let doubt = match self.object(name).filter(|_| is_sure) {
            Some(object) => host.doubt_of_fetches(object, pointer, texel),
            None => Some("the memory that it is made of".to_owned()),
        };
        let array = self.array_of(pointer, &own);
        let cast = (element != own).then_some(element.as_str());
        let found = self.address(pointer, array, Offset::None, cast);
        match (doubt, &found.open) {
            (Some(doubt), None) => Guess::open(found.text, doubt),
            (Some(_) | None, _) => found,
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
