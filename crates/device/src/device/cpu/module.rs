//! Loaded modules: compiled kernels and the memory of variables.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use super::{
    Lanes, LaunchOptions, abi,
    interp::{self, Debugger, Order},
    jit::{self, Groups, Kernel},
    layout::Globals,
    link::Linked,
    memory::Range,
    shared::{Owned, Shared},
};
use crate::{
    device::{
        Arguments, CachePreference, DeviceId, DeviceInfo, Error, FunctionInfo, LaunchConfig,
        Result, Slice,
    },
    ptx,
};

/// A module. Its functions keep it loaded.
#[derive(Clone, Debug)]
pub struct Module(Arc<Loaded>);

/// A kernel of a module.
#[derive(Clone)]
pub struct Function {
    module: Arc<Loaded>,
    /// Among the module's kernels.
    index: usize,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// A kernel of a module.
#[derive(Debug)]
struct Translated {
    /// As it was translated when the module was loaded.
    loaded: Arc<Kernel>,
    /// For other choices of [`Lanes`], once they are asked for: with groups as large as is fast, or small.
    others: [[OnceLock<Result<Arc<Kernel>>>; 2]; 3],
}

#[derive(Debug)]
struct Loaded {
    shared: Arc<Shared>,
    kernels: Vec<Translated>,
    /// What they were loaded with.
    groups: Groups,
    /// Names and memory of the variables.
    variables: Vec<(String, Range)>,
    source: Source,
}

/// What the interpreter is given, once it is asked for.
#[derive(Debug)]
struct Source {
    ptx: Arc<ptx::ast::Module>,
    text: String,
    globals: Globals,
    program: OnceLock<Result<Arc<interp::Program>>>,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // Launches keep their module themselves; only copies of variables may still be on a stream.
        if !self.variables.is_empty() {
            self.shared.free(self.variables.iter().map(|(_, range)| Owned::Variable(*range)));
        }
    }
}

impl Module {
    /// Loads pieces of PTX, linked, with groups of threads side by side or not.
    pub(super) fn link(shared: Arc<Shared>, pieces: &[(&str, &str)], lanes: Lanes) -> Result<Self> {
        let Linked { ptx, text } = Linked::new(pieces)?;
        // From here on memory is given back with the module, also when a kernel does not compile.
        let source = Source {
            ptx: Arc::new(ptx),
            text,
            globals: Globals::default(),
            program: OnceLock::new(),
        };
        let groups = Groups { wish: lanes, wide: true };
        let (kernels, variables) = (Vec::new(), Vec::new());
        let mut loaded = Loaded { shared, kernels, groups, variables, source };
        let (arena, ptx) = (&loaded.shared.arena, loaded.source.ptx.clone());
        let mut taken = Vec::new();
        let globals = Globals::new(&ptx, |bytes, permission| {
            let range = arena.alloc_zeroed(bytes, permission)?;
            taken.push((String::new(), range));
            Ok(range)
        });
        // Where one does not fit, those before it are given back, too.
        loaded.variables = taken;
        let globals = globals?;
        loaded.variables.clone_from(&globals.named);
        let arena = &loaded.shared.arena;
        if !globals.contents.iter().all(|(address, bytes)| arena.write(*address, bytes)) {
            return Err(jit::internal("a variable lies outside its memory"));
        }
        loaded.source.globals = globals;
        let translated =
            |kernel| Translated { loaded: Arc::new(kernel), others: Default::default() };
        loaded.kernels = loaded.translate(groups, None)?.into_iter().map(translated).collect();
        Ok(Self(Arc::new(loaded)))
    }

    /// The kernel with this (lowered) name.
    ///
    /// # Errors
    /// [`Error::NoSuchFunction`] with the names that there are.
    pub fn function(&self, name: &str) -> Result<Function> {
        let kernels = || self.0.kernels.iter().map(|kernel| &kernel.loaded);
        let index = kernels().position(|kernel| kernel.name == name);
        let index = index.ok_or_else(|| Error::NoSuchFunction {
            name: name.into(),
            available: kernels().map(|kernel| kernel.name.clone()).collect(),
        })?;
        Ok(Function { module: self.0.clone(), index })
    }

    /// The memory of a `__device__` or `__constant__` variable with this (lowered) name.
    ///
    /// # Errors
    /// [`Error::NoSuchGlobal`].
    pub fn global(&self, name: &str) -> Result<Slice<'_>> {
        let found = self.0.variables.iter().find(|(variable, _)| variable == name);
        let (_, range) = found.ok_or_else(|| Error::NoSuchGlobal { name: name.into() })?;
        Ok(Slice::new(self.0.shared.id, range.address, range.bytes as usize))
    }
}

impl Loaded {
    /// Translates the kernels, all or the one of this name, with such groups.
    fn translate(&self, groups: Groups, only: Option<&str>) -> Result<Vec<Kernel>> {
        let Source { ptx, text, globals, .. } = &self.source;
        jit::compile((ptx, text), globals, self.shared.arena.tables(), groups, only)
    }
}

impl Function {
    /// As its module was loaded.
    pub(super) fn kernel(&self) -> &Arc<Kernel> {
        &self.translated().loaded
    }

