//! What numbers the host fills memory with, as a manifest says such: one number, a list, formulas of an element's
//! place, random ones.
//!
//! Enters: what the host writes and copies, in its order. Leaves: keys of arrays and variables. Must not know:
//! `scene::draft::manifest`.

pub(super) mod coverage;
pub(super) mod fillings;
pub(super) mod sides;
pub(super) mod slots;
pub(super) mod spread;
pub(super) mod symbols;
pub(super) mod types;
pub(super) mod writes;

use std::rc::Rc;

use self::{
    coverage::{Coverage, PLACE, Reach},
    slots::{Slot, Slots},
    spread::Spread,
};
use super::{
    code::Span,
    expression::{
        cpp_number::{Number, Type},
        text::one_line,
        told::Told,
    },
    host::{
        Assumes, Host,
        filling::{Filling, Piece},
        mention::Does,
        place::{Call, Place},
        write::{Extent, Written},
    },
    values::conditions::When,
};
use crate::{cuda::Structures, element::Element};

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
struct Found<'f> {
    slots: Slots,
    list: Option<Vec<Number>>,
    of: &'f Elements<'f>,
    is_sure: bool,
    /// Where in its rounds each of the writes so far is made.
    earlier: Vec<Reach>,
}

/// The elements of an array.
pub(super) struct Elements<'e> {
    /// The pointer that they are allocated for.
    pub(super) pointer: &'e str,
    pub(super) element: &'e str,
    pub(super) count: u64,
    /// Whether there are surely so many.
    pub(super) is_sure: bool,
}

/// What `name[i].field = value` does.
struct Change<'c, 's> {
    fields: &'c [&'s str],
    value: &'c Span,
    when: When,
    /// Whether that is when it is done.
    is_sure: bool,
}

impl<'s> Host<'s> {
    /// What the host fills the memory of a pointer with; `None` where nothing of it is known.
    pub(super) fn contents(&self, of: &Elements<'_>, structures: &Structures) -> Option<Contents> {
        let filling = self.fillings.get(of.pointer)?;
        let slots = Slots::of(of.element, structures)?;
        let is_sure = filling.is_all;
        let mut found = Found { slots, list: None, of, is_sure: true, earlier: Vec::new() };
        let said = self.said(filling)?;
        match &filling.number {
            Some((span, call)) if filling.pieces.is_empty() => {
                let place = Place { call: call.clone(), ..Place::of(span.start) };
                let (numbers, is_sure) = self.numbers(span, None, &place, found.slots.first()?);
                found.is_sure = is_sure && self.has_elements(self.text_at(span.start), &place, of);
                found.slots.set_all(&numbers);
            }
            _ => {
                let copied = filling.copy.as_ref().map_or(&[][..], |copy| &copy.places);
                for (write, call) in &filling.pieces {
                    self.take(*write, call, copied, &mut found);
                }
            }
        }
        let is_copied = filling.copy.as_ref().is_none_or(|copy| match &copy.bytes {
            Some(bytes) => self.reaches(&Extent::Bytes(bytes.clone()), copy.call.as_ref(), of),
            None => true,
        });
        found.slots.check(of.count);
        let key = match &found.list {
            Some(list) => found.slots.list(list, of.count)?,
            None => found.slots.key()?,
        };
        let is_known = is_sure && is_copied && found.is_sure && !found.slots.is_unknown();
        Some(Contents { key, is_known, said })
    }

    /// Whether what is written or copied to such an extent are all elements.
    pub(super) fn reaches(
        &self,
        extent: &Extent,
        call: Option<&Rc<Call>>,
        of: &Elements<'_>,
    ) -> bool {
        let (span, size) = match extent {
            Extent::Whole => return true,
            Extent::Elements(count) => (count, 1),
            Extent::Bytes(bytes) => {
                let allocated = self.allocation(of.pointer);
                if allocated.is_some_and(|own| self.text(&own.bytes) == self.text(bytes)) {
                    return true;
                }
                (bytes, Element::parse(of.element).map(Element::bytes).unwrap_or_default() as u64)
            }
        };
        let wanted = match size {
            // Of a structure its size is not known here.
            0 => self.allocation(of.pointer).and_then(|own| self.bytes_allocated(own)),
            size => i64::try_from(of.count.saturating_mul(size)).ok(),
        };
        let assumes = if of.is_sure { Assumes::Nothing } else { Assumes::All };
        let (number, is_sure) = self.surely(|host| match host.bytes_of_array(span) {
            Some(bytes) => Some(bytes),
            None => host.assuming(assumes, |host| host.integer(span, call)),
        });
        let is_all = number.zip(wanted).is_some_and(|(number, wanted)| number >= wanted);
        is_all && (is_sure || !of.is_sure)
    }

