//! Reads a manifest from its TOML. Every fault becomes a diagnostic on its own line; none stops the reading.
//!
//! Enters: the TOML of a manifest. Leaves: resources, parameters and passes as data; diagnostics. Must not know:
//! `compile`, `device`, `scene::draft`.

mod arguments;
mod checks;
mod compile;
mod constants;
mod data;
mod each;
mod fields;
mod formulas;
mod literal;
mod parameters;
mod passes;
mod plots;
mod resources;
mod selection;
mod types;
mod views;

use std::{cell::RefCell, collections::HashMap, ops::Range};

use toml::de::DeTable;

use self::fields::Fields;
#[cfg(feature = "cli")]
pub(super) use self::parameters::usual_ends;
pub(super) use self::passes::{MOST_IN_BLOCK, MOST_SHARED_BYTES};
#[cfg(feature = "gl")]
pub(crate) use self::views::problems as view_problems;
#[cfg(feature = "cli")]
pub(crate) use self::{compile::is_macro, fields::is_label};
pub(super) use super::resource::MOST_BYTES as MOST_RESOURCE_BYTES;
use super::{
    Builtin, Manifest, Overrides, ResourceId,
    meaning::derived_names,
    source::{self, ManifestBlock},
    suggestion::suggestion,
};
use crate::{
    cuda::{Lines, Position},
    diagnostic::{Diagnostic, Severity, has_errors, one_line},
};

/// The smallest manifest that does something, for who has none.
const SMALLEST: &str = "/*---
[buffer.position]
type  = \"float4\"
count = 1024

[[pass]]
kernel = \"advance\"
over   = \"position\"
---*/";

/// The most bytes of a manifest: what it names is looked for among all that it declares, which takes a time that grows
/// with the square of its length.
const LONGEST_MANIFEST: usize = 256 << 10;

/// Seconds that a step advances where the manifest does not say.
pub const DEFAULT_DT: f64 = 1.0 / 60.0;

/// Reads the manifest of the file `name`, whose text is `source`, and what is odd about it.
///
/// # Errors
///
/// Everything that is wrong with it.
pub(super) fn decode(
    name: &str,
    source: &str,
    overrides: &Overrides,
) -> Result<(Manifest, Vec<Diagnostic>), Vec<Diagnostic>> {
    read(name, source, |report, table| document(report, table, overrides, name))
}

/// Reads the parameters and presets of a manifest alone.
///
/// # Errors
///
/// What is wrong with them, and with the manifest's TOML.
#[cfg(feature = "cli")]
pub(super) fn parameters_of(
    source: &str,
    overrides: &Overrides,
) -> Result<Manifest, Vec<Diagnostic>> {
    let read = read("", source, |report, table| {
        let constants = constants::decode(report, table, overrides);
        let mut fields = Fields::new(report, &constants, table, "the manifest".into(), 0..0);
        let mut manifest = Manifest::default();
        parameters::decode(&mut fields, &mut manifest);
        parameters::presets(&mut fields, &mut manifest);
        manifest
    });
    read.map(|(manifest, _)| manifest)
}

/// What `document` makes of the manifest's TOML, and what is odd about it.
fn read(
    name: &str,
    source: &str,
    document: impl FnOnce(&Report<'_>, &DeTable<'_>) -> Manifest,
) -> Result<(Manifest, Vec<Diagnostic>), Vec<Diagnostic>> {
    let lines = Lines::new(source);
    let report = Report { file: name, lines, base: 0, found: RefCell::default() };
    let manifest = block(&report, source).map(|block| {
        let report = Report { base: block.start, ..report.clone_empty() };
        let (table, errors) = DeTable::parse_recoverable(&source[block.clone()]);
        for error in &errors {
            let text = format!("the manifest is not valid TOML: {}", error.message().trim());
            report.error(error.span().unwrap_or(0..0), text);
        }
        let manifest = document(&report, table.get_ref());
        (manifest, report.sorted(&errors))
    });
    match manifest {
        None => Err(report.found.into_inner()),
        Some((_, found)) if has_errors(&found) => Err(found),
        Some((manifest, found)) => Ok((manifest, found)),
    }
}

