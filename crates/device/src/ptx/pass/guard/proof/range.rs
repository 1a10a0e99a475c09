//! Sets of integers between two ends, and what arithmetic makes of them.

/// Beyond this an end says nothing more.
const FAR: i128 = 1 << 70;

/// What is known of a register of so many bits: that it equals, modulo two to the number of its bits, an integer from
/// `low` to `high`. The ends are not wrapped, so that a sum may be subtracted from again; [`Range::signed`] and
/// [`Range::unsigned`] say which numbers are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) low: i128,
    pub(super) high: i128,
}

impl Range {
    pub(super) const fn of(value: i128) -> Self {
        Self { low: value, high: value }
    }

    pub(super) const fn new(low: i128, high: i128) -> Self {
        Self { low, high }
    }

    /// Anything that so many bits hold.
    pub(super) const fn full(bits: u32) -> Self {
        Self { low: 0, high: (1 << bits) - 1 }
    }

    /// The only number, where there is but one.
    pub(super) fn single(self) -> Option<i128> {
        (self.low == self.high).then_some(self.low)
    }

    pub(super) fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// What is in both; none where nothing is.
    pub(super) fn intersection(self, other: Self) -> Option<Self> {
        let both = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        (both.low <= both.high).then_some(both)
    }

    /// What is known where both are known of a register of so many bits. Ends are not wrapped, so that the same number
    /// may lie in each of them another time around; where they meet twice, what is in both is no range, and the
    /// narrower one is given.
    pub(super) fn and_also(self, other: Self, bits: u32) -> Self {
        let (a, b) = (self.limited(bits), other.limited(bits));
        let first = -(a.high - b.low).div_euclid(1 << bits);
        let last = (b.high - a.low).div_euclid(1 << bits);
        let narrower = if a.high - a.low < b.high - b.low { a } else { b };
        if first < last {
            return narrower;
        }
        a.plus(Self::of(first << bits)).intersection(b).unwrap_or(narrower)
    }

    /// As signed numbers of so many bits.
    pub(super) fn signed(self, bits: u32) -> Self {
        self.within(Self { low: -(1 << (bits - 1)), high: (1 << (bits - 1)) - 1 }, bits)
    }

    /// As unsigned numbers of so many bits.
    pub(super) fn unsigned(self, bits: u32) -> Self {
        self.within(Self::full(bits), bits)
    }

    /// As signed or unsigned numbers.
    pub(super) fn read(self, signed: bool, bits: u32) -> Self {
        if signed { self.signed(bits) } else { self.unsigned(bits) }
    }

    fn within(self, window: Self, bits: u32) -> Self {
        let away = (self.low - window.low).div_euclid(1 << bits) << bits;
        let moved = Self { low: self.low - away, high: self.high - away };
        if moved.high <= window.high { moved } else { window }
    }

    /// The same, or anything where it says nothing.
    pub(super) fn limited(self, bits: u32) -> Self {
        let is_far = self.low < -FAR || self.high > FAR || self.high - self.low >= 1 << bits;
        if is_far { Self::full(bits) } else { self }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self { low: self.low - other.high, high: self.high - other.low }
    }

