//! One module of several.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::Input;
use super::renumber::Renumber;
use super::symbols::{Meaning, Symbols, fresh};
use crate::diagnostic::Diagnostic;
use crate::ptx::ast::{
    File, Function, FunctionKind, Init, Item, LocationId, Module, Section, Value, Variable,
};
use crate::ptx::operand::Symbol;

/// The linked module as far as it is made.
pub(super) struct Merge<'a> {
    symbols: &'a Symbols,
    /// What is nowhere defined and need be.
    undefined: HashSet<Symbol>,
    module: Module,
    variables: BTreeMap<u32, Variable>,
    functions: BTreeMap<u32, Function>,
    files: HashMap<File, u32>,
    /// Labels of strings.
    labels: HashSet<String>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Merge<'a> {
    pub(super) fn new(symbols: &'a Symbols, provided: &[&str]) -> Self {
        let declared = |list: &'a [Meaning], symbol: fn(u32) -> Symbol| {
            let list = (0..).map(symbol).zip(list).filter(|(_, meaning)| meaning.declared);
            list.filter(|(_, meaning)| !provided.contains(&meaning.name.as_str()))
        };
        let undefined = declared(&symbols.variables, Symbol::Variable)
            .chain(declared(&symbols.functions, Symbol::Function));
        Self {
            symbols,
            undefined: undefined.map(|(symbol, _)| symbol).collect(),
            module: Module::default(),
            variables: BTreeMap::new(),
            functions: BTreeMap::new(),
            files: HashMap::new(),
            labels: HashSet::new(),
            diagnostics: Vec::new(),
        }
    }

    /// Takes the input with this number.
    pub(super) fn add(&mut self, number: usize, input: Input) {
        let Input { name, module, lines_before } = input;
        self.head(&name, &module, number == 0);
        let mut renumber = Renumber {
            input: number,
            symbols: self.symbols,
            lines_before,
            locations_before: self.module.locations.len() as u32,
            files: HashMap::new(),
            labels: HashMap::new(),
        };
        for (number, file) in module.files {
            renumber.files.insert(number, self.file(file));
        }
        for (label, text) in module.debug_strings {
            let new = fresh(&mut self.labels, &label);
            self.module.debug_strings.insert(new.clone(), text);
            renumber.labels.insert(label, new);
        }
        for mut location in module.locations {
            renumber.location(&mut location);
            self.module.locations.push(location);
        }
        let of_debugger = |section: &Section| section.name.starts_with(".debug");
        self.module.sections.extend(module.sections.into_iter().filter(|s| !of_debugger(s)));
        self.take_variables(&name, &renumber, module.variables);
        self.take_functions(&name, &renumber, module.functions);
    }

    /// The newest version and architecture that any input names.
    fn head(&mut self, name: &str, module: &Module, first: bool) {
        if first {
            self.module.address_size = module.address_size;
        } else if self.module.address_size != module.address_size {
            let text = format!(
                "its addresses have {} bits, those before it {}",
                module.address_size, self.module.address_size
            );
            self.diagnostics.push(Diagnostic::error(name, text));
        }
        self.module.version = self.module.version.max(module.version);
        let target = &mut self.module.target;
        for word in &module.target {
            match target.iter_mut().find(|known| *known == word || both_architectures(known, word))
            {
                Some(known) if architecture(word) > architecture(known) => known.clone_from(word),
                Some(_) => {}
                None => target.push(word.clone()),
            }
        }
    }

    fn file(&mut self, file: File) -> u32 {
        let next = self.files.len() as u32 + 1;
        let number = *self.files.entry(file.clone()).or_insert(next);
        self.module.files.insert(number, file);
        number
    }

    fn take_variables(&mut self, input: &str, renumber: &Renumber<'_>, list: Vec<Variable>) {
        for (own, mut variable) in (0..).map(Symbol::Variable).zip(list) {
            let Symbol::Variable(linked) = self.symbols.linked(renumber.input, own) else {
                continue;
            };
            let Some(meaning) = self.symbols.variables.get(linked as usize) else { continue };
            if (meaning.input, meaning.symbol) != (renumber.input, own) {
                continue;
            }
            variable.name.clone_from(&meaning.name);
            if meaning.alignment > variable.alignment() {
                variable.align = Some(meaning.alignment);
            }
            let mut used = Vec::new();
            renumber.variable(&mut variable, &mut |symbol| used.push((symbol, None)));
            self.expect_defined(input, used);
            self.variables.insert(linked, variable);
        }
    }

    fn take_functions(&mut self, input: &str, renumber: &Renumber<'_>, list: Vec<Function>) {
        for (own, mut function) in (0..).map(Symbol::Function).zip(list) {
            let Symbol::Function(linked) = self.symbols.linked(renumber.input, own) else {
                continue;
            };
            let Some(meaning) = self.symbols.functions.get(linked as usize) else { continue };
            if (meaning.input, meaning.symbol) != (renumber.input, own) {
                continue;
            }
            function.name.clone_from(&meaning.name);
            if let Some(body) = &mut function.body {
                let mut used = Vec::new();
                let undefined = &self.undefined;
                renumber.body(body, &mut |symbol, location| {
                    if undefined.contains(&symbol) {
                        used.push((symbol, location));
                    }
                });
                self.expect_defined(input, used);
            }
            self.functions.insert(linked, function);
        }
    }

    /// Says of what is used but not defined, once, who uses it and where.
    fn expect_defined(&mut self, input: &str, used: Vec<(Symbol, Option<LocationId>)>) {
        for (symbol, location) in used {
            if !self.undefined.remove(&symbol) {
                continue;
            }
            let meaning = match symbol {
                Symbol::Variable(index) => self.symbols.variables.get(index as usize),
                Symbol::Function(index) => self.symbols.functions.get(index as usize),
                Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_) => None,
            };
            let name = meaning.map_or("?", |meaning| &meaning.name);
            let text = format!("`{name}` is used in `{input}`, but nothing defines it");
            let place = location.and_then(|id| self.module.location(id));
            self.diagnostics.push(match place {
                Some(place) => Diagnostic::error(self.module.file_name(place.file), text)
                    .at(place.line, Some(place.column).filter(|column| *column > 0)),
                None => Diagnostic::error(input, text),
            });
        }
    }

    pub(super) fn finish(self) -> Result<Module, Vec<Diagnostic>> {
        if !self.diagnostics.is_empty() {
            return Err(self.diagnostics);
        }
        let mut module = self.module;
        module.variables = self.variables.into_values().collect();
        module.functions = self.functions.into_values().collect();
        module.items = items(&module);
        module.sections.extend(strings(&module.debug_strings));
        Ok(module)
    }
}

