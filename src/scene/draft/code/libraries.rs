//! Which calls are of libraries that compute on the device: what these do is no pass of a scene.

/// The functions of these libraries begin so, before a capital letter.
const PREFIXES: [&str; 12] = [
    "cublas", "cufft", "curand", "cusparse", "cusolver", "cudnn", "cutensor", "nccl", "nvjpeg",
    "nppi", "npps", "nvshmem",
];
/// What functions do that compute nothing: so they have it in their names.
const WITHOUT_RESULT: [&str; 2] = ["Free", "Destroy"];
/// Those of cuBLAS that copy between the host and the device.
const COPIES: [&str; 2] = ["cublasSet", "cublasGet"];
/// What has memory of the device in Thrust, and is declared as a variable.
const CONTAINERS: [&str; 5] =
    ["device_vector", "device_ptr", "universal_vector", "universal_ptr", "device_unique_ptr"];

/// Whether the function that is called by this path, `["thrust", "sort"]`, is one of such a library.
pub(in crate::scene::draft) fn computes(path: &[&str]) -> bool {
    let Some((name, spaces)) = path.split_last() else { return false };
    match spaces.first() {
        Some(&"cub") => spaces.iter().any(|space| space.starts_with("Device")),
        Some(&"thrust") => !is_of_values(name),
        _ => {
            is_of_library(name)
                && !WITHOUT_RESULT.iter().any(|word| name.contains(word))
                && !COPIES.iter().any(|start| name.starts_with(start))
        }
    }
}

/// Whether a function is one of such a library, whatever it does.
pub(in crate::scene::draft) fn is_of_library(name: &str) -> bool {
    PREFIXES.iter().any(|prefix| {
        let rest = name.strip_prefix(*prefix);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
    })
}

/// Whether a function or a type of Thrust only names what another one is given.
fn is_of_values(name: &str) -> bool {
    name.ends_with("_cast")
        || name.ends_with("_iterator")
        || name.starts_with("make_")
        || holds_memory(name)
        || matches!(
            name,
            "host_vector" | "get" | "tuple" | "pair" | "advance" | "distance" | "device_free"
        )
}

/// Whether a type holds or names memory of the device.
pub(in crate::scene::draft) fn holds_memory(word: &str) -> bool {
    CONTAINERS.contains(&word)
}

/// The argument of a function of cuBLAS to which it copies what the host has: `cublasSetVector(n, size, x, 1, y, 1)`.
pub(in crate::scene::draft) fn filled_by(name: &str) -> Option<usize> {
    match name {
        "cublasSetVector" | "cublasSetVectorAsync" => Some(4),
        "cublasSetMatrix" | "cublasSetMatrixAsync" => Some(5),
        _ => None,
    }
}
