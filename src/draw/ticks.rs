//! Axes: where numbers lie between two ends, and which of them are named.

/// How an axis grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    /// What is not above 0 has no place.
    Log,
}

/// A number of an axis that is named.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    /// From 0 to 1.
    pub(super) place: f32,
    pub(super) label: String,
}

/// The numbers from one end to another: those of a logarithmic axis by their decimal logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    scale: Scale,
}

/// Numbers beyond it have no place, so that the difference of two never overflows.
const GREATEST: f64 = 1e300;
/// Part of the axis that is left free at its ends.
const MARGIN: f64 = 0.05;
/// Decades of a logarithmic axis that are not worth one.
const FEW_DECADES: f64 = 1.0;

impl Axis {
    /// One with all of these numbers; from 0 to 1 where there is none.
    pub(super) fn of(numbers: impl Iterator<Item = f64>, scale: Scale) -> Self {
        let numbers = numbers.filter_map(|number| scaled(number, scale));
        let ends = numbers.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], number| {
            [low.min(number), high.max(number)]
        });
        let [low, high] = match ends {
            [low, high] if low < high => [low, high],
            // A single number stands in the middle. A tenth of the least ones is 0.
            [low, high] if low == high => {
                let half = if low.abs() < f64::MIN_POSITIVE { 1.0 } else { low.abs() * 0.1 };
                [low - half, high + half]
            }
            _ => [0.0, 1.0],
        };
        Self { low, high, scale }
    }

    /// The same from 0 on; a logarithmic one from a little below the least number.
    pub(super) fn grounded(self) -> Self {
        let low = match self.scale {
            Scale::Linear => self.low.min(0.0),
            Scale::Log => self.low.floor() - 0.3,
        };
        Self { low, ..self }
    }

    /// The same with room at its ends, but not below a ground of 0.
    pub(super) fn padded(self) -> Self {
        let room = (self.high - self.low) * MARGIN;
        let is_ground = self.scale == Scale::Linear && self.low == 0.0;
        let low = if is_ground { 0.0 } else { self.low - room };
        Self { low, high: self.high + room, ..self }
    }

    /// Where a number lies, from 0 to 1; `None` for what has no place.
    pub(super) fn place(&self, number: f64) -> Option<f32> {
        let number = scaled(number, self.scale)?;
        Some(((number - self.low) / (self.high - self.low)) as f32)
    }

    /// About as many ticks as there is `space` for.
    pub(super) fn ticks(&self, space: f32) -> Vec<Tick> {
        let most = f64::from(space).clamp(1.0, 50.0);
        let numbers = match self.scale {
            Scale::Linear => round_numbers(self.low, self.high, most),
            Scale::Log if self.high - self.low <= FEW_DECADES => {
                round_numbers(10f64.powf(self.low), 10f64.powf(self.high), most)
            }
            Scale::Log => {
                let every = ((self.high - self.low) / most).ceil().max(1.0);
                let decades = multiples(self.low, self.high, every);
                decades.into_iter().map(|exponent| 10f64.powf(exponent)).collect()
            }
        };
        let labels = match self.scale {
            Scale::Log if self.high - self.low > FEW_DECADES => {
                numbers.iter().map(|number| shortest(*number)).collect()
            }
            Scale::Linear | Scale::Log => labels(&numbers),
        };
        let ticks = numbers.into_iter().zip(labels);
        let ticks =
            ticks.filter_map(|(number, label)| Some(Tick { place: self.place(number)?, label }));
        ticks.filter(|tick| (-0.001..=1.001).contains(&tick.place)).collect()
    }
}

fn scaled(number: f64, scale: Scale) -> Option<f64> {
    let number = Some(number).filter(|number| number.abs() <= GREATEST)?;
    match scale {
        Scale::Linear => Some(number),
        Scale::Log => (number > 0.0).then(|| number.log10()),
    }
}

/// Multiples of 1, 2 or 5 times a power of ten, at most `most` of them, more or less.
fn round_numbers(low: f64, high: f64, most: f64) -> Vec<f64> {
    multiples(low, high, step(high - low, most))
}

/// The distance between such numbers within `length`.
pub(super) fn step(length: f64, most: f64) -> f64 {
    let least = length / most;
    let power = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= least * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    // An end that is a multiple but for rounding is one.
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    // Beside a great number a small step is none.
    if !(step > 0.0 && last - first < 1000.0) {
        return Vec::new();
    }
    (0..=(last - first) as u32).map(|index| (first + f64::from(index)) * step).collect()
}

