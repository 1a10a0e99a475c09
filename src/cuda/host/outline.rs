//! What a text declares, and where: for those who look for it by its name.

use std::{collections::BTreeSet, ops::Range};

use super::{Marks, class::Class, declarations::Reader, definition, left_out::Function, names};
use crate::cuda::{
    Lines,
    brackets::Brackets,
    lexer::{self, Kind, Token},
    position::Position,
    signature::{scan, with_marks},
};

/// Something that a text declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// What it is.
    pub(crate) kind: SymbolKind,
    /// Its name, behind that of the class that it is a member of: `Ray::at`.
    pub(crate) name: String,
    /// Where its name is.
    pub(crate) at: Position,
    /// Its declaration up to what stands in braces, in bytes.
    pub(crate) head: Range<usize>,
}

/// What a [`Symbol`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SymbolKind {
    /// A `__global__` function.
    Kernel,
    /// Another function, with a body.
    Function,
    /// A class, a structure or a union, with its members.
    Structure,
    /// A variable of the device.
    Variable,
    /// What `#define` defines.
    Macro,
}

/// What `text` declares, in its order. What is half typed, and what stands behind it, may be missing.
pub(crate) fn symbols(text: &str) -> Vec<Symbol> {
    let (lines, mut marks) = (Lines::new(text), Marks::default());
    marks.read(text);
    let tokens: Vec<Token<'_>> = lexer::lex(text)
        .filter(|token| !matches!(token.kind, Kind::Blank | Kind::Comment | Kind::Disabled))
        .take(super::MOST_TOKENS)
        .collect();
    let tokens = with_marks(tokens);
    let brackets = Brackets::new(&tokens);
    let (directives, code): (Vec<_>, Vec<_>) =
        tokens.into_iter().partition(|token| token.kind == Kind::Directive);
    let mut reader = Reader::new(&code, &brackets, &marks);
    reader.declarations(0..code.len(), false);
    let found = Found { code: &code, lines: &lines };
    let kernels = scan("", text).into_iter().filter(|kernel| kernel.defined);
    let kernels: BTreeSet<Position> = kernels.map(|kernel| kernel.at).collect();
    let functions = reader.functions.iter().filter_map(|of| found.function(of, &kernels));
    let classes = reader.classes.iter().filter_map(|class| found.class(class));
    let variables = reader.variables.iter().flat_map(|tokens| {
        let names = names::of_declaration(&code[tokens.clone()]).into_iter();
        names.filter_map(|name| found.named(SymbolKind::Variable, name, tokens.clone()))
    });
    let macros = directives.iter().filter_map(|directive| {
        let name = lexer::code(definition(directive.text)?).next()?.text.to_owned();
        let head = directive.offset..directive.offset + directive.text.len();
        let at = lines.position(directive.offset);
        Some(Symbol { kind: SymbolKind::Macro, name, at, head })
    });
    let mut all: Vec<Symbol> = functions.chain(classes).chain(variables).chain(macros).collect();
    all.sort_by_key(|symbol| symbol.at);
    all
}

/// Turns what was read into symbols.
struct Found<'t, 's> {
    code: &'t [Token<'s>],
    lines: &'t Lines<'s>,
}

impl Found<'_, '_> {
    fn function(&self, of: &Function<'_>, kernels: &BTreeSet<Position>) -> Option<Symbol> {
        let mut found = self.named(SymbolKind::Function, of.name, of.tokens.clone())?;
        if kernels.contains(&found.at) {
            found.kind = SymbolKind::Kernel;
        }
        if let Some((class, _)) = of.class.as_ref().filter(|(class, _)| !class.is_empty()) {
            found.name = format!("{class}::{}", found.name);
        }
        Some(found)
    }

    fn class(&self, class: &Class<'_>) -> Option<Symbol> {
        let name = *class.names(self.code).first()?;
        self.named(SymbolKind::Structure, name, class.whole.clone())
    }

    /// That of the declaration at `tokens`, in which its name stands.
    fn named(&self, kind: SymbolKind, name: &str, tokens: Range<usize>) -> Option<Symbol> {
        let code = &self.code[tokens];
        let named = code.iter().find(|token| token.is_word() && token.text == name)?;
        let start = code.first()?.offset;
        let end = code.iter().find(|token| token.offset > named.offset && token.text == "{");
        let end = end.or(code.last()).map_or(start, |token| token.offset);
        let at = self.lines.position(named.offset);
        Some(Symbol { kind, name: name.to_owned(), at, head: start..end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<(SymbolKind, String, u32)> {
        let all = symbols(text).into_iter();
        all.map(|symbol| (symbol.kind, symbol.name, symbol.at.line)).collect()
    }

    #[test]
    fn what_a_text_declares_is_found_with_its_kind_and_line() {
        use SymbolKind::{Function, Kernel, Macro, Structure, Variable};
        let text = "#define ENTRY extern \"C\" __global__\n#define SQUARE(x) \\\n  ((x) * (x))\n\
            struct Ray {\n  float3 from;\n  __device__ float at(float t) { return t; }\n};\n\
            typedef struct { int a; } Pair;\n__constant__ float table[4], scale;\n\
            template <typename T>\n__device__ T twice(T x) {\n  struct Inner { int a; };\n  return x;\n}\n\
            ENTRY void step(float *a,\n    int n) {\n}\n// void no() {}\nint main() { twice(1); }\n";
        let name = |kind, name: &str, line| (kind, name.to_owned(), line);
        assert_eq!(
            seen(text),
            [
                name(Macro, "ENTRY", 1),
                name(Macro, "SQUARE", 2),
                name(Structure, "Ray", 4),
                name(Function, "Ray::at", 6),
                name(Structure, "Pair", 8),
                name(Variable, "table", 9),
                name(Variable, "scale", 9),
                name(Function, "twice", 11),
                name(Kernel, "step", 15),
                name(Function, "main", 19),
            ]
        );
    }

    #[test]
    fn heads_end_where_bodies_begin() {
        let text = "__device__ int one(int a)\n{ return a; }\nstruct S { int a; };\n";
        let all = symbols(text);
        let heads: Vec<&str> = all.iter().map(|symbol| text[symbol.head.clone()].trim()).collect();
        assert_eq!(heads, ["__device__ int one(int a)", "struct S"]);
    }

    #[test]
    fn half_typed_text_takes_nothing_away_that_stands_before_it() {
        assert_eq!(seen("void f() {}\nvoid g(int (\n").len(), 1);
        assert_eq!(seen("struct A {};\nvoid g() {\n").len(), 1);
    }
}
