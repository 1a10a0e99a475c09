//! A file that is compiled, and what of it is for the device.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::PathBuf,
    sync::Arc,
};

use crate::{
    cuda::{
        Lines, Position,
        host::{Hidden, HostCode, Marks, Reach, without},
        lexer,
    },
    diagnostic::Diagnostic,
};

/// A macro of ours for `constexpr`, as long as the `const` that it stands for: columns stay.
const CONSTEXPR: &str = "__cx_";

/// A file with what is known of it.
#[derive(Clone, Debug)]
pub(super) struct SourceFile {
    /// As the request or an `#include` names it.
    pub(super) name: String,
    /// Where a header lies.
    pub(super) path: Option<PathBuf>,
    pub(super) text: Arc<str>,
    pub(super) host: HostCode,
    /// Where the open declarations begin and end, once it is asked for.
    pub(super) places: Vec<(Position, Position)>,
    /// Which of the open declarations went.
    pub(super) dropped: BTreeSet<usize>,
    /// What the compiler said of them.
    reasons: BTreeMap<usize, Diagnostic>,
    /// Which of them may not go: functions for host and device that a kernel may call. `None`: nobody asked yet.
    pub(super) needed: Option<BTreeSet<usize>>,
    /// Which of the constants are `constexpr`, as far as that was tried.
    pub(super) constexprs: Option<BTreeSet<usize>>,
}

/// A data member that a class has not in kernels.
pub(super) struct Lost<'a> {
    /// The class, by its number in the file.
    pub(super) class: usize,
    /// The class's name.
    name: &'a str,
    at: usize,
    /// What the compiler said of it.
    pub(super) reason: Option<&'a Diagnostic>,
}

impl Lost<'_> {
    /// Where it begins, and what is to be said of it.
    pub(super) fn told(&self) -> (usize, String) {
        let text = format!(
            "this member is left out, since the device does not have its type: in kernels `{}` has another size than \
             on the host, and the members behind this one lie elsewhere",
            self.name
        );
        (self.at, text)
    }
}

impl SourceFile {
    pub(super) fn new(name: String, path: Option<PathBuf>, text: Arc<str>, marks: &Marks) -> Self {
        let host = HostCode::of(&text, marks);
        let (places, dropped, needed, constexprs) = (Vec::new(), BTreeSet::new(), None, None);
        let reasons = BTreeMap::new();
        Self { name, path, text, host, places, dropped, reasons, needed, constexprs }
    }

    /// The declarations that went.
    pub(super) fn dropped(&self) -> impl Iterator<Item = &str> {
        let parts = self.dropped.iter().filter_map(|index| self.host.open.get(*index));
        parts.map(|part| &self.text[part.clone()])
    }

    /// The data members that went from classes that are still there: the class, and the declaration.
    fn dropped_data(&self) -> impl Iterator<Item = (usize, usize)> {
        let is_gone = |class: usize| {
            let whole = self.host.classes.get(class).map(|class| &class.whole);
            let mut dropped = self.dropped.iter().filter_map(|index| self.host.open.get(*index));
            dropped.any(|part| {
                whole.is_some_and(|class| part.start <= class.start && class.end <= part.end)
            })
        };
        let of_classes =
            self.dropped.iter().filter_map(|index| Some((*self.host.data.get(index)?, *index)));
        of_classes.filter(move |(class, _)| !is_gone(*class))
    }

    /// The data members that went from classes that the device reaches: where one begins, the name of its class, and
    /// what the compiler said of it.
    pub(super) fn laid_out_otherwise(&self, reach: &Reach<'_>) -> Vec<Lost<'_>> {
        let lost = |(class, index): (usize, usize)| {
            let names = &self.host.classes.get(class)?.names;
            let name = names.first().filter(|_| reach.names(names))?;
            let at = self.host.open.get(index)?.start;
            Some(Lost { class, name, at, reason: self.reasons.get(&index) })
        };
        self.dropped_data().filter_map(lost).collect()
    }

    /// What is to be said of functions that kernels have not, and would need or might mean.
    pub(super) fn left_out(&self, reach: &Reach<'_>) -> Vec<(usize, String)> {
        let needed = self.host.left_out.iter().filter(|one| reach.needs(one));
        needed.map(|one| (one.at, one.told())).collect()
    }

    /// What is not there any more, and hid something else from kernels.
    pub(super) fn hidden(&self) -> Vec<Hidden> {
        let of_dropped = self.host.hidden_by(&self.text, &self.dropped);
        self.host.hidden.iter().cloned().chain(of_dropped).collect()
    }

    pub(super) fn is_changed(&self) -> bool {
        !self.host.parts.is_empty() || !self.dropped.is_empty()
    }

    /// Whether the compiler calls it `name`.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name || self.path.as_ref().is_some_and(|path| path.as_os_str() == name)
    }

    /// The names of which the device's part has one alone, and the whole more: a declaration that the host uses.
    pub(super) fn used_by_host(&self) -> BTreeSet<String> {
        let of_device = self.for_device();
        let (of_device, all) = (lexer::word_counts(&of_device), lexer::word_counts(&self.text));
        let alone = of_device.into_iter().filter(|(_, count)| *count == 1).map(|(name, _)| name);
        let used = alone.filter(|name| all.get(name).is_some_and(|count| *count > 1));
        used.map(str::to_owned).collect()
    }

    /// What of it is for the device.
    pub(super) fn for_device(&self) -> String {
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
    pub(super) fn constant_at(&mut self, remark: &Diagnostic) -> Option<usize> {
        self.find_places();
        let index = self.open_at(remark, &self.dropped)?;
        self.host.constants.contains_key(&index).then_some(index)
    }

    /// Drops the declaration that a remark is about, where one may go. What is said twice of one that was there
    /// `before` is said of that one alone, not of what is around it.
    pub(super) fn drop_declaration(
        &mut self,
        remark: &Diagnostic,
        before: &BTreeSet<usize>,
    ) -> bool {
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
        let gone: Vec<usize> = like_it.map(|(index, _)| index).chain([index]).collect();
        self.reasons.extend(gone.iter().map(|index| (*index, remark.clone())));
        self.dropped.extend(gone);
        true
    }
}

/// The name of the macro that a declaration is a use of.
fn macro_name(declaration: &str) -> Option<&str> {
    let (name, rest) = declaration.split_once('(')?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && rest.trim_end().ends_with([')', ';'])).then_some(name)
}
