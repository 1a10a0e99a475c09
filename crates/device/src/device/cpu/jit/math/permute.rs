//! `prmt`: bytes of two words picked into one.

use crate::ptx::modifier::PrmtMode;

/// How compiled code names a mode, or that a selector picks each byte.
pub(in crate::device::cpu::jit) fn mode_code(mode: Option<PrmtMode>) -> u32 {
    mode.map_or(0, |mode| mode.code() + 1)
}

/// The mode with such a code; what is none of them is that of a selector for each byte.
fn mode_of(code: u32) -> Option<PrmtMode> {
    code.checked_sub(1).and_then(PrmtMode::from_code)
}

/// The bytes of the word that PTX ISA, `prmt`, picks of both; the mode by its [`mode_code`].
pub(super) extern "C" fn prmt(both: u64, selectors: u32, mode: u32) -> u32 {
    let bytes = both.to_le_bytes();
    let at = selectors as usize & 3;
    let picks: [usize; 4] = match mode_of(mode) {
        Some(PrmtMode::F4e) => [at, at + 1, at + 2, at + 3],
        Some(PrmtMode::B4e) => [at, at + 7, at + 6, at + 5].map(|pick| pick % 8),
        Some(PrmtMode::Rc8) => [at; 4],
        Some(PrmtMode::Ecl) => [at, at.max(1), at.max(2), 3],
        Some(PrmtMode::Ecr) => [0, at.min(1), at.min(2), at],
        Some(PrmtMode::Rc16) => [at % 2 * 2, at % 2 * 2 + 1, at % 2 * 2, at % 2 * 2 + 1],
        None => return by_selectors(bytes, selectors),
    };
    u32::from_le_bytes(picks.map(|pick| bytes[pick]))
}

/// A byte for each selector, or its sign eight times.
fn by_selectors(bytes: [u8; 8], selectors: u32) -> u32 {
    let byte = |index: u32| {
        let selector = selectors >> (4 * index) & 15;
        let value = bytes[selector as usize & 7];
        if selector & 8 == 0 { value } else { ((value as i8) >> 7) as u8 }
    };
    u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_stand_for_modes() {
        let modes = PrmtMode::ALL.iter().copied().map(Some).chain([None]);
        modes.for_each(|mode| assert_eq!(mode_of(mode_code(mode)), mode));
        assert_eq!(mode_of(PrmtMode::ALL.len() as u32 + 1), None);
    }
}