    fn translated(&self) -> &Translated {
        &self.module.kernels[self.index]
    }

    /// Translated for `lanes`, and for blocks of so many threads along x: a group's are neighbours there.
    ///
    /// # Errors
    /// Those of the translation.
    pub(super) fn kernel_with(&self, lanes: Lanes, row: u32) -> Result<Arc<Kernel>> {
        let widest = self.version(Groups { wish: lanes, wide: true })?;
        match (row as usize).is_multiple_of(widest.width) {
            true => Ok(widest),
            false => self.version(Groups { wish: lanes, wide: false }),
        }
    }

    /// Translated with such groups. It is this kernel alone that the first launch with others waits for.
    fn version(&self, groups: Groups) -> Result<Arc<Kernel>> {
        let Translated { loaded, others } = self.translated();
        if groups == self.module.groups {
            return Ok(loaded.clone());
        }
        let translated = others[groups.wish as usize][usize::from(groups.wide)].get_or_init(|| {
            let kernel = self.module.translate(groups, Some(&loaded.name))?.pop();
            kernel.map(Arc::new).ok_or_else(|| jit::internal("a kernel is lost"))
        });
        translated.clone()
    }

    /// Its module, ready to be interpreted.
    ///
    /// # Errors
    /// [`Error::UnsupportedPtx`] where the interpreter lacks something.
    pub(super) fn program(&self) -> Result<Arc<interp::Program>> {
        let source = &self.module.source;
        let decode = || interp::program(&source.ptx, &source.text, &source.globals).map(Arc::new);
        source.program.get_or_init(decode).clone()
    }

    /// Its module's code, and where the variables of that lie.
    pub(super) fn source(&self) -> (&ptx::ast::Module, &Globals) {
        (&self.module.source.ptx, &self.module.source.globals)
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.module.shared
    }

    pub(super) fn device_id(&self) -> DeviceId {
        self.module.shared.id
    }

    /// Its (lowered) name.
    pub fn name(&self) -> &str {
        &self.kernel().name
    }

    /// What it needs and allows.
    pub fn info(&self) -> &FunctionInfo {
        &self.kernel().info
    }

    /// How many threads of a block that is `row` threads wide run side by side in a launch with this choice; 1 where
    /// they run one after the other. It is translated so, as for such a launch, where that has not been done.
    ///
    /// ```
    /// use warpaint::device::cpu::{Device, Lanes};
    ///
    /// let ptx = ".version 7.0 .target sm_75 .address_size 64 .visible .entry nothing() { ret; }";
    /// let nothing = Device::new()?.load(ptx)?.function("nothing")?;
    /// assert_eq!(nothing.side_by_side(Lanes::Never, 64)?, 1);
    /// assert!(nothing.side_by_side(Lanes::Always, 64)? > 1);
    /// # Ok::<(), warpaint::device::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Device::load`](super::Device::load).
    pub fn side_by_side(&self, lanes: Lanes, row: u32) -> Result<usize> {
        let width = self.kernel_with(lanes, row)?.width;
        Ok(if (row as usize).is_multiple_of(width) { width } else { 1 })
    }

    /// A core does one block after the other.
    ///
    /// # Errors
    /// None on this device.
    pub fn active_blocks(&self, _threads: u32, _dynamic_shared_bytes: u32) -> Result<u32> {
        Ok(1)
    }

    /// Without effect: shared memory is no hardware of its own here.
    ///
    /// # Errors
    /// None on this device.
    pub fn prefer_shared_memory(&self, _percent: Option<u32>) -> Result<()> {
        Ok(())
    }

    /// Without effect.
    ///
    /// # Errors
    /// None on this device.
    pub fn set_cache_preference(&self, _preference: CachePreference) -> Result<()> {
        Ok(())
    }

    pub(in crate::device) fn device_info(&self) -> &DeviceInfo {
        &self.module.shared.info
    }

    /// The number of threads in a one-dimensional block that keeps the device busiest: enough to make the
    /// start of a block cheap, few enough that their registers stay in the first cache.
    ///
    /// # Errors
    /// None on this device.
    pub fn suggested_block(&self, _dynamic_shared_bytes: u32) -> Result<u32> {
        Ok(self.info().max_threads.min(256))
    }
}

impl Debugger {
    /// Prepares a launch; nothing has run yet, and the first thread of the first block is chosen.
    ///
    /// # Errors
    /// Those of [`Stream::launch_with`](super::Stream::launch_with), and
    /// [`Error::OutOfMemory`].
    pub fn start(
        function: &Function,
        config: &LaunchConfig,
        arguments: &Arguments,
    ) -> Result<Self> {
        let checked = crate::device::Function::Cpu(function.clone());
        let shared = function.shared().clone();
        config.check(&checked, &shared.info)?;
        arguments.check(&checked)?;
        let order = Order {
            program: function.program()?,
            kernel: function.name(),
            config: *config,
            arguments: arguments.bytes(),
            options: &LaunchOptions::interpreted(),
            abort: Arc::default(),
            workspace: config.cooperative.then(|| abi::workspace(&shared.arena)).transpose()?,
        };
        Self::new(shared, &order, function.module.clone())
    }
}
