//! XORWOW: a shift-register generator of 160 bits and a counter (Marsaglia, "Xorshift RNGs", Journal of Statistical
//! Software 8(14), 2003).

use std::sync::OnceLock;

use super::lanes::Recurrence;

/// The period is 2^192 - 2^32; lanes are 2^67 numbers apart.
pub(super) static XORWOW: Recurrence = Recurrence {
    class: "warpaint::Xorwow",
    library: concat!(
        include_str!("fill.cuh"),
        include_str!("xorwow.cuh"),
        include_str!("lanes.cuh")
    ),
    spacing: 67,
    start,
    jump,
};

/// What the counter gains with each number.
const GAIN: u32 = 362_437;

/// The bits of the shift register.
type Register = [u32; 5];
/// What becomes of each bit of a register: a matrix over GF(2) by columns.
type Matrix = Vec<Register>;

/// The state that cuRAND gives a seed (`curand_init`): Marsaglia's, mixed with it.
fn start(seed: u64) -> [u32; 6] {
    let low = (seed as u32 ^ 0xaad2_6b49).wrapping_mul(1_099_087_573);
    let high = ((seed >> 32) as u32 ^ 0xf7dc_efdd).wrapping_mul(2_591_861_531);
    [
        123_456_789_u32.wrapping_add(low),
        362_436_069 ^ low,
        521_288_629_u32.wrapping_add(high),
        88_675_123 ^ high,
        5_783_321_u32.wrapping_add(low),
        6_615_241_u32.wrapping_add(high).wrapping_add(low),
    ]
}

/// The matrix that goes on by `n * 2^doublings` numbers, and the counter's gain.
fn jump(n: u64, doublings: u32) -> Vec<u32> {
    let powers = powers().iter().skip(doublings as usize).take(u64::BITS as usize);
    let chosen = powers.enumerate().filter(|(bit, _)| n >> bit & 1 == 1);
    let matrix = chosen.fold(identity(), |product, (_, power)| product_of(power, &product));
    let n = (n as u32).checked_shl(doublings).unwrap_or(0);
    let mut words = matrix.concat();
    words.push(n.wrapping_mul(GAIN));
    words
}

/// The matrices that go on by `2^k` numbers: as far as lanes and the 2^63 numbers of a sequence go.
fn powers() -> &'static [Matrix] {
    static POWERS: OnceLock<Vec<Matrix>> = OnceLock::new();
    POWERS.get_or_init(|| {
        let one: Matrix = identity().into_iter().map(step).collect();
        let square = |matrix: &Matrix| Some(product_of(matrix, matrix));
        std::iter::successors(Some(one), square).take(84).collect()
    })
}

fn identity() -> Matrix {
    let unit = |bit: usize| std::array::from_fn(|word| u32::from(bit / 32 == word) << (bit % 32));
    (0..160).map(unit).collect()
}

/// One step of the shift register.
fn step([a, b, c, d, e]: Register) -> Register {
    let first = a ^ (a >> 2);
    [b, c, d, e, e ^ (e << 4) ^ first ^ (first << 1)]
}

/// `a` behind `b`. Sums of each four columns of `a` are made first, so that a column takes 40 additions, not 160 (the
/// method of the four Russians).
fn product_of(a: &Matrix, b: &Matrix) -> Matrix {
    let sums: Vec<[Register; 16]> = a.chunks(4).map(sums_of).collect();
    let column = |column: &Register| {
        let mut sum = [0; 5];
        for (eight, word) in sums.chunks(8).zip(column) {
            let mut bits = *word;
            for four in eight {
                add(&mut sum, &four[(bits & 15) as usize]);
                bits >>= 4;
            }
        }
        sum
    };
    b.iter().map(column).collect()
}

/// The sums of the columns that the bits of each number from 0 to 15 choose.
fn sums_of(columns: &[Register]) -> [Register; 16] {
    let mut sums = [[0; 5]; 16];
    for (bit, column) in columns.iter().enumerate() {
        for (number, sum) in sums.iter_mut().enumerate() {
            if number >> bit & 1 == 1 {
                add(sum, column);
            }
        }
    }
    sums
}

fn add(sum: &mut Register, other: &Register) {
    let [a, b, c, d, e] = other;
    *sum = [sum[0] ^ a, sum[1] ^ b, sum[2] ^ c, sum[3] ^ d, sum[4] ^ e];
}
