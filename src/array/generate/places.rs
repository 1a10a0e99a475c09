//! How generated kernels compute from one index where the elements of several arrays lie.

use std::{
    fmt::Write as _,
    hash::{Hash, Hasher},
};

use smallvec::SmallVec;

use crate::array::{
    layout::{Places, USUAL_NUMBERS},
    source::Code,
};
use crate::device::Arguments;

/// Numbers of a parameter that says where elements are.
pub(in crate::array) type Packed = SmallVec<[i64; 2 * USUAL_NUMBERS]>;

impl Places {
    /// The definition of `Places`, where [`Places::parameter`] needs it.
    pub(in crate::array) fn definition(&self) -> String {
        if self.is_flat() {
            return String::new();
        }
        let (rank, arrays) = (self.rank(), self.arrays());
        format!(
            "struct Places {{ unsigned long long shape[{rank}]; long long strides[{rank}][{arrays}]; }};\n"
        )
    }

    /// The parameter that [`Places::locate`] needs, with a comma behind it.
    pub(in crate::array) fn parameter(&self) -> &'static str {
        if self.is_flat() { "" } else { "const Places places, " }
    }

    /// Gives that parameter its value.
    pub(in crate::array) fn push_to(&self, arguments: &mut Arguments) {
        if !self.is_flat() {
            let shape = self.shape.iter().map(|&n| n as i64);
            let packed: Packed = shape.chain(self.packed_strides()).collect();
            arguments.push_bytes(bytemuck::cast_slice(&packed), 8);
        }
    }

    /// Statements that compute where the elements are whose index is `i`, of type `Index`.
    pub(in crate::array) fn locate(&self) -> String {
        let mut text = String::new();
        if self.is_flat() {
            return text;
        }
        text.push_str("Index rest = i; ");
        for k in 0..self.arrays() {
            let _ = write!(text, "long long o{k} = 0; ");
        }
        for axis in (0..self.shape.len()).rev() {
            text.push_str(&match axis {
                0 => "{ const Index c = rest; ".to_owned(),
                _ => format!("{{ const Index n = places.shape[{axis}], c = rest % n; rest /= n; "),
            });
            for k in 0..self.arrays() {
                let _ = write!(text, "o{k} += (long long)c * places.strides[{axis}][{k}]; ");
            }
            text.push_str("} ");
        }
        text
    }

    /// Statements that compute the values of `code` for the elements whose index is `i`.
    pub(in crate::array) fn evaluate(&self, code: &Code<'_>) -> String {
        let reads = code.reads(|k| format!("a{k}[{}]", self.place(k)));
        self.locate() + &reads + &code.statements()
    }

    /// The place in array `k`, behind [`Places::locate`].
    pub(in crate::array) fn place(&self, k: usize) -> String {
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
        (self.is_flat(), self.rank(), self.arrays()).hash(state);
        (0..self.arrays()).for_each(|k| self.is_uniform(k).hash(state));
    }
}
