//! What stands between an opcode and its type: rounding, comparison, memory order, cache hints, …

use super::keyword::keywords;
use super::types::{Scope, Space, Type};

keywords! {
    /// Rounding of a floating-point result.
    Rounding {
        /// To nearest, ties to even.
        Nearest = "rn",
        /// Towards zero.
        Zero = "rz",
        /// Down.
        Down = "rm",
        /// Up.
        Up = "rp",
        /// To nearest, ties away from zero.
        NearestAway = "rna",
    }
}

/// How a floating-point (or saturating integer) result is finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mode {
    /// Rounding as written; without it the nearest even, and the compiler may fuse.
    pub rounding: Option<Rounding>,
    /// Subnormal inputs and results become zero of the same sign.
    pub ftz: bool,
    /// Floats: clamped to [0, 1], NaN to 0. Integers: clamped to the type.
    pub sat: bool,
}

/// Use of the carry flag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Carry {
    /// Adds (or borrows) what the flag holds: `addc`, `subc`, `madc`.
    pub read: bool,
    /// Sets it: `.cc`.
    pub write: bool,
}

impl Carry {
    /// Whether the flag is read or set.
    pub const fn is_used(self) -> bool {
        self.read || self.write
    }
}

/// Whether a result of whole numbers wraps around: it is neither clamped to the type nor made with a carry.
pub(crate) const fn wraps(mode: Mode, carry: Carry) -> bool {
    // How floats are finished is nothing to whole numbers. All is named, so that what is added is decided on.
    let (Mode { rounding: _, ftz: _, sat }, Carry { read, write }) = (mode, carry);
    !sat && !read && !write
}

keywords! {
    /// Which half of an integer product.
    Half {
        /// The low half.
        Lo = "lo",
        /// The high half.
        Hi = "hi",
        /// All of it.
        Wide = "wide",
    }
}

keywords! {
    /// How exact a division, root or reciprocal is.
    Accuracy {
        /// Rounded as the mode says; integers.
        Exact = "",
        /// `.approx`.
        Approx = "approx",
        /// `.full` (division).
        Full = "full",
    }
}

keywords! {
    /// The integers that `cvt.pack` makes.
    Packed {
        /// 16 bits, unsigned.
        U16 = "u16",
        /// 16 bits, signed.
        S16 = "s16",
        /// 8 bits, unsigned.
        U8 = "u8",
        /// 8 bits, signed.
        S8 = "s8",
        /// 4 bits, unsigned.
        U4 = "u4",
        /// 4 bits, signed.
        S4 = "s4",
        /// 2 bits, unsigned.
        U2 = "u2",
        /// 2 bits, signed.
        S2 = "s2",
    }
}

impl Packed {
    /// The width in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::U16 | Self::S16 => 16,
            Self::U8 | Self::S8 => 8,
            Self::U4 | Self::S4 => 4,
            Self::U2 | Self::S2 => 2,
        }
    }

    /// The least and the greatest.
    pub const fn range(self) -> (i64, i64) {
        let values = 1 << self.bits();
        match self {
            Self::U16 | Self::U8 | Self::U4 | Self::U2 => (0, values - 1),
            Self::S16 | Self::S8 | Self::S4 | Self::S2 => (-values / 2, values / 2 - 1),
        }
    }
}

keywords! {
    /// An approximate function.
    Function {
        /// 1 / √a.
        Rsqrt = "rsqrt",
        /// sin a.
        Sin = "sin",
        /// cos a.
        Cos = "cos",
        /// log₂ a.
        Lg2 = "lg2",
        /// 2ᵃ.
        Ex2 = "ex2",
        /// tanh a.
        Tanh = "tanh",
    }
}

/// `min` and `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MinMax {
    /// Type.
    pub ty: Type,
    /// Flush subnormals.
    pub ftz: bool,
    /// A NaN wins (canonical NaN).
    pub nan: bool,
    /// The result's sign is the exclusive or of the signs; magnitudes are compared.
    pub xorsign_abs: bool,
    /// Magnitudes are compared, and the result is one.
    pub abs: bool,
    /// Negative results (integers, packed) become 0.
    pub relu: bool,
    /// There is a third number, `c`.
    pub three: bool,
}

