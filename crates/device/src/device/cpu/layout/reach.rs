//! What each function may call, and the shared memory that it and those may use.

use crate::ptx::{
    ast::{Body, Function, FunctionKind, Init, Module, Value},
    inst::{Instruction, Op},
    operand::{Operand, Symbol},
};

/// The shared memory that a function uses, or one that it may call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shared {
    /// Variables of the module.
    pub(super) of_module: bool,
    /// What dynamic shared memory is to be aligned to, in bytes; 0 where none is used.
    pub(super) dynamic_alignment: u32,
}

impl Shared {
    fn join(self, other: Self) -> Self {
        Self {
            of_module: self.of_module || other.of_module,
            dynamic_alignment: self.dynamic_alignment.max(other.dynamic_alignment),
        }
    }
}

/// What the functions of a module reach.
#[derive(Debug)]
pub(in crate::device::cpu) struct Reach {
    reached: Vec<bool>,
    shared: Vec<Shared>,
    calls: Vec<Vec<usize>>,
}

impl Reach {
    pub(in crate::device::cpu) fn new(module: &Module) -> Self {
        let calls = calls(module);
        let own = module.functions.iter().map(|function| own_shared(module, function));
        let own = own.chain([Shared::default()]).collect();
        Self { reached: reached(module, &calls), shared: joined(own, &calls), calls }
    }

    /// For each function the most bytes that frames take along a chain of calls that begins with it, where a frame of
    /// a function takes `bytes`. Functions that call each other, or themselves, count once each, all of them.
    pub(super) fn deepest(&self, bytes: impl Fn(usize) -> u64) -> Vec<u64> {
        let mut deepest = vec![0; self.calls.len()];
        // What a circle of functions calls comes before it.
        for circle in circles(&self.calls) {
            let own: u64 = circle.iter().map(|function| bytes(*function)).sum();
            let callees = circle.iter().flat_map(|function| &self.calls[*function]);
            // Of those in the circle itself it is still 0.
            let below = callees.map(|callee| deepest[*callee]).max().unwrap_or(0);
            circle.iter().for_each(|function| deepest[*function] = own + below);
        }
        deepest
    }

    /// Whether a pointer may lead to the function: its address is taken somewhere.
    pub(super) fn is_addressed(&self, function: usize) -> bool {
        self.calls.last().is_some_and(|addressed| addressed.binary_search(&function).is_ok())
    }

    /// Whether a kernel may call the function, or it is one.
    pub(in crate::device::cpu) fn is_reached(&self, function: usize) -> bool {
        self.reached[function]
    }

    pub(super) fn shared(&self, function: usize) -> Shared {
        self.shared[function]
    }
}

/// For each function those that it may call. Behind the last one stands, for all calls through pointers, whatever has
/// an address that is taken anywhere.
fn calls(module: &Module) -> Vec<Vec<usize>> {
    let through_pointers = module.functions.len();
    let mut calls = vec![Vec::new(); through_pointers + 1];
    let mut addressed = Vec::new();
    module.variables.iter().filter_map(|v| v.init.as_ref()).for_each(|i| named(i, &mut addressed));
    for (index, function) in module.functions.iter().enumerate() {
        for i in function.body.iter().flat_map(Body::instructions) {
            match call_target(i) {
                Some(Some(target)) => calls[index].push(target),
                Some(None) => calls[index].push(through_pointers),
                None => {}
            }
            let operands = i.src.iter().skip(usize::from(call_target(i).is_some()));
            addressed.extend(operands.flat_map(Operand::lanes).filter_map(function_of));
        }
    }
    calls[through_pointers] = addressed;
    for list in &mut calls {
        list.sort_unstable();
        list.dedup();
    }
    calls
}

/// The functions in circles of calls (strongly connected components), a function that is in none by itself; behind
/// those that they call. R. Tarjan, "Depth-first search and linear graph algorithms", 1972, with a stack of its own.
fn circles(calls: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let (mut order, mut lowest) = (vec![NEW; calls.len()], vec![0; calls.len()]);
    let (mut is_waiting, mut waiting) = (vec![false; calls.len()], Vec::new());
    let (mut found, mut next) = (Vec::new(), 0);
    for start in 0..calls.len() {
        let mut open = if order[start] == NEW { vec![(start, 0)] } else { Vec::new() };
        while let Some((function, callee)) = open.pop() {
            if callee == 0 {
                (order[function], lowest[function]) = (next, next);
                next += 1;
                waiting.push(function);
                is_waiting[function] = true;
            } else if let Some(&before) = calls[function].get(callee - 1)
                && is_waiting[before]
            {
                lowest[function] = lowest[function].min(lowest[before]);
            }
            if let Some(&to) = calls[function].get(callee) {
                open.push((function, callee + 1));
                if order[to] == NEW {
                    open.push((to, 0));
                }
            } else if lowest[function] == order[function] {
                let first = waiting.iter().rposition(|one| *one == function).unwrap_or(0);
                let circle = waiting.split_off(first);
                circle.iter().for_each(|one| is_waiting[*one] = false);
                found.push(circle);
            }
        }
    }
    found
}

/// The function that is called, where it is a call; none where a pointer says which.
fn call_target(i: &Instruction) -> Option<Option<usize>> {
    let Op::Call { .. } = i.op else { return None };
    Some(i.src.first().and_then(function_of))
}

fn function_of(operand: &Operand) -> Option<usize> {
    match operand.symbol()? {
        Symbol::Function(index) => Some(index as usize),
        Symbol::Variable(_) | Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_) => None,
    }
}