/// The manifest's place in the file.
fn block(report: &Report<'_>, source: &str) -> Option<Range<usize>> {
    match source::manifest_block(source) {
        ManifestBlock::Found(range) if range.len() > LONGEST_MANIFEST => {
            let text = format!("the manifest has more than {LONGEST_MANIFEST} bytes");
            report.error(range.start..range.start, format!("{text}, the most that is read"));
            None
        }
        ManifestBlock::Found(range) => match source[range.clone()].find("*/") {
            None => Some(range),
            Some(at) => {
                let at = range.start + at;
                report.error(at..at + 2, "this ends the comment, before the manifest's `---*/`");
                None
            }
        },
        ManifestBlock::Unclosed(at) => {
            report.error(at..at, "the manifest that starts here has no end: `---*/` is missing");
            None
        }
        ManifestBlock::Missing => {
            report.error_with(
                0..0,
                "the file has no manifest: a comment that says what its kernels need, such as",
                SMALLEST,
            );
            None
        }
    }
}

fn document(
    report: &Report<'_>,
    table: &DeTable<'_>,
    overrides: &Overrides,
    name: &str,
) -> Manifest {
    let constants = constants::decode(report, table, overrides);
    let mut fields = Fields::new(report, &constants, table, "the manifest".into(), 0..0);
    let mut manifest = Manifest {
        title: fields.text("title").unwrap_or_else(|| stem(name).to_owned()),
        summary: fields.text("summary").unwrap_or_default(),
        dt: fields.positive("dt").unwrap_or(DEFAULT_DT),
        constants: constants.clone(),
        ..Manifest::default()
    };
    manifest.compile = compile::decode(&mut fields, overrides);
    resources::decode(&mut fields, &mut manifest, overrides);
    let variables = data::variables(&mut fields, &mut manifest, overrides);
    data::expect_known(report, &manifest, &variables, overrides);
    parameters::decode(&mut fields, &mut manifest);
    parameters::presets(&mut fields, &mut manifest);
    views::decode(&mut fields, &mut manifest);
    checks::decode(&mut fields, &mut manifest);
    plots::decode(&mut fields, &mut manifest);
    passes::decode(&mut fields, &mut manifest);
    fields.know(&["constant"]);
    fields.finish();
    names(report, &manifest);
    if manifest.passes.is_empty() && !table.contains_key("pass") {
        report.add(Severity::Warning, 0..0, "the manifest has no [[pass]]: nothing will run");
    }
    manifest
}

/// `kernels/particles.cu` without folder and extension.
fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.strip_suffix(".cu").unwrap_or(file)
}

/// Words that C++ keeps to itself and a person might still choose.
pub(super) const KEYWORDS: &[&str] = &[
    "alignas",
    "and",
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "constexpr",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "half",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "not",
    "operator",
    "or",
    "private",
    "protected",
    "public",
    "register",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "xor",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
];

/// Checks that every name can be a kernel parameter's, and that each means one thing.
fn names(report: &Report<'_>, manifest: &Manifest) {
    let mut taken: HashMap<String, String> = HashMap::new();
    let mut claim = |name: &str, what: String, at, own: bool| {
        if let Some(holder) = taken.get(name) {
            report.error_at(at, format!("{what} has a name that {holder} has already{BY_ARGS}"));
        } else if own {
            identifier(report, name, &what, at);
        }
        taken.entry(name.to_owned()).or_insert(what);
    };
    for constant in &manifest.constants {
        claim(&constant.name, format!("the constant `{}`", constant.name), constant.at, true);
    }
    for (index, resource) in manifest.resources.iter().enumerate() {
        let name = &resource.name;
        claim(name, format!("the resource `{name}`"), resource.at, true);
        for derived in derived_names(manifest, ResourceId(index)) {
            claim(&derived, format!("`{derived}`, derived from `{name}`,"), resource.at, false);
        }
    }
    for parameter in &manifest.parameters {
        claim(&parameter.name, format!("the parameter `{}`", parameter.name), parameter.at, true);
    }
    for variable in &manifest.variables {
        claim(&variable.name, format!("the variable `{}`", variable.name), variable.at, false);
    }
}

/// What helps where a kernel has such a name, too.
const BY_ARGS: &str = "; under another name, the pass's `args` give it to a parameter of this one";

