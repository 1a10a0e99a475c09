//! How a register's value differs between neighbours: threads that follow each other in x and take the same way through
//! the code.

use crate::ptx::ast::Body;
use crate::ptx::cfg::RegSet;
use crate::ptx::inst::Instruction;
use crate::ptx::modifier::{BoolOp, Half};
use crate::ptx::op::{Integer, Loads, Semantics, Waits, WarpOp};
use crate::ptx::operand::{
    Address, Axis, Base, Decides, Grid, Operand, Reg, Scalar, Special, Symbol,
};
use crate::ptx::pass::constants::Constants;
use crate::ptx::types::{Space, Type};

/// Which threads are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbours {
    most: u32,
    /// So many low bits of the first one's coordinate, and of the block's size in x, are known to be zero.
    zeros: u32,
}

impl Neighbours {
    /// So many of a warp that it is a power of two, the first of them at a multiple of that; the block's size in x is a
    /// multiple of it, too.
    pub const fn aligned(count: u32) -> Self {
        Self { most: count, zeros: count.trailing_zeros() }
    }

    /// However many, from whichever on.
    pub const fn in_x() -> Self {
        Self { most: u32::MAX, zeros: 0 }
    }

    /// Whether they are of one warp.
    const fn share_warp(self) -> bool {
        self.most <= 32
    }
}

/// How a value differs between neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// By `stride` from one to the next, modulo the register's width; not at all where that is 0.
    Affine {
        /// The difference.
        stride: i64,
        /// So many low bits of the first one's value are known to be zero.
        zeros: u32,
    },
    /// Somehow.
    Varying,
}

impl Shape {
    /// The same for all, nothing known of its bits.
    pub const UNIFORM: Self = Self::Affine { stride: 0, zeros: 0 };

    /// The constant difference.
    pub const fn stride(self) -> Option<i64> {
        match self {
            Self::Affine { stride, .. } => Some(stride),
            Self::Varying => None,
        }
    }

    /// Whether it is the same for all.
    pub const fn is_uniform(self) -> bool {
        matches!(self, Self::Affine { stride: 0, .. })
    }

    /// Whether the value of none of so many neighbours lies beyond the end of the numbers of its width, signed or
    /// not, where the first one's does not.
    pub const fn never_wraps(self, neighbours: Neighbours) -> bool {
        match self {
            Self::Affine { stride: 0, .. } => true,
            Self::Affine { stride, zeros } => {
                let span = stride.unsigned_abs().saturating_mul(neighbours.most as u64);
                stride > 0 && zeros < 32 && span <= 1 << zeros
            }
            Self::Varying => false,
        }
    }

    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Affine { stride: a, zeros: x }, Self::Affine { stride: b, zeros: y })
                if a == b =>
            {
                Self::Affine { stride: a, zeros: if x < y { x } else { y } }
            }
            (Self::Affine { .. } | Self::Varying, Self::Affine { .. } | Self::Varying) => {
                Self::Varying
            }
        }
    }

    fn constant(value: i64) -> Self {
        Self::Affine { stride: 0, zeros: value.trailing_zeros() }
    }
}

/// The shapes of a body's registers.
#[derive(Clone, Debug)]
pub struct Shapes {
    of: Vec<Option<Shape>>,
    /// How many of its low bits a register may have set.
    low_bits: Vec<u32>,
    constants: Constants,
    neighbours: Neighbours,
}

impl Shapes {
    /// Of all registers of `body`, optimistically: by descending from "unknown" until nothing changes. `unwritten` are
    /// those that may be read before anything writes them, as zero.
    pub fn new(body: &Body, neighbours: Neighbours, unwritten: &RegSet) -> Self {
        Self::with_varying(body, neighbours, unwritten, &RegSet::default())
    }

