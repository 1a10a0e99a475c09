//! An opcode with its modifiers to an [`Op`]. Modifiers are taken in any order.

use super::super::inst::Op;
use super::super::modifier::*;
use super::super::types::{Scope, Space, Type};
use super::super::video::{Second, Video, VideoOp};

/// What the mnemonic means, as far as it says so itself.
///
/// # Errors
/// A sentence where it is no PTX. What is PTX but not known in detail is [`Op::Unsupported`].
pub(super) fn parse(mnemonic: &str) -> Result<Op, String> {
    let mut parts = mnemonic.split('.');
    let opcode = parts.next().unwrap_or_default();
    let mut words = Words { rest: parts.collect() };
    if NOT_INTERPRETED.contains(&opcode) {
        return Ok(Op::Unsupported { mnemonic: mnemonic.into() });
    }
    let groups = [arithmetic, comparison, bits, memory, threads, control, image];
    for group in groups {
        match group(opcode, &mut words, mnemonic) {
            Found::Yes(op) if words.rest.is_empty() => return Ok(op),
            Found::Incomplete if words.rest.is_empty() => {
                return Err(format!("`{mnemonic}` lacks a type or a modifier"));
            }
            Found::Yes(_) | Found::Incomplete => {
                return Ok(Op::Unsupported { mnemonic: mnemonic.into() });
            }
            Found::No => {}
        }
    }
    Err(format!("unknown instruction `{mnemonic}`"))
}

/// Opcodes of PTX that are never interpreted.
const NOT_INTERPRETED: &[&str] = &[
    "mma",
    "wmma",
    "wgmma",
    "tcgen05",
    "ldmatrix",
    "stmatrix",
    "movmatrix",
    "tensormap",
    "mapa",
    "getctarank",
    "multimem",
    "istypep",
    "clusterlaunchcontrol",
];

enum Found {
    Yes(Op),
    /// The opcode is known, but something is missing.
    Incomplete,
    /// Another group's.
    No,
}

impl From<Option<Op>> for Found {
    fn from(op: Option<Op>) -> Self {
        op.map_or(Self::Incomplete, Self::Yes)
    }
}

/// The modifiers that are not yet taken.
struct Words<'a> {
    rest: Vec<&'a str>,
}

impl<'a> Words<'a> {
    fn flag(&mut self, word: &str) -> bool {
        self.find(|other| (other == word).then_some(())).is_some()
    }

    /// Takes the first word that `parse` knows.
    fn find<T>(&mut self, parse: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        let (at, found) =
            self.rest.iter().enumerate().find_map(|(at, word)| Some((at, parse(word)?)))?;
        self.rest.remove(at);
        Some(found)
    }

    fn ty(&mut self) -> Option<Type> {
        self.find(Type::parse)
    }

    fn mode(&mut self) -> Mode {
        let rounding = self.find(Rounding::parse);
        Mode { rounding, ftz: self.flag("ftz"), sat: self.flag("sat") }
    }

    fn accuracy(&mut self) -> Accuracy {
        self.find(|word| Accuracy::parse(word).filter(|a| *a != Accuracy::Exact))
            .unwrap_or(Accuracy::Exact)
    }

    fn lanes(&mut self) -> u8 {
        let lanes = |word| match word {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        };
        self.find(lanes).unwrap_or(1)
    }

    /// Takes the words about levels of the cache.
    fn hints(&mut self) -> Option<Box<str>> {
        let is_hint = |word: &&str| word.starts_with("L1::") || word.starts_with("L2::");
        let hints: Vec<&str> = self.rest.iter().copied().filter(is_hint).collect();
        self.rest.retain(|word| !is_hint(word));
        (!hints.is_empty()).then(|| hints.join(".").into())
    }

