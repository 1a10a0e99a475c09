//! The types of kernel parameters.

use std::fmt;

use crate::element::Element;

/// The type of a kernel parameter, as far as packing an argument needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CType {
    /// A scalar or a CUDA vector by value.
    Value(Element),
    /// A pointer.
    Pointer {
        /// What it points to.
        to: Pointee,
        /// Whether the kernel promises not to write through it.
        constant: bool,
    },
    /// `cudaSurfaceObject_t`.
    Surface,
    /// `cudaTextureObject_t`.
    Texture,
    /// Any other type, whose size the signature does not tell.
    Named(String),
}

/// What a pointer points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pointee {
    /// A scalar or a CUDA vector.
    Element(Element),
    /// `void`.
    Void,
    /// Any other type: a structure of the file, another pointer.
    Named(String),
}

impl CType {
    /// Size and alignment in bytes as a kernel argument; `None` for types known by name only.
    pub const fn layout(&self) -> Option<(usize, usize)> {
        match self {
            Self::Value(element) => Some((element.bytes(), element.align())),
            Self::Pointer { .. } | Self::Surface | Self::Texture => Some((8, 8)),
            Self::Named(_) => None,
        }
    }
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(element) => element.fmt(f),
            Self::Pointer { to, constant } => {
                let constant = if *constant { "const " } else { "" };
                match to {
                    Pointee::Named(name) if name.ends_with('*') => write!(f, "{name}{constant}*"),
                    Pointee::Element(_) | Pointee::Void | Pointee::Named(_) => {
                        write!(f, "{constant}{to} *")
                    }
                }
            }
            Self::Surface => f.write_str("cudaSurfaceObject_t"),
            Self::Texture => f.write_str("cudaTextureObject_t"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Pointee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(element) => element.fmt(f),
            Self::Void => f.write_str("void"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl CType {
    /// The type that these words and signs of a parameter's declaration spell.
    pub(super) fn from_words(words: &[&str]) -> Self {
        let last_star = words.iter().rposition(|word| *word == "*");
        let Some(star) = last_star else { return Self::by_value(words) };
        let pointee = &words[..star];
        // Of `const float *const *` what it points to are pointers, and the second `const` is theirs.
        let own =
            pointee.iter().rposition(|word| *word == "*").map_or(pointee, |at| &pointee[at..]);
        let text = core_type(pointee);
        let to = match Element::parse(&text) {
            _ if pointee.contains(&"*") => Pointee::Named(inner_pointer(pointee)),
            Some(element) => Pointee::Element(element),
            None if text == "void" => Pointee::Void,
            None => Pointee::Named(text),
        };
        // Of `const float4 *` and `float4 const *`; the `const` of `float4 *const` stands behind the star.
        Self::Pointer { to, constant: own.contains(&"const") }
    }

    fn by_value(words: &[&str]) -> Self {
        let text = core_type(words);
        match text.trim_start_matches("::") {
            "cudaSurfaceObject_t" => Self::Surface,
            "cudaTextureObject_t" => Self::Texture,
            name => Element::parse(name).map_or_else(|| Self::Named(text.clone()), Self::Value),
        }
    }

    /// The type that `text` spells.
    #[cfg(feature = "gl")]
    pub(crate) fn parse(text: &str) -> Self {
        let words: Vec<&str> = super::lexer::code(text).map(|token| token.text).collect();
        Self::from_words(&words)
    }

    /// Whether a word can only be part of a type, never a parameter's name.
    pub(super) fn is_type_word(word: &str) -> bool {
        matches!(
            word,
            "unsigned" | "signed" | "long" | "short" | "const" | "volatile" | "void" | "auto"
        ) || is_qualifier(word)
            || matches!(word, "int" | "char" | "bool" | "float" | "double")
    }
}

/// Words that say nothing about the layout.
fn is_qualifier(word: &str) -> bool {
    matches!(
        word,
        "const"
            | "volatile"
            | "restrict"
            | "__restrict__"
            | "__restrict"
            | "__grid_constant__"
            | "struct"
            | "class"
            | "enum"
            | "typename"
            | "register"
    )
}

/// The words of a type without qualifiers, parted by blanks; paths and template arguments close up.
/// A pointer that another one points to, with what it says of its own elements: `const float *` of
/// `const float *const`.
fn inner_pointer(words: &[&str]) -> String {
    let last = words.iter().rposition(|word| *word == "*").unwrap_or_default();
    CType::from_words(&words[..=last]).to_string()
}

fn core_type(words: &[&str]) -> String {
    let mut text = String::new();
    for word in words.iter().filter(|word| !is_qualifier(word)) {
        let tight = matches!(*word, "::" | "<" | ">" | ",") || text.ends_with(['<', ':']);
        if !text.is_empty() && !tight {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}
