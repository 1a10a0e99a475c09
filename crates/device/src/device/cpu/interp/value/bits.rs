//! Bits: PTX ISA 9.7.1 (fields, counts) and 9.7.8 (logic and shifts), mostly bit by bit as written there.

use super::{Results, logic, signed, unsigned};
use crate::ptx::{
    modifier::{BoolOp, PrmtMode},
    types::Type,
};

/// Modulo 32, or clamped to 32.
fn amount(value: u64, wrap: bool) -> u32 {
    if wrap { value as u32 & 31 } else { (value as u32).min(32) }
}

fn ones(length: u32) -> u128 {
    (1u128 << length.min(64)) - 1
}

pub(super) fn shift_left(ty: Type, a: u64, amount: u32) -> u64 {
    if amount >= ty.bits() { 0 } else { a << amount }
}

pub(super) fn shift_right(ty: Type, a: u64, amount: u32) -> u64 {
    let bits = ty.bits();
    if ty.is_signed() {
        (signed(a, bits) >> amount.min(bits - 1)) as u64
    } else if amount >= bits {
        0
    } else {
        unsigned(a, bits) >> amount
    }
}

/// `bmsk`.
pub(super) fn mask(position: u64, length: u64, wrap: bool) -> u64 {
    let [position, length] = [position, length].map(|value| amount(value, wrap));
    (ones(length) << position) as u64
}

/// `szext`.
pub(super) fn extend(ty: Type, a: u64, length: u64, wrap: bool) -> u64 {
    match amount(length, wrap) {
        0 => 0,
        length if ty.is_signed() => signed(a, length) as u64,
        length => unsigned(a, length),
    }
}

/// The words `b:a` shifted; left gives the high word of that, right the low one.
pub(super) fn funnel(left: bool, wrap: bool, s: &[u64; 5]) -> u64 {
    let both = unsigned(s[1], 32) << 32 | unsigned(s[0], 32);
    let by = amount(s[2], wrap);
    if left { both << by >> 32 } else { both >> by }
}

pub(super) fn find(ty: Type, a: u64, shiftamt: bool) -> u64 {
    let bits = ty.bits();
    let value = if ty.is_signed() && signed(a, bits) < 0 { !a } else { a };
    match unsigned(value, bits) {
        0 => u64::MAX,
        value => {
            let top = 63 - value.leading_zeros();
            u64::from(if shiftamt { bits - 1 - top } else { top })
        }
    }
}

/// `bfe`: bits beyond the field, or beyond the top, are the field's sign, or zero.
pub(super) fn extract(ty: Type, a: u64, position: u32, length: u32) -> u64 {
    let most = ty.bits() - 1;
    if length == 0 {
        return 0;
    }
    let a = unsigned(a, ty.bits());
    let sign = ty.is_signed() && a >> (position + length - 1).min(most) & 1 != 0;
    let field = u128::from(a).checked_shr(position).unwrap_or(0);
    let there = length.min((most + 1).saturating_sub(position));
    let field = (field & ones(there)) as u64;
    if sign { field | !(ones(there) as u64) } else { field }
}

/// `bfi`: what lies beyond the top is lost.
pub(super) fn insert(ty: Type, a: u64, b: u64, position: u32, length: u32) -> u64 {
    if position >= ty.bits() {
        return b;
    }
    let mask = (ones(length) << position) as u64;
    b & !mask | (a << position) & mask
}

pub(super) fn permute(mode: Option<PrmtMode>, s: &[u64; 5]) -> u64 {
    let bytes = (unsigned(s[1], 32) << 32 | unsigned(s[0], 32)).to_le_bytes();
    let at = s[2] as usize & 3;
    let picks: [usize; 4] = match mode {
        None => {
            let mut word = [0; 4];
            for (index, byte) in word.iter_mut().enumerate() {
                let selector = s[2] >> (4 * index) & 15;
                let value = bytes[selector as usize & 7];
                let sign = if value & 0x80 != 0 { 0xff } else { 0 };
                *byte = if selector & 8 != 0 { sign } else { value };
            }
            return u32::from_le_bytes(word).into();
        }
        Some(PrmtMode::F4e) => [0, 1, 2, 3].map(|byte| at + byte),
        Some(PrmtMode::B4e) => [0, 7, 6, 5].map(|byte| (at + byte) % 8),
        Some(PrmtMode::Rc8) => [at; 4],
        Some(PrmtMode::Ecl) => [0, 1, 2, 3].map(|byte: usize| byte.max(at)),
        Some(PrmtMode::Ecr) => [0, 1, 2, 3].map(|byte: usize| byte.min(at)),
        Some(PrmtMode::Rc16) => [0, 1, 0, 1].map(|byte| 2 * (at & 1) + byte),
    };
    u32::from_le_bytes(picks.map(|pick| bytes[pick])).into()
}