    /// With registers that are known to vary, for whatever reason.
    pub fn with_varying(
        body: &Body,
        neighbours: Neighbours,
        unwritten: &RegSet,
        varying: &RegSet,
    ) -> Self {
        let of = vec![None; body.registers.len()];
        let constants = Constants::new(body, unwritten);
        let mut shapes = Self { of, low_bits: low_bits(body), constants, neighbours };
        unwritten.iter().for_each(|reg| shapes.of[reg.0 as usize] = Some(Shape::constant(0)));
        varying.iter().for_each(|reg| shapes.of[reg.0 as usize] = Some(Shape::Varying));
        while shapes.pass(body) {}
        // What nothing writes reads as zero.
        shapes
            .of
            .iter_mut()
            .filter(|shape| shape.is_none())
            .for_each(|s| *s = Some(Shape::UNIFORM));
        while shapes.pass(body) {}
        shapes
    }

    /// The shape of a register.
    pub fn of(&self, reg: Reg) -> Shape {
        self.of.get(reg.0 as usize).copied().flatten().unwrap_or(Shape::UNIFORM)
    }

    /// Whether no neighbour's value of a register wraps where the first one's does not.
    pub fn never_wraps(&self, body: &Body, operand: &Operand) -> bool {
        self.operand(body, operand).never_wraps(self.neighbours)
    }

    /// The shape of an operand.
    pub fn operand(&self, body: &Body, operand: &Operand) -> Shape {
        self.known(body, operand).unwrap_or(Shape::UNIFORM)
    }

    /// Whether all that the instruction reads is uniform.
    pub fn reads_uniform(&self, body: &Body, i: &Instruction) -> bool {
        let guard = i.guard.is_none_or(|guard| self.of(guard.reg).is_uniform());
        guard && i.src.iter().all(|operand| self.operand(body, operand).is_uniform())
    }

    fn pass(&mut self, body: &Body) -> bool {
        let mut changed = false;
        for i in body.instructions() {
            let Some(shape) = self.result(body, i) else { continue };
            i.for_each_def(|reg| {
                let entry = &mut self.of[reg.0 as usize];
                let counts = is_wide(body.registers.ty(reg));
                let shape = if counts || shape.is_uniform() { shape } else { Shape::Varying };
                let new = entry.map_or(shape, |old| old.join(shape));
                changed |= *entry != Some(new);
                *entry = Some(new);
            });
        }
        changed
    }

    fn known(&self, body: &Body, operand: &Operand) -> Option<Shape> {
        let of = |reg: Reg| self.of.get(reg.0 as usize).copied().unwrap_or(Some(Shape::UNIFORM));
        match operand {
            Operand::Reg(reg) | Operand::Not(reg) => of(*reg),
            Operand::Int(value) => Some(Shape::constant(*value)),
            Operand::Special(special) => Some(special_shape(*special, self.neighbours)),
            Operand::Symbol(symbol, _) => Some(symbol_shape(body, *symbol)),
            Operand::Address(Address { base: Base::Reg(reg), .. }) => of(*reg),
            Operand::Address(Address { base: Base::Symbol(symbol), .. }) => {
                Some(symbol_shape(body, *symbol))
            }
            Operand::Address(Address { base: Base::Absolute, .. }) => Some(Shape::UNIFORM),
            Operand::Vector(parts) | Operand::Bracket(parts) => {
                let mut all = Some(Shape::UNIFORM);
                for part in parts {
                    let shape = self.known(body, part)?;
                    all = all.map(|s| if shape.is_uniform() { s } else { Shape::Varying });
                }
                all
            }
            Operand::F32(_) | Operand::F64(_) => Some(Shape::UNIFORM),
            Operand::Label(_) | Operand::Table(_) | Operand::Sink => Some(Shape::UNIFORM),
        }
    }

