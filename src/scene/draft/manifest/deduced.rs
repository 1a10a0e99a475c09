//! The template arguments that a launch leaves to the compiler, which knows them by what the kernel is given:
//! `scale<<<n, 128>>>(a, 2.0f)`.

use super::Draft;
use crate::{
    cuda::{
        KernelParameter, Signature,
        lexer::{self, Kind, Token},
    },
    scene::draft::{
        code::{Span, pointers::without_casts},
        expression::cpp_number::QUALIFIERS,
        host::{launch::Launch, place::Place},
    },
};

/// Parameters that are those of functions around them, at most so many.
const DEEPEST: usize = 8;
/// A type has at most so many words.
const MOST_WORDS: usize = 100;

impl<'s> Draft<'_, 's> {
    /// The arguments behind the first `given` of the template `kernel`, as far as what a launch gives it tells them:
    /// the host's text compiles, so those behind have defaults.
    pub(in crate::scene::draft) fn deduced(
        &self,
        kernel: &Signature,
        given: usize,
        launch: &Launch,
        place: &Place<'_, 's>,
    ) -> Vec<String> {
        let left = kernel.template_parameters.iter().skip(given);
        left.map_while(|name| self.deduced_type(name, kernel, launch, place)).collect()
    }

    /// The type that a parameter of the template stands for; pointers tell it best.
    fn deduced_type(
        &self,
        name: &str,
        kernel: &Signature,
        launch: &Launch,
        place: &Place<'_, 's>,
    ) -> Option<String> {
        let pairs = || kernel.parameters.iter().zip(&launch.arguments);
        let of_pointer = pairs()
            .filter(|(parameter, _)| is_of(parameter, name, &["*"]))
            .find_map(|(_, span)| self.type_of(span, true, place, 0));
        let of_value = || {
            pairs()
                .filter(|(parameter, _)| is_of(parameter, name, &[]))
                .find_map(|(_, span)| self.type_of(span, false, place, 0))
        };
        of_pointer.or_else(of_value)
    }

    /// The type of what stands in the host's code, or that it points to.
    fn type_of(
        &self,
        span: &Span,
        is_pointer: bool,
        place: &Place<'_, 's>,
        depth: usize,
    ) -> Option<String> {
        let host = self.host;
        let tokens = host.tokens(span);
        host.look(tokens.len().min(MOST_WORDS) + 1)?;
        if let [open, rest @ ..] = tokens
            && open.text == "("
            && without_casts(&host.code, span.clone()) != *span
        {
            let words = rest.iter().take_while(|token| token.text != ")").map(|token| token.text);
            return self.type_named(words, place);
        }
        if let ([number], false) = (tokens, is_pointer)
            && number.kind == Kind::Number
        {
            return Some(of_literal(number).to_owned());
        }
        if let (Some((made, _)), false) = (host.made_at(span), is_pointer) {
            return Some(made.to_owned());
        }
        let name = host.base(span).filter(|_| is_pointer || tokens.len() == 1)?;
        let Some(id) = host.visible(name, place.at) else {
            return host.pointee(name).filter(|_| is_pointer).map(str::to_owned);
        };
        let declared = &host.variables.get(id).declared;
        if declared.is_indirect != is_pointer && !declared.is_reference {
            return None;
        }
        let is_open = |word: &&str| {
            host.type_parameters.contains(word) && host.template_argument_of(word, place).is_none()
        };
        if declared.words.iter().any(is_open) && depth < DEEPEST {
            // A function that is a template itself, and is called without its arguments, too.
            let (given, outer) = host.argument_of(name, place)?;
            return self.type_of(&given, is_pointer, &outer, depth + 1);
        }
        self.type_named(declared.words.iter().copied(), place)
    }

    fn type_named(
        &self,
        words: impl Iterator<Item = &'s str>,
        place: &Place<'_, 's>,
    ) -> Option<String> {
        let is_type = |word: &&str| *word != "*" && *word != "auto" && !QUALIFIERS.contains(word);
        let words = words.filter(is_type).take(MOST_WORDS);
        let words: Vec<String> = words.map(|word| self.template_argument(word, place, 0)).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// Whether a parameter is declared as `name` with these signs behind it.
fn is_of(parameter: &KernelParameter, name: &str, signs: &[&str]) -> bool {
    let is_mark = |word: &str| QUALIFIERS.contains(&word) || word.contains("restrict");
    let words = lexer::code(&parameter.text).take(MOST_WORDS).map(|token| token.text);
    let mut words = words.filter(|word| !is_mark(word) && *word != "&");
    words.next() == Some(name) && words.eq(signs.iter().copied())
}

/// The type of a number as it is written.
fn of_literal(number: &Token<'_>) -> &'static str {
    let text = number.text.to_ascii_lowercase();
    let is_hexadecimal = text.starts_with("0x");
    match () {
        () if is_hexadecimal || !text.contains(['.', 'e']) => match text.contains('u') {
            true if text.contains('l') => "unsigned long long",
            true => "unsigned int",
            false if text.contains('l') => "long long",
            false => "int",
        },
        () if text.ends_with('f') => "float",
        () => "double",
    }
}
