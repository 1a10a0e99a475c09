//! A scene that is ready to run: compiled, loaded, its arguments checked against the compiled kernels.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    Error,
    address_lists::AddressLists,
    contents::Contents,
    effort::Effort,
    fetched::Fetched,
    past_gap::PastGap,
    reset::Reset,
    reset_edit::Beginning,
    run_files::UsedFile,
    stat::Stat,
    summaries::Summaries,
    variables::{Addresses, Variables},
};
use crate::{
    array::Checksum,
    device::{self, Device, Function, LaunchConfig, Module, Pool, Region, Slice, Stream},
    element::Type,
    ptx::outline::Outline,
    scene::{self, Change, Entry, Inputs, Number, PlannedPass, ResourceId, Scene, Scope, What},
    state::{Aside, Borrowed, Checkpoint, Subject, archive::KnownVariable},
};

/// A loaded scene.
pub(super) struct Program {
    pub(super) scene: Scene,
    pub(super) passes: Vec<Pass>,
    pub(super) summary: Arc<Summaries>,
    /// What statistics read each resource as.
    pub(super) types: Vec<Type>,
    /// The manifest's own statistics.
    pub(super) stats: Vec<Stat>,
    pub(super) ptx: Arc<str>,
    /// The name in the PTX of each kernel of the passes.
    pub(super) names: Arc<BTreeMap<String, String>>,
    pub(super) module: Module,
    /// The variables of the module that kernels may write.
    pub(super) variables: Variables,
    /// What kernels read arrays through.
    pub(super) fetched: Fetched,
    /// Addresses that kernels find by way of a pointer to pointers.
    pub(super) address_lists: AddressLists,
    /// The kernels that it begins with.
    pub(super) beginning: Beginning,
    /// The files beside that of the scene that it was made of.
    pub(super) files: Arc<[UsedFile]>,
    /// Whether its kernels may take memory of the device's heap, which no copy of a state has.
    pub(super) allocates: bool,
    /// What everything holds at the start.
    pub(super) contents: Contents,
    /// What tells bits of its states apart, where the past is kept.
    pub(super) checksum: Option<Arc<Checksum>>,
    /// How much its compiler optimised.
    pub(super) effort: Effort,
    /// Which of the texts given to the session it was made from: they are counted.
    pub(super) generation: u64,
    /// To unload code waits for all work of the device, so that a thread does it. The last field: nothing else of the
    /// program has the code when this goes.
    #[expect(dead_code, reason = "it is there to be dropped")]
    pub(super) loaded: Aside<Loaded>,
}

/// Code on the device that a program holds.
pub(super) type Loaded = (Module, Arc<Summaries>, Option<Arc<Checksum>>);

/// A pass with its kernel.
pub(super) struct Pass {
    pub(super) plan: PlannedPass,
    pub(super) function: Function,
    /// The shape of its launches, where it is always the same.
    pub(super) config: Option<LaunchConfig>,
    /// Threads of a block that the occupancy suggests.
    pub(super) suggested: u32,
}

