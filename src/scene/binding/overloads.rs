//! Which of several kernels of one name a pass means.

use crate::cuda::{CType, KernelParameter, Pointee, Signature};
use crate::scene::{
    Argument, Builtin, Control, Element, Formula, Kind, Manifest, PlannedPass, Scalar, Source,
    Type, Value,
};

/// A kernel's name, with its template's arguments, and the types of its parameters where these follow it, which tell
/// overloaded functions apart: `scale<4>` and `float4 *, int`.
pub(crate) fn parted(name: &str) -> (&str, Option<&str>) {
    let Some(before) = name.strip_suffix(')') else { return (name, None) };
    let mut depth = 1_u32;
    for (at, letter) in before.char_indices().rev() {
        match letter {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (&before[..at], Some(&before[at + 1..]));
        }
    }
    (name, None)
}

/// What a manifest calls the kernel, if there are others of its name.
pub(super) fn called(stem: &str, kernel: &Signature) -> String {
    format!("{stem}({})", types_of(kernel))
}

/// The types of its parameters, as they are written.
pub(super) fn types_of(kernel: &Signature) -> String {
    let types: Vec<&str> = kernel.parameters.iter().map(|p| p.text.as_str()).collect();
    types.join(", ")
}

/// Whether the parameters of `kernel` have these types.
pub(super) fn takes(kernel: &Signature, types: &str) -> bool {
    let types: Vec<CType> = parts(types).into_iter().map(CType::parse).collect();
    let is_one =
        |(p, of): (&KernelParameter, &CType)| p.ctype == *of || CType::parse(&p.text) == *of;
    types.len() == kernel.parameters.len() && kernel.parameters.iter().zip(&types).all(is_one)
}

/// The types between the commas.
fn parts(types: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let is_comma = |letter: char| {
        depth += i32::from(matches!(letter, '<' | '(')) - i32::from(matches!(letter, '>' | ')'));
        letter == ',' && depth == 0
    };
    let parts = types.split(is_comma).map(str::trim);
    parts.filter(|part| !part.is_empty() && *part != "void").collect()
}

/// The one of `all`, which take what the manifest has for them, whose types are nearest to it: no other one is nearer
/// in any parameter. All must have the same parameters for that.
pub(super) fn nearest(manifest: &Manifest, all: &[PlannedPass]) -> Option<usize> {
    let distances: Vec<_> = all.iter().map(|pass| distances(manifest, pass)).collect();
    let is_nearer = |one: &Distances<'_>, other: &Distances<'_>| {
        one.len() == other.len()
            && one.iter().zip(other).all(|((a, x), (b, y))| a == b && is_as_near(*x, *y))
            && one.iter().zip(other).any(|((_, x), (_, y))| x != y)
    };
    (0..all.len()).find(|one| {
        (0..all.len()).all(|other| *one == other || is_nearer(&distances[*one], &distances[other]))
    })
}

/// How far each parameter's type is from what it is given, by the parameters' names in alphabetical order; `None` of a
/// type that only the compiler knows.
type Distances<'a> = Vec<(&'a str, Option<u8>)>;

/// Whether the one is no farther than the other; nothing is nearer than what is the same.
const fn is_as_near(one: Option<u8>, other: Option<u8>) -> bool {
    match (one, other) {
        (Some(0), _) => true,
        (Some(one), Some(other)) => one <= other,
        (Some(_), None) | (None, _) => false,
    }
}

fn distances<'a>(manifest: &Manifest, pass: &'a PlannedPass) -> Distances<'a> {
    let of = |argument: &'a Argument| {
        let given = pass.declared.given.iter().find(|given| given.parameter == argument.name);
        let cast = given.and_then(|given| given.cast.as_deref());
        let distance = match cast {
            Some(cast) => Some(u8::from(CType::parse(cast) != argument.ctype)),
            None => distance(manifest, argument),
        };
        (argument.name.as_str(), distance)
    };
    let mut all: Vec<_> = pass.arguments.iter().map(of).collect();
    all.sort_unstable();
    all
}

/// 0 where the type is that of what is given, 1 where it is one of the same kind.
fn distance(manifest: &Manifest, argument: &Argument) -> Option<u8> {
    match &argument.ctype {
        CType::Named(_) => None,
        CType::Surface | CType::Texture => Some(0),
        CType::Value(element) => Some(own(manifest, &argument.source).map_or(0, |own| {
            match own.scalar.is_float() == element.scalar.is_float() {
                _ if own == *element => 0,
                true => 1,
                false => 2,
            }
        })),
        CType::Pointer { to, constant } => {
            let Some(id) = argument.source.addressed() else { return Some(0) };
            match (to, manifest.resource(id).of()) {
                (Pointee::Element(to), Type::Element(of)) if *to == of => Some(u8::from(*constant)),
                (Pointee::Named(name), Type::Structure(of)) if *name == of.name => {
                    Some(u8::from(*constant))
                }
                (Pointee::Named(_), _) => None,
                (Pointee::Element(_) | Pointee::Void, _) => Some(2),
            }
        }
    }
}

/// The type that a value has by itself.
fn own(manifest: &Manifest, source: &Source) -> Option<Element> {
    let scalar = |kind: Kind| match kind {
        Kind::Int => Scalar::I32,
        Kind::Float => Scalar::F32,
        Kind::Bool => Scalar::Bool,
    };
    Some(match source {
        Source::Count(..) | Source::Extent(..) => Element::scalar(Scalar::I32),
        Source::Number(formula) => Element::scalar(scalar(formula.kind())),
        Source::Vector(formulas) => {
            let kind = formulas.first().map(Formula::kind)?;
            Element::vector(scalar(kind), formulas.len().try_into().ok()?)
        }
        Source::Parameter(index) => {
            let declared = &manifest.parameters[*index];
            match (&declared.default, &declared.control) {
                (Value::Float(_), _) => Element::scalar(Scalar::F32),
                (Value::Int(_), _) => Element::scalar(Scalar::I32),
                (Value::Toggle(_), _) => Element::scalar(Scalar::Bool),
                (Value::Color(_), Control::Color(true)) => Element::vector(Scalar::F32, 4),
                (Value::Color(_), _) => Element::vector(Scalar::F32, 3),
            }
        }
        Source::Builtin(builtin) => match builtin {
            Builtin::Time | Builtin::Dt => Element::scalar(Scalar::F32),
            Builtin::Frame | Builtin::Step | Builtin::Seed => Element::scalar(Scalar::I32),
            Builtin::Mouse => Element::vector(Scalar::F32, 4),
            Builtin::Keys => Element::vector(Scalar::U32, 4),
        },
        Source::Resource(_) | Source::Next(_) | Source::Element { .. } | Source::Structure(_) => {
            return None;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parted_from_types() {
        for (name, expected) in [
            ("k", ("k", None)),
            ("n::k<(3>2)>", ("n::k<(3>2)>", None)),
            ("k(float4*,int)", ("k", Some("float4*,int"))),
            ("k<f(2)>(void(*)(int))", ("k<f(2)>", Some("void(*)(int)"))),
            ("k)", ("k)", None)),
        ] {
            assert_eq!(parted(name), expected, "{name}");
        }
        assert_eq!(
            parts("P<int, 3> *, void (*)(int, int),int"),
            ["P<int, 3> *", "void (*)(int, int)", "int"]
        );
        assert!(parts("void").is_empty() && parts(" ").is_empty());
    }
}
