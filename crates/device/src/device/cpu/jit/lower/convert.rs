//! `cvt`.

use cranelift_codegen::ir::{InstBuilder, Value, condcodes::FloatCC, types};

use super::{Lower, Step, Unsupported, clif_type, float::finish_of, int_type};
use crate::device::cpu::jit::math::{finish::Finish, small};
use crate::ptx::{
    inst::Instruction,
    modifier::{Cvt, IntRounding, Rounding},
    operand::Operand,
    types::Type,
};

impl Lower<'_, '_> {
    pub(super) fn convert(&mut self, i: &Instruction, cvt: &Cvt) -> Step {
        let destination = i.dst.first().ok_or(Unsupported::Part("no destination"))?;
        if cvt.to.is_packed() {
            let value = match cvt.from.is_packed() {
                true => self.convert_packed(i, cvt)?,
                false => self.convert_pair(i, cvt)?,
            };
            return self.set_operand(destination, value);
        }
        let value = self.source(i, 0, cvt.from)?;
        let value = self.converted(value, cvt)?;
        // The low bits of a wider register; those above are the sign's or zero.
        self.set_extended(destination, value, cvt.to)
    }

    fn converted(&mut self, value: Value, cvt: &Cvt) -> Step<Value> {
        match (cvt.from.is_float(), cvt.to.is_float()) {
            (false, false) => Ok(self.int_to_int(value, cvt)),
            (false, true) => self.int_to_float(value, cvt),
            (true, false) => self.float_to_int(value, cvt),
            (true, true) => self.float_to_float(value, cvt),
        }
    }

    fn int_to_int(&mut self, value: Value, cvt: &Cvt) -> Value {
        let value = if cvt.sat { self.saturated_int(value, cvt) } else { value };
        let (from, to) = (self.b.func.dfg.value_type(value), clif_type(cvt.to));
        if to.bytes() > from.bytes() {
            self.extended(value, to, cvt.from.is_signed())
        } else {
            self.fit(value, to)
        }
    }

    fn saturated_int(&mut self, value: Value, cvt: &Cvt) -> Value {
        let (bits, signed) = (cvt.to.bits(), cvt.to.is_signed());
        let from_signed = cvt.from.is_signed();
        let (from_bits, ty) = (cvt.from.bits(), clif_type(cvt.from));
        let most = if signed { (1u64 << (bits - 1)) - 1 } else { u64::MAX >> (64 - bits) };
        let from_most =
            if from_signed { (1u64 << (from_bits - 1)) - 1 } else { u64::MAX >> (64 - from_bits) };
        let mut value = value;
        if from_signed {
            let least = if signed && bits < from_bits {
                Some(-(1i64 << (bits - 1)))
            } else if signed {
                None
            } else {
                Some(0)
            };
            if let Some(least) = least {
                let least = self.int(least, ty);
                value = self.b.ins().smax(value, least);
            }
        }
        if most < from_most {
            let most = self.int(most as i64, ty);
            value = if from_signed {
                self.b.ins().smin(value, most)
            } else {
                self.b.ins().umin(value, most)
            };
        }
        value
    }

    fn int_to_float(&mut self, value: Value, cvt: &Cvt) -> Step<Value> {
        let signed = cvt.from.is_signed();
        let wide = if cvt.from.bytes() < 4 { types::I32 } else { clif_type(cvt.from) };
        let value = self.extended(value, wide, signed);
        if cvt.to.bytes() == 2 {
            let number = self.int_to_double(value, signed)?;
            return self.narrow(number, cvt);
        }
        if !matches!(cvt.rounding, None | Some(Rounding::Nearest)) {
            return self.int_to_float_directed(value, cvt);
        }
        let number = if signed {
            self.b.ins().fcvt_from_sint(clif_type(cvt.to), value)
        } else {
            self.b.ins().fcvt_from_uint(clif_type(cvt.to), value)
        };
        Ok(if cvt.sat { self.clamp_unit(number, cvt.to) } else { number })
    }

    /// Exact, or rounded so that a later rounding to a half is the only one.
    fn int_to_double(&mut self, value: Value, signed: bool) -> Step<Value> {
        match (self.b.func.dfg.value_type(value), signed) {
            (types::I64, true) => self.host("warpaint_s64_odd", &[value], types::F64),
            (types::I64, false) => self.host("warpaint_u64_odd", &[value], types::F64),
            (_, true) => Ok(self.b.ins().fcvt_from_sint(types::F64, value)),
            (_, false) => Ok(self.b.ins().fcvt_from_uint(types::F64, value)),
        }
    }

    fn int_to_float_directed(&mut self, value: Value, cvt: &Cvt) -> Step<Value> {
        let signed = cvt.from.is_signed();
        let value = self.extended(value, types::I64, signed);
        let finish = finish_of(cvt.rounding.unwrap_or(Rounding::Nearest))?;
        let finish = self.b.ins().iconst(types::I32, i64::from(finish.code()));
        let to = clif_type(cvt.to);
        let name = match (signed, to) {
            (true, types::F32) => "warpaint_s64_to_f32",
            (false, types::F32) => "warpaint_u64_to_f32",
            (true, types::F64) => "warpaint_s64_to_f64",
            (false, types::F64) => "warpaint_u64_to_f64",
            (true | false, _) => return Err(Unsupported::Part("this rounding")),
        };
        self.host(name, &[value, finish], to)
    }

