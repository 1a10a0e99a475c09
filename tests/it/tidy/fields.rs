//! Where the meaning of an operation decides, a pattern that names one of its fields names all: a modifier that is
//! added to the table does not compile until it is looked at.

use syn::{Expr, Macro, Pat, PatStruct, Token, spanned::Spanned as _, visit, visit::Visit};

use super::{source::without_tests, sources};

/// What compiles operations, and what analyses follow of them. (The interpreter takes types where they stand, and
/// leaves the meaning to `interp/value`; the parser fills in what operands tell.)
const STRICT: [&str; 3] = ["ptx/op/", "ptx/pass/", "device/cpu/jit/"];
/// The enumerations of operations.
const OPERATIONS: [&str; 2] = ["Op", "FloatOp"];

/// Finds patterns that pass over fields.
#[derive(Default)]
struct Finder {
    /// The line of each, and the operation.
    found: Vec<(usize, String)>,
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_pat_struct(&mut self, pattern: &'ast PatStruct) {
        let names: Vec<String> =
            pattern.path.segments.iter().map(|one| one.ident.to_string()).collect();
        if let [.., owner, name] = names.as_slice()
            && OPERATIONS.contains(&owner.as_str())
            && !pattern.fields.is_empty()
            && pattern.rest.is_some()
        {
            self.found.push((pattern.path.span().start().line, name.clone()));
        }
        visit::visit_pat_struct(self, pattern);
    }

    /// The pattern of `matches!`.
    fn visit_macro(&mut self, item: &'ast Macro) {
        if !item.path.is_ident("matches") {
            return;
        }
        let pattern = item.parse_body_with(|input: syn::parse::ParseStream<'_>| {
            input.parse::<Expr>()?;
            input.parse::<Token![,]>()?;
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            input.parse::<proc_macro2::TokenStream>()?;
            Ok(pattern)
        });
        // It lives no longer than this call.
        let mut inner = Finder::default();
        inner.visit_pat(&pattern.unwrap());
        self.found.append(&mut inner.found);
    }
}

fn found(text: &str) -> Vec<(usize, String)> {
    let mut finder = Finder::default();
    finder.visit_file(&without_tests(text));
    finder.found
}

#[test]
fn who_names_a_field_of_an_operation_names_all() {
    let mut wrong = Vec::new();
    for source in sources() {
        if STRICT.iter().any(|folder| source.path.starts_with(folder)) {
            let places = found(&source.text).into_iter();
            wrong.extend(places.map(|(line, op)| format!("{}: `{op}`", source.at(line))));
        }
    }
    assert!(wrong.is_empty(), "fields are passed over:\n{}", wrong.join("\n"));
}

#[test]
fn fields_that_are_passed_over_are_found() {
    let count = |code: &str| found(&format!("fn f() {{ {code} }}")).len();
    assert_eq!(count("match op { Op::Add { ty, .. } | Op::Sub { ty, mode: _ } => 1, }"), 1);
    assert_eq!(count("if let (inst::Op::Add { ty: Some(ty), .. }, 1) = x {}"), 1);
    assert_eq!(count("matches!(op, Op::Bar { kind: Kind::A, .. } if is(kind));"), 1);
    assert_eq!(
        count("match op { Op::Add { .. } | Op::Sub { ty, mode: _ } | S { a, .. } => 1, }"),
        0
    );
}