    fn access(&mut self) -> Option<Access> {
        let words = self.hints();
        // `.mmio.relaxed`: the first says all.
        let mmio = self.rest.contains(&Order::Mmio.text()) && self.flag(Order::Relaxed.text());
        Some(Access {
            space: self.find(Space::parse),
            lanes: self.lanes(),
            order: self.find(Order::parse).or(mmio.then_some(Order::Mmio)),
            scope: self.find(Scope::parse),
            nc: self.flag("nc"),
            unified: self.flag("unified"),
            cache: CacheHints { op: self.find(CacheOp::parse), words },
            ty: self.ty()?,
        })
    }

    fn atomic(&mut self) -> Option<Atomic> {
        let words = self.hints();
        Some(Atomic {
            space: self.find(Space::parse),
            lanes: self.lanes(),
            order: self.find(Order::parse),
            scope: self.find(Scope::parse),
            noftz: self.flag("noftz"),
            cache: CacheHints { op: self.find(CacheOp::parse), words },
            op: self.find(AtomOp::parse)?,
            ty: self.ty()?,
        })
    }

    fn min_max(&mut self) -> Option<MinMax> {
        let xorsign_abs = self.flag("xorsign") && self.flag("abs");
        Some(MinMax {
            ftz: self.flag("ftz"),
            nan: self.flag("NaN"),
            xorsign_abs,
            relu: self.flag("relu"),
            ty: self.ty()?,
        })
    }

    fn surface(&mut self) -> Option<Surface> {
        let formatted = self.flag("p");
        if !formatted && !self.flag("b") {
            return None;
        }
        Some(Surface {
            formatted,
            geometry: self.find(Geometry::parse)?,
            cache: self.find(CacheOp::parse),
            lanes: self.lanes(),
            clamp: self.find(Clamp::parse),
            ty: self.ty()?,
        })
    }

    fn tex(&mut self) -> Option<Tex> {
        let mip = self.find(|word| Mip::parse(word).filter(|mip| *mip != Mip::Default));
        Some(Tex {
            mip: mip.unwrap_or(Mip::Default),
            geometry: self.find(Geometry::parse)?,
            lanes: self.lanes(),
            to: self.ty()?,
            coord: self.ty()?,
            sampler: false,
        })
    }
}

/// An integer product needs a half, another has none.
fn product(ty: Type, half: Option<Half>) -> Option<()> {
    (ty.is_float() != half.is_some()).then_some(())
}

fn arithmetic(opcode: &str, words: &mut Words<'_>, _: &str) -> Found {
    let read = matches!(opcode, "addc" | "subc" | "madc");
    let op = match opcode {
        "add" | "addc" | "sub" | "subc" => (|| {
            let carry = Carry { read, write: words.flag("cc") };
            let (mode, ty) = (words.mode(), words.ty()?);
            Some(if opcode.starts_with("add") {
                Op::Add { ty, mode, carry }
            } else {
                Op::Sub { ty, mode, carry }
            })
        })(),
        "mul" => (|| {
            let (half, mode, ty) = (words.find(Half::parse), words.mode(), words.ty()?);
            product(ty, half)?;
            Some(Op::Mul { ty, half, mode })
        })(),
        "mad" | "madc" => (|| {
            let carry = Carry { read, write: words.flag("cc") };
            let (half, mode, ty) = (words.find(Half::parse), words.mode(), words.ty()?);
            product(ty, half)?;
            Some(Op::Mad { ty, half, mode, carry })
        })(),
        "mul24" => (|| Some(Op::Mul24 { half: words.find(Half::parse)?, ty: words.ty()? }))(),
        "mad24" => (|| {
            let sat = words.flag("sat");
            Some(Op::Mad24 { half: words.find(Half::parse)?, ty: words.ty()?, sat })
        })(),
        "fma" => {
            let (mode, relu) = (words.mode(), words.flag("relu"));
            words.ty().map(|ty| Op::Fma { ty, mode, relu })
        }
        "div" => {
            let (accuracy, mode) = (words.accuracy(), words.mode());
            words.ty().map(|ty| Op::Div { ty, accuracy, mode })
        }
        "rcp" => {
            let (accuracy, mode) = (words.accuracy(), words.mode());
            words.ty().map(|ty| Op::Rcp { ty, accuracy, mode })
        }
        "sqrt" => {
            let (accuracy, mode) = (words.accuracy(), words.mode());
            words.ty().map(|ty| Op::Sqrt { ty, accuracy, mode })
        }
        "rem" => words.ty().map(|ty| Op::Rem { ty }),
        "abs" => {
            let ftz = words.flag("ftz");
            words.ty().map(|ty| Op::Abs { ty, ftz })
        }
        "neg" => {
            let ftz = words.flag("ftz");
            words.ty().map(|ty| Op::Neg { ty, ftz })
        }
        "min" => words.min_max().map(Op::Min),
        "max" => words.min_max().map(Op::Max),
        "sad" => words.ty().map(|ty| Op::Sad { ty }),
        "copysign" => words.ty().map(|ty| Op::Copysign { ty }),
        "dp4a" => (|| Some(Op::Dp4a { a: words.ty()?, b: words.ty()? }))(),
        "dp2a" => (|| {
            let high = words.flag("hi");
            if !high && !words.flag("lo") {
                return None;
            }
            Some(Op::Dp2a { a: words.ty()?, b: words.ty()?, high })
        })(),
        _ if opcode.starts_with('v') && opcode != "vote" => return video(opcode, words),
        _ => {
            let Some(function) = Function::parse(opcode) else { return Found::No };
            let (approx, ftz) = (words.flag("approx"), words.flag("ftz"));
            words.ty().filter(|_| approx).map(|ty| Op::Approx { function, ty, ftz })
        }
    };
    op.into()
}

