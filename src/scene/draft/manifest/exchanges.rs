//! Pointers that change places: the halves of one array where a manifest lets these change places when the host does,
//! else two arrays whose contents do.

use std::{fmt::Write as _, rc::Rc};

use super::{Draft, FILL_IN, guess::Guess, header, spot::Spot};
use crate::{
    cuda::{CType, Signature},
    scene::draft::{
        code::Span,
        expression::text::{one_line, quoted_text},
        host::{
            Host,
            done::{Act, Done},
            launch::Launch,
            place::Place,
        },
        values::holders::Holder,
    },
};

/// Two pointers, by what memory was allocated for them as, and where they change places in what is done.
struct Pair<'s> {
    names: [&'s str; 2],
    swaps: Vec<usize>,
}

impl Pair<'_> {
    fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }
}

impl<'a, 's> Draft<'a, 's> {
    /// Finds out how each pair of pointers is to change places.
    pub(in crate::scene::draft) fn pairs(&mut self) {
        let pairs = self.exchanged();
        if pairs.is_empty() {
            return;
        }
        let touched: Vec<_> = self.host.done.iter().map(|done| self.touched_by(done)).collect();
        for pair in &pairs {
            let is_alone = !pairs.iter().any(|other| {
                !std::ptr::eq(other, pair) && other.names.iter().any(|name| pair.has(name))
            });
            let [first, second] = self.read_and_written(pair, &touched);
            let mut orders = [(first, second), (second, first)].into_iter();
            let halves = orders.find(|(read, written)| {
                is_alone && self.are_exchanged_behind_launches(pair, read, written, &touched)
            });
            let is_kept = self.is_kept(pair);
            self.halves.extend(halves.map(|(read, written)| (written, read)));
            if is_kept {
                self.shared.extend(pair.names);
            }
        }
    }

    /// The pointer by whose name the array is called that one stands for: of halves the one that is read.
    pub(in crate::scene::draft) fn read_of(&self, pointer: &'s str) -> &'s str {
        self.halves.get(pointer).copied().unwrap_or(pointer)
    }

    /// The pairs that change places more than once: what does so once has another name behind that.
    fn exchanged(&self) -> Vec<Pair<'s>> {
        let mut pairs: Vec<Pair<'s>> = Vec::new();
        for (index, done) in self.host.done.iter().enumerate() {
            let Some(names) = self.pair_of(done) else { continue };
            match pairs.iter_mut().find(|pair| names.iter().all(|name| pair.has(name))) {
                Some(pair) => pair.swaps.push(index),
                None => pairs.push(Pair { names, swaps: vec![index] }),
            }
        }
        pairs
    }

    /// The pointers that change places in what is done, where that is more than once.
    pub(in crate::scene::draft) fn pair_of(&self, done: &Done) -> Option<[&'s str; 2]> {
        let host: &'a Host<'s> = self.host;
        let Act::Swap(swap) = done.act else { return None };
        let (first, second, at) = host.swaps[swap];
        let place = host.place_of(done);
        let names =
            [first, second].map(|name| host.surely(|host| host.pointer_of(name, &place).0).0);
        (host.repeated.contains(&at) && names[0] != names[1]).then_some(names)
    }

