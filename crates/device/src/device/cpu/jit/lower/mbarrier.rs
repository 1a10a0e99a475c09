//! `mbarrier`: barriers that lie in shared memory. Waiting is a question that is asked in a loop; the loop gives
//! way to the threads that are yet to arrive (`jit/spin.rs`).

use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};

use super::{
    Lower, Step, Unsupported,
    memory::{Checked, address_operand},
};
use crate::ptx::{
    inst::Instruction,
    modifier::{Mbarrier, MbarrierOp},
    types::{Space, Type},
};

impl Lower<'_, '_> {
    pub(super) fn mbarrier(&mut self, i: &Instruction, m: &Mbarrier) -> Step {
        if m.op == MbarrierOp::PendingCount {
            let state = self.source(i, 0, Type::B64)?;
            let count = self.b.ins().ushr_imm_u(state, 20);
            let count = self.b.ins().ireduce(types::I32, count);
            let count = self.b.ins().band_imm_u(count, (1 << 20) - 1);
            return self.set(i, count);
        }
        if m.space == Some(Space::SharedCluster) {
            return Err(Unsupported::Part("clusters"));
        }
        let write = !matches!(m.op, MbarrierOp::TestWait | MbarrierOp::TryWait);
        let checked = Checked { space: m.space, bytes: 8, write };
        let memory = self.locate(&address_operand(i, 0)?, checked)?;
        // Atomic, so that a loop that waits reads it again each time round.
        let word = self.load_atomic(types::I64, memory, 0);
        if !write {
            return self.phase_is_over(i, m, word);
        }
        let changed = self.mbarrier_step(i, m, word)?;
        self.store(changed, memory, 0);
        match i.dst.first() {
            Some(state) => self.set_operand(state, word),
            None => Ok(()),
        }
    }

    fn mbarrier_step(&mut self, i: &Instruction, m: &Mbarrier, mut word: Value) -> Step<Value> {
        let mut op = m.op;
        let one = self.b.ins().iconst(types::I32, 1);
        let mut count = match i.src.get(1) {
            Some(_) => self.source(i, 1, Type::U32)?,
            None => one,
        };
        if op == MbarrierOp::CopyArrive {
            if !m.no_increment {
                return Ok(word); // one arrival more is waited for, and comes at once: copies are done
            }
            op = MbarrierOp::Arrive;
        }
        if m.expect_tx {
            word = self.mbarrier_call(word, MbarrierOp::ExpectTx, count)?;
            count = one;
        }
        self.mbarrier_call(word, op, count)
    }

    fn mbarrier_call(&mut self, word: Value, op: MbarrierOp, count: Value) -> Step<Value> {
        let op = self.b.ins().iconst(types::I32, i64::from(op.code()));
        self.host("warpaint_mbarrier", &[word, op, count], types::I64)
    }

    /// Whether the barrier is no longer in the phase that a state or a parity names.
    fn phase_is_over(&mut self, i: &Instruction, m: &Mbarrier, word: Value) -> Step {
        let now = self.b.ins().ushr_imm_u(word, 63);
        let asked = if m.parity {
            let parity = self.source(i, 1, Type::U32)?;
            let parity = self.b.ins().band_imm_u(parity, 1);
            self.b.ins().uextend(types::I64, parity)
        } else {
            let state = self.source(i, 1, Type::B64)?;
            self.b.ins().ushr_imm_u(state, 63)
        };
        let over = self.b.ins().icmp(IntCC::NotEqual, now, asked);
        self.set(i, over)
    }
}