    pub(super) fn negated(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    /// None where the product is too large.
    pub(super) fn times(self, other: Self) -> Option<Self> {
        let ends = [(self.low, other.low), (self.low, other.high)];
        let others = [(self.high, other.low), (self.high, other.high)];
        corners(ends.into_iter().chain(others), i128::checked_mul)
    }

    /// Divided by two to the `by`, rounded down.
    pub(super) fn halved(self, by: u32) -> Self {
        let by = by.min(127);
        Self { low: self.low >> by, high: self.high >> by }
    }

    /// The quotient, rounded towards zero; none where the divisor may be zero.
    pub(super) fn over(self, other: Self) -> Option<Self> {
        if other.low <= 0 && other.high >= 0 {
            return None;
        }
        let ends = [(self.low, other.low), (self.low, other.high)];
        let others = [(self.high, other.low), (self.high, other.high)];
        corners(ends.into_iter().chain(others), i128::checked_div)
    }

    /// The remainder, with the sign of `self`; none where the divisor may not be positive.
    pub(super) fn modulo(self, other: Self) -> Option<Self> {
        if other.low <= 0 {
            return None;
        }
        if self.low >= 0 && self.high < other.low {
            return Some(self);
        }
        let most = other.high - 1;
        let low = if self.low >= 0 { 0 } else { self.low.max(-most) };
        Some(Self { low, high: if self.high <= 0 { 0 } else { self.high.min(most) } })
    }

    /// Bits of numbers that are not negative.
    pub(super) fn and(self, other: Self) -> Self {
        if let Some(mask) = other.single() {
            return self.masked(mask);
        }
        match self.single() {
            Some(mask) => other.masked(mask),
            None => Self { low: 0, high: self.high.min(other.high) },
        }
    }

    fn masked(self, mask: i128) -> Self {
        let ones = (mask + 1).cast_unsigned().trailing_zeros();
        let whole = 1_i128.checked_shl(ones).unwrap_or(i128::MAX);
        // The lowest bits: those of one stretch of numbers keep their order.
        if mask == whole - 1 {
            let same = self.low >> ones == self.high >> ones;
            return if same {
                Self { low: self.low & mask, high: self.high & mask }
            } else {
                Self { low: 0, high: self.high.min(mask) }
            };
        }
        // All but the lowest bits: rounded down.
        let zeros = mask.cast_unsigned().trailing_zeros();
        let filled = mask | ((1 << zeros) - 1);
        if zeros > 0 && (filled & (filled + 1)) == 0 && self.high <= filled {
            return Self { low: self.low & mask, high: self.high & mask };
        }
        Self { low: 0, high: self.high.min(mask) }
    }

    /// Bits of numbers that are not negative.
    pub(super) fn or(self, other: Self) -> Self {
        let low = self.low.max(other.low);
        Self { low, high: self.filled(other) }
    }

    /// Bits of numbers that are not negative.
    pub(super) fn xor(self, other: Self) -> Self {
        Self { low: 0, high: self.filled(other) }
    }

    /// The most that bits of both together can be.
    fn filled(self, other: Self) -> i128 {
        let bits = 128 - (self.high | other.high).leading_zeros();
        ((1_i128 << bits.min(126)) - 1).min(self.high + other.high)
    }
}

/// The least and the greatest of what `f` makes of pairs.
fn corners(
    pairs: impl Iterator<Item = (i128, i128)>,
    f: impl Fn(i128, i128) -> Option<i128>,
) -> Option<Range> {
    let mut all: Option<Range> = None;
    for (a, b) in pairs {
        let one = Range::of(f(a, b)?);
        all = Some(all.map_or(one, |all| all.hull(one)));
    }
    all
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::Range;

    const BITS: u32 = 8;

    fn random(rng: &mut Rng) -> Range {
        let low = i128::from(rng.i32(-300..300));
        Range::new(low, low + i128::from(rng.i32(0..60)))
    }

    /// A number of a range, as eight bits.
    fn member(range: Range, rng: &mut Rng) -> u8 {
        (range.low + i128::from(rng.u32(0..=(range.high - range.low) as u32))) as u8
    }

    fn has(range: Range, value: u8) -> bool {
        range.low + (i128::from(value) - range.low).rem_euclid(256) <= range.high
    }

    /// A number of both ranges is one of what is known of both.
    #[test]
    fn what_lies_in_both_ranges_is_kept() {
        let mut rng = Rng::with_seed(3);
        let mut narrower = 0;
        for _ in 0..50_000 {
            let [a, b] = [0, 1].map(|_| {
                let range = random(&mut rng);
                let more = if rng.bool() { 0 } else { rng.i32(0..300) };
                Range::new(range.low, range.high + i128::from(more))
            });
            let both = a.and_also(b, BITS);
            let is_kept = |value: u8| !(has(a, value) && has(b, value)) || has(both, value);
            assert!((0..=255).all(is_kept), "{a:?} {b:?} {both:?}");
            narrower += u32::from(both != a && both != b);
        }
        assert!(narrower > 5_000, "{narrower}");
    }

    /// What eight-bit arithmetic makes of members lies in what is made of their ranges.
    #[test]
    fn results_lie_in_the_ranges() {
        let mut rng = Rng::with_seed(7);
        let mut narrow = 0;
        for _ in 0..200_000 {
            let (ra, rb) = (random(&mut rng), random(&mut rng));
            let (a, b) = (member(ra, &mut rng), member(rb, &mut rng));
            let (sa, sb) = (a as i8, b as i8);
            let (ua, ub) = (ra.unsigned(BITS), rb.unsigned(BITS));
            let (ia, ib) = (ra.signed(BITS), rb.signed(BITS));
            assert!(has(ua, a) && has(ia, a) && ua.low >= 0 && ua.high < 256, "{ra:?} {ua:?}");
            assert!(i128::from(sa) >= ia.low && i128::from(sa) <= ia.high);
            let shift = u32::from(b % 8);
            let mut all = vec![
                (Some(ra.plus(rb)), a.wrapping_add(b)),
                (Some(ra.minus(rb)), a.wrapping_sub(b)),
                (Some(ra.negated()), a.wrapping_neg()),
                (ra.times(rb), a.wrapping_mul(b)),
                (Some(ua.halved(shift)), a >> shift),
                (Some(ia.halved(shift)), (sa >> shift) as u8),
                (Some(ua.and(ub)), a & b),
                (Some(ua.or(ub)), a | b),
                (Some(ua.xor(ub)), a ^ b),
                (Some(ra.hull(rb)), a),
                (Some(ra.limited(BITS)), a),
            ];
            for mask in [0xf0, 0x0f, 0x3c, 0x81, 0xff, 0] {
                all.push((Some(ua.and(Range::of(mask))), a & mask as u8));
            }
            if let Some(quotient) = a.checked_div(b) {
                all.push((ua.over(ub), quotient));
                all.push((ia.over(ib), sa.wrapping_div(sb) as u8));
                all.push((ua.modulo(ub), a % b));
                all.push((ia.modulo(ib), sa.wrapping_rem(sb) as u8));
            }
            for (at, (range, value)) in all.into_iter().enumerate() {
                let Some(range) = range else { continue };
                assert!(has(range, value), "{at}: {ra:?} {rb:?}: {a} {b}: {value} in {range:?}");
                narrow += u32::from(range.high - range.low < 200);
            }
        }
        assert!(narrow > 1_000_000, "{narrow}");
    }
}
