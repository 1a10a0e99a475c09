//! How a result is finished, as compiled code tells the host's functions.

use crate::ptx::modifier::Rounding;

/// How the result of a function is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device::cpu::jit) struct Finish {
    /// To which neighbour it is rounded.
    pub(in crate::device::cpu::jit) rounding: Rounding,
    /// `.ftz`: a subnormal one becomes zero.
    pub(in crate::device::cpu::jit) flush: bool,
    /// `.satfinite`: what lies beyond the largest number becomes it.
    pub(in crate::device::cpu::jit) satfinite: bool,
}

/// The bits above the rounding.
const FLUSH: u32 = 8;
const SATFINITE: u32 = 16;

impl Finish {
    /// Rounded so, and nothing else.
    pub(in crate::device::cpu::jit) const fn rounded(rounding: Rounding) -> Self {
        Self { rounding, flush: false, satfinite: false }
    }

    /// All of it as a constant of compiled code.
    pub(in crate::device::cpu::jit) fn code(self) -> u32 {
        let flag = |set: bool, bit| if set { bit } else { 0 };
        self.rounding.code() | flag(self.flush, FLUSH) | flag(self.satfinite, SATFINITE)
    }

    /// What [`Finish::code`] stands for. What is the code of no rounding stands for the usual one.
    #[inline]
    pub(in crate::device::cpu::jit) fn from_code(code: u32) -> Self {
        Self {
            rounding: Rounding::from_code(code & (FLUSH - 1)).unwrap_or(Rounding::Nearest),
            flush: code & FLUSH != 0,
            satfinite: code & SATFINITE != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_stand_for_what_was_asked() {
        for rounding in Rounding::ALL.iter().copied() {
            for (flush, satfinite) in [(false, false), (true, false), (false, true), (true, true)] {
                let finish = Finish { rounding, flush, satfinite };
                assert_eq!(Finish::from_code(finish.code()), finish);
            }
        }
        assert_eq!(Finish::from_code(7), Finish::rounded(Rounding::Nearest), "no rounding");
    }
}
