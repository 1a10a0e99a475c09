//! What is known of an operation without its operands.

use crate::ptx::{
    matrix::{MatrixOp, Product},
    modifier::{Access, AtomOp, Atomic, BarKind, Mbarrier, MbarrierOp, ShflMode, VoteMode},
    types::{Space, Type},
};

/// What is known of an operation without its operands. A row of the table begins with one of the functions below,
/// which say the least that is true of such operations, and adds what else is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Whether equal operands give equal results: nothing that another thread does decides it, nothing that each thread
    /// has of its own, and nothing is changed that the next thread finds. A load counts as equal for all: what
    /// another thread stores meanwhile, all see or none.
    pub is_function: bool,
    /// Whether the PTX ISA defines each bit of the result, but those of a NaN.
    pub is_exact: bool,
    /// Of an operation without a result: whether executing it twice with the same operands equals executing it once.
    pub is_idempotent: bool,
    /// Whether it may show, or make visible, what another thread has done since the last time.
    pub observes: bool,
    /// Whether it changes anything beyond registers that this thread or another one finds later.
    pub changes: bool,
    /// Whether it computes floating-point numbers in memory from what is there: the order in which threads do so
    /// decides the bits.
    pub folds_floats: bool,
    /// Whether it uses the carry flag, of which a thread has one.
    pub carries: bool,
    /// Where it loads a value from, if it does nothing else.
    pub loads: Loads,
    /// Between addresses of which state space and generic ones it converts.
    pub converts: Option<Space>,
    /// Its arithmetic on floating-point numbers.
    pub floats: Floats,
    /// Who has to come before a thread goes on behind it.
    pub waits: Waits,
    /// Which instruction a thread goes to behind it.
    pub next: Next,
    /// The type of the lanes, where vectors can do it for neighbours with the same result.
    pub vector: Option<Type>,
    /// Whether a group of neighbours can do it, or one after the other within it.
    pub in_groups: bool,
    /// How many of its first sources stand together in brackets: a handle, and what it is read or written with.
    pub in_brackets: usize,
}

/// Where a value is loaded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loads {
    /// Nothing is loaded.
    No,
    /// A generic address.
    Generic,
    /// An address of this state space.
    From(Space),
}

/// Arithmetic on floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floats {
    /// None: bits, integers, or signs; or what gives the same whether subnormals are flushed or not.
    None,
    /// Of one type.
    Of {
        /// The type.
        ty: Type,
        /// Whether subnormals become zero.
        ftz: bool,
    },
    /// Any: other code runs, or the host computes.
    Any,
}

/// Who has to come to an instruction before a thread goes on behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Nobody.
    No,
    /// Threads of the warp, for this operation.
    Warp(WarpOp),
    /// Threads of the block, at such a barrier.
    Block(BarKind),
}

/// What threads of a warp do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpOp {
    /// Meet.
    Sync,
    /// Find out who is there.
    Activemask,
    /// Choose one of them.
    Elect,
    /// Exchange values.
    Shfl(ShflMode),
    /// Exchange predicates.
    Vote(VoteMode),
    /// Compare values: with all others (true) or with any.
    Match {
        /// `.all`.
        all: bool,
    },
    /// Compute of values of this type.
    Redux(AtomOp, Type),
    /// Load, store or multiply matrices that they hold together: all threads of the warp.
    Matrix(MatrixOp),
}

impl WarpOp {
    /// Whether all who take part get the same of it.
    pub fn gives_the_same(self) -> bool {
        match self {
            Self::Activemask | Self::Vote(_) | Self::Redux(..) | Self::Match { all: true } => true,
            Self::Sync | Self::Elect | Self::Shfl(_) => false,
            Self::Match { all: false } | Self::Matrix(_) => false,
        }
    }

