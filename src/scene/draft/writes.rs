//! Where host code writes numbers into memory of its own, or of the device by a library: element by element, all of it
//! at once, as a list.

use std::collections::BTreeSet;

use super::{
    host::{Host, LONGEST, Span},
    pointers::without_casts,
    regions::Kind as RegionKind,
    variables::{Id, Value},
};
use crate::cuda::{brackets::Brackets, lexer::Kind};

/// So many writes are told.
const MOST_WRITES: usize = 10_000;
/// So many tokens stand before the parameters of a function.
const LONGEST_HEAD: usize = 60;
/// So many tokens of a function without a name are looked at for what it returns.
const LONGEST_LAMBDA: usize = 200;

/// A statement that writes to the elements of something.
pub(super) struct Write<'s> {
    /// Where the name stands of what is written to.
    pub(super) at: usize,
    pub(super) what: Written<'s>,
}

/// What is written.
pub(super) enum Written<'s> {
    /// `name[i].field = value`, `name[y][x] = value`.
    Element { index: Vec<Span>, fields: Vec<&'s str>, value: Span },
    /// The same number to each element; zeros without one.
    All(Option<Span>),
    /// Numbers that begin with this one, each one more than that before.
    Counted(Span),
    /// What an expression is each time, whose element is not said.
    Drawn(Span),
    /// All elements.
    List(Vec<Span>),
    /// Random numbers from the first to the second.
    Between([i32; 2]),
    /// Whatever a file or a library has.
    Unknown,
    /// The same, where nothing else is written: a function is given it that is not known.
    Perhaps,
}

impl<'s> Host<'s> {
    /// All of them, in the order of the text, but for those of kernels.
    pub(super) fn writes(&self, brackets: &Brackets) -> Vec<Write<'s>> {
        let finder = Finder { host: self, brackets };
        let of_device = self.functions_of_device();
        let mut found = Vec::new();
        for at in 0..self.code.len() {
            if self.regions.function(at).is_some_and(|function| of_device.contains(&function)) {
                continue;
            }
            let of_place = match self.text_at(at) {
                "[" => finder.element(at),
                "*" => finder.behind_pointer(at),
                "." => finder.method(at),
                ":" => finder.range(at),
                "(" => finder.call(at),
                _ => None,
            };
            found.extend(of_place);
            found.extend(finder.declared(at));
            if found.len() >= MOST_WRITES || self.look(1).is_none() {
                break;
            }
        }
        found
    }
}

impl Host<'_> {
    /// The regions of the functions that run on the device.
    fn functions_of_device(&self) -> BTreeSet<usize> {
        let is_of_device = |start: usize| {
            let before = self.code[..start].iter().rev().take(LONGEST_HEAD);
            let mut words = before.take_while(|token| !matches!(token.text, ";" | "}" | "{"));
            words.any(|token| matches!(token.text, "__global__" | "__device__"))
        };
        let functions = self.regions.iter().filter(|(_, region)| {
            matches!(region.kind, RegionKind::Function { .. }) && is_of_device(region.span.start)
        });
        functions.map(|(place, _)| place).collect()
    }
}

struct Finder<'h, 's> {
    host: &'h Host<'s>,
    brackets: &'h Brackets,
}

