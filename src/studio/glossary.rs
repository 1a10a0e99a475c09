//! What names mean in a scene: CUDA's own, the manifest's keys, and what the manifest declares.

use std::ops::Range;

use crate::{
    scene::{CLOSE, OPEN},
    session::{Parameter, Snapshot, Value},
};

/// What CUDA C++ has of itself: how it is declared, and what it is.
pub const BUILT_INS: &[(&str, &str)] = &[
    ("uint3 threadIdx", "The thread's place in its block."),
    ("uint3 blockIdx", "The block's place in the grid."),
    ("dim3 blockDim", "The threads of a block along each axis."),
    ("dim3 gridDim", "The blocks of the grid along each axis."),
    ("int warpSize", "The threads of a warp: 32."),
    (
        "void __syncthreads()",
        "Waits until all threads of the block are here, and see what the others wrote.",
    ),
    ("void __syncwarp(unsigned mask = 0xffffffff)", "The same for the threads of a warp."),
    (
        "void __threadfence()",
        "What was written before is seen by the device before what is written after.",
    ),
    ("void __threadfence_block()", "The same for the block."),
    (
        "T __shfl_sync(unsigned mask, T value, int lane, int width = 32)",
        "The value that another thread of the warp has.",
    ),
    (
        "T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)",
        "The value of the thread so many lanes before.",
    ),
    (
        "T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)",
        "The value of the thread so many lanes behind.",
    ),
    (
        "T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32)",
        "The value of the thread whose number differs in these bits.",
    ),
    (
        "unsigned __ballot_sync(unsigned mask, int predicate)",
        "A bit for each thread of the warp for which it is true.",
    ),
    (
        "int __all_sync(unsigned mask, int predicate)",
        "Whether it is true for all threads of the warp.",
    ),
    (
        "int __any_sync(unsigned mask, int predicate)",
        "Whether it is true for any thread of the warp.",
    ),
    ("int __popc(unsigned x)", "The number of bits that are 1."),
    ("int __clz(int x)", "The number of zeros before the highest 1."),
    ("int __ffs(int x)", "The place of the lowest 1, from 1; 0 for 0."),
    ("float __ldg(const float *address)", "Loads through the read-only cache; for every type."),
    ("T atomicAdd(T *address, T value)", "Adds in one go; gives the value before."),
    ("T atomicSub(T *address, T value)", "Subtracts in one go; gives the value before."),
    ("T atomicMin(T *address, T value)", "Keeps the lesser one in one go; gives the value before."),
    (
        "T atomicMax(T *address, T value)",
        "Keeps the greater one in one go; gives the value before.",
    ),
    ("T atomicExch(T *address, T value)", "Exchanges in one go; gives the value before."),
    (
        "T atomicCAS(T *address, T compare, T value)",
        "Stores the value where the old one is as compared; gives the old one.",
    ),
    ("T atomicAnd(T *address, T value)", "Bitwise and in one go; gives the value before."),
    ("T atomicOr(T *address, T value)", "Bitwise or in one go; gives the value before."),
    ("T atomicXor(T *address, T value)", "Bitwise exclusive or in one go; gives the value before."),
    ("float2 make_float2(float x, float y)", "A vector of two."),
    ("float3 make_float3(float x, float y, float z)", "A vector of three."),
    ("float4 make_float4(float x, float y, float z, float w)", "A vector of four."),
    ("int2 make_int2(int x, int y)", "A vector of two whole numbers."),
    ("int3 make_int3(int x, int y, int z)", "A vector of three whole numbers."),
    ("int4 make_int4(int x, int y, int z, int w)", "A vector of four whole numbers."),
    (
        "uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w)",
        "Four bytes: a texel of `rgba8`.",
    ),
    (
        "void surf1Dwrite(T value, cudaSurfaceObject_t surface, int xBytes)",
        "Writes a texel; x counts bytes.",
    ),
    (
        "void surf2Dwrite(T value, cudaSurfaceObject_t surface, int xBytes, int y)",
        "Writes a texel; x counts bytes.",
    ),
    (
        "void surf3Dwrite(T value, cudaSurfaceObject_t surface, int xBytes, int y, int z)",
        "Writes a texel; x counts bytes.",
    ),
    (
        "T surf2Dread<T>(cudaSurfaceObject_t surface, int xBytes, int y)",
        "Reads a texel; x counts bytes.",
    ),
    (
        "T surf3Dread<T>(cudaSurfaceObject_t surface, int xBytes, int y, int z)",
        "Reads a texel; x counts bytes.",
    ),
    (
        "T tex1D<T>(cudaTextureObject_t texture, float x)",
        "Reads a texture, filtered as the manifest says.",
    ),
    (
        "T tex2D<T>(cudaTextureObject_t texture, float x, float y)",
        "Reads a texture, filtered as the manifest says.",
    ),
    (
        "T tex3D<T>(cudaTextureObject_t texture, float x, float y, float z)",
        "Reads a texture, filtered as the manifest says.",
    ),
    ("int printf(const char *format, ...)", "Prints from a kernel."),
    ("float sinf(float x)", "Sine."),
    ("float cosf(float x)", "Cosine."),
    ("void sincosf(float x, float *sine, float *cosine)", "Both at once."),
    ("float tanf(float x)", "Tangent."),
    ("float asinf(float x)", "Inverse sine."),
    ("float acosf(float x)", "Inverse cosine."),
    ("float atanf(float x)", "Inverse tangent."),
    ("float atan2f(float y, float x)", "The angle of (x, y)."),
    ("float expf(float x)", "Exponential."),
    ("float exp2f(float x)", "Two to the power of x."),
    ("float logf(float x)", "Natural logarithm."),
    ("float log2f(float x)", "Logarithm to the base of two."),
    ("float log10f(float x)", "Logarithm to the base of ten."),
    ("float powf(float x, float y)", "x to the power of y."),
    ("float sqrtf(float x)", "Square root."),
    ("float rsqrtf(float x)", "One over the square root."),
    ("float cbrtf(float x)", "Cube root."),
    ("float hypotf(float x, float y)", "The length of (x, y)."),
    ("float fabsf(float x)", "Absolute value."),
    ("float fminf(float x, float y)", "The lesser one."),
    ("float fmaxf(float x, float y)", "The greater one."),
    ("float fmodf(float x, float y)", "The remainder, with the sign of x."),
    ("float fmaf(float x, float y, float z)", "x * y + z, rounded once."),
    ("float floorf(float x)", "The next whole number below."),
    ("float ceilf(float x)", "The next whole number above."),
    ("float roundf(float x)", "The nearest whole number, halves away from 0."),
    ("float truncf(float x)", "The whole part."),
    ("float tanhf(float x)", "Hyperbolic tangent."),
    ("float erff(float x)", "Error function."),
    ("float __saturatef(float x)", "Clamped to [0, 1]."),
    ("bool isnan(float x)", "Whether it is not a number."),
    ("bool isinf(float x)", "Whether it is infinite."),
    ("int min(int x, int y)", "The lesser one."),
    ("int max(int x, int y)", "The greater one."),
    ("int abs(int x)", "Absolute value."),
];

