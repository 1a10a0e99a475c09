//! Types of kernels' parameters that only the compiler knows: what names that a `typedef`, a macro or a template's
//! argument gave stand for, and how structures lie in memory.
//!
//! Enters: the names of types that kernels have as parameters. Leaves: a text to compile behind the scene's, and the
//! types that its PTX tells. Must not know: `device`, `gl`, `state`.
//!
//! For each such parameter a constant is compiled behind the scene's own text, whose numbers are the type, or the size
//! of the structure and where its fields lie; they are read from the PTX.

mod code;
mod declared;
mod elements;
mod leaves;
mod probe;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::stat::quoted;
use crate::{
    cuda::{CType, KernelParameter, Pointee, Position},
    diagnostic::Diagnostic,
    element::{Element, Scalar},
    ptx::outline::Outline,
    scene::{
        Argument, Field, Layout, Member, Pass, Plan, PlannedPass, Scene, Source, check_given,
        parted,
    },
};

/// The most bytes of such a constant: its fields stand in a manifest, which is shorter.
const LONGEST: usize = 1 << 20;
/// The most bytes of a kernel's parameters, by the CUDA C++ Programming Guide (4 KiB, 32,764 from sm_70 on).
const MOST_BYTES: u64 = 32_764;

/// What our names behind the source begin with, those of the constants among them.
const PREFIX: &str = "warpaint_probe_";
/// The numbers of the structure itself, and of each field.
const HEAD: usize = 2;
const PER_FIELD: usize = 2;

pub(super) use self::elements::lay_out;
use self::{
    code::{Code, library},
    declared::DeclaredFields,
    leaves::{Given, Leaf, fields_of, leaves},
    probe::Probe,
};

/// The text behind the source that asks for the types of parameters in `plan`, and for the layouts of the structures
/// that resources have; empty where all are known.
pub(super) fn probes(scene: &Scene, plan: &Plan) -> String {
    let mut text = String::new();
    let mut asked = BTreeSet::new();
    let names = names(scene, plan);
    let declared = DeclaredFields::new(scene);
    for (pass, planned) in plan.passes.iter().enumerate() {
        for (place, argument) in planned.arguments.iter().enumerate() {
            let Some(of) = asked_of(scene, planned, argument) else { continue };
            let name = names[pass][place].as_str();
            if !asked.insert(name) {
                continue;
            }
            library(&mut text);
            let (file, at) = (&quoted(&scene.name), declared_at(&planned.declared, argument));
            let scope = scope(&planned.declared.kernel);
            let probe = Probe { file, name, of: &of, scope: &scope, at };
            match fields_of(&argument.source) {
                Some(fields) => probe.structure(&mut text, fields, &declared),
                None => probe.value(&mut text),
            }
        }
    }
    elements::probes(scene, &mut text);
    text
}

/// The names of the constants: one for each argument of each pass whose type is not known, and no name for others. What
/// is called the same in the same namespace is asked for once.
fn names(scene: &Scene, plan: &Plan) -> Vec<Vec<String>> {
    let mut types = BTreeMap::new();
    let mut name = |planned: &'_ PlannedPass, argument: &'_ Argument, at: (usize, usize)| {
        let Some(of) = asked_of(scene, planned, argument) else { return String::new() };
        if fields_of(&argument.source).is_some() {
            return format!("{PREFIX}layout_{}_{}", at.0, at.1);
        }
        let number = types.len();
        let key = (scope(&planned.declared.kernel).join("::"), of);
        format!("{PREFIX}type_{}", types.entry(key).or_insert(number))
    };
    let of_pass = |(pass, planned): (usize, &PlannedPass)| {
        let arguments = planned.arguments.iter().enumerate();
        arguments.map(|(place, argument)| name(planned, argument, (pass, place))).collect()
    };
    plan.passes.iter().enumerate().map(of_pass).collect()
}

