//! What the studio remembers from one start to the next: sizes, the tab, the last scene.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::file;

/// Written into the file; another number means a file of another format.
const VERSION: u32 = 1;

/// The lower panel's tabs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tab {
    /// Statistics of every resource.
    #[default]
    Statistics,
    /// Time of every pass.
    Timings,
    /// The compiler's log and the PTX.
    Compiler,
}

/// What is remembered. Sizes are in points, which are pixels divided by the display's scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    version: u32,
    /// The window's inner size.
    pub window: [f32; 2],
    /// The editor's width.
    pub editor_width: f32,
    /// The width of the parameters.
    pub parameters_width: f32,
    /// The height of the panel below the view.
    pub lower_height: f32,
    /// The height of the list of diagnostics.
    pub diagnostics_height: f32,
    /// The size of the editor's font.
    pub font_size: f32,
    /// The tab of the panel below the view.
    pub tab: Tab,
    /// The scene that was open last: a path or a built-in's name.
    pub scene: Option<String>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: VERSION,
            window: [1440.0, 900.0],
            editor_width: 520.0,
            parameters_width: 250.0,
            lower_height: 236.0,
            diagnostics_height: 116.0,
            font_size: 13.0,
            tab: Tab::Statistics,
            scene: None,
        }
    }
}

impl State {
    /// What was remembered in `file`; the defaults where it is missing, damaged or of another version.
    pub fn load(file: &Path) -> Self {
        fs::read_to_string(file)
            .ok()
            .and_then(|text| serde_json::from_str::<Self>(&text).ok())
            .filter(|state| state.version == VERSION)
            .map(State::sane)
            .unwrap_or_default()
    }

    /// Remembers this in `file`.
    ///
    /// # Errors
    /// Whatever the system says about writing.
    pub fn store(&self, file: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        file::replace(file, &text)
    }

    /// The same with every size within bounds: a hand-edited file must not give an invisible window.
    fn sane(mut self) -> Self {
        let bounded = |value: &mut f32, low: f32, high: f32, default: f32| {
            *value = if value.is_finite() { value.clamp(low, high) } else { default };
        };
        let default = Self::default();
        bounded(&mut self.window[0], 640.0, 8192.0, default.window[0]);
        bounded(&mut self.window[1], 400.0, 8192.0, default.window[1]);
        bounded(&mut self.editor_width, 240.0, 4096.0, default.editor_width);
        bounded(&mut self.parameters_width, 180.0, 1024.0, default.parameters_width);
        bounded(&mut self.lower_height, 96.0, 2048.0, default.lower_height);
        bounded(&mut self.diagnostics_height, 48.0, 1024.0, default.diagnostics_height);
        bounded(&mut self.font_size, 8.0, 32.0, default.font_size);
        self
    }
}

/// Where the studio keeps its files.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The file of the remembered [`State`].
    pub state: PathBuf,
    /// The folder of unsaved texts.
    pub recovery: PathBuf,
}

impl Folders {
    /// The user's own folders; `None` where the system knows no home.
    pub fn user() -> Option<Self> {
        let folders = directories::ProjectDirs::from("", "", "warpaint")?;
        Some(Self {
            state: folders.config_dir().join("studio.json"),
            recovery: folders.data_local_dir().join("recovery"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/studio.json");
        let state = State {
            editor_width: 777.0,
            tab: Tab::Timings,
            scene: Some("a.cu".into()),
            ..State::default()
        };
        state.store(&file).unwrap();
        assert_eq!(State::load(&file), state);
    }

    #[test]
    fn missing_damaged_and_future_files_are_the_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("studio.json");
        assert_eq!(State::load(&file), State::default());
        for damaged in ["", "{", "[]", "{\"version\": 99}", "{\"editor_width\": \"wide\"}", "\u{0}"]
        {
            fs::write(&file, damaged).unwrap();
            assert_eq!(State::load(&file), State::default(), "{damaged:?}");
        }
    }

    #[test]
    fn sizes_stay_usable() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("studio.json");
        fs::write(&file, "{\"version\": 1, \"window\": [1, 1e30], \"font_size\": -3}").unwrap();
        let state = State::load(&file);
        assert_eq!((state.window, state.font_size), ([640.0, 8192.0], 8.0));
    }
}
