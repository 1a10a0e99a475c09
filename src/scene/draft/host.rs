//! What the host code of a file says of its kernels: launches, allocations, copies, loops, and what its variables are.
//!
//! This is no parser of C++, and host code is not run: what is written in the usual way is found, and the rest is left
//! for a person to fill in.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::templates::{HostTemplate, templates};
use crate::cuda::{
    brackets::Brackets,
    lexer::{self, Kind, Token},
};

/// So many tokens are looked at; and as many again, counted each time, in looking for the numbers of expressions.
const MOST_TOKENS: usize = 1 << 20;
/// So many launches, and exchanges of pointers, are told.
pub(super) const MOST_LAUNCHES: usize = 200;
/// So many tokens an expression has, and a launch's shape.
pub(super) const LONGEST: usize = 1000;
/// So many loops lie in one another, and names in a declaration.
const DEEPEST: usize = 64;

/// Words that stand before a name and a brace without being a type.
const NO_TYPES: [&str; 9] =
    ["struct", "class", "union", "enum", "namespace", "return", "new", "else", "do"];

/// Places of tokens.
pub(super) type Span = Range<usize>;

/// What was found.
pub(super) struct Host<'s> {
    pub(super) code: Vec<Token<'s>>,
    /// What names are defined as, each in the file's order.
    pub(super) definitions: BTreeMap<&'s str, Vec<Definition>>,
    /// `variable.field = value`: the value, and where, by both names.
    fields: BTreeMap<(&'s str, &'s str), Vec<(Span, usize)>>,
    /// `#define NAME text`.
    pub(super) macros: BTreeMap<&'s str, &'s str>,
    /// The types that pointers point to.
    pub(super) pointees: BTreeMap<&'s str, &'s str>,
    /// `cudaMalloc(&name, bytes)`: the bytes of each, by name.
    pub(super) allocations: BTreeMap<&'s str, Span>,
    /// What the host copies to the device.
    pub(super) filled: BTreeSet<&'s str>,
    /// Pairs of pointers that change places, and where.
    pub(super) swaps: Vec<(&'s str, &'s str, usize)>,
    /// What the host fills with zeros, and where: `cudaMemset(name, 0, bytes)`.
    pub(super) clears: Vec<(&'s str, usize)>,
    /// The bodies of all loops, from where their conditions stand behind them or before them.
    pub(super) loops: Vec<Repeated>,
    pub(super) launches: Vec<Launch<'s>>,
    /// What templates of the host and of the device call types and values.
    pub(super) type_parameters: BTreeSet<&'s str>,
    pub(super) value_parameters: BTreeSet<&'s str>,
    /// The templates among its functions.
    pub(super) templates: Vec<HostTemplate<'s>>,
    /// How many tokens may still be looked at for the numbers of expressions.
    pub(super) budget: Cell<usize>,
    /// The structure that counts as one byte while the elements of an allocation are counted.
    pub(super) unit: RefCell<Option<String>>,
    /// The bytes of types that the file has its own names for.
    pub(super) sizes: BTreeMap<String, usize>,
    /// Its functions, in the file's order.
    functions: Vec<Function<'s>>,
    /// Variables that are counted up or down, multiplied and so on, but for those of `for` loops.
    changed: BTreeSet<&'s str>,
    /// Whether a number was taken that may be another one where it is used; see [`Host::surely`].
    pub(super) is_unsure: Cell<bool>,
}

/// What a loop repeats.
pub(super) struct Repeated {
    pub(super) body: Span,
    /// The condition of a `while`.
    pub(super) condition: Option<Span>,
}

/// A function with a body.
struct Function<'s> {
    parameters: BTreeSet<&'s str>,
    body: Span,
}

/// A variable's value.
pub(super) struct Definition {
    pub(super) value: Value,
    /// Where it stands.
    pub(super) at: usize,
    /// It is what the variable of a loop begins with.
    is_of_loop: bool,
}

