//! The structures of a text, and its variables on the device: names, and types as far as the text tells.
//!
//! How they lie in memory, and what a type really is, only the compiler knows: it is asked for what was found here.

use std::{cell::Cell, collections::BTreeMap};

use super::{
    CType, Macros, Pointee,
    brackets::Brackets,
    conditional,
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
/// The longest name of a field in bytes, and of the namespaces and structures around a structure.
const LONGEST_NAME: usize = 255;
/// So many structures of one name are told apart by what is around them.
const MOST_NAMESAKES: usize = 64;
/// So many namespaces and structures lie in one another that are told apart.
const MOST_SCOPES: usize = 64;

/// So many tokens stand between the angles of a template's parameters.
const LONGEST_TEMPLATE: usize = 100;

/// What a text says of its types.
#[derive(Debug, Default)]
pub(crate) struct Structures {
    /// By their names without what is around them, in the text's order.
    defined: BTreeMap<String, Vec<Definition>>,
    /// What names stand for that `typedef`, `using` or a macro gives.
    aliases: BTreeMap<String, CType>,
    /// The type of each enumeration, as the text names it: else an `int`.
    enumerations: BTreeMap<String, CType>,
    /// The types of the device's variables, by their names with what is around them; `None` where several are called
    /// so.
    variables: BTreeMap<String, Option<CType>>,
}

/// A structure.
#[derive(Clone, Debug)]
struct Definition {
    /// The namespaces and structures around it: `physics::Body`.
    around: String,
    /// Those, and its own name.
    path: String,
    fields: Vec<Declared>,
    /// What a template's parameters are called.
    parameters: Vec<String>,
}

/// A field as declared.
#[derive(Clone, Debug)]
struct Declared {
    name: String,
    ctype: CType,
    is_array: bool,
    /// Whether anybody may name it.
    is_public: bool,
}

/// A field whose type is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownField {
    /// Its name, and before it those of the structures that it lies in: `grid.size`.
    pub(crate) path: String,
    /// What it is, or each of it where it is an array.
    pub(crate) element: Element,
    pub(crate) is_array: bool,
}

/// A field whatever it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// As that of a [`KnownField`].
    pub(crate) path: String,
    pub(crate) is_array: bool,
    pub(crate) held: Held,
}

/// What a field has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    Element(Element),
    Pointer(Pointee),
    /// What the text does not tell.
    Unknown,
}

impl Structures {
    /// Those of `text`, where `macros` are known from the compiler's options.
    pub(crate) fn of(mut macros: Macros, text: &str) -> Self {
        let code = conditional::code(&mut macros, text, MOST_TOKENS);
        let mut found = Self::default();
        for (name, value) in macros.values() {
            let words: Vec<&str> = value.split_whitespace().collect();
            found.aliases.insert(name.to_owned(), CType::from_words(&words));
        }
        let looks = Cell::new(LOOKS_PER_TOKEN * (code.len() + 100));
        let reader = Reader { code: &code, brackets: Brackets::new(&code), looks };
        let mut scopes: Vec<Scope> = Vec::new();
        for at in 0..code.len() {
            while scopes.pop_if(|scope| scope.end <= at).is_some() {}
            let around = scopes.last().map_or("", |scope| scope.path.as_str());
            let begun = reader.read(at, around, &mut found);
            scopes.extend(begun.filter(|_| scopes.len() < MOST_SCOPES));
        }
        found
    }