    /// The shape of what an instruction gives; `None` where it gives nothing.
    pub fn result(&self, body: &Body, i: &Instruction) -> Option<Shape> {
        if i.dst.is_empty() {
            return None;
        }
        if self.meets_for_the_same(i) {
            return Some(Shape::UNIFORM);
        }
        if !i.op.facts().is_function || reads_own_memory(body, i) {
            return Some(Shape::Varying);
        }
        let guard =
            i.guard.map_or(Some(Shape::UNIFORM), |g| self.known(body, &Operand::Reg(g.reg)))?;
        let shapes: Vec<Shape> =
            i.src.iter().map(|operand| self.known(body, operand)).collect::<Option<_>>()?;
        if !guard.is_uniform() {
            return Some(Shape::Varying);
        }
        let linear = linear(i, &shapes, self.neighbours).or_else(|| self.disjoint(i, &shapes));
        Some(linear.unwrap_or({
            let uniform = shapes.iter().all(|shape| shape.is_uniform());
            if uniform { Shape::UNIFORM } else { Shape::Varying }
        }))
    }
}

impl Shapes {
    /// Whether it is an operation of the warp that gives all neighbours the same. They do it together, however they
    /// came to it, if who takes part stands in the code; a mask in a register that is the same for those who go one way
    /// may be another one each time.
    fn meets_for_the_same(&self, i: &Instruction) -> bool {
        let Waits::Warp(op) = i.op.facts().waits else { return false };
        let is_known = |mask| self.constants.word(mask).is_some();
        let known = op == WarpOp::Activemask || i.src.get(1).is_some_and(is_known);
        op.gives_the_same() && known && i.guard.is_none() && self.neighbours.share_warp()
    }

    /// `or` of a number that is the same for all and one that has only bits below those: their sum.
    fn disjoint(&self, i: &Instruction, shapes: &[Shape]) -> Option<Shape> {
        let (Semantics::Integer(Integer::Bitwise(BoolOp::Or), ty), [a, b, ..]) =
            (Semantics::of(&i.op)?, shapes)
        else {
            return None;
        };
        let bits = |at: usize| {
            let reg = i.src.get(at).and_then(Operand::reg);
            reg.and_then(|reg| self.low_bits.get(reg.0 as usize)).copied()
        };
        let below = |high: Shape, low: usize| match high {
            Shape::Affine { stride: 0, zeros } => bits(low).is_some_and(|bits| bits <= zeros),
            Shape::Affine { .. } | Shape::Varying => false,
        };
        (is_wide(ty) && (below(*a, 1) || below(*b, 0))).then(|| sum(*a, *b, 1)).flatten()
    }
}

/// How many of its low bits each register may have set: few where nothing but `and` with a number writes it.
fn low_bits(body: &Body) -> Vec<u32> {
    let mut bits = vec![0; body.registers.len()];
    for i in body.instructions() {
        let kept = if let Some(Semantics::Integer(Integer::Bitwise(BoolOp::And), _)) =
            Semantics::of(&i.op)
            && let [_, Operand::Int(mask)] = i.src.as_slice()
        {
            u64::BITS - mask.leading_zeros()
        } else {
            u64::BITS
        };
        i.for_each_def(|reg| {
            let entry: &mut u32 = &mut bits[reg.0 as usize];
            *entry = kept.max(*entry);
        });
    }
    bits
}

/// Whether it reads memory of which each thread has its own, at an address that is the same for all.
fn reads_own_memory(body: &Body, i: &Instruction) -> bool {
    let of_variable = || {
        let symbol = i.src.first().and_then(Operand::symbol);
        symbol.is_some_and(|symbol| !symbol_shape(body, symbol).is_uniform())
    };
    match i.op.facts().loads {
        Loads::No => false,
        Loads::From(Space::Local) => true,
        Loads::From(_) | Loads::Generic => of_variable(),
    }
}

