//! How somebody wants values to be coloured, in place of what a scene says.

use serde::{Deserialize, Serialize};

use super::{Coloring, Colormap, Legend, above_zero};

/// What is chosen by hand of a [`Coloring`]; `None` leaves it to the scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recoloring {
    /// See [`Coloring::colormap`].
    pub colormap: Option<Colormap>,
    /// See [`Coloring::reversed`].
    pub reversed: Option<bool>,
    /// See [`Coloring::logarithmic`].
    pub logarithmic: Option<bool>,
    /// See [`Coloring::range`].
    pub range: Option<[f32; 2]>,
}

impl Recoloring {
    /// Whether all is left to the scene.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Whether something can be coloured so: one that was read from a file may have any numbers.
    pub fn is_sound(&self) -> bool {
        self.range.is_none_or(|[low, high]| low < high && low.is_finite() && high.is_finite())
    }

    /// A colouring with what was chosen.
    #[must_use]
    pub fn of_coloring(&self, of: Coloring) -> Coloring {
        let logarithmic = self.logarithmic.unwrap_or(of.logarithmic);
        Coloring {
            colormap: self.colormap.unwrap_or(of.colormap),
            reversed: self.reversed.unwrap_or(of.reversed),
            range: self.ends(of.range, logarithmic),
            logarithmic,
            ..of
        }
    }

    /// The legend of such a colouring.
    #[must_use]
    pub fn of_legend(&self, of: Legend) -> Legend {
        let logarithmic = self.logarithmic.unwrap_or(of.logarithmic);
        Legend {
            colormap: self.colormap.unwrap_or(of.colormap),
            reversed: self.reversed.unwrap_or(of.reversed),
            range: self.ends(of.range, logarithmic),
            logarithmic,
            ..of
        }
    }

    fn ends(&self, of: [f32; 2], logarithmic: bool) -> [f32; 2] {
        let range = self.range.unwrap_or(of);
        if logarithmic { above_zero(range) } else { range }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_chosen_is_the_scenes() {
        let of = Coloring { range: [-1.0, 200.0], scale: 3.0, ..Coloring::default() };
        assert_eq!(Recoloring::default().of_coloring(of), of);
        let chosen = Recoloring { logarithmic: Some(true), ..Recoloring::default() };
        let logarithmic = chosen.of_coloring(of);
        assert_eq!((logarithmic.range, logarithmic.scale), ([0.02, 200.0], 3.0));
        let chosen = Recoloring { range: Some([2.0, 3.0]), reversed: Some(true), ..chosen };
        let both = chosen.of_coloring(of);
        assert_eq!((both.range, both.reversed, both.colormap), ([2.0, 3.0], true, of.colormap));
        assert!(chosen.is_sound() && !chosen.is_nothing());
        for range in [[1.0, 1.0], [2.0, 1.0], [f32::NAN, 1.0], [0.0, f32::INFINITY]] {
            assert!(!Recoloring { range: Some(range), ..chosen }.is_sound(), "{range:?}");
        }
    }
}