/// Functions whose address an initialiser holds: tables of virtual functions.
fn named(init: &Init, found: &mut Vec<usize>) {
    match init {
        Init::Value(Value::Address(address)) => match address.symbol {
            Symbol::Function(index) => found.push(index as usize),
            Symbol::Variable(_) | Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_) => {}
        },
        Init::List(items) => items.iter().for_each(|item| named(item, found)),
        Init::Value(_) | Init::Text(_) => {}
    }
}

/// What kernels may call.
fn reached(module: &Module, calls: &[Vec<usize>]) -> Vec<bool> {
    let is_kernel = |function: &Function| function.kind == FunctionKind::Entry;
    let mut reached: Vec<bool> = module.functions.iter().map(is_kernel).chain([false]).collect();
    let mut open: Vec<usize> = (0..reached.len()).filter(|&index| reached[index]).collect();
    while let Some(index) = open.pop() {
        for &callee in &calls[index] {
            if !std::mem::replace(&mut reached[callee], true) {
                open.push(callee);
            }
        }
    }
    reached
}

/// With each function's the shared memory of those that it may call.
fn joined(mut shared: Vec<Shared>, calls: &[Vec<usize>]) -> Vec<Shared> {
    let mut callers = vec![Vec::new(); calls.len()];
    for (caller, callees) in calls.iter().enumerate() {
        callees.iter().for_each(|&callee| callers[callee].push(caller));
    }
    // Each changes a few times at most: once by the flag, and by the alignments that there are.
    let mut open: Vec<usize> = (0..shared.len()).collect();
    while let Some(callee) = open.pop() {
        for &caller in &callers[callee] {
            let with = shared[caller].join(shared[callee]);
            if with != shared[caller] {
                shared[caller] = with;
                open.push(caller);
            }
        }
    }
    shared
}

/// The shared memory that a function names itself.
fn own_shared(module: &Module, function: &Function) -> Shared {
    let mut shared = Shared::default();
    let Some(body) = &function.body else { return shared };
    let operands = body.instructions().flat_map(|i| &i.src).flat_map(Operand::lanes);
    for symbol in operands.filter_map(Operand::symbol) {
        let variable = match symbol {
            Symbol::Variable(index) => module.variables.get(index as usize),
            Symbol::Local(index) => body.locals.get(index as usize),
            Symbol::Param(_) | Symbol::Return(_) | Symbol::Function(_) => None,
        };
        let Some(variable) = variable else { continue };
        if variable.is_dynamic() {
            shared.dynamic_alignment = shared.dynamic_alignment.max(variable.alignment().max(1));
        }
        let of_module = matches!(symbol, Symbol::Variable(_));
        let is_static = variable.space.is_of_block();
        shared.of_module |= of_module && is_static && !variable.is_dynamic();
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::parse;

    /// `a` keeps the address of `f`, which uses shared memory; `b` calls whatever it finds; `c` calls `g`; `d` nothing.
    const TEXT: &str = ".version 7.0
        .target sm_80
        .address_size 64
        .global .u64 kept;
        .shared .b32 own;
        .extern .shared .b8 more[];
        .func f() { .reg .b32 %r; ld.shared.u32 %r, [own]; ret; }
        .func g() { .reg .b32 %r; ld.shared.u8 %r, [more]; ret; }
        .func unused() { ret; }
        .visible .entry a() { .reg .b64 %rd; mov.u64 %rd, f; st.global.u64 [kept], %rd; ret; }
        .visible .entry b() {
            .reg .b64 %rd;
            ld.global.u64 %rd, [kept];
            p: .callprototype _ ();
            call %rd, (), p;
            ret;
        }
        .visible .entry c() { call g, (); ret; }
        .visible .entry d() { ret; }";

    #[test]
    fn pointers_may_come_from_other_kernels() {
        let module = parse(TEXT).unwrap();
        let reach = Reach::new(&module);
        let of = |name: &str| module.functions.iter().position(|f| f.name == name).unwrap();
        let reached = ["f", "g", "unused", "a", "b", "c", "d"].map(|n| reach.is_reached(of(n)));
        assert_eq!(reached, [true, true, false, true, true, true, true]);
        let (own, more) = (
            Shared { of_module: true, dynamic_alignment: 0 },
            Shared { of_module: false, dynamic_alignment: 1 },
        );
        // Only the address of `f` is taken: `b` may call nothing else.
        let addressed = ["f", "g", "unused", "a"].map(|name| reach.is_addressed(of(name)));
        assert_eq!(addressed, [true, false, false, false]);
        let found = ["a", "b", "c", "d"].map(|name| reach.shared(of(name)));
        assert_eq!(found, [Shared::default(), own, more, Shared::default()]);
    }

    #[test]
    fn the_deepest_chain_of_calls_counts_each_function_once() {
        // `a` calls `b`, which `c` may call again before it calls `d`.
        let text = ".version 7.0
            .target sm_80
            .address_size 64
            .func d() { ret; }
            .func c();
            .func b() { call c, (); call d, (); ret; }
            .func c() { call b, (); ret; }
            .visible .entry a() { call d, (); call b, (); ret; }
            .visible .entry e() { ret; }";
        let module = parse(text).unwrap();
        let of = |name: &str| module.functions.iter().position(|f| f.name == name).unwrap();
        let bytes = |index: usize| match module.functions.get(index).map(|f| f.name.as_str()) {
            Some("a") => 1,
            Some("b") => 10,
            Some("c") => 100,
            Some("d") => 1000,
            _ => 0,
        };
        let deepest = Reach::new(&module).deepest(bytes);
        let found = ["a", "b", "c", "d", "e"].map(|name| deepest[of(name)]);
        assert_eq!(found, [1111, 1110, 1110, 1000, 0]);
    }
}
