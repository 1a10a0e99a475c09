//! The checker: watches a launch for races, reads of what nobody wrote and divisions by zero, and counts lines.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{
    clock::Clocks,
    env::{Env, WARP},
    program::Program,
    release::{Ordering, Releases},
    shadow::{Accesses, Bytes, Conflict, Full, Kind, Seen},
};
use crate::{
    device::{
        LaunchConfig,
        cpu::{
            location,
            memory::Unwritten,
            options::Check,
            report::{self, Action, Finding, FindingKind, Report},
        },
    },
    machine,
    ptx::ast::Inlined,
};

/// Which memory an access goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    Shared,
    Local,
    Global,
    /// Texels of an array, which all have a value.
    Surface,
}

impl Region {
    fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Global => "global",
            Self::Surface => "surface",
        }
    }
}

/// What a thread does to memory.
pub(super) use super::shadow::Kind as Touch;

impl Kind {
    pub(super) fn read(strong: bool) -> Self {
        if strong { Self::StrongRead } else { Self::Read }
    }

    pub(super) fn write(strong: bool) -> Self {
        if strong { Self::StrongWrite } else { Self::Write }
    }

    fn action(self) -> Action {
        match self {
            Self::Read | Self::StrongRead => Action::Read,
            Self::Write | Self::StrongWrite => Action::Write,
            Self::Atomic => Action::Atomic,
        }
    }
}

/// A finding on its way: places by number.
#[derive(Clone, Copy, Debug)]
struct Found {
    kind: FindingKind,
    access: Option<(&'static str, u64, u32)>,
    site: (u32, u64, u32, Action),
    other: Option<(u32, u64, u32, Action)>,
    count: u64,
}

impl Found {
    fn is_within_warp(&self) -> bool {
        let warp = |(_, block, thread, _): (u32, u64, u32, Action)| (block, thread / WARP as u32);
        self.other.is_some_and(|other| warp(other) == warp(self.site))
    }
}

/// What the checker knows of a launch.
#[derive(Debug)]
pub(super) struct Watch {
    check: Check,
    program: Arc<Program>,
    kernel: u32,
    config: LaunchConfig,
    /// Whether what the threads of a warp do is in the order of its instructions.
    lockstep: bool,
    counts: Vec<u64>,
    clocks: HashMap<u64, Clocks>,
    releases: Releases,
    accesses: Accesses,
    /// Bytes that the launch wrote.
    written: Bytes,
    /// Global memory that nobody had written before.
    unwritten: Unwritten,
    found: Vec<Found>,
    known: HashMap<(FindingKind, u32, u32), Option<usize>>,
    dropped: u64,
}

impl Watch {
    pub(super) fn new(
        check: Check,
        program: Arc<Program>,
        kernel: u32,
        config: LaunchConfig,
        lockstep: bool,
        unwritten: Unwritten,
    ) -> Self {
        // Half of the machine's memory for both.
        let room = machine::memory_bytes() as usize / 4;
        Self {
            counts: vec![0; program.sites.len()],
            check,
            program,
            kernel,
            config,
            lockstep,
            clocks: HashMap::new(),
            releases: Releases::within(room),
            accesses: Accesses::within(room),
            written: Bytes::default(),
            unwritten,
            found: Vec::new(),
            known: HashMap::new(),
            dropped: 0,
        }
    }

    /// An instruction is executed.
    pub(super) fn count(&mut self, site: u32) {
        self.counts[site as usize] += 1;
    }

    pub(super) fn begin_block(&mut self, env: &Env, threads: usize) {
        self.clocks.insert(env.index, Clocks::new(threads));
        for range in [env.shared, env.local_range()] {
            self.accesses.forget(range.address, range.bytes);
            self.written.forget(range.address, range.bytes);
        }
    }

    pub(super) fn end_block(&mut self, env: &Env) {
        self.clocks.remove(&env.index);
        self.releases.forget(env.index as u32);
    }

    /// A thread has a fence.
    pub(super) fn fenced(&mut self, env: &Env, thread: u32) {
        if let Some(clocks) = self.clocks.get_mut(&env.index).filter(|_| self.check.races) {
            self.releases.fence(clocks, (env.index as u32, thread));
        }
    }

    /// A thread accesses what others may access at the same time.
    pub(super) fn strong(
        &mut self,
        env: &Env,
        thread: u32,
        address: u64,
        touch: Touch,
        ordering: Ordering,
    ) {
        let Some(clocks) = self.clocks.get_mut(&env.index).filter(|_| self.check.races) else {
            return;
        };
        let thread = (env.index as u32, thread);
        if touch.is_strong() && touch.reads() {
            self.releases.read(thread, address, ordering);
        }
        if touch.is_strong() && touch.writes() {
            self.releases.write(clocks, thread, address, ordering, touch == Kind::Atomic);
        }
    }

