//! Which definition each name of the inputs means.

use std::collections::{HashMap, HashSet};

use super::{Input, Strength};
use crate::diagnostic::Diagnostic;
use crate::ptx::ast::{Function, FunctionKind, Linkage, Module, Param, Variable};
use crate::ptx::operand::Symbol;

/// A variable or a function of an input.
#[derive(Clone, Copy)]
enum Object<'a> {
    Variable(&'a Variable),
    Function(&'a Function),
}

impl<'a> Object<'a> {
    /// All of a module, with their symbols.
    fn all(module: &'a Module) -> impl Iterator<Item = (Symbol, Self)> {
        let variables = module.variables.iter().map(Self::Variable);
        let functions = module.functions.iter().map(Self::Function);
        let variables = (0..).map(Symbol::Variable).zip(variables);
        variables.chain((0..).map(Symbol::Function).zip(functions))
    }

    fn name(self) -> &'a str {
        match self {
            Self::Variable(variable) => &variable.name,
            Self::Function(function) => &function.name,
        }
    }

    fn is_internal(self) -> bool {
        let linkage = match self {
            Self::Variable(variable) => variable.linkage,
            Self::Function(function) => function.linkage,
        };
        linkage == Linkage::Internal
    }

    fn strength(self) -> Strength {
        match self {
            Self::Function(Function { body: None, .. }) => Strength::Declared,
            Self::Function(function) => Strength::of(function.linkage),
            // Dynamic shared memory is there without a definition: the launch says how much.
            Self::Variable(variable) if is_shared(variable) && variable.is_dynamic() => {
                Strength::Common
            }
            Self::Variable(variable) => Strength::of(variable.linkage),
        }
    }

    fn alignment(self) -> u32 {
        match self {
            Self::Variable(variable) => variable.alignment(),
            Self::Function(_) => 1,
        }
    }

    /// What other modules rely on, in words.
    fn described(self) -> String {
        let list = |params: &[Param]| {
            let params = params.iter().map(|param| match param.count {
                Some(count) => format!(".{}[{count}]", param.ty),
                None => format!(".{}", param.ty),
            });
            params.collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Variable(v) => format!("{} bytes of `.{}`", v.bytes(), v.space),
            Self::Function(f) if f.kind == FunctionKind::Entry => {
                format!("`.entry ({})`", list(&f.params))
            }
            Self::Function(f) => format!("`.func ({}) ({})`", list(&f.returns), list(&f.params)),
        }
    }

    /// Whether what one module knows of it is true of the other's.
    fn agrees(self, other: Self) -> bool {
        match (self, other) {
            (Self::Variable(a), Self::Variable(b)) => {
                let open = |v: &Variable| v.dims.first() == Some(&0);
                let common = |v: &Variable| v.linkage == Linkage::Common;
                let any_size = open(a) || open(b) || common(a) || common(b);
                a.space == b.space && (any_size || a.bytes() == b.bytes())
            }
            (Self::Function(a), Self::Function(b)) => {
                let shape = |p: &Param| (p.bytes(), p.in_reg);
                let same = |a: &[Param], b: &[Param]| a.iter().map(shape).eq(b.iter().map(shape));
                a.kind == b.kind && same(&a.params, &b.params) && same(&a.returns, &b.returns)
            }
            (Self::Variable(_), Self::Function(_)) | (Self::Function(_), Self::Variable(_)) => {
                false
            }
        }
    }
}

fn is_shared(variable: &Variable) -> bool {
    variable.space.is_of_block()
}

/// An object and the number of its input.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    input: usize,
    symbol: Symbol,
    object: Object<'a>,
}

/// The definition that a name means.
pub(super) struct Meaning {
    /// The input that has it.
    pub(super) input: usize,
    /// Its symbol there.
    pub(super) symbol: Symbol,
    /// Its name in the linked module.
    pub(super) name: String,
    /// As its strictest declaration has it.
    pub(super) alignment: u32,
    /// Whether it is only declared.
    pub(super) declared: bool,
}

/// What the symbols of all inputs are in the linked module.
#[derive(Default)]
pub(super) struct Symbols {
    pub(super) variables: Vec<Meaning>,
    pub(super) functions: Vec<Meaning>,
    linked: Vec<HashMap<Symbol, Symbol>>,
}

impl Symbols {
    pub(super) fn resolve(inputs: &[Input]) -> Result<Self, Vec<Diagnostic>> {
        let mut resolver = Resolver { inputs, chosen: HashMap::new(), diagnostics: Vec::new() };
        for candidate in candidates(inputs).filter(|candidate| !candidate.object.is_internal()) {
            resolver.choose(candidate);
        }
        for candidate in candidates(inputs).filter(|candidate| !candidate.object.is_internal()) {
            resolver.compare(candidate);
        }
        if resolver.diagnostics.is_empty() {
            Ok(Self::number(inputs, &resolver.chosen))
        } else {
            Err(resolver.diagnostics)
        }
    }

