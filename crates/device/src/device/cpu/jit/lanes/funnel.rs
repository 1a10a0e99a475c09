//! Funnel shifts of four threads by a number, which rotations are.

use cranelift_codegen::ir::InstBuilder;

use super::GroupLower;
use crate::{
    device::cpu::jit::lower::Step,
    ptx::{inst::Instruction, types::Type},
};

impl GroupLower<'_, '_, '_> {
    /// `shf`; `false`, and nothing done, where the amount is no number.
    pub(super) fn vector_funnel(&mut self, i: &Instruction, left: bool, wrap: bool) -> Step<bool> {
        let [low, high, amount] = i.src.as_slice() else { return Ok(false) };
        let Some(amount) = self.lower.plan().constants().word(amount) else { return Ok(false) };
        let amount = if wrap { amount & 31 } else { amount.min(32) };
        let (Some(low), Some(high)) =
            (self.vector_source(low, Type::B32)?, self.vector_source(high, Type::B32)?)
        else {
            return Ok(false);
        };
        // So many bits up from the lower word, of the two side by side.
        let up = if left { 32 - amount } else { amount };
        let value = match up {
            0 => low[0],
            32 => high[0],
            _ => {
                let low = self.lower.b.ins().ushr_imm_u(low[0], i64::from(up));
                let high = self.lower.b.ins().ishl_imm_u(high[0], i64::from(32 - up));
                self.lower.b.ins().bor(low, high)
            }
        };
        Ok(self.set_vector(&i.dst[0], Type::B32, &[value]))
    }
}
