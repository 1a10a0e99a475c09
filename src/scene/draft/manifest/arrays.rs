//! The arrays and textures of a drafted manifest.

use std::fmt::Write as _;

use super::{BYTES, Draft, FILL_IN, SOME, elements};
use crate::{
    cuda::{CType, Pointee, Structures},
    element::Element,
    scene::{
        decode::MOST_RESOURCE_BYTES,
        draft::{
            code::Span,
            expression::{
                cpp_number::Number,
                text::{key, one_line},
            },
            fills::{Contents, Elements, sides::Rows, types::element_named},
            host::{Assumes, Host, allocation::Allocation, place::Place},
        },
    },
};

/// An array whose size the file does not say has at most so many elements, one for each thread.
const MOST_ASSUMED: u64 = 1 << 24;

pub(in crate::scene::draft) struct Array {
    pub(in crate::scene::draft) name: String,
    pub(in crate::scene::draft) element: String,
    pub(in crate::scene::draft) count: Option<u64>,
    /// What the number of elements was told by, where it is not sure.
    doubt: Option<String>,
    pub(in crate::scene::draft) double: bool,
    /// That something fills it: the host, or a call of a library.
    pub(in crate::scene::draft) filled: Option<String>,
    /// With which numbers, where that is said.
    contents: Option<Contents>,
    /// So many threads of one launch take it, at most.
    pub(in crate::scene::draft) threads: u64,
    /// How long its rows are, where it lies in such.
    pub(in crate::scene::draft) rows: Option<Rows>,
    /// What all its components are at the start.
    pub(in crate::scene::draft) value: Option<String>,
}

impl Array {
    /// Whether its elements may be places.
    pub(in crate::scene::draft) fn is_place(&self) -> bool {
        elements::is_place(&self.element)
    }

    /// Whether it begins with the numbers that the host has of a call.
    pub(in crate::scene::draft) fn begins_with(&self, call: &str) -> bool {
        self.contents
            .as_ref()
            .is_some_and(|contents| contents.is_known && contents.said == one_line(call))
    }

    /// Notes that a call of a library may be what fills it, where nothing else does.
    pub(in crate::scene::draft) fn is_filled_by(&mut self, call: &str) {
        if self.element != BYTES {
            self.filled.get_or_insert_with(|| format!("`{call}` may fill it"));
        }
    }

    pub(in crate::scene::draft) fn written(&self, structures: &Structures, least: u64) -> String {
        let Self { name, element, count, doubt, double, filled, contents, threads, rows: _, value } =
            self;
        let mut text = format!("\n[array.{name}]\ntype  = \"{element}\"\n");
        // The text shows no fields of a template's instance.
        if let Some((_, fields)) = structures.instance(element) {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, element)| format!("{} = \"{element}\"", key(name)))
                .collect();
            let _ = writeln!(text, "fields = {{ {} }}", fields.join(", "));
        }
        let doubt = doubt.as_ref().map(|what| format!(" # {FILL_IN}: {}", one_line(what)));
        match count {
            Some(count) => _ = writeln!(text, "count = {count}{}", doubt.unwrap_or_default()),
            None => {
                let count = (*threads).clamp(least, MOST_ASSUMED);
                let _ = writeln!(text, "count = {count} # {FILL_IN}: elements");
            }
        }
        if *double {
            text.push_str("double = true\n");
        }
        if let Some(value) = value {
            let _ = writeln!(text, "value = {value}");
        }
        if let Some(by) = filled {
            text.push_str(&filling(name, by, contents.as_ref(), value.is_none(), || {
                let [low, high] = elements::some_numbers(element, structures)?;
                Some(format!("random = [{low}, {high}]"))
            }));
        }
        text
    }
}

