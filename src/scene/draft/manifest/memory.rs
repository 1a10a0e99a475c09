//! Of which type the array is whose memory launches take as that of several types: its elements are of one of them, and
//! the others are casts.

use std::collections::BTreeMap;

use super::{BYTES, Draft, arguments::Wanted};
use crate::{
    cuda::{CType, Pointee, lexer::Tokens},
    element::Element,
    scene::draft::{
        code::{Span, pointers::Offset},
        fills::types::element_named,
        host::place::Place,
    },
};

impl<'s> Draft<'_, 's> {
    /// The types of elements that launches take memory as, by its pointer.
    pub(in crate::scene::draft) fn types_taken(&self) -> BTreeMap<&'s str, Vec<String>> {
        let mut found = BTreeMap::<&str, Vec<String>>::new();
        for (launch, place) in self.host.launched() {
            let (instance, _) = self.host.surely(|_| self.instance(launch, &place));
            let stem = launch.kernel.split('<').next().unwrap_or_default();
            let name = format!("{stem}{instance}");
            let Some(kernel) = self.kernel_launched(launch, &place, &name) else { continue };
            for (parameter, span) in kernel.parameters.iter().zip(&launch.arguments) {
                let CType::Pointer { to, .. } = &parameter.ctype else { continue };
                if matches!(to, Pointee::Void) {
                    continue;
                }
                let (wanted, _) =
                    self.host.surely(|_| self.argument(&parameter.ctype, span, &place));
                let Wanted::Array { pointer, element, .. } = wanted else { continue };
                let read = self.read_of(pointer);
                let types = found.entry(read).or_default();
                if !types.contains(&element) {
                    types.push(element);
                }
            }
        }
        found
    }

    /// The type of the elements of the array that a pointer stands for which is called so at a place, where something
    /// takes it as one of `element`.
    pub(in crate::scene::draft) fn own_element(
        &self,
        pointer: &str,
        place: &Place<'_, 's>,
        element: &str,
    ) -> String {
        let read = self.read_of(pointer);
        let first = match self.taken.get(read).map(Vec::as_slice) {
            None | Some([]) => return element.to_owned(),
            Some([one]) if one == element => return element.to_owned(),
            Some([first, ..]) => first,
        };
        let declared = self.host.element_of_pointer(pointer, place);
        let named = declared.as_deref().and_then(|own| element_named(self.structures, own));
        match named {
            Some(named) => named,
            None if matches!(declared.as_deref(), Some("void") | None) => first.clone(),
            // What only a template's arguments say is another type in another call.
            None if element == BYTES => first.clone(),
            None => element.to_owned(),
        }
    }

    /// Whether a pointer has as many types as its template has instances, and some launch casts it to another.
    pub(in crate::scene::draft) fn has_types_of_instances(
        &self,
        pointer: &str,
        place: &Place<'_, 's>,
    ) -> bool {
        let read = self.read_of(pointer);
        let declared = self.host.element_of_pointer(pointer, place);
        let is_open = declared
            .is_some_and(|own| own != "void" && element_named(self.structures, &own).is_none());
        is_open && self.taken.get(read).is_some_and(|types| types.len() > 1)
    }

    /// What `name` points to in the `sum` that `span` is but for casts, as which it is counted on.
    pub(in crate::scene::draft) fn summand(
        &self,
        span: &Span,
        sum: &Span,
        place: &Place<'_, 's>,
    ) -> Option<String> {
        let host = self.host;
        let is_inside = host.code.text_before(sum.start) == "("
            && host.code.text_before(sum.start - 1) == ">"
            && sum.end < span.end;
        if sum == span || is_inside {
            let own = host.element_of_pointer(host.text_at(sum.start), place)?;
            return Some(element_named(self.structures, &own).unwrap_or(own));
        }
        // The first of casts that stand before the name.
        let close = span.clone().find(|at| host.text_at(*at) == ")")?;
        let is_cast = host.text_at(span.start) == "("
            && host.text_at(close - 1) == "*"
            && sum.end == span.end;
        let own = is_cast.then(|| host.text(&(span.start + 1..close - 1)))?;
        Some(element_named(self.structures, &own).unwrap_or(own))
    }

    /// Whether an offset is one of so many elements of this type.
    pub(in crate::scene::draft) fn is_at_element(&self, offset: &Offset, own: &str) -> bool {
        let Offset::Elements(_, of) = offset else { return true };
        let Some(of) = of else { return false };
        let bytes = |name: &str| Element::parse(name).map(Element::bytes);
        match (bytes(of), bytes(own)) {
            (Some(one), Some(other)) => one == other,
            // Of a template's parameter the kernel says which it is.
            (None, _) => of == own || element_named(self.structures, of).is_none(),
            (Some(_), None) => false,
        }
    }
}