/// The keys of the manifest's tables; the first one is that of the keys before any table.
const KEYS: &[(&str, &[&str])] = &[
    ("", &["title", "summary", "dt"]),
    ("compile", &["define", "include", "standard", "fast_math", "max_registers"]),
    (
        "buffer",
        &["type", "count", "fields", "file", "dtype", "value", "random", "each", "was", "keep"],
    ),
    (
        "array",
        &[
            "type", "count", "fields", "double", "file", "dtype", "value", "random", "each", "was",
            "keep",
        ],
    ),
    (
        "texture",
        &[
            "format",
            "size",
            "double",
            "filter",
            "wrap",
            "normalized",
            "resample",
            "file",
            "value",
            "random",
            "was",
            "keep",
        ],
    ),
    ("variable", &["type", "fields", "value", "file", "dtype", "random", "each"]),
    ("param", &["value", "min", "max", "step", "log", "label", "unit", "choices", "kind"]),
    ("preset", &[]),
    (
        "pass",
        &[
            "kernel",
            "on",
            "over",
            "block",
            "grid",
            "shared",
            "args",
            "bytes",
            "flops",
            "repeat",
            "counter",
            "until",
            "every",
            "only_if",
            "clear",
            "copy",
            "cooperative",
            "lockstep",
            "guard",
            "name",
        ],
    ),
    (
        "view",
        &[
            "name", "kind", "position", "color", "size", "blend", "texture", "filter", "height",
            "density", "color_by", "colormap", "range", "reverse", "log", "unit",
        ],
    ),
    ("stat", &["name", "of", "map", "reduce"]),
    ("check", &["stat", "after", "min", "max", "equals", "tolerance", "drift"]),
    (
        "plot",
        &["name", "title", "kind", "of", "bins", "range", "row", "column", "size", "log", "unit"],
    ),
    (
        "golden",
        &[
            "image",
            "of",
            "file",
            "after",
            "view",
            "size",
            "tolerance",
            "outliers",
            "legend",
            "relative",
        ],
    ),
];

