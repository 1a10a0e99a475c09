//! Calls through pointers, as a choice among the functions that a pointer can have.

use super::Need;
use crate::ptx::ast::{Body, Module, Statement};
use crate::ptx::inst::{Guard, Instruction, Op};
use crate::ptx::modifier::Cmp;
use crate::ptx::operand::{Label, Operand, Symbol};
use crate::ptx::pass::calls::{candidates, targets};
use crate::ptx::types::Type;

/// Calls that can mean a function that must be inlined become calls of each such function by its name, and one
/// through the pointer for all others.
pub(super) fn expand(module: &mut Module, needs: &[Need]) {
    let targets = targets(module);
    for index in 0..module.functions.len() {
        let Some(mut body) = module.functions[index].body.take() else { continue };
        let chosen: Vec<Vec<usize>> = (0..body.prototypes.len() as u32)
            .map(|prototype| {
                let mut all = candidates(module, &body, prototype, &targets);
                all.retain(|callee| needs[*callee] == Need::Must);
                all
            })
            .collect();
        if chosen.iter().any(|callees| !callees.is_empty()) {
            expand_body(&mut body, &chosen);
        }
        module.functions[index].body = Some(body);
    }
}

fn expand_body(body: &mut Body, chosen: &[Vec<usize>]) {
    let mut serial = 0;
    for statement in std::mem::take(&mut body.statements) {
        let callees = match &statement {
            Statement::Instruction(Instruction {
                op: Op::Call { prototype: Some(prototype), uni: _ },
                src,
                ..
            }) if matches!(src.first(), Some(Operand::Reg(_))) => {
                chosen.get(*prototype as usize).map_or(&[][..], Vec::as_slice)
            }
            Statement::Instruction(_) | Statement::Label(_) | Statement::Pragma(_) => &[],
        };
        if let (Statement::Instruction(call), false) = (&statement, callees.is_empty()) {
            expand_call(body, call, callees, serial);
            serial += 1;
        } else {
            body.statements.push(statement);
        }
    }
}

fn expand_call(body: &mut Body, call: &Instruction, callees: &[usize], serial: usize) {
    let like = |op, dst, src| Instruction {
        line: call.line,
        location: call.location,
        ..Instruction::new(op, dst, src)
    };
    let jump = |label: Label, guard: Option<Guard>| {
        let bra = like(Op::Bra { uni: false }, Vec::new(), vec![Operand::Label(label)]);
        Statement::Instruction(Instruction { guard, ..bra })
    };
    let mut label = |name: String| {
        body.labels.push(name);
        Label(body.labels.len() as u32 - 1)
    };
    let end = label(format!("$L__virtual{serial}_end"));
    let cases: Vec<Label> =
        (0..callees.len()).map(|at| label(format!("$L__virtual{serial}_{at}"))).collect();
    let address = body.registers.declare(format!("%virtual{serial}_a"), Type::B64, None);
    let same = body.registers.declare(format!("%virtual{serial}_p"), Type::Pred, None);
    let mut out = Vec::new();
    if let Some(guard) = call.guard {
        out.push(jump(end, Some(Guard { negated: !guard.negated, ..guard })));
    }
    let operands = |first: Operand| {
        std::iter::once(first).chain(call.src.iter().skip(1).cloned()).collect::<Vec<_>>()
    };
    for (callee, case) in callees.iter().zip(&cases) {
        let symbol = Operand::Symbol(Symbol::Function(*callee as u32), 0);
        let mov = Op::Mov { ty: Type::U64, lanes: 1 };
        out.push(Statement::Instruction(like(mov, vec![Operand::Reg(address)], vec![symbol])));
        let setp = Op::Setp { cmp: Cmp::Eq, combine: None, ty: Type::S64, ftz: false };
        let sources = vec![call.src[0].clone(), Operand::Reg(address)];
        out.push(Statement::Instruction(like(setp, vec![Operand::Reg(same)], sources)));
        out.push(jump(*case, Some(Guard { reg: same, negated: false })));
    }
    out.push(Statement::Instruction(Instruction { guard: None, ..call.clone() }));
    out.push(jump(end, None));
    for (callee, case) in callees.iter().zip(&cases) {
        out.push(Statement::Label(*case));
        let source = operands(Operand::Symbol(Symbol::Function(*callee as u32), 0));
        let direct = Op::Call { uni: false, prototype: None };
        out.push(Statement::Instruction(like(direct, call.dst.clone(), source)));
        out.push(jump(end, None));
    }
    out.push(Statement::Label(end));
    body.statements.extend(out);
}
