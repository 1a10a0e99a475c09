//! Integer arithmetic, comparison and selection.

use cranelift_codegen::ir::{
    InstBuilder, Value,
    condcodes::{FloatCC, IntCC},
    types,
};

use super::{Lower, Step, Unsupported, clif_type, int_type};
use crate::ptx::{
    inst::Instruction,
    modifier::{BoolOp, Carry, Cmp, Half, MinMax, Mode, Packed},
    operand::Operand,
    types::{Kind, Type},
    video::Video,
};

impl Lower<'_, '_> {
    /// `a + b`, or `a - b`.
    pub(super) fn sum(
        &mut self,
        i: &Instruction,
        ty: Type,
        (mode, carry): (Mode, Carry),
        adds: bool,
    ) -> Step<Value> {
        let [a, b] = self.sources(i, ty)?;
        let plain = |l: &mut Self, a: Value, b: Value| match adds {
            true => l.b.ins().iadd(a, b),
            false => l.b.ins().isub(a, b),
        };
        if ty.is_packed() {
            return self.by_halves(&[a, b], |l, lanes| Ok(plain(l, lanes[0], lanes[1])));
        }
        match (carry.is_used(), mode.sat) {
            (true, _) if adds => Ok(self.add_with_carry(a, b, carry)),
            (true, _) => Ok(self.subtract_with_borrow(a, b, carry)),
            (false, true) => self.saturated(a, b, adds),
            (false, false) => Ok(plain(self, a, b)),
        }
    }

    pub(super) fn multiply(&mut self, i: &Instruction, ty: Type, half: Half) -> Step<Value> {
        let [a, b] = self.sources(i, ty)?;
        self.product(a, b, ty, half)
    }

    pub(super) fn multiply_add(
        &mut self,
        i: &Instruction,
        ty: Type,
        half: Half,
        mode: Mode,
        carry: Carry,
    ) -> Step<Value> {
        let product = self.multiply(i, ty, half)?;
        let wide = self.b.func.dfg.value_type(product);
        let c = self.source(i, 2, super::special::bits_type(wide.bytes()))?;
        match (mode.sat, carry.is_used()) {
            (true, _) => self.saturated(product, c, true),
            (false, false) => Ok(self.b.ins().iadd(product, c)),
            (false, true) => Ok(self.add_with_carry(product, c, carry)),
        }
    }

    pub(super) fn multiply_add24(
        &mut self,
        i: &Instruction,
        ty: Type,
        half: Half,
        sat: bool,
    ) -> Step<Value> {
        let [a, b, c] = self.sources(i, ty)?;
        let product = self.product24(a, b, ty, half);
        if sat { self.saturated(product, c, true) } else { Ok(self.b.ins().iadd(product, c)) }
    }

    /// `sad`.
    pub(super) fn sum_of_difference(&mut self, i: &Instruction, ty: Type) -> Step<Value> {
        let [a, b, c] = self.sources(i, ty)?;
        let less = self.b.ins().icmp(condition(Cmp::Lt, ty), a, b);
        let (up, down) = (self.b.ins().isub(b, a), self.b.ins().isub(a, b));
        let distance = self.b.ins().select(less, up, down);
        Ok(self.b.ins().iadd(distance, c))
    }

