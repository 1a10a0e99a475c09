//! What the studio remembers from one start to the next: sizes, the tab, the last scene and how it
//! was looked at.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use serde::{Deserialize, Serialize};

use super::{
    colors,
    keeper::{Due, Keeper},
    panes::{Arrangement, Layouts, MOST_VIEWS, Slot},
    parameter_keys,
    reel::Format,
    theme,
    viewpoints::Viewpoints,
};

/// Written into the file; another number means a file of another format.
const VERSION: u32 = 1;

/// What is remembered. Sizes are in points, which are pixels divided by the display's scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    version: u32,
    /// The window's inner size.
    pub window: [f32; 2],
    /// How panes lie side by side.
    #[serde(deserialize_with = "Arrangement::read")]
    pub panes: Arrangement,
    /// Other ways in which they may lie, which have names.
    #[serde(deserialize_with = "Layouts::read")]
    pub layouts: Layouts,
    /// Whether all problems are listed below the text, and how high that list is.
    pub problems_open: bool,
    /// See `problems_open`.
    pub diagnostics_height: f32,
    /// The size of the editor's font.
    pub font_size: f32,
    /// The colours.
    pub colors: colors::Choice,
    /// The size of all that is shown, as a part of the usual one.
    pub scale: f32,
    /// The scene that was open last: a path or a built-in's name.
    pub scene: Option<String>,
    /// Files that were open, the last one first.
    #[serde(with = "crate::file::any_path")]
    pub recent: Vec<PathBuf>,
    /// How each pane that shows a view looked at it.
    pub views: BTreeMap<Slot, Viewpoints>,
    /// What recordings are written as.
    pub recording: Format,
    /// The keys that change parameters, of each scene that has some.
    pub parameter_keys: parameter_keys::Remembered,
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: VERSION,
            window: [1440.0, 900.0],
            panes: Arrangement::default(),
            layouts: Layouts::default(),
            problems_open: false,
            diagnostics_height: 116.0,
            font_size: 13.0,
            colors: colors::Choice::default(),
            scale: 1.0,
            scene: None,
            recent: Vec::new(),
            views: BTreeMap::from([(Slot::default(), Viewpoints::default())]),
            recording: Format::default(),
            parameter_keys: BTreeMap::new(),
        }
    }
}

/// So many files are remembered.
const MOST_RECENT: usize = 12;

impl State {
    /// Notes that a file was opened.
    pub fn note_recent(&mut self, path: &Path) {
        self.recent.retain(|other| other != path);
        self.recent.insert(0, path.to_owned());
        self.recent.truncate(MOST_RECENT);
    }

    /// What was remembered in `file`; the defaults where it is missing, damaged or of another version.
    pub fn load(file: &Path) -> Self {
        fs::read_to_string(file)
            .ok()
            .and_then(|text| serde_json::from_str::<Self>(&text).ok())
            .filter(|state| state.version == VERSION)
            .map(State::sane)
            .unwrap_or_default()
    }

    /// The same with every size within bounds: a hand-edited file must not give an invisible window.
    fn sane(mut self) -> Self {
        let bounded = |value: &mut f32, low: f32, high: f32, default: f32| {
            *value = if value.is_finite() { value.clamp(low, high) } else { default };
        };
        let default = Self::default();
        bounded(&mut self.window[0], 640.0, 8192.0, default.window[0]);
        bounded(&mut self.window[1], 400.0, 8192.0, default.window[1]);
        bounded(&mut self.diagnostics_height, 48.0, 1024.0, default.diagnostics_height);
        bounded(&mut self.font_size, 8.0, 32.0, default.font_size);
        bounded(&mut self.scale, theme::SCALES[0], theme::SCALES[1], default.scale);
        self.views = self.views.into_iter().map(|(slot, of)| (slot, of.sane())).collect();
        self.views.retain(|slot, _| slot.0 < MOST_VIEWS);
        self.views.entry(Slot::default()).or_default();
        self.recent.truncate(MOST_RECENT);
        self
    }
}

/// The state that the disk has, and when it is to be told of another one.
pub struct Remembered {
    file: PathBuf,
    stored: State,
    due: Due,
}

impl Remembered {
    /// What `file` has, and with it the state to start from; the defaults where it is missing, damaged or of another
    /// version. Unfinished files that an ended process left beside it are cleared.
    pub fn load(file: &Path) -> (Self, State) {
        clear_drafts(file);
        let stored = State::load(file);
        (Self { file: file.to_owned(), stored: stored.clone(), due: Due::default() }, stored)
    }

    /// Remembers `state` soon after it has changed. Gives when to call this again.
    pub fn keep_soon(&mut self, state: &State, keeper: &Keeper, now: Instant) -> Option<Instant> {
        if self.due.has_come(*state != self.stored, now) {
            self.keep(state, keeper);
        }
        self.due.at()
    }