/// The type of an argument that the compiler is asked for: one that is known by its name alone, and a pointer to such a
/// one that is given an array of numbers. The names in templates may be those of their parameters.
fn asked_of(scene: &Scene, planned: &PlannedPass, argument: &Argument) -> Option<String> {
    match &argument.ctype {
        CType::Named(of) => Some(bare(of).to_owned()),
        CType::Pointer { to: Pointee::Named(of), .. } => {
            let is_plain = |letter: char| letter.is_alphanumeric() || "_: *".contains(letter);
            let is_name = of.chars().all(is_plain) && !of.starts_with("typename ");
            let is_known = is_name && !planned.name_expression.contains('<');
            let given = numbers_of(scene, &argument.source);
            (is_known && given.is_some()).then(|| format!("{} *", bare(of)))
        }
        CType::Pointer { .. } | CType::Value(_) | CType::Surface | CType::Texture => None,
    }
}

/// The numbers of the array whose address an argument is.
fn numbers_of(scene: &Scene, source: &Source) -> Option<Element> {
    let resource = scene.manifest.resource(source.addressed()?);
    resource.element().filter(|_| resource.texture().is_none())
}

fn bare(of: &str) -> &str {
    of.trim_start_matches("const ")
}

/// The namespaces that a kernel lies in: what its parameters' types are called is meant there.
fn scope(kernel: &str) -> Vec<&str> {
    let name = parted(kernel).0;
    let stem = name.split('<').next().unwrap_or_default().trim_start_matches("::");
    let mut parts: Vec<&str> = stem.split("::").collect();
    parts.pop();
    parts
}

/// Where the manifest gives the argument; where it does not, where it names the kernel.
pub(super) fn declared_at(declared: &Pass, argument: &Argument) -> Position {
    let given = declared.given.iter().find(|given| given.parameter == argument.name);
    given.map_or(declared.at, |given| given.at)
}

/// `plan` with the types of its arguments, and the layouts of structures among them, that the `ptx` of [`probes`] has.
///
/// # Errors
/// What cannot be given to a parameter or to a field, each with its place.
pub(super) fn typed(scene: &Scene, mut plan: Plan, ptx: &str) -> Result<Plan, Vec<Diagnostic>> {
    let fields_of_text = DeclaredFields::new(scene);
    let mut found = Vec::new();
    let names = names(scene, &plan);
    let constants = constants(ptx, &names.iter().flatten().map(String::as_str).collect());
    for (PlannedPass { declared, arguments, .. }, names) in plan.passes.iter_mut().zip(&names) {
        for (argument, name) in arguments.iter_mut().zip(names) {
            if name.is_empty() {
                continue;
            }
            let at = declared_at(declared, argument);
            let numbers = constants.get(name.as_str());
            let numbers = numbers.map_or([].as_slice(), Vec::as_slice);
            let understood = match fields_of(&argument.source) {
                Some(fields) => structure(&fields_of_text, argument, (fields, at), numbers)
                    .map(|layout| Argument { layout: Some(layout), ..argument.clone() }),
                None => {
                    let given =
                        declared.given.iter().find(|given| given.parameter == argument.name);
                    let cast = given.and_then(|given| given.cast.as_deref());
                    value(scene, argument, (cast, at), numbers).map_err(|text| vec![(text, at)])
                }
            };
            match understood {
                Ok(understood) => *argument = understood,
                Err(faults) => {
                    found.extend(faults.into_iter().map(|(text, at)| {
                        Diagnostic::error(&scene.name, text).at(at.line, at.column)
                    }))
                }
            }
        }
    }
    if found.is_empty() { Ok(plan) } else { Err(found) }
}

/// A sentence for each fault, and where it is.
type Faults = Vec<(String, Position)>;

/// How a structure lies in memory.
fn structure(
    text: &DeclaredFields<'_>,
    argument: &Argument,
    (fields, at): (&[Field], Position),
    numbers: &[u64],
) -> Result<Layout, Faults> {
    let (bytes, align) = match *numbers {
        [bytes @ 1..=MOST_BYTES, align @ 1..=256, ..] if align.is_power_of_two() => {
            (bytes as usize, align as usize)
        }
        _ => {
            let text = format!("`{}` is too large for a parameter of a kernel", argument.ctype);
            return Err(vec![(text, at)]);
        }
    };
    let (mut layout, mut faults) = (Layout { bytes, align, members: Vec::new() }, Vec::new());
    let types = numbers.get(HEAD..).unwrap_or_default().chunks_exact(PER_FIELD);
    for (leaf, numbers) in leaves(fields).iter().zip(types) {
        match members(text, bare(&argument.ctype.to_string()), leaf, numbers) {
            Ok(members) => layout.members.extend(members),
            Err(text) => faults.push((text, leaf.at)),
        }
    }
    if faults.is_empty() { Ok(layout) } else { Err(faults) }
}

