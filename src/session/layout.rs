//! Structures that a pass gives to its kernel by value: how the compiler lays them out.
//!
//! For each a constant is compiled behind the scene's own text, whose numbers are the size of the structure and where
//! its fields lie; they are read from the PTX.

use std::{collections::BTreeSet, fmt::Write as _};

use super::stat::quoted;
use crate::{
    cuda::{CType, KernelParameter, Pointee, Position},
    diagnostic::Diagnostic,
    element::{Element, Scalar},
    scene::{Argument, Field, Layout, Member, Plan, Scene, Source, check_given},
};

/// Tells of a field's type, in one number: whether it is a pointer, its scalar's place in [`SCALARS`] (255 for others),
/// the lanes of a vector, and, in the bits above 24, the elements of an array.
const LIBRARY: &str = "
namespace warpaint { namespace layout {
using number = unsigned long long;
template <class T> struct of { enum : number { code = (1ull << 24) + (1 << 16) + (__is_enum(T) ? 4 : 255) }; };
template <class T> struct of<const T> : of<T> {};
template <class T> struct of<T *> {
    enum : number { code = (1ull << 24) + 256 + (of<T>::code & 256 ? 255 : of<T>::code & 0xff00ff) };
};
template <class T, number N> struct of<T[N]> {
    enum : number { code = (of<T>::code >> 24) * N * (1ull << 24) + (of<T>::code & 0xffffff) };
};
template <class T, number N> struct of<const T[N]> : of<T[N]> {};
";

/// The scalars of fields, each with the type's other names; their order is what the kernels' constants say.
const SCALARS: [(Scalar, &[&str]); 11] = [
    (Scalar::Bool, &[]),
    (Scalar::I8, &["signed char"]),
    (Scalar::U8, &[]),
    (Scalar::I16, &[]),
    (Scalar::I32, &[]),
    (Scalar::U16, &[]),
    (Scalar::U32, &[]),
    (Scalar::I64, &["long"]),
    (Scalar::U64, &["unsigned long"]),
    (Scalar::F32, &[]),
    (Scalar::F64, &[]),
];

/// The most bytes of such a constant: its fields stand in a manifest, which is shorter.
const LONGEST: usize = 1 << 20;
/// The most bytes of a kernel's parameters, by the CUDA C++ Programming Guide (4 KiB, 32,764 from sm_70 on).
const MOST_BYTES: u64 = 32_764;

/// The numbers of the structure itself, and of each field.
const HEAD: usize = 2;
const PER_FIELD: usize = 2;

/// A field that is no structure.
struct Leaf<'a> {
    /// Its name, and before it those of the structures that it lies in: `grid.size`.
    path: String,
    source: &'a Source,
    at: Position,
}

/// The text behind the source that says how the structures of `plan` are laid out; empty where it has none.
pub(super) fn probes(scene: &Scene, plan: &Plan) -> String {
    let mut text = String::new();
    for (pass, planned) in plan.passes.iter().enumerate() {
        for (place, argument) in planned.arguments.iter().enumerate() {
            if let Source::Structure(fields) = &argument.source {
                if text.is_empty() {
                    library(&mut text);
                }
                let at = planned.declared.given.iter().find(|g| g.parameter == argument.name);
                let at = at.map_or(planned.declared.at, |given| given.at);
                let name = name(pass, place);
                probe(&mut text, &quoted(&scene.name), &name, &argument.ctype, at, fields);
            }
        }
    }
    text
}

fn library(text: &mut String) {
    text.push_str("\n#line 1 \"<layouts>\"");
    text.push_str(LIBRARY);
    for (code, (scalar, others)) in SCALARS.iter().enumerate() {
        let vectors = (1..=4).map(|lanes| (Element::vector(*scalar, lanes).to_string(), lanes));
        let vectors = vectors.filter(|(_, lanes)| *lanes == 1 || *scalar != Scalar::Bool);
        let others = others.iter().map(|name| ((*name).to_owned(), 1_u8));
        for (name, lanes) in vectors.chain(others) {
            let _ = writeln!(
                text,
                "template <> struct of<{name}> {{ enum : number {{ code = {} }}; }};",
                (1 << 24) + (u32::from(lanes) << 16) + code as u32
            );
        }
    }
    text.push_str("} }\n");
}

fn probe(text: &mut String, file: &str, name: &str, ctype: &CType, at: Position, fields: &[Field]) {
    let of = ctype.to_string();
    let of = of.trim_start_matches("const ");
    let (line, column) = (at.line, at.column);
    let _ = write!(
        text,
        "#line {line} {file}\nextern \"C\" __device__ const unsigned long long {name}[] = {{sizeof({of}), alignof({of}),\n"
    );
    for Leaf { path, at, .. } in leaves(fields) {
        let code = format!("warpaint::layout::of<decltype((({of} *)0)->{path})>::code");
        let indent = " ".repeat((at.column as usize).saturating_sub(1).min(200));
        let _ = write!(
            text,
            "#line {} {file}\n{indent}__INTADDR__(&(({of} *)0)->{path}), {code},\n",
            at.line
        );
    }
    let _ = write!(text, "#line {line} {file}\n{}}};\n", " ".repeat(column.min(200) as usize));
}

fn name(pass: usize, place: usize) -> String {
    format!("warpaint_layout_{pass}_{place}")
}

fn leaves(fields: &[Field]) -> Vec<Leaf<'_>> {
    let mut found = Vec::new();
    for field in fields {
        match &field.source {
            Source::Structure(inner) => found.extend(
                leaves(inner)
                    .into_iter()
                    .map(|leaf| Leaf { path: format!("{}.{}", field.name, leaf.path), ..leaf }),
            ),
            Source::Resource(_)
            | Source::Next(_)
            | Source::Count(..)
            | Source::Extent(..)
            | Source::Number(_)
            | Source::Vector(_)
            | Source::Parameter(_)
            | Source::Builtin(_) => {
                found.push(Leaf { path: field.name.clone(), source: &field.source, at: field.at })
            }
        }
    }
    found
}

