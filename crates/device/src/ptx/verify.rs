//! Whether a module obeys the PTX ISA as far as whoever runs it relies on it: that what is named exists, and that
//! every instruction has the operands, of the widths, that it needs.
//!
//! Enters: a module. Leaves: nothing, or a diagnostic of what the PTX ISA forbids. Must not know: `device`,
//! `ptx::pass`, `ptx::cfg`.

mod limits;

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use super::ast::{Body, Function, FunctionKind, Module, Param, Statement};
use super::inst::{Instruction, Op};
use super::op::{Form, Signature, Slot, forms_of, signatures};
use super::operand::{Address, Base, Operand, Reg, Special, Symbol};
use super::parser::{FILE, MOST_ERRORS};
use super::print;
use super::types::{Kind, Space, Type};
use crate::diagnostic::Diagnostic;

/// What is wrong with `module`, placed on the lines of the PTX text: the first hundred faults; empty where there are
/// none.
///
/// A module without faults has in each instruction as many operands as its [`Op`] says, and every register, label,
/// symbol, table, prototype and location that it names.
pub fn verify(module: &Module) -> Vec<Diagnostic> {
    if let Some(text) = limits::exceeded(module) {
        return vec![Diagnostic::error(FILE, text)];
    }
    let mut diagnostics = Vec::new();
    let signatures = RefCell::default();
    for function in &module.functions {
        if let Some(body) = &function.body {
            let verifier = Verifier { module, function, body, signatures: &signatures };
            verifier.body(&mut diagnostics);
        }
        if diagnostics.len() >= MOST_ERRORS {
            diagnostics.truncate(MOST_ERRORS);
            break;
        }
    }
    diagnostics
}

/// The forms of the table that an instruction of `function` has: its mnemonic is theirs, and so are its operands. None
/// of a call or of what is not interpreted.
pub fn forms(
    module: &Module,
    function: &Function,
    instruction: &Instruction,
) -> Vec<&'static Form> {
    let Some(body) = &function.body else { return Vec::new() };
    let verifier = Verifier { module, function, body, signatures: &RefCell::default() };
    let fits = |signature| verifier.operands(instruction, &[signature]).is_ok();
    forms_of(&instruction.op)
        .filter_map(|(form, signature)| fits(signature).then_some(form))
        .collect()
}

struct Verifier<'a> {
    module: &'a Module,
    function: &'a Function,
    body: &'a Body,
    /// What is known of the operations that were met so far.
    signatures: &'a RefCell<HashMap<&'a Op, Rc<[Signature]>>>,
}

/// What is wrong, where it is something.
type Check = Result<(), String>;

fn fail(text: impl Into<String>) -> Check {
    Err(text.into())
}

impl<'a> Verifier<'a> {
    fn body(&self, diagnostics: &mut Vec<Diagnostic>) {
        let name = &self.function.name;
        let mut placed = vec![0_u32; self.body.labels.len()];
        for statement in &self.body.statements {
            if diagnostics.len() >= MOST_ERRORS {
                return;
            }
            match statement {
                Statement::Label(label) => match placed.get_mut(label.0 as usize) {
                    Some(count) => *count += 1,
                    None => {
                        let text = format!("`{name}` places a label that does not exist");
                        diagnostics.push(Diagnostic::error(FILE, text));
                    }
                },
                Statement::Instruction(instruction) => {
                    if let Err(text) = self.instruction(instruction) {
                        let shown = print::instruction(self.module, self.function, instruction);
                        let diagnostic = Diagnostic::error(FILE, format!("`{shown}`: {text}"));
                        diagnostics.push(match instruction.line {
                            0 => diagnostic,
                            line => diagnostic.at(line, None),
                        });
                    }
                }
                Statement::Pragma(_) => {}
            }
        }
        for (label, count) in self.body.labels.iter().zip(placed) {
            if count != 1 {
                let text = format!("label `{label}` of `{name}` stands {count} times");
                diagnostics.push(Diagnostic::error(FILE, text));
            }
        }
        let tables = self.body.tables.iter().flat_map(|table| &table.labels);
        if tables.into_iter().any(|label| label.0 as usize >= self.body.labels.len()) {
            let text = format!("a table of `{name}` names a label that does not exist");
            diagnostics.push(Diagnostic::error(FILE, text));
        }
    }

