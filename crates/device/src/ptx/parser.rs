//! Text to [`Module`].
//!
//! Enters: text. Leaves: a module that is not verified yet, or a diagnostic. Must not know: `ptx::verify`, `ptx::pass`,
//! `ptx::cfg`.

mod body;
mod call;
mod function;
mod locations;
mod operand;
mod scope;
mod variable;

use std::collections::HashMap;

use super::ast::{File, Item, Linkage, Location, LocationId, Module, Section};
use super::inst::Op;
use super::lexer::{self, Kind, Number, Token};
use super::operand::Symbol;
use super::quoted;
use crate::diagnostic::Diagnostic;

/// Name of a PTX text in diagnostics.
pub const FILE: &str = "<ptx>";

/// Most errors that are gathered.
pub(super) const MOST_ERRORS: usize = 100;
/// Deepest nesting of braces and parentheses inside one statement.
const DEEPEST: u32 = 16;
/// Deepest nesting of a function's scopes.
const DEEPEST_SCOPE: usize = 200;
/// Most parameters of a function.
const MOST_PARAMETERS: usize = 1024;
/// Most registers of all functions together.
const MOST_REGISTERS: usize = 1 << 24;

/// Reads a PTX text.
///
/// # Errors
/// Every syntax error and undeclared name, in file `<ptx>`, with line and column. After one, reading goes on behind
/// the next `;`.
pub fn parse(text: &str) -> Result<Module, Vec<Diagnostic>> {
    let mut parser = Parser::new(text);
    parser.module();
    if parser.diagnostics.is_empty() { Ok(parser.module) } else { Err(parser.diagnostics) }
}

/// A sentence and the token that it is about.
struct Fault {
    token: Token,
    text: String,
}

