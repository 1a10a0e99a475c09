//! Single and double precision.

use cranelift_codegen::ir::{
    BlockArg, InstBuilder, Value,
    condcodes::{FloatCC, IntCC},
    types,
};

use super::{Lower, Step, Unsupported, approximate::approximation, clif_type, int_type};
use crate::{
    device::cpu::jit::math::finish::Finish,
    ptx::{
        inst::Instruction,
        modifier::{Accuracy, Function, MinMax, Mode, Rounding, Test},
        op::FloatOp,
        operand::Operand,
        types::Type,
    },
};

/// The largest divisor of which `div.approx.f32` gives a quotient: 2^126.
pub(in crate::device::cpu::jit) const LARGEST_DIVISOR: f32 = f32::from_bits(0x7e80_0000);

impl Lower<'_, '_> {
    /// The result of a floating-point operation.
    pub(super) fn float(&mut self, i: &Instruction, op: FloatOp, ty: Type) -> Step<Value> {
        if ty.is_packed() || ty.bytes() == 2 {
            return self.half(i, op, ty);
        }
        Ok(match op {
            FloatOp::Add(mode) => self.rounded_sources(i, "add", ty, mode)?,
            FloatOp::Sub(mode) => self.rounded_sources(i, "sub", ty, mode)?,
            FloatOp::Mul(mode) => self.rounded_sources(i, "mul", ty, mode)?,
            FloatOp::Div(Accuracy::Approx, mode) => {
                let [a, b] = self.sources(i, ty)?;
                let b = self.infinite_beyond(b);
                self.rounded(vec![a, b], "div", ty, mode)?
            }
            FloatOp::Div(Accuracy::Exact | Accuracy::Full, mode) => {
                self.rounded_sources(i, "div", ty, mode)?
            }
            FloatOp::Rcp(Accuracy::Approx, mode) if ty == Type::F64 => {
                self.gross(i, mode.ftz, |lower, a| {
                    let one = lower.one(ty);
                    lower.b.ins().fdiv(one, a)
                })?
            }
            FloatOp::Rcp(_, mode) => self.rounded_sources(i, "rcp", ty, mode)?,
            FloatOp::Sqrt(_, mode) => self.rounded_sources(i, "sqrt", ty, mode)?,
            // The others are of halves alone.
            FloatOp::Fma { mode, relu: _, oob: _ } => self.rounded_sources(i, "fma", ty, mode)?,
            FloatOp::Abs { ftz } => {
                let a = self.source(i, 0, ty)?;
                let value = self.b.ins().fabs(a);
                self.flushed_bits(value, ty, ftz)
            }
            FloatOp::Neg { ftz } => {
                let a = self.source(i, 0, ty)?;
                let value = self.b.ins().fneg(a);
                self.flushed_bits(value, ty, ftz)
            }
            FloatOp::Min(m) => self.min_max(i, m, true)?,
            FloatOp::Max(m) => self.min_max(i, m, false)?,
            FloatOp::Copysign => {
                let [sign, magnitude] = self.sources(i, ty)?;
                self.b.ins().fcopysign(magnitude, sign)
            }
            FloatOp::Testp(test) => {
                let a = self.source(i, 0, ty)?;
                self.test(a, ty, test)
            }
            FloatOp::Approx { function: Function::Rsqrt, ftz: true } if ty == Type::F64 => self
                .gross(i, true, |lower, a| {
                    let (one, root) = (lower.one(ty), lower.b.ins().sqrt(a));
                    lower.b.ins().fdiv(one, root)
                })?,
            FloatOp::Approx { function, ftz } => self.approximate(i, function, ty, ftz)?,
        })
    }

    /// `div.approx.f32` gives zero, or NaN of an infinity, where the divisor lies above 2^126 (PTX ISA): it counts as
    /// infinite.
    fn infinite_beyond(&mut self, divisor: Value) -> Value {
        let [most, infinity] = [LARGEST_DIVISOR, f32::INFINITY].map(|v| self.b.ins().f32const(v));
        let magnitude = self.b.ins().fabs(divisor);
        let beyond = self.b.ins().fcmp(FloatCC::GreaterThan, magnitude, most);
        let infinite = self.b.ins().fcopysign(infinity, divisor);
        self.b.ins().select(beyond, infinite, divisor)
    }

