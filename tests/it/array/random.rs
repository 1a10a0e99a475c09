//! Random numbers: published values, distributions, and that they depend on nothing but seed and place.

use warpaint::{
    array::{
        Data, ElementwiseKernel, Error, GpuArray,
        random::{Directions, Generator},
    },
    index,
    kernel::Context,
};

use super::contexts;
use crate::support::philox;

/// The words of a generator, by the definition in its documentation.
fn words(seed: u64, stream: u64, first: u64, n: usize) -> Vec<u32> {
    let low_high = |x: u64| [x as u32, (x >> 32) as u32];
    let word = |place: u64| {
        let ([a, b], [c, d]) = (low_high(place / 4), low_high(stream));
        philox([a, b, c, d], low_high(seed))[(place % 4) as usize]
    };
    (first..first + n as u64).map(word).collect()
}

/// The known answers in Random123's `kat_vectors`: zeros, ones, digits of pi.
const KNOWN_ANSWERS: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
    ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
    ([!0; 4], [!0; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
    (
        [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
        [0xa409_3822, 0x299f_31d0],
        [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
    ),
];

#[test]
#[expect(unsafe_code, reason = "a kernel from an expression")]
fn philox_gives_its_known_answers() {
    let list = "unsigned *x, const unsigned *c";
    let call = "const uint4 r = warpaint::philox(make_uint4(c[0], c[1], c[2], c[3]), make_uint2(c[4], c[5])); \
                x[0] = r.x; x[1] = r.y; x[2] = r.z; x[3] = r.w";
    // SAFETY: it is called with one index, and stays within arrays of 4 and 6.
    let kernel = unsafe { ElementwiseKernel::new(list, call) }.unwrap();
    let kernel = kernel.preamble("#include <warpaint/random.cuh>");
    for (counter, key, expected) in KNOWN_ANSWERS {
        assert_eq!(philox(counter, key), expected);
        for context in contexts() {
            let given =
                GpuArray::from_slice(&context, &[counter.as_slice(), &key].concat()).unwrap();
            let out = GpuArray::<u32>::zeros(&context, &[4]).unwrap();
            kernel.call_range(..1, &[(&out).into(), (&given).into()]).unwrap();
            assert_eq!(out.to_vec().unwrap(), expected);
        }
    }
}

#[test]
fn numbers_follow_from_seed_stream_and_place() {
    for context in contexts() {
        let (seed, stream) = (0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210);
        let mut random = Generator::with_stream(seed, stream);
        random.skip_ahead((1 << 40) + 3);
        let first = random.position();
        let given = random.integers::<u32>(&context, &[1000], ..).unwrap().to_vec().unwrap();
        assert_eq!(given, words(seed, stream, first, 1000));
        assert_eq!(random.position(), first + 1000);

        let uniform = random.uniform::<f32>(&context, &[7]).unwrap().to_vec().unwrap();
        let expected = words(seed, stream, first + 1000, 7);
        let expected: Vec<_> = expected.iter().map(|w| (w >> 8) as f32 / 16_777_216.0).collect();
        assert_eq!(uniform, expected);

        // Wide numbers begin at an even place.
        let wide = random.uniform::<f64>(&context, &[5]).unwrap().to_vec().unwrap();
        let pairs = words(seed, stream, first + 1000 + 7, 10);
        let pair = |w: &[u32]| (u64::from(w[1]) << 32 | u64::from(w[0])) >> 11;
        let expected: Vec<_> =
            pairs.chunks(2).map(|w| pair(w) as f64 / 9_007_199_254_740_992.0).collect();
        assert_eq!(wide, expected);
    }
}

/// Pairs of words by the transform in `f64`.
fn box_muller(a: f64, b: f64) -> [f64; 2] {
    let (radius, angle) = ((-2.0 * a.ln()).sqrt(), 2.0 * std::f64::consts::PI * b);
    [radius * angle.cos(), radius * angle.sin()]
}

#[test]
fn normal_numbers_are_box_and_mullers() {
    for context in contexts() {
        let mut random = Generator::new(99);
        let given = random.normal::<f32>(&context, &[4001], 0.0, 1.0).unwrap().to_vec().unwrap();
        assert_eq!(random.position(), 4002, "the last pair is used up");
        let expected = words(99, 0, 0, 4002);
        let unit = |w: u32| f64::from(w) / 4_294_967_296.0;
        let expected = expected
            .chunks(2)
            .flat_map(|w| box_muller(unit(w[0]) + 0.5 / 4_294_967_296.0, unit(w[1])));
        for (given, expected) in given.iter().zip(expected) {
            // A few roundings of numbers below 7, and of the angle to 2^-24 of a turn.
            let error = (f64::from(*given) - expected).abs();
            assert!(error < 4e-6, "{given} is not {expected}");
        }

        let given = random.normal::<f64>(&context, &[1001], 5.0, 3.0).unwrap().to_vec().unwrap();
        let expected = words(99, 0, 4004, 2004);
        let unit = |w: &[u32]| {
            (u64::from(w[1]) << 32 | u64::from(w[0])) as f64 / 18_446_744_073_709_551_616.0
        };
        let expected = expected.chunks(4).flat_map(|w| box_muller(unit(&w[..2]), unit(&w[2..])));
        for (given, expected) in given.iter().zip(expected) {
            // Roundings of numbers below 50; and the host's angle is rounded before its sine.
            let error = (given - (5.0 + 3.0 * expected)).abs();
            assert!(error < 1e-13, "{given} is not {}", 5.0 + 3.0 * expected);
        }
    }
}

/// Calls that fill an array of `f32`, and by how many numbers each may be cut.
type Fill = fn(&mut Generator, &mut GpuArray<f32>) -> Result<(), Error>;
const FILLS: [(&str, Fill, usize); 4] = [
    ("uniform", |random, out| random.fill_uniform(out), 1),
    ("normal", |random, out| random.fill_normal(out, 0.0, 1.0), 2),
    ("log-normal", |random, out| random.fill_log_normal(out, 0.0, 1.0), 2),
    ("Poisson", |random, out| random.fill_poisson(out, 3.5), 1),
];

#[test]
fn layout_stream_and_pieces_make_no_difference() {
    for context in contexts() {
        let other = context.on_new_stream().unwrap();
        for (name, fill, cut) in FILLS {
            let whole = GpuArray::<f32>::zeros(&other, &[30, 41]).unwrap();
            fill(&mut Generator::new(5), &mut whole.clone()).unwrap();
            let whole = whole.to_vec().unwrap();

            let spacious = GpuArray::<f32>::full(&context, &[83, 61], -1.0).unwrap();
            let mut view = spacious.transpose().slice(&index![59..;-2, 1..;2]).unwrap();
            assert_eq!(view.shape(), &[30, 41]);
            fill(&mut Generator::new(5), &mut view).unwrap();
            assert_eq!(view.to_vec().unwrap(), whole, "{name}");
            let untouched = spacious.to_vec().unwrap().iter().filter(|&&v| v == -1.0).count();
            assert!(untouched >= 83 * 61 - 30 * 41, "{name} writes elsewhere");

            // Pieces that begin and end anywhere in a block and in memory.
            let mut random = Generator::new(5);
            let line = GpuArray::<f32>::full(&context, &[whole.len() + 2], -1.0).unwrap();
            let mut at = 0;
            for length in [1, 2, 3, 4, 5, 0, 6, 7, 1000, whole.len()] {
                let end = (at + length * cut).min(whole.len());
                let piece = line.slice(&index![1 + at as isize..1 + end as isize]).unwrap();
                fill(&mut random, &mut piece.clone()).unwrap();
                at = end;
            }
            let line = line.to_vec().unwrap();
            assert_eq!(line[1..=whole.len()], whole, "{name}");
            assert_eq!((line[0], line[whole.len() + 1]), (-1.0, -1.0), "{name}");
        }
        let mut random = Generator::new(5);
        random.fill_uniform(&mut GpuArray::<f64>::zeros(&context, &[3, 0]).unwrap()).unwrap();
        assert_eq!(random.position(), 0);
    }
}

/// The greatest of all words, which lies 2^-33 below 1: whoever rounds it gives 1.
#[test]
fn uniform_numbers_are_never_one() {
    let place = 141_332_358;
    assert!(words(0, 0, place, 1)[0] >= 0xffff_ff80);
    for context in contexts() {
        let mut random = Generator::new(0);
        random.skip_ahead(place);
        let greatest = random.uniform::<f32>(&context, &[1]).unwrap().item().unwrap();
        assert_eq!(greatest, 1.0 - f32::EPSILON / 2.0);

        let mut random = Generator::new(1);
        let brains = random.uniform::<half::bf16>(&context, &[1 << 14]).unwrap().to_vec().unwrap();
        let halves = random.uniform::<half::f16>(&context, &[1 << 14]).unwrap().to_vec().unwrap();
        let greatest = |values: &[f32]| values.iter().copied().fold(0.0, f32::max);
        let brains: Vec<_> = brains.iter().map(|v| v.to_f32()).collect();
        let halves: Vec<_> = halves.iter().map(|v| v.to_f32()).collect();
        assert_eq!(greatest(&brains), 255.0 / 256.0);
        assert_eq!(greatest(&halves), 2047.0 / 2048.0);
    }
}

/// Pearson's chi-square of counts against what is expected, and the value that one in a thousand exceeds (Wilson and
/// Hilferty's approximation). Seeds are fixed, so a test that has passed does not fail by chance.
#[track_caller]
fn assert_fits(what: &str, counts: &[f64], expected: &[f64]) {
    assert_eq!(counts.len(), expected.len());
    let terms = counts.iter().zip(expected).map(|(n, e)| (n - e) * (n - e) / e);
    let (chi_square, freedom) = (terms.sum::<f64>(), (counts.len() - 1) as f64);
    let spread = 2.0 / (9.0 * freedom);
    let most = freedom * (1.0 - spread + 3.09 * spread.sqrt()).powi(3);
    assert!(chi_square < most, "{what}: chi-square is {chi_square}, {most} is the most");
}

/// Of a distribution whose quantiles `bounds` share it evenly.
#[track_caller]
fn assert_even(what: &str, values: &[f64], bounds: &[f64]) {
    let mut counts = vec![0.0; bounds.len() + 1];
    for value in values {
        counts[bounds.partition_point(|bound| bound <= value)] += 1.0;
    }
    let expected = vec![values.len() as f64 / counts.len() as f64; counts.len()];
    assert_fits(what, &counts, &expected);
}

/// The deciles of the normal distribution.
const DECILES: [f64; 9] = [
    -1.281_551_565_544_600_4,
    -0.841_621_233_572_914_2,
    -0.524_400_512_708_041,
    -0.253_347_103_135_799_7,
    0.0,
    0.253_347_103_135_799_7,
    0.524_400_512_708_041,
    0.841_621_233_572_914_2,
    1.281_551_565_544_600_4,
];

/// The largest distance between the distribution function of `values` and that of the uniform distribution
/// (Kolmogorov and Smirnov), times the root of their number; one in a thousand exceeds 1.95.
fn kolmogorov_smirnov(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let distance =
        |(k, v): (usize, &f64)| (v - k as f64 / n).abs().max(((k + 1) as f64 / n - v).abs());
    values.iter().enumerate().map(distance).fold(0.0, f64::max) * n.sqrt()
}

fn wide(values: Vec<f32>) -> Vec<f64> {
    values.into_iter().map(f64::from).collect()
}

#[test]
fn continuous_distributions_have_their_shapes() {
    const N: usize = 1 << 17;
    for context in contexts() {
        let mut random = Generator::new(2026);
        let uniform = wide(random.uniform::<f32>(&context, &[N]).unwrap().to_vec().unwrap());
        let mean = uniform.iter().sum::<f64>() / N as f64;
        let variance = uniform.iter().map(|u| (u - mean) * (u - mean)).sum::<f64>() / N as f64;
        // Four standard errors: of the mean sqrt(1/12 / N), of the variance sqrt(1/180 / N).
        assert!((mean - 0.5).abs() < 3.2e-3 && (variance - 1.0 / 12.0).abs() < 8.3e-4);
        assert!(kolmogorov_smirnov(uniform) < 1.95);
        let uniform = random.uniform::<f64>(&context, &[N]).unwrap().to_vec().unwrap();
        assert!(kolmogorov_smirnov(uniform) < 1.95);

        let normal =
            wide(random.normal::<f32>(&context, &[N], 0.0, 1.0).unwrap().to_vec().unwrap());
        assert_even("normal", &normal, &DECILES);
        let moment = |k| normal.iter().map(|v: &f64| v.powi(k)).sum::<f64>() / N as f64;
        // Four standard errors: the variances of the powers are 1, 2, 15 and 96.
        for (k, expected, variance) in
            [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)]
        {
            let error = (moment(k) - expected).abs();
            assert!(error < 4.0 * f64::sqrt(variance / N as f64), "moment {k} is off by {error}");
        }
        let normal = random.normal::<f64>(&context, &[N], -2.0, 0.5).unwrap().to_vec().unwrap();
        assert_even("normal, f64", &normal, &DECILES.map(|d| -2.0 + 0.5 * d));
        let log_normal = random.log_normal::<f32>(&context, &[N], 1.0, 0.25).unwrap();
        let bounds = DECILES.map(|d| f64::exp(1.0 + 0.25 * d));
        assert_even("log-normal", &wide(log_normal.to_vec().unwrap()), &bounds);
    }
}

/// Probabilities of `0, 1, ...` that a Poisson variable has, each the last one's times `mean / k`.
fn poisson(mean: f64, most: usize) -> Vec<f64> {
    let mut logarithm = -mean;
    let mut shares = vec![logarithm.exp()];
    for k in 1..most {
        logarithm += (mean / k as f64).ln();
        shares.push(logarithm.exp());
    }
    shares
}

#[test]
fn poisson_numbers_are_as_likely_as_they_should_be() {
    const N: usize = 1 << 16;
    for context in contexts() {
        let mut random = Generator::new(31);
        // Both methods, and where they meet.
        for mean in [0.3, 3.5, 9.99, 10.0, 42.5, 1000.0] {
            let drawn = random.poisson::<u32>(&context, &[N], mean).unwrap().to_vec().unwrap();
            // As many bins as have 50 expected; what is beyond belongs to the outermost.
            let shares = poisson(mean, (mean + 10.0 * mean.sqrt() + 10.0) as usize);
            let usual = |share: &f64| share * N as f64 > 50.0;
            let first = shares.iter().position(usual).unwrap();
            let last = shares.iter().rposition(usual).unwrap();
            let (mut counts, mut expected) =
                (vec![0.0; last - first + 1], vec![0.0; last - first + 1]);
            drawn.iter().for_each(|&k| counts[(k as usize).clamp(first, last) - first] += 1.0);
            let shares = shares.iter().enumerate();
            shares.for_each(|(k, p)| expected[k.clamp(first, last) - first] += p * N as f64);
            assert_fits(&format!("Poisson {mean}"), &counts, &expected);
        }
        assert_eq!(random.poisson::<u64>(&context, &[9], 0.0).unwrap().to_vec().unwrap(), [0; 9]);
        let large = random.poisson::<f64>(&context, &[1000], 1e12).unwrap().to_vec().unwrap();
        let mean = large.iter().sum::<f64>() / 1000.0;
        assert!(
            (mean - 1e12).abs() < 4.0 * (1e12f64 / 1000.0).sqrt(),
            "four standard errors: {mean}"
        );
    }
}

#[test]
fn each_element_may_have_its_own_mean() {
    for context in contexts() {
        let means: Vec<f32> = (0..600).map(|i| if i % 2 == 0 { 2.0 } else { 80.0 }).collect();
        let means = GpuArray::from_shape(&context, &[20, 30], &means).unwrap().transpose();
        let drawn = Generator::new(8).poisson_of::<u32, _>(&means).unwrap();
        assert_eq!(drawn.shape(), &[30, 20]);
        let of = |mean| {
            let drawn = Generator::new(8).poisson::<u32>(&context, &[30, 20], mean).unwrap();
            drawn.to_vec().unwrap()
        };
        let (few, many) = (of(2.0), of(80.0));
        let expected: Vec<_> =
            (0..600).map(|i| if i / 20 % 2 == 0 { few[i] } else { many[i] }).collect();
        assert_eq!(drawn.to_vec().unwrap(), expected);

        let wrong = GpuArray::from_slice(&context, &[-1.0f64, f64::NAN, f64::INFINITY]).unwrap();
        let drawn = Generator::new(8).poisson_of::<f32, _>(&wrong).unwrap();
        assert!(drawn.to_vec().unwrap().iter().all(|v| v.is_nan()));
        let drawn = Generator::new(8).poisson_of::<u32, _>(&wrong).unwrap();
        assert_eq!(drawn.to_vec().unwrap(), [0, 0, 0]);
    }
}

#[test]
fn integers_have_no_bias() {
    for context in contexts() {
        let mut random = Generator::new(77);
        // Without rejection, those divisible by 3 would be twice as many as the others.
        let narrow = random.integers(&context, &[30_000], 0..3u32 << 30).unwrap().to_vec().unwrap();
        let wide = random.integers(&context, &[30_000], 5..5 + (3u64 << 62)).unwrap();
        for values in [
            narrow.into_iter().map(u64::from).collect::<Vec<_>>(),
            wide.to_vec().unwrap().into_iter().map(|v| v - 5).collect(),
        ] {
            let count = |k| values.iter().filter(|v| *v % 3 == k).count() as f64;
            assert_fits("thirds", &[count(0), count(1), count(2)], &[10_000.0; 3]);
        }
        let dice = random.integers(&context, &[60_000], -3i8..3).unwrap().to_vec().unwrap();
        let count = |k: i8| dice.iter().filter(|&&v| v == k - 3).count() as f64;
        assert_fits("dice", &[0, 1, 2, 3, 4, 5].map(count), &[10_000.0; 6]);
        let bytes = random.integers::<i8>(&context, &[25_600], ..).unwrap().to_vec().unwrap();
        let count = |k: i8| bytes.iter().filter(|&&v| v == k).count() as f64;
        assert_fits("bytes", &(i8::MIN..=i8::MAX).map(count).collect::<Vec<_>>(), &[100.0; 256]);

        let only = random.integers(&context, &[5], i64::MIN..=i64::MIN).unwrap();
        assert_eq!(only.to_vec().unwrap(), [i64::MIN; 5]);
        let signed = random.integers::<i64>(&context, &[64], ..0).unwrap().to_vec().unwrap();
        assert!(signed.iter().all(|&v| v < 0) && signed.iter().any(|&v| v < i64::MIN / 2));
    }
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let context = &contexts()[0];
    let mut random = Generator::new(0);
    let told = |result: Result<GpuArray<f32>, Error>| result.unwrap_err().to_string();
    assert_eq!(
        told(random.normal(context, &[4], 0.0, -1.0)),
        "normal random numbers: mean 0, standard deviation -1"
    );
    assert_eq!(told(random.poisson(context, &[4], f64::NAN)), "Poisson random numbers: mean NaN");
    #[expect(clippy::reversed_empty_ranges, reason = "what is tested")]
    let empty = random.integers(context, &[4], 3..1).unwrap_err().to_string();
    assert_eq!(empty, "integer random numbers: there is none from 3 to before 1");
    let wide = GpuArray::<f32>::zeros(context, &[1]).unwrap().broadcast_to(&[9]).unwrap();
    assert!(matches!(random.fill_uniform(&mut wide.clone()), Err(Error::NotWritable { .. })));
    assert_eq!(random.position(), 0, "nothing was drawn");
    random.skip_ahead((1 << 63) - 3);
    random.uniform::<f32>(context, &[3]).unwrap();
    assert!(matches!(random.uniform::<f32>(context, &[1]), Err(Error::Exhausted { .. })));
    random.skip_ahead(u64::MAX);
    assert!(matches!(random.poisson::<u8>(context, &[1], 1.0), Err(Error::Exhausted { .. })));
}

/// Words of a generator with lanes: seed, lane, which block of the lane, and its four words.
type Known = (u64, u64, u64, [u32; 4]);

/// What cuRAND 10.4 gives for `curand_init(seed, lane, 4 * block, ...)`.
const XORWOW: [Known; 6] = [
    (0, 0, 0, [3179217846, 1883133293, 2220552389, 674260989]),
    (0, 1, 0, [3955638199, 1977250130, 1432217238, 1599962988]),
    (0x0123_4567_89ab_cdef, 0, 0, [440680976, 1070377272, 2893829380, 3932485203]),
    (0x0123_4567_89ab_cdef, 65535, 0, [3726530077, 1000405771, 1018774682, 2473034638]),
    (0x0123_4567_89ab_cdef, 12345, 1, [3175319913, 1158661093, 3944200902, 4077020847]),
    (0x0123_4567_89ab_cdef, 40000, 1_000_003, [1055100692, 4027065645, 2875110245, 479015047]),
];

/// As above; the first are L'Ecuyer's own 0.1270111, 0.3185276, 0.3091860, 0.8258469, times 4294967088.
const MRG32K3A: [Known; 6] = [
    (0, 0, 0, [545508589, 1368065410, 1327943761, 3546985096]),
    (0, 1, 0, [341016048, 2063042364, 3686465802, 3078677103]),
    (0x0123_4567_89ab_cdef, 0, 0, [2301419730, 2186294667, 3113353537, 1105608781]),
    (0x0123_4567_89ab_cdef, 65535, 0, [1347341196, 161408125, 2883634619, 3372065311]),
    (0x0123_4567_89ab_cdef, 12345, 1, [2554832392, 3656174543, 4129995445, 46683431]),
    (0x0123_4567_89ab_cdef, 40000, 1_000_003, [1602959013, 2126425452, 4083084485, 3586381614]),
];

#[test]
fn xorwow_and_mrg32k3a_give_their_known_answers() {
    let seeds = [0, 0x0123_4567_89ab_cdef];
    let xorwow = (seeds.map(Generator::xorwow), XORWOW);
    let mrg32k3a = (seeds.map(Generator::mrg32k3a), MRG32K3A);
    for context in contexts() {
        for ([zero, other], known) in [&xorwow, &mrg32k3a] {
            for &(seed, lane, block, expected) in known {
                let mut random = if seed == 0 { zero.clone() } else { other.clone() };
                random.skip_ahead(4 * (block * 65536 + lane));
                let words = random.integers::<u32>(&context, &[4], ..).unwrap();
                assert_eq!(words.to_vec().unwrap(), expected, "{seed:#x}, {lane}, {block}");
            }
        }
    }
}

/// Dimensions of the points below.
const DIMENSIONS: [usize; 6] = [0, 1, 2, 9, 99, 1023];

/// Coordinates of points by scipy 1.17 (`scipy.stats.qmc.Sobol` with 32 bits), times 2^32.
const SOBOL_32: [(u64, [u32; 6]); 5] = [
    (1, [2147483648; 6]),
    (2, [3221225472, 1073741824, 1073741824, 3221225472, 3221225472, 3221225472]),
    (3, [1073741824, 3221225472, 3221225472, 1073741824, 1073741824, 1073741824]),
    (1000, [943718400, 415236096, 2227175424, 297795584, 801112064, 3066036224]),
    (1234567, [599644160, 2792044544, 828979200, 2479241216, 2311034880, 2511882240]),
];

/// As above, from scipy's direction numbers of 64 bits.
const SOBOL_64: [(u64, [u64; 6]); 2] = [
    (
        1234567,
        [
            2575452056437391360,
            11991740005455233024,
            3560438553064243200,
            10648259941615271936,
            9925819229515284480,
            10788452072203223040,
        ],
    ),
    (
        0xfedcba9876543,
        [
            5182273997619335168,
            14140111228113580032,
            17971934073742462976,
            9700493245243920384,
            6643740683388547072,
            1210475908417064960,
        ],
    ),
];

#[test]
fn sobol_points_are_joe_and_kuos() {
    for context in contexts() {
        let narrow = Generator::sobol32(1024).unwrap();
        for (point, expected) in SOBOL_32 {
            let mut random = narrow.clone();
            random.skip_ahead(point * 1024);
            let given = random.integers::<u32>(&context, &[1024], ..).unwrap().to_vec().unwrap();
            assert_eq!(DIMENSIONS.map(|d| given[d]), expected, "point {point}");
        }
        let wide = Generator::sobol64(1024).unwrap();
        for (point, expected) in SOBOL_64 {
            let mut random = wide.clone();
            random.skip_ahead(point * 1024);
            let given = random.integers::<u64>(&context, &[1024], ..).unwrap().to_vec().unwrap();
            assert_eq!(DIMENSIONS.map(|d| given[d]), expected, "point {point}");
        }
    }
}

/// Direction numbers of one's own: some of Joe and Kuo's dimensions alone, shifted.
#[test]
fn sobol_sequences_are_made_of_given_directions() {
    let all = Directions::<u32>::joe_kuo(1024).unwrap();
    let chosen = [3, 700];
    let numbers = chosen.iter().flat_map(|d| &all.numbers[d * 32..][..32]).copied().collect();
    let given = Directions { numbers, shifts: vec![0, 0xdead_beef] };
    for context in contexts() {
        let points = |mut random: Generator, dimensions: usize| {
            let points = random.integers::<u32>(&context, &[100, dimensions], ..).unwrap();
            points.to_vec().unwrap()
        };
        let whole = points(Generator::sobol32(1024).unwrap(), 1024);
        let found = points(Generator::sobol32_of(given.clone()).unwrap(), 2);
        let expected = whole.chunks(1024).flat_map(|p| [p[3], p[700] ^ 0xdead_beef]);
        assert!(found.into_iter().eq(expected));
        let scrambled = Directions::<u64>::scrambled(3, 5).unwrap();
        let bits = |mut random: Generator| {
            random.integers::<u64>(&context, &[64, 3], ..).unwrap().to_vec().unwrap()
        };
        let known = bits(Generator::scrambled_sobol64(3, 5).unwrap());
        assert_eq!(bits(Generator::sobol64_of(scrambled).unwrap()), known);
    }
    let none = Directions::<u32> { numbers: vec![], shifts: vec![] };
    assert!(matches!(Generator::sobol32_of(none), Err(Error::Dimensions { .. })));
    let few = Directions { shifts: vec![0], ..given };
    assert!(matches!(Generator::sobol32_of(few), Err(Error::Shape { .. })));
    assert!(matches!(Directions::<u64>::joe_kuo(1025), Err(Error::Dimensions { .. })));
}

/// In two dimensions, 2^m points have one in each box of a grid of 2^k by 2^(m - k), for all k.
#[test]
fn sobol_points_fill_every_box() {
    const M: u32 = 12;
    for context in contexts() {
        for seed in [None, Some(1), Some(2)] {
            let mut random = match seed {
                None => Generator::sobol32(2),
                Some(seed) => Generator::scrambled_sobol32(2, seed),
            }
            .unwrap();
            let points = random.uniform::<f32>(&context, &[1 << M, 2]).unwrap().to_vec().unwrap();
            for k in 0..=M {
                let mut boxes = vec![0; 1 << M];
                for point in points.chunks(2) {
                    let cell = |x: f32, bits: u32| (x * (1 << bits) as f32) as usize;
                    boxes[cell(point[0], k) << (M - k) | cell(point[1], M - k)] += 1;
                }
                assert!(boxes.iter().all(|&n| n == 1), "{seed:?}, {k}");
            }
        }
        let first = |seed| {
            let mut random = Generator::scrambled_sobol64(3, seed).unwrap();
            random.uniform::<f64>(&context, &[2, 3]).unwrap().to_vec().unwrap()
        };
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}

/// One coordinate a value: what is evenly distributed stays so.
#[test]
fn values_of_sobol_points_are_quantiles() {
    const N: usize = 1 << 12;
    for context in contexts() {
        let sobol = Generator::sobol64(1).unwrap();
        let uniform = sobol.clone().uniform::<f64>(&context, &[N]).unwrap().to_vec().unwrap();
        let normal =
            sobol.clone().normal::<f64>(&context, &[N], 0.0, 1.0).unwrap().to_vec().unwrap();
        let below = |bound: f64| normal.iter().filter(|&&z| z < bound).count() as f64;
        for (k, bound) in DECILES.into_iter().enumerate() {
            let expected = (k + 1) as f64 * N as f64 / 10.0;
            assert!((below(bound) - expected).abs() < 1.0, "decile {k}");
        }
        assert!(normal.iter().all(|z| z.is_finite()), "the first coordinate is 0");

        let few = sobol.clone().poisson::<u32>(&context, &[N], 3.5).unwrap().to_vec().unwrap();
        let shares = poisson(3.5, 40);
        for (u, count) in uniform.iter().zip(&few) {
            let mut sum = 0.0;
            let expected = shares
                .iter()
                .take_while(|&share| {
                    sum += share;
                    sum <= *u
                })
                .count();
            assert_eq!(*count as usize, expected, "of {u}");
        }
        let many = sobol.clone().poisson::<u32>(&context, &[N], 50.0).unwrap().to_vec().unwrap();
        for (k, share) in poisson(50.0, 120).into_iter().enumerate() {
            let count = many.iter().filter(|&&count| count as usize == k).count() as f64;
            // An interval holds as many of N even places as it is long, but for one.
            assert!((count - share * N as f64).abs() <= 1.0, "{count} times {k}");
        }
    }
}

#[test]
fn every_generator_gives_the_same_in_pieces() {
    // Beyond the four words of each of 65536 lanes.
    const N: usize = 300_000;
    let generators = [
        Generator::new(3),
        Generator::xorwow(3),
        Generator::mrg32k3a(3),
        Generator::scrambled_sobol32(3, 3).unwrap(),
    ];
    for context in contexts() {
        for generator in &generators {
            let whole = generator.clone().uniform::<f32>(&context, &[N]).unwrap().to_vec().unwrap();
            assert!(whole.iter().all(|u| (0.0..1.0).contains(u)));
            let mut random = generator.clone();
            random.skip_ahead(1000);
            let mut at = 1000;
            for length in [3, 5, 250_001, 40_000] {
                let piece = random.uniform::<f32>(&context, &[length]).unwrap().to_vec().unwrap();
                assert_eq!(piece, whole[at..at + length], "{generator:?} from {at}");
                at += length;
            }
        }
        let mut random = Generator::xorwow(4);
        let uniform = random.uniform::<f64>(&context, &[1 << 17]).unwrap().to_vec().unwrap();
        assert!(kolmogorov_smirnov(uniform) < 1.95);
        let normal = random.normal::<f64>(&context, &[1 << 17], 0.0, 1.0).unwrap();
        assert_even("XORWOW", &normal.to_vec().unwrap(), &DECILES);
    }
}

/// Threads that go on many times give what those give that begin there, up to the last point of all.
#[test]
fn long_sobol_sequences_are_those_of_their_pieces() {
    fn expect<T: Data + PartialEq>(
        context: &Context,
        sequence: &Generator,
        end: u64,
        draw: impl Fn(&mut Generator, usize) -> GpuArray<T>,
    ) {
        const N: usize = 1 << 22;
        let from = |at: usize| {
            let mut random = sequence.clone();
            random.skip_ahead(end - (N - at) as u64);
            random
        };
        let whole = draw(&mut from(0), N).to_vec().unwrap();
        for at in [1, 70_003, N / 2 + 6, N - 1000] {
            let piece = draw(&mut from(at), 1000).to_vec().unwrap();
            assert!(piece == whole[at..at + 1000], "{sequence:?}, {at}, {:?}", context.device());
        }
    }
    for context in contexts() {
        for dimensions in [1, 3] {
            let narrow = Generator::scrambled_sobol32(dimensions, 3).unwrap();
            expect(&context, &narrow, (dimensions as u64) << 32, |random, n| {
                random.integers::<u32>(&context, &[n], ..).unwrap()
            });
        }
        let wide = Generator::scrambled_sobol64(2, 3).unwrap();
        expect(&context, &wide, 1 << 40, |random, n| {
            random.integers::<u64>(&context, &[n], ..).unwrap()
        });
    }
}

#[test]
fn sobol_sequences_end() {
    let context = &contexts()[0];
    for dimensions in [0, 1025] {
        assert!(matches!(Generator::sobol32(dimensions), Err(Error::Dimensions { .. })));
    }
    let mut random = Generator::sobol32(3).unwrap();
    random.skip_ahead((3 << 32) - 2);
    assert_eq!(random.uniform::<f32>(context, &[2]).unwrap().len(), 2);
    assert!(matches!(random.uniform::<f32>(context, &[1]), Err(Error::Exhausted { .. })));
}

/// Needs two devices to say something.
#[test]
fn devices_agree_to_the_bit() {
    const N: usize = 1 << 16;
    let drawn = contexts().into_iter().map(|context| {
        let mut random = Generator::new(2027);
        let integers = random.integers(&context, &[N], 0..3u64 << 62).unwrap().to_vec().unwrap();
        let uniform = random.uniform::<f64>(&context, &[N]).unwrap().to_vec().unwrap();
        let normal = random.normal::<f32>(&context, &[N], 0.0, 1.0).unwrap().to_vec().unwrap();
        (integers, uniform, normal)
    });
    let drawn: Vec<_> = drawn.collect();
    assert!(drawn.windows(2).all(|pair| pair[0] == pair[1]));
}
