//! What numbers expressions of host code have.

use super::host::{Definition, Host, LONGEST, Span, Value};
use crate::{
    cuda::lexer::{self, Kind, Token},
    element::Element,
    scene::{
        Number,
        expression::{Expression, Kind as NumberKind, Meaning},
    },
};

/// Names that are defined by others, at most so many behind one another.
const DEEPEST: usize = 24;

/// Bytes of a formula.
const LONGEST_FORMULA: usize = 10_000;

/// Words that are part of a type.
const TYPES: [&str; 16] = [
    "int", "unsigned", "long", "short", "char", "size_t", "const", "signed", "float", "double",
    "uint32_t", "int32_t", "uint64_t", "int64_t", "uint", "void",
];

impl Host<'_> {
    /// The number of an expression at its place.
    pub(super) fn number(&self, span: &Span) -> Option<Number> {
        self.number_of(self.code.get(span.clone())?, span.start, 0)
    }

    /// The number of an expression that stands anywhere in the file.
    pub(super) fn number_of_text(&self, text: &str) -> Option<String> {
        self.number_of(&tokens_of(text), usize::MAX, 0).map(|number| number.to_string())
    }

    /// That as a whole number.
    pub(super) fn integer(&self, span: &Span) -> Option<i64> {
        match self.number(span)? {
            Number::Int(value) => Some(value),
            Number::Float(value) => Some(value as i64),
            Number::Bool(_) => None,
        }
    }

    /// How many of a structure lie in an allocation of so many bytes.
    pub(super) fn count_of(&self, bytes: &Span, structure: &str) -> Option<i64> {
        *self.unit.borrow_mut() = Some(structure.to_owned());
        let count = self.integer(bytes);
        *self.unit.borrow_mut() = None;
        count
    }

    /// A grid or a block: a number, a `dim3`, or a variable that is one.
    pub(super) fn dimensions(&self, span: &Span) -> Option<[i64; 3]> {
        let tokens = self.code.get(span.clone())?;
        let parts = match tokens {
            [name] => self.dimensions_named(name.text, span.start),
            [dim3, open, ..] if dim3.text == "dim3" && open.text == "(" => {
                Some(self.parts(span.start + 2..span.end.saturating_sub(1)))
            }
            _ => None,
        };
        let Some(parts) = parts else { return Some([self.integer(span)?, 1, 1]) };
        let mut axes = [1; 3];
        for (axis, part) in axes.iter_mut().zip(&parts) {
            *axis = self.integer(part)?;
        }
        Some(axes)
    }

    fn dimensions_named(&self, name: &str, at: usize) -> Option<Vec<Span>> {
        match &self.definition(name, at)?.value {
            Value::Dimensions(parts) => Some(parts.clone()),
            Value::Expression(_) => None,
        }
    }

    /// Split at commas outside of brackets.
    pub(super) fn parts(&self, span: Span) -> Vec<Span> {
        let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, span.start);
        for at in span.clone() {
            match self.code[at].text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                "," if depth == 0 => {
                    parts.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
        }
        parts.push(start..span.end);
        parts
    }

    /// The definition of a name that counts at a place: the last one before it, else the first behind it.
    pub(super) fn definition(&self, name: &str, at: usize) -> Option<&Definition> {
        let all = self.definitions.get(name)?;
        let before = all.partition_point(|definition| definition.at < at);
        let found = all.get(before.saturating_sub(1))?;
        if !self.is_sure(name, found, at) {
            self.is_unsure.set(true);
        }
        Some(found)
    }

    fn number_of(&self, tokens: &[Token<'_>], at: usize, depth: usize) -> Option<Number> {
        if depth > DEEPEST {
            return None;
        }
        self.look_at(tokens)?;
        let text = self.plain(tokens);
        let mut resolve = |name: &str| {
            // What has no number may be a part that does not count: `argc > 1 ? atoi(argv[1]) : 1024`.
            let found = self.named(name, at, depth + 1);
            Ok(found.map_or(Meaning::Term((), NumberKind::Int), Meaning::Number))
        };
        let expression = Expression::parse(&text, &mut resolve).ok()?;
        expression.value(&mut |()| Err(String::new())).ok()
    }

    fn named(&self, name: &str, at: usize, depth: usize) -> Option<Number> {
        if name == "argc" {
            return Some(Number::Int(1));
        }
        if let Some((of, axis)) = name.split_once('.')
            && let Some(axis) = ["x", "y", "z"].iter().position(|known| *known == axis)
        {
            let Value::Dimensions(parts) = &self.definition(of, at)?.value else { return None };
            return match parts.get(axis) {
                Some(part) => self.number_of(&self.code[part.clone()], part.start, depth),
                None => Some(Number::Int(1)),
            };
        }
        if let Some(definition) = self.definition(name, at) {
            let Value::Expression(span) = &definition.value else { return None };
            return self.number_of(&self.code[span.clone()], definition.at, depth);
        }
        let text = self.macros.get(name)?;
        self.number_of(&tokens_of(text), usize::MAX, depth)
    }

    /// An expression as one of a manifest. A structure counts as one byte where its elements are counted.
    fn plain(&self, tokens: &[Token<'_>]) -> String {
        let unit = self.unit.borrow();
        let size_of = |name: &str| match unit.as_deref() == Some(name) {
            true => Some(1),
            false => self.sizes.get(name).copied(),
        };
        plain(tokens, &size_of)
    }

    /// Counts what is looked at; `None` where that is too much.
    pub(super) fn look_at(&self, tokens: &[Token<'_>]) -> Option<()> {
        let left = self.budget.get().checked_sub(tokens.len() + 1)?;
        self.budget.set(left);
        (tokens.len() <= LONGEST).then_some(())
    }
}

impl Host<'_> {
    /// An expression as one of a manifest, in which the variables of loops are replaced by what `of_loop` says and
    /// everything else by its number; `None` where something has none.
    pub(super) fn formula(
        &self,
        span: &Span,
        of_loop: &dyn Fn(&str) -> Option<String>,
    ) -> Option<String> {
        let tokens = self.code.get(span.clone())?;
        self.look_at(tokens)?;
        if !tokens.iter().any(|token| of_loop(token.text).is_some()) {
            return self.number(span).map(|number| number.to_string());
        }
        let text = self.plain(tokens);
        let (mut written, mut end, mut was_operator) = (String::new(), 0, false);
        for token in lexer::code(&text) {
            let is_operator = token.kind == Kind::Sign
                && !matches!(token.text, "(" | ")" | "[" | "]" | "," | ".");
            // An operator of two signs stays one.
            if !written.is_empty() && (token.offset > end || is_operator != was_operator) {
                written.push(' ');
            }
            (end, was_operator) = (token.offset + token.text.len(), is_operator);
            match token.kind {
                Kind::Word if is_function(token.text) => written.push_str(token.text),
                Kind::Word => match of_loop(token.text) {
                    Some(formula) => written.push_str(&formula),
                    None => {
                        let number = self.named(token.text, span.start, 1)?;
                        written.push_str(&number.to_string());
                    }
                },
                Kind::Number | Kind::Sign => written.push_str(token.text),
                Kind::Quoted => return None,
                Kind::Blank | Kind::Comment | Kind::Directive | Kind::Disabled => {}
            }
        }
        (written.len() <= LONGEST_FORMULA && understood(&written).is_some()).then_some(written)
    }
}

/// A formula as manifests read it, in which every name is the number of a loop's round or of a step; `None` where it is
/// none.
pub(super) fn understood(formula: &str) -> Option<Expression<()>> {
    Expression::parse(formula, &mut |_| Ok(Meaning::Term((), NumberKind::Int))).ok()
}

/// Whether a name is a function of the manifest's expressions, as [`call`] writes them.
fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name)
}

