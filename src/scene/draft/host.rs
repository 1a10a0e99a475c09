//! What the host code of a file says of its kernels: launches, allocations, copies, loops, and what its variables are.
//!
//! This is no parser of C++, and host code is not run: what is written in the usual way is found, and the rest is left
//! for a person to fill in.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use super::{
    code::{
        LONGEST, Span,
        candidates::Candidates,
        constructed::constructed,
        detours::Detours,
        functions::Functions,
        macros::Macros,
        members::Members,
        regions::Regions,
        sections::{Section, sections},
        templates::{HostTemplate, templates},
        variables::{Id, Variables},
    },
    expression::{cpp_number::Type, headers::of_header},
    fills::{fillings::Filling, writes::Write},
    reader::{Reader, mentions::Mention},
    values::{
        fields::SetFields,
        loop_header::Loop,
        place::{Call, Place},
        trace::{Act, Done},
    },
};
use crate::{
    cuda::{
        Structures,
        brackets::Brackets,
        lexer::{self, Kind, Token, Tokens},
    },
    element::Element,
};

/// So many tokens are looked at; and as many again, counted each time, in looking for the numbers of expressions.
const MOST_TOKENS: usize = 1 << 20;
/// So many launches, copies, and exchanges of pointers, are told.
pub(super) const MOST_LAUNCHES: usize = 200;

/// What a size is taken for that the file does not say: three of them make a volume that is computed in no time.
pub(super) const ASSUMED: u32 = 64;

/// Which variables without a number are taken for [`ASSUMED`].
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Assumes {
    Nothing,
    /// Those that were taken for it before, as sizes, and those that are called as sizes are.
    Sizes,
    /// All, since they make out how much there is.
    All,
}