/// `vadd` to `vset4`.
fn video(opcode: &str, words: &mut Words<'_>) -> Found {
    let (name, lanes) = match opcode.as_bytes().last() {
        Some(b'2') => (opcode.trim_end_matches('2'), 2),
        Some(b'4') => (opcode.trim_end_matches('4'), 4),
        _ => (opcode, 1),
    };
    if let (Some(op), 2 | 4) = (SimdOp::parse(name), lanes) {
        return (|| {
            let (sat, add) = (words.flag("sat"), words.flag("add"));
            let (to, a, b) = (words.ty()?, words.ty()?, words.ty()?);
            Some(Op::Simd(Simd { op, lanes, to, a, b, sat, add }))
        })()
        .into();
    }
    let Some(op) = VideoOp::parse(name) else { return Found::No };
    (|| {
        let to = if op == VideoOp::Set { Type::U32 } else { words.ty()? };
        let mut video = Video::new(op, lanes, to, words.ty()?, words.ty()?);
        video.sat = words.flag("sat");
        video.second = words.find(Second::parse);
        match op {
            VideoOp::Shl | VideoOp::Shr => video.wrap = wrap(words)?,
            VideoOp::Set => video.cmp = Some(words.find(Cmp::parse)?),
            VideoOp::Mad => {
                video.plus_one = words.flag("po");
                video.scale = if words.flag("shr7") {
                    7
                } else if words.flag("shr15") {
                    15
                } else {
                    0
                };
            }
            _ => {}
        }
        Some(Op::Video(video))
    })()
    .into()
}

fn comparison(opcode: &str, words: &mut Words<'_>, _: &str) -> Found {
    let op = match opcode {
        "setp" => (|| {
            let (combine, ftz) = (words.find(BoolOp::parse), words.flag("ftz"));
            Some(Op::Setp { cmp: words.find(Cmp::parse)?, combine, ftz, ty: words.ty()? })
        })(),
        "set" => (|| {
            let (combine, ftz) = (words.find(BoolOp::parse), words.flag("ftz"));
            let cmp = words.find(Cmp::parse)?;
            Some(Op::Set { cmp, combine, ftz, to: words.ty()?, ty: words.ty()? })
        })(),
        "selp" => words.ty().map(|ty| Op::Selp { ty }),
        "slct" => (|| {
            let ftz = words.flag("ftz");
            Some(Op::Slct { ftz, ty: words.ty()?, by: words.ty()? })
        })(),
        "testp" => (|| Some(Op::Testp { test: words.find(Test::parse)?, ty: words.ty()? }))(),
        _ => return Found::No,
    };
    op.into()
}

