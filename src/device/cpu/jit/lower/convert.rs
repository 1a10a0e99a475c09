//! `cvt`.

use cranelift_codegen::ir::{InstBuilder, Value, condcodes::FloatCC, types};

use super::{Lower, Step, Unsupported, clif_type, float::rounding_code, int_type};
use crate::ptx::{
    inst::Instruction,
    modifier::{Cvt, IntRounding, Rounding},
    operand::Operand,
    types::Type,
};

impl Lower<'_, '_> {
    pub(super) fn convert(&mut self, i: &Instruction, cvt: &Cvt) -> Step {
        let destination = i.dst.first().ok_or(Unsupported("no destination"))?;
        if cvt.to.is_packed() {
            let value = self.convert_pair(i, cvt)?;
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
        if !matches!(cvt.rounding, None | Some(Rounding::Nearest)) {
            return self.int_to_float_directed(value, cvt);
        }
        let to = if cvt.to.bytes() == 2 { types::F64 } else { clif_type(cvt.to) };
        let number = if signed {
            self.b.ins().fcvt_from_sint(to, value)
        } else {
            self.b.ins().fcvt_from_uint(to, value)
        };
        let number = if cvt.to.bytes() == 2 { self.narrow_half(number, cvt.to)? } else { number };
        Ok(if cvt.sat && cvt.to.bytes() > 2 { self.clamp_unit(number, cvt.to) } else { number })
    }

    fn int_to_float_directed(&mut self, value: Value, cvt: &Cvt) -> Step<Value> {
        let signed = cvt.from.is_signed();
        let value = self.extended(value, types::I64, signed);
        let rounding = rounding_code(cvt.rounding.unwrap_or(Rounding::Nearest))?;
        let rounding = self.b.ins().iconst(types::I32, rounding);
        let name = match (signed, cvt.to) {
            (true, Type::F32) => "warpaint_s64_to_f32",
            (false, Type::F32) => "warpaint_u64_to_f32",
            (true, Type::F64) => "warpaint_s64_to_f64",
            (false, Type::F64) => "warpaint_u64_to_f64",
            _ => return Err(Unsupported("this rounding")),
        };
        self.host(name, &[value, rounding], clif_type(cvt.to))
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

    fn integral(&mut self, value: Value, rounding: Option<IntRounding>) -> Value {
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
        } else {
            self.flushed(value, cvt.from, cvt.ftz)
        };
        let value = self.integral(value, cvt.integer);
        let from = self.b.func.dfg.value_type(value);
        let directed = !matches!(cvt.rounding, None | Some(Rounding::Nearest));
        let value = match (from, cvt.to) {
            (_, Type::F16 | Type::Bf16) if !directed => {
                let value = if cvt.relu { self.positive(value) } else { value };
                let value = if cvt.sat {
                    let ty = if from == types::F64 { Type::F64 } else { Type::F32 };
                    self.clamp_unit(value, ty)
                } else {
                    value
                };
                return self.narrow_half(value, cvt.to);
            }
            (types::F32, Type::F32) | (types::F64, Type::F64) => value,
            (types::F32, Type::F64) => self.b.ins().fpromote(types::F64, value),
            (types::F64, Type::F32) if directed => {
                let rounding = rounding_code(cvt.rounding.unwrap_or(Rounding::Nearest))?;
                let rounding = self.b.ins().iconst(types::I32, rounding);
                self.host("warpaint_f64_to_f32", &[value, rounding], types::F32)?
            }
            (types::F64, Type::F32) => self.b.ins().fdemote(types::F32, value),
            _ => return Err(Unsupported("this conversion")),
        };
        let value = self.flushed(value, cvt.to, cvt.ftz);
        Ok(if cvt.sat { self.clamp_unit(value, cvt.to) } else { value })
    }

    fn positive(&mut self, value: Value) -> Value {
        let ty = self.b.func.dfg.value_type(value);
        let zero = super::zero_of(&mut self.b, ty);
        let above = FloatCC::GreaterThan;
        let above = self.b.ins().fcmp(above, value, zero);
        self.b.ins().select(above, value, zero)
    }

    /// Two numbers into a word of halves, the first in the upper half.
    fn convert_pair(&mut self, i: &Instruction, cvt: &Cvt) -> Step<Value> {
        let to = cvt.to.element();
        if !matches!(to, Type::F16 | Type::Bf16) || i.src.len() != 2 {
            return Err(Unsupported("this conversion"));
        }
        let one = Cvt { to, ..*cvt };
        let half = |lower: &mut Self, operand: &Operand| {
            let value = lower.value(operand, cvt.from)?;
            let value = lower.converted(value, &one)?;
            Ok(lower.fit(value, types::I32))
        };
        let high = half(self, &i.src[0])?;
        let low = half(self, &i.src[1])?;
        let high = self.b.ins().ishl_imm_u(high, 16);
        Ok(self.b.ins().bor(high, low))
    }
}
