//! The parts of host code that name memory: all of it, its address, or an element.

use super::Reader;
use crate::scene::draft::code::{LONGEST, Span, variables::Id};

/// Brackets around one operand that are looked through.
const DEEPEST: usize = 32;
/// So many tokens stand before a name in its declaration.
pub(in crate::scene::draft) const LONGEST_TYPE: usize = 40;

/// A part of the code that names memory.
pub(in crate::scene::draft) struct Operand {
    pub(in crate::scene::draft) span: Span,
    pub(in crate::scene::draft) what: Named,
}

/// What an operand is.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::scene::draft) enum Named {
    /// All of it, by its name or the address of its first element.
    All,
    /// The address of some part of it, or of the pointer.
    Address,
    Element,
}

impl<'s> Reader<'_, 's> {
    /// The operand that is named at `at`: with its subscripts, its fields, and what makes an address of it.
    pub(in crate::scene::draft) fn operand(&self, id: Id, at: usize, is_method: bool) -> Operand {
        let (mut end, mut indices, mut is_first) = (at + 1, 0, true);
        let mut what = Named::All;
        if is_method {
            end = self.brackets.after(at + 3).unwrap_or(at + 4);
            if matches!(self.text(at + 2), "front" | "back" | "at") {
                (what, indices) = (Named::Element, 1);
                is_first = self.text(at + 2) == "front";
            }
        }
        loop {
            let (sign, next) = (self.text(end), self.text(end + 1));
            let field = match (sign, next) {
                (".", _) => end + 1,
                ("-", ">") => end + 2,
                ("[", _) => {
                    is_first &= next == "0" && self.text(end + 2) == "]";
                    indices += 1;
                    end = self.brackets.after(end).unwrap_or(end + 1);
                    continue;
                }
                _ => break,
            };
            if !self.is_word(field) {
                break;
            }
            (end, what, indices) = (field + 1, Named::Element, LONGEST);
        }
        if indices >= self.depth_of(id) {
            what = Named::Element;
        } else if indices > 0 {
            what = Named::Address;
        }
        let mut span = at..end;
        for _ in 0..DEEPEST {
            let before = self.before(span.start);
            let is_prefix = span.start >= 2 && !self.ends_operand(span.start - 2);
            match before {
                "&" if is_prefix => {
                    let is_all = what == Named::Element && is_first && indices < LONGEST;
                    what = if is_all { Named::All } else { Named::Address };
                    span.start -= 1;
                }
                "*" if is_prefix || self.is_cast_before(span.start - 1) => {
                    what = Named::Element;
                    span.start -= 1;
                }
                // `*(name + i)`
                "(" if matches!(self.text(span.end), "+" | "-")
                    && what == Named::All
                    && span.start >= 2
                    && self.text(span.start - 2) == "*" =>
                {
                    let Some(after) = self.brackets.after(span.start - 1) else { break };
                    (span, what) = (span.start - 1..after, Named::Address);
                }
                "(" if self.text(span.end) == ")" && !self.is_called(span.start - 1) => {
                    let end = self.behind_parts(span.end + 1);
                    if end > span.end + 1 {
                        what = Named::Element;
                    }
                    span = span.start - 1..end;
                }
                ")" if self.is_cast_before(span.start) => {
                    span.start = self.opened(span.start - 1).unwrap_or(span.start);
                }
                _ => break,
            }
        }
        Operand { span, what }
    }

    /// Behind the subscripts and fields that stand at `at`.
    fn behind_parts(&self, mut at: usize) -> usize {
        for _ in 0..DEEPEST {
            let field = match (self.text(at), self.text(at + 1)) {
                ("[", _) => {
                    at = self.brackets.after(at).unwrap_or(at + 1);
                    continue;
                }
                (".", _) => at + 1,
                ("-", ">") => at + 2,
                _ => break,
            };
            if !self.is_word(field) {
                break;
            }
            at = field + 1;
        }
        at
    }

    /// How many subscripts lead to an element: those of the declaration, where it says so.
    pub(in crate::scene::draft) fn depth_of(&self, id: Id) -> usize {
        let variable = self.found.variables.get(id);
        let name = match &variable.parameter {
            Some((list, _)) => list.clone().find(|at| self.text(*at) == variable.name),
            None => Some(variable.at),
        };
        let Some(name) = name else { return 1 };
        let near = (name.saturating_sub(LONGEST_TYPE)..name).rev();
        let near = near.take_while(|at| !matches!(self.text(*at), ";" | "{" | "}" | "(" | ","));
        let is_level = |at: &usize| matches!(self.text(*at), "*" | "vector" | "array");
        let (mut depth, mut end) = (near.clone().filter(is_level).count(), name + 1);
        while self.text(end) == "[" {
            depth += 1;
            end = self.brackets.after(end).unwrap_or(end + 1);
        }
        // A reference to an element is one itself.
        let is_element = variable.declared.is_reference && variable.parameter.is_none();
        if is_element { depth } else { depth.max(1) }
    }

    /// Whether an operand ends at `at`, behind which `&` and `*` have two.
    pub(in crate::scene::draft) fn ends_operand(&self, at: usize) -> bool {
        let Some(token) = self.found.code.get(at) else { return false };
        match token.text {
            ")" => {
                // Behind a condition a statement begins.
                let before = self.opened(at).and_then(|open| open.checked_sub(1));
                !before.is_some_and(|at| matches!(self.text(at), "if" | "for" | "while" | "switch"))
            }
            "]" => true,
            "return" | "else" | "do" | "case" | "sizeof" => false,
            text => token.is_word() || text.starts_with(|c: char| c.is_ascii_digit()),
        }
    }

    /// Whether `(float *)` ends before `at`.
    fn is_cast_before(&self, at: usize) -> bool {
        let Some(close) = at.checked_sub(1).filter(|close| self.text(*close) == ")") else {
            return false;
        };
        let Some(open) = self.opened(close).filter(|open| !self.is_called(*open)) else {
            return false;
        };
        let inner: Vec<&str> = (open + 1..close).map(|at| self.text(at)).collect();
        let is_type = |at: usize| self.is_word(at) || matches!(self.text(at), "*" | "::");
        !inner.is_empty()
            && (open + 1..close).all(is_type)
            && (inner.last() == Some(&"*") || self.found.named_type(&inner).is_some())
    }

    /// Whether something is called with the parentheses that open at `open`, or a statement is made of them.
    fn is_called(&self, open: usize) -> bool {
        let Some(before) = open.checked_sub(1) else { return false };
        let is_name = self.is_word(before) && self.text(before) != "return";
        is_name || matches!(self.text(before), ")" | "]" | "}" | ">")
    }

    /// The part between commas, brackets and `=` that an operand lies in.
    pub(in crate::scene::draft) fn part_around(&self, span: &Span) -> (usize, usize) {
        let mut start = span.start;
        let first = start.saturating_sub(LONGEST_TYPE);
        while start > first {
            match self.before(start) {
                "(" | "[" | "{" | "," | ";" | "=" | "return" | "}" | ":" | "?" => break,
                ")" | "]" => match self.opened(start - 1) {
                    Some(open) => start = open,
                    None => break,
                },
                _ => start -= 1,
            }
        }
        (start, self.expression(span.end).end)
    }

    /// Where the name stands of what is called with the parentheses that open at `open`; the first `<` of a launch.
    pub(in crate::scene::draft) fn callee(&self, open: usize) -> Option<usize> {
        let before = open.checked_sub(1)?;
        if self.is_word(before) {
            return Some(before);
        }
        if self.text(before) != ">" {
            return None;
        }
        let (mut depth, first) = (0_usize, before.saturating_sub(LONGEST));
        for at in (first..=before).rev() {
            match self.text(at) {
                ">" => depth += 1,
                "<" => depth = depth.checked_sub(1)?,
                ";" | "{" | "}" => return None,
                _ => {}
            }
            if depth == 0 {
                let is_launch = self.text(before.checked_sub(1)?) == ">" && self.is_launch(at);
                return if is_launch { Some(at) } else { at.checked_sub(1) };
            }
        }
        None
    }
}
