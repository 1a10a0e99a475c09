//! Puts the passes of a step on the stream, in the order and as often as the manifest says.

use std::{
    any::Any,
    cell::RefCell,
    time::{Duration, Instant},
};

use super::{
    Error,
    address_lists::{Key, OfLaunch},
    checker::Checker,
    program::{Pass, Program},
};
use crate::{
    cuda::Position,
    device::{self, Arguments, Event, Fault, Fill, Slice, Stream},
    scene::{
        Argument, Entry, Half, Handle, Inputs, Number, Repeat, ResourceId, Scope, Term, Until,
        Wanted, What,
    },
    state::Borrowed,
};

/// Launches after which it is waited until those before the last so many have ended: a queue of all that a scene may
/// ask for would take all memory. Far more than keep any device busy meanwhile.
const MOST_AHEAD: u32 = 8192;

/// Whoever waits for work looks at least so often whether he should.
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// Why not all launches of a step were put on the stream.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stopped {
    /// The step has no more time.
    OutOfTime {
        /// The kernel that was launched last, and where the manifest names it; `None` where there is none.
        kernel: Option<(String, Position)>,
    },
    /// An expression of the manifest has no value, or one that cannot be used.
    NoValue {
        /// One sentence.
        problem: String,
        /// Where it stands.
        at: Position,
    },
    /// A kernel has faulted, which was seen when its results were looked at.
    Fault(Box<Fault>),
}

/// How waiting for launches ended.
pub(super) enum Waited {
    /// They have ended.
    Reached,
    /// The step has no more time.
    OutOfTime,
}

/// What runs the entries of a manifest.
pub(super) struct Launcher<'a, 'b> {
    pub(super) program: &'a Program,
    pub(super) queue: Queue<'a>,
    pub(super) inputs: &'a Inputs,
    pub(super) borrowed: &'a mut [Borrowed<'b>],
    /// The rounds finished of the loops that are being run, from the outermost.
    rounds: Vec<u64>,
    /// What was read from the device for the expressions that are looked at now.
    pub(super) known: Vec<(Term, Number)>,
    /// How often each pass was launched.
    launched: &'a mut [u64],
    /// What watches the launches.
    checker: Option<&'a Checker>,
    /// The pass that was launched last.
    last: usize,
    /// An abandoned read-back of a condition. Dropping it would block until the device is done, so it is kept until the
    /// work under way has ended.
    pub(super) left: Option<Box<dyn Any>>,
}

/// Why not all was put on the stream, if so.
pub(super) type Run = Result<Option<Stopped>, Error>;

