//! How often an array's values lie in each of several ranges, counted on the device.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::summary::{Error, Partial, Pending, Summary, compiled};
use crate::{
    compile::{Compiler, Request, Target},
    device::{
        self, Arguments, Device, Fill, Function, LaunchConfig, Memory, Readback, Slice, Stream,
    },
    element::{Part, Scalar},
};

/// Threads of a block.
const BLOCK: u32 = 256;
/// Values of a thread, where there are so many: each block adds its counters to those of all at its end.
const EACH: u64 = 16;
const BLOCKS_PER_MULTIPROCESSOR: u32 = 4;
const CHOOSE: &str = "warpaint::summary::choose_range";
/// Two doubles: where the first range begins and the last one ends.
const RANGE_BYTES: usize = 16;

/// The counting kernels for a set of scalar types, loaded on a device.
#[derive(Debug)]
pub(crate) struct Binning {
    kernels: BTreeMap<Scalar, Function>,
    choose: Function,
    blocks: u32,
}

/// What was counted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counts {
    /// Where the first range begins and the last one ends.
    pub(crate) range: [f64; 2],
    /// Of each component, how many values are in each range; those at an edge are in the upper one.
    pub(crate) counts: Vec<Vec<u64>>,
}

impl Counts {
    /// Where the ranges begin, and the last one ends: the numbers of `numpy.linspace`, as the device has them.
    pub(crate) fn ends(&self) -> Vec<f64> {
        let [low, high] = self.range;
        let last = self.counts.first().map_or(0, Vec::len);
        // Halved where the width would overflow, as `Bins` of `bins.cuh`.
        let unit = if (high - low).is_finite() { 1.0 } else { 0.5 };
        let (start, width) = (unit * low, unit * high - unit * low);
        let by = width / last as f64;
        let end = |i: usize| {
            let i = i as f64;
            let along = if by == 0.0 { i / last as f64 * width } else { i * by };
            (along + start) / unit
        };
        (0..last).map(end).chain([high]).collect()
    }
}

/// Counts on their way.
#[derive(Debug)]
pub(crate) struct PendingCounts {
    readback: Readback,
    bins: usize,
    /// Kept until the kernels have ended.
    _memory: Memory,
}

impl Binning {
    /// Compiles (or takes from the cache) and loads the kernels for `scalars`.
    ///
    /// # Errors
    /// See [`Error`].
    pub(crate) fn new(
        compiler: &Compiler,
        device: &Device,
        target: Target,
        scalars: &BTreeSet<Scalar>,
    ) -> Result<Self, Error> {
        let source = concat!(
            include_str!("summary.cuh"),
            include_str!("../generate/linspace.cuh"),
            include_str!("bins.cuh"),
            include_str!("bins.cu")
        );
        let mut request = Request::new("bins.cu", source, target);
        let names = scalars.iter().map(|scalar| kernel_name(*scalar));
        request.name_expressions = names.chain([CHOOSE.to_owned()]).collect();
        let compiled = compiled(compiler, &request)?;
        let module = device.load(&compiled.ptx)?;
        let function =
            |name: &str| module.function(compiled.names.get(name).map_or(name, String::as_str));
        let kernel = |scalar: &Scalar| Ok((*scalar, function(&kernel_name(*scalar))?));
        Ok(Self {
            kernels: scalars.iter().map(kernel).collect::<Result<_, device::Error>>()?,
            choose: function(CHOOSE)?,
            blocks: device.info().multiprocessors.max(1) * BLOCKS_PER_MULTIPROCESSOR,
        })
    }

