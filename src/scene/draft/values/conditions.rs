//! What host code makes a launch depend on: branches around it, and rounds of loops that end before it.

use super::cases::Case;
use crate::{
    cuda::lexer::Tokens,
    scene::draft::{
        code::{
            LONGEST, Span,
            operands::is_perhaps,
            regions::{Kind, Region},
        },
        expression::{cpp_number::Type, told::Told},
        host::{Host, done::Done, loop_header::Loop, place::Place},
    },
};

/// Tokens of a statement that are looked at for `?`.
const LONGEST_STATEMENT: usize = 200;

/// When something is done.
pub(in crate::scene::draft) enum When {
    Always,
    /// Never, since this condition is otherwise.
    Never(String),
    If {
        /// A formula of the rounds around it.
        formula: Option<String>,
        /// What follows no formula, or not surely.
        unknown: Vec<String>,
    },
}

/// Conditions of the preprocessor around one another that are told.
const MOST_SECTIONS: usize = 8;

/// One condition: what has to hold, or not to hold, or not all of it at once.
struct Condition {
    parts: Vec<(Span, bool)>,
    is_excluded: bool,
}

impl<'s> Host<'s> {
    /// When what stands at `place` is done.
    pub(in crate::scene::draft) fn when(&self, place: &Place<'_, 's>) -> When {
        let levels: Vec<_> = place.levels().collect();
        if let Some(never) = levels.iter().find_map(|level| self.never(level)) {
            return When::Never(never);
        }
        // The outermost first, as they are read.
        let (mut conditions, mut unknown, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for level in levels.iter().rev() {
            let own = self.conditions_at(level.at).into_iter();
            conditions.extend(own.map(|condition| (condition, level)));
            unknown.extend(self.choices(level));
        }
        let is_single = conditions.len() == 1;
        for (condition, level) in &conditions {
            if self.is_decided(condition, level) {
                continue;
            }
            let (told, is_sure) = self.surely(|host| host.told_condition(condition, level));
            if told.is_none() || !is_sure {
                unknown.push(self.condition_text(condition));
            }
            let Some((text, is_tight)) = told else { continue };
            texts.push(if is_single || is_tight { text } else { format!("({text})") });
        }
        if texts.is_empty() && unknown.is_empty() {
            return When::Always;
        }
        let formula = (!texts.is_empty()).then(|| texts.join(" && "));
        When::If { formula, unknown }
    }

    /// Whether what stands at a place is part of what a loop asks or does before or behind each round.
    pub(in crate::scene::draft) fn is_in_condition_of_loop(&self, at: usize) -> bool {
        let is_of_for = self.regions.around(at).any(|(_, region)| match &region.kind {
            Kind::For { header, .. } => {
                header.contains(&at)
                    && header
                        .clone()
                        .take_while(|other| *other < at)
                        .any(|other| self.text_at(other) == ";")
            }
            _ => false,
        });
        let (first, mut depth) = (at.saturating_sub(LONGEST_STATEMENT), 0_usize);
        let mut is_of_while = || {
            (first..at).rev().take_while(|at| !matches!(self.text_at(*at), ";" | "{" | "}")).any(
                |at| {
                    match self.text_at(at) {
                        ")" => depth += 1,
                        "(" if depth == 0 => return self.code.text_before(at) == "while",
                        "(" => depth -= 1,
                        _ => {}
                    }
                    false
                },
            )
        };
        is_of_for || is_of_while()
    }

    /// The loops and branches around a place, and around the calls that led there.
    pub(in crate::scene::draft) fn control(&self, place: &Place<'_, 's>) -> Vec<usize> {
        let is_control = |kind: &Kind| !matches!(kind, Kind::Block | Kind::Function { .. });
        let around = |at: usize| {
            let around = self.regions.around(at);
            around.filter(|(_, region)| is_control(&region.kind)).map(|(place, _)| place)
        };
        place.levels().flat_map(|level| around(level.at).collect::<Vec<_>>()).collect()
    }

    /// Whether two things are done as often as each other, one behind the other.
    pub(in crate::scene::draft) fn are_done_together(&self, one: &Done, other: &Done) -> bool {
        let places = [one, other].map(|done| self.place_of(done));
        let depends = |place: &Place<'_, 's>| -> Vec<String> {
            let of_level = |level: Place<'_, 's>| {
                let conditions = self.conditions_at(level.at).into_iter();
                let mut texts: Vec<String> =
                    conditions.map(|condition| self.condition_text(&condition)).collect();
                texts.extend(self.choices(&level));
                texts.extend(self.is_in_condition_of_loop(level.at).then(|| "a loop".to_owned()));
                texts.extend(self.maybe_returned_before(&level));
                texts
            };
            place.levels().flat_map(of_level).collect()
        };
        let [first, second] = &places;
        self.control(first) == self.control(second)
            && depends(first) == depends(second)
            && !places.iter().any(|place| matches!(self.when(place), When::Never(_)))
    }

    /// Whether what stands at a place is done whenever what stands at one of `others` is, further down.
    pub(in crate::scene::draft) fn is_done_with(
        &self,
        place: &Place<'_, 's>,
        others: &[usize],
    ) -> bool {
        let is_shared = |span: &Span| others.iter().any(|at| span.contains(at));
        place.levels().all(|level| {
            let mut around = self.regions.around(level.at).map(|(_, region)| region);
            let mut sections = self.sections.iter().filter(|own| own.span.contains(&level.at));
            let is_done = |region: &Region| match region.kind {
                Kind::If { .. } => is_shared(&region.span) || self.runs(region) == Some(true),
                Kind::Switch { .. } | Kind::Catch => false,
                Kind::Block
                | Kind::Function { .. }
                | Kind::Lambda { .. }
                | Kind::For { .. }
                | Kind::While { .. }
                | Kind::Do { .. } => true,
            };
            around.all(is_done)
                && sections.all(|own| is_shared(&own.span))
                && !self.is_round_ended_before(level.at, &is_shared)
                && !is_perhaps(&self.code, level.at)
        })
    }

    /// Whether a loop around `at` may go on to its next round before that, but for loops around others, too.
    fn is_round_ended_before(&self, at: usize, is_shared: &dyn Fn(&Span) -> bool) -> bool {
        let mut bodies = self.regions.around(at).filter_map(|(_, region)| region.repeated());
        bodies.any(|body| {
            let is_own = body.contains(&at) && !is_shared(&body);
            is_own && self.jumps_in(&body).any(|(jump, goes_on)| goes_on && jump < at)
        })
    }

    /// What has to hold within the function around `at`.
    fn conditions_at(&self, at: usize) -> Vec<Condition> {
        let is_function = |region: &Region| matches!(region.kind, Kind::Function { .. });
        let own = self.branches(at, &is_function).into_iter();
        let mut found: Vec<Condition> =
            own.map(|part| Condition { parts: vec![part], is_excluded: false }).collect();
        found.reverse();
        found.extend(self.rounds_ended_before(at));
        found
    }

    /// Whether a condition surely holds, in the call that led to a place.
    fn is_decided(&self, condition: &Condition, place: &Place<'_, 's>) -> bool {
        let holds = |(span, holds): &(Span, bool)| self.decided_in(span, place) == Some(*holds);
        place.call.is_some() && !condition.is_excluded && condition.parts.iter().all(holds)
    }

    /// What a condition surely is, in the call that led to a place.
    fn decided_in(&self, condition: &Span, place: &Place<'_, 's>) -> Option<bool> {
        if place.call.is_none() {
            return self.decided(condition);
        }
        let own = Place { at: condition.start, loops: Vec::new(), ..place.clone() };
        let (told, is_sure) = self.surely(|host| host.told(condition, &own)?.number());
        told.map(|number| number.is_true()).filter(|_| is_sure)
    }

    /// Why what stands at a place is never done, if so.
    fn never(&self, place: &Place<'_, 's>) -> Option<String> {
        let at = place.at;
        let branch = self.regions.around(at).find_map(|(_, region)| match &region.kind {
            Kind::If { condition, holds } if self.decided_in(condition, place)? != *holds => {
                let text = self.text(condition);
                Some(if *holds {
                    format!("`{text}` does not hold")
                } else {
                    format!("`{text}` holds")
                })
            }
            Kind::Catch if !self.detours.is_caught(region.span.start) => {
                Some("nothing is thrown".to_owned())
            }
            Kind::If { .. }
            | Kind::Catch
            | Kind::Block
            | Kind::Function { .. }
            | Kind::Lambda { .. }
            | Kind::For { .. }
            | Kind::While { .. }
            | Kind::Do { .. }
            | Kind::Switch { .. } => None,
        });
        let case = || {
            self.cases(place).into_iter().find_map(|(_, case)| match case {
                Case::Other(reason) => Some(reason),
                Case::Chosen | Case::First => None,
            })
        };
        let jump = || Some(format!("`{}` stands before", self.jump_before(at)?));
        branch.or_else(case).or_else(|| self.returned_before(place)).or_else(jump)
    }

    /// A `return` before `at` whose condition surely holds. What depends on the arguments of the program is no such: it
    /// says how to call it.
    fn returned_before(&self, place: &Place<'_, 's>) -> Option<String> {
        let at = place.at;
        let function = self.regions.function(at);
        let first = self.jumps.partition_point(|jump| *jump < at);
        self.jumps[..first].iter().rev().take(LONGEST).find_map(|jump| {
            if !self.is_over(*jump, at) || self.regions.function(*jump) != function {
                return None;
            }
            let inside = self.regions.around(*jump).map(|(_, region)| region);
            let mut conditions = Vec::new();
            for region in inside.take_while(|region| !region.span.contains(&at)) {
                let Kind::If { condition, holds } = &region.kind else { return None };
                let names_arguments = self.tokens(condition).iter().any(|t| t.text == "argc");
                if names_arguments || self.decided_in(condition, place) != Some(*holds) {
                    return None;
                }
                conditions.push(self.text(condition));
            }
            let condition = conditions.last()?;
            Some(format!("the function returns before, by `{condition}`"))
        })
    }

    /// A `return` before a place of which it is not known whether it is made. One with a number other than 0 says that
    /// something went wrong, and nothing does.
    pub(in crate::scene::draft) fn maybe_returned_before(
        &self,
        place: &Place<'_, 's>,
    ) -> Option<String> {
        let at = place.at;
        let function = self.regions.function(at);
        let start = function.and_then(|function| self.regions.get(function))?.span.start;
        let (first, end) = (
            self.jumps.partition_point(|jump| *jump < start),
            self.jumps.partition_point(|jump| *jump < at),
        );
        self.jumps[first..end].iter().rev().take(LONGEST).find_map(|jump| {
            let is_over = self.is_over(*jump, at) && !self.fails(*jump);
            if !is_over || self.regions.function(*jump) != function {
                return None;
            }
            let inside = self.regions.around(*jump).map(|(_, region)| region);
            let mut conditions = Vec::new();
            for region in inside.take_while(|region| !region.span.contains(&at)) {
                match &region.kind {
                    Kind::If { condition, holds } => {
                        let names_arguments =
                            self.tokens(condition).iter().any(|t| t.text == "argc");
                        if names_arguments || self.decided_in(condition, place).is_some() {
                            return None;
                        }
                        let text = self.text(condition);
                        conditions.push(if *holds { text } else { format!("!({text})") });
                    }
                    Kind::Block => {}
                    Kind::Function { .. }
                    | Kind::Lambda { .. }
                    | Kind::For { .. }
                    | Kind::While { .. }
                    | Kind::Do { .. }
                    | Kind::Switch { .. }
                    | Kind::Catch => return None,
                }
            }
            conditions.reverse();
            let condition = conditions.join(" && ");
            if condition.is_empty() && self.text_at(*jump) == "goto" {
                return Some(format!("`goto {}` stands before", self.text_at(jump + 1)));
            }
            (!condition.is_empty())
                .then(|| format!("the function returns before where `{condition}`"))
        })
    }

    /// The word of a jump: that of a call of a function that exits is `exit`.
    pub(in crate::scene::draft) fn jump_word(&self, jump: usize) -> &'s str {
        let word = self.text_at(jump);
        if self.exits.contains_key(word) { "exit" } else { word }
    }

