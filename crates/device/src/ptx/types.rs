//! Fundamental types and state spaces (PTX ISA, sections 5.1 and 5.2).

use super::keyword::keywords;

keywords! {
    /// A fundamental type, or one of the packed and opaque types.
    Type {
        /// Untyped, 8 bits.
        B8 = "b8",
        /// Untyped, 16 bits.
        B16 = "b16",
        /// Untyped, 32 bits.
        B32 = "b32",
        /// Untyped, 64 bits.
        B64 = "b64",
        /// Untyped, 128 bits.
        B128 = "b128",
        /// Unsigned, 8 bits.
        U8 = "u8",
        /// Unsigned, 16 bits.
        U16 = "u16",
        /// Unsigned, 32 bits.
        U32 = "u32",
        /// Unsigned, 64 bits.
        U64 = "u64",
        /// Signed, 8 bits.
        S8 = "s8",
        /// Signed, 16 bits.
        S16 = "s16",
        /// Signed, 32 bits.
        S32 = "s32",
        /// Signed, 64 bits.
        S64 = "s64",
        /// Two unsigned halves of a word.
        U16x2 = "u16x2",
        /// Two signed halves of a word.
        S16x2 = "s16x2",
        /// IEEE binary16.
        F16 = "f16",
        /// Two binary16 in a word.
        F16x2 = "f16x2",
        /// bfloat16.
        Bf16 = "bf16",
        /// Two bfloat16 in a word.
        Bf16x2 = "bf16x2",
        /// Two 8-bit numbers of 4 bits of exponent and 3 of mantissa.
        E4m3x2 = "e4m3x2",
        /// Two 8-bit numbers of 5 bits of exponent and 2 of mantissa.
        E5m2x2 = "e5m2x2",
        /// TensorFloat-32.
        Tf32 = "tf32",
        /// IEEE binary32.
        F32 = "f32",
        /// Two binary32 in 64 bits.
        F32x2 = "f32x2",
        /// IEEE binary64.
        F64 = "f64",
        /// A predicate.
        Pred = "pred",
        /// An opaque texture reference.
        Texref = "texref",
        /// An opaque sampler reference.
        Samplerref = "samplerref",
        /// An opaque surface reference.
        Surfref = "surfref",
    }
}

/// What kind of value a [`Type`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Untyped bits.
    Bits,
    /// An unsigned integer, or several.
    Unsigned,
    /// A signed integer, or several.
    Signed,
    /// A floating-point number, or several.
    Float,
    /// A predicate.
    Predicate,
    /// A handle.
    Opaque,
}

