//! Operations of a warp on matrices: what its threads bring and take, and how they reach memory.

use super::{
    env::{Env, WARP},
    machine::{Machine, Step, Trouble},
    memory::{Checked, address},
    program::{Action, Inst, Matrix, Program},
    thread::Thread,
    watch::Touch,
};
use crate::{
    device::{
        Fault,
        cpu::matrix::{self, Memory, REGISTERS, Reach},
    },
    ptx::matrix::{MatrixMemory, MatrixOp},
};

/// The instruction at which a thread waits.
fn instruction<'a>(program: &'a Program, thread: &Thread) -> Option<(&'a Inst, &'a Matrix)> {
    let inst = Machine::code(program, thread.function).insts.get(thread.pc as usize)?;
    if let Action::Matrix(matrix) = &inst.action { Some((inst, matrix)) } else { None }
}

impl Machine {
    /// Does an operation for all threads of a warp, which are there.
    ///
    /// # Errors
    /// The fault of the thread whose access is refused.
    pub(super) fn matrix(
        &mut self,
        env: &Env,
        lanes: &mut [Thread],
        op: &MatrixOp,
    ) -> Result<(), Box<Fault>> {
        let program = self.program.clone();
        let mut warp = [[0; REGISTERS]; WARP];
        for (registers, thread) in warp.iter_mut().zip(&*lanes) {
            let Some((inst, matrix)) = instruction(&program, thread) else { continue };
            let base = thread.slot(inst.src[0]);
            let at = matrix.offset.map(|(offset, narrow)| address(base, offset, narrow));
            let values = matrix.from.iter().map(|slot| thread.slot(*slot));
            registers
                .iter_mut()
                .zip(at.into_iter().chain(values))
                .for_each(|(to, from)| *to = from);
        }
        let mut threads = Threads { machine: self, env, lanes, program: &program, op };
        let performed = matrix::perform(op, &mut warp, &mut threads);
        performed.map_err(|(lane, trouble)| self.fault(env, &lanes[lane], trouble))?;
        for (registers, thread) in warp.iter().zip(lanes) {
            let Some((_, matrix)) = instruction(&program, thread) else { continue };
            for (dst, value) in matrix.into.iter().zip(registers) {
                Self::write(thread, *dst, *value);
            }
        }
        Ok(())
    }
}

/// The threads of a warp as they reach memory.
struct Threads<'a> {
    machine: &'a mut Machine,
    env: &'a Env,
    lanes: &'a [Thread],
    program: &'a Program,
    op: &'a MatrixOp,
}

impl Threads<'_> {
    fn memory(&self) -> MatrixMemory {
        self.op.memory().unwrap_or(MatrixMemory::NONE)
    }

    fn refused(&self, address: u64, bytes: u32) -> Trouble {
        let MatrixMemory { space, written: write, .. } = self.memory();
        Checked { space, bytes, write }.refused(address)
    }

    /// Tells the checker.
    fn touch(&mut self, lane: usize, at: u64, bytes: u32) -> Step {
        let thread = &self.lanes[lane];
        let Some((inst, _)) = instruction(self.program, thread) else { return Ok(()) };
        let memory = self.memory();
        let touch = if memory.written { Touch::Write } else { Touch::Read };
        self.machine.touch(self.env, thread, inst, (memory.space, None), (at, bytes), touch)
    }
}

impl Memory for Threads<'_> {
    type Refused = (usize, Trouble);

    fn locate(&self, lane: usize, address: u64, bytes: u32) -> Result<u64, Self::Refused> {
        let arena = &self.machine.shared.arena;
        let reach = Reach { arena, shared: self.env.shared, memory: self.memory() };
        reach.locate(address, bytes).ok_or_else(|| (lane, self.refused(address, bytes)))
    }

    fn load(&mut self, lane: usize, at: u64, bytes: u32) -> Result<u64, Self::Refused> {
        self.touch(lane, at, bytes).map_err(|trouble| (lane, trouble))?;
        let loaded = self.machine.shared.arena.load(at, bytes);
        loaded.ok_or_else(|| (lane, self.refused(at, bytes)))
    }

    fn store(&mut self, lane: usize, at: u64, bytes: u32, value: u64) -> Result<(), Self::Refused> {
        self.touch(lane, at, bytes).map_err(|trouble| (lane, trouble))?;
        let stored = self.machine.shared.arena.store(at, bytes, value);
        if stored { Ok(()) } else { Err((lane, self.refused(at, bytes))) }
    }
}
