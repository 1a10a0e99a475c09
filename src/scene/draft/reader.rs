//! Reads host code from its beginning to its end.
//!
//! Enters: tokens. Leaves: variables with their definitions, launches, allocations, copies, and what may write to
//! memory, all of it in `host`. Must not know: `scene::draft::fills`, `scene::draft::manifest`.

pub(super) mod callees;
pub(super) mod changes;
pub(super) mod declarations;
pub(super) mod exchanges;
pub(super) mod handed;
pub(super) mod holders;
pub(super) mod kept;
pub(super) mod launches;
pub(super) mod libraries;
pub(super) mod mentions;
pub(super) mod named;
pub(super) mod takers;
pub(super) mod unknown;

use std::collections::{BTreeMap, BTreeSet};

use self::{declarations::MOST_NAMES, takers::Takers};
use super::{
    code::{
        LONGEST, Span,
        members::MOST_FIELDS,
        pointers::without_casts,
        variables::{Id, Value},
    },
    expression::cpp_number::{QUALIFIERS, Type},
    host::{
        Host, MOST_LAUNCHES,
        allocation::Allocating,
        transfer::{Transfer, Transferred},
        untold::Untold,
    },
};
use crate::cuda::{Held, brackets::Brackets, lexer::Tokens};

/// So many allocations are told, and so many copies to the device.
const MOST_FOUND: usize = 10_000;

/// So many brackets around one another are kept.
const MOST_OPEN: usize = 1000;

pub(super) struct Reader<'h, 's> {
    pub(super) found: &'h mut Host<'s>,
    pub(super) brackets: &'h Brackets,
    /// Where the `=` of declarations stand, which are no assignments.
    pub(super) initial: BTreeSet<usize>,
    /// The brackets around what is read, from the outermost, with the places behind them.
    pub(super) open: Vec<(usize, usize)>,
    /// Where something else ends what is done: `throw`, `abort`.
    pub(super) ends: Vec<usize>,
    /// Where the other two `=` of `t = a; a = b; b = t;` stand.
    pub(super) exchanging: BTreeSet<usize>,
    /// The parameters that functions of a name take by reference, with their places.
    pub(super) by_reference: BTreeMap<&'s str, Vec<(usize, Id)>>,
    pub(super) takers: Takers<'s>,
    /// Where copies stand of which it is not understood what they copy.
    pub(super) unread: BTreeSet<usize>,
}

impl<'h, 's> Reader<'h, 's> {
    pub(super) fn new(found: &'h mut Host<'s>, brackets: &'h Brackets) -> Self {
        let takers = Takers::new(&found.code, brackets, &found.regions, found.structures);
        Self {
            takers,
            found,
            brackets,
            initial: BTreeSet::new(),
            open: Vec::new(),
            ends: Vec::new(),
            exchanging: BTreeSet::new(),
            by_reference: BTreeMap::new(),
            unread: BTreeSet::new(),
        }
    }

    pub(super) fn read(mut self) {
        self.parameters();
        for at in 0..self.found.code.len() {
            self.enter(at);
            if self.is_statement(at) {
                self.declaration(at);
            }
            match self.text(at) {
                "=" => {
                    self.exchange(at);
                    self.change(at);
                }
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
                "decltype" | "[" => self.other_names(at),
                "." => self.method(at),
                "swap" | "exchange" => self.swap(at),
                "tie" => self.tie(at),
                "cudaMemset" | "cudaMemsetAsync" => self.set(at),
                "template" => self.template(at),
                "<" if self.is_launch(at) => self.launch(at),
                "<" | ">" => self.change(at),
                "cudaMalloc" | "cudaMallocManaged" | "cudaMallocAsync" | "cudaMallocHost"
                | "cudaHostAlloc" => self.allocation(at),
                "cudaHostGetDevicePointer" => self.same_memory(at),
                "cudaMallocPitch" => self.allocation_of_rows(at),
                "cudaMemcpy" | "cudaMemcpyAsync" => self.copy(at),
                "cudaMemcpy2D" | "cudaMemcpy2DAsync" => self.copy_of_rows(at),
                "cudaMemcpyToSymbol" | "cudaMemcpyToSymbolAsync" => self.symbol(at),
                "cudaMemcpyFromArray"
                | "cudaMemcpy2DFromArray"
                | "cudaMemcpyFromSymbol"
                | "cudaMemset2D"
                | "cudaMemset2DAsync"
                | "cudaMemset3D" => self.leave(at),
                "cudaLaunchKernel" | "cudaLaunchCooperativeKernel" => self.launch_by_call(at),
                "break" | "continue" | "return" | "goto" | "exit" => self.found.jumps.push(at),
                "throw" | "abort" => self.ends.push(at),
                _ => {}
            }
            if self.is_word(at) {
                self.library_call(at);
                self.mention(at);
            }
        }
        self.exits();
        self.detours();
        self.found.variables.sort();
        self.unknown_calls();
    }

