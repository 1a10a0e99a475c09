//! The manifest of a scene, typed and checked.

use std::collections::{BTreeMap, BTreeSet};

#[cfg(feature = "cli")]
use super::Initial;
use super::{
    Check, CompileOptions, Formula, Golden, Half, Number, Parameter, Plot, Preset, Resource,
    ResourceId, Scope, Source, Stat, Value, Variable, View, ViewId, suggestion::suggestion,
};
use crate::cuda::Position;

/// What a scene consists of, as its first comment says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    /// Title to show; the scene's name where the manifest gives none.
    pub title: String,
    /// One sentence about it; may be empty.
    pub summary: String,
    /// Seconds that a step advances.
    pub dt: f64,
    /// Constants of the compilation.
    pub constants: Vec<Constant>,
    /// How the source is compiled.
    pub compile: CompileOptions,
    /// Buffers, arrays and textures; a [`ResourceId`] is an index into them.
    pub resources: Vec<Resource>,
    /// Names of those whose type is wrong: what elements they have is not known.
    pub(super) untyped: BTreeSet<String>,
    /// Variables of the source that are set.
    pub variables: Vec<Variable>,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Values of them that are set together.
    pub presets: Vec<Preset>,
    /// Passes, in the file's order.
    pub passes: Vec<Pass>,
    /// What runs in which order, and how often.
    pub entries: Vec<Entry>,
    /// What is drawn, in the file's order; none where nothing can be.
    pub views: Vec<View>,
    /// Statistics beside those that every resource has.
    pub stats: Vec<Stat>,
    /// Checks of the test mode.
    pub checks: Vec<Check>,
    /// Plots of numbers.
    pub plots: Vec<Plot>,
    /// What the test mode compares with files.
    pub goldens: Vec<Golden>,
}

/// A constant of the compilation: `constexpr` in the prelude.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// The name that the source uses.
    pub name: String,
    /// Its value.
    pub value: Number,
    /// Where it is declared.
    pub at: Position,
}

/// A launch that the manifest asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// The kernel, perhaps with template arguments: `advance<4>`.
    pub kernel: String,
    /// When it runs.
    pub on: When,
    /// How many threads it has.
    pub shape: Shape,
    /// Dynamic shared memory of each block in bytes.
    pub shared_bytes: Formula,
    /// Whether the threads of a warp run in lockstep, on the CPU device.
    pub lockstep: bool,
    /// Whether its kernel is guarded on an NVIDIA device.
    pub guarded: bool,
    /// Whether all blocks are there at once, so that they may wait for each other.
    pub cooperative: bool,
    /// What the manifest gives to parameters of the kernel, over what their names mean.
    pub given: Vec<Given>,
    /// What the rounds of the loops around it are called, from the outermost; empty for those without a name.
    pub counters: Vec<String>,
    /// Bytes that a launch must read and write, for benchmarks.
    pub bytes: Option<f64>,
    /// Operations in floating point that a launch must do.
    pub flops: Option<f64>,
    /// Where the kernel is named.
    pub at: Position,
}

impl Pass {
    /// Whether all its launches have the same shape.
    pub fn is_constant(&self) -> bool {
        self.formulas().all(|formula| formula.constant().is_some())
    }

    /// The expressions of its shape.
    pub(super) fn formulas(&self) -> impl Iterator<Item = &Formula> {
        self.shape.formulas().chain([&self.shared_bytes])
    }
}

/// What a kernel's parameter is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The parameter's name; of one without a name its place, counted from 1.
    pub parameter: String,
    /// What it is given.
    pub source: Source,
    /// The type that the manifest casts it to: `int *`.
    pub cast: Option<String>,
    /// Where the manifest says so.
    pub at: Position,
}

/// A pass, or several that are repeated together.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When it runs.
    pub on: When,
    /// It runs only where this counts as true.
    pub only_if: Option<Formula>,
    /// How often it runs in a row; once where the manifest does not say.
    pub repeat: Option<Repeat>,
    /// What is filled with zeros before each round.
    pub clear: Vec<Half>,
    /// What runs.
    pub what: What,
    /// Where it is declared.
    pub at: Position,
}

/// What an [`Entry`] runs.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The pass with this index.
    Launch(usize),
    /// These, one after the other.
    Group {
        /// The name to show, where the manifest gives one.
        name: Option<String>,
        /// What it consists of.
        entries: Vec<Entry>,
    },
    /// A copy on the device.
    Copy {
        /// What is copied.
        from: Half,
        /// What it is copied to, of the same type and size.
        to: Half,
    },
}