    /// Threads of a block met; `all` that are left, or some, at a barrier or in their warp.
    pub(super) fn joined(&mut self, env: &Env, threads: &[u32], all: bool, barrier: Option<usize>) {
        if let Some(clocks) = self.clocks.get_mut(&env.index) {
            if all {
                clocks.join_all()
            } else {
                clocks.join(threads, barrier)
            }
            self.releases.meet(env.index as u32, threads);
        }
    }

    /// A thread arrived at a barrier and went on.
    pub(super) fn arrived(&mut self, env: &Env, thread: u32, barrier: usize) {
        if let Some(clocks) = self.clocks.get_mut(&env.index) {
            clocks.arrive(thread, barrier);
        }
    }

    /// A kernel got memory from `malloc`.
    pub(super) fn allocated(&mut self, address: u64, bytes: u64) {
        self.accesses.forget(address, bytes);
        self.written.forget(address, bytes);
        self.unwritten.insert(address, bytes);
    }

    pub(super) fn divided(&mut self, env: &Env, thread: u32, site: u32) {
        if self.check.division_by_zero {
            let here = (site, env.index, thread, Action::Divide);
            self.add(FindingKind::DivisionByZero, None, here, None);
        }
    }

    /// A thread is about to access memory.
    ///
    /// # Errors
    /// [`Full`], where it cannot be remembered.
    pub(super) fn touch(
        &mut self,
        env: &Env,
        thread: u32,
        site: u32,
        region: Region,
        (address, bytes): (u64, u32),
        touch: Touch,
    ) -> Result<(), Full> {
        let here = (site, env.index, thread, touch.action());
        let shown = if region == Region::Shared { address - env.shared.address } else { address };
        let access = (region.name(), shown, bytes);
        if self.check.uninitialised && region != Region::Surface {
            if touch.reads() && self.is_unwritten(region, address, bytes) {
                self.add(FindingKind::Uninitialised, Some(access), here, None);
            }
            if touch.writes() {
                self.written.insert(address, bytes.into());
            }
        }
        if self.releases.is_full() {
            return Err(Full);
        }
        if self.check.races && region != Region::Local {
            self.check_order(env, thread, here, access, (address, bytes), touch)?;
        }
        Ok(())
    }

    /// Bytes of local memory were written, which is no mistake wherever they lie.
    pub(super) fn wrote(&mut self, address: u64, bytes: u32) {
        if self.check.uninitialised {
            self.written.insert(address, bytes.into());
        }
    }

    /// Whether no byte of a range was ever written: the padding of a structure that is copied as a whole is no
    /// mistake.
    fn is_unwritten(&self, region: Region, address: u64, bytes: u32) -> bool {
        (address..address + u64::from(bytes)).all(|at| {
            let before = region == Region::Global && !self.unwritten.contains(at);
            !before && !self.written.contains(at)
        })
    }

