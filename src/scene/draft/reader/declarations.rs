//! Declarations of host code: `int n = 4, *a;`, parameters of functions, enumerators.

use super::Reader;
use crate::scene::draft::{
    code::{
        LONGEST, Span,
        operands::{Reach, target_of},
        parameters::declarators,
        variables::{Declared, Definition, Id, Value, Variable},
    },
    expression::cpp_number::{QUALIFIERS, Type},
};

/// So many names are in a declaration.
pub(in crate::scene::draft) const MOST_NAMES: usize = 64;

/// Words with which no declaration of a variable begins.
const NO_TYPES: [&str; 28] = [
    "return",
    "else",
    "delete",
    "throw",
    "goto",
    "case",
    "new",
    "using",
    "typedef",
    "namespace",
    "class",
    "enum",
    "union",
    "template",
    "if",
    "for",
    "while",
    "switch",
    "do",
    "break",
    "continue",
    "public",
    "private",
    "protected",
    "default",
    "operator",
    "sizeof",
    "friend",
];

impl<'s> Reader<'_, 's> {
    /// Whether a statement may begin here, or what the parentheses of a `for` or of a condition begin with.
    pub(in crate::scene::draft) fn is_statement(&self, at: usize) -> bool {
        let is_head = || {
            let word = at.checked_sub(2).map_or("", |of| self.text(of));
            matches!(word, "for" | "if" | "while" | "switch" | "constexpr")
        };
        match self.before(at) {
            "" | ";" | "{" | "}" | ":" => true,
            "(" => is_head(),
            // Behind a macro that is a statement, as it seems.
            ")" => {
                let word = self.text(at);
                is_number_word(word) || matches!(word, "const" | "constexpr" | "dim3" | "auto")
            }
            _ => false,
        }
    }

    /// The parameters of all functions and lambdas are variables in them.
    pub(in crate::scene::draft) fn parameters(&mut self) {
        let regions = self.found.regions.iter().filter_map(|(_, region)| {
            let (name, parameters) = region.callable(|at| self.text(at))?;
            Some((name, parameters.clone(), region.span.clone()))
        });
        for (function, parameters, scope) in regions.collect::<Vec<_>>() {
            for (index, name, declared) in declarators(&self.found.code, &parameters) {
                let at = parameters.start;
                let parameter = Some((parameters.clone(), index));
                let is_reference = declared.is_reference;
                let id = self.declare(name, at, scope.clone(), declared, parameter);
                if let Some(function) = function.filter(|_| is_reference) {
                    let by_name = self.by_reference.entry(self.text(function)).or_default();
                    by_name.push((index, id));
                }
            }
        }
    }

    fn declare(
        &mut self,
        name: &'s str,
        at: usize,
        scope: Span,
        declared: Declared<'s>,
        parameter: Option<(Span, usize)>,
    ) -> Id {
        let members = self.found.members.of(name, &declared.words).into_iter();
        let members: Vec<Id> = members
            .map(|(_, member)| {
                let (scope, parameter) = (scope.clone(), parameter.clone());
                let declared = Declared { is_indirect: true, ..Declared::default() };
                self.found.variables.add(variable(member, at, scope, declared, parameter))
            })
            .collect();
        let own = variable(name, at, scope, declared, parameter);
        self.found.variables.add(Variable { members, ..own })
    }

    pub(in crate::scene::draft) fn define(&mut self, id: Id, value: Value, at: usize) {
        self.found.variables.get_mut(id).definitions.push(Definition { value, at });
    }

    /// Notes what a structure is set to as what its pointers are set to.
    pub(in crate::scene::draft) fn define_members(&mut self, of: Id, whole: &Value, at: usize) {
        let Variable { name, declared, members, .. } = self.found.variables.get(of);
        let is_list = matches!(whole, Value::List(_));
        let whole = match is_list && self.found.is_constructed(of) {
            true => &Value::Unknown,
            false => whole,
        };
        let fields = self.found.members.of(name, &declared.words).into_iter();
        let set: Vec<(Id, Value)> = fields
            .zip(members)
            .filter_map(|((field, _), id)| Some((*id, field.value_in(whole, |at| self.text(at))?)))
            .collect();
        for (id, value) in set {
            self.define(id, value, at);
        }
    }

    /// The variable that a name means at `at`.
    pub(in crate::scene::draft) fn visible(&self, name: &str, at: usize) -> Option<Id> {
        self.found.variables.visible(name, at, &|tokens| self.found.look(tokens))
    }

    /// `type name = value, other;`, where one begins at `at`.
    pub(in crate::scene::draft) fn declaration(&mut self, at: usize) {
        let Some((words, mut at)) = self.type_at(at) else { return };
        for _ in 0..MOST_NAMES {
            let start = at;
            while matches!(self.text(at), "*" | "&" | "const" | "__restrict__") {
                at += 1;
            }
            let is_constant = words.contains(&"const");
            let signs = start..at;
            let is_pointer = signs.clone().any(|at| self.text(at) == "*");
            let refers = signs.clone().any(|at| self.text(at) == "&");
            let is_reference = refers && (is_pointer || !is_constant);
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
            let declared = Declared { words: words.clone(), is_indirect, is_reference };
            let scope = self.found.regions.scope(name);
            let id = self.declare(self.text(name), name, scope, declared, None);
            let value = match self.text(end) {
                "=" => {
                    self.initial.insert(end);
                    Some(self.value(end))
                }
                "(" | "{" => Some(Value::List(self.list(end))),
                _ => None,
            };
            end = match self.text(end) {
                "=" => self.expression(end + 1).end,
                "(" | "{" => self.brackets.after(end).unwrap_or(end + 1),
                _ => end,
            };
            if refers && let Some(value) = &value {
                self.refer(id, value, name);
            }
            if let Some(value) = value.filter(|value| !self.is_of_command_line(value)) {
                self.define_members(id, &value, name);
                self.define(id, value, name);
            }
            if self.text(end) != "," {
                return;
            }
            at = end + 1;
        }
    }

    /// Takes a reference for what it begins with, where that is a variable; of another one it is not known what is
    /// written there.
    fn refer(&mut self, id: Id, value: &Value, at: usize) {
        let Value::Expression(span) = value else { return };
        let Some(target) = target_of(&self.found.code, span) else {
            if self.found.variables.get(id).declared.is_reference {
                self.keep_all(span);
            }
            return;
        };
        if target.path.is_empty() && target.reach == Reach::All {
            let alias = self.visible(self.text(target.name), at);
            self.found.variables.get_mut(id).alias = alias;
        } else if self.found.variables.get(id).declared.is_reference {
            self.set_target(&target, Value::Unknown, at);
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
            let end = (at..self.found.code.len().min(at + 40))
                .find(|at| matches!(self.text(*at), ">" | ";" | "{"))?;
            at = if self.text(end) == ">" { end + 1 } else { return None };
        }
        (!words.is_empty()).then_some((words, at))
    }

    /// `enum { N = 16, M }`, `enum class Name { N, M }`, whose numbers are named with its own name alone.
    pub(in crate::scene::draft) fn enumeration(&mut self, at: usize) {
        let end = self.found.code.len().min(at + 10);
        let open = (at..end).find(|at| matches!(self.text(*at), "{" | ";" | "("));
        let Some(open) = open.filter(|open| self.text(*open) == "{") else { return };
        let is_scoped = matches!(self.text(at + 1), "class" | "struct");
        let name = if is_scoped { at + 2 } else { at + 1 };
        let of = (name < open && self.is_word(name)).then(|| self.text(name));
        let scope = if is_scoped { open..open } else { self.found.regions.scope(at) };
        let (mut last, mut more) = (None, 0);
        for part in self.list(open).into_iter().take(LONGEST) {
            if !self.is_word(part.start) {
                continue;
            }
            if self.text(part.start + 1) == "=" {
                self.initial.insert(part.start + 1);
                (last, more) = (Some(part.start + 2..part.end), 0);
            }
            let name = self.text(part.start);
            let declared = Declared { words: vec!["int"], ..Declared::default() };
            let id = self.declare(name, part.start, scope.clone(), declared, None);
            self.found.enumerators.extend(of.map(|of| ((of, name), id)));
            self.define(id, Value::Behind(last.clone(), more), part.start);
            more += 1;
        }
    }
}

/// A variable that is set nowhere yet.
const fn variable<'s>(
    name: &'s str,
    at: usize,
    scope: Span,
    declared: Declared<'s>,
    parameter: Option<(Span, usize)>,
) -> Variable<'s> {
    Variable {
        name,
        at,
        scope,
        declared,
        parameter,
        alias: None,
        kept: None,
        members: Vec::new(),
        definitions: Vec::new(),
        fields: Vec::new(),
    }
}

fn is_number_word(word: &str) -> bool {
    Type::of_words(&[word]).is_some() || word == "signed"
}
