//! Which functions call which, by their names and through pointers.
//!
//! Enters: a module. Leaves: for each function those that it may call. Must not know: `device`, `ptx::cfg`,
//! `ptx::pass::guard`, `ptx::pass::inline`.

use crate::ptx::ast::{Body, FunctionKind, Init, Module, Param, Value};
use crate::ptx::inst::Op;
use crate::ptx::operand::{Operand, Symbol};

/// Functions by their index in the module.
#[derive(Clone, Debug)]
pub(super) struct CallGraph {
    /// What each may call; nothing, where it has no body.
    callees: Vec<Vec<usize>>,
}

impl CallGraph {
    pub(super) fn new(module: &Module) -> Self {
        let targets = targets(module);
        let callees = |body: &Body| {
            let mut all = Vec::new();
            for instruction in body.instructions() {
                let Op::Call { prototype, uni: _ } = &instruction.op else { continue };
                match (instruction.callee(), prototype) {
                    (Some(callee), _) => all.push(callee as usize),
                    (None, Some(prototype)) => {
                        all.extend(candidates(module, body, *prototype, &targets));
                    }
                    // Which the verifier refuses.
                    (None, None) => {}
                }
            }
            all.sort_unstable();
            all.dedup();
            all
        };
        let bodies = module.functions.iter().map(|function| function.body.as_ref());
        Self { callees: bodies.map(|body| body.map_or_else(Vec::new, callees)).collect() }
    }

    /// How many functions there are.
    pub(super) fn len(&self) -> usize {
        self.callees.len()
    }

    /// What a function may call.
    pub(super) fn callees(&self, function: usize) -> &[usize] {
        &self.callees[function]
    }

    /// All functions, each after those that it calls, as far as there is such an order.
    pub(super) fn inner_first(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.len()];
        for root in 0..self.len() {
            let mut stack = vec![(root, 0)];
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            while let Some((function, next)) = stack.last_mut() {
                match self.callees[*function].get(*next) {
                    Some(callee) => {
                        *next += 1;
                        if !std::mem::replace(&mut seen[*callee], true) {
                            stack.push((*callee, 0));
                        }
                    }
                    None => {
                        order.push(*function);
                        stack.pop();
                    }
                }
            }
        }
        order
    }

    /// Whether a call of a function may lead to a call of it.
    pub(super) fn reaches_itself(&self, function: usize) -> bool {
        let mut seen = vec![false; self.len()];
        let mut open = self.callees[function].clone();
        while let Some(next) = open.pop() {
            if next == function {
                return true;
            }
            if !std::mem::replace(&mut seen[next], true) {
                open.extend(&self.callees[next]);
            }
        }
        false
    }
}

/// The functions whose address is taken somewhere.
pub(super) fn targets(module: &Module) -> Vec<usize> {
    let mut taken = vec![false; module.functions.len()];
    let mut take = |symbol: &Symbol| {
        if let Symbol::Function(index) = symbol
            && let Some(taken) = taken.get_mut(*index as usize)
        {
            *taken = true;
        }
    };
    for init in module.variables.iter().filter_map(|variable| variable.init.as_ref()) {
        addresses(init, &mut take);
    }
    for body in module.functions.iter().filter_map(|function| function.body.as_ref()) {
        for instruction in body.instructions() {
            let skipped = usize::from(instruction.callee().is_some());
            for operand in instruction.src.iter().skip(skipped) {
                if let Operand::Symbol(symbol, _) = operand {
                    take(symbol);
                }
            }
        }
    }
    (0..taken.len()).filter(|&index| taken[index]).collect()
}

fn addresses(init: &Init, take: &mut impl FnMut(&Symbol)) {
    match init {
        Init::Value(Value::Address(address)) => take(&address.symbol),
        Init::List(items) => items.iter().for_each(|item| addresses(item, take)),
        Init::Value(_) | Init::Text(_) => {}
    }
}

/// Those of `targets` that a call with this prototype can mean.
pub(super) fn candidates(
    module: &Module,
    body: &Body,
    prototype: u32,
    targets: &[usize],
) -> Vec<usize> {
    let Some(prototype) = body.prototypes.get(prototype as usize) else { return Vec::new() };
    let alike = |a: &[Param], b: &[Param]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.bytes() == b.bytes())
    };
    let fits = |index: &usize| {
        let function = &module.functions[*index];
        let named = prototype.targets.as_ref();
        function.kind == FunctionKind::Func
            && function.body.is_some()
            && alike(&function.params, &prototype.params)
            && alike(&function.returns, &prototype.returns)
            && named.is_none_or(|named| named.contains(&(*index as u32)))
    };
    targets.iter().copied().filter(fits).collect()
}
