//! Where host code changes something: each operator that assigns, and what its operand is.

use super::Span;
use crate::{
    cuda::lexer::{Token, Tokens},
    scene::operator::Operator,
};

/// So many tokens of an operand, or of a statement before it, are looked at.
const MOST_LOOKED_AT: usize = 200;

/// What an operator changes.
pub(in crate::scene::draft) struct Target {
    /// Where the variable's name stands.
    pub(in crate::scene::draft) name: usize,
    /// The fields of it that are named, `x` of `grid.x`.
    pub(in crate::scene::draft) path: String,
    pub(in crate::scene::draft) reach: Reach,
    /// Where the operand begins.
    pub(in crate::scene::draft) start: usize,
}

/// How much of what is named is changed.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::scene::draft) enum Reach {
    All,
    /// An element of it.
    Part,
    /// It, or something else that the operand names.
    Perhaps,
}

/// What the operator does.
pub(in crate::scene::draft) enum Does {
    Sets,
    Combines(Operator),
    Counts(i128),
}

/// An operator that assigns.
pub(in crate::scene::draft) struct Change {
    pub(in crate::scene::draft) targets: Vec<Target>,
    pub(in crate::scene::draft) does: Does,
    /// Where the other operand begins, where there is one.
    pub(in crate::scene::draft) value: usize,
}

