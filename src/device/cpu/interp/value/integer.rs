//! Integers: PTX ISA 9.7.1 and 9.7.2.

use super::{clamped, each_lane, number, signed, unsigned};
use crate::ptx::{
    inst::Op,
    modifier::{Carry, Cmp, Half},
    types::Type,
    video::Video,
};

pub(super) fn evaluate(op: &Op, s: &[u64; 5], carry: &mut bool) -> Option<u64> {
    let [a, b, c, ..] = *s;
    Some(match op {
        Op::Add { ty, mode, carry: flags } if *flags == Carry::default() => {
            return each_lane(*ty, s, |ty, s| {
                let sum = number(s[0], ty) + number(s[1], ty);
                Some(if mode.sat { clamped(sum, ty) } else { sum as u64 })
            });
        }
        Op::Sub { ty, mode, carry: flags } if *flags == Carry::default() => {
            return each_lane(*ty, s, |ty, s| {
                let difference = number(s[0], ty) - number(s[1], ty);
                Some(if mode.sat { clamped(difference, ty) } else { difference as u64 })
            });
        }
        Op::Add { ty, carry: flags, .. } => add_with_carry(*ty, a, b, *flags, carry),
        Op::Sub { ty, carry: flags, .. } => subtract_with_borrow(*ty, a, b, *flags, carry),
        Op::Mul { ty, half, .. } => product(*ty, (*half)?, a, b),
        Op::Mad { ty, half, mode, carry: flags } => {
            let half = (*half)?;
            let (product, sum) =
                (product(*ty, half, a, b), if half == Half::Wide { ty.wide() } else { *ty });
            match (mode.sat, *flags == Carry::default()) {
                (true, _) => clamped(number(product, sum) + number(c, sum), sum),
                (false, true) => product.wrapping_add(c),
                (false, false) => add_with_carry(sum, product, c, *flags, carry),
            }
        }
        Op::Mul24 { ty, half } => product24(*ty, *half, a, b),
        Op::Mad24 { ty, half, sat } => {
            let product = product24(*ty, *half, a, b);
            if *sat {
                clamped(number(product, *ty) + number(c, *ty), *ty)
            } else {
                product.wrapping_add(c)
            }
        }
        Op::Div { ty, .. } => divide(*ty, a, b),
        Op::Rem { ty } => remainder(*ty, a, b),
        Op::Abs { ty, .. } => number(a, *ty).unsigned_abs() as u64,
        Op::Neg { ty, .. } => number(a, *ty).wrapping_neg() as u64,
        Op::Min(m) | Op::Max(m) => {
            let least = matches!(op, Op::Min(_));
            return each_lane(m.ty, s, |ty, s| {
                let (a, b) = (number(s[0], ty), number(s[1], ty));
                let value = if least { a.min(b) } else { a.max(b) };
                Some(if m.relu { value.max(0) as u64 } else { value as u64 })
            });
        }
        Op::Sad { ty } => ((number(a, *ty) - number(b, *ty)).unsigned_abs() as u64).wrapping_add(c),
        Op::Dp4a { a: x, b: y } => dot(s, [*x, *y], 4, false),
        Op::Dp2a { a: x, b: y, high } => dot(s, [*x, *y], 2, *high),
        Op::Simd(simd) => Video::from(*simd).evaluate(a as u32, b as u32, c as u32).into(),
        Op::Video(video) => video.evaluate(a as u32, b as u32, c as u32).into(),
        Op::Createpolicy { .. } => 0,
        _ => return None,
    })
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

fn product(ty: Type, half: Half, a: u64, b: u64) -> u64 {
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
fn product24(ty: Type, half: Half, a: u64, b: u64) -> u64 {
    let [a, b] = [a, b].map(|value| match ty.is_signed() {
        true => signed(value, 24),
        false => unsigned(value, 24) as i64,
    });
    let product = a * b;
    unsigned(if half == Half::Hi { product >> 16 } else { product } as u64, 32)
}

/// By zero the result is unspecified; NVIDIA's GPUs give all ones.
fn divide(ty: Type, a: u64, b: u64) -> u64 {
    let (a, b) = (number(a, ty), number(b, ty));
    if b == 0 { u64::MAX } else { (a / b) as u64 }
}

/// By zero the result is unspecified; NVIDIA's GPUs give the dividend.
fn remainder(ty: Type, a: u64, b: u64) -> u64 {
    let (a, b) = (number(a, ty), number(b, ty));
    if b == 0 { a as u64 } else { (a % b) as u64 }
}

fn dot(s: &[u64; 5], types: [Type; 2], parts: u32, high: bool) -> u64 {
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
    let order = match cmp {
        Cmp::Lo | Cmp::Ls | Cmp::Hi | Cmp::Hs => {
            unsigned(a, ty.bits()).cmp(&unsigned(b, ty.bits()))
        }
        _ => number(a, ty).cmp(&number(b, ty)),
    };
    Some(match cmp {
        Cmp::Eq => order.is_eq(),
        Cmp::Ne => order.is_ne(),
        Cmp::Lt | Cmp::Lo => order.is_lt(),
        Cmp::Le | Cmp::Ls => order.is_le(),
        Cmp::Gt | Cmp::Hi => order.is_gt(),
        Cmp::Ge | Cmp::Hs => order.is_ge(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::modifier::Mode;

    fn value(op: &Op, a: u64, b: u64, c: u64) -> u64 {
        evaluate(op, &[a, b, c, 0, 0], &mut false).unwrap_or_else(|| panic!("{op:?}"))
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
        assert_eq!(super::super::range(Type::S8), (-128, 127));
    }
}
