//! What numbers the host fills memory with, as a manifest says such: one number, a list, formulas of an element's
//! place, random ones.

use std::rc::Rc;

use super::{
    conditions::When,
    coverage::{Coverage, PLACE},
    evaluator::{Place, Told},
    fillings::{Filling, Piece},
    host::{Host, Span},
    number::{Number, Type},
    slots::{Slot, Slots},
    spread::Spread,
    text::one_line,
    trace::Call,
    writes::Written,
};
use crate::cuda::Structures;

/// The longest list of numbers that is written.
const LONGEST_LIST: usize = 256;
/// The longest formula.
const LONGEST_FORMULA: usize = 400;
/// Sides of an array that are read.
const MOST_SIDES: usize = 4;

/// What the elements of an array are at the start.
pub(super) struct Contents {
    /// The key, and what it is.
    pub(super) key: String,
    /// Whether that is what the host writes; of random numbers the ends are.
    pub(super) is_known: bool,
    /// The host's last statement.
    pub(super) said: String,
}

/// The numbers of a component.
#[derive(Clone, Default)]
pub(super) enum Numbers {
    /// Nothing is said: they are 0.
    #[default]
    None,
    Constant(Number),
    /// Of the element's place.
    Formula(String),
    Between(Spread),
    /// The host computes them in a way that is not understood.
    Unknown,
}

/// What is found out while the writes are followed.
struct Found {
    slots: Slots,
    list: Option<Vec<Number>>,
    count: u64,
    is_sure: bool,
}

impl<'s> Host<'s> {
    /// What the host fills the memory of a pointer with that has so many elements; `None` where nothing of it is known.
    pub(super) fn contents(
        &self,
        pointer: &str,
        element: &str,
        count: u64,
        structures: &Structures,
    ) -> Option<Contents> {
        let filling = self.fillings.get(pointer)?;
        let slots = Slots::of(element, structures)?;
        let mut found = Found { slots, list: None, count, is_sure: true };
        let said = self.said(filling)?;
        match &filling.number {
            Some((span, call)) if filling.pieces.is_empty() => {
                let place = Place { call: call.clone(), ..Place::of(span.start) };
                let (numbers, is_sure) = self.numbers(span, None, &place, found.slots.first()?);
                found.is_sure = is_sure;
                found.slots.set_all(&numbers);
            }
            _ => {
                filling.pieces.iter().for_each(|(write, call)| self.take(*write, call, &mut found))
            }
        }
        found.slots.check(count);
        let key = match &found.list {
            Some(list) => found.slots.list(list, count)?,
            None => found.slots.key()?,
        };
        let is_known = found.is_sure && !found.slots.is_unknown();
        Some(Contents { key, is_known, said })
    }

    /// The statement that fills something last.
    fn said(&self, filling: &Filling) -> Option<String> {
        let is_told = |(write, _): &&Piece| {
            self.writes.get(*write).is_some_and(|write| !matches!(write.what, Written::Perhaps))
        };
        let last = filling.pieces.iter().rfind(is_told).or(filling.pieces.last());
        let span = match (last, &filling.number) {
            (Some((write, _)), _) => {
                let at = self.writes.get(*write)?.at;
                let is_end = |at: &usize| matches!(self.text_at(*at), ";" | "" | "{");
                let end = (at..at + LONGEST_LIST).find(is_end).unwrap_or(at + 1);
                let is_start = |at: &usize| matches!(self.text_at(*at), ";" | "{" | "}" | ")");
                let start = (at.saturating_sub(LONGEST_LIST)..at).rev().find(is_start);
                start.map_or(at, |start| start + 1)..end
            }
            (None, Some((span, _))) => span.clone(),
            (None, None) => return None,
        };
        Some(one_line(&self.text(&span)))
    }

    /// Follows one write.
    fn take(&self, index: usize, call: &Option<Rc<Call>>, found: &mut Found) {
        let Some(write) = self.writes.get(index) else { return };
        let place = self.place_in(write.at, call.as_ref());
        let first = found.slots.first();
        let of_all = |found: &mut Found, numbers: Numbers| {
            found.list = None;
            found.slots.set_all(&numbers);
        };
        match &write.what {
            Written::Element { index, fields, value } => {
                self.take_element(index, (fields, value), &place, found);
            }
            Written::All(None) => of_all(found, Numbers::None),
            Written::All(Some(value)) => {
                let Some(slot) = first else { return };
                let (numbers, is_sure) = self.numbers(value, None, &place, slot);
                found.is_sure &= is_sure;
                of_all(found, numbers);
            }
            Written::Counted(from) => {
                let start = if from.is_empty() {
                    Some(Number::int(0))
                } else {
                    self.number_at(from, &place)
                };
                let numbers = match start.and_then(Number::whole) {
                    Some(0) => Numbers::Formula(PLACE.to_owned()),
                    Some(start) => Numbers::Formula(format!("{PLACE} + {start}")),
                    None => Numbers::Unknown,
                };
                of_all(found, numbers);
            }
            Written::Drawn(value) => self.take_drawn(value, &place, found),
            Written::List(parts) => {
                let mut numbers = Vec::new();
                let is_list = self.listed_numbers(parts, 0, &mut numbers).is_some();
                let is_zero = numbers.iter().all(|number| number.as_f64() == 0.0);
                if is_list && !is_zero {
                    found.list = Some(numbers);
                } else if !is_list {
                    of_all(found, Numbers::Unknown);
                }
            }
            Written::Between([low, high]) => {
                let spread = Spread::new((*low).into(), (*high).into(), Type::Double);
                of_all(found, spread.map_or(Numbers::Unknown, Numbers::Between));
            }
            Written::Unknown => of_all(found, Numbers::Unknown),
            Written::Perhaps if found.list.is_none() && found.slots.is_empty() => {
                of_all(found, Numbers::Unknown);
            }
            Written::Perhaps => {}
        }
    }