impl MinMax {
    /// Of two numbers, with no modifiers.
    pub const fn of(ty: Type) -> Self {
        let (ftz, nan, xorsign_abs, abs, relu) = (false, false, false, false, false);
        Self { ty, ftz, nan, xorsign_abs, abs, relu, three: false }
    }
}

keywords! {
    /// What a video instruction computes in each lane.
    SimdOp {
        /// Sum.
        Add = "vadd",
        /// Difference.
        Sub = "vsub",
        /// Average, rounded away from zero.
        Avrg = "vavrg",
        /// Magnitude of the difference.
        Absdiff = "vabsdiff",
        /// Minimum.
        Min = "vmin",
        /// Maximum.
        Max = "vmax",
    }
}

/// A video instruction on two or four lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Simd {
    /// What is computed.
    pub op: SimdOp,
    /// 2 or 4.
    pub lanes: u8,
    /// `u32` or `s32`: signedness of the result's lanes.
    pub to: Type,
    /// Of `a`'s lanes.
    pub a: Type,
    /// Of `b`'s lanes.
    pub b: Type,
    /// Results are clamped to the lane, else cut.
    pub sat: bool,
    /// `.add`: `d` is the sum of the results and `c`.
    pub add: bool,
}

keywords! {
    /// What `testp` asks.
    Test {
        /// Neither infinite nor NaN.
        Finite = "finite",
        /// Infinite.
        Infinite = "infinite",
        /// Not NaN.
        Number = "number",
        /// NaN.
        NotANumber = "notanumber",
        /// Normal (not subnormal, not zero).
        Normal = "normal",
        /// Subnormal.
        Subnormal = "subnormal",
    }
}

keywords! {
    /// A comparison. Those ending in `u` (floats) are true where an operand is NaN; the others, `ne` too, are false.
    Cmp {
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Ne = "ne",
        /// Less.
        Lt = "lt",
        /// Less or equal.
        Le = "le",
        /// Greater.
        Gt = "gt",
        /// Greater or equal.
        Ge = "ge",
        /// Unsigned less.
        Lo = "lo",
        /// Unsigned less or equal.
        Ls = "ls",
        /// Unsigned greater.
        Hi = "hi",
        /// Unsigned greater or equal.
        Hs = "hs",
        /// Equal or NaN.
        Equ = "equ",
        /// Not equal or NaN.
        Neu = "neu",
        /// Less or NaN.
        Ltu = "ltu",
        /// Less or equal or NaN.
        Leu = "leu",
        /// Greater or NaN.
        Gtu = "gtu",
        /// Greater or equal or NaN.
        Geu = "geu",
        /// Both are numbers.
        Num = "num",
        /// One is NaN.
        Nan = "nan",
    }
}

keywords! {
    /// A logical operation.
    BoolOp {
        /// And.
        And = "and",
        /// Or.
        Or = "or",
        /// Exclusive or.
        Xor = "xor",
    }
}

keywords! {
    /// Rounding to an integer.
    IntRounding {
        /// To nearest, ties to even.
        Nearest = "rni",
        /// Towards zero.
        Zero = "rzi",
        /// Down.
        Down = "rmi",
        /// Up.
        Up = "rpi",
    }
}

/// A conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cvt {
    /// Type of the result.
    pub to: Type,
    /// Type of the operand.
    pub from: Type,
    /// Rounding to a float.
    pub rounding: Option<Rounding>,
    /// Rounding to an integral value: float to integer, or float to the same float.
    pub integer: Option<IntRounding>,
    /// Flush subnormals.
    pub ftz: bool,
    /// Floats: clamped to [0, 1]; integers: clamped to the type.
    pub sat: bool,
    /// Negative results become 0.
    pub relu: bool,
    /// Values beyond the largest finite become it.
    pub satfinite: bool,
}

impl Cvt {
    /// The types of a whole number and of the same one in another width, cut or extended: from which, and to which.
    pub(crate) const fn resizes(&self) -> Option<(Type, Type)> {
        // What floats are rounded and clamped to is nothing to whole numbers.
        let Self { to, from, rounding: _, integer: _, ftz: _, sat, relu, satfinite: _ } = *self;
        let is_whole = !from.is_float() && !to.is_float() && !from.is_packed() && !to.is_packed();
        if is_whole && !sat && !relu { Some((from, to)) } else { None }
    }

