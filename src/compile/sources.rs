//! What NVRTC is given of a request's files: what is for the device.
//!
//! nvcc takes files with host code in them, and so does this compiler: what [`HostCode`] finds in the source, and in
//! the headers beside it, becomes blank. Types and constants without a mark may be for both, and often name what only
//! the host has. They stay until the compiler complains of one: then it goes, too, and the rest is compiled again.
//! That is right where no kernel needs it; where one does, the first complaint is what is told.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::PathBuf,
    sync::Arc,
};

use super::{
    Outcome, Result, diagnostics,
    discovery::Toolchain,
    host_headers,
    includes::{Missing, Scan},
    library,
    request::Request,
};
use crate::{
    cuda::{
        Lines, Position,
        host::{Hidden, HostCode, Marks, Reach, needed_of_shared, without},
        lexer,
    },
    diagnostic::{Diagnostic, Severity},
};

/// What the compiler says of what it thinks is not used.
const UNUSED: &str = "was declared but never referenced";

/// What it says of a variable that is declared again without its mark.
const UNMARKED_AGAIN: &str = "redeclared without __device__";

/// What it says of a constant that is computed from others, which are no constant expressions unless they are
/// `constexpr`.
const COMPUTED: &str = "dynamic initialization is not supported";

/// A macro of ours for `constexpr`, as long as the `const` that it stands for: columns stay.
const CONSTEXPR: &str = "__cx_";

/// So often a source is compiled again with less of it.
const MOST_ROUNDS: usize = 12;

/// The source of a request and the headers beside it.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    /// The source first.
    files: Vec<SourceFile>,
    /// The headers of the host that it includes.
    of_host: BTreeSet<String>,
    missing: Vec<Missing>,
    /// What the kernels have without an `#include`.
    library: String,
    /// Whether what has no mark is for the device.
    is_for_device: bool,
    /// What the request asks of kernels, as code: what its prelude has, and instances of templates.
    asked: String,
}

/// A file with what is known of it.
#[derive(Clone, Debug)]
struct SourceFile {
    /// As the request or an `#include` names it.
    name: String,
    /// Where a header lies.
    path: Option<PathBuf>,
    text: Arc<str>,
    host: HostCode,
    /// Where the open declarations begin and end, once it is asked for.
    places: Vec<(Position, Position)>,
    /// Which of the open declarations went.
    dropped: BTreeSet<usize>,
    /// Which of them may not go: functions for host and device that a kernel may call. `None`: nobody asked yet.
    needed: Option<BTreeSet<usize>>,
    /// Which of the constants are `constexpr`, as far as that was tried.
    constexprs: Option<BTreeSet<usize>>,
}

impl Sources {
    /// Of `request`, whose files `scan` has found.
    pub(super) fn of(request: &Request, scan: &Scan, toolchain: &Toolchain) -> Self {
        let mut marks = Marks::default();
        scan.included.iter().for_each(|file| marks.read(&file.text));
        marks.read(request.text());
        let source = SourceFile::new(request.name.clone(), None, request.text().into(), &marks);
        // Under one name there can be one text.
        let included = if scan.is_ambiguous { &[][..] } else { &scan.included };
        let headers = included.iter().map(|file| {
            let (path, text) = (Some(file.path.clone()), file.text.clone());
            SourceFile::new(file.name.clone(), path, text, &marks)
        });
        let files: Vec<SourceFile> = [source].into_iter().chain(headers).collect();
        let texts: Vec<String> = files.iter().map(SourceFile::for_device).collect();
        let library = library::text(&texts, toolchain);
        let instances = request.name_expressions.iter().map(|name| format!("{name}();\n"));
        let instances: String = instances.collect();
        Self {
            files,
            of_host: scan.of_host.clone(),
            missing: scan.missing.clone(),
            library,
            is_for_device: false,
            asked: [&*request.prelude, &instances].join("\n"),
        }
    }

    /// What is compiled before all else.
    pub(super) fn library(&self) -> &str {
        &self.library
    }

    /// The source as the compiler gets it.
    pub(super) fn source(&self) -> String {
        self.files.first().map_or_else(String::new, SourceFile::for_device)
    }

    /// Names and texts of the headers that the compiler gets with the source. Where one beside the source is not as it
    /// lies on the disk, all of these are among them: what one of them includes is looked for under its name alone.
    pub(super) fn headers(&self) -> impl Iterator<Item = (String, String)> {
        let of_host = self.of_host.iter();
        let of_host = of_host.map(|name| (name.clone(), host_headers::text(name).to_owned()));
        let library = (library::NAME.to_owned(), self.library.clone());
        let beside = self.beside().iter().map(|file| (file.name.clone(), file.for_device()));
        beside.chain(of_host).chain([library])
    }

