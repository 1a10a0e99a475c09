//! Reads host code from its beginning to its end.

use std::collections::BTreeSet;

use super::{
    host::{Host, LONGEST, Launch, MOST_LAUNCHES, Span, Transfer, Transferred},
    number::{Operator, QUALIFIERS, Type},
    regions::Kind as Region,
    variables::{Declared, Definition, Id, Value, Variable},
};
use crate::cuda::{
    brackets::Brackets,
    lexer::{self, Kind, Token},
};

/// So many names are in a declaration.
const MOST_NAMES: usize = 64;

/// Words with which no declaration of a variable begins.
const NO_TYPES: [&str; 28] = [
    "return", "else", "delete", "throw", "goto", "case", "new", "using", "typedef", "namespace",
    "class", "enum", "union", "template", "if", "for", "while", "switch", "do", "break",
    "continue", "public", "private", "protected", "default", "operator", "sizeof", "friend",
];

pub(super) struct Reader<'h, 's> {
    found: &'h mut Host<'s>,
    brackets: &'h Brackets,
    /// Where the `=` of declarations stand, which are no assignments.
    initial: BTreeSet<usize>,
}

impl<'h, 's> Reader<'h, 's> {
    pub(super) fn new(found: &'h mut Host<'s>, brackets: &'h Brackets) -> Self {
        Self { found, brackets, initial: BTreeSet::new() }
    }

    pub(super) fn read(mut self) {
        self.parameters();
        for at in 0..self.found.code.len() {
            if self.is_statement(at) {
                self.declaration(at);
            }
            match self.text(at) {
                "=" => self.assignment(at),
                "*" => {
                    self.pointer(at);
                    self.change(at);
                }
                "enum" => self.enumeration(at),
                "+" | "-" | "/" | "%" | "|" | "^" => self.change(at),
                "&" => {
                    self.change(at);
                    self.address(at);
                }
                "cin" => self.input(at),
                "swap" => self.swap(at),
                "cudaMemset" | "cudaMemsetAsync" => self.set(at),
                "template" => self.template(at),
                "<" if self.is_launch(at) => self.launch(at),
                "<" | ">" => self.change(at),
                "cudaMalloc" | "cudaMallocManaged" | "cudaMallocAsync" => self.allocation(at),
                "cudaMemcpy" | "cudaMemcpyAsync" => self.copy(at),
                "break" | "continue" | "return" | "goto" | "exit" => self.found.jumps.push(at),
                _ => {}
            }
        }
        self.found.variables.sort();
    }

