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

/// The word after an operation, which compiled code names by its [code](MbarrierOp::code). What names none changes
/// nothing, as a question does.
pub(super) extern "C" fn step_by_code(word: u64, op: u32, count: u32) -> u64 {
    step(word, MbarrierOp::from_code(op).unwrap_or(MbarrierOp::TestWait), count)
}

/// The word after an operation.
pub(super) fn step(word: u64, op: MbarrierOp, count: u32) -> u64 {
    let count = u64::from(count) & COUNT;
    let mut expected = word & COUNT;
    let mut pending = word >> PENDING_AT & COUNT;
    let mut bytes = word >> BYTES_AT & BYTES;
    let mut parity = word >> PARITY_AT;
    match op {
        MbarrierOp::Init => return count | count << PENDING_AT,
        MbarrierOp::Inval => return 0,
        MbarrierOp::Arrive => pending = pending.wrapping_sub(count) & COUNT,
        MbarrierOp::ArriveDrop => {
            expected = expected.wrapping_sub(count) & COUNT;
            pending = pending.wrapping_sub(count) & COUNT;
        }
        MbarrierOp::ExpectTx => bytes = bytes.wrapping_add(count) & BYTES,
        MbarrierOp::CompleteTx => bytes = bytes.wrapping_sub(count) & BYTES,
        MbarrierOp::TestWait | MbarrierOp::TryWait | MbarrierOp::PendingCount => return word,
        // Whoever does it arrives, or not, as the instruction says.
        MbarrierOp::CopyArrive => return word,
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
        let mut word = step(77, MbarrierOp::Init, 2);
        word = step(word, MbarrierOp::Arrive, 1);
        assert_eq!((parity(word), word >> PENDING_AT & COUNT), (0, 1));
        word = step(word, MbarrierOp::ExpectTx, 16);
        word = step(word, MbarrierOp::Arrive, 1);
        assert_eq!(parity(word), 0, "bytes are due");
        word = step(word, MbarrierOp::CompleteTx, 16);
        assert_eq!((parity(word), word >> PENDING_AT & COUNT), (1, 2));
        word = step(word, MbarrierOp::ArriveDrop, 1);
        word = step(word, MbarrierOp::Arrive, 1);
        assert_eq!((parity(word), word >> PENDING_AT & COUNT), (0, 1), "one less from now on");
    }

    #[test]
    fn an_operation_is_the_same_by_its_code() {
        let word = step(77, MbarrierOp::Init, 5);
        for op in MbarrierOp::ALL {
            assert_eq!(step_by_code(word, op.code(), 2), step(word, *op, 2), "{op}");
        }
        assert_eq!(step_by_code(word, MbarrierOp::ALL.len() as u32, 2), word, "none");
    }
}
