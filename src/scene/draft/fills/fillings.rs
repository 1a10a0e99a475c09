//! Which writes of the host fill the memory of the device: those to what it copies there, in the order in which they
//! are made, in whichever functions.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    cuda::brackets::Brackets,
    scene::draft::{
        code::{
            Span,
            pointers::without_casts,
            regions::Kind as Region,
            variables::{Definition, Id, Value},
        },
        host::{
            Host,
            done::{Act, Done},
            filling::{Copy, Filling, Piece},
            mention::Does,
            place::Place,
            transfer::Transfer,
            write::{Write, Written},
        },
        values::conditions::When,
    },
};

/// So many writes are told of what one pointer has.
const MOST_PIECES: usize = 64;

/// The variable of the host that memory belongs to, or its name where there is none.
type Owner<'s> = (&'s str, Option<Id>);

impl<'s> Host<'s> {
    /// That of each pointer and each variable of the device that the host fills, by its name.
    pub(in crate::scene::draft) fn fillings(
        &self,
        brackets: &Brackets,
        is_all: bool,
    ) -> BTreeMap<&'s str, Filling> {
        let writes = self.writes.iter().map(|write| write.at).enumerate();
        let acts = (writes.map(|(place, at)| (at, Act::Write(place)))).chain(self.acts());
        let (done, is_all_done) = self.trace(acts.collect(), brackets);
        let is_all = is_all && is_all_done;
        let (written, kept, found) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        let mut walk = Walk {
            host: self,
            written,
            kept,
            found,
            sometimes: Vec::new(),
            taken: BTreeSet::new(),
            late: BTreeMap::new(),
            is_launched: false,
            is_all,
        };
        for done in &done {
            match done.act {
                Act::Launch(launch) => walk.launch(launch, done),
                Act::Write(write) => walk.write(write, &self.writes[write], done),
                Act::Fill(fill) => {
                    let target = &self.filling[fill];
                    let (from, bytes) = match self.copied.get(&target.start) {
                        Some((from, bytes)) => (from, Some(bytes)),
                        None => (target, None),
                    };
                    walk.fill(target, from, bytes, done);
                }
                Act::Symbol(symbol) => {
                    let (symbol, from, _) = &self.symbols[symbol];
                    let whole =
                        self.word(symbol).map_or(symbol.start + 1..symbol.end, |_| symbol.clone());
                    walk.fill(&whole, from, None, done);
                }
                Act::Transfer(transfer) => walk.transfer(&self.transfers[transfer], done),
                Act::Swap(_) | Act::Allocation(_) | Act::Untold(_) => {}
            }
        }
        walk.found
    }

    /// Whether a pointer is set to something else than what it begins with, or counted on.
    fn is_moved(&self, id: Id) -> bool {
        let variable = self.variables.get(id);
        let declared = &variable.declared;
        let is_parameter = variable.parameter.is_some();
        let is_copied = is_parameter && !declared.is_indirect && !declared.is_reference;
        let is_move = |set: &Definition| match set.value {
            Value::Compound(..) | Value::Count(_) | Value::Swapped(_) | Value::Unknown => true,
            Value::Expression(_) | Value::List(_) => is_parameter && !self.is_default(id, set.at),
            Value::Behind(..) | Value::Part | Value::Given(_) => false,
        };
        is_copied || variable.kept.is_some() || variable.definitions.iter().any(is_move)
    }

    /// Whether both sides see what is allocated for a pointer.
    fn is_managed(&self, pointer: &str) -> bool {
        let of = self.allocations.get(pointer).and_then(|of| of.target.checked_sub(2));
        of.is_some_and(|function| {
            let function = self.text_at(function);
            matches!(function, "cudaMallocManaged" | "cudaMallocHost" | "cudaHostAlloc")
        })
    }

    /// Whether a kernel is given what stands at `at`.
    fn is_of_launch(&self, at: usize) -> bool {
        self.launches.iter().any(|launch| launch.arguments.iter().any(|span| span.contains(&at)))
    }

    /// Whether a loop around a place launches something, too.
    fn is_among_launches(&self, place: &Place<'_, 's>) -> bool {
        let launched = self.launched().flat_map(|(_, there)| there.levels().collect::<Vec<_>>());
        let launched: Vec<usize> = launched.map(|level| level.at).collect();
        self.look(launched.len()).is_none()
            || place.levels().any(|level| {
                let mut spans =
                    self.regions.around(level.at).filter_map(|(_, region)| region.repeated());
                spans.any(|span| {
                    span.contains(&level.at) && launched.iter().any(|at| span.contains(at))
                })
            })
    }

    /// Whether a place lies in no function, or in one that is called as it seems.
    fn is_reached(&self, place: &Place<'_, 's>) -> bool {
        let outermost = place.levels().last().map_or(place.at, |level| level.at);
        let function = self.regions.function(outermost).and_then(|of| self.regions.get(of));
        function.is_none_or(|of| match of.kind {
            Region::Function { name, .. } => self.text_at(name) == "main",
            _ => true,
        })
    }
}

