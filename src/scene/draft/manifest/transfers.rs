//! What host code copies on the device, and what it sets to bytes that are all the same.

use super::{Draft, FILL_IN, arrays::of_bytes, guess::Guess, header, spot::Spot};
use crate::scene::draft::{
    expression::{cpp_number::Type, text::quoted_text},
    host::{
        Host,
        done::Act,
        place::Place,
        transfer::{Transfer, Transferred},
    },
    values::conditions::When,
};

/// What is set is so by something that is done among so many things behind it.
const MOST_BETWEEN: usize = 200;

impl Transfer<'_> {
    /// Whether it is one from device to device.
    const fn is_copy(&self) -> bool {
        matches!(self.what, Transferred::From(_))
    }
}

impl<'a, 's> Draft<'a, 's> {
    /// What the host fills with zeros before the launch or the copy that is done at `next`, and that no other takes
    /// until then.
    pub(in crate::scene::draft) fn clears(&mut self, next: usize) -> Option<(&'static str, Guess)> {
        let (mut names, mut parts) = (Vec::new(), Vec::new());
        let host: &'a Host<'s> = self.host;
        for index in next.saturating_sub(MOST_BETWEEN)..next {
            let Act::Transfer(transfer) = host.done[index].act else { continue };
            let transfer = &host.transfers[transfer];
            let place = host.place_of(&host.done[index]);
            let Some(pointer) = transfer.to else { continue };
            if self.cleared.contains(&index) || !self.is_cleared_by(index, next) {
                continue;
            }
            let (name, is_sure) = self.surely(|draft| draft.known_array(pointer, &place));
            let Some(name) = name else { continue };
            if !is_sure || !self.is_whole(transfer, pointer, &place) {
                parts.push(host.text(&transfer.call));
            }
            names.push(quoted_text(&name));
            self.cleared.insert(index);
        }
        let text = format!("[{}]", names.join(", "));
        (!names.is_empty())
            .then(|| ("clear", Guess::of((text, parts.is_empty()), &parts.join(", "))))
    }

    /// What `find` finds, and whether it is sure.
    pub(in crate::scene::draft) fn surely<T>(
        &mut self,
        find: impl FnOnce(&mut Self) -> T,
    ) -> (T, bool) {
        let host = self.host;
        host.surely(|_| find(self))
    }

