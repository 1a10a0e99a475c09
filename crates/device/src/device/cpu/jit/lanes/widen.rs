//! Conversions to 64 bits: of what differs by a constant between threads in 32 bits the difference stays the same only
//! where none of them wraps. Where one does, the group diverges.

use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};

use super::GroupLower;
use crate::ptx::{
    ast::Body,
    inst::Instruction,
    modifier::Half,
    op::{Integer, Semantics},
    pass::uniform::{Shape, Shapes},
    types::Type,
};

/// Whether a 32-bit value that differs by a constant becomes one of 64 bits, for which it must not wrap between the
/// threads: the operand, and whether it is signed. Only what [`Shapes`] knows to keep differences constant gives such.
pub(super) fn widens(body: &Body, shapes: &Shapes, i: &Instruction) -> Option<(usize, bool)> {
    // Which of these keep differences constant is known to `Shapes` alone.
    let (operands, ty) = match Semantics::of(&i.op)? {
        Semantics::Convert(cvt) => {
            let (from, to) = cvt.resizes()?;
            ((from.bytes(), to.bytes()) == (4, 8)).then_some((1, from))?
        }
        Semantics::Integer(Integer::Product(Half::Wide) | Integer::Mad(Half::Wide), ty) => (2, ty),
        Semantics::Integer(..) | Semantics::Move(_) | Semantics::Address { .. } => return None,
        Semantics::Choice(_) | Semantics::Load(_) | Semantics::Real(_) => return None,
        Semantics::Predicate(_) => return None,
    };
    if !matches!(shapes.result(body, i), Some(Shape::Affine { .. })) {
        return None;
    }
    let at = (0..operands)
        .find(|at| i.src.get(*at).is_some_and(|operand| !shapes.never_wraps(body, operand)))?;
    Some((at, ty.is_signed()))
}

impl GroupLower<'_, '_, '_> {
    /// Before a conversion to 64 bits: a value that wraps between the threads makes them diverge.
    pub(super) fn check_widening(&mut self, index: usize, i: &Instruction) {
        if self.is_prechecked(index) || self.is_widened_before(index) {
            return;
        }
        let Some((at, signed)) = widens(self.lower.body(), &self.plan.shapes, i) else { return };
        let Some(point) = self.plan.leaves.at(index) else { return };
        let operand = &i.src[at];
        let Some(stride) = self.operand_shape(operand).stride() else { return };
        let Ok(first) = self.lower.value(operand, Type::B32) else { return };
        let others = self.plan.width as u32 - 1;
        let count = self.lower.b.ins().iconst(types::I64, i64::from(others));
        let fine = self.never_wraps((first, stride), (count, others), signed);
        self.diverge_unless(fine, |group| {
            let none = group.lower.b.ins().iconst(types::I32, 0);
            group.leave_group(None, point, point, none);
        });
    }

    /// The value that lies so many times `stride` behind the first one, the number of times in 64 bits.
    pub(super) fn further(&mut self, first: Value, times: Value, stride: i64) -> Value {
        let step = self.lower.b.ins().imul_imm_s(times, stride);
        let step = self.lower.fit(step, self.lower.b.func.dfg.value_type(first));
        self.lower.b.ins().iadd(first, step)
    }

    /// Whether a value stays among the numbers of its width from the first thread to the last of `others` that follow
    /// it, which are `most` at most.
    pub(super) fn never_wraps(
        &mut self,
        (first, stride): (Value, i64),
        (others, most): (Value, u32),
        signed: bool,
    ) -> Value {
        let bits = self.lower.b.func.dfg.value_type(first).bits();
        let stride = if bits == 32 { i64::from(stride as i32) } else { stride };
        let span = stride.checked_mul(i64::from(most));
        if span.is_none_or(|span| span.unsigned_abs() >= 1 << (bits - 1)) {
            return self.lower.b.ins().iconst(types::I8, 0);
        }
        let last = self.further(first, others, stride);
        let condition = match (signed, stride < 0) {
            (true, false) => IntCC::SignedGreaterThanOrEqual,
            (true, true) => IntCC::SignedLessThanOrEqual,
            (false, false) => IntCC::UnsignedGreaterThanOrEqual,
            (false, true) => IntCC::UnsignedLessThanOrEqual,
        };
        self.lower.b.ins().icmp(condition, last, first)
    }
}
