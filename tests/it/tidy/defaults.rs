//! A `match` on enumerations of ours has no default arm, so that what a new variant means is decided wherever it
//! matters. In `ptx` and `device/cpu` Clippy sees to it, too, but it does not look into tuples, slices and fields.
//! Enumerations of others are not ours to follow, and one pattern with a default is a question, as `if let` asks it.

use std::collections::BTreeSet;

use syn::{
    Arm, Attribute, ExprMatch, Lit, Member, Pat, parse_file, spanned::Spanned as _, visit,
    visit::Visit,
};

use super::{Name, Source, source::without_tests, sources};

/// Clippy's lint of default arms.
const LINT: &str = "wildcard_enum_match_arm";

/// Default arms that stay, by their file and what is matched, each with its reason.
const ALLOWED: [(&str, &str, &str); 4] = [
    (
        "array/algorithm/summary.rs",
        "scalar",
        "all types have CUDA C++'s name but those that the kernels define themselves",
    ),
    (
        "session/builder.rs",
        "error",
        "what is not known to be the source's mistake is an error of the device",
    ),
    (
        "studio/panels/editor/strokes.rs",
        "task",
        "whatever the list of words has no use for closes it, and is done as if there were none",
    ),
    (
        "compile/server/mod.rs",
        "ordered.and_then(|()| process.reply(patience(LONGEST_START)))",
        "any answer but that it is ready means that there is no child",
    ),
];

/// Whether the inner attributes of a file allow default arms.
fn allows(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list();
        list.is_ok_and(|list| list.path.is_ident("allow") && list.tokens.to_string().contains(LINT))
    })
}

/// Whether a path leads to a variant of an enumeration of ours: of this file, or by way of the crate.
fn is_our_variant(source: &Source, path: &[String]) -> bool {
    let is_type = |name: &String| name.starts_with(char::is_uppercase);
    let [.., owner, name] = path else { return false };
    let absolute = source.absolute(&Name { line: 0, path: path.to_vec() });
    is_type(owner) && is_type(name) && (absolute[0] == "crate" || absolute[0] == *owner)
}

/// Where variants of our enumerations stand in a pattern, as a path through tuples, slices and fields.
fn places(source: &Source, pattern: &Pat, at: &str, found: &mut BTreeSet<String>) {
    let mut variant = |path: &syn::Path| {
        let names: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
        if is_our_variant(source, &names) {
            found.insert(at.to_owned());
        }
        names.last().cloned().unwrap_or_default()
    };
    match pattern {
        Pat::Path(path) => _ = variant(&path.path),
        Pat::TupleStruct(inner) => {
            let name = variant(&inner.path);
            for (index, pattern) in inner.elems.iter().enumerate() {
                places(source, pattern, &format!("{at}/{name}.{index}"), found);
            }
        }
        Pat::Struct(inner) => {
            let name = variant(&inner.path);
            for field in &inner.fields {
                let member = match &field.member {
                    Member::Named(member) => member.to_string(),
                    Member::Unnamed(member) => member.index.to_string(),
                };
                places(source, &field.pat, &format!("{at}/{name}.{member}"), found);
            }
        }
        Pat::Tuple(inner) => {
            for (index, pattern) in inner.elems.iter().enumerate() {
                places(source, pattern, &format!("{at}/{index}"), found);
            }
        }
        Pat::Slice(inner) => {
            for (index, pattern) in inner.elems.iter().enumerate() {
                places(source, pattern, &format!("{at}/[{index}]"), found);
            }
        }
        Pat::Or(inner) => inner.cases.iter().for_each(|pattern| places(source, pattern, at, found)),
        Pat::Reference(inner) => places(source, &inner.pat, at, found),
        Pat::Paren(inner) => places(source, &inner.pat, at, found),
        Pat::Ident(inner) => {
            inner.subpat.iter().for_each(|(_, pattern)| places(source, pattern, at, found));
        }
        _ => {}
    }
}

/// Whether a pattern takes anything.
fn is_any(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) | Pat::Rest(_) => true,
        Pat::Ident(inner) => {
            let is_name = inner.ident.to_string().starts_with(char::is_lowercase);
            is_name && inner.subpat.as_ref().is_none_or(|(_, pattern)| is_any(pattern))
        }
        Pat::Tuple(inner) => inner.elems.iter().all(is_any),
        Pat::Slice(inner) => {
            matches!(inner.elems.first(), Some(Pat::Rest(_))) && inner.elems.len() == 1
        }
        Pat::Or(inner) => inner.cases.iter().any(is_any),
        Pat::Reference(inner) => is_any(&inner.pat),
        Pat::Paren(inner) => is_any(&inner.pat),
        _ => false,
    }
}

/// The parts of the tuples that an arm takes.
fn tuples(pattern: &Pat) -> Vec<Vec<&Pat>> {
    match pattern {
        Pat::Tuple(inner) => vec![inner.elems.iter().collect()],
        Pat::Or(inner) => inner.cases.iter().flat_map(tuples).collect(),
        Pat::Paren(inner) => tuples(&inner.pat),
        _ => Vec::new(),
    }
}

/// What a pattern takes of a truth value or an option: one of two ways.
fn way(pattern: &Pat) -> Option<bool> {
    match pattern {
        Pat::Lit(literal) => match &literal.lit {
            Lit::Bool(value) => Some(value.value),
            _ => None,
        },
        Pat::TupleStruct(inner) if inner.path.is_ident("Some") => {
            inner.elems.iter().all(is_any).then_some(true)
        }
        Pat::Ident(inner) if inner.ident == "None" => Some(false),
        _ => None,
    }
}

