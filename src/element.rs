//! The element types of buffers, and of kernel parameters passed by value: CUDA's scalars and vectors, and structures.
//!
//! Enters: names of types in CUDA C++. Leaves: element types, their sizes and alignments. Must not know: `cuda`,
//! `device`, `array`.

mod structure;

use std::fmt;

use half::{bf16, f16};

pub use self::structure::{Part, Structure, Type};

/// A scalar type of CUDA C++.
///
/// ```
/// use warpaint::element::Scalar;
///
/// assert_eq!(Scalar::U32.to_string(), "unsigned");
/// assert_eq!(Scalar::I64.to_string(), "long long"); // `long`, too, is read as this
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    /// `bool`.
    Bool,
    /// `char`, `signed char`, `int8_t`.
    I8,
    /// `unsigned char`, `uint8_t`.
    U8,
    /// `short`, `int16_t`.
    I16,
    /// `unsigned short`, `uint16_t`.
    U16,
    /// `int`, `int32_t`.
    I32,
    /// `unsigned`, `uint32_t`.
    U32,
    /// `long long`, `int64_t`, and `long` (64-bit on every system we run on).
    I64,
    /// `unsigned long long`, `uint64_t`, `size_t`.
    U64,
    /// `half` (IEEE binary16).
    F16,
    /// `__nv_bfloat16`.
    BF16,
    /// `float`.
    F32,
    /// `double`.
    F64,
}

impl Scalar {
    /// Size and alignment in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// Whether it counts: `bool` and floating-point types do not.
    ///
    /// ```
    /// # use warpaint::element::Scalar;
    /// assert!(Scalar::I8.is_integer());
    /// assert!(!Scalar::Bool.is_integer() && !Scalar::Bool.is_float());
    /// ```
    pub const fn is_integer(self) -> bool {
        self.integer_range().is_some()
    }

