//! Which of several functions of one name a call means: by where they lie, and by the types of what they are given, as
//! C++ chooses where that is decided by what is read.

use crate::{
    cuda::lexer::{Token, Tokens},
    scene::draft::{
        code::{
            Span,
            candidates::{Candidate, type_in},
            pointers::without_casts,
            variables::{Id, Value},
        },
        expression::cpp_number::{QUALIFIERS, Type},
        host::{Host, place::Place},
    },
};

/// Variables that are declared with the type of others, at most so many behind one another.
const DEEPEST: usize = 4;
/// Names joined by `::`, at most so many.
const MOST_SPACES: usize = 16;

/// What a call means.
pub(in crate::scene::draft) enum Choice {
    /// The function of this region.
    Here(usize),
    /// One that is declared here and defined elsewhere, or of something that is not in the file.
    Elsewhere,
    /// One of these.
    Unclear(Vec<usize>),
}

/// A type, as far as overloads are told apart by it.
#[derive(Clone, PartialEq)]
enum Shape<'s> {
    Number(Type),
    Pointer {
        to: Box<Self>,
        is_constant: bool,
    },
    Named(&'s str),
    /// Whatever it is: the parameter of a template.
    Open,
    Void,
}

/// What is given.
enum Given<'s> {
    Of(Shape<'s>),
    /// `nullptr`, `NULL`, or a `0`, which may be a pointer, too.
    Null(Option<Type>),
    Unknown,
}

/// How well an argument fits a parameter; the least is the best.
#[derive(Clone, Copy, PartialEq)]
enum Fit {
    Level(u8),
    Not,
    Unknown,
}

/// A function with how well it takes what is given.
struct Ranked<'c, 's> {
    own: &'c Candidate<'s>,
    /// The types of its parameters.
    taken: Vec<Shape<'s>>,
    fits: Vec<Fit>,
}

impl Ranked<'_, '_> {
    /// Whether each argument fits as well as in the other one, and one of them better; of two that are alike the one
    /// that is no template.
    fn is_better(&self, other: &Self) -> bool {
        let mut is_somewhere = false;
        for (index, fits) in self.fits.iter().zip(&other.fits).enumerate() {
            let is_as_good = match fits {
                (Fit::Level(own), Fit::Level(other)) => {
                    is_somewhere |= own < other;
                    own <= other
                }
                (Fit::Not | Fit::Unknown, _) | (Fit::Level(_), Fit::Not | Fit::Unknown) => false,
            };
            if !is_as_good && self.taken.get(index) != other.taken.get(index) {
                return false;
            }
        }
        is_somewhere || self.own.template.is_empty() && !other.own.template.is_empty()
    }
}

/// How a function is named in a call.
pub(in crate::scene::draft) struct Named<'n> {
    pub(in crate::scene::draft) name: &'n str,
    /// What stands before it, joined by `::`.
    pub(in crate::scene::draft) path: Vec<&'n str>,
    /// The structure that it is a method of, where that is known; it is none otherwise.
    pub(in crate::scene::draft) receiver: Option<Receiver>,
    /// Whether template arguments are written.
    pub(in crate::scene::draft) is_instance: bool,
}

/// What a method is called of.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::scene::draft) enum Receiver {
    Variable(Id),
    Other,
}

