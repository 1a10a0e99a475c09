//! `fma.rm.f32` of four threads: NVIDIA's `expf` has one, to take a number apart.
//!
//! In double precision the product is exact, and the error of the sum can be computed (Knuth's two-sum), so that it is
//! known on which side of the nearest number of single precision the exact result lies.

use cranelift_codegen::ir::{
    InstBuilder, Value,
    condcodes::{FloatCC, IntCC},
    types,
};

use super::GroupLower;

impl GroupLower<'_, '_, '_> {
    /// `a * b + c`, rounded down.
    pub(super) fn vector_fma_down(&mut self, operands: [Value; 3]) -> Value {
        let [(low, below_low), (high, below_high)] = [[0, 1, 0, 1], [2, 3, 2, 3]].map(|words| {
            let half = operands.map(|operand| {
                let two = self.pick(operand, operand, words);
                let two = self.recast(two, types::F32X4);
                self.lower.b.ins().fvpromote_low(two)
            });
            self.two_fmas(half)
        });
        let nearest = self.pick(low, high, [0, 1, 4, 5]);
        let below = self.pick(below_low, below_high, [0, 2, 4, 6]);
        let down = self.next_below(nearest);
        let chosen = self.lower.b.ins().bitselect(below, down, nearest);
        self.recast(chosen, types::F32X4)
    }

    /// Of two threads: the nearest numbers of single precision, as the first two words, and masks of whether the exact
    /// results lie below them.
    fn two_fmas(&mut self, [a, b, c]: [Value; 3]) -> (Value, Value) {
        let ins = |group: &mut Self, x, y, subtracts: bool| match subtracts {
            true => group.lower.b.ins().fsub(x, y),
            false => group.lower.b.ins().fadd(x, y),
        };
        let product = self.lower.b.ins().fmul(a, b);
        let sum = ins(self, product, c, false);
        let of_c = ins(self, sum, product, true);
        let of_product = ins(self, sum, of_c, true);
        let lost_of_product = ins(self, product, of_product, true);
        let lost_of_c = ins(self, c, of_c, true);
        let error = ins(self, lost_of_product, lost_of_c, false);
        let sum = self.zero_down(sum, product, c);
        let nearest = self.lower.b.ins().fvdemote(sum);
        let again = self.lower.b.ins().fvpromote_low(nearest);
        let distance = ins(self, sum, again, true);
        let distance = ins(self, distance, error, false);
        let zero = self.all_lanes(types::F64X2, 0);
        let below = self.lower.b.ins().fcmp(FloatCC::LessThan, distance, zero);
        (nearest, below)
    }

    /// A sum that is zero is negative unless both of its numbers are positive zeros.
    fn zero_down(&mut self, sum: Value, a: Value, b: Value) -> Value {
        let [a, b] = [a, b].map(|value| self.recast(value, types::I64X2));
        let either = self.lower.b.ins().bor(a, b);
        let sign = self.all_lanes(types::I64X2, 1 << 63);
        let sign = self.lower.b.ins().band(either, sign);
        let zero = self.all_lanes(types::F64X2, 0);
        let is_zero = self.lower.b.ins().fcmp(FloatCC::Equal, sum, zero);
        let sign = self.lower.b.ins().band(sign, is_zero);
        let bits = self.recast(sum, types::I64X2);
        let bits = self.lower.b.ins().bor(bits, sign);
        self.recast(bits, types::F64X2)
    }

    /// The numbers of single precision next below, by their bits.
    fn next_below(&mut self, bits: Value) -> Value {
        let [zero, one, magnitude, least] =
            [0, 1, 0x7fff_ffff, 0x8000_0001].map(|bits| self.all_lanes(types::I32X4, bits));
        let negative = self.lower.b.ins().icmp(IntCC::SignedLessThan, bits, zero);
        let [more, less] = [self.lower.b.ins().iadd(bits, one), self.lower.b.ins().isub(bits, one)];
        let next = self.lower.b.ins().bitselect(negative, more, less);
        let magnitude = self.lower.b.ins().band(bits, magnitude);
        let is_zero = self.lower.b.ins().icmp(IntCC::Equal, magnitude, zero);
        self.lower.b.ins().bitselect(is_zero, least, next)
    }
}
