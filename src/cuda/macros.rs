//! The macros that are known where a text is read, and how likely each is defined.
//!
//! What files define that are not read is not known: so a macro is defined, is not, is probably not (it is defined
//! nowhere in sight), or may be.

use std::collections::BTreeMap;

/// So many macros are known of a source and its includes.
const MOST_MACROS: usize = 1 << 16;

/// Macros that are defined in every compilation, by NVRTC or by what it is given, and their numbers where these are the
/// same for all devices and toolkits.
const PREDEFINED: [(&str, Option<i64>); 12] = [
    ("__CUDACC__", Some(1)),
    ("__CUDACC_RTC__", Some(1)),
    ("__NVCC__", Some(1)),
    ("__linux__", Some(1)),
    ("__unix__", Some(1)),
    ("__CUDACC_VER_MAJOR__", None),
    ("__CUDACC_VER_MINOR__", None),
    ("__CUDACC_VER_BUILD__", None),
    ("CUDART_VERSION", None),
    ("__CUDA_ARCH__", None),
    ("__cplusplus", None),
    ("WARPAINT", None),
];

/// Macros of other compilers and systems, which NVRTC defines in none.
const FOREIGN: [&str; 11] = [
    "_WIN32",
    "_WIN64",
    "_MSC_VER",
    "__MINGW32__",
    "__CYGWIN__",
    "__APPLE__",
    "__ANDROID__",
    "__INTEL_COMPILER",
    "__HIP__",
    "__HIPCC__",
    "__HIP_PLATFORM_AMD__",
];

/// How the names of macros begin that are the compiler's or CUDA's, or of its libraries.
const OF_CUDA: [&str; 13] = [
    "_",
    "CUDA",
    "cuda",
    "CU_",
    "CUB_",
    "CURAND_",
    "CURANDDX_",
    "CCCL_",
    "THRUST_",
    "LIBCUDACXX_",
    "NV_",
    "NVRTC_",
    "NVTX_",
];

/// How the names of macros begin that C's headers define, which are there without an include: limits of types,
/// constants of mathematics.
const OF_LIMITS: [&str; 29] = [
    "CHAR_", "SCHAR_", "UCHAR_", "SHRT_", "USHRT_", "INT_", "UINT_", "LONG_", "ULONG_", "LLONG_",
    "ULLONG_", "SIZE_", "PTRDIFF_", "FLT_", "DBL_", "LDBL_", "M_", "INT8_", "UINT8_", "INT16_",
    "UINT16_", "INT32_", "UINT32_", "INT64_", "UINT64_", "MB_", "PATH_", "PRI", "SCN",
];
/// And others of them.
const OF_HEADERS: [&str; 15] = [
    "NULL",
    "NAN",
    "INFINITY",
    "HUGE_VAL",
    "HUGE_VALF",
    "assert",
    "offsetof",
    "RAND_MAX",
    "EXIT_SUCCESS",
    "EXIT_FAILURE",
    "CLOCKS_PER_SEC",
    "va_start",
    "va_arg",
    "va_end",
    "va_copy",
];

/// What is known of the macros.
#[derive(Clone, Debug, Default)]
pub(crate) struct Macros {
    known: BTreeMap<String, Macro>,
    /// Whether files are included that may define any.
    has_own_includes: bool,
    /// What `__cplusplus` is, where the standard is known.
    cplusplus: Option<i64>,
}

/// What is known of a macro.
#[derive(Clone, Debug, PartialEq)]
enum Macro {
    /// Defined as this text.
    Defined(String),
    /// Defined with parameters: `(a, b) a + b`.
    Function(String),
    Undefined,
    /// One or the other.
    Open,
}

/// Whether something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likely {
    No,
    /// As far as is known; an included file could have its say.
    Hardly,
    Open,
    Yes,
}

impl Macros {
    /// Those that options of the compiler define: values by name, and the standard of C++ by its number, 17.
    #[cfg(feature = "gl")]
    pub(crate) fn of_options(defines: &BTreeMap<String, String>, standard: u32) -> Self {
        let defined =
            |(name, value): (&String, &String)| (name.clone(), Macro::Defined(value.clone()));
        let known = defines.iter().take(MOST_MACROS).map(defined);
        Self { known: known.collect(), has_own_includes: false, cplusplus: cplusplus(standard) }
    }

