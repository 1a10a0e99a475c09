//! The variables of the device in a drafted manifest.

use super::{Draft, FILL_IN};
use crate::{
    element::Element,
    scene::draft::{
        expression::cpp_number::{Number, Type},
        fills::Elements,
        host::Host,
        values::place::Place,
    },
};

impl<'a, 's> Draft<'a, 's> {
    /// Takes over what the host copies to variables of the device, where that is known numbers, and says so of what it
    /// does besides.
    pub(in crate::scene::draft) fn symbols(&mut self) {
        let host: &'a Host<'s> = self.host;
        for (symbol, from, call) in &host.symbols {
            let text = host.text(symbol);
            let name = text.trim_start_matches('&');
            let place = Place::of(from.start);
            let (numbers, is_sure) = host.surely(|host| host.numbers_at(from, &place));
            let of = host.type_of_symbol(name);
            let is_whole = of.is_some_and(|(element, count)| {
                let named = element.to_string();
                let of = Elements { pointer: name, element: &named, count, is_sure: true };
                host.copies_all(call, &of)
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
            match found.filter(|_| !is_taken) {
                Some(found) => _ = self.variables.insert(name.to_owned(), found),
                None => {
                    let call = host.text(call);
                    self.remark(format!("{FILL_IN}: `{call}` is made, which nothing here does"));
                }
            }
        }
    }
}

/// A number as one of this type, as a manifest has it.
fn written(number: Number, element: Element) -> String {
    let of = Type::of_element(element);
    of.and_then(|of| number.to(of)).unwrap_or(number).written()
}
