//! The variables of a program's source that its kernels may write: a part of the state beside the resources.

use super::{Error, layout};
use crate::{
    device::{Device, Fill, Memory, Module, Slice, Stream},
    ptx::outline::{Outline, Variable},
};

/// All of a module.
pub(super) struct Variables(Vec<Kept>);

/// A variable, and how it begins.
struct Kept {
    variable: Variable,
    /// The text of its initial value; empty where it has none.
    text: String,
    /// A copy of what it holds at the start; `None` where those are zeros.
    start: Option<Memory>,
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
            let mut start = None;
            if !text.is_empty() {
                let copy = device.alloc(variable.bytes)?;
                stream.copy(copy.slice(..)?, module.global(&variable.name)?)?;
                start = Some(copy);
            }
            kept.push(Kept { variable, text, start });
        }
        stream.synchronize()?;
        Ok(Self(kept))
    }

    /// The names in the module, with their sizes in bytes, of those that mean the same in another program.
    pub(super) fn sizes(&self) -> Vec<(&str, usize)> {
        let variables = self.0.iter().filter(|of| !of.holds_addresses()).map(|of| &of.variable);
        variables.map(|variable| (variable.name.as_str(), variable.bytes)).collect()
    }

    /// The names of the others: they begin with addresses, of variables or functions of this program.
    pub(super) fn addresses(&self) -> impl Iterator<Item = &str> {
        let variables = self.0.iter().filter(|of| of.holds_addresses());
        variables.map(|kept| kept.variable.name.as_str())
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
            && self.0.iter().all(|kept| other.0.iter().any(|o| kept.is_as(o)))
    }

    /// Puts on `stream` that they hold in `module` what they held when it was loaded.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn restart(&self, module: &Module, stream: &Stream) -> Result<(), Error> {
        for Kept { variable, start, .. } in &self.0 {
            let place = module.global(&variable.name)?;
            match start {
                Some(start) => stream.copy(place, start.slice(..)?)?,
                None => stream.fill(place, Fill::U8(0))?,
            }
        }
        Ok(())
    }

    /// Puts on `stream` that they hold in `module` what those of `old_module` hold that are declared in the same way. An
    /// address of one means something else in the other.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn carry(
        &self,
        module: &Module,
        (old, old_module): (&Self, &Module),
        stream: &Stream,
    ) -> Result<(), Error> {
        for kept in &self.0 {
            let name = &kept.variable.name;
            if !kept.holds_addresses() && old.0.iter().any(|known| known.is_as(kept)) {
                stream.copy(module.global(name)?, old_module.global(name)?)?;
            }
        }
        Ok(())
    }
}

/// What the mangled names of virtual tables begin with (Itanium C++ ABI, section 5.1.4.1).
const VIRTUAL_TABLE: &str = "_ZTV";

/// Whether one of these names is that of a virtual table, which no kernel writes.
pub(super) fn is_of_class(name: &str) -> bool {
    name.starts_with(VIRTUAL_TABLE)
}

impl Kept {
    fn is_of_class(&self) -> bool {
        is_of_class(&self.variable.name)
    }

    /// Whether its initial value names something of the module.
    fn holds_addresses(&self) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
        let mut words = self.text.split(|c| !is_part(c));
        words.any(|word| word.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$')))
    }

    /// Whether it is declared as `other` is.
    fn is_as(&self, other: &Self) -> bool {
        (&self.variable.name, self.variable.bytes, &self.text)
            == (&other.variable.name, other.variable.bytes, &other.text)
    }
}