/// An argument that is one value, of the type that the compiler knows.
///
/// # Errors
/// A sentence, where it cannot be given.
fn value(
    scene: &Scene,
    argument: &Argument,
    (cast, at): (Option<&str>, Position),
    numbers: &[u64],
) -> Result<Argument, String> {
    let (name, text) = (argument.name.clone(), argument.ctype.to_string());
    let code = numbers.first().map(|code| Code::read(*code));
    if let (CType::Pointer { .. }, Some(code)) = (&argument.ctype, code) {
        return pointer(scene, argument, (cast, at), code);
    }
    let Some(ctype) = code.and_then(Code::ctype) else {
        return Err(format!(
            "`{name}` is a `{text}`: `args` gives it its fields by their names, as in `{name} = {{ x = 1 }}`"
        ));
    };
    // Both names stand between the backticks of a message: the kernel takes `float`, its `real`.
    let text = format!("{ctype}`, its `{text}");
    let parameter = KernelParameter { name, text, ctype, default: None, at };
    check_given(&scene.manifest, &argument.source, cast, &parameter)?;
    Ok(Argument { ctype: parameter.ctype, ..argument.clone() })
}

/// An argument that is a pointer to what only the compiler knows; one to a structure takes any array.
///
/// # Errors
/// A sentence, where the array is of something else.
fn pointer(
    scene: &Scene,
    argument: &Argument,
    (cast, at): (Option<&str>, Position),
    code: Code,
) -> Result<Argument, String> {
    let given = numbers_of(scene, &argument.source).map(|element| element.scalar);
    let holds_addresses = matches!(given, Some(Scalar::U64 | Scalar::I64));
    let (name, text) = (argument.name.clone(), argument.ctype.to_string());
    if code.points_to_pointers && !holds_addresses && cast.is_none() {
        return Err(format!(
            "`{name}` is an array of numbers, but the kernel takes `{text}`: an array of `unsigned long long` takes \
             addresses, which a pass with a kernel of your own writes there, as in `rows[0] = a`"
        ));
    }
    if let (Some(_), None) = (code.scalar, cast) {
        let text = format!("{}`, its `{text}", code.pointer());
        let parameter = KernelParameter { name, text, ctype: code.pointer(), default: None, at };
        check_given(&scene.manifest, &argument.source, None, &parameter)?;
    }
    Ok(argument.clone())
}

/// Remarks without those that repeat another about the same line: each field stands in its probe twice.
pub(super) fn without_repetitions(scene: &Scene, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let given = scene.manifest.passes.iter().flat_map(|pass| &pass.given);
    let given: Vec<Leaf<'_>> =
        given.flat_map(|given| leaves(fields_of(&given.source).unwrap_or_default())).collect();
    let lines: BTreeSet<u32> = given.iter().map(|leaf| leaf.at.line).collect();
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(found.len());
    for mut remark in found {
        if let Some(text) = bit_field(&remark, &given) {
            remark.text = text;
        }
        let in_field = remark
            .line
            .is_some_and(|line| lines.contains(&line) || elements::is_declared_on(scene, line));
        let is_same = |other: &Diagnostic| {
            (&other.file, other.line, &other.text) == (&remark.file, remark.line, &remark.text)
        };
        if !in_field || !kept.iter().any(is_same) {
            kept.push(remark);
        }
    }
    kept
}

