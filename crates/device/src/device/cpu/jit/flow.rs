//! What the compiler must know of a function's flow of control: its loops, and which registers live where.

use crate::ptx::{
    ast::{Body, Module, Statement},
    cfg::{Cfg, Liveness},
    operand::{Decides, Operand, Reg, Special},
};

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
    let mut live_at = vec![Vec::new(); points.len()];
    for id in cfg.ids() {
        for at in cfg.block(id).statements.clone() {
            if let (Statement::Label(_), Ok(point)) =
                (&body.statements[at], points.binary_search(&at))
            {
                live_at[point] = liveness.live_in[id.index()].iter().collect();
            }
        }
        liveness.for_each_after(body, cfg, id, |at, instruction, live| {
            let Ok(point) = points.binary_search(&at) else { return };
            let mut live = live.clone();
            if instruction.guard.is_none() {
                instruction.for_each_def(|reg| live.remove(reg));
            }
            live_at[point] = live.iter().collect();
        });
    }
    live_at
}