    /// Whether only threads at the same instruction do it together; the others need the same operation alone (PTX ISA,
    /// `mma`: all threads execute the same instruction; `shfl.sync`: the same qualifiers and member mask).
    pub fn is_of_one_instruction(self) -> bool {
        match self {
            Self::Activemask | Self::Matrix(_) => true,
            Self::Sync | Self::Elect | Self::Shfl(_) | Self::Vote(_) => false,
            Self::Match { .. } | Self::Redux(..) => false,
        }
    }
}

/// Which instruction a thread goes to next, where the guard, if any, holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The one behind.
    Follows,
    /// The one behind a label.
    Branches,
    /// The one behind a label of a table.
    BranchesByTable,
    /// The one behind the call; the thread of a kernel ends.
    Returns,
    /// None: the thread ends.
    Exits,
    /// None: the launch ends.
    Traps,
}

impl Facts {
    /// It has a vector form, whose lanes are of type `ty`.
    pub(super) const fn vector(self, ty: Type) -> Self {
        Self { vector: Some(ty), ..self }
    }

    /// The same, where the condition holds.
    pub(super) const fn vector_if(self, condition: bool, ty: Type) -> Self {
        if condition { self.vector(ty) } else { self }
    }

    /// It may show what other threads did, where the condition holds.
    pub(super) const fn observes_if(self, condition: bool) -> Self {
        Self { observes: condition, ..self }
    }

    /// It changes what is found later, where the condition holds.
    pub(super) const fn changes_if(self, condition: bool) -> Self {
        Self { changes: condition, ..self }
    }

    /// Doing it once does for all.
    pub(super) const fn idempotent(self) -> Self {
        Self { is_idempotent: true, ..self }
    }

    /// Its result is not its operands' alone, where the condition holds.
    pub(super) const fn no_function_if(self, condition: bool) -> Self {
        Self { is_function: !condition, ..self }
    }

    /// The result is only near to what it stands for, where the condition holds.
    pub(super) const fn approximate_if(self, condition: bool) -> Self {
        Self { is_exact: !condition, ..self }
    }

    /// Threads of a warp wait for each other.
    pub(super) const fn waits(self, op: WarpOp) -> Self {
        Self { waits: Waits::Warp(op), ..self }
    }

    /// The same, where the condition holds.
    pub(super) const fn waits_if(self, condition: bool, op: WarpOp) -> Self {
        if condition { self.waits(op) } else { self }
    }

    /// It uses the carry flag, where the condition holds.
    pub(super) const fn carries_if(self, condition: bool) -> Self {
        Self { carries: condition, ..self }
    }

    /// A thread goes somewhere else than to the instruction behind it.
    pub(super) const fn goes(self, next: Next) -> Self {
        Self { next, ..self }
    }

    /// It makes a generic address of one in this state space, or the other way round.
    pub(super) const fn converts(self, space: Space) -> Self {
        Self { converts: Some(space), ..self }
    }

    /// So many of its first sources stand in brackets.
    pub(super) const fn in_brackets(self, sources: usize) -> Self {
        Self { in_brackets: sources, ..self }
    }

    /// Only one thread at a time can do it.
    pub(super) const fn alone(self) -> Self {
        Self { in_groups: false, ..self }
    }

    /// Its result is the same whether subnormals are flushed or not, where the condition holds.
    pub(super) const fn indifferent_if(self, condition: bool) -> Self {
        let floats = if condition { Floats::None } else { self.floats };
        Self { floats, ..self }
    }

    /// It computes with numbers of this type, where that is a floating-point type.
    pub(super) const fn floats(self, ty: Type, ftz: bool) -> Self {
        let floats = if ty.is_float() { Floats::Of { ty, ftz } } else { Floats::None };
        Self { floats, ..self }
    }
}

/// A function of the operands that looks at bits, signs or integers.
pub(super) const fn bits() -> Facts {
    Facts {
        is_function: true,
        is_exact: true,
        is_idempotent: false,
        observes: false,
        changes: false,
        folds_floats: false,
        carries: false,
        loads: Loads::No,
        converts: None,
        floats: Floats::None,
        waits: Waits::No,
        next: Next::Follows,
        vector: None,
        in_groups: true,
        in_brackets: 0,
    }
}