    fn instruction(&self, item: &'a Instruction) -> Check {
        let mut names = Ok(());
        item.dst.iter().chain(&item.src).for_each(|operand| {
            if names.is_ok() {
                names = self.exists(operand);
            }
        });
        names?;
        if let Some(guard) = item.guard {
            self.reg(guard.reg)?;
            if self.body.registers.ty(guard.reg) != Type::Pred {
                return fail("the guard is no predicate");
            }
        }
        if item.location.is_some_and(|id| self.module.location(id).is_none()) {
            return fail("its source location does not exist");
        }
        if let Op::Call { prototype, .. } = item.op {
            return self.call(item, prototype);
        }
        if let Op::Unsupported { .. } = item.op {
            return Ok(());
        }
        self.operands(item, &self.signatures(&item.op))
    }

    fn signatures(&self, op: &'a Op) -> Rc<[Signature]> {
        let mut known = self.signatures.borrow_mut();
        known.entry(op).or_insert_with(|| signatures(op).into()).clone()
    }

    fn reg(&self, reg: Reg) -> Check {
        match (reg.0 as usize) < self.body.registers.len() {
            true => Ok(()),
            false => fail(format!("register {} does not exist", reg.0)),
        }
    }

    /// Whether all that the operand names exists.
    fn exists(&self, operand: &Operand) -> Check {
        let mut result = Ok(());
        operand.for_each_reg(&mut |reg| {
            if result.is_ok() {
                result = self.reg(reg);
            }
        });
        result?;
        match operand {
            Operand::Symbol(symbol, _)
            | Operand::Address(Address { base: Base::Symbol(symbol), .. }) => self.symbol(*symbol),
            Operand::Label(label) => {
                let exists = (label.0 as usize) < self.body.labels.len();
                exists.then_some(()).ok_or_else(|| format!("label {} does not exist", label.0))
            }
            Operand::Table(table) => {
                let exists = (*table as usize) < self.body.tables.len();
                exists.then_some(()).ok_or_else(|| format!("table {table} does not exist"))
            }
            Operand::Vector(parts) | Operand::Bracket(parts) => {
                parts.iter().try_for_each(|part| self.exists(part))
            }
            Operand::Address(Address { base: Base::Reg(_) | Base::Absolute, .. }) => Ok(()),
            Operand::Reg(_) | Operand::Not(_) | Operand::Int(_) => Ok(()),
            Operand::F32(_) | Operand::F64(_) | Operand::Special(_) | Operand::Sink => Ok(()),
        }
    }

    fn symbol(&self, symbol: Symbol) -> Check {
        let (index, count) = match symbol {
            Symbol::Variable(index) => (index, self.module.variables.len()),
            Symbol::Local(index) => (index, self.body.locals.len()),
            Symbol::Param(index) => (index, self.function.params.len()),
            Symbol::Return(index) => (index, self.function.returns.len()),
            Symbol::Function(index) => (index, self.module.functions.len()),
        };
        if (index as usize) < count { Ok(()) } else { fail("a symbol does not exist") }
    }

    fn call(&self, item: &Instruction, prototype: Option<u32>) -> Check {
        let prototype = match prototype {
            Some(index) => match self.body.prototypes.get(index as usize) {
                Some(prototype) => Some(prototype),
                None => return fail("its prototype does not exist"),
            },
            None => None,
        };
        let Some(called) = item.src.first() else { return fail("nothing is called") };
        if let Operand::Symbol(Symbol::Function(index), 0) = called {
            let callee = self.module.functions.get(*index as usize);
            if callee.is_none_or(|callee| callee.kind != FunctionKind::Func) {
                return fail("a kernel is called; only device functions can be");
            }
        } else {
            let Operand::Reg(pointer) = called else { return fail("nothing is called") };
            if prototype.is_none() {
                return fail("an indirect call needs a prototype");
            }
            self.pointer(*pointer)?;
        }
        let Some((params, returns)) = self.module.parameters_of_call(self.body, item) else {
            return fail("nothing is called");
        };
        let arguments = item.src.get(1..).unwrap_or(&[]);
        if (arguments.len(), item.dst.len()) != (params.len(), returns.len()) {
            return fail(format!(
                "{} arguments and {} results, but the function has {} and {}",
                arguments.len(),
                item.dst.len(),
                params.len(),
                returns.len()
            ));
        }
        let passed = arguments.iter().zip(params).map(|pair| (pair, false));
        let taken = item.dst.iter().zip(returns).map(|pair| (pair, true));
        passed
            .chain(taken)
            .try_for_each(|((operand, param), written)| self.passed(operand, param, written))
    }

