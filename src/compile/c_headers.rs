//! The headers of C that kernels include, for NVRTC comes without a C library.
//!
//! nvcc has the host's, so sources written for it begin with `#include <stdio.h>`. What device code can use of them
//! (`printf`, `assert`, `memcpy`, `malloc`, the functions of `math.h`) NVRTC knows by itself; here are the types and
//! constants that it does not know. Each has its name in C++ too, with its functions and types in the namespace `std`.

use std::{path::PathBuf, sync::LazyLock};

use super::{Header, request::Request};

/// Names without their endings, texts, and what the namespace `std` has of them in C++.
const HEADERS: [(&str, &str, &str); 11] = [
    ("assert", "", ""),
    ("float", include_str!("c/float.h"), ""),
    ("inttypes", include_str!("c/inttypes.h"), ""),
    ("limits", include_str!("c/limits.h"), ""),
    (
        "math",
        concat!("#pragma once\n", include_str!("c/not_finite.h"), include_str!("c/math.h")),
        "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor \
         fma fmax fmin fmod frexp hypot ilogb isfinite isinf isnan ldexp lgamma llrint llround log log10 log1p log2 \
         logb lrint lround modf nan nearbyint nextafter pow remainder remquo rint round scalbln scalbn signbit sin \
         sinh sqrt tan tanh tgamma trunc",
    ),
    ("stddef", include_str!("c/stddef.h"), "ptrdiff_t size_t"),
    (
        "stdint",
        include_str!("c/stdint.h"),
        "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t int_least8_t int_least16_t \
         int_least32_t int_least64_t uint_least8_t uint_least16_t uint_least32_t uint_least64_t int_fast8_t int_fast16_t \
         int_fast32_t int_fast64_t uint_fast8_t uint_fast16_t uint_fast32_t uint_fast64_t intmax_t uintmax_t",
    ),
    // Structures have pointers to it.
    ("stdio", "typedef struct _IO_FILE FILE;\n", "FILE printf"),
    ("stdlib", include_str!("c/stdlib.h"), "abs div_t free labs ldiv_t llabs lldiv_t malloc"),
    ("string", "", "memcpy memset"),
    ("time", include_str!("c/time.h"), "clock clock_t time_t"),
];

/// The header of the system that `<stdlib.h>` includes, which C++ has under no other name.
const TYPES: (&str, &str) = ("sys/types.h", include_str!("c/types.h"));

/// All of them, those of C and those of C++: `<math.h>` and `<cmath>`.
pub(super) static ALL: LazyLock<Vec<Header>> = LazyLock::new(|| {
    let both = HEADERS.iter().flat_map(|&(stem, text, names)| {
        let in_std: String =
            names.split_whitespace().map(|name| format!("using ::{name};\n")).collect();
        let of_cpp = format!("#pragma once\n{text}\nnamespace std {{\n{in_std}}}\n");
        [(format!("{stem}.h"), text.to_owned()), (format!("c{stem}"), of_cpp)]
    });
    let types = (TYPES.0.to_owned(), TYPES.1.to_owned());
    both.chain([types]).map(|(name, text)| Header { name, text }).collect()
});

/// Whether one of them has this name.
pub(super) fn has(name: &str) -> bool {
    ALL.iter().any(|header| header.name == name)
}

/// Those of which `request` has none of its own, in memory or in one of its `folders`.
pub(super) fn for_request(
    request: &Request,
    folders: Vec<PathBuf>,
) -> impl Iterator<Item = &Header> {
    let in_folder = move |name: &str| folders.iter().any(|folder| folder.join(name).is_file());
    let in_memory = |name: &str| request.headers.iter().any(|header| header.name == name);
    ALL.iter().filter(move |header| !in_memory(&header.name) && !in_folder(&header.name))
}
