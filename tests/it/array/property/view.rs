//! Random views: of places on the host, through `ndarray`, and of arrays on a device by the same steps.

use fastrand::Rng;
use ndarray::{ArrayD, Axis, IxDyn, SliceInfoElem};
use warpaint::{
    array::{Data, GpuArray, Index},
    kernel::Context,
};

use super::value::Value;

/// Lengths at which warps, blocks and tiles begin and end.
const EDGES: [usize; 9] = [31, 32, 33, 255, 256, 257, 1023, 1025, 64];
/// Most axes, and most elements, of a view.
const MOST_AXES: usize = 5;
const MOST_ELEMENTS: usize = 5000;

/// What makes a view of a view.
#[derive(Clone, Debug)]
enum Step {
    /// One entry for each axis of the result, and for each axis that goes.
    Slice(Vec<Part>),
    Permute(Vec<usize>),
    Reverse,
    Squeeze,
    Diagonal,
    Broadcast(Vec<usize>),
    Reshape(Vec<usize>),
}

/// What is taken along an axis: in terms that numpy and `ndarray` spell differently.
#[derive(Clone, Copy, Debug)]
enum Part {
    At(usize),
    New,
    /// Every `step`th from `low` to before `high`, from the end if `step` is negative.
    Range {
        low: usize,
        high: usize,
        step: isize,
        length: usize,
        /// Whether numpy's indices are to be counted from the end.
        from_end: bool,
    },
}

impl Part {
    fn host(self) -> SliceInfoElem {
        match self {
            Self::At(at) => SliceInfoElem::Index(at as isize),
            Self::New => SliceInfoElem::NewAxis,
            Self::Range { low, high, step, .. } => {
                SliceInfoElem::Slice { start: low as isize, end: Some(high as isize), step }
            }
        }
    }

    fn device(self) -> Index {
        match self {
            Self::At(at) => Index::At(at as isize),
            Self::New => Index::NewAxis,
            Self::Range { low, high, step, length, from_end } => {
                let end = |place: usize| {
                    let below = if from_end && place < length { length as isize } else { 0 };
                    Some(place as isize - below)
                };
                if step > 0 {
                    return Index::Range { start: end(low), stop: end(high), step };
                }
                // Downwards, the first is the last before `high`, and the one before `low` is not reached.
                let (start, stop) = (high.checked_sub(1), low.checked_sub(1));
                Index::Range {
                    start: start.and_then(end).or(Some(-(length as isize) - 1)),
                    stop: stop.and_then(end),
                    step,
                }
            }
        }
    }

    fn range(rng: &mut Rng, length: usize) -> Self {
        let (a, b) = (rng.usize(..=length), rng.usize(..=length));
        let (low, high) = match rng.u8(..8) {
            0 => (a.min(b), a.max(b)),
            1 => (a.min(1), length),
            2 => (0, length.saturating_sub(1)),
            _ => (0, length),
        };
        let step = [1, 1, 1, 2, 3, -1, -1, -2][rng.usize(..8)];
        Self::Range { low, high, step, length, from_end: rng.bool() }
    }
}

impl Step {
    fn random(rng: &mut Rng, shape: &[usize]) -> Self {
        let count: usize = shape.iter().product();
        match rng.u8(..12) {
            0..=4 => Self::slice(rng, shape),
            5 | 6 => {
                let mut axes: Vec<usize> = (0..shape.len()).collect();
                rng.shuffle(&mut axes);
                Self::Permute(axes)
            }
            7 => Self::Reverse,
            8 if shape.len() > 3 => Self::Squeeze,
            8 if shape.len() == 2 => Self::Diagonal,
            9 => Self::Reshape(factors(rng, count)),
            _ => Self::Broadcast(wider(rng, shape)),
        }
    }

    fn slice(rng: &mut Rng, shape: &[usize]) -> Self {
        let mut parts = Vec::new();
        for &length in shape {
            if rng.u8(..8) == 0 {
                parts.push(Part::New);
            }
            parts.push(match rng.u8(..8) {
                0 if length > 0 && shape.len() > 2 => Part::At(rng.usize(..length)),
                _ => Part::range(rng, length),
            });
        }
        Self::Slice(parts)
    }

