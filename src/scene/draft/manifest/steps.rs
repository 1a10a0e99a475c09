//! Which loop of the host is that of time steps, and when what stands behind it is done.

use std::collections::BTreeSet;

use super::{Draft, FILL_IN, guess::Guess};
use crate::scene::draft::{
    expression::{cpp_number::Number, told::Told},
    host::{Host, loop_header::Loop, place::Place},
};

impl<'a, 's> Draft<'a, 's> {
    /// A place in the loop of time steps: the first that is the outermost around a launch, and whose variable no kernel
    /// is given.
    pub(in crate::scene::draft) fn time_loop(&self) -> Option<Place<'a, 's>> {
        let host: &'a Host<'s> = self.host;
        let mut looked_at = BTreeSet::new();
        let mut places = host.launched().map(|(_, place)| place);
        places.find(|place| {
            place.loops.first().is_some_and(|first| {
                let is_new = looked_at.insert(first.region);
                is_new && first.counts_up() && !self.is_given(first)
            })
        })
    }

    /// When that is done which stands behind the loop of time steps around a place: in the last of them.
    pub(in crate::scene::draft) fn behind(&self, place: &Place<'a, 's>) -> Option<Guess> {
        let time = place.loops.first()?;
        let own = Place { loops: vec![time], ..place.clone() };
        let (rounds, is_sure) =
            self.host.surely(|host| host.rounds(&own)?.number().and_then(Number::whole));
        let last = rounds.filter(|rounds| *rounds > 0 && self.end_of(time).is_none());
        Some(match last.filter(|_| is_sure) {
            Some(rounds) => Guess::known(format!("step == {}", rounds - 1)),
            None => Guess::open("true", format!("once, behind the loop over `{}`", time.name)),
        })
    }

    /// Whether the variable of a loop, which is the outermost, is given to a kernel.
    fn is_given(&self, first: &Loop<'s>) -> bool {
        let host = self.host;
        let is_inside = |place: &Place<'_, 's>| {
            place.loops.first().is_some_and(|own| own.region == first.region)
        };
        host.launched().filter(|(_, place)| is_inside(place)).any(|(launch, place)| {
            let depends = |span| match host.surely(|host| host.told(span, &place)).0 {
                Some(Told::Formula(formula)) => formula.follows & 1 != 0,
                Some(Told::Number(_)) => false,
                None => host.tokens(span).iter().any(|token| token.text == first.name),
            };
            launch.arguments.iter().chain(&launch.shape).any(depends)
        })
    }

    /// Says so where the loop of time steps may end before its time.
    pub(in crate::scene::draft) fn remark_on_end(&mut self, time: &Loop<'s>) {
        if let Some(end) = self.end_of(time) {
            let text =
                format!("{FILL_IN}: the loop over `{}` ends at {end}, a step never", time.name);
            self.remark(text);
        }
    }

    /// What may end a loop before its time: a `break`, a `return`, and the condition for it.
    pub(in crate::scene::draft) fn end_of(&self, of: &Loop<'s>) -> Option<String> {
        let (jump, _) = self.host.jumps_in(&of.body).find(|(_, goes_on)| !goes_on)?;
        let is_loop = |region: &crate::scene::draft::code::regions::Region| {
            region.repeated().as_ref() == Some(&of.body)
        };
        let word = self.host.text_at(jump);
        let conditions = self.host.branches(jump, &is_loop);
        Some(match conditions.first() {
            Some((condition, true)) => {
                format!("a `{word}` where `{}`", self.host.text(condition))
            }
            Some((condition, false)) => {
                format!("a `{word}` where not `{}`", self.host.text(condition))
            }
            None => format!("a `{word}`"),
        })
    }
}