    /// The headers beside the source that the compiler gets with it.
    fn beside(&self) -> &[SourceFile] {
        let beside = self.files.get(1..).unwrap_or_default();
        if beside.iter().any(SourceFile::is_changed) { beside } else { &[] }
    }

    /// Compiles with less and less until nothing that may go is complained of; what came of it.
    ///
    /// # Errors
    /// Those of `compile`.
    pub(super) fn settle(
        &mut self,
        first: Outcome,
        mut compile: impl FnMut(&Self) -> Result<Outcome>,
    ) -> Result<Outcome> {
        let Outcome::Rejected { diagnostics, .. } = &first else { return Ok(first) };
        let Some(mut left_out) = self.change(diagnostics) else { return Ok(first) };
        for _ in 0..MOST_ROUNDS {
            match compile(self)? {
                Outcome::Compiled(mut compiled) => {
                    compiled.diagnostics.extend(left_out);
                    return Ok(Outcome::Compiled(compiled));
                }
                Outcome::Rejected { diagnostics, log, untrusted } => {
                    let Some(more) = self.change(&diagnostics) else {
                        let is_missed = diagnostics.iter().any(|remark| self.is_dropped(remark));
                        let last = Outcome::Rejected { diagnostics, log, untrusted };
                        return Ok(if is_missed { self.without_marks(first) } else { last });
                    };
                    left_out.extend(more);
                }
            }
        }
        Ok(self.without_marks(first))
    }

    /// An outcome without what it says of missing marks, where these were given, and that was not all.
    fn without_marks(&self, mut outcome: Outcome) -> Outcome {
        if let Outcome::Rejected { diagnostics, .. } = &mut outcome {
            let is_other = |remark: &Diagnostic| !diagnostics::is_about_mark(remark);
            let is_error = |remark: &Diagnostic| remark.severity >= Severity::Error;
            if self.is_for_device
                && diagnostics.iter().any(|remark| is_error(remark) && is_other(remark))
            {
                diagnostics.retain(is_other);
            }
        }
        outcome
    }

    /// Changes what is compiled by what the compiler says of it: notes about what is left out, or `None` where nothing
    /// can be changed.
    fn change(&mut self, remarks: &[Diagnostic]) -> Option<Vec<Diagnostic>> {
        if !self.is_for_device && remarks.iter().any(diagnostics::is_about_mark) {
            self.is_for_device = true;
            return Some(Vec::new());
        }
        if self.make_constexpr(remarks) || self.make_const(remarks) {
            return Some(Vec::new());
        }
        Some(self.drop_declarations(remarks)).filter(|notes| !notes.is_empty())
    }

    /// Makes the constants `constexpr`, where one of them is complained of that may be computed from others; once.
    fn make_constexpr(&mut self, remarks: &[Diagnostic]) -> bool {
        let is_computed = |file: &mut SourceFile, remark: &Diagnostic| {
            remark.text.starts_with(COMPUTED)
                && file.is(&remark.file)
                && file.constant_at(remark).is_some()
        };
        let is_asked = |file: &mut SourceFile| {
            file.constexprs.is_none() && remarks.iter().any(|remark| is_computed(file, remark))
        };
        if !self.files.iter_mut().any(is_asked) {
            return false;
        }
        for file in &mut self.files {
            file.constexprs.get_or_insert(file.host.constants.keys().copied().collect());
        }
        true
    }

    /// Makes those constants `const` again that cannot be `constexpr`; whether there is one.
    fn make_const(&mut self, remarks: &[Diagnostic]) -> bool {
        let mut is_one = false;
        for remark in remarks.iter().filter(|remark| remark.severity >= Severity::Error) {
            let files = self.files.iter_mut().filter(|file| file.constexprs.is_some());
            for file in files.filter(|file| file.is(&remark.file)) {
                let constant = file.constant_at(remark);
                is_one |= file
                    .constexprs
                    .as_mut()
                    .zip(constant)
                    .is_some_and(|(all, index)| all.remove(&index));
            }
        }
        is_one
    }

    /// Whether the compiler is to take for the device what has no mark: constants that need code to be evaluated, and
    /// `constexpr` functions, which both have.
    pub(super) fn is_for_device(&self) -> bool {
        self.is_for_device
    }

