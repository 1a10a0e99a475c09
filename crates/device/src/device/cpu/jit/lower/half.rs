//! Half precision: 16-bit integers in registers, computed in single precision (fused operations in double)
//! and rounded once, which gives the correctly rounded result.

use cranelift_codegen::ir::{
    InstBuilder, Value,
    condcodes::{FloatCC, IntCC},
    types,
};

use super::{Lower, Step, Unsupported, approximate::approximation};
use crate::ptx::{
    inst::Instruction,
    modifier::{Function, Rounding},
    op::FloatOp,
    types::Type,
};

/// Of an operation that there is in single and double precision only.
const NONE: Unsupported = Unsupported::Part("this half-precision operation");

impl Lower<'_, '_> {
    /// The result of an operation on `f16`, `bf16` or a pair of them, or on a pair of `f32`.
    pub(super) fn half(&mut self, i: &Instruction, op: FloatOp, ty: Type) -> Step<Value> {
        let mut operands = Vec::new();
        for at in 0..i.src.len() {
            operands.push(self.source(i, at, ty)?);
        }
        if ty == Type::F32x2 {
            return self.single_pair(op, &operands);
        }
        if !ty.is_packed() {
            return self.half_lane(op, ty, &operands);
        }
        self.by_halves(&operands, |l, lanes| l.half_lane(op, ty.element(), lanes))
    }

    /// Two single-precision operations at once.
    fn single_pair(&mut self, op: FloatOp, operands: &[Value]) -> Step<Value> {
        let (name, mode) = match op {
            FloatOp::Add(mode) => ("add", mode),
            FloatOp::Sub(mode) => ("sub", mode),
            FloatOp::Mul(mode) => ("mul", mode),
            FloatOp::Fma { mode, relu: _, oob: _ } => ("fma", mode),
            FloatOp::Div(..) | FloatOp::Rcp(..) | FloatOp::Sqrt(..) | FloatOp::Abs { .. } => {
                return Err(Unsupported::Part("this packed type"));
            }
            FloatOp::Neg { .. } | FloatOp::Min(_) | FloatOp::Max(_) | FloatOp::Copysign => {
                return Err(Unsupported::Part("this packed type"));
            }
            FloatOp::Testp(_) | FloatOp::Approx { .. } => {
                return Err(Unsupported::Part("this packed type"));
            }
        };
        let mut lanes = Vec::new();
        for shift in [0, 32] {
            let parts = operands.iter().map(|operand| {
                let moved = self.b.ins().ushr_imm_u(*operand, shift);
                let word = self.b.ins().ireduce(types::I32, moved);
                self.bitcast(word, types::F32)
            });
            let parts = parts.collect();
            let value = self.rounded(parts, name, Type::F32, mode)?;
            let bits = self.bitcast(value, types::I32);
            lanes.push(self.b.ins().uextend(types::I64, bits));
        }
        let high = self.b.ins().ishl_imm_u(lanes[1], 32);
        Ok(self.b.ins().bor(lanes[0], high))
    }

    fn half_lane(&mut self, op: FloatOp, ty: Type, operands: &[Value]) -> Step<Value> {
        let mode = op.mode();
        if let (FloatOp::Neg { ftz }, [a]) = (op, operands) {
            let value = self.b.ins().bxor_imm_u(*a, 0x8000);
            return Ok(self.flushed_half(value, ty, ftz));
        }
        if let (FloatOp::Abs { ftz }, [a]) = (op, operands) {
            let value = self.b.ins().band_imm_u(*a, 0x7fff);
            return Ok(self.flushed_half(value, ty, ftz));
        }
        if !matches!(mode.rounding, None | Some(Rounding::Nearest)) {
            return Err(Unsupported::Part("this rounding"));
        }
        let mut wide = Vec::new();
        for &operand in operands {
            let operand = self.flushed_half(operand, ty, mode.ftz);
            wide.push(self.widen_half(operand, ty)?);
        }
        let mut result = self.half_operation(op, &wide)?;
        if let FloatOp::Fma { relu: true, mode: _, oob: _ } = op {
            result = self.positive(result);
        }
        if mode.sat {
            let ty = self.b.func.dfg.value_type(result);
            let ty = if ty == types::F64 { Type::F64 } else { Type::F32 };
            result = self.clamp_unit(result, ty);
        }
        if mode.ftz && ty == Type::F16 {
            result = self.flushed_wide(result);
        }
        let result = self.narrow_half(result, ty)?;
        if let (FloatOp::Fma { oob: true, mode: _, relu: _ }, [a, b, _]) = (op, operands) {
            return Ok(self.within_bounds(result, [*a, *b]));
        }
        Ok(result)
    }

