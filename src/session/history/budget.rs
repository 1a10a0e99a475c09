//! How much memory the past takes, and what is forgotten for want of it.

use std::{collections::BTreeSet, thread};

use serde::{Deserialize, Serialize};

use super::History;
use crate::{
    device::{Device, DeviceKind, Stream},
    machine::memory_bytes,
    session::{Error, line::Line, moment::Moment},
    state::Transfer,
};

/// What copies may add to the time of steps, as a part of it, where nobody says. By the clock they add a little more
/// than their own time, which is what is measured: with this share at most 5 % are wanted.
const SHARE: f64 = 0.04;

/// So many parts of the past with a program each, which is what begins with an edit: programs stay loaded for it, and
/// take a megabyte or more, whatever room their copies take.
const MOST_SEGMENTS: usize = 200;

/// Memory for copies, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// On the device.
    pub device: u64,
    /// With the host, for older ones. None on the CPU device, whose memory is the host's.
    pub host: u64,
}

/// How the past is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Keeping {
    /// Memory for copies.
    pub budget: Budget,
    /// What copies may add to the time of steps, as a part of it: from a thousandth to all of it.
    pub share: f64,
}

impl Keeping {
    /// This one, where nobody says another share.
    pub(in crate::session) fn within(budget: Budget) -> Self {
        Self { budget, share: SHARE }
    }
}

impl Budget {
    /// An eighth of the memory of both, where nobody says.
    pub(in crate::session) fn of(device: &Device) -> Self {
        let host = memory_bytes() / 8;
        match device.info().kind {
            DeviceKind::Cpu => Self { device: host, host: 0 },
            DeviceKind::Nvidia => {
                let free = device.memory_info().map_or(0, |memory| memory.free);
                Self { device: free / 8, host }
            }
        }
    }
}

impl History {
    /// How the past is kept from now on; what has no room then goes with the next [`History::trim`].
    pub(in crate::session) fn keep(&mut self, Keeping { budget, share }: Keeping) {
        let share = if share.is_nan() { SHARE } else { share.clamp(0.001, 1.0) };
        self.keeping = Keeping { budget, share };
        self.is_narrowed = true;
    }

    /// Keeps within the budget: what is older goes to the host, and what has no room there is forgotten, so that the
    /// copies that stay lie the farther apart the older they are. Never waits.
    ///
    /// # Errors
    /// The device's.
    pub(in crate::session) fn trim(&mut self, stream: &Stream) -> Result<(), Error> {
        for segment in self.lines.iter_mut().flat_map(|line| &mut line.segments) {
            segment.checksums.settle()?;
        }
        self.is_narrowed = false;
        self.forget_old_programs();
        let Budget { device, mut host } = self.keeping.budget;
        let [mut on_device, mut with_host] = self.bytes;
        if on_device > device && host > 0 || self.is_sending {
            self.is_sending = false;
            for segment in self.lines.iter_mut().flat_map(|line| &mut line.segments) {
                for checkpoint in segment.checkpoints.values_mut() {
                    match checkpoint.settle()? {
                        Transfer::UnderWay => self.is_sending = true,
                        Transfer::Arrived(took) => {
                            self.sending_ms.add(took.as_secs_f64() * 1e3);
                            let bytes = checkpoint.bytes() as u64;
                            (on_device, with_host) =
                                (on_device.saturating_sub(bytes), with_host + bytes);
                        }
                        // No more goes there than is there.
                        Transfer::NoRoom(_) => host = with_host,
                        // One after the other: each takes its time.
                        Transfer::None
                            if checkpoint.is_on_device()
                                && on_device > device
                                && !self.is_sending =>
                        {
                            checkpoint.send_to_host(stream)?;
                            self.is_sending = true;
                        }
                        Transfer::None => {}
                    }
                }
            }
            self.bytes = [on_device, with_host];
            self.keeping.budget.host = host;
        }
        let mut excess = (on_device + with_host).saturating_sub(device + host);
        if excess == 0 {
            return Ok(());
        }
        while excess > 0 {
            let freed = self.forget_one();
            if freed == 0 {
                break;
            }
            excess = excess.saturating_sub(freed);
        }
        self.recount();
        if self.pool.statistics().held_bytes as u64 > device / 4 {
            // To free memory waits for the device. Without a thread it stays.
            let pool = self.pool.clone();
            _ = thread::Builder::new().name("free".to_owned()).spawn(move || pool.trim());
        }
        Ok(())
    }

    /// Forgets the oldest steps where more programs would stay loaded for the past than [`MOST_SEGMENTS`].
    fn forget_old_programs(&mut self) {
        let segments = self.lines.iter().map(|line| line.segments.len()).sum::<usize>();
        let excess = segments.saturating_sub(MOST_SEGMENTS);
        if excess > 0 {
            (0..excess).for_each(|_| _ = self.forget_oldest_segment());
            self.recount();
        }
    }

    /// Forgets the copy that is missed least. Gives its size.
    fn forget_one(&mut self) -> u64 {
        let present = self.current().map_or(0, |line| line.end);
        let mut least: Option<(f64, usize, usize, u64)> = None;
        for (at, line) in self.lines.iter().enumerate() {
            for (of, segment) in line.segments.iter().enumerate() {
                let end = line.segments.get(of + 1).map_or(line.end, |next| next.start);
                let mut before = segment.start;
                let mut steps = segment.checkpoints.keys().copied().skip(1).peekable();
                while let Some(step) = steps.next() {
                    let gap = steps.peek().copied().unwrap_or(end).max(step) - before;
                    let age = present.abs_diff(step) + 1;
                    let missed = gap as f64 / age as f64;
                    if least.is_none_or(|(known, ..)| missed < known) {
                        least = Some((missed, at, of, step));
                    }
                    before = step;
                }
            }
        }
        match least {
            Some((_, line, segment, step)) => {
                let removed = self.lines[line].segments[segment].checkpoints.remove(&step);
                removed.map_or(0, |checkpoint| checkpoint.bytes() as u64)
            }
            None => self.forget_oldest_segment(),
        }
    }

    fn forget_oldest_segment(&mut self) -> u64 {
        let mut with_segments = self.lines.iter_mut().filter(|line| !line.segments.is_empty());
        let Some(oldest) = with_segments.next() else { return 0 };
        let segment = oldest.segments.remove(0);
        if self.current().is_some_and(|line| line.segments.is_empty()) {
            self.is_interrupted = true;
        }
        // What led to the steps that are had again stays known.
        let going_on = self.current().map(|line| line.id);
        let has_steps = |line: &&Line| !line.segments.is_empty() || Some(line.id) == going_on;
        let ends = self.lines.iter().filter(has_steps);
        let ends = ends.map(|line| Moment { line: line.id, step: line.end });
        let led: BTreeSet<u64> =
            ends.flat_map(|end| self.ancestry(end)).map(|(line, _)| line.id).collect();
        self.lines.retain(|line| led.contains(&line.id));
        segment.checkpoints.values().map(|checkpoint| checkpoint.bytes() as u64).sum()
    }
}
