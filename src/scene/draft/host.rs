//! What the host code of a file says of its kernels: launches, allocations, copies, loops, and what its variables are.
//!
//! Enters: tokens, and what `reader`, `values` and `fills` find. Leaves: that, as data. Must not know:
//! `scene::draft::reader`, `scene::draft::values`, `scene::draft::fills`, `scene::draft::manifest`.
//!
//! This is no parser of C++, and host code is not run: what is written in the usual way is found, and the rest is left
//! for a person to fill in.

pub(super) mod allocation;
pub(super) mod done;
pub(super) mod filling;
pub(super) mod launch;
pub(super) mod loop_header;
pub(super) mod mention;
pub(super) mod place;
pub(super) mod set_fields;
pub(super) mod transfer;
pub(super) mod untold;
pub(super) mod write;

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
};

use self::{
    allocation::{Allocating, Allocation},
    done::Done,
    filling::Filling,
    launch::Launch,
    loop_header::Loop,
    mention::Mention,
    place::Place,
    set_fields::SetFields,
    transfer::Transfer,
    untold::Untold,
    write::Write,
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
        regions::{Kind as RegionKind, Regions},
        sections::{Section, sections},
        templates::{HostTemplate, templates},
        variables::{Id, Variables},
    },
    expression::{cpp_number::Type, headers::of_header},
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

/// So many tokens stand before the parameters of a function.
const LONGEST_HEAD: usize = 60;

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

impl<'s> Host<'s> {
    /// Of `text` its parts, whose structures are known, and what the pointers are called that these have; of what they
    /// say nothing as yet.
    pub(super) fn of(
        text: &'s str,
        structures: &'s Structures,
        members: &'s Members,
    ) -> (Self, Brackets) {
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
        let found = Self {
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
        (found, brackets)
    }

    /// The text of a token.
    pub(super) fn text_at(&self, at: usize) -> &'s str {
        self.code.text_at(at)
    }

    pub(super) fn tokens(&self, span: &Span) -> &[Token<'s>] {
        self.code.get(span.clone()).unwrap_or_default()
    }

    /// The regions of the functions that run on the device.
    pub(super) fn functions_of_device(&self) -> BTreeSet<usize> {
        let is_of_device = |start: usize| {
            let before = self.code[..start].iter().rev().take(LONGEST_HEAD);
            let mut words = before.take_while(|token| !matches!(token.text, ";" | "}" | "{"));
            words.any(|token| matches!(token.text, "__global__" | "__device__"))
        };
        let functions = self.regions.iter().filter(|(_, region)| {
            matches!(region.kind, RegionKind::Function { .. }) && is_of_device(region.span.start)
        });
        functions.map(|(place, _)| place).collect()
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