/// When a pass runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// On reset, and when one of its resources is new.
    Reset,
    /// In every step.
    Step,
}

/// How often something runs in a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeat {
    /// So often; never where it is below 1.
    pub times: Formula,
    /// No more once this holds.
    pub until: Option<Until>,
}

/// What ends a loop before its last round.
#[derive(Clone, Debug, PartialEq)]
pub struct Until {
    /// It holds where this counts as true behind a round.
    pub condition: Formula,
    /// It is looked at behind every so many rounds.
    pub every: u32,
    /// Where it is declared.
    pub at: Position,
}

/// How many threads a pass has.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// At least one thread for each element or texel.
    Over {
        /// Threads needed in x, y and z.
        extent: [Formula; 3],
        /// The block; `None`: chosen by occupancy.
        block: Option<[Formula; 3]>,
    },
    /// Exactly this.
    Explicit {
        /// Blocks.
        grid: [Formula; 3],
        /// Threads in each block.
        block: [Formula; 3],
    },
}

/// A grid and a block.
pub type Launch = ([u32; 3], [u32; 3]);

impl Shape {
    /// Most threads that a block can have in x, y and z on any device.
    pub(super) const MOST_THREADS: [i64; 3] = [1024, 1024, 64];
    /// Most blocks that a grid can have in x, y and z.
    pub(super) const MOST_BLOCKS: [i64; 3] = [i32::MAX as i64, 65535, 65535];
    /// Most threads that `over` can ask for in x, y and z: in y and z what the most blocks of the largest size have.
    pub(super) const MOST_OVER: [i64; 3] = [
        1 << 40,
        Self::MOST_BLOCKS[1] * Self::MOST_THREADS[1],
        Self::MOST_BLOCKS[2] * Self::MOST_THREADS[2],
    ];

    /// The grid and the block, where `threads` is the block size that occupancy suggests; `None` where there is nothing
    /// to do, since an axis is 0 long.
    ///
    /// Such a block is flat for one dimension, 32 wide for two, 8 by 8 for three.
    ///
    /// # Errors
    ///
    /// A sentence, where an expression has no value, or one that is below 0 or too large.
    pub fn launch(&self, scope: &Scope<'_>, threads: u32) -> Result<Option<Launch>, String> {
        let block_of = |block: &[Formula; 3]| {
            let block = axes(scope, "block", block, Self::MOST_THREADS)?;
            Ok::<_, String>(block.map(|axis| axis as u32))
        };
        let (grid, block) = match self {
            Self::Explicit { grid, block } => {
                let grid = axes(scope, "grid", grid, Self::MOST_BLOCKS)?;
                (grid.map(|axis| axis as u32), block_of(block)?)
            }
            Self::Over { extent, block } => {
                let extent = axes(scope, "over", extent, Self::MOST_OVER)?;
                if extent.contains(&0) {
                    return Ok(None);
                }
                let block = match block {
                    Some(block) => block_of(block)?,
                    None => suggested(extent, threads.max(1)),
                };
                let grid = std::array::from_fn(|axis| blocks(extent[axis], block[axis]));
                for axis in 1..3 {
                    let (most, name) = (Self::MOST_BLOCKS[axis], ["x", "y", "z"][axis]);
                    if i64::from(grid[axis]) > most {
                        return Err(format!(
                            "`over` is {} in {name}, which blocks of {} threads there make {} blocks of; a grid has at \
                             most {most}",
                            extent[axis], block[axis], grid[axis]
                        ));
                    }
                }
                (grid, block)
            }
        };
        Ok((!grid.contains(&0) && !block.contains(&0)).then_some((grid, block)))
    }

    /// Its expressions.
    pub(super) fn formulas(&self) -> impl Iterator<Item = &Formula> {
        let (first, second) = match self {
            Self::Over { extent, block } => (extent, block.as_ref()),
            Self::Explicit { grid, block } => (grid, Some(block)),
        };
        first.iter().chain(second.into_iter().flatten())
    }
}

