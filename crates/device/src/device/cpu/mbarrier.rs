//! Barriers in shared memory (PTX ISA, section 9.7.13.15, `mbarrier`): one word, which only operations of this
//! kind read. The threads of a block take turns, so that nothing here needs to be atomic.
//!
//! From the lowest bit: 20 bits of arrivals expected a phase, 20 of those still due, 23 of bytes still due (a
//! signed number), one of the phase's parity. The word before an arrival serves as the state that names its phase.

use crate::ptx::modifier::MbarrierOp;

const COUNT: u64 = (1 << 20) - 1;
const PENDING_AT: u32 = 20;
const BYTES_AT: u32 = 40;
const BYTES: u64 = (1 << 23) - 1;
const PARITY_AT: u32 = 63;

/// What an operation is for compiled code.
pub(super) const fn code(op: MbarrierOp) -> u32 {
    match op {
        MbarrierOp::Init => 0,
        MbarrierOp::Arrive => 1,
        MbarrierOp::ArriveDrop => 2,
        MbarrierOp::ExpectTx => 3,
        MbarrierOp::CompleteTx => 4,
        MbarrierOp::Inval => 5,
        MbarrierOp::TestWait | MbarrierOp::TryWait => 6,
        MbarrierOp::PendingCount | MbarrierOp::CopyArrive => 6,
    }
}

/// The word after an operation with [`code`] `op`.
pub(super) extern "C" fn step(word: u64, op: u32, count: u32) -> u64 {
    let count = u64::from(count) & COUNT;
    let mut expected = word & COUNT;
    let mut pending = word >> PENDING_AT & COUNT;
    let mut bytes = word >> BYTES_AT & BYTES;
    let mut parity = word >> PARITY_AT;
    match op {
        0 => return count | count << PENDING_AT,
        1 => pending = pending.wrapping_sub(count) & COUNT,
        2 => {
            expected = expected.wrapping_sub(count) & COUNT;
            pending = pending.wrapping_sub(count) & COUNT;
        }
        3 => bytes = bytes.wrapping_add(count) & BYTES,
        4 => bytes = bytes.wrapping_sub(count) & BYTES,
        5 => return 0,
        _ => return word,
    }
    if pending == 0 && bytes == 0 {
        pending = expected;
        parity ^= 1;
    }
    expected | pending << PENDING_AT | bytes << BYTES_AT | parity << PARITY_AT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_ends_with_its_last_arrival_and_its_last_byte() {
        let parity = |word: u64| word >> PARITY_AT;
        let mut word = step(77, code(MbarrierOp::Init), 2);
        word = step(word, code(MbarrierOp::Arrive), 1);
        assert_eq!((parity(word), word >> PENDING_AT & COUNT), (0, 1));
        word = step(word, code(MbarrierOp::ExpectTx), 16);
        word = step(word, code(MbarrierOp::Arrive), 1);
        assert_eq!(parity(word), 0, "bytes are due");
        word = step(word, code(MbarrierOp::CompleteTx), 16);
        assert_eq!((parity(word), word >> PENDING_AT & COUNT), (1, 2));
        word = step(word, code(MbarrierOp::ArriveDrop), 1);
        word = step(word, code(MbarrierOp::Arrive), 1);
        assert_eq!((parity(word), word >> PENDING_AT & COUNT), (0, 1), "one less from now on");
    }
}
