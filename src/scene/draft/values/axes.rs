//! The axes of grids and blocks.

use crate::scene::draft::{
    code::{
        Span,
        variables::{Definition, Id, Value},
    },
    host::{Host, place::Place},
};

/// Names that are defined by others, at most so many behind one another.
const DEEPEST: usize = 24;

/// The axes of a grid or a block, each with where it stands; `None` is 1.
pub(in crate::scene::draft) type Axes<'h, 's> = Vec<Option<(Span, Place<'h, 's>)>>;

impl<'s> Host<'s> {
    /// The parts of a `dim3` at a place, each with where it stands: of its arguments, or of a variable that is one.
    /// What is not said is 1.
    pub(in crate::scene::draft) fn dimensions<'h>(
        &'h self,
        span: &Span,
        place: &Place<'h, 's>,
        depth: usize,
    ) -> Option<Axes<'h, 's>> {
        let of = |parts: Vec<Span>, at: usize| {
            let axis = |part| Some((part, Place { at, ..place.clone() }));
            parts.into_iter().map(axis).collect()
        };
        match self.code.get(span.clone()).filter(|_| depth < DEEPEST)? {
            [name] => self.dimensions_of(name.text, place, depth),
            [dim3, open, ..] if dim3.text == "dim3" && matches!(open.text, "(" | "{") => {
                Some(of(self.parts(span.start + 2..span.end.saturating_sub(1)), span.start))
            }
            _ => None,
        }
    }

    /// The parts of the variable `name`, which is a `dim3`.
    pub(in crate::scene::draft) fn dimensions_of<'h>(
        &'h self,
        name: &str,
        place: &Place<'h, 's>,
        depth: usize,
    ) -> Option<Axes<'h, 's>> {
        let id = self.visible(name, place.at)?;
        if !self.is_set_again(id, place.at)
            && let Some((argument, outer)) = self.argument_of(name, place)
        {
            return self.dimensions(&argument, &outer, depth + 1);
        }
        if !self.variables.get(id).fields.is_empty() {
            return self.dimensions_by_fields(id, place, depth);
        }
        let found = self.set_to(id, place.at)?;
        self.dimensions_by(found, place, depth)
    }

    /// The parts that a definition gives a `dim3`.
    fn dimensions_by<'h>(
        &'h self,
        found: &Definition,
        place: &Place<'h, 's>,
        depth: usize,
    ) -> Option<Axes<'h, 's>> {
        let there = Place { at: found.at, ..place.clone() };
        match &found.value {
            Value::List(parts) => {
                Some(parts.iter().map(|part| Some((part.clone(), there.clone()))).collect())
            }
            Value::Expression(inner) if inner.len() == 1 || self.text_at(inner.start) == "dim3" => {
                self.dimensions(inner, &there, depth + 1)
            }
            Value::Swapped(inner) => self.dimensions(inner, &there, depth + 1),
            Value::Expression(_)
            | Value::Compound(..)
            | Value::Count(_)
            | Value::Behind(..)
            | Value::Part
            | Value::Given(_)
            | Value::Unknown => None,
        }
    }

    /// The same of one whose axes are set on their own, `grid.x = n`.
    fn dimensions_by_fields<'h>(
        &'h self,
        id: Id,
        place: &Place<'h, 's>,
        depth: usize,
    ) -> Option<Axes<'h, 's>> {
        let mut axes: Axes<'h, 's> = Vec::new();
        for (index, field) in ["x", "y", "z"].into_iter().enumerate() {
            axes.push(match self.field(id, field, place.at) {
                None => None,
                Some((set, false)) => {
                    self.dimensions_by(set, place, depth)?.into_iter().nth(index).flatten()
                }
                Some((set, true)) => {
                    let Value::Expression(span) = &set.value else { return None };
                    Some((span.clone(), Place { at: set.at, ..place.clone() }))
                }
            });
        }
        axes.iter().any(Option::is_some).then_some(axes)
    }
}
