//! Values near where arithmetic changes its ways.

use fastrand::Rng;

const SINGLE: &[u32] = &[
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x3f7f_ffff,
    0x3f80_0001,
    0x4b00_0000,
    0x4b7f_ffff,
    0x4f00_0000,
    0x4eff_ffff,
    0x4f80_0000,
    0xcf00_0000,
    0x5f00_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_0001,
    0x7f80_0001,
    0x3fc0_0000,
    0x4020_0000,
    0x477f_e000,
    0x477f_f000,
    0x3300_0000,
    0x3300_0001,
    0x3880_0000,
    0x387f_c000,
    0x437f_0000,
    0x437f_8000,
    0x47ff_ffff,
    0x0000_4000,
];

const DOUBLE: &[u64] = &[
    0,
    1 << 63,
    1,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3fe0_0000_0000_0000,
    0x3fef_ffff_ffff_ffff,
    0x4330_0000_0000_0000,
    0x41df_ffff_ffc0_0000,
    0x41e0_0000_0000_0000,
    0x43e0_0000_0000_0000,
    0x43f0_0000_0000_0000,
    0xc3e0_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0x47ef_ffff_f000_0000,
    0x36a0_0000_0000_0000,
    0x3690_0000_0000_0000,
    0x380f_ffff_e000_0000,
    0x3e60_0000_0000_0000,
    0x40ef_fe00_0000_0000,
    0x3ff8_0000_0000_0000,
];

const HALF: &[u16] = &[
    0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3bff, 0x3c01, 0x7bff, 0xfbff, 0x7c00,
    0xfc00, 0x7e00, 0xfc01, 0x6400, 0x3800, 0x4200, 0x7f7f, 0x7f80, 0x0080, 0x007f, 0x3f80, 0x4b00,
];

fn pick<T: Copy>(rng: &mut Rng, list: &[T]) -> T {
    list[rng.usize(0..list.len())]
}

/// Powers of two and their neighbours, small numbers and any.
fn integer(rng: &mut Rng) -> u64 {
    match rng.u32(0..6) {
        0 => rng.u64(..),
        1 => rng.u64(0..40),
        2 => rng.u64(0..40).wrapping_neg(),
        3 => u64::from(rng.u32(..)),
        _ => (1_u64 << rng.u32(0..64)).wrapping_add(rng.u64(0..5)).wrapping_sub(2),
    }
}

/// 64 bits for 64-bit registers.
pub fn wide(rng: &mut Rng) -> u64 {
    match rng.u32(0..8) {
        0..3 => integer(rng),
        3..6 => pick(rng, DOUBLE),
        6 => (rng.f64() * 200.0 - 100.0).to_bits(),
        _ => u64::from(word(rng)) << 32 | u64::from(word(rng)),
    }
}

/// 32 bits for 32-bit registers.
pub fn word(rng: &mut Rng) -> u32 {
    match rng.u32(0..8) {
        0..3 => integer(rng) as u32,
        3..6 => pick(rng, SINGLE),
        6 => (rng.f32() * 200.0 - 100.0).to_bits(),
        _ => u32::from(half(rng)) << 16 | u32::from(half(rng)),
    }
}

/// 16 bits for 16-bit registers.
pub fn half(rng: &mut Rng) -> u16 {
    match rng.u32(0..4) {
        0 => integer(rng) as u16,
        1 => rng.u16(..),
        _ => pick(rng, HALF),
    }
}