/// What is said where the field that a manifest gives is a bit field, which the compiler does not name.
fn bit_field(remark: &Diagnostic, given: &[Leaf<'_>]) -> Option<String> {
    let (line, column) = remark.line.zip(remark.column)?;
    if !remark.text.contains("address of a bit field") {
        return None;
    }
    // The question after each field begins in its column.
    let on_line = given.iter().filter(|leaf| leaf.at.line == line && leaf.at.column <= column);
    let path = &on_line.max_by_key(|leaf| leaf.at.column)?.path;
    Some(format!("`{path}` is a bit field, to which a manifest gives nothing: it is 0"))
}

/// Whether a variable of this mangled name is one that we declare behind the source: a constant that tells a layout, or
/// one of the library that statistics are made of.
pub(super) fn is_ours(lowered: &str) -> bool {
    lowered.starts_with(PREFIX) || lowered.contains("8warpaint7summary")
}

/// The numbers of these constants in PTX, which the compiler writes as bytes, without those at the end that are 0:
/// `.global .align 8 .b8 name[16] = {24, 0, 0, 0, 0, 0, 0, 0, 8};`.
fn constants(ptx: &str, names: &HashSet<&str>) -> HashMap<String, Vec<u64>> {
    if names.is_empty() {
        return HashMap::new();
    }
    let mut found = HashMap::new();
    for variable in Outline::new(ptx).variables {
        if !names.contains(variable.name.as_str()) {
            continue;
        }
        let list = ptx.get(variable.initial).unwrap_or_default().split(',');
        let mut bytes: Vec<u8> = list.filter_map(|byte| byte.trim().parse().ok()).collect();
        bytes.resize(variable.bytes.min(LONGEST), 0);
        let numbers = bytes.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect();
        found.entry(variable.name).or_insert(numbers);
    }
    found
}

/// What fills a field: one value, or each number of a list.
fn members(
    text: &DeclaredFields<'_>,
    of: &str,
    leaf: &Leaf<'_>,
    numbers: &[u64],
) -> Result<Vec<Member>, String> {
    let [offset, code] = numbers else { return Ok(Vec::new()) };
    let (scene, path) = (text.scene, &leaf.path);
    let Code { scalar, is_pointer, lanes, count, .. } = Code::read(*code);
    let source = match leaf.given {
        Given::Value(source) => source,
        Given::List(given) if given as u64 == *offset => return Ok(Vec::new()),
        Given::List(given) => {
            return Err(format!("`{path}` has {offset} elements, and is given {given}"));
        }
    };
    let offset = *offset as usize;
    let one = |ctype| member(scene, leaf, offset, ctype, source).map(|member| vec![member]);
    if is_pointer && count == 1 {
        return one(Code::read(*code).pointer());
    }
    let is_texture =
        source.resources().iter().any(|id| scene.manifest.resource(*id).texture().is_some());
    if is_texture && scalar == Some(Scalar::U64) && (lanes, count) == (1, 1) {
        return one(text.object(of, leaf)?);
    }
    let Some(scalar) = scalar.filter(|_| !is_pointer) else {
        return Err(match is_pointer {
            true => format!("`{path}` has {count} elements: give it a list of them"),
            false => format!("`{path}` is of a type that a manifest has no values for"),
        });
    };
    let Source::Vector(formulas) = source else {
        if count > 1 {
            return Err(format!("`{path}` has {count} elements: give it a list of them"));
        }
        return one(CType::Value(Element::vector(scalar, lanes)));
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
    check_given(&scene.manifest, source, leaf.cast, &parameter)?;
    let KernelParameter { ctype, .. } = parameter;
    let argument = Argument { name, ctype, source: source.clone(), layout: None };
    Ok(Member { offset, argument })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_those_that_the_compiler_defines() {
        let names = HashSet::from(["warpaint_probe_a", "warpaint_probe_b"]);
        let ptx = "// .global .align 8 .b8 warpaint_probe_b[8] = {9};\n\
            .visible .global .align 8 .b8 warpaint_probe_a[16] = {24, 0, 0, 0, 0, 0, 0, 0, 8};\n\
            .global .align 8 .b8 warpaint_probe_b[8];\n\
            .entry k() { .global .b8 warpaint_probe_a[8] = {1}; ret; }";
        let found = constants(ptx, &names);
        let expected = [("warpaint_probe_a", vec![24, 8]), ("warpaint_probe_b", vec![0])];
        assert_eq!(found, expected.map(|(name, list)| (name.to_owned(), list)).into());
        // Names alone, each of which was looked for to the text's end.
        let text = ".b8 warpaint_probe_a ".repeat(1 << 18);
        assert_eq!(constants(&text, &names).len(), 0);
    }
}
