//! Which memory an address was computed from.
//!
//! Each register is followed back through the arithmetic to the kernel parameters and variables whose address it holds,
//! plus an offset. What is found holds wherever the register is read: a register that is written in several places has
//! the origins of all.

use std::collections::BTreeSet;

use crate::ptx::ast::{Body, Function, FunctionKind, Module, Param, parameter_places};
use crate::ptx::inst::{Instruction, Op};
use crate::ptx::modifier::{BoolOp, Half};
use crate::ptx::op::{Integer, Loads, Semantics};
use crate::ptx::operand::{Address, Base, Operand, Reg, Symbol};
use crate::ptx::types::{Space, Type};

/// Most different sources of one register.
const MOST_SOURCES: usize = 8;
/// Most times that a body is gone through; what still changes then is unknown.
const MOST_ROUNDS: usize = 40;

/// Memory that an address starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Source {
    /// The allocation that the pointer at this byte of the kernel's arguments points into.
    Argument(u32),
    /// A variable, or a parameter that lies in memory.
    Symbol(Symbol),
    /// No memory: the constant null.
    Null,
}

/// What is known of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It was not computed from an address.
    Number {
        /// It is an immediate operand.
        constant: bool,
    },
    /// An address: one of the sources' plus some bytes.
    Pointer {
        /// One of them.
        sources: BTreeSet<Source>,
        /// A generic address, where the source lies in a space with addresses of its own.
        generic: bool,
        /// An address beyond doubt: a 64-bit argument may be a number, too, until it is converted as an address.
        certain: bool,
    },
    /// Anything.
    Unknown,
}

/// A value: its origin, and so many low bits of it that are zero, in an address of the distance from its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) origin: Origin,
    pub(super) zeros: u32,
}

impl Value {
    const UNKNOWN: Self = Self { origin: Origin::Unknown, zeros: 0 };

    fn number(zeros: u32) -> Self {
        Self { origin: Origin::Number { constant: false }, zeros: zeros.min(64) }
    }

    fn constant(value: i64) -> Self {
        Self { origin: Origin::Number { constant: true }, zeros: value.trailing_zeros() }
    }

    fn pointer(source: Source, generic: bool, certain: bool) -> Self {
        let sources = BTreeSet::from([source]);
        Self { origin: Origin::Pointer { sources, generic, certain }, zeros: 64 }
    }

    fn is_number(&self) -> bool {
        matches!(self.origin, Origin::Number { .. })
    }

    /// The same address with so many zeros at most.
    fn with_zeros(self, zeros: u32) -> Self {
        Self { zeros: self.zeros.min(zeros), ..self }
    }

    fn join(&self, other: &Self) -> Self {
        let zeros = self.zeros.min(other.zeros);
        let origin = match (&self.origin, &other.origin) {
            (Origin::Number { constant: a }, Origin::Number { constant: b }) => {
                Origin::Number { constant: *a && *b }
            }
            (Origin::Pointer { .. }, Origin::Number { constant: true }) => return self.or_null(),
            (Origin::Number { constant: true }, Origin::Pointer { .. }) => return other.or_null(),
            (
                Origin::Pointer { sources: a, generic: g, certain: c },
                Origin::Pointer { sources: b, generic: h, certain: d },
            ) if g == h => {
                let sources: BTreeSet<Source> = a.union(b).copied().collect();
                match sources.len() <= MOST_SOURCES {
                    true => Origin::Pointer { sources, generic: *g, certain: *c && *d },
                    false => Origin::Unknown,
                }
            }
            (Origin::Pointer { .. } | Origin::Number { .. } | Origin::Unknown, _) => {
                Origin::Unknown
            }
        };
        Self { origin, zeros }
    }

    /// An address that may also be null.
    fn or_null(&self) -> Self {
        let mut value = self.clone();
        if let Origin::Pointer { sources, .. } = &mut value.origin {
            sources.insert(Source::Null);
        }
        value
    }
}

/// The origins of the registers of a body.
pub(super) struct Origins<'a> {
    module: &'a Module,
    function: &'a Function,
    body: &'a Body,
    /// Where the parameters of a kernel lie in its arguments.
    offsets: Vec<u32>,
    of: Vec<Option<Value>>,
    /// What the registers hold of which nothing is known yet.
    rest: Option<Value>,
}

impl<'a> Origins<'a> {
    /// Of the kernel that is called so; `None` where the module does not define it.
    pub(super) fn of_kernel(module: &'a Module, kernel: &str) -> Option<Self> {
        let mut entries = module.functions.iter().filter(|of| of.kind == FunctionKind::Entry);
        let function = entries.find(|function| function.name == kernel)?;
        Some(Self::new(module, function, function.body.as_ref()?))
    }

