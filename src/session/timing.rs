//! Device times of passes, from events around each.

use std::collections::VecDeque;

use serde::Serialize;

use crate::device::{self, Device, Event, Stream};

/// Steps that the history remembers: four seconds at 60 steps a second.
const HISTORY: usize = 240;

/// A chain of events on a stream, used again for every step.
#[derive(Debug, Default)]
pub(super) struct Stopwatch {
    events: Vec<Event>,
    used: usize,
}

impl Stopwatch {
    /// Forgets the last step's marks.
    pub(super) fn restart(&mut self) {
        self.used = 0;
    }

    /// Marks the moment at which everything put on `stream` so far has ended.
    pub(super) fn mark(&mut self, device: &Device, stream: &Stream) -> device::Result<()> {
        if self.used == self.events.len() {
            self.events.push(device.event()?);
        }
        stream.record(&self.events[self.used])?;
        self.used += 1;
        Ok(())
    }

    /// Whether the last mark was reached; true without marks.
    pub(super) fn is_reached(&self) -> device::Result<bool> {
        self.marks().last().map_or(Ok(true), Event::is_reached)
    }

    /// Waits for the last mark.
    pub(super) fn wait(&self) -> device::Result<()> {
        self.marks().last().map_or(Ok(()), Event::synchronize)
    }

    /// The last mark.
    pub(super) fn last(&self) -> Option<&Event> {
        self.marks().last()
    }

    /// Milliseconds between each two neighbouring marks.
    pub(super) fn laps_ms(&self) -> device::Result<Vec<f32>> {
        self.marks().windows(2).map(|pair| pair[1].elapsed_ms(&pair[0])).collect()
    }

    fn marks(&self) -> &[Event] {
        &self.events[..self.used]
    }
}

/// The last times of every pass, or group of passes, of a step.
#[derive(Debug, Default)]
pub(super) struct Timings {
    passes: Vec<(String, VecDeque<f32>)>,
}

impl Timings {
    /// Follows the passes with these names: times of others are forgotten, those of the same go on.
    pub(super) fn follow(&mut self, names: impl Iterator<Item = String>) {
        let mut before = std::mem::take(&mut self.passes);
        let mut known = |name: &str| {
            let at = before.iter().position(|(n, _)| n == name)?;
            Some(before.swap_remove(at).1)
        };
        self.passes = names
            .map(|name| {
                let times = known(&name).unwrap_or_default();
                (name, times)
            })
            .collect();
    }

    /// Adds the times of one step, one a pass.
    pub(super) fn push(&mut self, laps_ms: &[f32]) {
        for ((_, history), &lap) in self.passes.iter_mut().zip(laps_ms) {
            if history.len() == HISTORY {
                history.pop_front();
            }
            history.push_back(lap);
        }
    }

    /// For a snapshot.
    pub(super) fn timings(&self) -> Vec<PassTiming> {
        self.passes
            .iter()
            .map(|(name, history)| PassTiming {
                name: name.clone(),
                last_ms: history.back().copied().unwrap_or(0.0),
                history_ms: history.iter().copied().collect(),
                bytes: None,
                flops: None,
            })
            .collect()
    }
}

/// Device time of one pass.
#[derive(Clone, Debug, Serialize)]
pub struct PassTiming {
    /// The kernel's name, as the manifest gives it.
    pub name: String,
    /// Milliseconds of the last finished step.
    pub last_ms: f32,
    /// Milliseconds of the last steps, oldest first.
    pub history_ms: Vec<f32>,
    /// Bytes that the manifest says a step's launches move, with the present parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<f64>,
    /// Operations that it says they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flops: Option<f64>,
}
