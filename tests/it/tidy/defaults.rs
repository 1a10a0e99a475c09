//! Where Clippy denies a default arm of a `match` on an enumeration, there is none where several values are matched
//! together either: Clippy does not look into tuples, slices and fields.

use std::collections::BTreeSet;

use syn::{
    Arm, Attribute, ExprMatch, Lit, Member, Pat, parse_file, spanned::Spanned as _, visit,
    visit::Visit,
};

use super::{Source, source::without_tests, sources};

/// The lint that denies default arms.
const LINT: &str = "wildcard_enum_match_arm";

/// Default arms that stay, by their file and what is matched, each with its reason.
const ALLOWED: [(&str, &str, &str); 0] = [];

/// Whether the inner attributes of a file deny the lint, or allow it; neither where they do not name it.
fn denies(attributes: &[Attribute]) -> Option<bool> {
    attributes.iter().find_map(|attribute| {
        let list = attribute.meta.require_list().ok()?;
        list.tokens.to_string().contains(LINT).then(|| list.path.is_ident("deny"))
    })
}

/// Where variants of enumerations stand in a pattern, as a path through tuples, slices and fields.
fn places(pattern: &Pat, at: &str, found: &mut BTreeSet<String>) {
    let mut variant = |path: &syn::Path| {
        let names: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
        let is_type = |name: &String| name.starts_with(char::is_uppercase);
        if let [.., owner, name] = names.as_slice()
            && is_type(owner)
            && is_type(name)
        {
            found.insert(at.to_owned());
        }
        names.last().cloned().unwrap_or_default()
    };
    match pattern {
        Pat::Path(path) => _ = variant(&path.path),
        Pat::TupleStruct(inner) => {
            let name = variant(&inner.path);
            for (index, pattern) in inner.elems.iter().enumerate() {
                places(pattern, &format!("{at}/{name}.{index}"), found);
            }
        }
        Pat::Struct(inner) => {
            let name = variant(&inner.path);
            for field in &inner.fields {
                let member = match &field.member {
                    Member::Named(member) => member.to_string(),
                    Member::Unnamed(member) => member.index.to_string(),
                };
                places(&field.pat, &format!("{at}/{name}.{member}"), found);
            }
        }
        Pat::Tuple(inner) => {
            for (index, pattern) in inner.elems.iter().enumerate() {
                places(pattern, &format!("{at}/{index}"), found);
            }
        }
        Pat::Slice(inner) => {
            for (index, pattern) in inner.elems.iter().enumerate() {
                places(pattern, &format!("{at}/[{index}]"), found);
            }
        }
        Pat::Or(inner) => inner.cases.iter().for_each(|pattern| places(pattern, at, found)),
        Pat::Reference(inner) => places(&inner.pat, at, found),
        Pat::Paren(inner) => places(&inner.pat, at, found),
        Pat::Ident(inner) => {
            inner.subpat.iter().for_each(|(_, pattern)| places(pattern, at, found));
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
    let all: Vec<Vec<&Pat>> = arms.iter().flat_map(|arm| tuples(&arm.pat)).collect();
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
#[derive(Default)]
struct Finder {
    /// The line of each, and what is matched.
    found: Vec<(usize, String)>,
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_expr_match(&mut self, item: &'ast ExprMatch) {
        let mut places = BTreeSet::new();
        item.arms.iter().for_each(|arm| self::places(&arm.pat, "", &mut places));
        // Clippy sees the value itself.
        places.remove("");
        // One pattern and a default are an `if let`: the question whether a value is this one.
        let is_question = item.arms.len() == 2 && !matches!(item.arms[0].pat, Pat::Or(_));
        if !places.is_empty() && !is_question {
            let default = item.arms.iter().find(|arm| is_any(&arm.pat));
            let shared = share_a_default(&item.arms, &places).then_some(&item.arms[0]);
            if let Some(arm) = default.or(shared) {
                let text = item.expr.span().source_text().unwrap_or_default();
                self.found.push((arm.span().start().line, text));
            }
        }
        visit::visit_expr_match(self, item);
    }
}

fn found(text: &str) -> Vec<(usize, String)> {
    let mut finder = Finder::default();
    finder.visit_file(&without_tests(text));
    finder.found
}

/// The sources in which Clippy denies default arms: of a module that denies them, and of those within.
fn strict(sources: &[Source]) -> impl Iterator<Item = &Source> {
    let says = |source: &Source| denies(&parse_file(&source.text).unwrap().attrs);
    let strict: Vec<&[String]> =
        sources.iter().filter(|one| says(one) == Some(true)).map(|one| &one.module[..]).collect();
    let is_strict = move |source: &&Source| {
        let is_in = strict.iter().any(|module| source.module.starts_with(module));
        is_in && says(source) != Some(false) && !source.module.iter().any(|name| name == "tests")
    };
    sources.iter().filter(is_strict)
}

#[test]
fn nothing_is_swallowed_where_values_are_matched_together() {
    let sources = sources();
    if sources.is_empty() {
        return;
    }
    let (mut wrong, mut seen) = (Vec::new(), 0);
    let mut unused = ALLOWED.to_vec();
    for source in strict(&sources) {
        seen += 1;
        for (line, of) in found(&source.text) {
            let before = unused.len();
            unused.retain(|(path, text, _)| (*path, *text) != (&source.path, &of));
            if unused.len() == before {
                wrong.push(format!("{}: a default arm of `match {of}`", source.at(line)));
            }
        }
    }
    assert!(seen > 150, "modules deny default arms: {seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unused.is_empty(), "allowed, and not there: {unused:?}");
}

#[test]
fn default_arms_are_found() {
    let count = |arms: &str| found(&format!("fn f() {{ match (op, x) {{ {arms} }} }}")).len();
    // Of a tuple, of a slice, of a field, by a name, and by two arms together.
    assert_eq!(count("(Op::A, 1) => 1, (Op::B, _) => 2, _ => 3"), 1);
    assert_eq!(count("(op, [Op::A]) => 1, (op, []) => 2, (op, _) => 3"), 1);
    assert_eq!(count("S { op: Op::A } => 1, S { op: Op::B } => 1, other => 3"), 1);
    assert_eq!(count("(Op::A, true) => 1, (_, false) => 2, (_, true) => 3"), 1);
    assert_eq!(count("(Op::A, None) => 1, (_, None) => 2, (_, Some(x)) => 3"), 1);
    assert_eq!(count("(Op::A | Op::B, _) => 1, (op, _) => 3, (Op::C, 1) => 2"), 1);
    // Each is named; a question; and what Clippy sees.
    assert_eq!(count("(Op::A, 1) => 1, (Op::A | Op::B, _) => 2"), 0);
    assert_eq!(count("(Op::A, None) => 1, (Op::B, None) => 1, (_, Some(x)) => 3"), 0);
    assert_eq!(count("(Op::A, 1) => 1, _ => 2"), 0);
    assert_eq!(count("Op::A => 1, Op::B => 1, _ => 2"), 0);
}

#[test]
fn what_denies_default_arms_is_read() {
    let of = |text: &str| denies(&parse_file(text).unwrap().attrs);
    assert_eq!(of("#![deny(clippy::wildcard_enum_match_arm, reason = \"\")]"), Some(true));
    assert_eq!(of("#![allow(clippy::wildcard_enum_match_arm)]"), Some(false));
    assert_eq!(of("#![deny(missing_docs)] //! wildcard_enum_match_arm"), None);
}
