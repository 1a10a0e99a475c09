//! What numbers the host fills memory with, as far as a manifest says such: one number, or random ones.

use super::{
    evaluator::Place,
    host::{Host, LONGEST, Span},
    number::{Number, Type},
    pointers::without_casts,
};
use crate::element::Element;

/// Tokens of an index that are looked at.
const LONGEST_INDEX: usize = 60;

/// The numbers of an array.
#[derive(Clone, Copy)]
pub(super) enum Filled {
    Value(Number),
    /// From the first to the second, whole ones.
    Random([i64; 2]),
}

impl Filled {
    /// The key of an array whose elements are such; `None` where they have no such numbers.
    pub(super) fn written(self, element: &str) -> Option<String> {
        let scalar = Element::parse(element)?.scalar;
        let holds = |value: i64| {
            let range = scalar.integer_range();
            range.is_none_or(|(least, greatest)| (least..=greatest).contains(&i128::from(value)))
        };
        match self {
            Self::Value(number) => {
                let number = number.to(Type::of_element(Element::scalar(scalar))?)?;
                Some(format!("value = {}", number.written()))
            }
            Self::Random([low, high]) => {
                (holds(low) && holds(high)).then(|| format!("random = [{low}, {high}]"))
            }
        }
    }
}

impl<'s> Host<'s> {
    /// What the host fills the memory of a pointer with, where one statement alone does so: `name[i] = value`.
    pub(super) fn filled_with(&self, pointer: &str) -> Option<Filled> {
        let (name, at) = self.sources.get(pointer)?;
        let id = self.visible(name, *at)?;
        self.look(self.code.len())?;
        let is_it = |at: &usize| {
            self.text_at(*at) == *name
                && self.text_at(at + 1) == "["
                && self.visible(name, *at) == Some(id)
        };
        let places = (0..self.code.len()).filter(is_it);
        let mut values = places.filter_map(|at| self.set_element(at + 1));
        let value = values.next().filter(|_| values.next().is_none())?;
        self.random(&value).or_else(|| {
            let (number, is_sure) =
                self.surely(|host| host.number_at(&value, &Place::of(value.start)));
            number.filter(|_| is_sure).map(Filled::Value)
        })
    }

    /// What the element is set to whose index opens at `open`, if it is set there.
    fn set_element(&self, open: usize) -> Option<Span> {
        let (mut at, mut depth) = (open, 0_usize);
        loop {
            match self.text_at(at) {
                "[" | "(" => depth += 1,
                "]" | ")" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            at += 1;
            if depth == 0 && self.text_at(at) != "[" || at > open + LONGEST_INDEX {
                break;
            }
        }
        let start = at + 1;
        let is_set = self.text_at(at) == "=" && self.text_at(start) != "=";
        let end =
            (start..start + LONGEST).find(|at| matches!(self.text_at(*at), ";" | "{" | ""))?;
        (is_set && self.text_at(end) == ";").then_some(start..end)
    }

    /// `rand() % count`, `rand() % count + first`.
    fn random(&self, value: &Span) -> Option<Filled> {
        let mut inner = without_casts(&self.code, value.clone());
        if self.text_at(inner.start) == "(" && self.text_at(inner.end - 1) == ")" {
            inner = inner.start + 1..inner.end - 1;
        }
        let [rand, open, close, percent, ..] = self.tokens(&inner) else { return None };
        if [rand.text, open.text, close.text, percent.text] != ["rand", "(", ")", "%"] {
            return None;
        }
        let count = inner.start + 4..inner.end;
        let sign = count.clone().find(|at| matches!(self.text_at(*at), "+" | "-" | "*" | "/"));
        let number = |span: Span| {
            let (number, is_sure) = self.surely(|host| host.integer(&span, None));
            number.filter(|_| is_sure)
        };
        let first = match sign.map(|at| (self.text_at(at), at + 1..count.end)) {
            None => 0,
            Some(("+", span)) => number(span)?,
            Some(("-", span)) => number(span)?.checked_neg()?,
            Some(_) => return None,
        };
        let most = number(count.start..sign.unwrap_or(count.end))?.checked_sub(1)?;
        (most >= 0).then_some(Filled::Random([first, first.checked_add(most)?]))
    }
}
