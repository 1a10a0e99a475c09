//! Functions of C's library on numbers and on formulas.

use crate::scene::draft::{
    expression::{
        cpp_number::{Number, Type},
        formula::{Formula, hull},
        told::Told,
    },
    host::Host,
};

/// A function of one number, as a double has it and as a float has it.
type Real = (fn(f64) -> f64, fn(f32) -> f32);

/// Other names of the library that files have functions of.
const NAMES: &str = "min max abs labs llabs fabs fmin fmax pow fmod hypot lround clamp gcd lcm midpoint lerp div \
    rint sinh cosh tanh asin acos atan atan2 gamma tgamma lgamma erf erfc y0 y1 yn j0 j1 jn index swap rsqrt \
    saturate sign fract mix step smoothstep logb log1p expm1 remainder fma fdim";

/// What a call of the function `name` is, whose template has the argument `template`; `None` where that is not known.
pub(in crate::scene::draft) fn call(
    host: &Host<'_>,
    name: &str,
    template: Option<Type>,
    arguments: &[Told],
) -> Option<Told> {
    match (name, arguments) {
        ("min" | "max" | "fmin" | "fmax" | "fminf" | "fmaxf", [a, b]) => {
            let of = match name {
                "fminf" | "fmaxf" => Type::Float,
                "fmin" | "fmax" => real_of(false, a.of().max(b.of())),
                _ if a.of() == b.of() => a.of(),
                _ => a.of().common(b.of()),
            };
            let of = template.unwrap_or(of);
            let [a, b] = [host.converted(a.clone(), of)?, host.converted(b.clone(), of)?];
            extreme(host, name.contains("min"), &a, &b)
        }
        ("abs" | "labs" | "llabs" | "fabs" | "fabsf", [a]) => absolute(host, name, a.clone()),
        ("lround" | "lroundf", [a]) => Number::Real(Type::Double, a.number()?.as_f64().round())
            .to(Type::Long)
            .map(Told::Number),
        ("pow" | "powf" | "fmod" | "fmodf" | "hypot" | "hypotf", [a, b]) => {
            let is_float =
                name.ends_with("f") || [a, b].iter().all(|told| told.of() == Type::Float);
            let of = if is_float { Type::Float } else { Type::Double };
            of_two(host, name.trim_end_matches('f'), of, a.clone(), b.clone())
        }
        (_, [a]) => {
            let (name, is_float) = match name.strip_suffix('f') {
                Some(short) if real(short).is_some() => (short, true),
                Some(_) | None => (name, false),
            };
            let function = real(name)?;
            let is_whole = matches!(name, "ceil" | "floor" | "round" | "trunc");
            // Whether `log(1.5f)` is a float depends on the headers that are included.
            if a.of() == Type::Float && !is_float && !is_whole {
                host.doubt();
            }
            of_one(host, name, function, host.converted(a.clone(), real_of(is_float, a.of()))?)
        }
        _ => None,
    }
}

/// Whether the library has functions of this name for several types of numbers, or may have one that a file's own hides
/// for some of them alone.
pub(in crate::scene::draft) fn is_one(name: &str) -> bool {
    let short = name.strip_suffix('f').unwrap_or(name);
    real(short).is_some() || NAMES.split(' ').any(|own| own == name || own == short)
}

/// The type that a function of floating-point numbers takes one for.
fn real_of(is_float: bool, of: Type) -> Type {
    if is_float || of == Type::Float { Type::Float } else { Type::Double }
}

fn real(name: &str) -> Option<Real> {
    Some(match name {
        "ceil" => (f64::ceil, f32::ceil),
        "floor" => (f64::floor, f32::floor),
        "round" => (f64::round, f32::round),
        "trunc" => (f64::trunc, f32::trunc),
        "sqrt" => (f64::sqrt, f32::sqrt),
        "cbrt" => (f64::cbrt, f32::cbrt),
        "exp" => (f64::exp, f32::exp),
        "exp2" => (f64::exp2, f32::exp2),
        "log" => (f64::ln, f32::ln),
        "log2" => (f64::log2, f32::log2),
        "log10" => (f64::log10, f32::log10),
        "sin" => (f64::sin, f32::sin),
        "cos" => (f64::cos, f32::cos),
        "tan" => (f64::tan, f32::tan),
        _ => return None,
    })
}