    /// `slct`.
    pub(super) fn select_by_sign(
        &mut self,
        i: &Instruction,
        ty: Type,
        by: Type,
        ftz: bool,
    ) -> Step<Value> {
        let [a, b] = self.sources(i, ty)?;
        let c = self.source(i, 2, by)?;
        let c = self.flushed(c, by, ftz);
        let zero = super::zero_of(&mut self.b, clif_type(by));
        let holds = if by.is_float() {
            self.b.ins().fcmp(FloatCC::GreaterThanOrEqual, c, zero)
        } else {
            self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, c, zero)
        };
        Ok(self.b.ins().select(holds, a, b))
    }

    pub(super) fn video(&mut self, i: &Instruction, video: &Video) -> Step<Value> {
        let [a, b] = self.sources(i, Type::B32)?;
        let c = match i.src.get(2) {
            Some(c) => self.value(c, Type::B32)?,
            None => self.b.ins().iconst(types::I32, 0),
        };
        let [what, parts] = video.packed().map(|word| self.int(word as i64, types::I64));
        self.host("warpaint_video", &[what, parts, a, b, c], types::I32)
    }

    /// `cvt.pack`: `a` and `b` clamped, `a` above `b`; above both the low bits of `c`.
    pub(super) fn packed(&mut self, i: &Instruction, to: Packed, merges: bool) -> Step<Value> {
        let (bits, (least, most)) = (i64::from(to.bits()), to.range());
        let [a, b] = self.sources(i, Type::S32)?;
        let [a, b] = [a, b].map(|value| {
            let value = self.clamp_signed(value, least, most);
            self.b.ins().band_imm_u(value, (1 << bits) - 1)
        });
        let a = self.b.ins().ishl_imm_u(a, bits);
        let both = self.b.ins().bor(a, b);
        if !merges || bits == 16 {
            return Ok(both);
        }
        let c = self.source(i, 2, Type::B32)?;
        let c = self.b.ins().ishl_imm_u(c, 2 * bits);
        Ok(self.b.ins().bor(both, c))
    }

    /// An operation on the two halves of words.
    pub(super) fn by_halves(
        &mut self,
        words: &[Value],
        mut operation: impl FnMut(&mut Self, &[Value]) -> Step<Value>,
    ) -> Step<Value> {
        let mut half = |l: &mut Self, shift| {
            let moved = words.iter().map(|&word| {
                let moved = l.b.ins().ushr_imm_u(word, shift);
                l.b.ins().ireduce(types::I16, moved)
            });
            let lanes: Vec<_> = moved.collect();
            let lane = operation(l, &lanes)?;
            let lane = l.b.ins().uextend(types::I32, lane);
            Ok(l.b.ins().ishl_imm_u(lane, shift))
        };
        let (low, high) = (half(self, 0)?, half(self, 16)?);
        Ok(self.b.ins().bor(low, high))
    }

    fn add_with_carry(&mut self, a: Value, b: Value, carry: Carry) -> Value {
        let (mut sum, mut out) = self.b.ins().uadd_overflow(a, b);
        if carry.read {
            let flag = self.b.use_var(self.thread.carry);
            let ty = self.b.func.dfg.value_type(a);
            let flag = self.b.ins().uextend(ty, flag);
            let (with, over) = self.b.ins().uadd_overflow(sum, flag);
            (sum, out) = (with, self.b.ins().bor(out, over));
        }
        if carry.write {
            self.b.def_var(self.thread.carry, out);
        }
        sum
    }

    /// The flag holds the carry of `a + !b + 1`, which is that there is no borrow: what `subc.cc` leaves is read by
    /// `addc`, too, in the divisions of 128 bits that NVRTC makes.
    fn subtract_with_borrow(&mut self, a: Value, b: Value, carry: Carry) -> Value {
        let (mut difference, mut out) = self.b.ins().usub_overflow(a, b);
        if carry.read {
            let flag = self.b.use_var(self.thread.carry);
            let ty = self.b.func.dfg.value_type(a);
            let borrow = self.b.ins().bxor_imm_u(flag, 1);
            let borrow = self.b.ins().uextend(ty, borrow);
            let (with, under) = self.b.ins().usub_overflow(difference, borrow);
            (difference, out) = (with, self.b.ins().bor(out, under));
        }
        if carry.write {
            let none = self.b.ins().bxor_imm_u(out, 1);
            self.b.def_var(self.thread.carry, none);
        }
        difference
    }

    /// Signed 32-bit addition or subtraction, clamped.
    fn saturated(&mut self, a: Value, b: Value, add: bool) -> Step<Value> {
        if self.b.func.dfg.value_type(a) != types::I32 {
            return Err(Unsupported::Part("saturation of this type"));
        }
        let [a, b] = [a, b].map(|v| self.b.ins().sextend(types::I64, v));
        let wide = if add { self.b.ins().iadd(a, b) } else { self.b.ins().isub(a, b) };
        let [least, most] = [i32::MIN, i32::MAX].map(i64::from);
        let clamped = self.clamp_signed(wide, least, most);
        Ok(self.b.ins().ireduce(types::I32, clamped))
    }

    pub(super) fn clamp_signed(&mut self, value: Value, least: i64, most: i64) -> Value {
        let ty = self.b.func.dfg.value_type(value);
        let [least, most] = [least, most].map(|bound| self.int(bound, ty));
        let value = self.b.ins().smax(value, least);
        self.b.ins().smin(value, most)
    }

    fn product(&mut self, a: Value, b: Value, ty: Type, half: Half) -> Step<Value> {
        let (signed, clif) = (ty.is_signed(), clif_type(ty));
        Ok(match (half, clif) {
            (Half::Lo, _) => self.b.ins().imul(a, b),
            (Half::Hi, types::I64) if signed => self.b.ins().smulhi(a, b),
            (Half::Hi, types::I64) => self.b.ins().umulhi(a, b),
            (Half::Hi, _) => {
                let wide = self.product(a, b, ty, Half::Wide)?;
                let high = self.b.ins().ushr_imm_u(wide, i64::from(clif.bits()));
                self.b.ins().ireduce(clif, high)
            }
            (Half::Wide, types::I16 | types::I32) => {
                let wide = int_type(clif.bytes() * 2);
                let [a, b] = [a, b].map(|v| self.extended(v, wide, signed));
                self.b.ins().imul(a, b)
            }
            (Half::Wide, _) => return Err(Unsupported::Part("a product of 128 bits")),
        })
    }

    pub(super) fn extended(
        &mut self,
        value: Value,
        ty: cranelift_codegen::ir::Type,
        signed: bool,
    ) -> Value {
        match (self.b.func.dfg.value_type(value) == ty, signed) {
            (true, _) => value,
            (false, true) => self.b.ins().sextend(ty, value),
            (false, false) => self.b.ins().uextend(ty, value),
        }
    }

    pub(super) fn product24(&mut self, a: Value, b: Value, ty: Type, half: Half) -> Value {
        let [a, b] = [a, b].map(|value| {
            let top = self.b.ins().ishl_imm_u(value, 8);
            let low = if ty.is_signed() {
                self.b.ins().sshr_imm_u(top, 8)
            } else {
                self.b.ins().ushr_imm_u(top, 8)
            };
            self.extended(low, types::I64, ty.is_signed())
        });
        let product = self.b.ins().imul(a, b);
        let product = if half == Half::Hi { self.b.ins().ushr_imm_u(product, 16) } else { product };
        self.b.ins().ireduce(types::I32, product)
    }

    /// CLIF traps where PTX gives an unspecified value: NVIDIA's GPUs give all ones for a division by zero and
    /// the dividend for a remainder by zero; the most negative number divided by -1 is itself.
    pub(super) fn divide(&mut self, i: &Instruction, ty: Type, quotient: bool) -> Step<Value> {
        let [a, b] = self.sources(i, ty)?;
        let clif = clif_type(ty);
        let [one, zero, ones] = [1, 0, -1].map(|v| self.int(v, clif));
        let by_zero = self.b.ins().icmp(IntCC::Equal, b, zero);
        let mut divisor = self.b.ins().select(by_zero, one, b);
        let mut by_minus_one = None;
        if ty.is_signed() {
            let minus = self.b.ins().icmp(IntCC::Equal, b, ones);
            divisor = self.b.ins().select(minus, one, divisor);
            by_minus_one = Some(minus);
        }
        let (value, undefined, negated) = match (ty.is_signed(), quotient) {
            (true, true) => (self.b.ins().sdiv(a, divisor), ones, self.b.ins().ineg(a)),
            (true, false) => (self.b.ins().srem(a, divisor), a, zero),
            (false, true) => (self.b.ins().udiv(a, divisor), ones, zero),
            (false, false) => (self.b.ins().urem(a, divisor), a, zero),
        };
        let value = match by_minus_one {
            Some(minus) => self.b.ins().select(minus, negated, value),
            None => value,
        };
        Ok(self.b.ins().select(by_zero, undefined, value))
    }

    pub(super) fn int_min_max(&mut self, i: &Instruction, m: MinMax, least: bool) -> Step<Value> {
        let [a, b] = self.sources(i, m.ty)?;
        if m.ty.is_packed() {
            let one = MinMax { ty: m.ty.element(), ..m };
            return self
                .by_halves(&[a, b], |l, lanes| Ok(l.int_lesser(lanes[0], lanes[1], one, least)));
        }
        Ok(self.int_lesser(a, b, m, least))
    }

    fn int_lesser(&mut self, a: Value, b: Value, m: MinMax, least: bool) -> Value {
        let value = match (m.ty.is_signed(), least) {
            (true, true) => self.b.ins().smin(a, b),
            (true, false) => self.b.ins().smax(a, b),
            (false, true) => self.b.ins().umin(a, b),
            (false, false) => self.b.ins().umax(a, b),
        };
        if !m.relu {
            return value;
        }
        let zero = self.int(0, clif_type(m.ty));
        self.b.ins().smax(value, zero)
    }

    /// `dp4a` and `dp2a`: parts of `a` times bytes of `b`, summed.
    pub(super) fn dot(
        &mut self,
        i: &Instruction,
        tys: [Type; 2],
        parts: u32,
        high: bool,
    ) -> Step<Value> {
        let [a, b, mut sum] = self.sources(i, Type::B32)?;
        let width = 32 / parts;
        for part in 0..parts {
            let first = part + if high { parts } else { 0 };
            let x = self.field(a, part * width, width, tys[0].is_signed());
            let y = self.field(b, first * 8, 8, tys[1].is_signed());
            let product = self.b.ins().imul(x, y);
            sum = self.b.ins().iadd(sum, product);
        }
        Ok(sum)
    }

    /// `width` bits of a word from bit `at`, extended.
    fn field(&mut self, word: Value, at: u32, width: u32, signed: bool) -> Value {
        let top = self.b.ins().ishl_imm_u(word, i64::from(32 - width - at));
        let shift = i64::from(32 - width);
        if signed {
            self.b.ins().sshr_imm_u(top, shift)
        } else {
            self.b.ins().ushr_imm_u(top, shift)
        }
    }

    // Comparison ------------------------------------------------------------------------------------

    pub(super) fn setp(&mut self, i: &Instruction, combine: Option<BoolOp>, c: Comparison) -> Step {
        let [a, b] = self.sources(i, c.ty)?;
        let [first, second] = if c.ty.is_packed() {
            self.compare_pair(c, a, b)?
        } else {
            let holds = self.compare(c, a, b)?;
            [holds, self.b.ins().bxor_imm_u(holds, 1)]
        };
        // Both before either is written: the predicate that is combined may be one of the two.
        let first = self.combined(i, first, combine)?;
        let second = self.combined(i, second, combine)?;
        self.set(i, first)?;
        i.dst.get(1).map_or(Ok(()), |operand| self.set_operand(operand, second))
    }

    fn combined(&mut self, i: &Instruction, value: Value, op: Option<BoolOp>) -> Step<Value> {
        let Some(op) = op else { return Ok(value) };
        let c = self.source(i, 2, Type::Pred)?;
        Ok(self.logic(op, value, c))
    }

    pub(in crate::device::cpu::jit) fn logic(&mut self, op: BoolOp, a: Value, b: Value) -> Value {
        match op {
            BoolOp::And => self.b.ins().band(a, b),
            BoolOp::Or => self.b.ins().bor(a, b),
            BoolOp::Xor => self.b.ins().bxor(a, b),
        }
    }

    pub(super) fn set_value(
        &mut self,
        i: &Instruction,
        combine: Option<BoolOp>,
        to: Type,
        c: Comparison,
    ) -> Step<Value> {
        let [a, b] = self.sources(i, c.ty)?;
        if c.ty.is_packed() {
            let [low, high] = self.compare_pair(c, a, b)?;
            let mut word = self.b.ins().iconst(types::I32, 0);
            for (holds, shift) in [(low, 0), (high, 16)] {
                let holds = self.combined(i, holds, combine)?;
                let lane = if to.is_packed() { to.element() } else { Type::U16 };
                let value = self.chosen(holds, lane)?;
                let value = self.b.ins().uextend(types::I32, value);
                let value = self.b.ins().ishl_imm_u(value, shift);
                word = self.b.ins().bor(word, value);
            }
            return Ok(word);
        }
        let holds = self.compare(c, a, b)?;
        let holds = self.combined(i, holds, combine)?;
        self.chosen(holds, to)
    }

    /// The comparisons of the lower and the upper halves.
    fn compare_pair(&mut self, c: Comparison, a: Value, b: Value) -> Step<[Value; 2]> {
        let mut both = [a; 2];
        for (result, shift) in both.iter_mut().zip([0, 16]) {
            let [a, b] = [a, b].map(|value| {
                let moved = self.b.ins().ushr_imm_u(value, shift);
                self.b.ins().ireduce(types::I16, moved)
            });
            *result = self.compare(Comparison { ty: c.ty.element(), ..c }, a, b)?;
        }
        Ok(both)
    }

    /// What `set` gives: 1.0 or all ones where `holds`, else zero.
    fn chosen(&mut self, holds: Value, to: Type) -> Step<Value> {
        let clif = clif_type(to);
        let yes = match to.kind() {
            Kind::Float => self.int(one_bits(to)?, clif),
            Kind::Bits | Kind::Unsigned | Kind::Signed => self.int(-1, clif),
            Kind::Predicate | Kind::Opaque => {
                return Err(Unsupported::Part("a result of this type"));
            }
        };
        let no = super::zero_of(&mut self.b, clif);
        Ok(self.b.ins().select(holds, yes, no))
    }

    /// A comparison as a predicate.
    fn compare(&mut self, c: Comparison, a: Value, b: Value) -> Step<Value> {
        if !c.ty.is_float() {
            return Ok(self.b.ins().icmp(condition(c.cmp, c.ty), a, b));
        }
        let [a, b] = if c.ty.bytes() == 2 {
            let [a, b] = [a, b].map(|value| self.flushed_half(value, c.ty, c.ftz));
            [self.widen_half(a, c.ty)?, self.widen_half(b, c.ty)?]
        } else {
            [a, b].map(|value| self.flushed(value, c.ty, c.ftz))
        };
        Ok(self.b.ins().fcmp(float_condition(c.cmp), a, b))
    }
}