    /// Notes that a file is included that cannot be read: it may define any macro.
    pub(super) const fn include_unknown(&mut self) {
        self.has_own_includes = true;
    }

    /// The macro `name`: its name, what it stands for, and whether it has parameters, which then come first, as in
    /// `(a, b) a + b`.
    pub(super) fn definition(&self, name: &str) -> Option<(&str, &str, bool)> {
        let (name, known) = self.known.get_key_value(name)?;
        match known {
            Macro::Defined(text) => Some((name, text, false)),
            Macro::Function(text) => Some((name, text, true)),
            Macro::Undefined | Macro::Open => None,
        }
    }

    /// Notes what is defined by a directive: a name, and what it stands for.
    pub(super) fn define(&mut self, rest: &str, here: Likely) {
        let end = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
        let (name, value) = rest.split_at(end);
        let text = value.trim().to_owned();
        let is_function = value.starts_with('(');
        let defined = if is_function { Macro::Function(text) } else { Macro::Defined(text) };
        self.set(name, defined, here);
    }

    /// Notes what a directive says of a macro that is compiled so likely.
    fn set(&mut self, name: &str, what: Macro, here: Likely) {
        let room = self.known.len() < MOST_MACROS || self.known.contains_key(name);
        if name.is_empty() || !room {
            return;
        }
        match here {
            Likely::Yes => self.known.insert(name.to_owned(), what),
            Likely::Open | Likely::Hardly if self.known.get(name) != Some(&what) => {
                self.known.insert(name.to_owned(), Macro::Open)
            }
            Likely::Open | Likely::Hardly | Likely::No => None,
        };
    }

    /// Notes that a directive that is compiled so likely undefines `name`.
    pub(super) fn undefine(&mut self, name: &str, here: Likely) {
        self.set(name, Macro::Undefined, here);
    }

    /// Whether `name` is one.
    pub(super) fn is_defined(&self, name: &str) -> Likely {
        match self.known.get(name) {
            Some(Macro::Defined(_) | Macro::Function(_)) => Likely::Yes,
            Some(Macro::Undefined) => Likely::No,
            Some(Macro::Open) => Likely::Open,
            None if PREDEFINED.iter().any(|(known, _)| *known == name) => Likely::Yes,
            None if FOREIGN.contains(&name) => Likely::No,
            None if OF_CUDA.iter().any(|first| name.starts_with(first)) => Likely::Open,
            None if OF_LIMITS.iter().any(|first| name.starts_with(first)) => Likely::Open,
            None if OF_HEADERS.contains(&name) => Likely::Open,
            None if self.has_own_includes => Likely::Open,
            None => Likely::Hardly,
        }
    }

    /// The number that a macro has in every compilation.
    pub(super) fn predefined(&self, name: &str) -> Option<i64> {
        if name == "__cplusplus" {
            return self.cplusplus;
        }
        PREDEFINED.iter().find(|(known, _)| *known == name)?.1
    }

    /// What macros without arguments are defined as.
    #[cfg(feature = "gl")]
    pub(super) fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.known.keys().map(String::as_str);
        names.filter_map(|name| Some((name, self.value(name)?)))
    }

    /// What a macro without parameters is defined as.
    #[cfg(feature = "gl")]
    fn value(&self, name: &str) -> Option<&str> {
        self.definition(name).filter(|(.., is_function)| !is_function).map(|(_, value, _)| value)
    }
}

/// What `__cplusplus` is by a standard (ISO C++, 15.11).
#[cfg(feature = "gl")]
const fn cplusplus(standard: u32) -> Option<i64> {
    Some(match standard {
        11 => 201_103,
        14 => 201_402,
        17 => 201_703,
        20 => 202_002,
        23 => 202_302,
        _ => return None,
    })
}

impl Likely {
    pub(super) const fn negated(self) -> Self {
        match self {
            Self::No => Self::Yes,
            // What hardly holds does not, as far as is known.
            Self::Hardly => Self::Yes,
            Self::Open => Self::Open,
            Self::Yes => Self::No,
        }
    }
}

/// Whether a letter can be one of a macro's name.
pub(super) fn is_of_name(letter: char) -> bool {
    letter == '_' || letter.is_ascii_alphanumeric()
}
