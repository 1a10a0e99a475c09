//! The variables of a program's source that its kernels may write: a part of the state beside the resources.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::{Error, contents::Contents, digests::digest, layout, symbol};
use crate::{
    cuda::mangled::counterparts,
    device::{Device, Fill, Module, Slice, Stream},
    ptx::outline::{Outline, Variable},
    state::archive::KnownVariable,
};

/// What variables hold at the start, by their names in the module.
pub(super) type Addresses = BTreeMap<String, Arc<[u8]>>;

/// All of a module.
pub(super) struct Variables(Vec<Kept>);

/// A variable, and how it begins.
struct Kept {
    variable: Variable,
    /// The text of its initial value; empty where it has none.
    text: String,
    /// What it holds at the start; empty where those are zeros.
    start: Arc<[u8]>,
}

impl Variables {
    /// Those of `module`, which has just been loaded from `ptx`.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn of(
        ptx: &str,
        outline: Outline,
        module: &Module,
        device: &Device,
    ) -> Result<Self, Error> {
        // The texts of `printf` have names that no source can have; what the statistics declare is none of the scene's.
        let is_scenes = |name: &str| !name.starts_with('$') && !layout::is_ours(name);
        let written = outline.variables.into_iter().filter(|of| !of.is_constant);
        let found = written.filter(|of| is_scenes(&of.name) && module.global(&of.name).is_ok());
        let stream = device.stream()?;
        let mut kept = Vec::new();
        for variable in found {
            let text = ptx.get(variable.initial.clone()).unwrap_or_default().trim().to_owned();
            let start = match text.is_empty() {
                true => Vec::new(),
                false => stream.download(module.global(&variable.name)?)?.wait()?,
            };
            kept.push(Kept { variable, text, start: start.into() });
        }
        Ok(Self(kept))
    }

    /// Those that mean the same in another program; `contents` are what there is at the start.
    pub(super) fn known(&self, contents: &Contents) -> Vec<KnownVariable> {
        let known = |kept: &Kept| KnownVariable {
            name: kept.variable.name.clone(),
            bytes: kept.variable.bytes,
            start: kept.start_digest(),
            set: contents.digest_of_variable(kept.name(), kept.variable.bytes),
        };
        self.0.iter().filter(|of| !of.holds_addresses()).map(known).collect()
    }

    /// What the others hold at the start, by their names: addresses of variables or functions of this program.
    pub(super) fn addresses(&self) -> Addresses {
        let variables = self.0.iter().filter(|of| of.holds_addresses());
        variables.map(|kept| (kept.variable.name.clone(), kept.start.clone())).collect()
    }

    /// Where they lie in `module`, which has them.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn places<'a>(
        &'a self,
        module: &'a Module,
    ) -> Result<Vec<(&'a str, Slice<'a>)>, Error> {
        let names = self.0.iter().map(|kept| kept.variable.name.as_str());
        names.map(|name| Ok((name, module.global(name)?))).collect()
    }

    /// Whether all of them go on as those of `other`, and the other way around.
    pub(super) fn are_those_of(&self, other: &Self) -> bool {
        let are_carried = self.0.iter().all(|of| !of.holds_addresses() || of.is_of_class());
        are_carried
            && self.0.len() == other.0.len()
            && self.before(other).all(|(kept, before)| before.is_some_and(|old| kept.is_as(old)))
    }

    /// Whether all of `old` that a source declares go on as some of them.
    pub(super) fn have_all_of(&self, old: &Self) -> bool {
        let same =
            |(kept, before): &(&Kept, Option<&Kept>)| before.is_some_and(|of| kept.is_as(of));
        // The compiler brings tables of its own, which come and go with the functions that read them.
        let is_declared = |of: &&Kept| !symbol::is_of_compiler(of.name()) && !of.holds_addresses();
        let declared = old.0.iter().filter(is_declared);
        let going_on: BTreeSet<&str> =
            self.before(old).filter(same).filter_map(|(_, before)| Some(before?.name())).collect();
        declared.map(Kept::name).all(|name| going_on.contains(name))
    }

    /// The names of those that go on from what they hold in `other`: all that are declared in the same way, but for
    /// addresses.
    pub(super) fn same_as<'a>(&'a self, other: &'a Self) -> BTreeSet<&'a str> {
        let all = self.before(other);
        let same = all.filter(|(kept, before)| {
            before.is_some_and(|before| !kept.holds_addresses() && kept.is_as(before))
        });
        same.map(|(kept, _)| kept.name()).collect()
    }

    /// Each with what it was in `old`.
    fn before<'a>(&'a self, old: &'a Self) -> impl Iterator<Item = (&'a Kept, Option<&'a Kept>)> {
        let pairs = counterparts(&self.names(), &old.names());
        let known: HashMap<&str, &Kept> = old.0.iter().map(|kept| (kept.name(), kept)).collect();
        let before = move |kept: &'a Kept| known.get(pairs.get(kept.name())?).copied();
        self.0.iter().map(move |kept| (kept, before(kept)))
    }

    fn names(&self) -> Vec<&str> {
        self.0.iter().map(Kept::name).collect()
    }

    /// Puts on `stream` that they hold in `module` what they held when it was loaded.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn restart(&self, module: &Module, stream: &Stream) -> Result<(), Error> {
        for Kept { variable, start, .. } in &self.0 {
            let place = module.global(&variable.name)?;
            match start.is_empty() {
                true => stream.fill(place, Fill::U8(0))?,
                false => stream.upload(place, start)?,
            }
        }
        Ok(())
    }

    /// Puts on `stream` that they hold in `module` what those of `old_module` hold that are declared in the same way.
    /// An address of one means something else in the other.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn carry(
        &self,
        module: &Module,
        (old, old_module): (&Self, &Module),
        stream: &Stream,
    ) -> Result<(), Error> {
        let same = self.same_as(old);
        for (kept, before) in self.before(old) {
            if let Some(before) = before.filter(|_| same.contains(kept.name())) {
                stream.copy(module.global(kept.name())?, old_module.global(before.name())?)?;
            }
        }
        Ok(())
    }
}

/// What the mangled names of virtual tables begin with (Itanium C++ ABI, section 5.1.4.1).
const VIRTUAL_TABLE: &str = "_ZTV";

impl Kept {
    fn name(&self) -> &str {
        &self.variable.name
    }

    /// Whether it is a virtual table, which no kernel writes.
    fn is_of_class(&self) -> bool {
        self.variable.name.starts_with(VIRTUAL_TABLE)
    }

    /// Whether its initial value names something of the module.
    fn holds_addresses(&self) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
        let mut words = self.text.split(|c| !is_part(c));
        words.any(|word| word.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$')))
    }

    /// What it begins with, as a digest: the same for zeros, whether the source says them or not.
    fn start_digest(&self) -> String {
        let is_zero = self.start.iter().all(|byte| *byte == 0);
        digest(if is_zero { &[] } else { &self.start })
    }

    /// Whether it is declared as `other` is, but for its name.
    fn is_as(&self, other: &Self) -> bool {
        (self.variable.bytes, &self.text) == (other.variable.bytes, &other.text)
    }
}
