//! What each operation becomes: all of them by name, those of a family in its file.

use cranelift_codegen::ir::{InstBuilder, types};

use super::{EXITED, Lower, Step, Unsupported, integer::Comparison};
use crate::ptx::{
    inst::{Instruction, Op},
    modifier::Half,
    types::Type,
    video::Video,
};

impl Lower<'_, '_> {
    pub(super) fn operation(&mut self, i: &Instruction) -> Step {
        if let Some((op, ty)) = i.op.float() {
            let value = self.float(i, op, ty)?;
            return self.set(i, value);
        }
        let value = match &i.op {
            Op::Mov { ty, lanes: _ } => return self.mov(i, *ty),
            Op::Cvta { to_generic, space, ty } => self.cvta(i, *to_generic, *space, *ty)?,
            Op::Isspacep { space } => self.isspacep(i, *space)?,
            Op::Cvt(cvt) => return self.convert(i, cvt),
            Op::CvtPack { to, from: _, merge } => self.packed(i, *to, merge.is_some())?,
            // Integers, whose modes are those of the carry flag and of saturation alone, if any.
            Op::Add { ty, mode, carry } => self.sum(i, *ty, (*mode, *carry), true)?,
            Op::Sub { ty, mode, carry } => self.sum(i, *ty, (*mode, *carry), false)?,
            Op::Mul { ty, half, mode: _ } => self.multiply(i, *ty, half.unwrap_or(Half::Lo))?,
            Op::Mad { ty, half, mode, carry } => {
                self.multiply_add(i, *ty, half.unwrap_or(Half::Lo), *mode, *carry)?
            }
            Op::Mul24 { ty, half } => {
                let [a, b] = self.sources(i, *ty)?;
                self.product24(a, b, *ty, *half)
            }
            Op::Mad24 { ty, half, sat } => self.multiply_add24(i, *ty, *half, *sat)?,
            Op::Div { ty, accuracy: _, mode: _ } => self.divide(i, *ty, true)?,
            Op::Rem { ty } => self.divide(i, *ty, false)?,
            Op::Abs { ty, ftz: _ } => {
                let a = self.source(i, 0, *ty)?;
                self.b.ins().iabs(a)
            }
            Op::Neg { ty, ftz: _ } => {
                let a = self.source(i, 0, *ty)?;
                self.b.ins().ineg(a)
            }
            Op::Min(m) => self.int_min_max(i, *m, true)?,
            Op::Max(m) => self.int_min_max(i, *m, false)?,
            Op::Sad { ty } => self.sum_of_difference(i, *ty)?,
            Op::Dp4a { a, b } => self.dot(i, [*a, *b], 4, false)?,
            Op::Dp2a { a, b, high } => self.dot(i, [*a, *b], 2, *high)?,
            Op::Simd(simd) => self.video(i, &Video::from(*simd))?,
            Op::Video(video) => self.video(i, video)?,
            // Floating-point numbers only.
            Op::Fma { .. } | Op::Rcp { .. } | Op::Sqrt { .. } => {
                return Err(Unsupported::Operation);
            }
            Op::Approx { .. } | Op::Copysign { .. } | Op::Testp { .. } => {
                return Err(Unsupported::Operation);
            }
            // Comparison and selection.
            Op::Setp { cmp, combine, ty, ftz } => {
                return self.setp(i, *combine, Comparison { cmp: *cmp, ty: *ty, ftz: *ftz });
            }
            Op::Set { cmp, combine, to, ty, ftz } => {
                self.set_value(i, *combine, *to, Comparison { cmp: *cmp, ty: *ty, ftz: *ftz })?
            }
            Op::Selp { ty } => {
                let [a, b] = self.sources(i, *ty)?;
                let p = self.source(i, 2, Type::Pred)?;
                self.b.ins().select(p, a, b)
            }
            Op::Slct { ty, by, ftz } => self.select_by_sign(i, *ty, *by, *ftz)?,
            // Bits.
            Op::Logic { op, ty } => {
                let [a, b] = self.sources(i, *ty)?;
                self.logic(*op, a, b)
            }
            Op::Not { ty } => self.not(i, *ty)?,
            Op::Cnot { ty } => self.is_zero(i, *ty)?,
            Op::Lop3 { combine } => return self.lop3(i, *combine),
            Op::Shl { ty } => self.shift(i, *ty, true)?,
            Op::Shr { ty } => self.shift(i, *ty, false)?,
            Op::Shf { left, wrap } => self.funnel(i, *left, *wrap)?,
            Op::Popc { ty } => {
                let a = self.source(i, 0, *ty)?;
                let count = self.b.ins().popcnt(a);
                self.fit(count, types::I32)
            }
            Op::Clz { ty } => {
                let a = self.source(i, 0, *ty)?;
                let count = self.b.ins().clz(a);
                self.fit(count, types::I32)
            }
            Op::Bfind { ty, shiftamt } => self.find(i, *ty, *shiftamt)?,
            Op::Fns => {
                let [mask, base, offset] = self.sources(i, Type::B32)?;
                self.host("warpaint_fns", &[mask, base, offset], types::I32)?
            }
            Op::Brev { ty } => {
                let a = self.source(i, 0, *ty)?;
                self.b.ins().bitrev(a)
            }
            Op::Bfe { ty } => self.extract(i, *ty)?,
            Op::Bfi { ty } => self.insert(i, *ty)?,
            Op::Bmsk { wrap } => self.mask(i, *wrap)?,
            Op::Prmt { mode } => self.permute(i, *mode)?,
            Op::Szext { wrap, ty } => self.extend_low(i, *wrap, *ty)?,
            // Memory.
            Op::Ld(access) | Op::Ldu(access) => return self.load_access(i, access),
            Op::St(access) => return self.store_access(i, access),
            Op::Atom(atomic) | Op::Red(atomic) => return self.atomic(i, atomic),
            Op::Prefetch { mnemonic: _ } | Op::Discard { mnemonic: _ } => return Ok(()),
            Op::Hint { mnemonic: _ } => return Ok(()),
            Op::Createpolicy { mnemonic: _ } => self.b.ins().iconst(types::I64, 0),
            Op::Mbarrier(mbarrier) => return self.mbarrier(i, mbarrier),
            Op::CpAsync { ignore, cache: _, hint: _ } => return self.copy_to_shared(i, *ignore),
            // Such copies are done at once.
            Op::CpAsyncCommit | Op::CpAsyncWaitGroup | Op::CpAsyncWaitAll => return Ok(()),
            Op::Alloca { .. } | Op::Stacksave { .. } | Op::Stackrestore { .. } => {
                return Err(Unsupported::Operation);
            }
            // The host's fence is for all, and orders everything.
            Op::Membar { level: _ } | Op::Fence { order: _, scope: _ } => {
                self.b.ins().fence();
                return Ok(());
            }
            // Threads together: whoever waits comes here only where that is not possible.
            Op::Bar { aligned: _, kind: _ } => return self.arrive(i),
            Op::BarWarpSync | Op::Shfl { .. } | Op::Vote { .. } => {
                return Err(Unsupported::Operation);
            }
            Op::Match { .. } | Op::Activemask | Op::Redux { .. } | Op::Elect => {
                return Err(Unsupported::Operation);
            }
            Op::Ldmatrix(_) | Op::Stmatrix(_) | Op::Movmatrix | Op::WmmaLoad(_) => {
                return Err(Unsupported::Operation);
            }
            Op::WmmaStore(_) | Op::Mma(_) => return Err(Unsupported::Operation),
            // Control.
            Op::Bra { uni: _ } => return self.branch(i),
            Op::BrxIdx { uni: _ } => return self.branch_by_table(i),
            Op::Call { uni: _, prototype: _ } => return self.call(i),
            Op::Ret { uni: _ } => {
                self.leave(0);
                return Ok(());
            }
            Op::Exit => {
                self.leave(EXITED);
                return Ok(());
            }
            Op::Trap => {
                self.trap();
                return Ok(());
            }
            // Nobody listens.
            Op::Brkpt | Op::Pmevent { mask: _ } => return Ok(()),
            // Its turn is over soon all the same, where it is in a loop.
            Op::Nanosleep => {
                self.forget_loads();
                return Ok(());
            }
            // Images.
            Op::Tex(tex) => return self.fetch(i, tex, None),
            Op::Tld4 { component, tex } => return self.fetch(i, tex, Some(*component as u8)),
            Op::Txq { query, level: _, ty: _ } => return self.query(i, *query, "warpaint_txq"),
            Op::Suq { query, ty: _ } => return self.query(i, *query, "warpaint_suq"),
            Op::Suld(surface) => return self.surface_load(i, surface),
            Op::Sust(surface) => return self.surface_store(i, surface),
            Op::Sured(_) | Op::Unsupported { .. } => return Err(Unsupported::Operation),
        };
        self.set(i, value)
    }
}
