//! The mangled names of variables (Itanium C++ ABI, section 5.1), as far as an edit of the text around them leaves
//! them, and those of kernels, read.
//!
//! Enters: names of a compiled module. Leaves: which of them go on as which, and what those of kernels tell.
//! Must not know: `cuda::signature`, `cuda::host`.

mod reader;

use std::collections::{HashMap, HashSet};

pub(crate) use self::reader::{Function, variable};

/// What the names of a text's own parts begin with: NVRTC adds the name of the file, and that of the first kernel, or a
/// checksum.
const UNITS: [&str; 2] = ["_INTERNAL_", NAMELESS];
const NAMELESS: &str = "_GLOBAL__N_";
/// What a namespace without a name is called where nothing is added.
const PLAIN: &str = "12_GLOBAL__N_1";
/// The digits of a number behind the beginning of such a name.
const CHECKSUM: usize = 8;
/// Longer names stay as they are: to look for such parts takes its time for each of them.
const LONGEST: usize = 4096;

/// For each of the `new` variables the one of the `old` that it was before an edit, where there is one: that of its
/// name, else the only one that differs in what an edit elsewhere changes of names.
pub(crate) fn counterparts<'a>(new: &[&'a str], old: &[&'a str]) -> HashMap<&'a str, &'a str> {
    let known: HashSet<&str> = old.iter().copied().collect();
    let same = new.iter().filter_map(|name| Some((*name, *known.get(name)?)));
    let mut found: HashMap<&str, &str> = same.collect();
    let others =
        |names: &[&'a str]| unique(names.iter().copied().filter(|name| !found.contains_key(name)));
    let (new, old) = (others(new), others(old));
    let pairs = new.into_iter().filter_map(|(stable, name)| Some((name?, (*old.get(&stable)?)?)));
    found.extend(pairs);
    found
}

/// The names by what stays of them; `None` where several have that.
fn unique<'a>(names: impl Iterator<Item = &'a str>) -> HashMap<String, Option<&'a str>> {
    let mut found = HashMap::new();
    for name in names {
        found.entry(stable(name)).and_modify(|only| *only = None).or_insert(Some(name));
    }
    found
}

/// What stays of a name when the file is renamed, or the signature of a kernel is edited.
fn stable(name: &str) -> String {
    if name.len() > LONGEST {
        return name.to_owned();
    }
    let name = without_units(name);
    without_parameters(&name).unwrap_or(name)
}

/// A name without what tells which text it is of.
fn without_units(name: &str) -> String {
    let (mut plain, mut rest) = (String::new(), name);
    while let Some(at) = unit(rest) {
        let (before, mut behind) = rest.split_at(at);
        plain += before;
        // The namespaces, and what lies in them.
        while let Some((part, next)) = source_name(behind) {
            match part {
                part if part.starts_with(NAMELESS) => plain += PLAIN,
                part if UNITS.iter().any(|unit| part.starts_with(unit)) => {}
                _ => plain += &behind[..behind.len() - next.len()],
            }
            behind = next;
        }
        rest = behind;
    }
    plain + rest
}

/// Where the first part of a name stands that tells which text it is of: behind the `N` of a nested name.
fn unit(name: &str) -> Option<usize> {
    let places = UNITS.into_iter().flat_map(|unit| name.match_indices(unit));
    let starts = places.filter_map(|(at, unit)| {
        let sum = name[at + unit.len()..].trim_start_matches('_').get(..CHECKSUM);
        let is_sum = sum.is_some_and(|sum| sum.bytes().all(|c| c.is_ascii_hexdigit()));
        let before = name[..at].trim_end_matches(|c: char| c.is_ascii_digit());
        let is_unit = is_sum && before.ends_with('N');
        (is_unit && source_name(&name[before.len()..]).is_some()).then_some(before.len())
    });
    starts.min()
}

/// The identifier that a text begins with, `<length><identifier>`, and what is behind it.
fn source_name(text: &str) -> Option<(&str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (length, behind) = text.split_at(digits);
    behind.split_at_checked(length.parse().ok().filter(|length| *length > 0)?)
}

/// A static variable of a function, `_ZZ<function><parameters>E<variable>`, without the function's parameters. `None`
/// for any other name, and those of templates' instances.
fn without_parameters(name: &str) -> Option<String> {
    let function = name.strip_prefix("_ZZ")?;
    let behind = match function.strip_prefix('N') {
        Some(mut parts) => {
            while let Some((_, next)) = source_name(parts.trim_start_matches('L')) {
                parts = next;
            }
            parts.strip_prefix('E')?
        }
        None => source_name(function.trim_start_matches('L'))?.1,
    };
    if behind.starts_with('I') {
        return None;
    }
    let is_variable = |at: &usize| {
        source_name(&behind[at + 1..]).is_some_and(|(_, number)| is_discriminator(number))
    };
    let end = behind.match_indices('E').map(|(at, _)| at).find(is_variable)?;
    let function = &function[..function.len() - behind.len()];
    Some(format!("_ZZ{function}{}", &behind[end..]))
}

