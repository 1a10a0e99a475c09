//! Where declarations begin and end, and which of them the device has.
//!
//! Enters: tokens. Leaves: declarations, classes and functions, by their places. Must not know:
//! `cuda::host::shared`, `cuda::host::reach`.

mod head;

use std::{collections::BTreeSet, ops::Range};

use head::{End, Head};

use super::{
    Brackets, Marks,
    class::Class,
    left_out::{Function, MOST_BASES, Member, kind_of},
    names::of_class,
};
use crate::cuda::lexer::{Token, Tokens};

/// So deep classes and namespaces are looked into.
const DEEPEST: usize = 64;

/// A declaration that the device may have nothing of.
#[derive(Debug)]
pub(super) struct Declaration<'s> {
    /// Its tokens.
    pub(super) tokens: Range<usize>,
    /// The name of the function that it is; empty for what is none.
    pub(super) function: &'s str,
    /// Whether it is a function without a body.
    pub(super) is_prototype: bool,
    /// Whether the device may have it all the same.
    pub(super) is_open: bool,
    /// Whether it is a function for host and device.
    pub(super) is_shared: bool,
    /// The `const` of a constant that `constexpr` may take the place of.
    pub(super) constant: Option<usize>,
    /// The outermost class that this data member is part of, by its place among [`Reader::classes`].
    pub(super) layout: Option<usize>,
}

/// Where names are looked for in a namespace or a class.
#[derive(Debug)]
pub(super) struct Scope<'s> {
    /// Its own name; empty where it has none.
    pub(super) name: &'s str,
    /// All words of its head: namespaces around it, bases of a class.
    pub(super) names: Vec<&'s str>,
    pub(super) tokens: Range<usize>,
}

impl Declaration<'_> {
    fn new(tokens: Range<usize>, is_open: bool) -> Self {
        let (function, is_prototype, is_shared) = ("", false, false);
        let (constant, layout) = (None, None);
        Self { tokens, function, is_prototype, is_open, is_shared, constant, layout }
    }
}

/// Goes through the declarations of a text.
pub(super) struct Reader<'t, 's> {
    code: &'t [Token<'s>],
    brackets: &'t Brackets,
    marks: &'t Marks,
    /// Before this place no `<` is an angle whose other one comes before a `;`.
    no_angles_before: usize,
    /// Before this place no `:` begins the initialisers of a constructor.
    no_initialisers_before: usize,
    depth: usize,
    /// What was found so far, in the text's order.
    pub(super) found: Vec<Declaration<'s>>,
    /// The names of functions that the device has.
    pub(super) of_device: BTreeSet<&'s str>,
    /// Variables of the device.
    pub(super) variables: Vec<Range<usize>>,
    /// Members for the host that C++ replaces by implicit ones, or lays classes out by.
    pub(super) members: Vec<Member>,
    /// The functions with a body.
    pub(super) functions: Vec<Function<'s>>,
    /// Those that are read, the outer ones before those in them.
    pub(super) classes: Vec<Class<'s>>,
    /// The places among these of the classes around.
    around: Vec<usize>,
    pub(super) scopes: Vec<Scope<'s>>,
}