impl Type {
    /// Its size in memory in bytes; a predicate has none, but counts as one byte here.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::B8 | Self::U8 | Self::S8 | Self::Pred => 1,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 2,
            Self::E4m3x2 | Self::E5m2x2 => 2,
            Self::B32 | Self::U32 | Self::S32 | Self::F32 | Self::Tf32 => 4,
            Self::F16x2 | Self::Bf16x2 | Self::U16x2 | Self::S16x2 => 4,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 | Self::F32x2 => 8,
            Self::Texref | Self::Samplerref | Self::Surfref => 8,
            Self::B128 => 16,
        }
    }

    /// Its width in bits; 1 for a predicate.
    pub const fn bits(self) -> u32 {
        if matches!(self, Self::Pred) { 1 } else { self.bytes() * 8 }
    }

    /// The type of twice the width of an integer of 16 or 32 bits; any other type itself.
    pub const fn wide(self) -> Self {
        match self {
            Self::U16 => Self::U32,
            Self::S16 => Self::S32,
            Self::U32 => Self::U64,
            Self::S32 => Self::S64,
            Self::B8 | Self::B16 | Self::B32 | Self::B64 | Self::B128 => self,
            Self::U8 | Self::U64 | Self::S8 | Self::S64 | Self::U16x2 | Self::S16x2 => self,
            Self::F16 | Self::F16x2 | Self::Bf16 | Self::Bf16x2 | Self::Tf32 => self,
            Self::F32 | Self::F32x2 | Self::F64 | Self::E4m3x2 | Self::E5m2x2 => self,
            Self::Pred | Self::Texref | Self::Samplerref | Self::Surfref => self,
        }
    }

    /// What kind of value it holds.
    pub const fn kind(self) -> Kind {
        match self {
            Self::B8 | Self::B16 | Self::B32 | Self::B64 | Self::B128 => Kind::Bits,
            Self::E4m3x2 | Self::E5m2x2 => Kind::Bits,
            Self::U8 | Self::U16 | Self::U32 | Self::U64 | Self::U16x2 => Kind::Unsigned,
            Self::S8 | Self::S16 | Self::S32 | Self::S64 | Self::S16x2 => Kind::Signed,
            Self::F16 | Self::F16x2 | Self::Bf16 | Self::Bf16x2 => Kind::Float,
            Self::Tf32 | Self::F32 | Self::F32x2 | Self::F64 => Kind::Float,
            Self::Pred => Kind::Predicate,
            Self::Texref | Self::Samplerref | Self::Surfref => Kind::Opaque,
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Whether it is a signed integer type.
    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), Kind::Signed)
    }

    /// Whether one register holds two values.
    pub const fn is_packed(self) -> bool {
        match self {
            Self::F16x2 | Self::Bf16x2 | Self::U16x2 | Self::S16x2 | Self::F32x2 => true,
            Self::E4m3x2 | Self::E5m2x2 => true,
            Self::B8 | Self::B16 | Self::B32 | Self::B64 | Self::B128 => false,
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => false,
            Self::S8 | Self::S16 | Self::S32 | Self::S64 => false,
            Self::F16 | Self::Bf16 | Self::Tf32 | Self::F32 | Self::F64 => false,
            Self::Pred | Self::Texref | Self::Samplerref | Self::Surfref => false,
        }
    }

    /// The type of one of a packed type's two values; any other type itself.
    pub const fn element(self) -> Self {
        match self {
            Self::F16x2 => Self::F16,
            Self::Bf16x2 => Self::Bf16,
            Self::U16x2 => Self::U16,
            Self::S16x2 => Self::S16,
            Self::F32x2 => Self::F32,
            // There is no type of one of them.
            Self::E4m3x2 | Self::E5m2x2 => self,
            Self::B8 | Self::B16 | Self::B32 | Self::B64 | Self::B128 => self,
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => self,
            Self::S8 | Self::S16 | Self::S32 | Self::S64 => self,
            Self::F16 | Self::Bf16 | Self::Tf32 | Self::F32 | Self::F64 => self,
            Self::Pred | Self::Texref | Self::Samplerref | Self::Surfref => self,
        }
    }
}

keywords! {
    /// A state space; an instruction without one uses generic addresses.
    Space {
        /// Registers (parameters of `.func` only).
        Reg = "reg",
        /// Special registers.
        Sreg = "sreg",
        /// Read-only constants of the module.
        Const = "const",
        /// Memory of all threads of the device.
        Global = "global",
        /// Private memory of a thread.
        Local = "local",
        /// Parameters: of the kernel, or of a device function and its calls.
        Param = "param",
        /// Parameters of the kernel, spelt out.
        ParamEntry = "param::entry",
        /// Parameters of a device function, spelt out.
        ParamFunc = "param::func",
        /// Memory of a block.
        Shared = "shared",
        /// Memory of this block, spelt out.
        SharedCta = "shared::cta",
        /// Memory of the blocks of a cluster.
        SharedCluster = "shared::cluster",
        /// Texture memory (deprecated).
        Tex = "tex",
    }
}

impl Space {
    /// Whether it is the shared memory of the thread's own block.
    pub const fn is_of_block(self) -> bool {
        match self {
            Self::Shared | Self::SharedCta => true,
            Self::SharedCluster | Self::ParamEntry | Self::ParamFunc | Self::Param => false,
            Self::Reg | Self::Sreg | Self::Const | Self::Global | Self::Local | Self::Tex => false,
        }
    }

    /// The state space without what says of whose it is: `.shared` for `.shared::cta`, `.param` for `.param::func`.
    pub const fn kind(self) -> Self {
        match self {
            Self::SharedCta | Self::SharedCluster => Self::Shared,
            Self::ParamEntry | Self::ParamFunc => Self::Param,
            Self::Reg | Self::Sreg | Self::Const | Self::Global | Self::Local => self,
            Self::Param | Self::Shared | Self::Tex => self,
        }
    }
}

keywords! {
    /// The threads that an order or a fence is about.
    Scope {
        /// The block.
        Cta = "cta",
        /// The cluster.
        Cluster = "cluster",
        /// The device.
        Gpu = "gpu",
        /// All devices and the host.
        Sys = "sys",
    }
}
