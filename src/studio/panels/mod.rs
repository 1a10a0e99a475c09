//! The panels around the view, one a file.
//!
//! Enters: a [`Snapshot`](crate::session::Snapshot), the studio's own text and settings. Leaves: [`Action`]s. Must not
//! know: `device`, `gl`, `interop`, `draw`, `compile`.
//!
//! Panels call neither the device nor the session, so that every panel can be shown with made-up values.

pub mod axes;
pub mod banner;
pub mod color_field;
pub mod comparison;
pub mod comparison_menu;
pub mod compiler;
pub mod console;
pub mod device_menu;
pub mod diagnostics;
pub mod editor;
pub mod file_line;
pub mod layout_menu;
pub mod legend;
pub mod naming;
mod number_edit;
pub mod numbers;
pub mod offers;
pub mod palette;
pub mod parameters;
pub mod past_menu;
pub mod path_field;
pub mod plots;
mod readout;
pub mod recording;
pub mod sides;
pub mod start;
pub mod statistics;
pub mod status;
pub mod timeline;
pub mod timings;
pub mod title;
pub mod transport;
pub mod trouble;
pub mod unsaved;
pub mod view;

use std::{borrow::Cow, path::PathBuf};

use egui::{Label, Response, RichText, Role, Sense, Stroke, Ui, WidgetInfo};

use super::{
    colors,
    panes::{Edge, Pane, Slot},
    reel::Format,
    runners::Runner,
    theme,
    viewpoints::{Side, Switch},
};
use crate::session::{Command, Exportable, Recoloring, Renamed};

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
    /// Start the studio anew, as another process that goes on from here.
    StartAnew,
    /// Forget what was printed and told.
    ClearConsole,
    /// Show an element of a resource in the table.
    ShowElement(String, u64),
    /// Write the table of elements to a file.
    ExportNumbers(numbers::Written),
    /// Write the times of the last frames to a file.
    ExportTimings(timings::Written),
    /// Take away the notice with this number.
    Dismiss(u64),
    /// Look at the view of a pane; of the one that was touched last where none is named.
    Look(Option<Slot>, Look),
}

/// How somebody looks at a view.
#[derive(Clone, Debug, PartialEq)]
pub enum Look {
    /// Turn the camera, by a part of the view's height.
    Orbit([f32; 2]),
    /// Move the camera sideways, by a part of the view's height.
    Pan([f32; 2]),
    /// Come nearer by a factor (more than 1) or go farther.
    Zoom {
        /// How much.
        factor: f32,
        /// Where the pointer is, from -1 at the view's lower left corner to 1 at its upper right one.
        at: [f32; 2],
    },
    /// The camera's first place again, or all of an image.
    Reset,
    /// The camera so that all that is drawn now is in the picture.
    Fit,
    /// The camera on this side of its target.
    From(Side),
    /// The camera on the opposite side.
    FromBehind,
    /// Switch something on or off.
    Switch(Switch),
    /// Show the view that is called so.
    Show(String),
    /// The pointer over the view changed: what kernels get as `mouse`.
    Pointer(Pointer),
    /// Follow the element that is drawn there, from 0 at the view's lower left corner to 1 at its upper right one, or
    /// none where nothing is.
    Pick([f32; 2]),
    /// The same where the pointer is, or in the middle of the view.
    PickHere,
    /// Follow the element with this index of the resource that is followed.
    Follow(u64),
    /// Follow none.
    Unfollow,
    /// Choose the colours.
    Color(Recoloring),
    /// Measure distances from now on, or no more.
    Measure,
    /// Measure no more.
    StopMeasuring,
}

impl Action {
    /// Whether it begins to compare.
    pub fn starts_comparison(&self) -> bool {
        matches!(self, Self::CompareWithFile | Self::Session(Command::StartComparison(_)))
    }
}

/// The pointer in the view.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pointer {
    /// From 0 at the view's lower left corner to 1 at its upper right one.
    pub position: [f32; 2],
    /// Bit 0 left, bit 1 right, bit 2 middle button.
    pub buttons: u32,
    /// Wheel notches since the last one.
    pub wheel: f32,
    /// Whether it is over the view.
    pub inside: bool,
}

/// What an image has under the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Column and row of the texel; row 0 is the lowest one.
    pub texel: [u32; 2],
    /// Its components as they are stored.
    pub values: Vec<f64>,
    /// Those of B, where two are compared.
    pub other: Option<Vec<f64>>,
}

/// Times of the window's own frames, oldest first.
#[derive(Clone, Debug, Default)]
pub struct FrameTimes {
    /// Frames shown a second, over the last second.
    pub per_second: f32,
    /// Milliseconds from frame to frame.
    pub frame_ms: Vec<f32>,
    /// Milliseconds that OpenGL took to draw the view.
    pub draw_ms: Vec<f32>,
}

/// Gives what shows a bare value a name, for those who do not see where it stands.
pub fn named(response: &Response, name: &str) {
    response.ctx.accesskit_node_builder(response.id, |node| node.set_label(name));
}

/// A word of several, of which one is chosen: a line stands under that one.
pub fn tab(ui: &mut Ui, name: &str, chosen: bool) -> Response {
    let color = if chosen { theme::strong() } else { theme::weak() };
    let response = ui.add(Label::new(RichText::new(name).color(color)).sense(Sense::click()));
    response.widget_info(|| WidgetInfo::selected(Role::Tab, ui.is_enabled(), chosen, name));
    let rect = response.rect;
    if chosen || response.hovered() {
        let color = if chosen { theme::accent() } else { theme::faint() };
        ui.painter().hline(rect.x_range(), rect.bottom() + 2.0, Stroke::new(2.0, color));
    }
    response
}

/// The first `most` letters of a text, and a sign where there are more. A scene's texts have any length, and what egui
/// lays out takes some hundred bytes a letter.
fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}\u{2026}", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_texts_are_shortened_between_letters() {
        assert_eq!(shortened("f\u{fc}nf", 4), "f\u{fc}nf");
        assert_eq!(shortened("f\u{fc}nfe", 2), "f\u{fc}\u{2026}");
        assert_eq!(shortened("", 0), "");
    }
}
