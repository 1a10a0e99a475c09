//! An [`Op`] to its opcode with modifiers, in the order in which the PTX ISA writes them.

use super::super::inst::Op;
use super::super::modifier::*;
use super::super::types::{Scope, Space, Type};
use super::super::video::{Second, VideoOp};

/// The opcode with its modifiers, such as `ld.global.v4.f32`.
pub(super) fn mnemonic(op: &Op) -> String {
    let mut text = Text(String::with_capacity(24));
    write(op, &mut text);
    text.0
}

/// What is written so far.
struct Text(String);

impl Text {
    fn start(&mut self, opcode: &str) -> &mut Self {
        self.0.push_str(opcode);
        self
    }

    fn word(&mut self, word: &str) -> &mut Self {
        if !word.is_empty() {
            self.0.push('.');
            self.0.push_str(word);
        }
        self
    }

    fn flag(&mut self, set: bool, word: &str) -> &mut Self {
        if set { self.word(word) } else { self }
    }

    fn ty(&mut self, ty: Type) -> &mut Self {
        self.word(ty.text())
    }

    fn lanes(&mut self, lanes: u8) -> &mut Self {
        match lanes {
            0 | 1 => self,
            lanes => self.word(&format!("v{lanes}")),
        }
    }

    fn mode(&mut self, mode: Mode) -> &mut Self {
        self.word(mode.rounding.map_or("", Rounding::text))
            .flag(mode.ftz, "ftz")
            .flag(mode.sat, "sat")
    }

    fn space(&mut self, space: Option<Space>) -> &mut Self {
        self.word(space.map_or("", Space::text))
    }

    fn order(&mut self, order: Option<Order>, scope: Option<Scope>) -> &mut Self {
        self.word(order.map_or("", Order::text));
        self.flag(order == Some(Order::Mmio), "relaxed").word(scope.map_or("", Scope::text))
    }

    fn wrap(&mut self, wrap: bool) -> &mut Self {
        self.word(if wrap { "wrap" } else { "clamp" })
    }

    fn access(&mut self, opcode: &str, access: &Access) {
        self.start(opcode).order(access.order, access.scope).space(access.space);
        self.flag(access.nc, "nc").word(access.cache.op.map_or("", CacheOp::text));
        self.word(access.cache.words.as_deref().unwrap_or(""));
        self.flag(access.unified, "unified").lanes(access.lanes).ty(access.ty);
    }

    fn atomic(&mut self, opcode: &str, atomic: &Atomic) {
        self.start(opcode).order(atomic.order, atomic.scope).space(atomic.space);
        self.word(atomic.op.text()).flag(atomic.noftz, "noftz");
        self.word(atomic.cache.op.map_or("", CacheOp::text));
        self.word(atomic.cache.words.as_deref().unwrap_or(""));
        self.lanes(atomic.lanes).ty(atomic.ty);
    }

    fn min_max(&mut self, opcode: &str, op: &MinMax) {
        self.start(opcode).flag(op.ftz, "ftz").flag(op.nan, "NaN");
        self.flag(op.xorsign_abs, "xorsign.abs");
        // `min.relu.s32`, `min.s16x2.relu`: the words stand before the type for all types that drivers accept.
        self.flag(op.relu, "relu").ty(op.ty);
    }

    fn surface(&mut self, surface: &Surface) {
        self.word(surface.geometry.text()).word(surface.cache.map_or("", CacheOp::text));
        self.lanes(surface.lanes).ty(surface.ty).word(surface.clamp.map_or("", Clamp::text));
    }

    fn tex(&mut self, tex: &Tex) {
        self.word(tex.mip.text()).word(tex.geometry.text()).lanes(tex.lanes);
        self.ty(tex.to).ty(tex.coord);
    }

    fn cvt(&mut self, cvt: &Cvt) {
        self.start("cvt").word(cvt.integer.map_or("", IntRounding::text));
        self.word(cvt.rounding.map_or("", Rounding::text)).flag(cvt.ftz, "ftz");
        self.flag(cvt.sat, "sat").flag(cvt.relu, "relu").flag(cvt.satfinite, "satfinite");
        self.ty(cvt.to).ty(cvt.from);
    }
}

