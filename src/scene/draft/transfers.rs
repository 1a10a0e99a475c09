//! What host code copies on the device, and what it sets to bytes that are all the same.

use super::{
    Draft, FILL_IN,
    arrays::of_bytes,
    evaluator::Place,
    guess::Guess,
    host::{Launch, Transfer, Transferred},
    number::Type,
    regions::Kind,
    text::quoted_text,
    trace::Act,
};

impl<'a, 's> Draft<'a, 's> {
    /// What the host fills with zeros between a launch and the one before it, wherever the launch is made.
    pub(super) fn clears(
        &mut self,
        launch: &Launch,
        place: &Place<'_, 's>,
    ) -> Option<(&'static str, Guess)> {
        let (mut names, mut parts) = (Vec::new(), Vec::new());
        for transfer in &self.host.transfers {
            if !self.is_cleared_by(transfer, launch) {
                continue;
            }
            let Some(pointer) = transfer.to else { continue };
            let Some(name) = self.known_array(pointer, place) else { continue };
            if !self.is_whole(transfer, pointer, place) {
                parts.push(self.host.text(&transfer.call));
            }
            names.push(quoted_text(&name));
        }
        let text = format!("[{}]", names.join(", "));
        (!names.is_empty())
            .then(|| ("clear", Guess::of((text, parts.is_empty()), &parts.join(", "))))
    }

    /// Whether what a transfer does is done by the `clear` of a launch.
    fn is_cleared_by(&self, transfer: &Transfer<'_>, launch: &Launch) -> bool {
        let at = transfer.call.start;
        let is_next = self.host.launches.iter().find(|other| other.at > at);
        is_next.is_some_and(|next| next.at == launch.at)
            && self.byte(transfer) == Some(0)
            && self.control(at) == self.control(launch.at)
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

    /// Whether a transfer is made once, before any launch takes what it is made to.
    fn is_at_start(&self, transfer: &Transfer<'_>) -> bool {
        let at = transfer.call.start;
        let takes = |launch: &Launch| {
            launch.arguments.iter().any(|span| {
                let words = self.host.tokens(span).iter();
                words.clone().any(|word| Some(word.text) == transfer.to)
            })
        };
        let is_function = |kind: &Kind| matches!(kind, Kind::Function { .. });
        let mut around = self.host.regions.around(at).map(|(_, region)| &region.kind);
        around.all(|kind| is_function(kind) || *kind == Kind::Block)
            && !self.host.launches.iter().any(|launch| launch.at < at && takes(launch))
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
            let is_taken = |launch| self.is_cleared_by(transfer, launch);
            if matches!(transfer.what, Transferred::From(_)) || host.launches.iter().any(is_taken) {
                continue;
            }
            let is_zero = self.byte(transfer) == Some(0) && self.is_at_start(transfer);
            let is_unused =
                || {
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

    /// The half that a pointer is written to for.
    fn read(&self, pointer: &'s str) -> &'s str {
        self.halves.get(pointer).copied().unwrap_or(pointer)
    }

    /// `cudaMemset` before all launches as what the array has at the start; `None` where no manifest says it.
    fn set_at_start(&mut self, transfer: &Transfer<'s>, place: &Place<'_, 's>) -> Option<()> {
        let pointer = transfer.to.filter(|_| self.is_at_start(transfer))?;
        let (pointer, _) = self.host.pointer_of(pointer, place);
        let byte = self.byte(transfer)?;
        let is_half = self.halves.iter().any(|(half, read)| [*half, *read].contains(&pointer));
        let is_alone = !is_half && !self.host.fills(pointer) && self.is_whole(transfer, pointer, place);
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
        let ends = transfer.to.zip(from).and_then(|(to, from)| {
            let is_whole =
                self.is_whole(transfer, to, place) && self.is_whole(transfer, from, place);
            let (to_name, from_name) =
                (self.known_array(to, place)?, self.known_array(from, place)?);
            (is_whole && self.are_alike(&to_name, &from_name)).then_some((from_name, to_name))
        });
        let Some((from, to)) = ends else {
            self.remark(format!("{FILL_IN}: `{call}` copies what no pass here does"));
            return;
        };
        self.open_groups(place, on, skipped, open);
        let text = format!("{{ from = {}, to = {} }}", quoted_text(&from), quoted_text(&to));
        let mut keys = when;
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
