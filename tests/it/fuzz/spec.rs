//! Instructions of PTX with the types that they take (PTX ISA 9.0, chapter 9.7), as rows of text.
//!
//! A row is `opcode.modifiers destinations <- sources`. Of `{a,b,c}` one is chosen, perhaps an empty one; `{T:a,b}`
//! names the choice, so that `T` stands for it among the operands, and `2T` for the type of twice its width. Other
//! operands: `p` a predicate, `p?` a second destination that may be missing, `imm8` a constant of a byte,
//! `n0T` a divisor, `amount` a number of bits, `small` a number below 32.

use fastrand::Rng;

/// What stands at an operand's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A value of a type.
    Value(String),
    /// A value of a type that is not zero.
    Divisor(String),
    /// A constant below 256.
    Byte,
    /// A number of bits, 32 bits wide.
    Amount,
    /// A number below 32.
    Small,
}

/// One instruction without its registers.
#[derive(Clone, Debug)]
pub struct Form {
    pub mnemonic: String,
    pub destinations: Vec<Place>,
    pub sources: Vec<Place>,
}

/// What every architecture from sm_80 on has.
pub const INTEGER: &[&str] = &[
    "add.{T:u16,s16,u32,s32,u64,s64} T <- T T",
    "add.sat.s32 s32 <- s32 s32",
    "sub.{T:u16,s16,u32,s32,u64,s64} T <- T T",
    "sub.sat.s32 s32 <- s32 s32",
    "mul.{lo,hi}.{T:u16,s16,u32,s32,u64,s64} T <- T T",
    "mul.wide.{T:u16,s16,u32,s32} 2T <- T T",
    "mad.{lo,hi}.{T:u16,s16,u32,s32,u64,s64} T <- T T T",
    "mad.wide.{T:u16,s16,u32,s32} 2T <- T T 2T",
    "mad.hi.sat.s32 s32 <- s32 s32 s32",
    "mul24.{lo,hi}.{T:u32,s32} T <- T T",
    "mad24.{lo,hi}.{T:u32,s32} T <- T T T",
    "mad24.hi.sat.s32 s32 <- s32 s32 s32",
    "sad.{T:u16,s16,u32,s32,u64,s64} T <- T T T",
    "div.{T:u16,s16,u32,s32,u64,s64} T <- T n0T",
    "rem.{T:u16,s16,u32,s32,u64,s64} T <- T n0T",
    "abs.{T:s16,s32,s64} T <- T",
    "neg.{T:s16,s32,s64} T <- T",
    "min.{T:u16,s16,u32,s32,u64,s64} T <- T T",
    "max.{T:u16,s16,u32,s32,u64,s64} T <- T T",
    "popc.{T:b32,b64} u32 <- T",
    "clz.{T:b32,b64} u32 <- T",
    "bfind{,.shiftamt}.{T:u32,s32,u64,s64} u32 <- T",
    "brev.{T:b32,b64} T <- T",
    "bfe.{T:u32,s32,u64,s64} T <- T amount amount",
    "bfi.{T:b32,b64} T <- T T amount amount",
    "bmsk.{clamp,wrap}.b32 b32 <- amount amount",
    "szext.{clamp,wrap}.{T:u32,s32} T <- T amount",
    "dp4a.{u32,s32}.{u32,s32} b32 <- b32 b32 b32",
    "dp2a.{lo,hi}.{u32,s32}.{u32,s32} b32 <- b32 b32 b32",
    "fns.b32 b32 <- b32 small small",
    "and.{T:b16,b32,b64} T <- T T",
    "or.{T:b16,b32,b64} T <- T T",
    "xor.{T:b16,b32,b64} T <- T T",
    "and.pred p <- p p",
    "or.pred p <- p p",
    "xor.pred p <- p p",
    "not.pred p <- p",
    "not.{T:b16,b32,b64} T <- T",
    "cnot.{T:b16,b32,b64} T <- T",
    "lop3.b32 b32 <- b32 b32 b32 imm8",
    "shl.{T:b16,b32,b64} T <- T amount",
    "shr.{T:b16,b32,b64,u16,s16,u32,s32,u64,s64} T <- T amount",
    "shf.{l,r}.{wrap,clamp}.b32 b32 <- b32 b32 amount",
    "prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16} b32 <- b32 b32 b32",
    "selp.{T:b16,b32,b64,u16,s16,u32,s32,u64,s64,f32,f64} T <- T T p",
    "slct.{T:b16,b32,b64,u16,s16,u32,s32,u64,s64,f32,f64}.s32 T <- T T s32",
    "slct{,.ftz}.{T:b16,b32,b64,u16,s16,u32,s32,u64,s64,f32,f64}.f32 T <- T T f32",
    "setp.{eq,ne,lt,le,gt,ge}.{T:s16,s32,s64} p p? <- T T",
    "setp.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}.{T:u16,u32,u64} p p? <- T T",
    "setp.{eq,ne}.{T:b16,b32,b64} p p? <- T T",
    "setp.{eq,ne,lt,le,gt,ge}.{and,or,xor}.{T:s16,s32,s64,u16,u32,u64} p p? <- T T p",
    "set.{eq,ne,lt,le,gt,ge}.{D:u32,s32,f32}.{T:s16,s32,s64,u16,u32,u64} D <- T T",
    "set.{eq,ne,lt,le,gt,ge}.{and,or,xor}.{D:u32,s32,f32}.{T:s16,s32,s64,u16,u32,u64} D <- T T p",
    "mov.{T:b16,b32,b64,f32,f64} T <- T",
    "cvt.{D:u8,s8,u16,s16,u32,s32,u64,s64}.{T:u8,s8,u16,s16,u32,s32,u64,s64} D <- T",
    // NVIDIA's assembler refuses to saturate where nothing can be lost.
    "cvt.sat.{D:u8,s8}.{T:u16,s16,u32,s32,u64,s64} D <- T",
    "cvt.sat.{D:u16,s16}.{T:u32,s32,u64,s64} D <- T",
    "cvt.sat.{D:u32,s32}.{T:u64,s64} D <- T",
    "cvt.pack.sat.{u16,s16}.s32 b32 <- s32 s32",
    "cvt.pack.sat.{u8,s8}.s32.b32 b32 <- s32 s32 b32",
    "vadd2.{u32,s32}.{u32,s32}.{u32,s32}{,.sat} b32 <- b32 b32 b32",
    "vsub4.{u32,s32}.{u32,s32}.{u32,s32}{,.sat} b32 <- b32 b32 b32",
    "vmin{2,4}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat,.add} b32 <- b32 b32 b32",
    "vabsdiff{2,4}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat,.add} b32 <- b32 b32 b32",
    "vavrg{2,4}.{u32,s32}.{u32,s32}.{u32,s32}{,.sat,.add} b32 <- b32 b32 b32",
];

