//! Names inside a function: nested scopes, flattened.

use std::collections::{HashMap, HashSet};

use crate::ptx::ast::{Body, Registers, Statement, Variable};
use crate::ptx::operand::{Label, Reg, Symbol};
use crate::ptx::types::Type;

/// What a name means.
#[derive(Clone, Copy)]
pub(super) enum Name {
    Reg(Reg),
    Symbol(Symbol),
    Label(Label),
    Table(u32),
    Prototype(u32),
}

/// `%r<n>`: names with a number.
struct Range {
    count: u32,
    first: Reg,
}

#[derive(Default)]
struct Scope<'a> {
    names: HashMap<&'a str, Name>,
    /// By their names without the number.
    ranges: HashMap<&'a str, Range>,
    /// Labels that were first met in this scope and are not placed yet.
    pending: Vec<Label>,
}

impl Scope<'_> {
    /// What `name`, which splits as given, means in this very scope.
    fn find(&self, name: &str, split: Option<(&str, u32)>) -> Option<Name> {
        if let Some((prefix, number)) = split
            && let Some(range) = self.ranges.get(prefix).filter(|range| number < range.count)
        {
            return Some(Name::Reg(Reg(range.first.0 + number)));
        }
        self.names.get(name).copied()
    }
}

struct LabelState<'a> {
    name: &'a str,
    line: u32,
    placed: bool,
    /// The label of an outer scope that it turned out to be.
    alias: Option<Label>,
}

/// The function that is being read.
pub(super) struct FunctionScope<'a> {
    pub(super) body: Body,
    scopes: Vec<Scope<'a>>,
    labels: Vec<LabelState<'a>>,
    taken: HashSet<String>,
    /// The smallest number of the names above that end with one, by what stands before it.
    least_taken: HashMap<String, u32>,
    /// Prefixes of numbered names and how many there are.
    taken_ranges: HashMap<String, u32>,
    /// Next number to make a name unique with.
    suffixes: HashMap<String, u32>,
}

/// `%r12` as `%r` and 12; nothing where the digits begin with a zero.
fn numbered(name: &str) -> Option<(&str, u32)> {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[prefix.len()..];
    match digits.as_bytes() {
        [] | [b'0', _, ..] => None,
        _ => Some((prefix, digits.parse().ok()?)),
    }
}

impl<'a> FunctionScope<'a> {
    pub(super) fn new() -> Self {
        Self {
            body: Body::default(),
            scopes: vec![Scope::default()],
            labels: Vec::new(),
            taken: HashSet::new(),
            least_taken: HashMap::new(),
            taken_ranges: HashMap::new(),
            suffixes: HashMap::new(),
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.scopes.len()
    }

    pub(super) fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Leaves a scope: labels that it did not place may stand in the one around it.
    pub(super) fn close(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        for label in scope.pending {
            let state = &self.labels[label.0 as usize];
            if state.placed {
                continue;
            }
            let name = state.name;
            let Some(outer) = self.scopes.last_mut() else { continue };
            match outer.names.get(name) {
                Some(Name::Label(other)) => self.labels[label.0 as usize].alias = Some(*other),
                Some(_) => {}
                None => {
                    outer.names.insert(name, Name::Label(label));
                    outer.pending.push(label);
                }
            }
        }
    }

    /// What `name` means here.
    pub(super) fn find(&self, name: &str) -> Option<Name> {
        let split = numbered(name);
        self.scopes.iter().rev().find_map(|scope| scope.find(name, split))
    }

    fn is_taken(&self, name: &str) -> bool {
        self.taken.contains(name)
            || numbered(name).is_some_and(|(prefix, number)| {
                self.taken_ranges.get(prefix).is_some_and(|count| number < *count)
            })
    }

    fn covers_taken(&self, prefix: &str, count: u32) -> bool {
        self.taken_ranges.contains_key(prefix)
            || self.least_taken.get(prefix).is_some_and(|least| *least < count)
    }

    fn take(&mut self, name: String) {
        if let Some((prefix, number)) = numbered(&name) {
            let least = self.least_taken.entry(prefix.to_owned()).or_insert(number);
            *least = number.min(*least);
        }
        self.taken.insert(name);
    }

    /// `name`, or that name with a number where the function (or, in a nested scope, the module) has it already.
    fn unique(&mut self, name: &str, shadows: bool, numbered: Option<u32>) -> String {
        let mut candidate = name.to_owned();
        let mut must_change = shadows && self.depth() > 1;
        loop {
            let taken = match numbered {
                Some(count) => self.covers_taken(&candidate, count),
                None => self.is_taken(&candidate),
            };
            if !taken && !must_change {
                break;
            }
            must_change = false;
            let suffix = self.suffixes.entry(name.to_owned()).or_insert(0);
            *suffix += 1;
            let tail = if numbered.is_some() { "_" } else { "" };
            candidate = format!("{name}_{suffix}{tail}");
        }
        match numbered {
            Some(count) => {
                self.taken_ranges.insert(candidate.clone(), count);
            }
            None => self.take(candidate.clone()),
        }
        candidate
    }

    fn is_declared_here(&self, name: &str) -> bool {
        self.find_here(name).is_some()
    }

    fn insert(&mut self, name: &'a str, meaning: Name) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name, meaning);
        }
    }

