//! Where the values of a reduction lie, and its outputs.

use std::{
    cmp::Reverse,
    fmt::Write as _,
    hash::{Hash, Hasher},
};

use super::Job;
use crate::{
    array::{
        Result,
        elementwise::width,
        layout::{self, Axes},
        places::Packed,
        source::Code,
    },
    device::Arguments,
};

/// Where the elements of each array lie, by the axes that stay and those that go.
pub(super) struct Places {
    pub(super) kept: layout::Places,
    pub(super) reduced: layout::Places,
}

impl Places {
    pub(super) fn new(code: &Code<'_>, job: &Job<'_>) -> Result<Self> {
        let (shape, layouts) = (job.shape, code.layouts());
        let part = |axes: &[usize]| layout::Places::along(axes.iter().copied(), shape, &layouts);
        let kept = part(job.kept)?;
        let mut axes = Axes::from(job.reduced);
        if let (false, Some(first)) = (job.reduction.ordered, layouts.first()) {
            axes.sort_by_key(|&axis| Reverse(first.stride_over(shape, axis).unsigned_abs()));
        }
        Ok(Self { kept, reduced: part(&axes)? })
    }

    /// How many arrays there are.
    pub(super) fn arrays(&self) -> usize {
        self.reduced.arrays()
    }

    /// How many elements each output is reduced from.
    pub(super) fn length(&self) -> usize {
        self.reduced.shape.iter().product()
    }

    /// Whether neighbouring outputs lie nearer in memory than neighbours that are reduced.
    pub(super) fn columns(&self, outputs: usize) -> bool {
        let last = |places: &layout::Places, k| places.strides(k).next_back();
        let nearer = |k: usize| match (last(&self.kept, k), last(&self.reduced, k)) {
            (Some(outer), Some(inner)) => outer.unsigned_abs() < inner.unsigned_abs(),
            _ => false,
        };
        outputs >= 32 && (0..self.arrays()).any(nearer)
    }

    /// Whether array `k` is the same for all that are reduced.
    pub(super) fn is_uniform(&self, k: usize) -> bool {
        self.reduced.is_uniform(k)
    }

    /// How many neighbours that are reduced lie one behind the other in pieces that can be read at once.
    pub(super) fn width(&self, code: &Code<'_>) -> usize {
        let moving = (0..self.arrays()).filter(|&k| !self.is_uniform(k));
        let width = width(moving.clone().map(|k| code.arrays[k]));
        let whole = |k: usize| {
            let mut outer = self.kept.strides(k);
            self.reduced.strides(k).eq([1]) && outer.all(|stride| stride % width as isize == 0)
        };
        if moving.clone().next().is_some() && moving.clone().all(whole) { width } else { 1 }
    }

    /// Gives the parameter `places_` its value.
    pub(super) fn push_to(&self, arguments: &mut Arguments) {
        let (kept, reduced) = (&self.kept, &self.reduced);
        let lengths = kept.shape.iter().chain(&[1]).chain(&reduced.shape).chain(&[1]);
        let strides = kept.packed_strides().chain(reduced.packed_strides());
        let lengths = lengths.map(|&length| length as i64);
        let packed: Packed = lengths.chain(strides).collect();
        arguments.push_bytes(bytemuck::cast_slice(&packed), 8);
    }

    /// The definition of `Places`, which is what [`Places::push_to`] gives.
    pub(super) fn definition(&self) -> String {
        let (outer, inner, arrays) = (self.kept.rank(), self.reduced.rank(), self.arrays());
        let strides = match arrays * (outer + inner) {
            0 => String::new(),
            _ => format!("long long strides[{outer} + {inner}][{arrays}]; "),
        };
        format!("struct Places {{ long long kept[{outer} + 1], reduced[{inner} + 1]; {strides}}};")
    }

    /// Statements that add to the places `to<k>_` of all arrays what index `of` means along the axes that stay.
    pub(super) fn to_output(&self, of: &str) -> String {
        let step = |k: usize, axis: usize| format!("places_.strides[{axis}][{k}]");
        self.walk("kept", self.kept.rank(), of, "b", &step)
    }

    /// The same along the axes that go. Neighbours are the rule, which saves a multiplication.
    pub(super) fn to_element(&self, of: &str) -> String {
        let first = self.kept.rank();
        let step = |k: usize, axis: usize| match self.reduced.stride(k, axis) {
            1 => "1".to_owned(),
            _ => format!("places_.strides[{}][{k}]", first + axis),
        };
        self.walk("reduced", self.reduced.rank(), of, "o", &step)
    }

    pub(super) fn walk(
        &self,
        lengths: &str,
        rank: usize,
        of: &str,
        to: &str,
        step: &dyn Fn(usize, usize) -> String,
    ) -> String {
        let mut text = format!("{{ Index rest_ = {of}; ");
        for axis in (0..rank).rev() {
            text += &match axis {
                0 => "{ const Index c_ = rest_; ".to_owned(),
                _ => format!(
                    "{{ const Index n_ = places_.{lengths}[{axis}], c_ = rest_ % n_; rest_ /= n_; "
                ),
            };
            for k in 0..self.arrays() {
                let _ = write!(text, "{to}{k}_ += (long long)c_ * {}; ", step(k, axis));
            }
            text.push_str("} ");
        }
        text + "} "
    }
}

/// What the text of its methods depends on.
impl Hash for Places {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.kept.rank(), self.reduced.rank(), self.arrays()).hash(state);
        for k in 0..self.arrays() {
            self.is_uniform(k).hash(state);
            self.reduced.strides(k).for_each(|stride| (stride == 1).hash(state));
        }
    }
}