    pub(super) fn new(module: &'a Module, function: &'a Function, body: &'a Body) -> Self {
        let offsets = match function.kind {
            FunctionKind::Entry => parameter_offsets(&function.params),
            FunctionKind::Func => Vec::new(),
        };
        let mut of = vec![None; body.registers.len()];
        // What a caller gives may be anything.
        for reg in function.params.iter().filter_map(|param| param.reg) {
            of[reg.0 as usize] = Some(Value::UNKNOWN);
        }
        let mut origins = Self { module, function, body, offsets, of, rest: None };
        origins.follow();
        // What nothing writes holds any number; so what is computed of that, or of itself, becomes known.
        origins.rest = Some(Value::number(0));
        origins.follow();
        origins
    }

    /// What is known of a register; one that nothing writes holds a number.
    pub(super) fn of(&self, reg: Reg) -> Value {
        self.held(reg).unwrap_or(Value::UNKNOWN)
    }

    /// Which source of an instruction is the address that its result was computed from.
    pub(super) fn followed(&self, i: &Instruction) -> Option<usize> {
        let is_pointer = |at: &usize| {
            let value = i.src.get(*at).and_then(|operand| self.operand(operand));
            value.is_some_and(|value| matches!(value.origin, Origin::Pointer { .. }))
        };
        let is_certain = |at: &usize| {
            let value = i.src.get(*at).and_then(|operand| self.operand(operand));
            let origin = value.map(|value| value.origin);
            matches!(origin, Some(Origin::Pointer { certain: true, .. }))
        };
        let places = 0..i.src.len();
        places.clone().find(is_certain).or_else(|| places.clone().find(is_pointer))
    }

    /// Where a parameter of the kernel begins in its arguments, in bytes.
    pub(super) fn argument_offset(&self, param: u32) -> Option<u32> {
        self.offsets.get(param as usize).copied()
    }

    /// The parameter that lies at this byte of the arguments, and how far from its beginning.
    pub(super) fn parameter_at(&self, place: u32) -> Option<(Symbol, i64)> {
        let index = self.offsets.partition_point(|start| *start <= place).checked_sub(1)?;
        Some((Symbol::Param(index as u32), i64::from(place - self.offsets[index])))
    }

    /// The state space that a symbol lies in.
    pub(super) fn space(&self, symbol: Symbol) -> Option<Space> {
        let space = match symbol {
            Symbol::Variable(index) => self.module.variables.get(index as usize)?.space,
            Symbol::Local(index) => self.body.locals.get(index as usize)?.space,
            Symbol::Param(_) | Symbol::Return(_) => Space::Param,
            Symbol::Function(_) => return None,
        };
        Some(space.kind())
    }

    /// Rounds until nothing changes.
    fn follow(&mut self) {
        let mut round = 0;
        while self.pass(round >= MOST_ROUNDS) {
            round += 1;
        }
    }

    /// One round; whether anything changed. What changes in the last one is unknown.
    fn pass(&mut self, last: bool) -> bool {
        let mut changed = false;
        let body = self.body;
        for i in body.instructions() {
            for (at, operand) in i.dst.iter().enumerate() {
                for (lane, part) in operand.lanes().iter().enumerate() {
                    let Some(reg) = part.reg() else { continue };
                    let Some(value) = self.result(i, at, lane, reg) else { continue };
                    let entry = &mut self.of[reg.0 as usize];
                    let new = entry.as_ref().map_or(value.clone(), |old| old.join(&value));
                    if entry.as_ref() != Some(&new) {
                        *entry = Some(if last { Value::UNKNOWN } else { new });
                        changed = true;
                    }
                }
            }
        }
        changed
    }

    fn held(&self, reg: Reg) -> Option<Value> {
        self.of.get(reg.0 as usize).cloned().flatten().or_else(|| self.rest.clone())
    }

    fn operand(&self, operand: &Operand) -> Option<Value> {
        match operand {
            Operand::Reg(reg) => self.held(*reg),
            Operand::Int(value) => Some(Value::constant(*value)),
            Operand::Symbol(Symbol::Function(_), _) => Some(Value::UNKNOWN),
            Operand::Symbol(symbol, offset) => {
                let generic = self.space(*symbol) == Some(Space::Global);
                let pointer = Value::pointer(Source::Symbol(*symbol), generic, true);
                Some(pointer.with_zeros(offset.trailing_zeros()))
            }
            Operand::Special(_) | Operand::F32(_) | Operand::F64(_) | Operand::Not(_) => {
                Some(Value::number(0))
            }
            Operand::Address(_) | Operand::Vector(_) | Operand::Bracket(_) => Some(Value::UNKNOWN),
            Operand::Label(_) | Operand::Table(_) | Operand::Sink => Some(Value::number(0)),
        }
    }