impl<'a, 'b> Launcher<'a, 'b> {
    /// Runs the passes of `program` by way of `queue`; counts in `launched` how often each was launched.
    pub(super) fn new(
        program: &'a Program,
        queue: Queue<'a>,
        inputs: &'a Inputs,
        borrowed: &'a mut [Borrowed<'b>],
        launched: &'a mut [u64],
        checker: Option<&'a Checker>,
    ) -> Self {
        Self {
            program,
            queue,
            inputs,
            borrowed,
            rounds: Vec::new(),
            known: Vec::new(),
            launched,
            checker,
            last: 0,
            left: None,
        }
    }

    pub(super) fn scope(&self) -> Scope<'_> {
        Scope { inputs: self.inputs, rounds: &self.rounds, read: &self.known }
    }

    /// Runs an entry as often as it says. Returns why not to its end, if so.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn run(&mut self, entry: &Entry) -> Run {
        if let Some(condition) = &entry.only_if {
            match self.number_of(("only_if", condition), entry.at)? {
                Ok(condition) if condition.is_true() => {}
                Ok(_) => return Ok(None),
                Err(stopped) => return Ok(Some(stopped)),
            }
        }
        let Some(Repeat { times, until }) = &entry.repeat else { return self.once(entry) };
        let times = match self.number_of(("repeat", times), entry.at)? {
            Ok(times) => times.whole(),
            Err(stopped) => return Ok(Some(stopped)),
        };
        let times = match times {
            Ok(times) => times,
            Err(problem) => {
                let problem = format!("`repeat`: {problem}");
                return Ok(Some(Stopped::NoValue { problem, at: entry.at }));
            }
        };
        self.rounds.push(0);
        let stopped = self.rounds_of(entry, times, until.as_ref());
        self.rounds.pop();
        stopped
    }

    fn rounds_of(&mut self, entry: &Entry, times: i64, until: Option<&Until>) -> Run {
        for round in 0..times.max(0).unsigned_abs() {
            // Rounds without a launch take their time, too.
            if self.queue.is_over() {
                return Ok(Some(self.out_of_time()));
            }
            if let Some(last) = self.rounds.last_mut() {
                *last = round;
            }
            let stopped = self.once(entry)?;
            if stopped.is_some() {
                return Ok(stopped);
            }
            let Some(until) = until else { continue };
            if (round + 1) % u64::from(until.every) == 0 {
                match self.number_of(("until", &until.condition), until.at)? {
                    Ok(condition) if condition.is_true() => return Ok(None),
                    Ok(_) => {}
                    Err(stopped) => return Ok(Some(stopped)),
                }
            }
        }
        Ok(None)
    }

    fn once(&mut self, entry: &Entry) -> Run {
        for half in &entry.clear {
            let stopped = self.clear(*half)?;
            if stopped.is_some() {
                return Ok(stopped);
            }
        }
        match &entry.what {
            What::Launch(index) => self.launch(*index),
            What::Group { entries, .. } => {
                for entry in entries {
                    let stopped = self.run(entry)?;
                    if stopped.is_some() {
                        return Ok(stopped);
                    }
                }
                Ok(None)
            }
            What::Copy { from, to } => self.copy(*from, *to),
        }
    }

    fn half(&self, half: Half) -> Option<Slice<'_>> {
        self.borrowed.get(half.resource.0).and_then(|borrowed| borrowed.half(half.next))
    }

    fn clear(&mut self, half: Half) -> Run {
        if let Waited::OutOfTime = self.queue.make_room()? {
            return Ok(Some(self.out_of_time()));
        }
        if let Some(slice) = self.half(half) {
            self.queue.stream.fill(slice, Fill::U8(0))?;
        }
        Ok(None)
    }

    fn copy(&mut self, from: Half, to: Half) -> Run {
        if let Waited::OutOfTime = self.queue.make_room()? {
            return Ok(Some(self.out_of_time()));
        }
        if let (Some(from), Some(to)) = (self.half(from), self.half(to)) {
            self.queue.stream.copy(to, from)?;
        }
        Ok(None)
    }

    /// Puts a pass on the stream. Double resources of which it writes the other half then change their halves.
    #[expect(unsafe_code, reason = "a kernel launch")]
    fn launch(&mut self, index: usize) -> Run {
        let program = self.program;
        let Some(pass) = program.passes.get(index) else { return Ok(None) };
        let declared = &pass.plan.declared;
        if let Some(stopped) = self.read(&pass.plan.reads)? {
            return Ok(Some(stopped));
        }
        self.last = index;
        let no_value = |problem: String| {
            let problem = format!("kernel `{}`: {problem}", declared.kernel);
            Ok(Some(Stopped::NoValue { problem, at: declared.at }))
        };
        let config = match pass.config(&self.scope(), &self.queue.stream.device())? {
            Ok(Some(config)) => config,
            Ok(None) => return Ok(None),
            Err(problem) => return no_value(problem),
        };
        let lists = self.program.address_lists.of_launch(self.queue.stream);
        let arguments = match self.arguments(pass, lists) {
            Ok(arguments) => arguments,
            Err(stopped) => return Ok(Some(stopped)),
        };
        if let Waited::OutOfTime = self.queue.make_room()? {
            return Ok(Some(self.out_of_time()));
        }
        match self.checker {
            Some(checker) => {
                checker.launch(self.queue.stream, &pass.function, &config, &arguments)?;
            }
            // SAFETY: the addresses and objects are those of the scene's resources, which outlive the step: they are
            // kept until the stream has passed the event after it. What the kernel does beyond them is its author's
            // risk on an NVIDIA device, as it is in any CUDA program; the CPU device checks every access.
            None => unsafe { self.queue.stream.launch(&pass.function, &config, &arguments)? },
        }
        for swapped in &pass.plan.swaps {
            if let Some(borrowed) = self.borrowed.get_mut(swapped.0) {
                borrowed.swap();
            }
        }
        if let Some(count) = self.launched.get_mut(index) {
            *count += 1;
        }
        Ok(None)
    }

    /// That the step has no more time, at the pass that was launched last.
    pub(super) fn out_of_time(&self) -> Stopped {
        let pass = self.program.passes.get(self.last).map(|pass| &pass.plan.declared);
        Stopped::OutOfTime { kernel: pass.map(|pass| (pass.kernel.clone(), pass.at)) }
    }

    fn arguments(&self, pass: &Pass, mut lists: OfLaunch<'_>) -> Result<Arguments, Stopped> {
        let unreadable = RefCell::new(None);
        let handle = |wanted: Wanted| {
            let ResourceId(index) = wanted.resource;
            if let Some(fetched) = self.fetched(wanted) {
                return fetched.unwrap_or_else(|error| {
                    unreadable.replace(Some(error.to_string()));
                    0
                });
            }
            let start = self.borrowed.get(index).map_or(0, |borrowed| borrowed.handle(wanted));
            let size = self.program.types.get(index).map_or(0, |of| of.bytes() as u64);
            start.wrapping_add(wanted.element.wrapping_mul(size))
        };
        let mut arguments = Arguments::new();
        let pack = |argument: &Argument| {
            let packed = argument.pack(&self.scope(), handle);
            unreadable.take().map_or(packed, Err)
        };
        for (parameter, argument) in pass.plan.arguments.iter().enumerate() {
            let no_value = |problem: String| no_value_of(pass, &argument.name, &problem);
            let Some(pointers) = argument.pointers() else {
                let packed = pack(argument).map_err(no_value)?;
                arguments.push_bytes(packed.bytes(), packed.align);
                continue;
            };
            let packed = pointers.iter().map(pack).collect::<Result<Vec<_>, _>>();
            let packed = packed.map_err(no_value)?;
            let addresses = packed.iter().flat_map(|packed| packed.bytes()).copied().collect();
            let changed_by = argument.may_change_pointers().then_some(parameter);
            let key = Key { addresses, changed_by };
            let address = lists.address(key).map_err(|error| no_value(error.to_string()))?;
            arguments.push_bytes(&address.to_le_bytes(), size_of::<u64>());
        }
        Ok(arguments)
    }

    /// What reads a buffer or an array through a texture object, where that is wanted.
    fn fetched(&self, wanted: Wanted) -> Option<device::Result<u64>> {
        let ResourceId(index) = wanted.resource;
        let is_wanted = wanted.handle == Handle::Texture;
        let memory = self.half(Half { resource: wanted.resource, next: wanted.next });
        let memory = memory.filter(|_| is_wanted)?;
        let element = self.program.types.get(index)?.element()?;
        Some(self.program.fetched.handle(&self.queue.stream.device(), memory, element))
    }
}