/// What was found.
pub(super) struct Host<'s> {
    pub(super) code: Vec<Token<'s>>,
    pub(super) structures: &'s Structures,
    /// The structures that lists of values do not make field by field.
    pub(super) constructed: BTreeSet<&'s str>,
    /// What the pointers are called that are members of structures.
    pub(super) members: &'s Members,
    /// How many members lie within one another that are looked at.
    pub(super) nested: Cell<usize>,
    pub(super) regions: Regions,
    pub(super) sections: Vec<Section<'s>>,
    pub(super) variables: Variables<'s>,
    /// The numbers of enumerations, by the names of these and their own.
    pub(super) enumerators: BTreeMap<(&'s str, &'s str), Id>,
    pub(super) functions: Functions<'s>,
    /// All that calls may mean, by their names.
    pub(super) candidates: Candidates<'s>,
    pub(super) macros: Macros<'s>,
    /// The loops that are understood, by their regions.
    pub(super) loops: BTreeMap<usize, Loop<'s>>,
    /// Where a loop, a function or the program is left: `break`, `continue`, `return`, `goto`.
    pub(super) jumps: Vec<usize>,
    /// What those and others go round.
    pub(super) detours: Detours,
    /// Where the functions exit that always do, by their names, whose calls are jumps.
    pub(super) exits: BTreeMap<&'s str, usize>,
    /// The functions that are run once at most, by their regions, and where others call themselves.
    pub(super) run_once: BTreeSet<usize>,
    pub(super) recursive: BTreeSet<usize>,
    /// What sets members of structures.
    pub(super) set_fields: SetFields<'s>,
    /// The pointers among them that functions let point elsewhere.
    pub(super) moved_fields: BTreeSet<&'s str>,
    /// The types that pointers point to.
    pub(super) pointees: BTreeMap<&'s str, &'s str>,
    /// `cudaMalloc(&name, bytes)`, as they stand in the text, and where the host copies something to the device.
    pub(super) allocating: Vec<Allocating>,
    pub(super) filling: Vec<Span>,
    /// What that is copied from, and how many bytes, by where the target begins.
    pub(super) copied: BTreeMap<usize, (Span, Span)>,
    /// Where memory is named that may be written to there.
    pub(super) mentions: Vec<Mention>,
    /// Where the host writes numbers, and what those are that come to pointers of the device.
    pub(super) writes: Vec<Write<'s>>,
    pub(super) fillings: BTreeMap<&'s str, Filling>,
    /// What is copied to variables of the device: its name, what from, and the call.
    pub(super) symbols: Vec<(Span, Span, Span)>,
    /// The variables that may hold memory of the device.
    pub(super) holding: BTreeSet<Id>,
    /// Calls that do something with the device of which nothing is said.
    pub(super) untold: Vec<Untold>,
    /// All that is done with the device, in its order, and whether that is all.
    pub(super) done: Vec<Done>,
    pub(super) is_all_done: bool,
    /// Some of it may be done by another function of the same name.
    pub(super) is_of_namesakes: bool,
    /// Functions that do some of it and may be called by their addresses, too.
    pub(super) called_indirectly: BTreeSet<&'s str>,
    /// Where that is done, or called.
    pub(super) acting: BTreeSet<usize>,
    /// The bytes of what is allocated, by the name of the pointer.
    pub(super) allocations: BTreeMap<&'s str, Allocation>,
    /// Those names among them that several variables have.
    pub(super) namesakes: BTreeSet<&'s str>,
    /// The pointers to what the host copies to the device.
    pub(super) filled: BTreeSet<&'s str>,
    /// Pairs of pointers that change places, and where.
    pub(super) swaps: Vec<(&'s str, &'s str, usize)>,
    /// Where those of them stand that are made more than once.
    pub(super) repeated: BTreeSet<usize>,
    /// What is copied from device to device, or set to bytes that are all the same.
    pub(super) transfers: Vec<Transfer<'s>>,
    pub(super) launches: Vec<Launch>,
    /// Whether these are all that the text has.
    pub(super) are_all_launches: bool,
    /// What templates of the host and of the device call types and values.
    pub(super) type_parameters: BTreeSet<&'s str>,
    pub(super) value_parameters: BTreeSet<&'s str>,
    /// The templates among its functions.
    pub(super) templates: Vec<HostTemplate<'s>>,
    /// How many tokens may still be looked at for the numbers of expressions.
    pub(super) budget: Cell<usize>,
    /// The structure that counts as one byte while the elements of an allocation are counted.
    pub(super) unit: RefCell<Option<String>>,
    /// The bytes of types that the file has its own names for, and those that are numbers.
    pub(super) sizes: BTreeMap<String, usize>,
    pub(super) types: BTreeMap<String, Type>,
    /// What conditions of branches were found to be, by where they stand; `None` while one is looked at.
    pub(super) decided: RefCell<BTreeMap<usize, Option<bool>>>,
    /// Which variables without a number are taken for [`ASSUMED`], and those that were.
    pub(super) assumes: Cell<Assumes>,
    pub(super) assumed: RefCell<BTreeSet<Id>>,
    /// Whether a number was taken that may be another one where it is used; see [`Host::surely`].
    pub(super) is_unsure: Cell<bool>,
}

/// `kernel<<<grid, block, shared>>>(arguments)`.
pub(super) struct Launch {
    /// With its template arguments.
    pub(super) kernel: String,
    pub(super) shape: Vec<Span>,
    pub(super) arguments: Vec<Span>,
    pub(super) at: usize,
    /// All its blocks are there at once.
    pub(super) is_cooperative: bool,
}

/// `cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice)`, `cudaMemset(to, value, bytes)`.
pub(super) struct Transfer<'s> {
    /// `None` where it is no pointer alone.
    pub(super) to: Option<&'s str>,
    pub(super) what: Transferred<'s>,
    pub(super) bytes: Span,
    /// All of the call.
    pub(super) call: Span,
}

/// A call that does something with the device of which nothing is said.
pub(super) struct Untold {
    /// All of the call.
    pub(super) call: Span,
    /// What it is given, where it may have nothing to do with memory of the device, as one of a library.
    pub(super) given: Option<Vec<Span>>,
}

/// `cudaMalloc(target, bytes)`, or `cudaMallocPitch` with so many bytes in each row.
pub(super) struct Allocating {
    pub(super) target: Span,
    pub(super) bytes: Span,
    pub(super) rows: Option<Span>,
    /// It is memory of the host, which kernels may be given: `cudaHostAlloc`.
    pub(super) is_of_host: bool,
}

/// How many bytes are allocated, and in which call.
pub(super) struct Allocation {
    /// Where the pointer stands in it.
    pub(super) target: usize,
    pub(super) bytes: Span,
    /// How often, where it is in rows.
    pub(super) rows: Option<Span>,
    pub(super) call: Option<Rc<Call>>,
    /// The same pointer is given other memory, too, which may be more or less.
    pub(super) is_one_of_several: bool,
}

