//! Tables that are made on a thread, from what is on its way from the device: nobody waits for either.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    table::{Content, Halt, Table, Wish},
    wake::Wake,
};

/// Filtering, sorting and counting take no longer.
const LIMIT: Duration = Duration::from_secs(10);

/// What a table is made of: the content of a resource, perhaps once it has come from the device. `None` where it does
/// not come.
pub type Source = Box<dyn FnOnce() -> Option<Content> + Send>;

/// Makes tables on a thread, the newest that is wanted.
#[derive(Default)]
pub struct Tables {
    /// The last one that was made.
    present: Option<Arc<Table>>,
    making: Option<Making>,
    next: Option<(Source, Wish)>,
}

struct Making {
    wish: Wish,
    made: Receiver<Option<Table>>,
    is_unwanted: Arc<AtomicBool>,
}

impl Tables {
    /// Makes one. What is being made as it is not wanted any more is given up.
    pub fn make(&mut self, source: Source, wish: Wish, wake: &Wake) {
        if let Some(making) = self.making.as_ref().filter(|making| making.wish != wish) {
            making.is_unwanted.store(true, Ordering::Relaxed);
        }
        self.next = Some((source, wish));
        self.go_on(wake);
    }

    /// The last one that was made.
    pub fn present(&self) -> Option<&Arc<Table>> {
        self.present.as_ref()
    }

    /// Whether one is being made as it is wanted.
    pub fn is_making(&self, wish: &Wish) -> bool {
        let next = self.next.as_ref().map(|(_, wish)| wish);
        let made = self.making.as_ref().map(|making| &making.wish);
        next.or(made) == Some(wish)
    }

    /// Takes what has been made; gives whether there is something new.
    pub fn take(&mut self, wake: &Wake) -> bool {
        let Some(making) = &self.making else { return false };
        let made = match making.made.try_recv() {
            Ok(made) => made,
            Err(mpsc::TryRecvError::Empty) => return false,
            Err(mpsc::TryRecvError::Disconnected) => None,
        };
        self.making = None;
        let is_new = made.is_some();
        if let Some(made) = made {
            // The memory of a large one is freed where nobody waits for it.
            let old = self.present.replace(Arc::new(made));
            _ = thread::Builder::new().spawn(move || drop(old));
        }
        self.go_on(wake);
        is_new
    }

    fn go_on(&mut self, wake: &Wake) {
        if self.making.is_some() {
            return;
        }
        let Some((source, wish)) = self.next.take() else { return };
        let (sender, made) = mpsc::channel();
        let is_unwanted = Arc::new(AtomicBool::new(false));
        self.making = Some(Making { wish: wish.clone(), made, is_unwanted: is_unwanted.clone() });
        let wake = wake.clone();
        let begun = thread::Builder::new().name("table".into()).spawn(move || {
            let table = source().and_then(|content| {
                let start = Instant::now();
                let go_on = || match (is_unwanted.load(Ordering::Relaxed), start.elapsed() > LIMIT)
                {
                    (true, _) => Err(Halt::Unwanted),
                    (false, true) => Err(Halt::Late),
                    (false, false) => Ok(()),
                };
                Table::make(content, wish, &go_on)
            });
            // The window may be gone.
            let _ = sender.send(table);
            wake();
        });
        if let Err(error) = begun {
            tracing::warn!("no table is made: {error}");
            self.making = None;
        }
    }

    /// Those of which this one is there already.
    #[cfg(test)]
    pub fn with(table: Table) -> Self {
        Self { present: Some(Arc::new(table)), ..Self::default() }
    }

    /// Forgets them: another scene is open.
    pub fn clear(&mut self) {
        if let Some(making) = &self.making {
            making.is_unwanted.store(true, Ordering::Relaxed);
        }
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::{keeper::no_wake, table::tests::content};

    /// A source that comes when it is told to.
    fn source() -> (mpsc::Sender<()>, Source) {
        let (go, wait) = mpsc::channel();
        let come = move || {
            wait.recv().ok()?;
            Some(content(&[[1.0, 2.0], [3.0, 4.0]]))
        };
        (go, Box::new(come))
    }

    fn wish(filter: &str) -> Wish {
        Wish { filter: filter.into(), ..Wish::default() }
    }

    #[track_caller]
    fn taken(tables: &mut Tables) -> Wish {
        let start = Instant::now();
        while !tables.take(&no_wake()) {
            assert!(start.elapsed() < Duration::from_secs(60), "no table comes");
            thread::sleep(Duration::from_millis(1));
        }
        tables.present().unwrap().wish.clone()
    }

    #[test]
    fn nobody_waits_for_the_content_and_only_what_is_wanted_is_made() {
        let mut tables = Tables::default();
        let [(first, one), (second, two), (third, three)] = [source(), source(), source()];
        // Were `make` to wait for the content, it would wait for ever.
        tables.make(one, wish("x > 1"), &no_wake());
        assert!(tables.is_making(&wish("x > 1")) && !tables.take(&no_wake()));
        tables.make(two, wish("x > 2"), &no_wake());
        tables.make(three, wish("x > 3"), &no_wake());
        assert!(tables.is_making(&wish("x > 3")) && !tables.is_making(&wish("x > 1")));
        assert!(second.send(()).is_err(), "the one between is forgotten");
        first.send(()).unwrap();
        third.send(()).unwrap();
        assert_eq!(taken(&mut tables), wish("x > 3"), "the first one is given up");
    }

    #[test]
    fn content_that_does_not_come_is_no_table_and_no_end() {
        let mut tables = Tables::default();
        let (go, come) = source();
        drop(go);
        tables.make(come, Wish::default(), &no_wake());
        while tables.making.is_some() {
            assert!(!tables.take(&no_wake()));
            thread::sleep(Duration::from_millis(1));
        }
        let (go, come) = source();
        tables.make(come, Wish::default(), &no_wake());
        go.send(()).unwrap();
        assert_eq!(taken(&mut tables), Wish::default());
    }
}