fn architecture(word: &str) -> Option<u32> {
    let digits = word.strip_prefix("sm_")?;
    digits.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
}

fn both_architectures(a: &str, b: &str) -> bool {
    architecture(a).is_some() && architecture(b).is_some()
}

/// An order in which what is named is declared before: functions without bodies, variables, those with addresses in
/// them last, functions.
fn items(module: &Module) -> Vec<Item> {
    let functions = || (0..).zip(&module.functions);
    let variables = |with: bool| {
        let all = (0..).zip(&module.variables);
        let chosen = all.filter(move |(_, v)| v.init.as_ref().is_some_and(has_address) == with);
        chosen.map(|(index, _)| Item::Variable(index))
    };
    let declared = functions().filter(|(_, f)| f.kind == FunctionKind::Func);
    let defined = functions().filter(|(_, f)| f.body.is_some());
    let declared = declared.map(|(index, _)| Item::Declaration(index));
    let defined = defined.map(|(index, _)| Item::Definition(index));
    declared.chain(variables(false)).chain(variables(true)).chain(defined).collect()
}

fn has_address(init: &Init) -> bool {
    match init {
        Init::Value(Value::Address(_)) => true,
        Init::List(items) => items.iter().any(has_address),
        Init::Value(_) | Init::Text(_) => false,
    }
}

/// The section of the strings that places name.
fn strings(strings: &BTreeMap<String, String>) -> Option<Section> {
    let lines = strings.iter().map(|(label, text)| {
        let bytes = text.bytes().chain([0]).map(|byte| byte.to_string());
        format!("{label}:\n.b8 {}", bytes.collect::<Vec<_>>().join(", "))
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then(|| Section { name: ".debug_str".to_owned(), text })
}
