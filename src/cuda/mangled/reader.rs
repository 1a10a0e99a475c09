//! The mangled names of kernels and variables, read: what they are called, and what types a kernel's parameters have.

use super::source_name;

/// So deep types may lie in one another.
const DEEPEST: usize = 32;
/// The longest name that is read, and the longest text that is made: substitutions name what was before.
const LONGEST: usize = 4096;

/// A function, as its mangled name tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// What the source calls it, with its namespaces but for those without a name, and without a template's arguments.
    pub(crate) name: String,
    /// The types of its parameters as C++ spells them; `None` where they are not told, or told as a template's.
    pub(crate) parameters: Option<Vec<String>>,
}

impl Function {
    /// What `lowered` says; `None` where that is no name of a function of the source.
    pub(crate) fn of(lowered: &str) -> Option<Self> {
        let Some(mut reader) = Reader::new(lowered) else {
            // `extern "C"`.
            return Some(Self { name: lowered.to_owned(), parameters: None });
        };
        let (name, is_instance) = reader.name(false)?;
        let name = Some(name).filter(|name| !name.is_empty())?;
        let parameters = if is_instance { None } else { reader.parameters() };
        Some(Self { name, parameters })
    }
}

/// What the source calls a variable, with its namespaces but for those without a name; `None` of one in a function, of
/// a template's instance, and where `lowered` is not a mangled name or that of something else.
pub(crate) fn variable(lowered: &str) -> Option<String> {
    let mut reader = Reader::new(lowered)?;
    let (name, is_instance) = reader.name(false)?;
    (!is_instance && reader.rest.is_empty() && !name.is_empty()).then_some(name)
}

/// Reads a mangled name.
struct Reader<'a> {
    rest: &'a str,
    /// What `S_`, `S0_` and so on stand for.
    known: Vec<String>,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// Of what a mangled name tells, where it is one that is not too long.
    fn new(lowered: &'a str) -> Option<Self> {
        let rest = lowered.strip_prefix("_Z").filter(|_| lowered.len() <= LONGEST)?;
        Some(Self { rest, known: Vec::new(), depth: 0 })
    }

    fn take(&mut self, prefix: &str) -> bool {
        let rest = self.rest.strip_prefix(prefix);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// A name, and whether it is a template's instance, whose arguments are read of a type alone.
    fn name(&mut self, is_type: bool) -> Option<(String, bool)> {
        if self.take("N") {
            return self.nested(is_type);
        }
        let std = if self.take("St") { "std::" } else { "" };
        let name = format!("{std}{}", self.unqualified()?);
        let is_instance = self.rest.starts_with('I');
        if !is_type {
            return Some((name, is_instance));
        }
        self.remember(&name)?;
        if !is_instance {
            return Some((name, false));
        }
        let whole = name + &self.arguments()?;
        self.remember(&whole)?;
        Some((whole, true))
    }

    /// What stands between `N` and `E`.
    fn nested(&mut self, is_type: bool) -> Option<(String, bool)> {
        let mut path = String::new();
        while !self.take("E") {
            if self.take("St") {
                path = "std".to_owned();
                continue;
            }
            match self.rest.chars().next()? {
                'S' => {
                    path = self.substitution()?;
                    continue;
                }
                'I' if !is_type => return Some((path, true)),
                'I' => path += &self.arguments()?,
                _ => {
                    let part = self.unqualified()?;
                    let parted = if path.is_empty() || part.is_empty() { "" } else { "::" };
                    path = path + parted + &part;
                }
            }
            // The whole of a function's name is no type that is named again.
            if is_type || !self.rest.starts_with('E') {
                self.remember(&path)?;
            }
        }
        Some((path, false))
    }

    fn remember(&mut self, text: &str) -> Option<()> {
        (text.len() <= LONGEST).then(|| self.known.push(text.to_owned()))
    }

    /// A part of a name; empty for a namespace without one.
    fn unqualified(&mut self) -> Option<String> {
        // Internal linkage.
        self.take("L");
        let (part, rest) = source_name(self.rest)?;
        self.rest = rest;
        let is_hidden = part.starts_with("_GLOBAL__N_") || part.starts_with("_INTERNAL_");
        Some(if is_hidden { String::new() } else { part.to_owned() })
    }

    /// What was named before.
    fn substitution(&mut self) -> Option<String> {
        let digits = self.rest.strip_prefix('S')?;
        let (digits, rest) = digits.split_once('_')?;
        let place = match digits {
            "" => 0,
            digits => usize::from_str_radix(digits, 36).ok()?.checked_add(1)?,
        };
        self.rest = rest;
        self.known.get(place).cloned()
    }

    /// The arguments of a template.
    fn arguments(&mut self) -> Option<String> {
        self.rest = self.rest.strip_prefix('I')?;
        let mut all = Vec::new();
        while !self.take("E") {
            all.push(if self.take("L") { self.literal()? } else { self.of_type()? });
        }
        Some(format!("<{}>", all.join(", ")))
    }

    /// A number that is a template's argument, behind its `L`.
    fn literal(&mut self) -> Option<String> {
        self.of_type()?;
        let (digits, rest) = self.rest.split_once('E')?;
        self.rest = rest;
        Some(digits.replace('n', "-"))
    }

    /// The types up to the end.
    fn parameters(&mut self) -> Option<Vec<String>> {
        let mut all = Vec::new();
        while !self.rest.is_empty() {
            all.push(self.of_type()?);
        }
        match all.as_slice() {
            [] => None,
            [only] if only == "void" => Some(Vec::new()),
            _ => Some(all),
        }
    }

    fn of_type(&mut self) -> Option<String> {
        self.depth += 1;
        let of = if self.depth > DEEPEST { None } else { self.of_type_here() };
        self.depth -= 1;
        of.filter(|text| text.len() <= LONGEST)
    }

    fn of_type_here(&mut self) -> Option<String> {
        let first = self.rest.chars().next()?;
        if let Some(name) = built_in(first) {
            self.rest = &self.rest[1..];
            return Some(name.to_owned());
        }
        let made = match first {
            'P' => self.behind("P", " *")?,
            'R' => self.behind("R", " &")?,
            'O' => self.behind("O", " &&")?,
            'V' | 'K' => {
                let is_volatile = self.take("V");
                let inner = if self.take("K") {
                    format!("{} const", self.of_type()?)
                } else {
                    self.of_type()?
                };
                if is_volatile { inner + " volatile" } else { inner }
            }
            // Of a pointer to arrays its first elements: `float (*)[8]` is taken as a parameter's `float [][8]` is.
            'A' => {
                let (_, rest) = self.rest.split_once('_')?;
                self.rest = rest;
                self.of_type()?
            }
            'S' if !self.rest.starts_with("St") => {
                let known = self.substitution()?;
                if !self.rest.starts_with('I') {
                    return Some(known);
                }
                known + &self.arguments()?
            }
            'S' | 'N' => return self.name(true).map(|(name, _)| name),
            _ if first.is_ascii_digit() => return self.name(true).map(|(name, _)| name),
            _ => return None,
        };
        self.remember(&made)?;
        Some(made)
    }

    /// What `letter` makes of the type behind it.
    fn behind(&mut self, letter: &str, sign: &str) -> Option<String> {
        self.take(letter);
        let inner = self.of_type()?;
        let sign = if inner.ends_with('*') { sign.trim_start() } else { sign };
        Some(inner + sign)
    }
}