fn form(surface: &Surface) -> &'static str {
    if surface.formatted { "p" } else { "b" }
}

/// `add`, `addc`, `add.cc`, `addc.cc`.
fn carried(text: &mut Text, opcode: &str, carry: Carry) {
    text.start(opcode);
    if carry.read {
        text.0.push('c');
    }
}

fn write(op: &Op, text: &mut Text) {
    match op {
        Op::Add { .. } | Op::Sub { .. } | Op::Mul { .. } | Op::Mad { .. } | Op::Mul24 { .. } => {
            product(op, text);
        }
        Op::Mad24 { .. } | Op::Fma { .. } | Op::Div { .. } | Op::Rem { .. } | Op::Abs { .. } => {
            product(op, text);
        }
        Op::Ld(access) => text.access("ld", access),
        Op::St(access) => text.access("st", access),
        Op::Ldu(access) => text.access("ldu", access),
        Op::Atom(atomic) => text.atomic("atom", atomic),
        Op::Red(atomic) => text.atomic("red", atomic),
        Op::Cvt(cvt) => text.cvt(cvt),
        Op::Unsupported { mnemonic }
        | Op::Prefetch { mnemonic }
        | Op::Hint { mnemonic }
        | Op::Createpolicy { mnemonic } => {
            text.start(mnemonic);
        }
        _ => {
            if !(function(op, text) || bits(op, text) || threads(op, text) || control(op, text)) {
                image(op, text);
            }
        }
    }
}

fn product(op: &Op, text: &mut Text) {
    let half = |half: &Option<Half>| half.map_or("", Half::text);
    match op {
        Op::Add { ty, mode, carry } => {
            carried(text, "add", *carry);
            text.flag(carry.write, "cc").mode(*mode).ty(*ty)
        }
        Op::Sub { ty, mode, carry } => {
            carried(text, "sub", *carry);
            text.flag(carry.write, "cc").mode(*mode).ty(*ty)
        }
        Op::Mul { ty, half: h, mode } => text.start("mul").word(half(h)).mode(*mode).ty(*ty),
        Op::Mad { ty, half: h, mode, carry } => {
            carried(text, "mad", *carry);
            text.word(half(h)).flag(carry.write, "cc").mode(*mode).ty(*ty)
        }
        Op::Mul24 { ty, half } => text.start("mul24").word(half.text()).ty(*ty),
        Op::Mad24 { ty, half, sat } => {
            text.start("mad24").word(half.text()).flag(*sat, "sat").ty(*ty)
        }
        Op::Fma { ty, mode, relu } => text.start("fma").mode(*mode).flag(*relu, "relu").ty(*ty),
        Op::Div { ty, accuracy, mode } => {
            text.start("div").word(accuracy.text()).mode(*mode).ty(*ty)
        }
        Op::Rem { ty } => text.start("rem").ty(*ty),
        Op::Abs { ty, ftz } => text.start("abs").flag(*ftz, "ftz").ty(*ty),
        _ => text,
    };
}