    /// The names of all of them.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.defined.keys().map(String::as_str)
    }

    /// The names that stand for a number or a vector by `typedef`, `using`, an enumeration or a macro, and for which.
    pub(crate) fn elements(&self) -> impl Iterator<Item = (&str, Element)> {
        self.aliases.iter().filter_map(|(name, ctype)| match self.meaning(ctype, "") {
            Meaning::Element(element) => Some((name.as_str(), element)),
            Meaning::Structure(_) | Meaning::Pointer(_) | Meaning::Unknown => None,
        })
    }

    /// What a variable on the device has, or each of its elements: `name` has its namespaces before it.
    pub(crate) fn variable(&self, name: &str) -> Held {
        let name = name.trim_start_matches("::");
        let Some(Some(ctype)) = self.variables.get(name) else { return Held::Unknown };
        self.held(ctype, parent(name))
    }

    /// What something of this type has, that is named within `from`.
    fn held(&self, ctype: &CType, from: &str) -> Held {
        match self.meaning(ctype, from) {
            Meaning::Element(element) => Held::Element(element),
            Meaning::Pointer(to) => Held::Pointer(to.clone()),
            Meaning::Structure(_) | Meaning::Unknown => Held::Unknown,
        }
    }

    /// The fields of the structure `name`, at most `most` of them, those of structures within it among them; `None` for
    /// one that the text does not define. What is neither a number nor a vector, nor an array of them, is left out.
    pub(crate) fn fields(&self, name: &str, most: usize) -> Option<Vec<KnownField>> {
        let found = self.list(name, most, false)?.into_iter();
        let known = |Member { path, is_array, held }| match held {
            Held::Element(element) => Some(KnownField { path, element, is_array }),
            Held::Pointer(_) | Held::Unknown => None,
        };
        Some(found.filter_map(known).collect())
    }

    /// The instance of a template for a structure that a name stands for, `Vec<float>`, and the types of its fields;
    /// `None` where a field is neither a number nor a vector.
    pub(crate) fn instance(&self, name: &str) -> Option<(String, Vec<(String, Element)>)> {
        let named = CType::Named(name.to_owned());
        let mut ctype = &named;
        for _ in 0..DEEPEST {
            let CType::Named(own) = ctype else { return None };
            match self.aliases.get(last(own)) {
                Some(other) if other != ctype => ctype = other,
                Some(_) | None => break,
            }
        }
        let CType::Named(instance) = ctype else { return None };
        let (stem, arguments) = instance.strip_suffix('>')?.split_once('<')?;
        let definition = self.find(stem.trim(), "")?;
        let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
        let given = |of: &str| {
            let place = definition.parameters.iter().position(|parameter| parameter == of)?;
            Element::parse(arguments.get(place)?)
        };
        let element = |field: &Declared| {
            let own = match &field.ctype {
                CType::Named(of) => given(of),
                _ => None,
            };
            let element = own.or_else(|| match self.held(&field.ctype, &definition.path) {
                Held::Element(element) => Some(element),
                Held::Pointer(_) | Held::Unknown => None,
            });
            Some((field.name.clone(), element.filter(|_| field.is_public && !field.is_array)?))
        };
        let fields: Vec<_> = definition.fields.iter().map(element).collect::<Option<_>>()?;
        let is_one = !fields.is_empty() && definition.parameters.len() == arguments.len();
        is_one.then(|| (instance.clone(), fields))
    }

    /// The same with the fields that are something else.
    pub(crate) fn members(&self, name: &str, most: usize) -> Option<Vec<Member>> {
        self.list(name, most, true)
    }

    fn list(&self, name: &str, most: usize, has_all: bool) -> Option<Vec<Member>> {
        let definition = self.find(name, "")?;
        let mut list = List { found: Vec::new(), most, looks: MOST_LOOKS, has_all };
        self.add(definition, "", DEEPEST, &mut list);
        Some(list.found)
    }

    /// What the field `path` of the structure `name` is, `maps[2].heat`, where it is a texture or a surface object.
    #[cfg(feature = "gl")]
    pub(crate) fn object(&self, name: &str, path: &str) -> Option<CType> {
        let mut ctype = &self.field(name, path)?.ctype;
        for _ in 0..DEEPEST {
            match ctype {
                CType::Surface | CType::Texture => return Some(ctype.clone()),
                CType::Named(name) => ctype = self.aliases.get(last(name))?,
                CType::Value(_) | CType::Pointer { .. } => return None,
            }
        }
        None
    }

    /// Whether the field `path` of the structure `name` is private or protected.
    #[cfg(feature = "gl")]
    pub(crate) fn is_hidden(&self, name: &str, path: &str) -> bool {
        self.field(name, path).is_some_and(|field| !field.is_public)
    }

    /// The field `path` of the structure `name`.
    #[cfg(feature = "gl")]
    fn field(&self, name: &str, path: &str) -> Option<&Declared> {
        let mut within = self.find(name, "")?;
        let mut names = path.split('.').map(|part| part.split('[').next().unwrap_or_default());
        let mut name = names.next()?;
        loop {
            let field = within.fields.iter().find(|field| field.name == name)?;
            name = match names.next() {
                Some(next) => next,
                None => return Some(field),
            };
            match self.meaning(&field.ctype, &within.path) {
                Meaning::Structure(inner) => within = inner,
                Meaning::Element(_) | Meaning::Pointer(_) | Meaning::Unknown => return None,
            }
        }
    }

    /// What a name means within `from`: what is defined there, or around it; else what lies in the fewest others of all
    /// that may be meant.
    fn find(&self, name: &str, from: &str) -> Option<&Definition> {
        let all = self.defined.get(last(name))?;
        let (mut from, qualifier) = match name.strip_prefix("::") {
            Some(name) => ("", parent(name)),
            None => (from, parent(name)),
        };
        loop {
            let around = joined(from, qualifier);
            if let Some(found) = all.iter().find(|definition| definition.around == around) {
                return Some(found);
            }
            if from.is_empty() {
                break;
            }
            from = parent(from);
        }
        let ending = format!("::{qualifier}");
        let depth = |definition: &&Definition| {
            let is_named_so = joined("", &definition.around).ends_with(&ending);
            (!is_named_so, definition.path.matches("::").count())
        };
        all.iter().min_by_key(depth)
    }

    fn define(
        &mut self,
        name: String,
        around: &str,
        fields: Vec<Declared>,
        parameters: Vec<String>,
    ) {
        let (around, path) = (around.to_owned(), joined(around, &name));
        let all = self.defined.entry(name).or_default();
        if all.len() < MOST_NAMESAKES && all.iter().all(|known| known.around != around) {
            all.push(Definition { around, path, fields, parameters });
        }
    }

    fn add(&self, definition: &Definition, before: &str, deep: usize, list: &mut List) {
        for field in definition.fields.iter().filter(|field| field.is_public) {
            if list.found.len() == list.most || list.looks == 0 {
                return;
            }
            list.looks -= 1;
            let path = format!("{before}{}", field.name);
            // Of several structures none has a field's name alone.
            if let Meaning::Structure(inner) = self.meaning(&field.ctype, &definition.path)
                && deep > 0
                && !field.is_array
            {
                self.add(inner, &format!("{path}."), deep - 1, list);
                continue;
            }
            let held = self.held(&field.ctype, &definition.path);
            if list.has_all || matches!(held, Held::Element(_)) {
                list.found.push(Member { path, is_array: field.is_array, held });
            }
        }
    }

    /// What a type is that is named within `from`.
    fn meaning<'a>(&'a self, mut ctype: &'a CType, from: &str) -> Meaning<'a> {
        for _ in 0..DEEPEST {
            match ctype {
                CType::Value(element) => return Meaning::Element(*element),
                CType::Named(name) if self.enumerations.contains_key(last(name)) => {
                    ctype = &self.enumerations[last(name)];
                }
                CType::Named(name) => match self.aliases.get(last(name)) {
                    Some(other) if other != ctype => ctype = other,
                    Some(_) | None => {
                        let found = self.find(name, from);
                        return found.map_or(Meaning::Unknown, Meaning::Structure);
                    }
                },
                CType::Pointer { to, .. } => return Meaning::Pointer(to),
                CType::Surface | CType::Texture => return Meaning::Unknown,
            }
        }
        Meaning::Unknown
    }
}