/// What a variable is defined as.
#[derive(Clone)]
pub(super) enum Value {
    Expression(Span),
    /// The arguments of a `dim3`.
    Dimensions(Vec<Span>),
}

/// `kernel<<<grid, block, shared>>>(arguments)`.
pub(super) struct Launch<'s> {
    /// With its template arguments.
    pub(super) kernel: String,
    pub(super) shape: Vec<Span>,
    pub(super) arguments: Vec<Span>,
    pub(super) at: usize,
    /// The loops around it, from the outermost.
    pub(super) loops: Vec<Loop<'s>>,
}

/// `for (int variable = first; variable < end; variable += step)`.
#[derive(Clone, PartialEq)]
pub(super) struct Loop<'s> {
    pub(super) variable: &'s str,
    pub(super) first: Span,
    pub(super) end: Span,
    pub(super) comparison: &'s str,
    pub(super) step: Step,
    pub(super) body: Span,
}

/// How a loop's variable goes on.
#[derive(Clone, PartialEq)]
pub(super) enum Step {
    Add(Span),
    Subtract(Span),
    Double,
    Halve,
    One,
    MinusOne,
}

impl<'s> Host<'s> {
    /// Reads `text`.
    pub(super) fn read(text: &'s str) -> Self {
        let tokens: Vec<Token<'s>> = lexer::lex(text)
            .filter(|token| !matches!(token.kind, Kind::Blank | Kind::Comment | Kind::Disabled))
            .take(MOST_TOKENS)
            .collect();
        let brackets = Brackets::new(&tokens);
        let directives = tokens.iter().filter(|token| token.kind == Kind::Directive);
        let macros = directives.filter_map(|token| macro_of(token.text)).collect();
        let code: Vec<Token<'s>> =
            tokens.into_iter().filter(|token| token.kind != Kind::Directive).collect();
        let templates = templates(&code, &brackets);
        let functions = functions(&code, &brackets);
        let found = Self {
            code,
            definitions: BTreeMap::new(),
            fields: BTreeMap::new(),
            macros,
            pointees: BTreeMap::new(),
            allocations: BTreeMap::new(),
            filled: BTreeSet::new(),
            swaps: Vec::new(),
            clears: Vec::new(),
            loops: Vec::new(),
            launches: Vec::new(),
            type_parameters: BTreeSet::new(),
            value_parameters: BTreeSet::new(),
            templates,
            budget: Cell::new(MOST_TOKENS),
            unit: RefCell::new(None),
            sizes: BTreeMap::new(),
            functions,
            changed: BTreeSet::new(),
            is_unsure: Cell::new(false),
        };
        Reader { found, brackets, loops: Vec::new(), header_end: 0 }.read()
    }

    /// The bytes that the host allocates for `pointer`.
    pub(super) fn allocation(&self, pointer: &str) -> Option<&Span> {
        self.allocations.get(self.allocated(pointer)?)
    }

    /// Whether the host fills what it allocated for `pointer`.
    pub(super) fn fills(&self, pointer: &str) -> bool {
        let is_filled = |name: &str| self.filled.contains(name);
        is_filled(pointer) || self.allocated(pointer).is_some_and(is_filled)
    }

