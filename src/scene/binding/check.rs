//! Whether a kernel's parameter can take what is meant for it.

use crate::cuda::{CType, KernelParameter, Pointee};
use crate::scene::{
    Builtin, Control, Element, Field, Formula, Kind, Manifest, Number, Resource, ResourceId,
    Scalar, Source, Texels, Value, Wrap, argument::pointed,
};

/// Why a parameter cannot take what is meant for it.
pub(super) struct Mismatch {
    pub(super) text: String,
    /// What to write before the parameter's name instead, where that would do.
    write: Option<String>,
    /// How the pass gives it what it takes, where that is known.
    pub(super) hint: &'static str,
}

/// What makes a whole number of a float in the manifest's expressions.
const WHOLE: &str = "; `int(...)` makes a whole number of it";

impl Mismatch {
    /// With what to write instead: for what is bound by its name.
    pub(super) fn with_advice(self, parameter: &KernelParameter) -> String {
        match self.write {
            Some(write) => format!(
                "{}: write `{write}{}`, or let the pass's `args` give it something else",
                self.text, parameter.name
            ),
            None => self.text,
        }
    }
}

impl From<String> for Mismatch {
    fn from(text: String) -> Self {
        Self { text, write: None, hint: "" }
    }
}

/// That the parameter's type can take what its name means.
pub(super) fn check(
    manifest: &Manifest,
    source: &Source,
    parameter: &KernelParameter,
) -> Result<(), Mismatch> {
    if source.is_list() {
        return match pointed(&parameter.ctype) {
            Some(pointer) => check_pointers(manifest, source, pointer, parameter),
            None => Err(mismatch(parameter, "a list", "")),
        };
    }
    if let CType::Named(_) = parameter.ctype {
        // What that is, and how its fields lie, is known when the source is compiled.
        return Ok(());
    }
    match source {
        Source::Resource(id) | Source::Next(id) => check_resource(manifest, *id, parameter),
        Source::Element { .. } if parameter.ctype == CType::Texture => {
            Err(mismatch(parameter, "a part of an array", "cudaTextureObject_t "))
        }
        Source::Element { of, .. } => check_resource(manifest, of.resource, parameter),
        Source::Count(_, value) | Source::Extent(_, _, value) => {
            integer(parameter, "a count, an integer", [i128::from(*value); 2])
        }
        Source::Number(formula) => check_number(formula, parameter),
        Source::Vector(formulas) => check_vector(manifest, formulas, parameter),
        Source::Structure(_) => Err(mismatch(parameter, "a structure", "")),
        Source::Parameter(index) => check_parameter(manifest, *index, parameter),
        Source::Builtin(builtin) => check_builtin(*builtin, parameter),
    }
}

fn mismatch(parameter: &KernelParameter, what: &str, write: &str) -> Mismatch {
    let (name, ctype) = (&parameter.name, &parameter.text);
    let text = format!("`{name}` is {what}, but the kernel takes `{ctype}`");
    Mismatch { text, write: Some(write.to_owned()), hint: "" }
}

fn check_resource(
    manifest: &Manifest,
    id: ResourceId,
    parameter: &KernelParameter,
) -> Result<(), Mismatch> {
    let resource = manifest.resource(id);
    let what = format!("the {resource}");
    if resource.texture().is_none() {
        let of = resource.of();
        let fits = match (&parameter.ctype, of.element()) {
            (CType::Pointer { to: Pointee::Element(to), .. }, Some(element)) => {
                fits(element, resource.count(), *to)
            }
            // Of a structure its bytes are seen otherwise.
            (CType::Pointer { to: Pointee::Element(to), .. }, None) => to.bytes() == 1,
            (CType::Pointer { to: Pointee::Void | Pointee::Named(_), .. }, _) => true,
            (CType::Texture, Some(element)) => is_fetchable(element),
            (CType::Texture, None) | (CType::Value(_) | CType::Surface | CType::Named(_), _) => {
                false
            }
        };
        let write = format!("{of} *");
        return if fits { Ok(()) } else { Err(mismatch(parameter, &what, &write)) };
    }
    match (&parameter.ctype, resource.texture()) {
        (CType::Texture, Some(texture)) => check_sampling(resource, texture),
        (CType::Surface, _) => Ok(()),
        (CType::Texture, None) | (CType::Value(_) | CType::Pointer { .. } | CType::Named(_), _) => {
            Err(mismatch(parameter, &what, "cudaSurfaceObject_t "))
        }
    }
}

