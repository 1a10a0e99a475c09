//! The table of a resource's elements: read when there is time, made on a thread, written to files.

use std::{path::PathBuf, time::Instant};

use super::{READ_AGAIN, Studio, opening};
use crate::{
    diagnostic::Severity,
    file,
    state::archive,
    studio::{
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

    /// Writes the table to a new file in the present folder.
    pub(super) fn export_numbers(&mut self, written: Written) {
        let Some(Table { content, rows, .. }) = &self.tables.present else { return };
        let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let document = self.workspace.document.file_name();
        let stem = format!("{}-{}", document.trim_end_matches(".cu"), content.resource.name);
        let (ending, outcome) = match written {
            Written::Csv => ("csv", content.to_csv(rows).into_bytes()),
            Written::Npy => {
                let mut bytes = Vec::new();
                let made =
                    archive::content_of(&content.resource, content.bytes()).write(&mut bytes);
                if let Err(error) = made {
                    return self
                        .workspace
                        .tell(Severity::Error, format!("No file was written: {error}."));
                }
                ("npy", bytes)
            }
        };
        let path = file::free_name(&folder, &stem, ending);
        let count =
            if written == Written::Npy { Rows::All.count(content) } else { rows.count(content) };
        let (severity, text) = match file::create(&path, outcome) {
            Ok(()) => (Severity::Note, format!("{count} elements are in {}.", path.display())),
            Err(error) => {
                (Severity::Error, format!("{} was not written: {error}.", path.display()))
            }
        };
        self.workspace.tell(severity, text);
    }
}