    /// Whether a jump goes to behind `at`, or out of the function.
    fn is_over(&self, jump: usize, at: usize) -> bool {
        match self.jump_word(jump) {
            "return" | "exit" => true,
            "goto" => {
                let is_label = |place: &usize| {
                    self.text_at(*place) == self.text_at(jump + 1) && self.text_at(place + 1) == ":"
                };
                let function = self.regions.around(at).last();
                let end = function.map_or(at, |(_, region)| region.span.end);
                self.look(end.saturating_sub(at)).is_some() && (at..end).any(|at| is_label(&at))
            }
            _ => false,
        }
    }

    /// Whether what is returned says that something went wrong.
    fn fails(&self, jump: usize) -> bool {
        let jump = self.exits.get(self.text_at(jump)).copied().unwrap_or(jump);
        if self.text_at(jump) == "goto" {
            return false;
        }
        let value: Vec<&str> =
            (jump + 1..jump + 4).map(|at| self.text_at(at)).filter(|text| *text != "(").collect();
        match value.as_slice() {
            ["-", ..] | ["false" | "NULL" | "nullptr" | "EXIT_FAILURE", ..] => true,
            [number, ..] => number.parse::<u64>().is_ok_and(|number| number != 0),
            [] => false,
        }
    }

    /// `if (...) continue;` before `at`, in the loops around it.
    fn rounds_ended_before(&self, at: usize) -> Vec<Condition> {
        let mut found = Vec::new();
        let bodies = self.regions.around(at).filter_map(|(_, region)| region.repeated());
        for body in bodies.filter(|body| body.contains(&at)).collect::<Vec<_>>() {
            for (jump, goes_on) in self.jumps_in(&body) {
                if goes_on && jump < at {
                    let is_loop = |region: &Region| region.repeated().is_some_and(|of| of == body);
                    let parts = self.branches(jump, &is_loop);
                    found.push(Condition { parts, is_excluded: true });
                }
            }
        }
        found
    }