impl<'s> Finder<'_, 's> {
    fn text(&self, at: usize) -> &'s str {
        self.host.text_at(at)
    }

    fn is_word(&self, at: usize) -> bool {
        self.host.code.get(at).is_some_and(|token| token.kind == Kind::Word)
    }

    /// The variable that the name at a place means.
    fn variable(&self, at: usize) -> Option<Id> {
        self.host.visible(self.text(at), at).filter(|_| self.is_word(at))
    }

    /// What is set behind `at`, where that is an `=`: what stands behind the last of several.
    fn set_behind(&self, at: usize) -> Option<Span> {
        if self.text(at) != "=" || self.text(at + 1) == "=" {
            return None;
        }
        let (mut start, mut end) = (at + 1, at + 1);
        while end - at < LONGEST {
            match self.text(end) {
                "," | ";" | ")" | "]" | "}" | "" => break,
                "(" | "[" | "{" => end = self.brackets.after(end)?,
                "=" if self.is_assignment(end) => {
                    end += 1;
                    start = end;
                }
                _ => end += 1,
            }
        }
        (start < end).then_some(start..end)
    }

    fn is_assignment(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or("", |before| self.text(before));
        self.text(at + 1) != "=" && !matches!(before, "=" | "<" | ">" | "!" | "+" | "-" | "*" | "/")
    }

    /// `name[i]` at the bracket `at`.
    fn element(&self, at: usize) -> Option<Write<'s>> {
        let name = at.checked_sub(1)?;
        self.variable(name)?;
        let before = name.checked_sub(1)?;
        if self.text(before) == ">" && self.text(before - 1) == ">" {
            return Some(Write { at: name, what: Written::Unknown });
        }
        // What stands behind a type is declared, and a member of something else is not known.
        let is_of_type = self.is_word(before) && !matches!(self.text(before), "else" | "do");
        if is_of_type || matches!(self.text(before), "." | ">" | "*" | "&") {
            return None;
        }
        let (mut end, mut index) = (at, Vec::new());
        while self.text(end) == "[" {
            let after = self.brackets.after(end)?;
            index.push(end + 1..after - 1);
            end = after;
        }
        let mut fields = Vec::new();
        while self.text(end) == "." && self.is_word(end + 1) {
            fields.push(self.text(end + 1));
            end += 2;
        }
        let value = self.set_behind(end)?;
        Some(Write { at: name, what: Written::Element { index, fields, value } })
    }

    /// `*(name + i) = value`, `*name = value`.
    fn behind_pointer(&self, at: usize) -> Option<Write<'s>> {
        let is_first = matches!(self.text(at.checked_sub(1)?), ";" | "{" | "}" | ")");
        let (name, end) = match self.text(at + 1) {
            "(" => (at + 2, self.brackets.after(at + 1)?),
            _ => (at + 1, at + 2),
        };
        let value = self.set_behind(end).filter(|_| is_first)?;
        self.variable(name)?;
        let index = match (self.text(at + 1), self.text(name + 1)) {
            ("(", "+") => Some(name + 2..end - 1),
            ("(", _) => return None,
            _ => None,
        };
        let fields = Vec::new();
        let what = match index {
            Some(index) => Written::Element { index: vec![index], fields, value },
            None => Written::Drawn(value),
        };
        Some(Write { at: name, what })
    }

    /// `name.push_back(value)`, `name.assign(count, value)`.
    fn method(&self, at: usize) -> Option<Write<'s>> {
        let name = at.checked_sub(1)?;
        self.variable(name)?;
        let parts = self.parts_of_call(at + 2)?;
        let what = match (self.text(at + 1), parts.as_slice()) {
            ("push_back" | "emplace_back", [value]) => Written::Drawn(value.clone()),
            ("assign", [_, value]) => Written::All(Some(value.clone())),
            ("fill", [value]) => Written::All(Some(value.clone())),
            _ => return None,
        };
        Some(Write { at: name, what })
    }

    /// `for (auto &x : name) x = value;`, whose colon stands at `at`.
    fn range(&self, at: usize) -> Option<Write<'s>> {
        let (x, name, close) = (at.checked_sub(1)?, at + 1, at + 2);
        if self.text(close) != ")" || !self.is_word(x) || self.text(x.checked_sub(1)?) != "&" {
            return None;
        }
        self.variable(name)?;
        let body = if self.text(close + 1) == "{" { close + 2 } else { close + 1 };
        let value = self.set_behind(body + 1).filter(|_| self.text(body) == self.text(x))?;
        Some(Write { at: name, what: Written::Drawn(value) })
    }

    /// Where a name stands in what a function is given: `name`, `name.begin()`, `&name[0]`, `(void **)name`.
    fn name_in(&self, span: &Span) -> Option<usize> {
        let inner = without_casts(&self.host.code, span.clone());
        inner.take(LONGEST).find(|at| self.variable(*at).is_some())
    }

    fn parts_of_call(&self, open: usize) -> Option<Vec<Span>> {
        let after = self.brackets.after(open).filter(|_| self.text(open) == "(")?;
        let inner = open + 1..after - 1;
        (inner.len() <= LONGEST && !inner.is_empty()).then(|| self.host.parts(inner))
    }

    /// A function of a library that fills what it is given, whose parenthesis opens at `at`.
    fn call(&self, at: usize) -> Option<Write<'s>> {
        let function = self.text(at.checked_sub(1)?);
        let is_known =
            matches!(function, "fill" | "fill_n" | "iota" | "generate" | "generate_n" | "sequence")
                || matches!(
                    function,
                    "memset" | "fread" | "fscanf" | "sscanf" | "read" | "getline"
                )
                || function.starts_with("curandGenerate");
        let parts = self.parts_of_call(at)?;
        if !is_known {
            return self.unknown_call(at - 1, &parts);
        }
        let (place, what) = match (function, parts.as_slice()) {
            ("fill", [first, _, value]) | ("fill_n", [first, _, value]) => {
                (first, Written::All(Some(value.clone())))
            }
            ("iota", [first, _, from]) => (first, Written::Counted(from.clone())),
            ("sequence", [first, _]) => (first, Written::Counted(0..0)),
            ("generate" | "generate_n", [first, _, made]) => (first, self.made(made)),
            // Of other bytes than zeros each type has other numbers.
            ("memset", [first, value, _]) => match self.text(value.start) {
                "0" if value.len() == 1 => (first, Written::All(None)),
                _ => (first, Written::Unknown),
            },
            ("curandGenerateUniform" | "curandGenerateUniformDouble", [_, to, _]) => {
                (to, Written::Between([0, 1]))
            }
            ("curandGenerateNormal" | "curandGenerateNormalDouble", [_, to, ..]) => {
                (to, Written::Between([-3, 3]))
            }
            ("fread", [first, ..]) => (first, Written::Unknown),
            ("fscanf" | "sscanf", [.., last]) => (last, Written::Unknown),
            _ => return None,
        };
        Some(Write { at: self.name_in(place)?, what })
    }

    /// A call of a function that stands elsewhere, which may write to what it is given.
    fn unknown_call(&self, name: usize, parts: &[Span]) -> Option<Write<'s>> {
        let function = self.text(name);
        let is_declared = name.checked_sub(1).is_some_and(|before| self.is_word(before));
        let is_harmless = function.starts_with("cuda")
            || matches!(function, "free" | "printf" | "if" | "while" | "for" | "return" | "sizeof");
        if !self.is_word(name)
            || is_harmless
            || is_declared
            || self.host.functions.named(function).is_some()
        {
            return None;
        }
        let given = parts.iter().find(|part| {
            let id = self.host.base(part).and_then(|name| self.host.visible(name, part.start));
            id.is_some_and(|id| {
                let declared = &self.host.variables.get(id).declared;
                declared.is_indirect || declared.words.contains(&"vector")
            })
        })?;
        Some(Write { at: self.name_in(given)?, what: Written::Perhaps })
    }

    /// What a function, perhaps one without a name, gives each time.
    fn made(&self, of: &Span) -> Written<'s> {
        let within = of.clone().take(LONGEST_LAMBDA);
        let mut returns = within.filter(|at| self.text(*at) == "return");
        let alone = returns.next().filter(|_| returns.next().is_none());
        match (alone, of.len()) {
            (Some(at), _) => {
                let end = (at..of.end).find(|at| self.text(*at) == ";").unwrap_or(at);
                Written::Drawn(at + 1..end)
            }
            // The name of a function, which is called.
            (None, 1) => Written::Drawn(of.clone()),
            (None, _) => Written::Unknown,
        }
    }

    /// What a declaration at `at` begins with: `float name[] = {1, 2}`, `std::vector<float> name(n, 1.0f)`.
    fn declared(&self, at: usize) -> Option<Write<'s>> {
        let id = self.host.visible(self.text(at), at + 1).filter(|_| self.is_word(at))?;
        let variable = self.host.variables.get(id);
        if variable.at != at || variable.parameter.is_some() {
            return None;
        }
        let first = variable.definitions.iter().find(|set| set.at == at)?;
        let Value::List(parts) = &first.value else { return None };
        let is_list = variable.declared.is_indirect;
        let is_vector = variable.declared.words.contains(&"vector");
        let what = match parts.as_slice() {
            [_, value] if is_vector && self.text(at + 1) == "(" => {
                Written::All(Some(value.clone()))
            }
            [_] if is_vector && self.text(at + 1) == "(" => Written::All(None),
            all if is_list || is_vector => Written::List(all.to_vec()),
            _ => return None,
        };
        Some(Write { at, what })
    }
}