impl<'s> Host<'s> {
    /// How a function is named in the call whose name stands at `at`.
    pub(in crate::scene::draft) fn named_in_call(&self, at: usize) -> Named<'s> {
        let before = |by: usize| at.checked_sub(by).map_or("", |at| self.text_at(at));
        let (mut path, mut start) = (Vec::new(), at);
        while start >= 2
            && self.text_at(start - 1) == "::"
            && self.code.is_word_at(start - 2)
            && path.len() < MOST_SPACES
        {
            start -= 2;
            path.insert(0, self.text_at(start));
        }
        let sign = match (before(2), before(1)) {
            (_, ".") => Some(1),
            ("-", ">") => Some(2),
            _ => None,
        };
        let receiver = sign.map(|sign| {
            let own = at.checked_sub(sign + 1).filter(|own| self.code.is_word_at(*own));
            let is_member = own
                .and_then(|own| own.checked_sub(1))
                .is_some_and(|before| matches!(self.text_at(before), "." | ">"));
            let own = own.filter(|_| !is_member);
            let id = own.and_then(|own| self.visible(self.text_at(own), own));
            id.map_or(Receiver::Other, Receiver::Variable)
        });
        let receiver = receiver.filter(|_| {
            sign.and_then(|sign| at.checked_sub(sign + 1)).map(|own| self.text_at(own))
                != Some("this")
        });
        let is_instance = self.text_at(at + 1) == "<" && self.text_at(at + 2) != "<";
        Named { name: self.text_at(at), path, receiver, is_instance }
    }

    /// What a call at a place means that gives these arguments; `None` where nothing of the file is called so.
    pub(in crate::scene::draft) fn chosen(
        &self,
        named: &Named<'_>,
        arguments: &[Span],
        place: &Place<'_, 's>,
    ) -> Option<Choice> {
        let all = self.candidates.named(named.name);
        if all.is_empty() {
            return None;
        }
        self.look(all.len() * (arguments.len() + 1));
        let Some(mut left) = self.reached(all, named, place) else {
            return Some(Choice::Elsewhere);
        };
        let unclear = |left: &[&Candidate<'s>]| {
            Choice::Unclear(left.iter().filter_map(|own| own.region).collect())
        };
        let before = left.clone();
        left.retain(|own| self.takes_as_many(own, arguments.len()));
        let is_template = |own: &Candidate<'s>| {
            !own.template.is_empty() || own.is_specialised || own.region.is_none()
        };
        left.retain(|own| !named.is_instance || is_template(own));
        if left.is_empty() || left.len() > 1 && left.iter().any(|own| own.is_specialised) {
            return Some(unclear(&before));
        }
        if left.len() > 1 {
            let given: Vec<Given<'s>> =
                arguments.iter().map(|span| self.given_shape(span, place)).collect();
            left = self.best(&left, &given);
        }
        Some(match left.as_slice() {
            [one] => one.region.map_or(Choice::Elsewhere, Choice::Here),
            _ => unclear(&left),
        })
    }

    /// Those that a name reaches from a place; `None` where it names something that is not in the file.
    fn reached<'c>(
        &self,
        all: &'c [Candidate<'s>],
        named: &Named<'_>,
        place: &Place<'_, 's>,
    ) -> Option<Vec<&'c Candidate<'s>>> {
        let everything = || all.iter().collect::<Vec<_>>();
        if let Some(receiver) = named.receiver {
            let Receiver::Variable(id) = receiver else { return Some(everything()) };
            let variable = self.variables.get(id);
            // What a pointer or a reference leads to may be of another structure, which overrides the method.
            let before = self.code.text_before(variable.at);
            let is_object =
                !variable.declared.is_indirect && variable.parameter.is_none() && before != "&";
            if self.candidates.has_virtual && !is_object {
                return Some(everything());
            }
            let words = &variable.declared.words;
            let own = |own: &&Candidate<'s>| own.path.last().is_some_and(|of| words.contains(of));
            let own: Vec<_> = all.iter().filter(own).collect();
            let is_known = |word: &str| {
                word == "auto"
                    || self.candidates.is_scope(word)
                    || self.type_parameters.contains(word)
            };
            return match own.is_empty() {
                // A method of what its structure is made of, as it seems.
                true => words.iter().any(|word| is_known(word)).then(everything),
                false => Some(own),
            };
        }
        let around = self.candidates.path_of(self.regions.function(place.at), place.at);
        if !named.path.is_empty() {
            let ends = |own: &&Candidate<'s>| own.path.ends_with(&named.path);
            let own: Vec<_> = all.iter().filter(ends).collect();
            let last = named.path.last().copied().unwrap_or_default();
            return match own.is_empty() {
                true if self.candidates.is_structure(last) || named.path == ["std"] => None,
                true => self.candidates.is_scope(last).then(everything),
                false => Some(own),
            };
        }
        // What lies in the innermost scope hides the others, but for what `using` brings there.
        let of = |path: &[&str]| {
            let is_it = |own: &&Candidate<'s>| own.path == path;
            all.iter().filter(is_it).collect::<Vec<_>>()
        };
        let mut found = Vec::new();
        for own in self.candidates.used_at(place.at) {
            let path = match own.is_namespace {
                true => own.path.as_slice(),
                false => match own.path.split_last() {
                    Some((last, path)) if *last == named.name => path,
                    _ => continue,
                },
            };
            let more = all.iter().filter(|own| own.path.ends_with(path));
            found.extend(more.filter(|_| !path.is_empty()));
        }
        for length in (0..=around.len()).rev() {
            let own = of(&around[..length]);
            if !own.is_empty() {
                found.extend(own);
                break;
            }
        }
        // By what it is given, a function of another namespace may be found.
        Some(if found.is_empty() { everything() } else { found })
    }

    /// Whether a function takes so many arguments.
    fn takes_as_many(&self, own: &Candidate<'s>, count: usize) -> bool {
        let has = |part: &Span, sign: &str| part.clone().any(|at| self.text_at(at) == sign);
        let is_open = own.parameters.iter().any(|part| {
            has(part, ".") || part.clone().any(|at| self.text_at(at).starts_with(".."))
        });
        let least = own.parameters.iter().filter(|part| !has(part, "=")).count();
        is_open || (least..=own.parameters.len()).contains(&count)
    }

    /// The one that fits better than all others; all that may fit, where none does.
    fn best<'c>(&self, all: &[&'c Candidate<'s>], given: &[Given<'s>]) -> Vec<&'c Candidate<'s>> {
        let ranked = |own: &&'c Candidate<'s>| {
            let taken: Vec<Shape<'s>> = own.parameters.iter().map(|p| self.taken(p, own)).collect();
            let fits = given.iter().zip(&taken).map(|(given, taken)| fit(given, taken)).collect();
            Ranked { own, taken, fits }
        };
        let all: Vec<Ranked<'c, 's>> = all.iter().map(ranked).collect();
        let mut left: Vec<&Ranked<'c, 's>> =
            all.iter().filter(|own| !own.fits.contains(&Fit::Not)).collect();
        if left.is_empty() {
            left = all.iter().collect();
        }
        let is_best = |one: &&&Ranked<'c, 's>| {
            left.iter().all(|other| std::ptr::eq(**one, *other) || one.is_better(other))
        };
        match left.iter().find(is_best) {
            Some(best) => vec![best.own],
            None => left.iter().map(|ranked| ranked.own).collect(),
        }
    }

    /// The type of a parameter.
    fn taken(&self, part: &Span, own: &Candidate<'s>) -> Shape<'s> {
        self.shape_of(&type_in(self.tokens(part)), &own.template)
    }

    /// The type that these tokens are.
    fn shape_of(&self, tokens: &[&'s str], template: &[&str]) -> Shape<'s> {
        let stars = tokens.iter().filter(|text| **text == "*").count();
        let is_constant = tokens.contains(&"const");
        let words: Vec<&'s str> = tokens
            .iter()
            .copied()
            .filter(|text| text.starts_with(|c: char| c.is_alphabetic() || c == '_'))
            .filter(|word| !QUALIFIERS.contains(word) && *word != "std")
            .collect();
        let is_open = |word: &&str| template.contains(word) || self.type_parameters.contains(word);
        let mut shape = match self.named_type(&words) {
            _ if words.iter().any(is_open) => Shape::Open,
            Some(number) => Shape::Number(number),
            None => match words.last() {
                Some(&"void") => Shape::Void,
                Some(&"auto") | None => Shape::Open,
                Some(last) => Shape::Named(last),
            },
        };
        for level in 0..stars {
            shape = Shape::Pointer { to: Box::new(shape), is_constant: is_constant && level == 0 };
        }
        shape
    }

    /// The type of what is given.
    fn given_shape(&self, span: &Span, place: &Place<'_, 's>) -> Given<'s> {
        let tokens = self.tokens(span);
        match tokens {
            [one] if matches!(one.text, "nullptr" | "NULL") => return Given::Null(None),
            [one] if one.text == "0" => return Given::Null(Some(Type::Int)),
            [one] if matches!(one.text, "true" | "false") => {
                return Given::Of(Shape::Number(Type::Bool));
            }
            _ => {}
        }
        let cast = without_casts(&self.code, span.clone());
        if cast.start > span.start {
            let inner: Vec<&str> = (span.start..cast.start).map(|at| self.text_at(at)).collect();
            let of_template = inner.iter().position(|text| *text == "<");
            let inner = match of_template {
                Some(open) => &inner[open + 1..],
                None => &inner[..],
            };
            let end = inner.iter().position(|text| matches!(*text, ")" | ">"));
            return Given::Of(self.shape_of(&inner[..end.unwrap_or(inner.len())], &[]));
        }
        if let Some(shape) = self.pointer_shape(tokens, place, 0) {
            return Given::Of(shape);
        }
        match self.surely(|host| host.told(span, place)).0 {
            Some(told) => Given::Of(Shape::Number(told.of())),
            None => Given::Unknown,
        }
    }

    /// The type of what begins with the name of a variable, where that says it.
    fn pointer_shape(
        &self,
        tokens: &[Token<'s>],
        place: &Place<'_, 's>,
        depth: usize,
    ) -> Option<Shape<'s>> {
        let (name, behind, is_address) = match tokens {
            [and, name, behind @ ..] if and.text == "&" && name.is_word() => (name, behind, true),
            [name, behind @ ..] if name.is_word() => (name, behind, false),
            _ => return None,
        };
        let id = self.visible(name.text, place.at)?;
        let shape = self.declared_shape(id, place, depth)?;
        let is_pointer = matches!(shape, Shape::Pointer { .. });
        let pointer = |to| Shape::Pointer { to: Box::new(to), is_constant: false };
        let is_index = behind.first().is_some_and(|token| token.text == "[")
            && behind.last().is_some_and(|token| token.text == "]")
            && behind.iter().filter(|token| token.text == "[").count() == 1;
        match (behind, is_address) {
            ([], true) => Some(pointer(shape)),
            ([], false) => Some(shape),
            (_, true) if is_index && is_pointer => Some(shape),
            (_, false) if is_index => match shape {
                Shape::Pointer { to, .. } => Some(*to),
                Shape::Number(_) | Shape::Named(_) | Shape::Open | Shape::Void => None,
            },
            ([sign, ..], false) if is_pointer && matches!(sign.text, "+" | "-") => {
                let is_other =
                    |token: &Token<'_>| matches!(token.text, "?" | "=" | "<" | ">" | "&" | "|");
                let is_difference = sign.text == "-"
                    && behind.iter().any(|token| {
                        let id = self.visible(token.text, place.at);
                        id.is_some_and(|id| self.variables.get(id).declared.is_indirect)
                    });
                (!behind.iter().any(is_other) && !is_difference).then_some(shape)
            }
            _ => None,
        }
    }

    /// The type that a variable is declared with.
    fn declared_shape(&self, id: Id, place: &Place<'_, 's>, depth: usize) -> Option<Shape<'s>> {
        let variable = self.variables.get(id);
        let words = &variable.declared.words;
        if words.contains(&"auto") {
            let [set] = variable.definitions.as_slice() else { return None };
            let Value::Expression(span) = &set.value else { return None };
            let there = Place { at: set.at, ..place.clone() };
            let is_deep = depth >= DEEPEST;
            return if is_deep {
                None
            } else {
                self.pointer_shape(self.tokens(span), &there, depth + 1)
            };
        }
        let name = match &variable.parameter {
            Some((list, _)) => list.clone().find(|at| self.text_at(*at) == variable.name)?,
            None => variable.at,
        };
        let mut stars = 0;
        let mut at = name.checked_sub(1)?;
        while matches!(self.text_at(at), "*" | "&" | "const")
            || self.text_at(at).contains("restrict")
        {
            stars += usize::from(self.text_at(at) == "*");
            at = at.checked_sub(1)?;
        }
        stars += usize::from(self.text_at(name + 1) == "[");
        let tokens: Vec<&'s str> =
            words.iter().copied().chain(std::iter::repeat_n("*", stars)).collect();
        let shape = self.shape_of(&tokens, &[]);
        // What a template's parameter is here is not looked up, nor a container's element.
        let is_of_template = words.iter().any(|word| self.type_parameters.contains(word));
        (!is_of_template).then_some(shape)
    }
}