    fn places(&self, of: ArrayD<usize>) -> ArrayD<usize> {
        match self {
            Self::Slice(parts) => {
                let parts: Vec<SliceInfoElem> = parts.iter().map(|part| part.host()).collect();
                of.slice(&parts[..]).to_owned()
            }
            Self::Permute(axes) => of.permuted_axes(&axes[..]),
            Self::Reverse => {
                let mut of = of;
                (0..of.ndim()).for_each(|axis| of.invert_axis(Axis(axis)));
                of
            }
            Self::Squeeze => {
                let axes: Vec<usize> =
                    (0..of.ndim()).rev().filter(|&axis| of.shape()[axis] == 1).collect();
                axes.into_iter().fold(of, |of, axis| of.remove_axis(Axis(axis)))
            }
            Self::Diagonal => of.diag().to_owned().into_dyn(),
            Self::Broadcast(shape) => of.broadcast(&shape[..]).unwrap().to_owned(),
            Self::Reshape(shape) => of.to_shape(&shape[..]).unwrap().to_owned(),
        }
    }

    fn device<T: Data>(&self, of: &GpuArray<T>) -> GpuArray<T> {
        match self {
            Self::Slice(parts) => {
                let parts: Vec<Index> = parts.iter().map(|part| part.device()).collect();
                of.slice(&parts).unwrap()
            }
            Self::Permute(axes) => of.permute(axes).unwrap(),
            Self::Reverse => of.reverse(),
            Self::Squeeze => of.squeeze(),
            Self::Diagonal => of.diagonal(0, 1).unwrap(),
            Self::Broadcast(shape) => of.broadcast_to(shape).unwrap(),
            Self::Reshape(shape) => of.reshape(shape).unwrap(),
        }
    }
}

/// A shape of `count` elements.
fn factors(rng: &mut Rng, count: usize) -> Vec<usize> {
    let (mut shape, mut left) = (Vec::new(), count);
    while shape.len() + 1 < MOST_AXES && left > 1 && rng.u8(..4) > 0 {
        let divisors: Vec<usize> = (1..=left.min(64)).filter(|&n| left.is_multiple_of(n)).collect();
        let factor = divisors[rng.usize(..divisors.len())];
        shape.push(factor);
        left /= factor;
    }
    shape.push(left);
    rng.shuffle(&mut shape);
    shape
}

/// A shape that `shape` can be broadcast to.
fn wider(rng: &mut Rng, shape: &[usize]) -> Vec<usize> {
    let mut wide = shape.to_vec();
    for n in &mut wide {
        if *n == 1 && rng.bool() {
            *n = rng.usize(..5);
        }
    }
    while wide.len() < MOST_AXES && rng.u8(..3) == 0 {
        wide.insert(0, rng.usize(1..4));
    }
    if wide.iter().product::<usize>() > MOST_ELEMENTS { shape.to_vec() } else { wide }
}

/// A random shape; one axis may be as long as a block, all together are not much longer.
pub(super) fn shape(rng: &mut Rng) -> Vec<usize> {
    let mut shape: Vec<usize> = (0..rng.usize(..=MOST_AXES))
        .map(|_| match rng.u8(..12) {
            0 => 0,
            1..=3 => 1,
            _ => rng.usize(2..7),
        })
        .collect();
    if !shape.is_empty() && rng.u8(..4) > 0 {
        let (axis, long) = (rng.usize(..shape.len()), EDGES[rng.usize(..EDGES.len())]);
        shape[axis] = long;
    }
    while shape.iter().product::<usize>() > MOST_ELEMENTS {
        shape.pop();
    }
    shape
}

/// A view of a base array, by the places of its elements in the base.
#[derive(Debug)]
pub(super) struct View {
    base: Vec<usize>,
    steps: Vec<Step>,
    places: ArrayD<usize>,
}

impl View {
    /// A contiguous array.
    pub(super) fn whole(shape: &[usize]) -> Self {
        let count = shape.iter().product();
        let places = ArrayD::from_shape_vec(shape, (0..count).collect()).unwrap();
        Self { base: shape.to_vec(), steps: Vec::new(), places }
    }

    /// A view of any shape.
    pub(super) fn random(rng: &mut Rng) -> Self {
        let view = Self::whole(&shape(rng));
        (0..rng.u8(..4)).fold(view, |view, _| {
            let step = Step::random(rng, view.shape());
            view.then(step)
        })
    }