    /// Gives every object its place in the linked module.
    fn number<'a>(inputs: &'a [Input], chosen: &HashMap<&'a str, Candidate<'a>>) -> Self {
        let mut symbols = Self { linked: vec![HashMap::new(); inputs.len()], ..Self::default() };
        let mut shared: HashMap<&str, Symbol> = HashMap::new();
        let mut taken: HashSet<String> = chosen.keys().map(|name| (*name).to_owned()).collect();
        for candidate in candidates(inputs) {
            let name = candidate.object.name();
            let linked = match chosen.get(name).filter(|_| !candidate.object.is_internal()) {
                Some(chosen) => {
                    let add = || symbols.add(*chosen, name.to_owned());
                    *shared.entry(name).or_insert_with(add)
                }
                None => symbols.add(candidate, fresh(&mut taken, name)),
            };
            symbols.linked[candidate.input].insert(candidate.symbol, linked);
            if let Some(meaning) = symbols.meaning_mut(linked) {
                meaning.alignment = meaning.alignment.max(candidate.object.alignment());
            }
        }
        symbols
    }

    fn add(&mut self, candidate: Candidate<'_>, name: String) -> Symbol {
        let (list, symbol): (_, fn(u32) -> Symbol) = match candidate.object {
            Object::Variable(_) => (&mut self.variables, Symbol::Variable),
            Object::Function(_) => (&mut self.functions, Symbol::Function),
        };
        list.push(Meaning {
            input: candidate.input,
            symbol: candidate.symbol,
            name,
            alignment: candidate.object.alignment(),
            declared: candidate.object.strength() == Strength::Declared,
        });
        symbol(list.len() as u32 - 1)
    }

    fn meaning_mut(&mut self, linked: Symbol) -> Option<&mut Meaning> {
        match linked {
            Symbol::Variable(index) => self.variables.get_mut(index as usize),
            Symbol::Function(index) => self.functions.get_mut(index as usize),
            Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_) => None,
        }
    }

    /// What a symbol of an input's module is in the linked one; those of functions stay as they are.
    pub(super) fn linked(&self, input: usize, symbol: Symbol) -> Symbol {
        let linked = self.linked.get(input).and_then(|linked| linked.get(&symbol));
        linked.copied().unwrap_or(symbol)
    }
}

fn candidates(inputs: &[Input]) -> impl Iterator<Item = Candidate<'_>> {
    inputs.iter().enumerate().flat_map(|(input, Input { module, .. })| {
        Object::all(module).map(move |(symbol, object)| Candidate { input, symbol, object })
    })
}

/// `name`, or that with a number behind where it is taken; takes it.
pub(super) fn fresh(taken: &mut HashSet<String>, name: &str) -> String {
    let mut found = name.to_owned();
    let mut number = 0_u32;
    while !taken.insert(found.clone()) {
        number += 1;
        found = format!("{name}${number}");
    }
    found
}

/// Looks for the definition of each name that modules share.
struct Resolver<'a> {
    inputs: &'a [Input],
    chosen: HashMap<&'a str, Candidate<'a>>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Resolver<'a> {
    /// Takes the candidate for the definition of its name, unless a better one is known.
    fn choose(&mut self, new: Candidate<'a>) {
        let name = new.object.name();
        let Some(old) = self.chosen.get(name).copied() else {
            self.chosen.insert(name, new);
            return;
        };
        let (strength, before) = (new.object.strength(), old.object.strength());
        let is_better = match strength {
            Strength::Declared | Strength::Weak => strength > before,
            Strength::Common if before == strength => self.is_better_common(new, old),
            Strength::Strong if before == strength => {
                self.clash(new, old, "is defined in both");
                false
            }
            Strength::Common | Strength::Strong => strength > before,
        };
        if is_better {
            self.chosen.insert(name, new);
        }
    }

    /// The largest of several counts, and only that may have an initialiser.
    fn is_better_common(&mut self, new: Candidate<'a>, old: Candidate<'a>) -> bool {
        let size = |candidate: Candidate<'_>| match candidate.object {
            Object::Variable(v) => (v.bytes(), v.init.is_some()),
            Object::Function(_) => (0, false),
        };
        let better = size(new) > size(old);
        let (_, lost) = if better { size(old) } else { size(new) };
        if lost {
            self.clash(new, old, "has an initialiser that is not that of the largest `.common`");
        }
        better
    }

    fn clash(&mut self, new: Candidate<'_>, old: Candidate<'_>, what: &str) {
        let (name, other) = (new.object.name(), self.input(old));
        let text = format!("`{name}` {what}, here and in `{other}`");
        self.diagnostics.push(Diagnostic::error(self.input(new), text));
    }

    /// Whether what the candidate says of its name is true of the definition.
    fn compare(&mut self, candidate: Candidate<'_>) {
        let Some(chosen) = self.chosen.get(candidate.object.name()).copied() else { return };
        if candidate.object.agrees(chosen.object) {
            return;
        }
        let (name, other) = (candidate.object.name(), self.input(chosen));
        let [here, there] = [candidate, chosen].map(|candidate| candidate.object.described());
        let text = format!("`{name}` is {here} here, but {there} in `{other}`");
        self.diagnostics.push(Diagnostic::error(self.input(candidate), text));
    }

    fn input(&self, candidate: Candidate<'_>) -> &'a str {
        self.inputs.get(candidate.input).map_or("?", |input| &input.name)
    }
}
