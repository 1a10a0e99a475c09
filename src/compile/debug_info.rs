//! What the compiler says of a program's functions in its debug information: the names of their parameters, which stand
//! nowhere else in PTX.
//!
//! Enters: PTX that was compiled with [`OPTIONS`]. Leaves: names of functions and of their parameters. Must not know:
//! `cuda`, `scene`, `session`.
//!
//! PTX has the sections of DWARF (version 2 by NVRTC 13) as lists of numbers (PTX ISA, "Debugging Directives").

use std::collections::HashMap;

use gimli::{
    DW_AT_MIPS_linkage_name, DW_AT_linkage_name, DW_AT_name, DW_TAG_formal_parameter,
    DW_TAG_subprogram, DebugAbbrev, DebugInfo, DebugStr, DwAt, EndianSlice, EntriesTreeNode,
    LittleEndian, Result,
};

/// What makes the compiler write it. The second one keeps conditions as they are without it.
pub(crate) const OPTIONS: [&str; 2] = ["--device-debug", "-U__CUDACC_DEBUG__"];

type Bytes<'a> = EndianSlice<'a, LittleEndian>;
type Node<'abbrev, 'tree, 'a> = EntriesTreeNode<'abbrev, 'tree, Bytes<'a>>;

/// The names of the parameters of each function, by the function's name in the module; an empty one for a parameter
/// without a name.
///
/// # Errors
/// For what is no DWARF.
pub(crate) fn parameter_names(ptx: &str) -> Result<HashMap<String, Vec<String>>> {
    let [info, abbreviations, texts] =
        [".debug_info", ".debug_abbrev", ".debug_str"].map(|name| section(ptx, name));
    let info = DebugInfo::new(&info, LittleEndian);
    let abbreviations = DebugAbbrev::new(&abbreviations, LittleEndian);
    let texts = DebugStr::new(&texts, LittleEndian);
    let mut found = HashMap::new();
    let mut units = info.units();
    while let Some(unit) = units.next()? {
        let abbreviations = unit.abbreviations(&abbreviations)?;
        let mut tree = unit.entries_tree(&abbreviations, None)?;
        let mut functions = tree.root()?.children();
        while let Some(function) = functions.next()? {
            if function.entry().tag() == DW_TAG_subprogram
                && let Some(name) = linkage_name(&function, &texts)
            {
                found.insert(name, names_of_parameters(function, &texts)?);
            }
        }
    }
    Ok(found)
}

/// The name in the module: that of a C function is its own.
fn linkage_name(function: &Node<'_, '_, '_>, texts: &DebugStr<Bytes<'_>>) -> Option<String> {
    let all = [DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name];
    all.into_iter().find_map(|attribute| text(function, attribute, texts))
}

fn names_of_parameters(
    function: Node<'_, '_, '_>,
    texts: &DebugStr<Bytes<'_>>,
) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut children = function.children();
    while let Some(child) = children.next()? {
        if child.entry().tag() == DW_TAG_formal_parameter {
            names.push(text(&child, DW_AT_name, texts).unwrap_or_default());
        }
    }
    Ok(names)
}

fn text(node: &Node<'_, '_, '_>, attribute: DwAt, texts: &DebugStr<Bytes<'_>>) -> Option<String> {
    let value = node.entry().attr_value(attribute)?.string_value(texts)?;
    Some(value.to_string_lossy().into_owned())
}

/// The bytes of a section. What is known to the linker alone, as where a function lies, is 0.
fn section(ptx: &str, name: &str) -> Vec<u8> {
    let mut lines = ptx.lines().map(str::trim);
    let is_head = |line: &str| {
        let named = line.strip_prefix(".section").map(|rest| rest.trim_end_matches('{').trim());
        named == Some(name)
    };
    let mut bytes = Vec::new();
    if lines.by_ref().any(is_head) {
        for line in lines.take_while(|line| *line != "}") {
            let Some((kind, values)) = line.split_once([' ', '\t']) else { continue };
            let Some(size) = size_of(kind) else { continue };
            for value in values.split(',') {
                bytes.extend_from_slice(&number(value.trim()).to_le_bytes()[..size]);
            }
        }
    }
    bytes
}

/// The bytes of a number that is written as `.b8` says.
fn size_of(kind: &str) -> Option<usize> {
    Some(match kind {
        ".b8" => 1,
        ".b16" => 2,
        ".b32" => 4,
        ".b64" => 8,
        _ => return None,
    })
}

/// A number, or how far behind a label something lies: `.debug_str+12`.
fn number(value: &str) -> i64 {
    let offset = |value: &str| value.rsplit_once('+').and_then(|(_, offset)| offset.parse().ok());
    value.parse().ok().or_else(|| offset(value)).unwrap_or(0)
}
