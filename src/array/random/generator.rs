//! Generators of random numbers.

use std::ops::RangeBounds;

use super::{
    Integer,
    distribution::Distribution,
    engine::Engine,
    fill::fill,
    lanes::Lanes,
    mrg32k3a::MRG32K3A,
    sobol::{Directions, Sobol},
    xorwow::XORWOW,
};
use crate::{
    array::{Data, Error, Float, GpuArray, Real, Result},
    kernel::Context,
};

/// A sequence of random numbers and a place in it.
///
/// The sequence consists of words of 32 bits. A number of up to 32 bits takes one, a number of 64 bits two (the first
/// at an even place); the numbers of a call take theirs one behind the other in the array's C order, and the next call
/// goes on behind them. Normal numbers are made in pairs, and a call begins with a new pair.
///
/// [`Generator::new`] is the one to take unless there is a reason for another: Philox 4×32-10, a function of a counter
/// (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011), which any number of threads
/// compute without any state. It passes TestU01's BigCrush, and is the sequence of cuRAND's
/// `curand_init(seed, stream, 0, ...)`. In Sobol's sequences a coordinate takes the place of a word, and numbers of all
/// types take one.
///
/// ```
/// use warpaint::{array::random::Generator, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let mut random = Generator::new(7);
/// let u = random.uniform::<f32>(&context, &[2, 500])?.to_vec()?;
/// assert!(u.iter().all(|u| (0.0..1.0).contains(u)));
/// let dice = random.integers(&context, &[500], 1..=6)?.to_vec()?;
/// assert!(dice.contains(&1) && dice.contains(&6));
///
/// let mut again = Generator::new(7);
/// again.skip_ahead(990);
/// assert_eq!(again.uniform::<f32>(&context, &[10])?.to_vec()?, u[990..]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Generator {
    engine: Engine,
    /// The word that comes next.
    position: u64,
}

