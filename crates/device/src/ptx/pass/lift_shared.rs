//! Shared variables of device functions become the module's.

use std::collections::HashSet;

use crate::ptx::ast::{Body, FunctionKind, Item, Module, Statement, Variable};
use crate::ptx::operand::Symbol;

/// Makes shared variables of device functions the module's: each is there once in a block, however often the
/// function is called.
pub fn lift_shared(module: &mut Module) {
    let own = module.variables.len();
    let mut taken: HashSet<String> = module.variables.iter().map(|v| v.name.clone()).collect();
    taken.extend(module.functions.iter().map(|function| function.name.clone()));
    for index in 0..module.functions.len() {
        if module.functions[index].kind == FunctionKind::Entry {
            continue;
        }
        let Some(mut body) = module.functions[index].body.take() else { continue };
        let mut moved: Vec<Option<u32>> = vec![None; body.locals.len()];
        for (local, moved) in body.locals.iter_mut().zip(&mut moved) {
            if local.space.is_of_block() {
                let name = unique(&mut taken, &format!("{}_{index}", local.name));
                *moved = Some(module.variables.len() as u32);
                module.variables.push(Variable { name, ..local.clone() });
            }
        }
        if moved.iter().any(Option::is_some) {
            forget_locals(&mut body, &moved);
        }
        module.functions[index].body = Some(body);
    }
    let new = (own..module.variables.len()).map(|at| Item::Variable(at as u32));
    module.items.splice(0..0, new);
}

/// Takes the locals out of a body that became variables of the module.
fn forget_locals(body: &mut Body, moved: &[Option<u32>]) {
    let mut kept = 0;
    let places: Vec<Symbol> = moved
        .iter()
        .map(|moved| match moved {
            Some(variable) => Symbol::Variable(*variable),
            None => {
                kept += 1;
                Symbol::Local(kept - 1)
            }
        })
        .collect();
    let mut moved = moved.iter();
    body.locals.retain(|_| moved.next().is_some_and(Option::is_none));
    for statement in &mut body.statements {
        let Statement::Instruction(instruction) = statement else { continue };
        instruction.for_each_operand_mut(|operand| {
            operand.for_each_symbol_mut(&mut |symbol| {
                if let Symbol::Local(local) = symbol
                    && let Some(place) = places.get(*local as usize)
                {
                    *symbol = *place;
                }
            });
        });
    }
}

/// `name`, or that with a number behind where it is taken; taken from now on.
fn unique(taken: &mut HashSet<String>, name: &str) -> String {
    let numbered = (0_u32..).map(|number| match number {
        0 => name.to_owned(),
        number => format!("{name}_{number}"),
    });
    numbered.into_iter().find(|name| taken.insert(name.clone())).unwrap_or_default()
}