struct Walk<'h, 's> {
    host: &'h Host<'s>,
    written: BTreeMap<Owner<'s>, Vec<Piece>>,
    /// What may be written to whenever something is done.
    kept: BTreeSet<Owner<'s>>,
    found: BTreeMap<&'s str, Filling>,
    /// What was copied under conditions since the last launch, and where.
    sometimes: Vec<(&'s str, Place<'h, 's>)>,
    /// What both sides see and the host wrote to behind a launch.
    late: BTreeMap<&'s str, Vec<Piece>>,
    /// What launches took so far.
    taken: BTreeSet<&'s str>,
    /// What is written behind a launch is what comes out of it, as it seems.
    is_launched: bool,
    is_all: bool,
}

impl<'h, 's> Walk<'h, 's> {
    /// The variable that memory belongs to that is called `name` at a place, and whether surely.
    fn owner(&self, name: &'s str, place: &Place<'h, 's>) -> (Owner<'s>, bool) {
        let ((name, there), is_sure) = self.host.surely(|host| {
            let (name, there) = host.pointer_of(name, place);
            (name, there.at)
        });
        // Behind its declaration, where that is the place itself.
        ((name, self.host.visible(name, there + 1)), is_sure)
    }

    fn write(&mut self, index: usize, write: &Write<'s>, done: &Done) {
        let host = self.host;
        let place = Place { call: done.call.clone(), ..Place::of(write.at) };
        let name = host.text_at(write.at);
        let (owner, is_sure) = self.owner(name, &place);
        let does = match write.what {
            Written::Mentioned(does) => Some(does),
            _ => None,
        };
        let is_managed = host.is_managed(owner.0);
        if host.allocations.contains_key(owner.0) && !is_managed && does.is_some() {
            // Host code writes there by calls alone.
            if does == Some(Does::Gives) {
                self.spoil(owner.0);
            }
            return;
        }
        let own = [host.visible(name, write.at + 1), owner.1];
        let is_global =
            owner.1.is_some_and(|id| host.regions.function(host.variables.get(id).at).is_none());
        let is_kept = !is_sure
            || does == Some(Does::Keeps)
            || own.into_iter().flatten().any(|id| host.is_moved(id))
            || is_global && !host.is_reached(&place);
        let pieces = self.written.entry(owner).or_default();
        if is_kept || pieces.len() >= MOST_PIECES {
            self.kept.insert(owner);
        }
        if pieces.len() < MOST_PIECES {
            pieces.push((index, done.call.clone()));
        }
        // What both sides see, and what a library writes to on the device, needs no copy.
        let is_transfer = || host.transfers.iter().any(|own| own.call.contains(&write.at));
        let is_known = does.is_none() || is_managed && !is_transfer();
        let is_by_host = is_known && is_managed && !host.is_of_launch(write.at);
        if is_by_host && self.is_launched {
            self.late.insert(owner.0, pieces.clone());
        }
        if is_by_host && host.is_among_launches(&place) {
            let pieces = pieces.clone();
            self.leave_open(owner.0, pieces);
            return;
        }
        if is_known && host.allocations.contains_key(owner.0) && !self.is_launched {
            let is_all = self.is_all && !self.kept.contains(&owner);
            let filling = Filling { pieces: pieces.clone(), number: None, copy: None, is_all };
            self.found.insert(owner.0, filling);
        }
    }

