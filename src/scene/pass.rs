//! The passes of a manifest: which kernels run when, how often, and with what.

use super::{Formula, Half, Scope, Source};
use crate::cuda::Position;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Inputs, Number};

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