    /// The pointer that memory was allocated for which is set at `index`.
    fn set_pointer(&self, index: usize) -> Option<&'s str> {
        let done = self.host.done.get(index)?;
        let Act::Transfer(transfer) = done.act else { return None };
        let to = self.host.transfers[transfer].to?;
        Some(self.host.surely(|host| host.pointer_of(to, &host.place_of(done)).0).0)
    }

    /// Whether what is set at `index` is so by the `clear` of the launch or the copy at `next`: that runs whenever this
    /// is done, and nothing takes it before.
    fn is_cleared_by(&self, index: usize, next: usize) -> bool {
        let host = self.host;
        let (done, taker) = (&host.done[index], &host.done[next]);
        let Act::Transfer(transfer) = done.act else { return false };
        let control = |done| host.control(&host.place_of(done));
        self.byte(&host.transfers[transfer]) == Some(0)
            && control(done) == control(taker)
            && self.set_pointer(index).is_some_and(|to| !self.uses.take(index + 1..next, to))
            && !self.is_at_start(index)
    }

    /// What each byte is set to, where that is sure.
    fn byte(&self, transfer: &Transfer<'_>) -> Option<u8> {
        let Transferred::Bytes(value) = &transfer.what else { return None };
        let (number, is_sure) = self.host.surely(|host| host.number(value)?.to(Type::UnsignedChar));
        number.filter(|_| is_sure)?.whole().and_then(|value| u8::try_from(value).ok())
    }

    /// Whether what is set at `index` is so before any launch or copy takes it.
    fn is_first(&self, index: usize) -> bool {
        let place = self.host.place_of(&self.host.done[index]);
        self.host.control(&place).is_empty()
            && self.set_pointer(index).is_some_and(|to| !self.uses.take(0..index, to))
    }

    /// Whether that is all that there is of it: it is not set again in each step.
    fn is_at_start(&self, index: usize) -> bool {
        let is_once = |to: &str| match self.host.fills(to) {
            true => !self.is_filled_before(index, to),
            false => !self.uses.changes(index, to),
        };
        self.is_first(index) && self.set_pointer(index).is_some_and(is_once)
    }

    /// Whether the host fills what a pointer has before what is done at `index`.
    fn is_filled_before(&self, index: usize, pointer: &str) -> bool {
        let host = self.host;
        host.done[..index].iter().any(|done| match done.act {
            Act::Fill(place) => {
                let mut names = host.tokens(&host.filling[place]).iter();
                let name = names.find(|token| token.is_word());
                name.is_some_and(|name| {
                    let own = |host: &Host<'s>| host.pointer_of(name.text, &host.place_of(done)).0;
                    host.surely(own).0 == pointer
                })
            }
            Act::Launch(_) | Act::Transfer(_) | Act::Swap(_) | Act::Allocation(_) => false,
            Act::Write(_) | Act::Symbol(_) | Act::Untold(_) => false,
        })
    }

    /// Whether a transfer is made to all of what was allocated for a pointer.
    fn is_whole(&self, transfer: &Transfer<'_>, pointer: &'s str, place: &Place<'_, 's>) -> bool {
        let (pointer, _) = self.host.pointer_of(pointer, place);
        let Some(allocated) = self.host.allocation(pointer) else { return false };
        let (same, is_sure) = self.host.surely(|host| {
            let all = host.bytes_allocated(allocated);
            all.is_some_and(|all| host.integer(&transfer.bytes, place.call.as_ref()) == Some(all))
        });
        same && is_sure || self.host.text(&allocated.bytes) == self.host.text(&transfer.bytes)
    }

    /// Takes over what arrays are set to at the start, and says so of what no launch clears.
    pub(in crate::scene::draft) fn starts(&mut self) {
        let host: &'a _ = self.host;
        for (index, done) in host.done.iter().enumerate() {
            let Act::Transfer(transfer) = done.act else { continue };
            let (transfer, place) = (&host.transfers[transfer], host.place_of(done));
            if transfer.is_copy()
                || self.cleared.contains(&index)
                || matches!(host.when(&place), When::Never(_))
            {
                continue;
            }
            let is_zero = self.byte(transfer) == Some(0);
            let is_unused = || {
                let to = transfer.to.map(|to| host.pointer_of(to, &place).0);
                to.is_some_and(|to| self.names.array(self.read_of(to)).is_none())
            };
            if is_unused() {
                continue;
            }
            let is_set = match is_zero {
                true => self.is_first(index),
                false => self.set_at_start(index, transfer, &place).is_some(),
            };
            let call = host.text(&transfer.call);
            if !is_set {
                self.remark(format!("{FILL_IN}: `{call}` is made, which nothing here does"));
            } else if !self.is_at_start(index) {
                self.remark(format!("{FILL_IN}: `{call}` is made once here, not in each step"));
            }
        }
    }

    /// `cudaMemset` before all launches as what the array has at the start; `None` where no manifest says it.
    fn set_at_start(
        &mut self,
        index: usize,
        transfer: &Transfer<'s>,
        place: &Place<'_, 's>,
    ) -> Option<()> {
        let pointer = transfer.to.filter(|_| self.is_first(index))?;
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
    pub(in crate::scene::draft) fn copy(&mut self, mut spot: Spot<'_, 'a, 's>) {
        let place = &spot.place.clone();
        let Act::Transfer(transfer) = self.host.done[spot.index].act else { return };
        let transfer = &self.host.transfers[transfer];
        let Transferred::From(from) = transfer.what else { return };
        let call = self.host.text(&transfer.call);
        let Some(when) = self.when(&call, place) else { return };
        let (ends, is_sure) = self.surely(|draft| {
            let (to, from) = transfer.to.zip(from)?;
            let is_whole =
                draft.is_whole(transfer, to, place) && draft.is_whole(transfer, from, place);
            let (to_name, from_name) =
                (draft.known_array(to, place)?, draft.known_array(from, place)?);
            let are_there =
                draft.is_there(to, &to_name, place) && draft.is_there(from, &from_name, place);
            let are_alike = draft.are_alike(&to_name, &from_name);
            (is_whole && are_there && are_alike).then_some((from_name, to_name))
        });
        let Some((from, to)) = ends.filter(|_| is_sure) else {
            self.remark(format!("{FILL_IN}: `{call}` copies what no pass here does"));
            return;
        };
        self.open_groups(&mut spot);
        let text = format!("{{ from = {}, to = {} }}", quoted_text(&from), quoted_text(&to));
        let mut keys = when;
        keys.extend(self.clears(spot.index));
        keys.push(("copy", Guess::known(text)));
        self.table(&header(spot.depth()), None, spot.on(), &keys);
    }

    /// Whether an array is one of the manifest's: a half alone that no launch takes is none.
    fn is_there(&self, pointer: &'s str, name: &str, place: &Place<'_, 's>) -> bool {
        let host = self.host;
        let base = name.strip_suffix("_next").filter(|_| !self.places.contains_key(name));
        let array = base.and_then(|base| self.places.get(base)).map(|place| &self.arrays[*place]);
        let own = host.pointer_of(pointer, place).0;
        array.is_none_or(|array| array.double)
            || host.launched().any(|(launch, at)| {
                let mut words = launch.arguments.iter().filter_map(|span| host.base(span));
                words.any(|word| host.pointer_of(word, &at).0 == own)
            })
    }

    /// Whether two arrays, or halves of them, have as many elements of one type.
    pub(in crate::scene::draft) fn are_alike(&self, one: &str, other: &str) -> bool {
        let of = |name: &str| {
            let place =
                self.places.get(name).or_else(|| self.places.get(name.strip_suffix("_next")?));
            place.map(|place| &self.arrays[*place])
        };
        let alike = of(one).zip(of(other));
        one != other && alike.is_some_and(|(a, b)| a.element == b.element && a.count == b.count)
    }
}
