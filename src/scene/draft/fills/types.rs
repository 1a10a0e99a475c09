//! Of which type the elements are that the host writes: a copy moves bytes, so another type's numbers are others.

use super::Elements;
use crate::{
    cuda::{
        Held, Pointee, Structures,
        lexer::{Tokens, joined},
    },
    element::{Element, Scalar},
    scene::draft::{
        code::{
            Span,
            members::MOST_FIELDS,
            pointers::without_casts,
            readers,
            variables::{Id, Value},
        },
        expression::{
            cpp_number::QUALIFIERS,
            headers::{ADDRESS, of_header},
        },
        host::{Host, place::Place},
    },
};

/// So many tokens stand between the name of a container and that of its variable.
const LONGEST_TYPE: usize = 40;
/// Parameters that are given parameters, at most so many.
const DEEPEST: usize = 8;

impl<'s> Host<'s> {
    /// Whether what the name at a place means has elements with the bytes of those of an array.
    pub(in crate::scene::draft) fn has_elements(
        &self,
        name: &str,
        place: &Place<'_, 's>,
        of: &Elements<'_>,
    ) -> bool {
        let Some(own) = self.elements_of(name, place, 0) else { return false };
        match element_named(self.structures, &own) {
            Some(own) => are_alike(&own, of.element),
            // What the text does not explain may be the same on both sides.
            None => {
                let mut others = self.variables.named(of.pointer).iter().peekable();
                let is_it = |id: &Id| self.element_declared(*id).is_some_and(|other| other == own);
                others.peek().is_some() && others.all(is_it)
            }
        }
    }

    /// Whether a part of the code names something all of which is so: `name`, `&name`, `name.data()`.
    pub(in crate::scene::draft) fn is_source_of(
        &self,
        from: &Span,
        place: &Place<'_, 's>,
        of: &Elements<'_>,
    ) -> bool {
        let inner = without_casts(&self.code, from.clone());
        let at = match self.tokens(&inner) {
            [and, _] if and.text == "&" => Some(inner.start + 1),
            _ => self.whole(&inner),
        };
        at.is_some_and(|at| self.has_elements(self.text_at(at), place, of))
    }

    /// What a pointer points to that is called so at a place, as it is declared.
    pub(in crate::scene::draft) fn element_of_pointer(
        &self,
        name: &str,
        place: &Place<'_, 's>,
    ) -> Option<String> {
        self.elements_of(name, place, 0)
    }

    /// The type of the elements of a variable, as it is written.
    fn elements_of(&self, name: &str, place: &Place<'_, 's>, depth: usize) -> Option<String> {
        // Behind its declaration, where that is the place itself.
        let id = self.visible(name, place.at + 1)?;
        let variable = self.variables.get(id);
        let own = self.element_declared(id);
        let is_told = own
            .as_ref()
            .is_some_and(|own| own != "auto" && !self.type_parameters.contains(own.as_str()));
        if is_told || depth >= DEEPEST {
            return own;
        }
        if variable.parameter.is_none() {
            return own.filter(|own| own != "auto");
        }
        // A reference to a container, or a parameter of a template: what it is given.
        let Some((given, there)) = self.argument_of(name, place) else { return own };
        let inner = without_casts(&self.code, given.clone());
        let at = self.whole(&given).filter(|_| inner == given)?;
        self.elements_of(self.text_at(at), &Place { at, ..there }, depth + 1)
    }

