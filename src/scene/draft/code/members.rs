//! Pointers that are members of structures: each counts as a variable of its own, which is called `s.bodies`, also
//! where the host writes `s->bodies`.

use std::collections::{BTreeMap, BTreeSet};

use super::variables::Value;
use crate::cuda::{
    Held, Structures,
    lexer::{self, Kind, Token, Tokens},
};

/// More fields than these are not written.
pub(in crate::scene::draft) const MOST_FIELDS: usize = 64;
/// So many structures are looked at.
const MOST_STRUCTURES: usize = 1000;
/// So many members have names.
const MOST_NAMES: usize = 10_000;
/// So many names stand in a declaration.
const MOST_DECLARED: usize = 64;

/// A pointer that a structure has.
pub(in crate::scene::draft) struct Field {
    pub(in crate::scene::draft) name: String,
    /// Its place among the structure's fields, and of how many.
    index: usize,
    count: usize,
}

/// The pointers of the structures that host code sets by itself.
#[derive(Default)]
pub(in crate::scene::draft) struct Members {
    /// By their structures.
    fields: BTreeMap<String, Vec<Field>>,
    /// What they are called, by the variable and the field.
    names: BTreeMap<String, BTreeMap<String, String>>,
}

impl Members {
    pub(in crate::scene::draft) fn new(text: &str, structures: &Structures) -> Self {
        let mut found = Self { fields: pointers(structures), ..Self::default() };
        if found.fields.is_empty() {
            return found;
        }
        let is_code = |token: &Token<'_>| {
            !matches!(token.kind, Kind::Blank | Kind::Comment | Kind::Disabled | Kind::Directive)
        };
        let code: Vec<Token<'_>> = lexer::lex(text).filter(is_code).collect();
        let (declared, mut set) = found.declared(&code);
        for at in 0..code.len() {
            if let Some((variable, field, length)) = member_at(&code, at)
                && is_set(&code, at, length)
            {
                let of = declared.get(variable).into_iter().flatten().copied();
                set.extend(of.map(|structure| (structure, field)));
            }
        }
        let mut of_structures = BTreeMap::<_, Vec<_>>::new();
        for (structure, field) in set {
            let is_pointer = |own: &Field| own.name == field;
            if found.fields.get(structure).is_some_and(|own| own.iter().any(is_pointer)) {
                of_structures.entry(structure).or_default().push(field);
            }
        }
        let mut names = BTreeMap::<_, BTreeMap<_, _>>::new();
        let pairs = declared.iter().flat_map(|(variable, of)| {
            let fields = of.iter().filter_map(|structure| of_structures.get(structure)).flatten();
            fields.map(move |field| (*variable, *field))
        });
        for (variable, field) in pairs.take(MOST_NAMES) {
            let of_variable = names.entry(variable.to_owned()).or_default();
            of_variable.insert(field.to_owned(), format!("{variable}.{field}"));
        }
        found.names = names;
        found
    }

    /// The structures that variables are declared as, and those of their pointers that a list sets.
    #[expect(clippy::type_complexity, reason = "it is taken apart at once")]
    fn declared<'m, 's>(
        &'m self,
        code: &[Token<'s>],
    ) -> (BTreeMap<&'s str, BTreeSet<&'m str>>, BTreeSet<(&'m str, &'s str)>)
    where
        'm: 's,
    {
        let (mut declared, mut set) = (BTreeMap::<_, BTreeSet<_>>::new(), BTreeSet::new());
        for (at, token) in code.iter().enumerate() {
            let Some((structure, fields)) = self.fields.get_key_value(token.text) else { continue };
            let mut name = at + 1;
            for _ in 0..MOST_DECLARED {
                while matches!(code.text_at(name), "*" | "&" | "const") {
                    name += 1;
                }
                if code.get(name).is_none_or(|token| !token.is_word()) {
                    break;
                }
                declared.entry(code.text_at(name)).or_default().insert(structure.as_str());
                if code.text_at(name + 1) == "{"
                    || (code.text_at(name + 1), code.text_at(name + 2)) == ("=", "{")
                {
                    set.extend(
                        fields.iter().map(|field| (structure.as_str(), field.name.as_str())),
                    );
                }
                if code.text_at(name + 1) != "," {
                    break;
                }
                name += 2;
            }
        }
        (declared, set)
    }

    /// The tokens with one for each member.
    pub(in crate::scene::draft) fn joined<'s>(&'s self, tokens: Vec<Token<'s>>) -> Vec<Token<'s>> {
        if self.names.is_empty() {
            return tokens;
        }
        let (mut found, mut at) = (Vec::with_capacity(tokens.len()), 0);
        while let Some(token) = tokens.get(at) {
            let member = member_at(&tokens, at);
            let known = member.and_then(|(variable, field, length)| {
                Some((self.names.get(variable)?.get(field)?.as_str(), length))
            });
            let (text, length) = known.unwrap_or((token.text, 1));
            found.push(Token { text, ..*token });
            at += length;
        }
        found
    }

    /// The pointers of a variable that is declared with these words, with what they are called.
    pub(in crate::scene::draft) fn of<'m>(
        &'m self,
        variable: &str,
        words: &[&str],
    ) -> Vec<(&'m Field, &'m str)> {
        let Some(names) = self.names.get(variable) else { return Vec::new() };
        let fields = words.iter().find_map(|word| self.fields.get(*word)).into_iter().flatten();
        fields.filter_map(|field| Some((field, names.get(&field.name)?.as_str()))).collect()
    }
}

