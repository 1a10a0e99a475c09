//! The components of an array's elements, and what numbers each has at the start.

use std::fmt::Write as _;

use super::{Numbers, coverage::PLACE, spread::Spread};
use crate::{
    cuda::Structures,
    element::{Element, Scalar},
    scene::{
        self,
        draft::{
            code::members::MOST_FIELDS,
            expression::{
                cpp_number::{Number, Type},
                text::{key, quoted_text},
            },
        },
        expression::{Expression, Kind, Meaning},
    },
};

/// The names of a vector's components.
const COMPONENTS: [&str; 4] = ["x", "y", "z", "w"];
/// The longest list of numbers that is written.
const LONGEST_LIST: u64 = 256;
/// For so many elements a formula is looked at.
const MOST_CHECKED: u64 = 1000;

/// A component of each element, or all of a field that is an array.
pub(in crate::scene::draft) struct Slot {
    /// The field of a structure; empty for an element that is none.
    path: String,
    /// Of a vector; empty for a number.
    component: &'static str,
    scalar: Scalar,
    numbers: Numbers,
}

/// All of them, in their order.
pub(in crate::scene::draft) struct Slots {
    all: Vec<Slot>,
    is_structure: bool,
}

impl Slot {
    pub(in crate::scene::draft) fn number_type(&self) -> Type {
        Type::of_element(Element::scalar(self.scalar)).unwrap_or(Type::Float)
    }

    fn is_called(&self, name: &str) -> bool {
        let own = [self.path.as_str(), self.component];
        let own: Vec<&str> = own.into_iter().filter(|part| !part.is_empty()).collect();
        own.join(".") == name
    }

    /// Whether a formula of the element's place has a number of this type for each of so many elements, as far as some
    /// tell.
    fn holds(&self, formula: &str, count: u64) -> bool {
        let place = |name: &str| match name {
            PLACE => Ok(Meaning::Term((), Kind::Int)),
            _ => Err(String::new()),
        };
        let Ok(formula) = Expression::parse(formula, &mut { place }) else { return false };
        let fits = |index: u64| {
            let number = formula.value(&mut |()| Ok(scene::Number::Int(index.into())));
            match number {
                Ok(scene::Number::Int(value)) => {
                    let range = self.scalar.integer_range();
                    let is_number = range.is_some() || self.scalar.is_float();
                    is_number && range.is_none_or(|(low, high)| (low..=high).contains(&value))
                }
                Ok(scene::Number::Float(_)) => self.scalar.is_float(),
                Ok(scene::Number::Bool(_)) => self.scalar == Scalar::Bool,
                Err(_) => false,
            }
        };
        let step = count.div_ceil(MOST_CHECKED).max(1) as usize;
        (0..count).step_by(step).all(fits) && fits(count.saturating_sub(1))
    }

    /// The numbers as an expression of `each`.
    fn expression(&self) -> String {
        match &self.numbers {
            Numbers::None => "0".to_owned(),
            Numbers::Constant(number) => number.written(),
            Numbers::Formula(text) => quoted_text(text),
            Numbers::Between(spread) => quoted_text(&self.random(*spread)),
            Numbers::Unknown => match some(self.scalar) {
                Some(spread) => quoted_text(&self.random(spread)),
                None => "0".to_owned(),
            },
        }
    }

    fn random(&self, spread: Spread) -> String {
        let Spread { low, high, .. } = spread;
        if low == high {
            return self.written(low);
        }
        let real = |value: f64| self.written(value);
        let sum = |low: f64, text: String| {
            if low == 0.0 { text } else { format!("{} + {text}", real(low)) }
        };
        if self.scalar.is_float() {
            return match high - low {
                1.0 => sum(low, "random".to_owned()),
                width => sum(low, format!("{} * random", real(width))),
            };
        }
        let (low, high) = (low.ceil(), high.floor());
        sum(low, format!("int({} * random)", high - low + 1.0))
    }

    /// A number as one of the component's type.
    fn written(&self, value: f64) -> String {
        match self.scalar {
            Scalar::F32 => format!("{:?}", value as f32),
            Scalar::F16 | Scalar::BF16 | Scalar::F64 => format!("{value:?}"),
            Scalar::Bool
            | Scalar::I8
            | Scalar::U8
            | Scalar::I16
            | Scalar::U16
            | Scalar::I32
            | Scalar::U32
            | Scalar::I64
            | Scalar::U64 => format!("{value}"),
        }
    }
}

