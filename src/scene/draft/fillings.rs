//! Which writes of the host fill the memory of the device: those to what it copies there, in the order in which they
//! are made, in whichever functions.

use std::{collections::BTreeMap, rc::Rc};

use super::{
    evaluator::Place,
    host::{Host, Span},
    trace::{Act, Call, Done},
    variables::Id,
    writes::{Write, Written},
};
use crate::cuda::{brackets::Brackets, lexer::Kind};

/// So many writes are told of what one pointer has.
const MOST_PIECES: usize = 64;

/// A write, by its place in [`Host::writes`], with the call in which it is made.
pub(super) type Piece = (usize, Option<Rc<Call>>);

/// What the host fills memory of the device with.
#[derive(Clone, Default)]
pub(super) struct Filling {
    /// The writes, in the order in which they are made.
    pub(super) pieces: Vec<Piece>,
    /// The variable that is copied there, where that is a number.
    pub(super) number: Option<(Span, Option<Rc<Call>>)>,
}

impl<'s> Host<'s> {
    /// That of each pointer and each variable of the device that the host fills, by its name.
    pub(super) fn fillings(&self, brackets: &Brackets) -> BTreeMap<&'s str, Filling> {
        let writes = self.writes.iter().map(|write| write.at).enumerate();
        let fills = self.filling.iter().map(|target| target.start).enumerate();
        let launches = self.launches.iter().map(|launch| launch.at).enumerate();
        let symbols = self.symbols.iter().map(|(.., call)| call.start).enumerate();
        let acts = (writes.map(|(place, at)| (at, Act::Write(place))))
            .chain(fills.map(|(place, at)| (at, Act::Fill(place))))
            .chain(symbols.map(|(place, at)| (at, Act::Symbol(place))))
            .chain(launches.map(|(place, at)| (at, Act::Launch(place))));
        let (done, _) = self.trace(acts.collect(), brackets);
        let mut walk = Walk { host: self, written: BTreeMap::new(), found: BTreeMap::new() };
        // What is written behind a launch is what comes out of it, as it seems.
        let mut is_launched = false;
        for done in &done {
            match done.act {
                Act::Launch(_) => is_launched = true,
                Act::Write(write) => walk.write(write, &self.writes[write], done, is_launched),
                Act::Fill(fill) => {
                    let target = &self.filling[fill];
                    let from = self.copied.get(&target.start).unwrap_or(target);
                    walk.fill(target, from, done, is_launched);
                }
                Act::Symbol(symbol) => {
                    let (symbol, from, _) = &self.symbols[symbol];
                    walk.fill(symbol, from, done, is_launched);
                }
                Act::Transfer(_) | Act::Swap(_) | Act::Allocation(_) => {}
            }
        }
        walk.found
    }
}

struct Walk<'h, 's> {
    host: &'h Host<'s>,
    /// By the variable of the host, or its name where there is none.
    written: BTreeMap<(&'s str, Option<Id>), Vec<Piece>>,
    found: BTreeMap<&'s str, Filling>,
}

impl<'s> Walk<'_, 's> {
    /// The variable that memory belongs to that is called `name` at a place.
    fn owner(&self, name: &'s str, place: &Place<'_, 's>) -> (&'s str, Option<Id>) {
        let ((name, there), _) = self.host.surely(|host| {
            let (name, there) = host.pointer_of(name, place);
            (name, there.at)
        });
        // Behind its declaration, where that is the place itself.
        (name, self.host.visible(name, there + 1))
    }

    fn write(&mut self, index: usize, write: &Write<'s>, done: &Done, is_launched: bool) {
        let place = Place { call: done.call.clone(), ..Place::of(write.at) };
        let owner = self.owner(self.host.text_at(write.at), &place);
        let pieces = self.written.entry(owner).or_default();
        if pieces.len() < MOST_PIECES {
            pieces.push((index, done.call.clone()));
        }
        // What both sides see, and what a library writes to on the device, needs no copy.
        let is_known = !matches!(write.what, Written::Perhaps);
        if is_known && self.host.allocations.contains_key(owner.0) && !is_launched {
            let filling = Filling { pieces: pieces.clone(), number: None };
            self.found.insert(owner.0, filling);
        }
    }

    fn fill(&mut self, target: &Span, from: &Span, done: &Done, is_launched: bool) {
        let host = self.host;
        let place = Place { call: done.call.clone(), ..Place::of(done.at) };
        let words = |span: &Span| {
            let words = host.tokens(span).iter().filter(|token| token.kind == Kind::Word);
            words.map(|word| word.text).collect::<Vec<_>>()
        };
        let Some(first) = words(target).first().copied() else { return };
        let (name, _) = self.owner(first, &place);
        if is_launched && self.found.contains_key(name) {
            return;
        }
        let there = Place { at: from.start, ..place };
        let source = words(from).into_iter().find(|word| host.visible(word, from.start).is_some());
        let Some(source) = source else { return };
        let pieces = self.written.get(&self.owner(source, &there)).cloned().unwrap_or_default();
        let of_variable = host.visible(source, from.start).map(|id| host.variables.get(id));
        let is_number = of_variable.is_some_and(|variable| {
            !variable.declared.is_indirect && host.named_type(&variable.declared.words).is_some()
        });
        let at = from.clone().find(|at| host.text_at(*at) == source).unwrap_or(from.start);
        let number = is_number.then(|| (at..at + 1, done.call.clone()));
        self.found.insert(name, Filling { pieces, number });
    }
}