    /// What a call passes, or takes: a `.param` variable of this function that is as large, or a value.
    fn passed(&self, operand: &Operand, param: &Param, written: bool) -> Check {
        if let Operand::Symbol(Symbol::Local(index), 0) = operand {
            let variable = self.body.locals.get(*index as usize);
            return match variable {
                Some(v) if v.space != Space::Param => {
                    fail(format!("`{}` is passed, which is no `.param` variable", v.name))
                }
                Some(v) if v.bytes() < param.bytes() => fail(format!(
                    "`{}` has {} bytes, but {} are needed",
                    v.name,
                    v.bytes(),
                    param.bytes()
                )),
                _ => Ok(()),
            };
        }
        if let Operand::Symbol(..) = operand {
            return fail("a call takes `.param` variables, registers and constants");
        }
        if param.count.is_some() {
            return fail("an array is passed in a `.param` variable, not as a value");
        }
        self.value(operand, param.ty, true, written)
    }

    /// Whether the operands are those of one of the signatures.
    fn operands(&self, item: &Instruction, signatures: &[Signature]) -> Check {
        let mut check = fail("there is no such instruction with these types and modifiers");
        for (at, signature) in signatures.iter().enumerate() {
            let counted = counts(item, signature);
            let is_likely = at == 0 || counted.is_ok();
            match counted.and_then(|()| self.all_operands(item, signature)) {
                Ok(()) => return self.parts(item).and_then(|()| self.barrier(item)),
                Err(text) if is_likely => check = Err(text),
                Err(_) => {}
            }
        }
        check
    }

    fn all_operands(&self, item: &Instruction, signature: &Signature) -> Check {
        let written = item.dst.iter().zip(&signature.destinations).map(|pair| (pair, true));
        let read = item.src.iter().zip(&signature.sources).map(|pair| (pair, false));
        written
            .chain(read)
            .try_for_each(|((operand, slot), written)| self.operand(operand, *slot, written))
    }

    /// A video instruction that writes a part of `d` takes the rest from a third source.
    fn parts(&self, item: &Instruction) -> Check {
        if let Op::Video(video) = &item.op
            && video.d_part.is_some()
            && item.src.len() < 3
        {
            return fail("the part of `d` that is not written comes from a third source");
        }
        Ok(())
    }

    /// A block has 16 barriers (PTX ISA, `barrier`).
    fn barrier(&self, item: &Instruction) -> Check {
        match (&item.op, item.src.first()) {
            (Op::Bar { .. }, Some(Operand::Int(number))) if !(0..16).contains(number) => {
                fail(format!("a block has the barriers 0 to 15, and no barrier {number}"))
            }
            _ => Ok(()),
        }
    }