/// What TOML puts around strings.
const QUOTES: [char; 2] = ['"', '\''];

/// The name of what is declared so: `atomicAdd` of `T atomicAdd(T *address, T value)`.
pub fn name(declaration: &str) -> &str {
    let head = declaration.split(['(', '<']).next().unwrap_or(declaration);
    head.rsplit(' ').next().unwrap_or(head)
}

/// The keys of a table of the manifest, `""` for those before any table; and the names of the tables.
pub fn keys(table: &str) -> &'static [&'static str] {
    KEYS.iter().find(|(name, _)| *name == table).map_or(&[], |(_, keys)| keys)
}

/// The names of the manifest's tables.
pub fn tables() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(name, _)| *name).filter(|name| !name.is_empty()).chain(["constant"])
}

/// The manifest's lines up to byte `end`, each with the table that it is in: `constant`, `param.drag`.
fn lines(text: &str, end: usize) -> Vec<(&str, &str)> {
    let Some(open) = text.find(OPEN).map(|at| at + OPEN.len()) else { return Vec::new() };
    let close = text[open..].find(CLOSE).map_or(text.len(), |at| open + at);
    let mut table = "";
    let manifest = text.get(open..close.min(end)).unwrap_or_default();
    let in_table = |line: &'_ str| line.trim().starts_with('[');
    let mut all = Vec::new();
    for line in manifest.lines() {
        if in_table(line) {
            table =
                line.trim().trim_start_matches('[').split(']').next().unwrap_or_default().trim();
        }
        all.push((table, line));
    }
    all
}

/// All tables of the manifest, in order, as they are headed: `param.drag`.
pub fn tables_of(text: &str) -> Vec<&str> {
    let all = lines(text, text.len()).into_iter();
    all.filter(|(_, line)| line.trim().starts_with('[')).map(|(table, _)| table).collect()
}

/// All tables of the manifest with the lines of their heads, from 0, and the name of each: that of what it declares
/// (`drag` of `[param.drag]`), else its kernel's or what its keys call it; empty where nothing does.
pub fn named_tables(text: &str) -> Vec<(&str, &str, usize)> {
    let mut found: Vec<(&str, &str, usize)> = Vec::new();
    for (line, (table, written)) in (first_line(text)..).zip(lines(text, text.len())) {
        if written.trim().starts_with('[') {
            let (kind, name) = table.split_once('.').unwrap_or((table, ""));
            found.push((kind.trim(), name.trim().trim_matches(QUOTES), line));
        } else if let Some((_, name, _)) = found.last_mut()
            && let Some((key, value)) = written.split_once('=')
            && !table.contains('.')
            && (key.trim() == "name" || name.is_empty() && matches!(key.trim(), "kernel" | "kind"))
        {
            *name = value.split('#').next().unwrap_or_default().trim().trim_matches(QUOTES);
        }
    }
    found
}

/// The line, from 0, on which the manifest opens.
fn first_line(text: &str) -> usize {
    let open = text.find(OPEN).map_or(0, |at| at + OPEN.len());
    text[..open].matches('\n').count()
}

/// The lines, from 0, that the manifest's tables have behind their heads, without the blank ones at their ends.
pub fn tables_at(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (line, (_, written)) in (first_line(text)..).zip(lines(text, text.len())) {
        if written.trim().starts_with('[') {
            found.push(line + 1..line + 1);
        } else if let Some(last) = found.last_mut().filter(|_| !written.trim().is_empty()) {
            last.end = line + 1;
        }
    }
    found.retain(|lines| !lines.is_empty());
    found
}

/// The table of the manifest that byte `at` is in, without the name of what it declares; `None` outside of the
/// manifest.
pub fn table_at(text: &str, at: usize) -> Option<&str> {
    let open = text.find(OPEN)?;
    let close = text[open..].find(CLOSE).map_or(text.len(), |length| open + length);
    let is_within = open + OPEN.len() <= at && at <= close;
    let table = lines(text, at).last().map_or("", |(table, _)| *table);
    is_within.then(|| table.split('.').next().unwrap_or_default())
}

/// What a name means, in lines of which the first one is code; `text` is the scene's.
pub fn meaning(word: &str, text: &str, snapshot: &Snapshot) -> Option<String> {
    constant(word, text)
        .or_else(|| snapshot.parameters.iter().find(|p| p.name == word).map(parameter))
        .or_else(|| resource(word, snapshot))
        .or_else(|| {
            let (declaration, told) =
                BUILT_INS.iter().find(|(declaration, _)| name(declaration) == word)?;
            Some(format!("{declaration}\n{told}"))
        })
}

/// A constant as the manifest has it, and what it is on the CPU device where that differs.
fn constant(word: &str, text: &str) -> Option<String> {
    let value = |table: &str| {
        let all = lines(text, text.len()).into_iter().filter(|(own, _)| *own == table);
        let mut values = all.filter_map(|(_, line)| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == word).then(|| value.split('#').next().unwrap_or_default().trim())
        });
        values.next()
    };
    let first = format!("{word} = {}\nA constant", value("constant")?);
    Some(match value("constant.cpu") {
        Some(other) => format!("{first}; on the CPU device {other}."),
        None => format!("{first}."),
    })
}