/// Results are floats, or depend on how floats are read.
pub const FLOAT: &[&str] = &[
    "add{,.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32 f32 <- f32 f32",
    "sub{,.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32 f32 <- f32 f32",
    "mul{,.rn,.rz,.rm,.rp}{,.ftz}{,.sat}.f32 f32 <- f32 f32",
    "fma.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32 f32 <- f32 f32 f32",
    "mad.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32 f32 <- f32 f32 f32",
    "div.{rn,rz,rm,rp}{,.ftz}.f32 f32 <- f32 f32",
    "rcp.{rn,rz,rm,rp}{,.ftz}.f32 f32 <- f32",
    "sqrt.{rn,rz,rm,rp}{,.ftz}.f32 f32 <- f32",
    "add{,.rn,.rz,.rm,.rp}.f64 f64 <- f64 f64",
    "sub{,.rn,.rz,.rm,.rp}.f64 f64 <- f64 f64",
    "mul{,.rn,.rz,.rm,.rp}.f64 f64 <- f64 f64",
    "fma.{rn,rz,rm,rp}.f64 f64 <- f64 f64 f64",
    "mad.{rn,rz,rm,rp}.f64 f64 <- f64 f64 f64",
    "div.{rn,rz,rm,rp}.f64 f64 <- f64 f64",
    "rcp.{rn,rz,rm,rp}.f64 f64 <- f64",
    "sqrt.{rn,rz,rm,rp}.f64 f64 <- f64",
    "abs{,.ftz}.f32 f32 <- f32",
    "neg{,.ftz}.f32 f32 <- f32",
    "abs.f64 f64 <- f64",
    "neg.f64 f64 <- f64",
    "min{,.ftz}{,.NaN}.f32 f32 <- f32 f32",
    "max{,.ftz}{,.NaN}.f32 f32 <- f32 f32",
    "min.f64 f64 <- f64 f64",
    "max.f64 f64 <- f64 f64",
    "copysign.{T:f32,f64} T <- T T",
    "testp.{finite,infinite,number,notanumber,normal,subnormal}.{T:f32,f64} p <- T",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.f32 p p? <- f32 f32",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.f64 p p? <- f64 f64",
    "setp.{eq,ne,lt,gtu,geu,num,nan}.{and,or,xor}{,.ftz}.f32 p p? <- f32 f32 p",
    "set.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.{D:u32,s32,f32}.f32 D <- f32 f32",
    "set.{eq,ne,lt,equ,neu,ltu,num,nan}.{D:u32,s32,f32}.f64 D <- f64 f64",
    "cvt.{rn,rz,rm,rp}.{D:f32,f64}.{T:u8,s8,u16,s16,u32,s32,u64,s64} D <- T",
    "cvt.{rni,rzi,rmi,rpi}{,.ftz}{,.sat}.{D:u8,s8,u16,s16,u32,s32,u64,s64}.f32 D <- f32",
    "cvt.{rni,rzi,rmi,rpi}{,.sat}.{D:u8,s8,u16,s16,u32,s32,u64,s64}.f64 D <- f64",
    "cvt{,.ftz}.f64.f32 f64 <- f32",
    "cvt.{rn,rz,rm,rp}{,.ftz}{,.sat}.f32.f64 f32 <- f64",
    "cvt.{rni,rzi,rmi,rpi}{,.ftz}{,.sat}.f32.f32 f32 <- f32",
    "cvt.{rni,rzi,rmi,rpi}{,.sat}.f64.f64 f64 <- f64",
    "cvt{,.ftz}.sat.f32.f32 f32 <- f32",
    "cvt.rna.tf32.f32 b32 <- f32",
];