/// `.wrap` (true) or `.clamp`.
fn wrap(words: &mut Words<'_>) -> Option<bool> {
    words.find(|word| match word {
        "wrap" => Some(true),
        "clamp" => Some(false),
        _ => None,
    })
}

fn bits(opcode: &str, words: &mut Words<'_>, _: &str) -> Found {
    let b32 = |words: &mut Words<'_>, op: Op| words.flag("b32").then_some(op);
    let op = match opcode {
        "mov" => {
            let lanes = words.lanes();
            words.ty().map(|ty| Op::Mov { ty, lanes })
        }
        "and" | "or" | "xor" => (|| {
            let op = BoolOp::parse(opcode)?;
            Some(Op::Logic { op, ty: words.ty()? })
        })(),
        "not" => words.ty().map(|ty| Op::Not { ty }),
        "cnot" => words.ty().map(|ty| Op::Cnot { ty }),
        "lop3" => {
            let combine = words.find(BoolOp::parse);
            b32(words, Op::Lop3 { combine })
        }
        "shl" => words.ty().map(|ty| Op::Shl { ty }),
        "shr" => words.ty().map(|ty| Op::Shr { ty }),
        "shf" => (|| {
            let left = words.flag("l");
            if !left && !words.flag("r") {
                return None;
            }
            let wrap = wrap(words)?;
            b32(words, Op::Shf { left, wrap })
        })(),
        "popc" => words.ty().map(|ty| Op::Popc { ty }),
        "clz" => words.ty().map(|ty| Op::Clz { ty }),
        "bfind" => {
            let shiftamt = words.flag("shiftamt");
            words.ty().map(|ty| Op::Bfind { ty, shiftamt })
        }
        "fns" => b32(words, Op::Fns),
        "brev" => words.ty().map(|ty| Op::Brev { ty }),
        "bfe" => words.ty().map(|ty| Op::Bfe { ty }),
        "bfi" => words.ty().map(|ty| Op::Bfi { ty }),
        "bmsk" => (|| {
            let wrap = wrap(words)?;
            b32(words, Op::Bmsk { wrap })
        })(),
        "szext" => (|| Some(Op::Szext { wrap: wrap(words)?, ty: words.ty()? }))(),
        "prmt" => {
            let mode = words.find(PrmtMode::parse);
            b32(words, Op::Prmt { mode })
        }
        "cvt" => return conversion(words),
        "cvta" => (|| {
            let to_generic = !words.flag("to");
            Some(Op::Cvta { to_generic, space: words.find(Space::parse)?, ty: words.ty()? })
        })(),
        "isspacep" => words.find(Space::parse).map(|space| Op::Isspacep { space }),
        _ => return Found::No,
    };
    op.into()
}

fn conversion(words: &mut Words<'_>) -> Found {
    if words.flag("pack") {
        let sat = words.flag("sat");
        let types = (words.ty(), words.ty());
        let merge = words.ty();
        return match types {
            (Some(to), Some(from)) if sat => Found::Yes(Op::CvtPack { to, from, merge }),
            _ => Found::Incomplete,
        };
    }
    (|| {
        let integer = words.find(IntRounding::parse);
        let mode = words.mode();
        let (relu, satfinite) = (words.flag("relu"), words.flag("satfinite"));
        let (to, from) = (words.ty()?, words.ty()?);
        let (rounding, ftz, sat) = (mode.rounding, mode.ftz, mode.sat);
        Some(Op::Cvt(Cvt { to, from, rounding, integer, ftz, sat, relu, satfinite }))
    })()
    .into()
}