const FUNCTIONS: [&str; 15] = [
    "min", "max", "abs", "ceil", "floor", "sqrt", "exp", "log", "log2", "pow", "sin", "cos", "tan",
    "int", "float",
];

/// An expression of C++ as one of a manifest; `size_of` gives the bytes of types that are no element's.
fn plain(tokens: &[Token<'_>], size_of: &dyn Fn(&str) -> Option<usize>) -> String {
    let mut text = String::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let rest = &tokens[at..];
        if let Some((length, bytes)) = size(rest, size_of) {
            text.push_str(&format!(" {bytes} "));
            at += length;
        } else if let Some((length, to)) = cast(rest) {
            text.push_str(to);
            at += length;
        } else if let Some((length, name)) = call(rest) {
            text.push_str(&format!(" {name} "));
            at += length;
        } else {
            match token.kind {
                Kind::Number => text.push_str(number(token.text).as_str()),
                Kind::Word if token.text == "std" => {}
                Kind::Sign if token.text == "::" => {}
                Kind::Word | Kind::Sign | Kind::Quoted => text.push_str(token.text),
                Kind::Blank | Kind::Comment | Kind::Directive | Kind::Disabled => {}
            }
            // Two words do not become one.
            if token.kind == Kind::Word && rest.get(1).is_some_and(|next| next.kind == Kind::Word) {
                text.push(' ');
            }
            at += 1;
        }
    }
    text
}

