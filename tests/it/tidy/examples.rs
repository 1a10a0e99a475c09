//! Most public functions and types have an example in their documentation.

use std::mem;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::sources;

/// A public function or type.
#[derive(Debug, PartialEq, Eq)]
struct Item {
    line: usize,
    name: String,
    has_example: bool,
}

/// Reads tokens, since items in the text of a macro have no syntax tree.
#[derive(Default)]
struct Reader {
    items: Vec<Item>,
    /// Of the item that comes: whether its documentation has an example, and whether it is there in tests only.
    has_example: bool,
    is_test: bool,
}

impl Reader {
    fn items(text: &str) -> Vec<Item> {
        let mut reader = Self::default();
        reader.read(text.parse().unwrap());
        reader.items
    }

    fn read(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = &tokens[..];
        while let Some((token, behind)) = rest.split_first() {
            rest = behind;
            match (token, behind) {
                (TokenTree::Punct(hash), [TokenTree::Group(attribute), after @ ..])
                    if hash.as_char() == '#' =>
                {
                    self.attribute(attribute);
                    rest = after;
                }
                // Attributes that a macro passes on: `$(#[$it])*`.
                (
                    TokenTree::Punct(dollar),
                    [TokenTree::Group(repeated), TokenTree::Punct(_), after @ ..],
                ) if dollar.as_char() == '$' && is_attribute(repeated) => {
                    rest = after;
                }
                (TokenTree::Ident(word), _) if word == "pub" => self.item(behind),
                (TokenTree::Group(group), _) => {
                    let is_body = group.delimiter() == Delimiter::Brace;
                    let is_test = mem::take(&mut self.is_test);
                    if !(is_body && is_test) {
                        self.has_example = false;
                        self.read(group.stream());
                    }
                    self.is_test = is_test && !is_body;
                    self.has_example = false;
                }
                (TokenTree::Punct(end), _) if end.as_char() == ';' => {
                    (self.has_example, self.is_test) = (false, false);
                }
                _ => {}
            }
        }
    }

    fn attribute(&mut self, attribute: &Group) {
        let tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
        match &tokens[..] {
            [TokenTree::Ident(doc), _, text @ ..] if doc == "doc" => {
                self.has_example |= text.iter().any(|token| match token {
                    TokenTree::Literal(text) => text.to_string().contains("```"),
                    TokenTree::Ident(name) => name.to_string().starts_with("example"),
                    TokenTree::Group(_) | TokenTree::Punct(_) => false,
                });
            }
            [TokenTree::Ident(cfg), TokenTree::Group(condition)] if cfg == "cfg" => {
                self.is_test |= condition.stream().to_string() == "test";
            }
            _ => {}
        }
    }

    /// The item behind `pub`, where it is a function or a type.
    fn item(&mut self, behind: &[TokenTree]) {
        let has_example = mem::take(&mut self.has_example);
        let is_prefix = |token: &&TokenTree| matches!(token, TokenTree::Ident(word) if word == "const" || word == "unsafe");
        let mut tokens = behind.iter().skip_while(is_prefix);
        let Some(TokenTree::Ident(kind)) = tokens.next() else { return };
        if self.is_test || !["fn", "struct", "enum", "trait", "type"].iter().any(|it| kind == it) {
            return;
        }
        let name = tokens.next().map(TokenTree::to_string).unwrap_or_default();
        self.items.push(Item { line: kind.span().start().line, name, has_example });
    }
}

/// Whether an attribute is all that a macro repeats here.
fn is_attribute(repeated: &Group) -> bool {
    let tokens: Vec<TokenTree> = repeated.stream().into_iter().collect();
    matches!(&tokens[..], [TokenTree::Punct(hash), TokenTree::Group(_)] if hash.as_char() == '#')
}

/// Of each part of the library, its public functions and types without an example, and how many there are.
#[test]
fn most_public_items_have_an_example() {
    let sources = sources();
    for folder in ["compile/", "device/", "kernel/", "array/", "interop/"] {
        // What a device does behind the seam needs none.
        let is_behind = |path: &str| {
            ["device/cpu/", "device/nvidia/"].iter().any(|inner| path.starts_with(inner))
        };
        let (mut without, mut items) = (Vec::new(), 0);
        for source in &sources {
            if !source.path.starts_with(folder) || is_behind(&source.path) {
                continue;
            }
            for item in Reader::items(&source.text) {
                items += 1;
                if !item.has_example {
                    without.push(format!("{}: {}", source.at(item.line), item.name));
                }
            }
        }
        let most = without.len() * 2 < items || items == 0;
        assert!(most, "{folder}: {items} items, without an example:\n{}", without.join("\n"));
    }
}

#[test]
fn items_are_found_however_they_are_written() {
    let text = r#"
//! ```
//! Of the file.
//! ```

/// ```
/// f();
/// ```
#[must_use]
pub fn f() {}

/// None.
pub struct
    S { pub field: u8 }
impl S {
    #[doc = example!("S::g")] pub const unsafe fn g() {}
    pub(crate) fn hidden() {}
}
macro_rules! made {
    ($(#[$doc:meta])* $name:ident) => {
        /// ```
        $(#[$doc])*
        pub fn $name() {}
        $(#[doc = example_of_it!()] pub fn $name() {})*
    };
}
pub use other::Thing;
#[cfg(test)]
mod tests { pub fn in_a_test() {} }
pub type T = u8;
"#;
    let item = |line, name: &str, has_example| Item { line, name: name.to_owned(), has_example };
    let expected = [
        item(10, "f", true),
        item(13, "S", false),
        item(16, "g", true),
        item(23, "$", true),
        item(24, "$", true),
        item(30, "T", false),
    ];
    assert_eq!(Reader::items(text), expected);
}
