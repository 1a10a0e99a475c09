//! One call after the other replaced by a body.

use std::collections::{HashMap, HashSet};

use super::{MOST_GROWTH, MOST_REGISTERS, MOST_STATEMENTS, Need, Refused, arguments};
use crate::ptx::ast::{
    Body, Function, Inlined, Linkage, Location, LocationId, Module, Param, Prototype, Section,
    Statement, Table, Variable,
};
use crate::ptx::inst::{Guard, Instruction, Op};
use crate::ptx::modifier::Access;
use crate::ptx::operand::{Address, Base, Label, Operand, Reg, Symbol};
use crate::ptx::types::{Space, Type};

/// Replaces calls in the functions of a module, from the inside outwards.
pub(super) struct Inliner<'a> {
    module: &'a mut Module,
    /// How many calls were replaced: what is copied is named by that.
    serial: u32,
    locations: HashMap<Location, LocationId>,
    /// Statements and declarations that were copied, in all functions.
    copied: usize,
    /// Registers of functions that were copied.
    registers: usize,
    /// Labels of functions' names in `.debug_str`.
    names: HashMap<u32, String>,
}

impl<'a> Inliner<'a> {
    pub(super) fn new(module: &'a mut Module) -> Self {
        let numbered = module.locations.iter().cloned().zip(0..);
        let locations = numbered.map(|(place, id)| (place, LocationId(id))).collect();
        Self { module, serial: 0, locations, copied: 0, registers: 0, names: HashMap::new() }
    }

    /// Replaces all calls in a function whose callees want that; those have been dealt with.
    pub(super) fn function(&mut self, index: usize, needs: &[Need]) -> Result<(), Refused> {
        let Some(mut body) = self.module.functions[index].body.take() else { return Ok(()) };
        let least = self.least(&body, needs);
        let wanted = |i: &Instruction| {
            let callee = i.callee().filter(|callee| *callee as usize != index);
            callee.filter(|callee| needs[*callee as usize] >= least)
        };
        if !body.instructions().any(|i| wanted(i).is_some()) {
            self.module.functions[index].body = Some(body);
            return Ok(());
        }
        let kept = body.instructions().filter(|i| wanted(i).is_none());
        let calls = kept.filter(|i| matches!(i.op, Op::Call { .. }));
        let passed: HashSet<u32> = calls
            .flat_map(|call| call.dst.iter().chain(arguments(call)))
            .filter_map(local)
            .collect();
        for statement in std::mem::take(&mut body.statements) {
            if let Statement::Instruction(call) = &statement
                && let Some(callee) = wanted(call)
            {
                self.call(&mut body, call, callee, &passed);
            } else {
                body.statements.push(statement);
            }
            if self.copied > MOST_STATEMENTS || self.registers > MOST_REGISTERS {
                let why = "in functions that are too large to be part of their callers";
                return Err(Refused { function: index as u32, why });
            }
        }
        memory_of_locals(&mut body);
        self.module.functions[index].body = Some(body);
        Ok(())
    }

    /// The least [`Need`] whose calls in `body` are inlined: only [`Need::Must`] where all would exceed the size limit.
    fn least(&self, body: &Body, needs: &[Need]) -> Need {
        let size = |callee: u32| {
            let body = self.module.functions[callee as usize].body.as_ref();
            body.map_or(0, |body| body.statements.len())
        };
        let callees = body.instructions().filter_map(Instruction::callee);
        let better = callees.filter(|callee| needs[*callee as usize] == Need::Better);
        let growth: usize = better.map(size).sum();
        let fits = growth <= MOST_GROWTH && self.copied + growth <= MOST_STATEMENTS / 2;
        if fits { Need::Better } else { Need::Must }
    }