    /// Whether nothing is computed: a processor that is told to flush subnormals only does so where it computes.
    pub fn is_copy(&self) -> bool {
        self.to == self.from && self.integer.is_none()
    }

    /// Whether a subnormal operand gives what a zero of its sign gives, flushed or not: it is rounded to an integral
    /// number that is 0.
    pub const fn takes_subnormals_for_zero(&self) -> bool {
        match self.integer {
            Some(IntRounding::Nearest | IntRounding::Zero) => self.from.is_float(),
            Some(IntRounding::Down | IntRounding::Up) | None => false,
        }
    }
}

keywords! {
    /// How `prmt` picks bytes, other than one selector a byte.
    PrmtMode {
        /// Four bytes forward from a byte.
        F4e = "f4e",
        /// Four bytes backward.
        B4e = "b4e",
        /// One byte replicated.
        Rc8 = "rc8",
        /// Edge clamp left.
        Ecl = "ecl",
        /// Edge clamp right.
        Ecr = "ecr",
        /// One half replicated.
        Rc16 = "rc16",
    }
}

keywords! {
    /// Memory order of an access or a fence.
    Order {
        /// Not atomic.
        Weak = "weak",
        /// Not cached, not merged.
        Volatile = "volatile",
        /// Atomic, unordered.
        Relaxed = "relaxed",
        /// Later accesses stay after it.
        Acquire = "acquire",
        /// Earlier accesses stay before it.
        Release = "release",
        /// Both.
        AcqRel = "acq_rel",
        /// Sequentially consistent (fences).
        Sc = "sc",
        /// Memory-mapped device registers.
        Mmio = "mmio",
    }
}

keywords! {
    /// A cache operator; a hint.
    CacheOp {
        /// At all levels.
        Ca = "ca",
        /// In L2.
        Cg = "cg",
        /// Streaming.
        Cs = "cs",
        /// Last use.
        Lu = "lu",
        /// Not at all: fetched again.
        Cv = "cv",
        /// Write back.
        Wb = "wb",
        /// Write through.
        Wt = "wt",
    }
}

/// Hints to the caches, without effect on what is read or written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CacheHints {
    /// Operator.
    pub op: Option<CacheOp>,
    /// Eviction and prefetch words.
    pub words: CacheWords,
}

/// Eviction and prefetch words as written, such as `L1::no_allocate.L2::128B`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CacheWords(pub Option<Box<str>>);

impl CacheWords {
    /// Whether a cache policy is the last source.
    pub fn has_policy(&self) -> bool {
        self.0.as_ref().is_some_and(|words| words.contains("L2::cache_hint"))
    }
}

/// What a load or store accesses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// State space; `None`: a generic address.
    pub space: Option<Space>,
    /// Type of one lane.
    pub ty: Type,
    /// 1, 2, 4 or 8.
    pub lanes: u8,
    /// Memory order as written; none is weak.
    pub order: Option<Order>,
    /// Scope of that order.
    pub scope: Option<Scope>,
    /// `ld.global.nc`: read-only for the whole kernel.
    pub nc: bool,
    /// Hints.
    pub cache: CacheHints,
}

impl Access {
    /// Whether others may write or read what it accesses at the same time: it is volatile or ordered, or a load that
    /// looks anew each time (`.cv`).
    pub fn is_strong(&self) -> bool {
        !matches!(self.order, None | Some(Order::Weak)) || self.cache.op == Some(CacheOp::Cv)
    }

    /// A weak access without hints.
    pub fn plain(space: Option<Space>, ty: Type, lanes: u8) -> Self {
        let cache = CacheHints::default();
        Self { space, ty, lanes, order: None, scope: None, nc: false, cache }
    }

    /// Bytes accessed, which is the alignment needed, too.
    pub fn bytes(&self) -> u32 {
        self.ty.bytes() * u32::from(self.lanes)
    }
}

