//! What of the declarations in a request's files the device reaches.
//!
//! Kernels and the other code of the device reach whatever they name; a class, a type, a constant, a macro or a
//! function for both that is reached reaches what it names itself. This goes by names alone, whatever they mean where
//! they stand: what is reached is never too little.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::{
    HostCode, LeftOut, Scope, definition,
    left_out::LeftOutKind,
    names::{By, Hidden, Mentions, of_declaration},
    shared::UNNAMED,
};
use crate::cuda::{
    CType,
    lexer::{self, Kind, Token},
};

/// So many tokens are looked at for the end of a template's arguments.
const MOST_ARGUMENTS: usize = 64;

/// What the device reaches.
pub(crate) struct Reach<'t> {
    /// All words of what is reached.
    named: BTreeSet<&'t str>,
    /// The classes and types of which there are objects.
    made: BTreeSet<&'t str>,
    /// What is declared for the device, or for both.
    declared: BTreeSet<&'t str>,
    mentions: Mentions<'t>,
    /// Which of the declarations are reached.
    is_reached: Vec<bool>,
}

/// How a word is mentioned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    Named,
    /// As a base, a member, what an alias stands for, or an argument of these: an object of the one has one of the
    /// other.
    Within,
    /// As that of which there is an object.
    Made,
}

/// What a declaration is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// A function, a constant.
    Code,
    /// A class or another name of one: objects are laid out by it.
    Type,
    /// A macro, which may stand for either.
    Macro,
}

/// A declaration; the first one stands for all that is the device's.
struct Node<'t> {
    words: BTreeMap<&'t str, How>,
    sort: Sort,
}

/// Where a declaration stands in its file, and which node it is.
struct Place {
    part: Range<usize>,
    node: usize,
    /// How many brackets are open in it, braces and others.
    depth: [usize; 2],
    /// Up to there stand arguments of a template of which an object is made.
    made_to: usize,
}

impl<'t> Reach<'t> {
    /// Of `files`, what of them is for the device with what is known of them, and of `asked`, code that is for the
    /// device as well. Of `hidden` it will be known whether it is meant.
    pub(crate) fn of(
        files: &[(&'t str, &'t HostCode)],
        asked: &'t str,
        hidden: impl Iterator<Item = &'t Hidden>,
    ) -> Self {
        let mut graph = Graph {
            nodes: vec![Node { words: BTreeMap::new(), sort: Sort::Code }],
            of_name: BTreeMap::new(),
            declared: BTreeSet::new(),
            mentions: Mentions::of(hidden),
        };
        for (text, host) in files {
            graph.declared.extend(host.of_device.iter().map(String::as_str));
            graph.read(text, host);
        }
        graph.read_code(&lexer::code(asked).collect::<Vec<_>>(), Vec::new(), &[]);
        graph.close()
    }

    /// Whether the device reaches one of `names`.
    pub(crate) fn names(&self, names: &[String]) -> bool {
        names.iter().any(|name| self.named.contains(name.as_str()))
    }

    /// Whether kernels would need what is left out.
    pub(crate) fn needs(&self, one: &LeftOut) -> bool {
        match one.kind {
            LeftOutKind::Constructor | LeftOutKind::Destructor => {
                one.names.iter().any(|name| self.made.contains(name.as_str()))
            }
            LeftOutKind::Assignment | LeftOutKind::Virtual => self.names(&one.names),
            LeftOutKind::Overload => true,
        }
    }

    /// Whether kernels mean something else in the place of what is hidden.
    pub(crate) fn means_another(&self, hidden: &Hidden) -> bool {
        let is_known = |word: &String| {
            self.named.contains(word.as_str()) || CType::is_type_word(word) || word == "void"
        };
        let may_be_asked = match &hidden.by {
            By::Scope(_) => true,
            By::Specialisation(words) => words.iter().all(is_known),
        };
        may_be_asked
            && self.declared.contains(hidden.name.as_str())
            && self.mentions.nodes(hidden).iter().any(|node| self.is_reached[*node])
    }
}

/// Which declaration names what.
struct Graph<'t> {
    nodes: Vec<Node<'t>>,
    of_name: BTreeMap<&'t str, Vec<usize>>,
    declared: BTreeSet<&'t str>,
    mentions: Mentions<'t>,
}

impl<'t> Graph<'t> {
    fn read(&mut self, text: &'t str, host: &'t HostCode) {
        let tokens = || lexer::lex(text);
        for directive in tokens().filter(|token| token.kind == Kind::Directive) {
            let Some(definition) = definition(directive.text) else { continue };
            let code: Vec<Token<'t>> = lexer::code(definition).collect();
            if let Some((name, value)) = code.split_first() {
                let node = self.add(Sort::Macro, [name.text]);
                let part = 0..usize::MAX;
                let place = Place { part, node, depth: [0, 0], made_to: 0 };
                self.read_code(value, vec![place], &[]);
            }
        }
        let code: Vec<Token<'t>> = tokens().filter(|token| token.kind.is_code()).collect();
        let places = self.places(&code, host);
        self.read_code(&code, places, &host.scopes);
    }

