//! What the user wants.

use std::path::PathBuf;

use super::{
    colors,
    look::Look,
    panes::{Edge, Pane, Slot},
    reel::Format,
    runners::Runner,
    table, trace,
};
use crate::session::{Command, Exportable, Renamed};

/// What the user wants. The window carries it out.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Compile this text: a pause has passed since the last key.
    Edit(String),
    /// Compile this text now.
    Compile(String),
    /// What the session does.
    Session(Command),
    /// Let another device run the scene, from its present state on.
    RunOn(Runner),
    /// Go round and round between two steps, or no more.
    Loop(Option<[u64; 2]>),
    /// Compare what runs with the text that its file has.
    CompareWithFile,
    /// Write a file of the present state, or of what led to it.
    Export(Exportable),
    /// Put the colours of such a view into the manifest.
    WriteColors(Option<Slot>),
    /// Put the picture of such a view on the clipboard.
    CopyPicture(Option<Slot>),
    /// Put where the camera of a view is now into the manifest; of the one that was touched last where none is named.
    WriteCamera(Option<Slot>),
    /// Write a manifest before the text, which has none.
    WriteManifest,
    /// Put the present values of the parameters that are called so into the manifest.
    WriteValues(Vec<String>),
    /// Put the present values of all parameters into the manifest, as a preset that is called so.
    SavePreset(String),
    /// Say in the manifest that what an edit took away is what it brought, by another name.
    KeepRenamed(Renamed),
    /// Write the text to its file, or to a new one where it has none.
    Save,
    /// Ask where the text is to be written to.
    SaveAs,
    /// Write the text to this file, which is the scene's from then on.
    SaveTo(PathBuf),
    /// Show the start page.
    ShowStart,
    /// Ask which file is to be opened.
    ChooseFile,
    /// Open a copy of the template that is called so.
    New(&'static str),
    /// Open a scene's file.
    Open(PathBuf),
    /// Open a built-in scene.
    OpenBuiltIn(String),
    /// Show a line, and a column where known (both from 1), in the editor.
    Reveal(u32, Option<u32>),
    /// Show a line, from 1, of an included file, which diagnostics call so.
    RevealIn(String, u32),
    /// Take the text that is on the disk, instead of the editor's.
    ReloadFromDisk,
    /// Keep the editor's text although the disk has another.
    KeepMine,
    /// Let the open scene include files from anywhere, and compile it anew.
    Trust,
    /// Put the unsaved text in this file into the editor, with its document.
    Recover(PathBuf),
    /// Forget the unsaved text in this file.
    Discard(PathBuf),
    /// Ask no more about unsaved texts until the next start.
    AskLater,
    /// Show the studio in these colours.
    ChooseColors(colors::Choice),
    /// Show all of it larger by a factor, or as large as usual.
    Scale(Option<f32>),
    /// Bring a pane in sight.
    ShowPane(Pane),
    /// Show a pane no longer.
    HidePane(Pane),
    /// Put the pane that was touched last along an edge of the window.
    PutAt(Edge),
    /// Show a view in one more pane.
    AddView,
    /// All panes where they are at first.
    UsualPanes,
    /// Panes as the layout with this name has them.
    ChooseLayout(String),
    /// Ask for a name, for the panes as they lie now.
    NameLayout,
    /// Keep the panes as they lie now by this name.
    SaveLayout(String),
    /// Forget the layout with this name.
    DeleteLayout(String),
    /// Give the view that was touched last the whole window, or take it away again.
    FullWindow,
    /// Write the picture of a view to a new file; of the one that was touched last where none is named.
    Screenshot(Option<Slot>),
    /// Record such a view as a format says, or as the last time; ends the recording that is under way.
    Record(Option<Slot>, Option<Format>),
    /// Open the file with the keys of the user's own, which is written first where there is none.
    OpenShortcuts,
    /// Start the studio anew, as another process that goes on from here.
    StartAnew,
    /// Forget what was printed and told.
    ClearConsole,
    /// Show an element of a resource in the table.
    ShowElement(String, u64),
    /// Write the table of elements to a file.
    ExportNumbers(table::Written),
    /// Write the times of the last frames to a file.
    ExportTimings(trace::Written),
    /// Take away the notice with this number.
    Dismiss(u64),
    /// Look at the view of a pane; of the one that was touched last where none is named.
    Look(Option<Slot>, Look),
}

impl Action {
    /// Whether it begins to compare.
    pub fn starts_comparison(&self) -> bool {
        matches!(self, Self::CompareWithFile | Self::Session(Command::StartComparison(_)))
    }
}