fn of_one(host: &Host<'_>, name: &str, (double, float): Real, of: Told) -> Option<Told> {
    let argument = match of {
        Told::Number(number) => {
            let value = match number.of() {
                Type::Float => f64::from(float(number.as_f64() as f32)),
                _ => double(number.as_f64()),
            };
            return Number::real(number.of(), value).map(Told::Number);
        }
        Told::Formula(formula) => formula,
    };
    let of = argument.of;
    if argument.is_unrounded {
        host.doubt();
    }
    match name {
        "ceil" | "floor" => Some(Told::Formula(Formula::called(name, &[&argument], of))),
        "sqrt" | "exp" | "log" | "log2" | "sin" | "cos" | "tan" => {
            let is_unrounded = of == Type::Float;
            // Of a root alone the double, rounded once, is that of floats.
            if is_unrounded && name != "sqrt" {
                host.doubt();
            }
            let called = Formula::called(name, &[&argument], of);
            Some(Told::Formula(called.unrounded(is_unrounded)))
        }
        _ => None,
    }
}

fn of_two(host: &Host<'_>, name: &str, of: Type, a: Told, b: Told) -> Option<Told> {
    let [a, b] = [host.converted(a, of)?, host.converted(b, of)?];
    if let (Told::Number(a), Told::Number(b)) = (&a, &b) {
        let (a, b) = (a.as_f64(), b.as_f64());
        let (c, d) = (a as f32, b as f32);
        let [double, float] = match name {
            "pow" => [a.powf(b), f64::from(c.powf(d))],
            "hypot" => [a.hypot(b), f64::from(c.hypot(d))],
            _ => [a % b, f64::from(c % d)],
        };
        return Number::real(of, if of == Type::Float { float } else { double }).map(Told::Number);
    }
    if name != "pow" {
        return None;
    }
    if of == Type::Float {
        host.doubt();
    }
    let called = Formula::called(name, &[&a.formula()?, &b.formula()?], of);
    Some(Told::Formula(called.unrounded(of == Type::Float)))
}

/// The lesser or the greater of two of one type.
fn extreme(host: &Host<'_>, is_least: bool, a: &Told, b: &Told) -> Option<Told> {
    if let (Told::Number(a), Told::Number(b)) = (a, b) {
        let first = match (a.whole(), b.whole()) {
            (Some(c), Some(d)) => (c <= d) == is_least,
            _ => (a.as_f64() <= b.as_f64()) == is_least,
        };
        return Some(Told::Number(if first { *a } else { *b }));
    }
    let of = a.of();
    let [a, b] = [a.formula()?, b.formula()?];
    if a.is_unrounded || b.is_unrounded {
        host.doubt();
    }
    let range = a.range.zip(b.range).and_then(|(first, second)| {
        let [low, high] = hull(Some(first), Some(second))?;
        let [least, most] = [first[1].min(second[1]), first[0].max(second[0])];
        Some(if is_least { [low, least] } else { [most, high] })
    });
    let called = Formula::called(if is_least { "min" } else { "max" }, &[&a, &b], of);
    Some(Told::Formula(called.within(range)))
}

fn absolute(host: &Host<'_>, name: &str, of: Told) -> Option<Told> {
    let taken = match name {
        "fabsf" => Type::Float,
        "fabs" => real_of(false, of.of()),
        "labs" | "llabs" => Type::Long,
        _ => of.of().promoted(),
    };
    // Of an unsigned number there is no `abs`.
    if matches!(taken, Type::Unsigned | Type::UnsignedLong) {
        return None;
    }
    match host.converted(of, taken)? {
        Told::Number(number) if number.as_f64() < 0.0 => number.negated().map(Told::Number),
        Told::Number(number) => Some(Told::Number(number)),
        Told::Formula(formula) => {
            let is_unrounded = formula.is_unrounded;
            let called = Formula::called("abs", &[&formula], taken);
            Some(Told::Formula(called.unrounded(is_unrounded)))
        }
    }
}