/// What the manifest says of an array that something fills with `contents`, or has `some` numbers in their place,
/// unless its key is taken.
fn filling(
    name: &str,
    by: &str,
    contents: Option<&Contents>,
    is_free: bool,
    some: impl FnOnce() -> Option<String>,
) -> String {
    let file = format!("# {by}, as `file = \"{name}.npy\"` would");
    match contents.filter(|_| is_free) {
        Some(Contents { key, is_known: true, said }) => format!("# The host: {said}\n{key}\n"),
        Some(Contents { key, said, .. }) => {
            format!("{file}: {said}\n{key} # {FILL_IN}: its numbers\n")
        }
        None => match some().filter(|_| is_free) {
            Some(numbers) => format!("{file}.\n{numbers} # {FILL_IN}: its numbers\n"),
            None => format!("{file}. # {FILL_IN}: its numbers\n"),
        },
    }
}

impl Host<'_> {
    /// How many elements an allocation has.
    fn count_in(&self, allocation: &Allocation, element: &str) -> Option<u64> {
        let Some(element) = Element::parse(element) else {
            return u64::try_from(self.count_of(allocation, element)?).ok();
        };
        let bytes = self.bytes_allocated(allocation)?;
        Some(u64::try_from(bytes).ok()?.div_ceil(element.bytes() as u64))
    }

    /// Whether the bytes of an allocation themselves are a variable without a number.
    fn is_nowhere_said(&self, allocation: &Allocation) -> bool {
        let mut span = allocation.bytes.clone();
        let mut place = Place { call: allocation.call.clone(), ..Place::of(span.start) };
        while let Some((given, outer)) =
            self.word(&span).and_then(|word| self.argument_of(word, &place))
        {
            (span, place) = (given, outer);
        }
        let variable = self.word(&span).and_then(|word| self.visible(word, place.at));
        variable.is_some_and(|id| self.assumed.borrow().contains(&id))
    }
}