/// Whether texture objects read such elements as they lie in memory (`tex1Dfetch`). Of 64 bits they read the halves.
fn is_fetchable(element: Element) -> bool {
    match element.scalar {
        Scalar::Bool | Scalar::BF16 => false,
        Scalar::I64 | Scalar::U64 | Scalar::F64 => element.lanes <= 2,
        Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 => element.lanes != 3,
        Scalar::I32 | Scalar::U32 | Scalar::F16 | Scalar::F32 => element.lanes != 3,
    }
}

/// That a texture object can read the texture as the manifest says.
fn check_sampling(resource: &Resource, texture: &Texels) -> Result<(), Mismatch> {
    match texture.wrap {
        Wrap::Repeat | Wrap::Mirror if !texture.normalized => Err(format!(
            "the {resource} cannot `{}` where coordinates count texels: give it `normalized = true`, and \
             coordinates from 0 to 1",
            texture.wrap.name()
        )
        .into()),
        Wrap::Clamp | Wrap::Repeat | Wrap::Mirror => Ok(()),
    }
}

/// Whether `count` of `element` can be seen as some of `to`: same scalars, and none left over.
fn fits(element: Element, count: u64, to: Element) -> bool {
    let scalars = count * u64::from(element.lanes);
    // A `bool` is a byte.
    let is_byte = |scalar| matches!(scalar, Scalar::Bool | Scalar::U8 | Scalar::I8);
    let is_bool = element.scalar == Scalar::Bool || to.scalar == Scalar::Bool;
    let is_same = match is_bool {
        true => is_byte(element.scalar) && is_byte(to.scalar),
        false => element.scalar == to.scalar,
    };
    is_same && scalars.is_multiple_of(u64::from(to.lanes))
}

/// That the parameter is an integer that holds the numbers from the first to the second.
fn integer(parameter: &KernelParameter, what: &str, range: [i128; 2]) -> Result<(), Mismatch> {
    let CType::Value(Element { scalar, lanes: 1 }) = parameter.ctype else {
        return Err(mismatch(parameter, what, "int "));
    };
    let Some((least, greatest)) = scalar.integer_range() else {
        return Err(mismatch(parameter, what, "int "));
    };
    let [from, to] = range;
    match [from, to].into_iter().find(|value| !(least..=greatest).contains(value)) {
        None => Ok(()),
        Some(value) => {
            let (name, ctype) = (&parameter.name, &parameter.text);
            Err(format!("`{name}` can be {value}, which does not fit into the kernel's `{ctype}`")
                .into())
        }
    }
}

fn float(parameter: &KernelParameter, what: &str) -> Result<(), Mismatch> {
    match parameter.ctype {
        CType::Value(Element { scalar, lanes: 1 }) if scalar.is_float() => Ok(()),
        _ => Err(mismatch(parameter, what, "float ")),
    }
}

/// A vector of `lanes` of one of `scalars`; the first is what is suggested.
fn vector(parameter: &KernelParameter, what: &str, all: &[Element]) -> Result<(), Mismatch> {
    match parameter.ctype {
        CType::Value(element) if all.contains(&element) => Ok(()),
        _ => Err(mismatch(parameter, what, &format!("{} ", all[0]))),
    }
}

/// That `parameter` can take what the manifest gives it.
///
/// # Errors
///
/// A sentence, where it cannot.
#[cfg(feature = "gl")]
pub(crate) fn check_given(
    manifest: &Manifest,
    source: &Source,
    cast: Option<&str>,
    parameter: &KernelParameter,
) -> Result<(), String> {
    check_cast(manifest, source, cast, parameter).map_err(|problem| problem.text + problem.hint)
}