    /// Appends the body of `callee` in place of `call`. Locals in `passed` are also used by calls that stay.
    fn call(&mut self, body: &mut Body, call: &Instruction, callee: u32, passed: &HashSet<u32>) {
        let function = &self.module.functions[callee as usize];
        let Some(inner) = function.body.clone() else { return };
        let (params, returns) = (function.params.clone(), function.returns.clone());
        let function = function.clone();
        self.serial += 1;
        self.copied += inner.statements.len() + declarations(&inner);
        self.registers += inner.registers.len();
        let mut splice = Splice::new(body, &inner, &function, call, self.serial, passed);
        splice.skip_unless_guarded();
        for (param, operand) in params.iter().zip(arguments(call)) {
            splice.give(param, operand);
        }
        for (param, operand) in returns.iter().zip(&call.dst) {
            splice.prepare_return(param, operand);
        }
        let mut places = HashMap::new();
        for (at, statement) in inner.statements.iter().enumerate() {
            let last = at + 1 == inner.statements.len();
            let location = |id: LocationId| self.location(id, callee, call.location, &mut places);
            splice.statement(statement, last, location);
        }
        splice.finish(&returns, &call.dst);
    }

    /// `id` as reached through the call at `site`.
    fn location(
        &mut self,
        id: LocationId,
        callee: u32,
        site: Option<LocationId>,
        places: &mut HashMap<LocationId, LocationId>,
    ) -> LocationId {
        let (Some(site), Some(place)) = (site, self.module.location(id).cloned()) else {
            return id;
        };
        if let Some(known) = places.get(&id) {
            return *known;
        }
        let inlined = match place.inlined {
            // A call site stands before what it calls, so that this ends.
            Some(inner) if inner.call_site < id => {
                let call_site = self.location(inner.call_site, callee, Some(site), places);
                Inlined { call_site, ..inner }
            }
            _ => Inlined { label: self.name_label(callee), offset: 0, call_site: site },
        };
        let id_of_copy = self.intern(Location { inlined: Some(inlined), ..place });
        places.insert(id, id_of_copy);
        id_of_copy
    }

    fn intern(&mut self, place: Location) -> LocationId {
        let list = &mut self.module.locations;
        *self.locations.entry(place).or_insert_with_key(|place| {
            list.push(place.clone());
            LocationId(list.len() as u32 - 1)
        })
    }

    /// The label of a function's name in `.debug_str`, where it is written at its first use.
    fn name_label(&mut self, function: u32) -> String {
        if let Some(label) = self.names.get(&function) {
            return label.clone();
        }
        let label = format!("$L__inlined_name{function}");
        let name = self.module.functions[function as usize].name.clone();
        let bytes: Vec<String> = name.bytes().chain([0]).map(|byte| byte.to_string()).collect();
        let text = format!("{label}:\n.b8 {}", bytes.join(","));
        let sections = &mut self.module.sections;
        match sections.iter_mut().find(|section| section.name == ".debug_str") {
            Some(section) => section.text = format!("{}\n{text}", section.text),
            None => sections.push(Section { name: ".debug_str".into(), text }),
        }
        self.module.debug_strings.insert(label.clone(), name);
        self.names.insert(function, label.clone());
        label
    }
}

/// How much a body declares beside registers.
fn declarations(body: &Body) -> usize {
    let labels = body.tables.iter().map(|table| table.labels.len()).sum::<usize>();
    body.locals.len() + body.labels.len() + labels + body.tables.len() + body.prototypes.len()
}

/// The local that an operand of a call is.
fn local(operand: &Operand) -> Option<u32> {
    if let Operand::Symbol(Symbol::Local(local), 0) = operand { Some(*local) } else { None }
}

/// Accesses of `.param` locals that became `.local` ones.
fn memory_of_locals(body: &mut Body) {
    let locals = &body.locals;
    for statement in &mut body.statements {
        let Statement::Instruction(Instruction {
            op: Op::Ld(access) | Op::St(access), src, ..
        }) = statement
        else {
            continue;
        };
        if let Some(Operand::Address(Address { base: Base::Symbol(Symbol::Local(at)), .. })) =
            src.first()
            && locals.get(*at as usize).is_some_and(|local| local.space == Space::Local)
            && is_param(access.space)
        {
            access.space = Some(Space::Local);
        }
    }
}

