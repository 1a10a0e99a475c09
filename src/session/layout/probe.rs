//! The constants that ask the compiler for types and layouts.

use std::fmt::Write as _;

use super::{
    PREFIX,
    code::{code_of, elements_of, is_value},
    declared::DeclaredFields,
    leaves::{Given, Leaf, leaves},
};
use crate::{cuda::Position, scene::Field};

/// Gives the pointer to a member that others may not name: in an explicit instantiation, and nowhere else, they may
/// (ISO C++ 17, 17.7.2). Each `@` stands for [`PREFIX`].
const OPENING: &str = "
#line 1 \"<layouts>\"
template <class @T> struct @bare { using type = @T; };
template <class @T> struct @bare<@T &> { using type = @T; };
template <class @T, auto @M> struct @open { friend constexpr auto @member(@T) { return @M; } };
";

/// The constant that asks for a type.
pub(super) struct Probe<'a> {
    pub(super) file: &'a str,
    pub(super) name: &'a str,
    pub(super) of: &'a str,
    /// The namespaces in which the type is called so.
    pub(super) scope: &'a [&'a str],
    pub(super) at: Position,
}

impl Probe<'_> {
    /// Adds `inner`, which stands where the type is called so.
    fn scoped(&self, text: &mut String, inner: &str) {
        self.scope.iter().for_each(|part| {
            let _ = write!(text, "namespace {part} {{ ");
        });
        text.push_str(inner);
        text.push_str(&"}".repeat(self.scope.len()));
        text.push('\n');
    }

    /// What type it is.
    pub(super) fn value(&self, text: &mut String) {
        let Self { file, name, of, at, .. } = self;
        let constant = format!(
            "\n#line {} {file}\nextern \"C\" __device__ const unsigned long long {name}[] = {{{}}};\n",
            at.line,
            code_of(of)
        );
        self.scoped(text, &constant);
    }

    /// How a structure and these of its fields lie in memory; `declared` tells which of them are hidden.
    pub(super) fn structure(
        &self,
        text: &mut String,
        fields: &[Field],
        declared: &DeclaredFields<'_>,
    ) {
        let Self { file, name, of, at, .. } = self;
        let (line, column) = (at.line, at.column);
        let mut opened = String::new();
        let (mut lists, mut numbers) = (String::new(), String::new());
        for leaf in leaves(fields) {
            let Leaf { path, at, given, .. } = &leaf;
            let field = self.field(&leaf, declared, &mut opened);
            let ctype = format!("decltype({field})");
            let (code, at_line) = (code_of(&ctype), format!("#line {} {file}", at.line));
            if !path.ends_with(']') && !declared.is_hidden(of, path) {
                // It has no place of its own in the structure.
                let told = format!("{path} is a reference, which no argument fills");
                let is_value = is_value(&ctype);
                let _ = write!(lists, "\n{at_line}\nstatic_assert({is_value}, \"{told}\");");
            }
            let first = match given {
                Given::Value(_) => format!("__INTADDR__(&{field})"),
                Given::List(_) => {
                    let elements = elements_of(&ctype);
                    // Else the elements of what is none would be what is told.
                    let told = format!("{path} is no array, and is given a list");
                    let _ =
                        write!(lists, "\n{at_line}\nstatic_assert({elements} != 0, \"{told}\");");
                    elements
                }
            };
            let indent = indent(at.column.saturating_sub(1));
            let _ = write!(numbers, "{at_line}\n{indent}{first}, {code},\n");
        }
        if !opened.is_empty() {
            let library = OPENING.replace('@', PREFIX);
            if !text.contains(&library) {
                text.push_str(&library);
            }
            let alias = format!("\n#line {line} {file}\nusing {name}_type = {of};\n");
            self.scoped(text, &alias);
            text.push_str(&opened);
        }
        let constant = format!(
            "{lists}\n#line {line} {file}\nextern \"C\" __device__ const unsigned long long {name}[] = \
             {{sizeof({of}), alignof({of}),\n{numbers}#line {line} {file}\n{}}};\n",
            indent(column)
        );
        self.scoped(text, &constant);
    }

    /// The field as an expression; what must stand before it, outside of all namespaces, is added to `opened`.
    fn field(&self, leaf: &Leaf<'_>, declared: &DeclaredFields<'_>, opened: &mut String) -> String {
        let Self { file, name, of, scope, .. } = self;
        let ends = leaf.path.match_indices('.').map(|(at, _)| at).chain([leaf.path.len()]);
        let is_hidden = |end: usize| declared.is_hidden(of, &leaf.path[..end]);
        let ends: Vec<(usize, bool)> = ends.map(|end| (end, is_hidden(end))).collect();
        if ends.iter().all(|(_, is_hidden)| !is_hidden) {
            return format!("(({of} *)0)->{}", leaf.path);
        }
        let scope: String = scope.iter().map(|part| format!("::{part}")).collect();
        let (mut field, mut start) = (format!("(*({scope}::{name}_type *)0)"), 0);
        for (end, is_hidden) in ends {
            let part = &leaf.path[start..end];
            start = end + 1;
            let (member, index) = part.split_at(part.find('[').unwrap_or(part.len()));
            if is_hidden {
                let tag = format!("{name}_tag_{}", opened.len());
                let _ = write!(
                    opened,
                    "#line {line} {file}\nstruct {tag} {{ friend constexpr auto {PREFIX}member({tag}); }};\n\
                     #line {line} {file}\n\
                     template struct {PREFIX}open<{tag}, &{PREFIX}bare<decltype({field})>::type::{member}>;\n",
                    line = leaf.at.line
                );
                field = format!("({field}.*{PREFIX}member({tag}())){index}");
            } else {
                field = format!("{field}.{part}");
            }
        }
        field
    }
}

/// Blanks up to a column.
fn indent(columns: u32) -> String {
    " ".repeat(columns.min(200) as usize)
}