    /// Declares a register, or `count` numbered ones. `None`: the name stands here already, or there are too many.
    pub(super) fn declare_reg(
        &mut self,
        name: &'a str,
        ty: Type,
        count: Option<u32>,
        shadows: bool,
    ) -> Option<Reg> {
        let registers = self.body.registers.len() as u64;
        let full = registers + u64::from(count.unwrap_or(1)) > u64::from(Registers::LIMIT);
        let repeats = |scope: &Scope<'_>| count.is_some() && scope.ranges.contains_key(name);
        if full || self.is_declared_here(name) || self.scopes.last().is_some_and(repeats) {
            return None;
        }
        let unique = self.unique(name, shadows, count);
        let first = self.body.registers.declare(unique, ty, count);
        match count {
            None => self.insert(name, Name::Reg(first)),
            Some(count) => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.ranges.insert(name, Range { count, first });
                }
            }
        }
        Some(first)
    }

    /// Declares a variable. `None`: the name stands here already.
    pub(super) fn declare_local(
        &mut self,
        name: &'a str,
        mut variable: Variable,
        shadows: bool,
    ) -> Option<Symbol> {
        if self.is_declared_here(name) {
            return None;
        }
        variable.name = self.unique(name, shadows, None);
        let symbol = Symbol::Local(self.body.locals.len() as u32);
        self.body.locals.push(variable);
        self.insert(name, Name::Symbol(symbol));
        Some(symbol)
    }

    /// Declares a parameter of the function. `None`: there is one with this name.
    pub(super) fn declare_param(&mut self, name: &'a str, symbol: Symbol) -> Option<()> {
        if name.is_empty() || name == "_" {
            return Some(());
        }
        if self.is_declared_here(name) {
            return None;
        }
        self.take(name.to_owned());
        self.insert(name, Name::Symbol(symbol));
        Some(())
    }

    /// Declares the label of a table or prototype; gives the name that is unique.
    pub(super) fn declare_list(&mut self, name: &'a str, meaning: Name) -> Option<String> {
        let known = matches!(self.find_here(name), Some(Name::Label(l)) if !self.labels[l.0 as usize].placed);
        if self.is_declared_here(name) && !known {
            return None;
        }
        let unique = self.unique(name, false, None);
        self.insert(name, meaning);
        Some(unique)
    }

    fn find_here(&self, name: &str) -> Option<Name> {
        self.scopes.last().and_then(|scope| scope.find(name, numbered(name)))
    }

    /// The label `name`, which may be placed later, here or in a scope around this one.
    pub(super) fn label(&mut self, name: &'a str, line: u32) -> Label {
        if let Some(Name::Label(label)) = self.find_here(name) {
            return label;
        }
        let label = Label(self.labels.len() as u32);
        self.labels.push(LabelState { name, line, placed: false, alias: None });
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name, Name::Label(label));
            scope.pending.push(label);
        }
        label
    }

    /// Places the label `name` here. `None`: it is placed already, or the name means something else.
    pub(super) fn place(&mut self, name: &'a str, line: u32) -> Option<()> {
        let label = match self.find_here(name) {
            Some(Name::Label(label)) => label,
            Some(_) => return None,
            None => {
                let label = Label(self.labels.len() as u32);
                self.labels.push(LabelState { name, line, placed: false, alias: None });
                self.insert(name, Name::Label(label));
                label
            }
        };
        let state = &mut self.labels[label.0 as usize];
        if state.placed {
            return None;
        }
        state.placed = true;
        self.body.statements.push(Statement::Label(label));
        Some(())
    }

    /// The body with its labels numbered in the order in which they stand, and the names that stand nowhere with
    /// the lines that name them.
    pub(super) fn finish(mut self) -> (Body, Vec<(&'a str, u32)>) {
        let mut numbers: Vec<Option<Label>> = vec![None; self.labels.len()];
        let mut statements = std::mem::take(&mut self.body.statements);
        for statement in &mut statements {
            if let Statement::Label(label) = statement {
                let name = self.labels[label.0 as usize].name;
                let new = Label(self.body.labels.len() as u32);
                numbers[label.0 as usize] = Some(new);
                let unique = self.unique(name, false, None);
                self.body.labels.push(unique);
                *label = new;
            }
        }
        let mut missing = Vec::new();
        let mut resolve = |label: &mut Label| {
            let mut at = *label;
            while let Some(outer) = self.labels[at.0 as usize].alias {
                at = outer;
            }
            match numbers[at.0 as usize] {
                Some(new) => *label = new,
                None => {
                    missing.push((self.labels[at.0 as usize].name, self.labels[at.0 as usize].line))
                }
            }
        };
        for statement in &mut statements {
            if let Statement::Instruction(instruction) = statement {
                instruction
                    .for_each_operand_mut(|operand| operand.for_each_label_mut(&mut resolve));
            }
        }
        for table in &mut self.body.tables {
            table.labels.iter_mut().for_each(&mut resolve);
        }
        self.body.statements = statements;
        missing.sort_unstable_by_key(|(name, line)| (*line, *name));
        missing.dedup();
        (self.body, missing)
    }
}
