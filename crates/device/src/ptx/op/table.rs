//! All operations. What knows an instruction only by what stands here needs no line of its own for it.
//!
//! A row says, in this order:
//!
//! - what the operation does: `d` are destinations, then `<-`, then sources; `[d|p]` means that the second destination
//!   may be missing (it is never a sink for "missing": `d.len()` tells);
//! - its name, with the words and the fields of its mnemonic in the order in which the PTX ISA writes them: a word that
//!   is always there, a field that knows its words ([`Modifier`]), or a truth that is a word, or the first of two.
//!   A truth that only operands tell is `= ""`;
//! - what is known of it without its operands: [`Facts`];
//! - its forms: which types and modifiers there are, and the operands that each takes, in the notation of
//!   [`form`](super::form).

use super::{
    Reader,
    define::{operations, put, surface, take},
    facts::{
        Facts, Next, WarpOp, anything, bits, changes, computes, controls, images, is_long, loads,
        opaque, together,
    },
    words::{Modifier, Text, Words},
};
use crate::ptx::{
    matrix::{MatrixAccess, MatrixOp, Product, Tiles},
    modifier::*,
    types::{Scope, Space, Type},
    video::Video,
};

operations! {
    // Copies ------------------------------------------------------------------------------------

    /// `mov d <- a`. `a` may be a register, an immediate, a special register, a symbol (its address *in its own
    /// space*), or a vector to pack (`mov.b64 d <- {a, b}`, low part first); `d` may be a vector to unpack. With
    /// `lanes` of 2 or 4: a whole special register.
    Mov { "mov", lanes: u8, ty: Type }
        => bits().vector_if(*lanes <= 1, *ty),
        ["mov.{T:$bits,$int,f32,f64} +T <- +T",
         "mov.b128 +b128 <- +b128",
         "mov.pred p <- p",
         "mov.{L:v4}.{T:u32,b32} LxT <- %LxT"]

    /// `cvta d <- a`: between an address in `space` and a generic one.
    Cvta { "cvta",
           /// `cvta.space` (true) or `cvta.to.space` (false).
           to_generic: bool = "" / "to", space: Space, ty: Type }
        => bits().converts(*space),
        ["cvta{,.to}.{$window}.{T:u32,u64} ptr <- ptr"]

    /// `isspacep p <- a`: whether the generic address `a` lies in `space`.
    Isspacep { "isspacep", space: Space }
        => bits(),
        ["isspacep.{$window} p <- ptr"]

    /// `cvt d <- a`, or `d <- a, b` packing two (`a` in the upper half) where `to` is a packed type of two `from`.
    Cvt("cvt", cvt: Cvt)
        => computes(cvt.from, cvt.ftz).indifferent_if(cvt.takes_subnormals_for_zero()).vector(cvt.to),
        ["cvt.{D:$narrow}.{T:$narrow} ~D <- ~T",
         // NVIDIA's assembler refuses to saturate where nothing can be lost.
         "cvt.sat.u8.{T:s8,u16,s16,u32,s32,u64,s64} ~u8 <- ~T",
         "cvt.sat.s8.{T:u8,u16,s16,u32,s32,u64,s64} ~s8 <- ~T",
         "cvt.sat.u16.{T:s8,s16,u32,s32,u64,s64} ~u16 <- ~T",
         "cvt.sat.s16.{T:u16,u32,s32,u64,s64} ~s16 <- ~T",
         "cvt.sat.u32.{T:s8,s16,s32,u64,s64} ~u32 <- ~T",
         "cvt.sat.s32.{T:u32,u64,s64} ~s32 <- ~T",
         "cvt.sat.u64.{T:s8,s16,s32,s64} ~u64 <- ~T",
         "cvt.sat.s64.u64 ~s64 <- ~u64",
         "cvt.{$frnd}.{D:f32,f64}.{T:$narrow} ~D <- ~T",
         "cvt.{$rni}{,.ftz}{,.sat}.{D:$narrow}.f32 ~D <- ~f32",
         "cvt.{$rni}{,.sat}.{D:$narrow}.f64 ~D <- ~f64",
         "cvt{,.ftz}{,.sat}.f64.f32 f64 <- ~f32",
         "cvt.{$frnd}{,.ftz}{,.sat}.f32.f64 ~f32 <- f64",
         "cvt{,.rni,.rzi,.rmi,.rpi}{,.ftz}{,.sat}.f32.f32 ~f32 <- ~f32",
         "cvt{,.rni,.rzi,.rmi,.rpi}{,.sat}.f64.f64 f64 <- f64",
         "cvt.rna{,.satfinite}.tf32.f32 b32 <- ~f32",
         "sm_90 cvt.{rn,rz}{,.relu}.tf32.f32 b32 <- ~f32",
         "sm_100 cvt.{rn,rz}{,.relu}.satfinite.tf32.f32 b32 <- ~f32",
         "cvt.{$frnd}.f16.{T:$narrow} ~f16 <- ~T",
         "cvt.{$rni}{,.sat}.{D:$narrow}.f16 ~D <- ~f16",
         "cvt{,.ftz}{,.sat}.f32.f16 ~f32 <- ~f16",
         "cvt{,.sat}.f64.f16 ~f64 <- ~f16",
         "cvt.{$frnd}{,.ftz}{,.sat}.f16.f32 ~f16 <- ~f32",
         "cvt.{$frnd}{,.sat}.f16.f64 ~f16 <- ~f64",
         "cvt{,.rni,.rzi,.rmi,.rpi}{,.sat}.f16.f16 ~f16 <- ~f16",
         "cvt.{rn,rz}{,.relu}{,.satfinite}.{D:f16,bf16}.f32 ~D <- ~f32",
         "cvt.{rn,rz}{,.relu}{,.satfinite}.{D:f16x2,bf16x2}.f32 ~D <- ~f32 ~f32",
         "sm_90 cvt.{$frnd}.bf16.{T:$int,f16,f32,f64} ~bf16 <- ~T",
         "sm_90 cvt.{$rni}.{D:$int}.bf16 ~D <- ~bf16",
         "sm_90 cvt.{D:f32,f64}.bf16 ~D <- ~bf16",
         "sm_90 cvt{,.rni,.rzi,.rmi,.rpi}.bf16.bf16 ~bf16 <- ~bf16",
         "sm_90 cvt.{$frnd}.f16.bf16 ~f16 <- ~bf16",
         "sm_90 cvt.rn.satfinite{,.relu}.{D:e4m3x2,e5m2x2}.f32 ~D <- ~f32 ~f32",
         "sm_90 cvt.rn.satfinite{,.relu}.{D:e4m3x2,e5m2x2}.f16x2 ~D <- ~f16x2",
         "sm_90 cvt.rn{,.relu}.f16x2.{T:e4m3x2,e5m2x2} ~f16x2 <- ~T"]

    /// `cvt.pack d <- a, b [, c]`: `a` and `b` saturated to `to` and packed below `c`, whose upper bits go.
    CvtPack { "cvt", "pack", "sat",
              /// Of each packed part.
              to: Packed,
              /// Of `a` and `b`.
              from: Type,
              /// Of `c` (`b32`), where there is one.
              merge: Option<Type> }
        => bits(),
        ["cvt.pack.sat.{u16,s16}.s32 b32 <- s32 s32",
         "cvt.pack.sat.{u8,s8,u4,s4,u2,s2}.s32.b32 b32 <- s32 s32 b32"]

    /// `szext d <- a, b`: sign- or zero-extends the low `b` bits of `a`.
    Szext { "szext",
            /// What happens to `b` above 32: wrap (true) or clamp.
            wrap: bool = "wrap" / "clamp", ty: Type }
        => bits(),
        ["szext.{clamp,wrap}.{T:u32,s32} T <- T amount"]

    // Arithmetic --------------------------------------------------------------------------------

    /// `add d <- a, b`; with carries `addc`, `add.cc`, `addc.cc`.
    Add { "add", carry: Carry, mode: Mode, ty: Type }
        => computes(*ty, mode.ftz).carries_if(carry.is_used()).vector_if(!carry.is_used(), *ty),
        ["add.{T:$int} T <- T T",
         "add.sat.s32 s32 <- s32 s32",
         "{addc,addc.cc,add.cc}.{T:$word} T <- T T",
         "add{$rnd}{,.ftz}{,.sat}.f32 f32 <- f32 f32",
         "add{$rnd}.f64 f64 <- f64 f64",
         "add{,.rn}{,.ftz}{,.sat}.{T:f16,f16x2} T <- T T",
         "sm_90 add{,.rn}.{T:bf16,bf16x2} T <- T T",
         "sm_90 add.{T:u16x2,s16x2} T <- T T",
         "sm_100 add{$rnd}{,.ftz}.f32x2 f32x2 <- f32x2 f32x2"]

    /// `sub d <- a, b`; with borrows.
    Sub { "sub", carry: Carry, mode: Mode, ty: Type }
        => computes(*ty, mode.ftz).carries_if(carry.is_used()).vector_if(!carry.is_used(), *ty),
        ["sub.{T:$int} T <- T T",
         "sub.sat.s32 s32 <- s32 s32",
         "{subc,subc.cc,sub.cc}.{T:$word} T <- T T",
         "sub{$rnd}{,.ftz}{,.sat}.f32 f32 <- f32 f32",
         "sub{$rnd}.f64 f64 <- f64 f64",
         "sub{,.rn}{,.ftz}{,.sat}.{T:f16,f16x2} T <- T T",
         "sm_90 sub{,.rn}.{T:bf16,bf16x2} T <- T T",
         "sm_100 sub{$rnd}{,.ftz}.f32x2 f32x2 <- f32x2 f32x2"]

    /// `mul d <- a, b`; with [`Half::Wide`] `d` has twice the width of `a` and `b`.
    Mul { "mul",
          /// Integers only.
          half: Option<Half>, mode: Mode, ty: Type }
        => computes(*ty, mode.ftz).vector(*ty),
        ["mul.{lo,hi}.{T:$int} T <- T T",
         "mul.wide.{T:u16,s16,u32,s32} 2T <- T T",
         "mul{$rnd}{,.ftz}{,.sat}.f32 f32 <- f32 f32",
         "mul{$rnd}.f64 f64 <- f64 f64",
         "mul{,.rn}{,.ftz}{,.sat}.{T:f16,f16x2} T <- T T",
         "sm_90 mul{,.rn}.{T:bf16,bf16x2} T <- T T",
         "sm_100 mul{$rnd}{,.ftz}.f32x2 f32x2 <- f32x2 f32x2"]

    /// `mad d <- a, b, c`: the half of `a * b` plus `c`; `mad.f32` and `mad.f64` are [`Op::Fma`] in effect. With
    /// [`Half::Wide`] `c` and `d` have twice the width of `a` and `b`.
    Mad { "mad",
          /// Integers only.
          half: Option<Half>, carry: Carry, mode: Mode, ty: Type }
        => computes(*ty, mode.ftz).carries_if(carry.is_used()).vector_if(!carry.is_used(), *ty),
        ["mad.{lo,hi}.{T:$int} T <- T T T",
         "mad.wide.{T:u16,s16,u32,s32} 2T <- T T 2T",
         "mad.hi.sat.s32 s32 <- s32 s32 s32",
         "{mad,madc}.{lo,hi}.cc.{T:$word} T <- T T T",
         "madc.{lo,hi}.{T:$word} T <- T T T",
         "mad.{$frnd}{,.ftz}{,.sat}.f32 f32 <- f32 f32 f32",
         "mad.{$frnd}.f64 f64 <- f64 f64 f64"]

    /// `mul24 d <- a, b`: of the low 24 bits; `Lo`: low 32 of the 48-bit product, `Hi`: high 32.
    Mul24 { "mul24", half: Half, ty: Type }
        => bits(),
        ["mul24.{lo,hi}.{T:u32,s32} T <- T T"]

    /// `mad24 d <- a, b, c`.
    Mad24 { "mad24", half: Half,
            /// `mad24.hi.sat`.
            sat: bool = "sat", ty: Type }
        => bits(),
        ["mad24.{lo,hi}.{T:u32,s32} T <- T T T",
         "mad24.hi.sat.s32 s32 <- s32 s32 s32"]

    /// `fma d <- a, b, c`: rounded once.
    Fma { "fma", mode: Mode,
          /// 0 where `a` or `b` is the NaN that stands for what lies out of bounds, `0x7ff7` but for its sign.
          oob: bool = "oob",
          /// Negative results (and NaN) become 0.
          relu: bool = "relu", ty: Type }
        => computes(*ty, mode.ftz).vector(*ty),
        ["fma.{$frnd}{,.ftz}{,.sat}.f32 f32 <- f32 f32 f32",
         "fma.{$frnd}.f64 f64 <- f64 f64 f64",
         "fma.rn{,.ftz}{,.sat,.relu}.{T:f16,f16x2} T <- T T T",
         "fma.rn{,.relu}.{T:bf16,bf16x2} T <- T T T",
         "sm_90 fma.rn.oob{,.relu}.{T:$half} T <- T T T",
         "sm_100 fma.{$frnd}{,.ftz}.f32x2 f32x2 <- f32x2 f32x2 f32x2"]

    /// `div d <- a, b`.
    Div { "div",
          /// Floats only.
          accuracy: Accuracy, mode: Mode, ty: Type }
        => computes(*ty, mode.ftz)
            .vector_if(ty.is_float(), *ty)
            .approximate_if(!matches!(accuracy, Accuracy::Exact)),
        ["div.{T:$int} T <- T n0T",
         "div.{$frnd}{,.ftz}.f32 f32 <- f32 f32",
         "div.{$frnd}.f64 f64 <- f64 f64",
         "div.{approx,full}{,.ftz}.f32 f32 <- f32 f32"]

    /// `rem d <- a, b`: the sign is that of `a`.
    Rem { "rem", ty: Type }
        => bits(),
        ["rem.{T:$int} T <- T n0T"]

    /// `abs d <- a`.
    Abs { "abs", ftz: bool = "ftz", ty: Type }
        => bits().vector_if(!is_long(*ty), *ty),
        ["abs.{T:s16,s32,s64} T <- T",
         "abs{,.ftz}.{T:f32,f16,f16x2} T <- T",
         "abs.{T:f64,bf16,bf16x2} T <- T"]

    /// `neg d <- a`.
    Neg { "neg", ftz: bool = "ftz", ty: Type }
        => bits().vector(*ty),
        ["neg.{T:s16,s32,s64} T <- T",
         "neg{,.ftz}.{T:f32,f16,f16x2} T <- T",
         "neg.{T:f64,bf16,bf16x2} T <- T"]

    /// `min d <- a, b [, c]`: of two or three numbers; a NaN loses unless `nan`.
    Min("min", min: MinMax)
        => computes(min.ty, min.ftz).vector_if(!is_long(min.ty), min.ty),
        ["min.{T:$int} T <- T T",
         "min{,.ftz}{,.NaN}.{T:f32,f16,f16x2} T <- T T",
         "min{,.NaN}.{T:bf16,bf16x2} T <- T T",
         "min.f64 f64 <- f64 f64",
         "sm_90 min{,.ftz}{,.NaN}.xorsign.abs.{T:f32,f16,f16x2} T <- T T",
         "sm_90 min{,.NaN}.xorsign.abs.{T:bf16,bf16x2} T <- T T",
         "sm_90 min.u16x2 u16x2 <- u16x2 u16x2",
         "sm_90 min{,.relu}.s16x2 s16x2 <- s16x2 s16x2",
         "sm_90 min.relu.s32 s32 <- s32 s32",
         "sm_100 min{,.ftz}{,.NaN}{,.abs}.f32 f32 <- f32 f32 f32"]

    /// `max d <- a, b [, c]`.
    Max("max", max: MinMax)
        => computes(max.ty, max.ftz).vector_if(!is_long(max.ty), max.ty),
        ["max.{T:$int} T <- T T",
         "max{,.ftz}{,.NaN}.{T:f32,f16,f16x2} T <- T T",
         "max{,.NaN}.{T:bf16,bf16x2} T <- T T",
         "max.f64 f64 <- f64 f64",
         "sm_90 max{,.ftz}{,.NaN}.xorsign.abs.{T:f32,f16,f16x2} T <- T T",
         "sm_90 max{,.NaN}.xorsign.abs.{T:bf16,bf16x2} T <- T T",
         "sm_90 max.u16x2 u16x2 <- u16x2 u16x2",
         "sm_90 max{,.relu}.s16x2 s16x2 <- s16x2 s16x2",
         "sm_90 max.relu.s32 s32 <- s32 s32",
         "sm_100 max{,.ftz}{,.NaN}{,.abs}.f32 f32 <- f32 f32 f32"]

    /// `sad d <- a, b, c`: `|a - b| + c`.
    Sad { "sad", ty: Type }
        => bits(),
        ["sad.{T:$int} T <- T T T"]

    /// `rcp d <- a`.
    Rcp { "rcp", accuracy: Accuracy, mode: Mode, ty: Type }
        => computes(*ty, mode.ftz).vector(*ty).approximate_if(!matches!(accuracy, Accuracy::Exact)),
        ["rcp.{$frnd}{,.ftz}.f32 f32 <- f32",
         "rcp.{$frnd}.f64 f64 <- f64",
         "rcp.approx{,.ftz}.{T:f32,f64} T <- T"]

    /// `sqrt d <- a`.
    Sqrt { "sqrt", accuracy: Accuracy, mode: Mode, ty: Type }
        => computes(*ty, mode.ftz).vector(*ty).approximate_if(!matches!(accuracy, Accuracy::Exact)),
        ["sqrt.{$frnd}{,.ftz}.f32 f32 <- f32",
         "sqrt.{$frnd}.f64 f64 <- f64",
         "sqrt.approx{,.ftz}.f32 f32 <- f32"]

    /// `rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh`: `d <- a`, approximate.
    Approx { function: Function, "approx", ftz: bool = "ftz", ty: Type }
        => computes(*ty, *ftz)
            .vector_if(matches!(function, Function::Rsqrt) && *ty != Type::F64, *ty)
            .approximate_if(true),
        ["rsqrt.approx{,.ftz}.{T:f32,f64} T <- T",
         "{sin,cos,lg2}.approx{,.ftz}.f32 f32 <- f32",
         "{ex2,tanh}.approx{,.ftz}.{T:f32,f16,f16x2,bf16,bf16x2} T <- T"]

    /// `copysign d <- a, b`: the sign of **`a`**, the rest of `b`.
    Copysign { "copysign", ty: Type }
        => bits().vector(*ty),
        ["copysign.{T:f32,f64} T <- T T"]

    /// `testp p <- a`.
    Testp { "testp", test: Test, ty: Type }
        => bits(),
        ["testp.{finite,infinite,number,notanumber,normal,subnormal}.{T:f32,f64} p <- T"]

    /// `dp4a d <- a, b, c`: four bytes of each, multiplied, summed, plus `c`.
    Dp4a { "dp4a",
           /// Of `a`'s bytes, `u32` or `s32`.
           a: Type,
           /// Of `b`'s bytes.
           b: Type }
        => bits(),
        ["dp4a.{u32,s32}.{u32,s32} b32 <- b32 b32 b32"]

    /// `dp2a d <- a, b, c`: two halves of `a` by two bytes of `b`.
    Dp2a { "dp2a",
           /// The upper two bytes of `b`.
           high: bool = "hi" / "lo",
           /// Of `a`'s halves.
           a: Type,
           /// Of `b`'s bytes.
           b: Type }
        => bits(),
        ["dp2a.{lo,hi}.{u32,s32}.{u32,s32} b32 <- b32 b32 b32"]

    /// `vadd2`, `vabsdiff4`, …: `d <- a, b, c` on two halves or four bytes; `c` is added to the sum of the lanes'
    /// results with `.add`, else it gives the lanes of `d` that no mask selects (here: none).
    Simd(simd: Simd)
        => bits(),
        ["{vadd,vsub}{2,4}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat,.add} b32 <- b32 b32 b32",
         "{vmin,vmax}{2,4}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat,.add} b32 <- b32 b32 b32",
         "{vabsdiff,vavrg}{2,4}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat,.add} b32 <- b32 b32 b32"]

    /// All other video instructions: `vadd` to `vset4`, with parts of operands.
    Video(video: Video)
        => bits(),
        ["{vadd,vsub,vabsdiff,vmin,vmax}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat} b32 <- b32 b32",
         "{vadd,vsub,vabsdiff,vmin,vmax}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat}{,.add,.min,.max} b32 <- b32 b32 b32",
         "{vadd,vsub,vmin,vmax,vabsdiff,vavrg}{2,4}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat,.add} b32 <- b32 b32 b32",
         "{vshl,vshr}.{u32,s32}.{u32,s32}.u32{,.sat}.{clamp,wrap} b32 <- b32 b32",
         "{vshl,vshr}.{u32,s32}.{u32,s32}.u32{,.sat}.{clamp,wrap}{,.add,.min,.max} b32 <- b32 b32 b32",
         "vmad.{u32,s32}.{u32,s32}.{u32,s32}{,.po}{,.sat}{,.shr7,.shr15} b32 <- b32 b32 b32",
         "vset.{u32,s32}.{u32,s32}.{eq,ne,lt,le,gt,ge} b32 <- b32 b32",
         "vset.{u32,s32}.{u32,s32}.{eq,ne,lt,le,gt,ge}{,.add,.min,.max} b32 <- b32 b32 b32",
         "vset{2,4}.{u32,s32}.{u32,s32}.{eq,ne,lt,le,gt,ge}{,.add} b32 <- b32 b32 b32"]

    // Comparison and selection --------------------------------------------------------------------

    /// `setp p|q <- a, b [, c]`: `p = (a cmp b) op c`, `q = !(a cmp b) op c`; `c` may be
    /// [`Operand::Not`](crate::ptx::operand::Operand::Not). Of a packed type `p` is of the lower, `q` of the upper
    /// half.
    Setp { "setp", cmp: Cmp,
           /// How the result is combined with `c`.
           combine: Option<BoolOp>, ftz: bool = "ftz", ty: Type }
        => computes(*ty, *ftz).vector(*ty),
        ["setp.{eq,ne,lt,le,gt,ge}{C:,.and,.or,.xor}.{T:s16,s32,s64} p p? <- T T C:p",
         "setp.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}{C:,.and,.or,.xor}.{T:u16,u32,u64} p p? <- T T C:p",
         "setp.{eq,ne}{C:,.and,.or,.xor}.{T:$bits} p p? <- T T C:p",
         "setp.{$cmp}{C:,.and,.or,.xor}{,.ftz}.f32 p p? <- f32 f32 C:p",
         "setp.{$cmp}{C:,.and,.or,.xor}{,.ftz}.f16 p <- f16 f16 C:p",
         "setp.{$cmp}{C:,.and,.or,.xor}.f64 p p? <- f64 f64 C:p",
         "setp.{$cmp}{C:,.and,.or,.xor}{,.ftz}.f16x2 p p <- f16x2 f16x2 C:p",
         "sm_90 setp.{$cmp}{C:,.and,.or,.xor}.bf16 p <- bf16 bf16 C:p",
         "sm_90 setp.{$cmp}{C:,.and,.or,.xor}.bf16x2 p p <- bf16x2 bf16x2 C:p"]

    /// `set d <- a, b [, c]`: 1.0 (float `to`) or all ones (integer `to`) where true, else 0.
    Set { "set", cmp: Cmp,
          /// How the result is combined with `c`.
          combine: Option<BoolOp>, ftz: bool = "ftz",
          /// Of `d`.
          to: Type,
          /// Of `a` and `b`.
          ty: Type }
        => computes(*ty, *ftz),
        ["set.{eq,ne,lt,le,gt,ge}{C:,.and,.or,.xor}.{D:u32,s32,f32}.{T:s16,s32,s64} D <- T T C:p",
         "set.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}{C:,.and,.or,.xor}.{D:u32,s32,f32}.{T:u16,u32,u64} D <- T T C:p",
         "set.{eq,ne}{C:,.and,.or,.xor}.{D:u32,s32,f32}.{T:$bits} D <- T T C:p",
         "set.{$cmp}{C:,.and,.or,.xor}{,.ftz}.{D:u32,s32,f32}.f32 D <- f32 f32 C:p",
         "set.{$cmp}{C:,.and,.or,.xor}.{D:u32,s32,f32}.f64 D <- f64 f64 C:p",
         "set.{$cmp}{C:,.and,.or,.xor}{,.ftz}.{D:f16,u16,s16,u32,s32}.f16 D <- f16 f16 C:p",
         "set.{$cmp}{C:,.and,.or,.xor}{,.ftz}.f16x2.f16x2 f16x2 <- f16x2 f16x2 C:p",
         "sm_90 set.{$cmp}{C:,.and,.or,.xor}.{D:bf16,u16,s16,u32,s32}.bf16 D <- bf16 bf16 C:p",
         "sm_90 set.{$cmp}{C:,.and,.or,.xor}.bf16x2.bf16x2 bf16x2 <- bf16x2 bf16x2 C:p"]

    /// `selp d <- a, b, p`: `a` where `p` holds.
    Selp { "selp", ty: Type }
        => bits().vector(*ty),
        ["selp.{T:$value} T <- T T p"]

    /// `slct d <- a, b, c`: `a` where `c >= 0`.
    Slct { "slct",
           /// Flush subnormals of `c`.
           ftz: bool = "ftz",
           /// Of `d`, `a`, `b`.
           ty: Type,
           /// Of `c`, `s32` or `f32`.
           by: Type }
        => computes(*by, *ftz),
        ["slct.{T:$value}.s32 T <- T T s32",
         "slct{,.ftz}.{T:$value}.f32 T <- T T f32"]

    // Bits --------------------------------------------------------------------------------------

    /// `and`, `or`, `xor`: `d <- a, b`.
    Logic { op: BoolOp, ty: Type }
        => bits().vector(*ty),
        ["{and,or,xor}.{T:$bits} T <- T T",
         "{and,or,xor}.pred p <- p p"]

    /// `not d <- a`.
    Not { "not", ty: Type }
        => bits().vector(*ty),
        ["not.{T:$bits} T <- T",
         "not.pred p <- p"]

    /// `cnot d <- a`: 1 where `a` is 0, else 0.
    Cnot { "cnot", ty: Type }
        => bits(),
        ["cnot.{T:$bits} T <- T"]

    /// `lop3 d[|p] <- a, b, c, table [, q]`: any function of three bits; `p = (d != 0) op q`.
    Lop3 { "lop3",
           /// With `p` and `q`.
           combine: Option<BoolOp>, "b32" }
        => bits(),
        ["lop3.b32 b32 <- b32 b32 b32 imm8",
         "sm_90 lop3.{or,and}.b32 b32 p <- b32 b32 b32 imm8 p"]

    /// `shl d <- a, b`: `b` is unsigned 32 bits and clamped to the width.
    Shl { "shl", ty: Type }
        => bits().vector(*ty),
        ["shl.{T:$bits} T <- T amount"]

    /// `shr d <- a, b`: arithmetic where `ty` is signed; `b` is clamped to the width.
    Shr { "shr", ty: Type }
        => bits().vector(*ty),
        ["shr.{T:$bits,$int} T <- T amount"]

    /// `shf d <- a, b, c`: the 64 bits `b:a` shifted; the high (left) or low (right) word of that.
    Shf { "shf",
          /// Left (true) or right.
          left: bool = "l" / "r",
          /// `c` is taken modulo 32 (true) or clamped to 32.
          wrap: bool = "wrap" / "clamp", "b32" }
        => bits().vector(Type::B32),
        ["shf.{l,r}.{wrap,clamp}.b32 b32 <- b32 b32 amount"]

    /// `popc d <- a`; `d` is 32 bits.
    Popc { "popc", ty: Type }
        => bits(),
        ["popc.{T:b32,b64} u32 <- T"]

    /// `clz d <- a`; `d` is 32 bits.
    Clz { "clz", ty: Type }
        => bits(),
        ["clz.{T:b32,b64} u32 <- T"]

    /// `bfind d <- a`: the highest set bit (of a negative signed value, the highest clear one), or all ones.
    Bfind { "bfind",
            /// The shift that would bring it to the top instead.
            shiftamt: bool = "shiftamt", ty: Type }
        => bits(),
        ["bfind{,.shiftamt}.{T:$word} u32 <- T"]

    /// `fns d <- mask, base, offset`: the `offset`-th set bit from `base`.
    Fns["fns", "b32"]
        => bits(),
        ["fns.b32 b32 <- b32 small small"]

    /// `brev d <- a`.
    Brev { "brev", ty: Type }
        => bits(),
        ["brev.{T:b32,b64} T <- T"]

    /// `bfe d <- a, position, length`.
    Bfe { "bfe", ty: Type }
        => bits(),
        ["bfe.{T:$word} T <- T amount amount"]

    /// `bfi d <- a, b, position, length`: the low bits of `a` inserted in `b`.
    Bfi { "bfi", ty: Type }
        => bits(),
        ["bfi.{T:b32,b64} T <- T T amount amount"]

    /// `bmsk d <- position, length`.
    Bmsk { "bmsk",
           /// Both are taken modulo 32 (true) or clamped to 32.
           wrap: bool = "wrap" / "clamp", "b32" }
        => bits(),
        ["bmsk.{clamp,wrap}.b32 b32 <- amount amount"]

    /// `prmt d <- a, b, selectors`.
    Prmt { "prmt", "b32",
           /// How bytes are picked.
           mode: Option<PrmtMode> }
        => bits(),
        ["prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16} b32 <- b32 b32 b32"]

    // Memory ------------------------------------------------------------------------------------

    /// `ld d <- [address] [, cache policy]`; `d` is a vector where `lanes > 1`.
    Ld("ld", access: Access)
        => loads(access),
        ["ld{$read,.mmio.relaxed.sys}{S:$in}{,.nc}{$load}{$evict}{P:,.L2::cache_hint}{$fetch}{L:$few}.{T:$memory} LxT <- [S] P:b64",
         "sm_100 ld{$read}{S:,.global}{,.nc}{$load}{$evict,$far}{P:,.L2::cache_hint}{$fetch}.v8.{T:b32,u32,s32,f32} 8xT <- [S] P:b64",
         "sm_100 ld{$read}{S:,.global}{,.nc}{$load}{$evict,$far}{P:,.L2::cache_hint}{$fetch}.v4.{T:b64,u64,s64,f64} 4xT <- [S] P:b64",
         "ld{$read,.mmio.relaxed.sys}{S:$in}{,.nc}{$load}{$evict}{P:,.L2::cache_hint}{$fetch}.b128 ~b128 <- [S] P:b64"]

    /// `st [address], a [, cache policy]`: sources `address, a`.
    St("st", access: Access)
        => changes().idempotent(),
        ["st{$write,.mmio.relaxed.sys}{S:$to}{$store}{$evict}{P:,.L2::cache_hint}{L:$few}.{T:$memory} <- [S]= LxT P:b64",
         "sm_100 st{$write}{S:,.global}{$store}{$evict,$far}{P:,.L2::cache_hint}.v8.{T:b32,u32,s32,f32} <- [S]= 8xT P:b64",
         "sm_100 st{$write}{S:,.global}{$store}{$evict,$far}{P:,.L2::cache_hint}.v4.{T:b64,u64,s64,f64} <- [S]= 4xT P:b64",
         "st{$write,.mmio.relaxed.sys}{S:$to}{$store}{$evict}{P:,.L2::cache_hint}.b128 <- [S]= ~b128 P:b64"]

    /// `ldu d <- [address]`: read-only for all threads of the warp.
    Ldu("ldu", access: Access)
        => loads(access),
        ["ldu{S:,.global}{L:$few}.{T:$memory} LxT <- [S]"]

    /// `atom d <- [address], b [, c] [, cache policy]`: for `cas`, `b` is compared and `c` stored.
    Atom("atom", atomic: Atomic)
        => atomic.facts(together()).observes_if(true).changes_if(true),
        ["atom{$sem}{$scope}{S:$atomic}.{and,or,xor}{P:,.L2::cache_hint}.{T:b32,b64} ~T <- [S]= ~T P:b64",
         "atom{$sem}{$scope}{S:$atomic}.exch{P:,.L2::cache_hint}.{T:b32,b64,b128} ~T <- [S]= ~T P:b64",
         "atom{$sem}{$scope}{S:$atomic}.cas.{T:b16,b32,b64,b128} ~T <- [S]= ~T ~T",
         "atom{$sem}{$scope}{S:$atomic}.{add,min,max}{P:,.L2::cache_hint}.{T:$word} ~T <- [S]= ~T P:b64",
         "atom{$sem}{$scope}{S:$atomic}.add{P:,.L2::cache_hint}{L:$few}.f32 Lxf32 <- [S]= Lxf32 P:b64",
         "atom{$sem}{$scope}{S:$atomic}.add{P:,.L2::cache_hint}.f64 ~f64 <- [S]= ~f64 P:b64",
         "atom{$sem}{$scope}{S:$atomic}.{add,min,max}.noftz{P:,.L2::cache_hint}{L:$lanes}.{T:$half} LxT <- [S]= LxT P:b64",
         "atom{$sem}{$scope}{S:$atomic}.{inc,dec}{P:,.L2::cache_hint}.u32 ~u32 <- [S]= ~u32 P:b64"]

    /// `red [address], b [, cache policy]`: sources `address, b`.
    Red("red", atomic: Atomic)
        => atomic.facts(changes()),
        ["red{,.relaxed,.release}{$scope}{S:$atomic}.{and,or,xor}{P:,.L2::cache_hint}.{T:b32,b64} <- [S]= ~T P:b64",
         "red{,.relaxed,.release}{$scope}{S:$atomic}.{add,min,max}{P:,.L2::cache_hint}.{T:$word} <- [S]= ~T P:b64",
         "red{,.relaxed,.release}{$scope}{S:$atomic}.add{P:,.L2::cache_hint}{L:$few}.f32 <- [S]= Lxf32 P:b64",
         "red{,.relaxed,.release}{$scope}{S:$atomic}.add{P:,.L2::cache_hint}.f64 <- [S]= ~f64 P:b64",
         "red{,.relaxed,.release}{$scope}{S:$atomic}.{add,min,max}.noftz{P:,.L2::cache_hint}{L:$lanes}.{T:$half} <- [S]= LxT P:b64",
         "red{,.relaxed,.release}{$scope}{S:$atomic}.{inc,dec}{P:,.L2::cache_hint}.u32 <- [S]= ~u32 P:b64"]

    /// `prefetch [address]`, `prefetchu`: a hint, which does nothing where there is no memory.
    Prefetch {
        /// The opcode with its modifiers, such as `prefetch.global.L2`.
        mnemonic: Box<str> }
        => controls().idempotent(),
        ["prefetch{,.global,.local}.{L1,L2} <- []",
         "prefetch.global.{L2::evict_last,L2::evict_normal} <- []",
         "prefetchu.L1 <- []"]

    /// `applypriority`, `discard [address], bytes`: a hint on memory.
    Discard {
        /// The opcode with its modifiers, such as `discard.global.L2`.
        mnemonic: Box<str> }
        => controls().idempotent(),
        ["applypriority{,.global}.L2::evict_normal <- [] u32",
         "discard{,.global}.L2 <- [] u32"]

    /// What orders nothing that this machine could reorder: `fence.proxy`, `griddepcontrol`, `setmaxnreg`, ….
    Hint {
        /// The opcode with its modifiers, such as `fence.proxy.async`.
        mnemonic: Box<str> }
        => controls(),
        ["fence.proxy.{alias,async,async.global,async.shared::cta,async.shared::cluster} <-",
         "sm_90 fence.proxy.tensormap::generic.release.{cta,cluster,gpu,sys} <-",
         "sm_90 fence.proxy.async::generic.{acquire,release}.sync_restrict::shared::{cta,cluster}.cluster <-",
         "sm_90 fence.mbarrier_init.release.cluster <-",
         "sm_90 griddepcontrol.{launch_dependents,wait} <-",
         "sm_90 setmaxnreg.{inc,dec}.sync.aligned.u32 <- u32"]

    /// `createpolicy d <- …`: how a cache is to treat an access; a value that other instructions only pass on.
    Createpolicy {
        /// The opcode with its modifiers.
        mnemonic: Box<str> }
        => opaque(),
        ["createpolicy.fractional.{$policy}{,.L2::evict_first,.L2::evict_unchanged}.b64 b64 <- f32?",
         "createpolicy.range{,.global}.{$policy}{,.L2::evict_first,.L2::evict_unchanged}.b64 b64 <- [] u32 u32",
         "createpolicy.cvt.L2.b64 b64 <- b64"]

    /// `mbarrier`: a barrier that lies in shared memory.
    Mbarrier(mbarrier: Mbarrier)
        => mbarrier.facts(),
        ["mbarrier.init{S:$own}.b64 <- [S]= u32",
         "mbarrier.inval{S:$own}.b64 <- [S]=",
         "mbarrier.{arrive,arrive_drop}{$arrival}{S:$shared}.b64 b64 <- [S]= u32?",
         "mbarrier.{arrive,arrive_drop}.{expect_tx,noComplete}{$arrival}{S:$shared}.b64 b64 <- [S]= u32",
         "sm_90 mbarrier.{expect_tx,complete_tx}{,.relaxed.cta,.relaxed.cluster}{S:$shared}.b64 <- [S]= u32",
         "mbarrier.test_wait{$wait}{S:$own}.b64 p <- [S] b64",
         "mbarrier.test_wait.parity{$wait}{S:$own}.b64 p <- [S] u32",
         "sm_90 mbarrier.try_wait{$wait}{S:$own}.b64 p <- [S] b64 u32?",
         "sm_90 mbarrier.try_wait.parity{$wait}{S:$own}.b64 p <- [S] u32 u32?",
         "mbarrier.pending_count.b64 u32 <- b64",
         "cp.async.mbarrier.arrive{,.noinc}{S:$own}.b64 <- [S]="]

    /// `cp.async [shared], [global], bytes [, source bytes]`: copies `bytes`; those after `source bytes` are zero.
    CpAsync { "cp", "async",
              /// `.ca` or `.cg`.
              cache: CacheOp, "shared", "global",
              /// Without effect on the result.
              hint: CacheWords,
              /// The last source is a predicate "ignore the source: write zeros" instead of a size.
              ignore: bool = "" }
        => changes().idempotent(),
        ["cp.async.{ca,cg}.shared.global{$fetch} <- [shared]= [global] u32 size|p?",
         "cp.async.{ca,cg}.shared.global.L2::cache_hint{$fetch} <- [shared]= [global] u32 b64",
         "cp.async.{ca,cg}.shared.global.L2::cache_hint{$fetch} <- [shared]= [global] u32 size|p b64"]

    /// `cp.async.commit_group`.
    CpAsyncCommit["cp", "async", "commit_group"]
        => controls().idempotent(),
        ["cp.async.commit_group <-"]

    /// `cp.async.wait_group n`: waits until at most `n` groups are pending.
    CpAsyncWaitGroup["cp", "async", "wait_group"]
        => controls().idempotent(),
        ["cp.async.wait_group <- imm8"]

    /// `cp.async.wait_all`.
    CpAsyncWaitAll["cp", "async", "wait_all"]
        => controls().idempotent(),
        ["cp.async.wait_all <-"]

    /// `alloca d <- size [, alignment]`: memory of the stack; `d` is an address in local space.
    Alloca { "alloca", ty: Type }
        => together().alone(),
        ["alloca.{T:u32,u64} T <- T u32?"]

    /// `stacksave d`.
    Stacksave { "stacksave", ty: Type }
        => together().alone(),
        ["stacksave.{T:u32,u64} T <-"]

    /// `stackrestore a`.
    Stackrestore { "stackrestore", ty: Type }
        => controls().alone(),
        ["stackrestore.{T:u32,u64} <- T"]

    // Threads together --------------------------------------------------------------------------

    /// `bar.sync id [, threads]`, `bar.arrive id, threads`, `bar.red d <- id [, threads], predicate`.
    Bar {
        /// All threads of a warp run it together (`bar`, `barrier.….aligned`).
        aligned: bool = "bar" / "barrier", kind: BarKind }
        => kind.facts(),
        ["{bar,barrier}.sync <- small small?",
         "{bar,barrier}.arrive <- small small",
         "{bar,barrier}.red.popc.u32 u32 <- small p",
         "{bar,barrier}.red.popc.u32 u32 <- small small p",
         "{bar,barrier}.red.{and,or}.pred p <- small p",
         "{bar,barrier}.red.{and,or}.pred p <- small small p"]

    /// `bar.warp.sync mask`.
    BarWarpSync["bar", "warp", "sync"]
        => controls().waits(WarpOp::Sync),
        ["bar.warp.sync <- b32"]

    /// `shfl.sync d[|p] <- a, b, c [, mask]`; without `mask` the old `shfl`.
    Shfl { "shfl",
           /// `.sync`, with `mask`.
           sync: bool = "sync", mode: ShflMode, "b32" }
        => together().waits_if(*sync, WarpOp::Shfl(*mode)),
        ["shfl.sync.{up,down,bfly,idx}.b32 b32 p? <- b32 amount amount b32",
         "shfl.{up,down,bfly,idx}.b32 b32 p? <- b32 amount amount"]

    /// `vote.sync d <- predicate [, mask]`; the predicate may be
    /// [`Operand::Not`](crate::ptx::operand::Operand::Not).
    Vote { "vote",
           /// `.sync`, with `mask`.
           sync: bool = "sync", mode: VoteMode }
        => together().waits_if(*sync, WarpOp::Vote(*mode)),
        ["vote.sync.{all,any,uni}.pred p <- p b32",
         "vote.sync.ballot.b32 b32 <- p b32",
         "vote.{all,any,uni}.pred p <- p",
         "vote.ballot.b32 b32 <- p"]

    /// `match.any.sync d <- a, mask`, `match.all.sync d[|p] <- a, mask`.
    Match { "match",
            /// `.all` (true) or `.any`.
            all: bool = "all" / "any", "sync", ty: Type }
        => together().waits(WarpOp::Match { all: *all }),
        ["match.any.sync.{T:b32,b64} b32 <- T b32",
         "match.all.sync.{T:b32,b64} b32 p? <- T b32"]

    /// `activemask d`.
    Activemask["activemask", "b32"]
        => together().waits(WarpOp::Activemask),
        ["activemask.b32 b32 <-"]

    /// `redux.sync d <- a, mask`.
    Redux { "redux", "sync",
            /// What is computed.
            op: AtomOp,
            /// `f32`: of absolute values.
            abs: bool = "abs",
            /// `f32`: NaN wins.
            nan: bool = "NaN", ty: Type }
        => together().floats(*ty, false).waits(WarpOp::Redux(*op, *ty)),
        ["redux.sync.{add,min,max}.{T:u32,s32} T <- T b32",
         "redux.sync.{and,or,xor}.b32 b32 <- b32 b32",
         "sm_100 redux.sync.{min,max}{,.abs}{,.NaN}.f32 f32 <- f32 b32"]

    /// `elect.sync d|p <- mask`.
    Elect["elect", "sync"]
        => together().waits(WarpOp::Elect),
        ["sm_90 elect.sync b32 p <- b32"]

    /// `membar`.
    Membar { "membar",
             /// Whose view.
             level: MembarLevel }
        => controls().idempotent().observes_if(true),
        ["membar.{cta,gl,sys} <-"]

    /// `fence`.
    Fence { "fence",
            /// What it orders; none: `.acq_rel`.
            order: Option<Order>,
            /// Whose view.
            scope: Scope }
        => controls().idempotent().observes_if(true),
        ["fence{,.sc,.acq_rel}.{cta,gpu,sys} <-",
         "sm_90 fence{,.sc,.acq_rel,.acquire,.release}.{cta,cluster,gpu,sys} <-"]

    // Matrices ----------------------------------------------------------------------------------

    /// `ldmatrix d <- [address]`: 8 by 8 halves or several of that; thread 8i + r gives the address of row r of the
    /// i-th.
    Ldmatrix("ldmatrix", "sync", "aligned", "m8n8", tiles: Tiles, "b16")
        => MatrixOp::LoadTiles(*tiles).facts(),
        ["ldmatrix.sync.aligned.m8n8.x1{,.trans}{S:$own}.b16 1xb32 <- [S]",
         "ldmatrix.sync.aligned.m8n8.x2{,.trans}{S:$own}.b16 2xb32 <- [S]",
         "ldmatrix.sync.aligned.m8n8.x4{,.trans}{S:$own}.b16 4xb32 <- [S]"]

    /// `stmatrix [address], a`: sources `address, a`.
    Stmatrix("stmatrix", "sync", "aligned", "m8n8", tiles: Tiles, "b16")
        => MatrixOp::StoreTiles(*tiles).facts(),
        ["sm_90 stmatrix.sync.aligned.m8n8.x1{,.trans}{S:$own}.b16 <- [S]= 1xb32",
         "sm_90 stmatrix.sync.aligned.m8n8.x2{,.trans}{S:$own}.b16 <- [S]= 2xb32",
         "sm_90 stmatrix.sync.aligned.m8n8.x4{,.trans}{S:$own}.b16 <- [S]= 4xb32"]

    /// `movmatrix d <- a`: 8 by 8 halves, transposed.
    Movmatrix["movmatrix", "sync", "aligned", "m8n8", "trans", "b16"]
        => MatrixOp::Transpose.facts(),
        ["movmatrix.sync.aligned.m8n8.trans.b16 b32 <- b32"]

    /// `wmma.load d <- [address] [, stride]`: one of the three matrices.
    WmmaLoad("wmma", "load", access: MatrixAccess)
        => MatrixOp::Load(*access).facts(),
        ["wmma.load.{a,b}.sync.aligned.{row,col}.{$wmma}{S:$near}.f16 8xb32 <- [S] b32?",
         "wmma.load.{a,b}.sync.aligned.{row,col}.m16n16k16{S:$near}.bf16 4xb32 <- [S] b32?",
         "wmma.load.{a,b}.sync.aligned.{row,col}.m16n16k16{S:$near}.{s8,u8} 2xb32 <- [S] b32?",
         "wmma.load.a.sync.aligned.{row,col}.m8n32k16{S:$near}.bf16 2xb32 <- [S] b32?",
         "wmma.load.a.sync.aligned.{row,col}.m8n32k16{S:$near}.{s8,u8} 1xb32 <- [S] b32?",
         "wmma.load.b.sync.aligned.{row,col}.m8n32k16{S:$near}.bf16 8xb32 <- [S] b32?",
         "wmma.load.b.sync.aligned.{row,col}.m8n32k16{S:$near}.{s8,u8} 4xb32 <- [S] b32?",
         "wmma.load.a.sync.aligned.{row,col}.m32n8k16{S:$near}.bf16 8xb32 <- [S] b32?",
         "wmma.load.a.sync.aligned.{row,col}.m32n8k16{S:$near}.{s8,u8} 4xb32 <- [S] b32?",
         "wmma.load.b.sync.aligned.{row,col}.m32n8k16{S:$near}.bf16 2xb32 <- [S] b32?",
         "wmma.load.b.sync.aligned.{row,col}.m32n8k16{S:$near}.{s8,u8} 1xb32 <- [S] b32?",
         "wmma.load.{a,b}.sync.aligned.{row,col}.m16n16k8{S:$near}.tf32 4xb32 <- [S] b32?",
         "wmma.load.{a,b}.sync.aligned.{row,col}.m8n8k4{S:$near}.f64 1xf64 <- [S] b32?",
         "wmma.load.a.sync.aligned.row.m8n8k32{S:$near}.{s4,u4} 1xb32 <- [S] b32?",
         "wmma.load.b.sync.aligned.col.m8n8k32{S:$near}.{s4,u4} 1xb32 <- [S] b32?",
         "wmma.load.a.sync.aligned.row.m8n8k128{S:$near}.b1 1xb32 <- [S] b32?",
         "wmma.load.b.sync.aligned.col.m8n8k128{S:$near}.b1 1xb32 <- [S] b32?",
         "wmma.load.c.sync.aligned.{row,col}.{$wmma}{S:$near}.f16 4xb32 <- [S] b32?",
         "wmma.load.c.sync.aligned.{row,col}.{$wmma,m16n16k8}{S:$near}.f32 8xf32 <- [S] b32?",
         "wmma.load.c.sync.aligned.{row,col}.{$wmma}{S:$near}.s32 8xs32 <- [S] b32?",
         "wmma.load.c.sync.aligned.{row,col}.m8n8k4{S:$near}.f64 2xf64 <- [S] b32?",
         "wmma.load.c.sync.aligned.{row,col}.{m8n8k32,m8n8k128}{S:$near}.s32 2xs32 <- [S] b32?"]

    /// `wmma.store [address], a [, stride]`: sources `address, a`, and the stride.
    WmmaStore("wmma", "store", access: MatrixAccess)
        => MatrixOp::Store(*access).facts(),
        ["wmma.store.d.sync.aligned.{row,col}.{$wmma}{S:$near}.f16 <- [S]= 4xb32 b32?",
         "wmma.store.d.sync.aligned.{row,col}.{$wmma,m16n16k8}{S:$near}.f32 <- [S]= 8xf32 b32?",
         "wmma.store.d.sync.aligned.{row,col}.{$wmma}{S:$near}.s32 <- [S]= 8xs32 b32?",
         "wmma.store.d.sync.aligned.{row,col}.m8n8k4{S:$near}.f64 <- [S]= 2xf64 b32?",
         "wmma.store.d.sync.aligned.{row,col}.{m8n8k32,m8n8k128}{S:$near}.s32 <- [S]= 2xs32 b32?"]

    /// `mma d <- a, b, c`, `wmma.mma d <- a, b, c`: `d = a * b + c`.
    Mma(product: Product)
        => MatrixOp::Multiply(*product).facts(),
        ["mma.sync.aligned.m8n8k4.{row,col}.{row,col}.f16.f16.f16.f16 4xb32 <- 2xb32 2xb32 4xb32",
         "mma.sync.aligned.m8n8k4.{row,col}.{row,col}.f32.f16.f16.f16 8xf32 <- 2xb32 2xb32 4xb32",
         "mma.sync.aligned.m8n8k4.{row,col}.{row,col}.f32.f16.f16.f32 8xf32 <- 2xb32 2xb32 8xf32",
         "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 2xb32 <- 2xb32 1xb32 2xb32",
         "mma.sync.aligned.m16n8k8.row.col.f32.{f16.f16,bf16.bf16}.f32 4xf32 <- 2xb32 1xb32 4xf32",
         "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 2xb32 <- 4xb32 2xb32 2xb32",
         "mma.sync.aligned.m16n8k16.row.col.f32.{f16.f16,bf16.bf16}.f32 4xf32 <- 4xb32 2xb32 4xf32",
         "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 4xf32 <- 2xb32 1xb32 4xf32",
         "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 4xf32 <- 4xb32 2xb32 4xf32",
         "sm_89 mma.sync.aligned.m16n8k32.row.col.f32.{e4m3,e5m2}.{e4m3,e5m2}.f32 4xf32 <- 4xb32 2xb32 4xf32",
         "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 2xf64 <- 1xf64 1xf64 2xf64",
         "sm_90 mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 4xf64 <- 2xf64 1xf64 4xf64",
         "sm_90 mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 4xf64 <- 4xf64 2xf64 4xf64",
         "sm_90 mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 4xf64 <- 8xf64 4xf64 4xf64",
         "mma.sync.aligned.m8n8k16.row.col{,.satfinite}.s32.{s8,u8}.{s8,u8}.s32 2xs32 <- 1xb32 1xb32 2xs32",
         "mma.sync.aligned.m16n8k16.row.col{,.satfinite}.s32.{s8,u8}.{s8,u8}.s32 4xs32 <- 2xb32 1xb32 4xs32",
         "mma.sync.aligned.m16n8k32.row.col{,.satfinite}.s32.{s8,u8}.{s8,u8}.s32 4xs32 <- 4xb32 2xb32 4xs32",
         "mma.sync.aligned.m8n8k32.row.col{,.satfinite}.s32.{s4,u4}.{s4,u4}.s32 2xs32 <- 1xb32 1xb32 2xs32",
         "mma.sync.aligned.m16n8k32.row.col{,.satfinite}.s32.{s4,u4}.{s4,u4}.s32 4xs32 <- 2xb32 1xb32 4xs32",
         "mma.sync.aligned.m16n8k64.row.col{,.satfinite}.s32.{s4,u4}.{s4,u4}.s32 4xs32 <- 4xb32 2xb32 4xs32",
         "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.{xor,and}.popc 2xs32 <- 1xb32 1xb32 2xs32",
         "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.{xor,and}.popc 4xs32 <- 2xb32 1xb32 4xs32",
         "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.{xor,and}.popc 4xs32 <- 4xb32 2xb32 4xs32",
         "wmma.mma.sync.aligned.{row,col}.{row,col}.{$wmma}.f16.f16 4xb32 <- 8xb32 8xb32 4xb32",
         "wmma.mma.sync.aligned.{row,col}.{row,col}.{$wmma}.f16.f32 4xb32 <- 8xb32 8xb32 8xf32",
         "wmma.mma.sync.aligned.{row,col}.{row,col}.{$wmma}.f32.f16 8xf32 <- 8xb32 8xb32 4xb32",
         "wmma.mma.sync.aligned.{row,col}.{row,col}.{$wmma}.f32.f32 8xf32 <- 8xb32 8xb32 8xf32",
         "wmma.mma.sync.aligned.{row,col}.{row,col}.m16n16k16.f32.bf16.bf16.f32 8xf32 <- 4xb32 4xb32 8xf32",
         "wmma.mma.sync.aligned.{row,col}.{row,col}.m8n32k16.f32.bf16.bf16.f32 8xf32 <- 2xb32 8xb32 8xf32",
         "wmma.mma.sync.aligned.{row,col}.{row,col}.m32n8k16.f32.bf16.bf16.f32 8xf32 <- 8xb32 2xb32 8xf32",
         "wmma.mma.sync.aligned.{row,col}.{row,col}.m16n16k8.f32.tf32.tf32.f32 8xf32 <- 4xb32 4xb32 8xf32",
         "wmma.mma.sync.aligned.{row,col}.{row,col}.m8n8k4{$rnd}.f64.f64.f64.f64 2xf64 <- 1xf64 1xf64 2xf64",
         "wmma.mma.sync.aligned.{row,col}.{row,col}.m16n16k16.s32.{s8.s8,u8.u8}.s32{,.satfinite} 8xs32 <- 2xb32 2xb32 8xs32",
         "wmma.mma.sync.aligned.{row,col}.{row,col}.m8n32k16.s32.{s8.s8,u8.u8}.s32{,.satfinite} 8xs32 <- 1xb32 4xb32 8xs32",
         "wmma.mma.sync.aligned.{row,col}.{row,col}.m32n8k16.s32.{s8.s8,u8.u8}.s32{,.satfinite} 8xs32 <- 4xb32 1xb32 8xs32",
         "wmma.mma.sync.aligned.row.col.m8n8k32.s32.{s4.s4,u4.u4}.s32{,.satfinite} 2xs32 <- 1xb32 1xb32 2xs32",
         "wmma.mma.{xor,and}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 2xs32 <- 1xb32 1xb32 2xs32"]

    // Control -----------------------------------------------------------------------------------

    /// `bra label`.
    Bra { "bra",
          /// All threads of the warp agree.
          uni: bool = "uni" }
        => controls().goes(Next::Branches),
        ["bra{,.uni} <- label"]

    /// `brx.idx index, table`.
    BrxIdx { "brx", "idx",
             /// All threads of the warp agree.
             uni: bool = "uni" }
        => controls().goes(Next::BranchesByTable),
        ["brx.idx{,.uni} <- u32 table"]

    /// `call (returns) <- target, arguments`: the first source is a function or a register with its address; returns
    /// and arguments are `.param` locals (as [`Operand::Symbol`](crate::ptx::operand::Operand::Symbol)),
    /// registers or constants.
    Call { "call",
           /// All threads of the warp agree.
           uni: bool = "uni",
           /// For an indirect call, an index into [`Body::prototypes`](crate::ptx::ast::Body::prototypes).
           prototype: Option<u32> }
        => anything(),
        ["call{,.uni} <- call"]

    /// `ret`.
    Ret { "ret",
          /// All threads of the warp agree.
          uni: bool = "uni" }
        => controls().goes(Next::Returns),
        ["ret{,.uni} <-"]

    /// `exit`.
    Exit["exit"] => controls().goes(Next::Exits), ["exit <-"]

    /// `trap`.
    Trap["trap"] => controls().goes(Next::Traps), ["trap <-"]

    /// `brkpt`.
    Brkpt["brkpt"] => controls().idempotent(), ["brkpt <-"]

    /// `nanosleep a`.
    Nanosleep["nanosleep", "u32"]
        => controls().idempotent().observes_if(true),
        ["nanosleep.u32 <- small"]

    /// `pmevent a`.
    Pmevent { "pmevent",
              /// `a` is a mask.
              mask: bool = "mask" }
        => controls().idempotent(),
        ["pmevent{,.mask} <- imm8"]

    // Images ------------------------------------------------------------------------------------

    /// `tex d[|p] <- handle [, sampler], coordinates [, lod | dx, dy] [, offset] [, depth]`; `d` is a vector,
    /// coordinates are a vector or one register, offsets a vector, depth an `f32`.
    Tex("tex", tex: Tex)
        => images().in_brackets(tex.in_brackets()),
        ["tex{,.base}.{$texture}.v4.{T:$texel}.{s32,f32} 4xT p? <- ptr xyz xyz? xyz?",
         "tex{,.base}.{$texture}.v4.{T:$texel}.{s32,f32} 4xT p? <- ptr ptr xyz xyz? xyz?",
         "tex.level.{$texture}.v4.{T:$texel}.{s32,f32} 4xT p? <- ptr xyz xyz xyz? xyz?",
         "tex.level.{$texture}.v4.{T:$texel}.{s32,f32} 4xT p? <- ptr ptr xyz xyz xyz? xyz?",
         "tex.grad.{$texture}.v4.{T:$texel}.{s32,f32} 4xT p? <- ptr xyz xyz xyz xyz? xyz?",
         "tex.grad.{$texture}.v4.{T:$texel}.{s32,f32} 4xT p? <- ptr ptr xyz xyz xyz xyz? xyz?",
         "tex{,.base}.{2dms,a2dms}.v4.{T:$texel}.s32 4xT p? <- ptr xyz xyz?",
         "tex{,.base}.{$texture}.v4.f16.{s32,f32} 4xf16 p? <- ptr xyz xyz? xyz?",
         "tex{,.base}.{$texture}.v2.f16x2.{s32,f32} 2xf16x2 p? <- ptr xyz xyz? xyz?"]

    /// `tld4 d[|p] <- handle [, sampler], coordinates [, offset] [, depth]`: one component of the four texels.
    Tld4 { "tld4",
           /// Which component.
           component: Component,
           /// The texture and the types.
           tex: Tex }
        => images().in_brackets(tex.in_brackets()),
        ["tld4.{r,g,b,a}.{2d,a2d,cube,acube}.v4.{T:$texel}.f32 4xT p? <- ptr xyz xyz? xyz?",
         "tld4.{r,g,b,a}.{2d,a2d,cube,acube}.v4.{T:$texel}.f32 4xT p? <- ptr ptr xyz xyz? xyz?"]

    /// `txq d <- handle [, level]`.
    Txq { "txq",
          /// With a level.
          level: bool = "level",
          /// What is asked.
          query: Query, ty: Type }
        => bits().in_brackets(1),
        ["txq.{$query}.b32 ~b32 <- ptr",
         "txq.level.{width,height,depth}.b32 ~b32 <- ptr u32"]

    /// `suq d <- handle`.
    Suq { "suq",
          /// What is asked.
          query: Query, ty: Type }
        => bits().in_brackets(1),
        ["suq.{width,height,depth,array_size,channel_data_type,channel_order}.b32 ~b32 <- ptr"]

    /// `suld.b d <- handle, coordinates`: `x` in bytes.
    Suld("suld", surface: Surface)
        => images(),
        ["suld.b.{$surface}{,.ca,.cg,.cs,.cv}{L:$few}.{T:b8,b16,b32}{$clamp} LxT <- ptr xyz",
         "suld.b.{$surface}{,.ca,.cg,.cs,.cv}{L:,.v2}.b64{$clamp} Lxb64 <- ptr xyz"]

    /// `sust handle, coordinates, a`: with `.b`, `x` in bytes.
    Sust("sust", surface: Surface)
        => images().changes_if(true),
        ["sust.b.{$surface}{$store}{L:$few}.{T:b8,b16,b32}{$clamp} <- ptr xyz LxT",
         "sust.b.{$surface}{$store}{L:,.v2}.b64{$clamp} <- ptr xyz Lxb64",
         "sust.p.{$surface}{$store}{L:$few}.b32{$clamp} <- ptr xyz Lxb32"]

    /// `sured handle, coordinates, a`.
    Sured("sured", reduction: SurfaceReduction)
        => images().changes_if(true),
        ["sured.b.{add,min,max}.{1d,2d,3d}.{T:u32,u64,s32,s64}{$clamp} <- ptr xyz ~T",
         "sured.b.{and,or}.{1d,2d,3d}.b32{$clamp} <- ptr xyz ~b32",
         "sured.p.{add,min,max,and,or}.{1d,2d,3d}.b32{$clamp} <- ptr xyz ~b32"]

    // The rest ----------------------------------------------------------------------------------

    /// PTX that is not interpreted: clusters, bulk copies, matrices of warp groups, …, and what has no form above. The
    /// operands are kept as written (all in `src`, except a first register or vector of registers, which is taken as
    /// the destination), so that it prints back. The forms are the opcodes of PTX that have no row.
    Unsupported {
        /// The opcode with its modifiers.
        mnemonic: Box<str> }
        => anything(),
        ["wgmma", "tcgen05", "tensormap", "mapa", "getctarank", "multimem", "istypep", "clusterlaunchcontrol"]
}