/// `fns`.
pub(super) fn nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let is_set = |bit: u32| mask >> bit & 1 != 0;
    let mut left = offset.unsigned_abs();
    if left == 0 {
        return if is_set(base) { base } else { u32::MAX };
    }
    let mut bit = base;
    loop {
        left -= u32::from(is_set(bit));
        if left == 0 {
            return bit;
        }
        let next =
            if offset > 0 { bit.checked_add(1).filter(|b| *b < 32) } else { bit.checked_sub(1) };
        match next {
            Some(next) => bit = next,
            None => return u32::MAX,
        }
    }
}

/// The value, and whether it is not zero, combined.
pub(super) fn lop3(combine: Option<BoolOp>, s: &[u64; 5]) -> Results {
    let [a, b, c, table, q] = *s;
    let mut d = 0;
    for row in 0..8u64 {
        if table >> row & 1 != 0 {
            let literal = |value: u64, bit: u64| if row & bit != 0 { value } else { !value };
            d |= literal(a, 4) & literal(b, 2) & literal(c, 1);
        }
    }
    let d = unsigned(d, 32);
    let holds = u64::from(d != 0);
    [d, combine.map_or(holds, |op| logic(op, holds, q & 1))]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `bfe` and `bfi` bit by bit, as the PTX ISA writes them.
    #[test]
    fn fields_are_those_of_the_isa() {
        let a = 0x9abc_def0_1234_5678_u64;
        for ty in [Type::U32, Type::S32, Type::U64, Type::S64] {
            let most = ty.bits() - 1;
            for position in (0..=255u32).step_by(5) {
                for length in (0..=255u32).step_by(3) {
                    let a = unsigned(a, ty.bits());
                    let sign = match ty.is_signed() && length > 0 {
                        true => a >> (position + length - 1).min(most) & 1,
                        false => 0,
                    };
                    let (mut out, mut into) = (0u64, unsigned(!a, ty.bits()));
                    for i in 0..=most {
                        let inside = i < length && position + i <= most;
                        out |= (if inside { a >> (position + i) & 1 } else { sign }) << i;
                        if inside {
                            into &= !(1 << (position + i));
                            into |= (a >> i & 1) << (position + i);
                        }
                    }
                    let found = unsigned(extract(ty, a, position, length), ty.bits());
                    assert_eq!(found, out, "bfe.{ty} {position} {length}");
                    let found = insert(ty, a, unsigned(!a, ty.bits()), position, length);
                    assert_eq!(unsigned(found, ty.bits()), into, "bfi.{ty} {position} {length}");
                }
            }
        }
    }

    #[test]
    fn modes_of_prmt() {
        let of = |mode, selector| permute(mode, &[0x3322_1100, 0x7766_5544, selector, 0, 0]);
        assert_eq!(of(None, 0x7410), 0x7744_1100);
        assert_eq!(of(Some(PrmtMode::F4e), 1), 0x4433_2211);
        assert_eq!(of(Some(PrmtMode::B4e), 1), 0x6677_0011);
        assert_eq!(of(Some(PrmtMode::Rc8), 2), 0x2222_2222);
        assert_eq!(of(Some(PrmtMode::Ecl), 2), 0x3322_2222);
        assert_eq!(of(Some(PrmtMode::Ecr), 2), 0x2222_1100);
        assert_eq!(of(Some(PrmtMode::Rc16), 1), 0x3322_3322);
    }

    #[test]
    fn the_nth_set_bit() {
        assert_eq!(nth_set(0b1010_0110, 2, 0), 2);
        assert_eq!(nth_set(0b1010_0110, 3, 0), u32::MAX);
        assert_eq!(nth_set(0b1010_0110, 2, 2), 5);
        assert_eq!(nth_set(0b1010_0110, 2, -2), 1);
        assert_eq!(nth_set(0b1010_0110, 2, 9), u32::MAX);
    }
}