    /// Drops the declarations that the errors of `remarks` are about, where they may go; a note about each.
    fn drop_declarations(&mut self, remarks: &[Diagnostic]) -> Vec<Diagnostic> {
        if self.files.iter().any(|file| file.needed.is_none()) {
            let files: Vec<_> = self.files.iter().map(|file| (&*file.text, &file.host)).collect();
            let needed = needed_of_shared(&files);
            self.files.iter_mut().zip(needed).for_each(|(file, needed)| file.needed = Some(needed));
        }
        let mut notes = Vec::new();
        let before: Vec<_> = self.files.iter().map(|file| file.dropped.clone()).collect();
        for remark in remarks.iter().filter(|remark| remark.severity >= Severity::Error) {
            let files = self.files.iter_mut().zip(&before);
            let mut files = files.filter(|(file, _)| file.is(&remark.file));
            if files.any(|(file, before)| file.drop_declaration(remark, before)) {
                let text = format!("left out, since the device does not have it: {}", remark.text);
                notes.push(Diagnostic { text, ..remark.clone() }.with_severity(Severity::Note));
            }
        }
        notes
    }

    /// Takes out the warnings that something is never used which the host code uses that was left out: of those names
    /// the compiler got the declaration alone.
    fn forget_unused(&self, remarks: &mut Vec<Diagnostic>) {
        if !remarks.iter().any(|remark| remark.text.contains(UNUSED)) {
            return;
        }
        let changed = self.files.iter().filter(|file| file.is_changed());
        let used: Vec<(&SourceFile, BTreeSet<String>)> =
            changed.map(|file| (file, file.used_by_host())).collect();
        let is_used = |remark: &Diagnostic| {
            let name = quoted(&remark.text).next().unwrap_or_default();
            used.iter().any(|(file, names)| file.is(&remark.file) && names.contains(name))
        };
        remarks.retain(|remark| !(remark.text.contains(UNUSED) && is_used(remark)));
    }

    /// Takes out the warnings that a variable is declared again without its mark, where it never had one: that it is
    /// the device's is what the compiler was told of all of them.
    fn forget_marks(&self, remarks: &mut Vec<Diagnostic>) {
        let is_marked = |name: &str| {
            let mut lines = self.files.iter().flat_map(|file| file.text.lines());
            lines.any(|line| line.contains("__device__") && lexer::words(line).contains(&name))
        };
        remarks.retain(|remark| {
            let name = quoted(&remark.text).next().unwrap_or_default();
            !remark.text.contains(UNMARKED_AGAIN) || is_marked(name)
        });
    }

    /// Warnings of what is left out and changes what kernels mean, where these reach it.
    fn meant_otherwise(&self) -> Vec<Diagnostic> {
        let hidden: Vec<_> = self.files.iter().map(SourceFile::hidden).collect();
        let is_nothing = |(file, hidden): (&SourceFile, &Vec<Hidden>)| {
            hidden.is_empty() && file.host.left_out.is_empty() && file.dropped.is_empty()
        };
        if self.files.iter().zip(&hidden).all(is_nothing) {
            return Vec::new();
        }
        let texts: Vec<String> = self.files.iter().map(SourceFile::for_device).collect();
        let hosts = self.files.iter().map(|file| &file.host);
        let files: Vec<_> = texts.iter().map(String::as_str).zip(hosts).collect();
        let reach = Reach::of(&files, &self.asked, hidden.iter().flatten());
        let mut warnings = Vec::new();
        for (file, hidden) in self.files.iter().zip(&hidden) {
            let lines = Lines::new(&file.text);
            let mut told = file.left_out(&reach);
            let hidden = hidden.iter().filter(|hidden| reach.means_another(hidden));
            told.extend(hidden.map(|hidden| (hidden.at, hidden.told())));
            told.extend(file.laid_out_otherwise(&reach));
            warnings.extend(told.into_iter().map(|(at, text)| {
                let at = lines.position(at);
                let remark = Diagnostic::error(&file.name, text).at(at.line, at.column);
                remark.with_severity(Severity::Warning)
            }));
        }
        warnings
    }

    /// Whether an error names what is not there because its declaration went.
    fn is_dropped(&self, remark: &Diagnostic) -> bool {
        let names: Vec<&str> = quoted(&remark.text).collect();
        remark.severity >= Severity::Error
            && self.files.iter().flat_map(SourceFile::dropped).any(|declaration| {
                let words = lexer::words(declaration);
                names.iter().any(|name| words.contains(name))
            })
    }

