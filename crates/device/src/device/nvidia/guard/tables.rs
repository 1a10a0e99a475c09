//! The tables of ranges in device memory, which modules search.
//!
//! A kernel may read a table at any time. So one that modules know is never written to: after a change of the memory
//! there is another one, and its address takes the place of the old one in a module's control block as one word. An
//! old table is used again once no control block has it, and what was launched until then has ended.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::{mem, sync::Arc};

use super::Guard;
use crate::{
    device::{Result, nvidia::context::CudaContext},
    ptx::pass::guard::record::table,
};

/// So many old tables gather before kernels are waited for, to use them again.
const MOST_OLD: usize = 64;
/// The least ranges that a table has room for.
const LEAST_ROOM: usize = 255;

/// A table in device memory.
#[derive(Debug)]
pub(super) struct Table {
    address: u64,
    /// How many ranges it has room for.
    room: usize,
    /// The number of changes of the ranges that it is of.
    changes: u64,
}

impl Table {
    pub(super) fn address(&self) -> u64 {
        self.address
    }

    /// The number of changes of the ranges that it is of.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Tables {
    now: Option<Arc<Table>>,
    /// Those that were, the oldest first; control blocks may still have them, and kernels read them.
    old: Vec<Arc<Table>>,
    /// Those that nobody has.
    free: Vec<Table>,
}

impl Tables {
    /// The table of the memory as it is now.
    pub(super) fn current(&mut self, guard: &Guard, context: &CudaContext) -> Result<Arc<Table>> {
        let current = |table: &&Arc<Table>| table.changes == context.ranges().changes();
        if let Some(now) = self.now.as_ref().filter(current) {
            return Ok(now.clone());
        }
        let (ranges, changes) = context.ranges().all();
        let mut table = self.unused(context, ranges.len())?;
        table.changes = changes;
        let head = [ranges.len() as u64, 0];
        let words: Vec<u64> = head
            .into_iter()
            .chain(ranges.iter().flat_map(|(start, bytes)| [*start, *bytes]))
            .collect();
        guard.write(context, table.address, bytemuck::cast_slice(&words))?;
        let table = Arc::new(table);
        self.old.extend(self.now.replace(table.clone()));
        Ok(table)
    }

    /// One that nobody reads, with room for so many ranges.
    fn unused(&mut self, context: &CudaContext, ranges: usize) -> Result<Table> {
        if self.free.is_empty() && self.old.len() >= MOST_OLD {
            let mut unused = Vec::new();
            for table in mem::take(&mut self.old) {
                match Arc::try_unwrap(table) {
                    Ok(table) => unused.push(table),
                    Err(table) => self.old.push(table),
                }
            }
            // What was launched while a control block had one may still read it.
            if let Err(error) = context.wait_for_work() {
                self.old.extend(unused.into_iter().map(Arc::new));
                return Err(error);
            }
            self.free = unused;
        }
        match self.free.pop() {
            Some(table) if table.room >= ranges => Ok(table),
            Some(table) => {
                release(context, &table)?;
                allocate(context, ranges)
            }
            None => allocate(context, ranges),
        }
    }

    /// Gives their memory back, when the context ends.
    pub(super) fn free(&mut self, context: &CudaContext) {
        let held = self.now.take().into_iter().chain(self.old.drain(..));
        let free = self.free.drain(..).map(Arc::new);
        for table in held.chain(free) {
            if let Err(error) = release(context, &table) {
                tracing::debug!("while ending the guard: {error}");
            }
        }
    }
}

/// A table with room for so many ranges and more.
fn allocate(context: &CudaContext, ranges: usize) -> Result<Table> {
    let room = (ranges + 1).next_power_of_two().max(LEAST_ROOM + 1) - 1;
    let (mut address, bytes) = (0, table::FIRST.unsigned_abs() as usize + table::BYTES * room);
    // SAFETY: `address` is written before the call returns.
    context.check(unsafe { context.driver().cuMemAlloc_v2(&raw mut address, bytes) })?;
    Ok(Table { address, room, changes: 0 })
}

/// Gives the memory of one back that no kernel reads.
fn release(context: &CudaContext, table: &Table) -> Result<()> {
    // SAFETY: allocated by `cuMemAlloc`, and no kernel reads it any more.
    context.check(unsafe { context.driver().cuMemFree_v2(table.address) })
}
