//! Finds kernels among the tokens of a text.
//!
//! Each token is looked at a few times at most: what ends a bracket is known beforehand, and what belongs to a kernel
//! ends where the next one begins.

use std::ops::Range;

use super::LONGEST_NAME;
use crate::cuda::lexer::{Token, Tokens};

/// What marks a kernel.
const MARK: &str = "__global__";

/// A kernel as tokens.
pub(super) struct Found<'t, 's> {
    /// Its name, without namespaces.
    pub at: &'t Token<'s>,
    /// What stands between the angles of its template, where it is one.
    pub template: Option<&'t [Token<'s>]>,
    /// What stands behind its name, where it is a template's specialisation: `<4, float>`.
    pub specialised: &'t [Token<'s>],
    /// Whether a body follows, its own or, in conditional sections, one for several heads.
    pub defined: bool,
    /// What stands between its parentheses.
    pub parameters: &'t [Token<'s>],
    /// Where these stand in the text.
    pub span: Range<usize>,
}

/// Where the groups in brackets end: unclosed ones are not looked through again and again.
pub(super) struct Brackets {
    /// For each token that opens a group the place behind the one that closes it.
    after: Vec<usize>,
}

impl Brackets {
    pub(super) fn new(tokens: &[Token<'_>]) -> Self {
        let mut after = vec![tokens.len() + 1; tokens.len()];
        let mut open = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token.text {
                "(" | "[" | "{" => open.push(at),
                ")" | "]" | "}" => {
                    if let Some(start) = open.pop() {
                        after[start] = at + 1;
                    }
                }
                _ => {}
            }
        }
        Self { after }
    }

    /// Behind the bracket that closes the one at `open`; beyond the end where none does.
    fn after(&self, open: usize) -> usize {
        self.after.get(open).map_or(self.after.len() + 1, |after| *after)
    }
}

/// What follows a `__global__`.
enum Head {
    /// A function, whose name is there.
    Name(usize),
    /// Another `__global__`, which speaks of the same function.
    Again,
    /// Anything else.
    Other,
}

/// The attributes that CUDA's marks stand for.
const ATTRIBUTES: [(&str, &str); 6] = [
    ("global", MARK),
    ("device", "__device__"),
    ("host", "__host__"),
    ("constant", "__constant__"),
    ("shared", "__shared__"),
    ("managed", "__managed__"),
];

/// `tokens` with CUDA's marks for attributes that say the same: `__attribute__((global))`.
pub(in crate::cuda) fn with_marks(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let is_list = |token: &Token<'_>| matches!(token.text, "__attribute__" | "__declspec");
    if !tokens.iter().any(is_list) {
        return tokens;
    }
    let mark_of = |token: &Token<'_>| {
        let is_meant = |(name, mark): &&(&str, &str)| token.text == *name || token.text == *mark;
        ATTRIBUTES.iter().find(is_meant).map(|(_, mark)| *mark)
    };
    let brackets = Brackets::new(&tokens);
    let mut marked = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let after = if is_list(token) { after_attribute(&tokens, &brackets, at) } else { at + 1 };
        let whole = tokens.get(at..after).unwrap_or(std::slice::from_ref(token));
        let before = marked.len();
        if is_list(token) {
            marked.extend(whole.iter().filter_map(mark_of).map(|text| Token { text, ..*token }));
        }
        if marked.len() == before {
            marked.extend_from_slice(whole);
        }
        at += whole.len();
    }
    marked
}

/// Goes through the tokens of a text.
pub(super) struct Scanner<'t, 's> {
    tokens: &'t [Token<'s>],
    brackets: Brackets,
    /// For each token where what begins there ends: with `;`, or before a body.
    ends: Vec<usize>,
    at: usize,
    depth: usize,
    /// Open namespaces: the brace depth outside each, and how long the paths were there.
    scopes: Vec<(usize, [usize; 2])>,
    /// The names of the open namespaces, `a::b`, and those of them that are not `inline`.
    paths: [String; 2],
}

