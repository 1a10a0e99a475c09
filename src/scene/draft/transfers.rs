//! What host code copies on the device, and what it sets to bytes that are all the same.

use super::{
    Draft, FILL_IN,
    arrays::of_bytes,
    conditions::When,
    evaluator::Place,
    guess::Guess,
    host::{Host, LONGEST, Launch, Span, Transfer, Transferred},
    number::Type,
    pointers::without_casts,
    regions::Kind,
    text::quoted_text,
    trace::Act,
    variables::Value,
};
use crate::element::Element;

impl Transfer<'_> {
    /// Whether it is one from device to device.
    const fn is_copy(&self) -> bool {
        matches!(self.what, Transferred::From(_))
    }
}

impl Host<'_> {
    /// The numbers of an array of the host that is nothing but a list of them, as a manifest has them.
    fn list_of_numbers(&self, from: &Span) -> Option<(String, usize)> {
        let inner = without_casts(&self.code, from.clone());
        let name = self.word(&inner)?;
        let id = self.visible(name, from.start)?;
        let (set, is_sure) = self.surely(|_| self.set_to(id, from.start));
        let Value::List(parts) = &set.filter(|_| is_sure)?.value else { return None };
        let number = |part: &Span| match self.surely(|host| host.number(part)) {
            (Some(number), true) => Some(number.written()),
            (Some(_) | None, _) => None,
        };
        let numbers: Vec<String> = parts.iter().take(LONGEST).map(number).collect::<Option<_>>()?;
        let list = format!("[{}]", numbers.join(", "));
        (!numbers.is_empty()).then_some((list, numbers.len()))
    }

    /// The type of the numbers of `__constant__ float name[4]`, where it is one axis of so many.
    fn type_of_symbol(&self, name: &str, count: usize) -> Option<Element> {
        let is_it = |at: &usize| {
            let start = at.saturating_sub(4);
            self.code[*at].text == name
                && (start..*at).any(|at| matches!(self.text_at(at), "__constant__" | "__device__"))
        };
        let at = (0..self.code.len()).find(is_it)?;
        let end = (at + 2..at + 9).find(|end| self.text_at(*end) == "]")?;
        let is_one_axis = self.text_at(at + 1) == "[" && self.text_at(end + 1) != "[";
        let (size, is_sure) = self.surely(|host| host.integer(&(at + 2..end), None));
        let is_full = is_sure && size.and_then(|size| usize::try_from(size).ok()) == Some(count);
        let element = Element::parse(self.text_at(at.checked_sub(1)?))?;
        (element.lanes == 1 && is_one_axis && is_full).then_some(element)
    }
}

impl<'a, 's> Draft<'a, 's> {
    /// What the host fills with zeros between a launch or a copy that stands at a place and the one before it, wherever
    /// that is made.
    pub(super) fn clears(&mut self, place: &Place<'_, 's>) -> Option<(&'static str, Guess)> {
        let (mut names, mut parts) = (Vec::new(), Vec::new());
        for transfer in &self.host.transfers {
            if !self.is_cleared_by(transfer, place.at) {
                continue;
            }
            let Some(pointer) = transfer.to else { continue };
            let (name, is_sure) = self.surely(|draft| draft.known_array(pointer, place));
            let Some(name) = name else { continue };
            if !is_sure || !self.is_whole(transfer, pointer, place) {
                parts.push(self.host.text(&transfer.call));
            }
            names.push(quoted_text(&name));
            self.cleared.insert(transfer.call.start);
        }
        let text = format!("[{}]", names.join(", "));
        (!names.is_empty())
            .then(|| ("clear", Guess::of((text, parts.is_empty()), &parts.join(", "))))
    }

    /// What `find` finds, and whether it is sure.
    fn surely<T>(&mut self, find: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let host = self.host;
        host.surely(|_| find(self))
    }