fn special_shape(special: Special, neighbours: Neighbours) -> Shape {
    let Neighbours { zeros, .. } = neighbours;
    let counts = Shape::Affine { stride: 1, zeros };
    match special {
        Special::Axis(grid, axis) => match (grid, axis) {
            (Grid::Tid, Axis::X) => counts,
            (Grid::Ntid, Axis::X) => Shape::Affine { stride: 0, zeros },
            (Grid::Tid | Grid::Ntid, Axis::Y | Axis::Z | Axis::W) => Shape::UNIFORM,
            (Grid::Ctaid | Grid::Nctaid | Grid::Clusterid | Grid::Nclusterid, _) => Shape::UNIFORM,
            (Grid::ClusterCtaid | Grid::ClusterNctaid, _) => Shape::UNIFORM,
        },
        Special::Whole(Grid::Tid) => Shape::Varying,
        Special::Scalar(Scalar::Laneid) if neighbours.share_warp() => counts,
        Special::Scalar(Scalar::Warpid) if !neighbours.share_warp() => Shape::Varying,
        Special::Scalar(scalar) => match scalar.decides() {
            Decides::Lane | Decides::Cycles => Shape::Varying,
            Decides::Time | Decides::ReservedShared | Decides::Launch => Shape::UNIFORM,
        },
        Special::Whole(_) | Special::Envreg(_) | Special::Pm(..) => Shape::UNIFORM,
    }
}

fn symbol_shape(body: &Body, symbol: Symbol) -> Shape {
    match symbol {
        // Each thread has its own.
        Symbol::Local(index) => match body.locals.get(index as usize) {
            Some(variable) if variable.space.is_of_block() => Shape::UNIFORM,
            Some(_) | None => Shape::Varying,
        },
        Symbol::Variable(_) | Symbol::Param(_) | Symbol::Return(_) | Symbol::Function(_) => {
            Shape::UNIFORM
        }
    }
}

/// Whether it is an integer of 32 or 64 bits.
fn is_wide(ty: Type) -> bool {
    matches!(ty.bytes(), 4 | 8) && !ty.is_float() && !ty.is_packed()
}

/// The result of integer arithmetic that keeps differences constant; none where nothing is known of that, as of most
/// operations.
fn linear(i: &Instruction, shapes: &[Shape], neighbours: Neighbours) -> Option<Shape> {
    let of = |at: usize| shapes.get(at).copied();
    match Semantics::of(&i.op)? {
        Semantics::Move(ty) => {
            let is_packed = |operand: &Operand| matches!(operand, Operand::Vector(_));
            let is_whole = is_wide(ty) && !i.dst.iter().chain(&i.src).any(is_packed);
            of(0).filter(|_| is_whole)
        }
        Semantics::Address { .. } => of(0),
        Semantics::Integer(_, ty) if !is_wide(ty) => None,
        Semantics::Integer(operation, _) => match operation {
            Integer::Sum => sum(of(0)?, of(1)?, 1),
            Integer::Difference => sum(of(0)?, of(1)?, -1),
            Integer::Negative => sum(Shape::constant(0), of(0)?, -1),
            Integer::Product(Half::Lo | Half::Wide) => product(i, shapes),
            Integer::Mad(Half::Lo | Half::Wide) => sum(product(i, shapes)?, of(2)?, 1),
            Integer::ShiftLeft => {
                let Shape::Affine { stride, zeros } = of(0)? else { return None };
                let by = shift(i)?;
                let (stride, zeros) = (stride.checked_shl(by)?, zeros.saturating_add(by));
                Some(Shape::Affine { stride, zeros })
            }
            // All neighbours lie between two multiples of the power of two.
            Integer::ShiftRight => {
                let shape @ Shape::Affine { zeros, .. } = of(0)? else { return None };
                (shift(i)? >= zeros && shape.never_wraps(neighbours)).then_some(Shape::UNIFORM)
            }
            Integer::Bitwise(BoolOp::And) => mask(of(0)?, i.src.get(1)?, neighbours),
            Integer::Bitwise(BoolOp::Or | BoolOp::Xor) => None,
            Integer::Product(Half::Hi) | Integer::Mad(Half::Hi) => None,
            Integer::Quotient | Integer::Remainder | Integer::Magnitude => None,
            Integer::Complement | Integer::Least | Integer::Greatest => None,
            Integer::Extract | Integer::Insert | Integer::Bytes | Integer::Count => None,
        },
        Semantics::Convert(cvt) => {
            let (from, to) = cvt.resizes()?;
            let is_near =
                |shape: &Shape| shape.stride().is_some_and(|stride| i32::try_from(stride).is_ok());
            of(0).filter(|shape| is_wide(from) && is_wide(to) && is_near(shape))
        }
        Semantics::Choice(_) | Semantics::Load(_) => None,
        Semantics::Real(_) | Semantics::Predicate(_) => None,
    }
}