/// That a pointer to pointers can take a list: of buffers, arrays and pointers into them, or 0 for none.
fn check_pointers(
    manifest: &Manifest,
    source: &Source,
    pointer: CType,
    parameter: &KernelParameter,
) -> Result<(), Mismatch> {
    let Source::Structure(fields) = source else { return Ok(()) };
    let text = parameter.text.trim_end();
    let text = text.strip_suffix('*').unwrap_or(text).trim_end().to_owned();
    for Field { name, source, cast, .. } in fields {
        let element = KernelParameter {
            name: format!("{}{name}", parameter.name),
            ctype: pointer.clone(),
            text: text.clone(),
            ..parameter.clone()
        };
        check_cast(manifest, source, cast.as_deref(), &element)?;
    }
    Ok(())
}

/// That the parameter can take what the manifest gives it, after the cast to a pointer's type if there is one.
pub(super) fn check_cast(
    manifest: &Manifest,
    source: &Source,
    cast: Option<&str>,
    parameter: &KernelParameter,
) -> Result<(), Mismatch> {
    let Some(cast) = cast else { return check_on_purpose(manifest, source, parameter) };
    let is_address = source.addressed().is_some_and(|id| manifest.resource(id).texture().is_none());
    if !is_address {
        return Err(mismatch(parameter, "cast, and no buffer or array", ""));
    }
    let is_same = match (&parameter.ctype, CType::parse(cast)) {
        (CType::Named(_), _) => true,
        (CType::Pointer { to, .. }, CType::Pointer { to: cast, .. }) => {
            *to == cast || *to == Pointee::Void
        }
        (CType::Pointer { .. } | CType::Value(_) | CType::Surface | CType::Texture, _) => false,
    };
    match is_same {
        true => Ok(()),
        false => Err(mismatch(parameter, &format!("cast to `{cast}`"), "")),
    }
}

/// That the parameter can take what the manifest gives it on purpose: a float takes what is whole, too.
pub(super) fn check_on_purpose(
    manifest: &Manifest,
    source: &Source,
    parameter: &KernelParameter,
) -> Result<(), Mismatch> {
    let is_whole = match source {
        Source::Count(..) | Source::Extent(..) => true,
        Source::Number(formula) => formula.kind() == Kind::Int,
        Source::Parameter(index) => matches!(manifest.parameters[*index].default, Value::Int(_)),
        Source::Builtin(builtin) => builtin.kind() == Some(Kind::Int),
        Source::Resource(_)
        | Source::Next(_)
        | Source::Element { .. }
        | Source::Vector(_)
        | Source::Structure(_) => false,
    };
    let takes_float =
        matches!(parameter.ctype, CType::Value(Element { scalar, lanes: 1 }) if scalar.is_float());
    if is_whole && takes_float { Ok(()) } else { check(manifest, source, parameter) }
}

/// That the parameter can take a constant or an expression. A pointer or an object takes 0 for none.
fn check_number(formula: &Formula, parameter: &KernelParameter) -> Result<(), Mismatch> {
    let takes_address = !matches!(parameter.ctype, CType::Value(_) | CType::Named(_));
    match (formula.kind(), formula.constant()) {
        (_, Some(Number::Int(0))) if takes_address => Ok(()),
        (_, Some(Number::Int(value))) => integer(parameter, "an int constant", [value; 2]),
        (_, Some(Number::Float(value))) => {
            let what = format!("a float constant, {value:?}");
            float(parameter, &what).map_err(|problem| or_whole(problem, parameter))
        }
        (_, Some(Number::Bool(_))) => truth(parameter, "a bool constant", "bool "),
        (Kind::Int, None) => integer(parameter, "an int expression", [0; 2]),
        (Kind::Float, None) => {
            float(parameter, "a float expression").map_err(|problem| or_whole(problem, parameter))
        }
        (Kind::Bool, None) => truth(parameter, "a bool expression", "bool "),
    }
}

