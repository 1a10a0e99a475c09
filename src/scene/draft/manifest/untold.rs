//! Calls of the host that no pass makes, as those of libraries: each is said at its place among the passes.

use std::fmt::Write as _;

use super::{
    Draft, FILL_IN,
    spot::{Open, groups},
};
use crate::{
    cuda::lexer::Token,
    scene::draft::{
        code::{Span, libraries::holds_memory, variables::Id},
        expression::text::one_line,
        fills::types::element_named,
        host::{Host, done::Act, place::Place, untold::Untold},
        values::conditions::When,
    },
};

/// What is said of a call, and the groups that it lies in.
pub(in crate::scene::draft) struct SaidOf {
    text: String,
    groups: Vec<Open>,
}

impl<'s> Host<'s> {
    /// The variable of a type of Thrust that holds or names memory of the device.
    pub(in crate::scene::draft) fn container(&self, name: &str, at: usize) -> Option<Id> {
        let id = self.visible(name, at)?;
        let words = &self.variables.get(id).declared.words;
        words.iter().any(|word| holds_memory(word)).then_some(id)
    }

    /// The pointers to memory of the device, and what holds such, among the `arguments` of a call.
    pub(in crate::scene::draft) fn memory_in(
        &self,
        arguments: &[Span],
        place: &Place<'_, 's>,
    ) -> Vec<&'s str> {
        let is_given = |name: &&str| {
            let variable = self.visible(name, place.at).map(|id| self.variables.get(id));
            let is_pointer = variable.is_some_and(|variable| variable.declared.is_indirect);
            let is_parameter = variable.is_some_and(|variable| variable.parameter.is_some());
            self.allocation(name).is_some()
                || self.container(name, place.at).is_some()
                || is_pointer && is_parameter
                || is_pointer
                    && self.launched().any(|(launch, at)| {
                        launch.arguments.iter().any(|span| {
                            self.base(span)
                                .is_some_and(|word| self.pointer_of(word, &at).0 == *name)
                        })
                    })
        };
        let mut found = Vec::new();
        for argument in arguments {
            let mut pointers = self.pointers_in(argument, place);
            pointers.retain(|name| self.surely(|_| is_given(name)).0);
            pointers.extend(self.holders_in(argument, place));
            for name in pointers {
                if !found.contains(&name) {
                    found.push(name);
                }
            }
        }
        found
    }

    /// What a part of the code names that may hold memory of the device, as it is called where it comes from.
    fn holders_in(&self, span: &Span, place: &Place<'_, 's>) -> Vec<&'s str> {
        let words = self.tokens(span).iter().filter(|token| token.is_word());
        let origin = |word: &Token<'s>| {
            let own = |host: &Self| {
                let (name, there) = host.pointer_of(word.text, place);
                (name, there.at)
            };
            let (name, at) = self.surely(own).0;
            let id = self.visible(name, at + 1)?;
            self.holding.contains(&id).then_some(name)
        };
        words.filter_map(origin).collect()
    }
}

impl<'a, 's> Draft<'a, 's> {
    /// Says of the call that is done at `index` that no pass makes it, behind what the groups that are `open` have
    /// where it lies in them; before the next pass, where it does not.
    pub(in crate::scene::draft) fn untold(
        &mut self,
        index: usize,
        place: &Place<'a, 's>,
        skipped: usize,
        open: &[Open],
    ) {
        let host: &'a Host<'s> = self.host;
        let Act::Untold(call) = host.done[index].act else { return };
        let Untold { call, given } = &host.untold[call];
        let given = given.as_ref().map(|arguments| host.memory_in(arguments, place));
        if given.as_ref().is_some_and(Vec::is_empty) || matches!(host.when(place), When::Never(_)) {
            return;
        }
        let call = host.text(call);
        let mut is_at_start = false;
        let mut text = format!("{FILL_IN}: `{call}` is made, which nothing here does");
        if call.contains("BeginCapture") {
            text.push_str("; what it records is done here at once, and once");
        }
        let given = given.unwrap_or_default();
        let names: Vec<String> = given
            .into_iter()
            .map(|pointer| {
                let name = self.array_of_library(pointer, place);
                let array = name.as_ref().and_then(|name| self.places.get(name).copied());
                if let Some(array) = array.filter(|_| !self.uses.take(0..index, pointer)) {
                    let array = &mut self.arrays[array];
                    is_at_start |= place.loops.is_empty() && array.begins_with(&call);
                    array.is_filled_by(&call);
                }
                format!("`{}`", name.as_deref().unwrap_or(pointer))
            })
            .collect();
        if let Some((last, others)) = names.split_last() {
            let and = if others.is_empty() { "" } else { " and " };
            let _ = write!(text, "; it is given {}{and}{last}", others.join(", "));
        }
        if is_at_start {
            return;
        }
        // A call that asks how much memory it wants looks like the one that has it.
        let is_said = match self.untold.last() {
            Some(last) => last.text == text,
            None => self.passes.ends_with(&format!("# {}\n", one_line(&text))),
        };
        if !is_said {
            let groups = groups(place, skipped);
            let is_open = groups == open;
            self.untold.push(SaidOf { text, groups });
            if is_open {
                self.write_untold(None);
            }
        }
    }

    /// Writes what is said of calls here; before a group begins, of those alone that do not lie in it.
    pub(in crate::scene::draft) fn write_untold(&mut self, begun: Option<&[Open]>) {
        let is_here = |said: &mut SaidOf| begun.is_none_or(|begun| !said.groups.starts_with(begun));
        for said in self.untold.extract_if(.., is_here) {
            let _ = writeln!(self.passes, "\n# {}", one_line(&said.text));
        }
    }

    /// The array that is given to a function of a library, where it is known what it has.
    fn array_of_library(&mut self, pointer: &'s str, place: &Place<'_, 's>) -> Option<String> {
        let host: &'a Host<'s> = self.host;
        if host.pointee(pointer) == Some("void") {
            return None;
        }
        let (known, _) = self.surely(|draft| draft.known_array(pointer, place));
        known.or_else(|| {
            let held = host.contained(host.container(pointer, place.at)?)?;
            let element = element_named(self.structures, &held)?;
            let element = self.own_element(pointer, place, &element);
            Some(self.array_of(pointer, &element))
        })
    }
}
