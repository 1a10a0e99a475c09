//! What a word that is half typed may become.

use std::collections::BTreeSet;

use super::{
    glossary,
    highlight::{self, Syntax},
};
use crate::cuda::lexer;

/// A word that may be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The word.
    pub word: String,
    /// What to tell of it; may be empty.
    pub detail: String,
    /// What it is.
    pub syntax: Syntax,
}

/// No more than these are shown.
const MOST: usize = 40;

/// All words that may be meant where `at` (a byte) is, whatever is typed already; `bound` is what the manifest
/// declares.
pub fn pool(text: &str, at: usize, bound: &BTreeSet<String>) -> Vec<Candidate> {
    let simple =
        |word: &str, syntax| Candidate { word: word.to_owned(), detail: String::new(), syntax };
    let own = bound.iter().map(|word| simple(word, Syntax::Bound));
    let Some(table) = glossary::table_at(text, at) else {
        let built_ins = glossary::BUILT_INS.iter().map(|(declaration, _)| Candidate {
            word: glossary::name(declaration).to_owned(),
            detail: (*declaration).to_owned(),
            syntax: if declaration.contains('(') { Syntax::Function } else { Syntax::BuiltIn },
        });
        let language = highlight::words().map(|(word, syntax)| simple(word, syntax));
        let words = lexer::words(text).into_iter().map(|word| simple(word, Syntax::Plain));
        return own.chain(built_ins).chain(language).chain(words).collect();
    };
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    if line.contains('=') {
        let types = highlight::words().filter(|(_, syntax)| *syntax == Syntax::Type);
        return own.chain(types.map(|(word, syntax)| simple(word, syntax))).collect();
    }
    match line.trim_start().starts_with('[') {
        true => glossary::tables().map(|word| simple(word, Syntax::Table)).collect(),
        false => glossary::keys(table).iter().map(|word| simple(word, Syntax::Key)).collect(),
    }
}

/// Those of `pool` that `typed` may become, the best ones first: as it is written, then whatever its capital letters.
pub fn fitting(pool: &[Candidate], typed: &str) -> Vec<Candidate> {
    let small = typed.to_lowercase();
    let begins = |c: &&Candidate| c.word.len() > typed.len() && c.word.starts_with(typed);
    let likewise =
        |c: &&Candidate| c.word.to_lowercase().starts_with(&small) && !c.word.starts_with(typed);
    let mut seen = BTreeSet::new();
    let all = pool.iter().filter(begins).chain(pool.iter().filter(likewise));
    all.filter(|candidate| seen.insert(candidate.word.clone())).take(MOST).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "/*---\nti\n[param.speed]\nva\nunit = \"sp\n---*/\nint spare = at;";

    fn words(part: &str, typed: &str) -> Vec<String> {
        let at = TEXT.find(part).unwrap() + part.len();
        let bound = BTreeSet::from(["speed".to_owned()]);
        fitting(&pool(TEXT, at, &bound), typed)
            .into_iter()
            .map(|candidate| candidate.word)
            .collect()
    }

    #[test]
    fn the_manifest_has_keys_and_names() {
        assert_eq!(words("\nti", "ti"), ["title"]);
        assert_eq!(words("\nva", "va"), ["value"]);
        assert_eq!(words("\"sp", "sp"), ["speed"]);
    }

    #[test]
    fn code_has_names_functions_and_words() {
        assert_eq!(words("= at", "sp"), ["speed", "spare"]);
        assert_eq!(
            words("= at", "atomica"),
            ["atomicAdd", "atomicAnd"],
            "capital letters do not count"
        );
        assert_eq!(words("= at", "ret"), ["return"]);
        assert_eq!(words("= at", "spare"), [""; 0], "what is there already");
    }
}