fn parameter(parameter: &Parameter) -> String {
    let shown = |value: &Value| match value {
        Value::Int(value) => value.to_string(),
        Value::Float(value) => format!("{value}"),
        Value::Toggle(value) => value.to_string(),
        Value::Color(color) => format!("{color:?}"),
    };
    let Parameter { name, unit, value, default, label, .. } = parameter;
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    format!(
        "{name} = {}{unit}\nThe parameter \"{label}\"; the manifest has {}.",
        shown(value),
        shown(default)
    )
}

fn resource(word: &str, snapshot: &Snapshot) -> Option<String> {
    let named = |name: &str| snapshot.resources.iter().find(|resource| resource.name == name);
    if let Some(found) = named(word) {
        return Some(format!(
            "{} {word}[{}]\nA resource of {} bytes.",
            found.element, found.count, found.bytes
        ));
    }
    if let Some(found) = word.strip_suffix("_count").and_then(named) {
        return Some(format!("{word} = {}\nThe elements of `{}`.", found.count, found.name));
    }
    let found = word.strip_suffix("_next").and_then(named)?;
    Some(format!(
        "{} {word}[{}]\nThe half of `{}` that is being written.",
        found.element, found.count, found.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// a\n/*---\ntitle = 1\n[constant]\nn = 4 * 2 # cells\n[constant.cpu]\nn = 2\n[[pass]]\nker\n---*/\nint n;";

    #[test]
    fn constants_are_those_of_the_manifest() {
        assert_eq!(constant("n", TEXT).unwrap(), "n = 4 * 2\nA constant; on the CPU device 2.");
        assert_eq!(constant("title", TEXT), None);
        assert_eq!(constant("n", "int n = 3;"), None);
    }

    #[test]
    fn a_place_is_in_a_table() {
        let at = |part: &str| table_at(TEXT, TEXT.find(part).unwrap() + part.len());
        assert_eq!(at("tit"), Some(""));
        assert_eq!(at("n = 4"), Some("constant"));
        assert_eq!(at("n = 2"), Some("constant"));
        assert_eq!(at("ker"), Some("pass"));
        assert_eq!((at("int"), table_at(TEXT, 2), table_at("", 0)), (None, None, None));
    }

    #[test]
    fn declarations_have_names_and_each_name_once() {
        assert_eq!(name("T tex2D<T>(cudaTextureObject_t texture)"), "tex2D");
        assert_eq!(name("uint3 threadIdx"), "threadIdx");
        let mut names: Vec<_> =
            BUILT_INS.iter().map(|(declaration, _)| name(declaration)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn the_manual_has_every_key() {
        let manual =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/scenes.md"));
        let manual = manual.unwrap();
        for (table, keys) in KEYS {
            for key in *keys {
                assert!(manual.contains(&format!("`{key}`")), "[{table}] {key}");
            }
        }
    }
}