keywords! {
    /// What an atomic or reduction computes.
    AtomOp {
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// Compare and swap.
        Cas = "cas",
        /// Exchange.
        Exch = "exch",
        /// Sum.
        Add = "add",
        /// `old >= b ? 0 : old + 1`.
        Inc = "inc",
        /// `old == 0 || old > b ? b : old - 1`.
        Dec = "dec",
        /// Minimum.
        Min = "min",
        /// Maximum.
        Max = "max",
    }
}

/// What an atomic or reduction accesses and computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Atomic {
    /// State space; `None`: a generic address.
    pub space: Option<Space>,
    /// What is computed.
    pub op: AtomOp,
    /// Type of one lane.
    pub ty: Type,
    /// 1, 2, 4 or 8.
    pub lanes: u8,
    /// Memory order as written; none is relaxed.
    pub order: Option<Order>,
    /// Scope as written; none is the device's.
    pub scope: Option<Scope>,
    /// Subnormals are kept (half types).
    pub noftz: bool,
    /// Hints.
    pub cache: CacheHints,
}

keywords! {
    /// What `mbarrier` does.
    MbarrierOp {
        /// `init [b], count`: makes one that waits for so many arrivals a phase.
        Init = "init",
        /// `inval [b]`: its memory may be used for something else.
        Inval = "inval",
        /// `arrive state <- [b] [, count]`: arrivals of the current phase; the state names the phase.
        Arrive = "arrive",
        /// `arrive_drop`: an arrival, and one less is waited for from the next phase on.
        ArriveDrop = "arrive_drop",
        /// `test_wait p <- [b], state|parity`: whether that phase is complete.
        TestWait = "test_wait",
        /// `try_wait p <- [b], state|parity [, time]`: the same, after having waited a little.
        TryWait = "try_wait",
        /// `pending_count d <- state`: how many arrivals were still due.
        PendingCount = "pending_count",
        /// `expect_tx [b], bytes`: the phase waits for so many bytes more.
        ExpectTx = "expect_tx",
        /// `complete_tx [b], bytes`: so many of them have come.
        CompleteTx = "complete_tx",
        /// `cp.async.mbarrier.arrive [b]`: an arrival once the thread's copies are done.
        CopyArrive = "cp.async.mbarrier.arrive",
    }
}

/// An operation on a barrier in shared memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mbarrier {
    /// Which.
    pub op: MbarrierOp,
    /// State space; `None`: a generic address.
    pub space: Option<Space>,
    /// Memory order.
    pub order: Option<Order>,
    /// Scope of that order.
    pub scope: Option<Scope>,
    /// `.noComplete`: these arrivals do not complete the phase.
    pub no_complete: bool,
    /// `arrive.expect_tx`: the last source is a number of bytes to wait for, not of arrivals.
    pub expect_tx: bool,
    /// `.parity`: phases are named by their parity, not by a state.
    pub parity: bool,
    /// `.noinc`: the arrival counts as one of those waited for.
    pub no_increment: bool,
}

keywords! {
    /// What `bar` does.
    BarKind {
        /// Waits for all.
        Sync = "sync",
        /// Does not wait.
        Arrive = "arrive",
        /// Waits for all and gives each the number of true predicates.
        RedPopc = "red.popc",
        /// Waits for all and gives each whether all predicates are true.
        RedAnd = "red.and",
        /// Waits for all and gives each whether one predicate is true.
        RedOr = "red.or",
    }
}

impl BarKind {
    /// The type of what it gives.
    pub const fn ty(self) -> Option<Type> {
        match self {
            Self::Sync | Self::Arrive => None,
            Self::RedPopc => Some(Type::U32),
            Self::RedAnd | Self::RedOr => Some(Type::Pred),
        }
    }
}

keywords! {
    /// Which lane `shfl` reads.
    ShflMode {
        /// Below.
        Up = "up",
        /// Above.
        Down = "down",
        /// Exclusive or.
        Bfly = "bfly",
        /// Named.
        Idx = "idx",
    }
}

keywords! {
    /// What `vote` gives.
    VoteMode {
        /// Whether all are true.
        All = "all",
        /// Whether any is true.
        Any = "any",
        /// Whether all are the same.
        Uni = "uni",
        /// A bit for each.
        Ballot = "ballot",
    }
}

impl VoteMode {
    /// The type of what it gives.
    pub const fn ty(self) -> Type {
        match self {
            Self::All | Self::Any | Self::Uni => Type::Pred,
            Self::Ballot => Type::B32,
        }
    }
}

