//! How kernels read what texture objects are made of, as the host describes it.

use super::descriptions::{Described, Object};
use crate::{
    element::Element,
    scene::draft::{code::pointers::without_casts, host::Host},
};

/// The keys of a texture that say so.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::scene::draft) struct Sampling {
    is_linear: bool,
    wrap: &'static str,
    is_normalized: bool,
}

impl Sampling {
    pub(in crate::scene::draft) fn written(self) -> String {
        let mut text = String::new();
        if self.is_linear {
            text.push_str("filter = \"linear\"\n");
        }
        if self.wrap != "clamp" {
            text.push_str(&format!("wrap   = \"{}\"\n", self.wrap));
        }
        if self.is_normalized {
            text.push_str("normalized = true\n");
        }
        text
    }
}

impl<'s> Host<'s> {
    /// How a texture of so many axes and this format is read, and the fields that are not known, or that a manifest has
    /// no key for.
    pub(in crate::scene::draft) fn sampling(
        &self,
        of: &Described,
        axes: u8,
        format: &str,
    ) -> (Sampling, Vec<String>) {
        let mut doubts = Vec::new();
        let mut doubt = |field: &str| {
            doubts.push(match of.text(self, field) {
                Some(value) => format!("{field} = {value}"),
                None => field.to_owned(),
            });
        };
        let filter = of.text(self, "filterMode");
        let is_linear = filter.as_deref() == Some("cudaFilterModeLinear");
        if !is_linear && !matches!(filter.as_deref(), Some("cudaFilterModePoint" | "0")) {
            doubt("filterMode");
        }
        let normalized = of.number(self, "normalizedCoords");
        let is_normalized = normalized.is_some_and(|number| number != 0);
        if normalized.is_none() {
            doubt("normalizedCoords");
        }
        let mut wrap = None;
        for axis in 0..axes {
            let field = format!("addressMode[{axis}]");
            let own = match of.text(self, &field).as_deref() {
                Some("cudaAddressModeClamp") => "clamp",
                // CUDA takes them for that where coordinates are those of texels.
                Some("cudaAddressModeWrap" | "cudaAddressModeMirror" | "0") if !is_normalized => {
                    "clamp"
                }
                Some("cudaAddressModeWrap" | "0") => "repeat",
                Some("cudaAddressModeMirror") => "mirror",
                Some(_) | None => "",
            };
            // There is one for all axes.
            if own != *wrap.get_or_insert(own) || own.is_empty() {
                doubt(&field);
            }
        }
        let is_read = match of.text(self, "readMode").as_deref() {
            Some("cudaReadModeNormalizedFloat") => format == "rgba8",
            Some("cudaReadModeElementType" | "0") => format != "rgba8",
            Some(_) | None => false,
        };
        if !is_read {
            doubt("readMode");
        }
        let known = ["filterMode", "normalizedCoords", "addressMode", "readMode", "borderColor"];
        for field in of.fields.keys() {
            let name = field.split('[').next().unwrap_or(field);
            if !known.contains(&name) {
                doubt(field);
            }
        }
        let wrap = wrap.filter(|wrap| !wrap.is_empty()).unwrap_or("clamp");
        (Sampling { is_linear, wrap, is_normalized }, doubts)
    }

    /// Why it is not known that what kernels fetch as `texel` are all elements of the memory that an object is made of,
    /// which is the pointer `name`'s; `None` where it is.
    pub(in crate::scene::draft) fn doubt_of_fetches(
        &self,
        object: &Object,
        name: &str,
        texel: &str,
    ) -> Option<String> {
        let of = &object.resource;
        let unknown = |of: &Described, field: &str| {
            let value = of.text(self, field);
            Some(value.map_or_else(|| field.to_owned(), |value| format!("{field} = {value}")))
        };
        let pointer = "res.linear.devPtr";
        let is_whole = of
            .fields
            .get(pointer)
            .is_some_and(|value| self.word(&without_casts(&self.code, value.clone())).is_some());
        if !is_whole {
            return unknown(of, pointer);
        }
        let bytes = of.fields.get("res.linear.sizeInBytes");
        let is_all = bytes.zip(self.allocation(name)).is_some_and(|(bytes, own)| {
            let (both, is_sure) =
                self.surely(|host| host.integer(bytes, None).zip(host.bytes_allocated(own)));
            is_sure && both.is_some_and(|(one, other)| one == other)
                || self.text(bytes) == self.text(&own.bytes)
        });
        if !is_all {
            return unknown(of, "res.linear.sizeInBytes");
        }
        let of_fields = || self.texel_of_fields(of);
        let described = match of.fields.get("res.linear.desc") {
            Some(made) => self.texel_of(made, object.made),
            None => of_fields(),
        };
        let element = |name: &str| Element::parse(name);
        let is_same =
            described.as_deref().and_then(element) == element(texel) && element(texel).is_some();
        if !is_same {
            return unknown(of, "res.linear.desc");
        }
        let texture = object.texture.as_ref()?;
        let mode = texture.text(self, "readMode");
        match mode.as_deref() {
            Some("cudaReadModeElementType" | "0") => None,
            Some(_) | None => unknown(texture, "readMode"),
        }
    }

    /// The type of a texel by the kind of its components and their bits, `desc.f = kind; desc.x = 32`.
    fn texel_of_fields(&self, of: &Described) -> Option<String> {
        let field = |name: &str| format!("res.linear.desc.{name}");
        let bits = |name: &str| of.number(self, &field(name));
        let sides = [bits("x")?, bits("y")?, bits("z")?, bits("w")?];
        let lanes = sides.iter().take_while(|bits| **bits > 0).count();
        let is_even = sides.iter().enumerate().all(|(at, own)| match at < lanes {
            true => *own == sides[0],
            false => *own == 0,
        });
        let scalar = match (of.text(self, &field("f")).as_deref(), sides[0]) {
            (Some("cudaChannelFormatKindFloat"), 32) => "float",
            (Some("cudaChannelFormatKindSigned"), 32) => "int",
            (Some("cudaChannelFormatKindUnsigned"), 32) => "unsigned int",
            (Some("cudaChannelFormatKindSigned"), 8) => "signed char",
            (Some("cudaChannelFormatKindUnsigned"), 8) => "unsigned char",
            _ => return None,
        };
        let vector = match scalar {
            "unsigned int" => "uint",
            "signed char" => "char",
            "unsigned char" => "uchar",
            other => other,
        };
        match lanes {
            1 if is_even => Some(scalar.to_owned()),
            2 | 4 if is_even => Some(format!("{vector}{lanes}")),
            _ => None,
        }
    }
}