fn is_param(space: Option<Space>) -> bool {
    matches!(space, Some(Space::Param | Space::ParamFunc))
}

/// A body that grows by another one.
struct Splice<'a> {
    body: &'a mut Body,
    call: &'a Instruction,
    serial: u32,
    /// Where the callee's registers, locals, labels, tables and prototypes begin in the body.
    registers: u32,
    locals: u32,
    labels: u32,
    tables: u32,
    prototypes: u32,
    /// Where the callee's parameters and results lie.
    params: Vec<Symbol>,
    returns: Vec<Symbol>,
    passed: &'a HashSet<u32>,
    /// Behind the callee's last instruction; results are taken there.
    end: Label,
    /// Behind all, where the call is under a guard.
    past: Option<Label>,
}

impl<'a> Splice<'a> {
    fn new(
        body: &'a mut Body,
        inner: &Body,
        function: &Function,
        call: &'a Instruction,
        serial: u32,
        passed: &'a HashSet<u32>,
    ) -> Self {
        let named = |name: &str| format!("{name}__inl{serial}");
        let registers = body.registers.len() as u32;
        for group in inner.registers.groups() {
            let name = format!("%inl{serial}_{}", group.name.trim_start_matches('%'));
            body.registers.declare(name, group.ty, group.count);
        }
        let counts =
            [body.locals.len(), body.labels.len(), body.tables.len(), body.prototypes.len()];
        let [locals, labels, tables, prototypes] = counts.map(|count| count as u32);
        let renamed = inner.locals.iter();
        body.locals.extend(renamed.map(|v| Variable { name: named(&v.name), ..v.clone() }));
        body.labels.extend(inner.labels.iter().map(|label| named(label)));
        body.labels.push(format!("$L__inl{serial}_end"));
        let moved = |list: &[Label]| list.iter().map(|label| Label(label.0 + labels)).collect();
        let copied = inner.tables.iter();
        body.tables
            .extend(copied.map(|t| Table { name: named(&t.name), labels: moved(&t.labels) }));
        let copied = inner.prototypes.iter();
        body.prototypes.extend(copied.map(|p| Prototype { name: named(&p.name), ..p.clone() }));
        let end = Label(body.labels.len() as u32 - 1);
        let (params, returns) = (Vec::with_capacity(function.params.len()), Vec::new());
        Self {
            body,
            call,
            serial,
            registers,
            locals,
            labels,
            tables,
            prototypes,
            params,
            returns,
            passed,
            end,
            past: None,
        }
    }

    fn push(&mut self, op: Op, dst: Vec<Operand>, src: Vec<Operand>) {
        let (line, location) = (self.call.line, self.call.location);
        let instruction = Instruction { line, location, ..Instruction::new(op, dst, src) };
        self.body.statements.push(Statement::Instruction(instruction));
    }

    /// A call under a guard: control goes past it where the guard does not hold.
    fn skip_unless_guarded(&mut self) {
        let Some(guard) = self.call.guard else { return };
        self.body.labels.push(format!("$L__inl{}_past", self.serial));
        self.past = Some(Label(self.body.labels.len() as u32 - 1));
        let past = self.past.map(Operand::Label).into_iter().collect();
        self.push(Op::Bra { uni: false }, Vec::new(), past);
        if let Some(Statement::Instruction(bra)) = self.body.statements.last_mut() {
            bra.guard = Some(Guard { negated: !guard.negated, ..guard });
        }
    }

    /// New local memory for a parameter or result.
    fn memory(&mut self, param: &Param) -> Symbol {
        let at = self.body.locals.len() as u32;
        let name = if param.name.is_empty() { "unnamed" } else { &param.name };
        self.body.locals.push(Variable {
            name: format!("{name}__inl{}_{at}", self.serial),
            space: Space::Local,
            linkage: Linkage::Internal,
            ty: param.ty,
            lanes: 1,
            align: param.align,
            dims: param.count.into_iter().collect(),
            init: None,
            attribute: None,
            bank: None,
        });
        Symbol::Local(at)
    }