    /// `switch`, `?` and `#if` around `at`.
    fn choices(&self, place: &Place<'_, 's>) -> Vec<String> {
        let at = place.at;
        let switches = self.cases(place).into_iter().filter_map(|(condition, case)| match case {
            Case::First => Some(format!("switch ({})", self.text(&condition))),
            Case::Chosen | Case::Other(_) => None,
        });
        let mut found: Vec<String> = switches.collect();
        let is_caught = self.regions.around(at).any(|(_, region)| {
            region.kind == Kind::Catch && self.detours.is_caught(region.span.start)
        });
        found.extend(is_caught.then(|| "catch".to_owned()));
        let sections = self.sections.iter().filter(|section| section.span.contains(&at));
        found.extend(sections.take(MOST_SECTIONS).map(|section| section.directive.to_owned()));
        let first = at.saturating_sub(LONGEST_STATEMENT);
        let start = (first..at).rev().find(|at| matches!(self.text_at(*at), ";" | "{" | "}"));
        let statement = start.map_or(first, |start| start + 1)..at;
        if let Some(question) = statement.clone().rfind(|at| self.text_at(*at) == "?") {
            found.push(self.text(&(statement.start..question)));
        } else if is_perhaps(&self.code, at) {
            found.push(self.text(&statement));
        }
        found
    }