/// Whether arms that say nothing of the enumerations take both ways of a value beside them: together they are a
/// default arm.
fn share_a_default(arms: &[Arm], places: &BTreeSet<String>) -> bool {
    let is_place =
        |index: usize| places.iter().any(|at| at.split('/').nth(1) == Some(&index.to_string()));
    let unguarded = arms.iter().filter(|arm| arm.guard.is_none());
    let all: Vec<Vec<&Pat>> = unguarded.flat_map(|arm| tuples(&arm.pat)).collect();
    let mut ways = BTreeSet::new();
    for tuple in &all {
        let (of, beside): (Vec<_>, Vec<_>) =
            tuple.iter().enumerate().partition(|(at, _)| is_place(*at));
        let other: Vec<_> = beside.iter().filter(|(_, pattern)| !is_any(pattern)).collect();
        if let [(at, pattern)] = other.as_slice()
            && of.iter().all(|(_, pattern)| is_any(pattern))
            && let Some(way) = way(pattern)
        {
            ways.insert((*at, way));
        }
    }
    ways.iter().any(|(at, way)| ways.contains(&(*at, !way)))
}

/// Finds default arms in a file.
struct Finder<'s> {
    source: &'s Source,
    /// The line of each, and what is matched.
    found: Vec<(usize, String)>,
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_expr_match(&mut self, item: &'ast ExprMatch) {
        let mut places = BTreeSet::new();
        item.arms.iter().for_each(|arm| self::places(self.source, &arm.pat, "", &mut places));
        // One pattern and a default are an `if let`: the question whether a value is this one.
        let is_question = item.arms.len() == 2 && !matches!(item.arms[0].pat, Pat::Or(_));
        if !places.is_empty() && !is_question {
            let default = item.arms.iter().find(|arm| is_any(&arm.pat) && arm.guard.is_none());
            let shared = share_a_default(&item.arms, &places).then_some(&item.arms[0]);
            if let Some(arm) = default.or(shared) {
                let text = item.expr.span().source_text().unwrap_or_default();
                self.found.push((arm.span().start().line, text));
            }
        }
        visit::visit_expr_match(self, item);
    }
}

fn found(source: &Source) -> Vec<(usize, String)> {
    let mut finder = Finder { source, found: Vec::new() };
    finder.visit_file(&without_tests(&source.text));
    finder.found
}

#[test]
fn matches_on_our_enumerations_have_no_default_arm() {
    let mut wrong = Vec::new();
    let mut unused = ALLOWED.to_vec();
    let sources = sources();
    let is_strict = |source: &&Source| {
        !allows(&parse_file(&source.text).unwrap().attrs)
            && !source.module.iter().any(|name| name == "tests")
    };
    for source in sources.iter().filter(is_strict) {
        for (line, of) in found(source) {
            let before = unused.len();
            unused.retain(|(path, text, _)| (*path, *text) != (&source.path, &of));
            if unused.len() == before {
                wrong.push(format!("{}: a default arm of `match {of}`", source.at(line)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unused.is_empty() || sources.is_empty(), "allowed, and not there: {unused:?}");
}

#[test]
fn default_arms_are_found() {
    let file = |text: String| Source::new("src", "a.rs".to_owned(), text);
    let count = |arms: &str| {
        let begin = "use std::io; use egui::Key; use crate::b::Kind;";
        found(&file(format!("{begin} fn f() {{ match (op, x) {{ {arms} }} }}"))).len()
    };
    // Of the value itself, of a tuple, of a slice, of a field, by a name, and by two arms together.
    assert_eq!(count("Op::A => 1, Op::B => 1, _ => 2"), 1);
    assert_eq!(count("Kind::A | Self::B => 1, _ => 2"), 1);
    assert_eq!(count("(Op::A, 1) => 1, (Op::B, _) => 2, _ => 3"), 1);
    assert_eq!(count("(op, [Op::A]) => 1, (op, []) => 2, (op, _) => 3"), 1);
    assert_eq!(count("S { op: Op::A } => 1, S { op: Op::B } => 1, other => 3"), 1);
    assert_eq!(count("(Op::A, true) => 1, (_, false) => 2, (_, true) => 3"), 1);
    assert_eq!(count("(Op::A, None) => 1, (_, None) => 2, (_, Some(x)) => 3"), 1);
    assert_eq!(count("(Op::A | Op::B, _) => 1, (op, _) => 3, (Op::C, 1) => 2"), 1);
    // Each is named; a question; of others.
    assert_eq!(count("(Op::A, 1) => 1, (Op::A | Op::B, _) => 2"), 0);
    assert_eq!(count("Op::A => 1, op if op.is_b() => 2, Op::B | Op::C => 3"), 0);
    assert_eq!(count("(Op::A, None) => 1, (Op::B, None) => 1, (_, Some(x)) => 3"), 0);
    assert_eq!(count("(Op::A, 1) => 1, _ => 2"), 0);
    assert_eq!(count("Key::A => 1, Key::B => 1, _ => 2"), 0);
    assert_eq!(count("(io::ErrorKind::A, 1) => 1, (io::ErrorKind::B, _) => 1, _ => 2"), 0);
}

#[test]
fn what_allows_default_arms_is_read() {
    let of = |text: &str| allows(&parse_file(text).unwrap().attrs);
    assert!(of("#![allow(clippy::wildcard_enum_match_arm, reason = \"\")]"));
    assert!(!of("#![deny(clippy::wildcard_enum_match_arm)]"));
    assert!(!of("#![allow(missing_docs)] //! wildcard_enum_match_arm"));
}
