//! Where random words come from.

use smallvec::smallvec;

use super::{
    class::Class,
    lanes::Lanes,
    member::{Member, Members},
    sobol::Sobol,
};
use crate::{array::Result, kernel::Context};

/// A generator's algorithm with its seed.
#[derive(Clone, Debug)]
pub(super) enum Engine {
    Philox { seed: u64, stream: u64 },
    Lanes(Lanes),
    Sobol32(Sobol<u32>),
    Sobol64(Sobol<u64>),
}

impl Engine {
    /// Its class.
    pub(super) fn class(&self) -> Class {
        let of = |name, argument| Class::new(name, [argument, "", ""]);
        match self {
            Self::Philox { .. } => of("Philox", ""),
            Self::Lanes(lanes) => of("Lanes", lanes.recurrence.class),
            Self::Sobol32(_) => of("Sobol", "warpaint::Word32"),
            Self::Sobol64(_) => of("Sobol", "warpaint::Word64"),
        }
    }

    /// What kernels need before them.
    pub(super) fn library(&self) -> &'static str {
        match self {
            Self::Philox { .. } => concat!(include_str!("fill.cuh"), include_str!("philox.cuh")),
            Self::Lanes(lanes) => lanes.recurrence.library,
            Self::Sobol32(_) | Self::Sobol64(_) => {
                concat!(include_str!("fill.cuh"), include_str!("sobol.cuh"))
            }
        }
    }

    /// The members of its class, for blocks from `begin` on.
    ///
    /// # Errors
    /// The device's.
    pub(super) fn members(&mut self, context: &Context, begin: u64) -> Result<Members> {
        match self {
            Self::Philox { seed, stream } => {
                Ok(smallvec![Member::value(*seed), Member::value(*stream)])
            }
            Self::Lanes(lanes) => lanes.members(context, begin),
            Self::Sobol32(sobol) => sobol.members(context),
            Self::Sobol64(sobol) => sobol.members(context),
        }
    }

    /// Whether its numbers lie evenly and not at random: each value must then come from one of them alone.
    pub(super) fn is_even(&self) -> bool {
        matches!(self, Self::Sobol32(_) | Self::Sobol64(_))
    }

    /// How many numbers it has.
    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Philox { .. } | Self::Lanes(_) => 1 << 63,
            Self::Sobol32(sobol) => sobol.length(),
            Self::Sobol64(sobol) => sobol.length(),
        }
    }

    /// How many of its numbers a word of this many bytes is made of.
    pub(super) fn numbers_a_word(&self, bytes: u64) -> u64 {
        if self.is_even() { 1 } else { bytes / 4 }
    }
}