    /// The statement that fills something last.
    fn said(&self, filling: &Filling) -> Option<String> {
        let is_told = |(write, _): &&Piece| {
            let write = self.writes.get(*write);
            write.is_some_and(|write| !matches!(write.what, Written::Mentioned(_)))
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

    /// Follows one write, which was made before what is `copied` in these places.
    fn take(&self, index: usize, call: &Option<Rc<Call>>, copied: &[usize], found: &mut Found<'_>) {
        let Some(write) = self.writes.get(index) else { return };
        let place = self.place_in(write.at, call.as_ref());
        let (when, is_sure) = self.surely(|host| host.when(&place));
        if matches!(when, When::Never(_)) {
            found.is_sure &= is_sure;
            return;
        }
        let is_with = self.is_done_with(&place, copied);
        let (when, is_sure) = if is_with { (When::Always, true) } else { (when, is_sure) };
        let is_always = is_sure && matches!(when, When::Always);
        let is_done = self.is_done(&place, copied, found.of);
        let is_whole = is_always && is_done && self.reaches(&write.extent, call.as_ref(), found.of);
        let of_all = |found: &mut Found<'_>, numbers: Numbers, is_sure: bool| {
            found.list = None;
            found.is_sure = is_sure && is_whole && self.follows(&place, None, &mut found.earlier);
            found.slots.set_all(&numbers);
        };
        match &write.what {
            Written::Element { index, fields, value } => {
                let what = Change { fields, value, when, is_sure: is_sure && is_done };
                self.take_element(index, what, &place, found);
            }
            Written::All(None) => of_all(found, Numbers::None, true),
            Written::All(Some(value)) => {
                let Some(slot) = found.slots.first() else { return };
                let (numbers, is_sure) = self.numbers(value, None, &place, slot);
                of_all(found, numbers, is_sure);
            }
            Written::Counted(from) => {
                let start = || self.number_at(from, &place);
                let (start, is_sure) = self.surely(|_| match from.is_empty() {
                    true => Some(Number::int(0)),
                    false => start(),
                });
                let numbers = match start.and_then(Number::whole) {
                    Some(0) => Numbers::Formula(PLACE.to_owned()),
                    Some(start) => Numbers::Formula(format!("{PLACE} + {start}")),
                    None => Numbers::Unknown,
                };
                of_all(found, numbers, is_sure);
            }
            Written::Drawn(value) => self.take_drawn(value, is_whole, &place, found),
            Written::Pushed(value) => {
                let is_first = found.earlier.is_empty() && found.list.is_none();
                self.take_drawn(value, is_whole && is_first, &place, found);
            }
            Written::List(parts) => {
                let mut numbers = Vec::new();
                let (is_list, is_sure) =
                    self.surely(|host| host.listed_numbers(parts, 0, &mut numbers).is_some());
                let is_zero = numbers.iter().all(|number| number.as_f64() == 0.0);
                let all = if is_list { Numbers::None } else { Numbers::Unknown };
                of_all(found, all, is_sure);
                found.list = (is_list && !is_zero).then_some(numbers);
            }
            Written::Between([low, high]) => {
                let spread = Spread::new((*low).into(), (*high).into(), Type::Double);
                of_all(found, spread.map_or(Numbers::Unknown, Numbers::Between), true);
            }
            Written::Unknown => of_all(found, Numbers::Unknown, true),
            Written::Mentioned(Does::Grows) => {
                found.is_sure &= found.slots.is_empty() && found.list.is_none();
            }
            Written::Mentioned(_) if found.list.is_none() && found.slots.is_empty() => {
                of_all(found, Numbers::Unknown, true);
            }
            Written::Mentioned(_) => found.is_sure = false,
        }
        // So many bytes of zeros are zeros of any type.
        let is_zeros = matches!(write.what, Written::All(None))
            && matches!(write.extent, Extent::Whole | Extent::Bytes(_));
        if !is_zeros && !self.has_elements(self.text_at(write.at), &place, found.of) {
            found.is_sure = false;
        }
    }

    /// Whether a write is made as often as the loops around it say that are understood, which are not those around a
    /// copy of it, too: nothing leaves them before, and each has a round.
    fn is_done(&self, place: &Place<'_, 's>, copied: &[usize], of: &Elements<'_>) -> bool {
        place.levels().all(|level| {
            let is_own = |span: &Span| !copied.iter().any(|at| span.contains(at));
            let around = self.regions.around(level.at).filter(|(_, region)| {
                let is_round = region.repeated().is_some_and(|body| body.contains(&level.at));
                is_round && is_own(&region.span)
            });
            let is_counted = |region: usize, body: &Span| {
                let depth = level.loops.iter().position(|own| own.region == region);
                let Some(depth) = depth.filter(|depth| !level.loops[*depth].is_changed) else {
                    return false;
                };
                let own = Place { loops: level.loops[..=depth].to_vec(), ..level.clone() };
                let (rounds, is_sure) = self.surely(|host| host.rounds(&own)?.number()?.whole());
                let is_left = self.jumps_in(body).any(|(_, goes_on)| !goes_on);
                rounds.is_some_and(|rounds| rounds >= 1) && (is_sure || !of.is_sure) && !is_left
            };
            let mut around = around.filter_map(|(index, region)| Some((index, region.repeated()?)));
            around.all(|(index, body)| is_counted(index, &body))
                && self.regions.lambda(level.at).is_none_or(|region| {
                    self.regions.get(region).is_some_and(|region| !is_own(&region.span))
                })
                && self.runs_beside_jumps(level.at, self.code.len()) == Some(true)
                && (level.call.is_none() || self.maybe_returned_before(&level).is_none())
        })
    }

    /// `name[i] = value`.
    fn take_element(
        &self,
        index: &[Span],
        change: Change<'_, 's>,
        place: &Place<'_, 's>,
        found: &mut Found<'_>,
    ) {
        let (coverage, is_sure) = self.surely(|host| {
            let at = index.first().map_or(0, |first| first.start);
            let name = at.checked_sub(2).map_or("", |name| host.text_at(name));
            let sides = host.sides_of(name, at);
            host.coverage(index, &sides, place, found.of.count)
        });
        // Where it is not sure how many elements there are, the array is marked.
        let is_of_rounds = coverage.as_ref().is_some_and(Coverage::follows_rounds);
        let mut is_sure = change.is_sure && (is_sure || is_of_rounds && !found.of.is_sure);
        is_sure &= self.follows(place, coverage.as_ref(), &mut found.earlier);
        let mut conditions = coverage.as_ref().map(|coverage| coverage.conditions.clone());
        if let When::If { formula, unknown } = change.when {
            let formula = formula.filter(|_| unknown.is_empty());
            let own = coverage.as_ref().zip(formula);
            let own = own.and_then(|(coverage, formula)| coverage.placed(&formula));
            conditions = conditions.zip(own).map(|(mut conditions, own)| {
                conditions.push(format!("({own})"));
                conditions
            });
        }
        is_sure &= conditions.is_some();
        let condition = conditions.map(|conditions| conditions.join(" && "));
        let is_all = condition.as_ref().is_some_and(String::is_empty);
        if !is_all && found.list.is_some() {
            found.slots.set_all(&Numbers::Unknown);
        }
        found.list = None;
        // What was there before does not matter any more.
        found.is_sure |= is_all && is_sure && change.fields.is_empty();
        found.is_sure &= is_sure;
        for (slot, value) in self.targets(change.fields, change.value, &found.slots) {
            let Some(of) = found.slots.get(slot) else { continue };
            let (numbers, is_sure) = match &value {
                Some(value) => self.numbers(value, coverage.as_ref(), place, of),
                None => (Numbers::Unknown, true),
            };
            found.is_sure &= is_sure;
            found.is_sure &= found.slots.merge(slot, numbers, condition.as_deref());
        }
    }

    /// Whether a write comes behind those before it for each element: they lie in no loop with it, or write to other
    /// elements in other rounds, as it does.
    fn follows(
        &self,
        place: &Place<'_, 's>,
        coverage: Option<&Coverage>,
        earlier: &mut Vec<Reach>,
    ) -> bool {
        let own = Reach::new(place, coverage);
        let found = earlier.iter().all(|other| own.is_behind(other));
        earlier.push(own);
        found
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
    fn take_drawn(
        &self,
        value: &Span,
        is_whole: bool,
        place: &Place<'_, 's>,
        found: &mut Found<'_>,
    ) {
        found.list = None;
        found.is_sure = is_whole && self.follows(place, None, &mut found.earlier);
        for (slot, value) in self.targets(&[], value, &found.slots) {
            let Some(of) = found.slots.get(slot) else { continue };
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
        let (spread, is_sure) = self.surely(|host| host.spread(value, place)?.to(of));
        match spread {
            Some(spread) if spread.low == spread.high => {
                let number = Number::real(Type::Double, spread.low);
                (number.map_or(Numbers::Unknown, Numbers::Constant), is_sure)
            }
            // Of what is not drawn it is known between what it lies, but not what it is.
            Some(spread) => (Numbers::Between(spread), is_sure && spread.is_drawn),
            None => (Numbers::Unknown, true),
        }
    }

    /// The bytes of an array, `sizeof(name)`.
    fn bytes_of_array(&self, span: &Span) -> Option<i64> {
        let [of, _, name, _] = self.tokens(span) else { return None };
        let id = self.visible(name.text, span.start).filter(|_| of.text == "sizeof")?;
        let sides = self.sides_of(name.text, span.start);
        let is_one = self.text_at(self.variables.get(id).at.checked_sub(1)?) != "*";
        let bytes = self.bytes_of(&self.variables.get(id).declared.words).filter(|_| is_one)?;
        (!sides.is_empty()).then(|| sides.iter().product::<i64>().checked_mul(bytes as i64))?
    }

    /// How many elements an array has along its axes.
    fn sides_of(&self, name: &str, at: usize) -> Vec<i64> {
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
