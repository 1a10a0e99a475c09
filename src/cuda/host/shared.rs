//! Which functions for host and device the device needs.
//!
//! Such a function may call what the host alone has: nvcc warns of it, and all is well where no kernel calls it. Who
//! calls what is told by names alone: whatever is mentioned may be called.

use std::collections::{BTreeMap, BTreeSet};

use super::HostCode;
use crate::cuda::lexer::{self, Kind};

/// Functions that loops over ranges and structured bindings call without their names.
pub(super) const UNNAMED: [&str; 3] = ["begin", "end", "get"];

/// Words of functions that are called without their names: operators, and what a class is laid out by.
const CALLED: [&str; 3] = ["operator", "virtual", "override"];

/// A function for host and device.
struct Shared<'t> {
    /// Its file, and its place among the file's open declarations.
    place: (usize, usize),
    name: &'t str,
    words: BTreeSet<&'t str>,
}

/// Of the open declarations of `files`, texts with what is known of them, the functions for host and device that code
/// of the device may call: for each file their places among them.
pub(crate) fn needed(files: &[(&str, &HostCode)]) -> Vec<BTreeSet<usize>> {
    let (mut named, mut all) = (BTreeSet::from(UNNAMED), Vec::new());
    for (file, (text, host)) in files.iter().enumerate() {
        all.extend(read(file, text, host, &mut named));
    }
    let mut of_name: BTreeMap<&str, Vec<Shared<'_>>> = BTreeMap::new();
    for shared in all {
        if CALLED.iter().any(|word| shared.words.contains(word)) {
            named.insert(shared.name);
        }
        of_name.entry(shared.name).or_default().push(shared);
    }
    let mut needed = vec![BTreeSet::new(); files.len()];
    let mut to_look_at: Vec<&str> = named.into_iter().collect();
    while let Some(name) = to_look_at.pop() {
        for Shared { place: (file, index), words, .. } in of_name.remove(name).unwrap_or_default() {
            needed[file].insert(index);
            to_look_at.extend(words);
        }
    }
    needed
}

/// The functions for host and device of a file; adds to `named` what the rest of it names that is for the device.
fn read<'t>(
    file: usize,
    text: &'t str,
    host: &'t HostCode,
    named: &mut BTreeSet<&'t str>,
) -> Vec<Shared<'t>> {
    let mut found: BTreeMap<usize, Shared<'t>> = BTreeMap::new();
    let mut shared = host.shared.iter().peekable();
    let mut parts = host.parts.iter().peekable();
    for token in lexer::lex(text) {
        while parts.next_if(|part| part.end <= token.offset).is_some() {}
        while shared.next_if(|(index, _)| host.open[**index].end <= token.offset).is_some() {}
        let is_of_host = parts.peek().is_some_and(|part| part.start <= token.offset);
        let around = shared.peek().filter(|(index, _)| host.open[**index].start <= token.offset);
        match (token.kind, around) {
            // A macro may be used anywhere.
            (Kind::Directive, _) => {
                let words = token.text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                named.extend(words.filter(|word| !word.is_empty()));
            }
            (Kind::Word, Some((index, name))) => {
                let place = (file, **index);
                let start = Shared { place, name: name.as_str(), words: BTreeSet::new() };
                found.entry(**index).or_insert(start).words.insert(token.text);
            }
            (Kind::Word, None) if !is_of_host => _ = named.insert(token.text),
            (Kind::Word | Kind::Number | Kind::Quoted | Kind::Sign, _)
            | (Kind::Blank | Kind::Comment | Kind::Disabled, _) => {}
        }
    }
    found.into_values().collect()
}