    fn check_order(
        &mut self,
        env: &Env,
        thread: u32,
        here: (u32, u64, u32, Action),
        access: (&'static str, u64, u32),
        (address, bytes): (u64, u32),
        touch: Touch,
    ) -> Result<(), Full> {
        let Some(clocks) = self.clocks.get(&env.index) else { return Ok(()) };
        let (block, own) = (env.index as u32, thread);
        let seen = Seen {
            site: here.0,
            time: clocks.now(thread),
            block,
            thread: thread as u16,
            bytes: 0,
            kind: touch,
        };
        let of_warp = |other: &Seen| {
            let warps = [thread, other.thread.into()].map(|thread| thread as usize / WARP);
            other.block == block && warps[0] == warps[1]
        };
        let ordered = |other: &Seen| {
            let there = (other.block, u32::from(other.thread));
            other.block == block && clocks.is_before(there.1, other.time, own)
                || self.releases.is_known((block, own), there, other.time)
                || self.lockstep && of_warp(other)
        };
        let mut conflicts: Vec<(FindingKind, Seen)> = Vec::new();
        let recorded = self.accesses.record(address, bytes, seen, ordered, |other, conflict| {
            let kind = match conflict {
                Conflict::Plain => FindingKind::Race,
                Conflict::Strong if access.0 == Region::Shared.name() && of_warp(other) => {
                    FindingKind::Lockstep
                }
                // Such an order is what these accesses are there to make, or to do without.
                Conflict::Strong => return,
            };
            if !conflicts.iter().any(|(_, known)| known.site == other.site) {
                conflicts.push((kind, *other));
            }
        });
        for (kind, other) in conflicts {
            let there = (other.site, other.block.into(), other.thread.into(), other.kind.action());
            self.add(kind, Some(access), here, Some(there));
        }
        recorded
    }

    /// Keeps a finding, once for each pair of source places.
    fn add(
        &mut self,
        kind: FindingKind,
        access: Option<(&'static str, u64, u32)>,
        site: (u32, u64, u32, Action),
        other: Option<(u32, u64, u32, Action)>,
    ) {
        let line = |site: u32| {
            let origin = self.program.sites[site as usize];
            // Without lines, each instruction is its own place.
            origin.location.map_or(site | 1 << 31, |location| location.0)
        };
        let (a, b) = (line(site.0), other.map_or(u32::MAX, |other| line(other.0)));
        let key = if other.is_some() { (kind, a.min(b), a.max(b)) } else { (kind, a, b) };
        match self.known.get(&key) {
            Some(Some(at)) => self.found[*at].count += 1,
            Some(None) => {}
            None if self.found.len() < self.check.limit => {
                self.known.insert(key, Some(self.found.len()));
                self.found.push(Found { kind, access, site, other, count: 1 });
            }
            None => {
                self.known.insert(key, None);
                self.dropped += 1;
            }
        }
    }

    // The report -----------------------------------------------------------------------------------

    /// Adds what was found to the check's report; what of `unwritten` memory is written now goes to `written`.
    pub(super) fn finish(self, mut written: impl FnMut(u64, u64)) {
        self.written.runs(&mut written);
        let findings: Vec<Finding> = self.found.iter().map(|found| self.finding(found)).collect();
        let lines = if self.check.line_counts { self.lines() } else { BTreeMap::new() };
        self.check.update(|report| {
            for finding in findings {
                merge(report, finding, self.check.limit);
            }
            report.dropped += self.dropped;
            for (line, count) in lines {
                *report.lines.entry(line).or_default() += count;
            }
        });
    }

    fn finding(&self, found: &Found) -> Finding {
        let name = &self.program.ptx.functions[self.kernel as usize].name;
        Finding {
            kind: found.kind,
            kernel: name.clone(),
            access: found.access,
            site: self.site(found.site),
            other: found.other.map(|other| self.site(other)),
            within_warp: found.is_within_warp(),
            count: found.count,
        }
    }

    fn site(&self, (site, block, thread, action): (u32, u64, u32, Action)) -> report::Site {
        let origin = self.program.sites[site as usize];
        report::Site {
            location: location::of(&self.program.ptx, origin.location),
            inlined: location::inlined(&self.program.ptx, origin.location),
            ptx_line: origin.line,
            block: self.config.grid.position(block),
            thread: self.config.block.position(thread.into()),
            action,
        }
    }

    /// How often each line ran: of each of its copies (one for each place where it was inlined) as often as the
    /// instruction that ran most.
    fn lines(&self) -> BTreeMap<(String, u32), u64> {
        let ptx = &self.program.ptx;
        let mut copies: HashMap<(u32, u32, Option<&Inlined>), u64> = HashMap::new();
        for (origin, count) in self.program.sites.iter().zip(&self.counts) {
            let location = origin.location.and_then(|id| ptx.location(id));
            if let Some(location) = location
                && *count > 0
            {
                let copy = (location.file, location.line, location.inlined.as_ref());
                let most = copies.entry(copy).or_default();
                *most = (*most).max(*count);
            }
        }
        let mut lines = BTreeMap::new();
        for ((file, line, _), count) in copies {
            *lines.entry((ptx.file_name(file).to_owned(), line)).or_default() += count;
        }
        lines
    }
}

/// Adds a finding to a report that may have it from an earlier launch.
fn merge(report: &mut Report, finding: Finding, limit: usize) {
    let place = |site: &report::Site| match &site.location {
        Some(location) => (Some(location.clone()), 0),
        None => (None, site.ptx_line),
    };
    let places = |finding: &Finding| (place(&finding.site), finding.other.as_ref().map(place));
    let same = |known: &&mut Finding| {
        (known.kind, &known.kernel) == (finding.kind, &finding.kernel)
            && places(known) == places(&finding)
    };
    if let Some(known) = report.findings.iter_mut().find(same) {
        known.count += finding.count;
    } else if report.findings.len() < limit {
        report.findings.push(finding);
    } else {
        report.dropped += 1;
    }
}
