//! The structures of a text: the names of their fields, and their types as far as the text tells.
//!
//! How they lie in memory, and what a type really is, only the compiler knows: it is asked for what was found here.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    CType, Macros,
    brackets::Brackets,
    lexer::{Kind, Token},
    signature::is_attribute,
};
use crate::element::{Element, Scalar};

/// So many tokens are looked at.
const MOST_TOKENS: usize = 1 << 22;
/// So deep structures lie in one another, and so often a name may stand for another.
const DEEPEST: usize = 8;
/// So many fields are looked at to find those of one structure, which may have others within it.
const MOST_LOOKS: usize = 10_000;
/// So often each token is looked at, on average.
const LOOKS_PER_TOKEN: usize = 20;
/// The longest name of a field in bytes.
const LONGEST_NAME: usize = 255;

/// What a text says of its types.
#[derive(Debug, Default)]
pub(crate) struct Structures {
    defined: BTreeMap<String, Vec<Declared>>,
    /// What names stand for that `typedef`, `using` or a macro gives.
    aliases: BTreeMap<String, CType>,
    enumerations: BTreeSet<String>,
}

/// A field as declared.
#[derive(Clone, Debug)]
struct Declared {
    name: String,
    ctype: CType,
}

/// A field whose type is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownField {
    /// Its name, and before it those of the structures that it lies in: `grid.size`.
    pub(crate) path: String,
    /// What it is, or each of it where it is an array.
    pub(crate) element: Element,
}

impl Structures {
    /// Those of `text`, where `macros` are known from the compiler's options.
    pub(crate) fn of(mut macros: Macros, text: &str) -> Self {
        let code = macros.code(text, MOST_TOKENS).likely;
        let mut found = Self::default();
        for (name, value) in macros.values() {
            let words: Vec<&str> = value.split_whitespace().collect();
            found.aliases.insert(name.to_owned(), CType::from_words(&words));
        }
        let looks = Cell::new(LOOKS_PER_TOKEN * (code.len() + 100));
        let reader = Reader { code: &code, brackets: Brackets::new(&code), looks };
        for at in 0..code.len() {
            reader.read(at, &mut found);
        }
        found
    }

    /// The names of all of them.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.defined.keys().map(String::as_str)
    }

    /// The names that stand for a number or a vector by `typedef`, `using`, an enumeration or a macro, and for which.
    pub(crate) fn elements(&self) -> impl Iterator<Item = (&str, Element)> {
        self.aliases.iter().filter_map(|(name, ctype)| match self.meaning(ctype) {
            Meaning::Element(element) => Some((name.as_str(), element)),
            Meaning::Structure(_) | Meaning::Unknown => None,
        })
    }

    /// The fields of the structure `name`, at most `most` of them, those of structures within it among them; `None` for
    /// one that the text does not define. What is neither a number nor a vector, nor an array of them, is left out.
    pub(crate) fn fields(&self, name: &str, most: usize) -> Option<Vec<KnownField>> {
        self.defined.get(last(name))?;
        let mut list = List { found: Vec::new(), most, looks: MOST_LOOKS };
        self.add(last(name), "", DEEPEST, &mut list);
        Some(list.found)
    }

    fn add(&self, name: &str, before: &str, deep: usize, list: &mut List) {
        for field in self.defined.get(name).into_iter().flatten() {
            if list.found.len() == list.most || list.looks == 0 {
                return;
            }
            list.looks -= 1;
            let path = format!("{before}{}", field.name);
            match self.meaning(&field.ctype) {
                Meaning::Element(element) => list.found.push(KnownField { path, element }),
                Meaning::Structure(inner) if deep > 0 => {
                    self.add(inner, &format!("{path}."), deep - 1, list);
                }
                Meaning::Structure(_) | Meaning::Unknown => {}
            }
        }
    }

    fn meaning<'a>(&'a self, mut ctype: &'a CType) -> Meaning<'a> {
        for _ in 0..DEEPEST {
            match ctype {
                CType::Value(element) => return Meaning::Element(*element),
                CType::Named(name) if self.enumerations.contains(last(name)) => {
                    return Meaning::Element(Element::scalar(Scalar::I32));
                }
                CType::Named(name) => match self.aliases.get(last(name)) {
                    Some(other) if other != ctype => ctype = other,
                    Some(_) | None => return self.structure(last(name)),
                },
                CType::Pointer { .. } | CType::Surface | CType::Texture => return Meaning::Unknown,
            }
        }
        Meaning::Unknown
    }

    fn structure(&self, name: &str) -> Meaning<'_> {
        let found = self.defined.get_key_value(name);
        found.map_or(Meaning::Unknown, |(name, _)| Meaning::Structure(name))
    }
}