/// With how an integer takes a float.
fn or_whole(problem: Mismatch, parameter: &KernelParameter) -> Mismatch {
    match parameter.ctype {
        CType::Value(Element { scalar, lanes: 1 }) if scalar.is_integer() => {
            Mismatch { hint: WHOLE, ..problem }
        }
        CType::Value(_)
        | CType::Pointer { .. }
        | CType::Surface
        | CType::Texture
        | CType::Named(_) => problem,
    }
}

/// That the parameter is a vector of so many components, which take these numbers.
fn check_vector(
    manifest: &Manifest,
    formulas: &[Formula],
    parameter: &KernelParameter,
) -> Result<(), Mismatch> {
    let CType::Value(element) = parameter.ctype else {
        return Err(mismatch(parameter, "a vector", ""));
    };
    if formulas.len() != usize::from(element.lanes) {
        let what = format!("a vector of {} numbers", formulas.len());
        return Err(mismatch(parameter, &what, ""));
    }
    let scalar = Element::scalar(element.scalar);
    let component = KernelParameter {
        ctype: CType::Value(scalar),
        text: scalar.to_string(),
        ..parameter.clone()
    };
    let number = |formula: &Formula| {
        check_on_purpose(manifest, &Source::Number(formula.clone()), &component)
    };
    formulas.iter().try_for_each(number)
}

/// That the parameter is `bool` or an integer.
fn truth(parameter: &KernelParameter, what: &str, write: &str) -> Result<(), Mismatch> {
    match parameter.ctype {
        CType::Value(Element { scalar, lanes: 1 })
            if scalar == Scalar::Bool || scalar.is_integer() =>
        {
            Ok(())
        }
        _ => Err(mismatch(parameter, what, write)),
    }
}

fn check_parameter(
    manifest: &Manifest,
    index: usize,
    parameter: &KernelParameter,
) -> Result<(), Mismatch> {
    const FLOAT3: Element = Element::vector(Scalar::F32, 3);
    const FLOAT4: Element = Element::vector(Scalar::F32, 4);
    let declared = &manifest.parameters[index];
    match (&declared.default, &declared.control) {
        (Value::Float(_), _) => float(parameter, "a float parameter"),
        (Value::Int(_), Control::Slider { min, max, .. }) => {
            // The ends are kept as `f64`s, of which the last one above may round to what no integer here is.
            integer(parameter, "an int parameter", [*min as i64, *max as i64].map(i128::from))
        }
        (Value::Int(_), Control::Choice(choices)) => {
            integer(parameter, "a choice, an int parameter", [0, choices.len() as i128 - 1])
        }
        (Value::Int(value), _) => integer(parameter, "an int parameter", [i128::from(*value); 2]),
        (Value::Toggle(_), _) => truth(parameter, "a toggle, an int parameter", "int "),
        (Value::Color(_), Control::Color(true)) => {
            vector(parameter, "a color with alpha, a float4 parameter", &[FLOAT4])
        }
        (Value::Color(_), _) => vector(parameter, "a color, a float3 parameter", &[FLOAT3, FLOAT4]),
    }
}

fn check_builtin(builtin: Builtin, parameter: &KernelParameter) -> Result<(), Mismatch> {
    const FLOAT4: Element = Element::vector(Scalar::F32, 4);
    const FLOAT2: Element = Element::vector(Scalar::F32, 2);
    const UINT4: Element = Element::vector(Scalar::U32, 4);
    // Steps and frames stay below 2^31 for a year of 60 a second; a seed's low half is as good a seed.
    match builtin {
        Builtin::Time => float(parameter, "the time in seconds"),
        Builtin::Dt => float(parameter, "the time step in seconds"),
        Builtin::Frame | Builtin::Step => {
            integer(parameter, "a counter", [0, i128::from(i32::MAX)])
        }
        Builtin::Seed => integer(parameter, "the seed", [0, i128::from(i32::MAX)]),
        Builtin::Mouse => vector(parameter, "the mouse's x, y, buttons, wheel", &[FLOAT4, FLOAT2]),
        Builtin::Keys => vector(parameter, "the mask of the keys held", &[UINT4]),
    }
}