/// Half precision and bfloat16.
pub const HALF: &[&str] = &[
    "add{,.rn}{,.ftz}{,.sat}.{T:f16,f16x2} T <- T T",
    "sub{,.rn}{,.ftz}{,.sat}.{T:f16,f16x2} T <- T T",
    "mul{,.rn}{,.ftz}{,.sat}.{T:f16,f16x2} T <- T T",
    "fma.rn{,.ftz}{,.sat,.relu}.{T:f16,f16x2} T <- T T T",
    "fma.rn{,.relu}.{T:bf16,bf16x2} T <- T T T",
    "abs{,.ftz}.{T:f16,f16x2} T <- T",
    "neg{,.ftz}.{T:f16,f16x2} T <- T",
    "abs.{T:bf16,bf16x2} T <- T",
    "neg.{T:bf16,bf16x2} T <- T",
    "min{,.ftz}{,.NaN}.{T:f16,f16x2} T <- T T",
    "max{,.ftz}{,.NaN}.{T:f16,f16x2} T <- T T",
    "min{,.NaN}.{T:bf16,bf16x2} T <- T T",
    "max{,.NaN}.{T:bf16,bf16x2} T <- T T",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.f16 p <- f16 f16",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}{,.ftz}.f16x2 p p <- f16x2 f16x2",
    "set.{eq,ne,lt,geu,num,nan}{,.ftz}.{D:f16,u32,s32}.f16 D <- f16 f16",
    "set.{eq,ne,lt,geu,num,nan}{,.ftz}.f16x2.f16x2 f16x2 <- f16x2 f16x2",
    "cvt.{rn,rz,rm,rp}.f16.{T:u8,s8,u16,s16,u32,s32,u64,s64} f16 <- T",
    "cvt.{rni,rzi,rmi,rpi}{,.sat}.{D:u8,s8,u16,s16,u32,s32,u64,s64}.f16 D <- f16",
    "cvt.{D:f32,f64}.f16 D <- f16",
    "cvt.{rn,rz,rm,rp}{,.sat}.f16.{T:f32,f64} f16 <- T",
    "cvt.{rni,rzi,rmi,rpi}.f16.f16 f16 <- f16",
    "cvt.{rn,rz}{,.relu}.bf16.f32 bf16 <- f32",
    "cvt.{rn,rz}{,.relu}.{D:f16x2,bf16x2}.f32 D <- f32 f32",
];