type Parsed<T> = Result<T, Fault>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    module: Module,
    names: HashMap<&'a str, Symbol>,
    location_ids: HashMap<Location, LocationId>,
    /// Registers of all functions so far.
    registers: usize,
    /// Mnemonics read before, and how many destinations each has.
    ops: HashMap<&'a str, (Op, usize)>,
    /// What stands at the operand just read: `-`, and `.b0` or the like.
    part: Option<operand::Marked>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            tokens: lexer::tokens(text),
            at: 0,
            module: Module { address_size: 64, ..Module::default() },
            names: HashMap::new(),
            location_ids: HashMap::new(),
            registers: 0,
            ops: HashMap::new(),
            part: None,
            diagnostics: Vec::new(),
        }
    }

    // Tokens ------------------------------------------------------------------------------------

    fn ahead(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1; // there is always an end
        self.tokens[(self.at + ahead).min(last)]
    }

    fn peek(&self) -> Token {
        self.ahead(0)
    }

    fn next(&mut self) -> Token {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn text(&self, token: Token) -> &'a str {
        self.text.get(token.start as usize..token.end as usize).unwrap_or("")
    }

    fn is(&self, mark: u8) -> bool {
        self.peek().kind == Kind::Mark(mark)
    }

    fn take(&mut self, mark: u8) -> bool {
        let found = self.is(mark);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, mark: u8) -> Parsed<()> {
        if self.take(mark) { Ok(()) } else { self.unexpected(&format!("`{}`", mark as char)) }
    }

    /// The directive's name without the dot, where one is next.
    fn directive(&self) -> Option<&'a str> {
        let token = self.peek();
        (token.kind == Kind::Directive).then(|| &self.text(token)[1..])
    }

    fn take_directive(&mut self, name: &str) -> bool {
        let found = self.directive() == Some(name);
        if found {
            self.next();
        }
        found
    }

    fn name(&mut self, what: &str) -> Parsed<&'a str> {
        let token = self.peek();
        if token.kind != Kind::Word {
            return self.unexpected(what);
        }
        self.next();
        Ok(self.text(token))
    }

    fn unsigned(&mut self, what: &str) -> Parsed<u64> {
        let token = self.peek();
        match (token.kind == Kind::Number).then(|| lexer::number(self.text(token))) {
            Some(Some(Number::Int(value))) => {
                self.next();
                Ok(value)
            }
            _ => self.unexpected(what),
        }
    }

    fn small(&mut self, what: &str) -> Parsed<u32> {
        let token = self.peek();
        let value = self.unsigned(what)?;
        u32::try_from(value).map_err(|_| Fault { token, text: format!("{value} is too large") })
    }

    // Errors ------------------------------------------------------------------------------------

    fn unexpected<T>(&self, wanted: &str) -> Parsed<T> {
        let token = self.peek();
        let text = if token.kind == Kind::End {
            format!("expected {wanted}, but the text ends")
        } else {
            format!("expected {wanted}, found `{}`", self.text(token))
        };
        Err(Fault { token, text })
    }

    fn report(&mut self, fault: Fault) {
        if self.diagnostics.len() >= MOST_ERRORS {
            return;
        }
        let start = fault.token.start as usize;
        let before = self.text.get(..start).unwrap_or("");
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before[line_start..].chars().count() as u32 + 1;
        let diagnostic = Diagnostic::error(FILE, fault.text).at(fault.token.line, column);
        self.diagnostics.push(diagnostic);
    }

    /// Reports a failed statement and goes on behind the next `;`, but not out of the braces.
    fn recover(&mut self, fault: Fault) {
        self.report(fault);
        loop {
            let kind = self.peek().kind;
            if matches!(kind, Kind::End | Kind::Mark(b'}')) {
                return;
            }
            self.next();
            if kind == Kind::Mark(b';') {
                return;
            }
        }
    }

    // The module --------------------------------------------------------------------------------

    fn module(&mut self) {
        while self.peek().kind != Kind::End && self.diagnostics.len() < MOST_ERRORS {
            let start = self.at;
            if let Err(fault) = self.item() {
                self.recover(fault);
            }
            if self.at == start {
                self.next();
            }
        }
    }

    fn item(&mut self) -> Parsed<()> {
        match self.directive() {
            Some("version") => self.version(),
            Some("target") => self.target(),
            Some("address_size") => {
                self.next();
                self.module.address_size = self.small("32 or 64")?;
                Ok(())
            }
            Some("file") => self.file(),
            Some("section") => self.section(),
            Some("loc") => self.skip_location(),
            Some("pragma") => self.skip_statement(),
            Some("alias") => {
                self.unexpected("a variable or a function (`.alias` is not supported)")
            }
            Some(_) => self.declaration(),
            None if self.take(b';') => Ok(()),
            None => self.unexpected("a directive"),
        }
    }

    fn version(&mut self) -> Parsed<()> {
        self.next();
        let token = self.next();
        let numbers = self.text(token).split_once('.');
        let numbers = numbers.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let Some(version) = numbers else {
            return Err(Fault { token, text: "expected a version such as 8.0".to_owned() });
        };
        self.module.version = version;
        Ok(())
    }

    fn target(&mut self) -> Parsed<()> {
        self.next();
        loop {
            let name = self.name("an architecture such as sm_80")?;
            self.module.target.push(name.to_owned());
            if !self.take(b',') {
                return Ok(());
            }
        }
    }

    fn file(&mut self) -> Parsed<()> {
        self.next();
        let number = self.small("a file's number")?;
        let token = self.peek();
        if token.kind != Kind::Text {
            return self.unexpected("a file's name");
        }
        self.next();
        let name = String::from_utf8_lossy(&quoted::unquoted(self.text(token))).into_owned();
        let stamp = if self.take(b',') {
            let time = self.unsigned("a time")?;
            self.expect(b',')?;
            Some((time, self.unsigned("a size")?))
        } else {
            None
        };
        self.module.files.insert(number, File { name, stamp });
        Ok(())
    }

    fn skip_statement(&mut self) -> Parsed<()> {
        while !matches!(self.next().kind, Kind::End | Kind::Mark(b';')) {}
        Ok(())
    }

    /// `.section name { … }`, kept as text; the strings of `.debug_str` are read, too.
    fn section(&mut self) -> Parsed<()> {
        self.next();
        let token = self.next();
        let name = self.text(token).to_owned();
        let first = self.peek().end as usize;
        self.expect(b'{')?;
        let begin = self.at;
        while !self.is(b'}') && self.peek().kind != Kind::End {
            self.next();
        }
        let (end, last) = (self.at, self.peek().start as usize);
        self.expect(b'}')?;
        if name == ".debug_str" {
            self.debug_strings(begin, end);
        }
        let text = self.text.get(first..last).unwrap_or("").trim().to_owned();
        self.module.sections.push(Section { name, text });
        Ok(())
    }

    fn debug_strings(&mut self, begin: usize, end: usize) {
        let mut label: Option<(&str, Vec<u8>)> = None;
        let strings = &mut self.module.debug_strings;
        let mut keep = |label: Option<(&str, Vec<u8>)>| {
            if let Some((name, mut bytes)) = label {
                bytes.pop_if(|last| *last == 0);
                strings.insert(name.to_owned(), String::from_utf8_lossy(&bytes).into_owned());
            }
        };
        for token in &self.tokens[begin..end] {
            let text = self.text.get(token.start as usize..token.end as usize).unwrap_or("");
            match token.kind {
                Kind::Word => keep(label.replace((text, Vec::new()))),
                Kind::Number => {
                    if let (Some(Number::Int(value)), Some((_, bytes))) =
                        (lexer::number(text), &mut label)
                    {
                        bytes.push(value as u8);
                    }
                }
                Kind::Directive | Kind::Text | Kind::Mark(_) | Kind::End => {}
            }
        }
        keep(label);
    }

    /// A variable or a function.
    fn declaration(&mut self) -> Parsed<()> {
        let linkage = self.linkage();
        let attribute = self.attribute()?;
        if matches!(self.directive(), Some("entry" | "func")) {
            return self.function(linkage, attribute);
        }
        let token = self.peek();
        for (name, variable) in self.variables(linkage, attribute, None)? {
            self.define_variable(name, variable, token)?;
        }
        self.expect(b';')
    }

    fn linkage(&mut self) -> Linkage {
        let mut linkage = Linkage::Internal;
        loop {
            linkage = match self.directive() {
                Some("extern") => Linkage::Extern,
                Some("visible") => Linkage::Visible,
                Some("weak") => Linkage::Weak,
                Some("common") => Linkage::Common,
                _ => return linkage,
            };
            self.next();
        }
    }

    /// `.attribute(…)`, as written.
    fn attribute(&mut self) -> Parsed<Option<String>> {
        if !self.take_directive("attribute") {
            return Ok(None);
        }
        self.expect(b'(')?;
        let start = self.peek().start as usize;
        while !self.is(b')') && !matches!(self.peek().kind, Kind::End | Kind::Mark(b';' | b'}')) {
            self.next();
        }
        let end = self.peek().start as usize;
        self.expect(b')')?;
        Ok(Some(self.text.get(start..end).unwrap_or("").trim().to_owned()))
    }

    fn define_variable(
        &mut self,
        name: &'a str,
        variable: super::ast::Variable,
        token: Token,
    ) -> Parsed<()> {
        let id = self.module.variables.len() as u32;
        if let Some(before) = self.names.get(name) {
            let again = matches!(before, Symbol::Variable(old)
                if self.module.variables.get(*old as usize).is_some_and(|v| v.linkage == Linkage::Extern));
            if !again {
                return Err(Fault { token, text: format!("`{name}` is declared twice") });
            }
        }
        self.names.insert(name, Symbol::Variable(id));
        self.module.variables.push(variable);
        self.module.items.push(Item::Variable(id));
        Ok(())
    }
}
