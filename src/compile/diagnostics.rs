//! NVRTC's log as [`Diagnostic`]s.
//!
//! The front end (EDG) writes `file(line): severity #number: text`, perhaps more lines of text, the source
//! line indented by two, and a caret below it that counts bytes; then perhaps the chain of template
//! instantiations. NVRTC itself and `ptxas` write `tool: severity: text`. Whatever has another form becomes
//! a remark about the whole file, so that nothing is lost.

use std::path::{Path, PathBuf};

use super::extensions;
use crate::diagnostic::{Diagnostic, Severity, has_errors};

/// The file in which NVRTC evaluates name expressions.
const NAME_MAP: &str = "__nv_name_map";

/// What stands before a name expression in [`NAME_MAP`].
const NAME_PRAGMA: &str = "#pragma nv_mangled_name ";

/// Front-end severities, longest first where one ends another.
const SEVERITIES: [(&str, Severity); 7] = [
    ("catastrophic error", Severity::Error),
    ("internal error", Severity::Error),
    ("command-line error", Severity::Error),
    ("error", Severity::Error),
    ("warning", Severity::Warning),
    ("remark", Severity::Note),
    ("note", Severity::Note),
];

/// Severities of `nvrtc: ...` and `ptxas ...` lines.
const TOOL_SEVERITIES: [(&str, Severity); 5] = [
    ("fatal", Severity::Error),
    ("error", Severity::Error),
    ("warning", Severity::Warning),
    ("info", Severity::Note),
    ("note", Severity::Note),
];

/// NVRTC's messages for what has no mark of the device, which speak of a flag and of a "JIT mode" that our user never
/// met, and what is said instead.
const UNMARKED: [(&str, &str); 3] = [
    (
        "A function without execution space annotations (__host__/__device__/__global__) is considered a host function",
        "a function without __global__ or __device__ belongs to the host, and there is no host code \
         here: write __device__ before it",
    ),
    (
        "A namespace scope variable without memory space annotations",
        "a variable without __device__ or __constant__ belongs to the host, and there is no host code here: write one \
         of these before it",
    ),
    (
        "A class static data member with non-const type is considered a host variable",
        "a static member of a class that is not const belongs to the host, and there is no host code here",
    ),
];

/// Whether a remark is about something without a mark of the device.
pub(super) fn is_about_mark(remark: &Diagnostic) -> bool {
    UNMARKED.iter().any(|(_, text)| remark.text.starts_with(text))
}

/// Every remark in `log`, about the file `name` with `lines` lines; at least one error where it `failed`.
pub(super) fn parse(log: &str, name: &str, lines: usize, failed: bool) -> Vec<Diagnostic> {
    let mut parser = Parser { name, lines, failed, found: Vec::new() };
    for block in blocks(log, name) {
        parser.block(&block);
    }
    let mut found = parser.finish();
    if failed && !has_errors(&found) {
        let text = match log.trim() {
            "" => "the compiler failed and did not say why",
            log => log,
        };
        found.push(Diagnostic::error(name, text));
    }
    found
}

/// The log without the warnings in files below `folders`, and without the notes that belong to them: nobody who writes
/// a kernel can do anything about the toolkit's own headers. (`nvcc` takes them for headers of the system, in which
/// it tells no warnings either.)
pub(super) fn without_warnings_below(log: &str, name: &str, folders: &[PathBuf]) -> String {
    let is_below = |file: &str| folders.iter().any(|folder| Path::new(file).starts_with(folder));
    let mut left_out = false;
    let kept = |line: &&str| {
        if !line.starts_with(' ')
            && let Some(head) = Head::of(line.trim_end(), name)
        {
            left_out = match head.severity {
                Severity::Warning => matches!(head.place, Place::Line(file, _) if is_below(file)),
                Severity::Error | Severity::Fault => false,
                Severity::Note => left_out,
            };
        }
        !left_out || is_summary(line)
    };
    let log: String = log.split_inclusive('\n').filter(kept).collect();
    let is_told = |line: &str| !line.trim().is_empty() && !is_summary(line);
    if log.lines().any(is_told) { log } else { String::new() }
}

