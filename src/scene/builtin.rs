//! The scenes that come with the program. They are files like any user's.

/// A scene that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// The name it is opened by.
    pub name: &'static str,
    /// Its text.
    pub source: &'static str,
}

/// The table of these scenes.
macro_rules! scenes {
    ($($name:literal),+ $(,)?) => {
        &[$(BuiltIn { name: $name, source: include_str!(concat!("../../kernels/", $name, ".cu")) }),+]
    };
}

const SCENES: &[BuiltIn] = scenes!(
    "particles",
    "nbody",
    "spheres",
    "boids",
    "fluid",
    "karman",
    "smoke",
    "gray-scott",
    "gaussian-field",
    "ocean",
    "noise",
    "ising",
    "life",
    "wave",
    "mandelbrot",
);

/// The scenes that come with the program; the first is the one to start with.
pub const fn built_ins() -> &'static [BuiltIn] {
    SCENES
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, ffi::OsStr, fs, path::Path};

    use super::*;

    #[test]
    fn the_table_holds_what_the_folder_holds() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
        let paths = fs::read_dir(folder).expect("the repository has it").flatten();
        let paths = paths.map(|entry| entry.path());
        let scenes = paths.filter(|path| path.extension() == Some(OsStr::new("cu")));
        let name = |path: &Path| path.file_stem().unwrap_or_default().display().to_string();
        let files = scenes.map(|path| (name(&path), fs::read_to_string(&path).unwrap()));
        let table = SCENES.iter().map(|s| (s.name.to_owned(), s.source.to_owned()));
        assert_eq!(table.collect::<BTreeMap<_, _>>(), files.collect());
    }
}
