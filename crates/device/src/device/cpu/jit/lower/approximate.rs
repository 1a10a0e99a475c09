//! `ex2`, `lg2`, `sin`, `cos` and `tanh` as polynomials: faster than calls of the host, and of one shape for one
//! value or four in a vector. Coefficients are least-squares fits towards the smallest largest error; how exact
//! each is stands in `docs/cpu-device.md`, beside what the PTX ISA promises.

use cranelift_codegen::ir::{
    self, InstBuilder, MemFlagsData, Value,
    condcodes::{FloatCC, IntCC},
    types,
};
use cranelift_frontend::FunctionBuilder;

use crate::ptx::modifier::Function;

/// `function` of a single-precision number, or of each in a vector; of no other than these five.
pub(in crate::device::cpu::jit) fn approximation(
    b: &mut FunctionBuilder<'_>,
    function: Function,
    x: Value,
) -> Option<Value> {
    let float = b.func.dfg.value_type(x);
    let mut p = Polynomial { b, float };
    Some(match function {
        Function::Ex2 => p.ex2(x),
        Function::Lg2 => p.lg2(x),
        Function::Sin => p.circular(x, 0),
        Function::Cos => p.circular(x, 1),
        Function::Tanh => p.tanh(x),
        Function::Rsqrt => return None,
    })
}

struct Polynomial<'a, 'f> {
    b: &'a mut FunctionBuilder<'f>,
    float: ir::Type,
}

/// Adding it leaves the nearest integer in the low bits: 1.5 × 2²³.
const MAGIC: f32 = 12_582_912.0;

impl Polynomial<'_, '_> {
    fn number(&mut self, value: f32) -> Value {
        let scalar = self.b.ins().f32const(value);
        if self.float.is_vector() { self.b.ins().splat(self.float, scalar) } else { scalar }
    }

    fn integer(&mut self, value: i64) -> Value {
        let int = self.int();
        let scalar = self.b.ins().iconst(types::I32, value & 0xffff_ffff);
        if int.is_vector() { self.b.ins().splat(int, scalar) } else { scalar }
    }

    fn int(&self) -> ir::Type {
        if self.float.is_vector() { types::I32X4 } else { types::I32 }
    }

    fn flags(&self) -> MemFlagsData {
        // A bit cast of vectors of different lanes asks for an order of bytes.
        match self.float.is_vector() {
            true => MemFlagsData::new().with_endianness(ir::Endianness::Little),
            false => MemFlagsData::new(),
        }
    }

    fn bits_of(&mut self, value: Value) -> Value {
        let (int, flags) = (self.int(), self.flags());
        self.b.ins().bitcast(int, flags, value)
    }

    fn float_of(&mut self, value: Value) -> Value {
        let (float, flags) = (self.float, self.flags());
        self.b.ins().bitcast(float, flags, value)
    }

    /// `a` where `condition` (of `fcmp` or `icmp`) holds, else `b`.
    fn choose(&mut self, condition: Value, a: Value, b: Value) -> Value {
        if !self.float.is_vector() {
            return self.b.ins().select(condition, a, b);
        }
        let (ty, flags) = (self.b.func.dfg.value_type(a), self.flags());
        let mask = match self.b.func.dfg.value_type(condition) == ty {
            true => condition,
            false => self.b.ins().bitcast(ty, flags, condition),
        };
        self.b.ins().bitselect(mask, a, b)
    }

    /// Between two bounds; a NaN stays one.
    fn clamped(&mut self, x: Value, least: f32, most: f32) -> Value {
        let (least, most) = (self.number(least), self.number(most));
        let below = self.b.ins().fcmp(FloatCC::GreaterThan, least, x);
        let x = self.choose(below, least, x);
        let above = self.b.ins().fcmp(FloatCC::LessThan, most, x);
        self.choose(above, most, x)
    }

    /// Horner's scheme; the coefficient of the highest power comes first.
    fn horner(&mut self, x: Value, coefficients: &[f32]) -> Value {
        let mut sum = None;
        for coefficient in coefficients {
            let coefficient = self.number(*coefficient);
            sum = Some(match sum {
                None => coefficient,
                Some(sum) => self.b.ins().fma(sum, x, coefficient),
            });
        }
        sum.unwrap_or(x)
    }

    /// 2ˣ: the fraction by a polynomial, the integer into the exponent, in two steps for results at either end.
    fn ex2(&mut self, x: Value) -> Value {
        let x = self.clamped(x, -151.0, 129.0);
        let magic = self.number(MAGIC);
        let shifted = self.b.ins().fadd(x, magic);
        let whole = self.b.ins().fsub(shifted, magic);
        let part = self.b.ins().fsub(x, whole);
        let power = self.horner(
            part,
            &[
                1.534_580_8e-4,
                1.339_993_1e-3,
                9.618_489e-3,
                5.550_328_6e-2,
                0.240_226_46,
                std::f32::consts::LN_2,
                1.0,
            ],
        );
        let bits = self.bits_of(shifted);
        let base = self.integer(i64::from(MAGIC.to_bits()));
        let exponent = self.b.ins().isub(bits, base);
        let half = self.b.ins().sshr_imm_u(exponent, 1);
        let rest = self.b.ins().isub(exponent, half);
        let mut result = power;
        for exponent in [half, rest] {
            let bias = self.integer(127);
            let exponent = self.b.ins().iadd(exponent, bias);
            let scale = self.b.ins().ishl_imm_u(exponent, 23);
            let scale = self.float_of(scale);
            result = self.b.ins().fmul(result, scale);
        }
        result
    }