impl<'t, 's> Reader<'t, 's> {
    pub(super) fn new(code: &'t [Token<'s>], brackets: &'t Brackets, marks: &'t Marks) -> Self {
        let (found, of_device) = (Vec::new(), BTreeSet::new());
        Self {
            code,
            brackets,
            marks,
            no_angles_before: 0,
            no_initialisers_before: 0,
            depth: 0,
            found,
            of_device,
            variables: Vec::new(),
            members: Vec::new(),
            functions: Vec::new(),
            classes: Vec::new(),
            around: Vec::new(),
            scopes: Vec::new(),
        }
    }

    /// Reads all declarations at `places`: the members of a class, where it is one.
    pub(super) fn declarations(&mut self, places: Range<usize>, in_class: bool) {
        if self.depth == DEEPEST {
            return;
        }
        self.depth += 1;
        let mut at = places.start;
        while at < places.end {
            // Each step goes on.
            at = self.declaration(at, in_class).max(at + 1);
        }
        self.depth -= 1;
    }

    /// Reads the declaration at `at`; behind it.
    fn declaration(&mut self, at: usize, in_class: bool) -> usize {
        match (self.code.text_at(at), self.code.text_at(at + 1)) {
            (";" | "}" | ")" | "]", _) => at + 1,
            ("public" | "private" | "protected", ":") => at + 2,
            ("extern", linkage) if linkage.starts_with('"') && self.code.text_at(at + 2) == "{" => {
                self.inside(at + 2, false)
            }
            ("namespace", _) => self.namespace(at + 1),
            ("inline", "namespace") => self.namespace(at + 2),
            // What the author wants to be told stays.
            ("static_assert", _) => self.behind_semicolon(at),
            ("using" | "asm" | "concept", _) => {
                let end = self.behind_semicolon(at);
                self.leave_open(at..end);
                end
            }
            (name, "(") if !in_class && self.is_invocation(name, at) => self.invocation(at),
            (..) => self.general(at, in_class),
        }
    }

    /// Whether the macro at `at` stands by itself, and begins no function: `TEST(some, thing) {`, `API(int) name(`.
    fn is_invocation(&self, name: &str, at: usize) -> bool {
        let Some(after) = self.brackets.after(at + 1) else { return false };
        let named = self.code.text_at(after + 1) == "("
            && self.code[after].is_word()
            && !(self.is_macro(after + 1) || self.is_attribute(after + 1));
        self.marks.is_plain_macro(name) && self.code.text_at(after) != "{" && !named
    }

    /// Takes a macro with its arguments, and a `;` behind it.
    fn invocation(&mut self, at: usize) -> usize {
        let after = self.brackets.after(at + 1).unwrap_or(at + 2);
        let end = if self.code.text_at(after) == ";" { after + 1 } else { after };
        self.leave_open(at..end);
        end
    }

    /// Reads the declarations between the braces at `open`; behind them.
    fn inside(&mut self, open: usize, in_class: bool) -> usize {
        match self.brackets.after(open) {
            Some(after) => {
                self.declarations(open + 1..after - 1, in_class);
                after
            }
            // Half-typed: what follows is taken for its inside.
            None => {
                self.declarations(open + 1..self.code.len(), in_class);
                self.code.len()
            }
        }
    }

    /// Behind the name of a namespace that begins at `at`, or behind the whole of it.
    fn namespace(&mut self, mut at: usize) -> usize {
        let start = at;
        while self.code.get(at).is_some_and(|token| token.is_word() || token.text == "::") {
            at += 1;
        }
        match self.code.text_at(at) {
            "{" => {
                let names = self.code[start..at].iter().filter(|token| token.is_word());
                let names: Vec<_> = names.map(|token| token.text).take(MOST_BASES).collect();
                let name = names.last().copied().unwrap_or_default();
                let tokens = at..self.brackets.after(at).unwrap_or(self.code.len());
                self.scopes.push(Scope { name, names, tokens });
                self.inside(at, false)
            }
            _ => self.behind_semicolon(at),
        }
    }

    /// Behind the next `;` that is in no brackets; before a `}` that closes what is around. It goes over a bracket that
    /// nobody closes, as [`Self::head`] does: no token is looked at again by the next declaration.
    fn behind_semicolon(&self, mut at: usize) -> usize {
        while let Some(token) = self.code.get(at) {
            match token.text {
                ";" => return at + 1,
                "}" => return at,
                "(" | "[" | "{" => at = self.brackets.after(at).unwrap_or(at + 1),
                _ => at += 1,
            }
        }
        self.code.len()
    }

    /// Reads a class, a function or a variable.
    fn general(&mut self, start: usize, in_class: bool) -> usize {
        let mut at = start;
        let mut is_instantiation = false;
        while self.code.text_at(at) == "template" {
            is_instantiation = self.code.text_at(at + 1) != "<";
            at = if is_instantiation {
                at + 1
            } else {
                self.behind_angles(at + 1).unwrap_or(at + 2)
            };
        }
        if matches!(self.code.text_at(at), "using" | "concept") {
            let end = self.behind_semicolon(at);
            self.leave_open(start..end);
            return end;
        }
        let is_type = self.code.text_at(at) == "typedef";
        let (head, end) = self.head(at);
        let is_function = head.function.is_some() && !(in_class && head.holds_declarator);
        match end {
            End::Broken(at) => at,
            End::Brace(open) if head.is_enumeration => {
                let end = self.behind_semicolon(open);
                self.leave_open(start..end);
                end
            }
            End::Brace(open) if head.is_class && head.function.is_none() => {
                self.class(start, at..open)
            }
            End::Brace(open) if is_function => match self.brackets.after(open) {
                Some(end) => {
                    self.function(start..end, &head, false);
                    end
                }
                // Half-typed: it may be the device's.
                None => self.code.len(),
            },
            End::Semicolon | End::Equals if is_function && !is_type => {
                let end = self.behind_semicolon(at);
                let is_told = self.code[at..end]
                    .iter()
                    .rev()
                    .take(2)
                    .any(|token| matches!(token.text, "default" | "delete"));
                match is_told || is_instantiation && head.is_class {
                    true => self.leave_open(start..end),
                    false => self.function(start..end, &head, true),
                }
                end
            }
            End::Semicolon | End::Equals | End::Brace(_) => {
                let end = self.behind_semicolon(at);
                self.variable(start..end, &head, is_type || in_class);
                end
            }
        }
    }

    /// Reads a class, whose members stand between braces; `head` is what stands before them.
    fn class(&mut self, start: usize, head: Range<usize>) -> usize {
        let (before, open) = (self.found.len(), head.end);
        let body = start..self.brackets.after(open).unwrap_or(self.code.len());
        let whole = start..self.behind_semicolon(body.end);
        let words = self.code[head.clone()].iter().filter(|token| token.is_word());
        let names = words.take(MOST_BASES).map(|token| token.text).collect();
        let name = of_class(&self.code[head]).unwrap_or_default();
        self.scopes.push(Scope { name, names, tokens: body.clone() });
        let is_named = !name.is_empty();
        self.around.push(self.classes.len());
        self.classes.push(Class { name, body, whole });
        let inside = self.inside(open, true);
        self.around.pop();
        let end = self.behind_semicolon(inside);
        if !self.code[start..end].iter().any(|token| self.marks.has(token.text)) {
            // The class goes as a whole, or its members do.
            self.leave_open_at(before, start..end);
            let is_type_alone = is_named && self.code.text_at(inside) == ";";
            self.found[before].layout = self.layout().filter(|_| !is_type_alone);
        }
        end
    }

    /// Takes a variable, or a type, or a member that is none.
    fn variable(&mut self, tokens: Range<usize>, head: &Head<'s>, is_no_variable: bool) {
        let device_may_have = head.is_constant || head.is_constant_expression;
        if is_no_variable || head.is_class || device_may_have || head.words < 2 {
            let takes_place = !(head.is_class && head.words < 2 || self.is_static(tokens.clone()));
            let layout = self.layout().filter(|_| takes_place);
            self.leave_open(tokens.clone());
            if let Some(last) = self.found.last_mut() {
                last.layout = layout;
            }
            let is_constant = head.is_constant && !(is_no_variable || head.is_marked);
            if let Some(last) = self.found.last_mut().filter(|_| is_constant) {
                let start = tokens.start;
                last.constant = constant(&self.code[tokens]).map(|at| start + at);
            }
        } else if self.is_of_texture(tokens.clone()) {
            // That there is no such thing any more is for the compiler to say.
            self.leave_open(tokens);
        } else if !head.is_marked {
            self.host(tokens, "", false);
        } else {
            self.variables.push(tokens);
        }
    }

    /// The outermost class around, by its place among the classes.
    fn layout(&self) -> Option<usize> {
        self.around.first().copied()
    }

    /// The innermost class around.
    fn class_around(&self) -> Option<&Class<'s>> {
        self.around.last().map(|class| &self.classes[*class])
    }

    /// Whether the member at `tokens` takes no place in objects of its class.
    fn is_static(&self, tokens: Range<usize>) -> bool {
        let head = self.code[tokens].iter().map(|token| token.text);
        let mut head = head.take_while(|text| !matches!(*text, "=" | "{" | "(" | "["));
        head.any(|text| matches!(text, "typedef" | "friend" | "static" | "template"))
    }

    /// Takes a function.
    fn function(&mut self, tokens: Range<usize>, head: &Head<'s>, is_prototype: bool) {
        let (name, words_before) = head.function.unwrap_or_default();
        self.scope_of_function(&tokens);
        if !is_prototype && !matches!(name, "" | "operator") {
            let class = self.class_around().map(|class| (class.name, class.body.clone()));
            let tokens = tokens.clone();
            let is_of_device = head.is_marked || head.is_constant_expression;
            self.functions.push(Function { name, class, tokens, is_of_device });
        }
        if head.is_marked {
            if !name.is_empty() {
                self.of_device.insert(name);
            }
            if head.is_of_host {
                self.leave_open(tokens);
                if let Some(last) = self.found.last_mut() {
                    (last.function, last.is_shared) = (name, true);
                }
            }
        } else if head.is_constant_expression {
            self.leave_open(tokens);
        } else if is_prototype && words_before == 0 {
            // A macro with arguments, of which it is not known what it stands for.
            self.leave_open(tokens);
        } else {
            if let Some(class) = self.class_around()
                && let Some(kind) = kind_of(&self.code[tokens.clone()], name, class.name)
            {
                let (class, first) = (self.around[self.around.len() - 1], tokens.start);
                self.members.push(Member { class, kind, first });
            }
            self.host(tokens, name, is_prototype);
        }
    }

    /// Takes the class whose member is defined at `tokens`, outside of it, for what is around it.
    fn scope_of_function(&mut self, tokens: &Range<usize>) {
        let head = tokens.clone().take_while(|at| self.code.text_at(*at) != "(").take(MOST_BASES);
        let names: Vec<_> = head
            .filter(|at| self.code.text_at(at + 1) == "::")
            .map(|at| self.code.text_at(at))
            .collect();
        if !names.is_empty() && self.around.is_empty() {
            self.scopes.push(Scope { name: "", names, tokens: tokens.clone() });
        }
    }

    fn host(&mut self, tokens: Range<usize>, function: &'s str, is_prototype: bool) {
        if !tokens.is_empty() {
            let host = Declaration { function, is_prototype, ..Declaration::new(tokens, false) };
            self.found.push(host);
        }
    }

    fn leave_open(&mut self, tokens: Range<usize>) {
        self.leave_open_at(self.found.len(), tokens);
    }

    fn leave_open_at(&mut self, index: usize, tokens: Range<usize>) {
        if !tokens.is_empty() {
            self.found.insert(index, Declaration::new(tokens, true));
        }
    }

    /// Behind the initialisers of a constructor, which begin at `at`: where its body opens.
    fn behind_initialisers(&mut self, mut at: usize) -> Option<usize> {
        if at < self.no_initialisers_before {
            return None;
        }
        // A name, its value in brackets, a comma; a brace that follows no name is the body.
        let mut is_named = false;
        while let Some(token) = self.code.get(at) {
            match token.text {
                ";" | "}" => break,
                "{" if !is_named => return Some(at),
                "(" | "{" => match self.brackets.after(at) {
                    Some(after) => {
                        at = after;
                        is_named = false;
                        continue;
                    }
                    None => break,
                },
                _ if token.is_word() => is_named = true,
                _ => {}
            }
            at += 1;
        }
        // Whoever looks again from between would come to the same end.
        self.no_initialisers_before = at;
        None
    }

    /// Behind the `>` that closes the `<` at `open`, where one does before the declaration ends.
    fn behind_angles(&mut self, open: usize) -> Option<usize> {
        if open < self.no_angles_before {
            return None;
        }
        let (mut depth, mut at) = (0_usize, open);
        while let Some(token) = self.code.get(at) {
            match token.text {
                "<" => depth += 1,
                ">" => depth -= 1,
                "(" | "[" | "{" => match self.brackets.after(at) {
                    Some(after) => {
                        at = after;
                        continue;
                    }
                    None => break,
                },
                ";" | "}" | ")" | "]" => break,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return Some(at);
            }
        }
        self.no_angles_before = at;
        None
    }
}

/// The `const` of a constant with a value, at these tokens, in whose place `constexpr` could stand.
fn constant(code: &[Token<'_>]) -> Option<usize> {
    let value = code.iter().position(|token| matches!(token.text, "=" | "{"))?;
    let is_other = |token: &Token<'_>| {
        matches!(token.text, "*" | "&" | "extern" | "volatile" | "template" | "thread_local")
    };
    let head = &code[..value];
    let at = head.iter().position(|token| token.text == "const")?;
    (!head.iter().any(is_other)).then_some(at)
}
