//! How structures that are elements of resources lie in memory.

use std::{collections::HashSet, fmt::Write as _, sync::Arc};

use super::{
    HEAD, LONGEST, PREFIX,
    code::{Code, code_of, library},
    constants,
};
use crate::{
    cuda::Position,
    diagnostic::Diagnostic,
    element::{Part, Structure, Type},
    scene::{self, ResourceId, Scene},
    session::stat::quoted,
};

/// The numbers of each field: where it begins, what it is, and its size.
const PER_FIELD: usize = 3;
/// The greatest size of a structure in bytes.
const MOST_BYTES: u64 = LONGEST as u64;

/// What consists of structures: a resource, or a variable.
#[derive(Clone, Copy)]
enum Whose {
    Resource(ResourceId),
    Variable(usize),
}

/// Something that consists of structures.
struct Laid {
    whose: Whose,
    /// What it is called in a sentence.
    what: String,
    structure: Arc<Structure>,
    at: Position,
}

impl Laid {
    fn probe_name(&self) -> String {
        match self.whose {
            Whose::Resource(ResourceId(index)) => format!("{PREFIX}element_{index}"),
            Whose::Variable(index) => format!("{PREFIX}variable_{index}"),
        }
    }
}

/// All that consists of structures.
fn all(scene: &Scene) -> Vec<Laid> {
    let resources = scene.manifest.resources().iter().enumerate().map(|(index, resource)| {
        let whose = Whose::Resource(ResourceId(index));
        (whose, format!("the {resource}"), resource.of(), resource.at)
    });
    let variables = scene.manifest.variables.iter().enumerate().map(|(index, variable)| {
        let what = format!("the variable `{}`", variable.name);
        (Whose::Variable(index), what, variable.of.clone(), variable.at)
    });
    let laid = |(whose, what, of, at): (Whose, String, Type, Position)| match of {
        Type::Structure(structure) => Some(Laid { whose, what, structure, at }),
        Type::Element(_) => None,
    };
    resources.chain(variables).filter_map(laid).collect()
}

/// Adds to `text` what asks for them.
pub(in crate::session) fn probes(scene: &Scene, text: &mut String) {
    let file = quoted(&scene.name);
    for laid in all(scene) {
        let Structure { name, parts, .. } = &*laid.structure;
        library(text);
        let line = format!("#line {} {file}", laid.at.line);
        let probe = laid.probe_name();
        let _ = writeln!(
            text,
            "\n{line}\nextern \"C\" __device__ const unsigned long long {probe}[] = {{sizeof({name}), alignof({name}),"
        );
        for Part { path, .. } in parts {
            // A field that is not there is told at the line's first column: it has no place of its own.
            let field = format!("(({name} *)0)->\n{line}\n{path}");
            let code = code_of(&format!("decltype({field})"));
            let _ = writeln!(text, "__INTADDR__(&{field}), {code}, sizeof({field}),");
        }
        let _ = writeln!(text, "{line}\n}};");
    }
}

/// Gives the structures of `scene` their layouts, which the `ptx` of [`probes`] has. What is wrong with them, each with
/// its place.
pub(in crate::session) fn lay_out(scene: &mut Scene, ptx: &str) -> Vec<Diagnostic> {
    let structures = all(scene);
    let names: Vec<String> = structures.iter().map(Laid::probe_name).collect();
    let constants = constants(ptx, &names.iter().map(String::as_str).collect::<HashSet<_>>());
    let mut found = Vec::new();
    for (laid, name) in structures.iter().zip(&names) {
        let numbers = constants.get(name.as_str()).map_or([].as_slice(), Vec::as_slice);
        let laid_out = layout(&laid.structure, numbers).and_then(|structure| match laid.whose {
            Whose::Resource(id) => scene.manifest.set_type(id, structure.into()),
            Whose::Variable(index) => {
                scene.manifest.variables[index].of = structure.into();
                Ok(())
            }
        });
        if let Err(problem) = laid_out {
            let text = format!("{} {problem}", laid.what);
            found.push(Diagnostic::error(&scene.name, text).at(laid.at.line, laid.at.column));
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

/// Whether something of `scene` that is declared on this line has structures: what the compiler says of a field there
/// it says for each number that is asked for.
pub(super) fn is_declared_on(scene: &Scene, line: u32) -> bool {
    all(scene).iter().any(|laid| laid.at.line == line)
}