/// What a transfer brings.
pub(super) enum Transferred<'s> {
    From(Option<&'s str>),
    Bytes(Span),
}

impl<'s> Host<'s> {
    /// Reads `text`, whose structures are known, and what the pointers are called that these have.
    pub(super) fn read(text: &'s str, structures: &'s Structures, members: &'s Members) -> Self {
        let tokens: Vec<Token<'s>> = lexer::lex(text)
            .filter(|token| !matches!(token.kind, Kind::Blank | Kind::Comment | Kind::Disabled))
            .take(MOST_TOKENS)
            .collect();
        let tokens = members.joined(tokens);
        let brackets = Brackets::new(&tokens);
        let directives = tokens.iter().filter(|token| token.kind == Kind::Directive);
        let macros = Macros::of(directives.map(|token| token.text));
        let sections = sections(&tokens);
        let code: Vec<Token<'s>> =
            tokens.into_iter().filter(|token| token.kind != Kind::Directive).collect();
        let regions = Regions::new(&code, &brackets);
        let elements = || structures.elements().map(|(name, element)| (name.to_owned(), element));
        let number = |(name, element)| Some((name, Type::of_element(element)?));
        let host_templates = templates(&code, &brackets);
        let mut found = Self {
            functions: Functions::new(&code, &brackets, &regions),
            candidates: Candidates::new(&code, &brackets, &regions, &host_templates),
            templates: host_templates,
            constructed: constructed(&code, &brackets),
            sizes: elements().map(|(name, element)| (name, element.bytes())).collect(),
            types: elements().filter_map(number).collect(),
            code,
            structures,
            members,
            nested: Cell::new(0),
            regions,
            sections,
            macros,
            variables: Variables::default(),
            enumerators: BTreeMap::new(),
            loops: BTreeMap::new(),
            jumps: Vec::new(),
            detours: Detours::default(),
            exits: BTreeMap::new(),
            run_once: BTreeSet::new(),
            recursive: BTreeSet::new(),
            set_fields: SetFields::default(),
            moved_fields: BTreeSet::new(),
            pointees: BTreeMap::new(),
            allocating: Vec::new(),
            filling: Vec::new(),
            copied: BTreeMap::new(),
            mentions: Vec::new(),
            writes: Vec::new(),
            fillings: BTreeMap::new(),
            symbols: Vec::new(),
            holding: BTreeSet::new(),
            untold: Vec::new(),
            done: Vec::new(),
            is_all_done: true,
            is_of_namesakes: false,
            called_indirectly: BTreeSet::new(),
            acting: BTreeSet::new(),
            allocations: BTreeMap::new(),
            namesakes: BTreeSet::new(),
            filled: BTreeSet::new(),
            swaps: Vec::new(),
            repeated: BTreeSet::new(),
            transfers: Vec::new(),
            launches: Vec::new(),
            are_all_launches: true,
            type_parameters: BTreeSet::new(),
            value_parameters: BTreeSet::new(),
            budget: Cell::new(MOST_TOKENS),
            unit: RefCell::new(None),
            decided: RefCell::new(BTreeMap::new()),
            assumes: Cell::new(Assumes::Nothing),
            assumed: RefCell::new(BTreeSet::new()),
            is_unsure: Cell::new(false),
        };
        Reader::new(&mut found, &brackets).read();
        let of_device = found.functions_of_device();
        let is_of_host = |at: usize| {
            let of = found.regions.function(at);
            of.is_none_or(|function| !of_device.contains(&function))
        };
        let mut untold = std::mem::take(&mut found.untold);
        untold.retain(|untold| is_of_host(untold.call.start));
        let mut swaps = std::mem::take(&mut found.swaps);
        swaps.retain(|(.., at)| is_of_host(*at));
        (found.untold, found.swaps) = (untold, swaps);
        (found.run_once, found.recursive) = found.runs_of_functions();
        found.set_fields = found.fields_set();
        found.moved_fields = found.fields_moved();
        found.loops = found.understood_loops();
        (found.done, found.is_all_done) = found.trace(found.acts(), &brackets);
        let places =
            found.done.iter().flat_map(|done| found.place_of(done).levels().collect::<Vec<_>>());
        found.acting = places.map(|place| place.at).collect();
        found.is_of_namesakes = found.is_of_namesakes(&brackets);
        found.called_indirectly = found.called_indirectly(&brackets);
        found.repeated = found.repeated_swaps();
        found.take_allocations();
        let (writes, is_all) = found.writes(&brackets);
        found.writes = writes;
        found.fillings = found.fillings(&brackets, is_all);
        found.filled.extend(found.fillings.keys());
        found
    }