    fn text(&self, at: usize) -> &'s str {
        self.found.text_at(at)
    }

    fn is_word(&self, at: usize) -> bool {
        self.found.code.get(at).is_some_and(|token| token.kind == Kind::Word)
    }

    /// The token before, where there is one.
    fn before(&self, at: usize) -> &'s str {
        at.checked_sub(1).map_or("", |before| self.text(before))
    }

    /// From `at` to a comma, a semicolon or a bracket that closes.
    fn expression(&self, at: usize) -> Span {
        let mut end = at;
        while end < self.found.code.len() && end - at < LONGEST {
            match self.text(end) {
                "," | ";" | ")" | "]" | "}" => break,
                "(" | "[" | "{" => match self.brackets.after(end) {
                    Some(after) => end = after,
                    None => break,
                },
                _ => end += 1,
            }
        }
        at..end
    }

    /// What stands between the brackets that open at `open`, split at its commas.
    fn list(&self, open: usize) -> Vec<Span> {
        let Some(after) = self.brackets.after(open) else { return Vec::new() };
        let (mut parts, mut at) = (Vec::new(), open + 1);
        while at + 1 < after {
            let part = self.expression(at);
            at = part.end.max(at) + 1;
            parts.push(part);
        }
        parts
    }

    /// Whether a statement may begin here, or what the parentheses of a `for` begin with.
    fn is_statement(&self, at: usize) -> bool {
        let is_for = || at.checked_sub(2).is_some_and(|of| self.text(of) == "for");
        match self.before(at) {
            "" | ";" | "{" | "}" | ":" => true,
            "(" => is_for(),
            _ => false,
        }
    }

    /// The parameters of all functions are variables in them.
    fn parameters(&mut self) {
        let regions = self.found.regions.iter().filter_map(|(_, region)| match &region.kind {
            Region::Function { parameters } => Some((parameters.clone(), region.span.clone())),
            _ => None,
        });
        for (parameters, scope) in regions.collect::<Vec<_>>() {
            for (name, declared) in declarators(&self.found.code, &parameters) {
                let at = parameters.start;
                self.declare(name, at, scope.clone(), declared, true);
            }
        }
    }

    fn declare(
        &mut self,
        name: &'s str,
        at: usize,
        scope: Span,
        declared: Declared<'s>,
        is_parameter: bool,
    ) -> Id {
        let (definitions, fields) = (Vec::new(), Vec::new());
        let variable = Variable { name, at, scope, declared, is_parameter, definitions, fields };
        self.found.variables.add(variable)
    }

    fn define(&mut self, id: Id, value: Value, at: usize) {
        self.found.variables.get_mut(id).definitions.push(Definition { value, at });
    }

    /// The variable that a name means at `at`.
    fn visible(&self, name: &str, at: usize) -> Option<Id> {
        self.found.variables.visible(name, at, &|tokens| self.found.look(tokens))
    }

    /// `type name = value, other;`, where one begins at `at`.
    fn declaration(&mut self, at: usize) {
        let Some((words, mut at)) = self.type_at(at) else { return };
        for _ in 0..MOST_NAMES {
            let start = at;
            while matches!(self.text(at), "*" | "&" | "const" | "__restrict__") {
                at += 1;
            }
            let is_constant = words.contains(&"const");
            let signs = start..at;
            let is_pointer = signs.clone().any(|at| self.text(at) == "*");
            let is_reference = !is_constant && signs.clone().any(|at| self.text(at) == "&");
            if !self.is_word(at) {
                return;
            }
            let (name, behind) = (at, self.text(at + 1));
            let is_function = || {
                let after = self.brackets.after(at + 1);
                behind == "(" && after.is_none_or(|after| !matches!(self.text(after), ";" | ","))
            };
            if !matches!(behind, "=" | ";" | "," | "(" | "{" | "[") || is_function() {
                return;
            }
            let is_array = behind == "[";
            let mut end = at + 1;
            while self.text(end) == "[" {
                let Some(after) = self.brackets.after(end) else { return };
                end = after;
            }
            let is_indirect = is_pointer || is_reference || is_array;
            let declared = Declared { words: words.clone(), is_indirect };
            let scope = self.found.regions.scope(name);
            let id = self.declare(self.text(name), name, scope, declared, false);
            let value = match self.text(end) {
                "=" => {
                    self.initial.insert(end);
                    Some(self.value(end + 1))
                }
                "(" | "{" => Some(Value::List(self.list(end))),
                _ => None,
            };
            end = match self.text(end) {
                "=" => self.expression(end + 1).end,
                "(" | "{" => self.brackets.after(end).unwrap_or(end + 1),
                _ => end,
            };
            if let Some(value) = value.filter(|value| !self.is_of_command_line(value)) {
                self.define(id, value, name);
            }
            if self.text(end) != "," {
                return;
            }
            at = end + 1;
        }
    }

    /// The words of a type at `at`, and the place behind it.
    fn type_at(&self, at: usize) -> Option<(Vec<&'s str>, usize)> {
        let (mut words, mut at, mut has_name) = (Vec::<&str>::new(), at, false);
        for _ in 0..MOST_NAMES {
            let word = self.text(at);
            if !self.is_word(at) || NO_TYPES.contains(&word) {
                break;
            }
            let is_part = Type::of_words(&[word]).is_some()
                || matches!(word, "signed" | "unsigned" | "long" | "short");
            let is_of_type = QUALIFIERS.contains(&word) || word.starts_with("__") || is_part;
            if !is_of_type && (has_name || words.iter().any(|word| is_number_word(word))) {
                break;
            }
            has_name |= !is_of_type;
            match word {
                "std" => {}
                word => words.push(word),
            }
            at += 1;
            while self.text(at) == "::" && self.is_word(at + 1) {
                if self.text(at - 1) != "std" {
                    words.pop();
                }
                let of_scope = self.text(at + 1);
                has_name |= Type::of_words(&[of_scope]).is_none();
                words.push(of_scope);
                at += 2;
            }
        }
        // `std::vector<int> name`.
        if self.text(at) == "<" && has_name {
            let end = (at..self.found.code.len().min(at + 40)).find(|at| {
                matches!(self.text(*at), ">" | ";" | "{")
            })?;
            at = if self.text(end) == ">" { end + 1 } else { return None };
        }
        (!words.is_empty()).then_some((words, at))
    }

    /// What is written as a value at `at`.
    fn value(&self, at: usize) -> Value {
        match (self.text(at), self.text(at + 1)) {
            ("dim3", "(" | "{") => Value::List(self.list(at + 1)),
            ("{", _) => Value::List(self.list(at)),
            _ => Value::Expression(self.expression(at)),
        }
    }

    /// `name = value`, where nothing is declared.
    fn assignment(&mut self, at: usize) {
        let Some(name_at) = at.checked_sub(1).filter(|before| self.is_word(*before)) else {
            return;
        };
        if self.text(at + 1) == "=" {
            return;
        }
        if matches!(self.before(name_at), "." | ">") {
            // `grid.x = 4` changes what `dim3 grid` says.
            if let Some(of) = name_at.checked_sub(2).filter(|of| self.is_word(*of))
                && let Some(id) = self.visible(self.text(of), at)
            {
                let value = Value::Expression(self.expression(at + 1));
                let field = (self.text(name_at), Definition { value, at });
                self.found.variables.get_mut(id).fields.push(field);
                self.define(id, Value::Unknown, at);
            }
            return;
        }
        if !self.initial.contains(&at) {
            let value = self.value(at + 1);
            let id = self.visible(self.text(name_at), at);
            // Without arguments the program keeps what it had.
            if !self.is_of_command_line(&value)
                && let Some(id) = id
            {
                self.define(id, value, at);
            }
        }
        self.exchange(at);
    }

    /// `t = a; a = b; b = t;`, which the first `=` of it stands at.
    fn exchange(&mut self, at: usize) {
        let [t, a, b] = [at.wrapping_sub(1), at + 1, at + 5].map(|at| self.text(at));
        let expected = [t, "=", a, ";", a, "=", b, ";", b, "=", t, ";"];
        let start = at.wrapping_sub(1);
        let is_it = (0..).zip(expected).all(|(place, text)| self.text(start + place) == text);
        if is_it && a != b && self.found.swaps.len() < MOST_LAUNCHES {
            self.found.swaps.push((a, b, at));
        }
    }

    /// `++name`, `name++`, `name += value` and the like.
    fn change(&mut self, at: usize) {
        let (before, own, behind) = (self.before(at), self.text(at), self.text(at + 1));
        let is_shift = matches!(own, "<" | ">");
        let name = match behind {
            "=" if is_shift => at.checked_sub(2).filter(|_| before == own),
            "=" => at.checked_sub(1),
            "+" | "-" if behind == own => {
                at.checked_sub(1).filter(|before| self.is_word(*before)).or(Some(at + 2))
            }
            _ => None,
        };
        let Some(name) = name.filter(|name| self.is_word(*name)) else { return };
        let Some(id) = self.visible(self.text(name), at) else { return };
        let value = match (own, behind) {
            ("+", "+") => Value::Count(1),
            ("-", "-") => Value::Count(-1),
            _ => match operator_of(own) {
                Some(operator) => Value::Compound(operator, self.expression(at + 2)),
                None => Value::Unknown,
            },
        };
        self.define(id, value, at);
    }

    /// `&name` as an argument: whoever takes it may write there.
    fn address(&mut self, at: usize) {
        let is_cast = || {
            let star = at.checked_sub(2).map_or("", |at| self.text(at));
            self.before(at) == ")" && star == "*"
        };
        let is_given = matches!(self.before(at), "(" | "," | "=") || is_cast();
        if is_given
            && self.is_word(at + 1)
            && let Some(id) = self.visible(self.text(at + 1), at)
        {
            self.define(id, Value::Unknown, at);
        }
    }

    /// `cin >> name >> other`.
    fn input(&mut self, at: usize) {
        let end = self.expression(at).end;
        let names = (at + 1..end).filter(|at| self.is_word(*at) && self.before(*at) == ">");
        for name in names.collect::<Vec<_>>() {
            if let Some(id) = self.visible(self.text(name), name) {
                self.define(id, Value::Unknown, name);
            }
        }
    }

    /// `enum { N = 16, M }`.
    fn enumeration(&mut self, at: usize) {
        let end = self.found.code.len().min(at + 10);
        let open = (at..end).find(|at| matches!(self.text(*at), "{" | ";" | "("));
        let Some(open) = open.filter(|open| self.text(*open) == "{") else { return };
        let (scope, mut last, mut more) = (self.found.regions.scope(at), None, 0);
        for part in self.list(open).into_iter().take(LONGEST) {
            if !self.is_word(part.start) {
                continue;
            }
            if self.text(part.start + 1) == "=" {
                self.initial.insert(part.start + 1);
                (last, more) = (Some(part.start + 2..part.end), 0);
            }
            let name = self.text(part.start);
            let declared = Declared { words: vec!["int"], is_indirect: false };
            let id = self.declare(name, part.start, scope.clone(), declared, false);
            self.define(id, Value::Behind(last.clone(), more), part.start);
            more += 1;
        }
    }

    /// Whether it is what the program was called with: `atoi(argv[1])`.
    fn is_of_command_line(&self, value: &Value) -> bool {
        let Value::Expression(span) = value else { return false };
        let tokens = self.found.tokens(span);
        let names = |wanted: &[&str]| tokens.iter().any(|token| wanted.contains(&token.text));
        names(&["argv", "optarg"]) && !names(&["?"])
    }

    /// `type *name`, also the second one in `float *a, *b`.
    fn pointer(&mut self, at: usize) {
        if !self.is_word(at + 1) || !matches!(self.text(at + 2), "," | ";" | "=" | ")") {
            return;
        }
        let mut of = at;
        for _ in 0..MOST_NAMES {
            let Some(before) = of.checked_sub(1) else { break };
            match self.text(before) {
                "*" => of = before,
                // An earlier name of the same declaration.
                "," if before >= 2 && self.is_word(before - 1) && self.text(before - 2) == "*" => {
                    of = before - 2;
                }
                _ => break,
            }
        }
        let Some(of) = of.checked_sub(1).filter(|of| self.is_word(*of)) else { return };
        let of = match self.text(of) {
            "const" => of.checked_sub(1).map_or("", |of| self.text(of)),
            text => text,
        };
        if !of.is_empty() {
            self.found.pointees.entry(self.text(at + 1)).or_insert(of);
        }
    }

    /// `template <class T, int n>`.
    fn template(&mut self, at: usize) {
        let end = (at..self.found.code.len().min(at + 100)).find(|at| self.text(*at) == ">");
        for at in at + 2..end.unwrap_or(at) {
            let is_last = matches!(self.text(at + 1), "," | ">" | "=");
            if self.is_word(at) && is_last {
                match self.text(at - 1) {
                    "class" | "typename" => self.found.type_parameters.insert(self.text(at)),
                    _ => self.found.value_parameters.insert(self.text(at)),
                };
            }
        }
    }

    /// `swap(a, b)`.
    fn swap(&mut self, at: usize) {
        let word = |part: &Span| self.found.word(part).filter(|_| self.is_word(part.start));
        if let [first, second] = self.list(at + 1).as_slice()
            && let (Some(first), Some(second)) = (word(first), word(second))
            && self.found.swaps.len() < MOST_LAUNCHES
        {
            self.found.swaps.push((first, second, at));
        }
    }

    fn is_launch(&self, at: usize) -> bool {
        (0..3).all(|next| self.text(at + next) == "<") && self.before(at) != "<"
    }

    fn launch(&mut self, at: usize) {
        let Some(kernel) = self.kernel_before(at) else { return };
        let mut end = at + 3;
        while !(0..3).all(|next| self.text(end + next) == ">") {
            if end >= self.found.code.len().min(at + LONGEST) {
                return;
            }
            end = match self.text(end) {
                "(" | "[" | "{" => self.brackets.after(end).unwrap_or(end + 1),
                ";" => return,
                _ => end + 1,
            };
        }
        let (mut shape, mut part) = (Vec::new(), at + 3);
        while part < end {
            let span = self.expression(part);
            let span = span.start..span.end.min(end);
            part = span.end + 1;
            shape.push(span);
        }
        let open = end + 3;
        if self.text(open) == "(" && self.found.launches.len() < MOST_LAUNCHES {
            let arguments = self.list(open);
            self.found.launches.push(Launch { kernel, shape, arguments, at });
        }
    }

    /// The name before `<<<`, with its template arguments.
    fn kernel_before(&self, at: usize) -> Option<String> {
        let mut start = at.checked_sub(1)?;
        if self.text(start) == ">" {
            let mut depth = 0_usize;
            for _ in 0..LONGEST {
                match self.text(start) {
                    ">" => depth += 1,
                    "<" => depth -= 1,
                    ";" | "{" | "}" => return None,
                    _ => {}
                }
                start = start.checked_sub(1)?;
                if depth == 0 {
                    break;
                }
            }
        }
        if !self.is_word(start) {
            return None;
        }
        while start >= 2 && self.text(start - 1) == "::" && self.is_word(start - 2) {
            start -= 2;
        }
        Some(lexer::joined((start..at).map(|at| self.text(at))))
    }

    fn allocation(&mut self, at: usize) {
        let parts = self.list(at + 1);
        let [target, bytes, ..] = parts.as_slice() else { return };
        // `(void **)&name` ends with the name.
        let mut ends = target.clone().rev().take(LONGEST);
        let Some(name) = ends.find(|at| self.is_word(*at)) else { return };
        let name = self.text(name);
        self.found.allocations.insert(name, bytes.clone());
    }

    fn copy(&mut self, at: usize) {
        let parts = self.list(at + 1);
        let [target, source, bytes, kind, ..] = parts.as_slice() else { return };
        let mut words = kind.clone().take(LONGEST).map(|at| self.text(at));
        match words.find(|word| word.starts_with("cudaMemcpy")) {
            Some("cudaMemcpyHostToDevice") if self.is_word(target.start) => {
                self.found.filled.insert(self.text(target.start));
            }
            Some("cudaMemcpyDeviceToDevice") => {
                let what = Transferred::From(self.pointer_alone(source));
                self.transfer(at, target, what, bytes);
            }
            Some(_) | None => {}
        }
    }

    /// `cudaMemset(name, value, bytes)`.
    fn set(&mut self, at: usize) {
        if let [target, value, bytes, ..] = self.list(at + 1).as_slice() {
            self.transfer(at, target, Transferred::Bytes(value.clone()), bytes);
        }
    }

    fn transfer(&mut self, at: usize, target: &Span, what: Transferred<'s>, bytes: &Span) {
        if self.found.transfers.len() < MOST_LAUNCHES {
            let (to, bytes) = (self.pointer_alone(target), bytes.clone());
            let call = at..self.brackets.after(at + 1).unwrap_or(at + 1);
            self.found.transfers.push(Transfer { to, what, bytes, call });
        }
    }

    /// The pointer that an argument is, but for casts.
    fn pointer_alone(&self, span: &Span) -> Option<&'s str> {
        let inner = super::pointers::without_casts(&self.found.code, span.clone());
        self.found.word(&inner).filter(|_| self.is_word(inner.start))
    }
}

