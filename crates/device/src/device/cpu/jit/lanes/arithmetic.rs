//! Arithmetic, logic, comparison and selection on vectors: the same operations as for single threads, with the
//! same results to the bit.

use cranelift_codegen::ir::{
    self, InstBuilder, Value,
    condcodes::{FloatCC, IntCC},
    types,
};

use super::{
    GroupLower,
    value::{Parts, form},
    vector_form::has_form,
};
use crate::{
    device::cpu::jit::lower::{
        LARGEST_DIVISOR, Step, float_condition, int_condition, is_simple_bound,
    },
    ptx::{
        inst::{Instruction, Op},
        modifier::{Accuracy, BoolOp, Cmp, Function, Half, MinMax, Rounding},
        op::{FloatOp, Integer, Predicate, Semantics},
        operand::Operand,
        types::Type,
    },
};

impl GroupLower<'_, '_, '_> {
    /// The instruction on vectors; `false`, with nothing written, where it has no such form.
    pub(super) fn vector_arithmetic(&mut self, i: &Instruction) -> Step<bool> {
        if i.guard.is_some() {
            return Ok(false);
        }
        let Some(ty) = i.op.facts().vector else { return Ok(false) };
        if let Op::Shf { left, wrap } = i.op {
            return self.vector_funnel(i, left, wrap);
        }
        if let Op::Mov { .. } = i.op {
            return self.vector_move(i, ty);
        }
        if let Op::Cvt(cvt) = &i.op {
            return self.vector_convert(i, cvt);
        }
        if let Op::Setp { cmp, combine, ftz, ty: _ } = i.op {
            return self.vector_setp(i, cmp, combine, ty, ftz);
        }
        if let Op::Selp { .. } = i.op {
            return self.vector_select(i, ty);
        }
        if let Op::Mul { half: Some(half @ (Half::Wide | Half::Hi)), mode, ty: _ }
        | Op::Mad { half: Some(half @ (Half::Wide | Half::Hi)), mode, carry: _, ty: _ } = i.op
        {
            let adds = matches!(i.op, Op::Mad { .. });
            return match ty.bytes() == 4 && !mode.sat {
                true => self.vector_wide(i, ty, half, adds),
                false => Ok(false),
            };
        }
        self.vector_same(i, ty)
    }

    /// Operations whose operands and result have one type.
    fn vector_same(&mut self, i: &Instruction, ty: Type) -> Step<bool> {
        if !has_form(ty) && ty != Type::Pred {
            return Ok(false);
        }
        if let Op::Shl { .. } | Op::Shr { .. } = i.op {
            return self.vector_shift(i, ty);
        }
        let mut operands: Vec<Parts> = Vec::new();
        for operand in &i.src {
            match self.vector_source(operand, ty)? {
                Some(parts) => operands.push(parts),
                None => return Ok(false),
            }
        }
        let mut result = Parts::new();
        for part in 0..form(ty).1 {
            let operands: Vec<Value> = operands.iter().map(|parts| parts[part]).collect();
            match self.vector_part(i, ty, &operands) {
                Some(value) => result.push(value),
                None => return Ok(false),
            }
        }
        Ok(self.set_vector(&i.dst[0], ty, &result))
    }

    fn vector_part(&mut self, i: &Instruction, ty: Type, operands: &[Value]) -> Option<Value> {
        if ty.is_float() {
            self.vector_float(i, ty, operands)
        } else {
            self.vector_int(i, ty, operands)
        }
    }

    fn vector_float(&mut self, i: &Instruction, ty: Type, operands: &[Value]) -> Option<Value> {
        let (op, _) = i.op.float()?;
        let mode = op.mode();
        let down = Some(Rounding::Down);
        if let (FloatOp::Fma { relu: false, oob: false, mode: _ }, [a, b, c]) = (&op, operands)
            && (ty, mode.rounding, mode.ftz) == (Type::F32, down, false)
        {
            let value = self.vector_fma_down([*a, *b, *c]);
            return Some(if mode.sat { self.vector_clamp_unit(value, ty) } else { value });
        }
        if !matches!(mode.rounding, None | Some(Rounding::Nearest)) {
            return None;
        }
        // Which result is tiny only the code for single threads finds out, where the processor does not flush. Sums are
        // so exactly, roots never. Where it flushes, it does not in what only looks at signs or compares.
        let (may_be_tiny, bits) = match op {
            FloatOp::Add(_) | FloatOp::Sub(_) | FloatOp::Sqrt(..) => (false, false),
            FloatOp::Abs { .. } | FloatOp::Neg { .. } => (false, true),
            FloatOp::Min(_) | FloatOp::Max(_) => (false, true),
            FloatOp::Approx { function, ftz: _ } => (function != Function::Rsqrt, false),
            FloatOp::Mul(_) | FloatOp::Div(..) | FloatOp::Fma { .. } => (true, false),
            FloatOp::Rcp(..) | FloatOp::Copysign | FloatOp::Testp(_) => (true, false),
        };
        if mode.ftz && ty == Type::F32 && !self.lower.plan().flushes && may_be_tiny {
            return None;
        }
        let flush = |group: &mut Self, value: Value| match bits {
            true => group.vector_flushed_bits(value, ty, mode.ftz),
            false => group.vector_flushed(value, ty, mode.ftz),
        };
        let operands: Vec<Value> = operands.iter().map(|v| flush(self, *v)).collect();
        let one = |group: &mut Self| group.all_lanes(form(ty).0, one_bits(ty));
        // Of the operands there are as many as the verifier found: one at least.
        let (a, b, c) = (*operands.first()?, operands.get(1).copied(), operands.get(2).copied());
        let value = match op {
            FloatOp::Add(_) => self.lower.b.ins().fadd(a, b?),
            FloatOp::Sub(_) => self.lower.b.ins().fsub(a, b?),
            FloatOp::Mul(_) => self.lower.b.ins().fmul(a, b?),
            FloatOp::Div(Accuracy::Approx, _) => {
                let b = self.vector_infinite_beyond(b?);
                self.lower.b.ins().fdiv(a, b)
            }
            FloatOp::Div(Accuracy::Exact | Accuracy::Full, _) => self.lower.b.ins().fdiv(a, b?),
            FloatOp::Fma { relu: false, oob: false, mode: _ } => self.lower.b.ins().fma(a, b?, c?),
            FloatOp::Sqrt(..) => self.lower.b.ins().sqrt(a),
            // Words of the operand and of the result.
            FloatOp::Rcp(Accuracy::Approx, _) if ty == Type::F64 => return None,
            FloatOp::Rcp(..) => {
                let one = one(self);
                self.lower.b.ins().fdiv(one, a)
            }
            FloatOp::Approx { function: Function::Rsqrt, ftz: _ } if ty != Type::F64 => {
                let one = one(self);
                let root = self.lower.b.ins().sqrt(a);
                self.lower.b.ins().fdiv(one, root)
            }
            FloatOp::Abs { ftz: _ } => self.lower.b.ins().fabs(a),
            FloatOp::Neg { ftz: _ } => self.lower.b.ins().fneg(a),
            FloatOp::Copysign => self.vector_copysign(a, b?, ty),
            FloatOp::Min(m) => self.vector_min_max(i, m, &operands, true)?,
            FloatOp::Max(m) => self.vector_min_max(i, m, &operands, false)?,
            // For one thread after the other.
            FloatOp::Fma { .. } | FloatOp::Approx { .. } | FloatOp::Testp(_) => return None,
        };
        let value = flush(self, value);
        Some(if mode.sat { self.vector_clamp_unit(value, ty) } else { value })
    }

    /// As `infinite_beyond` for single threads.
    fn vector_infinite_beyond(&mut self, divisor: Value) -> Value {
        let [most, infinity] = [LARGEST_DIVISOR, f32::INFINITY]
            .map(|value| self.all_lanes(types::F32X4, value.to_bits().into()));
        let magnitude = self.lower.b.ins().fabs(divisor);
        let beyond = self.lower.b.ins().fcmp(FloatCC::GreaterThan, magnitude, most);
        let infinite = self.vector_copysign(divisor, infinity, Type::F32);
        self.vector_choose(beyond, infinite, divisor)
    }

    fn vector_copysign(&mut self, sign: Value, magnitude: Value, ty: Type) -> Value {
        let (float, int) = (form(ty).0, int_vector(ty));
        let top = if ty.bytes() == 8 { 1 << 63 } else { 1 << 31 };
        let [mask, rest] = [top, !top].map(|bits| self.all_lanes(int, bits));
        let [sign, magnitude] = [sign, magnitude].map(|v| self.recast(v, int));
        let sign = self.lower.b.ins().band(sign, mask);
        let magnitude = self.lower.b.ins().band(magnitude, rest);
        let both = self.lower.b.ins().bor(sign, magnitude);
        self.recast(both, float)
    }

    /// As `min_max` for single threads.
    fn vector_min_max(
        &mut self,
        i: &Instruction,
        m: MinMax,
        numbers: &[Value],
        least: bool,
    ) -> Option<Value> {
        let MinMax { xorsign_abs: false, relu: false, abs, three, nan, ty: _, ftz: _ } = m else {
            return None;
        };
        let magnitude = |value: &Value| if abs { self.lower.b.ins().fabs(*value) } else { *value };
        let numbers: Vec<Value> = numbers.iter().map(magnitude).collect();
        let [a, b] = match numbers[..] {
            [a, b] => [a, b],
            [a, b, c] => [self.vector_number_min_max(m, a, b, least), c],
            _ => return None,
        };
        if !three && !nan && i.src.iter().any(|o| is_simple_bound(o, least)) {
            let bound_first = is_simple_bound(&i.src[0], least);
            let (a, bound) = if bound_first { (b, a) } else { (a, b) };
            let cc = if least { FloatCC::LessThan } else { FloatCC::GreaterThan };
            let within = self.lower.b.ins().fcmp(cc, a, bound);
            return Some(self.vector_choose(within, a, bound));
        }
        Some(self.vector_number_min_max(m, a, b, least))
    }

    /// As `number_min_max` for single threads.
    fn vector_number_min_max(&mut self, m: MinMax, a: Value, b: Value, least: bool) -> Value {
        let value =
            if least { self.lower.b.ins().fmin(a, b) } else { self.lower.b.ins().fmax(a, b) };
        if m.nan {
            let is_nan = self.lower.b.ins().fcmp(FloatCC::Unordered, a, b);
            return self.vector_canonical(is_nan, value, m.ty);
        }
        let a_is_nan = self.lower.b.ins().fcmp(FloatCC::Unordered, a, a);
        let b_is_nan = self.lower.b.ins().fcmp(FloatCC::Unordered, b, b);
        let value = self.vector_choose(b_is_nan, a, value);
        let b = self.vector_canonical(b_is_nan, b, m.ty);
        self.vector_choose(a_is_nan, b, value)
    }

    /// The canonical NaN of single precision where the mask says so; double precision keeps payloads.
    fn vector_canonical(&mut self, is_nan: Value, value: Value, ty: Type) -> Value {
        if ty != Type::F32 {
            return value;
        }
        let canonical = self.all_lanes(form(ty).0, 0x7fff_ffff);
        self.vector_choose(is_nan, canonical, value)
    }

    /// `a` in the lanes of the mask, else `b`.
    pub(super) fn vector_choose(&mut self, mask: Value, a: Value, b: Value) -> Value {
        let ty = self.lower.b.func.dfg.value_type(a);
        let mask = self.recast(mask, ty);
        self.lower.b.ins().bitselect(mask, a, b)
    }

    pub(super) fn vector_flushed(&mut self, value: Value, ty: Type, ftz: bool) -> Value {
        if self.lower.plan().flushes { value } else { self.vector_flushed_bits(value, ty, ftz) }
    }

    pub(super) fn vector_flushed_bits(&mut self, value: Value, ty: Type, ftz: bool) -> Value {
        if !ftz || ty != Type::F32 {
            return value;
        }
        let bits = self.recast(value, types::I32X4);
        let [exponent, sign, zero] =
            [0x7f80_0000, 0x8000_0000, 0].map(|b| self.all_lanes(types::I32X4, b));
        let top = self.lower.b.ins().band(bits, exponent);
        let tiny = self.lower.b.ins().icmp(IntCC::Equal, top, zero);
        let sign = self.lower.b.ins().band(bits, sign);
        let kept = self.vector_choose(tiny, sign, bits);
        self.recast(kept, types::F32X4)
    }

    pub(super) fn vector_clamp_unit(&mut self, value: Value, ty: Type) -> Value {
        let [one, zero] = [one_bits(ty), 0].map(|bits| self.all_lanes(form(ty).0, bits));
        let above = self.lower.b.ins().fcmp(FloatCC::GreaterThan, value, zero);
        let value = self.vector_choose(above, value, zero);
        let below = self.lower.b.ins().fcmp(FloatCC::LessThan, value, one);
        self.vector_choose(below, value, one)
    }

    fn vector_int(&mut self, i: &Instruction, ty: Type, operands: &[Value]) -> Option<Value> {
        let (a, b, c) = (*operands.first()?, operands.get(1).copied(), operands.get(2).copied());
        Some(match Semantics::of(&i.op)? {
            Semantics::Integer(operation, _) => match operation {
                Integer::Sum => self.lower.b.ins().iadd(a, b?),
                Integer::Difference => self.lower.b.ins().isub(a, b?),
                Integer::Product(Half::Lo) => self.lower.b.ins().imul(a, b?),
                Integer::Mad(Half::Lo) => {
                    let product = self.lower.b.ins().imul(a, b?);
                    self.lower.b.ins().iadd(product, c?)
                }
                Integer::Negative => self.lower.b.ins().ineg(a),
                Integer::Complement => self.lower.b.ins().bnot(a),
                Integer::Bitwise(op) => self.lower.logic(op, a, b?),
                // Processors hardly compare longer ones in vectors.
                Integer::Magnitude | Integer::Least | Integer::Greatest if ty.bytes() != 4 => {
                    return None;
                }
                Integer::Magnitude => self.lower.b.ins().iabs(a),
                Integer::Least if ty.is_signed() => self.lower.b.ins().smin(a, b?),
                Integer::Least => self.lower.b.ins().umin(a, b?),
                Integer::Greatest if ty.is_signed() => self.lower.b.ins().smax(a, b?),
                Integer::Greatest => self.lower.b.ins().umax(a, b?),
                // `vector_wide` and `vector_shift` make these.
                Integer::Product(_) | Integer::Mad(_) => return None,
                Integer::ShiftLeft | Integer::ShiftRight => return None,
                Integer::Quotient | Integer::Remainder | Integer::Count => return None,
                Integer::Extract | Integer::Insert | Integer::Bytes => return None,
            },
            Semantics::Predicate(Predicate::Of(op)) => self.lower.logic(op, a, b?),
            Semantics::Predicate(Predicate::Not) => self.lower.b.ins().bnot(a),
            // Others make these.
            Semantics::Predicate(Predicate::Compare(..)) | Semantics::Choice(_) => return None,
            Semantics::Move(_) | Semantics::Address { .. } | Semantics::Convert(_) => return None,
            Semantics::Load(_) | Semantics::Real(_) => return None,
        })
    }

    /// Shifts by the same amount in all lanes.
    fn vector_shift(&mut self, i: &Instruction, ty: Type) -> Step<bool> {
        let (left, bits) = (matches!(i.op, Op::Shl { .. }), i64::from(ty.bits()));
        let Some(Operand::Int(amount)) = i.src.get(1) else { return Ok(false) };
        let amount = i64::from(*amount as u32);
        let Some(value) = self.vector_source(&i.src[0], ty)? else { return Ok(false) };
        let signed = ty.is_signed() && !left;
        let vector = form(ty).0;
        let shifted = value.into_iter().map(|part| {
            let amount = if signed { amount.min(bits - 1) } else { amount };
            if amount >= bits {
                return self.all_lanes(vector, 0);
            }
            let amount = self.lower.b.ins().iconst(types::I32, amount);
            match (left, signed) {
                (true, _) => self.lower.b.ins().ishl(part, amount),
                (false, true) => self.lower.b.ins().sshr(part, amount),
                (false, false) => self.lower.b.ins().ushr(part, amount),
            }
        });
        let shifted: Parts = shifted.collect();
        Ok(self.set_vector(&i.dst[0], ty, &shifted))
    }

    /// Copies, also of two words into a pair and back.
    fn vector_move(&mut self, i: &Instruction, ty: Type) -> Step<bool> {
        let (to, source) = (&i.dst[0], &i.src[0]);
        if let Operand::Vector(parts) = source {
            return self.vector_pack(to, parts, ty);
        }
        if let Operand::Vector(parts) = to {
            return self.vector_unpack(parts, source, ty);
        }
        if !has_form(ty) && ty != Type::Pred {
            return Ok(false);
        }
        let Some(parts) = self.vector_source(source, ty)? else { return Ok(false) };
        Ok(self.set_vector(to, ty, &parts))
    }

    /// A register of two words, the low one first.
    fn vector_pack(&mut self, to: &Operand, parts: &[Operand], ty: Type) -> Step<bool> {
        let (Operand::Reg(_), [low, high], 8) = (to, parts, ty.bytes()) else { return Ok(false) };
        let (Some(low), Some(high)) =
            (self.vector_source(low, Type::B32)?, self.vector_source(high, Type::B32)?)
        else {
            return Ok(false);
        };
        let wide = [0, 1].map(|half| {
            let pairs = self.interleave(low[0], high[0], half);
            self.recast(pairs, types::I64X2)
        });
        Ok(self.set_vector(to, Type::B64, &wide))
    }

    /// Two words of a register, the low one first.
    fn vector_unpack(&mut self, parts: &[Operand], source: &Operand, ty: Type) -> Step<bool> {
        let (Operand::Reg(_), [_, _], 8) = (source, parts, ty.bytes()) else { return Ok(false) };
        let Some(wide) = self.vector_source(source, Type::B64)? else { return Ok(false) };
        if !parts.iter().all(|part| self.takes_word(part)) {
            return Ok(false);
        }
        for (part, operand) in parts.iter().enumerate() {
            let word = self.words(wide[0], wide[1], part);
            self.set_vector(operand, Type::B32, &[word]);
        }
        Ok(true)
    }

    fn takes_word(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Sink)
            || operand.reg().is_some_and(|reg| self.lower.body().registers.ty(reg).bytes() == 4)
    }

    /// Words of two vectors in turn: the lower two of each, or the upper.
    pub(super) fn interleave(&mut self, a: Value, b: Value, half: usize) -> Value {
        let first = 2 * half as u8;
        self.pick(a, b, [first, first + 4, first + 1, first + 5])
    }

    /// The lower (0) or upper (1) words of four 64-bit values.
    pub(super) fn words(&mut self, low: Value, high: Value, which: usize) -> Value {
        let which = which as u8;
        self.pick(low, high, [which, which + 2, which + 4, which + 6])
    }

    /// Four of the eight words of two vectors.
    pub(super) fn pick(&mut self, a: Value, b: Value, words: [u8; 4]) -> Value {
        let [a, b] = [a, b].map(|v| self.recast(v, types::I8X16));
        let mut bytes = [0; 16];
        for (out, word) in bytes.chunks_mut(4).zip(words) {
            out.copy_from_slice(&[4 * word, 4 * word + 1, 4 * word + 2, 4 * word + 3]);
        }
        let mask = self.lower.b.func.dfg.immediates.push(ir::ConstantData::from(&bytes[..]));
        let picked = self.lower.b.ins().shuffle(a, b, mask);
        self.recast(picked, types::I32X4)
    }

    /// `mul.wide`, `mul.hi` and the `mad`s of them, of words.
    fn vector_wide(&mut self, i: &Instruction, ty: Type, half: Half, adds: bool) -> Step<bool> {
        let (Some(a), Some(b)) =
            (self.vector_source(&i.src[0], ty)?, self.vector_source(&i.src[1], ty)?)
        else {
            return Ok(false);
        };
        let [low, high] = self.wide_products(a[0], b[0], ty.is_signed());
        if half == Half::Wide {
            let mut parts = vec![low, high];
            if adds {
                let Some(c) = self.vector_source(&i.src[2], Type::B64)? else { return Ok(false) };
                parts =
                    parts.iter().zip(&c).map(|(p, c)| self.lower.b.ins().iadd(*p, *c)).collect();
            }
            return Ok(self.set_vector(&i.dst[0], Type::B64, &parts));
        }
        let mut result = self.words(low, high, 1);
        if adds {
            let Some(c) = self.vector_source(&i.src[2], Type::B32)? else { return Ok(false) };
            result = self.lower.b.ins().iadd(result, c[0]);
        }
        Ok(self.set_vector(&i.dst[0], Type::B32, &[result]))
    }

    fn wide_products(&mut self, a: Value, b: Value, signed: bool) -> [Value; 2] {
        let [a_low, b_low] = [a, b].map(|v| match signed {
            true => self.lower.b.ins().swiden_low(v),
            false => self.lower.b.ins().uwiden_low(v),
        });
        let [a_high, b_high] = [a, b].map(|v| match signed {
            true => self.lower.b.ins().swiden_high(v),
            false => self.lower.b.ins().uwiden_high(v),
        });
        [self.lower.b.ins().imul(a_low, b_low), self.lower.b.ins().imul(a_high, b_high)]
    }

    fn vector_setp(
        &mut self,
        i: &Instruction,
        cmp: Cmp,
        combine: Option<BoolOp>,
        ty: Type,
        ftz: bool,
    ) -> Step<bool> {
        // Flushing where the processor does not: as for single threads, whatever that is.
        if !has_form(ty) || ftz && !self.lower.plan().flushes {
            return Ok(false);
        }
        let (Some(a), Some(b)) =
            (self.vector_source(&i.src[0], ty)?, self.vector_source(&i.src[1], ty)?)
        else {
            return Ok(false);
        };
        let parts: Parts =
            a.iter().zip(&b).map(|(a, b)| self.vector_compare(cmp, ty, *a, *b)).collect();
        let holds = match parts[..] {
            [low, high] => self.words(low, high, 0),
            _ => parts[0],
        };
        let fails = self.lower.b.ins().bnot(holds);
        let with = match combine {
            None => None,
            Some(op) => match self.vector_source(&i.src[2], Type::Pred)? {
                Some(c) => Some((op, c[0])),
                None => return Ok(false),
            },
        };
        let values = [holds, fails].map(|value| match with {
            None => value,
            Some((op, c)) => self.lower.logic(op, value, c),
        });
        for (destination, value) in i.dst.iter().zip(values) {
            if !self.set_vector(destination, Type::Pred, &[value]) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn vector_compare(&mut self, cmp: Cmp, ty: Type, a: Value, b: Value) -> Value {
        if !ty.is_float() {
            return self.lower.b.ins().icmp(int_condition(cmp, ty), a, b);
        }
        let mut both = |first, second, and: bool| {
            let [first, second] = [first, second].map(|cc| self.lower.b.ins().fcmp(cc, a, b));
            if and {
                self.lower.b.ins().band(first, second)
            } else {
                self.lower.b.ins().bor(first, second)
            }
        };
        // These two have no instruction for vectors.
        let condition = float_condition(cmp);
        if condition == FloatCC::OrderedNotEqual {
            return both(FloatCC::Ordered, FloatCC::NotEqual, true);
        }
        if condition == FloatCC::UnorderedOrEqual {
            return both(FloatCC::Unordered, FloatCC::Equal, false);
        }
        self.lower.b.ins().fcmp(condition, a, b)
    }

    fn vector_select(&mut self, i: &Instruction, ty: Type) -> Step<bool> {
        if !has_form(ty) {
            return Ok(false);
        }
        let (Some(a), Some(b), Some(mask)) = (
            self.vector_source(&i.src[0], ty)?,
            self.vector_source(&i.src[1], ty)?,
            self.vector_source(&i.src[2], Type::Pred)?,
        ) else {
            return Ok(false);
        };
        let chosen = self.choose_parts(mask[0], &a, &b, ty);
        Ok(self.set_vector(&i.dst[0], ty, &chosen))
    }

    /// Values of `a` in the lanes of a mask of words, else of `b`; of four scalars one by one.
    pub(super) fn choose_parts(
        &mut self,
        mask: Value,
        a: &[Value],
        b: &[Value],
        ty: Type,
    ) -> Parts {
        let masks = match a.len() {
            1 => vec![mask],
            2 => vec![self.interleave(mask, mask, 0), self.interleave(mask, mask, 1)],
            _ => {
                let pick = |lane: usize| {
                    let holds = self.lane_of(&[mask], lane, Type::Pred);
                    self.lower.b.ins().select(holds, a[lane], b[lane])
                };
                debug_assert!(!has_form(ty), "held in vectors");
                return (0..a.len()).map(pick).collect();
            }
        };
        let chosen = masks.iter().zip(a.iter().zip(b));
        chosen.map(|(m, (a, b))| self.vector_choose(*m, *a, *b)).collect()
    }
}

/// Whether it is the lesser or the greater of two numbers, and nothing else.
pub(super) fn int_vector(ty: Type) -> ir::Type {
    if ty.bytes() == 8 { types::I64X2 } else { types::I32X4 }
}

fn one_bits(ty: Type) -> u64 {
    if ty == Type::F64 { 1f64.to_bits() } else { u64::from(1f32.to_bits()) }
}
