//! What the compiler is asked of a type, and how it answers: in one number.

use std::fmt::Write as _;

use super::PREFIX;
use crate::{
    cuda::{CType, Pointee},
    element::{Element, Scalar},
};

/// Tells of a field's type, in one number: whether it is a pointer, its scalar's place in [`SCALARS`] (254 for a
/// pointer behind a pointer, 255 for others), the lanes of a vector, and, in the bits above 24, the elements of an
/// array. An enumeration whose type the source does not name is an `int`: what it is else depends on its values. (Since
/// C++17 such a one alone is not made of a 0 in braces.) Each `@` stands for [`PREFIX`]: the text comes behind the
/// source, whose macros, `N` for instance, must mean nothing in it.
const LIBRARY: &str = "
using @number = unsigned long long;
template <class @T> struct @of;
template <class @T, bool @E> struct @other {
    enum : @number { @code = (1ull << 24) + (1 << 16) + 255 };
};
template <class @T, class = void> struct @fixed { enum : @number { @code = 0 }; };
template <class @T> struct @fixed<@T, decltype(void(@T{0}))> { enum : @number { @code = 1 }; };
template <class @T> struct @other<@T, true> {
    enum : @number {
        @code = sizeof(@T) == 4 && !@fixed<@T>::@code ? (1ull << 24) + (1 << 16) + 4
            : @of<__underlying_type(@T)>::@code
    };
};
template <class @T> struct @of {
    enum : @number { @code = @other<@T, __is_enum(@T)>::@code };
};
template <class @T> struct @of<@T &> : @of<@T> {};
template <class @T> struct @of<const @T> : @of<@T> {};
template <class @T> struct @of<@T *> {
    enum : @number { @code = (1ull << 24) + 256 + (@of<@T>::@code & 256 ? 254 : @of<@T>::@code & 0xff00ff) };
};
template <class @T, @number @N> struct @of<@T[@N]> {
    enum : @number { @code = (@of<@T>::@code >> 24) * @N * (1ull << 24) + (@of<@T>::@code & 0xffffff) };
};
template <class @T, @number @N> struct @of<const @T[@N]> : @of<@T[@N]> {};
template <class @T> struct @array { enum : @number { @code = 0 }; };
template <class @T, @number @N> struct @array<@T[@N]> { enum : @number { @code = @N }; };
template <class @T> struct @array<@T &> : @array<@T> {};
template <class @T> struct @value { enum : @number { @code = 1 }; };
template <class @T> struct @value<@T &> { enum : @number { @code = 0 }; };
template <class @T> struct @value<@T &&> { enum : @number { @code = 0 }; };
";

/// The scalars of fields, each with the type's other names; their order is what the kernels' constants say.
const SCALARS: [(Scalar, &[&str]); 13] = [
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
    (Scalar::F16, &[]),
    (Scalar::BF16, &[]),
];

/// What stands for a pointer in the place of a scalar.
const POINTER: u8 = 254;

/// The names of the scalars that are structures of headers of CUDA, and of their vectors of two.
fn structures_of(scalar: Scalar) -> Option<[&'static str; 2]> {
    match scalar {
        Scalar::F16 => Some(["__half", "__half2"]),
        Scalar::BF16 => Some(["__nv_bfloat16", "__nv_bfloat162"]),
        Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 => None,
        Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64 | Scalar::F32 | Scalar::F64 => None,
    }
}

/// What the probes in `text` use, before the first of them.
pub(super) fn library(text: &mut String) {
    if !text.is_empty() {
        return;
    }
    text.push_str("\n#line 1 \"<layouts>\"");
    text.push_str(&LIBRARY.replace('@', PREFIX));
    for (code, (scalar, others)) in SCALARS.iter().enumerate() {
        let names: Vec<(String, u8)> = match structures_of(*scalar) {
            // A source that has none of them includes no such header.
            Some(names) => names.map(str::to_owned).into_iter().zip(1..).collect(),
            None => {
                let vector = |lanes| (Element::vector(*scalar, lanes).to_string(), lanes);
                let most = if *scalar == Scalar::Bool { 1 } else { 4 };
                let others = others.iter().map(|name| ((*name).to_owned(), 1));
                (1..=most).map(vector).chain(others).collect()
            }
        };
        for (name, lanes) in names {
            if structures_of(*scalar).is_some() {
                let _ = writeln!(text, "struct {name};");
            }
            let _ = writeln!(
                text,
                "template <> struct {PREFIX}of<{name}> {{ enum : {PREFIX}number {{ {PREFIX}code = {} }}; }};",
                (1 << 24) + (u32::from(lanes) << 16) + code as u32
            );
        }
    }
}

/// How many elements an array has, 0 of what is none.
pub(super) fn elements_of(ctype: &str) -> String {
    format!("::{PREFIX}array<{ctype}>::{PREFIX}code")
}

/// 0 for the type of a reference, else 1. That of an element of an array is one, as `decltype` tells it.
pub(super) fn is_value(ctype: &str) -> String {
    format!("::{PREFIX}value<{ctype}>::{PREFIX}code")
}

/// What [`LIBRARY`] tells of a type.
pub(super) fn code_of(ctype: &str) -> String {
    format!("::{PREFIX}of<{ctype}>::{PREFIX}code")
}

/// A type, as [`LIBRARY`] tells it in a number.
#[derive(Clone, Copy)]
pub(super) struct Code {
    /// `None` for what is none of [`SCALARS`].
    pub(super) scalar: Option<Scalar>,
    pub(super) is_pointer: bool,
    /// What it points to is a pointer.
    pub(super) points_to_pointers: bool,
    /// The components of a vector.
    pub(super) lanes: u8,
    /// The elements of an array.
    pub(super) count: u64,
}

impl Code {
    pub(super) fn read(code: u64) -> Self {
        let [scalar, is_pointer, lanes, ..] = code.to_le_bytes();
        let points_to_pointers = scalar == POINTER;
        let scalar = SCALARS.get(usize::from(scalar)).map(|(scalar, _)| *scalar);
        Self { scalar, is_pointer: is_pointer != 0, points_to_pointers, lanes, count: code >> 24 }
    }

    pub(super) fn pointer(self) -> CType {
        let element = |scalar| Pointee::Element(Element::vector(scalar, self.lanes));
        CType::Pointer { to: self.scalar.map_or(Pointee::Void, element), constant: false }
    }

    /// The type, where it is a pointer, a scalar or a vector.
    pub(super) fn ctype(self) -> Option<CType> {
        match (self.is_pointer, self.scalar) {
            (true, _) => Some(self.pointer()),
            (false, scalar) => Some(CType::Value(Element::vector(scalar?, self.lanes))),
        }
    }
}
