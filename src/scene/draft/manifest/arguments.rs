//! What kernels are given in a launch.

use super::{Draft, SOME, arrays::element_of, guess::Guess};
use crate::{
    cuda::{
        CType, KernelParameter, Pointee,
        lexer::{self, Token},
    },
    element::{Element, Scalar},
    scene::draft::{
        code::{
            Span,
            pointers::{Offset, without_casts},
            variables::{Definition, Value},
        },
        expression::{
            cpp_number::{Number, Type},
            text::quoted_text,
            told::Told,
        },
        host::{Assumes, launch::Launch, place::Place},
        values::{
            sizes::is_size,
            structures::{self, Field, Given},
        },
    },
};

/// A template argument has at most so many words.
const MOST_WORDS: usize = 100;
/// Template arguments that are those of templates around them, at most so many.
const DEEPEST: usize = 8;

/// What a parameter wants in a launch.
pub(in crate::scene::draft) enum Wanted<'s> {
    Texture(&'s str),
    Array {
        pointer: &'s str,
        /// The type of the elements that the parameter takes, and that of the array's.
        element: String,
        own: String,
        offset: Offset,
    },
    /// By the names of its fields; whether all of them are known.
    Structure(Vec<(String, Self)>, bool),
    Guess(Guess),
}

impl<'s> Draft<'_, 's> {
    /// What a parameter is given in a launch.
    pub(in crate::scene::draft) fn argument(
        &self,
        ctype: &CType,
        span: &Span,
        place: &Place<'_, 's>,
    ) -> Wanted<'s> {
        let tokens = self.host.tokens(span);
        let text = self.host.text(span);
        match ctype {
            CType::Pointer { .. } if is_null(&text) => Wanted::Guess(Guess::known("0")),
            CType::Pointer { to, .. } => {
                let offset = self.offset(span, place, 0);
                let known = |name: &&str| {
                    self.host.pointees.contains_key(name)
                        || self.host.allocations.contains_key(name)
                };
                let is_word = |token: &&Token<'_>| token.is_word();
                // What it is cast to names none.
                let inner = without_casts(&self.host.code, span.clone());
                let words = || self.host.tokens(&inner).iter().filter(is_word).map(|t| t.text);
                let is_given =
                    |name: &&str| self.host.argument_of(name, place).is_some() || known(name);
                let is_variable = |name: &&str| self.host.visible(name, place.at).is_some();
                let base =
                    self.host.base(&inner).filter(|name| is_given(name) || is_variable(name));
                let pointer = base.or_else(|| words().find(is_given));
                let pointer = pointer.or_else(|| words().find(is_variable));
                let pointer = pointer.or_else(|| words().next_back());
                match pointer {
                    Some(pointer) => {
                        let is_cast = inner != *span;
                        self.pointed(pointer, to, offset, (text, is_cast), place)
                    }
                    None => Wanted::Guess(Guess::open("0", text)),
                }
            }
            CType::Value(element) if element.lanes == 1 => {
                let of = Type::of_element(*element).unwrap_or(Type::Float);
                Wanted::Guess(match self.given(span, place, Some(of)) {
                    Some(guess) => guess,
                    None if is_size(&text) && holds_sizes(element.scalar) => {
                        Guess::open(SOME.to_string(), text)
                    }
                    None => blank(ctype, &text),
                })
            }
            CType::Surface | CType::Texture => match tokens {
                [name] if name.is_word() => Wanted::Texture(name.text),
                _ => Wanted::Guess(blank(ctype, &text)),
            },
            // What is given a number is one under another name.
            CType::Named(name) => {
                let of_fields = || match tokens {
                    [variable] if variable.is_word() => self.structure(name, variable.text, place),
                    [star, variable] if star.text == "*" && variable.is_word() => {
                        self.structure(name, variable.text, place)
                    }
                    _ => {
                        let made = structures::fields_made(self.host, name, span, place);
                        made.map(|(fields, is_known)| self.of_fields(fields, is_known, place))
                    }
                };
                let of = self.host.named_type(&[name]);
                let given = self.given(span, place, of).map(Wanted::Guess).or_else(of_fields);
                given.unwrap_or_else(|| Wanted::Guess(blank(ctype, &text)))
            }
            CType::Value(_) => Wanted::Guess(blank(ctype, &text)),
        }
    }

    /// What a pointer of the host is, by its name; `text` is what stands there, and whether it is cast.
    fn pointed(
        &self,
        name: &'s str,
        to: &Pointee,
        offset: Offset,
        (text, is_cast): (String, bool),
        place: &Place<'_, 's>,
    ) -> Wanted<'s> {
        let host = self.host;
        let ((pointer, there), is_sure) = host.surely(|_| {
            let (pointer, there) = host.pointer_of(name, place);
            let is_of_instances = is_cast && self.has_types_of_instances(pointer, &there);
            if host.is_other_member(pointer, there.at) || is_of_instances {
                host.doubt();
            }
            (pointer, there)
        });
        if is_null(pointer) {
            return Wanted::Guess(Guess::known("0"));
        }
        let of_host = self.host.pointee(self.host.given_pointer(name, place).0);
        let element = element_of(self.structures, to, of_host);
        let own = self.own_element(pointer, &there, &element);
        let element = if matches!(to, Pointee::Void) { own.clone() } else { element };
        if !self.has_memory(pointer, place) {
            // As a member function calls it, which lets it have some.
            let field =
                pointer.rsplit('.').next().filter(|name| self.host.allocation(name).is_some());
            let pointer = field.unwrap_or(pointer);
            return Wanted::Array { pointer, element, own, offset: Offset::Unknown(text) };
        }
        let offset = if is_sure { offset } else { Offset::Unknown(text) };
        Wanted::Array { pointer, element, own, offset }
    }

    /// What a parameter of the type `name` is given by the structure `variable`.
    fn structure(&self, name: &str, variable: &str, place: &Place<'_, 's>) -> Option<Wanted<'s>> {
        let (fields, is_known) = structures::fields(self.host, name, variable, place)?;
        Some(self.of_fields(fields, is_known, place))
    }

    fn of_fields(
        &self,
        fields: Vec<Field<'s>>,
        mut is_known: bool,
        place: &Place<'_, 's>,
    ) -> Wanted<'s> {
        let mut wanted = Vec::new();
        for Field { path, given } in fields {
            match given {
                Given::Known(text) => wanted.push((path, Wanted::Guess(Guess::known(text)))),
                Given::Unknown(text) => {
                    is_known = false;
                    wanted.push((path, Wanted::Guess(Guess::known(text))));
                }
                Given::Pointer(member, to) => {
                    let offset = self.offset_of(member, place, 0, &|| member.to_owned());
                    match self.pointed(member, &to, offset, (member.to_owned(), false), place) {
                        Wanted::Array { pointer, .. } if !self.has_memory(pointer, place) => {
                            is_known = false;
                        }
                        found => wanted.push((path, found)),
                    }
                }
                Given::Nothing => is_known = false,
            }
        }
        Wanted::Structure(wanted, is_known)
    }

    /// Whether a member of a structure has memory, as far as the host says: others have for sure.
    fn has_memory(&self, pointer: &str, place: &Place<'_, 's>) -> bool {
        let host = self.host;
        let is_given = |id| {
            let mut definitions = host.variables.get(id).definitions.iter();
            definitions.any(|set| matches!(set.value, Value::Given(_)))
        };
        !pointer.contains('.')
            || host.allocation(pointer).is_some()
            || host.visible(pointer, place.at).is_some_and(is_given)
    }

    /// A number for a parameter of the type `of`.
    fn given(&self, span: &Span, place: &Place<'_, 's>, of: Option<Type>) -> Option<Guess> {
        let (found, is_sure) = self.host.surely(|host| {
            let told = host.guessed(span, place, Assumes::Sizes)?;
            let given = match of {
                Some(of) => host.converted(told.clone(), of)?,
                None => told.clone(),
            };
            // What does not fit is no guess.
            let whole = |told: &Told| told.number().and_then(Number::whole);
            let is_cut = whole(&told).zip(whole(&given)).is_some_and(|(a, b)| a != b);
            let is_guess = host.is_unsure.get() && !given.of().is_float();
            (!is_cut || !is_guess).then(|| told.written_as(&given))?
        });
        Some(Guess::of((found?, is_sure), &self.host.text(span)))
    }

    /// What is given for a pointer into the array `name`, perhaps as one to another type.
    pub(in crate::scene::draft) fn address(
        &self,
        pointer: &str,
        name: String,
        offset: Offset,
        cast: Option<&str>,
    ) -> Guess {
        let start = match cast {
            None => format!("\"{name}\""),
            Some(to) => quoted_text(&format!("({to} *){name}")),
        };
        let text = match (offset, cast) {
            (Offset::None, _) => start,
            (Offset::Elements(number, _), None) => quoted_text(&format!("{name} + {number}")),
            (Offset::Elements(number, _), Some(to)) => {
                quoted_text(&format!("({to} *)({name} + {number})"))
            }
            (Offset::Unknown(what), _) => return Guess::open(start, what),
        };
        let is_half = || self.halves.iter().any(|(one, other)| [*one, *other].contains(&pointer));
        match self.shared.contains(pointer) {
            true if is_half() => {
                Guess::open(text, "halves change places behind each launch of `_next`")
            }
            true => {
                Guess::open(text, "it changes places with another, of which something has either")
            }
            false => Guess::known(text),
        }
    }

    /// Where into its array a pointer points.
    fn offset(&self, span: &Span, place: &Place<'_, 's>, depth: usize) -> Offset {
        let text = || self.host.text(span);
        let unknown = || Offset::Unknown(text());
        let inner = without_casts(&self.host.code, span.clone());
        match self.host.tokens(&inner) {
            [name] if name.is_word() => self.offset_of(name.text, place, depth, &text),
            [name, plus, ..] if name.is_word() && plus.text == "+" => {
                let is_start = depth < DEEPEST
                    && matches!(
                        self.offset(&(inner.start..inner.start + 1), place, depth + 1),
                        Offset::None
                    );
                if is_start { self.added(span, &inner, place) } else { unknown() }
            }
            // Of what holds memory of the device.
            [name, dot, data, open, close]
                if (dot.text, data.text, open.text, close.text) == (".", "data", "(", ")")
                    && self.host.container(name.text, place.at).is_some() =>
            {
                Offset::None
            }
            // What a function is given the address of.
            [and, _] if and.text == "&" && depth > 0 => Offset::None,
            _ => unknown(),
        }
    }

    /// The same of a pointer by its name.
    fn offset_of(
        &self,
        name: &'s str,
        place: &Place<'_, 's>,
        depth: usize,
        what: &dyn Fn() -> String,
    ) -> Offset {
        let host = self.host;
        if self.is_moved(name, place.at) {
            return Offset::Unknown(what());
        }
        let (set, is_sure) = host.surely(|_| host.redirection(name, place));
        if set.is_none() && is_sure && host.is_allocated_anew(name, place) {
            return Offset::None;
        }
        match set.or_else(|| host.argument_of(name, place)) {
            Some((given, there)) if is_sure && depth < DEEPEST => {
                // Of another structure the pointer that has this one's place.
                let other = name.split_once('.').zip(host.base(&given));
                match other.and_then(|((_, field), of)| host.member_of(of, field, there.at)) {
                    Some(member) => self.offset_of(member, &there, depth + 1, what),
                    None => self.offset(&given, &there, depth + 1),
                }
            }
            None if is_sure => Offset::None,
            Some(_) | None => Offset::Unknown(what()),
        }
    }

    /// What is added in `name + number`, the `sum` of `span` without its casts.
    fn added(&self, span: &Span, sum: &Span, place: &Place<'_, 's>) -> Offset {
        let number = sum.start + 2..sum.end;
        let found = self.host.surely(|host| {
            let told = host.told(&number, place)?;
            let told = host.converted(told, Type::Long)?;
            told.written_as(&told)
        });
        match found {
            // What binds less tightly than the sum is no part of it.
            (Some(formula), true) if is_sum(self.host.tokens(&number)) => {
                let of = self.summand(span, sum, place);
                Offset::Elements(formula.trim_matches('"').to_owned(), of)
            }
            (Some(_) | None, _) => Offset::Unknown(self.host.text(sum)),
        }
    }

    /// Whether a pointer is moved on somewhere, `a += n`.
    fn is_moved(&self, pointer: &str, at: usize) -> bool {
        let moves = |set: &Definition| matches!(set.value, Value::Compound(..) | Value::Count(_));
        let variable = self.host.visible(pointer, at).map(|id| self.host.variables.get(id));
        variable.is_some_and(|variable| variable.definitions.iter().any(moves))
    }

    /// The template arguments of a launch, where those that are names of the host's are numbers or types; empty where
    /// it has none.
    pub(in crate::scene::draft) fn instance(
        &self,
        launch: &'s Launch,
        place: &Place<'_, 's>,
    ) -> String {
        let (_, arguments) = launch.kernel.split_once('<').unwrap_or((&launch.kernel, ""));
        let arguments = arguments.strip_suffix('>').unwrap_or(arguments);
        let written = arguments.split(',').filter(|argument| !argument.is_empty());
        let mut all: Vec<String> =
            written.map(|argument| self.template_argument(argument, place, 0)).collect();
        let declared = self.kernel_of(launch, place).map(|(kernel, _)| kernel);
        if let Some(kernel) = declared.filter(|kernel| kernel.template) {
            all.extend(self.deduced(kernel, all.len(), launch, place));
        }
        if all.is_empty() && !launch.kernel.contains('<') {
            // What none of its parameters shows has its default.
            if let Some(kernel) = declared.filter(|kernel| kernel.has_defaults()) {
                let shows = |parameter: &KernelParameter| {
                    let mut words = lexer::code(&parameter.text).take(MOST_WORDS);
                    words.any(|word| kernel.template_parameters.iter().any(|own| own == word.text))
                };
                if kernel.parameters.iter().any(shows) {
                    self.host.doubt();
                }
            }
            return String::new();
        }
        format!("<{}>", all.join(","))
    }

    /// What in the template arguments of an instance stands for something of a function of the host's.
    pub(in crate::scene::draft) fn unsaid<'t>(
        &self,
        instance: &'t str,
        place: &Place<'_, 's>,
    ) -> Option<&'t str> {
        let mut before = "";
        lexer::code(instance).take(MOST_WORDS).map(|token| token.text).find(|word| {
            let is_of_scope = std::mem::replace(&mut before, word) == "::";
            let is_local = |id| {
                let variable = self.host.variables.get(id);
                self.host.regions.function(variable.at).is_some() || variable.parameter.is_some()
            };
            let variable = self.host.visible(word, place.at).filter(|_| !is_of_scope);
            word.contains('.') && !word.starts_with(|c: char| c.is_ascii_digit())
                || variable.is_some_and(is_local)
        })
    }

    /// A template argument that stands at `at`: where it is a parameter of the host's own template around it, what that
    /// is called with.
    pub(in crate::scene::draft) fn template_argument(
        &self,
        argument: &'s str,
        place: &Place<'_, 's>,
        depth: usize,
    ) -> String {
        // That a type is no number is no doubt.
        let (number, is_sure) = self.host.surely(|host| host.integer_of_text(argument, place));
        if let Some(number) = number {
            if !is_sure {
                self.host.doubt();
            }
            return number.to_string();
        }
        let given = |word: &Token<'s>| {
            let (span, outer) = self.host.template_argument_of(word.text, place)?;
            let tokens = self.host.code.get(span).filter(|_| depth < DEEPEST)?;
            self.host.look(tokens.len() + 1)?;
            let written = |token: &Token<'s>| self.template_argument(token.text, &outer, depth + 1);
            let text: Vec<String> = tokens.iter().map(written).collect();
            Some(text.join(" "))
        };
        let written = |token: Token<'s>| given(&token).unwrap_or_else(|| token.text.to_owned());
        let argument: String = lexer::lex(argument).take(MOST_WORDS).map(written).collect();
        let argument = argument.as_str();
        if argument.parse::<i64>().is_ok() || Element::parse(argument).is_some() {
            return argument.to_owned();
        }
        match self.host.type_parameters.contains(argument) {
            true => {
                self.host.doubt();
                "float".to_owned()
            }
            false if self.host.value_parameters.contains(argument) => {
                self.host.doubt();
                "16".to_owned()
            }
            false => argument.to_owned(),
        }
    }
}