/// Fields as they are found.
struct List {
    found: Vec<KnownField>,
    /// How many are wanted at most.
    most: usize,
    /// How many declarations are still looked at.
    looks: usize,
}

/// What a type is.
enum Meaning<'a> {
    Element(Element),
    Structure(&'a str),
    Unknown,
}

/// A name without its namespaces.
fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Reads declarations.
struct Reader<'t, 's> {
    code: &'t [Token<'s>],
    brackets: Brackets,
    /// How many tokens are still looked at. After that the text ends everywhere: one that is written to be looked
    /// through again and again takes no longer than others.
    looks: Cell<usize>,
}

impl<'s> Reader<'_, 's> {
    fn text(&self, at: usize) -> &'s str {
        let Some(left) = self.looks.get().checked_sub(1) else { return "" };
        self.looks.set(left);
        self.code.get(at).map_or("", |token| token.text)
    }

    fn word(&self, at: usize) -> Option<&'s str> {
        self.code.get(at).filter(|token| token.kind == Kind::Word).map(|token| token.text)
    }

    /// Behind the bracket at `at`, or the next token.
    fn behind(&self, at: usize) -> usize {
        self.brackets.after(at).unwrap_or(at + 1).max(at + 1)
    }

    /// The next `;` at or behind `at` that stands in no brackets.
    fn semicolon(&self, mut at: usize) -> usize {
        loop {
            match self.text(at) {
                ";" | "" => return at,
                "(" | "[" | "{" => at = self.behind(at),
                _ => at += 1,
            }
        }
    }

    /// Takes what is defined at `at`, if anything.
    fn read(&self, at: usize, found: &mut Structures) {
        match self.text(at) {
            "struct" | "class" => self.structure(at, found),
            "enum" => {
                let name = at + 1 + usize::from(matches!(self.text(at + 1), "class" | "struct"));
                found.enumerations.extend(self.word(name).map(str::to_owned));
                if self.text(at.wrapping_sub(1)) == "typedef" {
                    found.enumerations.extend(self.names_before_semicolon(at));
                }
            }
            "typedef" if !matches!(self.text(at + 1), "struct" | "class" | "enum" | "union") => {
                let end = self.semicolon(at);
                for field in self.declared(at + 1, end) {
                    found.aliases.entry(field.name).or_insert(field.ctype);
                }
            }
            "using" if self.text(at + 2) == "=" => {
                let words = self.words(at + 3, self.semicolon(at));
                let name = self.text(at + 1).to_owned();
                found.aliases.entry(name).or_insert_with(|| CType::from_words(&words));
            }
            _ => {}
        }
    }

    fn structure(&self, at: usize, found: &mut Structures) {
        let Some((name, open)) = self.head(at) else { return };
        let body = open + 1..self.behind(open).saturating_sub(1);
        let mut fields = Vec::new();
        self.fields(body, self.text(at) == "struct", DEEPEST, &mut fields);
        let mut names: Vec<String> = name.map(str::to_owned).into_iter().collect();
        if self.text(at.wrapping_sub(1)) == "typedef" {
            names.extend(self.names_before_semicolon(self.behind(open)));
        }
        for name in names {
            found.defined.entry(name).or_insert_with(|| fields.clone());
        }
    }

    /// The name of the structure at `at`, where it has one, and where its body begins; `None` for what has none.
    fn head(&self, at: usize) -> Option<(Option<&'s str>, usize)> {
        let (mut name, mut next) = (None, at + 1);
        loop {
            next = match self.text(next) {
                "{" => return Some((name, next)),
                ":" => {
                    let base = (next..).find(|at| matches!(self.text(*at), "{" | ";" | ""))?;
                    return (self.text(base) == "{").then_some((name, base));
                }
                "[" | "(" => self.behind(next),
                word if is_attribute(word) || word.starts_with("__align") => next + 1,
                "final" => next + 1,
                _ => {
                    name = Some(self.word(next).filter(|_| name.is_none())?);
                    next + 1
                }
            }
        }
    }

    /// The names that a `typedef` gives, behind the body that ends before `at`.
    fn names_before_semicolon(&self, at: usize) -> Vec<String> {
        let (mut at, end) = (at, self.semicolon(at));
        let mut names = Vec::new();
        while at < end {
            match self.text(at) {
                "{" => {
                    names.clear();
                    at = self.behind(at);
                    continue;
                }
                "*" => return names,
                _ => names.extend(self.word(at).map(str::to_owned)),
            }
            at += 1;
        }
        names
    }

    /// The words and signs of a type at these places, without attributes.
    fn words(&self, mut at: usize, end: usize) -> Vec<&'s str> {
        let mut words = Vec::new();
        while at < end {
            let word = self.text(at);
            if is_attribute(word) || word.starts_with("__align") {
                at = if self.text(at + 1) == "(" { self.behind(at + 1) } else { at + 1 };
                continue;
            }
            words.push(word);
            at += 1;
        }
        words
    }

    /// The fields that the members at these places are, as far as anybody may name them; of structures without a name
    /// that lie `deep` in one another.
    fn fields(
        &self,
        body: std::ops::Range<usize>,
        mut is_public: bool,
        deep: usize,
        found: &mut Vec<Declared>,
    ) {
        let mut at = body.start;
        while at < body.end {
            let next = match (self.text(at), self.text(at + 1)) {
                ("public", ":") => {
                    is_public = true;
                    at + 2
                }
                ("private" | "protected", ":") => {
                    is_public = false;
                    at + 2
                }
                (";" | "{" | "(" | "[", _) => self.behind(at),
                ("static" | "using" | "typedef" | "friend" | "template", _) => self.member_end(at),
                // Its fields are those of the structure around it.
                ("struct", "{") if self.text(self.behind(at + 1)) == ";" => {
                    let inner = at + 2..self.behind(at + 1).saturating_sub(1);
                    if is_public && deep > 0 {
                        self.fields(inner, true, deep - 1, found);
                    }
                    self.behind(at + 1)
                }
                ("union" | "enum", _) => self.semicolon(at) + 1,
                ("struct" | "class", _) if self.head(at).is_some() => self.semicolon(at) + 1,
                _ => {
                    let end = self.member_end(at);
                    if is_public && self.is_data(at, end) {
                        found.extend(self.declared(at, end.saturating_sub(1)));
                    }
                    end
                }
            };
            at = next.max(at + 1);
        }
    }

    /// Behind the member at `at`: its `;`, or the body of a function.
    fn member_end(&self, mut at: usize) -> usize {
        let mut is_function = false;
        loop {
            match self.text(at) {
                "" => return at,
                ";" => return at + 1,
                "{" if is_function => return self.behind(at),
                "(" => {
                    is_function |= !is_attribute(self.text(at.wrapping_sub(1)))
                        && !self.text(at.wrapping_sub(1)).starts_with("__align");
                    at = self.behind(at);
                }
                "[" | "{" => at = self.behind(at),
                _ => at += 1,
            }
        }
    }

    /// Whether the member at these places is no function.
    fn is_data(&self, at: usize, end: usize) -> bool {
        let words = self.words(at, end);
        let initial = words.iter().position(|word| matches!(*word, "=" | "{" | "["));
        let declarator = &words[..initial.unwrap_or(words.len())];
        words.last() == Some(&";")
            && !declarator.contains(&"(")
            && !declarator.contains(&"operator")
    }

    /// The names that a declaration at these places gives, with their types: `float x, y[3], z = 1`.
    fn declared(&self, at: usize, end: usize) -> Vec<Declared> {
        let words = self.words(at, end);
        let mut found = Vec::new();
        let mut of: Option<Vec<&str>> = None;
        for part in split(&words) {
            // A field of so many bits has no address.
            let stops = |word: &&str| matches!(*word, "=" | "{" | "[" | ":");
            let stop = part.iter().position(stops).unwrap_or(part.len());
            let is_bits = part.get(stop) == Some(&":");
            let Some((name, before)) = part[..stop].split_last() else { continue };
            let stars = before.iter().rev().take_while(|word| **word == "*").count();
            let base = &before[..before.len() - stars];
            let of = of.get_or_insert_with(|| base.to_vec());
            let words: Vec<&str> =
                of.iter().chain(&before[before.len() - stars..]).copied().collect();
            if !is_bits && is_identifier(name) && name.len() <= LONGEST_NAME && !of.is_empty() {
                found.push(Declared { name: (*name).to_owned(), ctype: CType::from_words(&words) });
            }
        }
        found
    }
}

