//! Operands: registers, immediates, special registers, symbols, addresses, vectors.

use super::keyword::keywords;

/// A register of one function: an index into its [`Registers`](super::ast::Registers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A label of one function: an index into [`Body::labels`](super::ast::Body::labels).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// Something with a name and an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symbol {
    /// Of the module: an index into [`Module::variables`](super::ast::Module::variables).
    Variable(u32),
    /// Of the function's body: an index into [`Body::locals`](super::ast::Body::locals).
    Local(u32),
    /// An input parameter of the function: an index into its `params`.
    Param(u32),
    /// A return parameter of the function: an index into its `returns`.
    Return(u32),
    /// A function: an index into [`Module::functions`](super::ast::Module::functions).
    Function(u32),
}

/// What an address starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A register's value.
    Reg(Reg),
    /// A symbol's address.
    Symbol(Symbol),
    /// Zero: the address is the offset.
    Absolute,
}

/// The operand of a memory access: `[base + offset]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// Where it starts.
    pub base: Base,
    /// Bytes after that.
    pub offset: i64,
}

/// One operand.
///
/// The operands of an instruction are in PTX order, destinations apart from sources; what stands where is
/// said at each [`Op`](super::inst::Op).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A predicate register's complement: `!%p1`.
    Not(Reg),
    /// An integer; only the low bits that the instruction's type has count.
    Int(i64),
    /// A single-precision number by its bits (`0f…`).
    F32(u32),
    /// A double-precision number by its bits (`0d…`, or a decimal); where the type is `f32` its value counts.
    F64(u64),
    /// A special register.
    Special(Special),
    /// The address of a symbol, plus bytes; for `.func` parameters in registers and `call`, the symbol itself.
    Symbol(Symbol, i64),
    /// A memory operand.
    Address(Address),
    /// `{a, b}`; [`Operand::Sink`] where an element is not wanted.
    Vector(Box<[Operand]>),
    /// `[a, b, …]`, only in instructions that are not interpreted.
    Bracket(Box<[Operand]>),
    /// A branch target.
    Label(Label),
    /// A list of branch targets: an index into [`Body::tables`](super::ast::Body::tables).
    Table(u32),
    /// `_`: not wanted.
    Sink,
}

impl Operand {
    /// The register, where the operand is one.
    pub fn reg(&self) -> Option<Reg> {
        match self {
            Self::Reg(reg) => Some(*reg),
            _ => None,
        }
    }

    /// The parts of a vector; any other operand is one part.
    pub fn lanes(&self) -> &[Self] {
        match self {
            Self::Vector(lanes) => lanes,
            other => std::slice::from_ref(other),
        }
    }

    /// Calls `visit` for every register in it, also inside vectors and addresses.
    pub fn for_each_reg(&self, visit: &mut impl FnMut(Reg)) {
        match self {
            Self::Reg(reg) | Self::Not(reg) => visit(*reg),
            Self::Address(Address { base: Base::Reg(reg), .. }) => visit(*reg),
            Self::Vector(parts) | Self::Bracket(parts) => {
                parts.iter().for_each(|part| part.for_each_reg(visit));
            }
            _ => {}
        }
    }

    /// Calls `change` for every register in it, to renumber them.
    pub fn for_each_reg_mut(&mut self, change: &mut impl FnMut(&mut Reg)) {
        match self {
            Self::Reg(reg) | Self::Not(reg) => change(reg),
            Self::Address(Address { base: Base::Reg(reg), .. }) => change(reg),
            Self::Vector(parts) | Self::Bracket(parts) => {
                parts.iter_mut().for_each(|part| part.for_each_reg_mut(change));
            }
            _ => {}
        }
    }

    /// Calls `change` for every symbol in it, to renumber them.
    pub fn for_each_symbol_mut(&mut self, change: &mut impl FnMut(&mut Symbol)) {
        match self {
            Self::Symbol(symbol, _) => change(symbol),
            Self::Address(Address { base: Base::Symbol(symbol), .. }) => change(symbol),
            Self::Vector(parts) | Self::Bracket(parts) => {
                parts.iter_mut().for_each(|part| part.for_each_symbol_mut(change));
            }
            _ => {}
        }
    }
}

keywords! {
    /// A component of a vector special register.
    Axis {
        /// The first.
        X = "x",
        /// The second.
        Y = "y",
        /// The third.
        Z = "z",
        /// The fourth; always 0 (of an index) or 1 (of a size).
        W = "w",
    }
}

/// A special register (PTX ISA, section 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// One with components, such as `%tid.x`.
    Axis(Grid, Axis),
    /// One with components, as a whole (`mov.v4`).
    Whole(Grid),
    /// One without components.
    Scalar(Scalar),
    /// `%envreg0` to `%envreg31`, given by the driver.
    Envreg(u8),
    /// `%pm0` to `%pm7`; `true`: the 64-bit one.
    Pm(u8, bool),
}