impl<'t, 's> Scanner<'t, 's> {
    pub(super) fn new(tokens: &'t [Token<'s>]) -> Self {
        let (brackets, scopes) = (Brackets::new(tokens), Vec::new());
        let ends = ends(tokens, &brackets);
        Self { tokens, brackets, ends, at: 0, depth: 0, scopes, paths: Default::default() }
    }

    /// The next kernel from here on.
    pub(super) fn next_kernel(&mut self) -> Option<Found<'t, 's>> {
        let mut template = None;
        while self.at < self.tokens.len() {
            match self.tokens.text_at(self.at) {
                "template" if self.tokens.text_at(self.at + 1) == "<" => {
                    // `template <>` specialises: such a kernel is launched by name like its template.
                    let open = self.at + 2;
                    self.at = self.after_angles(self.at + 1, self.tokens.len());
                    let close = self.at.saturating_sub(1).min(self.tokens.len());
                    template = Some(self.tokens.get(open..close).unwrap_or_default());
                    continue;
                }
                "namespace" => {
                    self.enter_namespace();
                    template = None;
                    continue;
                }
                MARK => match self.head() {
                    Head::Again => {}
                    Head::Other => template = None,
                    Head::Name(name) => {
                        if let Some(found) = self.with_parameters(name, template.take()) {
                            return Some(found);
                        }
                    }
                },
                "{" => {
                    self.depth += 1;
                    template = None;
                }
                "}" => {
                    self.leave_brace();
                    template = None;
                }
                ";" => template = None,
                _ => {}
            }
            self.at += 1;
        }
        None
    }

    /// The name of the kernel that was found last, with its namespaces; `None` where it is too long.
    pub(super) fn name(&self, found: &Found<'t, 's>) -> Option<String> {
        self.named(&self.paths[0], found)
    }

    /// Its name without the inline namespaces, where it lies in such.
    pub(super) fn outer_name(&self, found: &Found<'t, 's>) -> Option<String> {
        let [whole, outer] = &self.paths;
        (whole != outer).then(|| self.named(outer, found))?
    }

    fn named(&self, path: &str, found: &Found<'t, 's>) -> Option<String> {
        let name = found.at.text;
        let parted = if path.is_empty() { "" } else { "::" };
        let fits = path.len() + "::".len() + name.len() <= LONGEST_NAME;
        fits.then(|| format!("{path}{parted}{name}"))
    }

    fn leave_brace(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        while let Some((_, lengths)) = self.scopes.pop_if(|(outside, _)| *outside >= self.depth) {
            self.paths.iter_mut().zip(lengths).for_each(|(path, length)| path.truncate(length));
        }
    }

    /// Takes `namespace a::b {`; leaves anything else (aliases, `using namespace`) to be skipped.
    fn enter_namespace(&mut self) {
        // `inline namespace b`, or `namespace a::inline b`.
        let mut is_inline = self.at > 0 && self.tokens.text_at(self.at - 1) == "inline";
        self.at += 1;
        let start = self.at;
        while self.tokens.get(self.at).is_some_and(|t| t.is_word() || t.text == "::") {
            self.at += 1;
        }
        if self.tokens.text_at(self.at) == "{" {
            self.scopes.push((self.depth, self.paths.each_ref().map(String::len)));
            for word in self.tokens[start..self.at].iter().filter(|t| t.is_word()) {
                if word.text == "inline" {
                    is_inline = true;
                    continue;
                }
                let left_out = usize::from(std::mem::take(&mut is_inline));
                for path in self.paths.iter_mut().rev().skip(left_out) {
                    if !path.is_empty() {
                        path.push_str("::");
                    }
                    path.push_str(word.text);
                }
            }
            self.depth += 1;
            self.at += 1;
        }
    }

    /// What follows the `__global__` that is here, at most to the next one.
    fn head(&self) -> Head {
        let mut at = self.at + 1;
        let is_mark = |token: &Token<'_>| token.text == MARK;
        let next = self.tokens[at..].iter().position(is_mark).map(|length| at + length);
        let end = next.unwrap_or(self.tokens.len());
        while at < end {
            match self.tokens.text_at(at) {
                "[" | "__attribute__" | "__declspec" => {
                    at = after_attribute(self.tokens, &self.brackets, at);
                }
                "<" => {
                    let after = self.after_angles(at, end);
                    if self.tokens.text_at(after) == "(" && self.tokens[at - 1].is_word() {
                        return Head::Name(at - 1);
                    }
                    at = after;
                }
                ";" | "{" | "}" | "=" | "(" | ")" => return Head::Other,
                text if self.tokens.text_at(at + 1) == "(" => {
                    let is_name = self.tokens[at].is_word() && !is_attribute(text);
                    if is_name && !self.is_macro(at) {
                        return Head::Name(at);
                    }
                    at = self.brackets.after(at + 1);
                }
                _ => at += 1,
            }
        }
        if next.is_some() { Head::Again } else { Head::Other }
    }

    /// Whether the word with parentheses at `at` is a macro before the function's name, `BOUNDS(256, 2) k(float *a)`:
    /// another such word follows, and nothing between the parentheses declares a parameter.
    fn is_macro(&self, at: usize) -> bool {
        let after = self.brackets.after(at + 1);
        let follows = self.tokens.is_word_at(after)
            && self.tokens.text_at(after + 1) == "("
            && !is_attribute(self.tokens.text_at(after));
        let between = self.tokens.get(at + 2..after.saturating_sub(1)).unwrap_or_default();
        let declares = |pair: &[Token<'_>]| {
            pair[0].is_word() && (pair[1].is_word() || matches!(pair[1].text, "*" | "&"))
        };
        follows && !between.is_empty() && !between.windows(2).any(declares)
    }

    /// The kernel whose name is at `name`.
    fn with_parameters(
        &mut self,
        name: usize,
        template: Option<&'t [Token<'s>]>,
    ) -> Option<Found<'t, 's>> {
        let open = match self.tokens.text_at(name + 1) {
            "<" => self.after_angles(name + 1, self.tokens.len()),
            _ => name + 1,
        };
        let after = self.brackets.after(open);
        if after > self.tokens.len() || self.tokens.text_at(after - 1) != ")" {
            return None;
        }
        // The body stays to be scanned: half-typed files have kernels inside unclosed bodies.
        self.at = after;
        Some(Found {
            at: &self.tokens[name],
            template,
            specialised: &self.tokens[name + 1..open],
            defined: self.tokens.text_at(self.ends.get(after).map_or(after, |end| *end)) == "{",
            parameters: &self.tokens[open + 1..after - 1],
            span: self.tokens[open].offset..self.tokens[after - 1].offset,
        })
    }

    /// Behind the `>` that closes the `<` at `open`, at most about `end`; parentheses inside hide comparisons.
    fn after_angles(&self, open: usize, end: usize) -> usize {
        let mut depth = 0_usize;
        let mut at = open;
        while at < end {
            match self.tokens.text_at(at) {
                "<" => depth += 1,
                ">" => depth = depth.saturating_sub(1),
                "(" | "[" | "{" => {
                    at = self.brackets.after(at);
                    continue;
                }
                ";" => return at,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return at;
            }
        }
        at
    }
}

