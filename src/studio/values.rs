//! The values that a key of the manifest may have, as far as they have names.

use std::collections::BTreeSet;

use super::{glossary, highlight::Syntax};
use crate::{
    cuda,
    scene::{COLORMAPS, ColorBy, Filter, Format, Reduce, Scalar, Wrap},
};

/// What stands behind a key's `=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// One of these, as they are: `true`.
    Bare(&'static [&'static str]),
    /// One of these, in quotes.
    Quoted(Syntax, Vec<String>),
    /// Something else.
    Other,
}

/// The values of `key` in `table`; `text` is the scene's.
pub fn of(table: &str, key: &str, text: &str) -> Values {
    let named = |names: &[&str]| {
        Values::Quoted(Syntax::String, names.iter().map(|name| (*name).to_owned()).collect())
    };
    let resources = |tables: &[&str]| Values::Quoted(Syntax::Bound, declared(text, tables));
    match (table, key) {
        (
            _,
            "double" | "log" | "legend" | "fast_math" | "normalized" | "resample" | "keep"
            | "cooperative" | "lockstep",
        ) => Values::Bare(&["true", "false"]),
        ("texture", "format") => names(Format::ALL),
        ("texture" | "view", "filter") => names(Filter::ALL),
        ("texture", "wrap") => names(Wrap::ALL),
        ("view", "kind") => named(&["points", "image", "surface", "volume"]),
        ("view", "blend") => named(&["additive", "opaque"]),
        ("view", "colormap") => named(COLORMAPS),
        ("view", "color_by") => names(ColorBy::ALL),
        ("plot", "kind") => named(&["time", "histogram", "line"]),
        ("param", "kind") => named(&["color", "toggle"]),
        ("stat", "reduce") => names(Reduce::ALL),
        ("pass", "on") => named(&["reset", "step"]),
        ("pass", "guard") => named(&["on", "off"]),
        ("pass", "kernel") => Values::Quoted(Syntax::Function, kernels(text)),
        (_, "dtype") => named(&Scalar::numpy_names().map(|(name, _)| name).collect::<Vec<_>>()),
        ("buffer" | "array" | "variable", "type") => Values::Quoted(Syntax::Type, types()),
        ("view", "texture") => resources(&["texture"]),
        ("view", "position" | "color") => resources(&["buffer", "array"]),
        ("pass", "over") => resources(&["buffer", "array", "texture"]),
        ("pass", "clear") | ("stat" | "plot" | "golden", "of") => {
            resources(&["buffer", "array", "texture"])
        }
        ("check", "stat") => resources(&["stat"]),
        _ => Values::Other,
    }
}

fn names<T>(all: &[(&'static str, T)]) -> Values {
    Values::Quoted(Syntax::String, all.iter().map(|(name, _)| (*name).to_owned()).collect())
}

/// The types of elements, the usual ones first.
fn types() -> Vec<String> {
    let lanes = ["", "2", "3", "4"];
    let numbers = ["float", "int", "uint", "double", "uchar", "short", "ushort"];
    let all = numbers.iter().flat_map(|of| lanes.map(|lanes| format!("{of}{lanes}")));
    // CUDA has no such names without a number of lanes.
    let is_type = |name: &String| !matches!(name.as_str(), "uint" | "uchar" | "ushort");
    let others = ["unsigned", "unsigned char", "long long", "unsigned long long", "bool"];
    all.filter(is_type).chain(others.map(str::to_owned)).collect()
}

/// The kernels of a text.
fn kernels(text: &str) -> Vec<String> {
    let all: BTreeSet<String> =
        cuda::scan("", text).into_iter().map(|kernel| kernel.name).collect();
    all.into_iter().collect()
}

/// What the manifest declares in tables that are called so: `position` of `[buffer.position]`.
fn declared(text: &str, tables: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for table in glossary::tables_of(text) {
        let own = table.split_once('.').filter(|(kind, _)| tables.contains(&kind.trim()));
        let name = own.map(|(_, name)| name.trim().trim_matches(['"', '\'']).to_owned());
        found.extend(name.filter(|name| !found.contains(name)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Overrides, Scene};

    const TEXT: &str = "/*---\n[buffer.position]\ntype = \"float4\"\n[array.mass]\n[texture.field]\n\
                        [constant]\nn = 1\n---*/\n__global__ void move(float4 *position) {}\n";

    fn quoted(table: &str, key: &str) -> Vec<String> {
        match of(table, key, TEXT) {
            Values::Quoted(_, names) => names,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn names_are_those_of_the_scene() {
        assert_eq!(quoted("pass", "over"), ["position", "mass", "field"]);
        assert_eq!(quoted("view", "position"), ["position", "mass"]);
        assert_eq!(quoted("view", "texture"), ["field"]);
        assert_eq!(quoted("pass", "kernel"), ["move"]);
        assert_eq!(of("constant", "n", TEXT), Values::Other);
    }

    /// A manifest with each of the names is read without a remark on it.
    #[test]
    fn every_name_is_one_that_manifests_may_have() {
        let buffer = |type_: &str| format!("[buffer.b]\ntype = \"{type_}\"\ncount = 4\n");
        let texture = "[texture.t]\nsize = [4, 4]\n";
        let mut texts: Vec<String> = types().iter().map(|name| buffer(name)).collect();
        for (key, first) in
            [("format", ""), ("filter", "format = \"r32f\"\n"), ("wrap", "format = \"r32f\"\n")]
        {
            let all = quoted("texture", key);
            texts.extend(all.iter().map(|name| format!("{texture}{first}{key} = \"{name}\"\n")));
        }
        let view =
            format!("{texture}format = \"rgba32f\"\n[view]\nkind = \"image\"\ntexture = \"t\"\n");
        for key in ["filter", "colormap", "color_by"] {
            let all = quoted("view", key);
            texts.extend(all.iter().map(|name| format!("{view}{key} = \"{name}\"\n")));
        }
        let points = format!("{}[view]\nkind = \"points\"\nposition = \"b\"\n", buffer("float4"));
        let blends = quoted("view", "blend");
        texts.extend(blends.iter().map(|name| format!("{points}blend = \"{name}\"\n")));
        for text in texts {
            let source = format!("/*---\n{text}---*/\n");
            let read = Scene::parse("a.cu", &source, &Overrides::default());
            assert!(read.is_ok(), "{text}{:#?}", read.err());
        }
    }

    /// Kinds are written in the manual's words.
    #[test]
    fn the_manual_has_every_name() {
        let manual =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/scenes.md"));
        let manual = manual.unwrap();
        for (table, key) in [
            ("view", "kind"),
            ("plot", "kind"),
            ("param", "kind"),
            ("stat", "reduce"),
            ("pass", "on"),
        ] {
            for name in quoted(table, key) {
                let is_there =
                    ["\"", "`"].iter().any(|sign| manual.contains(&format!("{sign}{name}{sign}")));
                assert!(is_there, "[{table}] {key} {name}");
            }
        }
    }
}
