//! What NVRTC does not take, although it is no mistake: extensions of other compilers, which nvcc takes, and what CUDA
//! had once. Its messages do not say so.

/// What to add to a message of the compiler; `at` is what stands before the caret and from it on, in one line.
pub(super) fn about(message: &str, at: Option<(&str, &str)>) -> Option<&'static str> {
    let (before, from) = at.map_or(("", ""), |(before, from)| (before.trim_end(), from));
    let begins_item = |before: &str| before.trim_end().ends_with(['{', ',']);
    if message.starts_with("expected an expression") {
        return match from.chars().next() {
            Some('{') if before.ends_with(')') => Some(
                "a limit of NVRTC: a compound literal, `(T){a, b}`, is C's; in C++ it is `T{a, b}`",
            ),
            Some('{') if before.ends_with('(') => Some(
                "a limit of NVRTC: a statement within an expression, `({ ...; x; })`, is GNU's; in C++ it is a lambda, \
                 `[&] { ...; return x; }()`",
            ),
            Some(':') if before.ends_with('?') => {
                Some("a limit of NVRTC: `a ?: b` is GNU's; in C++ it is `a ? a : b`")
            }
            Some('.') if begins_item(before) => Some(
                "a limit of NVRTC: designated initialisers, `{.a = x}`, are C++'s since 2020 only; \
                 `standard = \"c++20\"` in the manifest's [compile] takes them, in the order of the members",
            ),
            Some(_) | None => None,
        };
    }
    if message.starts_with("expected a \":\"") && from.starts_with("...") {
        return Some(
            "a limit of NVRTC: a range of cases, `case 1 ... 5:`, is GNU's; in C++ each has a `case` of its own",
        );
    }
    if message.starts_with("expected an identifier")
        && before.strip_suffix('[').is_some_and(begins_item)
    {
        return Some(
            "a limit of NVRTC: initialisers with an index, `{[1] = x}`, are C's; in C++ they are in order",
        );
    }
    OF_MESSAGES.iter().find(|(start, _)| message.starts_with(start)).map(|(_, text)| *text)
}

/// How messages begin, and what to add.
const OF_MESSAGES: [(&str, &str); 9] = [
    ("identifier \"typeof\" is undefined", TYPEOF),
    ("identifier \"__typeof\" is undefined", TYPEOF),
    ("identifier \"__typeof__\" is undefined", TYPEOF),
    ("texture is not a template", REFERENCE),
    ("surface is not a template", REFERENCE),
    (
        "device-side kernel launch could not be processed",
        "a limit of NVRTC, and of the devices here: a kernel launches no others",
    ),
    (
        "identifier \"__builtin_popcount",
        "a limit of NVRTC: it is a function of the host's compiler; kernels have `__popc` and `__popcll`",
    ),
    (
        "identifier \"__builtin_clz",
        "a limit of NVRTC: it is a function of the host's compiler; kernels have `__clz` and `__clzll`",
    ),
    (
        "identifier \"__builtin_ctz",
        "a limit of NVRTC: it is a function of the host's compiler; kernels have `__ffs(x) - 1` and `__ffsll(x) - 1`",
    ),
];

const TYPEOF: &str = "a limit of NVRTC: `typeof` is GNU's; in C++ it is `decltype`, or `auto`";

const REFERENCE: &str = "CUDA 12 took texture and surface references out: a parameter of the kernel, \
    `cudaTextureObject_t` or `cudaSurfaceObject_t`, takes their place";