fn function(op: &Op, text: &mut Text) -> bool {
    match op {
        Op::Neg { ty, ftz } => text.start("neg").flag(*ftz, "ftz").ty(*ty),
        Op::Min(op) => {
            text.min_max("min", op);
            text
        }
        Op::Max(op) => {
            text.min_max("max", op);
            text
        }
        Op::Sad { ty } => text.start("sad").ty(*ty),
        Op::Rcp { ty, accuracy, mode } => {
            text.start("rcp").word(accuracy.text()).mode(*mode).ty(*ty)
        }
        Op::Sqrt { ty, accuracy, mode } => {
            text.start("sqrt").word(accuracy.text()).mode(*mode).ty(*ty)
        }
        Op::Approx { function, ty, ftz } => {
            text.start(function.text()).word("approx").flag(*ftz, "ftz").ty(*ty)
        }
        Op::Copysign { ty } => text.start("copysign").ty(*ty),
        Op::Testp { test, ty } => text.start("testp").word(test.text()).ty(*ty),
        Op::Dp4a { a, b } => text.start("dp4a").ty(*a).ty(*b),
        Op::Dp2a { a, b, high } => {
            text.start("dp2a").word(if *high { "hi" } else { "lo" }).ty(*a).ty(*b)
        }
        Op::Video(video) => {
            text.start(video.op.text());
            if video.lanes > 1 {
                text.0.push(if video.lanes == 4 { '4' } else { '2' });
            }
            let (set, mad) = (video.op == VideoOp::Set, video.op == VideoOp::Mad);
            text.word(if set { "" } else { video.to.text() }).ty(video.a).ty(video.b);
            text.word(video.cmp.map_or("", Cmp::text)).flag(video.plus_one, "po");
            text.flag(video.sat, "sat").word(video.second.map_or("", Second::text));
            if matches!(video.op, VideoOp::Shl | VideoOp::Shr) {
                text.wrap(video.wrap);
            }
            text.flag(mad && video.scale == 7, "shr7").flag(mad && video.scale == 15, "shr15")
        }
        Op::Simd(simd) => {
            text.start(simd.op.text()).0.push(if simd.lanes == 4 { '4' } else { '2' });
            text.ty(simd.to).ty(simd.a).ty(simd.b).flag(simd.sat, "sat").flag(simd.add, "add")
        }
        Op::Setp { cmp, combine, ty, ftz } => {
            let combine = combine.map_or("", BoolOp::text);
            text.start("setp").word(cmp.text()).word(combine).flag(*ftz, "ftz").ty(*ty)
        }
        Op::Set { cmp, combine, to, ty, ftz } => {
            let combine = combine.map_or("", BoolOp::text);
            text.start("set").word(cmp.text()).word(combine).flag(*ftz, "ftz").ty(*to).ty(*ty)
        }
        Op::Selp { ty } => text.start("selp").ty(*ty),
        Op::Slct { ty, by, ftz } => text.start("slct").flag(*ftz, "ftz").ty(*ty).ty(*by),
        _ => return false,
    };
    true
}

fn bits(op: &Op, text: &mut Text) -> bool {
    match op {
        Op::Mov { ty, lanes } => text.start("mov").lanes(*lanes).ty(*ty),
        Op::Cvta { to_generic, space, ty } => {
            text.start("cvta").flag(!to_generic, "to").word(space.text()).ty(*ty)
        }
        Op::Isspacep { space } => text.start("isspacep").word(space.text()),
        Op::CvtPack { to, from, merge } => {
            text.start("cvt.pack.sat").ty(*to).ty(*from).word(merge.map_or("", Type::text))
        }
        Op::Szext { wrap, ty } => text.start("szext").wrap(*wrap).ty(*ty),
        Op::Logic { op, ty } => text.start(op.text()).ty(*ty),
        Op::Not { ty } => text.start("not").ty(*ty),
        Op::Cnot { ty } => text.start("cnot").ty(*ty),
        Op::Lop3 { combine } => {
            text.start("lop3").word(combine.map_or("", BoolOp::text)).word("b32")
        }
        Op::Shl { ty } => text.start("shl").ty(*ty),
        Op::Shr { ty } => text.start("shr").ty(*ty),
        Op::Shf { left, wrap } => {
            text.start("shf").word(if *left { "l" } else { "r" }).wrap(*wrap).word("b32")
        }
        Op::Popc { ty } => text.start("popc").ty(*ty),
        Op::Clz { ty } => text.start("clz").ty(*ty),
        Op::Bfind { ty, shiftamt } => text.start("bfind").flag(*shiftamt, "shiftamt").ty(*ty),
        Op::Fns => text.start("fns.b32"),
        Op::Brev { ty } => text.start("brev").ty(*ty),
        Op::Bfe { ty } => text.start("bfe").ty(*ty),
        Op::Bfi { ty } => text.start("bfi").ty(*ty),
        Op::Bmsk { wrap } => text.start("bmsk").wrap(*wrap).word("b32"),
        Op::Prmt { mode } => text.start("prmt.b32").word(mode.map_or("", PrmtMode::text)),
        Op::CpAsync { cache, hint, .. } => {
            text.start("cp.async").word(cache.text()).word("shared.global").word(hint)
        }
        Op::CpAsyncCommit => text.start("cp.async.commit_group"),
        Op::CpAsyncWaitGroup => text.start("cp.async.wait_group"),
        Op::CpAsyncWaitAll => text.start("cp.async.wait_all"),
        Op::Alloca { ty } => text.start("alloca").ty(*ty),
        Op::Stacksave { ty } => text.start("stacksave").ty(*ty),
        Op::Stackrestore { ty } => text.start("stackrestore").ty(*ty),
        _ => return false,
    };
    true
}