    /// A condition as a formula: its text, and whether it binds as tightly as a part of `&&` has to.
    fn told_condition(
        &self,
        condition: &Condition,
        place: &Place<'_, 's>,
    ) -> Option<(String, bool)> {
        let mut all: Option<Told> = None;
        for (span, holds) in &condition.parts {
            let outer = place.call.as_ref().map_or(0, |call| call.loops);
            let loops = place.loops.iter().copied().enumerate();
            let is_around = |own: &Loop<'_>| own.body.contains(&span.start);
            let loops = loops.filter(|(depth, own)| *depth < outer || is_around(own));
            let loops = loops.map(|(_, own)| own).collect();
            let own = Place { at: span.start, loops, ..place.clone() };
            let told = self.converted(self.told(span, &own)?, Type::Bool)?;
            let formula = told.formula()?;
            let formula = if *holds { formula } else { formula.signed("!") };
            all = Some(Told::Formula(match all {
                Some(Told::Formula(before)) => before.linked("&&", &formula),
                Some(Told::Number(_)) | None => formula,
            }));
        }
        let formula = all?.formula()?;
        let formula = if condition.is_excluded { formula.signed("!") } else { formula };
        // What is known to be a number, but not surely so, is no formula worth writing.
        if formula.follows == 0 {
            return None;
        }
        let is_tight = !formula.text.contains("||") && !formula.text.contains('?');
        Some((formula.checked()?, is_tight))
    }

    fn condition_text(&self, condition: &Condition) -> String {
        let part = |(span, holds): &(Span, bool)| {
            let text = self.text(span);
            if *holds { text } else { format!("!({text})") }
        };
        let all: Vec<String> = condition.parts.iter().map(part).collect();
        match (condition.is_excluded, all.is_empty()) {
            (true, true) => "continue".to_owned(),
            (true, false) => format!("!({})", all.join(" && ")),
            (false, _) => all.join(" && "),
        }
    }
}