    /// The pointer that memory was allocated for: `pointer`, or the one whose value it has, `Body *p = (Body *)bytes;`.
    fn allocated<'p>(&'p self, pointer: &'p str) -> Option<&'p str> {
        if self.allocations.contains_key(pointer) {
            return Some(pointer);
        }
        let Value::Expression(value) = &self.definitions.get(pointer)?.first()?.value else {
            return None;
        };
        let tokens = self.code.get(value.clone())?;
        let (other, cast) = tokens.split_last()?;
        let is_cast = |token: &Token<'_>| {
            token.kind == Kind::Word || matches!(token.text, "(" | ")" | "*" | "<" | ">")
        };
        let is_known = self.allocations.contains_key(other.text);
        (is_known && cast.iter().all(is_cast)).then_some(other.text)
    }

    /// The format of a texture's texels, by how kernels read or write it: `tex2D<float4>(name, x, y)`.
    pub(super) fn texel_of(&self, name: &str) -> Option<&'static str> {
        let text = |at: usize| self.code.get(at).map_or("", |token| token.text);
        let is_use = |at: &usize| {
            let function = text(*at);
            (function.starts_with("tex") || function.starts_with("surf")) && text(at + 1) == "<"
        };
        let of = |at: usize| (at + 3..at + 16).any(|near| text(near) == name);
        let at = (0..self.code.len()).filter(is_use).find(|at| of(*at))?;
        match text(at + 2) {
            "float4" => Some("rgba32f"),
            "float2" => Some("rg32f"),
            "float" => Some("r32f"),
            "uchar4" => Some("rgba8"),
            _ => None,
        }
    }

    /// A block for a kernel that nothing launches: by a constant that is called so, square where the kernel has two
    /// axes.
    pub(super) fn block_of(&self, kernel: &str) -> Option<String> {
        let last = kernel.rsplit("::").next().unwrap_or(kernel);
        let at = self.code.iter().rposition(|token| token.text == last)?;
        let until = self.code[at..].iter().position(|token| token.text == "__global__");
        let body = &self.code[at..until.map_or(self.code.len(), |length| at + length)];
        let is_flat = !body.windows(3).any(|w| w[0].text == "threadIdx" && w[2].text == "y");
        let is_named = |token: &&Token<'_>| {
            let name = token.text.to_ascii_lowercase();
            let words = ["block", "thread", "tile"];
            token.kind == Kind::Word && words.iter().any(|word| name.contains(word))
        };
        let number = |token: &Token<'_>| self.number_of_text(token.text)?.parse::<i64>().ok();
        let mut sizes = body.iter().filter(is_named).take(200).filter_map(number);
        let most = if is_flat { 1024 } else { 32 };
        match (sizes.find(|size| (1..=most).contains(size)), is_flat) {
            (Some(size), true) => Some(size.to_string()),
            (Some(size), false) => Some(format!("[{size}, {size}]")),
            (None, true) => None,
            (None, false) => Some("[16, 16]".to_owned()),
        }
    }

    /// Whether some kernel has shared memory of a size that its launch says.
    pub(super) fn has_dynamic_shared(&self) -> bool {
        let shared = |w: &[Token<'_>]| w.iter().any(|token| token.text == "__shared__");
        self.code.windows(3).any(|w| w[0].text == "extern" && shared(w))
    }

    /// What `look` finds, and whether each number in it is surely the one that its variable has there: not what a loop
    /// begins with, nor of a variable that is changed, that is another function's, or that a function is called with.
    pub(super) fn surely<T>(&self, look: impl FnOnce(&Self) -> T) -> (T, bool) {
        self.is_unsure.set(false);
        let found = look(self);
        (found, !self.is_unsure.get())
    }

    /// Whether a variable surely has at `at` what this definition says.
    pub(super) fn is_sure(&self, name: &str, definition: &Definition, at: usize) -> bool {
        let around = |at: usize| {
            let before = self.functions.partition_point(|function| function.body.start <= at);
            let nearest = self.functions[..before].iter().rev().take(DEEPEST);
            nearest.into_iter().find(|function| function.body.contains(&at))
        };
        let (own, other) = (around(at), around(definition.at));
        let is_same = |function: &Function<'_>| function.body.contains(&definition.at);
        let is_parameter = own.is_some_and(|own| own.parameters.contains(name) && !is_same(own));
        // What a macro names stands anywhere.
        let is_foreign = at != usize::MAX && other.is_some_and(|other| !other.body.contains(&at));
        let is_changed = definition.is_of_loop || self.changed.contains(name);
        !(is_changed || is_parameter || is_foreign)
    }

    /// What the innermost loop around `at` repeats.
    pub(super) fn loop_around(&self, at: usize) -> Option<&Repeated> {
        let around = self.loops.iter().filter(|around| around.body.contains(&at));
        around.min_by_key(|around| around.body.len())
    }

    /// What a field of a variable was set to last before `at`.
    pub(super) fn field(&self, variable: &str, field: &str, at: usize) -> Option<Span> {
        let set = self.fields.get(&(variable, field))?;
        set.iter().rev().find(|(_, place)| *place < at).map(|(value, _)| value.clone())
    }

    fn define(&mut self, name: &'s str, value: Value, at: usize, is_of_loop: bool) {
        let definition = Definition { value, at, is_of_loop };
        self.definitions.entry(name).or_default().push(definition);
    }
}

