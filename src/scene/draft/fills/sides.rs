//! How long the rows of arrays are: numbers of the host whose product is how many elements there are.

use crate::scene::{
    draft::{
        code::{Span, variables::Value},
        expression::{cpp_number::Type, syntax::Expression},
        host::{
            Assumes, Host,
            allocation::Allocation,
            place::{Look, Place},
        },
    },
    operator::{Binary, Operator},
};

/// The longest side of a picture that OpenGL surely takes (OpenGL 4.5, table 23.53).
pub(in crate::scene::draft) const LONGEST_SIDE: u64 = 16_384;
/// Names that stand for products, at most so many behind one another.
const DEEPEST: usize = 8;
/// So many numbers are multiplied.
const MOST_FACTORS: usize = 8;
/// A texel has at most so many channels.
const MOST_CHANNELS: u64 = 4;

/// Elements in a row, and rows.
#[derive(Clone, Copy)]
pub(in crate::scene::draft) struct Rows {
    pub(in crate::scene::draft) sides: [u64; 2],
    pub(in crate::scene::draft) is_sure: bool,
}

/// A number that is multiplied, and what it is called, where it has a name.
struct Factor<'s> {
    name: &'s str,
    value: u64,
}

impl<'s> Host<'s> {
    /// The sides that an allocation of `count` elements of so many bytes is computed from.
    pub(in crate::scene::draft) fn rows_in(
        &self,
        of: &Allocation,
        count: u64,
        bytes: u64,
    ) -> Option<Rows> {
        let (sides, is_sure) = self.surely(|host| {
            host.assuming(Assumes::All, |host| {
                let place = Place { call: of.call.clone(), ..Place::of(of.bytes.start) };
                let mut factors = Vec::new();
                for part in [Some(&of.bytes), of.rows.as_ref()].into_iter().flatten() {
                    let expression = host.parsed(host.tokens(part), part.start)?;
                    host.factors(&expression, &place, 0, &mut factors)?;
                }
                sides(factors, count, bytes)
            })
        });
        sides.map(|sides| Rows { sides, is_sure })
    }

    /// The numbers whose product an expression is, without the sizes of types.
    fn factors(
        &self,
        expression: &Expression<'s>,
        place: &Place<'_, 's>,
        depth: usize,
        found: &mut Vec<Factor<'s>>,
    ) -> Option<()> {
        if depth > DEEPEST || found.len() > MOST_FACTORS {
            return None;
        }
        let (name, set) = match expression {
            Expression::Binary(Binary::Operator(Operator::Multiply), operands) => {
                self.factors(&operands[0], place, depth + 1, found)?;
                return self.factors(&operands[1], place, depth + 1, found);
            }
            Expression::Cast(_, inner) => return self.factors(inner, place, depth + 1, found),
            // As `sizeof` is.
            Expression::Number(number) if number.of() == Type::UnsignedLong => return Some(()),
            Expression::Name(name) => (*name, self.expression_of(name, place)),
            Expression::Field(of, path) => (*path, self.written_member(of, path, place)),
            Expression::Number(_)
            | Expression::Scoped(..)
            | Expression::Signed(..)
            | Expression::Binary(..)
            | Expression::Conditional(_)
            | Expression::Call(..)
            | Expression::Unknown => ("", None),
        };
        if let Some((span, there)) = set
            && let Some(inner) = self.parsed(self.tokens(&span), there.at)
            && is_told_by_others(&inner)
        {
            return self.factors(&inner, &there, depth + 1, found);
        }
        let look = Look { place, given: None, depth: 0, nested: 0 };
        let value = self.told_in(expression, &look)?.number()?.whole()?;
        found.push(Factor { name, value: u64::try_from(value).ok()? });
        Some(())
    }

    /// What a variable is set to, or what a call gives it, where it is an expression.
    fn expression_of<'h>(
        &'h self,
        name: &str,
        place: &Place<'h, 's>,
    ) -> Option<(Span, Place<'h, 's>)> {
        let id = self.visible(name, place.at)?;
        if let Some(given) =
            self.argument_of(name, place).filter(|_| !self.is_set_again(id, place.at))
        {
            return Some(given);
        }
        let set = self.set_to(id, place.at)?;
        let there = Place { at: set.at, ..place.clone() };
        match &set.value {
            Value::Expression(span) => Some((span.clone(), there)),
            Value::List(_)
            | Value::Swapped(_)
            | Value::Compound(..)
            | Value::Count(_)
            | Value::Behind(..)
            | Value::Part
            | Value::Given(_)
            | Value::Unknown => None,
        }
    }
}

/// Whether an expression is a product, or another name for something.
fn is_told_by_others(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::Binary(Binary::Operator(Operator::Multiply), _)
        | Expression::Name(_)
        | Expression::Field(..) => true,
        Expression::Cast(_, inner) => is_told_by_others(inner),
        Expression::Number(_)
        | Expression::Signed(..)
        | Expression::Binary(..)
        | Expression::Conditional(_)
        | Expression::Call(..)
        | Expression::Scoped(..)
        | Expression::Unknown => false,
    }
}

/// The sides of so many elements by their factors: of a volume each slice lies above the one before, of texels whose
/// channels are elements these lie side by side.
fn sides(mut factors: Vec<Factor<'_>>, count: u64, bytes: u64) -> Option<[u64; 2]> {
    let product = |factors: &[Factor<'_>]| {
        factors.iter().try_fold(1_u64, |product, factor| product.checked_mul(factor.value))
    };
    factors.retain(|factor| factor.value != 1);
    // The bytes of an element may be a number like any other.
    if product(&factors)? != count {
        let size = factors.iter().position(|f| f.name.is_empty() && f.value == bytes)?;
        factors.remove(size);
    }
    let found = match factors.as_slice() {
        [a, b] => in_order([(a.name, a.value), (b.name, b.value)]),
        [a, b, c] if is_channels(c) => {
            let [width, height] = in_order([(a.name, a.value), (b.name, b.value)]);
            [width * c.value, height]
        }
        [c, a, b] if is_channels(c) => {
            let [width, height] = in_order([(a.name, a.value), (b.name, b.value)]);
            [width * c.value, height]
        }
        [a, b, c] => [a.value, b.value.checked_mul(c.value)?],
        _ => return None,
    };
    let is_seen = found.iter().all(|side| (2..=LONGEST_SIDE).contains(side));
    (is_seen && product(&factors)? == count).then_some(found)
}

fn is_channels(factor: &Factor<'_>) -> bool {
    let name = factor.name.to_lowercase();
    factor.value <= MOST_CHANNELS
        && (name.is_empty() || ["chan", "comp"].iter().any(|part| name.contains(part)))
}

/// Two sides, the width before the height, unless they are called rows and columns.
pub(in crate::scene::draft) fn in_order([first, second]: [(&str, u64); 2]) -> [u64; 2] {
    match is_height(&first.0.to_lowercase()) {
        true => [second.1, first.1],
        false => [first.1, second.1],
    }
}

/// Whether a number that is called so is one of rows; it may come before that of columns.
pub(in crate::scene::draft) fn is_height(name: &str) -> bool {
    let name = name.rsplit('.').next().unwrap_or(name);
    matches!(name, "h" | "m") || ["row", "height", "ny"].iter().any(|part| name.contains(part))
}
