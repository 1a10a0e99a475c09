//! In-order queues of work, each with a thread of its own.
//!
//! A thread that waits for a queue helps: it does the queue's next piece of work itself if nobody is at
//! it, so that a short launch followed by a wait costs no change of threads.

use std::{
    collections::VecDeque,
    fmt,
    panic::{self, AssertUnwindSafe},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak, atomic::AtomicU32},
};

use super::{
    Device, Event, Function, LaunchOptions, Memory,
    copy::{Copy, Slot},
    error::unsupported,
    event::Moment,
    launch::{self, Launch},
    memory::{Permission, Range},
    shared::{Shared, WorkQueue},
    thread,
};
use crate::device::{Arguments, Error, LaunchConfig, Result, StreamOptions};

/// Pieces of work that wait on a stream, at most, before whoever puts more there waits, too: each takes memory. CUDA's
/// driver makes the caller wait after about a thousand.
const MOST_QUEUED: usize = 1 << 16;

/// A queue of work.
#[derive(Clone, Debug)]
pub struct Stream(Arc<Handle>);

/// The last handle closes the queue; its thread does what is left, then ends.
#[derive(Debug)]
struct Handle {
    queue: Arc<Queue>,
    checked: bool,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.filled.notify_all();
    }
}

#[derive(Debug)]
struct Queue {
    device: Device,
    state: Mutex<State>,
    /// Wakes the queue's own thread.
    filled: Condvar,
    /// Wakes those that wait for work to end.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    work: VecDeque<Work>,
    /// A thread is at a piece of work.
    busy: bool,
    /// Pieces put on the queue, and ended.
    queued: u64,
    done: u64,
    /// The first error not reported yet, with the number of its piece of work.
    error: Option<(u64, Error)>,
    /// What stops the launch that runs now.
    running: Option<Arc<AtomicU32>>,
    closed: bool,
}

/// A piece of work.
#[derive(Debug)]
enum Work {
    Copy(Box<Copy>),
    Launch(Box<Launch>),
    Host(HostFunction),
    Record(Arc<Moment>),
    Wait(Arc<Moment>),
    /// From here on kernels may use so many bytes of an allocation.
    Extent {
        range: Range,
        bytes: u64,
    },
}

/// A function of the host.
struct HostFunction(Box<dyn FnOnce() + Send>);

impl fmt::Debug for HostFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostFunction")
    }
}

impl Work {
    fn launch(&self) -> Option<&Launch> {
        if let Self::Launch(launch) = self { Some(launch) } else { None }
    }

    fn run(self, Device { shared, pool }: &Device) -> Result<()> {
        let fits = match self {
            Self::Copy(copy) => copy.run(&shared.arena),
            Self::Launch(launch) => return launch.run(shared, pool),
            Self::Host(HostFunction(function)) => {
                let done = panic::catch_unwind(AssertUnwindSafe(function));
                return done.map_err(Error::panicked);
            }
            Self::Record(moment) => {
                moment.reach();
                true
            }
            Self::Wait(moment) => {
                moment.wait();
                true
            }
            Self::Extent { range, bytes } => {
                shared.arena.set_extent(range, bytes, Permission::ReadWrite);
                true
            }
        };
        // Only a range whose owner was leaked or dropped by another thread at the same time.
        if fits { Ok(()) } else { unsupported("copying freed memory") }
    }

