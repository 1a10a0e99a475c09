//! A module's numbers in the linked one: of symbols, files, places and lines.

use std::collections::HashMap;

use super::symbols::Symbols;
use crate::ptx::ast::{Body, Init, Location, LocationId, Statement, Value, Variable};
use crate::ptx::operand::Symbol;

/// What becomes of one input's numbers.
pub(super) struct Renumber<'a> {
    pub(super) input: usize,
    pub(super) symbols: &'a Symbols,
    pub(super) lines_before: u32,
    pub(super) locations_before: u32,
    pub(super) files: HashMap<u32, u32>,
    /// Labels of strings that got other names.
    pub(super) labels: HashMap<String, String>,
}

impl Renumber<'_> {
    fn symbol(&self, symbol: &mut Symbol) {
        *symbol = self.symbols.linked(self.input, *symbol);
    }

    fn location_id(&self, id: &mut LocationId) {
        id.0 = id.0.saturating_add(self.locations_before);
    }

    pub(super) fn location(&self, location: &mut Location) {
        location.file = self.files.get(&location.file).copied().unwrap_or(location.file);
        if let Some(inlined) = &mut location.inlined {
            self.location_id(&mut inlined.call_site);
            if let Some(label) = self.labels.get(&inlined.label) {
                inlined.label.clone_from(label);
            }
        }
    }

    /// Renumbers what is in a variable; `seen` is told of each symbol.
    pub(super) fn variable(&self, variable: &mut Variable, seen: &mut impl FnMut(Symbol)) {
        if let Some(init) = &mut variable.init {
            self.init(init, seen);
        }
    }

    fn init(&self, init: &mut Init, seen: &mut impl FnMut(Symbol)) {
        match init {
            Init::Value(Value::Address(address)) => {
                self.symbol(&mut address.symbol);
                seen(address.symbol);
            }
            Init::List(items) => items.iter_mut().for_each(|item| self.init(item, seen)),
            Init::Value(_) | Init::Text(_) => {}
        }
    }

    /// The same in a body; `seen` is told of each symbol with the place that names it.
    pub(super) fn body(&self, body: &mut Body, seen: &mut impl FnMut(Symbol, Option<LocationId>)) {
        for local in &mut body.locals {
            self.variable(local, &mut |symbol| seen(symbol, None));
        }
        for target in body.prototypes.iter_mut().filter_map(|p| p.targets.as_mut()).flatten() {
            if let Symbol::Function(function) =
                self.symbols.linked(self.input, Symbol::Function(*target))
            {
                *target = function;
            }
        }
        for statement in &mut body.statements {
            let Statement::Instruction(instruction) = statement else { continue };
            if instruction.line > 0 {
                instruction.line = instruction.line.saturating_add(self.lines_before);
            }
            if let Some(location) = &mut instruction.location {
                self.location_id(location);
            }
            let location = instruction.location;
            instruction.for_each_operand_mut(|operand| {
                operand.for_each_symbol_mut(&mut |symbol| {
                    self.symbol(symbol);
                    seen(*symbol, location);
                });
            });
        }
    }
}