fn is_null(text: &str) -> bool {
    matches!(text, "0" | "NULL" | "nullptr")
}

/// Whether what stands behind `pointer +` is added to it as a whole.
fn is_sum(tokens: &[Token<'_>]) -> bool {
    let mut depth = 0_i32;
    !tokens.iter().any(|token| {
        depth += match token.text {
            "(" | "[" => 1,
            ")" | "]" => -1,
            _ => 0,
        };
        depth == 0 && matches!(token.text, "?" | "<" | ">" | "&" | "|" | "^" | "=" | "!")
    })
}

/// What is given for a value that the manifest cannot take from the host code.
pub(in crate::scene::draft) fn blank(ctype: &CType, what: &str) -> Guess {
    let text = match ctype {
        CType::Value(Element { scalar, lanes: 1 }) => {
            let zero = if scalar.is_float() { "0.0" } else { "0" };
            if *scalar == Scalar::Bool { "false".to_owned() } else { zero.to_owned() }
        }
        CType::Value(Element { lanes, .. }) => {
            format!("[{}]", vec!["0"; usize::from(*lanes)].join(", "))
        }
        CType::Pointer { .. } | CType::Surface | CType::Texture => "0".to_owned(),
        CType::Named(_) => "{}".to_owned(),
    };
    Guess::open(text, what)
}

/// Whether numbers of elements fit into it.
pub(in crate::scene::draft) fn holds_sizes(scalar: Scalar) -> bool {
    scalar.integer_range().is_some_and(|(_, greatest)| greatest > i128::from(SOME))
}