/// Whether this is what tells variables of one name in one function apart: nothing, `_0`, `__10_`.
fn is_discriminator(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix('_').is_some_and(|rest| {
            let digits = rest.trim_matches('_');
            !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that NVRTC 13.5 gave, of files called `a.cu` and `n2.cu`; g++ 12 calls the first of them so, too, but for
    /// the `L`s of what is `static`.
    #[test]
    fn what_stays_of_names() {
        for (name, expected) in [
            ("calls", "calls"),
            ("_ZL6filter", "_ZL6filter"),
            (
                "_ZN29_INTERNAL_00000000_4_n_cu_man31_GLOBAL__N__00000000_4_n_cu_man2in4deepE",
                "_ZN12_GLOBAL__N_12in4deepE",
            ),
            (
                "_ZN29_INTERNAL_00000000_4_n_cu_man1a31_GLOBAL__N__00000000_4_n_cu_man2h2E",
                "_ZN1a12_GLOBAL__N_12h2E",
            ),
            ("_ZN29_INTERNAL_00000000_4_n_cu_man1a2s2E", "_ZN1a2s2E"),
            (
                "_ZN35_INTERNAL_00000000_5_n2_cu_6137d47f2tvIN37_GLOBAL__N__00000000_5_n2_cu_6137d47f1QEEE",
                "_ZN2tvIN12_GLOBAL__N_11QEEE",
            ),
            (
                "_ZZN35_INTERNAL_00000000_5_n2_cu_6137d47f37_GLOBAL__N__00000000_5_n2_cu_6137d47f2f1EvE3loc",
                "_ZZN12_GLOBAL__N_12f1EE3loc",
            ),
            ("_ZZN1b2f3EiE3loc", "_ZZN1b2f3EE3loc"),
            ("_ZZ1kPiE4here", "_ZZ1kE4here"),
            ("_ZZ1kPiE4here_0", "_ZZ1kE4here_0"),
            ("_ZZ1kPN1a1bEfE4here__10_", "_ZZ1kE4here__10_"),
            ("_ZZ1rIiEvPT_E4here", "_ZZ1rIiEvPT_E4here"),
            ("_ZZZ1qPiENKUliE_clEiE3inl", "_ZZZ1qPiENKUliE_clEiE3inl"),
            // What is not as NVRTC writes it stays.
            ("_ZN10_INTERNAL_1aE", "_ZN10_INTERNAL_1aE"),
            ("_ZN99_INTERNAL_00000000_4_a_cu_k1aE", "_ZN99_INTERNAL_00000000_4_a_cu_k1aE"),
            ("_ZZ1kE99here", "_ZZ1kE99here"),
            ("_ZN0_ZZ0", "_ZN0_ZZ0"),
        ] {
            assert_eq!(stable(name), expected, "{name}");
        }
    }

    #[test]
    fn each_variable_goes_on_as_one() {
        let hidden = |of: &str| {
            let (unit, name) =
                (format!("_INTERNAL_00000000_4_{of}"), format!("_GLOBAL__N__00000000_4_{of}"));
            format!("_ZN{}{unit}{}{name}6hiddenE", unit.len(), name.len())
        };
        let [before, after] = [hidden("a_cu__Z1kPi"), hidden("a_cu__Z1kPif")];
        let found = |new: &[&str], old: &[&str], name: &str| {
            counterparts(new, old).get(name).map(|&old| old.to_owned())
        };
        assert_eq!(found(&["x", &after], &["x", &before], &after), Some(before.clone()));
        assert_eq!(found(&["x", &after], &["x", &before], "x").as_deref(), Some("x"));
        assert_eq!(found(&["y"], &["x"], "y"), None);
        // A function that is overloaded keeps to its own.
        let [int, float, double] = ["_ZZ1fiE3loc", "_ZZ1ffE3loc", "_ZZ1fdE3loc"];
        assert_eq!(found(&[int, float], &[int], int).as_deref(), Some(int));
        assert_eq!(found(&[int, float], &[int], float), None);
        assert_eq!(
            found(&[int, float], &[double], float),
            None,
            "which of them it was is not known"
        );
        assert_eq!(found(&[float], &[int, double], float), None);
        assert_eq!(found(&[float], &[int], float).as_deref(), Some(int));
    }
}