/// The log's lines in groups: the brief form and notes start a group without a blank line before it.
fn blocks<'a>(log: &'a str, name: &str) -> Vec<Vec<&'a str>> {
    let mut blocks: Vec<Vec<&str>> = vec![Vec::new()];
    for line in log.lines().map(|line| line.trim_end_matches('\r')) {
        let starts = !line.starts_with(' ') && (line.is_empty() || Head::of(line, name).is_some());
        if starts {
            blocks.push(Vec::new());
        }
        if let Some(block) = blocks.last_mut()
            && !line.trim().is_empty()
        {
            block.push(line);
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// Where a remark's first line says that it belongs.
enum Place<'a> {
    Line(&'a str, u32),
    End,
    WholeFile,
}

/// A remark's first line.
struct Head<'a> {
    place: Place<'a>,
    severity: Severity,
    text: String,
}

impl<'a> Head<'a> {
    fn of(line: &'a str, name: &str) -> Option<Self> {
        if let Some(rest) = line.strip_prefix("At end of source: ") {
            let (severity, text) = severity_and_text(rest, &SEVERITIES)?;
            return Some(Self { place: Place::End, severity, text });
        }
        Self::in_file(line, name).or_else(|| Self::of_tool(line))
    }

    /// `file(12): error: text`; the known file's `name` may itself look like the start of a remark.
    fn in_file(line: &'a str, name: &str) -> Option<Self> {
        let known = if line.starts_with(name) { name.len() } else { 0 };
        line[known..].match_indices("): ").find_map(|(close, _)| {
            let close = known + close;
            let open = line[..close].rfind('(').filter(|open| *open >= known)?;
            let number = line[open + 1..close].parse().ok()?;
            let (severity, text) = severity_and_text(&line[close + 3..], &SEVERITIES)?;
            Some(Self { place: Place::Line(&line[..open], number), severity, text })
        })
    }

    /// `nvrtc: error: text`, `ptxas fatal   : text`, `ptxas a.ptx, line 5; error   : text`.
    fn of_tool(line: &'a str) -> Option<Self> {
        let tool = ["nvrtc", "ptxas", "nvlink", "nvJitLink"]
            .into_iter()
            .find(|tool| line.starts_with(tool))?;
        let rest = line[tool.len()..].trim_start_matches([':', ' ']);
        let rest = rest.split_once("; ").map_or(rest, |(_, rest)| rest);
        let (severity, text) = severity_and_text(rest, &TOOL_SEVERITIES)?;
        Some(Self { place: Place::WholeFile, severity, text: format!("{tool}: {text}") })
    }
}

/// `error: text`, `warning #177-D: text`, `fatal   : text`; a number goes to the text's end.
fn severity_and_text(text: &str, known: &[(&str, Severity)]) -> Option<(Severity, String)> {
    known.iter().find_map(|(word, severity)| {
        let rest = text.strip_prefix(word)?;
        let (number, text) = rest.split_once(':')?;
        let (number, text) = (number.trim(), text.trim());
        match number.strip_prefix('#') {
            Some(_) => Some((*severity, format!("{text} [{number}]"))),
            None => number.is_empty().then(|| (*severity, text.to_owned())),
        }
    })
}

struct Parser<'a> {
    name: &'a str,
    lines: usize,
    failed: bool,
    found: Vec<Diagnostic>,
}