    /// Whether what a transfer does is done by the `clear` of the launch or the copy at `next`: the first behind it.
    fn is_cleared_by(&self, transfer: &Transfer<'s>, next: usize) -> bool {
        let at = transfer.call.start;
        let is_between = |other: usize| (at + 1..next).contains(&other);
        let copies = self.host.transfers.iter().filter(|other| other.is_copy());
        next > at
            && !self.host.launches.iter().any(|other| is_between(other.at))
            && !copies.map(|other| other.call.start).any(is_between)
            && self.byte(transfer) == Some(0)
            && self.control(at) == self.control(next)
            && !self.is_at_start(transfer)
    }

    /// What each byte is set to, where that is sure.
    fn byte(&self, transfer: &Transfer<'_>) -> Option<u8> {
        let Transferred::Bytes(value) = &transfer.what else { return None };
        let (number, is_sure) = self.host.surely(|host| host.number(value)?.to(Type::UnsignedChar));
        number.filter(|_| is_sure)?.whole().and_then(|value| u8::try_from(value).ok())
    }

    /// The loops and branches around a place.
    fn control(&self, at: usize) -> Vec<usize> {
        let around = self.host.regions.around(at);
        let is_control = |kind: &Kind| !matches!(kind, Kind::Block);
        around.filter(|(_, region)| is_control(&region.kind)).map(|(place, _)| place).collect()
    }