/// The constant amount of a shift.
fn shift(i: &Instruction) -> Option<u32> {
    if let Operand::Int(by @ 0..=31) = i.src.get(1)? { Some(*by as u32) } else { None }
}

fn sum(a: Shape, b: Shape, sign: i64) -> Option<Shape> {
    let (Shape::Affine { stride: a, zeros: x }, Shape::Affine { stride: b, zeros: y }) = (a, b)
    else {
        return None;
    };
    Some(Shape::Affine { stride: a.checked_add(b.checked_mul(sign)?)?, zeros: x.min(y) })
}

fn product(i: &Instruction, shapes: &[Shape]) -> Option<Shape> {
    let (a, b) = (*shapes.first()?, *shapes.get(1)?);
    // A constant is cut to the type's width; here it must be the same number before and after.
    let factor = |at: usize| {
        let Operand::Int(value) = i.src.get(at)? else { return None };
        i32::try_from(*value).ok().filter(|v| *v >= 0).map(i64::from)
    };
    let (Shape::Affine { stride: s, zeros: x }, Shape::Affine { stride: t, zeros: y }) = (a, b)
    else {
        return None;
    };
    if i32::try_from(s).is_err() || i32::try_from(t).is_err() {
        return None;
    }
    let stride = match (s, t, factor(0), factor(1)) {
        (0, 0, ..) => 0,
        (_, 0, _, Some(by)) => s.checked_mul(by)?,
        (0, _, Some(by), _) => t.checked_mul(by)?,
        _ => return None,
    };
    Some(Shape::Affine { stride, zeros: x.saturating_add(y) })
}