    /// What is copied under other conditions than it is taken is not known to be there.
    fn launch(&mut self, launch: usize, done: &Done) {
        let place = Place { call: done.call.clone(), ..Place::of(done.at) };
        let places: Vec<usize> = place.levels().map(|level| level.at).collect();
        for (name, copied) in std::mem::take(&mut self.sometimes) {
            if !self.host.is_done_with(&copied, &places)
                && let Some(filling) = self.found.get_mut(name)
            {
                filling.is_all = false;
            }
        }
        for argument in &self.host.launches[launch].arguments {
            let words = self.host.tokens(argument).iter();
            let words = words.filter(|token| token.is_word());
            let names: Vec<&str> = words.map(|word| self.owner(word.text, &place).0.0).collect();
            for name in &names {
                if let Some(pieces) = self.late.remove(name) {
                    self.leave_open(name, pieces);
                }
            }
            self.taken.extend(names);
        }
        self.is_launched = true;
    }

    /// Of what the host writes between launches no manifest says all.
    fn leave_open(&mut self, name: &'s str, pieces: Vec<Piece>) {
        let open = Filling { pieces, number: None, copy: None, is_all: false };
        self.found.entry(name).and_modify(|filling| filling.is_all = false).or_insert(open);
    }

    /// Something else is done to what the host has filled.
    fn spoil(&mut self, name: &str) {
        if let Some(filling) = self.found.get_mut(name).filter(|_| !self.is_launched) {
            filling.is_all = false;
        }
    }

    fn transfer(&mut self, transfer: &Transfer<'s>, done: &Done) {
        let place = Place { call: done.call.clone(), ..Place::of(done.at) };
        match transfer.to {
            Some(to) => self.spoil(self.owner(to, &place).0.0),
            // Of some part of something.
            None => {
                let words = self.host.tokens(&transfer.call).iter();
                let words = words.filter(|token| token.is_word());
                for name in words.map(|word| self.owner(word.text, &place).0.0).collect::<Vec<_>>()
                {
                    self.spoil(name);
                }
            }
        }
    }

    fn fill(&mut self, target: &Span, from: &Span, bytes: Option<&Span>, done: &Done) {
        let host = self.host;
        let place = Place { call: done.call.clone(), ..Place::of(done.at) };
        let words = |span: &Span| {
            let words = host.tokens(span).iter().filter(|token| token.is_word());
            words.map(|word| word.text).collect::<Vec<_>>()
        };
        let Some(first) = words(target).first().copied() else { return };
        let ((name, _), is_sure) = self.owner(first, &place);
        if self.is_launched && self.found.contains_key(name) {
            // It is copied anew, which nothing here does.
            self.found.entry(name).and_modify(|filling| filling.is_all = false);
            return;
        }
        let allocated = host.allocations.get(name).map(|of| of.target);
        let is_again = host.round_of(&place).is_some_and(|(round, _)| {
            !allocated.is_some_and(|allocated| round.contains(&allocated))
        });
        let places = place.levels().map(|level| level.at).collect();
        let there = Place { at: from.start, ..place.clone() };
        let source = words(from).into_iter().find(|word| host.visible(word, from.start).is_some());
        let Some(source) = source else { return };
        let (owner, is_sure_too) = self.owner(source, &there);
        let pieces = self.written.get(&owner).cloned().unwrap_or_default();
        let id = host.visible(source, from.start);
        let is_number = id.map(|id| host.variables.get(id)).is_some_and(|variable| {
            !variable.declared.is_indirect && host.named_type(&variable.declared.words).is_some()
        });
        let at = from.clone().find(|at| host.text_at(*at) == source).unwrap_or(from.start);
        let number = is_number.then(|| (at..at + 1, done.call.clone()));
        let is_whole = host.word(&without_casts(&host.code, target.clone())).is_some()
            && (host.whole(from).is_some() || is_number && from.len() == 2);
        let is_moved =
            [id, owner.1].into_iter().flatten().any(|id| !is_number && host.is_moved(id));
        let is_all = self.is_all
            && is_sure
            && is_sure_too
            && is_whole
            && !is_again
            && !self.taken.contains(name)
            && !is_moved
            && !self.kept.contains(&owner);
        let when = host.when(&host.place_in(done.at, done.call.as_ref()));
        if !matches!(when, When::Always) {
            self.sometimes.push((name, place));
        }
        let copy = Some(Copy { bytes: bytes.cloned(), call: done.call.clone(), places });
        self.found.insert(name, Filling { pieces, number, copy, is_all });
    }
}