    /// The outcome in words of the user's files: under their names, with what is missing, and whose functions they are
    /// that the device has not.
    pub(super) fn explain(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Compiled(mut compiled) => {
                self.forget_unused(&mut compiled.diagnostics);
                self.forget_marks(&mut compiled.diagnostics);
                compiled.diagnostics.extend(self.meant_otherwise());
                compiled.diagnostics.iter_mut().for_each(|remark| self.name_file(remark));
                Outcome::Compiled(compiled)
            }
            Outcome::Rejected { mut diagnostics, log, untrusted } => {
                for remark in &mut diagnostics {
                    self.name_file(remark);
                    let about =
                        quoted(&remark.text).find_map(|name| self.about_host_function(name));
                    if let Some(about) = about {
                        remark.text = format!("{}\n{about}", remark.text);
                    }
                }
                let cannot_open =
                    |remark: &Diagnostic| remark.text.starts_with("cannot open source file");
                if diagnostics.iter().any(cannot_open) {
                    let others = self.missing.iter().filter(|missing| {
                        let is_it = |remark: &Diagnostic| {
                            quoted(&remark.text).any(|name| name == missing.name)
                        };
                        !diagnostics.iter().any(is_it)
                    });
                    let others: Vec<Diagnostic> = others.map(Missing::remark).collect();
                    diagnostics.extend(others);
                }
                Outcome::Rejected { diagnostics, log, untrusted }
            }
        }
    }

    /// Gives a remark the name of the file on the disk.
    fn name_file(&self, remark: &mut Diagnostic) {
        let file = self.beside().iter().find(|file| file.is(&remark.file));
        if let Some(path) = file.and_then(|file| file.path.as_ref()) {
            remark.file = path.display().to_string();
        }
    }

    /// What to say of `name`, which the compiler does not know, where it is a function of the host.
    fn about_host_function(&self, name: &str) -> Option<String> {
        let is_there = self.files.iter().any(|file| file.host.functions.contains(name));
        is_there.then(|| {
            format!(
                "`{name}` is a function of the host; with __device__ before it kernels have it, too"
            )
        })
    }
}

/// The name of the macro that a declaration is a use of.
fn macro_name(declaration: &str) -> Option<&str> {
    let (name, rest) = declaration.split_once('(')?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && rest.trim_end().ends_with([')', ';'])).then_some(name)
}

/// What a remark names in quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

impl SourceFile {
    fn new(name: String, path: Option<PathBuf>, text: Arc<str>, marks: &Marks) -> Self {
        let host = HostCode::of(&text, marks);
        let (places, dropped, needed, constexprs) = (Vec::new(), BTreeSet::new(), None, None);
        Self { name, path, text, host, places, dropped, needed, constexprs }
    }

    /// The declarations that went.
    fn dropped(&self) -> impl Iterator<Item = &str> {
        let parts = self.dropped.iter().filter_map(|index| self.host.open.get(*index));
        parts.map(|part| &self.text[part.clone()])
    }

    /// The data members that went from classes that are still there: the place of the class, and where the member
    /// begins. Of each class the first one.
    fn dropped_data(&self) -> BTreeMap<usize, usize> {
        let gone = |class: usize| {
            let whole = self.host.classes.get(class).map(|class| &class.whole);
            let mut dropped = self.dropped.iter().filter_map(|index| self.host.open.get(*index));
            dropped.any(|part| {
                whole.is_some_and(|class| part.start <= class.start && class.end <= part.end)
            })
        };
        let mut first: BTreeMap<usize, usize> = BTreeMap::new();
        for index in &self.dropped {
            if let (Some(class), Some(part)) =
                (self.host.data.get(index), self.host.open.get(*index))
            {
                first.entry(*class).or_insert(part.start);
            }
        }
        first.retain(|class, _| !gone(*class));
        first
    }

    /// Of classes that the device reaches, and from which data members went, where the first one begins, and what is
    /// to be said of it.
    fn laid_out_otherwise(&self, reach: &Reach<'_>) -> Vec<(usize, String)> {
        let told = |(class, at): (usize, usize)| {
            let names = &self.host.classes.get(class)?.names;
            let name = names.first().filter(|_| reach.names(names))?;
            let text = format!(
                "this member is left out, since the device does not have its type: in kernels `{name}` has another \
                 size than on the host, and the members behind this one lie elsewhere"
            );
            Some((at, text))
        };
        self.dropped_data().into_iter().filter_map(told).collect()
    }

