//! What a word that is half typed may become.

use std::collections::BTreeSet;

use super::{
    glossary,
    highlight::{self, Syntax},
    values::{self, Values},
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
    /// Whether a quote is put before it, and behind it.
    pub quotes: [bool; 2],
}

impl Candidate {
    fn new(word: &str, syntax: Syntax) -> Self {
        Self { word: word.to_owned(), detail: String::new(), syntax, quotes: [false; 2] }
    }

    /// What is put into the text for it.
    pub fn inserted(&self) -> String {
        let [before, behind] = self.quotes.map(|is_quoted| if is_quoted { "\"" } else { "" });
        format!("{before}{}{behind}", self.word)
    }
}

/// No more than these are shown.
const MOST: usize = 40;

/// All words that may be meant where `at` (a byte) is, whatever is typed already; `bound` is what the manifest
/// declares, and `included` what code may name of the headers.
pub fn pool(
    text: &str,
    at: usize,
    bound: &BTreeSet<String>,
    included: Vec<Candidate>,
) -> Vec<Candidate> {
    let simple = Candidate::new;
    let own = bound.iter().map(|word| simple(word, Syntax::Bound));
    let Some(table) = glossary::table_at(text, at) else {
        let built_ins = glossary::BUILT_INS.iter().map(|(declaration, _)| Candidate {
            detail: (*declaration).to_owned(),
            ..Candidate::new(
                glossary::name(declaration),
                if declaration.contains('(') { Syntax::Function } else { Syntax::BuiltIn },
            )
        });
        let language = highlight::words().map(|(word, syntax)| simple(word, syntax));
        let words = lexer::words(text).into_iter().map(|word| simple(word, Syntax::Plain));
        return own.chain(built_ins).chain(included).chain(language).chain(words).collect();
    };
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    if line.contains('=') {
        let types = highlight::words().filter(|(_, syntax)| *syntax == Syntax::Type);
        let types = types.map(|(word, syntax)| simple(word, syntax));
        return values_at(text, at).unwrap_or_else(|| own.chain(types).collect());
    }
    match line.trim_start().starts_with('[') {
        true => glossary::tables().map(|word| simple(word, Syntax::Table)).collect(),
        false => glossary::keys(table).iter().map(|word| simple(word, Syntax::Key)).collect(),
    }
}

/// The values that the manifest's key on the line of byte `at` may have, where those have names.
pub fn values_at(text: &str, at: usize) -> Option<Vec<Candidate>> {
    let table = glossary::table_at(text, at)?;
    let (key, before) = text[..at].rsplit('\n').next()?.split_once('=')?;
    known_values(values::of(table, key.trim(), text), before, &text[at..])
}

/// The values of a key, where they are known, whatever is typed of one: `before` is what stands of it before the caret,
/// and `behind` the text behind that.
fn known_values(values: Values, before: &str, behind: &str) -> Option<Vec<Candidate>> {
    let is_open = before.matches('"').count() % 2 == 1;
    match values {
        Values::Bare(words) => {
            let of_language = words.iter().map(|word| Candidate::new(word, Syntax::Keyword));
            Some(of_language.filter(|_| !is_open).collect())
        }
        Values::Quoted(syntax, names) => {
            let rest = behind.lines().next().unwrap_or_default();
            let rest = rest.trim_start_matches(|c: char| c == '_' || c.is_alphanumeric());
            let quotes = [!is_open, !rest.starts_with('"')];
            let all = names.iter();
            Some(all.map(|name| Candidate { quotes, ..Candidate::new(name, syntax) }).collect())
        }
        Values::Other => None,
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
        fitting(&pool(TEXT, at, &bound, Vec::new()), typed)
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
    fn values_are_those_of_the_key_and_get_their_quotes() {
        let inserted = |line: &str, behind: &str, typed: &str| -> Vec<String> {
            let head = format!("/*---\n[texture.field]\n{line}");
            let text = format!("{head}{behind}\n---*/\n");
            let all = fitting(&pool(&text, head.len(), &BTreeSet::new(), Vec::new()), typed);
            all.iter().map(Candidate::inserted).collect()
        };
        assert_eq!(inserted("filter = \"li", "\"", "li"), ["linear"]);
        assert_eq!(inserted("filter = \"li", "", "li"), ["linear\""]);
        assert_eq!(inserted("filter = li", "", "li"), ["\"linear\""]);
        assert_eq!(inserted("double = tr", "", "tr"), ["true"]);
        assert_eq!(
            inserted("format = \"", "", ""),
            ["rgba8\"", "rgba16f\"", "rgba32f\"", "rg32f\"", "r32f\""]
        );
        assert!(values_at("/*---\ntitle = \"\n---*/", 14).is_none());
        // Other keys have the scene's names and types.
        assert!(inserted("size = fl", "", "fl").contains(&"float".to_owned()));
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