/// The parameters of a function, each with its name, where it has one.
pub(super) fn declarators<'s>(
    code: &[Token<'s>],
    parameters: &Span,
) -> Vec<(&'s str, Declared<'s>)> {
    let tokens = code.get(parameters.clone()).unwrap_or_default();
    let parts = tokens.split(|token| token.text == ",");
    let named = parts.filter_map(|part| {
        let part = part.split(|token| token.text == "=").next()?;
        let is_array = part.last().is_some_and(|token| token.text == "]");
        let end = part.iter().position(|token| token.text == "[").unwrap_or(part.len());
        let (name, before) = part[..end].split_last()?;
        let is_indirect = is_array || before.iter().any(|token| token.text == "*");
        let words = before.iter().filter(|token| token.kind == Kind::Word);
        let words: Vec<&str> =
            words.map(|token| token.text).filter(|word| *word != "std").collect();
        (name.kind == Kind::Word && !before.is_empty())
            .then_some((name.text, Declared { words, is_indirect }))
    });
    named.take(LONGEST).collect()
}

fn is_number_word(word: &str) -> bool {
    Type::of_words(&[word]).is_some() || word == "signed"
}

/// The operator of `+=` and the like, by its first sign.
fn operator_of(sign: &str) -> Option<Operator> {
    Some(match sign {
        "+" => Operator::Add,
        "-" => Operator::Subtract,
        "*" => Operator::Multiply,
        "/" => Operator::Divide,
        "%" => Operator::Remainder,
        "|" => Operator::BitOr,
        "^" => Operator::BitXor,
        "&" => Operator::BitAnd,
        "<" => Operator::ShiftLeft,
        ">" => Operator::ShiftRight,
        _ => return None,
    })
}
