//! Which case of a `switch` is done.

use crate::scene::draft::{
    code::{LONGEST, Span, regions::Kind},
    expression::cpp_number::Number,
    host::{Assumes, Host, place::Place},
};

/// What is known of the case that something lies in.
pub(in crate::scene::draft) enum Case {
    /// It is done.
    Chosen,
    /// It may be done, as the first that does something with the device.
    First,
    /// It is not done, for this reason.
    Other(String),
}

impl<'s> Host<'s> {
    /// The `switch` statements around a place in its function, with what is known of the case.
    pub(in crate::scene::draft) fn cases(&self, place: &Place<'_, 's>) -> Vec<(Span, Case)> {
        let around = self.regions.around(place.at);
        let inside = around.take_while(|(_, region)| !matches!(region.kind, Kind::Function { .. }));
        let switches = inside.filter_map(|(index, region)| match &region.kind {
            Kind::Switch { condition } => {
                let case = self.case_of(index, &region.span, condition, place);
                Some((condition.clone(), case))
            }
            Kind::Block
            | Kind::Function { .. }
            | Kind::Lambda { .. }
            | Kind::For { .. }
            | Kind::While { .. }
            | Kind::Do { .. }
            | Kind::If { .. }
            | Kind::Catch => None,
        });
        switches.collect()
    }

    fn case_of(&self, index: usize, span: &Span, condition: &Span, place: &Place<'_, 's>) -> Case {
        let groups = self.groups(index, span);
        let Some(own) = groups.iter().rposition(|group| group[0] < place.at) else {
            return Case::First;
        };
        let text = || self.text(condition);
        let end = |group: usize| groups.get(group + 1).map_or(span.end, |next| next[0]);
        let there = Place { at: condition.start, ..place.clone() };
        let (value, is_sure) = self.surely(|host| host.told(condition, &there)?.number());
        let value = value.and_then(Number::whole).filter(|_| is_sure);
        let holds =
            value.map(|value| groups.iter().map(|group| self.holds(group, value)).collect());
        if let Some(holds) = holds
            .as_ref()
            .and_then(|all: &Vec<Option<bool>>| all.iter().all(Option::is_some).then_some(all))
        {
            let chosen = holds.iter().position(|holds| *holds == Some(true));
            let default = || groups.iter().position(|group| self.has_default(group));
            let chosen = chosen.or_else(default);
            let is_chosen = chosen.is_some_and(|chosen| {
                chosen <= own
                    && (chosen..own).all(|group| !self.is_left(groups[group][0]..end(group)))
            });
            return match is_chosen {
                true => Case::Chosen,
                false => Case::Other(format!("`switch ({})` has another case", text())),
            };
        }
        // The sizes that are assumed may choose one.
        let assumed = self.assuming(Assumes::All, |host| host.told(condition, &there)?.number());
        let assumed = assumed.and_then(Number::whole).and_then(|value| {
            groups.iter().position(|group| self.holds(group, value) == Some(true))
        });
        match assumed {
            Some(assumed) if assumed == own => return Case::First,
            Some(_) => return Case::Other(format!("`switch ({})` may have another case", text())),
            None => {}
        }
        let acts = |group: usize| self.acting.range(groups[group][0]..end(group)).next().is_some();
        let is_first = (0..own).all(|group| {
            !acts(group) || (group..own).all(|group| !self.is_left(groups[group][0]..end(group)))
        });
        match is_first {
            true => Case::First,
            false => Case::Other(format!("of `switch ({})` only the first case is here", text())),
        }
    }

    /// Where the labels of a `switch` stand, those that stand together as one.
    fn groups(&self, index: usize, span: &Span) -> Vec<Vec<usize>> {
        let is_own = |at: &usize| {
            let mut around = self.regions.around(*at);
            let nearest = around.find(|(_, region)| matches!(region.kind, Kind::Switch { .. }));
            nearest.is_some_and(|(region, _)| region == index)
        };
        let is_label = |at: &usize| matches!(self.text_at(*at), "case" | "default");
        let labels = span.clone().filter(|at| is_label(at) && is_own(at)).take(LONGEST);
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for label in labels {
            let last = groups.last_mut().filter(|group| {
                group.last().is_some_and(|last| self.label(*last).end + 1 == label)
            });
            match last {
                Some(group) => group.push(label),
                None => groups.push(vec![label]),
            }
        }
        groups
    }

    /// What stands between `case` and the colon.
    fn label(&self, at: usize) -> Span {
        let end = (at..at.saturating_add(LONGEST)).find(|at| matches!(self.text_at(*at), ":" | ""));
        at + 1..end.unwrap_or(at + 1)
    }

    /// Whether one of these labels has the value; `None` where that is not known.
    fn holds(&self, group: &[usize], value: i128) -> Option<bool> {
        let mut holds = false;
        for label in group.iter().filter(|label| self.text_at(**label) == "case") {
            let (number, is_sure) = self.surely(|host| host.number(&host.label(*label)));
            holds |= number.filter(|_| is_sure)?.whole()? == value;
        }
        Some(holds)
    }

    fn has_default(&self, group: &[usize]) -> bool {
        group.iter().any(|label| self.text_at(*label) == "default")
    }

    /// Whether the `switch` may be left in a part of it.
    fn is_left(&self, part: Span) -> bool {
        let first = self.jumps.partition_point(|jump| *jump < part.start);
        self.jumps.get(first).is_some_and(|jump| *jump < part.end)
    }
}
