//! The variables of the device in a drafted manifest.

use super::{Draft, FILL_IN};
use crate::{
    cuda::lexer::Tokens,
    element::Element,
    scene::draft::{
        expression::cpp_number::{Number, Type},
        fills::Elements,
        host::{
            Host,
            done::{Act, Done},
            place::Place,
        },
        values::conditions::When,
    },
};

impl<'a, 's> Draft<'a, 's> {
    /// Takes over what the host copies to variables of the device, where that is known numbers, and says so of what it
    /// does besides.
    pub(in crate::scene::draft) fn symbols(&mut self) {
        let host: &'a Host<'s> = self.host;
        for (index, (symbol, from, call)) in host.symbols.iter().enumerate() {
            let text = host.text(symbol);
            let name = text.trim_start_matches('&');
            let place = Place::of(from.start);
            let (numbers, is_sure) = host.surely(|host| host.numbers_at(from, &place));
            let of = host.type_of_symbol(name);
            let is_whole = of.is_some_and(|(element, count)| {
                let named = element.to_string();
                let of = Elements { pointer: name, element: &named, count, is_sure: true };
                host.copies_all(call, &of) && host.is_source_of(from, &place, &of)
            });
            let listed = numbers.filter(|_| is_sure && is_whole).and_then(|numbers| {
                let (element, _) = of.filter(|(_, count)| *count == numbers.len() as u64)?;
                let list: Vec<String> = numbers.iter().map(|n| written(*n, element)).collect();
                Some((element, format!("value = [{}]", list.join(", "))))
            });
            let found = listed.or_else(|| {
                let (element, count) = of?;
                let named = element.to_string();
                let of = Elements { pointer: name, element: &named, count, is_sure: true };
                let contents = host.contents(&of, host.structures)?;
                let mark = if contents.is_known && is_whole {
                    String::new()
                } else {
                    format!(" # {FILL_IN}: its numbers")
                };
                Some((element, format!("{}{mark}", contents.key)))
            });
            let is_taken = found.as_ref().is_some_and(|_| self.variables.contains_key(name));
            match found.filter(|_| !is_taken && self.is_at_start_of_all(index)) {
                Some(found) => _ = self.variables.insert(name.to_owned(), found),
                None => {
                    let call = host.text(call);
                    self.remark(format!("{FILL_IN}: `{call}` is made, which nothing here does"));
                }
            }
        }
    }

    /// Whether a copy to a variable is made before any launch may take that: what a variable has at the start.
    fn is_at_start_of_all(&self, symbol: usize) -> bool {
        let host: &'a Host<'s> = self.host;
        let Some(name) = host.symbols[symbol].0.clone().find(|at| host.code.is_word_at(*at)) else {
            return false;
        };
        let name = host.text_at(name);
        let takers = host.takers_of_symbol(name);
        let takes = |done: &Done| match done.act {
            Act::Launch(launch) => {
                let kernel = host.launches[launch].kernel.split('<').next().unwrap_or_default();
                let kernel = kernel.rsplit("::").next().unwrap_or_default();
                takers.as_ref().is_none_or(|takers| takers.contains(kernel))
            }
            Act::Transfer(_) | Act::Swap(_) | Act::Allocation(_) | Act::Fill(_) => false,
            Act::Write(_) | Act::Symbol(_) | Act::Untold(_) => false,
        };
        let is_constant = host.is_constant_symbol(name);
        let mut made = host.done.iter().enumerate();
        made.all(|(index, done)| {
            if done.act != Act::Symbol(symbol) {
                return true;
            }
            let place = host.place_of(done);
            let (when, is_sure) = host.surely(|host| host.when(&place));
            // In another round it would be set anew.
            let is_again = |other: &Done| {
                let levels = host.place_of(other).levels().map(|level| level.at);
                let others: Vec<usize> = levels.collect();
                place.levels().any(|level| {
                    let around = host.regions.around(level.at);
                    let mut rounds = around.filter_map(|(_, region)| region.repeated());
                    rounds.any(|round| {
                        round.contains(&level.at) && others.iter().any(|at| round.contains(at))
                    })
                })
            };
            let is_late = host.done[..index].iter().any(takes)
                || !is_constant && host.done[index..].iter().any(|own| takes(own) && is_again(own));
            is_sure && matches!(when, When::Always) && !is_late
        })
    }
}

/// A number as one of this type, as a manifest has it.
fn written(number: Number, element: Element) -> String {
    let of = Type::of_element(element);
    of.and_then(|of| number.to(of)).unwrap_or(number).written()
}
