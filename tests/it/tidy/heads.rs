//! The head of each folder says what enters it, what leaves it, and what it must not know; it keeps to the last. So
//! does a file without a folder whose head says so.

use super::{FLOW, Name, Source, sources};

/// The head of a file as one line.
fn head(source: &Source) -> String {
    let lines = source.text.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// What a head says after this word, to the end of the sentence.
fn said<'t>(head: &'t str, word: &str) -> Option<&'t str> {
    let (_, rest) = head.split_once(word)?;
    Some(rest.split_once(". ").map_or(rest, |(sentence, _)| sentence).trim_end_matches('.'))
}

/// The modules that a folder must not know; none where its head does not say all three.
fn forbidden(head: &str) -> Option<Vec<Vec<String>>> {
    let [enters, leaves] = ["Enters: ", "Leaves: "].map(|word| said(head, word));
    if enters?.is_empty() || leaves?.is_empty() {
        return None;
    }
    let names = said(head, "Must not know: ")?.split('`').skip(1).step_by(2);
    Some(names.map(|name| name.split("::").map(str::to_owned).collect()).collect())
}

fn is_module(sources: &[Source], path: &[String]) -> bool {
    sources.iter().any(|source| source.module == path)
}

/// Whether it has more in it than its tests.
fn is_folder(sources: &[Source], module: &[String]) -> bool {
    sources.iter().any(|source| match source.module.split_last() {
        Some((last, parent)) => parent == module && last != "tests",
        None => false,
    })
}

/// The path to what a name means, from the crate's root: what a module only passes on belongs to the module that has
/// it.
fn meant(sources: &[Source], source: &Source, name: &Name) -> Option<Vec<String>> {
    let mut path = source.absolute(name);
    // So many modules pass a name on at most.
    for _ in 0..8 {
        let (root, inner) = path.split_first()?;
        if root != "crate" {
            return None;
        }
        let depth = (0..inner.len()).rev().find(|depth| is_module(sources, &inner[..*depth]))?;
        let owner = sources.iter().find(|source| source.module == inner[..depth])?;
        let item = Name { line: name.line, path: inner[depth..].to_vec() };
        let next = owner.absolute(&item);
        if next.first().is_none_or(|root| root != "crate") || next == path {
            break;
        }
        path = next;
    }
    Some(path.split_off(1))
}

#[test]
fn folders_say_what_they_must_not_know_and_do_not_name_it() {
    let sources = sources();
    let mut wrong = Vec::new();
    for folder in &sources {
        let own = &folder.module;
        let is_top = own.len() == 1 && FLOW.contains(&own[0].as_str());
        let head = head(folder);
        let says_so = head.contains("Must not know: ");
        if own.is_empty() || !is_top && !is_folder(&sources, own) && !says_so {
            continue;
        }
        let Some(forbidden) = forbidden(&head) else {
            wrong.push(format!("{}: no head", folder.at(1)));
            continue;
        };
        let unknown = forbidden.iter().find(|path| !is_module(&sources, path));
        assert!(!forbidden.is_empty() && unknown.is_none(), "{own:?}: {forbidden:?}");
        let is_inside = |source: &&Source| {
            source.module.starts_with(own) && !source.module.iter().any(|part| part == "tests")
        };
        for source in sources.iter().filter(is_inside) {
            for name in &source.names {
                let Some(path) = meant(&sources, source, name) else { continue };
                if let Some(other) = forbidden.iter().find(|other| path.starts_with(other)) {
                    let (own, other) = (own.join("::"), other.join("::"));
                    wrong.push(format!("{}: `{own}` names `{other}`", source.at(name.line)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn heads_are_read() {
    let head =
        "A folder. Enters: text. Leaves: numbers; signs. Must not know: `a`, `b::c`. It is fast.";
    let path = |text: &str| text.split("::").map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(forbidden(head), Some(vec![path("a"), path("b::c")]));
    assert_eq!(forbidden("A folder. Enters: text. Must not know: `a`."), None);
}

#[test]
fn what_is_passed_on_is_found() {
    let file = |path: &str, text: &str| Source::new("src", path.to_owned(), text.to_owned());
    let sources = [
        file("a/mod.rs", "mod b; pub use b::Thing;"),
        file("a/b.rs", "pub struct Thing; pub struct Other;"),
        file("c.rs", "use crate::a::Thing; use crate::a::b; use std::fs;"),
    ];
    let [_, _, user] = &sources;
    let found = user.names.iter().map(|name| meant(&sources, user, name));
    let found: Vec<_> = found.map(|path| path.map(|path| path.join("::"))).collect();
    let expected = [Some("a::b::Thing"), Some("a::b"), None];
    assert_eq!(found, expected.map(|path| path.map(str::to_owned)));
}
