//! What the header of a loop says, where it is understood.

use crate::scene::{
    comparison::Comparison,
    draft::{
        code::{Span, variables::Id},
        expression::{
            cpp_number::{Number, Type},
            syntax::Expression,
        },
    },
    operator::Operator,
};

/// `for (int variable = first; variable < limit; variable += by)`, or a `while` that does the same.
pub(in crate::scene::draft) struct Loop<'s> {
    pub(in crate::scene::draft) region: usize,
    /// `None` where it counts nothing.
    pub(in crate::scene::draft) variable: Option<Id>,
    pub(in crate::scene::draft) name: &'s str,
    pub(in crate::scene::draft) of: Type,
    pub(in crate::scene::draft) header: Span,
    pub(in crate::scene::draft) body: Span,
    pub(in crate::scene::draft) first: Span,
    pub(in crate::scene::draft) comparison: Comparison,
    pub(in crate::scene::draft) limit: Expression<'s>,
    pub(in crate::scene::draft) step: Operator,
    pub(in crate::scene::draft) by: Expression<'s>,
    /// Its body sets the variable, too.
    pub(in crate::scene::draft) is_changed: bool,
    /// What kernels find ends it: it has no number of rounds then.
    pub(in crate::scene::draft) until: Option<Until<'s>>,
}

impl Loop<'_> {
    /// Whether the variable goes up by 1.
    pub(in crate::scene::draft) fn counts_up(&self) -> bool {
        self.step == Operator::Add && self.by == Expression::Number(Number::int(1))
    }
}

/// When a loop goes on that goes on until kernels have found something.
pub(in crate::scene::draft) struct Until<'s> {
    /// The pointer to what is compared, and where that is copied from.
    pub(in crate::scene::draft) pointer: &'s str,
    pub(in crate::scene::draft) at: usize,
    /// It goes on while what is there compares so with the limit.
    pub(in crate::scene::draft) comparison: Comparison,
    pub(in crate::scene::draft) limit: Expression<'s>,
    /// What else it counts up to.
    pub(in crate::scene::draft) most: Option<Expression<'s>>,
    /// All of its condition.
    pub(in crate::scene::draft) condition: Span,
}