impl<'s> Draft<'_, 's> {
    /// The array behind a pointer of the host code, and what manifests call it.
    pub(in crate::scene::draft) fn array_of(&mut self, pointer: &'s str, element: &str) -> String {
        if let Some(read) = self.halves.get(pointer).copied() {
            let name = self.array_of(read, element);
            if let Some(place) = self.places.get(&name) {
                self.arrays[*place].double = true;
            }
            return format!("{name}_next");
        }
        let bytes = self.host.allocation(pointer);
        let (count, is_sure) = self.host.surely(|host| {
            let allocation = bytes?;
            let assumed = || {
                host.doubt();
                let found = host.assuming(Assumes::All, |host| host.count_in(allocation, element));
                found.filter(|_| !host.is_nowhere_said(allocation))
            };
            host.count_in(allocation, element).or_else(assumed)
        });
        let size = Element::parse(element).map_or(1, |element| element.bytes() as u64);
        let count = count.filter(|count| (1..=MOST_RESOURCE_BYTES / size).contains(count));
        let rows = bytes.zip(count).and_then(|(of, count)| {
            let rows = |host: &Host<'s>| host.rows_in(of, count, size);
            match Element::parse(element) {
                Some(_) => rows(self.host),
                None => self.host.counting(element, rows),
            }
        });
        let doubt = bytes.filter(|_| !is_sure).map(|of| self.host.text(&of.bytes));
        let filled = self.host.fills(pointer);
        let name = self.array(pointer, element, count, filled);
        if let Some(place) = self.places.get(&name) {
            let array = &mut self.arrays[*place];
            array.doubt = doubt;
            let is_sure = is_sure && array.count.is_some();
            let count = array.count.unwrap_or(SOME);
            let elements = Elements { pointer, element, count, is_sure };
            let contents = self
                .host
                .assuming(Assumes::Sizes, |host| host.contents(&elements, self.structures));
            array.contents = contents.filter(|_| filled);
            array.rows = array.rows.or(rows);
        }
        name
    }

    pub(in crate::scene::draft) fn array(
        &mut self,
        name: &str,
        element: &str,
        count: Option<u64>,
        filled: bool,
    ) -> String {
        // Two kernels may call different things the same.
        let name = self.names.of(name, element);
        if let Some(place) = self.places.get(&name) {
            let array = &mut self.arrays[*place];
            array.count = array.count.max(count);
            return name;
        }
        self.places.insert(name.clone(), self.arrays.len());
        self.arrays.push(Array {
            name: name.clone(),
            element: element.to_owned(),
            count,
            doubt: None,
            double: false,
            filled: filled.then(|| "The host fills it".to_owned()),
            contents: None,
            threads: 0,
            rows: None,
            value: None,
        });
        name
    }

    /// The array that a pointer of the host code stands for, where a launch takes it or it is known what it has.
    pub(in crate::scene::draft) fn known_array(
        &mut self,
        pointer: &'s str,
        place: &Place<'_, 's>,
    ) -> Option<String> {
        let (pointer, there) = self.host.pointer_of(pointer, place);
        if self.shared.contains(pointer) {
            self.host.doubt();
        }
        let read = self.read_of(pointer);
        if let Some(name) = self.names.array(read) {
            let half = if read == pointer { "" } else { "_next" };
            return Some(format!("{name}{half}"));
        }
        let host = self.host;
        let of_host = host.pointee(pointer);
        let taken = host.launched().find_map(|(launch, at)| {
            let is_it = |span: &Span| {
                host.word(span).is_some_and(|word| host.pointer_of(word, &at).0 == pointer)
            };
            let place = launch.arguments.iter().position(is_it)?;
            let kernel = self.kernel_launched(launch, &at, &launch.kernel)?;
            match &kernel.parameters.get(place)?.ctype {
                CType::Pointer { to, .. } => Some(element_of(self.structures, to, of_host)),
                _ => None,
            }
        });
        let own = || {
            host.allocation(pointer)?;
            Some(element_of(self.structures, &Pointee::Void, of_host))
        };
        let element = self.own_element(pointer, &there, &taken.or_else(own)?);
        Some(self.array_of(pointer, &element))
    }

    /// Says so where an array has bytes since the text does not explain its type. Returns whether it does.
    pub(in crate::scene::draft) fn remark_on_type(
        &mut self,
        ctype: &CType,
        name: &str,
        element: &str,
    ) -> bool {
        let CType::Pointer { to: Pointee::Named(of), .. } = ctype else { return true };
        if element != BYTES {
            return true;
        }
        self.remark(format!("{FILL_IN}: `{name}` has elements of the type `{of}`"));
        false
    }
}

/// What each component of elements is whose bytes are all `byte`; `None` where no manifest says it.
pub(in crate::scene::draft) fn of_bytes(element: &str, byte: u8) -> Option<String> {
    let scalar = Element::parse(element)?.scalar;
    let bits = u64::from_le_bytes([byte; 8]) >> (64 - 8 * scalar.bytes());
    if let Some(whole) = scalar.integer_of(bits) {
        let is_truth = scalar.name() == "bool";
        return (!is_truth).then(|| i64::try_from(whole).ok().map(|value| value.to_string()))?;
    }
    let value = scalar.value_of(bits).filter(|value| value.is_finite())?;
    Some(Number::Real(crate::scene::draft::expression::cpp_number::Type::Double, value).written())
}

/// The manifest's name of an element's type, which may be one of the `structures`; bytes where it has none. What the
/// kernel calls it counts, unless that means nothing here, as the name of a template's parameter.
pub(in crate::scene::draft) fn element_of(
    structures: &Structures,
    to: &Pointee,
    of_host: Option<&str>,
) -> String {
    let named = match to {
        Pointee::Element(element) => return element.to_string(),
        Pointee::Void => None,
        Pointee::Named(name) => element_named(structures, name),
    };
    let of_host = || element_named(structures, of_host?);
    named.or_else(of_host).unwrap_or_else(|| BYTES.to_owned())
}