    fn operand(&self, operand: &Operand, slot: Slot, written: bool) -> Check {
        match slot {
            Slot::Value(ty) | Slot::Divisor(ty) => self.value(operand, ty, false, written),
            Slot::Amount | Slot::Small | Slot::Byte => {
                self.value(operand, Type::U32, false, written)
            }
            Slot::Loose(ty) => self.value(operand, ty, true, written),
            Slot::Lanes(ty, lanes) => self.lanes(operand, ty, lanes, written),
            Slot::Vector(..) if !matches!(operand, Operand::Vector(_)) => {
                fail("a vector is needed")
            }
            Slot::Vector(ty, lanes) => self.lanes(operand, ty, lanes, written),
            Slot::Packed(ty) => self.packed(operand, ty, written),
            Slot::Whole(..) if matches!(operand, Operand::Special(Special::Whole(_))) => Ok(()),
            Slot::Whole(ty, lanes) => self.lanes(operand, ty, lanes, written),
            Slot::Address => match operand.address() {
                Some(Address { base: Base::Reg(reg), .. }) => self.pointer(*reg),
                Some(_) => Ok(()),
                None => fail("a memory operand is needed"),
            },
            Slot::Memory { space, written } => match operand.address() {
                Some(address) => self.memory(address, space, written),
                None => fail("a memory operand is needed"),
            },
            Slot::Pointer => match operand.reg() {
                Some(reg) => self.pointer(reg),
                None if matches!(operand, Operand::Symbol(..) | Operand::Int(_)) => Ok(()),
                None if written && matches!(operand, Operand::Sink) => Ok(()),
                None => fail("an address or a handle is needed"),
            },
            Slot::Call => fail("a function is needed"),
            Slot::Label if matches!(operand, Operand::Label(_)) => Ok(()),
            Slot::Label => fail("a label is needed"),
            Slot::Table if matches!(operand, Operand::Table(_)) => Ok(()),
            Slot::Table => fail("a list of labels (`.branchtargets`) is needed"),
            Slot::SizeOrPredicate => {
                if let Operand::Not(reg) = operand {
                    return self.value(&Operand::Reg(*reg), Type::Pred, false, false);
                }
                let is_predicate = |reg| self.body.registers.ty(reg) == Type::Pred;
                match operand.reg().is_some_and(is_predicate) {
                    true => Ok(()),
                    false => self.value(operand, Type::U32, false, false),
                }
            }
            Slot::Coordinates => operand.lanes().iter().try_for_each(|lane| match lane {
                Operand::Reg(reg) if self.body.registers.ty(*reg).bits() < 16 => {
                    fail("a coordinate is a predicate")
                }
                Operand::Address(_) | Operand::Bracket(_) | Operand::Label(_) => {
                    fail("coordinates are needed")
                }
                Operand::Reg(_) | Operand::Not(_) | Operand::Int(_) => Ok(()),
                Operand::F32(_) | Operand::F64(_) | Operand::Special(_) => Ok(()),
                Operand::Symbol(..) | Operand::Vector(_) => Ok(()),
                Operand::Table(_) | Operand::Sink => Ok(()),
            }),
        }
    }

    /// Whether `address` may be one of the state space: a variable lies in its own alone (PTX ISA, section 6.4).
    fn memory(&self, address: &Address, space: Option<Space>, written: bool) -> Check {
        let is_parameter = space.map(Space::kind) == Some(Space::Param);
        match address.base {
            Base::Reg(reg) => {
                self.pointer(reg)?;
                match is_parameter && written {
                    true => fail("a parameter can only be written by its name"),
                    false => Ok(()),
                }
            }
            Base::Absolute if is_parameter => fail("a parameter has no such address"),
            Base::Absolute => Ok(()),
            Base::Symbol(symbol) => {
                let Some(own) = self.space_of(symbol) else {
                    return fail("a function is no memory");
                };
                if written && matches!(symbol, Symbol::Param(_)) {
                    return fail("an input parameter is only read");
                }
                let own = own.kind();
                let fits = match space {
                    None => own != Space::Param,
                    Some(space) => space.kind() == own,
                };
                match fits {
                    true => Ok(()),
                    false => fail(format!("the variable lies in .{}", own.text())),
                }
            }
        }
    }

    /// The state space that a symbol lies in; none for a function.
    fn space_of(&self, symbol: Symbol) -> Option<Space> {
        match symbol {
            Symbol::Variable(index) => Some(self.module.variables.get(index as usize)?.space),
            Symbol::Local(index) => Some(self.body.locals.get(index as usize)?.space),
            Symbol::Param(_) | Symbol::Return(_) => Some(Space::Param),
            Symbol::Function(_) => None,
        }
    }