impl Pass {
    /// The shape of a launch in `scope`; `None` where there is nothing to launch. The inner error is the manifest's: a
    /// sentence.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn config(
        &self,
        scope: &Scope<'_>,
        device: &Device,
    ) -> Result<Result<Option<LaunchConfig>, String>, Error> {
        if let Some(config) = self.config {
            return Ok(Ok(Some(config)));
        }
        match shape(&self.plan.declared, self.suggested, scope) {
            Ok(shape) => self.checked(shape, device),
            Err(problem) => Ok(Err(problem)),
        }
    }

    fn checked(
        &self,
        shape: Option<LaunchConfig>,
        device: &Device,
    ) -> Result<Result<Option<LaunchConfig>, String>, Error> {
        let Some(config) = shape else { return Ok(Ok(None)) };
        match config.check(&self.function, device.info()) {
            Ok(()) => Ok(Ok(Some(config))),
            Err(error @ device::Error::InvalidLaunch { .. }) => Ok(Err(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }
}

impl Program {
    /// The resources that an entry of the manifest may write.
    pub(super) fn written_by<'a>(
        &'a self,
        entry: &'a Entry,
    ) -> Box<dyn Iterator<Item = ResourceId> + 'a> {
        let cleared = entry.clear.iter().map(|half| half.resource);
        match &entry.what {
            What::Launch(index) => {
                let pass = self.passes.get(*index).into_iter();
                Box::new(cleared.chain(pass.flat_map(|pass| pass.plan.writes())))
            }
            What::Group { entries, .. } => {
                Box::new(cleared.chain(entries.iter().flat_map(|entry| self.written_by(entry))))
            }
            What::Copy { to, .. } => Box::new(cleared.chain([to.resource])),
        }
    }

    /// Puts everything that `reset` begins anew on `stream` as it is at the start: see [`Contents::restore`].
    pub(super) fn restore(
        &self,
        reset: &Reset,
        brought: Option<&Checkpoint>,
        borrowed: &mut [Borrowed<'_>],
        stream: &Stream,
    ) -> Result<(), Error> {
        match reset {
            Reset::All => self.restart_variables(stream)?,
            Reset::None | Reset::Fresh(_) => {}
        }
        let own = (&self.scene.manifest, &self.module);
        self.contents.restore(reset, own, brought, borrowed, stream)
    }

    /// Sets the variables of the source, which begin anew with each program.
    pub(super) fn set_variables(&self, stream: &Stream) -> Result<(), Error> {
        self.contents.set_variables(&self.module, stream)
    }

    /// Puts a copy of all that a step reads on `stream`.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn checkpoint(
        &self,
        borrowed: &[Borrowed<'_>],
        inputs: Inputs,
        pool: &Pool,
        stream: &Stream,
    ) -> Result<Checkpoint, Error> {
        let of = (&self.scene.manifest, borrowed);
        Ok(Checkpoint::take(of, &self.variables()?, inputs, pool, stream)?)
    }

    /// What such a copy is one of, and where that lies.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn subjects<'a>(
        &'a self,
        borrowed: &'a [Borrowed<'_>],
    ) -> Result<Vec<(Subject, Region<'a>)>, Error> {
        Ok(Checkpoint::subjects((&self.scene.manifest, borrowed), &self.variables()?))
    }

    /// Puts on `stream` that all is as it was when `checkpoint` was taken.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn go_back_to(
        &self,
        checkpoint: &Checkpoint,
        borrowed: &[Borrowed<'_>],
        stream: &Stream,
    ) -> Result<(), Error> {
        let of = (&self.scene.manifest, borrowed);
        Ok(checkpoint.restore(of, &self.variables()?, stream)?)
    }

    /// As [`Program::go_back_to`], of a copy that was taken of `of_a`, which ran on another device: addresses are
    /// others here, and variables that are declared in another way begin as they do.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn go_on_from(
        &self,
        (of_a, checkpoint): (&Self, &Checkpoint),
        borrowed: &[Borrowed<'_>],
        stream: &Stream,
    ) -> Result<(), Error> {
        let same = self.variables.same_as(&of_a.variables);
        let mut variables = self.variables()?;
        variables.retain(|(name, _)| same.contains(name));
        checkpoint.restore((&self.scene.manifest, borrowed), &variables, stream)?;
        match self.contents.sets_as(&of_a.contents) {
            true => Ok(()),
            false => self.set_variables(stream),
        }
    }

    /// Why there can be no such copy to go back to; `None` where there can.
    pub(super) fn gap(&self, budget: u64) -> Option<PastGap> {
        match self.allocates {
            true => Some(PastGap::Heap),
            false => (self.state_bytes() > budget).then_some(PastGap::NoRoom),
        }
    }

    /// That a state of it can be copied: to a file, from one, for a comparison.
    ///
    /// # Errors
    /// [`Error::NoState`].
    pub(super) fn expect_states(&self) -> Result<(), Error> {
        match self.allocates {
            true => Err(Error::NoState),
            false => Ok(()),
        }
    }

    /// The bytes of such a copy, about.
    pub(super) fn state_bytes(&self) -> u64 {
        let resources = self.scene.manifest.resources().iter();
        resources.map(|of| of.bytes() * if of.double() { 2 } else { 1 }).sum()
    }

    /// The variables that a file has.
    pub(super) fn known_variables(&self) -> Vec<KnownVariable> {
        self.variables.known(&self.contents)
    }

    /// The variables that no file has, since they begin with addresses: these.
    pub(super) fn addresses(&self) -> Addresses {
        self.variables.addresses()
    }

    fn variables(&self) -> Result<Vec<(&str, Slice<'_>)>, Error> {
        self.variables.places(&self.module)
    }

    /// Puts on `stream` that all variables hold what they did when the program was loaded.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn restart_variables(&self, stream: &Stream) -> Result<(), Error> {
        self.variables.restart(&self.module, stream)
    }

    /// Puts on `stream` that variables hold what they hold in `old`, where they are declared there as here.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn carry_variables(&self, old: &Self, stream: &Stream) -> Result<(), Error> {
        self.variables.carry(&self.module, (&old.variables, &old.module), stream)
    }

    /// Whether its states have the same resources and variables as those of `old`.
    pub(super) fn has_state_of(&self, old: &Self) -> bool {
        let (own, others) = (self.scene.manifest.resources(), old.scene.manifest.resources());
        own.len() == others.len()
            && own.iter().zip(others).all(|(a, b)| a.name == b.name && b.keeps_contents(a))
            && self.variables.are_those_of(&old.variables)
    }

    /// Whether something of the states of `old` is not in its own, or not as it was.
    pub(super) fn changes_state_of(&self, old: &Self) -> bool {
        let (new, before) = (&self.scene.manifest, &old.scene.manifest);
        let goes_on = |change: &Change| match change {
            Change::Kept(_) | Change::Moved(_) => true,
            Change::Converted(_) | Change::New => false,
        };
        let count = new.changes(before).iter().filter(|change| goes_on(change)).count();
        count < before.resources().len()
            || !self.changed_contents(old).is_empty()
            || !self.variables.have_all_of(&old.variables)
    }

    /// The resources that hold something else at the start than in `old`.
    pub(super) fn changed_contents(&self, old: &Self) -> BTreeSet<String> {
        let (new, before) = (&self.scene.manifest, &old.scene.manifest);
        self.contents.changed(new, &old.contents, before)
    }

    /// Whether some kernel has an array of shared memory whose size is that of the launch.
    pub(super) fn has_dynamic_shared(&self) -> bool {
        Outline::new(&self.ptx).has_dynamic_shared
    }
}

