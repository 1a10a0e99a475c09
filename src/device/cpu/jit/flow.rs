//! What the compiler must know of a function's flow of control: its loops, what it calls, and which registers
//! live where.

use crate::ptx::{
    ast::{Body, FunctionKind, Module, Statement},
    cfg::{Cfg, Liveness},
    operand::{Decides, Operand, Reg, Special, Symbol},
};

/// For each function of the module, whether a kernel may call it.
pub(super) fn reachable_functions(module: &Module) -> Vec<bool> {
    let mut reached: Vec<bool> =
        module.functions.iter().map(|f| f.kind == FunctionKind::Entry).collect();
    let mut todo: Vec<usize> = (0..reached.len()).filter(|&index| reached[index]).collect();
    // A variable may hold the address of any function that it names.
    if takes_address(module) {
        let funcs = 0..reached.len();
        for index in funcs.filter(|&index| module.functions[index].body.is_some()) {
            if !reached[index] {
                reached[index] = true;
                todo.push(index);
            }
        }
    }
    while let Some(index) = todo.pop() {
        let Some(body) = &module.functions[index].body else { continue };
        for instruction in body.instructions() {
            for operand in &instruction.src {
                if let Operand::Symbol(Symbol::Function(callee), _) = operand
                    && let Some(seen) = reached.get_mut(*callee as usize)
                    && !std::mem::replace(seen, true)
                {
                    todo.push(*callee as usize);
                }
            }
        }
    }
    reached
}

/// Whether any function asks where the shared memory lies that is kept for the system: cooperative groups of more
/// than a warp meet there.
pub(super) fn uses_reserved_shared(module: &Module) -> bool {
    let reserved = |operand: &Operand| {
        let Operand::Special(Special::Scalar(scalar)) = operand else { return false };
        scalar.decides() == Decides::ReservedShared
    };
    let bodies = module.functions.iter().filter_map(|function| function.body.as_ref());
    bodies.flat_map(Body::instructions).any(|i| i.src.iter().any(reserved))
}

fn takes_address(module: &Module) -> bool {
    use crate::ptx::ast::{Init, Value};
    fn of(init: &Init) -> bool {
        match init {
            Init::Value(Value::Address(a)) => matches!(a.symbol, Symbol::Function(_)),
            Init::List(items) => items.iter().any(of),
            Init::Value(_) | Init::Text(_) => false,
        }
    }
    module.variables.iter().filter_map(|v| v.init.as_ref()).any(of)
}

/// For each label, whether a back edge ends there: every loop goes through such a label, the last of its block.
pub(super) fn loop_headers(body: &Body, cfg: &Cfg) -> Vec<bool> {
    let mut headers = vec![false; body.labels.len()];
    for block in cfg.blocks.iter().filter(|block| block.is_loop_header) {
        let statements = &body.statements[block.statements.clone()];
        let label = statements.iter().rev().find_map(|statement| match statement {
            Statement::Label(label) => Some(label.0 as usize),
            Statement::Instruction(_) | Statement::Pragma(_) => None,
        });
        if let Some(label) = label {
            headers[label] = true;
        }
    }
    headers
}

/// For each of `points` (indices of statements, increasing), the registers that live after it, without those
/// that it is sure to write; for the label of a block, those that live there.
pub(super) fn live_after(
    body: &Body,
    cfg: &Cfg,
    liveness: &Liveness,
    points: &[usize],
) -> Vec<Vec<Reg>> {
    if points.is_empty() {
        return Vec::new();
    }
    let mut kept = vec![Vec::new(); points.len()];
    for id in cfg.ids() {
        for at in cfg.block(id).statements.clone() {
            if let (Statement::Label(_), Ok(point)) =
                (&body.statements[at], points.binary_search(&at))
            {
                kept[point] = liveness.live_in[id.index()].iter().collect();
            }
        }
        liveness.for_each_after(body, cfg, id, |at, instruction, live| {
            let Ok(point) = points.binary_search(&at) else { return };
            let mut live = live.clone();
            if instruction.guard.is_none() {
                instruction.for_each_def(|reg| live.remove(reg));
            }
            kept[point] = live.iter().collect();
        });
    }
    kept
}
