//! Functions: their heads.

use super::scope::FunctionScope;
use super::{Fault, MOST_ERRORS, MOST_PARAMETERS, MOST_REGISTERS, Parsed, Parser};
use crate::ptx::ast::{Directive, Function, FunctionKind, Item, Linkage, Param};
use crate::ptx::lexer::{self, Kind};
use crate::ptx::operand::Symbol;
use crate::ptx::quoted;
use crate::ptx::types::Type;

/// A parameter and its name in the text.
type Named<'a> = (&'a str, Param);

impl<'a> Parser<'a> {
    /// `.entry` or `.func`, which is next.
    pub(super) fn function(&mut self, linkage: Linkage, attribute: Option<String>) -> Parsed<()> {
        let entry = self.directive() == Some("entry");
        let kind = if entry { FunctionKind::Entry } else { FunctionKind::Func };
        self.next();
        let attribute = attribute.or(self.attribute()?);
        let returns = if self.is(b'(') { self.params()? } else { Vec::new() };
        let token = self.peek();
        let name = self.name("the function's name")?;
        let params = if self.is(b'(') { self.params()? } else { Vec::new() };
        let directives = self.function_directives()?;
        let bare = |list: &[Named<'a>]| list.iter().map(|(_, param)| param.clone()).collect();
        let function = Function {
            name: name.to_owned(),
            kind,
            linkage,
            attribute,
            returns: bare(&returns),
            params: bare(&params),
            directives,
            body: None,
        };
        let id = self.function_id(name, &function).ok_or_else(|| {
            let text = format!("`{name}` is declared twice, differently");
            Fault { token, text }
        })?;
        if self.take(b';') {
            self.module.items.push(Item::Declaration(id));
            return Ok(());
        }
        self.expect(b'{')?;
        if self.module.functions[id as usize].body.is_some() {
            self.report(Fault { token, text: format!("`{name}` is defined twice") });
        }
        self.module.functions[id as usize] = function;
        self.module.items.push(Item::Definition(id));
        self.definition(id, &returns, &params)
    }

    /// The id of a function with this name and kind of parameters, new or known.
    fn function_id(&mut self, name: &'a str, function: &Function) -> Option<u32> {
        match self.names.get(name) {
            Some(Symbol::Function(id)) => {
                let known = &self.module.functions[*id as usize];
                let shape = |f: &Function| (f.kind, f.params.len(), f.returns.len());
                (shape(known) == shape(function)).then_some(*id)
            }
            Some(_) => None,
            None => {
                let id = self.module.functions.len() as u32;
                self.names.insert(name, Symbol::Function(id));
                self.module.functions.push(function.clone());
                Some(id)
            }
        }
    }

    fn definition(&mut self, id: u32, returns: &[Named<'a>], params: &[Named<'a>]) -> Parsed<()> {
        let mut frame = FunctionScope::new();
        let mut regs = Vec::new();
        let lists = [(returns, Symbol::Return as fn(u32) -> Symbol), (params, Symbol::Param)];
        for (list, symbol) in lists {
            for (index, (name, param)) in list.iter().enumerate() {
                let declared = if param.in_reg {
                    let reg = frame.declare_reg(name, param.ty, None, false);
                    regs.push((symbol(index as u32), reg));
                    reg.map(|_| ())
                } else {
                    frame.declare_param(name, symbol(index as u32))
                };
                if declared.is_none() {
                    let text = format!("parameter `{name}` is declared twice");
                    self.report(Fault { token: self.peek(), text });
                }
            }
        }
        let function = &mut self.module.functions[id as usize];
        for (symbol, reg) in regs {
            match symbol {
                Symbol::Return(index) => function.returns[index as usize].reg = reg,
                Symbol::Param(index) => function.params[index as usize].reg = reg,
                Symbol::Variable(_) | Symbol::Local(_) | Symbol::Function(_) => {}
            }
        }
        let result = self.body(&mut frame);
        let (body, missing) = frame.finish();
        self.registers += body.registers.len();
        if self.registers > MOST_REGISTERS {
            return self.unexpected("fewer registers");
        }
        // Each is looked for on its line, which may be all of the text.
        for (name, line) in missing.into_iter().take(MOST_ERRORS) {
            let token = lexer::Token { line, ..self.word_on(line, name) };
            self.report(Fault { token, text: format!("`{name}` is not declared") });
        }
        self.module.functions[id as usize].body = Some(body);
        result
    }

    /// The token `name` on `line`, to point at.
    fn word_on(&self, line: u32, name: &str) -> lexer::Token {
        let from = self.tokens.partition_point(|token| token.line < line);
        let found = self.tokens[from..].iter().find(|token| self.text(**token) == name);
        found.copied().unwrap_or_else(|| self.peek())
    }

    /// `( .param .u64 a, … )`.
    pub(super) fn params(&mut self) -> Parsed<Vec<Named<'a>>> {
        self.expect(b'(')?;
        let mut list = Vec::new();
        while !self.take(b')') {
            if list.len() >= MOST_PARAMETERS {
                return self.unexpected("fewer parameters");
            }
            list.push(self.param()?);
            if !self.is(b')') {
                self.expect(b',')?;
            }
        }
        Ok(list)
    }