    /// Whether it is a floating-point type.
    ///
    /// ```
    /// # use warpaint::element::Scalar;
    /// assert!(Scalar::BF16.is_float());
    /// assert!(!Scalar::U64.is_float());
    /// ```
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }

    /// The least and greatest value of an integer type.
    ///
    /// ```
    /// # use warpaint::element::Scalar;
    /// assert_eq!(Scalar::I8.integer_range(), Some((-128, 127)));
    /// assert_eq!(Scalar::U64.integer_range(), Some((0, u64::MAX.into())));
    /// assert_eq!(Scalar::F32.integer_range(), None);
    /// ```
    pub const fn integer_range(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::I8 => (i8::MIN as i128, i8::MAX as i128),
            Self::U8 => (0, u8::MAX as i128),
            Self::I16 => (i16::MIN as i128, i16::MAX as i128),
            Self::U16 => (0, u16::MAX as i128),
            Self::I32 => (i32::MIN as i128, i32::MAX as i128),
            Self::U32 => (0, u32::MAX as i128),
            Self::I64 => (i64::MIN as i128, i64::MAX as i128),
            Self::U64 => (0, u64::MAX as i128),
            Self::Bool | Self::F16 | Self::BF16 | Self::F32 | Self::F64 => return None,
        })
    }

    /// The bits, in the lowest ones, of the number of a floating-point type that is nearest to `value`: infinity beyond
    /// its range. `None` for other types.
    ///
    /// ```
    /// # use warpaint::element::Scalar;
    /// assert_eq!(Scalar::F16.bits_of(-2.0), Some(0xc000));
    /// assert_eq!(Scalar::I32.bits_of(-2.0), None);
    /// ```
    pub fn bits_of(self, value: f64) -> Option<u64> {
        Some(match self {
            Self::F16 => f16::from_f64(value).to_bits().into(),
            Self::BF16 => bf16::from_f64(value).to_bits().into(),
            Self::F32 => (value as f32).to_bits().into(),
            Self::F64 => value.to_bits(),
            Self::Bool
            | Self::I8
            | Self::U8
            | Self::I16
            | Self::U16
            | Self::I32
            | Self::U32
            | Self::I64
            | Self::U64 => return None,
        })
    }

    /// The number whose bits these are, for a floating-point type: what [`Self::bits_of`] undoes. `None` for others.
    ///
    /// ```
    /// # use warpaint::element::Scalar;
    /// assert_eq!(Scalar::BF16.value_of(0x3fc0), Some(1.5));
    /// ```
    pub fn value_of(self, bits: u64) -> Option<f64> {
        Some(match self {
            Self::F16 => f16::from_bits(bits as u16).into(),
            Self::BF16 => bf16::from_bits(bits as u16).into(),
            Self::F32 => f32::from_bits(bits as u32).into(),
            Self::F64 => f64::from_bits(bits),
            Self::Bool
            | Self::I8
            | Self::U8
            | Self::I16
            | Self::U16
            | Self::I32
            | Self::U32
            | Self::I64
            | Self::U64 => return None,
        })
    }

    /// The bits of a scalar's bytes, in the lowest ones; what is beyond eight bytes is left out.
    ///
    /// ```
    /// # use warpaint::element::Scalar;
    /// assert_eq!(Scalar::bits_in(&[0x34, 0x12]), 0x1234);
    /// ```
    pub fn bits_in(bytes: &[u8]) -> u64 {
        let mut wide = [0; 8];
        let length = bytes.len().min(wide.len());
        wide[..length].copy_from_slice(&bytes[..length]);
        u64::from_le_bytes(wide)
    }

    /// The number whose bits these are, for an integer type; `None` for others.
    ///
    /// ```
    /// # use warpaint::element::Scalar;
    /// assert_eq!(Scalar::I8.integer_of(0xff), Some(-1));
    /// assert_eq!(Scalar::U64.integer_of(u64::MAX), Some(u64::MAX.into()));
    /// ```
    pub const fn integer_of(self, bits: u64) -> Option<i128> {
        Some(match self {
            Self::I8 => bits as i8 as i128,
            Self::U8 => bits as u8 as i128,
            Self::I16 => bits as i16 as i128,
            Self::U16 => bits as u16 as i128,
            Self::I32 => bits as i32 as i128,
            Self::U32 => bits as u32 as i128,
            Self::I64 => bits as i64 as i128,
            Self::U64 => bits as i128,
            Self::Bool | Self::F16 | Self::BF16 | Self::F32 | Self::F64 => return None,
        })
    }

    /// The stem of CUDA's vector types of this scalar: `float` in `float4`.
    const fn stem(self) -> Option<&'static str> {
        Some(match self {
            Self::I8 => "char",
            Self::U8 => "uchar",
            Self::I16 => "short",
            Self::U16 => "ushort",
            Self::I32 => "int",
            Self::U32 => "uint",
            Self::I64 => "longlong",
            Self::U64 => "ulonglong",
            Self::F32 => "float",
            Self::F64 => "double",
            Self::Bool | Self::F16 | Self::BF16 => return None,
        })
    }

    /// How CUDA C++ spells it.
    ///
    /// ```
    /// # use warpaint::element::{Element, Scalar};
    /// assert_eq!(Scalar::BF16.name(), "__nv_bfloat16");
    /// assert_eq!(Element::parse(Scalar::BF16.name()), Some(Element::scalar(Scalar::BF16)));
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "char",
            Self::U8 => "unsigned char",
            Self::I16 => "short",
            Self::U16 => "unsigned short",
            Self::I32 => "int",
            Self::U32 => "unsigned",
            Self::I64 => "long long",
            Self::U64 => "unsigned long long",
            Self::F16 => "half",
            Self::BF16 => "__nv_bfloat16",
            Self::F32 => "float",
            Self::F64 => "double",
        }
    }
}

/// Every type that numpy has, too, and its name there.
const NUMPY: [(Scalar, &str); 12] = [
    (Scalar::Bool, "bool"),
    (Scalar::I8, "int8"),
    (Scalar::U8, "uint8"),
    (Scalar::I16, "int16"),
    (Scalar::U16, "uint16"),
    (Scalar::I32, "int32"),
    (Scalar::U32, "uint32"),
    (Scalar::I64, "int64"),
    (Scalar::U64, "uint64"),
    (Scalar::F16, "float16"),
    (Scalar::F32, "float32"),
    (Scalar::F64, "float64"),
];