/// The number one of a floating-point type that `set` gives.
fn one_bits(ty: Type) -> Step<i64> {
    let known = [(Type::F32, 0x3f80_0000), (Type::F16, 0x3c00), (Type::Bf16, 0x3f80)];
    let found = known.into_iter().find(|(known, _)| *known == ty);
    found.map(|(_, bits)| bits).ok_or(Unsupported::Part("a result of this type"))
}

/// What `setp` and `set` ask.
#[derive(Clone, Copy)]
pub(super) struct Comparison {
    pub(super) cmp: Cmp,
    /// Of what is compared.
    pub(super) ty: Type,
    pub(super) ftz: bool,
}

pub(in crate::device::cpu::jit) fn condition(cmp: Cmp, ty: Type) -> IntCC {
    let signed = ty.is_signed();
    match cmp {
        Cmp::Eq | Cmp::Equ | Cmp::Num => IntCC::Equal,
        Cmp::Ne | Cmp::Neu | Cmp::Nan => IntCC::NotEqual,
        Cmp::Lt | Cmp::Ltu if signed => IntCC::SignedLessThan,
        Cmp::Le | Cmp::Leu if signed => IntCC::SignedLessThanOrEqual,
        Cmp::Gt | Cmp::Gtu if signed => IntCC::SignedGreaterThan,
        Cmp::Ge | Cmp::Geu if signed => IntCC::SignedGreaterThanOrEqual,
        Cmp::Lt | Cmp::Ltu | Cmp::Lo => IntCC::UnsignedLessThan,
        Cmp::Le | Cmp::Leu | Cmp::Ls => IntCC::UnsignedLessThanOrEqual,
        Cmp::Gt | Cmp::Gtu | Cmp::Hi => IntCC::UnsignedGreaterThan,
        Cmp::Ge | Cmp::Geu | Cmp::Hs => IntCC::UnsignedGreaterThanOrEqual,
    }
}