/// The operator that assigns and begins at `at`, if one does.
pub(in crate::scene::draft) fn change_at(tokens: &[Token<'_>], at: usize) -> Option<Change> {
    let code = Code { tokens };
    let own = code.tokens.text_at(at);
    let is_next =
        |at: usize, wanted: &str| code.is_joined(at) && code.tokens.text_at(at + 1) == wanted;
    let assigns = |does, value| {
        let mut targets = code.targets_before(at, 0);
        // What lies at an address is no variable that is known here.
        targets.retain(|target| target.start == 0 || code.tokens.text_at(target.start - 1) != "*");
        Some(Change { targets, does, value })
    };
    match own {
        "=" => {
            let is_end = at.checked_sub(1).is_some_and(|before| {
                code.is_joined(before) && "=!<>+-*/%&|^".contains(code.tokens.text_at(before))
            });
            if is_end || is_next(at, "=") { None } else { assigns(Does::Sets, at + 1) }
        }
        "+" | "-" if is_next(at, own) && code.begins_operator(at) => {
            // Before a name it stands for what follows: nothing else is written between two operands.
            let is_before =
                code.tokens.is_word_at(at + 2) || matches!(code.tokens.text_at(at + 2), "(" | "::");
            let targets =
                if is_before { code.targets_after(at + 2) } else { code.targets_before(at, 0) };
            let does = Does::Counts(if own == "+" { 1 } else { -1 });
            Some(Change { targets, does, value: at })
        }
        "<" | ">" if is_next(at, own) && is_next(at + 1, "=") => {
            assigns(Does::Combines(operator_of(own)?), at + 3)
        }
        "<" | ">" => None,
        _ if is_next(at, "=") => assigns(Does::Combines(operator_of(own)?), at + 2),
        _ => None,
    }
}

/// What an operand names that is all of `span`; `None` where that is no variable, and no part of one.
pub(in crate::scene::draft) fn target_of(tokens: &[Token<'_>], span: &Span) -> Option<Target> {
    let mut found = Code { tokens }.targets_before(span.end, 0);
    found.pop().filter(|target| found.is_empty() && target.start == span.start)
}

/// What is named behind `&`.
pub(in crate::scene::draft) fn targets_of_address(tokens: &[Token<'_>], at: usize) -> Vec<Target> {
    Code { tokens }.targets_after(at)
}

/// Whether what stands at `at` is not done whenever its statement is: behind `?`, `&&` or `||`.
pub(in crate::scene::draft) fn is_perhaps(tokens: &[Token<'_>], at: usize) -> bool {
    let code = Code { tokens };
    let first = at.saturating_sub(MOST_LOOKED_AT);
    let mut depth = 0_usize;
    for before in (first..at).rev() {
        match code.tokens.text_at(before) {
            ")" | "]" => depth += 1,
            "(" | "[" => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            ";" | "{" | "}" => return false,
            "?" => return true,
            sign @ ("&" | "|")
                if code.is_joined(before) && code.tokens.text_at(before + 1) == sign =>
            {
                return true;
            }
            _ => {}
        }
    }
    first > 0
}

/// What tokens say that stand behind one another.
struct Code<'t, 's> {
    tokens: &'t [Token<'s>],
}

impl<'s> Code<'_, 's> {
    /// Whether nothing lies between a token and the next one, with which it may be one operator.
    fn is_joined(&self, at: usize) -> bool {
        let ends = self.tokens.get(at).map(|own| own.offset + own.text.len());
        ends.is_some_and(|end| self.tokens.get(at + 1).is_some_and(|next| next.offset == end))
    }

    /// Whether an operator of two such signs begins with this one: in `a+++b` it is the first.
    fn begins_operator(&self, at: usize) -> bool {
        let own = self.tokens.text_at(at);
        let joined =
            |before: &usize| self.tokens.text_at(*before) == own && self.is_joined(*before);
        // No code has more of them in a row.
        (0..at).rev().take(MOST_LOOKED_AT).take_while(joined).count() % 2 == 0
    }

    /// What the operand names that ends before `end`.
    fn targets_before(&self, end: usize, depth: usize) -> Vec<Target> {
        let (mut path, mut reach) = (Vec::new(), Reach::All);
        let Some(mut at) = end.checked_sub(1).filter(|_| depth < MOST_LOOKED_AT) else {
            return Vec::new();
        };
        loop {
            let before = |by: usize| at.checked_sub(by).map_or("", |at| self.tokens.text_at(at));
            match self.tokens.text_at(at) {
                "]" => {
                    // Of which of its fields is one of another element.
                    path.clear();
                    reach = Reach::Part;
                    let Some(next) = self.opened(at).and_then(|open| open.checked_sub(1)) else {
                        return Vec::new();
                    };
                    at = next;
                }
                ")" => return self.in_parentheses(at, &path, reach, depth),
                name if self.tokens.is_word_at(at) => {
                    if before(1) == "." && at >= 2 {
                        path.push(name);
                        at -= 2;
                        continue;
                    }
                    if (before(2), before(1)) == ("-", ">") {
                        return Vec::new();
                    }
                    path.reverse();
                    return vec![Target { name: at, path: path.join("."), reach, start: at }];
                }
                _ => return Vec::new(),
            }
        }
    }

    /// The same of `(name)`, where the parenthesis at `close` closes; the fields of it that are named stand in `path`.
    fn in_parentheses(
        &self,
        close: usize,
        path: &[&str],
        reach: Reach,
        depth: usize,
    ) -> Vec<Target> {
        let Some(open) = self.opened(close) else { return Vec::new() };
        let is_call = open.checked_sub(1).is_some_and(|before| {
            self.tokens.is_word_at(before)
                && !matches!(self.tokens.text_at(before), "return" | "else" | "do")
        });
        // What lies at an address is no variable that is known here.
        let is_behind =
            open.checked_sub(1).is_some_and(|before| self.tokens.text_at(before) == "*");
        if is_call || is_behind || self.tokens.text_at(open + 1) == "*" {
            return Vec::new();
        }
        let mut inner = self.targets_before(close, depth + 1);
        if let [target] = inner.as_mut_slice()
            && target.start == open + 1
        {
            let own = path.iter().rev().copied();
            let names = target.path.split('.').filter(|name| !name.is_empty()).chain(own);
            target.path = names.collect::<Vec<_>>().join(".");
            target.start = open;
            if reach != Reach::All {
                target.reach = reach;
            }
            return inner;
        }
        self.words(open + 1..close)
    }

    /// What the operand names that begins at `at`.
    fn targets_after(&self, at: usize) -> Vec<Target> {
        if self.tokens.text_at(at) == "(" {
            let end = self.tokens.len().min(at + MOST_LOOKED_AT);
            let close = (at..end).find(|at| self.tokens.text_at(*at) == ")");
            return close.map_or_else(Vec::new, |close| match close - at {
                2 => self.targets_after(at + 1),
                _ => self.words(at + 1..close),
            });
        }
        let mut name = if self.tokens.text_at(at) == "::" { at + 1 } else { at };
        while self.tokens.text_at(name + 1) == "::" {
            name += 2;
        }
        let (mut path, mut end, mut reach) = (Vec::new(), name + 1, Reach::All);
        while self.tokens.text_at(end) == "." && self.tokens.is_word_at(end + 1) {
            path.push(self.tokens.text_at(end + 1));
            end += 2;
        }
        match (self.tokens.text_at(end), self.tokens.text_at(end + 1)) {
            ("-", ">") => return Vec::new(),
            ("[", _) => {
                path.clear();
                reach = Reach::Part;
            }
            _ => {}
        }
        let target = Target { name, path: path.join("."), reach, start: at };
        if self.tokens.is_word_at(name) { vec![target] } else { Vec::new() }
    }

    /// Each word of a part, any of which may be what is changed.
    fn words(&self, part: Span) -> Vec<Target> {
        let named =
            |at: usize| Target { name: at, path: String::new(), reach: Reach::Perhaps, start: at };
        part.filter(|at| self.tokens.is_word_at(*at)).map(named).collect()
    }

    /// Where the bracket opens that closes at `close`.
    fn opened(&self, close: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in (close.saturating_sub(MOST_LOOKED_AT)..=close).rev() {
            match self.tokens.text_at(at) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }
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