keywords! {
    /// A special register with components.
    Grid {
        /// Index of the thread in its block.
        Tid = "%tid",
        /// Size of the block.
        Ntid = "%ntid",
        /// Index of the block in the grid.
        Ctaid = "%ctaid",
        /// Size of the grid.
        Nctaid = "%nctaid",
        /// Index of the cluster in the grid.
        Clusterid = "%clusterid",
        /// Number of clusters.
        Nclusterid = "%nclusterid",
        /// Index of the block in its cluster.
        ClusterCtaid = "%cluster_ctaid",
        /// Size of the cluster.
        ClusterNctaid = "%cluster_nctaid",
    }
}

keywords! {
    /// A special register without components.
    Scalar {
        /// Index of the lane in the warp.
        Laneid = "%laneid",
        /// Index of the warp in the block.
        Warpid = "%warpid",
        /// Most warps in a block.
        Nwarpid = "%nwarpid",
        /// Index of the multiprocessor.
        Smid = "%smid",
        /// Number of multiprocessors.
        Nsmid = "%nsmid",
        /// Number of the launch.
        Gridid = "%gridid",
        /// Rank of the block in its cluster.
        ClusterCtarank = "%cluster_ctarank",
        /// Number of blocks in the cluster.
        ClusterNctarank = "%cluster_nctarank",
        /// Whether the launch named a cluster size.
        IsExplicitCluster = "%is_explicit_cluster",
        /// Bit of this lane.
        LanemaskEq = "%lanemask_eq",
        /// Bits of this lane and those below.
        LanemaskLe = "%lanemask_le",
        /// Bits of the lanes below.
        LanemaskLt = "%lanemask_lt",
        /// Bits of this lane and those above.
        LanemaskGe = "%lanemask_ge",
        /// Bits of the lanes above.
        LanemaskGt = "%lanemask_gt",
        /// Cycle counter, low half.
        Clock = "%clock",
        /// Cycle counter, high half.
        ClockHi = "%clock_hi",
        /// Cycle counter.
        Clock64 = "%clock64",
        /// Nanoseconds, all 64 bits.
        Globaltimer = "%globaltimer",
        /// Nanoseconds, low half.
        GlobaltimerLo = "%globaltimer_lo",
        /// Nanoseconds, high half.
        GlobaltimerHi = "%globaltimer_hi",
        /// Offset of the shared memory kept for the system, its begin.
        ReservedSmemOffsetBegin = "%reserved_smem_offset_begin",
        /// Its end.
        ReservedSmemOffsetEnd = "%reserved_smem_offset_end",
        /// Its capacity.
        ReservedSmemOffsetCap = "%reserved_smem_offset_cap",
        /// Its first slot.
        ReservedSmemOffset0 = "%reserved_smem_offset_0",
        /// Its second slot.
        ReservedSmemOffset1 = "%reserved_smem_offset_1",
        /// All shared memory of the block in bytes.
        TotalSmemSize = "%total_smem_size",
        /// All shared memory of the block with what the system keeps, in bytes.
        AggrSmemSize = "%aggr_smem_size",
        /// Dynamic shared memory of the block in bytes.
        DynamicSmemSize = "%dynamic_smem_size",
        /// The running graph.
        CurrentGraphExec = "%current_graph_exec",
        /// Lanes in a warp: the constant 32.
        WarpSize = "WARP_SZ",
    }
}

impl Special {
    /// The special register spelt `text`, with its `%`.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(scalar) = Scalar::parse(text) {
            return Some(Self::Scalar(scalar));
        }
        if let Some(grid) = Grid::parse(text) {
            return Some(Self::Whole(grid));
        }
        if let Some((grid, axis)) = text.split_once('.') {
            return Some(Self::Axis(Grid::parse(grid)?, Axis::parse(axis)?));
        }
        if let Some(number) = text.strip_prefix("%envreg") {
            return number.parse().ok().filter(|n| *n < 32).map(Self::Envreg);
        }
        let number = text.strip_prefix("%pm")?;
        let wide = number.ends_with("_64");
        number.trim_end_matches("_64").parse().ok().filter(|n| *n < 8).map(|n| Self::Pm(n, wide))
    }

    /// Its width in bits where it is one value.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Scalar(
                Scalar::Clock64 | Scalar::Globaltimer | Scalar::Gridid | Scalar::CurrentGraphExec,
            )
            | Self::Pm(_, true) => 64,
            Self::Scalar(Scalar::IsExplicitCluster) => 1,
            _ => 32,
        }
    }
}

impl std::fmt::Display for Special {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Axis(grid, axis) => write!(f, "{grid}.{axis}"),
            Self::Whole(grid) => write!(f, "{grid}"),
            Self::Scalar(scalar) => write!(f, "{scalar}"),
            Self::Envreg(n) => write!(f, "%envreg{n}"),
            Self::Pm(n, false) => write!(f, "%pm{n}"),
            Self::Pm(n, true) => write!(f, "%pm{n}_64"),
        }
    }
}
