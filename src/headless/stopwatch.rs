//! Device time of work on a stream.

use super::Result;
use crate::device::{Device, Stream};

/// Rounds of which the quickest counts: what disturbs a round makes it longer.
const ROUNDS: u32 = 5;

/// Milliseconds of one call of `work`, of `calls` one behind the other, in the quickest of several rounds. The first
/// one, which may compile, does not count.
///
/// # Errors
/// The device's, and those of `work`.
pub(super) fn quickest_ms(
    device: &Device,
    stream: &Stream,
    calls: u32,
    mut work: impl FnMut() -> Result<()>,
) -> Result<f64> {
    let (start, end) = (device.event()?, device.event()?);
    let mut best = f64::INFINITY;
    work()?;
    for _ in 0..ROUNDS {
        stream.record(&start)?;
        for _ in 0..calls {
            work()?;
        }
        stream.record(&end)?;
        stream.synchronize()?;
        best = best.min(f64::from(end.elapsed_ms(&start)?) / f64::from(calls));
    }
    Ok(best)
}
