//! CUDA's vector types: `Float4` is `float4`.
//!
//! Laid out and aligned as in `vector_types.h`. Arrays of them have `+ - * /`, component by component, with each other
//! and with arrays of their components; `<warpaint/vector.cuh>` has the same for kernels. Vectors of one component are
//! scalars.
//!
//! ```
//! use warpaint::{array::{GpuArray, vector::Float2}, device::Device, kernel::Context};
//!
//! let context = Context::new(Device::cpu()?)?;
//! let p = GpuArray::from_slice(&context, &[Float2::new(1.0, 2.0), Float2::new(3.0, 4.0)])?;
//! let moved = (&p * 2.0 + Float2::new(0.5, 0.0)).eval()?;
//! assert_eq!(moved.to_vec()?, [Float2::new(2.5, 4.0), Float2::new(6.5, 8.0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops;

use super::{
    Additive, Arithmetic, Beside, DType, Data, Expr, GpuArray, KernelArgument, Promote,
    example::example,
    operators::{ADD, DIVIDE, MULTIPLY, SUBTRACT, beside, scalars_left},
};
use crate::{
    element::{Element, Scalar},
    kernel::Argument,
};

/// What sums of vectors are collected in, and what that needs.
const SUM: &str = concat!(
    "#include <warpaint/vector.cuh>\n",
    include_str!("compensated.cuh"),
    include_str!("vector_sum.cuh"),
);

/// A vector type of these components, of which each is collected in a type of so many bytes.
macro_rules! vector {
    (@let $value:ident, $number:literal, $name:ident $component:ident $($field:ident)*) => {
        concat!(
            "let ", stringify!($value), " = ", stringify!($name), " { ",
            $(stringify!($field), ": ", $number, "_", stringify!($component), ", ",)* "};"
        )
    };
    ($component:ident $scalar:ident $collected:tt $bytes:tt $name:ident $cuda:tt $align:tt: $($field:ident)*) => {
        #[doc = concat!("CUDA's `", $cuda, "`.")]
        ///
        #[doc = example!(
            concat!("# use warpaint::array::vector::", stringify!($name), ";"),
            vector!(@let one, 1, $name $component $($field)*),
            vector!(@let two, 2, $name $component $($field)*),
            "let a = GpuArray::from_slice(&context, &[one, one])?;",
            "assert_eq!(a.sum()?.item()?, two);",
        )]
        #[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(C, align($align))]
        pub struct $name {
            $(#[doc = concat!("Component ", stringify!($field), ".")] pub $field: $component,)*
        }

        impl $name {
            const ELEMENT: Element = Element::vector(Scalar::$scalar, [$(stringify!($field)),*].len() as u8);

            /// From its components.
            pub const fn new($($field: $component),*) -> Self {
                Self { $($field),* }
            }
        }

        impl Data for $name {
            const DTYPE: DType = DType {
                name: $cuda,
                definition: "#include <warpaint/vector.cuh>",
                bytes: size_of::<Self>(),
                align: align_of::<Self>(),
            };

            fn text(&self, precision: Option<usize>) -> String {
                format!("({})", [$(self.$field.text(precision)),*].join(", "))
            }
        }

        impl Arithmetic for $name {}

        impl Additive for $name {
            const SUM: DType = DType {
                name: concat!("warpaint::VectorSum<", $cuda, ", ", $collected, ">"),
                definition: SUM,
                bytes: $bytes * Self::ELEMENT.lanes as usize,
                align: 8,
            };
        }

        impl Promote<Self> for $name {
            type Output = Self;
        }

        impl Promote<$component> for $name {
            type Output = Self;
        }

        impl Promote<$name> for $component {
            type Output = $name;
        }

        beside!(@part $component, $name;);
        scalars_left!(Add, add, ADD; $component: $name; $name: $name;);
        scalars_left!(Sub, sub, SUBTRACT; $component: $name; $name: $name;);
        scalars_left!(Mul, mul, MULTIPLY; $component: $name; $name: $name;);
        scalars_left!(Div, div, DIVIDE; $component: $name; $name: $name;);

        impl From<$name> for Argument {
            fn from(value: $name) -> Self {
                Self::element($name::ELEMENT, value)
            }
        }

        impl From<$name> for KernelArgument {
            fn from(value: $name) -> Self {
                Argument::from(value).into()
            }
        }
    };
}

/// The vectors of two, three and four components: what sums are collected in, names in Rust and CUDA C++, alignments.
macro_rules! vectors {
    ($($component:ident $scalar:ident in $collected:tt of $bytes:tt:
        $two:ident $cuda_two:tt $align_two:tt, $three:ident $cuda_three:tt $align_three:tt,
        $four:ident $cuda_four:tt $align_four:tt;)*) => {$(
        vector!($component $scalar $collected $bytes $two $cuda_two $align_two: x y);
        vector!($component $scalar $collected $bytes $three $cuda_three $align_three: x y z);
        vector!($component $scalar $collected $bytes $four $cuda_four $align_four: x y z w);
    )*};
}

vectors! {
    i8 I8 in "long long" of 8: Char2 "char2" 2, Char3 "char3" 1, Char4 "char4" 4;
    u8 U8 in "unsigned long long" of 8: UChar2 "uchar2" 2, UChar3 "uchar3" 1, UChar4 "uchar4" 4;
    i16 I16 in "long long" of 8: Short2 "short2" 4, Short3 "short3" 2, Short4 "short4" 8;
    u16 U16 in "unsigned long long" of 8: UShort2 "ushort2" 4, UShort3 "ushort3" 2, UShort4 "ushort4" 8;
    i32 I32 in "long long" of 8: Int2 "int2" 8, Int3 "int3" 4, Int4 "int4" 16;
    u32 U32 in "unsigned long long" of 8: UInt2 "uint2" 8, UInt3 "uint3" 4, UInt4 "uint4" 16;
    i64 I64 in "long long" of 8: LongLong2 "longlong2" 16, LongLong3 "longlong3" 8, LongLong4 "longlong4" 16;
    u64 U64 in "unsigned long long" of 8: ULongLong2 "ulonglong2" 16, ULongLong3 "ulonglong3" 8, ULongLong4 "ulonglong4" 16;
    f32 F32 in "double" of 8: Float2 "float2" 8, Float3 "float3" 4, Float4 "float4" 16;
    f64 F64 in "warpaint::Compensated" of 16: Double2 "double2" 16, Double3 "double3" 8, Double4 "double4" 16;
}