    fn float_to_int(&mut self, value: Value, cvt: &Cvt) -> Step<Value> {
        let value = if cvt.from.bytes() == 2 {
            self.widen_half(value, cvt.from)?
        } else {
            self.flushed(value, cvt.from, cvt.ftz)
        };
        let value = self.integral(value, cvt.integer);
        let wide = if cvt.to.bytes() < 4 { types::I32 } else { clif_type(cvt.to) };
        let int = if cvt.to.is_signed() {
            self.b.ins().fcvt_to_sint_sat(wide, value)
        } else {
            self.b.ins().fcvt_to_uint_sat(wide, value)
        };
        if cvt.to.bytes() >= 4 {
            return Ok(self.with_nan(int, value, cvt));
        }
        // Narrow integers are clamped, too.
        let bits = cvt.to.bits();
        let clamped = if cvt.to.is_signed() {
            self.clamp_signed(int, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            let most = self.int((1 << bits) - 1, wide);
            self.b.ins().umin(int, most)
        };
        let int = self.fit(clamped, int_type(cvt.to.bytes()));
        Ok(self.with_nan(int, value, cvt))
    }

    /// `int`, or what NaN becomes: zero, as CLIF has it, from `f32` and narrower to at most 32 bits; else the
    /// highest bit alone (PTX ISA, `cvt`).
    fn with_nan(&mut self, int: Value, value: Value, cvt: &Cvt) -> Value {
        if cvt.from != Type::F64 && cvt.to.bytes() < 8 {
            return int;
        }
        let ty = int_type(cvt.to.bytes());
        let highest = self.int((1_u64 << (cvt.to.bits() - 1)) as i64, ty);
        let nan = self.b.ins().fcmp(FloatCC::Unordered, value, value);
        self.b.ins().select(nan, highest, int)
    }

    /// A number, or those of a vector, rounded to integers.
    pub(in crate::device::cpu::jit) fn integral(
        &mut self,
        value: Value,
        rounding: Option<IntRounding>,
    ) -> Value {
        match rounding {
            Some(IntRounding::Nearest) => self.b.ins().nearest(value),
            Some(IntRounding::Zero) => self.b.ins().trunc(value),
            Some(IntRounding::Down) => self.b.ins().floor(value),
            Some(IntRounding::Up) => self.b.ins().ceil(value),
            None => value,
        }
    }

    fn float_to_float(&mut self, value: Value, cvt: &Cvt) -> Step<Value> {
        let value = if cvt.from.bytes() == 2 {
            self.widen_half(value, cvt.from)?
        } else if cvt.is_copy() {
            self.flushed_bits(value, cvt.from, cvt.ftz)
        } else {
            self.flushed(value, cvt.from, cvt.ftz)
        };
        let value = self.integral(value, cvt.integer);
        if matches!(cvt.to, Type::F16 | Type::Bf16 | Type::Tf32) {
            return self.narrow(value, cvt);
        }
        let value = match (self.b.func.dfg.value_type(value), clif_type(cvt.to)) {
            (types::F32, types::F32) | (types::F64, types::F64) => value,
            (types::F32, types::F64) => self.b.ins().fpromote(types::F64, value),
            (types::F64, types::F32) => self.demoted(value, cvt)?,
            (_, _) => return Err(Unsupported::Part("this conversion")),
        };
        let value = self.flushed(value, cvt.to, cvt.ftz);
        Ok(if cvt.sat { self.clamp_unit(value, cvt.to) } else { value })
    }

    /// A double in single precision.
    fn demoted(&mut self, double: Value, cvt: &Cvt) -> Step<Value> {
        let rounding = cvt.rounding.unwrap_or(Rounding::Nearest);
        if rounding != Rounding::Nearest {
            return self.directed("cvt", Type::F32, rounding, cvt.ftz, &[double]);
        }
        let value = self.b.ins().fdemote(types::F32, double);
        if cvt.ftz && !self.plan.flushes {
            return self.flushed_if_least(value, "cvt", &[double]);
        }
        Ok(value)
    }

    /// A number in one of the formats below single precision.
    fn narrow(&mut self, value: Value, cvt: &Cvt) -> Step<Value> {
        let double = self.b.func.dfg.value_type(value) == types::F64;
        let value = if cvt.relu { self.positive(value) } else { value };
        let value = match (cvt.sat, double) {
            (false, _) => value,
            (true, true) => self.clamp_unit(value, Type::F64),
            (true, false) => self.clamp_unit(value, Type::F32),
        };
        let nearest = matches!(cvt.rounding, None | Some(Rounding::Nearest));
        if nearest && !cvt.satfinite && cvt.to != Type::Tf32 {
            return self.narrow_half(value, cvt.to);
        }
        let known = [(Type::F16, small::F16), (Type::Bf16, small::BF16), (Type::Tf32, small::TF32)];
        let format = known.into_iter().find(|(ty, _)| *ty == cvt.to);
        let (_, format) = format.ok_or(Unsupported::Part("this conversion"))?;
        let bits = self.narrow_to(value, format, cvt)?;
        if cvt.to != Type::Tf32 {
            return Ok(self.b.ins().ireduce(types::I16, bits));
        }
        let tf32 = self.b.ins().ishl_imm_u(bits, 13);
        // A NaN is the canonical one of single precision.
        let nan = self.b.ins().fcmp(FloatCC::Unordered, value, value);
        let canonical = self.int(0x7fff_ffff, types::I32);
        Ok(self.b.ins().select(nan, canonical, tf32))
    }

    fn narrow_to(&mut self, value: Value, format: u32, cvt: &Cvt) -> Step<Value> {
        let double = self.b.func.dfg.value_type(value) == types::F64;
        let value = if double { value } else { self.b.ins().fpromote(types::F64, value) };
        let rounding = cvt.rounding.unwrap_or(Rounding::Nearest);
        let finish = Finish { satfinite: cvt.satfinite, ..Finish::rounded(rounding) };
        let [format, finish] =
            [format, finish.code()].map(|code| self.b.ins().iconst(types::I32, i64::from(code)));
        self.host("warpaint_narrow", &[value, format, finish], types::I32)
    }

    /// Zero where it is negative; NaN stays.
    pub(super) fn positive(&mut self, value: Value) -> Value {
        let ty = self.b.func.dfg.value_type(value);
        let zero = super::zero_of(&mut self.b, ty);
        let kept = self.b.ins().fcmp(FloatCC::UnorderedOrGreaterThan, value, zero);
        self.b.ins().select(kept, value, zero)
    }

    /// Two numbers into a word of halves or a half of bytes, the first in the upper part.
    fn convert_pair(&mut self, i: &Instruction, cvt: &Cvt) -> Step<Value> {
        let [high, low] = [i.src.first(), i.src.get(1)];
        let (Some(high), Some(low)) = (high, low) else {
            return Err(Unsupported::Part("this conversion"));
        };
        let format = eight_bits(cvt.to);
        let one = Cvt { to: cvt.to.element(), ..*cvt };
        let half = |lower: &mut Self, operand: &Operand| {
            let value = lower.value(operand, cvt.from)?;
            let value = match format {
                None => lower.converted(value, &one)?,
                Some(format) => lower.eight_bit_number(value, format, cvt)?,
            };
            Ok(lower.fit(value, types::I32))
        };
        if format.is_none() && !matches!(one.to, Type::F16 | Type::Bf16) {
            return Err(Unsupported::Part("this conversion"));
        }
        let (high, low) = (half(self, high)?, half(self, low)?);
        let high = self.b.ins().ishl_imm_u(high, if format.is_some() { 8 } else { 16 });
        Ok(self.b.ins().bor(high, low))
    }

    fn eight_bit_number(&mut self, value: Value, format: u32, cvt: &Cvt) -> Step<Value> {
        let value = if cvt.relu { self.positive(value) } else { value };
        self.narrow_to(value, format, cvt)
    }

    /// Between two halves and two 8-bit numbers, each in its own part.
    fn convert_packed(&mut self, i: &Instruction, cvt: &Cvt) -> Step<Value> {
        let value = self.source(i, 0, cvt.from)?;
        let value = self.fit(value, types::I32);
        let mut word = None;
        for lane in [0, 1] {
            let part = match (eight_bits(cvt.from), eight_bits(cvt.to)) {
                (Some(format), None) if cvt.to == Type::F16x2 => {
                    let byte = self.b.ins().ushr_imm_u(value, 8 * lane);
                    let byte = self.b.ins().band_imm_u(byte, 255);
                    let format = self.b.ins().iconst(types::I32, i64::from(format));
                    let number = self.host("warpaint_widen", &[byte, format], types::F32)?;
                    let number = if cvt.relu { self.positive(number) } else { number };
                    let half = self.narrow_half(number, Type::F16)?;
                    let half = self.b.ins().uextend(types::I32, half);
                    self.b.ins().ishl_imm_u(half, 16 * lane)
                }
                (None, Some(format)) if cvt.from == Type::F16x2 => {
                    let half = self.b.ins().ushr_imm_u(value, 16 * lane);
                    let half = self.b.ins().ireduce(types::I16, half);
                    let number = self.widen_half(half, Type::F16)?;
                    let byte = self.eight_bit_number(number, format, cvt)?;
                    self.b.ins().ishl_imm_u(byte, 8 * lane)
                }
                _ => return Err(Unsupported::Part("this conversion")),
            };
            word = Some(match word {
                None => part,
                Some(word) => self.b.ins().bor(word, part),
            });
        }
        word.ok_or(Unsupported::Part("this conversion"))
    }
}

/// Which 8-bit format it is a pair of.
fn eight_bits(ty: Type) -> Option<u32> {
    let known = [(Type::E4m3x2, small::E4M3), (Type::E5m2x2, small::E5M2)];
    known.into_iter().find(|(known, _)| *known == ty).map(|(_, format)| format)
}