/// Fields as they are found.
struct List {
    found: Vec<Member>,
    /// How many are wanted at most.
    most: usize,
    /// How many declarations are still looked at.
    looks: usize,
    /// Whether those count that are neither numbers nor vectors.
    has_all: bool,
}

/// What a type is.
enum Meaning<'a> {
    Element(Element),
    Structure(&'a Definition),
    Pointer(&'a Pointee),
    Unknown,
}

/// A namespace or a structure that is open.
struct Scope {
    /// Its name within others.
    path: String,
    /// Where it ends.
    end: usize,
}

/// Whether what stands behind the word is a variable on the device, or a function for it.
fn is_mark(word: &str) -> bool {
    matches!(word, "__constant__" | "__device__" | "__managed__")
}

/// A name without its namespaces.
fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// The namespaces of a name.
fn parent(name: &str) -> &str {
    name.rsplit_once("::").map_or("", |(before, _)| before)
}

/// A name within others; without them where the whole is too long.
fn joined(around: &str, name: &str) -> String {
    match (around, name) {
        ("", name) => name.to_owned(),
        (around, "") => around.to_owned(),
        (around, name) if around.len() + name.len() > LONGEST_NAME => name.to_owned(),
        (around, name) => format!("{around}::{name}"),
    }
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

    /// Takes what is defined at `at`, if anything, within `around`; the scope that begins there.
    fn read(&self, at: usize, around: &str, found: &mut Structures) -> Option<Scope> {
        match self.text(at) {
            "struct" | "class" => return self.structure(at, around, found),
            "namespace" => return self.namespace(at + 1, around),
            word if is_mark(word) => self.variables(at + 1, around, found),
            "enum" => {
                let name = at + 1 + usize::from(matches!(self.text(at + 1), "class" | "struct"));
                let begin = name + usize::from(self.word(name).is_some());
                let of = match self.text(begin) {
                    ":" => CType::from_words(&self.words(begin + 1, self.enumerators(begin))),
                    _ => CType::Value(Element::scalar(Scalar::I32)),
                };
                let mut names: Vec<String> =
                    self.word(name).map(str::to_owned).into_iter().collect();
                if self.text(at.wrapping_sub(1)) == "typedef" {
                    names.extend(self.names_before_semicolon(at));
                }
                found.enumerations.extend(names.into_iter().map(|name| (name, of.clone())));
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
        None
    }

    /// Takes the variables that a declaration has behind the mark before `at`, if it is none of a function.
    fn variables(&self, at: usize, around: &str, found: &mut Structures) {
        let is_said_of_variables =
            |word| is_mark(word) || matches!(word, "static" | "extern" | "inline" | "constexpr");
        let at = (at..).find(|at| !is_said_of_variables(self.text(*at))).unwrap_or(at);
        let end = self.member_end(at);
        if !self.is_data(at, end) {
            return;
        }
        for Declared { name, ctype, .. } in self.declared(at, end.saturating_sub(1)) {
            let is_same = |of: &CType| *of == ctype;
            let known = found.variables.entry(joined(around, &name));
            let known = known.and_modify(|known| *known = known.take().filter(is_same));
            known.or_insert_with(|| Some(ctype.clone()));
        }
    }

    /// The namespace whose name begins at `at`: `a::b { ... }`.
    fn namespace(&self, at: usize, around: &str) -> Option<Scope> {
        let open = (at..at + 2 * DEEPEST).find(|at| self.text(*at) == "{")?;
        let words = self.code.get(at..open)?;
        let is_name = words.iter().all(|word| word.kind == Kind::Word || word.text == "::");
        let name = words.iter().map(|word| word.text).collect::<String>();
        is_name.then(|| Scope { path: joined(around, &name), end: self.behind(open) })
    }

    fn structure(&self, at: usize, around: &str, found: &mut Structures) -> Option<Scope> {
        let (name, open) = self.head(at)?;
        let body = open + 1..self.behind(open).saturating_sub(1);
        let mut fields = Vec::new();
        self.fields(body, self.text(at) == "struct", DEEPEST, &mut fields);
        let mut names: Vec<String> = name.map(str::to_owned).into_iter().collect();
        if self.text(at.wrapping_sub(1)) == "typedef" {
            names.extend(self.names_before_semicolon(self.behind(open)));
        }
        for name in names {
            found.define(name, around, fields.clone(), self.template_parameters(at));
        }
        let path = joined(around, name.unwrap_or_default());
        Some(Scope { path, end: self.behind(open) })
    }

    /// The names between the angles of `template <class T, int n>` before the structure at `at`.
    fn template_parameters(&self, at: usize) -> Vec<String> {
        let Some(close) = at.checked_sub(1).filter(|close| self.text(*close) == ">") else {
            return Vec::new();
        };
        let near = close.saturating_sub(LONGEST_TEMPLATE)..close;
        let Some(open) = near.rev().find(|at| self.text(*at) == "<") else { return Vec::new() };
        let is_name =
            |at: &usize| self.word(*at).is_some() && matches!(self.text(at + 1), "," | ">" | "=");
        let names = (open..close).filter(is_name).map(|at| self.text(at).to_owned());
        match open > 0 && self.text(open - 1) == "template" {
            true => names.collect(),
            false => Vec::new(),
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
    /// Where the enumerators of an enumeration begin, or its declaration ends.
    fn enumerators(&self, at: usize) -> usize {
        let end = self.semicolon(at);
        (at..end).find(|at| self.text(*at) == "{").unwrap_or(end)
    }

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

    /// The fields that the members at these places are, with those of structures without a name that lie `deep` in one
    /// another as far as anybody may name them.
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
                    if self.is_data(at, end) {
                        let declared = self.declared(at, end.saturating_sub(1));
                        found.extend(declared.into_iter().map(|one| Declared { is_public, ..one }));
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
            let is_array = part.get(stop) == Some(&"[");
            let Some((name, before)) = part[..stop].split_last() else { continue };
            let stars = before.iter().rev().take_while(|word| **word == "*").count();
            let base = &before[..before.len() - stars];
            let of = of.get_or_insert_with(|| base.to_vec());
            let words: Vec<&str> =
                of.iter().chain(&before[before.len() - stars..]).copied().collect();
            if !is_bits && is_identifier(name) && name.len() <= LONGEST_NAME && !of.is_empty() {
                let (name, ctype) = ((*name).to_owned(), CType::from_words(&words));
                found.push(Declared { name, ctype, is_array, is_public: true });
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
    fn variables_of_the_device_have_the_types_of_their_declarations() {
        let text = "typedef double real; struct Setup { int n; };\n\
            __constant__ float weights[3], *to; static __device__ real mass = 1;\n\
            namespace limits { extern __device__ __managed__ unsigned int most; Setup host; __constant__ Setup setup; }\n\
            namespace { __device__ volatile float4 at[2] = {}; }\n\
            __device__ int twice(int n) { static __device__ int calls; return 2 * n; }\n\
            __device__ int of; namespace { __device__ float of; } int host;";
        let found = Structures::of(Macros::default(), text);
        let element = |name: &str| match found.variable(name) {
            Held::Element(element) => element.to_string(),
            Held::Pointer(_) => "pointer".to_owned(),
            Held::Unknown => String::new(),
        };
        for (name, expected) in [
            ("weights", "float"),
            ("to", "pointer"),
            ("::mass", "double"),
            ("limits::most", "unsigned"),
            ("most", ""),
            ("limits::setup", ""),
            ("limits::host", ""),
            ("at", "float4"),
            ("twice", ""),
            ("calls", "int"),
            ("of", ""),
            ("host", ""),
        ] {
            assert_eq!(element(name), expected, "{name}");
        }
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
            // Fields of one of several structures have no name of their own.
            (
                "struct V { float a; }; struct P { int n; V all[4]; V one; };",
                &["int n", "float one.a"],
            ),
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
                &["char kind"],
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
    fn a_name_is_that_of_the_nearest_scope() {
        let text =
            "template <class T> struct Tree { struct P { int node; struct Q { P p; }; }; P p; };
            namespace a { struct P { float q; int z; }; struct Of { P p; }; }
            namespace b::c { struct P { float q, w; }; struct Of { P p; a::P other; ::P real; }; }
            struct P { double real; };";
        for (name, expected) in [
            ("P", &["double real"][..]),
            ("::P", &["double real"]),
            ("a::P", &["float q", "int z"]),
            ("b::c::P", &["float q", "float w"]),
            ("c::P", &["float q", "float w"]),
            ("Tree<int>::P", &["double real"]),
            ("a::Of", &["float p.q", "int p.z"]),
            (
                "b::c::Of",
                &["float p.q", "float p.w", "float other.q", "int other.z", "double real.real"],
            ),
            ("Q", &["int p.node"]),
            ("Tree", &["int p.node"]),
        ] {
            let expected: Vec<String> = expected.iter().map(|s| (*s).to_owned()).collect();
            assert_eq!(fields(text, name), Some(expected), "{name}");
        }
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
            "namespace A { struct A { ",
            "namespace A { struct A; } namespace ",
        ] {
            let _ = fields(&part.repeat(50_000), "A");
        }
        let many = format!("struct P {{ int {}; }};", vec!["a"; 100_000].join(", "));
        assert_eq!(fields(&many, "P").map(|found| found.len()), Some(100));
    }
}