    /// The memory of a local of the caller that is passed, made `.local`; `None` where it must stay as it is.
    fn taken(&mut self, operand: &Operand) -> Option<Symbol> {
        let at = local(operand)?;
        if self.passed.contains(&at) {
            return None;
        }
        let variable = self.body.locals.get_mut(at as usize)?;
        if variable.space == Space::Param {
            variable.space = Space::Local;
        }
        Some(Symbol::Local(at))
    }

    fn inner_register(&self, reg: Reg) -> Operand {
        Operand::Reg(Reg(reg.0 + self.registers))
    }

    /// Passes an argument.
    fn give(&mut self, param: &Param, operand: &Operand) {
        let place = match (self.taken(operand), local(operand)) {
            (Some(place), _) => place,
            (None, Some(from)) => {
                let place = self.memory(param);
                self.copy(param, (place, Space::Local), (Symbol::Local(from), Space::Param));
                place
            }
            (None, None) if param.reg.is_some() => Symbol::Local(u32::MAX),
            (None, None) => {
                let place = self.memory(param);
                let to = Operand::Address(Address { base: Base::Symbol(place), offset: 0 });
                let store = Op::St(Access::plain(Some(Space::Local), param.ty, 1));
                self.push(store, Vec::new(), vec![to, operand.clone()]);
                place
            }
        };
        if let Some(reg) = param.reg {
            let reg = self.inner_register(reg);
            match local(operand) {
                Some(_) => self.load(param.ty, reg, place),
                None => {
                    let mov = Op::Mov { ty: param.ty, lanes: 1 };
                    self.push(mov, vec![reg], vec![operand.clone()]);
                }
            }
        }
        self.params.push(place);
    }

    fn load(&mut self, ty: Type, to: Operand, from: Symbol) {
        let from = Operand::Address(Address { base: Base::Symbol(from), offset: 0 });
        let load = Op::Ld(Access::plain(Some(Space::Local), ty, 1));
        self.push(load, vec![to], vec![from]);
    }

    /// Copies a parameter from memory to memory, word by word.
    fn copy(&mut self, param: &Param, to: (Symbol, Space), from: (Symbol, Space)) {
        let (mut at, bytes) = (0, param.bytes());
        let align = u64::from(param.alignment().clamp(1, 8));
        while at < bytes {
            let width = [8, 4, 2, 1].into_iter().find(|w| *w <= align && at + w <= bytes);
            let width = width.unwrap_or(1);
            let (ty, reg) = match width {
                8 => (Type::B64, Type::B64),
                4 => (Type::B32, Type::B32),
                2 => (Type::B16, Type::B16),
                _ => (Type::B8, Type::B16),
            };
            let name = format!("%inl{}_copy{}", self.serial, self.body.registers.len());
            let reg = self.body.registers.declare(name, reg, None);
            let place = |symbol: Symbol| {
                Operand::Address(Address { base: Base::Symbol(symbol), offset: at as i64 })
            };
            let load = Op::Ld(Access::plain(Some(from.1), ty, 1));
            self.push(load, vec![Operand::Reg(reg)], vec![place(from.0)]);
            let store = Op::St(Access::plain(Some(to.1), ty, 1));
            self.push(store, Vec::new(), vec![place(to.0), Operand::Reg(reg)]);
            at += width;
        }
    }

    /// Gives a result its place.
    fn prepare_return(&mut self, param: &Param, operand: &Operand) {
        let place = match self.taken(operand) {
            Some(place) => place,
            None if param.reg.is_some() && local(operand).is_none() => Symbol::Local(u32::MAX),
            None => self.memory(param),
        };
        self.returns.push(place);
    }