/// Gives the arguments of `plan` that are structures their layouts, as the `ptx` of [`probes`] has them.
///
/// # Errors
/// What cannot be given to a field, each with its place.
pub(super) fn apply(scene: &Scene, plan: &mut Plan, ptx: &str) -> Result<(), Vec<Diagnostic>> {
    let mut found = Vec::new();
    for (pass, planned) in plan.passes.iter_mut().enumerate() {
        for (place, argument) in planned.arguments.iter_mut().enumerate() {
            let Source::Structure(fields) = &argument.source else { continue };
            let numbers = numbers(ptx, &name(pass, place));
            let (bytes, align) = match numbers[..] {
                [bytes @ 1..=MOST_BYTES, align @ 1..=256, ..] if align.is_power_of_two() => {
                    (bytes as usize, align as usize)
                }
                _ => {
                    let ctype = &argument.ctype;
                    let text = format!("`{ctype}` is too large for a parameter of a kernel");
                    let at = planned.declared.at;
                    found.push(Diagnostic::error(&scene.name, text).at(at.line, at.column));
                    continue;
                }
            };
            let mut layout = Layout { bytes, align, members: Vec::new() };
            let types = numbers.get(HEAD..).unwrap_or_default().chunks_exact(PER_FIELD);
            for (leaf, numbers) in leaves(fields).iter().zip(types) {
                match members(scene, leaf, numbers) {
                    Ok(members) => layout.members.extend(members),
                    Err(text) => {
                        let fault = Diagnostic::error(&scene.name, text);
                        found.push(fault.at(leaf.at.line, leaf.at.column));
                    }
                }
            }
            argument.layout = Some(layout);
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Remarks without those that repeat another about the same line: each field stands in its probe twice.
pub(super) fn without_repetitions(scene: &Scene, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let given = scene.manifest.passes.iter().flat_map(|pass| &pass.given);
    let lines: BTreeSet<u32> = given.flat_map(|given| lines(&given.source)).collect();
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(found.len());
    for remark in found {
        let in_field = remark.line.is_some_and(|line| lines.contains(&line));
        let is_same = |other: &Diagnostic| {
            (&other.file, other.line, &other.text) == (&remark.file, remark.line, &remark.text)
        };
        if !in_field || !kept.iter().any(is_same) {
            kept.push(remark);
        }
    }
    kept
}

/// The lines on which the fields of a structure stand.
fn lines(source: &Source) -> Vec<u32> {
    let Source::Structure(fields) = source else { return Vec::new() };
    leaves(fields).iter().map(|leaf| leaf.at.line).collect()
}

/// The numbers of a constant in PTX, which the compiler writes as bytes, without those at the end that are 0:
/// `.global .align 8 .b8 name[16] = {24, 0, 0, 0, 0, 0, 0, 0, 8};`.
fn numbers(ptx: &str, name: &str) -> Vec<u64> {
    let declared = ptx.split(&format!(" .b8 {name}[")).nth(1);
    let Some((length, list)) = declared.and_then(|rest| rest.split_once(']')) else {
        return Vec::new();
    };
    let list = list.split_once('{').and_then(|(_, list)| list.split_once('}'));
    let list = list.map_or("", |(list, _)| list).split(',');
    let mut bytes: Vec<u8> = list.filter_map(|byte| byte.trim().parse().ok()).collect();
    bytes.resize(length.parse().unwrap_or(0).min(LONGEST), 0);
    bytes.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect()
}

/// What fills a field: one value, or each number of a list.
fn members(scene: &Scene, leaf: &Leaf<'_>, numbers: &[u64]) -> Result<Vec<Member>, String> {
    let [offset, code] = numbers else { return Ok(Vec::new()) };
    let (offset, path) = (*offset as usize, &leaf.path);
    let [scalar, is_pointer, lanes, ..] = code.to_le_bytes();
    let count = code >> 24;
    let scalar = SCALARS.get(usize::from(scalar)).map(|(scalar, _)| *scalar);
    if is_pointer != 0 {
        let to =
            scalar.map_or(Pointee::Void, |scalar| Pointee::Element(Element::vector(scalar, lanes)));
        return member(scene, leaf, offset, CType::Pointer { to, constant: false }, leaf.source)
            .map(|member| vec![member]);
    }
    let Some(scalar) = scalar else {
        return Err(format!("`{path}` is of a type that a manifest has no values for"));
    };
    let Source::Vector(formulas) = leaf.source else {
        if count > 1 {
            return Err(format!("`{path}` has {count} elements: give it a list of them"));
        }
        let ctype = CType::Value(Element::vector(scalar, lanes));
        return member(scene, leaf, offset, ctype, leaf.source).map(|member| vec![member]);
    };
    let wanted = u64::from(lanes) * count;
    if formulas.len() as u64 != wanted {
        return Err(format!("`{path}` has {wanted} numbers, and is given {}", formulas.len()));
    }
    // A vector of three lies in memory as three scalars do, and so does each in an array of them.
    let sources = formulas.iter().map(|formula| Source::Number(formula.clone()));
    let places = (0..).map(|index| offset + index * scalar.bytes());
    let ctype = CType::Value(Element::scalar(scalar));
    let all = places.zip(sources);
    all.map(|(at, source)| member(scene, leaf, at, ctype.clone(), &source)).collect()
}

fn member(
    scene: &Scene,
    leaf: &Leaf<'_>,
    offset: usize,
    ctype: CType,
    source: &Source,
) -> Result<Member, String> {
    let (name, text) = (leaf.path.clone(), ctype.to_string());
    let parameter = KernelParameter { name: name.clone(), text, ctype, default: None, at: leaf.at };
    check_given(&scene.manifest, source, &parameter)?;
    let KernelParameter { ctype, .. } = parameter;
    let argument = Argument { name, ctype, source: source.clone(), layout: None };
    Ok(Member { offset, argument })
}
