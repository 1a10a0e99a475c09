//! How structures that are elements of resources lie in memory.

use std::{collections::HashSet, fmt::Write as _};

use super::{Code, HEAD, LONGEST, PREFIX, code_of, constants, library};
use crate::{
    diagnostic::Diagnostic,
    element::{Part, Structure, Type},
    scene::{self, Resource, ResourceId, Scene},
    session::stat::quoted,
};

/// The numbers of each field: where it begins, what it is, and its size.
const PER_FIELD: usize = 3;
/// The greatest size of a structure in bytes.
const MOST_BYTES: u64 = LONGEST as u64;

/// Adds to `text` what asks for them.
pub(in crate::session) fn probes(scene: &Scene, text: &mut String) {
    let file = quoted(&scene.name);
    for (index, resource) in scene.manifest.resources().iter().enumerate() {
        let of = resource.of();
        let Some(Structure { name, parts, .. }) = of.structure() else { continue };
        library(text);
        let line = format!("#line {} {file}", resource.at.line);
        let probe = probe_name(index);
        let _ = writeln!(
            text,
            "\n{line}\nextern \"C\" __device__ const unsigned long long {probe}[] = {{sizeof({name}), alignof({name}),"
        );
        for Part { path, .. } in parts {
            // A field that is not there is told at the line's first column: it has no place of its own.
            let field = format!(
                "(({name} *)0)->
{line}
{path}"
            );
            let code = code_of(&format!("decltype({field})"));
            let _ = writeln!(text, "__INTADDR__(&{field}), {code}, sizeof({field}),");
        }
        let _ = writeln!(text, "{line}\n}};");
    }
}

fn probe_name(index: usize) -> String {
    format!("{PREFIX}element_{index}")
}

/// Gives the structures of `scene` their layouts, which the `ptx` of [`probes`] has. What is wrong with them, each with
/// its place.
pub(in crate::session) fn lay_out(scene: &mut Scene, ptx: &str) -> Vec<Diagnostic> {
    let resources = scene.manifest.resources().iter().enumerate();
    let structures: Vec<(usize, Resource)> = resources
        .filter(|(_, resource)| resource.of().structure().is_some())
        .map(|(index, resource)| (index, resource.clone()))
        .collect();
    let names: Vec<String> = structures.iter().map(|(index, _)| probe_name(*index)).collect();
    let constants = constants(ptx, &names.iter().map(String::as_str).collect::<HashSet<_>>());
    let mut found = Vec::new();
    for ((index, resource), name) in structures.iter().zip(&names) {
        let of = resource.of();
        let Some(structure) = of.structure() else { continue };
        let numbers = constants.get(name.as_str()).map_or([].as_slice(), Vec::as_slice);
        let laid_out = layout(structure, numbers)
            .and_then(|structure| scene.manifest.set_type(ResourceId(*index), structure.into()));
        if let Err(problem) = laid_out {
            let text = format!("the {resource} {problem}");
            found.push(
                Diagnostic::error(&scene.name, text).at(resource.at.line, resource.at.column),
            );
        }
    }
    if found.is_empty() {
        let problems = scene::view_problems(&scene.manifest);
        found.extend(
            problems.map(|(at, text)| Diagnostic::error(&scene.name, text).at(at.line, at.column)),
        );
    }
    found
}

/// The structure as the compiler lays it out.
///
/// # Errors
/// What stands behind the resource's name in a sentence, where its elements cannot be such.
fn layout(structure: &Structure, numbers: &[u64]) -> Result<Structure, String> {
    let name = &structure.name;
    let bytes = match numbers {
        [bytes @ 1..=MOST_BYTES, ..] => *bytes as usize,
        _ => {
            return Err(format!(
                "has elements that are too large: of more than {MOST_BYTES} bytes"
            ));
        }
    };
    let fields = numbers.get(HEAD..).unwrap_or_default().chunks_exact(PER_FIELD);
    let parts = structure.parts.iter().zip(fields).map(|(part, numbers)| field(part, numbers));
    let parts = parts.collect::<Result<Vec<Part>, String>>();
    let parts = parts.map_err(|problem| format!("cannot be read: `{name}::{problem}"))?;
    let crooked = |part: &&Part| {
        let align = part.element.scalar.bytes();
        !part.offset.is_multiple_of(align) || !bytes.is_multiple_of(align)
    };
    let is_beyond = |part: &&Part| {
        let size = part.element.bytes().checked_mul(part.count);
        size.and_then(|size| part.offset.checked_add(size)).is_none_or(|end| end > bytes)
    };
    if let Some(part) = parts.iter().find(is_beyond) {
        let path = &part.path;
        return Err(format!("cannot be read: `{name}::{path}` ends behind its structure"));
    }
    if let Some(part) = parts.iter().find(crooked) {
        let (path, element) = (&part.path, part.element.scalar);
        return Err(format!(
            "cannot be read: `{name}` is packed, so that its field `{path}` does not lie where a `{element}` may"
        ));
    }
    Ok(Structure { name: name.clone(), bytes, parts })
}

/// Where a field lies, and how many there are. The error goes on behind the structure's name and `::`.
fn field(part: &Part, numbers: &[u64]) -> Result<Part, String> {
    let (path, element) = (&part.path, part.element);
    let &[offset, code, bytes] = numbers else { return Err(format!("{path}` is not known")) };
    let code = Code::read(code);
    if code.is_pointer {
        return Err(format!("{path}` is a pointer: `fields` says which fields are looked at"));
    }
    let each = element.bytes() as u64;
    let is_other =
        code.scalar.is_some_and(|scalar| (scalar, code.lanes) != (element.scalar, element.lanes));
    if is_other
        || !bytes.is_multiple_of(each)
        || (code.scalar.is_some() && bytes != each * code.count)
    {
        let is = code.ctype().map_or_else(String::new, |ctype| format!("a `{ctype}`, "));
        return Err(format!(
            "{path}` is {is}of {bytes} bytes, and not a `{element}`, or an array of them: `fields` says what it is"
        ));
    }
    Ok(Part { offset: offset as usize, count: (bytes / each) as usize, ..part.clone() })
}

/// Whether a resource of `scene` that is declared on this line has structures: what the compiler says of a field there
/// it says for each number that is asked for.
pub(super) fn is_declared_on(scene: &Scene, line: u32) -> bool {
    let resources = scene.manifest.resources().iter();
    let is_structure = |resource: &&Resource| matches!(resource.of(), Type::Structure(_));
    resources.filter(is_structure).any(|resource| resource.at.line == line)
}
