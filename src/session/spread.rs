//! How the values that a view colours are spread: made on a thread, of what comes to the host for it.

use super::{Arrival, Error, Session, pick::Axis};
use crate::{draw::Paint, scene::ViewId, state::HostCopy};

/// Bars of a spread.
const BARS: usize = 64;
/// So many values are looked at: of more every second one, or every third.
const MOST_VALUES: usize = 1 << 22;
/// Larger resources are not read for it.
const MOST_BYTES: u64 = 256 << 20;

/// How often each value is there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// The least and the greatest finite value, as the view counts them; the least positive one where it is
    /// logarithmic.
    pub range: [f32; 2],
    /// How many values are in each of equal parts of it; equal in their logarithms where it is logarithmic.
    pub bars: Vec<u64>,
    /// See the others.
    pub logarithmic: bool,
}

impl Session {
    /// Lets a thread count the values that a view colours. `None` while the state is being changed, where colours do
    /// not stand for values, and of what is larger than 256 MiB.
    ///
    /// # Errors
    /// The device's; [`Error::Thread`].
    pub fn start_spread(
        &mut self,
        view: ViewId,
        logarithmic: bool,
    ) -> Result<Option<Arrival<Spread>>, Error> {
        let (Some(of), Some(manifest)) = (self.colored(view), self.manifest()) else {
            return Ok(None);
        };
        let Some(declared) = self.views().get(view.0).map(|view| view.coloring.by) else {
            return Ok(None);
        };
        let paint = super::frame::paint(declared);
        let channels: Vec<Axis> = (0..4).map_while(|lane| Axis::of(manifest, of, lane)).collect();
        let (unit, count) = (self.unit(of), manifest.resource(of.of).count() as usize);
        let name = manifest.resource(of.of).name.clone();
        let is_colored = paint != Paint::Rgba && !channels.is_empty();
        if !is_colored || manifest.resource(of.of).bytes() > MOST_BYTES {
            return Ok(None);
        }
        let Some(download) = self.start_download(&[&name])? else { return Ok(None) };
        let count = move |copy: HostCopy| {
            let bytes = copy.of_resource(&name).unwrap_or_default();
            let step = count.div_ceil(MOST_VALUES).max(1);
            let number = |lane: usize, element| {
                channels.get(lane).and_then(|of| of.number(bytes, element)).unwrap_or(0.0)
            };
            let value = |element| {
                unit * match paint {
                    Paint::Component(lane) => number(usize::from(lane), element),
                    Paint::Magnitude | Paint::Rgba => {
                        let squares = [0, 1, 2].map(|lane| number(lane, element).powi(2));
                        squares.into_iter().sum::<f32>().sqrt()
                    }
                }
            };
            Ok(Spread::of((0..count).step_by(step).map(value), logarithmic))
        };
        Arrival::begin(download, count).map(Some)
    }
}

impl Spread {
    /// That of these values.
    fn of(values: impl Iterator<Item = f32>, logarithmic: bool) -> Self {
        let counts = |value: &f32| value.is_finite() && (!logarithmic || *value > 0.0);
        let values: Vec<f32> = values.filter(counts).collect();
        let low = values.iter().copied().fold(f32::INFINITY, f32::min);
        let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        if low > high {
            return Self { logarithmic, ..Self::default() };
        }
        let along = |value: f32| if logarithmic { value.ln() } else { value };
        let (first, width) = (along(low), along(high) - along(low));
        let mut bars = vec![0; BARS];
        for value in values {
            let part = if width > 0.0 { (along(value) - first) / width } else { 0.5 };
            bars[((part * BARS as f32) as usize).min(BARS - 1)] += 1;
        }
        Self { range: [low, high], bars, logarithmic }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_where_they_lie() {
        let of = Spread::of([0.0, 1.0, 1.0, 64.0, f32::NAN, f32::INFINITY].into_iter(), false);
        assert_eq!((of.range, of.bars.iter().sum::<u64>()), ([0.0, 64.0], 4));
        assert_eq!((of.bars[0], of.bars[1], of.bars[63]), (1, 2, 1));
        let of = Spread::of([-3.0, 0.0, 1.0, 1000.0, 1.0e6].into_iter(), true);
        assert_eq!((of.range, of.bars.iter().sum::<u64>()), ([1.0, 1.0e6], 3));
        assert_eq!((of.bars[0], of.bars[32], of.bars[63]), (1, 1, 1), "half way in logarithms");
        let nothing = Spread::of([f32::NAN].into_iter(), false);
        assert!(nothing.bars.is_empty());
        assert_eq!(Spread::of([2.0; 5].into_iter(), false).bars[32], 5);
    }
}