/// A function of the operands that may be arithmetic on floating-point numbers.
pub(super) const fn computes(ty: Type, ftz: bool) -> Facts {
    bits().floats(ty, ftz)
}

/// Whether it is an integer of 64 bits: processors hardly compare such in vectors.
pub(super) fn is_long(ty: Type) -> bool {
    ty.bytes() == 8 && !ty.is_float()
}

/// What is decided by other threads, or by what each thread has of its own.
pub(super) const fn together() -> Facts {
    bits().no_function_if(true)
}

/// A jump, an end, a hint: neither a result nor an effect on memory.
pub(super) const fn controls() -> Facts {
    bits()
}

/// A load of a value.
pub(super) fn loads(access: &Access) -> Facts {
    let loads = access.space.map_or(Loads::Generic, Loads::From);
    Facts { loads, ..bits().observes_if(access.is_strong()) }
}

/// A change of memory.
pub(super) const fn changes() -> Facts {
    bits().changes_if(true)
}

/// Textures and surfaces: a handle with coordinates; the host computes with floating-point numbers.
pub(super) const fn images() -> Facts {
    Facts { floats: Floats::Any, is_exact: false, ..bits().in_brackets(2) }
}

/// A word of the device's own, which only other instructions of that device take.
pub(super) const fn opaque() -> Facts {
    Facts { is_exact: false, ..bits() }
}

/// Anything may happen.
pub(super) const fn anything() -> Facts {
    Facts { floats: Floats::Any, is_exact: false, ..together().changes_if(true).alone() }
}

impl Atomic {
    /// Its arithmetic, added to what else is known of it. It flushes as its state space says, not as other arithmetic.
    pub(super) fn facts(&self, facts: Facts) -> Facts {
        match self.op {
            AtomOp::Add | AtomOp::Min | AtomOp::Max => {
                Facts { folds_floats: self.ty.is_float(), ..facts.floats(self.ty, false) }
            }
            AtomOp::And | AtomOp::Or | AtomOp::Xor | AtomOp::Exch | AtomOp::Cas => facts,
            AtomOp::Inc | AtomOp::Dec => facts,
        }
    }
}

impl BarKind {
    pub(super) fn facts(self) -> Facts {
        match self {
            Self::Sync => Facts { waits: Waits::Block(self), ..controls() },
            Self::RedPopc | Self::RedAnd | Self::RedOr => {
                Facts { waits: Waits::Block(self), ..together() }
            }
            Self::Arrive => changes(),
        }
    }
}

impl MatrixOp {
    /// All threads of the warp do it together, and no other way.
    pub(super) fn facts(self) -> Facts {
        let written = self.memory().is_some_and(|memory| memory.written);
        let facts = together().changes_if(written).waits(WarpOp::Matrix(self));
        match self {
            Self::Multiply(product) => product.facts(facts),
            Self::LoadTiles(_) | Self::StoreTiles(_) | Self::Transpose => facts,
            Self::Load(_) | Self::Store(_) => facts,
        }
    }
}

impl Product {
    /// Its arithmetic, added to what else is known of it: in which order floats are summed up, the ISA leaves open.
    fn facts(&self, facts: Facts) -> Facts {
        match self.result().is_float() {
            true => Facts { floats: Floats::Any, is_exact: false, ..facts },
            false => facts,
        }
    }
}

impl Mbarrier {
    pub(super) fn facts(&self) -> Facts {
        match self.op {
            MbarrierOp::TestWait | MbarrierOp::TryWait => bits().observes_if(true),
            // How a barrier's state is encoded is the device's own affair.
            MbarrierOp::PendingCount => opaque(),
            MbarrierOp::Init | MbarrierOp::Inval | MbarrierOp::Arrive => {
                together().changes_if(true)
            }
            MbarrierOp::ArriveDrop | MbarrierOp::CopyArrive => together().changes_if(true),
            MbarrierOp::ExpectTx | MbarrierOp::CompleteTx => together().changes_if(true),
        }
    }
}