impl Generator {
    /// Philox 4×32-10 with this seed.
    ///
    /// ```
    /// # use warpaint::{array::random::Generator, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let whole = Generator::new(7).uniform::<f32>(&context, &[6])?.to_vec()?;
    /// let mut in_parts = Generator::new(7);
    /// assert_eq!(in_parts.uniform::<f32>(&context, &[2])?.to_vec()?, whole[..2]);
    /// assert_eq!(in_parts.uniform::<f32>(&context, &[2, 2])?.to_vec()?, whole[2..]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::with_stream(seed, 0)
    }

    /// One of 2^64 independent sequences of Philox 4×32-10 with this seed.
    ///
    /// ```
    /// # use warpaint::{array::random::Generator, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let ten = |stream| Generator::with_stream(7, stream).uniform::<f32>(&context, &[10])?.to_vec();
    /// assert_ne!(ten(1)?, ten(2)?);
    /// assert_eq!(ten(0)?, Generator::new(7).uniform::<f32>(&context, &[10])?.to_vec()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_stream(seed: u64, stream: u64) -> Self {
        Self::with(Engine::Philox { seed, stream })
    }

    /// XORWOW (Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003), cuRAND's default: words
    /// `4 (l + 65536 b)` and the three behind are the next four, for the `b`th time, of the sequence that begins
    /// `l * 2^67` numbers behind the seed's. They are those of cuRAND's `curand_init(seed, l, 4 * b, ...)`.
    ///
    /// ```
    /// # use warpaint::{array::random::Generator, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let mut random = Generator::xorwow(0x0123_4567_89ab_cdef);
    /// // As cuRAND 10.4 has them:
    /// let first = [440680976, 1070377272, 2893829380, 3932485203];
    /// assert_eq!(random.integers::<u32>(&context, &[4], ..)?.to_vec()?, first);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn xorwow(seed: u64) -> Self {
        Self::with(Engine::Lanes(Lanes::new(&XORWOW, seed)))
    }

    /// MRG32k3a (L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number
    /// generators", Operations Research 47(1), 1999): as [`Generator::xorwow`], with `2^76` in place of `2^67`. Seed 0
    /// is L'Ecuyer's own. A word is from 1 to 4294967087.
    ///
    /// ```
    /// # use warpaint::{array::random::Generator, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let u = Generator::mrg32k3a(0).uniform::<f32>(&context, &[1])?.item()?;
    /// assert!((u - 0.127_011_1).abs() < 1e-6); // the first number of L'Ecuyer's own program
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn mrg32k3a(seed: u64) -> Self {
        Self::with(Engine::Lanes(Lanes::new(&MRG32K3A, seed)))
    }

    /// Sobol's sequence of points in a cube, with Joe and Kuo's direction numbers ("Constructing Sobol sequences with
    /// better two-dimensional projections", SIAM Journal on Scientific Computing 30, 2008), in up to 1024 dimensions.
    /// An array of shape `[n, dimensions]` gets `n` points, the first of all being the origin. (In `f64`, too, a
    /// coordinate has 32 bits.)
    ///
    /// Points fill the cube more evenly than random ones. So that they keep that, each value, of any type and
    /// distribution, is made from one coordinate: normal and Poisson numbers by inversion.
    ///
    /// ```
    /// # use warpaint::{array::random::Generator, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let mut points = Generator::sobol32(2)?;
    /// let first = points.uniform::<f32>(&context, &[4, 2])?.to_vec()?;
    /// assert_eq!(first, [0.0, 0.0, 0.5, 0.5, 0.75, 0.25, 0.25, 0.75]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Dimensions`].
    pub fn sobol32(dimensions: usize) -> Result<Self> {
        Self::sobol32_of(Directions::<u32>::joe_kuo(dimensions)?)
    }

    /// As [`Generator::sobol32`], with coordinates of 64 bits.
    ///
    /// ```
    /// # use warpaint::{array::{Error, random::Generator}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let (mut short, mut long) = (Generator::sobol32(1)?, Generator::sobol64(1)?);
    /// short.skip_ahead(1 << 32);
    /// long.skip_ahead(1 << 32);
    /// assert!(matches!(short.uniform::<f64>(&context, &[1]), Err(Error::Exhausted { .. })));
    /// assert_eq!(long.uniform::<f64>(&context, &[1])?.item()?, 3.0 / (1_u64 << 33) as f64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Dimensions`].
    pub fn sobol64(dimensions: usize) -> Result<Self> {
        Self::sobol64_of(Directions::<u64>::joe_kuo(dimensions)?)
    }

    /// As [`Generator::sobol32`], scrambled ([`Directions::scrambled`]).
    ///
    /// ```
    /// # use warpaint::{array::random::Generator, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let sixteen = |seed| Generator::scrambled_sobol32(1, seed)?.uniform::<f32>(&context, &[16])?.to_vec();
    /// let (mut one, other) = (sixteen(1)?, sixteen(2)?);
    /// assert_ne!(one, other);
    /// one.sort_by(f32::total_cmp);
    /// for (i, u) in one.iter().enumerate() {
    ///     assert_eq!((16.0 * u) as usize, i); // one in each sixteenth
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Dimensions`].
    pub fn scrambled_sobol32(dimensions: usize, seed: u64) -> Result<Self> {
        Self::sobol32_of(Directions::<u32>::scrambled(dimensions, seed)?)
    }

    /// As [`Generator::scrambled_sobol32`], with coordinates of 64 bits.
    ///
    /// ```
    /// # use warpaint::{array::random::Generator, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let points = Generator::scrambled_sobol64(3, 1)?.uniform::<f64>(&context, &[256, 3])?;
    /// let integral = points.reduce().along(&[1]).prod().eval()?.mean()?.item()?; // of x y z over the cube
    /// assert!((integral - 0.125).abs() < 0.002);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Dimensions`].
    pub fn scrambled_sobol64(dimensions: usize, seed: u64) -> Result<Self> {
        Self::sobol64_of(Directions::<u64>::scrambled(dimensions, seed)?)
    }

    /// As [`Generator::sobol32`], with direction numbers and shifts of one's own.
    ///
    /// ```
    /// # use warpaint::{array::random::{Directions, Generator}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let mut directions = Directions::<u32>::joe_kuo(1)?;
    /// directions.shifts[0] = 1 << 30; // a quarter
    /// let mut points = Generator::sobol32_of(directions)?;
    /// assert_eq!(points.uniform::<f32>(&context, &[4])?.to_vec()?, [0.25, 0.75, 0.5, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] unless there are 32 direction numbers for each shift, [`Error::Dimensions`] for none.
    pub fn sobol32_of(directions: Directions<u32>) -> Result<Self> {
        Ok(Self::with(Engine::Sobol32(Sobol::new(directions)?)))
    }

    /// As [`Generator::sobol32_of`], with coordinates of 64 bits.
    ///
    /// ```
    /// # use warpaint::array::{Error, random::{Directions, Generator}};
    /// let mut directions = Directions::<u64>::joe_kuo(2)?;
    /// directions.numbers.pop();
    /// assert!(matches!(Generator::sobol64_of(directions), Err(Error::Shape { .. })));
    /// # Ok::<(), warpaint::array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] unless there are 64 direction numbers for each shift, [`Error::Dimensions`] for none.
    pub fn sobol64_of(directions: Directions<u64>) -> Result<Self> {
        Ok(Self::with(Engine::Sobol64(Sobol::new(directions)?)))
    }

    fn with(engine: Engine) -> Self {
        Self { engine, position: 0 }
    }

    /// The place in the sequence: how many words (coordinates) were taken or skipped.
    ///
    /// ```
    /// # use warpaint::{array::random::Generator, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let mut random = Generator::new(7);
    /// random.uniform::<f32>(&context, &[3])?;
    /// assert_eq!(random.position(), 3);
    /// random.uniform::<f64>(&context, &[1])?; // words 4 and 5
    /// assert_eq!(random.position(), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Leaves out `n` words (coordinates): as many numbers of up to 32 bits, half as many of 64.
    ///
    /// ```
    /// # use warpaint::{array::random::Generator, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let all = Generator::new(7).uniform::<f64>(&context, &[4])?.to_vec()?;
    /// let mut random = Generator::new(7);
    /// random.skip_ahead(6);
    /// assert_eq!(random.uniform::<f64>(&context, &[1])?.item()?, all[3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn skip_ahead(&mut self, n: u64) {
        self.position = self.position.saturating_add(n);
    }

    /// Overwrites `out` with what `distribution` makes of the next words, and goes on behind them.
    fn fill<T: Data>(&mut self, distribution: &Distribution, out: &mut GpuArray<T>) -> Result<()> {
        let (length, a_value) =
            (self.engine.length(), self.engine.numbers_a_word(distribution.word));
        let whole = a_value * distribution.together;
        let ends = || {
            let start = self.position.checked_next_multiple_of(whole)?;
            let words = (out.len() as u64).checked_mul(a_value)?;
            let end = start.checked_add(words)?.checked_next_multiple_of(whole)?;
            (end <= length).then_some((start, end))
        };
        let (start, end) = ends().ok_or(Error::Exhausted { length })?;
        fill(&mut self.engine, distribution, start / a_value, &out.operand())?;
        self.position = end;
        Ok(())
    }

    /// Normal numbers, or exponentials of such.
    fn normal_of<T: Float>(
        &self,
        mean: f64,
        deviation: f64,
        exponentials: bool,
    ) -> Result<Distribution> {
        Distribution::normal::<T>(mean, deviation, exponentials, self.engine.is_even())
    }

    /// Poisson numbers with a mean for each. Where a mean is negative, infinite or NaN, the number is NaN (converted to
    /// an integer: 0).
    ///
    /// ```
    /// # use warpaint::{array::{GpuArray, random::Generator}, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let means = GpuArray::from_slice(&context, &[0.0f32, 1e6, -1.0])?;
    /// let counts: GpuArray<i64> = Generator::new(7).poisson_of(&means)?;
    /// let [none, many, wrong] = counts.to_vec()?[..] else { panic!("three") };
    /// assert_eq!((none, wrong), (0, 0));
    /// assert!((many - 1_000_000).abs() < 10_000); // ten standard deviations
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Generator::fill_poisson`].
    pub fn poisson_of<T: Real, M: Real>(&mut self, means: &GpuArray<M>) -> Result<GpuArray<T>> {
        let mut out = GpuArray::empty(means.context(), means.shape())?;
        self.fill(&Distribution::poisson_of::<T, M>(means, self.engine.is_even()), &mut out)?;
        Ok(out)
    }
}

/// Each distribution by its name: as a new array, and into one that is there.
macro_rules! distributions {
    ($(
        $(#[$doc:meta])* $make:ident, $(#[$rest:meta])* $fill:ident($($argument:ident: $type:ty),*)
            for $of:ident: $bound:ident = |$generator:ident| $distribution:expr;
    )*) => {
        impl Generator {$(
            $(#[$doc])*
            ///
            /// # Errors
            #[doc = concat!("As [`GpuArray::empty`] and [`Generator::", stringify!($fill), "`].")]
            pub fn $make<$of: $bound>(
                &mut self,
                context: &Context,
                shape: &[usize],
                $($argument: $type),*
            ) -> Result<GpuArray<$of>> {
                let mut out = GpuArray::empty(context, shape)?;
                self.$fill(&mut out $(, $argument)*)?;
                Ok(out)
            }

            #[doc = concat!("As [`Generator::", stringify!($make), "`], into an array of any layout.")]
            ///
            $(#[$rest])*
            pub fn $fill<$of: $bound>(
                &mut self,
                out: &mut GpuArray<$of>,
                $($argument: $type),*
            ) -> Result<()> {
                let $generator = &*self;
                self.fill(&$distribution, out)
            }
        )*}
    };
}

distributions! {
    /// Numbers uniform in `[0, 1)`: multiples of 2^-24 (`f32`), 2^-53 (`f64`), 2^-11 (`f16`) and 2^-8 (`bf16`), as in
    /// numpy; never 1. (cuRAND, and PyCUDA with it, has the interval `(0, 1]`.)
    ///
    /// ```
    /// # use warpaint::{array::random::Generator, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let mut random = Generator::new(7);
    /// let u = random.uniform::<f32>(&context, &[1000])?.to_vec()?;
    /// assert!(u.iter().all(|&u| 0.0 <= u && u < 1.0 && (u * 16_777_216.0).fract() == 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    uniform,
    /// ```
    /// # use warpaint::{array::{GpuArray, random::Generator}, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// let a = GpuArray::<f32>::zeros(&context, &[2, 3])?;
    /// Generator::new(7).fill_uniform(&mut a.slice(&index![.., 1])?)?; // a column
    /// let u = Generator::new(7).uniform::<f32>(&context, &[2])?.to_vec()?;
    /// assert_eq!(a.to_vec()?, [0.0, u[0], 0.0, 0.0, u[1], 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotWritable`] for a broadcast view, [`Error::Exhausted`], the device's.
    fill_uniform() for T: Float = |_generator| Distribution::uniform::<T>();

    /// Normal numbers with this mean and standard deviation, by the transform of Box and Muller ("A note on the
    /// generation of random normal deviates", Annals of Mathematical Statistics 29, 1958): up to 6.7 deviations from
    /// the mean, `f64` up to 9.5. Half precision is rounded from single.
    ///
    /// ```
    /// # use warpaint::{array::random::Generator, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let mut random = Generator::new(7);
    /// let x = random.normal::<f64>(&context, &[10_000], 5.0, 2.0)?;
    /// // Each within five standard deviations of it.
    /// assert!((x.mean()?.item()? - 5.0).abs() < 0.1);
    /// assert!((x.std(0)?.item()? - 2.0).abs() < 0.075);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    normal,
    /// ```
    /// # use half::f16;
    /// # use warpaint::{array::{GpuArray, random::Generator}, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let mut random = Generator::new(7);
    /// let mut noise = GpuArray::<f16>::zeros(&context, &[3])?;
    /// random.fill_normal(&mut noise, 100.0, 0.0)?;
    /// assert_eq!(noise.to_vec()?, [f16::from_f32(100.0); 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Distribution`] unless both are finite and the deviation is not negative; as
    /// [`Generator::fill_uniform`].
    fill_normal(mean: f64, deviation: f64) for T: Float
        = |generator| generator.normal_of::<T>(mean, deviation, false)?;

    /// Exponentials of normal numbers with this mean and standard deviation.
    ///
    /// ```
    /// # use warpaint::{array::random::Generator, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let mut random = Generator::new(7);
    /// let x = random.log_normal::<f64>(&context, &[10_000], 2.0, 0.5)?;
    /// assert!(x.to_vec()?.iter().all(|&x| x > 0.0));
    /// assert!((x.log().reduce().mean().item()? - 2.0).abs() < 0.025); // five standard deviations
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    log_normal,
    /// # Errors
    /// As [`Generator::fill_normal`].
    fill_log_normal(mean: f64, deviation: f64) for T: Float
        = |generator| generator.normal_of::<T>(mean, deviation, true)?;

    /// Integers of a range, each exactly as likely as the others: `0..10`, `-5..=5`, or `..` for all that the type has.
    /// (Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019. An integer that is rejected
    /// is drawn again from a sequence of the element's own, so that no other element depends on it.)
    ///
    /// ```
    /// # use warpaint::{array::random::Generator, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let mut random = Generator::new(7);
    /// let dice = random.integers(&context, &[1000], 1..=6)?.unique_counts()?;
    /// assert_eq!(dice.0.to_vec()?, [1, 2, 3, 4, 5, 6]);
    /// let bytes = random.integers::<i8>(&context, &[1000], ..)?.to_vec()?;
    /// assert!(bytes.contains(&i8::MIN) && bytes.contains(&i8::MAX));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    integers,
    /// ```
    /// # use warpaint::{array::{GpuArray, random::Generator}, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let mut random = Generator::new(7);
    /// let mut a = GpuArray::<u8>::zeros(&context, &[4])?;
    /// random.fill_integers(&mut a, 7..8)?;
    /// assert_eq!(a.to_vec()?, [7; 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Distribution`] for an empty range; as [`Generator::fill_uniform`].
    fill_integers(range: impl RangeBounds<T>) for T: Integer
        = |_generator| Distribution::integers(&range)?;

    /// Poisson numbers: how often something happens that happens `mean` times on average. Below a mean of 10 by
    /// inversion, else by transformed rejection (Hörmann, "The transformed rejection method for generating Poisson
    /// random variables", Insurance: Mathematics and Economics 12, 1993), computed in `f64`. Each takes two words;
    /// what else it needs comes from a sequence of its own. `T` should have room for it: ten standard
    /// deviations (roots of the mean) above the mean are enough. Numbers beyond its greatest become that.
    ///
    /// ```
    /// # use warpaint::{array::random::Generator, device::Device, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let mut random = Generator::new(7);
    /// let calls = random.poisson::<i32>(&context, &[10_000], 2.5)?.to_vec()?;
    /// let silent = calls.iter().filter(|&&n| n == 0).count() as f64 / 1e4;
    /// assert!((silent - (-2.5f64).exp()).abs() < 0.014); // five standard deviations
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    poisson,
    /// ```
    /// # use warpaint::{array::{GpuArray, random::Generator}, device::Device, index, kernel::Context};
    /// # let context = Context::new(Device::cpu()?)?;
    /// # let mut random = Generator::new(7);
    /// let mut narrow = GpuArray::<u8>::zeros(&context, &[3])?;
    /// random.fill_poisson(&mut narrow, 1e6)?;
    /// assert_eq!(narrow.to_vec()?, [255; 3]); // the greatest that there is
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Distribution`] for a mean that is negative or not finite; as [`Generator::fill_uniform`].
    fill_poisson(mean: f64) for T: Real
        = |generator| Distribution::poisson::<T>(mean, generator.engine.is_even())?;
}
