//! What jumps leave out: a part of host code that they go round may not be done.

use crate::scene::draft::{
    code::{
        LONGEST,
        detours::{Detour, Way},
        regions::Kind,
        sections::Section,
    },
    host::Host,
};

impl Host<'_> {
    /// Whether what stands at `set` has been done once `at` is reached behind it, as far as jumps say; `None` where
    /// that is not known.
    pub(in crate::scene::draft) fn runs_beside_jumps(&self, set: usize, at: usize) -> Option<bool> {
        self.look(self.detours.all.len())?;
        let mut runs = Some(true);
        for own in &self.detours.all {
            if !own.span.contains(&set) || own.span.contains(&at) || !self.may_jump(own.jump, set) {
                continue;
            }
            match own.way {
                Way::Never => return Some(false),
                Way::Over | Way::Back => runs = None,
            }
        }
        runs
    }

    /// The jump behind which nothing leads to `at`.
    pub(in crate::scene::draft) fn jump_before(&self, at: usize) -> Option<String> {
        self.look(self.detours.all.len())?;
        let is_it = |own: &&Detour| {
            own.way == Way::Never && own.span.contains(&at) && self.may_jump(own.jump, at)
        };
        let jump = self.detours.all.iter().find(is_it)?.jump;
        let end = (jump..jump + LONGEST).find(|at| matches!(self.text_at(*at), ";" | ""))?;
        Some(self.text(&(jump..end)))
    }

    /// Whether a jump may be made as far as the branches around it say, and is compiled where `other` is.
    fn may_jump(&self, jump: usize, other: usize) -> bool {
        let is_compiled =
            |own: &Section<'_>| !own.span.contains(&jump) || own.span.contains(&other);
        let is_never = |kind: &Kind| match kind {
            Kind::If { condition, holds } => self.decided(condition) == Some(!holds),
            _ => false,
        };
        self.sections.iter().all(is_compiled)
            && !self.regions.around(jump).any(|(_, region)| is_never(&region.kind))
    }
}
