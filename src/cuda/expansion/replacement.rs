//! What a use of a macro is replaced by.

use std::borrow::Cow;

use super::{Item, room_of};
use crate::cuda::lexer::{self, Kind, Token};

/// A macro's definition.
pub(super) struct Definition<'m> {
    /// The names of its parameters; `None` where it takes none.
    parameters: Option<Vec<&'m str>>,
    /// Whether the last parameter takes all further arguments.
    is_variadic: bool,
    pub(super) body: Vec<Token<'m>>,
}

/// Where a macro is used.
#[derive(Clone, Copy)]
pub(super) struct Use {
    pub(super) offset: usize,
    /// Whether a blank stands before it.
    pub(super) spaced: bool,
}

/// A part of a definition's body.
enum Part {
    /// The token at this place.
    Token,
    /// The argument of this number.
    Argument(usize),
    /// That as a string.
    Spelled(usize),
}

impl<'m> Definition<'m> {
    /// What `text` says, which begins with the parameters in parentheses where there are any; `None` where it is none.
    pub(super) fn new(text: &'m str, is_function: bool) -> Option<Self> {
        let mut body: Vec<Token<'m>> = lexer::code(text).collect();
        if !is_function {
            return Some(Self { parameters: None, is_variadic: false, body });
        }
        let close = body.iter().position(|token| token.text == ")")?;
        let (mut parameters, mut is_variadic) = (Vec::new(), false);
        let mut before = "";
        for token in body.drain(..=close).skip(1) {
            match token.text {
                "." if is_variadic => {}
                "." => {
                    is_variadic = true;
                    // That of `names...` has a name.
                    if matches!(before, "" | ",") {
                        parameters.push("__VA_ARGS__");
                    }
                }
                "," | ")" => {}
                name if token.is_word() => parameters.push(name),
                _ => return None,
            }
            before = token.text;
        }
        Some(Self { parameters: Some(parameters), is_variadic, body })
    }

    fn count(&self) -> usize {
        self.parameters.as_ref().map_or(0, Vec::len)
    }

