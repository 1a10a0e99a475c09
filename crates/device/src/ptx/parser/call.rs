//! `call` and the lists that indirect calls and branches name.

use super::scope::{FunctionScope, Name};
use super::{Fault, Parsed, Parser};
use crate::ptx::ast::{Param, Prototype, Table};
use crate::ptx::inst::Op;
use crate::ptx::lexer::Kind;
use crate::ptx::operand::{Label, Operand, Symbol};

/// An operation with its destinations and sources.
pub(super) type Parts = (Op, Vec<Operand>, Vec<Operand>);

impl<'a> Parser<'a> {
    /// `call[.uni] [(returns),] target [, (arguments)] [, prototype]`, the opcode behind.
    pub(super) fn call(&mut self, uni: bool, frame: &mut FunctionScope<'a>) -> Parsed<Parts> {
        let mut returns = Vec::new();
        if self.take(b'(') {
            returns = self.list(frame, b')', 0)?;
            self.expect(b',')?;
        }
        let token = self.peek();
        let target = self.operand(frame, 0)?;
        if !matches!(target, Operand::Reg(_) | Operand::Symbol(Symbol::Function(_), 0)) {
            let text = format!("`{}` is no function that is declared", self.text(token));
            return Err(Fault { token, text });
        }
        let mut sources = vec![target];
        let mut prototype = None;
        while self.take(b',') {
            if self.take(b'(') {
                sources.extend(self.list(frame, b')', 0)?);
            } else {
                prototype = Some(self.prototype_name(frame)?);
            }
        }
        Ok((Op::Call { uni, prototype }, returns, sources))
    }

    fn prototype_name(&mut self, frame: &FunctionScope<'a>) -> Parsed<u32> {
        let token = self.peek();
        let name = self.name("a prototype")?;
        match frame.find(name) {
            Some(Name::Prototype(index)) => Ok(index),
            _ => Err(Fault { token, text: format!("`{name}` is no prototype") }),
        }
    }

    /// What stands behind `label:` when it is `.branchtargets`, `.calltargets` or `.callprototype`.
    pub(super) fn labelled_list(
        &mut self,
        name: &'a str,
        frame: &mut FunctionScope<'a>,
    ) -> Parsed<bool> {
        let token = self.peek();
        let (tables, prototypes) = (frame.body.tables.len(), frame.body.prototypes.len());
        let meaning = match self.directive() {
            Some("branchtargets") => Name::Table(tables as u32),
            Some("calltargets" | "callprototype") => Name::Prototype(prototypes as u32),
            _ => return Ok(false),
        };
        let what = self.directive();
        self.next();
        let Some(unique) = frame.declare_list(name, meaning) else {
            return Err(Fault { token, text: format!("`{name}` is declared twice") });
        };
        match what {
            Some("branchtargets") => {
                let labels = self.branch_targets(frame)?;
                frame.body.tables.push(Table { name: unique, labels });
            }
            Some("calltargets") => {
                let prototype = self.call_targets(unique)?;
                frame.body.prototypes.push(prototype);
            }
            _ => {
                let prototype = self.prototype(unique)?;
                frame.body.prototypes.push(prototype);
            }
        }
        self.expect(b';')?;
        Ok(true)
    }

    fn branch_targets(&mut self, frame: &mut FunctionScope<'a>) -> Parsed<Vec<Label>> {
        let mut labels = Vec::new();
        loop {
            let line = self.peek().line;
            let name = self.name("a label")?;
            labels.push(frame.label(name, line));
            if !self.take(b',') {
                return Ok(labels);
            }
        }
    }

    fn call_targets(&mut self, name: String) -> Parsed<Prototype> {
        let mut targets = Vec::new();
        loop {
            let token = self.peek();
            let function = self.name("a function")?;
            match self.names.get(function) {
                Some(Symbol::Function(id)) => targets.push(*id),
                _ => {
                    let text = format!("`{function}` is no function that is declared");
                    return Err(Fault { token, text });
                }
            }
            if !self.take(b',') {
                break;
            }
        }
        let first = self.module.functions.get(targets[0] as usize);
        let (returns, params) =
            first.map(|f| (f.returns.clone(), f.params.clone())).unwrap_or_default();
        Ok(Prototype { name, returns, params, directives: Vec::new(), targets: Some(targets) })
    }

    /// `(returns) _ (params) [.noreturn]`.
    fn prototype(&mut self, name: String) -> Parsed<Prototype> {
        let bare = |list: Vec<(&str, Param)>| list.into_iter().map(|(_, param)| param).collect();
        let returns = if self.is(b'(') { bare(self.params()?) } else { Vec::new() };
        if self.peek().kind == Kind::Word {
            self.next();
        }
        let params = if self.is(b'(') { bare(self.params()?) } else { Vec::new() };
        let directives = self.function_directives()?;
        Ok(Prototype { name, returns, params, directives, targets: None })
    }
}