    /// A view that has this shape, of a larger base: cut out, thinned, turned round, its axes in any order.
    pub(super) fn of_shape(rng: &mut Rng, shape: &[usize]) -> Self {
        if rng.u8(..4) == 0 {
            return Self::whole(shape);
        }
        let mut order: Vec<usize> = (0..shape.len()).collect();
        if rng.bool() {
            rng.shuffle(&mut order);
        }
        let (mut base, mut parts) = (Vec::new(), Vec::new());
        for &axis in &order {
            let n = shape[axis];
            let step = [1, 1, 1, -1, 2, -3][rng.usize(..6)];
            let low = rng.usize(..3);
            let high = low + n.saturating_sub(1) * isize::unsigned_abs(step) + usize::from(n > 0);
            let length = high + rng.usize(..2);
            base.push(length);
            parts.push(Part::Range { low, high, step, length, from_end: rng.bool() });
        }
        // Axis `i` of the result is where `order` has `i`.
        let mut back = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &axis)| back[axis] = place);
        Self::whole(&base).then(Step::Slice(parts)).then(Step::Permute(back))
    }

    /// A view of this shape somewhere in a base that is larger along each axis, turned round at times.
    pub(super) fn inside(rng: &mut Rng, base: &[usize], shape: &[usize]) -> Self {
        let parts = base.iter().zip(shape).map(|(&length, &n)| {
            let low = rng.usize(..=length - n);
            let step = if rng.bool() { 1 } else { -1 };
            Part::Range { low, high: low + n, step, length, from_end: rng.bool() }
        });
        Self::whole(base).then(Step::Slice(parts.collect()))
    }

    /// A view that can be broadcast to `shape`; axes that are repeated come with stride 0, or with length 1.
    pub(super) fn beside(rng: &mut Rng, shape: &[usize]) -> Self {
        let narrow: Vec<usize> =
            shape.iter().map(|&n| if rng.u8(..4) == 0 { 1 } else { n }).collect();
        let front = if rng.u8(..4) == 0 { rng.usize(..=shape.len()) } else { 0 };
        let view = Self::of_shape(rng, &narrow[front..]);
        if rng.bool() { view } else { view.then(Step::Broadcast(shape[front..].to_vec())) }
    }

    fn then(mut self, step: Step) -> Self {
        self.places = step.places(self.places);
        self.steps.push(step);
        self
    }

    pub(super) fn shape(&self) -> &[usize] {
        self.places.shape()
    }

    /// Where its elements are in the base.
    pub(super) fn places(&self) -> &ArrayD<usize> {
        &self.places
    }

    /// How many elements the base has.
    pub(super) fn base_count(&self) -> usize {
        self.base.iter().product()
    }

    /// The view of `base`, which has its shape or as many elements.
    pub(super) fn of<T: Data>(&self, base: &GpuArray<T>) -> GpuArray<T> {
        let base = base.reshape(&self.base).unwrap();
        self.steps.iter().fold(base, |array, step| step.device(&array))
    }

    /// A base with random values, seen through it.
    pub(super) fn sample<T: Value>(&self, context: &Context, rng: &mut Rng) -> Sample<T> {
        let base: Vec<T> = (0..self.base_count()).map(|_| T::random(rng)).collect();
        let device = self.of(&GpuArray::from_shape(context, &self.base, &base).unwrap());
        Sample { device, host: self.places.mapv(|place| base[place]) }
    }
}

/// The same view of the same values, here and there.
pub(super) struct Sample<T> {
    pub(super) device: GpuArray<T>,
    pub(super) host: ArrayD<T>,
}

impl<T: Value> Sample<T> {
    /// Of a random view.
    pub(super) fn random(context: &Context, rng: &mut Rng) -> Self {
        View::random(rng).sample(context, rng)
    }

    pub(super) fn shape(&self) -> &[usize] {
        self.host.shape()
    }

    /// Elements in C order.
    pub(super) fn flat(&self) -> Vec<T> {
        self.host.iter().copied().collect()
    }

    /// In C order, broadcast to `shape`.
    pub(super) fn spread(&self, shape: &[usize]) -> Vec<T> {
        self.host.broadcast(IxDyn(shape)).unwrap().iter().copied().collect()
    }

    /// What messages call it.
    pub(super) fn name(&self) -> String {
        let (device, of) = (&self.device, T::DTYPE.name);
        format!("{of} {:?} with strides {:?}", device.shape(), device.strides())
    }

    /// The elements that are reduced to each output along `axes`, in C order, and the shape of the outputs.
    pub(super) fn lanes(&self, axes: &[usize]) -> (Vec<usize>, Vec<Vec<T>>) {
        let ndim = self.host.ndim();
        let kept: Vec<usize> = (0..ndim).filter(|axis| !axes.contains(axis)).collect();
        let mut gone = axes.to_vec();
        gone.sort_unstable();
        let order = [&kept[..], &gone[..]].concat();
        let flat: Vec<T> = self.host.view().permuted_axes(&order[..]).iter().copied().collect();
        let shape: Vec<usize> = kept.iter().map(|&axis| self.shape()[axis]).collect();
        let (outputs, length) = (
            shape.iter().product(),
            gone.iter().map(|&axis| self.shape()[axis]).product::<usize>(),
        );
        let lanes = (0..outputs).map(|k| flat[k * length..(k + 1) * length].to_vec());
        (shape, lanes.collect())
    }
}