    fn pointer(&self, reg: Reg) -> Check {
        let ty = self.body.registers.ty(reg);
        if matches!(ty.bits(), 32 | 64) && !ty.is_float() {
            Ok(())
        } else {
            fail(format!("`{}` ({ty}) cannot hold an address", self.body.registers.name(reg)))
        }
    }

    fn lanes(&self, operand: &Operand, ty: Type, lanes: u8, written: bool) -> Check {
        let parts = operand.lanes();
        if parts.len() != usize::from(lanes.max(1)) {
            return fail(format!("{} lanes, but {lanes} are needed", parts.len()));
        }
        parts.iter().try_for_each(|part| self.value(part, ty, true, written))
    }

    /// `mov`: a value, or a vector of values that together are as wide.
    fn packed(&self, operand: &Operand, ty: Type, written: bool) -> Check {
        let Operand::Vector(parts) = operand else {
            return self.value(operand, ty, false, written);
        };
        if !matches!(parts.len(), 2 | 4 | 8) {
            return fail("2, 4 or 8 parts are needed");
        }
        let part = match ty.bits() / parts.len() as u32 {
            8 => Type::B8,
            16 => Type::B16,
            32 => Type::B32,
            64 => Type::B64,
            _ => return fail(format!("{ty} has not so many parts")),
        };
        parts.iter().try_for_each(|operand| self.value(operand, part, false, written))
    }

    /// A value of type `ty`; in a `loose` place a register may be wider.
    fn value(&self, operand: &Operand, ty: Type, loose: bool, written: bool) -> Check {
        let fine = match operand {
            Operand::Reg(reg) => return self.register(*reg, ty, loose),
            Operand::Not(reg) if ty == Type::Pred && !written => {
                return self.register(*reg, ty, loose);
            }
            Operand::Sink => written,
            Operand::Int(_) => !written,
            Operand::F32(_) | Operand::F64(_) => {
                !written && matches!(ty.kind(), Kind::Float | Kind::Bits)
            }
            Operand::Special(special) => {
                let fits = !ty.is_float() && (special.bits() != 1 || ty == Type::Pred);
                !written && (fits || matches!(ty.kind(), Kind::Bits))
            }
            Operand::Symbol(..) => !written && matches!(ty.bits(), 32 | 64) && !ty.is_float(),
            Operand::Not(_) | Operand::Address(_) | Operand::Vector(_) => false,
            Operand::Bracket(_) | Operand::Label(_) | Operand::Table(_) => false,
        };
        if fine { Ok(()) } else { fail(format!("an operand cannot be a {ty} value")) }
    }

    fn register(&self, reg: Reg, ty: Type, loose: bool) -> Check {
        let found = self.body.registers.ty(reg);
        let width = if loose { found.bits() >= ty.bits() } else { found.bits() == ty.bits() };
        let kind = |ty: Type| match ty.kind() {
            Kind::Signed => Kind::Unsigned,
            Kind::Opaque => Kind::Bits,
            kind @ (Kind::Bits | Kind::Unsigned | Kind::Float | Kind::Predicate) => kind,
        };
        let (a, b) = (kind(found), kind(ty));
        let predicate = (a == Kind::Predicate) == (b == Kind::Predicate);
        if width && predicate && (a == b || a == Kind::Bits || b == Kind::Bits) {
            Ok(())
        } else {
            let name = self.body.registers.name(reg);
            fail(format!("register `{name}` is {found}, but {ty} is needed"))
        }
    }
}

/// Whether there are as many operands as the signature needs.
fn counts(item: &Instruction, signature: &Signature) -> Check {
    let Signature { destinations, sources, optional_destinations, optional_sources } = signature;
    let lists = [
        (item.dst.len(), destinations.len(), *optional_destinations, "destination"),
        (item.src.len(), sources.len(), *optional_sources, "source"),
    ];
    lists.into_iter().try_for_each(|(found, most, optional, what)| {
        let least = most - optional.min(most);
        if (least..=most).contains(&found) {
            return Ok(());
        }
        let to = if optional > 0 { format!(" to {most}") } else { String::new() };
        fail(format!("{found} {what} operands, but it needs {least}{to}"))
    })
}