/// The multiples of `step` from one number to another, each with what it is called.
pub(super) fn named_multiples(low: f64, high: f64, step: f64) -> Vec<(f64, String)> {
    let numbers = multiples(low, high, step);
    let labels = labels(&numbers);
    numbers.into_iter().zip(labels).collect()
}

/// The numbers with as many digits as tell them apart.
fn labels(numbers: &[f64]) -> Vec<String> {
    let greatest = numbers.iter().fold(0.0_f64, |most, number| most.max(number.abs()));
    let step = numbers.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    if !step.is_finite() {
        // A single one has as many digits as it needs.
        return numbers.iter().map(|number| shortest(*number)).collect();
    }
    if greatest >= 1e6 || (greatest > 0.0 && greatest < 1e-3) {
        let digits = (greatest / step).log10().ceil().clamp(0.0, 8.0) as usize;
        let label = |number: &f64| match *number {
            0.0 => "0".to_owned(),
            number => trimmed(&format!("{number:.digits$e}")),
        };
        return numbers.iter().map(label).collect();
    }
    let decimals = (-(step * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 9.0) as usize;
    numbers.iter().map(|number| format!("{:.decimals$}", number + 0.0)).collect()
}

fn shortest(number: f64) -> String {
    let rounded = format!("{number:.8e}").parse().unwrap_or(number);
    if rounded == 0.0 || (1e-3..1e6).contains(&rounded.abs()) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

/// `1.500e7` without zeros that say nothing.
fn trimmed(number: &str) -> String {
    match number.split_once('e') {
        Some((digits, exponent)) if digits.contains('.') => {
            format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => number.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(numbers: &[f64], scale: Scale, space: f32) -> Vec<String> {
        let axis = Axis::of(numbers.iter().copied(), scale);
        axis.ticks(space).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_and_told_apart() {
        let linear = |low, high| named(&[low, high], Scale::Linear, 6.0);
        assert_eq!(linear(0.0, 10.0), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(linear(-0.3, 0.3), ["-0.3", "-0.2", "-0.1", "0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(
            linear(1000.0, 1000.5),
            ["1000.0", "1000.1", "1000.2", "1000.3", "1000.4", "1000.5"]
        );
        assert_eq!(linear(0.0, 3.0e7), ["0", "5e6", "1e7", "1.5e7", "2e7", "2.5e7", "3e7"]);
        assert_eq!(linear(0.0, 5.0e-6), ["0", "1e-6", "2e-6", "3e-6", "4e-6", "5e-6"]);
        assert_eq!(
            named(&[1.0, 1e6], Scale::Log, 6.0),
            ["1", "10", "100", "1000", "10000", "100000", "1e6"]
        );
        assert_eq!(named(&[2.0, 5.0], Scale::Log, 4.0), ["2", "3", "4", "5"]);
        assert_eq!(named(&[1e-200, 1e200], Scale::Log, 4.0).len(), 5);
        assert_eq!(named(&[-0.4, 0.7], Scale::Linear, 1.0), ["0"]);
        assert_eq!(named(&[0.2, 0.4], Scale::Linear, 1.0), ["0.2", "0.4"]);
    }

    #[test]
    fn every_axis_has_two_ends() {
        for (numbers, scale) in [
            (&[][..], Scale::Linear),
            (&[f64::NAN, f64::INFINITY], Scale::Linear),
            (&[7.0], Scale::Linear),
            (&[0.0], Scale::Linear),
            (&[5e-324], Scale::Linear),
            (&[f64::MIN_POSITIVE], Scale::Linear),
            (&[0.0, -1.0], Scale::Log),
            (&[1.0], Scale::Log),
            (&[f64::MAX, f64::MIN, 1.0], Scale::Linear),
            (&[-1e300, 1e300], Scale::Linear),
            (&[1e15, 1e15 + 1.0], Scale::Linear),
            (&[5e-324, 1e-323], Scale::Linear),
        ] {
            for axis in [
                Axis::of(numbers.iter().copied(), scale),
                Axis::of(numbers.iter().copied(), scale).grounded(),
            ] {
                let axis = axis.padded();
                assert!(axis.low < axis.high, "{numbers:?} {axis:?}");
                let ticks = axis.ticks(8.0);
                assert!(
                    ticks.len() < 60 && ticks.iter().all(|tick| tick.place.is_finite()),
                    "{numbers:?}"
                );
            }
        }
        assert_eq!(Axis::of([7.0].into_iter(), Scale::Linear).place(7.0), Some(0.5));
        assert_eq!(Axis::of([1.0, 100.0].into_iter(), Scale::Log).place(10.0), Some(0.5));
        assert_eq!(Axis::of([1.0, 100.0].into_iter(), Scale::Log).place(-10.0), None);
    }
}