impl Scalar {
    /// numpy's name of it; `None` for `bf16`, which numpy lacks.
    ///
    /// ```
    /// # use warpaint::element::Scalar;
    /// assert_eq!(Scalar::U8.numpy_name(), Some("uint8"));
    /// assert_eq!(Scalar::BF16.numpy_name(), None);
    /// ```
    pub fn numpy_name(self) -> Option<&'static str> {
        NUMPY.iter().find(|(scalar, _)| *scalar == self).map(|(_, name)| *name)
    }

    /// Every type that numpy has, too, by its name there.
    ///
    /// ```
    /// # use warpaint::element::Scalar;
    /// let found = Scalar::numpy_names().find(|(name, _)| *name == "float16");
    /// assert_eq!(found, Some(("float16", Scalar::F16)));
    /// ```
    pub fn numpy_names() -> impl Iterator<Item = (&'static str, Self)> {
        NUMPY.iter().map(|&(scalar, name)| (name, scalar))
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A scalar, or a CUDA vector of two to four of them.
///
/// ```
/// use warpaint::element::{Element, Scalar};
///
/// let element = Element::vector(Scalar::F32, 3);
/// assert_eq!(element.to_string(), "float3");
/// assert_eq!((element.bytes(), element.align()), (12, 4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Element {
    /// The type of each component.
    pub scalar: Scalar,
    /// How many components: 1 to 4.
    pub lanes: u8,
}

/// The scalars that vector types are made of.
const VECTOR_SCALARS: [Scalar; 10] = [
    Scalar::I8,
    Scalar::U8,
    Scalar::I16,
    Scalar::U16,
    Scalar::I32,
    Scalar::U32,
    Scalar::I64,
    Scalar::U64,
    Scalar::F32,
    Scalar::F64,
];

impl Element {
    /// One `scalar`.
    pub const fn scalar(scalar: Scalar) -> Self {
        Self { scalar, lanes: 1 }
    }

    /// A vector of `lanes` scalars.
    ///
    /// ```
    /// # use warpaint::element::{Element, Scalar};
    /// assert_eq!(Element::vector(Scalar::U8, 4).to_string(), "uchar4");
    /// assert_eq!(Element::vector(Scalar::F16, 2).to_string(), "half2");
    /// ```
    pub const fn vector(scalar: Scalar, lanes: u8) -> Self {
        Self { scalar, lanes }
    }

