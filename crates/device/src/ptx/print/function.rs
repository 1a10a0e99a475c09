//! The inside of a function.

use std::collections::HashMap;

use super::{declared, directives, line, offset, params};
use crate::ptx::ast::{Body, Function, Inlined, Location, LocationId, Module, Statement};
use crate::ptx::inst::{Guard, Instruction, Op};
use crate::ptx::operand::{Address, Base, Label, Operand, Reg};
use crate::ptx::quoted::quoted;
use crate::ptx::video::Part;

/// What names are needed to print an instruction.
pub(super) struct Names<'a> {
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    pub(super) body: &'a Body,
}

impl Names<'_> {
    fn label(&self, label: Label) -> &str {
        self.body.labels.get(label.0 as usize).map_or("?", String::as_str)
    }

    fn reg(&self, out: &mut String, reg: Reg) {
        out.push_str(&self.body.registers.name(reg));
    }
}

pub(super) fn body(out: &mut String, module: &Module, function: &Function, body: &Body) {
    let names = Names { module, function, body };
    out.push_str("\n{\n");
    registers(out, function, body);
    for local in &body.locals {
        line(out, format_args!("\t{};", declared(module, Some(function), local)));
    }
    lists(out, &names);
    let mut places = Places { latest: HashMap::new(), current: None };
    for statement in &body.statements {
        match statement {
            Statement::Label(label) => line(out, format_args!("{}:", names.label(*label))),
            Statement::Pragma(text) => {
                line(out, format_args!("\t.pragma {};", quoted(text.as_bytes())))
            }
            Statement::Instruction(item) => {
                places.write(out, module, item.location);
                out.push('\t');
                instruction(out, &names, item);
                out.push_str(";\n");
            }
        }
    }
    out.push_str("}\n\n");
}

fn registers(out: &mut String, function: &Function, body: &Body) {
    let params = function.params.iter().chain(&function.returns);
    let declared: Vec<Reg> = params.filter_map(|param| param.reg).collect();
    for group in body.registers.groups() {
        match group.count {
            None if declared.contains(&Reg(group.first)) => {}
            None => line(out, format_args!("\t.reg .{} {};", group.ty, group.name)),
            Some(count) => line(out, format_args!("\t.reg .{} {}<{count}>;", group.ty, group.name)),
        }
    }
}

fn lists(out: &mut String, names: &Names<'_>) {
    for table in &names.body.tables {
        let labels: Vec<&str> = table.labels.iter().map(|label| names.label(*label)).collect();
        line(out, format_args!("{}: .branchtargets {};", table.name, labels.join(", ")));
    }
    for prototype in &names.body.prototypes {
        put!(out, "{}: ", prototype.name);
        if let Some(targets) = &prototype.targets {
            let functions = &names.module.functions;
            let name = |id: &u32| functions.get(*id as usize).map_or("?", |f| f.name.as_str());
            let targets: Vec<&str> = targets.iter().map(name).collect();
            line(out, format_args!(".calltargets {};", targets.join(", ")));
            continue;
        }
        out.push_str(".callprototype ");
        if !prototype.returns.is_empty() {
            params(out, &prototype.returns);
            out.push(' ');
        }
        out.push('_');
        out.push(' ');
        params(out, &prototype.params);
        directives(out, &prototype.directives);
        out.push_str(";\n");
    }
}

/// Which `.loc`s stand already.
struct Places {
    /// The last for each place, as `inlined_at` finds it.
    latest: HashMap<(u32, u32, u32), LocationId>,
    current: Option<LocationId>,
}

impl Places {
    fn write(&mut self, out: &mut String, module: &Module, location: Option<LocationId>) {
        let Some(id) = location.filter(|id| self.current != Some(*id)) else { return };
        // The calls that lead here must stand before, outermost first, where they do not yet.
        let mut chain = Vec::new();
        let mut at = module.location(id).map(|place| (id, place));
        while let Some((id, place)) = at {
            let missing = chain.is_empty() || self.latest.get(&key(place)) != Some(&id);
            if !missing || chain.len() > module.locations.len() {
                break;
            }
            chain.push((id, place));
            let site = place.inlined.as_ref().map(|inlined| inlined.call_site);
            at = site.and_then(|site| Some((site, module.location(site)?)));
        }
        for (id, place) in chain.into_iter().rev() {
            self.latest.insert(key(place), id);
            self.one(out, module, place);
        }
        self.current = Some(id);
    }

    fn one(&self, out: &mut String, module: &Module, place: &Location) {
        put!(out, "\t.loc {} {} {}", place.file, place.line, place.column);
        if let Some(Inlined { label, offset, call_site }) = &place.inlined {
            put!(out, ", function_name {label}");
            if *offset != 0 {
                put!(out, "+{offset}");
            }
            if let Some(site) = module.location(*call_site) {
                put!(out, ", inlined_at {} {} {}", site.file, site.line, site.column);
            }
        }
        out.push('\n');
    }
}

