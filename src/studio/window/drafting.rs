//! A manifest for a text that has none, made on a thread: a text may be long, and its host code hard to follow.

use std::{
    sync::mpsc::{self, Receiver, TryRecvError},
    thread,
};

use ropey::Rope;

use super::{Studio, opening};
use crate::{diagnostic::Severity, scene, session};

/// A manifest on its way.
pub(super) struct Drafting {
    manifest: Receiver<String>,
    /// The text that it is for.
    of: Rope,
}

impl Studio {
    /// Puts a manifest before the open text, and runs it, once it is there.
    pub(super) fn write_manifest(&mut self) {
        if self.drafting.is_some() {
            return self.workspace.tell(Severity::Note, "The manifest is being written already.");
        }
        let document = &self.workspace.document;
        let (text, of) = (document.text.to_string(), document.text.rope().clone());
        let make: Box<dyn FnOnce() -> String + Send> = match (&document.path, &self.session) {
            (Some(path), Some(session)) => Box::new(session.draft(path, text)),
            (Some(path), None) => {
                let path = path.clone();
                Box::new(move || session::draft_of(&path, &text, &[]))
            }
            (None, _) => {
                let name = document.file_name().to_owned();
                Box::new(move || scene::draft(&name, &text))
            }
        };
        let wake = opening::wake(&self.proxy);
        let (sender, manifest) = mpsc::channel();
        let work = move || {
            // Nobody may be there any more who wants it.
            let _ = sender.send(make());
            drop(sender);
            wake();
        };
        match thread::Builder::new().name("manifest".to_owned()).spawn(work) {
            Ok(_) => self.drafting = Some(Drafting { manifest, of }),
            Err(error) => {
                let text = format!("No manifest can be written: {error}.");
                self.workspace.tell(Severity::Error, text);
            }
        }
    }

    /// Takes over a manifest that has come, where the text is still the one that it is for.
    pub(super) fn follow_drafting(&mut self) {
        let Some(drafting) = &self.drafting else { return };
        let manifest = match drafting.manifest.try_recv() {
            Ok(manifest) => Ok(manifest),
            Err(TryRecvError::Empty) => return,
            Err(TryRecvError::Disconnected) => Err("the program has a mistake; please report it"),
        };
        let document = &mut self.workspace.document;
        let is_same = *document.text.rope() == drafting.of;
        self.drafting = None;
        match manifest {
            Ok(manifest) if is_same => {
                document.text.replace(vec![(0..0, manifest)], f64::NEG_INFINITY);
                let text = document.submit();
                // The text has the keyboard, so that one key takes the manifest back.
                self.locals.editor.reveal(1, None);
                self.compile(text);
            }
            Ok(_) => {
                let text =
                    "The manifest is for a text that has changed meanwhile: ask for it once more.";
                self.workspace.tell(Severity::Note, text);
            }
            Err(problem) => {
                self.workspace
                    .tell(Severity::Error, format!("No manifest was written: {problem}."));
            }
        }
    }
}
