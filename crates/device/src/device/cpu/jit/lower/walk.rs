//! The walk through a function, statement by statement, and round it the loop over a kernel's threads.
//!
//! It is the same whether a kernel has code for groups of threads, too, or not. What differs is said in one place, by
//! the two types that are a [`Walk`]: [`Lower`] itself, for which threads have their turns one after the other and no
//! more, and `GroupLower`, for which a thread may also come from a group that diverged, and go back to it.

use cranelift_codegen::ir::{Block, InstBuilder, types};

use super::Lower;
use crate::{device::Result, ptx::ast::Statement};

/// A function on its way through its statements, and the places at which the translation for groups of threads has
/// something to add.
pub(in crate::device::cpu::jit) trait Walk<'a: 'f, 'f> {
    /// The translation for one thread at a time, which does all else.
    fn lower(&mut self) -> &mut Lower<'a, 'f>;

    /// Leads from a kernel's entry to the first turn; a single thread's begins at `turn`.
    fn first_turn(&mut self, turn: Block);

    /// Comes at the beginning of a single thread's turn, before it is looked up where the thread goes on.
    fn enter_turn(&mut self);

    /// Comes before a statement, and so before the block that a label begins.
    fn before_statement(&mut self, statement: usize);

    /// Comes at a statement: in the block that a label begins, and before an instruction.
    fn at_statement(&mut self, statement: usize);

    /// Leads from the end of a single thread's turn to the next turn, or to `done` where there is none.
    fn next_turn(&mut self, turn: Block, done: Block);

    /// Makes the code that stands beside the one for single threads.
    fn beside(&mut self, done: Block) -> Result<()>;

    /// Comes behind the last turn, before the function returns.
    fn behind_all(&mut self);
}

impl<'a: 'f, 'f> Walk<'a, 'f> for Lower<'a, 'f> {
    fn lower(&mut self) -> &mut Lower<'a, 'f> {
        self
    }

    fn first_turn(&mut self, turn: Block) {
        self.b.ins().jump(turn, &[]);
    }

    fn enter_turn(&mut self) {}

    fn before_statement(&mut self, _: usize) {}

    fn at_statement(&mut self, _: usize) {}

    fn next_turn(&mut self, turn: Block, done: Block) {
        let end = self.end();
        let last = self.advance(1, end);
        self.b.ins().brif(last, done, &[], turn, &[]);
    }

    fn beside(&mut self, _: Block) -> Result<()> {
        Ok(())
    }

    fn behind_all(&mut self) {}
}

/// `run(context, begin, end)`: each thread in turn, from its start or its resume point.
pub(in crate::device::cpu::jit) fn kernel<'a: 'f, 'f>(walk: &mut impl Walk<'a, 'f>) -> Result<()> {
    let lower = walk.lower();
    lower.begin_threads();
    let [turn, start, done] = [(); 3].map(|()| lower.b.create_block());
    walk.first_turn(turn);

    let lower = walk.lower();
    lower.b.switch_to_block(turn);
    lower.enter_thread();
    let points = lower.plan.points().len();
    let resumes: Vec<Block> = (0..points).map(|_| lower.b.create_block()).collect();
    walk.enter_turn();
    let lower = walk.lower();
    lower.dispatch(start, &resumes);

    lower.b.switch_to_block(start);
    lower.define_all_registers();
    statements(walk, &resumes)?;

    let lower = walk.lower();
    lower.b.switch_to_block(lower.targets.next);
    walk.next_turn(turn, done);
    walk.beside(done)?;

    walk.lower().b.switch_to_block(done);
    walk.behind_all();
    let lower = walk.lower();
    lower.tell_reached();
    let fine = lower.b.ins().iconst(types::I32, 0);
    lower.b.ins().return_(&[fine]);
    lower.stop_block();
    Ok(())
}

/// Translates all statements; threads that wait go on in the blocks `resumes`.
pub(super) fn statements<'a: 'f, 'f>(
    walk: &mut impl Walk<'a, 'f>,
    resumes: &[Block],
) -> Result<()> {
    let body = walk.lower().source.body;
    let mut resumes = resumes.iter().copied();
    for (index, statement) in body.statements.iter().enumerate() {
        walk.lower().check_limits()?;
        walk.before_statement(index);
        match statement {
            Statement::Label(label) => {
                walk.lower().label(*label);
                walk.at_statement(index);
                let lower = walk.lower();
                if lower.begins_loop(*label, index) {
                    let resume = lower.plan.waits_at(index).then(|| resumes.next()).flatten();
                    lower.begin_iteration(index, resume)?;
                }
            }
            Statement::Instruction(instruction) => {
                walk.at_statement(index);
                let lower = walk.lower();
                let resume = lower.plan.waits_at(index).then(|| resumes.next()).flatten();
                lower
                    .instruction(index, instruction, resume)
                    .map_err(|what| lower.unsupported(instruction, what))?;
            }
            Statement::Pragma(_) => {}
        }
    }
    // A body that does not end in `ret` returns all the same.
    let lower = walk.lower();
    if !lower.is_filled() {
        lower.leave(0);
    }
    Ok(())
}