fn memory(opcode: &str, words: &mut Words<'_>, mnemonic: &str) -> Found {
    let op = match opcode {
        "ld" => words.access().map(Op::Ld),
        "st" => words.access().map(Op::St),
        "ldu" => words.access().map(Op::Ldu),
        "atom" => words.atomic().map(Op::Atom),
        "red" => words.atomic().map(Op::Red),
        "prefetch" | "prefetchu" if !words.flag("tensormap") => {
            words.rest.clear();
            Some(Op::Prefetch { mnemonic: mnemonic.into() })
        }
        "prefetch" => {
            words.rest.push("tensormap");
            None
        }
        "applypriority" | "discard" => {
            words.rest.clear();
            Some(Op::Prefetch { mnemonic: mnemonic.into() })
        }
        "createpolicy" => {
            words.rest.clear();
            Some(Op::Createpolicy { mnemonic: mnemonic.into() })
        }
        "mbarrier" => return mbarrier(words),
        "cp" => return asynchronous(words),
        "alloca" => words.ty().map(|ty| Op::Alloca { ty }),
        "stacksave" => words.ty().map(|ty| Op::Stacksave { ty }),
        "stackrestore" => words.ty().map(|ty| Op::Stackrestore { ty }),
        _ => return Found::No,
    };
    op.into()
}

fn mbarrier(words: &mut Words<'_>) -> Found {
    (|| {
        let mut mbarrier = Mbarrier {
            op: words.find(MbarrierOp::parse)?,
            space: words.find(Space::parse),
            order: words.find(Order::parse),
            scope: words.find(Scope::parse),
            no_complete: words.flag("noComplete"),
            expect_tx: false,
            parity: words.flag("parity"),
            no_increment: words.flag("noinc"),
        };
        // `mbarrier.arrive.expect_tx` is an arrival: its own word is the first.
        if mbarrier.op == MbarrierOp::Arrive || mbarrier.op == MbarrierOp::ArriveDrop {
            mbarrier.expect_tx = words.flag("expect_tx");
        }
        words.flag("b64").then_some(())?;
        Some(Op::Mbarrier(mbarrier))
    })()
    .into()
}

fn asynchronous(words: &mut Words<'_>) -> Found {
    if !words.flag("async") {
        return Found::Incomplete;
    }
    if words.rest.first() == Some(&"mbarrier") {
        words.flag("mbarrier");
        return match mbarrier(words) {
            Found::Yes(Op::Mbarrier(found)) if found.op == MbarrierOp::Arrive => {
                Found::Yes(Op::Mbarrier(Mbarrier { op: MbarrierOp::CopyArrive, ..found }))
            }
            _ => Found::Incomplete,
        };
    }
    let op = match words.rest.as_slice() {
        ["commit_group"] => Some(Op::CpAsyncCommit),
        ["wait_group"] => Some(Op::CpAsyncWaitGroup),
        ["wait_all"] => Some(Op::CpAsyncWaitAll),
        _ => None,
    };
    if op.is_some() {
        words.rest.clear();
        return op.into();
    }
    (|| {
        let hint = words.hints().unwrap_or_default();
        let shared = words.flag("shared") || words.flag("shared::cta");
        if !shared || !words.flag("global") {
            return None;
        }
        Some(Op::CpAsync { cache: words.find(CacheOp::parse)?, hint, ignore: false })
    })()
    .into()
}

