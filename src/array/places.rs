//! Where the elements of several arrays lie, as generated kernels compute it from one index.

use std::{
    fmt::Write as _,
    hash::{Hash, Hasher},
};

use smallvec::SmallVec;

use super::layout::{Arrays, Axes, collapse};
use crate::device::Arguments;

/// Lengths and strides that need no allocation.
const USUAL_NUMBERS: usize = 16;

/// The places of arrays' elements by an index in C order over one shape. Axes are joined where they are one run in all
/// arrays, so that less is computed for each index.
pub(super) struct Places {
    pub(super) shape: Axes<usize>,
    pub(super) strides: Arrays<Axes<isize>>,
}

impl Places {
    /// Those of arrays with these strides along the axes of one shape.
    pub(super) fn new(shape: &[usize], strides: &[Axes<isize>]) -> Self {
        let (shape, strides) = collapse(shape, strides);
        Self { shape, strides }
    }

    /// How many elements.
    pub(super) fn count(&self) -> u64 {
        self.shape.iter().map(|&n| n as u64).product()
    }

    /// How many axes.
    pub(super) fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Whether there is one axis at most, along which each array goes step by step or stands still.
    pub(super) fn is_flat(&self) -> bool {
        self.shape.len() <= 1 && self.strides.iter().flatten().all(|stride| matches!(stride, 0 | 1))
    }

    /// Whether array `k` is the same everywhere.
    pub(super) fn is_uniform(&self, k: usize) -> bool {
        self.strides[k].iter().all(|&stride| stride == 0)
    }

    /// The definition of `Places`, where [`Places::parameter`] needs it.
    pub(super) fn definition(&self) -> String {
        if self.is_flat() {
            return String::new();
        }
        let (rank, arrays) = (self.shape.len(), self.strides.len());
        format!(
            "struct Places {{ unsigned long long shape[{rank}]; long long strides[{arrays}][{rank}]; }};\n"
        )
    }

    /// The parameter that [`Places::locate`] needs, with a comma behind it.
    pub(super) fn parameter(&self) -> &'static str {
        if self.is_flat() { "" } else { "const Places places, " }
    }

    /// Gives that parameter its value.
    pub(super) fn push_to(&self, arguments: &mut Arguments) {
        if !self.is_flat() {
            let shape = self.shape.iter().map(|&n| n as i64);
            let strides = self.strides.iter().flatten().map(|&stride| stride as i64);
            let packed: SmallVec<[i64; USUAL_NUMBERS]> = shape.chain(strides).collect();
            arguments.push_bytes(bytemuck::cast_slice(&packed), 8);
        }
    }

    /// Statements that compute where the elements are whose index is `i`, of type `Index`.
    pub(super) fn locate(&self) -> String {
        let mut text = String::new();
        if self.is_flat() {
            return text;
        }
        text.push_str("Index rest = i; ");
        let arrays = self.strides.len();
        for k in 0..arrays {
            let _ = write!(text, "long long o{k} = 0; ");
        }
        for axis in (0..self.shape.len()).rev() {
            text.push_str(&match axis {
                0 => "{ const Index c = rest; ".to_owned(),
                _ => format!("{{ const Index n = places.shape[{axis}], c = rest % n; rest /= n; "),
            });
            for k in 0..arrays {
                let _ = write!(text, "o{k} += (long long)c * places.strides[{k}][{axis}]; ");
            }
            text.push_str("} ");
        }
        text
    }

    /// The place in array `k`, behind [`Places::locate`].
    pub(super) fn place(&self, k: usize) -> String {
        match self.is_flat() {
            true if self.is_uniform(k) => "0".to_owned(),
            true => "i".to_owned(),
            false => format!("o{k}"),
        }
    }
}

/// What the text of all its methods depends on: not how long axes and strides are, but how many.
impl Hash for Places {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let arrays = self.strides.len();
        (self.is_flat(), self.shape.len(), arrays).hash(state);
        (0..arrays).for_each(|k| self.is_uniform(k).hash(state));
    }
}