    /// Adds a declaration with these names.
    fn add(&mut self, sort: Sort, names: impl IntoIterator<Item = &'t str>) -> usize {
        let node = self.nodes.len();
        self.nodes.push(Node { words: BTreeMap::new(), sort });
        names.into_iter().for_each(|name| self.of_name.entry(name).or_default().push(node));
        node
    }

    /// The declarations of a file, in reverse order.
    fn places(&mut self, code: &[Token<'t>], host: &'t HostCode) -> Vec<Place> {
        let within = |part: &Range<usize>| {
            let at = |offset| code.partition_point(|token| token.offset < offset);
            &code[at(part.start)..at(part.end)]
        };
        let mut places = Vec::new();
        let mut add = |part: &Range<usize>, node| {
            places.push(Place { part: part.clone(), node, depth: [0, 0], made_to: 0 });
        };
        let of_member: BTreeSet<usize> =
            host.data.keys().filter_map(|index| Some(host.open.get(*index)?.start)).collect();
        let mut classes = BTreeSet::new();
        for class in &host.classes {
            classes.insert(class.whole.start);
            // What is declared with its class is part of the class around.
            let is_part = class.names.is_empty() || of_member.contains(&class.whole.start);
            if !is_part && !within(&class.whole).is_empty() {
                let names = class.names.iter().map(String::as_str);
                self.declared.extend(names.clone());
                add(&class.whole, self.add(Sort::Type, names));
            }
        }
        for (index, part) in host.open.iter().enumerate() {
            let tokens = within(part);
            if tokens.is_empty() || host.data.contains_key(&index) || classes.contains(&part.start)
            {
                continue;
            }
            let is_type = tokens.iter().any(|token| matches!(token.text, "typedef" | "using"));
            let names = match host.shared.get(&index) {
                Some(name) => vec![name.as_str()],
                None => of_declaration(tokens),
            };
            // What is declared ahead may be what is left out.
            if is_type || tokens.iter().any(|token| matches!(token.text, "{" | "=" | "(")) {
                self.declared.extend(&names);
            }
            let sort = if is_type { Sort::Type } else { Sort::Code };
            add(part, self.add(sort, names));
        }
        places.sort_unstable_by_key(|place| (place.part.start, std::cmp::Reverse(place.part.end)));
        places.reverse();
        places
    }

    /// Reads the words of `code`, in which the declarations are at `places`, in reverse order.
    fn read_code(&mut self, code: &[Token<'t>], mut places: Vec<Place>, scopes: &'t [Scope]) {
        let outside = Place { part: 0..usize::MAX, node: 0, depth: [0, 0], made_to: 0 };
        let (mut around, mut scopes) = (vec![outside], Scopes::new(scopes));
        for (at, token) in code.iter().enumerate() {
            while around.len() > 1 && around.last().is_some_and(|p| p.part.end <= token.offset) {
                around.pop();
            }
            while let Some(place) = places.pop_if(|place| place.part.start <= token.offset) {
                around.push(place);
            }
            let Some(place) = around.last_mut() else { continue };
            match token.text {
                "{" => place.depth[0] += 1,
                "}" => place.depth[0] = place.depth[0].saturating_sub(1),
                "(" | "[" => place.depth[1] += 1,
                ")" | "]" => place.depth[1] = place.depth[1].saturating_sub(1),
                _ if token.is_word() => {
                    scopes.go_to(token.offset);
                    let node = &mut self.nodes[place.node];
                    let is_own = scopes.are_of_class(token.text);
                    let how = place.how(code, at, node.sort, is_own);
                    let known = node.words.entry(token.text).or_insert(how);
                    *known = (*known).max(how);
                    self.mentions.take(code, at, place.node, &scopes.names);
                }
                _ => {}
            }
        }
    }

    /// Follows the names from what is the device's.
    fn close(self) -> Reach<'t> {
        let Self { nodes, of_name, declared, mentions } = self;
        let (mut named, mut made) = (BTreeSet::new(), BTreeSet::new());
        let mut is_reached = vec![false; nodes.len()];
        let mut is_made = vec![false; nodes.len()];
        let mut to_look_at = vec![(0, How::Named)];
        let unnamed = UNNAMED.into_iter().chain(["operator"]);
        let mut words: Vec<(&str, How)> = unnamed.map(|name| (name, How::Named)).collect();
        loop {
            for (word, how) in words.drain(..) {
                let is_new = if how == How::Named { named.insert(word) } else { made.insert(word) };
                if is_new {
                    let nodes = of_name.get(word).into_iter().flatten();
                    to_look_at.extend(nodes.map(|node| (*node, how)));
                }
            }
            let Some((node, how)) = to_look_at.pop() else { break };
            let is_known = if how == How::Named { &mut is_reached } else { &mut is_made };
            if !std::mem::replace(&mut is_known[node], true) {
                let least = if how == How::Named { How::Made } else { How::Within };
                let all = nodes[node].words.iter();
                let of_made = all.clone().filter(|(_, how)| **how >= least);
                words.extend(of_made.map(|(word, _)| (*word, How::Made)));
                if how == How::Named {
                    words.extend(all.map(|(word, _)| (*word, How::Named)));
                }
            }
        }
        Reach { named, made, declared, mentions, is_reached }
    }
}

impl Place {
    /// How the word at `at` of `code` is mentioned here, perhaps within its own class.
    fn how(&mut self, code: &[Token<'_>], at: usize, sort: Sort, is_own: bool) -> How {
        let before = |back: usize| at.checked_sub(back).map_or("", |at| code[at].text);
        let is_head = is_own && self.depth == [0, 0] && sort == Sort::Code;
        let is_qualified = before(1) == "::" && before(2) == code[at].text;
        if is_head || is_qualified || before(1) == "~" {
            // A constructor or a destructor.
            return How::Named;
        }
        let is_declarator = sort == Sort::Type && self.depth[0] <= 1 && self.depth[1] == 0;
        let arguments = end_of_arguments(code, at + 1);
        let behind = arguments.unwrap_or(at + 1);
        let is_value = !matches!(code.get(behind).map(|token| token.text), Some("*" | "&" | "::"));
        let is_made = makes(&code[..at], &code[behind..]);
        if is_made && !is_declarator {
            self.made_to = self.made_to.max(behind);
        }
        match is_declarator {
            true if is_value => How::Within,
            false if is_made || at < self.made_to && is_value => How::Made,
            false if is_value && sort == Sort::Macro => How::Within,
            true | false => How::Named,
        }
    }
}

/// Behind the arguments of a template that begin at `open`, where some do.
fn end_of_arguments(code: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in code.iter().enumerate().skip(open).take(MOST_ARGUMENTS) {
        match token.text {
            "<" => depth += 1,
            ">" => depth = depth.saturating_sub(1),
            ";" | "{" | "}" => return None,
            _ => {}
        }
        if depth == 0 {
            return (at > open).then_some(at + 1);
        }
    }
    None
}

/// Whether a variable is declared, or a value made, of the class whose name stands between these tokens.
fn makes(before: &[Token<'_>], behind: &[Token<'_>]) -> bool {
    let last = before.last().map_or("", |token| token.text);
    match behind {
        [open, ..] if matches!(open.text, "(" | "{") => true,
        _ if last == "new" => true,
        [name, next, ..] if name.is_word() => {
            matches!(next.text, ";" | "(" | "{" | "[" | "=")
                || next.text == "," && matches!(last, "" | ";" | "{" | "}" | "const")
        }
        _ => false,
    }
}

/// The namespaces and classes around a place, which goes on through a text.
struct Scopes<'t> {
    ahead: std::slice::Iter<'t, Scope>,
    next: Option<&'t Scope>,
    around: Vec<&'t Scope>,
    /// How often each name is among theirs.
    names: BTreeMap<&'t str, usize>,
}

impl<'t> Scopes<'t> {
    fn new(scopes: &'t [Scope]) -> Self {
        let mut ahead = scopes.iter();
        let next = ahead.next();
        Self { ahead, next, around: Vec::new(), names: BTreeMap::new() }
    }

    /// Goes on to `offset`.
    fn go_to(&mut self, offset: usize) {
        while let Some(scope) = self.next.filter(|scope| scope.part.start <= offset) {
            self.next = self.ahead.next();
            self.leave(scope.part.start);
            self.around.push(scope);
            for name in &scope.names {
                *self.names.entry(name).or_default() += 1;
            }
        }
        self.leave(offset);
    }

    /// Whether one of those around has this name.
    fn are_of_class(&self, name: &str) -> bool {
        self.names.contains_key(name) && self.around.iter().any(|scope| scope.name == name)
    }

    /// Leaves those that end before `offset`.
    fn leave(&mut self, offset: usize) {
        while let Some(scope) = self.around.pop_if(|scope| scope.part.end <= offset) {
            for name in &scope.names {
                if let Some(count) = self.names.get_mut(name.as_str()) {
                    *count -= 1;
                    if *count == 0 {
                        self.names.remove(name.as_str());
                    }
                }
            }
        }
    }
}
