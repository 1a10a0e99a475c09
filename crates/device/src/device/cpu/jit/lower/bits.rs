//! Bits: logic, shifts, fields, permutations.

use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};

use super::{Lower, Step, Unsupported, clif_type, integer::constant};
use crate::{
    device::cpu::jit::math::permute::mode_code,
    ptx::{
        inst::Instruction,
        modifier::{BoolOp, PrmtMode},
        types::Type,
    },
};

impl Lower<'_, '_> {
    pub(super) fn not(&mut self, i: &Instruction, ty: Type) -> Step<Value> {
        let a = self.source(i, 0, ty)?;
        Ok(if ty == Type::Pred { self.b.ins().bxor_imm_u(a, 1) } else { self.b.ins().bnot(a) })
    }

    /// `cnot`.
    pub(super) fn is_zero(&mut self, i: &Instruction, ty: Type) -> Step<Value> {
        let a = self.source(i, 0, ty)?;
        let zero = self.b.ins().icmp_imm_u(IntCC::Equal, a, 0);
        Ok(self.fit(zero, clif_type(ty)))
    }

    pub(super) fn lop3(&mut self, i: &Instruction, combine: Option<BoolOp>) -> Step {
        let [a, b, c] = self.sources(i, Type::B32)?;
        let table =
            constant(i.src.get(3)).ok_or(Unsupported::Part("a table that is no constant"))?;
        let value = self.three_bits(a, b, c, table as u8);
        self.set(i, value)?;
        let Some(second) = i.dst.get(1) else { return Ok(()) };
        let holds = self.truth(value);
        let holds = match combine {
            Some(op) => {
                let q = self.source(i, 4, Type::Pred)?;
                self.logic(op, holds, q)
            }
            None => holds,
        };
        self.set_operand(second, holds)
    }

    /// Any function of three bits, by its table: the usual ones in few steps, else a sum of products.
    fn three_bits(&mut self, a: Value, b: Value, c: Value, table: u8) -> Value {
        let (ta, tb, tc) = (0xF0u8, 0xCCu8, 0xAAu8);
        let pairs = [(ta, a), (tb, b), (tc, c)];
        for (index, &(t1, v1)) in pairs.iter().enumerate() {
            for &(t2, v2) in &pairs[index + 1..] {
                for op in [BoolOp::And, BoolOp::Or, BoolOp::Xor] {
                    let both = apply(op, t1, t2);
                    let third = pairs.iter().find(|(t, _)| *t != t1 && *t != t2);
                    let Some(&(t3, v3)) = third else { continue };
                    for second in [BoolOp::And, BoolOp::Or, BoolOp::Xor] {
                        if apply(second, both, t3) == table {
                            let first = self.logic(op, v1, v2);
                            return self.logic(second, first, v3);
                        }
                    }
                }
            }
        }
        let mut sum = self.b.ins().iconst(types::I32, 0);
        for row in (0..8u8).filter(|row| table >> row & 1 != 0) {
            let mut product = None;
            for (value, bit) in [(a, 4), (b, 2), (c, 1)] {
                let literal = if row & bit != 0 { value } else { self.b.ins().bnot(value) };
                product = Some(match product {
                    None => literal,
                    Some(product) => self.b.ins().band(product, literal),
                });
            }
            if let Some(product) = product {
                sum = self.b.ins().bor(sum, product);
            }
        }
        sum
    }

