//! What becomes of random words.

use std::ops::{Bound, RangeBounds};

use smallvec::smallvec;

use super::{
    Integer,
    class::Class,
    member::{Member, Members},
};
use crate::array::{Data, Error, Float, GpuArray, Real, Result};

/// How a kernel makes values from the words of a generator.
#[derive(Clone, Debug)]
pub(super) struct Distribution {
    /// Its class in `fill.cuh`.
    pub(super) class: Class,
    /// The members of that class.
    pub(super) members: Members,
    /// Bytes of the words that it takes, one for each element: 4 or 8.
    pub(super) word: u64,
    /// How many neighbours share their words.
    pub(super) together: u64,
}

impl Distribution {
    /// That of a class template's instance for `T` and what `more` says.
    fn new<T: Data>(name: &'static str, more: [&'static str; 2], members: Members) -> Self {
        let class = Class::new(name, [T::DTYPE.name, more[0], more[1]]);
        Self { class, members, word: if is_wide::<T>() { 8 } else { 4 }, together: 1 }
    }

    /// In `[0, 1)`.
    pub(super) fn uniform<T: Float>() -> Self {
        Self::new::<T>("Uniform", ["", ""], smallvec![])
    }

    /// Normal, or the exponential of that; `even` from one word each.
    ///
    /// # Errors
    /// [`Error::Distribution`] for a mean that is not finite, a deviation that is negative or not finite.
    pub(super) fn normal<T: Float>(
        mean: f64,
        deviation: f64,
        logarithmic: bool,
        even: bool,
    ) -> Result<Self> {
        if !(mean.is_finite() && deviation.is_finite() && deviation >= 0.0) {
            return Err(Error::Distribution {
                distribution: if logarithmic { "log-normal" } else { "normal" },
                problem: format!("mean {mean}, standard deviation {deviation}"),
            });
        }
        // Half precision is computed in single.
        let member =
            |v: f64| if is_wide::<T>() { Member::value(v) } else { Member::value(v as f32) };
        let (method, together) =
            if even { ("warpaint::Inversion", 1) } else { ("warpaint::BoxMuller", 2) };
        let more = [method, if logarithmic { "true" } else { "false" }];
        let members = smallvec![member(mean), member(deviation)];
        let distribution = Self::new::<T>("Normal", more, members);
        Ok(Self { together, ..distribution })
    }

    /// The integers of a range, each as likely as the others.
    ///
    /// # Errors
    /// [`Error::Distribution`] for an empty range.
    pub(super) fn integers<T: Integer>(range: &impl RangeBounds<T>) -> Result<Self> {
        let low: i128 = match range.start_bound() {
            Bound::Included(&low) => low.into(),
            Bound::Excluded(&below) => below.into() + 1,
            Bound::Unbounded => T::LEAST.into(),
        };
        let end: i128 = match range.end_bound() {
            Bound::Included(&greatest) => greatest.into() + 1,
            Bound::Excluded(&end) => end.into(),
            Bound::Unbounded => T::GREATEST.into() + 1,
        };
        if end <= low {
            let problem = format!("there is none from {low} to before {end}");
            return Err(Error::Distribution { distribution: "integer", problem });
        }
        // Modulo the word, where a count of 0 stands for all.
        let member = |v: i128| {
            if is_wide::<T>() { Member::value(v as u64) } else { Member::value(v as u32) }
        };
        let members = smallvec![member(low), member(end - low)];
        Ok(Self::new::<T>("Integers", ["", ""], members))
    }

    /// Counts of what happens `mean` times on average; `even` from one word each.
    ///
    /// # Errors
    /// [`Error::Distribution`] for a mean that is negative or not finite.
    pub(super) fn poisson<T: Real>(mean: f64, even: bool) -> Result<Self> {
        if !(mean.is_finite() && mean >= 0.0) {
            let problem = format!("mean {mean}");
            return Err(Error::Distribution { distribution: "Poisson", problem });
        }
        Ok(Self::poisson_with::<T>("warpaint::Constant", Member::value(mean), even))
    }

    /// Counts of what happens as often on average as an array says for each.
    pub(super) fn poisson_of<T: Real, M: Real>(means: &GpuArray<M>, even: bool) -> Self {
        Self::poisson_with::<T>("decltype(d0)", Member::array(means), even)
    }

    fn poisson_with<T: Real>(class: &'static str, mean: Member, even: bool) -> Self {
        let method = if even { "warpaint::Inversion" } else { "warpaint::Rejection" };
        Self { word: 8, ..Self::new::<T>("Poisson", [method, class], smallvec![mean]) }
    }
}

/// Whether a value takes 64 bits.
fn is_wide<T: Data>() -> bool {
    T::DTYPE.bytes == 8
}
