//! Expands macros where a text uses them (ISO C++ 20, 15.6).
//!
//! Enters: tokens, and the macros that are known where they stand. Leaves: the tokens that these stand for, placed
//! where they are written, which of a macro's own is where it is used. Must not know: `cuda::signature`, `cuda::host`.
//!
//! What uses make, and how much is looked at for it, has a limit in all: a few macros that name each other twice make
//! any number of tokens.

mod replacement;

use std::{borrow::Cow, collections::HashSet, mem, ops::Range, vec};

use self::replacement::{Definition, Use};
use super::{
    lexer::{self, Kind, Token},
    macros::Macros,
};

/// So many tokens are looked at for the macros that a scene uses, those of their definitions and of what they are
/// given.
pub(super) const MOST_TOKENS: usize = 1 << 20;
/// A token counts once more for each so many bytes.
const BYTES: usize = 16;
/// So deep may uses lie in what other uses are given.
const DEEPEST: usize = 64;

/// Tokens of a text, with those that macros make.
#[derive(Clone, Debug, Default)]
pub(super) struct Expanded<'s> {
    /// In their order; those that macros make have no text yet.
    tokens: Vec<Token<'s>>,
    /// Which those are, and where their texts are in that of all.
    made: Vec<(usize, Range<usize>)>,
}

impl<'s> Expanded<'s> {
    /// All of them, where `texts` has those of the tokens that macros make.
    pub(super) fn tokens(self, texts: &'s str) -> Vec<Token<'s>> {
        let mut tokens = self.tokens;
        for (at, text) in self.made {
            tokens[at].text = &texts[text];
        }
        tokens
    }

    /// Adds those of `other`, which share the texts.
    pub(super) fn extend(&mut self, other: &Self) {
        let before = self.tokens.len();
        self.tokens.extend_from_slice(&other.tokens);
        self.made.extend(other.made.iter().map(|(at, text)| (before + at, text.clone())));
    }
}

/// A token on its way through the macros.
#[derive(Clone, Debug)]
struct Item<'m> {
    kind: Kind,
    text: Cow<'m, str>,
    /// Where it is said to stand.
    offset: usize,
    /// Whether a blank stands before it.
    spaced: bool,
    /// Whether it names a macro within that macro's own replacement, and so itself for good.
    is_itself: bool,
}

/// What the condition of an `#if` stands for, but for the names that `defined` asks for; `None` where more than `most`
/// tokens would have to be looked at.
pub(super) fn condition(macros: &Macros, text: &str, most: usize) -> Option<String> {
    let tokens: Vec<Token<'_>> = lexer::code(text).take(most).collect();
    let mut expander = Expander { in_condition: true, ..Expander::new(most) };
    let mut made = Vec::new();
    let mut stream = Stream::new(macros, &tokens, Vec::new());
    while expander.take(1, 0) && stream.at < tokens.len() {
        stream.run(&mut expander, &mut HashSet::new(), DEEPEST, &mut made);
    }
    expander.stopped_at.is_none().then(|| spelled(&made))
}

/// The text of `items`, with the blanks that stand between them.
fn spelled(items: &[Item<'_>]) -> String {
    items
        .iter()
        .fold(String::new(), |text, item| text + if item.spaced { " " } else { "" } + &item.text)
}

/// Expands the macros of texts, as long as there is room for what they make.
pub(super) struct Expander {
    left: usize,
    /// Whether names behind `defined` stay.
    in_condition: bool,
    /// The texts of the tokens that were made.
    pub(super) texts: String,
    /// The first use that is not expanded because there is no room for it.
    pub(super) stopped_at: Option<usize>,
}

impl Expander {
    /// With room for so many tokens.
    pub(super) fn new(left: usize) -> Self {
        Self { left, in_condition: false, texts: String::new(), stopped_at: None }
    }

    /// What `tokens` stand for.
    pub(super) fn expand<'s>(&mut self, macros: &Macros, tokens: &[Token<'s>]) -> Expanded<'s> {
        let mut found = Expanded::default();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let is_macro = token.is_word() && macros.definition(token.text).is_some();
            if !is_macro || !self.take(1, token.offset) {
                found.tokens.push(*token);
                at += 1;
                continue;
            }
            let (mut hidden, mut made) = (HashSet::new(), Vec::new());
            let mut stream = Stream::new(macros, &tokens[at..], Vec::new());
            stream.run(self, &mut hidden, DEEPEST, &mut made);
            at += stream.at;
            for Item { kind, text, offset, .. } in made {
                let start = self.texts.len();
                self.texts.push_str(&text);
                found.made.push((found.tokens.len(), start..self.texts.len()));
                found.tokens.push(Token { kind, text: "", offset });
            }
        }
        found
    }

    /// Takes the room for so many tokens, if there is some left; else there is none for anything behind.
    fn take(&mut self, count: usize, offset: usize) -> bool {
        let left = self.left.checked_sub(count);
        self.left = left.unwrap_or(0);
        if left.is_none() {
            self.stopped_at.get_or_insert(offset);
        }
        left.is_some()
    }
}

/// Tokens that are being looked at for macros.
struct Stream<'m> {
    macros: &'m Macros,
    /// What is looked at when all replacements are.
    source: &'m [Token<'m>],
    at: usize,
    /// Replacements that are being looked at, the innermost last, each with the macro that it is of.
    open: Vec<(&'m str, vec::IntoIter<Item<'m>>)>,
}

