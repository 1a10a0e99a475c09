//! Files of the user's choice: the start page, the system's dialogs, saving.

use std::path::{Path, PathBuf};

use super::{Studio, opening};
use crate::{
    diagnostic::Severity,
    scene,
    studio::{
        dialog::{Answer, Purpose},
        document::Document,
        origin::Origin,
    },
};

impl Studio {
    /// Shows the start page; the keyboard is its search's, or that of its field for a path.
    pub(super) fn show_start(&mut self, for_path: bool) {
        if let Some(folder) = &self.thumbnails {
            self.gallery.make_pictures(folder.clone(), opening::wake(&self.proxy));
        }
        self.locals.start.open(for_path);
    }

    /// Opens a copy of a template, which is in no file yet.
    pub(super) fn begin(&mut self, template: &str) {
        if let Ok(template) = scene::find_template(template) {
            let name = format!("{}.cu", template.name);
            self.open_document(Document::new(name, None, template.source));
        }
    }

    pub(super) fn save(&mut self) {
        if self.workspace.document.path.is_none() {
            return self.choose_file(Purpose::SaveAs);
        }
        let before = self.workspace.document.origin().clone();
        self.workspace.save(&folder());
        self.note_saved(&before);
    }

    pub(super) fn save_to(&mut self, path: PathBuf) {
        let before = self.workspace.document.origin().clone();
        match self.workspace.save_as(path.clone()) {
            Ok(()) => {
                self.locals.start.close();
                self.note_saved(&before);
            }
            Err(problem) => self.locals.start.ask_again(&path, &problem),
        }
    }

    /// What was meant for the scene as it was called before is meant for it as it is called now.
    fn note_saved(&mut self, before: &Origin) {
        if self.options.meant_for.as_ref() == Some(before) {
            self.options.meant_for = Some(self.workspace.document.origin().clone());
        }
        self.note_scene();
    }

    /// Asks for a file by the system's dialog.
    pub(super) fn choose_file(&mut self, purpose: Purpose) {
        let proposed = self.proposed();
        let (folder, name) = (proposed.parent().unwrap_or(Path::new(".")), proposed.file_name());
        let name = name.map(|name| name.display().to_string()).unwrap_or_default();
        self.asked_for = Some(self.workspace.document.origin().clone());
        self.dialogs.ask(purpose, folder, &name, opening::wake(&self.proxy));
    }

    /// Goes on with the file that was chosen, or asks for its path where the system has no dialog.
    pub(super) fn take_chosen_file(&mut self) {
        let Some(answer) = self.dialogs.answer() else { return };
        self.redraws.want(std::time::Instant::now());
        match answer {
            Answer::Chosen(Purpose::Open, path) => {
                self.take_in();
                self.open_file(&path);
            }
            Answer::Chosen(Purpose::SaveAs, _)
                if self.asked_for.as_ref() != Some(self.workspace.document.origin()) =>
            {
                let text = "Nothing was saved: another scene was opened meanwhile.";
                self.workspace.tell(Severity::Warning, text);
            }
            Answer::Chosen(Purpose::SaveAs, path) => self.save_to(path),
            Answer::NoDialog(Purpose::Open) => self.show_start(true),
            Answer::NoDialog(Purpose::SaveAs) => {
                let proposed = self.proposed();
                self.locals.start.ask_where_to_save(&proposed);
            }
            Answer::Cancelled => {}
        }
    }

    /// Where the text would be saved: its file, or one that is not there yet.
    fn proposed(&self) -> PathBuf {
        let document = &self.workspace.document;
        document.path.clone().unwrap_or_else(|| {
            let name = document.file_name();
            crate::file::free_name(&folder(), name.strip_suffix(".cu").unwrap_or(name), "cu")
        })
    }
}

fn folder() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}