fn is_identifier(word: &str) -> bool {
    word.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
}

/// What stands between the commas that stand in no brackets.
fn split<'w, 's>(words: &'w [&'s str]) -> Vec<&'w [&'s str]> {
    let mut depth = 0_i32;
    let comma = |word: &&str| {
        match *word {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            _ => {}
        }
        *word == "," && depth <= 0
    };
    words.split(comma).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str, name: &str) -> Option<Vec<String>> {
        let found = Structures::of(Macros::default(), text).fields(name, 100)?;
        Some(found.iter().map(|field| format!("{} {}", field.element, field.path)).collect())
    }

    #[test]
    fn fields_are_those_of_the_definition() {
        for (text, expected) in [
            ("struct P { float x, y[3], *z; int n = 3; };", &["float x", "float y", "int n"][..]),
            (
                "typedef struct { float4 at; unsigned char kind; } P;",
                &["float4 at", "unsigned char kind"],
            ),
            ("typedef struct P_ { double mass; } P, *PP;", &["double mass"]),
            (
                "class P { int hidden; public: float3 at; float length() const { return at.x; } P() : hidden{1} {} };",
                &["float3 at"],
            ),
            (
                "struct __align__(16) V { float a, b; }; struct P { V v; enum { A, B }; struct { int low, high; }; };",
                &["float v.a", "float v.b", "int low", "int high"],
            ),
            (
                "#define REAL double\ntypedef REAL real;\nusing three = float3;\nstruct P { real r; three t; };",
                &["double r", "float3 t"],
            ),
            (
                "enum class Kind : char { A };\nstruct P { Kind kind; int flag : 3; int (*f)(int); static int s; };",
                &["int kind"],
            ),
            (
                "#if 0\nstruct P { int a; };\n#else\nstruct P { long long b{}; union { int c; float d; }; };\n#endif",
                &["long long b"],
            ),
            (
                "namespace sim { struct alignas(8) P final : Base { const float a[2][3], b; }; }",
                &["float a", "float b"],
            ),
        ] {
            assert_eq!(
                fields(text, "sim::P").as_deref(),
                Some(expected.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>().as_slice()),
                "{text}"
            );
        }
        assert_eq!(fields("struct Q { int a; };", "P"), None);
        assert_eq!(fields("struct P; struct P *f();", "P"), None);
    }

    #[test]
    fn hostile_texts_end() {
        let deep = "struct P { P p; int a; ".repeat(2000);
        assert!(fields(&deep, "P").is_some());
        let circle = "using A = B; using B = A; struct P { A a; struct P b; int c; };";
        let found = fields(circle, "P").unwrap_or_default();
        assert!(
            found.len() == DEEPEST + 1 && found.last().is_some_and(|last| last == "int c"),
            "{found:?}"
        );
        // Each has many of the next.
        let within: String = (0..9)
            .rev()
            .map(|n| format!("struct S{n} {{ S{} {}; }};", n + 1, vec!["a"; 50].join(", ")))
            .collect();
        assert_eq!(fields(&within, "S0"), Some(Vec::new()));
        for text in [
            "struct",
            "struct P {",
            "struct P { int",
            "typedef",
            "using A =",
            "enum",
            "struct P : ",
            "struct P { a ( ",
        ] {
            let _ = fields(text, "P");
        }
        for part in [
            "struct A : ",
            "typedef ",
            "using A = ",
            "struct A { ",
            "struct A { int a ",
            "struct A { struct { ",
            "enum ",
        ] {
            let _ = fields(&part.repeat(50_000), "A");
        }
        let many = format!("struct P {{ int {}; }};", vec!["a"; 100_000].join(", "));
        assert_eq!(fields(&many, "P").map(|found| found.len()), Some(100));
    }
}