    /// A half, or 0 where a factor is the NaN that stands for what lies out of bounds.
    fn within_bounds(&mut self, mut result: Value, factors: [Value; 2]) -> Value {
        let zero = self.b.ins().iconst(types::I16, 0);
        for factor in factors {
            let magnitude = self.b.ins().band_imm_u(factor, 0x7fff);
            let is_outside = self.b.ins().icmp_imm_u(IntCC::Equal, magnitude, 0x7ff7);
            result = self.b.ins().select(is_outside, zero, result);
        }
        result
    }

    /// What lies below the least normal half when rounded as if there were smaller ones, as zero of its sign.
    fn flushed_wide(&mut self, value: Value) -> Value {
        // Half a unit below it; a tie goes up, to the even one.
        let least =
            f64::from(half::f16::MIN_POSITIVE) * (1.0 - f64::from(half::f16::EPSILON) / 4.0);
        let (least, zero) = match self.b.func.dfg.value_type(value) {
            types::F64 => (self.b.ins().f64const(least), self.b.ins().f64const(0.0)),
            _ => (self.b.ins().f32const(least as f32), self.b.ins().f32const(0.0)),
        };
        let magnitude = self.b.ins().fabs(value);
        let tiny = self.b.ins().fcmp(FloatCC::LessThan, magnitude, least);
        let zero = self.b.ins().fcopysign(zero, value);
        self.b.ins().select(tiny, zero, value)
    }

    /// With `ftz`, subnormal halves are zeros of their sign.
    pub(super) fn flushed_half(&mut self, value: Value, ty: Type, ftz: bool) -> Value {
        if !ftz {
            return value;
        }
        let exponents = if ty == Type::Bf16 { 0x7f80 } else { 0x7c00 };
        let exponent = self.b.ins().band_imm_u(value, exponents);
        let tiny = self.b.ins().icmp_imm_u(IntCC::Equal, exponent, 0);
        let sign = self.b.ins().band_imm_u(value, 0x8000);
        self.b.ins().select(tiny, sign, value)
    }

    /// The result in single or double precision, of operands in single precision.
    fn half_operation(&mut self, op: FloatOp, wide: &[Value]) -> Step<Value> {
        let operand =
            |at: usize| wide.get(at).copied().ok_or(Unsupported::Part("too few operands"));
        let (a, b, c) = (operand(0)?, operand(1), operand(2));
        Ok(match op {
            FloatOp::Add(_) => self.b.ins().fadd(a, b?),
            FloatOp::Sub(_) => self.b.ins().fsub(a, b?),
            FloatOp::Mul(_) => self.b.ins().fmul(a, b?),
            FloatOp::Fma { mode: _, relu: _, oob: _ } => {
                let [a, b, c] = [a, b?, c?].map(|v| self.b.ins().fpromote(types::F64, v));
                // The product of two halves is exact in double precision; the host rounds the sum to odd.
                self.host("warpaint_fma_odd", &[a, b, c], types::F64)?
            }
            // Of three numbers there is none of this precision.
            FloatOp::Min(m) if wide.len() == 2 => self.any_min_max(a, b?, m, true),
            FloatOp::Max(m) if wide.len() == 2 => self.any_min_max(a, b?, m, false),
            FloatOp::Approx { function: f @ (Function::Tanh | Function::Ex2), ftz: _ } => {
                approximation(&mut self.b, f, a).ok_or(Unsupported::Part("this function"))?
            }
            FloatOp::Min(_) | FloatOp::Max(_) | FloatOp::Approx { .. } => return Err(NONE),
            FloatOp::Div(..) | FloatOp::Rcp(..) | FloatOp::Sqrt(..) => return Err(NONE),
            FloatOp::Copysign | FloatOp::Testp(_) => return Err(NONE),
            // Their bits are changed.
            FloatOp::Abs { .. } | FloatOp::Neg { .. } => return Err(NONE),
        })
    }

    /// A half as a single-precision number.
    pub(super) fn widen_half(&mut self, value: Value, ty: Type) -> Step<Value> {
        let bits = self.b.ins().uextend(types::I32, value);
        if ty == Type::Bf16 {
            let moved = self.b.ins().ishl_imm_u(bits, 16);
            return Ok(self.bitcast(moved, types::F32));
        }
        self.host("warpaint_f16_to_f32", &[bits], types::F32)
    }

    /// A single or double precision number, rounded to a half.
    pub(super) fn narrow_half(&mut self, value: Value, ty: Type) -> Step<Value> {
        let is_double = self.b.func.dfg.value_type(value) == types::F64;
        let name = match (ty == Type::Bf16, is_double) {
            (false, false) => "warpaint_f32_to_f16",
            (false, true) => "warpaint_f64_to_f16",
            (true, false) => "warpaint_f32_to_bf16",
            (true, true) => "warpaint_f64_to_bf16",
        };
        let bits = self.host(name, &[value], types::I32)?;
        Ok(self.b.ins().ireduce(types::I16, bits))
    }
}