    /// The pointers whose memory or whose variables something that is done has to do with.
    fn touched_by(&self, done: &Done) -> Vec<&'s str> {
        let host: &'a Host<'s> = self.host;
        let (mut touched, _) = self.uses_in(done);
        let place = host.place_of(done);
        let own = |name| host.surely(|host| host.pointer_of(name, &place).0).0;
        match done.act {
            Act::Transfer(transfer) => touched.extend(host.transfers[transfer].to.map(own)),
            Act::Fill(fill) => touched.extend(host.pointers_in(&host.filling[fill], &place)),
            Act::Launch(_) | Act::Swap(_) | Act::Allocation(_) => {}
            Act::Write(_) | Act::Symbol(_) | Act::Untold(_) => {}
        }
        touched
    }

    /// The pointer of a pair that is read before the two change places, and the one that is written to.
    fn read_and_written(&self, pair: &Pair<'s>, touched: &[Vec<&'s str>]) -> [&'s str; 2] {
        let host: &'a Host<'s> = self.host;
        let [first, second] = pair.names;
        let launched = |index: &usize| {
            let before =
                (0..*index).rev().find(|at| touched[*at].iter().any(|name| pair.has(name)))?;
            let Act::Launch(launch) = host.done[before].act else { return None };
            let (launch, place) = (&host.launches[launch], host.place_of(&host.done[before]));
            let kernel = self.kernel_launched(launch, &place, &launch.kernel)?;
            Some((launch, place, kernel))
        };
        let launches: Vec<(&Launch, Place<'a, 's>, Signature)> =
            pair.swaps.iter().filter_map(launched).collect();
        let is_given = |span: &Span, place: &Place<'a, 's>, wanted: &str| {
            host.base(span).is_some_and(|word| host.pointer_of(word, place).0 == wanted)
                || host.members_in(span, place).contains(&wanted)
        };
        // One that reads the one and writes the other tells it best.
        let told = launches.iter().find_map(|(launch, place, kernel)| {
            let reads = |wanted: &str| {
                let mut pairs = kernel.parameters.iter().zip(&launch.arguments);
                let (parameter, _) = pairs.find(|(_, span)| is_given(span, place, wanted))?;
                let constant = matches!(parameter.ctype, CType::Pointer { constant: true, .. });
                Some(constant || !host.may_write(&kernel.name, &parameter.name))
            };
            match (reads(first)?, reads(second)?) {
                (true, false) => Some([first, second]),
                (false, true) => Some([second, first]),
                (true, true) | (false, false) => None,
            }
        });
        let reads_second = || {
            launches.iter().any(|(launch, place, kernel)| {
                kernel.parameters.iter().zip(&launch.arguments).any(|(parameter, span)| {
                    matches!(parameter.ctype, CType::Pointer { constant: true, .. })
                        && is_given(span, place, second)
                })
            })
        };
        told.unwrap_or_else(|| if reads_second() { [second, first] } else { [first, second] })
    }

    /// Whether a manifest's halves change places when the two pointers do: behind each launch that takes `written`, and
    /// never else, with nothing between that takes either.
    fn are_exchanged_behind_launches(
        &self,
        pair: &Pair<'s>,
        read: &str,
        written: &str,
        touched: &[Vec<&'s str>],
    ) -> bool {
        let host = self.host;
        let takes = |index: usize, name: &str| touched[index].contains(&name);
        let mut touching =
            (0..host.done.len()).filter(|index| takes(*index, read) || takes(*index, written));
        while let Some(index) = touching.next() {
            let is_launch = matches!(host.done[index].act, Act::Launch(_));
            if is_launch && takes(index, written) {
                let next = touching.next().filter(|next| pair.swaps.contains(next));
                let is_next = |next| host.are_done_together(&host.done[index], &host.done[next]);
                if !next.is_some_and(is_next) {
                    return false;
                }
            } else if pair.swaps.contains(&index) {
                return false;
            }
        }
        true
    }

    /// Whether something else still has a pointer of a pair that changes places.
    fn is_kept(&self, pair: &Pair<'s>) -> bool {
        let host: &'a Host<'s> = self.host;
        let holders = |index: &usize| {
            let done = &host.done[*index];
            let Act::Swap(swap) = done.act else { return None };
            host.holders_of(swap, done)
        };
        let all: Option<Vec<[Holder<'a, 's>; 2]>> = pair.swaps.iter().map(holders).collect();
        let all = all.unwrap_or_default();
        let (Some((own, others)), Some(first)) = (all.split_first(), pair.swaps.first()) else {
            return true;
        };
        let is_same = |other: &[Holder<'a, 's>; 2]| other.iter().all(|holder| own.contains(holder));
        if !others.iter().all(is_same) || own.iter().any(|holder| host.is_renewed(holder)) {
            return true;
        }
        let around: Vec<Span> =
            pair.swaps.iter().flat_map(|index| self.loops_of(&host.done[*index])).collect();
        let is_other = |name: &'s str, place: &Place<'a, 's>| {
            if !pair.has(host.surely(|host| host.pointer_of(name, place).0).0) {
                return false;
            }
            let Some((holder, copied)) = host.origin(name, place, own) else { return true };
            let is_within = |index: &usize| {
                let levels = host.place_of(&host.done[*index]).levels().collect::<Vec<_>>();
                copied.iter().any(|call| {
                    levels
                        .iter()
                        .any(|level| level.call.as_ref().is_some_and(|own| Rc::ptr_eq(own, call)))
                })
            };
            !own.contains(&holder) || pair.swaps.iter().any(is_within)
        };
        host.done.iter().enumerate().any(|(index, done)| {
            let place = host.place_of(done);
            let is_behind = index > *first
                || place.levels().any(|level| around.iter().any(|span| span.contains(&level.at)));
            is_behind && self.named_by(done).into_iter().any(|name| is_other(name, &place))
        })
    }

    /// The loops around something that is done, and around the calls that led there.
    fn loops_of(&self, done: &Done) -> Vec<Span> {
        let levels = self.host.place_of(done).levels().collect::<Vec<_>>();
        let bodies = levels.iter().flat_map(|level| {
            self.host.regions.around(level.at).filter_map(|(_, region)| region.repeated())
        });
        bodies.collect()
    }

    /// The words that stand for memory in what is done.
    fn named_by(&self, done: &Done) -> Vec<&'s str> {
        let host: &'a Host<'s> = self.host;
        let words = |spans: &[Span]| -> Vec<&'s str> {
            let tokens = spans.iter().flat_map(|span| host.tokens(span));
            let words = tokens.filter(|token| token.is_word()).map(|token| token.text);
            words.filter(|word| host.visible(word, done.at).is_some()).collect()
        };
        match done.act {
            Act::Launch(launch) => words(&host.launches[launch].arguments),
            Act::Transfer(transfer) => words(std::slice::from_ref(&host.transfers[transfer].call)),
            Act::Untold(call) => words(std::slice::from_ref(&host.untold[call].call)),
            Act::Fill(fill) => words(std::slice::from_ref(&host.filling[fill])),
            Act::Swap(_) | Act::Allocation(_) | Act::Write(_) | Act::Symbol(_) => Vec::new(),
        }
    }

    /// Writes what lets two pointers change places, unless halves do so by themselves: the contents of their arrays do,
    /// by a third.
    pub(in crate::scene::draft) fn exchange(&mut self, mut spot: Spot<'_, 'a, 's>) {
        let place = &spot.place.clone();
        let host: &'a Host<'s> = self.host;
        let done = &host.done[spot.index];
        let Some([first, second]) = self.pair_of(done) else { return };
        let are_halves = [(first, second), (second, first)]
            .iter()
            .any(|(one, other)| self.halves.get(one) == Some(other));
        let is_taken = || {
            let mut touched = host.done.iter().flat_map(|done| match done.act {
                Act::Swap(_) => Vec::new(),
                Act::Launch(_) | Act::Transfer(_) | Act::Fill(_) | Act::Allocation(_) => {
                    self.touched_by(done)
                }
                Act::Write(_) | Act::Symbol(_) | Act::Untold(_) => self.touched_by(done),
            });
            touched.any(|name| [first, second].contains(&name))
        };
        if are_halves || !is_taken() {
            return;
        }
        let Act::Swap(swap) = done.act else { return };
        let (one, other, _) = host.swaps[swap];
        let what = format!("swap({one}, {other})");
        let Some(when) = self.when(&what, place) else { return };
        let (arrays, is_sure) = self.surely(|draft| {
            let arrays = (draft.known_array(first, place)?, draft.known_array(second, place)?);
            draft.are_alike(&arrays.0, &arrays.1).then_some(arrays)
        });
        let Some((one, other)) = arrays.filter(|_| is_sure) else {
            self.remark(format!("{FILL_IN}: `{what}` is made, which nothing here does"));
            return;
        };
        self.open_groups(&mut spot);
        let third = self.spare(&one);
        self.write_untold(None);
        let _ = writeln!(self.passes, "\n# {}", one_line(&what));
        self.alike.push([one.clone(), other.clone(), third.clone()]);
        for (from, to) in [(&one, &third), (&other, &one), (&third, &other)] {
            let text = format!("{{ from = {}, to = {} }}", quoted_text(from), quoted_text(to));
            let mut keys = when.clone();
            keys.extend(self.clears(spot.index));
            keys.push(("copy", Guess::known(text)));
            self.table(&header(spot.depth()), None, spot.on(), &keys);
        }
    }

    /// An array that holds what one has while it changes places with another.
    fn spare(&mut self, array: &str) -> String {
        if let Some(known) = self.spares.iter().find(|spare| self.are_alike(spare, array)) {
            return known.clone();
        }
        let Some(place) = self.places.get(array).copied() else { return array.to_owned() };
        let (element, count) = (self.arrays[place].element.clone(), self.arrays[place].count);
        let name = self.array(&format!("{array}_swap"), &element, count, false);
        self.spares.push(name.clone());
        name
    }

    /// Arrays whose contents change places have as many elements, also where only launches say how many.
    pub(in crate::scene::draft) fn match_threads(&mut self) {
        for names in &self.alike {
            let places: Vec<usize> =
                names.iter().filter_map(|name| self.places.get(name).copied()).collect();
            let most = places.iter().map(|place| self.arrays[*place].threads).max().unwrap_or(0);
            for place in places {
                self.arrays[place].threads = most;
            }
        }
    }
}