impl Field {
    /// What a value of the whole structure says of it, whose tokens are `text`; `None` where that is nothing.
    pub(in crate::scene::draft) fn value_in<'s>(
        &self,
        whole: &Value,
        text: impl Fn(usize) -> &'s str,
    ) -> Option<Value> {
        let parts = match whole {
            Value::Expression(span) => return Some(Value::Expression(span.clone())),
            Value::List(parts) => parts,
            Value::Swapped(_) | Value::Unknown => return Some(Value::Unknown),
            Value::Compound(..)
            | Value::Count(_)
            | Value::Behind(..)
            | Value::Part
            | Value::Given(_) => return None,
        };
        let part = match parts.iter().any(|part| text(part.start) == ".") {
            true => {
                let part = parts.iter().find(|part| text(part.start + 1) == self.name)?;
                part.start + 3..part.end
            }
            false if parts.len() <= self.count => parts.get(self.index)?.clone(),
            false => return Some(Value::Unknown),
        };
        Some(Value::Expression(part))
    }
}

/// The pointers of each structure.
fn pointers(structures: &Structures) -> BTreeMap<String, Vec<Field>> {
    let mut found = BTreeMap::new();
    for structure in structures.names().take(MOST_STRUCTURES) {
        let members = structures.members(structure, MOST_FIELDS).unwrap_or_default();
        let count = members.len();
        let of_its_own = members.into_iter().enumerate().filter(|(_, member)| {
            matches!(member.held, Held::Pointer(_))
                && !member.is_array
                && !member.path.contains('.')
        });
        let fields: Vec<Field> =
            of_its_own.map(|(index, member)| Field { name: member.path, index, count }).collect();
        if !fields.is_empty() {
            found.insert(structure.to_owned(), fields);
        }
    }
    found
}

/// `variable.field`, `variable->field` at a place: both, and how many tokens they are.
fn member_at<'s>(code: &[Token<'s>], at: usize) -> Option<(&'s str, &'s str, usize)> {
    let is_within = || {
        let before = code.text_before(at);
        let arrow = at.checked_sub(2).map_or("", |at| code.text_at(at));
        matches!(before, "." | "::") || (arrow, before) == ("-", ">")
    };
    let field = match (code.text_at(at + 1), code.text_at(at + 2)) {
        (".", _) => at + 2,
        ("-", ">") => at + 3,
        _ => return None,
    };
    let is_one =
        code.is_word_at(at) && code.is_word_at(field) && code.text_at(at) != "this" && !is_within();
    is_one.then(|| (code.text_at(at), code.text_at(field), field + 1 - at))
}

/// Whether the member at these tokens is set there, or its address given away.
fn is_set(code: &[Token<'_>], at: usize, length: usize) -> bool {
    let before = |by: usize| at.checked_sub(by).map_or("", |at| code.text_at(at));
    let is_address = before(1) == "&" || (before(2), before(1)) == ("&", "(");
    match code.text_at(at + length) {
        // Of an element.
        "[" => false,
        "=" => is_address || code.text_at(at + length + 1) != "=",
        _ => is_address,
    }
}
