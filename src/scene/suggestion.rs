//! What may have been meant by a name that is none.

use crate::diagnostic::{LONGEST_COMPARED, MOST_COMPARED, nearest};

/// Names listed where none is near; more would bury the sentence.
const MOST_LISTED: usize = 12;

/// `; did you mean ...?`, or what there is at all; nothing where there is nothing.
pub(super) fn suggestion<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let list = |names: &[&str]| {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        quoted.join(", ")
    };
    let short = |name: &&str| name.len() <= LONGEST_COMPARED;
    let candidates = candidates.into_iter().take(MOST_COMPARED).filter(short);
    let candidates: Vec<&str> = candidates.collect();
    let near = nearest(name, candidates.iter().copied());
    if !near.is_empty() {
        return format!("; did you mean {}?", list(&near));
    }
    match candidates.len() {
        0 => String::new(),
        length if length > MOST_LISTED => {
            format!("; known are {}, ...", list(&candidates[..MOST_LISTED]))
        }
        _ => format!("; known are {}", list(&candidates)),
    }
}
