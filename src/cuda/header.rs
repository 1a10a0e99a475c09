//! The headers that come with the program, for everyone's kernels.

/// A header that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltInHeader {
    /// The name it is included by: `warpaint/noise.cuh`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The table of these headers.
macro_rules! headers {
    ($($name:literal),+ $(,)?) => {
        &[$(BuiltInHeader {
            name: concat!("warpaint/", $name),
            text: include_str!(concat!("../../kernels/include/warpaint/", $name)),
        }),+]
    };
}

const HEADERS: &[BuiltInHeader] = headers!(
    "colour.cuh",
    "complex.cuh",
    "fft.cuh",
    "grid.cuh",
    "input.cuh",
    "noise.cuh",
    "precise.cuh",
    "random.cuh",
    "reduce.cuh",
    "scan.cuh",
    "vector.cuh",
);

/// The headers that come with the program, by name.
pub const fn headers() -> &'static [BuiltInHeader] {
    HEADERS
}

/// Whether a header of this name comes with the program.
pub(super) fn is_built_in(name: &str) -> bool {
    HEADERS.iter().any(|header| header.name == name)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn the_table_holds_what_the_folder_holds() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/include");
        let files = fs::read_dir(folder.join("warpaint")).expect("the repository has it").flatten();
        let mut names: Vec<_> =
            files.map(|file| format!("warpaint/{}", file.file_name().display())).collect();
        names.sort();
        assert_eq!(HEADERS.iter().map(|header| header.name).collect::<Vec<_>>(), names);
        for header in HEADERS {
            assert_eq!(header.text, fs::read_to_string(folder.join(header.name)).unwrap());
        }
    }
}