/// Threads of a block that the occupancy suggests for a pass, and the shape of its launches, where that is always the
/// same.
///
/// # Errors
/// The device's, where it does not allow that shape.
pub(super) fn shapes(
    declared: &scene::Pass,
    function: &Function,
    device: &Device,
) -> device::Result<(u32, Option<LaunchConfig>)> {
    let shared_bytes = match declared.shared_bytes.constant() {
        Some(Number::Int(bytes)) => bytes as u32,
        Some(Number::Float(_) | Number::Bool(_)) | None => 0,
    };
    let suggested = function.suggested_block(shared_bytes)?;
    if !declared.is_constant() {
        return Ok((suggested, None));
    }
    let (inputs, rounds) = (Inputs::default(), []);
    // A constant shape was looked at when the manifest was read: it has a value, and is not empty.
    let config = shape(declared, suggested, &Scope { inputs: &inputs, rounds: &rounds, read: &[] });
    let config = config.unwrap_or_default();
    config.map_or(Ok(()), |config| config.check(function, device.info()))?;
    Ok((suggested, config))
}

/// The shape of a launch in `scope`, where the occupancy suggests a block; `None` where there is nothing to launch.
fn shape(
    declared: &scene::Pass,
    suggested: u32,
    scope: &Scope<'_>,
) -> Result<Option<LaunchConfig>, String> {
    let Some((grid, block)) = declared.shape.launch(scope, suggested)? else { return Ok(None) };
    let bytes = scope.integer(&declared.shared_bytes);
    let bytes = bytes.map_err(|problem| format!("`shared`: {problem}"))?;
    let mut config = LaunchConfig::new(grid, block);
    config.shared_bytes = u32::try_from(bytes)
        .map_err(|_| format!("`shared` is {bytes}, which is no size in bytes"))?;
    config.lockstep = declared.lockstep;
    config.cooperative = declared.cooperative;
    Ok(Some(config))
}
