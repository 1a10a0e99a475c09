//! What the compiler says of a program's functions in its debug information: the names of their parameters, which stand
//! nowhere else in PTX, and their types.
//!
//! Enters: PTX that was compiled with [`OPTIONS`]. Leaves: names of functions, names and types of their parameters.
//! Must not know: `scene`, `session`.
//!
//! PTX has the sections of DWARF (version 2 by NVRTC 13) as lists of numbers (PTX ISA, "Debugging Directives").

use std::collections::HashMap;

use gimli::{
    Abbreviations, AttributeValue, DebugAbbrev, DebugInfo, DebugStr, DebuggingInformationEntry,
    DwAt, EndianSlice, EntriesTreeNode, LittleEndian, Result, UnitHeader, constants,
};

use crate::cuda::CType;

/// What makes the compiler write it. The second one keeps conditions as they are without it.
pub(crate) const OPTIONS: [&str; 2] = ["--device-debug", "-U__CUDACC_DEBUG__"];

/// So many types lie behind one another at most, as those of a pointer to a pointer do.
const MOST_NESTED: usize = 64;
/// Stands for a type that has no name.
const UNNAMED: &str = "unnamed";

type Bytes<'a> = EndianSlice<'a, LittleEndian>;
type Entry<'a> = DebuggingInformationEntry<Bytes<'a>>;
type Node<'abbrev, 'tree, 'a> = EntriesTreeNode<'abbrev, 'tree, Bytes<'a>>;

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    /// Empty where it has none.
    pub(crate) name: String,
    pub(crate) of: CType,
}

/// The parameters of each function, by the function's name in the module.
///
/// # Errors
/// For what is no DWARF.
pub(crate) fn parameters(ptx: &str) -> Result<HashMap<String, Vec<Parameter>>> {
    let [info, abbreviations, texts] =
        [".debug_info", ".debug_abbrev", ".debug_str"].map(|name| section(ptx, name));
    let info = DebugInfo::new(&info, LittleEndian);
    let abbreviations = DebugAbbrev::new(&abbreviations, LittleEndian);
    let mut found = HashMap::new();
    let mut units = info.units();
    while let Some(header) = units.next()? {
        let abbreviations = header.abbreviations(&abbreviations)?;
        let unit = Unit {
            header: &header,
            abbreviations: &abbreviations,
            texts: DebugStr::new(&texts, LittleEndian),
        };
        let mut tree = header.entries_tree(&abbreviations, None)?;
        let mut functions = tree.root()?.children();
        while let Some(function) = functions.next()? {
            if function.entry().tag() == constants::DW_TAG_subprogram
                && let Some(name) = unit.linkage_name(function.entry())
            {
                found.insert(name, unit.parameters(function)?);
            }
        }
    }
    Ok(found)
}

/// What was compiled together.
struct Unit<'u, 'a> {
    header: &'u UnitHeader<Bytes<'a>>,
    abbreviations: &'u Abbreviations,
    texts: DebugStr<Bytes<'a>>,
}

impl<'a> Unit<'_, 'a> {
    /// The name in the module: that of a C function is its own.
    fn linkage_name(&self, function: &Entry<'a>) -> Option<String> {
        let all = [
            constants::DW_AT_linkage_name,
            constants::DW_AT_MIPS_linkage_name,
            constants::DW_AT_name,
        ];
        all.into_iter().find_map(|attribute| self.text(function, attribute))
    }

    fn parameters(&self, function: Node<'_, '_, 'a>) -> Result<Vec<Parameter>> {
        let mut parameters = Vec::new();
        let mut children = function.children();
        while let Some(child) = children.next()? {
            let entry = child.entry();
            if entry.tag() == constants::DW_TAG_formal_parameter {
                let name = self.text(entry, constants::DW_AT_name).unwrap_or_default();
                let of = CType::parse(&self.spelled_type(entry, 0)?);
                parameters.push(Parameter { name, of });
            }
        }
        Ok(parameters)
    }

    /// The type of what `entry` tells of, as C++ spells it. An array is spelled as its elements are: what points to
    /// one points to them.
    fn spelled_type(&self, entry: &Entry<'a>, depth: usize) -> Result<String> {
        let Some(of) = self.type_of(entry)? else { return Ok("void".to_owned()) };
        let name = self.text(&of, constants::DW_AT_name);
        let behind = match of.tag() {
            _ if depth == MOST_NESTED => return Ok(UNNAMED.to_owned()),
            constants::DW_TAG_pointer_type => " *",
            constants::DW_TAG_const_type => " const",
            constants::DW_TAG_volatile_type | constants::DW_TAG_array_type => "",
            constants::DW_TAG_typedef if !name.as_deref().is_some_and(is_handle) => "",
            // A type of its own, or a handle, which is a number by another name.
            _ => return Ok(name.unwrap_or_else(|| UNNAMED.to_owned())),
        };
        Ok(self.spelled_type(&of, depth + 1)? + behind)
    }

    /// The entry of the type that `entry` has.
    fn type_of(&self, entry: &Entry<'a>) -> Result<Option<Entry<'a>>> {
        match entry.attr_value(constants::DW_AT_type) {
            Some(AttributeValue::UnitRef(offset)) => {
                self.header.entry(self.abbreviations, offset).map(Some)
            }
            Some(_) | None => Ok(None),
        }
    }

    fn text(&self, entry: &Entry<'a>, attribute: DwAt) -> Option<String> {
        let value = entry.attr_value(attribute)?.string_value(&self.texts)?;
        Some(value.to_string_lossy().into_owned())
    }
}

/// Whether a type of this name is a number that stands for a texture or a surface.
fn is_handle(name: &str) -> bool {
    matches!(CType::parse(name), CType::Texture | CType::Surface)
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