/// Whether it has the form of a name.
fn is_identifier(name: &str) -> bool {
    let word = |c: char| c == '_' || c.is_ascii_alphanumeric();
    !name.is_empty() && name.chars().all(word) && !name.starts_with(|c: char| c.is_ascii_digit())
}

fn identifier(report: &Report<'_>, name: &str, what: &str, at: Position) {
    let parameter_dt = name == "dt" && what.starts_with("the parameter");
    if !is_identifier(name) {
        let rule = "letters, digits and `_`, no digit first";
        report.error_at(at, format!("{what} cannot be a name in CUDA C++: {rule}"));
    } else if KEYWORDS.contains(&name) {
        report.error_at(at, format!("{what} cannot have that name: it is a word of CUDA C++"));
    } else if Builtin::parse(name).is_some() && !parameter_dt {
        report.error_at(at, format!("{what} cannot have that name: `{name}` is built in{BY_ARGS}"));
    }
}

/// Gathers diagnostics and knows where they belong.
struct Report<'s> {
    file: &'s str,
    lines: Lines<'s>,
    /// Where in the file the TOML starts, in bytes.
    base: usize,
    found: RefCell<Vec<Diagnostic>>,
}

impl<'s> Report<'s> {
    fn clone_empty(&self) -> Self {
        let lines = self.lines.clone();
        Self { file: self.file, lines, base: self.base, found: RefCell::default() }
    }

    fn position(&self, span: &Range<usize>) -> Position {
        self.lines.position(self.base + span.start)
    }

    /// The value at `span` as it is written.
    fn literal(&self, span: &Range<usize>) -> &'s str {
        let literal = self.lines.from(self.base + span.start);
        literal.get(..span.len()).unwrap_or(literal)
    }

    /// Where the byte at `offset` of what the string at `span` holds is written.
    fn inside_string(&self, span: &Range<usize>, offset: usize) -> Position {
        let at = literal::place(self.literal(span), offset);
        self.lines.position(self.base + span.start + at)
    }

    /// A sentence, which is one line whatever the keys and texts in it are.
    fn remark(&self, text: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.file, one_line(&text.into()))
    }

    fn add(&self, severity: Severity, span: Range<usize>, text: impl Into<String>) {
        let at = self.position(&span);
        let diagnostic = self.remark(text).at(at.line, at.column);
        self.found.borrow_mut().push(diagnostic.with_severity(severity));
    }

    fn error(&self, span: Range<usize>, text: impl Into<String>) {
        self.add(Severity::Error, span, text);
    }

    /// An error with an `example` of several lines, which is ours.
    fn error_with(&self, span: Range<usize>, text: &str, example: &str) {
        let at = self.position(&span);
        let mut diagnostic = self.remark(text).at(at.line, at.column);
        diagnostic.text = format!("{}\n{example}", diagnostic.text);
        self.found.borrow_mut().push(diagnostic);
    }

    fn error_at(&self, at: Position, text: impl Into<String>) {
        self.found.borrow_mut().push(self.remark(text).at(at.line, at.column));
    }

    /// An error in an option that was given for the file.
    fn error_in_option(&self, text: impl Into<String>) {
        let remark = self.remark(text);
        self.found.borrow_mut().push(Diagnostic { is_usage: true, ..remark });
    }

    /// An error about the whole file.
    fn error_anywhere(&self, text: impl Into<String>) {
        self.found.borrow_mut().push(self.remark(text));
    }

    /// Everything found, in the file's order. After a TOML error, what else seems wrong is a consequence.
    fn sorted(self, toml: &[toml::de::Error]) -> Vec<Diagnostic> {
        let mut found = self.found.into_inner();
        found.retain(|remark| !remark.text.contains(selection::UNTYPED));
        if !toml.is_empty() {
            found.truncate(toml.len());
        }
        found.sort_by_key(|d| (d.line, d.column));
        if toml.is_empty() {
            found.dedup();
        } else {
            // The parser goes on behind a mistake, and stumbles over what is left of the line.
            found.dedup_by(|b, a| a.line == b.line || a.text == b.text);
        }
        found
    }
}

#[cfg(test)]
pub(crate) mod tests;
