//! How large textures are, and of which texels: what the host allocates for them,
//! `cudaMallocArray(&name, &desc, w, h)`.

use crate::scene::draft::{
    code::{Span, variables::Value},
    host::{Host, place::Place},
};

/// A texture has at most so many texels along an axis.
const LONGEST_SIDE: i64 = 1 << 16;
/// Variables that are set to one another, at most so many.
const DEEPEST: usize = 4;

/// Where the host allocates an array, and by which call.
#[derive(Clone, Copy)]
struct Made<'h> {
    call: &'h str,
    at: usize,
}

/// The sides of a texture as the host says them.
pub(in crate::scene::draft) struct Extent {
    pub(in crate::scene::draft) sides: Vec<i64>,
    /// What they are told by, where that is not sure.
    pub(in crate::scene::draft) doubt: Option<String>,
    /// The type of a texel, where the host says it: `cudaCreateChannelDesc<float>()`.
    pub(in crate::scene::draft) texel: Option<String>,
}

impl<'s> Host<'s> {
    /// How large the texture is that the host calls `name`, where it is an array and has so many axes.
    pub(in crate::scene::draft) fn extent_of(&self, name: &str, axes: usize) -> Option<Extent> {
        let mut made = self.arrays_made();
        let own = self.array_of_object(name);
        let is_own = |made: &Made<'_>| own.is_some_and(|own| self.array_made(made) == Some(own));
        let exact = made.iter().rev().find(|made| is_own(made)).copied();
        let is_found = exact.is_some();
        let of = match exact {
            Some(exact) => exact,
            // The only one that it can be.
            None => made.pop().filter(|_| made.is_empty())?,
        };
        let (parts, place) = (self.parts_of_call(of.at), Place::of(of.at));
        let sides = match of.call {
            "cudaMallocArray" => parts.get(2..parts.len().min(4))?.to_vec(),
            _ => self.sides_of_extent(parts.get(2)?, &place, 0)?,
        };
        let (numbers, is_sure) = self.surely(|host| {
            let number = |side: &Span| i64::try_from(host.number_at(side, &place)?.whole()?).ok();
            sides.iter().map(number).collect::<Option<Vec<i64>>>()
        });
        let mut numbers = numbers?;
        // An axis without a length is none.
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
        let fits =
            numbers.len() == axes && numbers.iter().all(|side| (1..=LONGEST_SIDE).contains(side));
        let texel = parts.get(1).and_then(|format| self.texel_of(format, of.at));
        let text = || self.text(&(of.at..parts.last().map_or(of.at, |last| last.end + 1)));
        let doubt = (!is_sure || !is_found).then(text);
        fits.then_some(Extent { sides: numbers, doubt, texel })
    }

    /// Where the host allocates arrays.
    fn arrays_made(&self) -> Vec<Made<'s>> {
        let is_call = |token: &str| matches!(token, "cudaMallocArray" | "cudaMalloc3DArray");
        let found = self.code.iter().enumerate().filter(|(_, token)| is_call(token.text));
        found.map(|(at, token)| Made { call: token.text, at }).collect()
    }

    /// The name of the array that is allocated there.
    fn array_made(&self, made: &Made<'_>) -> Option<&'s str> {
        let target = self.parts_of_call(made.at).into_iter().next()?;
        target.clone().next_back().map(|last| self.text_at(last))
    }

    /// The array that a texture or a surface object is made of: `desc.res.array.array = name`, as it was set last
    /// before `cudaCreateTextureObject(&object, &desc, ...)`.
    fn array_of_object(&self, object: &str) -> Option<&'s str> {
        let is_made = |at: &usize| {
            matches!(self.text_at(*at), "cudaCreateTextureObject" | "cudaCreateSurfaceObject")
                && self.text_at(at + 3) == object
        };
        let made = (0..self.code.len()).find(is_made)?;
        let desc = self.parts_of_call(made).get(1)?.clone().next_back()?;
        let is_set = |at: &usize| {
            ["res", ".", "array", ".", "array", "="]
                .iter()
                .enumerate()
                .all(|(behind, word)| self.text_at(at + behind) == *word)
                && at.checked_sub(2).is_some_and(|of| self.text_at(of) == self.text_at(desc))
        };
        let set = (0..made).rev().find(is_set)?;
        (self.text_at(set + 7) == ";").then(|| self.text_at(set + 6))
    }

    /// The sides in `make_cudaExtent(w, h, d)`, or in what a variable is set to.
    fn sides_of_extent(
        &self,
        span: &Span,
        place: &Place<'_, 's>,
        depth: usize,
    ) -> Option<Vec<Span>> {
        if self.text_at(span.start) == "make_cudaExtent" {
            return Some(self.parts_of_call(span.start));
        }
        let id = self.visible(self.word(span)?, place.at).filter(|_| depth < DEEPEST)?;
        let set = self.set_to(id, place.at)?;
        match &set.value {
            Value::Expression(value) => self.sides_of_extent(value, &Place::of(set.at), depth + 1),
            Value::List(parts) if parts.len() == 3 => Some(parts.clone()),
            Value::List(_)
            | Value::Compound(..)
            | Value::Count(_)
            | Value::Behind(..)
            | Value::Swapped(_)
            | Value::Part
            | Value::Given(_)
            | Value::Unknown => None,
        }
    }

    /// The type in `cudaCreateChannelDesc<type>()`, which a part of the code is, or a variable or its address.
    pub(in crate::scene::draft) fn texel_of(&self, span: &Span, at: usize) -> Option<String> {
        let last = span.clone().next_back()?;
        let is_variable = span.len() == 1 || self.text_at(span.start) == "&";
        let made = match is_variable {
            true => {
                let id = self.visible(self.text_at(last), at)?;
                match &self.variables.get(id).definitions.first()?.value {
                    Value::Expression(value) => value.clone(),
                    _ => return None,
                }
            }
            false => span.clone(),
        };
        let names: Vec<&str> = made.clone().map(|at| self.text_at(at)).collect();
        match names.as_slice() {
            ["cudaCreateChannelDesc", "<", texel @ .., ">", "(", ")"] => Some(texel.join(" ")),
            _ => None,
        }
    }
}
