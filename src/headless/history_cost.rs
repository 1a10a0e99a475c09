//! `warpaint bench --history`: what it costs to keep the past.
//!
//! After some steps past ones are shown, in any order, as somebody does who drags along the timeline. Then two
//! sessions of a scene do steps in turn, one of them with the past at its default. Parts of several steps are compared,
//! into each of which as many copies fall. They are short: what else the machine does comes and goes, and of many parts
//! the medians do not show it.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::{
    Error, Result, Run, SceneSource,
    run::{progress_bar, run_to},
};
use crate::{
    compile::Compiler,
    device::Device,
    interop::Interop,
    session::{Moment, Past, Session, Timeline, quartiles},
};

/// Before the first part that counts, steps are done for so long: the spacing of copies finds itself, clocks rise.
const WARM_UP: Duration = Duration::from_secs(2);
/// A part takes so long at least.
const PART: Duration = Duration::from_millis(8);
/// A scene is measured for so long; longer where there are not yet enough parts, of which each has several copies: of a
/// large state they take their time.
const PATIENCE: Duration = Duration::from_secs(16);
/// Fewer parts say nothing.
const FEWEST: usize = 8;

/// Steps from the start on among which past ones are shown, and how many.
const PAST_STEPS: u64 = 300;
const SHOWN: u64 = 40;

/// What keeping the past of a scene costs, and what it is to go there.
#[derive(Debug, Serialize)]
pub(super) struct HistoryCost {
    /// Pairs of parts that were compared.
    parts: usize,
    /// Milliseconds of a step, medians of the parts.
    without_ms: f64,
    with_ms: f64,
    /// What a step with the past takes longer, as a part of one without, of each pair: the lower quartile, the median,
    /// the upper one.
    cost: [f64; 3],
    /// Steps from one copy to the next, at the end.
    spacing: u64,
    /// What the session says itself that copies add.
    share: f64,
    /// Bytes of a copy, about.
    copy_bytes: u64,
    /// Milliseconds until a past step is there that is asked for: the lower quartile, the median, the upper one, and
    /// the longest.
    shown_ms: [f64; 4],
}

impl HistoryCost {
    pub(super) fn line(&self) -> String {
        let [low, cost, high] = self.cost.map(|part| 100.0 * part);
        let [soon, shown, late, longest] = self.shown_ms;
        format!(
            "  the past: {cost:+.1} % ({low:+.1} to {high:+.1}, {} pairs) on {:.4} ms a step; {:.1} MiB every {} steps, by \
             its own count {:.1} %; one of {PAST_STEPS} past steps is shown after {shown:.1} ms ({soon:.1} to {late:.1}, at \
             most {longest:.1})",
            self.parts,
            self.without_ms,
            self.copy_bytes as f64 / f64::from(1 << 20),
            self.spacing,
            100.0 * self.share,
        )
    }
}

/// Measures it for a scene.
///
/// # Errors
/// What is wrong with the scene, kernels' faults, the device's errors.
pub(super) fn measure(
    run: &Run,
    scene: &SceneSource,
    device: &Device,
    compiler: &Compiler,
) -> Result<HistoryCost> {
    let open = |past, work: &mut dyn FnMut(&mut Session) -> Result<HistoryCost>| {
        let interop = Interop::none(device);
        run.session_with(scene, device, compiler, interop, past, |session, _| work(session))
    };
    open(Past::Forgotten, &mut |plain| open(Past::Kept, &mut |keeping| compare([plain, keeping])))
}

/// Steps both in turn.
fn compare(mut sessions: [&mut Session; 2]) -> Result<HistoryCost> {
    let shown_ms = show_past(sessions[1])?;
    sessions[1].reset();
    let start = Instant::now();
    let mut step_ms = f64::INFINITY;
    while start.elapsed() < WARM_UP {
        for session in &mut sessions {
            step_ms = part(session, 1)?.min(step_ms);
        }
    }
    let mut times: Vec<[f64; 2]> = Vec::new();
    let start = Instant::now();
    while times.len() < FEWEST || start.elapsed() < PATIENCE {
        let spacing = timeline(sessions[1])?.spacing;
        let steps = (PART.as_secs_f64() * 1e3 / step_ms).ceil() as u64;
        let steps = steps.next_multiple_of(spacing);
        // Who goes first has a colder cache.
        let order = if times.len().is_multiple_of(2) { [0, 1] } else { [1, 0] };
        let mut of_both = [0.0; 2];
        for at in order {
            of_both[at] = part(sessions[at], steps)?;
        }
        times.push(of_both);
    }
    let Timeline { spacing, share, bytes, lines, .. } = timeline(sessions[1])?;
    let copies = lines.iter().map(|line| line.copies.len() as u64).sum::<u64>();
    let of = |at: usize| quartiles(times.iter().map(|both| both[at]))[1];
    Ok(HistoryCost {
        parts: times.len(),
        without_ms: of(0),
        with_ms: of(1),
        cost: quartiles(times.iter().map(|[without, with]| with / without - 1.0)),
        spacing,
        share,
        copy_bytes: bytes.iter().sum::<u64>() / copies.max(1),
        shown_ms,
    })
}

/// Goes to past steps, and says how long that takes: see [`HistoryCost::shown_ms`].
fn show_past(session: &mut Session) -> Result<[f64; 4]> {
    run_to(session, PAST_STEPS, &progress_bar(0))?;
    let timeline = timeline(session)?;
    let Moment { line, step: last } = timeline.shown;
    let first = timeline.lines.iter().find(|of| of.id == line).map_or(last, |line| line.first);
    let mut times = Vec::new();
    for round in 1..=SHOWN {
        // Neighbours lie far apart, and none comes twice.
        let step = first + round * 113 % (last - first).max(1);
        let start = Instant::now();
        session.seek(Moment { line, step });
        session.wait_until_seen()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        session.finish_seeking()?;
    }
    let [soon, shown, late] = quartiles(times.iter().copied());
    Ok([soon, shown, late, times.into_iter().fold(0.0, f64::max)])
}

/// Milliseconds of a step, of so many of them.
fn part(session: &mut Session, steps: u64) -> Result<f64> {
    let start = Instant::now();
    run_to(session, session.clock().step + steps, &progress_bar(0))?;
    Ok(start.elapsed().as_secs_f64() * 1e3 / steps as f64)
}

fn timeline(session: &Session) -> Result<Timeline> {
    let timeline = session.snapshot().timeline;
    let timeline = timeline.filter(|of| of.gap.is_none());
    timeline.ok_or_else(|| Error::Usage("of this scene no past is kept".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::quartiles;

    #[test]
    fn quartiles_are_numbers_of_the_list() {
        assert_eq!(quartiles([5.0, 1.0, 4.0, 2.0, 3.0].into_iter()), [2.0, 3.0, 4.0]);
    }
}