    /// Counts these components of a part of the elements of `stride` bytes in `data` on `stream`, in `bins` ranges of
    /// one width between the ends of `range`; where there is none, between the least and the greatest value, which
    /// `statistics`, put on the stream before, tell.
    ///
    /// # Errors
    /// [`Error::NoKernel`] for a type that was not asked for; the device's errors.
    #[expect(unsafe_code, reason = "kernel launches")]
    pub(crate) fn enqueue(
        &self,
        stream: &Stream,
        (data, part, stride): (Slice<'_>, &Part, usize),
        lanes: Range<u8>,
        (bins, range): (u32, Option<[f64; 2]>),
        statistics: &Pending,
    ) -> Result<PendingCounts, Error> {
        let element = part.element;
        let no_kernel = || Error::NoKernel { element: element.to_string() };
        let kernel = self.kernels.get(&element.scalar).ok_or_else(no_kernel)?;
        let of_lane = bins as usize * size_of::<u64>();
        let memory = stream.device().alloc(RANGE_BYTES + lanes.len() * of_lane)?;
        stream.fill(memory.slice(..)?, Fill::U8(0))?;
        let head = memory.slice(..RANGE_BYTES)?;
        match range {
            Some(range) => stream.upload(head, bytemuck::bytes_of(&range))?,
            None => {
                let first = usize::from(lanes.start) * size_of::<Partial>();
                let of_lanes = statistics.results()?.slice(first..)?;
                let mut arguments = Arguments::new();
                arguments
                    .push(&of_lanes.address())
                    .push(&(lanes.len() as u32))
                    .push(&head.address());
                // SAFETY: it reads the statistics of these lanes, of which there are as many as the element has, and
                // writes the range. The caller's borrow keeps the one, this function the other.
                unsafe { stream.launch(&self.choose, &LaunchConfig::new(1, 1), &arguments)? };
            }
        }
        let part_of = data.slice(part.offset.min(data.bytes())..)?;
        let is_inside = part.offset + part.bytes() <= stride;
        let elements = if is_inside { data.bytes() / stride.max(1) } else { 0 };
        let count = (elements * part.count) as u64;
        let blocks = count.div_ceil(u64::from(BLOCK) * EACH).clamp(1, self.blocks.into()) as u32;
        for (index, lane) in lanes.enumerate() {
            let start = RANGE_BYTES + index * of_lane;
            let counts = memory.slice(start..start + of_lane)?;
            let mut arguments = Arguments::new();
            arguments
                .push(&part_of.address())
                .push(&(stride as u64))
                .push(&(part.count.max(1) as u64))
                .push(&count)
                .push(&u32::from(element.lanes))
                .push(&u32::from(lane))
                .push(&head.address())
                .push(&bins)
                .push(&counts.address());
            // SAFETY: it reads the part of each element that lies in `data` as a whole, which the caller's borrow
            // keeps, and adds to `bins` counters, the length of `counts`.
            unsafe { stream.launch(kernel, &LaunchConfig::new(blocks, BLOCK), &arguments)? };
        }
        let readback = stream.download(memory.slice(..)?)?;
        Ok(PendingCounts { readback, bins: bins as usize, _memory: memory })
    }
}

impl PendingCounts {
    /// Waits for them.
    ///
    /// # Errors
    /// An error of the stream's earlier work.
    pub(crate) fn wait(self) -> device::Result<Counts> {
        let bytes = self.readback.wait()?;
        let (range, counts) = bytes.split_at(RANGE_BYTES);
        let counts: Vec<u64> = counts.chunks_exact(8).map(bytemuck::pod_read_unaligned).collect();
        Ok(Counts {
            range: bytemuck::pod_read_unaligned(range),
            counts: counts.chunks(self.bins).map(<[u64]>::to_vec).collect(),
        })
    }
}

fn kernel_name(scalar: Scalar) -> String {
    format!("warpaint::summary::count_bins<{}>", Summary::scalar_name(scalar))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        array::{Data, GpuArray},
        element::{Element, Type},
        kernel::Context,
    };

    /// The counts of the first component of pairs.
    fn counted<T: Data + Copy + From<f32>>(
        values: &[T],
        bins: u32,
        range: Option<[f64; 2]>,
    ) -> Counts {
        let context = Context::new(Device::cpu().unwrap()).unwrap();
        let scalar = if T::DTYPE.bytes == 8 { Scalar::F64 } else { Scalar::F32 };
        let element = Element::vector(scalar, 2);
        let pairs: Vec<T> = values.iter().flat_map(|value| [*value, T::from(-1.0e9)]).collect();
        let array = GpuArray::from_slice(&context, &pairs).unwrap();
        let (compiler, device) = (context.compiler(), context.device());
        let summary = Summary::new(compiler, device, Target::CPU, [element]).unwrap();
        let scalars = BTreeSet::from([scalar]);
        let binning = Binning::new(compiler, device, Target::CPU, &scalars).unwrap();
        let data = array.memory().unwrap();
        let statistics = summary.enqueue(context.stream(), data, element).unwrap();
        let stream = context.stream();
        let part = &Type::from(element).parts()[0];
        let of = (data, part, element.bytes());
        let pending = binning.enqueue(stream, of, 0..1, (bins, range), &statistics);
        pending.unwrap().wait().unwrap()
    }

