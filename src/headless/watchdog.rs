//! A limit for what cannot be stopped: OpenGL draws until it is done, on some machines by the processor.

use std::{
    fmt,
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use super::Error;
use crate::session;

/// What to do, on another thread, when something takes longer than it may and cannot be stopped: end the process, as
/// the thread that waits for it can do nothing. The default is to wait.
#[derive(Clone, Default)]
pub struct OnStuck(Option<Arc<Call>>);

type Call = dyn Fn(&Error) + Send + Sync;

impl OnStuck {
    /// Calls `end`.
    pub fn new(end: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(end)))
    }
}

impl fmt::Debug for OnStuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "OnStuck(call)" } else { "OnStuck(wait)" })
    }
}

/// Calls an [`OnStuck`] unless it is dropped in time.
#[derive(Debug)]
pub(super) struct Watchdog {
    /// Closed when this is dropped.
    _awake: Option<mpsc::Sender<()>>,
}

impl Watchdog {
    pub(super) fn start(limit: Duration, on_stuck: OnStuck) -> Self {
        let Some(end) = on_stuck.0 else { return Self { _awake: None } };
        let (awake, asleep) = mpsc::channel::<()>();
        let watch = move || {
            if asleep.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                end(&Error::Session(session::Error::Stuck {
                    work: "drawing",
                    seconds: limit.as_secs_f64(),
                    device: "OpenGL".to_owned(),
                }));
            }
        };
        let started = thread::Builder::new().name("watchdog".to_owned()).spawn(watch);
        if let Err(error) = started {
            tracing::warn!("drawing has no limit: {error}");
        }
        Self { _awake: Some(awake) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_takes_too_long_is_told() {
        let (told, hears) = mpsc::channel();
        let on_stuck = OnStuck::new(move |error| told.send(error.to_string()).unwrap_or(()));
        drop(Watchdog::start(Duration::from_secs(3600), on_stuck.clone()));
        assert!(hears.try_recv().is_err());
        let watchdog = Watchdog::start(Duration::from_millis(10), on_stuck);
        let text = hears.recv().unwrap();
        drop(watchdog);
        assert!(text.starts_with("drawing takes longer than 0.01 s"), "{text}");
        assert!(text.ends_with("OpenGL cannot stop it"), "{text}");
    }
}
