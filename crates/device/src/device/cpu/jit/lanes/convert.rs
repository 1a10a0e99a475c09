//! `cvt` on vectors.

use cranelift_codegen::ir::{InstBuilder, Value, types};

use super::{
    GroupLower,
    value::{Parts, form},
    vector_form::has_form,
};
use crate::{
    device::cpu::jit::lower::Step,
    ptx::{
        inst::Instruction,
        modifier::{Cvt, Rounding},
        types::Type,
    },
};

impl GroupLower<'_, '_, '_> {
    /// As `convert` for single threads; `false` where there is no vector form.
    pub(super) fn vector_convert(&mut self, i: &Instruction, cvt: &Cvt) -> Step<bool> {
        let nearest = matches!(cvt.rounding, None | Some(Rounding::Nearest));
        if i.src.len() != 1 || !has_form(cvt.from) || !has_form(cvt.to) || !nearest || cvt.relu {
            return Ok(false);
        }
        // Which result is tiny only the code for single threads finds out, where the processor does not flush.
        if cvt.ftz && (cvt.from, cvt.to) == (Type::F64, Type::F32) && !self.lower.plan().flushes {
            return Ok(false);
        }
        let Some(value) = self.vector_source(&i.src[0], cvt.from)? else { return Ok(false) };
        let converted = match (cvt.from.is_float(), cvt.to.is_float()) {
            (false, false) if !cvt.sat => self.vector_int_to_int(value, cvt),
            (false, true) if !cvt.sat => self.vector_int_to_float(&value, cvt),
            (true, false) => self.vector_float_to_int(&value, cvt),
            (true, true) => Some(self.vector_float_to_float(value, cvt)),
            _ => None,
        };
        Ok(converted.is_some_and(|parts| self.set_vector(&i.dst[0], cvt.to, &parts)))
    }

    fn vector_int_to_int(&mut self, value: Parts, cvt: &Cvt) -> Option<Parts> {
        Some(match (value[..].len(), cvt.to.bytes()) {
            (1, 8) => self.widened_words(value[0], cvt.from.is_signed()).to_vec(),
            (2, 4) => vec![self.words(value[0], value[1], 0)],
            _ => value,
        })
    }

    /// Four words as 64-bit integers.
    fn widened_words(&mut self, words: Value, signed: bool) -> [Value; 2] {
        if signed {
            [self.lower.b.ins().swiden_low(words), self.lower.b.ins().swiden_high(words)]
        } else {
            [self.lower.b.ins().uwiden_low(words), self.lower.b.ins().uwiden_high(words)]
        }
    }

    fn vector_int_to_float(&mut self, value: &[Value], cvt: &Cvt) -> Option<Parts> {
        let [words] = *value else { return None };
        let signed = cvt.from.is_signed();
        if cvt.to == Type::F32 {
            return Some(vec![if signed {
                self.lower.b.ins().fcvt_from_sint(types::F32X4, words)
            } else {
                self.lower.b.ins().fcvt_from_uint(types::F32X4, words)
            }]);
        }
        let upper = self.pick(words, words, [2, 3, 2, 3]);
        let halves = [words, upper].map(|half| {
            if signed {
                let wide = self.lower.b.ins().swiden_low(half);
                self.lower.b.ins().fcvt_from_sint(types::F64X2, wide)
            } else {
                let wide = self.lower.b.ins().uwiden_low(half);
                self.lower.b.ins().fcvt_from_uint(types::F64X2, wide)
            }
        });
        Some(halves.to_vec())
    }

    fn vector_float_to_int(&mut self, value: &[Value], cvt: &Cvt) -> Option<Parts> {
        if cvt.from != Type::F32 || cvt.to.bytes() != 4 {
            return None;
        }
        let value = self.vector_flushed(value[0], cvt.from, cvt.ftz);
        let value = self.lower.integral(value, cvt.integer);
        Some(vec![if cvt.to.is_signed() {
            self.lower.b.ins().fcvt_to_sint_sat(types::I32X4, value)
        } else {
            self.lower.b.ins().fcvt_to_uint_sat(types::I32X4, value)
        }])
    }

    fn vector_float_to_float(&mut self, value: Parts, cvt: &Cvt) -> Parts {
        let value = value.into_iter().map(|part| {
            let part = match cvt.is_copy() {
                true => self.vector_flushed_bits(part, cvt.from, cvt.ftz),
                false => self.vector_flushed(part, cvt.from, cvt.ftz),
            };
            self.lower.integral(part, cvt.integer)
        });
        let value: Parts = value.collect();
        let value = if (cvt.from, cvt.to) == (Type::F32, Type::F64) {
            let upper = self.pick(value[0], value[0], [2, 3, 2, 3]);
            let upper = self.recast(upper, types::F32X4);
            [value[0], upper].map(|half| self.lower.b.ins().fvpromote_low(half)).to_vec()
        } else if (cvt.from, cvt.to) == (Type::F64, Type::F32) {
            let halves = [value[0], value[1]].map(|half| self.lower.b.ins().fvdemote(half));
            let both = self.pick(halves[0], halves[1], [0, 1, 4, 5]);
            vec![self.recast(both, types::F32X4)]
        } else {
            value
        };
        debug_assert_eq!(value.len(), form(cvt.to).1);
        let value = value.into_iter().map(|part| {
            let part = self.vector_flushed(part, cvt.to, cvt.ftz);
            if cvt.sat { self.vector_clamp_unit(part, cvt.to) } else { part }
        });
        value.collect()
    }
}
