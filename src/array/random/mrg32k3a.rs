//! MRG32k3a: two recurrences of order three combined (L'Ecuyer, "Good parameters and implementations for combined
//! multiple recursive random number generators", Operations Research 47(1), 1999).

use super::lanes::Recurrence;

/// The period is about 2^191; lanes are 2^76 numbers apart, as the substreams of L'Ecuyer's package `RngStreams`.
pub(super) static MRG32K3A: Recurrence = Recurrence {
    class: "warpaint::Mrg32k3a",
    library: concat!(
        include_str!("fill.cuh"),
        include_str!("mrg32k3a.cuh"),
        include_str!("lanes.cuh")
    ),
    spacing: 76,
    start,
    jump,
};

const MODULI: [u64; 2] = [4_294_967_087, 4_294_944_443];
/// What leads from the last three values, the oldest first, to those one later.
const STEPS: [Matrix; 2] = [
    [[0, 1, 0], [0, 0, 1], [MODULI[0] - 810_728, 1_403_580, 0]],
    [[0, 1, 0], [0, 0, 1], [MODULI[1] - 1_370_589, 0, 527_612]],
];

type Matrix = [[u64; 3]; 3];

/// The state that cuRAND gives a seed (`curand_init`); L'Ecuyer's own, 12345 six times, for seed 0.
fn start(seed: u64) -> [u32; 6] {
    if seed == 0 {
        return [12345; 6];
    }
    let low = u64::from(seed as u32 ^ 0x5555_5555);
    let high = u64::from((seed >> 32) as u32 ^ 0xaaaa_aaaa);
    let word = |factor: u64, modulus: u64| (factor * 12345 % modulus) as u32;
    let [m, n] = MODULI;
    [word(low, m), word(high, m), word(low, m), word(high, n), word(low, n), word(high, n)]
}

/// The two matrices that go on by `n * 2^doublings` numbers.
fn jump(n: u64, doublings: u32) -> Vec<u32> {
    let matrix = |(step, modulus): (Matrix, u64)| {
        let start = (0..doublings).fold(step, |power, _| product(&power, &power, modulus));
        power(start, n, modulus)
    };
    let matrices = STEPS.into_iter().zip(MODULI).map(matrix);
    matrices.flatten().flatten().map(|entry| entry as u32).collect()
}

fn power(mut base: Matrix, mut exponent: u64, modulus: u64) -> Matrix {
    let mut result = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    while exponent != 0 {
        if exponent & 1 == 1 {
            result = product(&base, &result, modulus);
        }
        base = product(&base, &base, modulus);
        exponent >>= 1;
    }
    result
}

fn product(a: &Matrix, b: &Matrix, modulus: u64) -> Matrix {
    let entry = |row: &[u64; 3], column: usize| {
        row.iter().zip(b).fold(0, |sum, (x, other)| (sum + x * other[column] % modulus) % modulus)
    };
    a.map(|row| [entry(&row, 0), entry(&row, 1), entry(&row, 2)])
}
