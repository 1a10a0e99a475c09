//! Members of structures that begin with something else than what their declarations say: what a constructor, a list or
//! whoever has the structure sets.

use crate::{
    cuda::lexer::Tokens,
    scene::draft::{
        code::{Span, operands::change_at, regions::Kind, variables::Id},
        host::{Host, set_fields::SetFields},
    },
};

/// So many tokens stand between `struct` and the brace of its members.
const LONGEST_HEAD: usize = 24;
/// So many fields of one another stand in an operand.
const DEEPEST: usize = 16;

impl<'s> Host<'s> {
    /// All of the file.
    pub(in crate::scene::draft) fn fields_set(&self) -> SetFields<'s> {
        let mut found = SetFields::default();
        for (at, token) in self.code.iter().enumerate() {
            if !token.is_word() {
                continue;
            }
            if self.is_set_field(at) {
                found.names.insert(token.text);
            }
            let before = self.code.text_before(at);
            let is_defined = matches!(before, "struct" | "class" | "union" | "enum");
            let named = match self.code.get(at + 1) {
                Some(next) if next.is_word() => at + 2,
                _ => at + 1,
            };
            let is_full = !matches!(self.text_at(named + 1), ")" | "}");
            let is_made = match self.text_at(named) {
                "(" | "{" => is_full && !is_defined,
                "=" => named == at + 2,
                _ => false,
            };
            if is_made {
                found.made.insert(token.text);
            }
        }
        found
    }

    /// Whether a name is that of a field that is set there: `a.n = 2`, `p->n++`, `&a.n`, `: n(2)`.
    fn is_set_field(&self, at: usize) -> bool {
        let text = |by: usize| at.checked_sub(by).map_or("", |at| self.text_at(at));
        let by = match (text(2), text(1)) {
            (_, "." | "::") => 1,
            ("-", ">") => 2,
            (_, ":" | ",") => return self.is_initialised(at),
            _ => return false,
        };
        if change_at(&self.code, at + 1).is_some() || self.text_at(at + 1) == "[" {
            return true;
        }
        // What the operand begins with.
        let mut start = at.saturating_sub(by + 1);
        for _ in 0..DEEPEST {
            match self.code.text_before(start) {
                "." | "::" => start = start.saturating_sub(2),
                ">" if start >= 2 && self.text_at(start - 2) == "-" => {
                    start = start.saturating_sub(3);
                }
                before => return matches!(before, "&" | "+" | "-" | ">" | "(" | ","),
            }
        }
        true
    }

    /// Whether a constructor makes the field of something whose name stands at `at`.
    fn is_initialised(&self, at: usize) -> bool {
        let is_made = matches!(self.text_at(at + 1), "(" | "{");
        is_made
            && self.regions.around(at).any(|(_, region)| match &region.kind {
                Kind::Function { parameters, body, .. } => parameters.end <= at && at < *body,
                _ => false,
            })
    }

    /// Whether a variable is a member of a structure that may begin with something else than its declaration says.
    pub(in crate::scene::draft) fn is_set_by_others(&self, id: Id) -> bool {
        let variable = self.variables.get(id);
        let is_constant =
            variable.declared.words.iter().any(|word| matches!(*word, "const" | "constexpr"));
        let Some(structure) = self.structure_with(&variable.scope).filter(|_| !is_constant) else {
            return false;
        };
        self.set_fields.names.contains(variable.name) || self.set_fields.made.contains(structure)
    }

    /// The structure whose members lie in a part of the code.
    pub(in crate::scene::draft) fn structure_with(&self, scope: &Span) -> Option<&'s str> {
        let head = (scope.start.saturating_sub(LONGEST_HEAD)..scope.start).rev();
        let mut head =
            head.take_while(|at| !matches!(self.text_at(*at), ";" | "{" | "}" | ")" | "="));
        let word = head.find(|at| matches!(self.text_at(*at), "struct" | "class" | "union"))?;
        self.code.get(word + 1).filter(|token| token.is_word()).map(|token| token.text)
    }
}