    fn statement(
        &mut self,
        statement: &Statement,
        last: bool,
        mut location: impl FnMut(LocationId) -> LocationId,
    ) {
        let copy = match statement {
            Statement::Label(label) => Statement::Label(Label(label.0 + self.labels)),
            Statement::Pragma(text) => Statement::Pragma(text.clone()),
            // Control falls to the end all the same.
            Statement::Instruction(Instruction { op: Op::Ret { .. }, guard: None, .. }) if last => {
                return;
            }
            Statement::Instruction(instruction) => {
                let mut copy = self.instruction(instruction);
                copy.location = copy.location.map(&mut location).or(self.call.location);
                Statement::Instruction(copy)
            }
        };
        self.body.statements.push(copy);
    }

    fn instruction(&self, instruction: &Instruction) -> Instruction {
        let mut copy = instruction.clone();
        copy.for_each_reg_mut(|reg| reg.0 += self.registers);
        // A parameter of a function whose address was taken lies in local memory.
        if let Op::Ld(access) | Op::St(access) = &mut copy.op
            && is_param(access.space)
            && !matches!(
                copy.src.first(),
                Some(Operand::Address(Address { base: Base::Symbol(Symbol::Local(_)), .. }))
            )
        {
            access.space = Some(Space::Local);
        }
        copy.for_each_operand_mut(|operand| {
            operand.for_each_symbol_mut(&mut |symbol| *symbol = self.symbol(*symbol));
            operand.for_each_label_mut(&mut |label| label.0 += self.labels);
            if let Operand::Table(table) = operand {
                *table += self.tables;
            }
        });
        if let Op::Call { prototype: Some(prototype), uni: _ } = &mut copy.op {
            *prototype += self.prototypes;
        }
        if let Op::Ret { .. } = copy.op {
            copy.op = Op::Bra { uni: false };
            copy.src = vec![Operand::Label(self.end)];
        }
        if let Op::Cvta { space, to_generic: _, ty: _ } | Op::Isspacep { space } = &mut copy.op
            && matches!(space, Space::Param | Space::ParamFunc)
        {
            *space = Space::Local;
        }
        copy
    }

    fn symbol(&self, symbol: Symbol) -> Symbol {
        let at = |list: &[Symbol], index: u32| list.get(index as usize).copied().unwrap_or(symbol);
        match symbol {
            Symbol::Local(local) => Symbol::Local(local + self.locals),
            Symbol::Param(index) => at(&self.params, index),
            Symbol::Return(index) => at(&self.returns, index),
            Symbol::Variable(_) | Symbol::Function(_) => symbol,
        }
    }

    /// The end of the call: results go where the caller wants them.
    fn finish(mut self, returns: &[Param], wanted: &[Operand]) {
        self.body.statements.push(Statement::Label(self.end));
        for (index, (param, operand)) in returns.iter().zip(wanted).enumerate() {
            let place = self.returns[index];
            match (param.reg, operand.reg()) {
                (None, Some(_)) => self.load(param.ty, operand.clone(), place),
                (Some(reg), Some(_)) => {
                    let mov = Op::Mov { ty: param.ty, lanes: 1 };
                    let reg = self.inner_register(reg);
                    self.push(mov, vec![operand.clone()], vec![reg]);
                }
                (Some(reg), None) if place != Symbol::Local(u32::MAX) => {
                    let to = Operand::Address(Address { base: Base::Symbol(place), offset: 0 });
                    let store = Op::St(Access::plain(Some(Space::Local), param.ty, 1));
                    let reg = self.inner_register(reg);
                    self.push(store, Vec::new(), vec![to, reg]);
                }
                (Some(_) | None, None) => {}
            }
            if let Some(to) = local(operand)
                && self.passed.contains(&to)
            {
                self.copy(param, (Symbol::Local(to), Space::Param), (place, Space::Local));
            }
        }
        self.body.statements.extend(self.past.map(Statement::Label));
    }
}
