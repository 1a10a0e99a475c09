//! The table of a resource's elements: read when there is time, made on a thread, written to files.

use std::{io, path::PathBuf, thread, time::Instant};

use super::{READ_AGAIN, Studio, opening};
use crate::{
    diagnostic::Severity,
    file,
    state::archive,
    studio::{
        number,
        panels::numbers::Written,
        state::Tab,
        table::{Content, Rows, Table},
    },
};

/// Larger resources are not read for the table.
const MOST_BYTES: u64 = 256 << 20;

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
        if self.state.tab != Tab::Numbers || self.tables.is_making() {
            return;
        }
        let local = &self.locals.numbers;
        let Some(name) = local.chosen(&self.snapshot) else { return };
        let present = self.tables.present.as_ref();
        let present = present.filter(|table| table.content.resource.name == name);
        let Some(session) = &mut self.session else { return };
        let is_stale = present.is_none_or(|table| {
            let clock = session.clock();
            let is_time = !clock.playing || now.duration_since(self.read_at) >= READ_AGAIN;
            is_time && table.content.step != clock.step
        });
        if is_stale && !session.is_working() {
            self.read_at = now;
            let (Some(resource), Some(of)) =
                (session.resource(&name).cloned(), session.type_of(&name))
            else {
                return;
            };
            if resource.bytes() > MOST_BYTES {
                return;
            }
            let step = session.clock().step;
            match session.read(&name) {
                Ok(bytes) => {
                    let content = Content::new(resource, of, step, bytes);
                    self.tables.make(content, local.wish.clone(), &wake);
                }
                Err(error) => tracing::debug!("{name} is not read: {error}"),
            }
        } else if let Some(table) = present.filter(|table| table.wish != local.wish) {
            let (content, wish) = (table.content.clone(), local.wish.clone());
            self.tables.make(content, wish, &wake);
        }
    }

    /// Writes the table to a new file in the present folder, on a thread.
    pub(super) fn export_numbers(&mut self, written: Written) {
        let Some(table) = self.tables.present.clone() else { return };
        let document = self.workspace.document.file_name();
        let stem = format!("{}-{}", document.trim_end_matches(".cu"), table.content.resource.name);
        let (sender, wake) = (self.written.0.clone(), opening::wake(&self.proxy));
        let begun = thread::Builder::new().name("export".into()).spawn(move || {
            // The window may be gone.
            let _ = sender.send(outcome(&table, written, &stem));
            wake();
        });
        if let Err(error) = begun {
            self.workspace.tell(Severity::Error, format!("No file was written: {error}."));
        }
    }
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
    match bytes(content, rows, written).and_then(|bytes| file::create(&path, bytes)) {
        Ok(()) => {
            let count = number::count(rows.count(content));
            (Severity::Note, format!("{count} elements are in {}.", path.display()))
        }
        Err(error) => (Severity::Error, format!("{} was not written: {error}.", path.display())),
    }
}

fn bytes(content: &Content, rows: &Rows, written: Written) -> io::Result<Vec<u8>> {
    match written {
        Written::Csv => Ok(content.to_csv(rows).into_bytes()),
        Written::Npy => {
            let mut bytes = Vec::new();
            archive::content_of(&content.resource, content.bytes()).write(&mut bytes)?;
            Ok(bytes)
        }
    }
}