    /// The type that CUDA C++ spells so, words parted by single blanks and without `const`.
    ///
    /// CUDA 13 replaces the 4-component types of 8-byte scalars by `double4_16a` and `double4_32a`; the
    /// former has the layout of the old `double4` and is understood, the latter is not.
    ///
    /// ```
    /// # use warpaint::element::{Element, Scalar};
    /// for text in ["unsigned", "unsigned int", "uint32_t", "std::uint32_t"] {
    ///     assert_eq!(Element::parse(text), Some(Element::scalar(Scalar::U32)));
    /// }
    /// assert_eq!(Element::parse("double4_16a"), Some(Element::vector(Scalar::F64, 4)));
    /// assert_eq!(Element::parse("float5"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_start_matches("::");
        let text = text.trim_start_matches("cuda::").trim_start_matches("std::");
        Self::parse_scalar(text).map(Self::scalar).or_else(|| Self::parse_vector(text))
    }

    fn parse_scalar(text: &str) -> Option<Scalar> {
        Some(match text {
            "bool" => Scalar::Bool,
            "char" | "signed char" | "int8_t" => Scalar::I8,
            "unsigned char" | "uchar" | "uint8_t" => Scalar::U8,
            "int16_t" => Scalar::I16,
            "ushort" | "uint16_t" => Scalar::U16,
            "int32_t" => Scalar::I32,
            "uint" | "uint32_t" => Scalar::U32,
            "int64_t" | "ptrdiff_t" => Scalar::I64,
            "uint64_t" | "size_t" => Scalar::U64,
            "half" | "__half" => Scalar::F16,
            "__nv_bfloat16" | "nv_bfloat16" => Scalar::BF16,
            "float" => Scalar::F32,
            "double" => Scalar::F64,
            _ => return Self::parse_words(text),
        })
    }

    /// Integer types of several words in any order, such as `long unsigned int`.
    fn parse_words(text: &str) -> Option<Scalar> {
        let (mut unsigned, mut long, mut short) = (false, false, false);
        for word in text.split(' ') {
            match word {
                "unsigned" => unsigned = true,
                "long" => long = true,
                "short" => short = true,
                "int" | "signed" => {}
                _ => return None,
            }
        }
        match (short, long, unsigned) {
            (true, true, _) => None,
            (true, false, false) => Some(Scalar::I16),
            (true, false, true) => Some(Scalar::U16),
            (false, true, false) => Some(Scalar::I64),
            (false, true, true) => Some(Scalar::U64),
            (false, false, false) => Some(Scalar::I32),
            (false, false, true) => Some(Scalar::U32),
        }
    }

    fn parse_vector(text: &str) -> Option<Self> {
        match text {
            "half2" | "__half2" => return Some(Self::vector(Scalar::F16, 2)),
            "__nv_bfloat162" | "nv_bfloat162" => return Some(Self::vector(Scalar::BF16, 2)),
            _ => {}
        }
        let text = text.strip_suffix("_16a").unwrap_or(text);
        let lanes = text.chars().last()?.to_digit(10).filter(|n| (1..=4).contains(n))? as u8;
        let stem = &text[..text.len() - 1];
        let stem = match stem {
            "long" => "longlong",
            "ulong" => "ulonglong",
            stem => stem,
        };
        let scalar = VECTOR_SCALARS.into_iter().find(|s| s.stem() == Some(stem))?;
        Some(Self::vector(scalar, lanes))
    }

    /// Every spelling that a manifest's `type` is expected to have, for "did you mean".
    ///
    /// ```
    /// # use warpaint::{diagnostic::nearest, element::Element};
    /// let names = Element::names();
    /// assert_eq!(nearest("flaot3", names.iter().map(String::as_str))[0], "float3");
    /// ```
    pub fn names() -> Vec<String> {
        let scalars = VECTOR_SCALARS.iter().chain([&Scalar::F16]);
        let mut names: Vec<String> = scalars.map(|s| s.name().to_owned()).collect();
        for scalar in VECTOR_SCALARS {
            names.extend((2..=4).map(|lanes| Self::vector(scalar, lanes).to_string()));
        }
        names
    }

    /// Size in bytes.
    pub const fn bytes(self) -> usize {
        self.scalar.bytes() * self.lanes as usize
    }

    /// Alignment in bytes, as `vector_types.h` declares it: vectors of three have that of their scalar, those
    /// of two and four that of their size, at most 16.
    ///
    /// ```
    /// # use warpaint::element::{Element, Scalar};
    /// let align = |lanes| Element::vector(Scalar::F64, lanes).align();
    /// assert_eq!([1, 2, 3, 4].map(align), [8, 16, 8, 16]);
    /// ```
    pub const fn align(self) -> usize {
        match self.lanes {
            2 | 4 if self.bytes() > 16 => 16,
            2 | 4 => self.bytes(),
            _ => self.scalar.bytes(),
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.lanes, self.scalar.stem()) {
            (1, _) => self.scalar.fmt(f),
            (lanes, Some(stem)) => write!(f, "{stem}{lanes}"),
            (lanes, None) => write!(f, "{}{lanes}", self.scalar),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes and alignments as `vector_types.h` of CUDA 12 has them.
    #[test]
    fn layouts_are_those_of_cuda() {
        for (text, bytes, align) in [
            ("bool", 1, 1),
            ("char", 1, 1),
            ("uchar3", 3, 1),
            ("uchar4", 4, 4),
            ("short2", 4, 4),
            ("half2", 4, 4),
            ("int3", 12, 4),
            ("float", 4, 4),
            ("float2", 8, 8),
            ("float3", 12, 4),
            ("float4", 16, 16),
            ("double2", 16, 16),
            ("double3", 24, 8),
            ("double4", 32, 16),
            ("longlong2", 16, 16),
            ("ulonglong4", 32, 16),
            ("unsigned long long", 8, 8),
        ] {
            let element = Element::parse(text).expect(text);
            assert_eq!((element.bytes(), element.align()), (bytes, align), "{text}");
            assert_eq!(element.to_string(), text);
        }
        for text in ["", "float5", "float0", "flaot", "4", "bool2", "long short", "ü"] {
            assert_eq!(Element::parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_suggested_name_is_understood() {
        for name in Element::names() {
            assert_eq!(Element::parse(&name).map(|e| e.to_string()), Some(name));
        }
    }
}
