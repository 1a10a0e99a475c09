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

/// The scenes that come with the program, by name.
pub const fn built_ins() -> &'static [BuiltIn] {
    &[]
}

/// The headers for everyone's kernels, by name.
pub const fn headers() -> &'static [BuiltInHeader] {
    &[]
}