impl Parser<'_> {
    fn block(&mut self, block: &[&str]) {
        let Some((first, rest)) = block.split_first() else { return };
        match Head::of(first, self.name) {
            Some(head) => self.remark(head, rest),
            None => self.unknown(block),
        }
    }

    fn remark(&mut self, head: Head<'_>, rest: &[&str]) {
        let body = Body::of(rest);
        let mut remark = Diagnostic::error(self.name, head.text).with_severity(head.severity);
        match head.place {
            Place::Line(NAME_MAP, _) => return self.name_expression(remark, &body),
            Place::Line(file, line) => {
                remark.file = file.to_owned();
                remark = remark.at(line, body.column());
            }
            Place::End => remark = remark.at(u32::try_from(self.lines).unwrap_or(u32::MAX), None),
            Place::WholeFile => (),
        }
        if let Some((_, text)) = UNMARKED.iter().find(|(start, _)| remark.text.starts_with(start)) {
            (*text).clone_into(&mut remark.text);
        }
        if let Some(about) = extensions::about(&remark.text, body.at_caret()) {
            remark.text.push_str(&format!("; {about}"));
        }
        for line in &body.text {
            remark.text.push('\n');
            remark.text.push_str(line);
        }
        let file = remark.file.clone();
        self.found.push(remark);
        self.found.extend(body.chain.iter().filter_map(|link| instantiation(link, &file)));
    }

    /// A mistake in a kernel's name, which stands in no file of the user's; told once a name.
    fn name_expression(&mut self, mut remark: Diagnostic, body: &Body<'_>) {
        let pragma = body.source.and_then(|line| line.trim_start().strip_prefix(NAME_PRAGMA));
        let start = remark_of_name(pragma.unwrap_or_default());
        if self.found.iter().any(|other| other.line.is_none() && other.text.starts_with(&start)) {
            return;
        }
        remark.text.insert_str(0, &start);
        self.found.push(remark);
    }

    /// Lines in no form that we know.
    fn unknown(&mut self, block: &[&str]) {
        let told: Vec<&str> = block.iter().copied().filter(|line| !is_summary(line)).collect();
        if told.is_empty() {
            return;
        }
        let severity = if self.failed { Severity::Error } else { Severity::Note };
        // A name may have line feeds in it: what follows one is no line of its own.
        let shown = |(at, line): (usize, &&str)| {
            let indent = if at == 0 || line.starts_with(' ') { "" } else { "  " };
            format!("{indent}{line}")
        };
        let text = told.iter().enumerate().map(shown).collect::<Vec<_>>().join("\n");
        self.found.push(Diagnostic::error(self.name, text).with_severity(severity));
    }

    /// The remarks; the same error in the same place, once for each instantiation or token byte, counts once.
    fn finish(self) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = Vec::with_capacity(self.found.len());
        for remark in self.found {
            if found.last() != Some(&remark) {
                found.push(remark);
            }
        }
        found
    }
}

/// How remarks begin that are about a kernel's name.
pub(crate) fn remark_of_name(expression: &str) -> String {
    format!("kernel name `{expression}`: ")
}

/// Lines that only count or repeat what other lines say.
fn is_summary(line: &str) -> bool {
    line.starts_with("Remark: The warnings can be suppressed")
        || line.contains(" detected in the compilation of ")
        || line == "Compilation terminated."
        || line == "Error limit reached."
}

/// The lines below a remark's first.
#[derive(Default)]
struct Body<'a> {
    /// More text.
    text: Vec<&'a str>,
    /// The source line, still indented by two.
    source: Option<&'a str>,
    /// The line with the caret.
    caret: Option<&'a str>,
    /// "detected during ...".
    chain: Vec<&'a str>,
}

impl<'a> Body<'a> {
    fn of(lines: &[&'a str]) -> Self {
        let mut body = Self::default();
        let caret = lines.iter().position(|line| line.trim() == "^");
        let mut in_chain = false;
        for (index, line) in lines.iter().copied().enumerate() {
            let trimmed = line.trim();
            in_chain |= trimmed.starts_with("detected during");
            if Some(index) == caret {
                body.caret = Some(line);
            } else if caret == Some(index + 1) {
                body.source = Some(line);
            } else if in_chain {
                body.chain.push(trimmed);
            } else if !is_summary(line) {
                body.text.push(trimmed);
            }
        }
        body
    }

    /// What stands before the caret in the source line, and what from it on.
    fn at_caret(&self) -> Option<(&'a str, &'a str)> {
        self.source?.split_at_checked(self.caret?.find('^')?)
    }

    /// The caret's column in characters from 1; the compiler counts bytes.
    fn column(&self) -> Option<u32> {
        let byte = self.caret?.find('^')?.checked_sub(2)?;
        let source = self.source?.get(2..)?;
        let before = source.char_indices().take_while(|(at, _)| *at < byte).count();
        // Past the line's end each byte counts for one.
        let beyond = byte.saturating_sub(source.len());
        u32::try_from(before + beyond + 1).ok()
    }
}

/// `instantiation of "void f(T) [with T=int]" at line 7 of a.cuh` as a note on that line.
fn instantiation(link: &str, file: &str) -> Option<Diagnostic> {
    let link = link.strip_prefix("detected during").unwrap_or(link).trim_start_matches([':', ' ']);
    if link.is_empty() {
        return None;
    }
    let position = link.rsplit_once(" at line ").and_then(|(what, position)| {
        let (line, file) = position.split_once(" of ").unwrap_or((position, file));
        let file = file.trim_matches('"');
        Some((what, line.parse().ok()?, file))
    });
    let note = match position {
        Some((what, line, file)) => {
            Diagnostic::error(file, format!("during {what}")).at(line, None)
        }
        None => Diagnostic::error(file, format!("during {link}")),
    };
    Some(note.with_severity(Severity::Note))
}

#[cfg(test)]
mod tests;