/// For each of `tokens` the first `;`, `{` or `}` from there on that is in no parentheses. Heads in the branches of a
/// conditional section all come to the body that follows them.
fn ends(tokens: &[Token<'_>], brackets: &Brackets) -> Vec<usize> {
    let mut ends: Vec<usize> = (0..tokens.len()).collect();
    for at in (0..tokens.len()).rev() {
        let next = match tokens[at].text {
            ";" | "{" | "}" => continue,
            "(" | "[" => brackets.after(at),
            _ => at + 1,
        };
        ends[at] = ends.get(next).map_or(tokens.len(), |end| *end);
    }
    ends
}

/// Behind the attribute that begins at `at`.
pub(super) fn after_attribute(tokens: &[Token<'_>], brackets: &Brackets, at: usize) -> usize {
    match tokens.text_at(at) {
        "[" => brackets.after(at),
        _ if tokens.text_at(at + 1) == "(" => brackets.after(at + 1),
        _ => at + 1,
    }
}

/// Words before a function's name, or behind its parameters, that take parentheses of their own.
pub(in crate::cuda) fn is_attribute(word: &str) -> bool {
    matches!(
        word,
        "__launch_bounds__"
            | "__cluster_dims__"
            | "__block_size__"
            | "__maxnreg__"
            | "__attribute__"
            | "__declspec"
            | "alignas"
            | "decltype"
    )
}