/// What sm_90 added.
pub const SM90: &[&str] = &[
    "add.{T:u16x2,s16x2} T <- T T",
    "min{,.relu}.s16x2 s16x2 <- s16x2 s16x2",
    "max{,.relu}.s16x2 s16x2 <- s16x2 s16x2",
    "min.u16x2 u16x2 <- u16x2 u16x2",
    "max.u16x2 u16x2 <- u16x2 u16x2",
    "min.relu.s32 s32 <- s32 s32",
    "max.relu.s32 s32 <- s32 s32",
    "min{,.ftz}{,.NaN}.xorsign.abs.f32 f32 <- f32 f32",
    "max{,.ftz}{,.NaN}.xorsign.abs.f32 f32 <- f32 f32",
    "min{,.NaN}.xorsign.abs.{T:f16,f16x2,bf16,bf16x2} T <- T T",
    "max{,.NaN}.xorsign.abs.{T:f16,f16x2,bf16,bf16x2} T <- T T",
    "add{,.rn}.{T:bf16,bf16x2} T <- T T",
    "sub{,.rn}.{T:bf16,bf16x2} T <- T T",
    "mul{,.rn}.{T:bf16,bf16x2} T <- T T",
    "setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.bf16 p <- bf16 bf16",
    "cvt.f32.bf16 f32 <- bf16",
    "lop3.{or,and}.b32 b32 p <- b32 b32 b32 imm8 p",
];

/// Instructions that only the test of loading uses: results are approximate, or depend on other threads.
pub const OTHER: &[&str] = &[
    "rcp.approx{,.ftz}.{T:f32,f64} T <- T",
    "div.{approx,full}{,.ftz}.f32 f32 <- f32 f32",
    "sqrt.approx{,.ftz}.f32 f32 <- f32",
    "{rsqrt,sin,cos,lg2,ex2,tanh}.approx{,.ftz}.{T:f32,f64,f16,f16x2,bf16,bf16x2} T <- T",
    "shfl.sync.{up,down,bfly,idx}.b32 b32 p? <- b32 amount amount b32",
    "vote.sync.{all,any,uni}.pred p <- p b32",
    "vote.sync.ballot.b32 b32 <- p b32",
    "match.{any,all}.sync.{T:b32,b64} b32 p? <- T b32",
    "redux.sync.{add,min,max,and,or,xor}.{T:b32,u32,s32} T <- T b32",
    "activemask.b32 b32 <-",
    "bar.sync <- small",
    "bar.sync <- small small",
    "bar.arrive <- small small",
    "bar.red.popc.u32 u32 <- small p",
    "bar.red.{and,or}.pred p <- small p",
    "bar.warp.sync <- b32",
    "elect.sync b32 p <- b32",
    "nanosleep.u32 <- small",
    "{addc,subc}{,.cc}.{T:u32,s32,u64,s64} T <- T T",
    "{add,sub}.cc.{T:u32,s32,u64,s64} T <- T T",
    "madc.{lo,hi}{,.cc}.{T:u32,s32,u64,s64} T <- T T T",
    "membar.{cta,gl,sys} <-",
    "fence{,.sc,.acq_rel}.{cta,gpu,sys} <-",
    "ld{,.volatile,.relaxed.gpu,.acquire.sys}{,.global,.shared,.local,.const,.param}{,.ca,.nc}.{T:b8,u8,s8,b16,u16,s16,f16,b32,u32,s32,f32,b64,u64,s64,f64,b128} T <- mem",
    "ld{,.global,.shared,.local}.{v2,v4,v8}.{T:b8,u8,s8,b16,u16,b32,f32,b64,f64} T <- mem",
    "st{,.volatile,.relaxed.gpu,.release.sys}{,.global,.shared,.local,.param}{,.wb,.cs}.{T:b8,u8,b16,f16,b32,f32,b64,f64,b128} <- mem T",
    "atom{,.relaxed.gpu,.acq_rel.sys}{,.global,.shared}.{add,min,max,and,or,xor,exch,inc,dec}{,.noftz}.{T:b16,b32,u32,s32,b64,u64,s64,f16,bf16,f16x2,bf16x2,f32,f64,b128} T <- mem T",
    "atom{,.global,.shared}.cas.{T:b16,b32,b64,b128,u32,u64} T <- mem T T",
    "red{,.release.gpu}{,.global,.shared}.{add,min,max,and,or,xor,inc,dec}{,.noftz}.{T:b16,b32,u32,s32,b64,u64,s64,f16,bf16,f16x2,bf16x2,f32,f64} <- mem T",
    "cp.async.{ca,cg}.shared.global <- mem mem small",
    "cp.async.{ca,cg}.shared.global <- mem mem small amount",
    "cp.async.wait_group <- imm8",
    "prefetch{.global,.local}.{L1,L2} <- mem",
    "isspacep.{global,shared,local,const,param} p <- u64",
    "cvta{,.to}.{global,shared,local,const,param}.{T:u32,u64} T <- T",
    "alloca.{T:u32,u64} T <- T",
    "stacksave.{T:u32,u64} T <-",
    "stackrestore.{T:u32,u64} <- T",
    "ret <-",
    "exit <-",
    "trap <-",
    "brkpt <-",
    "bra{,.uni} <- label",
    "brx.idx{,.uni} <- amount table",
    "tex.{1d,2d,3d,a1d,a2d,cube}.v4.{T:f32,u32,s32}.{f32,s32} T <- u64 {f32}",
    "suld.b.{1d,2d,3d}{,.v2,.v4}.{T:b8,b16,b32,b64}{,.trap,.clamp,.zero} T <- u64 s32",
    "sust.b.{1d,2d,3d}{,.v2,.v4}.{T:b8,b16,b32,b64}{,.trap,.clamp,.zero} <- u64 s32 T",
];