    /// Whether only the queue's own thread may do it: it may need a deep stack, or wait for another queue.
    fn needs_own_thread(&self) -> bool {
        match self {
            Self::Launch(launch) => launch.calls(),
            Self::Wait(_) | Self::Host(_) => true,
            Self::Copy(_) | Self::Record(_) | Self::Extent { .. } => false,
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, mut state: MutexGuard<'_, State>, work: Work) -> u64 {
        state.work.push_back(work);
        state.queued += 1;
        let number = state.queued;
        let idle = !state.busy && state.work.len() == 1;
        drop(state);
        if idle {
            self.filled.notify_all();
        }
        number
    }

    /// Does `work`, which was just taken off the queue, without the lock.
    fn perform<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        work: Work,
    ) -> MutexGuard<'a, State> {
        state.busy = true;
        state.running = work.launch().map(|launch| launch.abort().clone());
        drop(state);
        let result = thread::working(|| thread::guarded(|| work.run(&self.device)));
        let mut state = self.lock();
        state.busy = false;
        state.running = None;
        state.done += 1;
        if let Err(error) = result {
            let number = state.done;
            state.error.get_or_insert((number, error));
        }
        self.ended.notify_all();
        state
    }

    /// What the queue's thread does all its life.
    fn serve(&self) {
        let mut state = self.lock();
        loop {
            let next = if state.busy { None } else { state.work.pop_front() };
            state = match next {
                Some(work) => self.perform(state, work),
                None if state.closed && !state.busy => return,
                None => self.filled.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Waits until piece `number` has ended, and helps on the way.
    fn wait_for(&self, number: u64) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        while state.done < number {
            let free = !state.busy && state.work.front().is_some_and(|w| !w.needs_own_thread());
            state = match if free { state.work.pop_front() } else { None } {
                Some(work) => self.help(state, work),
                None => self.ended.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        state
    }

    /// Does `work` on a thread that is not the queue's, which goes on afterwards.
    fn help<'a>(&'a self, state: MutexGuard<'a, State>, work: Work) -> MutexGuard<'a, State> {
        let state = self.perform(state, work);
        if !state.work.is_empty() || state.closed {
            self.filled.notify_all();
        }
        state
    }
}

impl WorkQueue for Queue {
    fn drain(&self) {
        let number = self.lock().queued;
        drop(self.wait_for(number));
    }

    fn synchronize(&self) -> Result<()> {
        let number = self.lock().queued;
        let mut state = self.wait_for(number);
        state.error.take().map_or(Ok(()), |(_, error)| Err(error))
    }
}

impl Device {
    /// A new stream; its priority does not matter.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when the host gives no thread.
    pub fn stream(&self, options: StreamOptions) -> Result<Stream> {
        Stream::new(self, options)
    }
}

impl Stream {
    /// Whether `other` is the same queue.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn new(device: &Device, options: StreamOptions) -> Result<Self> {
        let queue = Arc::new(Queue {
            device: device.clone(),
            state: Mutex::default(),
            filled: Condvar::new(),
            ended: Condvar::new(),
        });
        let served = queue.clone();
        thread::spawn("warpaint stream".into(), move || served.serve())?;
        let weak: Weak<dyn WorkQueue> = Arc::<Queue>::downgrade(&queue);
        device.shared.add_queue(weak);
        Ok(Self(Arc::new(Handle { queue, checked: options.checked })))
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.device().shared
    }

    /// The device that does the work.
    pub fn device(&self) -> &Device {
        &self.0.queue.device
    }

    /// Puts a kernel on the stream, to be run as the device's [options](Device::set_launch_options) say.
    ///
    /// # Errors
    /// Those of [`Stream::launch_with`].
    pub fn launch(
        &self,
        function: &Function,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<()> {
        self.launch_with(function, config, arguments, &self.shared().options())
    }

    /// Puts a kernel on the stream, to be run as `options` say. Safe, since the device checks every access.
    ///
    /// # Errors
    /// [`Error::InvalidLaunch`] naming the limit that the shape breaks, [`Error::WrongArguments`],
    /// [`Error::WrongDevice`], [`Error::UnsupportedPtx`] where the interpreter lacks an instruction.
    pub fn launch_with(
        &self,
        function: &Function,
        config: &LaunchConfig,
        arguments: &Arguments,
        options: &LaunchOptions,
    ) -> Result<()> {
        let checked = crate::device::Function::Cpu(function.clone());
        config.check(&checked, &self.shared().info)?;
        arguments.check(&checked)?;
        self.submit_with(function, config, arguments, options.clone())
    }

    /// Puts a kernel on the stream whose shape and arguments fit it.
    ///
    /// # Errors
    /// [`Error::WrongDevice`].
    pub(in crate::device) fn submit(
        &self,
        function: &Function,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<()> {
        self.submit_with(function, config, arguments, self.shared().options())
    }

    fn submit_with(
        &self,
        function: &Function,
        config: &LaunchConfig,
        arguments: &Arguments,
        options: LaunchOptions,
    ) -> Result<()> {
        let lockstep = options.lockstep || config.lockstep;
        let options = LaunchOptions { lockstep, ..options };
        if function.device_id() != self.shared().id {
            return Err(Error::WrongDevice { operation: "launch" });
        }
        if options.interprets() {
            // What the interpreter lacks is said here.
            function.program()?;
        }
        let launch = Launch::new(function.clone(), *config, arguments.bytes(), options)?;
        self.put(Work::Launch(Box::new(launch)));
        Ok(())
    }

    /// Lets the work that is put on the stream from now on use the first `bytes` of an allocation, which was made with
    /// room for more.
    pub(in crate::device) fn set_extent(&self, memory: &Memory, bytes: usize) {
        if let Some(range) = memory.resize(bytes) {
            self.put(Work::Extent { range, bytes: bytes as u64 });
        }
    }

    /// Puts work on the stream, once no more than [`MOST_QUEUED`] pieces wait there; its number.
    fn put(&self, work: Work) -> u64 {
        let queue = &self.0.queue;
        let mut state = queue.lock();
        // A host function would wait for itself.
        if state.work.len() >= MOST_QUEUED && !thread::is_working() {
            let enough = state.queued - MOST_QUEUED as u64 / 2;
            drop(state);
            state = queue.wait_for(enough);
        }
        queue.push(state, work)
    }

    /// Puts a copy on the stream; its number.
    pub(super) fn push_copy(&self, copy: Copy) -> u64 {
        self.put(Work::Copy(Box::new(copy)))
    }

    /// What the piece of work with this number leaves in `slot`.
    pub(super) fn pending<T>(&self, number: u64, slot: Slot<T>) -> Pending<T> {
        Pending { stream: self.clone(), number, slot }
    }

    /// Records the moment when all work put on the stream so far has ended.
    ///
    /// # Errors
    /// [`Error::WrongDevice`].
    pub fn record(&self, event: &Event) -> Result<()> {
        self.expect_own(event, "record an event")?;
        let moment = Arc::<Moment>::default();
        self.put(Work::Record(moment.clone()));
        event.recorded(moment);
        Ok(())
    }

    /// Lets work put on the stream from now on wait until `event` is reached.
    ///
    /// # Errors
    /// [`Error::WrongDevice`].
    pub fn wait(&self, event: &Event) -> Result<()> {
        self.expect_own(event, "wait for an event")?;
        if let Some(moment) = event.latest() {
            self.put(Work::Wait(moment));
        }
        Ok(())
    }

    /// Lets work put on the stream from now on wait for what is on another, of whatever CPU device.
    pub(super) fn wait_for(&self, other: &Self) {
        let moment = Arc::<Moment>::default();
        let (theirs, ours) = (&other.0.queue, &self.0.queue);
        theirs.push(theirs.lock(), Work::Record(moment.clone()));
        ours.push(ours.lock(), Work::Wait(moment));
    }

    fn expect_own(&self, event: &Event, operation: &'static str) -> Result<()> {
        if event.shared.id == self.shared().id {
            Ok(())
        } else {
            Err(Error::WrongDevice { operation })
        }
    }

    /// Whether all its work has ended, well or not.
    ///
    /// # Errors
    /// None on this device.
    pub fn is_idle(&self) -> Result<bool> {
        let state = self.0.queue.lock();
        Ok(state.done == state.queued)
    }

    /// Calls a function of the host behind the work that is on the stream now.
    ///
    /// # Errors
    /// None on this device.
    pub fn host_function(&self, function: Box<dyn FnOnce() + Send>) -> Result<()> {
        self.put(Work::Host(HostFunction(function)));
        Ok(())
    }

    /// Its priority: the only one.
    ///
    /// # Errors
    /// None on this device.
    pub fn priority(&self) -> Result<i32> {
        Ok(0)
    }

    /// Whether it waits for each launch.
    pub fn is_checked(&self) -> bool {
        self.0.checked
    }

    /// Waits until all its work has ended.
    ///
    /// # Errors
    /// The first error of that work that was not reported yet; [`Error::Unsupported`] in a host function.
    pub fn synchronize(&self) -> Result<()> {
        thread::expect_free()?;
        self.0.queue.synchronize()
    }

    /// Whether what has ended of its work has ended well.
    ///
    /// # Errors
    /// The first error of that work that was not reported yet.
    pub fn check(&self) -> Result<()> {
        self.0.queue.lock().error.take().map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Stops the kernels that are on the stream now; they end with a fault of kind `Cancelled`.
    ///
    /// # Errors
    /// None on this device.
    pub fn cancel(&self) -> Result<()> {
        let state = self.0.queue.lock();
        let queued = state.work.iter().filter_map(Work::launch).map(Launch::abort);
        for abort in state.running.iter().chain(queued) {
            launch::cancel(abort);
        }
        Ok(())
    }
}

/// What a piece of work leaves in a slot.
#[derive(Debug)]
pub(super) struct Pending<T> {
    stream: Stream,
    number: u64,
    slot: Slot<T>,
}

impl<T> Pending<T> {
    pub(super) fn is_ready(&self) -> bool {
        self.stream.0.queue.lock().done >= self.number
    }

    /// Waits for it; nothing where the work could not leave it.
    pub(super) fn wait(self) -> Result<Option<T>> {
        let (left, ended) = self.end(true);
        ended.map(|()| left)
    }

    /// Waits for it; with `report`, the first error up to this work that was not reported yet is reported now.
    ///
    /// In a host function it does not wait, and leaves the result to whoever comes last.
    pub(super) fn end(self, report: bool) -> (Option<T>, Result<()>) {
        if let Err(error) = thread::expect_free() {
            return (None, Err(error));
        }
        let mut state = self.stream.0.queue.wait_for(self.number);
        let failed = state.error.as_ref().is_some_and(|(number, _)| *number <= self.number);
        let error = if report && failed { state.error.take() } else { None };
        drop(state);
        let left = self.slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        (left, error.map_or(Ok(()), |(_, error)| Err(error)))
    }
}
