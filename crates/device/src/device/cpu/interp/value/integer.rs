//! Integers: PTX ISA 9.7.1 and 9.7.2.

use super::{clamped, each_lane, number, signed, unsigned};
use crate::ptx::{
    modifier::{Carry, Cmp, Half, MinMax, Mode},
    types::Type,
};

/// `a + b`, or `a - b`.
pub(super) fn sum(
    ty: Type,
    (mode, flags): (Mode, Carry),
    s: &[u64; 5],
    carry: &mut bool,
    adds: bool,
) -> Option<u64> {
    match (flags.is_used(), adds) {
        (true, true) => return Some(add_with_carry(ty, s[0], s[1], flags, carry)),
        (true, false) => return Some(subtract_with_borrow(ty, s[0], s[1], flags, carry)),
        (false, _) => {}
    }
    each_lane(ty, s, |ty, s| {
        let (a, b) = (number(s[0], ty), number(s[1], ty));
        let result = if adds { a + b } else { a - b };
        Some(if mode.sat { clamped(result, ty) } else { result as u64 })
    })
}

pub(super) fn mad(
    ty: Type,
    half: Half,
    mode: Mode,
    flags: Carry,
    s: &[u64; 5],
    carry: &mut bool,
) -> u64 {
    let [a, b, c, ..] = *s;
    let (product, sum) = (product(ty, half, a, b), if half == Half::Wide { ty.wide() } else { ty });
    match (mode.sat, flags.is_used()) {
        (true, _) => clamped(number(product, sum) + number(c, sum), sum),
        (false, false) => product.wrapping_add(c),
        (false, true) => add_with_carry(sum, product, c, flags, carry),
    }
}

pub(super) fn mad24(ty: Type, half: Half, sat: bool, s: &[u64; 5]) -> u64 {
    let (product, c) = (product24(ty, half, s[0], s[1]), s[2]);
    if sat { clamped(number(product, ty) + number(c, ty), ty) } else { product.wrapping_add(c) }
}

/// The lesser or the greater, which `choose` tells.
pub(super) fn min_max(m: MinMax, s: &[u64; 5], choose: impl Fn(i128, i128) -> i128) -> Option<u64> {
    each_lane(m.ty, s, |ty, s| {
        let value = choose(number(s[0], ty), number(s[1], ty));
        Some(if m.relu { value.max(0) as u64 } else { value as u64 })
    })
}

/// `sad`.
pub(super) fn sum_of_difference(ty: Type, s: &[u64; 5]) -> u64 {
    ((number(s[0], ty) - number(s[1], ty)).unsigned_abs() as u64).wrapping_add(s[2])
}

fn add_with_carry(ty: Type, a: u64, b: u64, flags: Carry, carry: &mut bool) -> u64 {
    let [a, b] = [a, b].map(|value| u128::from(unsigned(value, ty.bits())));
    let sum = a + b + u128::from(flags.read && *carry);
    if flags.write {
        *carry = sum >> ty.bits() != 0;
    }
    sum as u64
}

fn subtract_with_borrow(ty: Type, a: u64, b: u64, flags: Carry, carry: &mut bool) -> u64 {
    let [a, b] = [a, b].map(|value| i128::from(unsigned(value, ty.bits())));
    // The flag is that of an addition of the complement: 1 where nothing is borrowed.
    let difference = a - b - i128::from(flags.read && !*carry);
    if flags.write {
        *carry = difference >= 0;
    }
    difference as u64
}

pub(super) fn product(ty: Type, half: Half, a: u64, b: u64) -> u64 {
    let bits = ty.bits();
    let product = if ty.is_signed() {
        (number(a, ty) * number(b, ty)) as u128
    } else {
        u128::from(unsigned(a, bits)) * u128::from(unsigned(b, bits))
    };
    match half {
        Half::Lo | Half::Wide => product as u64,
        Half::Hi => (product >> bits) as u64,
    }
}

/// The low or high 32 of the 48 bits of a product of 24 bits.
pub(super) fn product24(ty: Type, half: Half, a: u64, b: u64) -> u64 {
    let [a, b] = [a, b].map(|value| match ty.is_signed() {
        true => signed(value, 24),
        false => unsigned(value, 24) as i64,
    });
    let product = a * b;
    unsigned(if half == Half::Hi { product >> 16 } else { product } as u64, 32)
}

/// By zero the result is unspecified; NVIDIA's GPUs give all ones.
pub(super) fn divide(ty: Type, a: u64, b: u64) -> u64 {
    let (a, b) = (number(a, ty), number(b, ty));
    if b == 0 { u64::MAX } else { (a / b) as u64 }
}