fn threads(op: &Op, text: &mut Text) -> bool {
    match op {
        Op::Bar { kind, aligned } => {
            let (word, op) = match kind {
                BarKind::Sync => ("sync", ""),
                BarKind::Arrive => ("arrive", ""),
                BarKind::RedPopc => ("red.popc", "u32"),
                BarKind::RedAnd => ("red.and", "pred"),
                BarKind::RedOr => ("red.or", "pred"),
            };
            text.start(if *aligned { "bar" } else { "barrier" }).word(word).word(op)
        }
        Op::BarWarpSync => text.start("bar.warp.sync"),
        Op::Shfl { mode, sync } => {
            text.start("shfl").flag(*sync, "sync").word(mode.text()).word("b32")
        }
        Op::Vote { mode, sync } => {
            let ty = if *mode == VoteMode::Ballot { "b32" } else { "pred" };
            text.start("vote").flag(*sync, "sync").word(mode.text()).word(ty)
        }
        Op::Match { all, ty } => {
            text.start("match").word(if *all { "all" } else { "any" }).word("sync").ty(*ty)
        }
        Op::Activemask => text.start("activemask.b32"),
        Op::Redux { op, ty, abs, nan } => {
            text.start("redux.sync").word(op.text()).flag(*abs, "abs").flag(*nan, "NaN").ty(*ty)
        }
        Op::Elect => text.start("elect.sync"),
        Op::Mbarrier(mbarrier) => {
            let copy = mbarrier.op == MbarrierOp::CopyArrive;
            text.start(if copy { mbarrier.op.text() } else { "mbarrier" });
            text.word(if copy { "" } else { mbarrier.op.text() });
            text.flag(mbarrier.no_increment, "noinc").flag(mbarrier.expect_tx, "expect_tx");
            text.flag(mbarrier.no_complete, "noComplete").flag(mbarrier.parity, "parity");
            text.order(mbarrier.order, mbarrier.scope).space(mbarrier.space).word("b64")
        }
        Op::Membar { level } => text.start("membar").word(level.text()),
        Op::Fence { order, scope } => text.start("fence").order(*order, Some(*scope)),
        _ => return false,
    };
    true
}

fn control(op: &Op, text: &mut Text) -> bool {
    match op {
        Op::Bra { uni } => text.start("bra").flag(*uni, "uni"),
        Op::BrxIdx { uni } => text.start("brx.idx").flag(*uni, "uni"),
        Op::Call { uni, .. } => text.start("call").flag(*uni, "uni"),
        Op::Ret { uni } => text.start("ret").flag(*uni, "uni"),
        Op::Exit => text.start("exit"),
        Op::Trap => text.start("trap"),
        Op::Brkpt => text.start("brkpt"),
        Op::Nanosleep => text.start("nanosleep.u32"),
        Op::Pmevent { mask } => text.start("pmevent").flag(*mask, "mask"),
        _ => return false,
    };
    true
}

fn image(op: &Op, text: &mut Text) {
    match op {
        Op::Tex(tex) => text.start("tex").tex(tex),
        Op::Tld4 { component, tex } => {
            let component = ["r", "g", "b", "a"].get(usize::from(*component));
            text.start("tld4").word(component.unwrap_or(&"r")).tex(tex);
        }
        Op::Txq { query, level, ty } => {
            text.start("txq").flag(*level, "level").word(query).ty(*ty);
        }
        Op::Suq { query, ty } => {
            text.start("suq").word(query).ty(*ty);
        }
        Op::Suld(surface) => text.start("suld").word(form(surface)).surface(surface),
        Op::Sust(surface) => text.start("sust").word(form(surface)).surface(surface),
        Op::Sured { op, surface } => {
            text.start("sured").word(form(surface)).word(op.text()).surface(surface);
        }
        _ => {}
    }
}