pub(in crate::device::cpu::jit) fn float_condition(cmp: Cmp) -> FloatCC {
    match cmp {
        Cmp::Eq => FloatCC::Equal,
        Cmp::Ne => FloatCC::OrderedNotEqual,
        Cmp::Lt | Cmp::Lo => FloatCC::LessThan,
        Cmp::Le | Cmp::Ls => FloatCC::LessThanOrEqual,
        Cmp::Gt | Cmp::Hi => FloatCC::GreaterThan,
        Cmp::Ge | Cmp::Hs => FloatCC::GreaterThanOrEqual,
        Cmp::Equ => FloatCC::UnorderedOrEqual,
        Cmp::Neu => FloatCC::NotEqual,
        Cmp::Ltu => FloatCC::UnorderedOrLessThan,
        Cmp::Leu => FloatCC::UnorderedOrLessThanOrEqual,
        Cmp::Gtu => FloatCC::UnorderedOrGreaterThan,
        Cmp::Geu => FloatCC::UnorderedOrGreaterThanOrEqual,
        Cmp::Num => FloatCC::Ordered,
        Cmp::Nan => FloatCC::Unordered,
    }
}

/// Whether an operand is an integer constant, and which.
pub(super) fn constant(operand: Option<&Operand>) -> Option<i64> {
    match operand {
        Some(Operand::Int(int)) => Some(*int),
        _ => None,
    }
}