impl<'m> Stream<'m> {
    fn new(macros: &'m Macros, source: &'m [Token<'m>], items: Vec<Item<'m>>) -> Self {
        Self { macros, source, at: 0, open: vec![("", items.into_iter())] }
    }

    /// Adds to `made` what the next token, and all that comes of it, stands for.
    fn run(
        &mut self,
        expander: &mut Expander,
        hidden: &mut HashSet<&'m str>,
        deep: usize,
        made: &mut Vec<Item<'m>>,
    ) {
        while let Some(item) = self.next(hidden) {
            self.look_at(item, expander, hidden, deep, made);
            self.close(hidden);
            if self.open.is_empty() {
                return;
            }
        }
    }

    /// Leaves the replacements that have ended: their macros are no longer hidden.
    fn close(&mut self, hidden: &mut HashSet<&'m str>) {
        while let Some((of, _)) = self.open.pop_if(|(_, items)| items.as_slice().is_empty()) {
            hidden.remove(of);
        }
    }

    fn next(&mut self, hidden: &mut HashSet<&'m str>) -> Option<Item<'m>> {
        self.close(hidden);
        if let Some((_, items)) = self.open.last_mut() {
            return items.next();
        }
        let item = Item::of(self.source, self.at)?;
        self.at += 1;
        Some(item)
    }

    /// Whether what comes next opens the arguments of a macro.
    fn opens(&self) -> bool {
        let next = self.open.iter().rev().find_map(|(_, items)| items.as_slice().first());
        let next = next.map(|item| &*item.text);
        next.or_else(|| self.source.get(self.at).map(|token| token.text)) == Some("(")
    }

    fn look_at(
        &mut self,
        mut item: Item<'m>,
        expander: &mut Expander,
        hidden: &mut HashSet<&'m str>,
        deep: usize,
        made: &mut Vec<Item<'m>>,
    ) {
        let is_asked_for = expander.in_condition && follows_defined(made);
        let is_word = item.kind == Kind::Word && !item.is_itself && !is_asked_for;
        let known = is_word.then(|| self.macros.definition(&item.text)).flatten();
        let Some((name, text, is_function)) = known else { return made.push(item) };
        if hidden.contains(name) {
            item.is_itself = true;
            return made.push(item);
        }
        if is_function && !self.opens() || !expander.take(1 + text.len() / BYTES, item.offset) {
            return made.push(item);
        }
        let Some(definition) = Definition::new(text, is_function) else { return made.push(item) };
        if !expander.take(definition.body.len(), item.offset) {
            return made.push(item);
        }
        let mut arguments = Vec::new();
        if is_function {
            match self.arguments(expander, hidden) {
                Ok(given) if definition.takes(&given) => arguments = definition.named(given),
                Ok(given) => {
                    let all = given.into_iter().flatten().collect();
                    return self.leave(item, all, made);
                }
                Err(read) => return self.leave(item, read, made),
            }
        }
        let most = expander.left;
        let mut meant = |argument: &[Item<'m>]| {
            if deep == 0 || !expander.take(room_of(argument), item.offset) {
                return argument.to_vec();
            }
            let mut stream = Stream::new(self.macros, &[], argument.to_vec());
            let mut found = Vec::new();
            stream.run(expander, hidden, deep - 1, &mut found);
            found
        };
        let at = Use { offset: item.offset, spaced: item.spaced };
        let items = definition.replaced(&arguments, (at, most), &mut meant);
        // What arguments are put in more than once may be long, and so may what is pasted of them.
        if expander.take(room_of(&items), item.offset) {
            hidden.insert(name);
            self.open.push((name, items.into_iter()));
        } else {
            made.push(item);
        }
    }

    /// Gives `read`, which was no use of the macro that `item` names, back to be looked at.
    fn leave(&mut self, item: Item<'m>, read: Vec<Item<'m>>, made: &mut Vec<Item<'m>>) {
        made.push(item);
        self.open.push(("", read.into_iter()));
    }

    /// The arguments in the parentheses that come next, each with the comma or parenthesis behind it, the first with
    /// the one before it, too.
    ///
    /// # Errors
    /// All that follows, where they are not closed, or there is no room for them.
    fn arguments(
        &mut self,
        expander: &mut Expander,
        hidden: &mut HashSet<&'m str>,
    ) -> Result<Vec<Vec<Item<'m>>>, Vec<Item<'m>>> {
        let (mut found, mut argument, mut depth) = (Vec::new(), Vec::new(), 0_usize);
        while let Some(item) = self.next(hidden) {
            let is_room = expander.take(item.room(), item.offset);
            match &*item.text {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let is_end = depth == 1 && item.text == ",";
            argument.push(item);
            if is_end {
                found.push(mem::take(&mut argument));
            }
            if depth == 0 {
                found.push(argument);
                return Ok(found);
            }
            if !is_room {
                break;
            }
        }
        found.push(argument);
        Err(found.into_iter().flatten().collect())
    }
}

/// Whether these end with `defined` or `defined(`.
fn follows_defined(items: &[Item<'_>]) -> bool {
    let before = match items {
        [before @ .., last] if last.text == "(" => before,
        all => all,
    };
    before.last().is_some_and(|item| item.text == "defined")
}

/// What all of `items` take of the room for tokens.
fn room_of(items: &[Item<'_>]) -> usize {
    items.iter().map(Item::room).sum()
}

impl<'m> Item<'m> {
    /// What it takes of the room for tokens: macros can paste one of any length.
    fn room(&self) -> usize {
        1 + self.text.len() / BYTES
    }

    /// The token at `at`.
    fn of(tokens: &[Token<'m>], at: usize) -> Option<Self> {
        let token = tokens.get(at)?;
        let before = at.checked_sub(1).map_or(token.offset, |at| {
            let before = &tokens[at];
            before.offset + before.text.len()
        });
        Some(Self {
            kind: token.kind,
            text: Cow::Borrowed(token.text),
            offset: token.offset,
            spaced: before != token.offset,
            is_itself: false,
        })
    }
}

#[cfg(test)]
mod tests;
