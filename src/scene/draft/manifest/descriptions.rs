//! What the host says in the fields of the structures from which it makes texture objects: `desc.filterMode = ...`.

use std::collections::BTreeMap;

use crate::{
    cuda::lexer::Tokens,
    scene::draft::{
        code::Span,
        host::{Host, MOST_LAUNCHES, place::Place},
    },
};

/// A field's name has at most so many tokens.
const LONGEST_PATH: usize = 16;
/// A value has at most so many.
const LONGEST_VALUE: usize = 40;

/// What a texture or a surface object is made of.
pub(in crate::scene::draft) struct Object {
    /// Where the call stands that makes it.
    pub(in crate::scene::draft) made: usize,
    pub(in crate::scene::draft) resource: Described,
    /// `None` of a surface, and where it is not known.
    pub(in crate::scene::draft) texture: Option<Described>,
}

/// What the fields of a structure are set to, by their paths.
#[derive(Default)]
pub(in crate::scene::draft) struct Described {
    pub(in crate::scene::draft) fields: BTreeMap<String, Span>,
    /// The others are zeros.
    pub(in crate::scene::draft) is_cleared: bool,
}

impl Described {
    /// What a field is set to, as it is written; `None` where it may be anything.
    pub(in crate::scene::draft) fn text(&self, host: &Host<'_>, field: &str) -> Option<String> {
        match self.fields.get(field) {
            Some(value) => Some(host.text(value)),
            None => self.is_cleared.then(|| "0".to_owned()),
        }
    }

    /// The number that a field is set to.
    pub(in crate::scene::draft) fn number(&self, host: &Host<'_>, field: &str) -> Option<i128> {
        match self.fields.get(field) {
            Some(value) => {
                let (number, is_sure) =
                    host.surely(|host| host.number_at(value, &Place::of(value.start)));
                number.filter(|_| is_sure)?.whole()
            }
            None => self.is_cleared.then_some(0),
        }
    }
}

impl<'s> Host<'s> {
    /// What the object is made of that the host calls `name`; `None` where that is not known: it is made once, of
    /// variables of the same block each mention of which is understood, and is nothing else's name.
    fn object(&self, name: &str) -> Option<Object> {
        self.look(self.code.len())?;
        let mut calls = self.objects_made().filter(|(_, own)| *own == name);
        let (made, _) = calls.next().filter(|_| calls.next().is_none())?;
        // What else is set to it, or it to.
        let mut others = (0..self.code.len()).filter(|at| self.text_at(*at) == name);
        let is_kept = others.all(|at| {
            let before = self.code.text_before(at);
            let is_begun = self.code.is_word_at(at.saturating_sub(1)) || before == ",";
            let is_set = self.text_at(at + 1) == "=" && !is_begun;
            let is_swapped = self.code.text_at(at.saturating_sub(2)) == "swap"
                || before == "," && self.text_at(at.saturating_sub(4)) == "swap";
            at == made + 3 || before != "&" && !is_set && !is_swapped
        });
        let parts = self.parts_of_call(made);
        let described = |part: &Span| {
            let at = part.clone().next_back()?;
            let is_address = part.len() == 2 && self.text_at(part.start) == "&";
            self.described(at, made).filter(|_| is_address)
        };
        let resource = described(parts.get(1).filter(|_| is_kept)?)?;
        let texture = match self.text_at(made) {
            "cudaCreateTextureObject" => described(parts.get(2)?),
            _ => None,
        };
        let is_view = parts
            .get(3)
            .is_some_and(|view| !matches!(self.word(view), Some("NULL" | "nullptr" | "0")));
        (!is_view).then_some(Object { made, resource, texture })
    }

    /// All objects by their names, in the order in which they are made.
    pub(in crate::scene::draft) fn texture_objects(&self) -> Vec<(&'s str, Option<Object>)> {
        let mut found = Vec::<(&str, Option<Object>)>::new();
        for (_, name) in self.objects_made().take(MOST_LAUNCHES) {
            if !found.iter().any(|(own, _)| *own == name) {
                found.push((name, self.object(name)));
            }
        }
        found
    }

    /// Where texture and surface objects are made, each with its name.
    fn objects_made(&self) -> impl Iterator<Item = (usize, &'s str)> {
        let is_call = |at: &usize| {
            matches!(self.text_at(*at), "cudaCreateTextureObject" | "cudaCreateSurfaceObject")
        };
        (0..self.code.len()).filter(is_call).map(|at| (at, self.text_at(at + 3)))
    }

    /// What the structure has at `made` whose name stands at `name`.
    fn described(&self, name: usize, made: usize) -> Option<Described> {
        let text = self.text_at(name);
        let id = self.visible(text, name)?;
        let declared = self.variables.get(id).at;
        let around =
            |at: usize| self.regions.around(at).map(|(place, _)| place).collect::<Vec<_>>();
        let blocks = around(made);
        let mut found = Described::default();
        self.look(made.checked_sub(declared)?)?;
        // A field may be called so, too.
        let is_named = |at: &usize| {
            self.text_at(*at) == text && !matches!(self.code.text_before(*at), "." | ">")
        };
        for at in (declared..made).filter(is_named) {
            let texts = |from: usize, wanted: &[&str]| {
                (from..).zip(wanted).all(|(at, text)| self.text_at(at) == *text)
            };
            let before = |wanted: &[&str]| {
                at.checked_sub(wanted.len()).is_some_and(|from| texts(from, wanted))
            };
            if around(at) != blocks {
                return None;
            }
            if at == declared {
                let is_list =
                    |from: usize| texts(from, &["{", "}"]) || texts(from, &["{", "0", "}"]);
                found.is_cleared =
                    is_list(at + 1) || self.text_at(at + 1) == "=" && is_list(at + 2);
                if !found.is_cleared && !matches!(self.text_at(at + 1), ";" | ",") {
                    return None;
                }
            } else if before(&["memset", "(", "&"]) && texts(at + 1, &[",", "0", ","]) {
                (found.fields, found.is_cleared) = (BTreeMap::new(), true);
            } else if self.text_at(at + 1) == "."
                && matches!(self.code.text_before(at), ";" | "{" | "}")
            {
                let equals = (at..at + LONGEST_PATH).find(|at| self.text_at(*at) == "=")?;
                let end = (equals..equals + LONGEST_VALUE).find(|at| self.text_at(*at) == ";")?;
                let path: String = (at + 2..equals).map(|at| self.text_at(at)).collect();
                let is_plain = (equals + 1..end).all(|at| self.text_at(at) != "=");
                if !is_plain {
                    return None;
                }
                let part = format!("{path}.");
                found.fields.retain(|own, _| !own.starts_with(&part));
                found.fields.insert(path, equals + 1..end);
            } else if !before(&["sizeof", "("]) && !self.is_made_of(at) {
                return None;
            }
        }
        Some(found)
    }

    /// Whether what stands at a place is read there to make another object.
    fn is_made_of(&self, at: usize) -> bool {
        let start = (at.saturating_sub(LONGEST_VALUE)..at).rev();
        let mut call = start.take_while(|at| !matches!(self.text_at(*at), ";" | "{" | "}"));
        self.code.text_before(at) == "&"
            && call.any(|at| {
                matches!(self.text_at(at), "cudaCreateTextureObject" | "cudaCreateSurfaceObject")
            })
    }
}