    /// What an instruction writes to `reg`; none where that is not known yet.
    fn result(&self, i: &Instruction, at: usize, lane: usize, reg: Reg) -> Option<Value> {
        let ty = self.body.registers.ty(reg);
        if ty == Type::Pred || at > 0 {
            return Some(Value::number(0));
        }
        let source = |at: usize| match i.src.get(at) {
            Some(operand) => self.operand(operand),
            None => Some(Value::UNKNOWN),
        };
        let Some(semantics) = Semantics::of(&i.op) else { return self.anything(i, ty) };
        match semantics {
            Semantics::Move(_) if i.dst[0].reg().is_some() => source(0),
            Semantics::Address { to_generic, space, ty: _ } => {
                Some(self.converted(source(0)?, to_generic, space))
            }
            Semantics::Integer(operation, _) => match operation {
                Integer::Sum => Some(plus(source(0)?, source(1)?)),
                Integer::Difference => Some(minus(source(0)?, &source(1)?)),
                Integer::Product(Half::Lo | Half::Wide) => Some(product(&source(0)?, &source(1)?)),
                Integer::Mad(Half::Lo | Half::Wide) => {
                    Some(plus(product(&source(0)?, &source(1)?), source(2)?))
                }
                Integer::ShiftLeft => Some(shifted(&source(0)?, i.src.get(1))),
                Integer::Bitwise(op) => Some(logic(op, source(0)?, source(1)?)),
                Integer::Product(Half::Hi) | Integer::Mad(Half::Hi) => self.anything(i, ty),
                Integer::Quotient | Integer::Remainder | Integer::Negative => self.anything(i, ty),
                Integer::Magnitude | Integer::Complement => self.anything(i, ty),
                Integer::Least | Integer::Greatest | Integer::ShiftRight => self.anything(i, ty),
                Integer::Extract | Integer::Insert | Integer::Bytes => self.anything(i, ty),
                Integer::Count => self.anything(i, ty),
            },
            Semantics::Choice(_) => match (source(0), source(1)) {
                (Some(a), Some(b)) => Some(a.join(&b)),
                (a, b) => a.or(b),
            },
            Semantics::Convert(cvt) => match cvt.resizes() {
                Some((from, to)) => Some(self.resized(source(0)?, from, to)),
                None => self.anything(i, ty),
            },
            Semantics::Load(access) if access.ty.bits() < 64 => Some(Value::number(0)),
            Semantics::Load(_) => Some(match self.argument(i, lane) {
                Some(source) => Value::pointer(source, true, false),
                None => Value::UNKNOWN,
            }),
            Semantics::Move(_) | Semantics::Real(_) => self.anything(i, ty),
            Semantics::Predicate(_) => self.anything(i, ty),
        }
    }

    /// What an operation gives that is not followed: a number, where it is computed of numbers alone.
    fn anything(&self, i: &Instruction, ty: Type) -> Option<Value> {
        let facts = i.op.facts();
        let is_computed = facts.loads == Loads::No && !facts.changes && i.dst[0].reg().is_some();
        if ty.bits() < 64 && (!is_computed || ty.bits() < 32) {
            return Some(Value::number(0));
        }
        if !is_computed {
            return Some(Value::UNKNOWN);
        }
        let mut numbers = true;
        for operand in &i.src {
            for part in operand.lanes() {
                // A float is no address, and neither is half of one.
                let narrow = part.reg().is_some_and(|reg| {
                    let ty = self.body.registers.ty(reg);
                    ty.is_float() || ty.bits() < 32
                });
                numbers &= narrow || self.operand(part)?.is_number();
            }
        }
        // Two halves of an address make one.
        let packs = matches!(i.op, Op::Mov { .. }) && ty.bits() >= 64;
        Some(if numbers && !packs { Value::number(0) } else { Value::UNKNOWN })
    }

    /// The argument of the kernel that a load of a parameter loads to a lane, if it may be an address.
    pub(super) fn argument(&self, i: &Instruction, lane: usize) -> Option<Source> {
        let Op::Ld(access) = &i.op else { return None };
        let is_parameter = access.space.map(Space::kind) == Some(Space::Param);
        let Some(Address { base: Base::Symbol(Symbol::Param(index)), offset }) =
            i.src.first().and_then(Operand::address)
        else {
            return None;
        };
        let start = self.offsets.get(*index as usize).filter(|_| is_parameter)?;
        let place = i64::from(*start) + offset + 8 * lane as i64;
        let place = u32::try_from(place).ok().filter(|_| access.ty.bits() == 64)?;
        Some(Source::Argument(place))
    }