    /// PTX clamps the amount to the width, CLIF takes it modulo the width.
    pub(super) fn shift(&mut self, i: &Instruction, ty: Type, left: bool) -> Step<Value> {
        let a = self.source(i, 0, ty)?;
        let width = i64::from(ty.bits());
        let amount = match constant(i.src.get(1)) {
            Some(amount) => {
                let amount = i64::from(amount as u32);
                if amount >= width {
                    return Ok(if !left && ty.is_signed() {
                        self.b.ins().sshr_imm_u(a, width - 1)
                    } else {
                        self.int(0, clif_type(ty))
                    });
                }
                return Ok(self.shifted_by(a, amount, ty, left));
            }
            None => self.source(i, 1, Type::U32)?,
        };
        if !left && ty.is_signed() {
            let most = self.b.ins().iconst(types::I32, width - 1);
            let amount = self.b.ins().umin(amount, most);
            return Ok(self.b.ins().sshr(a, amount));
        }
        let shifted =
            if left { self.b.ins().ishl(a, amount) } else { self.b.ins().ushr(a, amount) };
        let zero = self.int(0, clif_type(ty));
        let within = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, amount, width);
        Ok(self.b.ins().select(within, shifted, zero))
    }

    fn shifted_by(&mut self, a: Value, amount: i64, ty: Type, left: bool) -> Value {
        match (left, ty.is_signed()) {
            (true, _) => self.b.ins().ishl_imm_u(a, amount),
            (false, true) => self.b.ins().sshr_imm_u(a, amount),
            (false, false) => self.b.ins().ushr_imm_u(a, amount),
        }
    }

    pub(super) fn funnel(&mut self, i: &Instruction, left: bool, wrap: bool) -> Step<Value> {
        let [low, high, amount] = self.sources(i, Type::B32)?;
        let both = self.concatenated(low, high);
        let amount = if wrap {
            self.b.ins().band_imm_u(amount, 31)
        } else {
            let most = self.b.ins().iconst(types::I32, 32);
            self.b.ins().umin(amount, most)
        };
        let shifted = if left {
            let moved = self.b.ins().ishl(both, amount);
            self.b.ins().ushr_imm_u(moved, 32)
        } else {
            self.b.ins().ushr(both, amount)
        };
        Ok(self.b.ins().ireduce(types::I32, shifted))
    }

    /// Two words as one of 64 bits.
    fn concatenated(&mut self, low: Value, high: Value) -> Value {
        let low = self.b.ins().uextend(types::I64, low);
        let high = self.b.ins().uextend(types::I64, high);
        let high = self.b.ins().ishl_imm_u(high, 32);
        self.b.ins().bor(low, high)
    }

    pub(super) fn find(&mut self, i: &Instruction, ty: Type, shiftamt: bool) -> Step<Value> {
        let a = self.source(i, 0, ty)?;
        let width = i64::from(ty.bits());
        let a = if ty.is_signed() {
            let sign = self.b.ins().sshr_imm_u(a, width - 1);
            self.b.ins().bxor(a, sign)
        } else {
            a
        };
        let zeros = self.b.ins().clz(a);
        let zeros = self.fit(zeros, types::I32);
        let top = self.b.ins().iconst(types::I32, width - 1);
        let value = if shiftamt { zeros } else { self.b.ins().isub(top, zeros) };
        let none = self.b.ins().icmp_imm_u(IntCC::Equal, a, 0);
        let ones = self.int(-1, types::I32);
        Ok(self.b.ins().select(none, ones, value))
    }

    /// Position and length of a field, each its low byte.
    fn field_operands(&mut self, i: &Instruction, at: usize) -> Step<(Value, Value)> {
        let position = self.source(i, at, Type::U32)?;
        let length = self.source(i, at + 1, Type::U32)?;
        Ok((self.b.ins().band_imm_u(position, 255), self.b.ins().band_imm_u(length, 255)))
    }

    /// `bfe`, in 64 bits whatever the type: shifts up to 64 must not wrap.
    pub(super) fn extract(&mut self, i: &Instruction, ty: Type) -> Step<Value> {
        let a = self.source(i, 0, ty)?;
        let (position, length) = self.field_operands(i, 1)?;
        let name = match (ty.bits(), ty.is_signed()) {
            (32, false) => "warpaint_bfe_u32",
            (32, true) => "warpaint_bfe_s32",
            (64, false) => "warpaint_bfe_u64",
            (64, true) => "warpaint_bfe_s64",
            _ => return Err(Unsupported::Operation),
        };
        if let (Some(p), Some(l)) = (constant(i.src.get(1)), constant(i.src.get(2))) {
            let (p, l, width) = (p & 255, l & 255, i64::from(ty.bits()));
            if l > 0 && p + l <= width {
                let top = self.b.ins().ishl_imm_u(a, width - p - l);
                return Ok(self.shifted_by(top, width - l, ty, false));
            }
        }
        self.host(name, &[a, position, length], clif_type(ty))
    }

    pub(super) fn insert(&mut self, i: &Instruction, ty: Type) -> Step<Value> {
        let [a, b] = self.sources(i, ty)?;
        let (position, length) = self.field_operands(i, 2)?;
        if let (Some(p), Some(l)) = (constant(i.src.get(2)), constant(i.src.get(3))) {
            let (p, l, width) = (p & 255, l & 255, i64::from(ty.bits()));
            if p < width {
                let ones = if l >= 64 { u64::MAX } else { (1 << l) - 1 };
                let mask = self.int((ones << p) as i64, clif_type(ty));
                let moved = self.b.ins().ishl_imm_u(a, p);
                let moved = self.b.ins().band(moved, mask);
                let kept = self.b.ins().band_not(b, mask);
                return Ok(self.b.ins().bor(moved, kept));
            }
        }
        let name = if ty.bytes() == 8 { "warpaint_bfi_b64" } else { "warpaint_bfi_b32" };
        self.host(name, &[a, b, position, length], clif_type(ty))
    }

    pub(super) fn mask(&mut self, i: &Instruction, wrap: bool) -> Step<Value> {
        let [position, length] = self.sources(i, Type::U32)?;
        let bound = |l: &mut Self, value| {
            if wrap {
                l.b.ins().band_imm_u(value, 31)
            } else {
                let most = l.b.ins().iconst(types::I32, 32);
                l.b.ins().umin(value, most)
            }
        };
        let (position, length) = (bound(self, position), bound(self, length));
        let one = self.b.ins().iconst(types::I64, 1);
        let ones = self.b.ins().ishl(one, length);
        let ones = self.b.ins().iadd_imm_s(ones, -1);
        let mask = self.b.ins().ishl(ones, position);
        Ok(self.b.ins().ireduce(types::I32, mask))
    }

    pub(super) fn permute(&mut self, i: &Instruction, mode: Option<PrmtMode>) -> Step<Value> {
        let [a, b, selectors] = self.sources(i, Type::B32)?;
        let both = self.concatenated(a, b);
        if mode.is_none()
            && let Some(selectors) = constant(i.src.get(2))
        {
            return Ok(self.permute_by(both, selectors as u32));
        }
        let mode = self.b.ins().iconst(types::I32, i64::from(mode_code(mode)));
        self.host("warpaint_prmt", &[both, selectors, mode], types::I32)
    }

    fn permute_by(&mut self, both: Value, selectors: u32) -> Value {
        let mut word = self.b.ins().iconst(types::I32, 0);
        for byte in 0..4 {
            let selector = i64::from(selectors >> (4 * byte) & 15);
            let moved = self.b.ins().ushr_imm_u(both, (selector & 7) * 8);
            let mut piece = self.b.ins().ireduce(types::I32, moved);
            if selector & 8 != 0 {
                let top = self.b.ins().ishl_imm_u(piece, 24);
                piece = self.b.ins().sshr_imm_u(top, 31);
            }
            let piece = self.b.ins().band_imm_u(piece, 255);
            let piece = self.b.ins().ishl_imm_u(piece, 8 * byte);
            word = self.b.ins().bor(word, piece);
        }
        word
    }

    pub(super) fn extend_low(&mut self, i: &Instruction, wrap: bool, ty: Type) -> Step<Value> {
        let [a, length] = self.sources(i, ty)?;
        let length = if wrap {
            self.b.ins().band_imm_u(length, 31)
        } else {
            let most = self.b.ins().iconst(types::I32, 32);
            self.b.ins().umin(length, most)
        };
        let wide = self.b.ins().uextend(types::I64, a);
        let bits = self.b.ins().iconst(types::I32, 64);
        let up = self.b.ins().isub(bits, length);
        let none = self.b.ins().icmp_imm_u(IntCC::Equal, length, 0);
        let top = self.b.ins().ishl(wide, up);
        let low =
            if ty.is_signed() { self.b.ins().sshr(top, up) } else { self.b.ins().ushr(top, up) };
        let zero = self.b.ins().iconst(types::I64, 0);
        let low = self.b.ins().select(none, zero, low);
        Ok(self.b.ins().ireduce(types::I32, low))
    }
}

fn apply(op: BoolOp, a: u8, b: u8) -> u8 {
    match op {
        BoolOp::And => a & b,
        BoolOp::Or => a | b,
        BoolOp::Xor => a ^ b,
    }
}
