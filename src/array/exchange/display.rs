//! Arrays as text, as numpy prints them.

use std::{cmp::Reverse, fmt};

use crate::array::{Data, GpuArray, Index, Result};

/// Most elements that are all printed, and how many at each end of an axis otherwise (numpy's `threshold` and
/// `edgeitems`).
const MOST: usize = 1000;
const AT_EACH_END: usize = 3;

/// Prints the elements, those at the ends of long axes only. Waits for the work before it. A precision, as in `{:.3}`,
/// holds for each floating-point number. What goes wrong with the device is printed instead.
///
/// ```
/// use warpaint::{array::GpuArray, device::Device, kernel::Context};
///
/// let context = Context::new(Device::cpu()?)?;
/// let a = GpuArray::from_shape(&context, &[2, 2], &[1.0f64, 2.5, -1e-3, 100.0])?;
/// assert_eq!(a.to_string(), "[[   1.0    2.5]\n [-0.001  100.0]]");
/// assert_eq!(format!("{a:.1}"), "[[  1.0   2.5]\n [ -0.0 100.0]]");
/// let long = GpuArray::<i32>::arange(&context, 5000)?;
/// assert_eq!(long.to_string(), "[   0    1    2 ... 4997 4998 4999]");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<T: Data> fmt::Display for GpuArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shortened = self.len() > MOST;
        let words =
            match if shortened { self.ends().and_then(|a| a.to_vec()) } else { self.to_vec() } {
                Ok(values) => values,
                Err(error) => return write!(f, "<{error}>"),
            };
        let words: Vec<String> = words.iter().map(|value| value.text(f.precision())).collect();
        let width = words.iter().map(|word| word.chars().count()).max().unwrap_or(0);
        let page = Page { shape: self.shape(), shortened, words: &words, width };
        if self.is_empty() && self.ndim() > 1 {
            return write!(f, "[] of shape {:?}", self.shape());
        }
        page.write(f, 0, 0)
    }
}

impl<T: Data> GpuArray<T> {
    /// The corners: of each axis that is too long, both ends.
    fn ends(&self) -> Result<Self> {
        let mut ends = self.clone();
        let long = |axis: &usize| self.shape()[*axis] > 2 * AT_EACH_END;
        let mut axes: Vec<usize> = (0..self.ndim()).filter(long).collect();
        // The longest first, so that little is copied for the others.
        axes.sort_by_key(|&axis| Reverse(self.shape()[axis]));
        for axis in axes {
            let part = |start, stop| {
                let mut indices = vec![Index::from(..); axis];
                indices.push(Index::Range { start, stop, step: 1 });
                indices
            };
            let mut shape = ends.shape().to_vec();
            shape[axis] = 2 * AT_EACH_END;
            let shorter = Self::empty(self.context(), &shape)?;
            let n = AT_EACH_END as isize;
            for part in [part(None, Some(n)), part(Some(-n), None)] {
                shorter.slice(&part)?.assign(&ends.slice(&part)?)?;
            }
            ends = shorter;
        }
        Ok(ends)
    }
}

/// Elements in C order, to be printed as nested lists.
struct Page<'a> {
    /// The whole array's.
    shape: &'a [usize],
    /// Whether only the ends of long axes are there.
    shortened: bool,
    words: &'a [String],
    width: usize,
}

impl Page<'_> {
    /// How many places of `axis` are printed.
    fn length(&self, axis: usize) -> usize {
        let n = self.shape[axis];
        if self.shortened { n.min(2 * AT_EACH_END) } else { n }
    }

    /// Whether places of `axis` are left out.
    fn is_cut(&self, axis: usize) -> bool {
        self.length(axis) < self.shape[axis]
    }

    /// The list along `axis` whose first element is the word `first`.
    fn write(&self, f: &mut fmt::Formatter<'_>, axis: usize, first: usize) -> fmt::Result {
        if axis == self.shape.len() {
            let word = &self.words[first];
            // Longer than any width that a format can have.
            let gap = self.width - word.chars().count();
            return write!(f, "{}{word}", " ".repeat(gap));
        }
        let each: usize = (axis + 1..self.shape.len()).map(|axis| self.length(axis)).product();
        let lines = self.shape.len() - axis - 1;
        let separator = match lines {
            0 => " ".to_owned(),
            lines => "\n".repeat(lines) + &" ".repeat(axis + 1),
        };
        f.write_str("[")?;
        for place in 0..self.length(axis) {
            if place > 0 {
                f.write_str(&separator)?;
            }
            if self.is_cut(axis) && place == AT_EACH_END {
                write!(f, "...{separator}")?;
            }
            self.write(f, axis + 1, first + place * each)?;
        }
        f.write_str("]")
    }
}