/// The tokens of a text, one more than an expression may have at most.
fn tokens_of(text: &str) -> Vec<Token<'_>> {
    lexer::code(text).take(LONGEST + 1).collect()
}

/// A number without its suffix.
fn number(text: &str) -> String {
    let text = text.replace('\'', "");
    if text.starts_with("0x") || text.starts_with("0X") {
        return text.trim_end_matches(['u', 'U', 'l', 'L']).to_owned();
    }
    text.trim_end_matches(['u', 'U', 'l', 'L', 'f', 'F']).to_owned()
}

/// `sizeof(float)`: how many tokens, and its value.
fn size(tokens: &[Token<'_>], size_of: &dyn Fn(&str) -> Option<usize>) -> Option<(usize, usize)> {
    let [of, open, rest @ ..] = tokens else { return None };
    if of.text != "sizeof" || open.text != "(" {
        return None;
    }
    let close = rest.iter().position(|token| token.text == ")")?;
    let name: Vec<&str> = rest[..close].iter().map(|token| token.text).collect();
    let bytes = match name.last() {
        Some(&"*") => 8,
        last => match last.and_then(|last| size_of(last)) {
            Some(bytes) => bytes,
            None => Element::parse(&name.join(" "))?.bytes(),
        },
    };
    Some((close + 3, bytes))
}

/// `(int)`, `(float)`, `static_cast<int>`: how many tokens, and what to write instead.
fn cast(tokens: &[Token<'_>]) -> Option<(usize, &'static str)> {
    let open = usize::from(tokens.first()?.text == "static_cast");
    let close = match tokens.get(open)?.text {
        "(" if open == 0 => ")",
        "<" if open == 1 => ">",
        _ => return None,
    };
    let inner = &tokens[open + 1..];
    let length = inner.iter().position(|token| token.text == close)?;
    let words = &inner[..length];
    if words.is_empty() || !words.iter().all(|word| TYPES.contains(&word.text)) {
        return None;
    }
    let floats = words.iter().any(|word| matches!(word.text, "float" | "double"));
    let next = inner.get(length + 1)?;
    // A function of the manifest takes what stands in parentheses.
    let to = match (floats, next.text) {
        (true, "(") => " float ",
        (false, "(") => " int ",
        (true, _) => " 1.0 * ",
        (false, _) => " ",
    };
    Some((open + length + 2, to))
}

/// A call of a function, which means one of the manifest's, or nothing that is known here.
fn call(tokens: &[Token<'_>]) -> Option<(usize, &'static str)> {
    let [name, open, rest @ ..] = tokens else { return None };
    if name.kind != Kind::Word || open.text != "(" {
        return None;
    }
    let lower = name.text.to_ascii_lowercase();
    let known = match lower.trim_end_matches('f') {
        "min" => "min",
        "max" => "max",
        "abs" | "fabs" | "labs" => "abs",
        "ceil" => "ceil",
        "floor" | "loor" => "floor",
        "sqrt" => "sqrt",
        "exp" => "exp",
        "log" => "log",
        "log2" => "log2",
        "pow" => "pow",
        "sin" => "sin",
        "cos" => "cos",
        "tan" => "tan",
        "int" | "size_t" | "unsigned" => "int",
        "loat" | "double" => "float",
        _ if lower.contains("div") && (lower.contains("up") || lower.contains("ceil")) => {
            "ceil_div"
        }
        _ => {
            let mut depth = 1;
            let end = rest.iter().position(|token| {
                depth += match token.text {
                    "(" => 1,
                    ")" => -1,
                    _ => 0,
                };
                depth == 0
            })?;
            return Some((end + 3, "unknown_"));
        }
    };
    Some((1, known))
}