/// The numbers of three axes, each from 0 to the most that it may be.
fn axes(
    scope: &Scope<'_>,
    key: &str,
    formulas: &[Formula; 3],
    most: [i64; 3],
) -> Result<[u64; 3], String> {
    let mut found = [0; 3];
    for (axis, formula) in formulas.iter().enumerate() {
        let value = scope.integer(formula).map_err(|problem| format!("`{key}`: {problem}"))?;
        let most = most[axis];
        if !(0..=most).contains(&value) {
            let axis = ["x", "y", "z"][axis];
            return Err(format!("`{key}` is {value} in {axis}, but must lie between 0 and {most}"));
        }
        found[axis] = value.unsigned_abs();
    }
    Ok(found)
}

/// A block of about `threads` threads for a grid over `extent`.
fn suggested(extent: [u64; 3], threads: u32) -> [u32; 3] {
    match extent {
        [_, 1, 1] => [threads, 1, 1],
        [_, _, 1] => [threads.min(32), (threads / 32).max(1), 1],
        _ => [threads.min(8), (threads / 8).clamp(1, 8), (threads / 64).max(1)],
    }
}

/// Blocks along an axis; kernels over more than 2^31 - 1 of them stride over the grid.
fn blocks(extent: u64, block: u32) -> u32 {
    extent.div_ceil(u64::from(block.max(1))).clamp(1, i32::MAX as u64) as u32
}

/// What becomes of a resource's contents when a manifest takes another's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The old resource goes on.
    Kept(ResourceId),
    /// Same contents, but whether OpenGL draws it has changed: they are to be copied.
    Moved(ResourceId),
    /// What there was before goes on in another layout: of another type or size, or called otherwise.
    Converted(ResourceId),
    /// It is new, or begins with other data, or what there was before has no place in it.
    New,
}

/// What `named` has for a parameter, in the kind of its `value`, where it accepts that.
fn accepted(
    parameter: &Parameter,
    value: &Value,
    named: &BTreeMap<String, Value>,
) -> Option<Value> {
    let given = named.get(&parameter.name)?.as_kind_of(value)?;
    parameter.accepts(&given).then_some(given)
}

impl Manifest {
    /// Gives a resource the type that the compiler knows.
    ///
    /// # Errors
    ///
    /// What stands behind its name in a sentence, where it is too large then.
    #[cfg(feature = "gl")]
    pub(crate) fn set_type(&mut self, id: ResourceId, of: super::Type) -> Result<(), String> {
        use super::{ResourceKind, decode::too_many_bytes};
        let Some(resource) = self.resources.get_mut(id.0) else { return Ok(()) };
        match &mut resource.kind {
            ResourceKind::Buffer(elements) | ResourceKind::Array(elements) => elements.of = of,
            ResourceKind::Texture(_) => {}
        }
        too_many_bytes(resource).map_or(Ok(()), Err)
    }

    /// The buffers, arrays and textures in the file's order; a [`ResourceId`] is an index into them.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// The resource with this id.
    ///
    /// # Panics
    ///
    /// If the id is another manifest's and beyond this one's resources.
    pub fn resource(&self, id: ResourceId) -> &Resource {
        &self.resources[id.0]
    }

    /// The resource with this name.
    pub fn find_resource(&self, name: &str) -> Option<ResourceId> {
        self.resources.iter().position(|r| r.name == name).map(ResourceId)
    }

    /// What resources and variables begin with, where that is told.
    #[cfg(feature = "cli")]
    pub(crate) fn initials(&self) -> impl Iterator<Item = &Initial> {
        let resources = self.resources.iter().filter_map(|resource| resource.initial.as_ref());
        resources.chain(self.variables.iter().map(|variable| &variable.initial))
    }

    /// The view that is called `name`; the first one where there is no name.
    ///
    /// # Errors
    ///
    /// A sentence, where there is none.
    pub fn find_view(&self, name: Option<&str>) -> Result<ViewId, String> {
        if self.views.is_empty() {
            return Err("the scene has nothing to draw: it needs a [view]".to_owned());
        }
        let Some(name) = name else { return Ok(ViewId::default()) };
        let names = || self.views.iter().map(|view| view.name.as_str());
        let found = names().position(|known| known == name);
        let unknown = || format!("there is no view `{name}`{}", suggestion(name, names()));
        found.map(ViewId).ok_or_else(unknown)
    }

    /// The index of the plot that is called `name`.
    ///
    /// # Errors
    ///
    /// A sentence, where there is none.
    pub fn find_plot(&self, name: &str) -> Result<usize, String> {
        let names = || self.plots.iter().map(|plot| plot.name.as_str());
        let unknown = || format!("there is no plot `{name}`{}", suggestion(name, names()));
        names().position(|known| known == name).ok_or_else(unknown)
    }

