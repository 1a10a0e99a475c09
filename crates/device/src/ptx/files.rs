//! The names of the sources that PTX comes from.

use super::{
    lexer::{Kind, tokens},
    quoted::{quoted, unquoted},
};

/// A text of PTX in which the sources that `rename` has another name for are called by that (PTX ISA, "Debugging
/// Directives: `.file`"); all else stays as it stands.
///
/// ```
/// use warpaint::ptx::files::renamed;
///
/// let text = ".version 9.0 .target sm_90\n.file 1 \"/home/a.cu\"\n.file 2 \"b.h\"";
/// let named = renamed(text, |name| name.strip_prefix(b"/home/").map(<[u8]>::to_vec));
/// assert_eq!(named, text.replace("/home/", ""));
/// ```
pub fn renamed(text: &str, rename: impl Fn(&[u8]) -> Option<Vec<u8>>) -> String {
    let tokens = tokens(text);
    let (mut out, mut taken) = (String::with_capacity(text.len()), 0);
    for entry in tokens.windows(3) {
        let [directive, number, name] = entry else { continue };
        let part = |token: &super::lexer::Token| &text[token.start as usize..token.end as usize];
        let is_entry = (number.kind, name.kind) == (Kind::Number, Kind::Text);
        if !is_entry || part(directive) != ".file" {
            continue;
        }
        if let Some(other) = rename(&unquoted(part(name))) {
            out.push_str(&text[taken..name.start as usize]);
            out.push_str(&quoted(&other));
            taken = name.end as usize;
        }
    }
    out.push_str(&text[taken..]);
    out
}
