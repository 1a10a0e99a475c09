//! The operations that may be arithmetic on floating-point numbers.

use super::Op;
use crate::ptx::{
    modifier::{Accuracy, Function, MinMax, Mode, Test},
    types::Type,
};

/// What is computed of floating-point numbers of one type, which is apart from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatOp {
    /// `a + b`.
    Add(Mode),
    /// `a - b`.
    Sub(Mode),
    /// `a * b`.
    Mul(Mode),
    /// `a / b`.
    Div(Accuracy, Mode),
    /// `a * b + c`, rounded once.
    Fma {
        /// How it is finished.
        mode: Mode,
        /// Negative results (and NaN) become 0.
        relu: bool,
        /// 0 where a factor lies out of bounds.
        oob: bool,
    },
    /// `1 / a`.
    Rcp(Accuracy, Mode),
    /// The square root.
    Sqrt(Accuracy, Mode),
    /// The magnitude.
    Abs {
        /// Subnormals become zero.
        ftz: bool,
    },
    /// The other sign.
    Neg {
        /// Subnormals become zero.
        ftz: bool,
    },
    /// The lesser.
    Min(MinMax),
    /// The greater.
    Max(MinMax),
    /// The sign of `a`, the rest of `b`.
    Copysign,
    /// A question; the result is a predicate.
    Testp(Test),
    /// An approximate function.
    Approx {
        /// Which.
        function: Function,
        /// Subnormals become zero.
        ftz: bool,
    },
}

impl FloatOp {
    /// How the result is finished, as far as the operation has a say in it.
    pub fn mode(self) -> Mode {
        let flushing = |ftz| Mode { ftz, ..Mode::default() };
        match self {
            Self::Add(mode) | Self::Sub(mode) | Self::Mul(mode) | Self::Fma { mode, .. } => mode,
            Self::Div(_, mode) | Self::Rcp(_, mode) | Self::Sqrt(_, mode) => mode,
            Self::Abs { ftz } | Self::Neg { ftz } | Self::Approx { ftz, .. } => flushing(ftz),
            Self::Min(m) | Self::Max(m) => flushing(m.ftz),
            Self::Copysign | Self::Testp(_) => Mode::default(),
        }
    }
}

impl Op {
    /// What it computes and of which type, where that is arithmetic on floating-point numbers of one type.
    pub fn float(&self) -> Option<(FloatOp, Type)> {
        let (op, ty) = match *self {
            Self::Add { mode, ty, carry: _ } => (FloatOp::Add(mode), ty),
            Self::Sub { mode, ty, carry: _ } => (FloatOp::Sub(mode), ty),
            Self::Mul { mode, ty, half: _ } => (FloatOp::Mul(mode), ty),
            Self::Mad { mode, ty, half: _, carry: _ } => {
                (FloatOp::Fma { mode, relu: false, oob: false }, ty)
            }
            Self::Fma { mode, oob, relu, ty } => (FloatOp::Fma { mode, relu, oob }, ty),
            Self::Div { accuracy, mode, ty } => (FloatOp::Div(accuracy, mode), ty),
            Self::Rcp { accuracy, mode, ty } => (FloatOp::Rcp(accuracy, mode), ty),
            Self::Sqrt { accuracy, mode, ty } => (FloatOp::Sqrt(accuracy, mode), ty),
            Self::Abs { ftz, ty } => (FloatOp::Abs { ftz }, ty),
            Self::Neg { ftz, ty } => (FloatOp::Neg { ftz }, ty),
            Self::Min(m) => (FloatOp::Min(m), m.ty),
            Self::Max(m) => (FloatOp::Max(m), m.ty),
            Self::Copysign { ty } => (FloatOp::Copysign, ty),
            Self::Testp { test, ty } => (FloatOp::Testp(test), ty),
            Self::Approx { function, ftz, ty } => (FloatOp::Approx { function, ftz }, ty),
            // Between types.
            Self::Cvt(_) | Self::CvtPack { .. } => return None,
            Self::Setp { .. } | Self::Set { .. } => return None,
            // Copies and selections.
            Self::Mov { .. } | Self::Cvta { .. } | Self::Isspacep { .. } => return None,
            Self::Selp { .. } | Self::Slct { .. } => return None,
            // Integers and bits.
            Self::Mul24 { .. } | Self::Mad24 { .. } => return None,
            Self::Rem { .. } | Self::Sad { .. } => return None,
            Self::Dp4a { .. } | Self::Dp2a { .. } | Self::Simd(_) | Self::Video(_) => return None,
            Self::Szext { .. } | Self::Logic { .. } => return None,
            Self::Not { .. } | Self::Cnot { .. } => return None,
            Self::Lop3 { .. } | Self::Shl { .. } => return None,
            Self::Shr { .. } | Self::Shf { .. } => return None,
            Self::Popc { .. } | Self::Clz { .. } | Self::Bfind { .. } | Self::Fns => return None,
            Self::Brev { .. } | Self::Bfe { .. } => return None,
            Self::Bfi { .. } | Self::Bmsk { .. } => return None,
            Self::Prmt { .. } => return None,
            // Memory and images.
            Self::Ld(_) | Self::St(_) | Self::Ldu(_) | Self::Atom(_) | Self::Red(_) => return None,
            Self::Prefetch { .. } | Self::Discard { .. } => return None,
            Self::Hint { .. } | Self::Createpolicy { .. } => return None,
            Self::Mbarrier(_) | Self::CpAsync { .. } | Self::CpAsyncCommit => return None,
            Self::CpAsyncWaitGroup | Self::CpAsyncWaitAll => return None,
            Self::Alloca { .. } | Self::Stacksave { .. } => return None,
            Self::Stackrestore { .. } => return None,
            Self::Tex(_) | Self::Tld4 { .. } | Self::Txq { .. } | Self::Suq { .. } => return None,
            Self::Suld(_) | Self::Sust(_) | Self::Sured(_) => return None,
            // Threads together, and control.
            Self::Bar { .. } | Self::BarWarpSync => return None,
            Self::Shfl { .. } | Self::Vote { .. } => return None,
            Self::Match { .. } | Self::Activemask => return None,
            Self::Redux { .. } | Self::Elect => return None,
            Self::Ldmatrix(_) | Self::Stmatrix(_) | Self::Movmatrix => return None,
            Self::WmmaLoad(_) | Self::WmmaStore(_) | Self::Mma(_) => return None,
            Self::Membar { .. } | Self::Fence { .. } | Self::Nanosleep => return None,
            Self::Bra { .. } | Self::BrxIdx { .. } => return None,
            Self::Call { .. } | Self::Ret { .. } => return None,
            Self::Exit | Self::Trap | Self::Brkpt | Self::Pmevent { .. } => return None,
            Self::Unsupported { .. } => return None,
        };
        ty.is_float().then_some((op, ty))
    }
}