    #[test]
    fn each_value_is_counted_where_it_lies() {
        let values: Vec<f32> = (0..100_000).map(|i| (i % 1000) as f32).collect();
        let found = counted(&values, 10, Some([0.0, 1000.0]));
        assert_eq!(found, Counts { range: [0.0, 1000.0], counts: vec![vec![10_000; 10]] });
        let found = counted(&values, 4096, Some([0.0, 4096.0]));
        assert_eq!(found.counts[0][..1000], [100; 1000]);
        assert_eq!(found.counts[0][1000..], [0; 3096]);
        // 0 to 9, 10 to 19, ..., 990 to 999: the end of the last one is in it.
        let found = counted(&values, 3, None);
        assert_eq!(found.range, [0.0, 999.0]);
        assert_eq!(found.counts[0], [33_300, 33_300, 33_400]);
    }

    /// Whole numbers are the ends of such ranges, and each begins its own.
    #[test]
    fn what_begins_a_range_is_counted_in_it() {
        for bins in [22_u32, 23, 50, 100, 3] {
            let values: Vec<f32> = (0..bins * 100).map(|i| (i % bins) as f32).collect();
            let found = counted(&values, bins, Some([0.0, f64::from(bins)]));
            assert_eq!(found.counts[0], vec![100; bins as usize], "{bins}");
            let ends = found.ends();
            assert_eq!(ends, (0..=bins).map(f64::from).collect::<Vec<_>>());
        }
        let ends = Counts { range: [-0.3, 0.9], counts: vec![vec![0; 7]] }.ends();
        let around = |end: &f64| [end.next_down(), *end];
        let found =
            counted(&ends[1..7].iter().flat_map(around).collect::<Vec<_>>(), 7, Some([-0.3, 0.9]));
        assert_eq!(found.counts[0], [1, 2, 2, 2, 2, 2, 1]);
        let zeros = counted(&[0.0_f64, -0.5, 0.5, 0.0], 6, Some([-1.0, 1.0]));
        assert_eq!(zeros.counts[0], [0, 1, 0, 2, 1, 0]);
    }

    #[test]
    fn what_is_no_number_or_beside_the_range_is_left_out() {
        let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.5, 0.0, 0.5, 1.0, 1.5];
        assert_eq!(counted(&odd, 2, Some([0.0, 1.0])).counts[0], [1, 2]);
        assert_eq!(counted(&odd, 2, None), Counts { range: [-0.5, 1.5], counts: vec![vec![2, 3]] });
        assert_eq!(counted(&[f32::NAN], 2, None).counts[0], [0, 0]);
        assert_eq!(
            counted(&[7.0_f32; 9], 2, None),
            Counts { range: [6.5, 7.5], counts: vec![vec![0, 9]] }
        );
        let far = counted(&[1.0e30_f32; 9], 4, None);
        let value = f64::from(1.0e30_f32);
        assert!(far.range[0] < value && value < far.range[1], "{far:?}");
        assert_eq!(far.counts[0].iter().sum::<u64>(), 9);
        let wide = counted(&[f32::MIN, f32::MAX, 0.0], 2, Some([-f64::MAX, f64::MAX]));
        assert_eq!(wide.counts[0], [1, 2], "0 begins the second one");
    }

    #[test]
    fn the_ends_of_double_precision_have_ranges_of_their_own() {
        let least = 5e-324;
        let found = counted(&[0.0, least, 0.0, least], 4, None);
        assert_eq!(found, Counts { range: [0.0, least], counts: vec![vec![2, 0, 0, 2]] });
        assert_eq!(counted(&[0.0, 1e-310, 1.0], 2, Some([0.0, least])).counts[0], [1, 0]);
        let greatest = counted(&[f64::MAX; 2], 2, None);
        assert!(greatest.range[0] < f64::MAX && greatest.range[1] == f64::MAX, "{greatest:?}");
        assert_eq!(greatest.counts[0], [0, 2]);
        assert_eq!(counted(&[-f64::MAX; 2], 2, None).counts[0], [2, 0]);
    }
}