    /// Whether it can be given these arguments, which stand with the commas behind them.
    pub(super) fn takes(&self, given: &[Vec<Item<'m>>]) -> bool {
        // Between `(` and `)` of one that takes nothing stands nothing.
        let is_nothing = given.len() == 1 && given[0].len() == 2;
        match (self.count(), self.is_variadic) {
            (0, _) => is_nothing,
            (count, true) => given.len() + 1 >= count,
            (count, false) => given.len() == count,
        }
    }

    /// The argument of each parameter, without the commas behind them.
    pub(super) fn named(&self, mut given: Vec<Vec<Item<'m>>>) -> Vec<Vec<Item<'m>>> {
        given.iter_mut().take(1).for_each(|first| drop(first.drain(..1)));
        let count = self.count();
        if self.is_variadic && given.len() > count {
            let rest = given.split_off(count - 1).into_iter().flatten().collect();
            given.push(rest);
        }
        given.iter_mut().for_each(|argument| drop(argument.pop()));
        given.resize(count, Vec::new());
        given
    }

    /// What stands for a use with these `arguments`, of which `meant` expands the macros; of what takes more room than
    /// `most` a part.
    pub(super) fn replaced(
        &self,
        arguments: &[Vec<Item<'m>>],
        (at, most): (Use, usize),
        meant: &mut dyn FnMut(&[Item<'m>]) -> Vec<Item<'m>>,
    ) -> Vec<Item<'m>> {
        let body = self.chosen(arguments);
        let mut expanded: Vec<Option<Vec<Item<'m>>>> = vec![None; arguments.len()];
        let mut found = Replacement::default();
        let mut next = 0;
        while let Some(token) = body.get(next).filter(|_| found.room <= most) {
            let place = next;
            let part = self.part(&body, next);
            next += if matches!(part, Part::Spelled(_)) { 2 } else { 1 };
            if is_paste(&body, place) {
                found.pastes = true;
                next = place + 2;
                continue;
            }
            let spaced = if place == 0 { at.spaced } else { is_spaced(&body, place) };
            let items = match part {
                Part::Token => vec![item(token, at.offset, spaced)],
                Part::Spelled(index) => vec![spelled(&arguments[index], at.offset, spaced)],
                // What is pasted is not looked at before.
                Part::Argument(index) if found.pastes || is_paste(&body, next) => {
                    arguments[index].clone()
                }
                Part::Argument(index) => {
                    expanded[index].get_or_insert_with(|| meant(&arguments[index])).clone()
                }
            };
            found.room += room_of(&items);
            found.add(items, spaced);
        }
        found.items
    }

    /// The body without `__VA_OPT__` and its parentheses, or without what is in them where there are no further
    /// arguments; where there are, `, ## __VA_ARGS__` pastes nothing, else it is nothing.
    fn chosen(&self, arguments: &[Vec<Item<'m>>]) -> Vec<Token<'m>> {
        if !self.is_variadic {
            return self.body.clone();
        }
        let is_empty = arguments.last().is_none_or(Vec::is_empty);
        let variadic = self.parameters.as_ref().and_then(|names| names.last()).copied();
        let text = |at: usize| self.body.get(at).map(|token| token.text);
        let mut kept = Vec::new();
        // How deep the parentheses are within that of `__VA_OPT__`.
        let mut depth = 0_usize;
        let mut at = 0;
        while let Some(token) = self.body.get(at) {
            if depth == 0 && token.text == "__VA_OPT__" && text(at + 1) == Some("(") {
                depth = 1;
                at += 2;
                continue;
            }
            if token.text == "," && is_paste(&self.body, at + 1) && text(at + 3) == variadic {
                if !is_empty {
                    kept.extend([*token, self.body[at + 3]]);
                }
                at += 4;
                continue;
            }
            let was_within = depth > 0;
            match token.text {
                "(" if depth > 0 => depth += 1,
                ")" if depth > 0 => depth -= 1,
                _ => {}
            }
            let closes = was_within && depth == 0;
            if !closes && (depth == 0 || !is_empty) {
                kept.push(*token);
            }
            at += 1;
        }
        kept
    }

    fn part(&self, body: &[Token<'m>], at: usize) -> Part {
        let Some(names) = &self.parameters else { return Part::Token };
        let argument = |at: usize| {
            let token = body.get(at).filter(|token| token.is_word())?;
            names.iter().position(|name| *name == token.text)
        };
        match (argument(at), argument(at + 1)) {
            (Some(index), _) => Part::Argument(index),
            (None, Some(index)) if body[at].text == "#" => Part::Spelled(index),
            (None, _) => Part::Token,
        }
    }
}

/// What a use is replaced by, as far as it is known.
#[derive(Default)]
struct Replacement<'m> {
    items: Vec<Item<'m>>,
    /// What all that was added takes of the room for tokens.
    room: usize,
    /// Whether what comes next is pasted to what is there.
    pastes: bool,
    /// Whether what came last was an argument without tokens.
    is_empty: bool,
}

impl<'m> Replacement<'m> {
    fn add(&mut self, mut items: Vec<Item<'m>>, spaced: bool) {
        items.iter_mut().take(1).for_each(|first| first.spaced = spaced);
        let is_empty = items.is_empty();
        if self.pastes
            && !self.is_empty
            && !is_empty
            && let Some(left) = self.items.pop()
        {
            let right = items.remove(0);
            self.items.extend(pasted(&left, &right));
        }
        self.is_empty = is_empty && (self.is_empty || !self.pastes);
        self.pastes = false;
        self.items.extend(items);
    }
}

/// Whether `##` is there.
fn is_paste(body: &[Token<'_>], at: usize) -> bool {
    matches!(body.get(at..at + 2), Some([a, b]) if a.text == "#" && b.text == "#" && a.offset + 1 == b.offset)
}

fn is_spaced(body: &[Token<'_>], at: usize) -> bool {
    at > 0 && body[at - 1].offset + body[at - 1].text.len() != body[at].offset
}

fn item<'m>(token: &Token<'m>, offset: usize, spaced: bool) -> Item<'m> {
    Item { kind: token.kind, text: Cow::Borrowed(token.text), offset, spaced, is_itself: false }
}

/// The tokens that two make that are written as one.
fn pasted<'m>(left: &Item<'m>, right: &Item<'m>) -> Vec<Item<'m>> {
    let text = [&*left.text, &*right.text].concat();
    let tokens = lexer::code(&text).map(|token| Item {
        kind: token.kind,
        text: Cow::Owned(token.text.to_owned()),
        offset: left.offset,
        spaced: left.spaced && token.offset == 0,
        is_itself: false,
    });
    tokens.collect()
}

/// An argument as a string.
fn spelled<'m>(argument: &[Item<'m>], offset: usize, spaced: bool) -> Item<'m> {
    let mut text = String::from("\"");
    for (at, item) in argument.iter().enumerate() {
        if at > 0 && item.spaced {
            text.push(' ');
        }
        let quoted = item.kind == Kind::Quoted;
        for letter in item.text.chars() {
            if quoted && matches!(letter, '"' | '\\') {
                text.push('\\');
            }
            text.push(letter);
        }
    }
    text.push('"');
    Item { kind: Kind::Quoted, text: Cow::Owned(text), offset, spaced, is_itself: false }
}