    /// `rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64`: of the upper word, to the upper word; the lower one is zero (PTX
    /// ISA).
    fn gross(
        &mut self,
        i: &Instruction,
        ftz: bool,
        function: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Step<Value> {
        let a = self.source(i, 0, Type::F64)?;
        let word = self.upper_word(a, ftz);
        let value = function(self, word);
        let value = self.upper_word(value, ftz);
        let is_nan = self.b.ins().fcmp(FloatCC::Unordered, a, a);
        let nan = self.b.ins().f64const(f64::NAN);
        Ok(self.b.ins().select(is_nan, nan, value))
    }

    /// A double of which the lower word is zero; with `ftz`, subnormal ones are zeros of their sign.
    fn upper_word(&mut self, value: Value, ftz: bool) -> Value {
        let bits = self.bitcast(value, types::I64);
        let mut mask = |mask: u64| {
            let mask = self.int(mask as i64, types::I64);
            self.b.ins().band(bits, mask)
        };
        let [word, exponent, sign] =
            [0xffff_ffff_0000_0000, 0x7ff0_0000_0000_0000, 1 << 63].map(&mut mask);
        if !ftz {
            return self.bitcast(word, types::F64);
        }
        let tiny = self.b.ins().icmp_imm_u(IntCC::Equal, exponent, 0);
        let kept = self.b.ins().select(tiny, sign, word);
        self.bitcast(kept, types::F64)
    }

    /// An operation that IEEE 754 rounds.
    fn rounded_sources(
        &mut self,
        i: &Instruction,
        name: &str,
        ty: Type,
        mode: Mode,
    ) -> Step<Value> {
        let mut operands = Vec::new();
        for at in 0..i.src.len() {
            operands.push(self.source(i, at, ty)?);
        }
        self.rounded(operands, name, ty, mode)
    }

    pub(super) fn rounded(
        &mut self,
        mut operands: Vec<Value>,
        name: &str,
        ty: Type,
        mode: Mode,
    ) -> Step<Value> {
        for operand in &mut operands {
            *operand = self.flushed(*operand, ty, mode.ftz);
        }
        let flushes = mode.ftz && ty == Type::F32;
        let value = match mode.rounding {
            None | Some(Rounding::Nearest) => {
                let value = self.nearest(name, ty, &operands)?;
                let value = self.flushed(value, ty, mode.ftz);
                if flushes && !self.plan.flushes && !matches!(name, "add" | "sub" | "sqrt") {
                    self.flushed_if_least(value, name, &operands)?
                } else {
                    value
                }
            }
            Some(rounding) => self.directed(name, ty, rounding, flushes, &operands)?,
        };
        Ok(if mode.sat { self.clamp_unit(value, ty) } else { value })
    }

    fn nearest(&mut self, name: &str, ty: Type, operands: &[Value]) -> Step<Value> {
        Ok(match (name, operands) {
            ("add", [a, b]) => self.b.ins().fadd(*a, *b),
            ("sub", [a, b]) => self.b.ins().fsub(*a, *b),
            ("mul", [a, b]) => self.b.ins().fmul(*a, *b),
            ("div", [a, b]) => self.b.ins().fdiv(*a, *b),
            ("fma", [a, b, c]) => self.b.ins().fma(*a, *b, *c),
            ("sqrt", [a]) => self.b.ins().sqrt(*a),
            ("rcp", [a]) => {
                let one = self.one(ty);
                self.b.ins().fdiv(one, *a)
            }
            _ => return Err(Unsupported::Part("too few operands")),
        })
    }

    fn one(&mut self, ty: Type) -> Value {
        if ty == Type::F64 { self.b.ins().f64const(1.0f64) } else { self.b.ins().f32const(1.0f32) }
    }

    /// The result that the processor rounded to the least normal number is zero where it would lie below that if there
    /// were smaller ones: the host looks.
    pub(super) fn flushed_if_least(
        &mut self,
        value: Value,
        name: &str,
        operands: &[Value],
    ) -> Step<Value> {
        let bits = self.bitcast(value, types::I32);
        let magnitude = self.b.ins().band_imm_u(bits, 0x7fff_ffff);
        let is_least = self.b.ins().icmp_imm_u(IntCC::Equal, magnitude, 0x0080_0000);
        let [look, on] = [(); 2].map(|()| self.b.create_block());
        let result = self.b.append_block_param(on, types::F32);
        self.b.set_cold_block(look);
        self.b.ins().brif(is_least, look, &[], on, &[BlockArg::Value(value)]);
        self.b.switch_to_block(look);
        let exact = self.directed(name, Type::F32, Rounding::Nearest, true, operands)?;
        self.b.ins().jump(on, &[BlockArg::Value(exact)]);
        self.b.switch_to_block(on);
        Ok(result)
    }

    /// Rounded towards zero, up or down, and flushed: by the host.
    pub(super) fn directed(
        &mut self,
        name: &str,
        ty: Type,
        r: Rounding,
        flushes: bool,
        operands: &[Value],
    ) -> Step<Value> {
        let mut operands = operands.to_vec();
        let result = clif_type(ty);
        let name = match (name, result) {
            ("add", types::F32) => "warpaint_add_f32",
            ("add", types::F64) => "warpaint_add_f64",
            ("mul", types::F32) => "warpaint_mul_f32",
            ("mul", types::F64) => "warpaint_mul_f64",
            ("fma", types::F32) => "warpaint_fma_f32",
            ("fma", types::F64) => "warpaint_fma_f64",
            ("div", types::F32) => "warpaint_div_f32",
            ("div", types::F64) => "warpaint_div_f64",
            ("sqrt", types::F32) => "warpaint_sqrt_f32",
            ("sqrt", types::F64) => "warpaint_sqrt_f64",
            ("cvt", types::F32) => "warpaint_f64_to_f32",
            ("sub", _) => {
                operands[1] = self.b.ins().fneg(operands[1]);
                return self.directed("add", ty, r, flushes, &operands);
            }
            ("rcp", _) => {
                let one = self.one(ty);
                return self.directed("div", ty, r, flushes, &[one, operands[0]]);
            }
            _ => return Err(Unsupported::Part("this rounding")),
        };
        let finish = Finish { flush: flushes, ..finish_of(r)? };
        operands.push(self.b.ins().iconst(types::I32, i64::from(finish.code())));
        self.host(name, &operands, result)
    }

    /// With `ftz`, single-precision subnormals are zeros of their sign.
    pub(super) fn flushed(&mut self, value: Value, ty: Type, ftz: bool) -> Value {
        if self.plan.flushes { value } else { self.flushed_bits(value, ty, ftz) }
    }

    /// The same where the processor itself does not flush: it passes operands on that it only copies or compares, and
    /// turns signs without looking at the rest.
    pub(super) fn flushed_bits(&mut self, value: Value, ty: Type, ftz: bool) -> Value {
        if !ftz || ty != Type::F32 {
            return value;
        }
        let bits = self.bitcast(value, types::I32);
        let exponent = self.b.ins().band_imm_u(bits, 0x7f80_0000);
        let tiny = self.b.ins().icmp_imm_u(IntCC::Equal, exponent, 0);
        let sign = self.b.ins().band_imm_u(bits, 0x8000_0000);
        let kept = self.b.ins().select(tiny, sign, bits);
        self.bitcast(kept, types::F32)
    }

    /// `.sat`: to [0, 1], NaN to 0.
    pub(super) fn clamp_unit(&mut self, value: Value, ty: Type) -> Value {
        let one = self.one(ty);
        let zero = super::zero_of(&mut self.b, clif_type(ty));
        let above = self.b.ins().fcmp(FloatCC::GreaterThan, value, zero);
        let value = self.b.ins().select(above, value, zero);
        let below = self.b.ins().fcmp(FloatCC::LessThan, value, one);
        self.b.ins().select(below, value, one)
    }

    fn min_max(&mut self, i: &Instruction, m: MinMax, least: bool) -> Step<Value> {
        let mut operands: Vec<Value> = Vec::new();
        for at in 0..i.src.len() {
            let value = self.source(i, at, m.ty)?;
            operands.push(self.flushed_bits(value, m.ty, m.ftz));
        }
        let [a, b] = match operands[..] {
            [a, b] => [a, b],
            [a, b, c] => [self.any_min_max(a, b, m, least), c],
            _ => return Err(Unsupported::Part("so many operands")),
        };
        if !m.three
            && !m.nan
            && !m.xorsign_abs
            && i.src.iter().any(|operand| is_simple_bound(operand, least))
        {
            let bound_first = is_simple_bound(&i.src[0], least);
            let (a, bound) = if bound_first { (b, a) } else { (a, b) };
            let cc = if least { FloatCC::LessThan } else { FloatCC::GreaterThan };
            let within = self.b.ins().fcmp(cc, a, bound);
            return Ok(self.b.ins().select(within, a, bound));
        }
        Ok(self.any_min_max(a, b, m, least))
    }

    pub(super) fn any_min_max(&mut self, a: Value, b: Value, m: MinMax, least: bool) -> Value {
        if !m.xorsign_abs && !m.abs {
            return self.number_min_max(a, b, m.nan, least);
        }
        let [x, y] = [a, b].map(|value| self.b.ins().fabs(value));
        let value = self.number_min_max(x, y, m.nan, least);
        if m.abs {
            return value;
        }
        // The magnitude of the lesser magnitude, with the exclusive or of the signs.
        let [a, b] = [a, b].map(|value| self.bitcast(value, types::I32));
        let sign = self.b.ins().bxor(a, b);
        let sign = self.bitcast(sign, types::F32);
        let signed = self.b.ins().fcopysign(value, sign);
        let nan = self.b.ins().fcmp(FloatCC::Unordered, value, value);
        self.b.ins().select(nan, value, signed)
    }

    /// CLIF's `fmin` orders zeros as PTX does, but gives NaN where PTX gives the number.
    pub(super) fn number_min_max(&mut self, a: Value, b: Value, nan: bool, least: bool) -> Value {
        let value = if least { self.b.ins().fmin(a, b) } else { self.b.ins().fmax(a, b) };
        if nan {
            return self.canonical(value);
        }
        let a_is_nan = self.b.ins().fcmp(FloatCC::Unordered, a, a);
        let b_is_nan = self.b.ins().fcmp(FloatCC::Unordered, b, b);
        let value = self.b.ins().select(b_is_nan, a, value);
        let value = self.b.ins().select(a_is_nan, b, value);
        self.canonical(value)
    }

    /// A NaN as the canonical one, which is what `min` and `max` give (PTX ISA).
    fn canonical(&mut self, value: Value) -> Value {
        if self.b.func.dfg.value_type(value) != types::F32 {
            return value; // double precision keeps payloads
        }
        let canonical = self.b.ins().f32const(f32::from_bits(0x7fff_ffff));
        let nan = self.b.ins().fcmp(FloatCC::Unordered, value, value);
        self.b.ins().select(nan, canonical, value)
    }

    fn test(&mut self, a: Value, ty: Type, test: Test) -> Value {
        let int = int_type(ty.bytes());
        let bits = self.bitcast(a, int);
        let (exponent, magnitude) = if ty == Type::F64 {
            (0x7ff0_0000_0000_0000, i64::MAX)
        } else {
            (0x7f80_0000, 0x7fff_ffff)
        };
        let magnitude = self.b.ins().band_imm_u(bits, magnitude);
        let top = self.b.ins().band_imm_u(bits, exponent);
        let zero = self.int(0, int);
        let full = self.int(exponent, int);
        let compare = |l: &mut Self, cc, x, y| l.b.ins().icmp(cc, x, y);
        match test {
            Test::Finite => compare(self, IntCC::UnsignedLessThan, magnitude, full),
            Test::Infinite => compare(self, IntCC::Equal, magnitude, full),
            Test::Number => compare(self, IntCC::UnsignedLessThanOrEqual, magnitude, full),
            Test::NotANumber => compare(self, IntCC::UnsignedGreaterThan, magnitude, full),
            Test::Normal => {
                // Zeros count among them.
                let some = compare(self, IntCC::NotEqual, top, zero);
                let none = compare(self, IntCC::Equal, magnitude, zero);
                let normal = self.b.ins().bor(some, none);
                let finite = compare(self, IntCC::NotEqual, top, full);
                self.b.ins().band(normal, finite)
            }
            Test::Subnormal => {
                let none = compare(self, IntCC::Equal, top, zero);
                let some = compare(self, IntCC::NotEqual, magnitude, zero);
                self.b.ins().band(none, some)
            }
        }
    }

    fn approximate(&mut self, i: &Instruction, f: Function, ty: Type, ftz: bool) -> Step<Value> {
        let a = self.source(i, 0, ty)?;
        let a = self.flushed(a, ty, ftz);
        let value = if f == Function::Rsqrt {
            let root = self.b.ins().sqrt(a);
            let one = self.one(ty);
            self.b.ins().fdiv(one, root)
        } else if ty == Type::F32 {
            approximation(&mut self.b, f, a).ok_or(Unsupported::Part("this function"))?
        } else {
            return Err(Unsupported::Part("this type"));
        };
        Ok(self.flushed(value, ty, ftz))
    }
}

/// How a result of full precision is finished that is rounded so.
pub(super) fn finish_of(rounding: Rounding) -> Step<Finish> {
    match rounding {
        Rounding::Zero | Rounding::Down | Rounding::Up | Rounding::Nearest => {
            Ok(Finish::rounded(rounding))
        }
        Rounding::NearestAway => Err(Unsupported::Part("this rounding")),
    }
}

/// Whether a constant is such that one comparison does: no NaN, and no zero, flushed or not, whose sign could lose.
pub(in crate::device::cpu::jit) fn is_simple_bound(operand: &Operand, least: bool) -> bool {
    let simple = |value: f64| {
        let is_zero = value.abs() < f64::from(f32::MIN_POSITIVE);
        !value.is_nan() && (!is_zero || value.is_sign_negative() == least)
    };
    if let Operand::F32(bits) = operand {
        return simple(f64::from(f32::from_bits(*bits)));
    }
    if let Operand::F64(bits) = operand { simple(f64::from_bits(*bits)) } else { false }
}
