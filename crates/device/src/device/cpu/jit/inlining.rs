//! Which device functions must be part of their callers: only a kernel's threads can wait.

use std::{borrow::Cow, collections::VecDeque};

use super::{sites::Sites, spin, sync};
use crate::{
    device::{
        Error, Result,
        cpu::{error::NAME, layout::Reach, location::Unsupported},
    },
    ptx::{
        ast::{Function, FunctionKind, Module},
        inst::{Instruction, Op},
        pass::inline::{Need, inline},
        verify,
    },
};

/// The module with the functions that wait inlined, and for each function whether it is not to be compiled by
/// itself.
pub(super) fn inlined<'a>(module: &'a Module, text: &str) -> Result<(Cow<'a, Module>, Vec<bool>)> {
    let reach = Reach::new(module);
    let functions = module.functions.iter().enumerate();
    let needs: Vec<Need> =
        functions.map(|(index, function)| need((function, reach.is_reached(index)))).collect();
    if needs.iter().all(|need| *need == Need::None) {
        return Ok((Cow::Borrowed(module), vec![false; needs.len()]));
    }
    let mut changed = module.clone();
    match inline(&mut changed, &needs) {
        Ok(inlined) => {
            // What is within the limits of PTX in parts need not be as a whole.
            match verify(&changed).first() {
                None => Ok((Cow::Owned(changed), inlined)),
                Some(diagnostic) => {
                    let log = format!("with all functions that wait inlined: {}", diagnostic.text);
                    Err(Error::Load { device: NAME.into(), log, location: None })
                }
            }
        }
        Err(refused) => {
            let name = &module.functions[refused.function as usize].name;
            let why = format!("{}: `{name}`", refused.why);
            Err(match first_wait(module, refused.function) {
                Some(waits) => Sites::new(module, text).unsupported(waits, Unsupported::Part(&why)),
                // It waits, or calls through a pointer what does, in a way that names no instruction of its own.
                None => Error::Load {
                    device: NAME.into(),
                    log: format!("waiting {why}"),
                    location: None,
                },
            })
        }
    }
}

fn need((function, reached): (&Function, bool)) -> Need {
    match &function.body {
        Some(body) if reached && function.kind == FunctionKind::Func => {
            if body.instructions().any(waits) {
                Need::Must
            } else if body.instructions().any(spin::is_strong) {
                Need::Better
            } else {
                Need::None
            }
        }
        _ => Need::None,
    }
}

fn waits(i: &Instruction) -> bool {
    sync::resume_kind(i).is_some()
}

/// The first instruction at which `function` waits, itself or in what it calls.
fn first_wait(module: &Module, function: u32) -> Option<&Instruction> {
    let mut open = VecDeque::from([function as usize]);
    let mut seen = vec![false; module.functions.len()];
    while let Some(function) = open.pop_front() {
        let Some(body) = &module.functions[function].body else { continue };
        if let Some(found) = body.instructions().find(|i| waits(i)) {
            return Some(found);
        }
        let callees = body.instructions().filter_map(Instruction::callee);
        open.extend(callees.map(|callee| callee as usize).filter(|callee| !seen[*callee]));
        open.iter().for_each(|next| seen[*next] = true);
    }
    // Only through a pointer: where that is called.
    let body = module.functions[function as usize].body.as_ref()?;
    body.instructions().find(|i| matches!(i.op, Op::Call { .. }) && i.callee().is_none())
}
