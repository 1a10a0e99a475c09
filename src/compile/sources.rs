//! What NVRTC is given of a request's files: what is for the device.
//!
//! nvcc takes files with host code in them, and so does this compiler: what
//! [`HostCode`](crate::cuda::host::HostCode) finds in the source, and in the headers beside it, becomes blank. Types
//! and constants without a mark may be for both, and often name what only the host has. They stay until the compiler
//! complains of one: then it goes, too, and the rest is compiled again. That is right where no kernel needs it; where
//! one does, the first complaint is what is told.
//!
//! Enters: a request, and the files that it includes. Leaves: the texts that the compiler is given, and its remarks as
//! the user's files have them. Must not know: `compile::nvrtc`, `compile::server`.

mod file;

use std::collections::BTreeSet;

use file::{Lost, SourceFile};

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
        Lines,
        host::{Hidden, Marks, Reach, needed_of_shared},
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

    /// Whether an error may come from headers of the host that the device does not have: a name is missing.
    fn may_be_the_hosts(&self, error: &Diagnostic) -> bool {
        const MISSING: [&str; 5] = [
            "is undefined",
            "has no member",
            "incomplete type",
            "is not a template",
            "must be a namespace or class",
        ];
        !self.of_host.is_empty() && MISSING.iter().any(|part| error.text.contains(part))
    }

    /// What is to be said of what is left out and changes what kernels mean, where these reach it: warnings, and errors
    /// of what is no host's.
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
            // A mistake in a member is none of the host's: without it kernels would compute something else.
            let lost = file.laid_out_otherwise(&reach);
            let (of_host, mistakes): (Vec<_>, Vec<_>) = lost
                .into_iter()
                .partition(|lost| lost.reason.is_none_or(|why| self.may_be_the_hosts(why)));
            warnings.extend(mistakes.iter().filter_map(|lost| lost.reason.cloned()));
            let mut classes = BTreeSet::new();
            let firsts = of_host.iter().filter(|lost| classes.insert(lost.class));
            told.extend(firsts.map(Lost::told));
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
                let is_error = |remark: &Diagnostic| remark.severity >= Severity::Error;
                if compiled.diagnostics.iter().any(is_error) {
                    let diagnostics = compiled.diagnostics.into_iter().filter(is_error).collect();
                    return Outcome::Rejected {
                        diagnostics,
                        log: compiled.log,
                        untrusted: Vec::new(),
                    };
                }
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

/// What a remark names in quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}