/// The type of twice the width.
fn wide(ty: &str) -> String {
    match ty {
        "u16" => "u32",
        "s16" => "s32",
        "u32" => "u64",
        "s32" => "s64",
        other => other,
    }
    .to_owned()
}

/// A form of `row`, by `choose` where it leaves a choice.
pub fn form(row: &str, mut choose: impl FnMut(&[&str]) -> usize) -> Form {
    let (left, right) = row.split_once("<-").unwrap_or((row, ""));
    let mut left = left.split_whitespace();
    let (mut mnemonic, mut bound) = (String::new(), Vec::new());
    let mut rest = left.next().unwrap_or_default();
    while let Some((before, after)) = rest.split_once('{') {
        mnemonic.push_str(before);
        let (group, after) = after.split_once('}').unwrap_or((after, ""));
        let (name, choices) = group.split_once(':').unwrap_or(("", group));
        // `shared::cta` is no name.
        let (name, choices) = if name.len() > 1 { ("", group) } else { (name, choices) };
        let list: Vec<&str> = choices.split(',').collect();
        let chosen = list[choose(&list)];
        mnemonic.push_str(chosen);
        bound.push((name, chosen));
        rest = after;
    }
    mnemonic.push_str(rest);
    let mut place = |word: &str| -> Option<Place> {
        let of = |name: &str| {
            let found = bound.iter().find(|(bound, _)| *bound == name);
            found.map_or_else(|| name.to_owned(), |(_, ty)| (*ty).to_owned())
        };
        Some(match word {
            "p?" if choose(&["", "p"]) == 0 => return None,
            "p" | "p?" => Place::Value("pred".to_owned()),
            "imm8" => Place::Byte,
            "amount" => Place::Amount,
            "small" => Place::Small,
            _ if word.starts_with("n0") => Place::Divisor(of(&word[2..])),
            _ if word.starts_with('2') => Place::Value(wide(&of(&word[1..]))),
            _ => Place::Value(of(word)),
        })
    };
    let destinations = left.filter_map(&mut place).collect();
    let sources = right.split_whitespace().filter_map(&mut place).collect();
    Form { mnemonic, destinations, sources }
}

/// A form of one of `rows`.
pub fn random(rng: &mut Rng, rows: &[&str]) -> Form {
    let row = rows[rng.usize(0..rows.len())];
    form(row, |list| rng.usize(0..list.len()))
}