/// The functions of `code`, by the look of them.
fn functions<'s>(code: &[Token<'s>], brackets: &Brackets) -> Vec<Function<'s>> {
    let text = |at: usize| code.get(at).map_or("", |token| token.text);
    let function = |at: usize| {
        let name = code.get(at.checked_sub(1)?)?;
        let is_named =
            name.kind == Kind::Word && !matches!(name.text, "if" | "for" | "while" | "switch");
        let behind = brackets.after(at).filter(|behind| is_named && behind - at <= LONGEST)?;
        let end = (text(behind) == "{").then(|| brackets.after(behind))??;
        let is_last = |at: &usize| matches!(text(at + 1), "," | ")" | "=" | "[");
        let names = (at + 1..behind).filter(|at| code[*at].kind == Kind::Word).filter(is_last);
        Some(Function { parameters: names.map(text).collect(), body: behind..end })
    };
    (0..code.len()).filter(|at| text(*at) == "(").filter_map(function).collect()
}

/// `#define NAME text`, without arguments.
fn macro_of(directive: &str) -> Option<(&str, &str)> {
    let rest = directive.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
    let rest = rest.trim();
    let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric())?;
    let (name, text) = rest.split_at(end);
    (text.starts_with([' ', '\t']) && !name.is_empty()).then_some((name, text.trim()))
}

struct Reader<'s> {
    found: Host<'s>,
    brackets: Brackets,
    loops: Vec<Loop<'s>>,
    /// Where the parentheses of the last `for` end.
    header_end: usize,
}

