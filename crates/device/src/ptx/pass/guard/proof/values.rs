//! Which instruction gave a register the value that it has at a place.
//!
//! Registers of PTX are written in several places. Here each write is a value of its own, and where ways join that
//! bring different ones, their φ is a value, too (static single assignment, found on demand as in Braun et al.,
//! *Simple and efficient construction of static single assignment form*, 2013). So what is known of a value is known
//! of all that was computed from it, for nothing changes it until it is computed anew, and then so is all the rest.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use crate::ptx::ast::{Body, Function, Statement};
use crate::ptx::cfg::{BlockId, Cfg};
use crate::ptx::inst::{Instruction, Op};
use crate::ptx::modifier::Cvt;
use crate::ptx::op::Loads;
use crate::ptx::op::{Semantics, is_integer};
use crate::ptx::operand::{Base, Operand, Reg, Special, Symbol};
use crate::ptx::types::Type;

/// Most values that are gone through to find that they are one.
const MOST: usize = 200;

/// What a register holds at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Value {
    /// What the instruction at this index of the statements wrote to it.
    Result(usize, Reg),
    /// The φ at the beginning of a block: what the block before has left in it.
    Phi(BlockId, Reg),
    /// What it had when the function began.
    Unset(Reg),
}

impl Value {
    pub(super) fn reg(self) -> Reg {
        match self {
            Self::Result(_, reg) | Self::Phi(_, reg) | Self::Unset(reg) => reg,
        }
    }
}

/// A body in which values can be asked for.
pub(super) struct Values<'a> {
    pub(super) body: &'a Body,
    pub(super) cfg: &'a Cfg,
    /// The block of each statement.
    blocks: Vec<BlockId>,
    /// Where each register is written, in the order of the text.
    writes: HashMap<Reg, Vec<usize>>,
    /// The immediate dominators.
    above: Vec<Option<BlockId>>,
    /// How many dominators a block has.
    depth: Vec<u32>,
    found: RefCell<HashMap<(BlockId, Reg), Value>>,
    /// The first value of each expression, and of each value.
    expressions: RefCell<HashMap<(Op, Vec<Part>), Value>>,
    canonical: RefCell<HashMap<Value, Value>>,
    /// The bytes of the arguments that were asked for, of which an answer depends.
    pub(super) read: RefCell<BTreeSet<(usize, usize)>>,
}

/// An operand of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    Value(Value),
    Other(Operand),
}

/// Most steps that two equal expressions are followed.
const DEEPEST: u32 = 12;

impl<'a> Values<'a> {
    pub(super) fn new(function: &Function, body: &'a Body, cfg: &'a Cfg) -> Self {
        let mut blocks = vec![BlockId(0); body.statements.len()];
        let mut writes: HashMap<Reg, Vec<usize>> = HashMap::new();
        for id in cfg.ids() {
            cfg.block(id).statements.clone().for_each(|at| blocks[at] = id);
            for (at, i) in cfg.instructions(body, id) {
                i.for_each_def(|reg| writes.entry(reg).or_default().push(at));
            }
        }
        // What a caller gives is none of these.
        for reg in function.params.iter().filter_map(|param| param.reg) {
            writes.remove(&reg);
        }
        let above = cfg.dominators();
        let mut depth = vec![0; cfg.blocks.len()];
        for id in &cfg.order {
            if let Some(up) = above[id.index()] {
                depth[id.index()] = depth[up.index()] + 1;
            }
        }
        Self {
            body,
            cfg,
            blocks,
            writes,
            above,
            depth,
            found: RefCell::default(),
            expressions: RefCell::default(),
            canonical: RefCell::default(),
            read: RefCell::default(),
        }
    }

    pub(super) fn block(&self, at: usize) -> BlockId {
        self.blocks.get(at).copied().unwrap_or(BlockId(0))
    }

    pub(super) fn above(&self, id: BlockId) -> Option<BlockId> {
        self.above[id.index()]
    }

    /// Whether every way to `to` leads through `from`.
    pub(super) fn dominates(&self, from: BlockId, mut to: BlockId) -> bool {
        while self.depth[to.index()] > self.depth[from.index()] {
            match self.above(to) {
                Some(up) => to = up,
                None => return false,
            }
        }
        from == to
    }