    fn param(&mut self) -> Parsed<Named<'a>> {
        let in_reg = self.take_directive("reg");
        if !in_reg && !self.take_directive("param") {
            return self.unexpected("`.param` or `.reg`");
        }
        let mut align = None;
        let mut pointer = None;
        let mut ty = None;
        while let Some(word) = self.directive() {
            match word {
                "align" if pointer.is_none() => align = Some(self.alignment()?),
                "ptr" => pointer = Some(self.pointer()?),
                _ if Type::parse(word).is_some() => ty = Some(self.ty()?),
                _ => return self.unexpected("a parameter's type"),
            }
        }
        let Some(ty) = ty else { return self.unexpected("a parameter's type") };
        let name = if self.peek().kind == Kind::Word { self.name("a name")? } else { "" };
        let count = self.dims()?.into_iter().reduce(u64::saturating_mul);
        let given = if name == "_" { "" } else { name };
        let param = Param { name: given.to_owned(), reg: None, in_reg, ty, align, count, pointer };
        Ok((name, param))
    }

    /// `.ptr .global .align 4`, as written.
    fn pointer(&mut self) -> Parsed<String> {
        let mut text = String::from(".ptr");
        self.next();
        while let Some(word) = self.directive() {
            if word == "align" {
                text += &format!(" .align {}", self.alignment()?);
            } else if matches!(word, "const" | "global" | "local" | "shared" | "param") {
                text += &format!(" .{word}");
                self.next();
            } else {
                break;
            }
        }
        Ok(text)
    }

    /// `.maxntid 256, 1, 1 .pragma "nounroll";` …: all before the body or the semicolon.
    pub(super) fn function_directives(&mut self) -> Parsed<Vec<Directive>> {
        let mut list = Vec::new();
        while let Some(name) = self.directive() {
            self.next();
            let mut directive =
                Directive { name: name.to_owned(), numbers: Vec::new(), strings: Vec::new() };
            loop {
                let token = self.peek();
                match token.kind {
                    Kind::Number => directive.numbers.push(self.small("a number")?),
                    Kind::Text => {
                        self.next();
                        let text = quoted::unquoted(self.text(token));
                        directive.strings.push(String::from_utf8_lossy(&text).into_owned());
                    }
                    Kind::Word | Kind::Directive | Kind::Mark(_) | Kind::End => break,
                }
                if !self.take(b',') {
                    break;
                }
            }
            if name == "pragma" {
                self.take(b';');
            }
            list.push(directive);
        }
        Ok(list)
    }
}
