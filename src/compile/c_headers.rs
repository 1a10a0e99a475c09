//! The headers of C that kernels include, for NVRTC comes without a C library.
//!
//! nvcc has the host's, so sources written for it begin with `#include <stdio.h>`. What device code can use of them
//! (`printf`, `assert`, `memcpy`, `malloc`, the functions of `math.h`) NVRTC knows by itself; here are the types and
//! constants that it does not know. Each has its name in C++ too, without the namespace `std`.

use super::{Header, includes, request::Request};

/// Names without their endings, and texts.
const HEADERS: [(&str, &str); 9] = [
    ("assert", ""),
    ("float", include_str!("c/float.h")),
    ("limits", include_str!("c/limits.h")),
    ("math", include_str!("c/math.h")),
    ("stddef", ""),
    ("stdint", include_str!("c/stdint.h")),
    ("stdio", ""),
    ("stdlib", ""),
    ("string", ""),
];

/// All of them, by name.
fn all() -> impl Iterator<Item = (String, &'static str)> {
    HEADERS
        .iter()
        .flat_map(|&(stem, text)| [(format!("{stem}.h"), text), (format!("c{stem}"), text)])
}

/// Their texts, one behind the other.
pub(super) fn texts() -> impl Iterator<Item = &'static str> {
    HEADERS.iter().map(|(_, text)| *text)
}

/// Those of which `request` has none of its own, in memory or in one of its folders.
pub(super) fn for_request(request: &Request) -> Vec<Header> {
    let folders = includes::folders(request);
    let in_folder = |name: &str| folders.iter().any(|folder| folder.join(name).is_file());
    let in_memory = |name: &str| request.headers.iter().any(|header| header.name == name);
    all()
        .filter(|(name, _)| !in_memory(name) && !in_folder(name))
        .map(|(name, text)| Header { name, text: text.to_owned() })
        .collect()
}