    /// log₂ x = exponent + log₂ m with m in [√½, √2), by the series of the area tangent.
    fn lg2(&mut self, x: Value) -> Value {
        let (least, scale) = (self.number(f32::MIN_POSITIVE), self.number(8_388_608.0));
        let tiny = self.b.ins().fcmp(FloatCC::LessThan, x, least);
        let scaled = self.b.ins().fmul(x, scale);
        let y = self.choose(tiny, scaled, x);
        let bits = self.bits_of(y);
        let root = self.integer(0x3f35_04f3);
        let above = self.b.ins().isub(bits, root);
        let exponent = self.b.ins().sshr_imm_u(above, 23);
        let moved = self.b.ins().ishl_imm_u(exponent, 23);
        let mantissa = self.b.ins().isub(bits, moved);
        let mantissa = self.float_of(mantissa);
        let float = self.float;
        let exponent = self.b.ins().fcvt_from_sint(float, exponent);
        let (lifted, none) = (self.number(23.0), self.number(0.0));
        let lift = self.choose(tiny, lifted, none);
        let exponent = self.b.ins().fsub(exponent, lift);

        let (one, two) = (self.number(1.0), self.number(2.0));
        let rest = self.b.ins().fsub(mantissa, one);
        let sum = self.b.ins().fadd(rest, two);
        let s = self.b.ins().fdiv(rest, sum);
        let z = self.b.ins().fmul(s, s);
        let series = self.horner(z, &[0.431_737_75, 0.576_714_34, 0.961_798_85, 2.885_39]);
        let result = self.b.ins().fma(s, series, exponent);
        self.lg2_at_ends(x, result)
    }

    /// -∞ of 0, NaN of what is negative, ∞ of ∞.
    fn lg2_at_ends(&mut self, x: Value, result: Value) -> Value {
        let (zero, infinity) = (self.number(0.0), self.number(f32::INFINITY));
        let least = self.number(f32::NEG_INFINITY);
        let nan = self.number(f32::from_bits(0x7fff_ffff));
        let is_infinite = self.b.ins().fcmp(FloatCC::Equal, x, infinity);
        let result = self.choose(is_infinite, x, result);
        let is_zero = self.b.ins().fcmp(FloatCC::Equal, x, zero);
        let result = self.choose(is_zero, least, result);
        let is_none = self.b.ins().fcmp(FloatCC::UnorderedOrLessThan, x, zero);
        self.choose(is_none, nan, result)
    }

    /// The sine, or with `turn` 1 the cosine: a quarter turn at a time is taken off, in two parts of π/2.
    fn circular(&mut self, x: Value, turn: i64) -> Value {
        let (per_quarter, magic) = (self.number(std::f32::consts::FRAC_2_PI), self.number(MAGIC));
        let shifted = self.b.ins().fma(x, per_quarter, magic);
        let quarters = self.b.ins().fsub(shifted, magic);
        let mut rest = x;
        for part in [-std::f32::consts::FRAC_PI_2, 4.371_139e-8] {
            let part = self.number(part);
            rest = self.b.ins().fma(quarters, part, rest);
        }
        // Far out, where single precision knows no angles, the result still is between -1 and 1; nearer, the number
        // of quarters may be wrong by a little more than a half.
        let rest = self.clamped(rest, -1.2, 1.2);
        let z = self.b.ins().fmul(rest, rest);
        let sine = self.horner(z, &[-1.950_178_8e-4, 8.332_016e-3, -0.166_666_5, 1.0]);
        let sine = self.b.ins().fmul(rest, sine);
        let cosine = self.horner(z, &[2.437_263_5e-5, -1.388_652_8e-3, 4.166_661e-2, -0.5, 1.0]);
        let quadrant = self.bits_of(shifted);
        let turn = self.integer(turn);
        let quadrant = self.b.ins().iadd(quadrant, turn);
        let (one, two, zero) = (self.integer(1), self.integer(2), self.integer(0));
        let odd = self.b.ins().band(quadrant, one);
        let odd = self.b.ins().icmp(IntCC::NotEqual, odd, zero);
        let value = self.choose(odd, cosine, sine);
        let negative = self.b.ins().band(quadrant, two);
        let sign = self.b.ins().ishl_imm_u(negative, 30);
        let bits = self.bits_of(value);
        let bits = self.b.ins().bxor(bits, sign);
        self.float_of(bits)
    }

    /// Lambert's continued fraction, cut after seven terms; beyond 4.97 it is ±1 as far as this is exact.
    fn tanh(&mut self, x: Value) -> Value {
        const END: f32 = 4.97;
        let near = self.clamped(x, -END, END);
        let z = self.b.ins().fmul(near, near);
        let above = self.horner(z, &[1.0, 378.0, 17325.0, 135_135.0]);
        let above = self.b.ins().fmul(near, above);
        let below = self.horner(z, &[28.0, 3150.0, 62370.0, 135_135.0]);
        let value = self.b.ins().fdiv(above, below);
        let (one, end) = (self.number(1.0), self.number(END));
        let magnitude = self.b.ins().fabs(x);
        let far = self.b.ins().fcmp(FloatCC::GreaterThan, magnitude, end);
        let limit = self.b.ins().fcopysign(one, x);
        self.choose(far, limit, value)
    }
}