    /// The nearest block that every way to `block` leads through, or `block`, where several ways join that do not come
    /// back from there.
    pub(super) fn join_above(&self, mut block: BlockId) -> Option<BlockId> {
        loop {
            let before = &self.cfg.block(block).predecessors;
            let comes_back = before.iter().any(|from| self.dominates(block, *from));
            if before.len() > 1 && !comes_back {
                return Some(block);
            }
            block = self.above(block)?;
        }
    }

    /// Where a value comes to be.
    pub(super) fn birthplace(&self, value: Value) -> BlockId {
        match value {
            Value::Result(at, _) => self.block(at),
            Value::Phi(block, _) => block,
            Value::Unset(_) => BlockId(0),
        }
    }

    /// The instruction that a value is a result of.
    pub(super) fn instruction(&self, value: Value) -> Option<(usize, &'a Instruction)> {
        let Value::Result(at, _) = value else { return None };
        Some((at, self.statement(at)?))
    }

    /// The instruction at an index of the statements.
    pub(super) fn statement(&self, at: usize) -> Option<&'a Instruction> {
        match self.body.statements.get(at)? {
            Statement::Instruction(i) => Some(i),
            Statement::Label(_) | Statement::Pragma(_) => None,
        }
    }

    /// One value of all that were computed alike of the same values, so that what is known of one is known of all.
    pub(super) fn canonical(&self, value: Value) -> Value {
        self.canonical_within(value, DEEPEST)
    }

    fn canonical_within(&self, value: Value, steps: u32) -> Value {
        if let Some(known) = self.canonical.borrow().get(&value) {
            return *known;
        }
        let (Some((at, i)), Some(steps)) = (self.instruction(value), steps.checked_sub(1)) else {
            return value;
        };
        let parts = self.parts(at, i, value.reg(), steps);
        let same = match parts {
            None => value,
            Some(parts) => self.is_source(&i.op, &parts, value).unwrap_or_else(|| {
                let mut known = self.expressions.borrow_mut();
                *known.entry((i.op.clone(), parts)).or_insert(value)
            }),
        };
        self.canonical.borrow_mut().insert(value, same);
        same
    }

    /// The source, where an operation gives the same number again.
    fn is_source(&self, op: &Op, parts: &[Part], value: Value) -> Option<Value> {
        let [Part::Value(from)] = parts else { return None };
        let bits = |value: Value| self.body.registers.ty(value.reg()).bits();
        if let Op::Cvt(cvt) = op {
            return self.widened(cvt, *from);
        }
        let is_copy = matches!(Semantics::of(op), Some(Semantics::Move(_)));
        (is_copy && bits(*from) == bits(value)).then_some(*from)
    }

    /// The value of 32 bits that a conversion takes out of one of 64 bits, which was converted from it.
    fn widened(&self, cvt: &Cvt, from: Value) -> Option<Value> {
        let (at, i) = self.instruction(from).filter(|(_, i)| i.guard.is_none())?;
        let Op::Cvt(before) = &i.op else { return None };
        let is = |ty: Type, bits: u32| is_integer(ty) && ty.bits() == bits;
        let narrows =
            is(cvt.from, 64) && is(cvt.to, 32) && is(before.from, 32) && is(before.to, 64);
        let whole = self.before(at, i.src.first()?.reg()?);
        let bits = |value: Value| self.body.registers.ty(value.reg()).bits();
        (narrows && !cvt.sat && !before.sat && bits(whole) == 32 && bits(from) == 64)
            .then_some(whole)
    }

    /// What a value was computed of, where that alone decides it.
    fn parts(&self, at: usize, i: &Instruction, reg: Reg, steps: u32) -> Option<Vec<Part>> {
        let facts = i.op.facts();
        let is_parameter = matches!(&i.op, Op::Ld(_)) && {
            let base = i.src.first().and_then(Operand::address).map(|address| address.base);
            matches!(base, Some(Base::Symbol(Symbol::Param(_))))
        };
        let is_computed = facts.is_function && !facts.carries && facts.loads == Loads::No;
        let is_only = i.dst.len() == 1 && i.dst[0].reg() == Some(reg) && i.guard.is_none();
        if !is_only || !(is_computed || is_parameter) {
            return None;
        }
        let part = |operand: &Operand| match operand {
            Operand::Reg(reg) => {
                Some(Part::Value(self.canonical_within(self.before(at, *reg), steps)))
            }
            // Those that stay what they are while a thread runs.
            Operand::Special(Special::Axis(..)) | Operand::Int(_) | Operand::Symbol(..) => {
                Some(Part::Other(operand.clone()))
            }
            Operand::Address(_) if is_parameter => Some(Part::Other(operand.clone())),
            Operand::Special(_) | Operand::Not(_) | Operand::F32(_) | Operand::F64(_) => None,
            Operand::Address(_) | Operand::Vector(_) | Operand::Bracket(_) => None,
            Operand::Label(_) | Operand::Table(_) | Operand::Sink => None,
        };
        i.src.iter().map(part).collect()
    }

    /// What a register holds before the statement `at`.
    pub(super) fn before(&self, at: usize, reg: Reg) -> Value {
        let block = self.block(at);
        self.in_block(block, reg, at).unwrap_or_else(|| self.at_start(block, reg))
    }

    /// What it holds at the end of a block.
    pub(super) fn at_end(&self, block: BlockId, reg: Reg) -> Value {
        let end = self.cfg.block(block).statements.end;
        self.in_block(block, reg, end).unwrap_or_else(|| self.at_start(block, reg))
    }

    /// What the last instruction of the block that writes it before `end` wrote.
    fn in_block(&self, block: BlockId, reg: Reg, end: usize) -> Option<Value> {
        let writes = self.writes.get(&reg)?;
        let last = writes[..writes.partition_point(|at| *at < end)].last()?;
        (self.block(*last) == block).then_some(Value::Result(*last, reg))
    }

    fn at_start(&self, block: BlockId, reg: Reg) -> Value {
        let Some(writes) = self.writes.get(&reg) else { return Value::Unset(reg) };
        // One write that is always behind.
        if let [only] = writes.as_slice()
            && self.block(*only) != block
            && self.dominates(self.block(*only), block)
        {
            return Value::Result(*only, reg);
        }
        if let Some(value) = self.found.borrow().get(&(block, reg)) {
            return *value;
        }
        let value = self.only(self.left(block, reg));
        self.found.borrow_mut().insert((block, reg), value);
        value
    }

    /// What the ways to a block leave in a register: while there is one way, what was written last on it.
    fn left(&self, block: BlockId, reg: Reg) -> Value {
        let mut at = block;
        for _ in 0..self.cfg.blocks.len() {
            match self.cfg.block(at).predecessors.as_slice() {
                [] => return Value::Unset(reg),
                [only] if at != BlockId(0) => {
                    let end = self.cfg.block(*only).statements.end;
                    if let Some(value) = self.in_block(*only, reg, end) {
                        return value;
                    }
                    at = *only;
                }
                _ => break,
            }
        }
        Value::Phi(at, reg)
    }

    /// The inputs of a φ: the blocks before with what they leave in the register.
    pub(super) fn phi_inputs(&self, block: BlockId, reg: Reg) -> Vec<(BlockId, Value)> {
        let before = &self.cfg.block(block).predecessors;
        before.iter().map(|from| (*from, self.at_end(*from, reg))).collect()
    }

    /// The one value that all inputs of a φ are, where they are one; else the φ.
    fn only(&self, mut value: Value) -> Value {
        while let Value::Phi(block, reg) = value {
            match self.only_once(block, reg) {
                Some(further) => value = further,
                None => break,
            }
        }
        value
    }

    /// One step of it: that value, or a φ that always comes before.
    fn only_once(&self, block: BlockId, reg: Reg) -> Option<Value> {
        let (mut open, mut seen, mut outside) = (vec![block], BTreeSet::from([block]), None);
        while let Some(at) = open.pop() {
            if at == BlockId(0) || seen.len() > MOST {
                return None;
            }
            for from in &self.cfg.block(at).predecessors {
                let end = self.cfg.block(*from).statements.end;
                let left = self.in_block(*from, reg, end);
                let left = left.unwrap_or_else(|| self.left(*from, reg));
                match left {
                    Value::Phi(further, _)
                        if further == block || !self.dominates(further, block) =>
                    {
                        if seen.insert(further) {
                            open.push(further);
                        }
                    }
                    Value::Phi(..) | Value::Result(..) | Value::Unset(_) => {
                        if outside.is_some_and(|one| one != left) {
                            return None;
                        }
                        outside = Some(left);
                    }
                }
            }
        }
        outside
    }
}