/// By zero the result is unspecified; NVIDIA's GPUs give the dividend.
pub(super) fn remainder(ty: Type, a: u64, b: u64) -> u64 {
    let (a, b) = (number(a, ty), number(b, ty));
    if b == 0 { a as u64 } else { (a % b) as u64 }
}

pub(super) fn dot(s: &[u64; 5], types: [Type; 2], parts: u32, high: bool) -> u64 {
    let width = 32 / parts;
    let part = |value: u64, at: u32, width: u32, ty: Type| match ty.is_signed() {
        true => signed(value >> at, width),
        false => unsigned(value >> at, width) as i64,
    };
    let first = if high { parts } else { 0 };
    let products = (0..parts).map(|at| {
        part(s[0], at * width, width, types[0]) * part(s[1], (first + at) * 8, 8, types[1])
    });
    s[2].wrapping_add(products.sum::<i64>() as u64)
}

/// A comparison of integers or bits.
pub(super) fn compare(cmp: Cmp, ty: Type, a: u64, b: u64) -> Option<bool> {
    let order = || number(a, ty).cmp(&number(b, ty));
    let unsigned = || unsigned(a, ty.bits()).cmp(&unsigned(b, ty.bits()));
    Some(match cmp {
        Cmp::Eq => order().is_eq(),
        Cmp::Ne => order().is_ne(),
        Cmp::Lt => order().is_lt(),
        Cmp::Le => order().is_le(),
        Cmp::Gt => order().is_gt(),
        Cmp::Ge => order().is_ge(),
        Cmp::Lo => unsigned().is_lt(),
        Cmp::Ls => unsigned().is_le(),
        Cmp::Hi => unsigned().is_gt(),
        Cmp::Hs => unsigned().is_ge(),
        Cmp::Equ | Cmp::Neu | Cmp::Ltu | Cmp::Leu | Cmp::Gtu | Cmp::Geu => return None,
        Cmp::Num | Cmp::Nan => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        device::cpu::interp::value::{evaluate, range},
        ptx::inst::Op,
    };

    fn value(op: &Op, a: u64, b: u64, c: u64) -> u64 {
        evaluate(op, &[a, b, c, 0, 0], &mut false).unwrap_or_else(|| panic!("{op:?}"))[0]
    }

    #[test]
    fn products_have_both_halves() {
        let mul = |ty, half| Op::Mul { ty, half: Some(half), mode: Mode::default() };
        assert_eq!(value(&mul(Type::U64, Half::Hi), u64::MAX, u64::MAX, 0), u64::MAX - 1);
        assert_eq!(value(&mul(Type::S64, Half::Hi), u64::MAX, u64::MAX, 0), 0);
        assert_eq!(value(&mul(Type::S32, Half::Wide), 0xffff_ffff, 2, 0), -2i64 as u64);
        assert_eq!(value(&mul(Type::U32, Half::Wide), 0xffff_ffff, 2, 0), 0x1_ffff_fffe);
        assert_eq!(value(&mul(Type::S16, Half::Hi), 0x8000, 0x8000, 0) & 0xffff, 0x4000);
    }

    #[test]
    fn carries_run_through_chains() {
        let flags = |read, write| Carry { read, write };
        let mut carry = false;
        assert_eq!(
            add_with_carry(Type::U32, 0xffff_ffff, 1, flags(false, true), &mut carry) as u32,
            0
        );
        assert!(carry);
        assert_eq!(add_with_carry(Type::U32, 5, 6, flags(true, false), &mut carry), 12);
        assert_eq!(subtract_with_borrow(Type::U64, 0, 1, flags(false, true), &mut carry), u64::MAX);
        assert!(!carry);
        assert_eq!(subtract_with_borrow(Type::U64, 0, 0, flags(true, true), &mut carry), u64::MAX);
        assert!(!carry);
    }

    #[test]
    fn divisions_at_the_edges() {
        assert_eq!(divide(Type::S32, 0x8000_0000, 0xffff_ffff) as u32, 0x8000_0000);
        assert_eq!(remainder(Type::S32, 0x8000_0000, 0xffff_ffff) as u32, 0);
        assert_eq!(remainder(Type::S32, u64::from(-7i32 as u32), 3) as u32, -1i32 as u32);
        assert_eq!(divide(Type::S64, i64::MIN as u64, u64::MAX), i64::MIN as u64);
        assert_eq!(range(Type::S8), (-128, 127));
    }
}