    /// `cvta`: an address of `space` as a generic one, or back.
    fn converted(&self, value: Value, to_generic: bool, space: Space) -> Value {
        let Origin::Pointer { sources, generic, .. } = &value.origin else {
            return match value.origin {
                Origin::Number { constant: true } => value,
                Origin::Number { .. } | Origin::Pointer { .. } | Origin::Unknown => Value::UNKNOWN,
            };
        };
        let is_global = space.kind() == Space::Global;
        let fits = sources.iter().all(|source| match source {
            Source::Argument(_) => is_global,
            Source::Symbol(symbol) => self.space(*symbol) == Some(space.kind()),
            Source::Null => true,
        });
        // An address of global memory is the same in its space and generic.
        if !fits || !is_global && *generic == to_generic {
            return Value::UNKNOWN;
        }
        let generic = is_global || to_generic;
        let sources = sources.clone();
        Value { origin: Origin::Pointer { sources, generic, certain: true }, zeros: value.zeros }
    }

    /// An integer of another width. The addresses of shared memory fit 32 bits.
    fn resized(&self, value: Value, from: Type, to: Type) -> Value {
        let is_shared = |source: &Source| match source {
            Source::Symbol(symbol) => self.space(*symbol) == Some(Space::Shared),
            Source::Argument(_) | Source::Null => false,
        };
        let zeros = value.zeros;
        match &value.origin {
            Origin::Number { .. } => Value::number(zeros),
            Origin::Pointer { sources, generic, .. } => {
                let same = from.bits() == to.bits();
                let shared = from.bits() >= 32 && to.bits() >= 32 && !generic;
                match same || shared && sources.iter().all(is_shared) {
                    true => value,
                    false => Value::number(0),
                }
            }
            Origin::Unknown if to.bits() < 64 && from.bits() >= 64 => Value::number(0),
            Origin::Unknown => Value::UNKNOWN,
        }
    }

    /// The function whose registers these are.
    pub(super) fn function(&self) -> &'a Function {
        self.function
    }

    pub(super) fn module(&self) -> &'a Module {
        self.module
    }

    pub(super) fn body(&self) -> &'a Body {
        self.body
    }
}

fn plus(a: Value, b: Value) -> Value {
    let zeros = a.zeros.min(b.zeros);
    match (&a.origin, &b.origin) {
        (Origin::Number { .. }, Origin::Number { .. }) => Value::number(zeros),
        (Origin::Pointer { .. }, Origin::Number { .. }) => a.with_zeros(zeros),
        (Origin::Number { .. }, Origin::Pointer { .. }) => b.with_zeros(zeros),
        (Origin::Pointer { certain: true, .. }, Origin::Pointer { certain: false, .. }) => {
            a.with_zeros(0)
        }
        (Origin::Pointer { certain: false, .. }, Origin::Pointer { certain: true, .. }) => {
            b.with_zeros(0)
        }
        (Origin::Pointer { .. } | Origin::Number { .. } | Origin::Unknown, _) => Value::UNKNOWN,
    }
}

fn minus(a: Value, b: &Value) -> Value {
    let zeros = a.zeros.min(b.zeros);
    match (&a.origin, &b.origin) {
        (Origin::Number { .. }, Origin::Number { .. }) => Value::number(zeros),
        (Origin::Pointer { .. }, Origin::Number { .. }) => a.with_zeros(zeros),
        // A distance.
        (Origin::Pointer { .. }, Origin::Pointer { .. }) => Value::number(0),
        (Origin::Pointer { .. } | Origin::Number { .. } | Origin::Unknown, _) => Value::UNKNOWN,
    }
}

fn product(a: &Value, b: &Value) -> Value {
    match a.is_number() && b.is_number() {
        true => Value::number(a.zeros.saturating_add(b.zeros)),
        false => Value::UNKNOWN,
    }
}

fn shifted(value: &Value, by: Option<&Operand>) -> Value {
    let by = match by {
        Some(Operand::Int(by)) => u32::try_from(*by).unwrap_or(0).min(64),
        Some(_) | None => 0,
    };
    match value.is_number() {
        true => Value::number(value.zeros.saturating_add(by)),
        false => Value::UNKNOWN,
    }
}

fn logic(op: BoolOp, a: Value, b: Value) -> Value {
    match (op, &a.origin, &b.origin) {
        (BoolOp::And, Origin::Number { .. }, Origin::Number { .. }) => {
            Value::number(a.zeros.max(b.zeros))
        }
        (_, Origin::Number { .. }, Origin::Number { .. }) => Value::number(a.zeros.min(b.zeros)),
        // Rounded down to a multiple.
        (BoolOp::And, Origin::Pointer { .. }, Origin::Number { constant: true }) => a.with_zeros(0),
        // A sum where no bit of the one is one of the other.
        (BoolOp::Or, ..) => plus(a, b),
        (BoolOp::And | BoolOp::Xor, ..) => Value::UNKNOWN,
    }
}

/// Where each parameter of a kernel lies in its packed arguments.
pub(super) fn parameter_offsets(params: &[Param]) -> Vec<u32> {
    parameter_places(params).map(|place| u32::try_from(place.start).unwrap_or(u32::MAX)).collect()
}