    /// Remembers `state` now, if it is another one than that on the disk.
    pub fn keep(&mut self, state: &State, keeper: &Keeper) {
        if *state == self.stored {
            return;
        }
        match serde_json::to_string_pretty(state) {
            Ok(text) => {
                keeper.write(self.file.clone(), text);
                self.stored = state.clone();
            }
            Err(error) => tracing::warn!("the studio's state is not remembered: {error}"),
        }
    }
}

/// Removes what `crate::file` has left beside `file` where a process was ended while it wrote. A running one may be
/// at it, but not for hours.
fn clear_drafts(file: &Path) {
    let entries = file.parent().and_then(|folder| fs::read_dir(folder).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_draft =
            name.to_str().is_some_and(|n| n.starts_with(".warpaint-") && n.ends_with(".tmp"));
        let written = entry.metadata().and_then(|metadata| metadata.modified());
        let age = written.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
        if is_draft && age.is_some_and(|age| age > Duration::from_secs(3600)) {
            // What cannot be removed is looked at again next time.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Where the studio keeps its files.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The file of the remembered [`State`].
    pub state: PathBuf,
    /// The file with the keys of the user's own.
    pub shortcuts: PathBuf,
    /// The folder of unsaved texts.
    pub recovery: PathBuf,
    /// The folder of the gallery's pictures.
    pub thumbnails: PathBuf,
}

impl Folders {
    /// The user's own folders; `None` where the system knows no home.
    pub fn user() -> Option<Self> {
        let folders = directories::ProjectDirs::from("", "", "warpaint")?;
        Some(Self {
            state: folders.config_dir().join("studio.json"),
            shortcuts: folders.config_dir().join("shortcuts.toml"),
            recovery: folders.data_local_dir().join("recovery"),
            thumbnails: folders.cache_dir().join("thumbnails"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::{keeper::no_wake, panes::Pane};

    #[test]
    fn recent_files_are_few_and_the_last_one_comes_first() {
        let mut state = State::default();
        for index in 0..30 {
            state.note_recent(Path::new(&format!("{index}.cu")));
        }
        state.note_recent(Path::new("20.cu"));
        assert_eq!(state.recent.len(), MOST_RECENT);
        assert_eq!(state.recent[..2], [PathBuf::from("20.cu"), PathBuf::from("29.cu")]);
    }

    #[test]
    fn what_is_stored_is_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/studio.json");
        let mut state = State { scene: Some("a.cu".into()), ..State::default() };
        state.panes.show(Pane::View(Slot(1)));
        state.layouts.save("Mine", Arrangement::Pane(Pane::Editor)).unwrap();
        state.views.insert(Slot(1), Viewpoints::default());
        let (mut remembered, _) = Remembered::load(&file);
        let keeper = Keeper::new(no_wake());
        let now = Instant::now();
        let due = remembered.keep_soon(&state, &keeper, now).expect("it is another one");
        assert!(due - now < Duration::from_secs(1));
        assert_eq!(remembered.keep_soon(&state, &keeper, due), None);
        keeper.flush();
        assert_eq!(State::load(&file), state);
        fs::remove_file(&file).unwrap();
        remembered.keep(&state, &keeper);
        keeper.flush();
        assert!(!file.exists(), "what has not changed is not written");
    }

    #[test]
    fn drafts_of_ended_processes_are_cleared() {
        let folder = tempfile::tempdir().unwrap();
        let [old, young, other] =
            [".warpaint-a.tmp", ".warpaint-b.tmp", "c.tmp"].map(|name| folder.path().join(name));
        let hours_ago = SystemTime::now() - Duration::from_secs(7200);
        for (path, at) in [(&old, hours_ago), (&young, SystemTime::now()), (&other, hours_ago)] {
            fs::File::create(path).unwrap().set_modified(at).unwrap();
        }
        Remembered::load(&folder.path().join("studio.json"));
        assert_eq!([&old, &young, &other].map(|path| path.exists()), [false, true, true]);
    }

    #[test]
    fn missing_damaged_and_future_files_are_the_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("studio.json");
        assert_eq!(State::load(&file), State::default());
        for damaged in ["", "{", "[]", "{\"version\": 99}", "{\"font_size\": \"large\"}", "\u{0}"] {
            fs::write(&file, damaged).unwrap();
            assert_eq!(State::load(&file), State::default(), "{damaged:?}");
        }
    }

    #[test]
    fn a_damaged_layout_costs_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("studio.json");
        for panes in ["7", "{\"row\": 3}", "{\"tabs\": [0, [{\"pane\": \"kitchen\"}]]}"] {
            let text = format!("{{\"version\": 1, \"font_size\": 20, \"panes\": {panes}}}");
            fs::write(&file, text).unwrap();
            let state = State::load(&file);
            assert_eq!((state.font_size, state.panes), (20.0, Arrangement::default()), "{panes}");
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
