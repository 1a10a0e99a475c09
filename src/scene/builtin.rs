//! The scenes and headers that come with the program. They are files like any user's.

/// A scene that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// The name it is opened by.
    pub name: &'static str,
    /// Its text.
    pub source: &'static str,
}

/// A header that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltInHeader {
    /// The name it is included by: `warpaint/noise.cuh`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// A table of files by name.
macro_rules! files {
    ($type:ident { $text:ident } $folder:literal, $prefix:literal, $ending:literal: $($name:literal),+ $(,)?) => {
        &[$($type {
            name: concat!($prefix, $name),
            $text: include_str!(concat!("../../kernels/", $folder, $name, $ending)),
        }),+]
    };
}

const SCENES: &[BuiltIn] = files!(
    BuiltIn { source } "", "", ".cu":
    "particles", "nbody", "spheres", "boids", "fluid", "karman", "smoke", "gray-scott", "gaussian-field", "ocean",
    "noise", "ising", "life", "wave", "mandelbrot",
);

const HEADERS: &[BuiltInHeader] = files!(
    BuiltInHeader { text } "include/", "", "":
    "warpaint/colour.cuh", "warpaint/complex.cuh", "warpaint/fft.cuh", "warpaint/grid.cuh", "warpaint/input.cuh",
    "warpaint/noise.cuh", "warpaint/precise.cuh", "warpaint/random.cuh", "warpaint/reduce.cuh", "warpaint/scan.cuh",
    "warpaint/vector.cuh",
);

/// The scenes that come with the program; the first is the one to start with.
pub const fn built_ins() -> &'static [BuiltIn] {
    SCENES
}

/// The headers for everyone's kernels, by name.
pub const fn headers() -> &'static [BuiltInHeader] {
    HEADERS
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, path::Path};

    use super::*;

    /// The files of `folder` with this ending, by name, with what is in them.
    fn files(folder: &str, ending: &str) -> BTreeMap<String, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let entries = fs::read_dir(&folder).expect("the repository has it").flatten();
        let paths = entries.map(|entry| entry.path());
        let paths = paths.filter(|path| path.extension().is_some_and(|found| found == ending));
        let name =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        paths.map(|path| (name(&path), fs::read_to_string(&path).expect("readable"))).collect()
    }

    #[test]
    fn the_tables_hold_what_the_folders_hold() {
        let scenes = SCENES.iter().map(|s| (format!("{}.cu", s.name), s.source.to_owned()));
        assert_eq!(scenes.collect::<BTreeMap<_, _>>(), files("kernels", "cu"));
        let stripped = |h: &BuiltInHeader| h.name.replace("warpaint/", "");
        let headers = HEADERS.iter().map(|h| (stripped(h), h.text.to_owned()));
        assert_eq!(headers.collect::<BTreeMap<_, _>>(), files("kernels/include/warpaint", "cuh"));
    }
}