keywords! {
    /// Whose view `membar` orders.
    MembarLevel {
        /// The block's.
        Cta = "cta",
        /// The device's.
        Gl = "gl",
        /// The system's.
        Sys = "sys",
    }
}

keywords! {
    /// Shape of a texture or surface.
    Geometry {
        /// One dimension.
        D1 = "1d",
        /// Two dimensions.
        D2 = "2d",
        /// Three dimensions.
        D3 = "3d",
        /// Layers of one dimension; the first coordinate is the layer (`u32`).
        A1d = "a1d",
        /// Layers of two dimensions.
        A2d = "a2d",
        /// A cube map.
        Cube = "cube",
        /// Layers of cube maps.
        Acube = "acube",
        /// Two dimensions with samples; the first coordinate is the sample.
        D2ms = "2dms",
        /// Layers of that.
        A2dms = "a2dms",
    }
}

impl Geometry {
    /// How many coordinates count of those that an instruction has, a layer among them; `None` where there are samples,
    /// too.
    pub const fn coordinates(self) -> Option<usize> {
        match self {
            Self::D1 => Some(1),
            Self::D2 | Self::A1d => Some(2),
            Self::D3 | Self::A2d | Self::Cube => Some(3),
            Self::Acube => Some(4),
            Self::D2ms | Self::A2dms => None,
        }
    }
}

keywords! {
    /// How the mipmap level is chosen.
    Mip {
        /// As the texture says (in compute kernels the base level).
        Default = "",
        /// The base level.
        Base = "base",
        /// Named by a source.
        Level = "level",
        /// By gradients.
        Grad = "grad",
    }
}

keywords! {
    /// Which component of four texels `tld4` gathers.
    Component {
        /// The first.
        R = "r",
        /// The second.
        G = "g",
        /// The third.
        B = "b",
        /// The fourth.
        A = "a",
    }
}

keywords! {
    /// What `txq` and `suq` ask for.
    Query {
        /// Texels in x.
        Width = "width",
        /// Texels in y.
        Height = "height",
        /// Texels in z.
        Depth = "depth",
        /// Layers.
        Layers = "array_size",
        /// Mipmap levels.
        Levels = "num_mipmap_levels",
        /// Samples of a texel.
        Samples = "num_samples",
        /// Whether coordinates are normalized.
        Normalized = "normalized_coords",
        /// An enumerator of the source language.
        ChannelDataType = "channel_data_type",
        /// An enumerator of the source language.
        ChannelOrder = "channel_order",
    }
}

/// A texture fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tex {
    /// Shape.
    pub geometry: Geometry,
    /// Mipmap level.
    pub mip: Mip,
    /// Lanes of the result: 2 or 4.
    pub lanes: u8,
    /// Type of the result.
    pub to: Type,
    /// Type of the coordinates: `s32` (texels) or `f32`.
    pub coord: Type,
    /// The second source is a sampler (texture and sampler apart).
    pub sampler: bool,
}

impl Tex {
    /// How many sources stand together in brackets: the texture, the sampler where it is apart, the coordinates.
    pub(super) const fn in_brackets(&self) -> usize {
        if self.sampler { 3 } else { 2 }
    }
}

keywords! {
    /// What a surface access out of range does.
    Clamp {
        /// Ends the kernel.
        Trap = "trap",
        /// Accesses the nearest.
        Clamp = "clamp",
        /// Reads zero, writes nothing.
        Zero = "zero",
    }
}

/// A surface access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Surface {
    /// Shape.
    pub geometry: Geometry,
    /// `.p`: formatted, in texels; else `.b`: raw, `x` in bytes.
    pub formatted: bool,
    /// 1, 2 or 4.
    pub lanes: u8,
    /// Type of one lane.
    pub ty: Type,
    /// Out of range; `None` is [`Clamp::Trap`].
    pub clamp: Option<Clamp>,
    /// Hint.
    pub cache: Option<CacheOp>,
}

/// A reduction in a surface.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SurfaceReduction {
    /// What is computed.
    pub op: AtomOp,
    /// The surface and the type.
    pub surface: Surface,
}
