//! A guarded module's control block: what the host tells its kernels, and what it learns of them.

#![expect(unsafe_code, reason = "the CUDA driver is a C library")]

use std::sync::{Arc, Mutex, Weak};

use super::{Guard, left::Left, records::Records, tables::Table};
use crate::{
    device::{
        Fault, FaultKind, GuardedModule, Result,
        nvidia::{context::CudaContext, image::Image, lock::lock},
    },
    ptx::pass::guard::record::{MOST, control},
};

/// A guarded module, which stays loaded for as long as there is this.
#[derive(Debug)]
pub(in crate::device::nvidia) struct Control {
    module: GuardedModule,
    /// Its code, in which the control block lies.
    image: Arc<Image>,
    guard: Arc<Guard>,
    /// The address of the control block.
    block: u64,
    records: Records,
    /// Whether the host has raised the flag. Who holds this changes the flag, and nobody else; it is taken before the
    /// state, and not by who waits for kernels that the flag may have to end.
    raised: Mutex<bool>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The table of ranges that the control block has.
    table: Option<Arc<Table>>,
    knows_heap: bool,
    /// The kernel that was launched last.
    launched: Option<Arc<str>>,
    /// Those of the streams that its kernels were launched on.
    streams: Vec<Weak<Left>>,
}

/// What is known of a module's kernels that have ended.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// What one did wrong.
    pub(super) told: Option<Fault>,
    /// The one that was launched last, where the host has stopped them.
    pub(super) cancelled: Option<Arc<str>>,
}

impl Control {
    /// Of a module that was just loaded, whose control block lies at `block`; the context is current.
    pub(in crate::device::nvidia) fn new(
        image: &Arc<Image>,
        guard: &Arc<Guard>,
        module: GuardedModule,
        block: u64,
    ) -> Result<Self> {
        let context = image.device().context();
        let records = guard.take_records(context, if module.tells_all() { MOST } else { 1 })?;
        let (raised, state) = (Mutex::default(), Mutex::default());
        let (image, guard) = (image.clone(), guard.clone());
        let this = Self { module, image, guard, block, records, raised, state };
        this.write(context, control::RECORD, &this.records.address().to_ne_bytes())?;
        this.write(context, control::PRINTS, &this.guard.prints().to_ne_bytes())?;
        Ok(this)
    }

    /// What is known of the module.
    pub(in crate::device::nvidia) fn module(&self) -> &GuardedModule {
        &self.module
    }

    /// Writes to the control block now, whatever runs.
    fn write(&self, context: &CudaContext, field: i64, bytes: &[u8]) -> Result<()> {
        self.guard.write(context, self.block + field.unsigned_abs(), bytes)
    }

    /// Writes the lowest address of a thread's stack.
    pub(super) fn know_stack(&self, context: &CudaContext, lowest: u64) -> Result<()> {
        self.write(context, control::STACK, &lowest.to_ne_bytes())
    }

    /// Before a kernel is launched: the control block has the memory as it is now, where the module looks for it.
    pub(in crate::device::nvidia) fn prepare(
        &self,
        context: &CudaContext,
        kernel: &Arc<str>,
    ) -> Result<()> {
        let mut state = lock(&self.state);
        state.launched = Some(kernel.clone());
        if self.module.allocates() && !state.knows_heap {
            state.knows_heap = true;
            if let Some(heap) = self.guard.heap(context)? {
                let bytes = [heap.start, heap.end - heap.start].map(u64::to_ne_bytes).concat();
                self.write(context, control::HEAP, &bytes)?;
            }
        }
        let changes = context.ranges().changes();
        let is_known = state.table.as_ref().is_some_and(|table| table.changes() == changes);
        if !self.module.searches() || is_known {
            return Ok(());
        }
        let table = self.guard.table(context)?;
        // One word: a kernel that runs has the old one or the new one.
        self.write(context, control::TABLE, &table.address().to_ne_bytes())?;
        state.table = Some(table);
        Ok(())
    }

    /// Notes on which stream its kernels are launched: what it tells last is left there.
    pub(super) fn launched_by(&self, stream: &Arc<Left>) {
        let streams = &mut lock(&self.state).streams;
        streams.retain(|stream| stream.strong_count() > 0);
        if !streams.iter().any(|known| ptr_eq(known, stream)) {
            streams.push(Arc::downgrade(stream));
        }
    }

    /// Wishes that its kernels end, which they look at rarely; no call of the driver.
    pub(super) fn wish(&self) {
        let mut raised = lock(&self.raised);
        *raised = true;
        self.records.wish(1);
    }

    /// Raises the flag, where the wish stands.
    pub(super) fn raise(&self, context: &CudaContext) -> Result<()> {
        let raised = lock(&self.raised);
        if !*raised {
            return Ok(());
        }
        let (driver, address) = (context.driver(), self.block + control::STOP.unsigned_abs());
        // Not waited for: where a kernel prints more than its buffer holds, the driver comes back from a wait for any
        // stream only when all of it is printed.
        // SAFETY: the control block has this word, which kernels read at any time, and the module is loaded.
        context.check(unsafe { driver.cuMemsetD32Async(address, 1, 1, self.guard.stream()) })
    }

    /// Whether there is something to take.
    pub(super) fn has_news(&self) -> bool {
        self.records.is_written() || *lock(&self.raised)
    }

    /// What was told, once; `wait` waits for the stream that asks.
    #[cold]
    pub(super) fn take(
        &self,
        context: &CudaContext,
        wait: impl FnOnce() -> Result<()>,
    ) -> Result<Taken> {
        // Neither is the flag raised meanwhile, and then taken down unseen, nor is a kernel launched that would end at
        // it.
        let mut raised = lock(&self.raised);
        let mut state = lock(&self.state);
        // All of it that is under way ends soon, for the flag is up; what was launched behind the fault must not write
        // over the record.
        state.streams.retain(|stream| stream.strong_count() > 0);
        match state.streams.len() {
            0 | 1 => wait()?,
            _ => context.wait_for_work()?,
        }
        let records = self.records.take_all();
        // The flag and the claim; the wish is gone with the record.
        self.write(context, control::STOP, &[0; 8])?;
        let cancelled = std::mem::take(&mut *raised);
        let launched = state.launched.clone().unwrap_or_else(|| "?".into());
        let mut taken = Taken::default();
        for record in &records {
            let nearest = |address| context.ranges().nearest(address);
            let fault = self.module.fault(record, &launched, nearest);
            if self.module.tells_all() && fault.kind != FaultKind::Cancelled {
                self.guard.report(fault);
            } else {
                taken.told = taken.told.or(Some(fault));
            }
        }
        taken.cancelled = cancelled.then_some(launched);
        Ok(taken)
    }

    /// When the module ends, and none of its kernels runs: what nobody has asked for yet is told on the streams.
    fn end(&self, context: &CudaContext) -> Result<()> {
        if self.records.is_written() {
            let told = self.take(context, || Ok(()))?.told;
            for stream in lock(&self.state).streams.iter().filter_map(Weak::upgrade) {
                stream.leave(told.as_ref());
            }
        }
        Ok(())
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let context = self.image.device().context();
        context.on_drop(|| {
            context.wait_for_work()?;
            self.end(context)
        });
        self.guard.give_back(&self.records);
    }
}

fn ptr_eq(known: &Weak<Left>, stream: &Arc<Left>) -> bool {
    std::ptr::eq(known.as_ptr(), Arc::as_ptr(stream))
}
