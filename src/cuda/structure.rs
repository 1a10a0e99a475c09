//! The structures of a text, and its variables on the device: names, and types as far as the text tells.
//!
//! Enters: a text, and the macros that the compiler's options define. Leaves: structures with their fields, what other
//! names of types stand for, the types of variables. Must not know: `cuda::host`, `cuda::files`.
//!
//! How they lie in memory, and what a type really is, only the compiler knows: it is asked for what was found here.

mod reader;

use std::collections::BTreeMap;

use self::reader::Reader;
use super::{CType, Macros, Pointee, conditional};
use crate::element::Element;

/// So many tokens are looked at.
const MOST_TOKENS: usize = 1 << 22;
/// So deep structures lie in one another, and so often a name may stand for another.
const DEEPEST: usize = 8;
/// So many fields are looked at to find those of one structure, which may have others within it.
const MOST_LOOKS: usize = 10_000;
/// The longest name of a field in bytes, and of the namespaces and structures around a structure.
const LONGEST_NAME: usize = 255;
/// So many structures of one name are told apart by what is around them.
const MOST_NAMESAKES: usize = 64;
/// So many namespaces and structures lie in one another that are told apart.
const MOST_SCOPES: usize = 64;

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
        let reader = Reader::new(&code);
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
        let CType::Named(instance) = self.behind_aliases(&named) else { return None };
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
        match self.behind_aliases(&self.field(name, path)?.ctype) {
            object @ (CType::Surface | CType::Texture) => Some(object.clone()),
            CType::Named(_) | CType::Value(_) | CType::Pointer { .. } => None,
        }
    }

    /// The type that a type's name stands for.
    fn behind_aliases<'a>(&'a self, mut ctype: &'a CType) -> &'a CType {
        for _ in 0..DEEPEST {
            let CType::Named(name) = ctype else { break };
            match self.aliases.get(last(name)) {
                Some(other) if other != ctype => ctype = other,
                Some(_) | None => break,
            }
        }
        ctype
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
mod tests;
