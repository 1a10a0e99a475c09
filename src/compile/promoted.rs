//! The functions of `<cmath>` for integers and for arguments of different types, as nvcc has them from the host's
//! library.
//!
//! A compilation has those that its texts name: each costs the compiler a little.

use std::collections::BTreeSet;

/// What they have in common.
const COMMON: &str = include_str!("c/promoted.h");

/// How the macros of [`COMMON`] begin, and the functions that each makes.
const FUNCTIONS: [(&str, &str); 7] = [
    (
        "WARPAINT_UNARY(",
        "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor ilogb isfinite isinf \
         isnan lgamma llrint llround log log10 log1p log2 logb lrint lround nearbyint rint round signbit sin sinh sqrt \
         tan tanh tgamma trunc",
    ),
    ("WARPAINT_UNARY_AND(int *, ", "frexp"),
    ("WARPAINT_UNARY_AND(int, ", "ldexp scalbn"),
    ("WARPAINT_UNARY_AND(long, ", "scalbln"),
    ("WARPAINT_BINARY(", "atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder"),
    ("WARPAINT_BINARY_AND(int *, ", "remquo"),
    ("WARPAINT_TERNARY(", "fma"),
];

/// Those that `texts` name; empty where they name none.
pub(super) fn text(texts: &[String]) -> String {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let named: BTreeSet<&str> =
        texts.iter().flat_map(|text| text.split(|c| !is_of_word(c))).collect();
    let functions = FUNCTIONS.iter().flat_map(|(start, names)| {
        let names = names.split_whitespace().filter(|name| named.contains(name));
        names.map(move |name| format!("{start}{name})\n"))
    });
    let functions: String = functions.collect();
    if functions.is_empty() { functions } else { format!("{COMMON}{functions}") }
}