fn threads(opcode: &str, words: &mut Words<'_>, mnemonic: &str) -> Found {
    let op = match opcode {
        "bar" if words.flag("warp") => words.flag("sync").then_some(Op::BarWarpSync),
        "bar" | "barrier" => barrier(words, opcode == "bar"),
        "shfl" => (|| {
            let sync = words.flag("sync");
            let mode = words.find(ShflMode::parse)?;
            words.flag("b32").then_some(Op::Shfl { mode, sync })
        })(),
        "vote" => (|| {
            let sync = words.flag("sync");
            let mode = words.find(VoteMode::parse)?;
            let ty = if mode == VoteMode::Ballot { "b32" } else { "pred" };
            words.flag(ty).then_some(Op::Vote { mode, sync })
        })(),
        "match" => {
            let all = words.flag("all");
            let known = (all || words.flag("any")) && words.flag("sync");
            words.ty().filter(|_| known).map(|ty| Op::Match { all, ty })
        }
        "activemask" => words.flag("b32").then_some(Op::Activemask),
        "redux" => (|| {
            let (sync, abs, nan) = (words.flag("sync"), words.flag("abs"), words.flag("NaN"));
            let op = words.find(AtomOp::parse)?;
            words.ty().filter(|_| sync).map(|ty| Op::Redux { op, ty, abs, nan })
        })(),
        "elect" => words.flag("sync").then_some(Op::Elect),
        "membar" => words.find(MembarLevel::parse).map(|level| Op::Membar { level }),
        "fence" if words.flag("proxy") || words.flag("mbarrier_init") => {
            words.rest.clear();
            Some(Op::Hint { mnemonic: mnemonic.into() })
        }
        "griddepcontrol" | "setmaxnreg" => {
            words.rest.clear();
            Some(Op::Hint { mnemonic: mnemonic.into() })
        }
        "fence" => (|| {
            let order = words.find(Order::parse);
            Some(Op::Fence { order, scope: words.find(Scope::parse)? })
        })(),
        _ => return Found::No,
    };
    op.into()
}

fn barrier(words: &mut Words<'_>, short: bool) -> Option<Op> {
    words.flag("cta");
    let aligned = words.flag("aligned") || short;
    let kind = match words.find(|word| matches!(word, "sync" | "arrive" | "red").then_some(word))? {
        "sync" => BarKind::Sync,
        "arrive" => BarKind::Arrive,
        _ => {
            let op = words.find(|word| matches!(word, "popc" | "and" | "or").then_some(word))?;
            let (kind, ty) = match op {
                "popc" => (BarKind::RedPopc, Type::U32),
                "and" => (BarKind::RedAnd, Type::Pred),
                _ => (BarKind::RedOr, Type::Pred),
            };
            words.ty().filter(|found| *found == ty)?;
            kind
        }
    };
    Some(Op::Bar { kind, aligned })
}

fn control(opcode: &str, words: &mut Words<'_>, _: &str) -> Found {
    let uni = words.flag("uni");
    let op = match opcode {
        "bra" => Some(Op::Bra { uni }),
        "brx" => words.flag("idx").then_some(Op::BrxIdx { uni }),
        "call" => Some(Op::Call { uni, prototype: None }),
        "ret" => Some(Op::Ret { uni }),
        "exit" => Some(Op::Exit),
        "trap" => Some(Op::Trap),
        "brkpt" => Some(Op::Brkpt),
        "nanosleep" => words.flag("u32").then_some(Op::Nanosleep),
        "pmevent" => Some(Op::Pmevent { mask: words.flag("mask") }),
        _ => {
            if uni {
                words.rest.push("uni");
            }
            return Found::No;
        }
    };
    op.into()
}

fn image(opcode: &str, words: &mut Words<'_>, _: &str) -> Found {
    let component = |word| match word {
        "r" => Some(0),
        "g" => Some(1),
        "b" => Some(2),
        "a" => Some(3),
        _ => None,
    };
    let op = match opcode {
        "tex" => words.tex().map(Op::Tex),
        "tld4" => (|| {
            let component = words.find(component)?;
            Some(Op::Tld4 { component, tex: words.tex()? })
        })(),
        "txq" => (|| {
            let level = words.flag("level");
            let ty = words.ty()?;
            (words.rest.len() == 1).then(|| Op::Txq {
                query: std::mem::take(&mut words.rest)[0].into(),
                level,
                ty,
            })
        })(),
        "suq" => (|| {
            let ty = words.ty()?;
            (words.rest.len() == 1)
                .then(|| Op::Suq { query: std::mem::take(&mut words.rest)[0].into(), ty })
        })(),
        "suld" => words.surface().map(Op::Suld),
        "sust" => words.surface().map(Op::Sust),
        "sured" => (|| {
            let op = words.find(AtomOp::parse)?;
            Some(Op::Sured { op, surface: words.surface()? })
        })(),
        _ => return Found::No,
    };
    op.into()
}
