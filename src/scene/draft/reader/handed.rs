//! Variables that host code hands to something. What is not known to read them may set them: what they have from there
//! on is not known.

use super::Reader;
use crate::{
    cuda::{
        Held,
        lexer::{self, Kind, Token},
    },
    scene::draft::{
        code::{
            LONGEST, Span,
            members::MOST_FIELDS,
            operands::{Reach, Target},
            readers::{self, is_rounded_up},
            variables::{Id, Value},
        },
        expression::headers::known,
    },
};

/// Operands that shifts join, at most so many.
const MOST_JOINED: usize = 200;

/// What is done with a variable.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::scene::draft) enum Use {
    Reads,
    /// It may be set there.
    Sets,
    /// It may be set there, and whenever something else is done later.
    Keeps,
}

impl<'s> Reader<'_, 's> {
    /// Looks at what is done with the variable that a word names, where it holds a number or a structure.
    pub(in crate::scene::draft) fn hand(&mut self, at: usize) {
        if self.before(at) == "::" {
            self.keep_namesakes(at);
        }
        let Some(id) = self.held(at) else { return };
        if self.is_given_away(id, at) {
            let declared = self.found.variables.get(id).at;
            self.keep(id, declared);
        }
        let mut end = at + 1;
        let mut path = Vec::new();
        while self.text(end) == "." && self.is_word(end + 1) {
            path.push(self.text(end + 1));
            end += 2;
        }
        if matches!(self.text(end), "[" | "(") || (self.text(end), self.text(end + 1)) == ("-", ">")
        {
            return;
        }
        let found = self.use_of_operand(at..end);
        if found == Use::Reads {
            return;
        }
        let target = Target { name: at, path: path.join("."), reach: Reach::All, start: at };
        self.set_target(&target, Value::Unknown, at);
        if found == Use::Keeps {
            self.keep(id, at);
        }
    }

    /// The variable that a word names, where that has a value of its own which may be set.
    pub(in crate::scene::draft) fn held(&self, at: usize) -> Option<Id> {
        let is_member = matches!(self.before(at), "." | "::") || self.is_behind_arrow(at);
        let id = self.visible(self.text(at), at).filter(|_| self.is_word(at) && !is_member)?;
        let variable = self.found.variables.get(id);
        let declared = &variable.declared;
        let is_value = |word: &&str| {
            self.found.named_type(&[*word]).is_some()
                || matches!(*word, "auto" | "dim3" | "unsigned" | "signed" | "long" | "short")
                || self.takers.is_structure(word)
        };
        let is_held = !declared.is_indirect && declared.words.iter().any(is_value);
        (is_held && !self.is_constant(id)).then_some(id)
    }

    pub(in crate::scene::draft) fn is_behind_arrow(&self, at: usize) -> bool {
        at >= 2 && (self.text(at - 2), self.text(at - 1)) == ("-", ">")
    }

    /// What is done with the operand that is this part of the code.
    pub(in crate::scene::draft) fn use_of_operand(&self, mut operand: Span) -> Use {
        let mut around = self.open.iter().rev();
        let mut open = around.next().copied();
        // `((n))` is `n`.
        while let Some((place, after)) = open
            && self.text(place) == "("
            && place + 1 == operand.start
            && operand.end + 1 == after
            && !self.is_taker(place)
        {
            operand = place..after;
            open = around.next().copied();
        }
        if self.is_operand_of_stream(&operand) || self.is_operand_of_own(&operand) {
            return Use::Sets;
        }
        let is_alone = matches!(self.before(operand.start), "(" | "," | "{" | "?" | ":")
            && matches!(self.text(operand.end), ")" | "," | "}" | ":");
        match open {
            Some((open, _)) if is_alone => self.use_in(open, operand.start),
            Some(_) | None => Use::Reads,
        }
    }

    /// Whether the parentheses that open at `open` hold what something is given.
    fn is_taker(&self, open: usize) -> bool {
        let Some(before) = open.checked_sub(1) else { return false };
        let is_name = self.is_word(before) && !readers::is_reading_keyword(self.text(before));
        is_name || matches!(self.text(before), ")" | "]" | "}" | ">") || self.is_text(before)
    }

    fn is_text(&self, at: usize) -> bool {
        self.found.code.get(at).is_some_and(|token| token.kind == Kind::Quoted)
    }

    /// Whether it is read from a stream: `in >> n`, or what else no number stands before; or from an archive, `ar & n`.
    fn is_operand_of_stream(&self, operand: &Span) -> bool {
        let start = operand.start;
        let [sign, before] = [1, 2].map(|by| start.checked_sub(by).map_or("", |at| self.text(at)));
        match (before, sign) {
            (">", ">") => !self.is_number_before(start - 2),
            ("&", "&") => false,
            (_, "&") => {
                let id = start.checked_sub(2).and_then(|at| self.visible(self.text(at), at));
                id.is_some_and(|id| {
                    let declared = &self.found.variables.get(id).declared;
                    !declared.is_indirect
                        && self.found.named_type(&declared.words).is_none()
                        && !declared.words.contains(&"auto")
                }) && start
                    .checked_sub(3)
                    .is_some_and(|at| matches!(self.text(at), ";" | "{" | "}"))
            }
            _ => false,
        }
    }

    /// Whether an operator of the file's own takes it that takes numbers by reference.
    fn is_operand_of_own(&self, operand: &Span) -> bool {
        let joined = |part: Span| part.map(|at| self.text(at)).collect::<String>();
        self.takers.operators.iter().any(|sign| {
            let before = operand.start.saturating_sub(sign.len())..operand.start;
            joined(before) == *sign || joined(operand.end..operand.end + sign.len()) == *sign
        })
    }

    /// Whether what ends before `end` is for sure a number, which `>>` shifts.
    fn is_number_before(&self, mut end: usize) -> bool {
        for _ in 0..MOST_JOINED {
            let Some(last) = end.checked_sub(1) else { return false };
            if self.text(last).starts_with(|c: char| c.is_ascii_digit()) {
                return true;
            }
            let start = match self.text(last) {
                ")" | "]" => {
                    let Some(open) = self.opened(last) else { return false };
                    return match self.text(open) {
                        "[" => open >= 1 && self.is_number_named(open - 1),
                        _ => self.is_number_in(open, last),
                    };
                }
                _ if !self.is_word(last) => return false,
                _ if self.before(last) == "." && last >= 2 => {
                    return self.is_number_field(last - 2, self.text(last));
                }
                _ => last,
            };
            if start >= 2 && (self.text(start - 2), self.text(start - 1)) == (">", ">") {
                end = start - 2;
                continue;
            }
            return self.is_number_named(start);
        }
        false
    }

    fn is_number_named(&self, at: usize) -> bool {
        let is_number =
            |id: Id| self.found.named_type(&self.found.variables.get(id).declared.words).is_some();
        match self.visible(self.text(at), at) {
            Some(id) => is_number(id),
            None => {
                self.found.macros.texts(self.text(at)).is_some() || known(self.text(at)).is_some()
            }
        }
    }

    fn is_number_field(&self, of: usize, field: &str) -> bool {
        let Some(id) = self.visible(self.text(of), of) else {
            return matches!(field, "x" | "y" | "z");
        };
        let words = &self.found.variables.get(id).declared.words;
        let is_it = |word: &&str| {
            let members = self.found.structures.members(word, MOST_FIELDS).unwrap_or_default();
            members.iter().any(|own| own.path == field && matches!(own.held, Held::Element(_)))
        };
        words.contains(&"dim3") || words.iter().any(is_it)
    }

    /// Whether what stands in parentheses, or the call that they belong to, is a number.
    fn is_number_in(&self, open: usize, close: usize) -> bool {
        let name = open.checked_sub(1).filter(|at| self.is_word(*at));
        if let Some(name) = name.filter(|name| !readers::is_reading_keyword(self.text(*name))) {
            let name = self.text(name);
            let is_known = matches!(self.found.functions.named(name), Some(Some(_)));
            return is_known
                || self.found.named_type(&[name]).is_some()
                || readers::reads(name, false) && name != "getline";
        }
        let is_shift = |at: usize| (self.text(at), self.text(at + 1)) == (">", ">");
        let inside = || (open + 1..close).take(LONGEST);
        let is_number = |at: usize| {
            self.text(at).starts_with(|c: char| c.is_ascii_digit())
                || self.is_word(at) && self.is_number_named(at)
        };
        !inside().any(is_shift) && inside().any(is_number)
    }

    /// Where the bracket opens that closes at `close`.
    pub(in crate::scene::draft) fn opened(&self, close: usize) -> Option<usize> {
        let near = (close.saturating_sub(LONGEST)..close).rev();
        near.into_iter().find(|at| self.brackets.after(*at) == Some(close + 1))
    }

    /// What is done with what stands alone between the brackets that open at `open`, at `at`.
    fn use_in(&self, open: usize, at: usize) -> Use {
        let Some(before) = open.checked_sub(1) else { return Use::Reads };
        match self.text(open) {
            "{" => self.use_in_list(open, before, at),
            "(" => self.use_in_call(open, before, at),
            _ => Use::Reads,
        }
    }

    fn use_in_list(&self, open: usize, before: usize, at: usize) -> Use {
        let of_any = if self.takers.any_refers() { Use::Keeps } else { Use::Reads };
        match self.text(before) {
            "=" => {
                let mut name = before.checked_sub(1);
                while let Some(close) = name.filter(|at| self.text(*at) == "]") {
                    name = self.opened(close).and_then(|open| open.checked_sub(1));
                }
                let id = name.and_then(|name| self.visible(self.text(name), open));
                id.map_or(of_any, |id| self.use_by_variable(id, open, at))
            }
            "(" | "," | "{" | "return" | "]" => of_any,
            ">" => self.use_by_template(open, before, at),
            _ if !self.is_word(before) || readers::is_reading_keyword(self.text(before)) => {
                Use::Reads
            }
            _ => match self.visible(self.text(before), open) {
                Some(id) => self.use_by_variable(id, open, at),
                None => self.use_by_type(self.text(before), open, at),
            },
        }
    }

    fn use_in_call(&self, open: usize, before: usize, at: usize) -> Use {
        match self.text(before) {
            ")" => self.use_behind_parentheses(before),
            // A table of functions; a lambda that is called at once.
            "]" | "}" => Use::Sets,
            ">" => self.use_by_template(open, before, at),
            // `asm("..." : "=r"(n))`
            _ if self.is_text(before) => Use::Sets,
            _ if self.is_word(before) => self.use_by_name(before, open, at),
            _ => Use::Reads,
        }
    }

    /// `(float)(n)`, and what else parentheses before parentheses are: a call of a pointer to a function.
    fn use_behind_parentheses(&self, close: usize) -> Use {
        let Some(open) = self.opened(close) else { return Use::Sets };
        let inner: Vec<&str> = (open + 1..close).map(|at| self.text(at)).collect();
        if open.checked_sub(1).is_some_and(|at| readers::is_reading_keyword(self.text(at))) {
            return Use::Reads;
        }
        if inner.contains(&"&") {
            return Use::Keeps;
        }
        let words: Vec<&str> =
            inner.into_iter().filter(|text| !matches!(*text, "const" | "std" | "::")).collect();
        match self.found.named_type(&words) {
            Some(_) => Use::Reads,
            None => Use::Sets,
        }
    }

    /// Behind `name<...>`, or the `>` of a comparison, or of a launch.
    fn use_by_template(&self, open: usize, close: usize, at: usize) -> Use {
        if close >= 2 && (self.text(close - 1), self.text(close - 2)) == (">", ">") {
            return Use::Reads;
        }
        let (mut depth, mut place) = (0_usize, close);
        for _ in 0..LONGEST / 10 {
            match self.text(place) {
                ">" => depth += 1,
                "<" => depth -= 1,
                ";" | "{" | "}" | "" => return Use::Reads,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            let Some(before) = place.checked_sub(1) else { return Use::Reads };
            place = before;
        }
        let Some(name) = place.checked_sub(1).filter(|at| depth == 0 && self.is_word(*at)) else {
            return Use::Reads;
        };
        let is_cast = self.text(name).ends_with("_cast");
        match (place..close).any(|at| self.text(at) == "&") {
            true => Use::Keeps,
            false if is_cast => Use::Reads,
            false => self.use_by_name(name, open, at),
        }
    }

    fn use_by_name(&self, name: usize, open: usize, at: usize) -> Use {
        let (word, index) = (self.text(name), self.index_in(open, at));
        let is_method = self.before(name) == "." || self.is_behind_arrow(name);
        // What those two do is seen where they stand.
        let is_seen = matches!(word, "swap" | "exchange");
        if is_seen || readers::is_reading_keyword(word) || self.found.named_type(&[word]).is_some()
        {
            return Use::Reads;
        }
        if let Some(id) = self.visible(word, open).filter(|_| !is_method) {
            return match self.takers.sets(word, index) {
                _ if self.found.variables.get(id).at == name => self.use_by_variable(id, open, at),
                Some(false) => Use::Reads,
                Some(true) => Use::Sets,
                None => Use::Keeps,
            };
        }
        if self.takers.is_structure(word) || readers::is_of_values(word) {
            return self.use_by_type(word, open, at);
        }
        match self.takers.sets(word, index) {
            Some(false) => return Use::Reads,
            // What that sets is seen where it is called.
            Some(true) if self.is_seen_by_reference(name, open) => return Use::Reads,
            Some(true) => return Use::Sets,
            None => {}
        }
        let is_read = match self.found.macros.texts(word) {
            Some(mut texts) => !texts.any(|text| self.may_set(text)),
            None => readers::reads(word, is_method) || is_rounded_up(word),
        };
        if is_read { Use::Reads } else { Use::Sets }
    }

    /// Whether the text of a macro may set its arguments in a way that is not seen as an operator that assigns.
    fn may_set(&self, text: &'s str) -> bool {
        let sets = |token: Token<'s>| self.takers.sets(token.text, None) == Some(true);
        text.contains(">>") || lexer::code(text).take(LONGEST).any(sets)
    }

    fn is_seen_by_reference(&self, name: usize, open: usize) -> bool {
        let word = self.text(name);
        name + 1 == open
            && self.by_reference.contains_key(word)
            && self.found.functions.named(word).is_some()
    }

    /// What is done with what a variable is made of.
    fn use_by_variable(&self, id: Id, open: usize, at: usize) -> Use {
        let variable = self.found.variables.get(id);
        let is_declared = variable.at < open && open - variable.at < LONGEST;
        let near = (variable.at.saturating_sub(MOST_JOINED)..variable.at).rev();
        let mut ty = near.take_while(|at| !matches!(self.text(*at), ";" | "{" | "}" | "("));
        if is_declared && ty.any(|at| self.text(at) == "&") {
            return Use::Keeps;
        }
        let words = &variable.declared.words;
        match words.iter().rev().find(|word| !matches!(**word, "const" | "static" | "constexpr")) {
            Some(word) => self.use_by_type(word, open, at),
            None => Use::Reads,
        }
    }

    fn use_by_type(&self, word: &str, open: usize, at: usize) -> Use {
        if self.takers.refers(word) {
            return Use::Keeps;
        }
        match self.takers.sets(word, self.index_in(open, at)) {
            Some(true) => Use::Keeps,
            Some(false) => Use::Reads,
            None => {
                let is_read = self.takers.is_structure(word)
                    || self.found.named_type(&[word]).is_some()
                    || readers::is_of_values(word)
                    || matches!(word, "auto" | "unsigned" | "long" | "short" | "signed" | "void");
                if is_read { Use::Reads } else { Use::Keeps }
            }
        }
    }

    /// Which of those in a list the part at `at` is; `None` where a template may have commas in it.
    pub(in crate::scene::draft) fn index_in(&self, open: usize, at: usize) -> Option<usize> {
        let (mut index, mut place) = (0, open + 1);
        while place < at {
            place = match self.text(place) {
                "<" => return None,
                "(" | "[" | "{" => {
                    // It lies in parentheses of its own.
                    self.brackets.after(place).filter(|after| *after <= at).unwrap_or(place + 1)
                }
                text => {
                    index += usize::from(text == ",");
                    place + 1
                }
            };
        }
        Some(index)
    }

    /// `decltype(auto) name = (other);`, `auto &[a, b] = other;`: other names for what is named there.
    pub(in crate::scene::draft) fn other_names(&mut self, at: usize) {
        let is_deduced = self.text(at) == "decltype" && self.text(at + 2) == "auto";
        let is_bound = self.text(at) == "[" && self.before(at) == "&" && !self.is_word(at + 2);
        if !is_deduced && !is_bound {
            return;
        }
        let equals = (at..at + MOST_JOINED).find(|at| matches!(self.text(*at), "=" | ";" | ""));
        if let Some(equals) = equals.filter(|at| self.text(*at) == "=") {
            self.keep_all(&self.expression(equals + 1));
        }
    }
}
