//! Philox 4×32-10 on the host, for what is drawn before a kernel runs.

/// A block of four words: `philox` of `<warpaint/random.cuh>`.
pub(super) fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    let product = |a: u32, b: u32| {
        let product = u64::from(a) * u64::from(b);
        ((product >> 32) as u32, product as u32)
    };
    for _ in 0..10 {
        let ([x, y, z, w], [k, l]) = (counter, key);
        let ((high_x, low_x), (high_z, low_z)) = (product(0xD251_1F53, x), product(0xCD9E_8D57, z));
        counter = [high_z ^ y ^ k, low_z, high_x ^ w ^ l, low_x];
        key = [k.wrapping_add(0x9E37_79B9), l.wrapping_add(0xBB67_AE85)];
    }
    counter
}

/// 64 random bits that belong to a seed and a place.
pub(super) fn bits(seed: u64, place: [u32; 2]) -> u64 {
    let key = [seed as u32, (seed >> 32) as u32];
    // A stream of its own, so that these are not the numbers that the seed gives an array.
    let [low, high, ..] = philox([place[0], place[1], 0x736f_626f, u32::MAX], key);
    u64::from(high) << 32 | u64::from(low)
}
