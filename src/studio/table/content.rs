//! The content of a resource after a step.

use std::sync::Arc;

use crate::{
    element::{Part, Type},
    scene::{Kind, Number, Resource},
};

/// The content of a resource after a step.
#[derive(Clone, Debug)]
pub struct Content {
    /// What it is.
    pub resource: Resource,
    /// How its elements lie in memory.
    of: Type,
    /// The step.
    pub step: u64,
    /// What [`Session::picture`](crate::session::Session::picture) was then: an edit may change it, and not the step.
    pub picture: u64,
    bytes: Arc<Vec<u8>>,
    pub(super) columns: Vec<Column>,
    /// What they are called; the name of the resource where elements are numbers.
    pub names: Vec<String>,
}

/// A number of each element.
#[derive(Clone, Debug)]
pub(super) struct Column {
    part: Part,
    number: usize,
}

/// So many columns are shown.
const MOST_COLUMNS: usize = 64;

impl Content {
    /// That of `resource`, whose elements are of the type `of`, after a step, at which a session had this picture.
    pub fn new(resource: Resource, of: Type, (step, picture): (u64, u64), bytes: Vec<u8>) -> Self {
        let parts = of.parts();
        let columns = parts.iter().flat_map(|part| {
            (0..part.numbers()).map(|number| Column { part: part.clone(), number })
        });
        let columns: Vec<Column> = columns.take(MOST_COLUMNS).collect();
        let names = columns.iter().map(|column| match column.part.number_name(column.number) {
            name if name.is_empty() => resource.name.clone(),
            name => name,
        });
        let names = names.collect();
        Self { resource, of, step, picture, bytes: Arc::new(bytes), columns, names }
    }

    /// How many elements it has.
    pub fn count(&self) -> u64 {
        (self.bytes.len() / self.of.bytes().max(1)) as u64
    }

    /// The number of an element in a column; NaN where there is none.
    pub fn value(&self, element: u64, column: usize) -> f64 {
        let number =
            self.place(element, column).and_then(|(of, bytes)| of.part.number(bytes, of.number));
        number.unwrap_or(f64::NAN)
    }

    /// The same, integers to the last digit.
    pub fn number(&self, element: u64, column: usize) -> Number {
        let integer =
            self.place(element, column).and_then(|(of, bytes)| of.part.integer(bytes, of.number));
        integer.map_or_else(|| Number::Float(self.value(element, column)), Number::Int)
    }

    /// What an expression knows each column as.
    pub(super) fn terms(&self) -> Vec<(&str, Kind)> {
        let kind = |column: &Column| match column.part.element.scalar.is_integer() {
            true => Kind::Int,
            false => Kind::Float,
        };
        self.names.iter().map(String::as_str).zip(self.columns.iter().map(kind)).collect()
    }

    pub(super) fn place(&self, element: u64, column: usize) -> Option<(&Column, &[u8])> {
        let size = self.of.bytes().max(1);
        let at = element as usize * size;
        self.columns.get(column).zip(self.bytes.get(at..at + size))
    }

    /// Its bytes, for a file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
