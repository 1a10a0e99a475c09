//! The way of a copy from the device to the host, and back.

use std::{
    panic,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::device::{self, Device, EventOptions, Pool, PoolBlock, Stream};

/// As many bytes go at once, so that the page-locked memory which they go through is used again and again: to page-lock
/// as much as the largest states have takes many times as long as the way.
const PART: usize = 32 << 20;

/// A copy on its way from the device to the host, on a stream and a thread of its own: neither the steps nor who asks
/// for them waits.
pub(super) struct Sending(JoinHandle<device::Result<Arrived>>);

/// A copy that has come to the host.
pub(super) struct Arrived {
    pub(super) bytes: Vec<u8>,
    /// How long it was on its way.
    pub(super) took: Duration,
}

impl Sending {
    /// Sends what `block` holds once the work that is on `behind` has ended. `None` where the system has no thread to
    /// spare.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn start(block: Arc<PoolBlock>, behind: &Stream) -> device::Result<Option<Self>> {
        let device = behind.device();
        let written = device.event_with(EventOptions { timing: false, blocking_wait: false })?;
        behind.record(&written)?;
        let stream = device.stream()?;
        stream.wait(&written)?;
        let started = thread::Builder::new()
            .name("copy to the host".to_owned())
            .spawn(move || fetch(&block, &stream));
        match started {
            Ok(thread) => Ok(Some(Self(thread))),
            Err(error) => {
                tracing::warn!("no thread for the way of a copy to the host: {error}");
                Ok(None)
            }
        }
    }

    /// Whether [`Sending::wait`] would return at once.
    pub(super) fn has_arrived(&self) -> bool {
        self.0.is_finished()
    }

    /// What was sent, once it is there.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn wait(self) -> device::Result<Arrived> {
        self.0.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
    }
}

/// Brings `bytes` to `device` and waits for that. Whoever drops them there does not wait.
///
/// # Errors
/// The device's.
pub(super) fn bring(bytes: &[u8], device: &Device) -> device::Result<PoolBlock> {
    let stream = device.stream()?;
    let block = Pool::passing(device).alloc(&stream, bytes.len())?;
    let mut start = 0;
    for part in bytes.chunks(PART) {
        stream.upload(block.slice(start..start + part.len())?, part)?;
        stream.synchronize()?;
        start += part.len();
    }
    Ok(block)
}

fn fetch(block: &PoolBlock, stream: &Stream) -> device::Result<Arrived> {
    let start = Instant::now();
    let mut bytes = Vec::with_capacity(block.bytes());
    for from in (0..block.bytes()).step_by(PART) {
        let to = block.bytes().min(from + PART);
        let part = stream.download(block.slice(from..to)?)?;
        part.wait_with(|part| bytes.extend_from_slice(part))?;
    }
    Ok(Arrived { bytes, took: start.elapsed() })
}