    /// The same by its declaration alone.
    fn element_declared(&self, id: Id) -> Option<String> {
        let variable = self.variables.get(id);
        let words = &variable.declared.words;
        if let Some((of, field)) = variable.name.split_once('.') {
            let owner = self.visible(of, variable.at + 1)?;
            let words = self.variables.get(owner).declared.words.iter();
            let members = words.filter_map(|word| self.structures.members(word, MOST_FIELDS));
            return members.flatten().find(|member| member.path == field).and_then(|member| {
                match member.held {
                    Held::Pointer(Pointee::Element(element)) => Some(element.to_string()),
                    Held::Pointer(Pointee::Named(name)) => Some(name.clone()),
                    Held::Pointer(Pointee::Void) | Held::Element(_) | Held::Unknown => None,
                }
            });
        }
        let words: Vec<&str> =
            words.iter().copied().filter(|word| !QUALIFIERS.contains(word)).collect();
        let points =
            |word: &str| matches!(word, "unique_ptr" | "shared_ptr" | "device_ptr" | "span");
        if words.iter().any(|word| readers::copies(word) || points(word)) {
            return self.contained(id);
        }
        if words == ["auto"] {
            return self.element_made(id);
        }
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// `auto name = new float[n]`, `auto name = std::make_unique<float[]>(n)`.
    fn element_made(&self, id: Id) -> Option<String> {
        let variable = self.variables.get(id);
        let first = variable.definitions.iter().find(|set| set.at == variable.at)?;
        let Value::Expression(made) = &first.value else { return None };
        let start = match self.text_at(made.start) {
            "new" => made.start + 1,
            _ => made.clone().find(|at| self.text_at(*at) == "<")? + 1,
        };
        let end = made.clone().find(|at| *at >= start && !self.code.is_word_at(*at))?;
        let is_type = matches!(self.text_at(end), "[" | ">" | ",") && start < end;
        is_type.then(|| joined((start..end).map(|at| self.text_at(at))))
    }

    /// What the elements of a container are in its declaration: `float` of `device_vector<float> name`.
    pub(in crate::scene::draft) fn contained(&self, id: Id) -> Option<String> {
        let variable = self.variables.get(id);
        let within = match &variable.parameter {
            Some((parameters, index)) => self.parts(parameters.clone()).get(*index)?.clone(),
            None => {
                let near = (variable.at.saturating_sub(LONGEST_TYPE)..variable.at).rev();
                let is_before = |at: &usize| !matches!(self.text_at(*at), ";" | "{" | "}");
                near.take_while(is_before).last()?..variable.at
            }
        };
        let open = within.clone().rev().find(|at| self.text_at(*at) == "<")?;
        let close = (open..within.end).find(|at| matches!(self.text_at(*at), "," | ">" | "["))?;
        Some(joined((open + 1..close).map(|at| self.text_at(at))))
    }
}

/// The manifest's name of the type that the host calls `name`, which may be one of the `structures`.
pub(in crate::scene::draft) fn element_named(
    structures: &Structures,
    name: &str,
) -> Option<String> {
    let name = name.trim_start_matches("const ").trim_start_matches("struct ").trim_end();
    let has_fields = || structures.fields(name, 1).is_some_and(|fields| !fields.is_empty());
    match Element::parse(name) {
        Some(element) => Some(element.to_string()),
        None if name.ends_with('*') => Some(ADDRESS.to_owned()),
        None if has_fields() => Some(name.to_owned()),
        None => {
            let found = structures.elements().find(|(known, _)| *known == name);
            let found = found.map(|(_, element)| element.to_string());
            let instance = || structures.instance(name).map(|(instance, _)| instance);
            found.or_else(|| of_header(name).map(str::to_owned)).or_else(instance)
        }
    }
}

/// Whether the same numbers are the same bytes in elements of both types: a whole number keeps its bits where its sign
/// alone goes.
fn are_alike(one: &str, other: &str) -> bool {
    let whole = |element: Element| element.scalar.integer_range().map(|_| element.scalar.bytes());
    let both = Element::parse(one).zip(Element::parse(other));
    let is_whole = both.is_some_and(|(one, other)| {
        let bits = whole(one).filter(|_| ![one.scalar, other.scalar].contains(&Scalar::Bool));
        one.lanes == other.lanes && bits.is_some() && bits == whole(other)
    });
    one == other || is_whole
}