/// Numbers in the place of others of which nothing is known. Integers may be indices, of which small ones are safe in
/// most arrays; those of a byte are more likely those of a picture.
pub(in crate::scene::draft) fn some(scalar: Scalar) -> Option<Spread> {
    match scalar {
        Scalar::Bool => None,
        Scalar::U8 => Spread::new(0.0, 255.0, Type::Int),
        Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64 => {
            Spread::new(0.0, 1.0, Type::Double)
        }
        Scalar::I8
        | Scalar::I16
        | Scalar::U16
        | Scalar::I32
        | Scalar::U32
        | Scalar::I64
        | Scalar::U64 => Spread::new(0.0, 9.0, Type::Int),
    }
}

impl Slots {
    /// Those of elements of a type; `None` where the text does not explain it.
    pub(in crate::scene::draft) fn of(element: &str, structures: &Structures) -> Option<Self> {
        let slots = |path: &str, element: Element, is_array: bool| {
            let names: &[&'static str] = match element.lanes {
                _ if is_array => &[""],
                1 => &[""],
                lanes => &COMPONENTS[..usize::from(lanes).min(COMPONENTS.len())],
            };
            let slot = |component: &&'static str| Slot {
                path: path.to_owned(),
                component,
                scalar: element.scalar,
                numbers: Numbers::None,
            };
            names.iter().map(slot).collect::<Vec<_>>()
        };
        if let Some(element) = Element::parse(element) {
            return Some(Self { all: slots("", element, false), is_structure: false });
        }
        let fields = structures.fields(element, MOST_FIELDS)?;
        let of = fields.iter().flat_map(|f| slots(&f.path, f.element, f.is_array));
        let all: Vec<Slot> = of.collect();
        (!all.is_empty()).then_some(Self { all, is_structure: true })
    }

    pub(in crate::scene::draft) fn first(&self) -> Option<&Slot> {
        self.all.first()
    }

    pub(in crate::scene::draft) fn get(&self, slot: usize) -> Option<&Slot> {
        self.all.get(slot)
    }

    /// The components that a field has, or an element.
    pub(in crate::scene::draft) fn within(&self, field: &str) -> Vec<usize> {
        let is_in = |slot: &Slot| {
            let path = slot.path.as_str();
            field.is_empty()
                || path == field
                || path.strip_prefix(field).is_some_and(|rest| rest.starts_with('.'))
        };
        let alone = self.all.iter().position(|slot| slot.is_called(field) && !field.is_empty());
        match alone {
            Some(alone) => vec![alone],
            None => (0..self.all.len()).filter(|slot| is_in(&self.all[*slot])).collect(),
        }
    }

    pub(in crate::scene::draft) fn set_all(&mut self, numbers: &Numbers) {
        self.all.iter_mut().for_each(|slot| slot.numbers = numbers.clone());
    }

    /// Sets a component, of all elements for which the condition holds; where it is not known of which, `None`. Returns
    /// whether that says what is written to each.
    pub(in crate::scene::draft) fn merge(
        &mut self,
        slot: usize,
        new: Numbers,
        condition: Option<&str>,
    ) -> bool {
        let Some(slot) = self.all.get_mut(slot) else { return true };
        let old = std::mem::take(&mut slot.numbers);
        let both = condition.and_then(|condition| {
            let (old, new) = (text_of(&old)?, text_of(&new)?);
            Some(Numbers::Formula(format!("{condition} ? {new} : {old}")))
        });
        let is_exact = condition == Some("") || both.is_some();
        slot.numbers = match (condition, both) {
            (Some(""), _) => new,
            (_, Some(both)) => both,
            // What nothing else is written to is so everywhere, as it seems.
            (_, None) if matches!(old, Numbers::None) => new,
            (_, None) => around(old, new),
        };
        is_exact
    }

    /// Takes formulas for unknown that are no number of the type for some of so many elements.
    pub(in crate::scene::draft) fn check(&mut self, count: u64) {
        for slot in &mut self.all {
            if let Numbers::Formula(text) = &slot.numbers
                && !slot.holds(text, count)
            {
                slot.numbers = Numbers::Unknown;
            }
        }
    }

    /// Whether nothing was written.
    pub(in crate::scene::draft) fn is_empty(&self) -> bool {
        self.all.iter().all(|slot| matches!(slot.numbers, Numbers::None))
    }

    /// Whether there are numbers in the place of others that are not known.
    pub(in crate::scene::draft) fn is_unknown(&self) -> bool {
        self.all.iter().any(|slot| matches!(slot.numbers, Numbers::Unknown))
    }

    /// A list of numbers as the key of an array with so many elements; the rest are zeros.
    pub(in crate::scene::draft) fn list(&self, numbers: &[Number], count: u64) -> Option<String> {
        let wanted =
            count.checked_mul(self.all.len() as u64).filter(|wanted| *wanted <= LONGEST_LIST)?;
        let of = self.first().filter(|_| !self.is_structure)?.number_type();
        let written = |number: &Number| Some(number.to(of)?.written());
        let mut list = numbers.iter().map(written).collect::<Option<Vec<_>>>()?;
        if list.len() as u64 > wanted {
            return None;
        }
        list.resize(wanted as usize, Number::int(0).to(of)?.written());
        Some(format!("value = [{}]", list.join(", ")))
    }

    /// The key of an array with such elements; `None` where nothing of them is known.
    pub(in crate::scene::draft) fn key(&self) -> Option<String> {
        let first = self.first()?;
        let is_constant = |slot: &Slot| match (&slot.numbers, &first.numbers) {
            (Numbers::Constant(own), Numbers::Constant(first)) => own.as_f64() == first.as_f64(),
            (Numbers::None, Numbers::None) => true,
            (
                Numbers::None
                | Numbers::Constant(_)
                | Numbers::Formula(_)
                | Numbers::Between(_)
                | Numbers::Unknown,
                _,
            ) => false,
        };
        if self.all.iter().all(|slot| matches!(slot.numbers, Numbers::Unknown)) {
            return None;
        }
        if !self.is_structure && self.all.iter().all(is_constant) {
            let number = match &first.numbers {
                Numbers::Constant(number) => *number,
                _ => Number::int(0),
            };
            return Some(format!("value = {}", number.to(first.number_type())?.written()));
        }
        let ends = |slot: &Slot| match slot.numbers {
            Numbers::Between(Spread { low, high, .. }) => Some([low, high]),
            _ => None,
        };
        if let Some([low, high]) = ends(first)
            && self.all.iter().all(|slot| ends(slot) == Some([low, high]))
        {
            return Some(format!("random = [{}, {}]", first.written(low), first.written(high)));
        }
        Some(format!("each = {}", self.each()))
    }

    fn each(&self) -> String {
        let mut fields: Vec<(&str, Vec<String>)> = Vec::new();
        for slot in &self.all {
            match fields.last_mut().filter(|(path, _)| *path == slot.path) {
                Some((_, numbers)) => numbers.push(slot.expression()),
                None => fields.push((&slot.path, vec![slot.expression()])),
            }
        }
        let list = |numbers: &[String]| match numbers {
            [one] => one.clone(),
            all => format!("[{}]", all.join(", ")),
        };
        if !self.is_structure {
            return fields.first().map_or_else(String::new, |(_, numbers)| list(numbers));
        }
        let mut text = String::from("{");
        for (path, numbers) in fields {
            let sign = if text.len() > 1 { "," } else { "" };
            let _ = write!(text, "{sign} {} = {}", key(path), list(&numbers));
        }
        text + " }"
    }
}

/// What some numbers are as a part of a formula.
fn text_of(numbers: &Numbers) -> Option<String> {
    match numbers {
        Numbers::None => Some("0".to_owned()),
        Numbers::Constant(number) => Some(number.written()),
        Numbers::Formula(text) if text.contains(' ') => Some(format!("({text})")),
        Numbers::Formula(text) => Some(text.clone()),
        Numbers::Between(_) | Numbers::Unknown => None,
    }
}

/// Numbers that some elements have, and others that some have.
fn around(old: Numbers, new: Numbers) -> Numbers {
    let spread = |numbers: &Numbers| match numbers {
        Numbers::None => Spread::of_number(Number::int(0)),
        Numbers::Constant(number) => Spread::of_number(*number),
        Numbers::Between(spread) => Some(*spread),
        Numbers::Formula(_) | Numbers::Unknown => None,
    };
    match (spread(&old), spread(&new)) {
        (Some(old), Some(new)) => Numbers::Between(new.around(old)),
        _ => Numbers::Unknown,
    }
}