    /// The index of the parameter with this name.
    pub fn find_parameter(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|p| p.name == name)
    }

    /// What runs `when`, in this order.
    pub fn entries(&self, when: When) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.on == when)
    }

    /// What to call an entry: its kernel, or its own name, or the kernels of its passes.
    pub fn name_of(&self, entry: &Entry) -> String {
        match &entry.what {
            What::Launch(pass) => {
                self.passes.get(*pass).map_or_else(String::new, |pass| pass.kernel.clone())
            }
            What::Group { name: Some(name), .. } => name.clone(),
            What::Group { name: None, entries } => {
                let names: Vec<String> = entries.iter().map(|entry| self.name_of(entry)).collect();
                names.join(", ")
            }
            What::Copy { from, to } => {
                format!("copy {} to {}", self.name_of_half(*from), self.name_of_half(*to))
            }
        }
    }

    fn name_of_half(&self, half: Half) -> String {
        let name = &self.resource(half.resource).name;
        if half.next { format!("{name}_next") } else { name.clone() }
    }

    /// The value of the constant with this name.
    pub fn find_constant(&self, name: &str) -> Option<Number> {
        self.constants.iter().find(|constant| constant.name == name).map(|c| c.value)
    }

    /// Each parameter's value to start with.
    pub fn defaults(&self) -> Vec<Value> {
        self.parameters.iter().map(|p| p.default.clone()).collect()
    }

    /// For each resource, what becomes of its contents when this manifest takes the place of `old`.
    pub fn changes(&self, old: &Self) -> Vec<Change> {
        let change = |new: &Resource| {
            let own = old.find_resource(&new.name);
            let renamed = || old.find_resource(new.was.as_deref()?);
            let Some(id) = own.or_else(renamed) else { return Change::New };
            let before = old.resource(id);
            match (before.keeps_contents(new), before.shared == new.shared) {
                (true, true) if own.is_some() => Change::Kept(id),
                (true, false) if own.is_some() => Change::Moved(id),
                (true | false, _) if new.keep && before.begins_as(new) => Change::Converted(id),
                (true | false, _) => Change::New,
            }
        };
        self.resources.iter().map(change).collect()
    }

    /// Each parameter's value when this manifest takes the place of `old`, whose values are `values`.
    ///
    /// A parameter declared as before keeps its value; an edited declaration starts anew.
    pub fn carry(&self, old: &Self, values: &[Value]) -> Vec<Value> {
        let carry = |new: &Parameter| {
            let index = old.find_parameter(&new.name)?;
            let before = &old.parameters[index];
            let same = before.default == new.default && before.control == new.control;
            values.get(index).filter(|_| same).cloned()
        };
        self.parameters.iter().map(|p| carry(p).unwrap_or_else(|| p.default.clone())).collect()
    }

    /// The values of the parameters by their names.
    pub fn named_values(&self, values: &[Value]) -> BTreeMap<String, Value> {
        let named = self.parameters.iter().zip(values);
        named.map(|(parameter, value)| (parameter.name.clone(), value.clone())).collect()
    }

    /// `values`, but for those that `named` has, where the parameters accept them.
    pub fn take_values(&self, named: &BTreeMap<String, Value>, values: &[Value]) -> Vec<Value> {
        let all = self.parameters.iter().zip(values);
        let value = |(parameter, value): (&Parameter, &Value)| {
            accepted(parameter, value, named).unwrap_or_else(|| value.clone())
        };
        all.map(value).collect()
    }

    /// The parameters that do not accept what `named` has for them.
    pub fn refused<'a>(&'a self, named: &BTreeMap<String, Value>) -> Vec<&'a str> {
        let defaults = self.defaults();
        let refuses = |(parameter, value): &(&Parameter, &Value)| {
            named.contains_key(&parameter.name) && accepted(parameter, value, named).is_none()
        };
        let refused = self.parameters.iter().zip(&defaults).filter(refuses);
        refused.map(|(parameter, _)| parameter.name.as_str()).collect()
    }

    /// Seconds that a step advances while the parameters are `values`: the value of a `float` parameter
    /// called `dt`, else the manifest's.
    pub fn step_seconds(&self, values: &[Value]) -> f64 {
        match self.find_parameter("dt").and_then(|index| values.get(index)) {
            Some(Value::Float(dt)) => *dt,
            _ => self.dt,
        }
    }

    /// The index and the value that `text`, from a command line, gives the parameter called `name`.
    ///
    /// # Errors
    ///
    /// A sentence, where there is no such parameter, or the text is no value of its kind and range.
    pub fn parse_parameter(&self, name: &str, text: &str) -> Result<(usize, Value), String> {
        let Some(index) = self.find_parameter(name) else {
            let names = self.parameters.iter().map(|p| p.name.as_str());
            return Err(format!("the scene has no parameter `{name}`{}", suggestion(name, names)));
        };
        Ok((index, self.parameters[index].parse(text)?))
    }

    /// The constants, each with the line, from 1, of what is compiled before the source that declares it: a mistake
    /// that the compiler finds there is one of the manifest.
    pub fn lines_of_prelude(&self) -> impl Iterator<Item = (u32, &Constant)> {
        // Before them come `WARPAINT`'s line and one for each of them.
        let first =
            u32::try_from(self.constants.len()).map_or(u32::MAX, |count| count.saturating_add(2));
        (first..).zip(&self.constants)
    }

    /// What is compiled before the source: `WARPAINT` so that a file can tell, and the constants, a line each.
    pub(super) fn prelude(&self) -> String {
        let mut text = String::from("#define WARPAINT 1\n");
        // What the manifest names comes before a macro of that name, as `M_PI`.
        for Constant { name, .. } in &self.constants {
            text.push_str(&format!("#undef {name}\n"));
        }
        for Constant { name, value, .. } in &self.constants {
            let (ctype, value) = match *value {
                Number::Int(Number::LEAST) => ("long long", "(-9223372036854775807LL - 1)".into()),
                Number::Int(value) if i32::try_from(value).is_ok() => ("int", value.to_string()),
                Number::Int(value) if i64::try_from(value).is_ok() => {
                    ("long long", format!("{value}LL"))
                }
                Number::Int(value) => ("unsigned long long", format!("{value}ULL")),
                Number::Float(value) => ("float", format!("{:?}f", value as f32)),
                Number::Bool(value) => ("bool", value.to_string()),
            };
            text.push_str(&format!("[[maybe_unused]] constexpr {ctype} {name} = {value};\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Inputs;

    fn constants(axes: [u32; 3]) -> [Formula; 3] {
        axes.map(|axis| Formula::from(Number::Int(axis.into())))
    }

    #[test]
    fn every_element_gets_a_thread() {
        let (inputs, rounds) = (Inputs::default(), []);
        let scope = Scope { inputs: &inputs, rounds: &rounds, read: &[] };
        let extents = [[1, 1, 1], [1000, 1, 1], [1, 1, 7], [640, 480, 1], [33, 1, 1], [20, 30, 40]];
        for extent in extents {
            for threads in [0, 1, 32, 96, 256, 1024] {
                let shape = Shape::Over { extent: constants(extent), block: None };
                let (grid, block) = shape.launch(&scope, threads).unwrap().unwrap();
                assert!(block.iter().product::<u32>() <= threads.max(1), "{extent:?} {threads}");
                for axis in 0..3 {
                    let reached = grid[axis] * block[axis];
                    assert!(reached >= extent[axis] && block[axis] > 0, "{extent:?} {threads}");
                }
            }
        }
        let block = Some(constants([16, 8, 1]));
        let shape = Shape::Over { extent: constants([100, 100, 1]), block };
        assert_eq!(shape.launch(&scope, 256), Ok(Some(([7, 13, 1], [16, 8, 1]))));
        let (grid, block) = (constants([3, 2, 1]), constants([4, 1, 1]));
        let shape = Shape::Explicit { grid, block };
        assert_eq!(shape.launch(&scope, 256), Ok(Some(([3, 2, 1], [4, 1, 1]))));
        // The most that a texture is long, which is more than a grid has blocks.
        let tall = |block| Shape::Over { extent: constants([1, 65536, 1]), block };
        let launch = tall(None).launch(&scope, 256);
        assert_eq!(launch, Ok(Some(([1, 8192, 1], [32, 8, 1]))));
        let launch = tall(Some(constants([256, 1, 1]))).launch(&scope, 256);
        assert!(launch.unwrap_err().contains("65536 blocks"));
        let nothing = Shape::Over { extent: constants([5, 0, 1]), block: None };
        assert_eq!(nothing.launch(&scope, 256), Ok(None));
    }
}