/// That an argument of a pass has no value, where the manifest gives it one.
fn no_value_of(pass: &Pass, argument: &str, problem: &str) -> Stopped {
    let declared = &pass.plan.declared;
    let given = declared.given.iter().find(|given| given.parameter == argument);
    let problem = format!("kernel `{}`: {problem}", declared.kernel);
    Stopped::NoValue { problem, at: given.map_or(declared.at, |given| given.at) }
}

/// Launches on a stream, of which only so many wait there at once.
pub(super) struct Queue<'a> {
    pub(super) stream: &'a Stream,
    options: &'a super::Options,
    started: Instant,
    launches: u32,
    /// Recorded behind the launches before the last [`MOST_AHEAD`].
    before: Option<Event>,
}

impl<'a> Queue<'a> {
    pub(super) fn new(stream: &'a Stream, options: &'a super::Options, started: Instant) -> Self {
        Self { stream, options, started, launches: 0, before: None }
    }

    /// Makes room for a launch.
    fn make_room(&mut self) -> Result<Waited, Error> {
        self.launches = self.launches.wrapping_add(1);
        if !self.launches.is_multiple_of(MOST_AHEAD) {
            return Ok(Waited::Reached);
        }
        let event = match self.before.take() {
            None => self.stream.device().event()?,
            Some(event) => match self.wait(&mut || event.is_reached())? {
                Waited::Reached => event,
                Waited::OutOfTime => return Ok(Waited::OutOfTime),
            },
        };
        self.stream.record(&event)?;
        self.before = Some(event);
        Ok(if self.is_over() { Waited::OutOfTime } else { Waited::Reached })
    }

    /// Waits until `is_reached`, or until the step has no more time.
    pub(super) fn wait(
        &self,
        is_reached: &mut dyn FnMut() -> device::Result<bool>,
    ) -> Result<Waited, Error> {
        while !is_reached()? {
            if self.is_over() {
                return Ok(Waited::OutOfTime);
            }
            pause(self.started);
        }
        Ok(Waited::Reached)
    }

    fn is_over(&self) -> bool {
        self.options.interrupt.is_raised() || self.started.elapsed() >= self.options.step_timeout
    }
}

/// Lets other threads run until `awaited` is reached, or a little longer or shorter.
///
/// # Errors
/// The device's.
pub(super) fn rest(awaited: Option<&Event>, started: Instant) -> device::Result<()> {
    match awaited {
        // Its kernels need the core: whoever only yields it gets it back at once, for they have a lower priority.
        Some(Event::Cpu(event)) => event.wait_within(LONGEST_PAUSE).map(|_| ()),
        Some(Event::Nvidia(_)) | None => {
            pause(started);
            Ok(())
        }
    }
}

/// Lets other threads run: hardly at all while a step is young, longer when it is slow anyway.
fn pause(started: Instant) {
    let pause = started.elapsed() / 64;
    if pause.as_micros() < 50 {
        std::thread::yield_now();
    } else {
        std::thread::sleep(pause.min(LONGEST_PAUSE));
    }
}