/// `and` with a constant that keeps all of the bits in which neighbours differ, or none.
fn mask(value: Shape, mask: &Operand, neighbours: Neighbours) -> Option<Shape> {
    let (Shape::Affine { stride, zeros }, Operand::Int(mask)) = (value, mask) else { return None };
    if stride == 0 || !value.never_wraps(neighbours) || zeros > 31 {
        return None;
    }
    let low = (1i64 << zeros) - 1;
    match mask & low {
        0 => Some(Shape::UNIFORM),
        kept if kept == low => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Neighbours, Shape, Shapes};
    use crate::ptx::parse;

    /// The shapes of registers of a kernel with this body among four threads, by name.
    fn strides(body: &str, names: &[&str]) -> Vec<Option<i64>> {
        strides_of(Neighbours::aligned(4), body, names)
    }

    fn strides_of(neighbours: Neighbours, body: &str, names: &[&str]) -> Vec<Option<i64>> {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{{\n\
             .reg .pred %p<9>;\n.reg .f32 %f<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n{body}\nret;\n}}\n"
        );
        let module = parse(&text).unwrap_or_default();
        let function = module.functions.first();
        let body = function.and_then(|f| f.body.as_ref());
        let Some(body) = body else { return Vec::new() };
        let cfg = crate::ptx::cfg::Cfg::new(body);
        let live = crate::ptx::cfg::Liveness::new(body, &cfg, &[]);
        let shapes = Shapes::new(body, neighbours, live.at_entry());
        let regs = (0..body.registers.len() as u32).map(crate::ptx::operand::Reg);
        let named: Vec<_> = regs.map(|reg| (body.registers.name(reg), shapes.of(reg))).collect();
        let find =
            |name: &&str| named.iter().find(|(n, _)| n == name).and_then(|(_, s)| s.stride());
        names.iter().map(find).collect()
    }

    #[test]
    fn an_index_is_affine_and_its_address_too() {
        let body = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
                    mad.lo.s32 %r4, %r1, %r2, %r3; ld.param.u64 %rd1, [p]; mul.wide.s32 %rd2, %r4, 12;
                    add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd1];
                    shr.u32 %r5, %r3, 5; and.b32 %r6, %r3, 31; and.b32 %r7, %r3, 2; mul.lo.s32 %r8, %r4, %r1;";
        let names = ["%r1", "%r4", "%rd2", "%rd3", "%f1", "%f2", "%r5", "%r6", "%r7", "%r8"];
        let expected =
            [Some(0), Some(1), Some(12), Some(12), None, Some(0), Some(0), Some(1), None, None];
        assert_eq!(strides(body, &names), expected);
    }

    #[test]
    fn bits_below_those_of_what_is_the_same_are_added() {
        let body = "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; ld.param.u32 %r3, [n]; shl.b32 %r4, %r3, 5; shl.b32 %r5, %r3, 4;
                    or.b32 %r6, %r2, %r4; or.b32 %r7, %r4, %r2; or.b32 %r8, %r2, %r5; or.b32 %r9, %r1, %r4;
                    and.b32 %r10, %r1, 31; add.s32 %r10, %r10, 1; or.b32 %r11, %r10, %r4;";
        let names = ["%r2", "%r6", "%r7", "%r8", "%r9", "%r11"];
        assert_eq!(strides(body, &names), [Some(1), Some(1), Some(1), None, None, None]);
    }

    #[test]
    fn what_loops_and_joins_make_different_is_found() {
        let body = "mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r9, 0; ld.param.u32 %r7, [n];
                    LOOP: add.s32 %r2, %r2, 1; add.s32 %r1, %r1, %r7; add.s32 %r9, %r9, %r1;
                    setp.lt.s32 %p1, %r2, %r7; setp.lt.s32 %p2, %r1, %r7; @%p1 bra LOOP;";
        let names = ["%r1", "%r2", "%r9", "%p1", "%p2"];
        assert_eq!(strides(body, &names), [Some(1), Some(0), None, Some(0), None]);
    }

    /// Where a thread reads zero, and what the text writes later differs between threads.
    #[test]
    fn what_is_read_before_it_is_written_is_zero_at_first() {
        let body =
            "add.s32 %r2, %r1, 28; mov.u32 %r1, %tid.x; add.s32 %r4, %r3, 1; mov.u32 %r3, 7;";
        assert_eq!(strides(body, &["%r1", "%r2", "%r3", "%r4"]), [None, None, Some(0), Some(0)]);
    }

    #[test]
    fn multiples_do_not_wrap_between_neighbours() {
        let shape = |stride, zeros| Shape::Affine { stride, zeros };
        let four = Neighbours::aligned(4);
        assert!(shape(1, 2).never_wraps(four));
        assert!(shape(4, 4).never_wraps(four));
        assert!(!shape(1, 1).never_wraps(four));
        assert!(!shape(3, 3).never_wraps(four));
        assert!(!shape(-1, 2).never_wraps(four));
    }

    #[test]
    fn of_threads_anywhere_in_x_no_bits_are_known() {
        let body = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
                    mad.lo.s32 %r4, %r1, %r2, %r3; mul.lo.s32 %r5, %r4, 12; shr.u32 %r6, %r3, 5; and.b32 %r7, %r3, 31;
                    mov.u32 %r8, %laneid; mov.u32 %r9, %warpid; or.b32 %r10, %r2, %r7; shr.u32 %r11, %r2, 3; shl.b32 %r12, %r3, 10;
                    shr.u32 %r13, %r12, 10;";
        let names = ["%r4", "%r5", "%r6", "%r7", "%r8", "%r9", "%r10", "%r11", "%r12", "%r13"];
        let of = |neighbours| strides_of(neighbours, body, &names);
        let four =
            [1, 12, 0, 1, 1, 0].map(Some).into_iter().chain([None, Some(0), Some(1024), None]);
        assert_eq!(of(Neighbours::aligned(4)), four.collect::<Vec<_>>());
        let all = [Some(1), Some(12), None, None, None, None, None, Some(0), Some(1024), None];
        assert_eq!(of(Neighbours::in_x()), all);
    }
}
