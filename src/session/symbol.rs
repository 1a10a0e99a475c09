//! The variables of a compiled text, by the names that its source gives them.

use super::layout::is_ours;
use crate::{
    cuda::mangled,
    diagnostic::nearest,
    ptx::outline::{Outline, Variable},
};

/// A variable.
pub(super) struct Symbol {
    /// Its name in the source, with namespaces but for those without a name.
    name: String,
    /// Its name in the module.
    pub(super) lowered: String,
    /// Its size.
    pub(super) bytes: usize,
}

/// All of a text.
pub(super) struct Symbols(Vec<Symbol>);

/// Names that are listed where none is near.
const MOST_LISTED: usize = 12;

impl Symbols {
    pub(super) fn of(ptx: &str) -> Self {
        let symbol = |Variable { name: lowered, bytes, .. }| {
            let name = in_source(&lowered).filter(|_| !is_ours(&lowered))?;
            Some(Symbol { name, lowered, bytes })
        };
        Self(Outline::new(ptx).variables.into_iter().filter_map(symbol).collect())
    }

    /// The variable that the source calls so.
    ///
    /// # Errors
    /// A sentence with the nearest names.
    pub(super) fn find(&self, name: &str) -> Result<&Symbol, String> {
        let name = name.trim_start_matches("::");
        if let Some(found) = self.0.iter().find(|symbol| symbol.name == name) {
            return Ok(found);
        }
        let names = self.0.iter().map(|symbol| symbol.name.as_str());
        // A name may lack its namespace.
        let same_end = |known: &&str| known.rsplit("::").next() == name.rsplit("::").next();
        let mut near: Vec<&str> = names.clone().filter(same_end).collect();
        near.extend(nearest(name, names.clone()).into_iter().filter(|other| !same_end(other)));
        let list = |names: &[&str]| {
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let all: Vec<&str> = names.take(MOST_LISTED).collect();
        let hint = match (near.as_slice(), all.as_slice()) {
            ([], []) => "; it has none at all".to_owned(),
            ([], all) => format!("; known are {}", list(all)),
            (near, _) => format!("; did you mean {}?", list(near)),
        };
        Err(format!("the kernels use no __constant__ or __device__ variable `{name}`{hint}"))
    }
}

/// What the source calls a variable whose name in the module is `lowered`; `None` for what has no name there.
pub(super) fn in_source(lowered: &str) -> Option<String> {
    match lowered.starts_with("_Z") {
        true => mangled::variable(lowered),
        false => (!lowered.contains('$')).then(|| lowered.to_owned()),
    }
}

/// Whether a variable is none of the source's, but one that the compiler or its library brings, such as the digits of
/// π for the sine of large numbers: names with two underscores are theirs (C++ standard, \[lex.name\]).
pub(super) fn is_of_compiler(lowered: &str) -> bool {
    lowered.starts_with("__")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        for (lowered, name) in [
            ("filter", Some("filter")),
            ("_ZL6filter", Some("filter")),
            ("_ZN7filters4blurE", Some("filters::blur")),
            ("_ZN7filtersL4blurE", Some("filters::blur")),
            ("_ZN7filters12_GLOBAL__N_14blurE", Some("filters::blur")),
            ("_ZN12_GLOBAL__N_14blurE", Some("blur")),
            ("$str", None),
            ("_ZZ4kernvE5table", None),
            ("_ZN99", None),
        ] {
            assert_eq!(in_source(lowered).as_deref(), name, "{lowered}");
        }
    }

    #[test]
    fn an_unknown_one_is_told_the_nearest() {
        let symbols = Symbols::of(
            ".const .b8 _ZN7filters4blurE[4]; .global .u32 count; .global .u64 warpaint_probe_type_0[1];",
        );
        assert_eq!(symbols.find("filters::blur").ok().map(|s| s.bytes), Some(4));
        assert_eq!(symbols.find("::count").ok().map(|s| s.bytes), Some(4));
        let told = |name| symbols.find(name).err().unwrap();
        assert!(
            told("blur").ends_with("`blur`; did you mean `filters::blur`?"),
            "{}",
            told("blur")
        );
        assert!(told("cuont").ends_with("did you mean `count`?"), "{}", told("cuont"));
        assert!(told("xyz").ends_with("known are `filters::blur`, `count`"), "{}", told("xyz"));
    }
}
