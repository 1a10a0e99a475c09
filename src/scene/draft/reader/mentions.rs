//! What host code does with memory: an array, a container, or what a pointer points to. Each mention of such a variable
//! is accounted for here, and one that is not known to read may write.
//!
//! What is written in a way that is understood is told by `fills/writes.rs`, which stands for the mentions in it. All
//! others make what the memory has unknown: until all of it is written anew, or for good where something may still
//! point to it then.

use super::{
    Reader,
    handed::Use,
    named::{LONGEST_TYPE, Named, Operand},
};
use crate::scene::draft::{
    code::{
        LONGEST, Span,
        operands::change_at,
        pointers::without_casts,
        readers::{self, Argument},
        regions::Kind as Region,
        variables::Id,
    },
    host::mention::{Does, Mention},
};

impl<'s> Reader<'_, 's> {
    /// Accounts for what a word may change: the one place that words lead through, whether they name a number, memory,
    /// a function that changes what it is given, or a macro.
    pub(in crate::scene::draft) fn mention(&mut self, at: usize) {
        self.use_of(at);
        self.hand(at);
        if let Some(id) = self.memory(at) {
            let does = self.does(id, at);
            if does != Does::Reads {
                self.found.mentions.push(Mention { id, at, does });
            }
        }
        self.mention_by_macro(at);
    }

    /// The variable that a word names, where that is or has memory.
    fn memory(&self, at: usize) -> Option<Id> {
        if !self.is_word(at) || matches!(self.before(at), "." | "::") || self.is_behind_arrow(at) {
            return None;
        }
        let id = self.visible(self.text(at), at)?;
        let variable = self.found.variables.get(id);
        let is_parameter = variable.parameter.as_ref().is_some_and(|(list, _)| list.contains(&at));
        let words = &variable.declared.words;
        let is_value = self.found.named_type(words).is_some()
            || words.iter().any(|word| *word == "dim3" || self.takers.is_structure(word));
        (!is_parameter && (variable.declared.is_indirect || !is_value)).then_some(id)
    }

    fn does(&self, id: Id, at: usize) -> Does {
        let method = self.method_of(at);
        let of_method = method.and_then(|name| self.does_method(name));
        let does = of_method
            .unwrap_or_else(|| self.does_operand(id, self.operand(id, at, method.is_some())));
        // What stands in a lambda is done later.
        let is_later = |region: usize| match self.found.regions.get(region) {
            Some(region) => !region.span.contains(&self.found.variables.get(id).at),
            None => false,
        };
        if does != Does::Reads && self.found.regions.lambda(at).is_some_and(is_later) {
            return Does::Keeps;
        }
        does
    }

    /// The name of the method that is called of the variable itself at `at`.
    fn method_of(&self, at: usize) -> Option<usize> {
        let is_method =
            self.text(at + 1) == "." && self.is_word(at + 2) && self.text(at + 3) == "(";
        is_method.then_some(at + 2)
    }

    /// What a method does with what it is one of; `None` where it gives a part of that.
    fn does_method(&self, name: usize) -> Option<Does> {
        match self.text(name) {
            "data" | "begin" | "end" | "cbegin" | "cend" | "get" | "front" | "back" | "at" => None,
            "size" | "empty" | "capacity" | "length" | "max_size" | "reserve" | "c_str"
            | "shrink_to_fit" => Some(Does::Reads),
            "resize" if self.list(name + 1).len() == 1 => Some(Does::Grows),
            _ => Some(Does::Writes),
        }
    }

    fn does_operand(&self, id: Id, operand: Operand) -> Does {
        let Operand { span, what } = operand;
        let before = self.before(span.start);
        let is_counted = matches!(before, "+" | "-")
            && span.start >= 2
            && self.text(span.start - 2) == before
            && change_at(&self.found.code, span.start - 2).is_some();
        if is_counted {
            return Does::Writes;
        }
        if change_at(&self.found.code, span.end).is_some() {
            let is_set = self.text(span.end) == "=" && what != Named::Element;
            return if is_set { self.does_assignment(span.end + 1) } else { Does::Writes };
        }
        // A method of an element, or a function that a pointer points to.
        if self.text(span.end) == "(" && what == Named::Element {
            let is_read = matches!(self.text(span.end - 1), "size" | "empty" | "length" | "c_str");
            return if is_read { Does::Reads } else { Does::Writes };
        }
        match what {
            Named::Element => self.does_element(id, span),
            Named::All | Named::Address => self.does_address(id, span, what),
        }
    }

    /// What is done with an element that is not set where it is named.
    fn does_element(&self, id: Id, span: Span) -> Does {
        if self.is_referred_to(&span) {
            return match self.before(span.start) {
                "=" => self.does_set(id, span.start - 1, Named::Address),
                _ => Does::Keeps,
            };
        }
        let Some(open) = self.open.last().map(|(open, _)| *open) else { return Does::Reads };
        let is_alone = matches!(self.before(span.start), "(" | "," | "?" | ":")
            && matches!(self.text(span.end), ")" | "," | ":");
        // `(c ? a[0] : a[1]) = 2`
        let after = self.brackets.after(open).unwrap_or(open);
        if is_alone && self.text(open) == "(" {
            if change_at(&self.found.code, after).is_some() {
                return Does::Writes;
            }
            let function = self.callee(open).map_or("", |name| self.text(name));
            let is_own = self.found.functions.named(function).is_some();
            if matches!(function, "swap" | "exchange")
                || is_own && self.takers.sets(function, None) != Some(false)
            {
                return Does::Writes;
            }
        }
        match self.use_of_operand(span) {
            Use::Reads => Does::Reads,
            Use::Sets => Does::Writes,
            Use::Keeps => Does::Keeps,
        }
    }

    /// Whether a reference begins with it: `float &r = a[2]`, and what a function returns that gives one.
    fn is_referred_to(&self, span: &Span) -> bool {
        let is_start = |at: &usize| matches!(self.text(*at), ";" | "{" | "}" | "(");
        match self.before(span.start) {
            "=" | ":" | "?" | "," => {
                let first = span.start.saturating_sub(LONGEST_TYPE);
                let statement = (first..span.start).rev().take_while(|at| !is_start(at));
                if statement.clone().any(|at| self.text(at) == "const") {
                    return false;
                }
                let is_reference = |at: usize| {
                    self.text(at) == "&"
                        && self.ends_type(at.checked_sub(1))
                        && (self.is_word(at + 1) || matches!(self.text(at + 1), "&" | "["))
                };
                statement.clone().any(is_reference)
            }
            "return" => {
                let mut around = self.found.regions.around(span.start).map(|(_, region)| region);
                around
                    .find_map(|region| match &region.kind {
                        Region::Function { name, .. } => {
                            Some(matches!(self.before(*name), "&" | "auto"))
                        }
                        Region::Lambda { body, .. } => Some(self.before(*body) == "&"),
                        Region::Block
                        | Region::For { .. }
                        | Region::While { .. }
                        | Region::Do { .. }
                        | Region::If { .. }
                        | Region::Switch { .. }
                        | Region::Catch => None,
                    })
                    .unwrap_or(false)
            }
            _ => false,
        }
    }

    fn ends_type(&self, at: Option<usize>) -> bool {
        at.is_some_and(|at| {
            let word = self.text(at);
            word == ">" || self.is_word(at) && self.visible(word, at).is_none()
        })
    }

    /// What is done with memory, or the address of a part of it.
    fn does_address(&self, id: Id, span: Span, what: Named) -> Does {
        let [before, after] = [self.before(span.start), self.text(span.end)];
        let is_all = what == Named::All;
        match (before, after) {
            ("delete", _) => return Does::Reads,
            ("]", _) if self.text(span.start.saturating_sub(3)) == "delete" => return Does::Reads,
            ("sizeof" | "!", _) => return Does::Reads,
            (">", _) if self.text(span.start.saturating_sub(2)) == ">" => return Does::Writes,
            // It is compared, or written to a stream.
            (_, "=" | "!" | "<" | ">" | "?") | ("<" | ">", _) => return Does::Reads,
            ("|", _) | (_, "|") => return Does::Reads,
            ("&", _) | (_, "&") => return Does::Reads,
            ("=", _) if self.text(span.start.saturating_sub(2)) == "=" => return Does::Reads,
            ("=", _) if self.text(span.start.saturating_sub(2)) == "!" => return Does::Reads,
            // Over its elements, one by one.
            (":", ")") if is_all => {
                let is_reference = self.is_referred_to(&span);
                return if is_reference { Does::Keeps } else { Does::Reads };
            }
            _ => {}
        }
        // `a + 4` is another address.
        let is_moved = matches!(after, "+" | "-") || matches!(before, "+" | "-");
        let what = if is_moved { Named::Address } else { what };
        let (start, end) = self.part_around(&span);
        match self.before(start) {
            "=" => self.does_set(id, start - 1, what),
            "return" => self.does_return(id),
            "(" | "," => self.does_part(id, start..end, what),
            "{" | ":" | "?" => Does::Keeps,
            ";" | "}" | ")" if self.text(end) == ";" => Does::Reads,
            "[" => Does::Reads,
            _ => Does::Keeps,
        }
    }

    /// `name = value`: what stands at `value` says what is there.
    fn does_assignment(&self, value: usize) -> Does {
        let span = self.expression(value);
        let inner = without_casts(&self.found.code, span);
        let name = self.text(inner.start);
        let has = |sign: &str| inner.clone().any(|at| self.text(at) == sign);
        let is_made = match name {
            "malloc" | "calloc" | "aligned_alloc" | "_aligned_malloc" => true,
            "NULL" | "nullptr" | "0" => inner.len() == 1,
            "new" => !has("{"),
            _ => false,
        };
        if is_made {
            return Does::Reads;
        }
        if self.found.functions.named(name).is_some() && self.text(inner.start + 1) == "(" {
            return Does::Follows(inner.start);
        }
        // Of another pointer, its mention says what that means.
        let other = self.found.base(&inner);
        let mut names = other
            .into_iter()
            .flat_map(|other| inner.clone().filter(move |at| self.text(*at) == other));
        match names.next() {
            Some(other) if self.memory(other).is_some() => Does::Reads,
            Some(_) | None => Does::Writes,
        }
    }

    /// What the variable before `=` makes of an address.
    fn does_set(&self, id: Id, equals: usize, what: Named) -> Does {
        let own = &self.found.variables.get(id).declared;
        let Some(name) = equals.checked_sub(1).filter(|at| self.is_word(*at)) else {
            return Does::Keeps;
        };
        let is_alone = !matches!(self.before(name), "." | "]") && !self.is_behind_arrow(name);
        let Some(other) = self.visible(self.text(name), equals).filter(|_| is_alone) else {
            return Does::Keeps;
        };
        if other == id {
            // A reference to all of it.
            return Does::Reads;
        }
        let to = self.found.variables.get(other);
        let is_copy = !to.declared.is_indirect && !to.declared.words.contains(&"auto");
        if is_copy && !own.is_indirect {
            return Does::Reads;
        }
        let regions = &self.found.regions;
        let is_near = regions.function(to.at) == regions.function(equals)
            && regions.lambda(equals).is_none()
            && !to.declared.is_reference
            && !to.declared.is_static();
        match what == Named::All && is_near && !is_copy {
            true => Does::Names(other),
            false => Does::Points(other),
        }
    }

    /// Memory that a function makes is followed by who calls it; that of others has one more name then.
    fn does_return(&self, id: Id) -> Does {
        let variable = self.found.variables.get(id);
        let of = self.found.regions.function(variable.at);
        let is_static = variable.declared.is_static();
        match variable.parameter.is_none() && of.is_some() && !is_static {
            true => Does::Reads,
            false => Does::Keeps,
        }
    }

    /// What something is given in parentheses, alone or with an offset.
    fn does_part(&self, of: Id, part: Span, what: Named) -> Does {
        let Some((open, _)) = self.open.iter().rev().find(|(open, _)| *open < part.start) else {
            return Does::Keeps;
        };
        if self.text(*open) != "(" {
            return if self.is_of_launch(part.start) { Does::Writes } else { Does::Keeps };
        }
        let Some(name) = self.callee(*open) else { return Does::Keeps };
        let function = self.text(name);
        let is_method = self.before(name) == "." || self.is_behind_arrow(name);
        let is_all = what == Named::All;
        if function == "<" {
            return Does::Gives;
        }
        if let Some(id) =
            self.visible(function, *open).filter(|id| !is_method && !self.declares(*id))
        {
            let variable = self.found.variables.get(id);
            let is_declared = variable.at == name;
            let is_alias = variable.declared.is_indirect && !variable.declared.is_reference;
            let words = &variable.declared.words;
            let is_copied = words.iter().any(|word| readers::copies(word));
            return match (is_declared, is_alias) {
                (true, true) if is_all => Does::Names(id),
                (true, false) if is_copied => Does::Reads,
                _ => Does::Keeps,
            };
        }
        if self.found.functions.named(function).is_some() {
            return if is_all && !is_method { Does::Follows(name) } else { Does::Gives };
        }
        if self.found.macros.texts(function).is_some() {
            return Does::Keeps;
        }
        if readers::gives_place(function) && !is_method {
            return self.does_place(of, name, *open);
        }
        match readers::argument(function, self.index_in(*open, part.start)) {
            _ if is_method && !readers::copies(function) => Does::Writes,
            Argument::Reads => Does::Reads,
            Argument::Writes => Does::Writes,
            Argument::Unknown if readers::copies(function) => Does::Reads,
            Argument::Unknown if self.takers.is_structure(function) => Does::Keeps,
            Argument::Unknown => Does::Gives,
        }
    }

    /// Whether what looks like a variable that is made of something is a function that is declared: `void f(int *p);`.
    fn declares(&self, id: Id) -> bool {
        let variable = self.found.variables.get(id);
        self.text(variable.at + 1) == "("
            && !variable.declared.words.contains(&"auto")
            && self.takers.sets(variable.name, None).is_some()
    }

    /// What is done with the place in some memory that a function of the library gives.
    fn does_place(&self, of: Id, name: usize, open: usize) -> Does {
        let after = self.brackets.after(open).unwrap_or(open);
        let is_std = name >= 2 && self.text(name - 1) == "::";
        let start = if is_std { name - 2 } else { name };
        match (self.before(start), self.text(after)) {
            ("*", _) if change_at(&self.found.code, after).is_some() => Does::Writes,
            ("*" | "-", _) | (_, "-") => Does::Reads,
            ("=", _) => self.does_set(of, start - 1, Named::Address),
            ("(" | ",", _) => self.does_part(of, start..after, Named::Address),
            _ => Does::Keeps,
        }
    }

    /// Accounts for the memory that a macro names in its text.
    fn mention_by_macro(&mut self, at: usize) {
        let words: Vec<&str> = self.found.macros.words(self.text(at)).take(LONGEST).collect();
        if self.found.look(words.len()).is_none() {
            // Where there is too much of it, nothing is known any more.
            self.found.budget.set(0);
        }
        let ids: Vec<Id> = words.into_iter().filter_map(|word| self.visible(word, at)).collect();
        for id in ids {
            let variable = self.found.variables.get_mut(id);
            if variable.declared.is_indirect {
                variable.kept = Some(variable.kept.map_or(at, |kept| kept.min(at)));
            }
        }
    }
}