    /// `name[i] = value`.
    fn take_element(
        &self,
        index: &[Span],
        (fields, value): (&[&'s str], &Span),
        place: &Place<'_, 's>,
        found: &mut Found,
    ) {
        // How many elements there are is told by the array.
        let (coverage, _) = self.surely(|host| {
            let sides = host.sides_of(index.first().map_or(0, |first| first.start));
            host.coverage(index, &sides, place, found.count)
        });
        let (when, is_sure) = self.surely(|host| host.when(place));
        found.is_sure &= is_sure;
        let mut conditions = coverage.as_ref().map(|coverage| coverage.conditions.clone());
        match when {
            When::Never(_) => return,
            When::Always => {}
            When::If { formula, unknown } => {
                let formula = formula.filter(|_| unknown.is_empty());
                let own = coverage.as_ref().zip(formula);
                let own = own.and_then(|(coverage, formula)| coverage.placed(&formula));
                conditions = conditions.zip(own).map(|(mut conditions, own)| {
                    conditions.push(format!("({own})"));
                    conditions
                });
            }
        }
        found.is_sure &= conditions.is_some();
        let condition = conditions.map(|conditions| conditions.join(" && "));
        if condition.as_ref().is_none_or(|condition| !condition.is_empty()) && found.list.is_some()
        {
            found.list = None;
            found.slots.set_all(&Numbers::Unknown);
        }
        found.list = None;
        for (slot, value) in self.targets(fields, value, &found.slots) {
            let Some(of) = found.slots.get(slot) else { continue };
            let (numbers, is_sure) = match &value {
                Some(value) => self.numbers(value, coverage.as_ref(), place, of),
                None => (Numbers::Unknown, true),
            };
            found.is_sure &= is_sure;
            found.is_sure &= found.slots.merge(slot, numbers, condition.as_deref());
        }
    }

    /// The components that a statement sets, each with what to.
    fn targets(&self, fields: &[&str], value: &Span, slots: &Slots) -> Vec<(usize, Option<Span>)> {
        let within = slots.within(&fields.join("."));
        if let [one] = within.as_slice() {
            return vec![(*one, Some(value.clone()))];
        }
        let open = value.clone().find(|at| matches!(self.text_at(*at), "(" | "{"));
        let close = value.end - 1;
        let is_made = matches!(self.text_at(close), ")" | "}")
            && open.is_some_and(|open| {
                let name = open.checked_sub(1).filter(|name| *name >= value.start);
                let name = name.map_or("", |name| self.text_at(name));
                name.starts_with("make_") || self.text_at(open) == "{"
            });
        let parts = open.filter(|_| is_made).map(|open| self.parts(open + 1..close));
        match parts.filter(|parts| parts.len() == within.len()) {
            Some(parts) => within.into_iter().zip(parts.into_iter().map(Some)).collect(),
            None => within.into_iter().map(|slot| (slot, None)).collect(),
        }
    }

    /// What is set one after the other, or in an order that is not known.
    fn take_drawn(&self, value: &Span, place: &Place<'_, 's>, found: &mut Found) {
        found.list = None;
        let is_always = matches!(self.when(place), When::Always);
        for (slot, value) in self.targets(&[], value, &found.slots) {
            let Some(of) = found.slots.get(slot) else { continue };
            let value = value.filter(|_| is_always);
            let numbers = value.map(|value| self.numbers(&value, None, place, of));
            let (numbers, is_sure) = numbers.unwrap_or((Numbers::Unknown, true));
            found.is_sure &= is_sure;
            found.is_sure &= found.slots.merge(slot, numbers, Some(""));
        }
    }

    /// What an expression is for each element, and whether surely: a formula where it is known which elements have it.
    fn numbers(
        &self,
        value: &Span,
        coverage: Option<&Coverage>,
        place: &Place<'_, 's>,
        slot: &Slot,
    ) -> (Numbers, bool) {
        let of = slot.number_type();
        let (told, is_sure) = self.surely(|host| host.converted(host.told(value, place)?, of));
        match told {
            Some(Told::Number(number)) => return (Numbers::Constant(number), is_sure),
            Some(Told::Formula(formula)) => {
                let text = formula.given();
                let placed = coverage.zip(text).and_then(|(coverage, text)| coverage.placed(&text));
                if let Some(text) = placed.filter(|text| text.len() <= LONGEST_FORMULA) {
                    return (Numbers::Formula(text), is_sure);
                }
            }
            None => {}
        }
        let (spread, _) = self.surely(|host| host.spread(value, place)?.to(of));
        let numbers = match spread {
            Some(spread) if spread.low == spread.high => {
                Number::real(Type::Double, spread.low).map_or(Numbers::Unknown, Numbers::Constant)
            }
            Some(spread) => Numbers::Between(spread),
            None => Numbers::Unknown,
        };
        (numbers, true)
    }

    /// How many elements the array has along its axes whose name stands before the bracket before `at`.
    fn sides_of(&self, at: usize) -> Vec<i64> {
        let name = at.checked_sub(2).map_or("", |name| self.text_at(name));
        let Some(id) = self.visible(name, at) else { return Vec::new() };
        let mut open = self.variables.get(id).at + 1;
        let mut sides = Vec::new();
        while self.text_at(open) == "[" && sides.len() < MOST_SIDES {
            let end = (open..open + LONGEST_LIST).find(|end| self.text_at(*end) == "]");
            let Some(end) = end else { break };
            let Some(side) = self.integer(&(open + 1..end), None) else { break };
            sides.push(side);
            open = end + 1;
        }
        sides
    }
}
