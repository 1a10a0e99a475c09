//! The wish to end early, such as Ctrl-C: raised once, and seen by all who work for long.
//!
//! Enters: a signal. Leaves: a flag, which long work checks. Must not know: `cli`, `session`, `device`.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// The wish to end early. Clones are the same wish.
///
/// Who works for long either asks [`Interrupt::is_raised`] now and then, or is called by [`Interrupt::on_raise`].
///
/// ```
/// use std::sync::mpsc;
/// use warpaint::interrupt::Interrupt;
///
/// let (interrupt, (told, hears)) = (Interrupt::default(), mpsc::channel());
/// let listening = interrupt.on_raise(move || told.send("ending").unwrap_or_default());
/// assert!(!interrupt.is_raised() && hears.try_recv().is_err());
/// interrupt.raise();
/// assert!(interrupt.is_raised());
/// assert_eq!(hears.recv(), Ok("ending"));
/// # drop(listening);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<State>);

#[derive(Default)]
struct State {
    raised: AtomicBool,
    listeners: Mutex<Listeners>,
}

#[derive(Default)]
struct Listeners {
    next: u64,
    waiting: BTreeMap<u64, Box<dyn FnOnce() + Send>>,
}

impl State {
    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("raised", &self.raised).finish_non_exhaustive()
    }
}

impl Interrupt {
    /// Asks for the end, and calls all who listen, on this thread. Not for a signal handler: for a thread that waits
    /// for signals.
    pub fn raise(&self) {
        let waiting = {
            let mut listeners = self.0.listeners();
            self.0.raised.store(true, Ordering::Release);
            std::mem::take(&mut listeners.waiting)
        };
        waiting.into_values().for_each(|listener| listener());
    }

    /// Whether the end was asked for.
    pub fn is_raised(&self) -> bool {
        self.0.raised.load(Ordering::Acquire)
    }

    /// Calls `listener` once when the end is asked for, now where it was already; not after the result was dropped.
    #[must_use = "it is called only while this is kept"]
    pub fn on_raise(&self, listener: impl FnOnce() + Send + 'static) -> Listening {
        let mut listeners = self.0.listeners();
        let number = listeners.next;
        listeners.next += 1;
        if self.is_raised() {
            drop(listeners);
            listener();
        } else {
            listeners.waiting.insert(number, Box::new(listener));
        }
        Listening { state: self.0.clone(), number }
    }
}

/// Keeps a listener of an [`Interrupt`] until it is dropped.
#[derive(Debug)]
pub struct Listening {
    state: Arc<State>,
    number: u64,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let listener = self.state.listeners().waiting.remove(&self.number);
        // What it holds may listen itself, and is dropped without the lock.
        drop(listener);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn each_listener_is_called_once_unless_it_was_dropped() {
        let (interrupt, (told, hears)) = (Interrupt::default(), mpsc::channel());
        let listen = |name: &'static str| {
            let told = told.clone();
            interrupt.on_raise(move || told.send(name).unwrap())
        };
        let (_first, second, _third) = (listen("first"), listen("second"), listen("third"));
        drop(second);
        interrupt.raise();
        interrupt.raise();
        let _late = listen("late");
        assert_eq!(hears.try_iter().collect::<Vec<_>>(), ["first", "third", "late"]);
    }
}