    /// Keeps the brackets that are open at `at`.
    fn enter(&mut self, at: usize) {
        while self.open.last().is_some_and(|(_, after)| *after <= at) {
            self.open.pop();
        }
        if matches!(self.text(at), "(" | "[" | "{") {
            let after = self.brackets.after(at).filter(|_| self.open.len() < MOST_OPEN);
            self.open.extend(after.map(|after| (at, after)));
        }
    }

    pub(super) fn text(&self, at: usize) -> &'s str {
        self.found.text_at(at)
    }

    pub(super) fn is_word(&self, at: usize) -> bool {
        self.found.code.is_word_at(at)
    }

    /// The token before, where there is one.
    pub(super) fn before(&self, at: usize) -> &'s str {
        self.found.code.text_before(at)
    }

    /// From `at` to a comma, a semicolon or a bracket that closes.
    pub(super) fn expression(&self, at: usize) -> Span {
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
    pub(super) fn list(&self, open: usize) -> Vec<Span> {
        let Some(after) = self.brackets.after(open) else { return Vec::new() };
        let (mut parts, mut at) = (Vec::new(), open + 1);
        while at + 1 < after {
            let part = self.expression(at);
            at = part.end.max(at) + 1;
            parts.push(part);
        }
        parts
    }

    /// What is written as a value behind the `=` at `equals`: behind the last of several, where none of them makes
    /// another number of it.
    pub(super) fn value(&self, equals: usize) -> Value {
        let mut at = equals + 1;
        let own = self.type_set_at(equals);
        while let Some(behind) = self.chained(at) {
            if own.is_none() || self.type_set_at(behind - 1) != own {
                return Value::Unknown;
            }
            at = behind;
        }
        match (self.text(at), self.text(at + 1)) {
            ("dim3", "(" | "{") => Value::List(self.list(at + 1)),
            ("{", _) => Value::List(self.list(at)),
            _ => Value::Expression(self.expression(at)),
        }
    }

    /// Where the value begins behind `name =` or `name.field =` at `at`.
    fn chained(&self, at: usize) -> Option<usize> {
        let mut end = at.checked_add(1).filter(|_| self.is_word(at))?;
        loop {
            end = match (self.text(end), self.text(end + 1)) {
                (".", _) if self.is_word(end + 1) => end + 2,
                ("-", ">") if self.is_word(end + 2) => end + 3,
                ("=", next) if next != "=" => return Some(end + 1),
                _ => return None,
            };
        }
    }

    /// The words of the type of what is set by the `=` at a place, and whether it is a pointer.
    fn type_set_at(&self, equals: usize) -> Option<(String, bool)> {
        let last = equals.checked_sub(1)?;
        let (mut start, mut path) = (last, Vec::new());
        loop {
            let by = match self.before(start) {
                "." => 2,
                ">" if self.is_behind_arrow(start) => 3,
                _ => break,
            };
            path.push(self.text(start));
            start = start.checked_sub(by)?;
        }
        path.reverse();
        let variable = self.found.variables.get(self.visible(self.text(start), equals)?);
        let declared = &variable.declared;
        if path.is_empty() {
            let words = declared.words.iter().filter(|word| !QUALIFIERS.contains(word));
            let words: Vec<&str> = words.copied().collect();
            return Some((words.join(" "), declared.is_indirect && !declared.is_reference));
        }
        let structures = self.found.structures;
        let members = |word: &&str| structures.members(word, MOST_FIELDS);
        let members = declared.words.iter().find_map(members)?;
        let path = path.join(".");
        match &members.iter().find(|member| member.path == path)?.held {
            Held::Element(element) => Some((format!("{:?}", Type::of_element(*element)?), false)),
            Held::Pointer(_) | Held::Unknown => None,
        }
    }

    /// Whether it is what the program was called with: `atoi(argv[1])`.
    pub(super) fn is_of_command_line(&self, value: &Value) -> bool {
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

    fn allocation(&mut self, at: usize) {
        let parts = self.list(at + 1);
        let [target, bytes, ..] = parts.as_slice() else { return };
        let is_of_host = matches!(self.text(at), "cudaMallocHost" | "cudaHostAlloc");
        let (target, bytes) = (target.clone(), bytes.clone());
        self.allocate(Allocating { target, bytes, rows: None, is_of_host });
    }

    /// `cudaMallocPitch(&name, &pitch, bytes, rows)`: the rows lie one behind the other.
    fn allocation_of_rows(&mut self, at: usize) {
        let parts = self.list(at + 1);
        let [target, pitch, bytes, rows, ..] = parts.as_slice() else { return };
        let id = (self.text(pitch.start) == "&").then(|| self.text(pitch.start + 1));
        if let Some(id) = id.and_then(|name| self.visible(name, at)) {
            self.define(id, Value::Expression(bytes.clone()), bytes.start);
        }
        let (target, bytes, rows) = (target.clone(), bytes.clone(), Some(rows.clone()));
        self.allocate(Allocating { target, bytes, rows, is_of_host: false });
    }

    /// `cudaHostGetDevicePointer(&name, other, 0)`: both point to the same.
    fn same_memory(&mut self, at: usize) {
        let parts = self.list(at + 1);
        let [target, other, ..] = parts.as_slice() else { return };
        let name = target.clone().next_back().filter(|last| self.is_word(*last));
        if let Some(id) = name.and_then(|name| self.visible(self.text(name), at)) {
            self.define(id, Value::Expression(other.clone()), other.start);
        }
    }

    fn allocate(&mut self, found: Allocating) {
        if self.found.allocating.len() < MOST_FOUND {
            self.found.allocating.push(found);
        }
    }

    fn copy(&mut self, at: usize) {
        let parts = self.list(at + 1);
        let [target, source, bytes, kind, ..] = parts.as_slice() else { return };
        let target = &without_casts(&self.found.code, target.clone());
        let mut words = kind.clone().take(LONGEST).map(|at| self.text(at));
        match words.find(|word| word.starts_with("cudaMemcpy")) {
            Some("cudaMemcpyHostToDevice")
                if let Some(zero) = self.zero_in(source, at)
                    && self.pointer_alone(target).is_some() =>
            {
                self.transfer(at, target, Transferred::Bytes(zero), bytes);
            }
            Some("cudaMemcpyHostToDevice") if self.is_word(target.start) => {
                self.found.copied.insert(target.start, (source.clone(), bytes.clone()));
                self.fill(target);
            }
            Some("cudaMemcpyDeviceToDevice") => self.copy_on_device(at, target, source, bytes),
            Some("cudaMemcpyDefault") => {
                let is_allocated = |end: &Span| {
                    let pointer = self.pointer_alone(end);
                    pointer.is_some_and(|name| self.is_allocated(name))
                };
                match is_allocated(target) && is_allocated(source) {
                    true => self.copy_on_device(at, target, source, bytes),
                    false => _ = self.unread.insert(at),
                }
            }
            Some("cudaMemcpyDeviceToHost" | "cudaMemcpyHostToHost") => {}
            Some(_) | None => _ = self.unread.insert(at),
        }
    }

    /// The `0` or `false` that the variable was set to just before whose address is copied from: `&changed`.
    fn zero_in(&self, source: &Span, at: usize) -> Option<Span> {
        let name = source.clone().next_back().filter(|name| self.is_word(*name))?;
        if source.len() != 2 || self.text(source.start) != "&" {
            return None;
        }
        let variable = self.found.variables.get(self.visible(self.text(name), at)?);
        let set = variable.definitions.last().filter(|_| !variable.declared.is_indirect)?;
        let Value::Expression(value) = &set.value else { return None };
        let is_zero =
            matches!(self.found.word(value)?, "0" | "false" | "0.0" | "0.0f" | "0.f" | "0u");
        let is_straight = !(value.end..at).any(|at| matches!(self.text(at), "{" | "}" | ":"));
        (is_zero && is_straight).then(|| value.clone())
    }

    /// `cudaMemcpy2D(to, pitch, from, pitch, width, height, kind)`.
    fn copy_of_rows(&mut self, at: usize) {
        let parts = self.list(at + 1);
        let [target, .., kind] = parts.as_slice() else { return };
        match self.text(kind.start) {
            "cudaMemcpyHostToDevice" => self.fill(target),
            "cudaMemcpyDeviceToHost" => {}
            _ => self.leave(at),
        }
    }

    /// `cudaMemcpyToSymbol(name, from, bytes)`.
    fn symbol(&mut self, at: usize) {
        let parts = self.list(at + 1);
        if let [symbol, from, ..] = parts.as_slice()
            && self.found.symbols.len() < MOST_LAUNCHES
        {
            let call = at..self.brackets.after(at + 1).unwrap_or(at + 1);
            self.found.symbols.push((symbol.clone(), from.clone(), call));
        }
    }

    /// Notes a call of which nothing is said but that it is made.
    pub(super) fn leave(&mut self, at: usize) {
        if self.found.untold.len() < MOST_LAUNCHES {
            let call = at..self.brackets.after(at + 1).unwrap_or(at + 1);
            self.found.untold.push(Untold { call, given: None });
        }
    }

    /// Notes that the host fills what a pointer points to.
    pub(super) fn fill(&mut self, target: &Span) {
        if self.found.filling.len() < MOST_FOUND {
            self.found.filling.push(target.clone());
        }
    }

    /// Whether memory of the device is allocated for `pointer` before.
    fn is_allocated(&self, pointer: &str) -> bool {
        let before = self.found.allocating.iter().take(LONGEST).filter(|found| !found.is_of_host);
        let mut names = before.filter_map(|found| {
            found.target.clone().rev().take(LONGEST).find(|at| self.is_word(*at))
        });
        names.any(|name| self.text(name) == pointer)
    }

    fn copy_on_device(&mut self, at: usize, target: &Span, source: &Span, bytes: &Span) {
        let what = Transferred::From(self.pointer_alone(source));
        self.transfer(at, target, what, bytes);
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
        let inner = without_casts(&self.found.code, span.clone());
        self.found.word(&inner).filter(|_| self.is_word(inner.start))
    }
}
