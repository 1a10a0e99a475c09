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
        if let Self::Reg(reg) = self { Some(*reg) } else { None }
    }

    /// The symbol whose address it is, or is made from.
    pub fn symbol(&self) -> Option<Symbol> {
        match self {
            Self::Symbol(symbol, _) => Some(*symbol),
            Self::Address(Address { base: Base::Symbol(symbol), .. }) => Some(*symbol),
            Self::Address(Address { base: Base::Reg(_) | Base::Absolute, .. }) => None,
            Self::Reg(_) | Self::Not(_) | Self::Int(_) | Self::F32(_) | Self::F64(_) => None,
            Self::Special(_) | Self::Label(_) | Self::Table(_) | Self::Sink => None,
            // Of one each.
            Self::Vector(_) | Self::Bracket(_) => None,
        }
    }

    /// The memory that is accessed, where the operand is such.
    pub fn address(&self) -> Option<&Address> {
        if let Self::Address(address) = self { Some(address) } else { None }
    }

    /// The parts of a vector; any other operand is one part.
    pub fn lanes(&self) -> &[Self] {
        if let Self::Vector(lanes) = self { lanes } else { std::slice::from_ref(self) }
    }

    /// Calls `visit` for every register in it, also inside vectors and addresses.
    pub fn for_each_reg(&self, visit: &mut impl FnMut(Reg)) {
        match self {
            Self::Reg(reg) | Self::Not(reg) => visit(*reg),
            Self::Address(Address { base: Base::Reg(reg), .. }) => visit(*reg),
            Self::Vector(parts) | Self::Bracket(parts) => {
                parts.iter().for_each(|part| part.for_each_reg(visit));
            }
            Self::Address(Address { base: Base::Symbol(_) | Base::Absolute, .. }) => {}
            Self::Int(_) | Self::F32(_) | Self::F64(_) | Self::Special(_) | Self::Symbol(..) => {}
            Self::Label(_) | Self::Table(_) | Self::Sink => {}
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
            Self::Address(Address { base: Base::Symbol(_) | Base::Absolute, .. }) => {}
            Self::Int(_) | Self::F32(_) | Self::F64(_) | Self::Special(_) | Self::Symbol(..) => {}
            Self::Label(_) | Self::Table(_) | Self::Sink => {}
        }
    }

    /// Calls `change` for every label in it, to renumber them.
    pub fn for_each_label_mut(&mut self, change: &mut impl FnMut(&mut Label)) {
        match self {
            Self::Label(label) => change(label),
            Self::Vector(parts) | Self::Bracket(parts) => {
                parts.iter_mut().for_each(|part| part.for_each_label_mut(change));
            }
            Self::Reg(_) | Self::Not(_) | Self::Int(_) | Self::F32(_) | Self::F64(_) => {}
            Self::Special(_) | Self::Symbol(..) | Self::Address(_) => {}
            Self::Table(_) | Self::Sink => {}
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
            Self::Address(Address { base: Base::Reg(_) | Base::Absolute, .. }) => {}
            Self::Reg(_) | Self::Not(_) | Self::Int(_) | Self::F32(_) | Self::F64(_) => {}
            Self::Special(_) | Self::Label(_) | Self::Table(_) | Self::Sink => {}
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
            Self::Axis(..) | Self::Whole(_) | Self::Envreg(_) | Self::Pm(_, false) => 32,
            Self::Pm(_, true) => 64,
            Self::Scalar(scalar) => scalar.bits(),
        }
    }
}

/// What decides the value of a special register without components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decides {
    /// Which thread of its warp reads it.
    Lane,
    /// The cycles that went by.
    Cycles,
    /// The time of day.
    Time,
    /// Where the shared memory lies that is kept for the system.
    ReservedShared,
    /// The launch, or the place of the thread's warp in it.
    Launch,
}

impl Scalar {
    /// What decides its value.
    pub const fn decides(self) -> Decides {
        match self {
            Self::Laneid | Self::LanemaskEq | Self::LanemaskLe | Self::LanemaskLt => Decides::Lane,
            Self::LanemaskGe | Self::LanemaskGt => Decides::Lane,
            Self::Clock | Self::ClockHi | Self::Clock64 => Decides::Cycles,
            Self::Globaltimer | Self::GlobaltimerLo | Self::GlobaltimerHi => Decides::Time,
            Self::ReservedSmemOffsetBegin | Self::ReservedSmemOffsetEnd => Decides::ReservedShared,
            Self::ReservedSmemOffsetCap => Decides::ReservedShared,
            Self::ReservedSmemOffset0 | Self::ReservedSmemOffset1 => Decides::ReservedShared,
            Self::Warpid | Self::Nwarpid | Self::Smid | Self::Nsmid => Decides::Launch,
            Self::Gridid | Self::CurrentGraphExec | Self::WarpSize => Decides::Launch,
            Self::ClusterCtarank | Self::ClusterNctarank => Decides::Launch,
            Self::IsExplicitCluster => Decides::Launch,
            Self::TotalSmemSize | Self::AggrSmemSize | Self::DynamicSmemSize => Decides::Launch,
        }
    }

    /// Its width in bits.
    const fn bits(self) -> u32 {
        match self {
            Self::Clock64 | Self::Globaltimer | Self::Gridid | Self::CurrentGraphExec => 64,
            Self::IsExplicitCluster => 1,
            Self::Laneid | Self::Warpid | Self::Nwarpid | Self::Smid | Self::Nsmid => 32,
            Self::LanemaskEq | Self::LanemaskLe | Self::LanemaskLt => 32,
            Self::LanemaskGe | Self::LanemaskGt | Self::WarpSize => 32,
            Self::Clock | Self::ClockHi | Self::GlobaltimerLo | Self::GlobaltimerHi => 32,
            Self::ClusterCtarank | Self::ClusterNctarank => 32,
            Self::ReservedSmemOffsetBegin | Self::ReservedSmemOffsetEnd => 32,
            Self::ReservedSmemOffsetCap => 32,
            Self::ReservedSmemOffset0 | Self::ReservedSmemOffset1 => 32,
            Self::TotalSmemSize | Self::AggrSmemSize | Self::DynamicSmemSize => 32,
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