/// The types that have a letter.
fn built_in(letter: char) -> Option<&'static str> {
    Some(match letter {
        'v' => "void",
        'b' => "bool",
        'c' => "char",
        'a' => "signed char",
        'h' => "unsigned char",
        's' => "short",
        't' => "unsigned short",
        'i' => "int",
        'j' => "unsigned int",
        'l' => "long",
        'm' => "unsigned long",
        'x' => "long long",
        'y' => "unsigned long long",
        'n' => "__int128",
        'o' => "unsigned __int128",
        'f' => "float",
        'd' => "double",
        'e' => "long double",
        'w' => "wchar_t",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that NVRTC 13.5 gave.
    #[test]
    fn names_and_types_are_read() {
        for (lowered, name, parameters) in [
            ("_Z1kv", "k", Some(&[][..])),
            ("_Z1kPfi", "k", Some(&["float *", "int"])),
            ("_ZL1kPKfPS_", "k", Some(&["float const *", "float const *"])),
            (
                "_Z12compute_gemmPK6__halfS1_PKfPfff",
                "compute_gemm",
                Some(&[
                    "__half const *",
                    "__half const *",
                    "float const *",
                    "float *",
                    "float",
                    "float",
                ]),
            ),
            ("_ZN1a1kEPNS_1PES1_", "a::k", Some(&["a::P *", "a::P *"])),
            ("_ZN12_GLOBAL__N_11kEPfS0_", "k", Some(&["float *", "float *"])),
            ("_Z1kPPfPA8_i6float4", "k", Some(&["float **", "int *", "float4"])),
            ("_Z1k1PIfLi3EEPS_IiLin1EE", "k", Some(&["P<float, 3>", "P<int, -1> *"])),
            ("_Z1tIfLi4EEvPT_", "t", None),
            ("_ZN1a1tIfEEvPT_", "a::t", None),
            ("k", "k", None),
            ("_Z1kVKj", "k", Some(&["unsigned int const volatile"])),
        ] {
            let read = Function::of(lowered).unwrap_or_else(|| panic!("{lowered}"));
            let types = read.parameters.as_ref();
            let types = types.map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!((read.name.as_str(), types.as_deref()), (name, parameters), "{lowered}");
        }
        for broken in ["_Z", "_Z9k", "_ZN1a", "_ZN12_GLOBAL__N_1E"] {
            assert_eq!(Function::of(broken), None, "{broken}");
        }
    }

    /// Names that name what was before again and again, of any length.
    #[test]
    fn what_grows_is_not_read() {
        let digit = |at: u32| char::from_digit(at, 36).map_or(' ', |c| c.to_ascii_uppercase());
        let twice = |times: u32| -> String {
            let more = (1..times).map(|at| format!("S0_IS{0}_S{0}_E", digit(at)));
            ["_Z1kPf1PIS_S_E".to_owned()].into_iter().chain(more).collect()
        };
        let read = |times| Function::of(&twice(times)).and_then(|read| read.parameters);
        let pair = "P<float *, float *>";
        let two = ["float *", pair, &format!("P<{pair}, {pair}>")].map(str::to_owned);
        assert_eq!(read(2), Some(two.to_vec()));
        assert_eq!(read(30), None);
        let deep = format!("_Z1k{}f", "P".repeat(4000));
        assert_eq!(Function::of(&deep).and_then(|read| read.parameters), None);
    }
}