    /// What is to be said of functions that kernels have not, and would need or might mean.
    fn left_out(&self, reach: &Reach<'_>) -> Vec<(usize, String)> {
        let needed = self.host.left_out.iter().filter(|one| reach.needs(one));
        needed.map(|one| (one.at, one.told())).collect()
    }

    /// What is not there any more, and hid something else from kernels.
    fn hidden(&self) -> Vec<Hidden> {
        let of_dropped = self.host.hidden_by(&self.text, &self.dropped);
        self.host.hidden.iter().cloned().chain(of_dropped).collect()
    }

    fn is_changed(&self) -> bool {
        !self.host.parts.is_empty() || !self.dropped.is_empty()
    }

    /// Whether the compiler calls it `name`.
    fn is(&self, name: &str) -> bool {
        self.name == name || self.path.as_ref().is_some_and(|path| path.as_os_str() == name)
    }

    /// The names of which the device's part has one alone, and the whole more: a declaration that the host uses.
    fn used_by_host(&self) -> BTreeSet<String> {
        let of_device = self.for_device();
        let (of_device, all) = (lexer::word_counts(&of_device), lexer::word_counts(&self.text));
        let alone = of_device.into_iter().filter(|(_, count)| *count == 1).map(|(name, _)| name);
        let used = alone.filter(|name| all.get(name).is_some_and(|count| *count > 1));
        used.map(str::to_owned).collect()
    }

    /// What of it is for the device.
    fn for_device(&self) -> String {
        let dropped = self.dropped.iter().filter_map(|index| self.host.open.get(*index));
        let mut parts: Vec<Range<usize>> = self.host.parts.iter().chain(dropped).cloned().collect();
        parts.sort_unstable_by_key(|part| (part.start, part.end));
        // What lies in a declaration that goes has gone with it.
        let mut end = 0;
        parts.retain(|part| {
            let is_outside = part.end > end;
            end = end.max(part.end);
            is_outside
        });
        let mut text = without(&self.text, &parts);
        for index in self.constexprs.iter().flatten().filter(|index| !self.dropped.contains(*index))
        {
            if let Some(at) = self.host.constants.get(index) {
                text.replace_range(*at..*at + CONSTEXPR.len(), CONSTEXPR);
            }
        }
        text
    }

    /// Finds out where the open declarations begin and end, once.
    fn find_places(&mut self) {
        if self.places.is_empty() {
            let lines = Lines::new(&self.text);
            let place =
                |part: &Range<usize>| (lines.position(part.start), lines.position(part.end));
            self.places = self.host.open.iter().map(place).collect();
        }
    }

    /// The smallest open declaration that a remark is about, where it may go and is none of `dropped`.
    fn open_at(&self, remark: &Diagnostic, dropped: &BTreeSet<usize>) -> Option<usize> {
        let (line, column) = (remark.line?, remark.column);
        let is_at = |(first, last): (Position, Position)| match column {
            Some(column) if first.line == last.line => {
                line == first.line && (first.column..=last.column).contains(&column)
            }
            Some(_) | None => (first.line..=last.line).contains(&line),
        };
        let may_go = |index: &usize| {
            let is_needed = self.needed.as_ref().is_some_and(|needed| needed.contains(index));
            !dropped.contains(index) && !is_needed
        };
        let open = self.host.open.iter().enumerate();
        let there = open.filter(|(index, _)| is_at(self.places[*index]) && may_go(index));
        there.min_by_key(|(_, part)| part.len()).map(|(index, _)| index)
    }

    /// The constant that a remark is about.
    fn constant_at(&mut self, remark: &Diagnostic) -> Option<usize> {
        self.find_places();
        let index = self.open_at(remark, &self.dropped)?;
        self.host.constants.contains_key(&index).then_some(index)
    }

    /// Drops the declaration that a remark is about, where one may go. What is said twice of one that was there
    /// `before` is said of that one alone, not of what is around it.
    fn drop_declaration(&mut self, remark: &Diagnostic, before: &BTreeSet<usize>) -> bool {
        self.find_places();
        let Some(index) = self.open_at(remark, before) else { return false };
        if self.dropped.contains(&index) {
            return false;
        }
        let name = macro_name(&self.text[self.host.open[index].clone()]);
        let like_it =
            self.host.open.iter().enumerate().filter(|(_, part)| {
                name.is_some() && macro_name(&self.text[(*part).clone()]) == name
            });
        // What one use of a macro does, others do, too.
        self.dropped.extend(like_it.map(|(index, _)| index).chain([index]));
        true
    }
}