const fn key(place: &Location) -> (u32, u32, u32) {
    (place.file, place.line, place.column)
}

pub(super) fn instruction(out: &mut String, names: &Names<'_>, item: &Instruction) {
    if let Some(Guard { reg, negated }) = item.guard {
        out.push_str(if negated { "@!" } else { "@" });
        names.reg(out, reg);
        out.push(' ');
    }
    out.push_str(&item.op.mnemonic());
    match (&item.op, item.op.facts().in_brackets) {
        (Op::Call { prototype, .. }, _) => call(out, names, item, *prototype),
        (_, 1..) => image(out, names, item, item.op.facts().in_brackets),
        (_, 0) => {
            let two = item.dst.len() == 2;
            let all = item.dst.iter().chain(&item.src);
            for (at, part) in all.enumerate() {
                out.push_str(match at {
                    0 => " ",
                    1 if two => "|",
                    _ => ", ",
                });
                if is_negated(&item.op, at) {
                    out.push('-');
                }
                operand(out, names, part);
                if let Some(part) = part_of(&item.op, at) {
                    out.push('.');
                    out.push_str(&part.text());
                }
            }
        }
    }
}

fn is_negated(op: &Op, at: usize) -> bool {
    let Op::Video(video) = op else { return false };
    at.checked_sub(1).is_some_and(|at| video.negated.get(at) == Some(&true))
}

fn part_of(op: &Op, at: usize) -> Option<Part> {
    let Op::Video(video) = op else { return None };
    [video.d_part, video.a_part, video.b_part].get(at).copied().flatten()
}

fn list(out: &mut String, names: &Names<'_>, parts: &[Operand]) {
    for (at, part) in parts.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { ", " });
        operand(out, names, part);
    }
}

/// `call (returns), target, (arguments), prototype`.
fn call(out: &mut String, names: &Names<'_>, item: &Instruction, prototype: Option<u32>) {
    if !item.dst.is_empty() {
        out.push_str(" (");
        list(out, names, &item.dst);
        out.push_str("),");
    }
    out.push(' ');
    let Some((target, arguments)) = item.src.split_first() else { return };
    operand(out, names, target);
    if !arguments.is_empty() || prototype.is_some() {
        out.push_str(", (");
        list(out, names, arguments);
        out.push(')');
    }
    if let Some(prototype) = prototype.and_then(|at| names.body.prototypes.get(at as usize)) {
        put!(out, ", {}", prototype.name);
    }
}

/// `tex d|p, [handle, …], …`: the first `inside` sources stand in the brackets.
fn image(out: &mut String, names: &Names<'_>, item: &Instruction, inside: usize) {
    out.push(' ');
    for (at, part) in item.dst.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "|" });
        operand(out, names, part);
    }
    out.push_str(if item.dst.is_empty() { "[" } else { ", [" });
    let (inner, rest) = item.src.split_at(inside.min(item.src.len()));
    list(out, names, inner);
    out.push(']');
    for part in rest {
        out.push_str(", ");
        operand(out, names, part);
    }
}

fn operand(out: &mut String, names: &Names<'_>, part: &Operand) {
    let symbol = |symbol| names.function.symbol_name(names.module, symbol);
    match part {
        Operand::Reg(reg) => names.reg(out, *reg),
        Operand::Not(reg) => {
            out.push('!');
            names.reg(out, *reg);
        }
        Operand::Int(value) => put!(out, "{value}"),
        Operand::F32(bits) => put!(out, "0f{bits:08X}"),
        Operand::F64(bits) => put!(out, "0d{bits:016X}"),
        Operand::Special(special) => put!(out, "{special}"),
        Operand::Symbol(of, bytes) => {
            out.push_str(symbol(*of));
            offset(out, *bytes);
        }
        Operand::Address(Address { base, offset: bytes }) => {
            out.push('[');
            match base {
                Base::Reg(reg) => names.reg(out, *reg),
                Base::Symbol(of) => out.push_str(symbol(*of)),
                Base::Absolute => put!(out, "{bytes}"),
            }
            if *base != Base::Absolute {
                offset(out, *bytes);
            }
            out.push(']');
        }
        Operand::Vector(parts) => {
            out.push('{');
            list(out, names, parts);
            out.push('}');
        }
        Operand::Bracket(parts) => {
            out.push('[');
            for (at, part) in parts.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                if let Operand::Address(Address { base: Base::Reg(reg), offset: bytes }) = part {
                    names.reg(out, *reg);
                    offset(out, *bytes);
                } else {
                    operand(out, names, part);
                }
            }
            out.push(']');
        }
        Operand::Label(label) => out.push_str(names.label(*label)),
        Operand::Table(table) => {
            let table = names.body.tables.get(*table as usize);
            out.push_str(table.map_or("?", |table| &table.name));
        }
        Operand::Sink => out.push('_'),
    }
}