    /// Whether a transfer is made once, before any launch or copy takes what it is made to.
    fn is_at_start(&self, transfer: &Transfer<'s>) -> bool {
        let (host, at) = (self.host, transfer.call.start);
        let own = |name, at| host.pointer_of(name, &Place::of(at)).0;
        let to = transfer.to.map(|to| own(to, at));
        let is_to = |name, at| Some(name) == transfer.to || Some(own(name, at)) == to;
        let takes = |launch: &Launch| {
            launch.arguments.iter().any(|span| {
                let words = host.tokens(span).iter();
                words.clone().any(|word| is_to(word.text, launch.at))
            })
        };
        let copies = |other: &Transfer<'s>| {
            other.is_copy() && other.to.is_some_and(|to| is_to(to, other.call.start))
        };
        let is_function = |kind: &Kind| matches!(kind, Kind::Function { .. });
        let mut around = host.regions.around(at).map(|(_, region)| &region.kind);
        around.all(|kind| is_function(kind) || *kind == Kind::Block)
            && !host.launches.iter().any(|launch| launch.at < at && takes(launch))
            && !host.transfers.iter().any(|other| other.call.start < at && copies(other))
    }

    /// Whether a transfer is made to all of what was allocated for a pointer.
    fn is_whole(&self, transfer: &Transfer<'_>, pointer: &'s str, place: &Place<'_, 's>) -> bool {
        let (pointer, _) = self.host.pointer_of(pointer, place);
        let Some(allocated) = self.host.allocation(pointer) else { return false };
        let (same, is_sure) = self.host.surely(|host| {
            let all = host.integer(&allocated.bytes, allocated.call.as_ref());
            all.is_some_and(|all| host.integer(&transfer.bytes, place.call.as_ref()) == Some(all))
        });
        same && is_sure || self.host.text(&allocated.bytes) == self.host.text(&transfer.bytes)
    }

    /// Takes over what arrays are set to at the start, and says so of what no launch clears.
    pub(super) fn starts(&mut self) {
        let host: &'a _ = self.host;
        for done in &host.done {
            let Act::Transfer(transfer) = done.act else { continue };
            let (transfer, place) = (&host.transfers[transfer], host.place_of(done));
            if transfer.is_copy()
                || self.cleared.contains(&transfer.call.start)
                || matches!(host.when(&place), When::Never(_))
            {
                continue;
            }
            let is_zero = self.byte(transfer) == Some(0) && self.is_at_start(transfer);
            let is_unused = || {
                let to = transfer.to.map(|to| host.pointer_of(to, &place).0);
                to.is_some_and(|to| self.names.array(self.read(to)).is_none())
            };
            if is_zero || is_unused() || self.set_at_start(transfer, &place).is_some() {
                continue;
            }
            let call = host.text(&transfer.call);
            self.remark(format!("{FILL_IN}: `{call}` is made, which nothing here does"));
        }
    }

    /// Takes over what the host copies to variables of the device, where that is a list of numbers, and says so of what
    /// it does besides.
    pub(super) fn symbols(&mut self) {
        let host: &'a _ = self.host;
        for (symbol, from, call) in &host.symbols {
            let text = host.text(symbol);
            let name = text.trim_start_matches('&');
            let list = host.list_of_numbers(from);
            let found =
                list.and_then(|(list, count)| Some((list, host.type_of_symbol(name, count)?)));
            let is_taken = found.as_ref().is_some_and(|_| self.variables.contains_key(name));
            match found.filter(|_| !is_taken) {
                Some((list, element)) => {
                    _ = self.variables.insert(name.to_owned(), (element, list))
                }
                None => {
                    let call = host.text(call);
                    self.remark(format!("{FILL_IN}: `{call}` is made, which nothing here does"));
                }
            }
        }
        for call in &host.untold {
            let call = host.text(call);
            self.remark(format!("{FILL_IN}: `{call}` is made, which nothing here does"));
        }
    }

    /// The half that a pointer is written to for.
    fn read(&self, pointer: &'s str) -> &'s str {
        self.halves.get(pointer).copied().unwrap_or(pointer)
    }

    /// `cudaMemset` before all launches as what the array has at the start; `None` where no manifest says it.
    fn set_at_start(&mut self, transfer: &Transfer<'s>, place: &Place<'_, 's>) -> Option<()> {
        let pointer = transfer.to.filter(|_| self.is_at_start(transfer))?;
        let host = self.host;
        let (pointer, is_sure) = host.surely(|host| host.pointer_of(pointer, place).0);
        let byte = self.byte(transfer).filter(|_| is_sure)?;
        let is_half = self.halves.iter().any(|(half, read)| [*half, *read].contains(&pointer));
        let is_alone =
            !is_half && !self.host.fills(pointer) && self.is_whole(transfer, pointer, place);
        let name = self.names.array(pointer).filter(|_| is_alone)?;
        let array = &mut self.arrays[*self.places.get(name)?];
        array.value = Some(of_bytes(&array.element, byte)?);
        Some(())
    }

    /// Writes a copy from device to device, with the groups that begin with it.
    pub(super) fn copy(
        &mut self,
        transfer: &Transfer<'s>,
        place: &Place<'a, 's>,
        on: &str,
        skipped: usize,
        open: &mut Vec<usize>,
    ) {
        let Transferred::From(from) = transfer.what else { return };
        let call = self.host.text(&transfer.call);
        let Some(when) = self.when(&call, place) else { return };
        let (ends, is_sure) = self.surely(|draft| {
            let (to, from) = transfer.to.zip(from)?;
            let is_whole =
                draft.is_whole(transfer, to, place) && draft.is_whole(transfer, from, place);
            let (to_name, from_name) =
                (draft.known_array(to, place)?, draft.known_array(from, place)?);
            (is_whole && draft.are_alike(&to_name, &from_name)).then_some((from_name, to_name))
        });
        let Some((from, to)) = ends.filter(|_| is_sure) else {
            self.remark(format!("{FILL_IN}: `{call}` copies what no pass here does"));
            return;
        };
        self.open_groups(place, on, skipped, open);
        let text = format!("{{ from = {}, to = {} }}", quoted_text(&from), quoted_text(&to));
        let mut keys = when;
        keys.extend(self.clears(place));
        keys.push(("copy", Guess::known(text)));
        let on = if place.loops.len() > skipped { "step" } else { on };
        self.table(&super::header(place.loops.len() - skipped), None, on, &keys);
    }

    /// Whether two arrays, or halves of them, have as many elements of one type.
    fn are_alike(&self, one: &str, other: &str) -> bool {
        let of = |name: &str| {
            let place =
                self.places.get(name).or_else(|| self.places.get(name.strip_suffix("_next")?));
            place.map(|place| &self.arrays[*place])
        };
        let alike = of(one).zip(of(other));
        one != other && alike.is_some_and(|(a, b)| a.element == b.element && a.count == b.count)
    }
}
