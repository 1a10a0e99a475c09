//! The table of a resource's elements: read when there is time, made on a thread, written to files; and other files of
//! numbers.

use std::{
    io,
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use super::{READ_AGAIN, Studio, opening};
use crate::{
    diagnostic::Severity,
    file,
    session::Session,
    state::archive,
    studio::{
        number,
        panes::Pane,
        table::{Content, MOST_BYTES, Rows, Table, Written},
        tables::Source,
        trace,
    },
};

/// What did not come is asked for again after this pause.
const ASK_AGAIN: Duration = Duration::from_millis(100);

impl Studio {
    /// Keeps the table that is shown up to date. Nothing is waited for: while a step runs there is no new one.
    pub(super) fn follow_numbers(&mut self, now: Instant) {
        let wake = opening::wake(&self.proxy);
        while let Ok((severity, text)) = self.written.1.try_recv() {
            self.workspace.tell(severity, text);
            self.redraws.want(now);
        }
        if self.tables.take(&wake) {
            self.redraws.want(now);
        }
        if !self.state.panes.shows(Pane::Numbers) {
            return;
        }
        let local = &self.locals.numbers;
        let Some(name) = local.chosen(&self.snapshot) else { return };
        let is_of_it = |table: &&Arc<Table>| table.content.resource.name == name;
        let present = self.tables.present().filter(is_of_it).cloned();
        let wish = local.wish.clone();
        let Some(session) = &mut self.session else { return };
        let is_stale = present.as_ref().is_none_or(|table| {
            let clock = session.clock();
            let is_time = !clock.playing || now.duration_since(self.read_at) >= READ_AGAIN;
            is_time && table.content.picture != session.picture()
        });
        if is_stale && !self.tables.is_making(&wish) {
            let again = self.read_at + ASK_AGAIN;
            if present.is_none() && now < again {
                self.redraws.want(again);
            } else if let Some(source) = source(session, &name) {
                self.read_at = now;
                self.tables.make(source, wish, &wake);
            }
        } else if let Some(table) = present
            && table.wish != wish
            && !self.tables.is_making(&wish)
        {
            let content = table.content.clone();
            self.tables.make(Box::new(move || Some(content)), wish, &wake);
        }
    }

    /// Writes the table to a new file in the present folder, on a thread.
    pub(super) fn export_numbers(&mut self, written: Written) {
        let Some(table) = self.tables.present().cloned() else { return };
        let document = self.workspace.document.file_name();
        let stem = format!("{}-{}", document.trim_end_matches(".cu"), table.content.resource.name);
        self.on_thread(move || outcome(&table, written, &stem));
    }
}

impl Studio {
    /// Writes the times of the last frames to a new file in the present folder, on a thread.
    pub(super) fn export_timings(&mut self, written: trace::Written) {
        let scene = self.workspace.document.file_name().trim_end_matches(".cu").to_owned();
        let (text, ending) = match written {
            trace::Written::Trace => (self.trace.to_chrome(&scene), "json"),
            trace::Written::Csv => (self.trace.to_csv(), "csv"),
        };
        let count = number::count(self.trace.frames().count() as u64);
        self.on_thread(move || {
            let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
            let path = file::free_name(&folder, &format!("{scene}-timings"), ending);
            match file::create(&path, text) {
                Ok(()) => (Severity::Note, format!("{count} frames are in {}.", path.display())),
                Err(error) => {
                    (Severity::Error, format!("{} was not written: {error}.", path.display()))
                }
            }
        });
    }

    /// Writes a file on a thread; what became of it is told.
    pub(super) fn on_thread(&mut self, write: impl FnOnce() -> super::Outcome + Send + 'static) {
        let tell = self.teller();
        let begun = thread::Builder::new().name("export".into()).spawn(move || tell(write()));
        self.writers.retain(|writer| !writer.is_finished());
        match begun {
            Ok(writer) => self.writers.push(writer),
            Err(error) => {
                self.workspace.tell(Severity::Error, format!("No file was written: {error}."));
            }
        }
    }

    /// What tells, from any thread, what became of a file.
    pub(super) fn teller(&self) -> impl FnOnce(super::Outcome) + Send + 'static {
        let (sender, wake) = (self.written.0.clone(), opening::wake(&self.proxy));
        move |outcome| {
            // The window may be gone.
            let _ = sender.send(outcome);
            wake();
        }
    }
}

/// The content of a resource, which is on its way from the device; `None` while a step is under way, and of what is too
/// large.
fn source(session: &mut Session, name: &str) -> Option<Source> {
    let (resource, of) = (session.resource(name)?.clone(), session.type_of(name)?);
    if resource.bytes() > MOST_BYTES {
        return None;
    }
    let moment = (session.clock().step, session.picture());
    let readback = match session.start_read(name) {
        Ok(readback) => readback?,
        Err(error) => {
            tracing::debug!("{name} is not read: {error}");
            return None;
        }
    };
    Some(Box::new(move || match readback.wait() {
        Ok(bytes) => Some(Content::new(resource, of, moment, bytes)),
        Err(error) => {
            tracing::debug!("{} is not read: {error}", resource.name);
            None
        }
    }))
}

/// Writes a table, and says what became of it.
fn outcome(table: &Table, written: Written, stem: &str) -> (Severity, String) {
    let Table { content, rows, .. } = table;
    let (ending, rows) = match written {
        Written::Csv => ("csv", rows),
        Written::Npy => ("npy", &Rows::All),
    };
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let path = file::free_name(&folder, stem, ending);
    let write = |to: &mut dyn io::Write| match written {
        Written::Csv => content.write_csv(rows, to),
        Written::Npy => archive::content_of(&content.resource, content.bytes()).write(to),
    };
    match file::create_with(&path, write) {
        Ok(()) => {
            let count = number::count(rows.count(content));
            (Severity::Note, format!("{count} elements are in {}.", path.display()))
        }
        Err(error) => (Severity::Error, format!("{} was not written: {error}.", path.display())),
    }
}