/// How well something fits a parameter of this type.
fn fit(given: &Given<'_>, taken: &Shape<'_>) -> Fit {
    let given = match given {
        Given::Of(shape) => shape,
        Given::Null(number) => {
            return match (taken, number) {
                (Shape::Pointer { .. }, None) => Fit::Level(1),
                (Shape::Pointer { .. }, Some(_)) => Fit::Level(2),
                (Shape::Number(taken), Some(number)) => of_numbers(*number, *taken),
                (Shape::Number(_), None) => Fit::Unknown,
                (Shape::Named(_) | Shape::Open | Shape::Void, _) => Fit::Unknown,
            };
        }
        Given::Unknown => return Fit::Unknown,
    };
    match (given, taken) {
        (Shape::Open, _) => Fit::Unknown,
        (_, Shape::Open) => Fit::Level(0),
        (Shape::Number(given), Shape::Number(taken)) => of_numbers(*given, *taken),
        (
            Shape::Pointer { to: given, is_constant: from },
            Shape::Pointer { to: taken, is_constant: into },
        ) => match (given == taken, taken.as_ref()) {
            (true, _) if *from && !*into => Fit::Not,
            (true, _) => Fit::Level(u8::from(from != into)),
            (false, Shape::Void) => Fit::Level(2),
            (false, Shape::Open) => Fit::Level(0),
            // A structure may be another one's base, and a name stand for another one.
            (false, Shape::Named(_)) => Fit::Unknown,
            (false, Shape::Number(_) | Shape::Pointer { .. }) => match given.as_ref() {
                Shape::Named(_) | Shape::Open => Fit::Unknown,
                Shape::Number(_) | Shape::Pointer { .. } | Shape::Void => Fit::Not,
            },
        },
        (Shape::Named(given), Shape::Named(taken)) if given == taken => Fit::Level(0),
        (Shape::Pointer { .. }, Shape::Number(Type::Bool)) => Fit::Level(2),
        (Shape::Pointer { .. }, Shape::Number(_)) | (Shape::Number(_), Shape::Pointer { .. }) => {
            Fit::Not
        }
        (Shape::Named(_), _) | (_, Shape::Named(_)) | (Shape::Void, _) | (_, Shape::Void) => {
            Fit::Unknown
        }
    }
}

/// The same of numbers: as it is, promoted, converted.
fn of_numbers(given: Type, taken: Type) -> Fit {
    let is_small = given.bytes() < Type::Int.bytes() && !given.is_float();
    let is_promoted =
        (given, taken) == (Type::Float, Type::Double) || is_small && taken == Type::Int;
    Fit::Level(if given == taken { 0 } else { 2 - u8::from(is_promoted) })
}
