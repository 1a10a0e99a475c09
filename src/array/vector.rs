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

use super::{Arithmetic, Beside, DType, Data, Expr, KernelArgument, Promote, operators::beside};
use crate::{
    element::{Element, Scalar},
    kernel::Argument,
};

macro_rules! vectors {
    ($($component:ident $scalar:ident { $($name:ident $cuda:literal align $align:literal: $($field:ident)*;)* })*) => {$($(
        #[doc = concat!("CUDA's `", $cuda, "`.")]
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
    )*)*};
}

vectors! {
    i8 I8 {
        Char2 "char2" align 2: x y;
        Char3 "char3" align 1: x y z;
        Char4 "char4" align 4: x y z w;
    }
    u8 U8 {
        UChar2 "uchar2" align 2: x y;
        UChar3 "uchar3" align 1: x y z;
        UChar4 "uchar4" align 4: x y z w;
    }
    i16 I16 {
        Short2 "short2" align 4: x y;
        Short3 "short3" align 2: x y z;
        Short4 "short4" align 8: x y z w;
    }
    u16 U16 {
        UShort2 "ushort2" align 4: x y;
        UShort3 "ushort3" align 2: x y z;
        UShort4 "ushort4" align 8: x y z w;
    }
    i32 I32 {
        Int2 "int2" align 8: x y;
        Int3 "int3" align 4: x y z;
        Int4 "int4" align 16: x y z w;
    }
    u32 U32 {
        UInt2 "uint2" align 8: x y;
        UInt3 "uint3" align 4: x y z;
        UInt4 "uint4" align 16: x y z w;
    }
    i64 I64 {
        LongLong2 "longlong2" align 16: x y;
        LongLong3 "longlong3" align 8: x y z;
        LongLong4 "longlong4" align 16: x y z w;
    }
    u64 U64 {
        ULongLong2 "ulonglong2" align 16: x y;
        ULongLong3 "ulonglong3" align 8: x y z;
        ULongLong4 "ulonglong4" align 16: x y z w;
    }
    f32 F32 {
        Float2 "float2" align 8: x y;
        Float3 "float3" align 4: x y z;
        Float4 "float4" align 16: x y z w;
    }
    f64 F64 {
        Double2 "double2" align 16: x y;
        Double3 "double3" align 8: x y z;
        Double4 "double4" align 16: x y z w;
    }
}