    /// The text of a token.
    pub(super) fn text_at(&self, at: usize) -> &'s str {
        self.code.text_at(at)
    }

    pub(super) fn tokens(&self, span: &Span) -> &[Token<'s>] {
        self.code.get(span.clone()).unwrap_or_default()
    }

    /// The type that a pointer points to, by its name, or that of the member that it is.
    pub(super) fn pointee(&self, name: &str) -> Option<&'s str> {
        let field = name.rsplit('.').next().unwrap_or(name);
        self.pointees.get(field).copied()
    }

    /// A part of the host code as text.
    pub(super) fn text(&self, span: &Span) -> String {
        let tokens = self.tokens(span).iter().take(LONGEST);
        lexer::joined(tokens.map(|token| token.text))
    }

    /// The one word that a part of the host code is.
    pub(super) fn word(&self, span: &Span) -> Option<&'s str> {
        match self.tokens(span) {
            [token] => Some(token.text),
            _ => None,
        }
    }

    /// Notes what the host allocates and fills, by the names that its pointers have where they are declared.
    fn take_allocations(&mut self) {
        let mut allocations: BTreeMap<&str, Allocation> = BTreeMap::new();
        let mut variables: BTreeMap<&str, Option<Id>> = BTreeMap::new();
        let mut namesakes = BTreeSet::new();
        let mut filled = BTreeSet::new();
        for Done { act, at, call } in &self.done {
            let target = match act {
                Act::Allocation(place) => &self.allocating[*place].target,
                Act::Fill(place) => &self.filling[*place],
                Act::Launch(_) | Act::Transfer(_) | Act::Swap(_) => continue,
                Act::Write(_) | Act::Symbol(_) | Act::Untold(_) => continue,
            };
            let place = Place { call: call.clone(), ..Place::of(*at) };
            let mut words = self.tokens(target).iter().filter(|token| token.is_word());
            let name = match act {
                // `(void **)&name` ends with the name; what it pointed to before does not matter.
                Act::Allocation(_) => words.next_back().map(|name| {
                    let is_address = self.tokens(target).iter().any(|token| token.text == "&");
                    let (name, there) = self.receiver(name.text, &place, is_address);
                    // `::name` is another one than what is in sight.
                    let is_global = self.tokens(target).iter().any(|token| token.text == "::");
                    let id = self.visible(name, there.at).filter(|_| !is_global);
                    if variables.insert(name, id).is_some_and(|other| other != id) {
                        namesakes.insert(name);
                    }
                    name
                }),
                _ => words.next().map(|name| self.pointer_of(name.text, &place).0),
            };
            let Some(name) = name else { continue };
            match act {
                Act::Allocation(place) => {
                    let Allocating { target, bytes, rows, .. } = &self.allocating[*place];
                    let target = target.start;
                    let (bytes, rows, call) = (bytes.clone(), rows.clone(), call.clone());
                    let found = Allocation { target, bytes, rows, call, is_one_of_several: false };
                    match allocations.remove(name) {
                        Some(other) => allocations.insert(name, self.greater(other, found)),
                        None => allocations.insert(name, found),
                    };
                }
                _ => _ = filled.insert(name),
            }
        }
        (self.allocations, self.filled, self.namesakes) = (allocations, filled, namesakes);
    }

    /// Of two allocations for one pointer the one that has more; it is noted where it is not sure that both have as
    /// many bytes.
    fn greater(&self, first: Allocation, second: Allocation) -> Allocation {
        let ([one, other], is_sure) =
            self.surely(|host| [&first, &second].map(|of| host.bytes_allocated(of)));
        let is_same = is_sure && one.is_some() && one == other;
        let is_several = !is_same || first.is_one_of_several || second.is_one_of_several;
        let greater = if one > other { first } else { second };
        Allocation { is_one_of_several: is_several, ..greater }
    }

    /// The bytes that the host allocates for `pointer`.
    pub(super) fn allocation(&self, pointer: &str) -> Option<&Allocation> {
        self.allocations.get(pointer)
    }

    /// Whether the host fills what it allocated for `pointer`.
    pub(super) fn fills(&self, pointer: &str) -> bool {
        self.filled.contains(pointer)
    }

    /// What the innermost loop repeats around a place, or around a call that led there, and where that is in it.
    pub(super) fn round_of(&self, place: &Place<'_, 's>) -> Option<(Span, usize)> {
        place.levels().find_map(|level| Some((self.regions.repeated_around(level.at)?, level.at)))
    }

    /// A block for a kernel that nothing launches: by a constant that is called so, square where the kernel has two
    /// axes.
    pub(super) fn block_of(&self, kernel: &str) -> Option<String> {
        let last = kernel.rsplit("::").next().unwrap_or(kernel);
        let at = self.code.iter().rposition(|token| token.text == last)?;
        let until = self.code[at..].iter().position(|token| token.text == "__global__");
        let body = &self.code[at..until.map_or(self.code.len(), |length| at + length)];
        let is_flat = !body.windows(3).any(|w| w[0].text == "threadIdx" && w[2].text == "y");
        let is_named = |token: &&Token<'_>| {
            let name = token.text.to_ascii_lowercase();
            let words = ["block", "thread", "tile"];
            token.is_word() && words.iter().any(|word| name.contains(word))
        };
        let place = Place::of(at);
        let number = |token: &Token<'s>| self.integer_of_text(token.text, &place);
        let mut sizes = body.iter().filter(is_named).take(200).filter_map(number);
        let most = if is_flat { 1024 } else { 32 };
        match (sizes.find(|size| (1..=most).contains(size)), is_flat) {
            (Some(size), true) => Some(size.to_string()),
            (Some(size), false) => Some(format!("[{size}, {size}]")),
            (None, true) => None,
            (None, false) => Some("[16, 16]".to_owned()),
        }
    }

    /// Whether some kernel has shared memory of a size that its launch says.
    pub(super) fn has_dynamic_shared(&self) -> bool {
        let shared = |w: &[Token<'_>]| w.iter().any(|token| token.text == "__shared__");
        self.code.windows(3).any(|w| w[0].text == "extern" && shared(w))
    }

    /// What `look` finds, and whether each number in it is surely the one that its variable has there.
    pub(super) fn surely<T>(&self, look: impl FnOnce(&Self) -> T) -> (T, bool) {
        let before = self.is_unsure.replace(false);
        let found = look(self);
        let is_sure = !self.is_unsure.replace(before);
        (found, is_sure)
    }

    /// What `look` finds where sizes that the file does not say are assumed.
    pub(super) fn assuming<T>(&self, which: Assumes, look: impl FnOnce(&Self) -> T) -> T {
        let before = self.assumes.replace(which);
        let found = look(self);
        self.assumes.set(before);
        found
    }

    /// Says that a number may be another one.
    pub(super) fn doubt(&self) {
        self.is_unsure.set(true);
    }

    /// Counts what is looked at; `None` where that is too much.
    pub(super) fn look(&self, tokens: usize) -> Option<()> {
        let left = self.budget.get().checked_sub(tokens)?;
        self.budget.set(left);
        Some(())
    }

    /// The number type of some words, by the file's own names, too.
    pub(super) fn named_type(&self, words: &[&str]) -> Option<Type> {
        let own = || match words {
            [.., name] => self.types.get(*name).copied(),
            [] => None,
        };
        Type::of_words(words).or_else(own)
    }

    /// The bytes of the type that these words are.
    pub(super) fn bytes_of(&self, words: &[&str]) -> Option<usize> {
        let last = words.last()?;
        if let Some(unit) = self.unit.borrow().as_deref() {
            let is_instance =
                || self.structures.instance(last).is_some_and(|(instance, _)| instance == unit);
            if unit == *last || is_instance() {
                return Some(1);
            }
        }
        if *last == "*" {
            return Some(8);
        }
        let named = self.named_type(words).map(|of| of.bytes() as usize);
        let known = || self.sizes.get(*last).copied();
        let element =
            || Element::parse(&words.join(" ")).or_else(|| Element::parse(of_header(last)?));
        named.or_else(known).or_else(|| Some(element()?.bytes()))
    }
}