impl<'s> Reader<'s> {
    fn read(mut self) -> Host<'s> {
        for at in 0..self.found.code.len() {
            self.loops.retain(|around| around.body.end > at);
            match self.text(at) {
                "=" => self.definition(at),
                "dim3" => self.dimensions(at),
                "{" => self.initial_list(at),
                "*" => {
                    self.pointer(at);
                    self.change(at);
                }
                "for" => self.loop_at(at),
                "while" => self.while_at(at),
                "do" => self.do_at(at),
                "+" | "-" | "/" | "%" | "&" | "|" | "^" => self.change(at),
                "swap" => self.swap(at),
                "cudaMemset" | "cudaMemsetAsync" => self.clear(at),
                "template" => self.template(at),
                "<" if self.is_launch(at) => self.launch(at),
                "<" | ">" => self.change(at),
                "cudaMalloc" | "cudaMallocManaged" | "cudaMallocAsync" => self.allocation(at),
                "cudaMemcpy" | "cudaMemcpyAsync" => self.copy(at),
                _ => {}
            }
        }
        self.found
    }

    fn text(&self, at: usize) -> &'s str {
        self.found.code.get(at).map_or("", |token| token.text)
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

    /// `name = value`.
    fn definition(&mut self, at: usize) {
        let Some(name_at) = at.checked_sub(1).filter(|before| self.is_word(*before)) else {
            return;
        };
        if self.text(at + 1) == "=" {
            return;
        }
        if matches!(self.before(name_at), "." | ">") {
            // `grid.x = 4` changes what `dim3 grid` says.
            if let Some(of) = name_at.checked_sub(2).filter(|of| self.is_word(*of)) {
                self.found.changed.insert(self.text(of));
                let names = (self.text(of), self.text(name_at));
                let value = self.expression(at + 1);
                self.found.fields.entry(names).or_default().push((value, at));
            }
            return;
        }
        let name = self.text(name_at);
        let value = match (self.text(at + 1), self.text(at + 2)) {
            ("dim3", "(" | "{") => Value::Dimensions(self.list(at + 2)),
            ("{", _) => Value::Dimensions(self.list(at + 1)),
            _ => Value::Expression(self.expression(at + 1)),
        };
        // Without arguments the program keeps what it had.
        let is_known = self.found.definitions.contains_key(name);
        if !(is_known && self.is_of_command_line(&value)) {
            self.found.define(name, value, at, at < self.header_end);
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

    /// `++name`, `name++`, `name += value` and the like, outside of the parentheses of a `for`.
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
        if at >= self.header_end
            && let Some(name) = name.filter(|name| self.is_word(*name))
        {
            self.found.changed.insert(self.text(name));
        }
    }

    /// `while (condition) { ... }`; behind a `do` nothing is repeated.
    fn while_at(&mut self, at: usize) {
        let Some(after) = self.brackets.after(at + 1) else { return };
        if self.text(after) != ";" {
            self.repeat(after, Some(at + 2..after - 1));
        }
    }

    /// `do { ... } while (condition);`
    fn do_at(&mut self, at: usize) {
        let Some(behind) = self.brackets.after(at + 1).filter(|_| self.text(at + 1) == "{") else {
            return;
        };
        let end = self.brackets.after(behind + 1).filter(|_| self.text(behind) == "while");
        self.repeat(at + 1, end.map(|end| behind + 2..end - 1));
    }

    /// Notes a loop whose body begins at `at`.
    fn repeat(&mut self, at: usize, condition: Option<Span>) {
        if self.found.loops.len() < MOST_LAUNCHES {
            let body = self.body(at);
            self.found.loops.push(Repeated { body, condition });
        }
    }

    /// The block, or the statement, at `at`.
    fn body(&self, at: usize) -> Span {
        match self.text(at) {
            "{" => at..self.brackets.after(at).unwrap_or(self.found.code.len()),
            _ => at..self.statement_end(at),
        }
    }

    /// `cudaMemset(name, 0, bytes)`.
    fn clear(&mut self, at: usize) {
        if let [target, value, ..] = self.list(at + 1).as_slice()
            && let ([name], [zero]) =
                (&self.found.code[target.clone()], &self.found.code[value.clone()])
            && zero.text == "0"
            && name.kind == Kind::Word
            && self.found.clears.len() < MOST_LAUNCHES
        {
            let name = name.text;
            self.found.clears.push((name, at));
        }
    }

    /// Whether it is what the program was called with: `atoi(argv[1])`.
    fn is_of_command_line(&self, value: &Value) -> bool {
        let Value::Expression(span) = value else { return false };
        let tokens = self.found.code.get(span.clone()).unwrap_or_default();
        let names = |wanted: &[&str]| tokens.iter().any(|token| wanted.contains(&token.text));
        names(&["argv", "optarg"]) && !names(&["?"])
    }

    /// `dim3 name(x, y)`, several behind one another.
    fn dimensions(&mut self, at: usize) {
        let mut at = at + 1;
        for _ in 0..DEEPEST {
            if !self.is_word(at) {
                return;
            }
            let name = self.text(at);
            let end = match self.text(at + 1) {
                "(" | "{" => {
                    let value = Value::Dimensions(self.list(at + 1));
                    self.found.define(name, value, at, false);
                    self.brackets.after(at + 1)
                }
                "=" => Some(self.expression(at + 2).end),
                _ => Some(at + 1),
            };
            match end {
                Some(end) if self.text(end) == "," => at = end + 1,
                _ => break,
            }
        }
    }

    /// `Type name{x, y};`
    fn initial_list(&mut self, at: usize) {
        let Some(name_at) = at.checked_sub(1).filter(|name| self.is_word(*name)) else { return };
        let has_type = name_at.checked_sub(1).is_some_and(|of| {
            self.is_word(of) && !NO_TYPES.contains(&self.text(of)) && self.text(of) != "dim3"
        });
        let is_whole =
            self.brackets.after(at).is_some_and(|end| matches!(self.text(end), ";" | ","));
        if has_type && is_whole {
            let value = Value::Dimensions(self.list(at));
            self.found.define(self.text(name_at), value, at, false);
        }
    }

    /// `type *name`, also the second one in `float *a, *b`.
    fn pointer(&mut self, at: usize) {
        if !self.is_word(at + 1) || !matches!(self.text(at + 2), "," | ";" | "=" | ")") {
            return;
        }
        let mut of = at;
        for _ in 0..DEEPEST {
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

    fn loop_at(&mut self, at: usize) {
        let Some(after) = self.brackets.after(at + 1) else { return };
        self.header_end = after;
        self.repeat(after, None);
        if self.loops.len() >= DEEPEST {
            return;
        }
        let Some(mut found) = self.header(at + 2, after - 1) else { return };
        found.body = self.body(after);
        self.loops.push(found);
    }

    /// Behind the semicolon of the statement at `at`.
    fn statement_end(&self, at: usize) -> usize {
        let mut end = at;
        while end < self.found.code.len() && self.text(end) != ";" {
            end = match self.text(end) {
                "(" | "[" | "{" => self.brackets.after(end).unwrap_or(end + 1),
                _ => end + 1,
            };
        }
        end + 1
    }

    /// `int i = first; i < end; ++i`.
    fn header(&self, start: usize, end: usize) -> Option<Loop<'s>> {
        let end = end.min(start + LONGEST);
        let equals = (start..end).find(|at| self.text(*at) == "=")?;
        let named = equals.checked_sub(1).filter(|at| self.is_word(*at))?;
        let variable = self.text(named);
        let first = self.expression(equals + 1);
        let condition = first.end + 1;
        let at = (condition..end).find(|at| self.text(*at) == variable)?;
        let comparison = match (self.text(at + 1), self.text(at + 2)) {
            ("<", "=") => "<=",
            (">", "=") => ">=",
            ("<", _) => "<",
            (">", _) => ">",
            _ => return None,
        };
        let limit = self.expression(at + 1 + comparison.len());
        let step_at = limit.end + 1;
        let step = self.step(step_at..end, variable)?;
        Some(Loop { variable, first, end: limit, comparison, step, body: 0..0 })
    }

    fn step(&self, place: Span, variable: &str) -> Option<Step> {
        let at = place.clone().find(|at| self.text(*at) == variable)?;
        let (next, third) = (self.text(at + 1), self.text(at + 2));
        let own = self.before(at);
        match (next, third) {
            ("+", "+") => Some(Step::One),
            ("-", "-") => Some(Step::MinusOne),
            ("+", "=") => Some(Step::Add(self.expression(at + 3))),
            ("-", "=") => Some(Step::Subtract(self.expression(at + 3))),
            ("*", "=") if self.text(at + 3) == "2" => Some(Step::Double),
            ("/", "=") if self.text(at + 3) == "2" => Some(Step::Halve),
            ("<", "<") if self.text(at + 4) == "1" => Some(Step::Double),
            (">", ">") if self.text(at + 4) == "1" => Some(Step::Halve),
            _ if own == "+" => Some(Step::One),
            _ if own == "-" => Some(Step::MinusOne),
            _ => None,
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
        let is_word = |part: &Span| part.len() == 1 && self.is_word(part.start);
        let word = |part: &Span| is_word(part).then(|| self.text(part.start));
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
            let (arguments, loops) = (self.list(open), self.loops.clone());
            self.found.launches.push(Launch { kernel, shape, arguments, at, loops });
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
        let Some(target) = parts.first() else { return };
        let words = parts.get(3).into_iter().flat_map(Clone::clone).take(LONGEST);
        let mut words = words.map(|at| self.text(at));
        let to_device = words.any(|word| word == "cudaMemcpyHostToDevice");
        if to_device && self.is_word(target.start) {
            self.found.filled.insert(self.text(target.start));
        }
    }
}
