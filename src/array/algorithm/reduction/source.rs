//! The text of a kernel that reduces.

use std::{
    fmt::Write as _,
    hash::{Hash, Hasher},
};

use super::{BLOCK, Identity, Plan, Reduction, Steps, places::Places};
use crate::{
    array::{
        elementwise::{Piece, index_type},
        source::Code,
    },
    kernel::GENERATED,
};

/// Functions that reductions call.
pub(super) const LIBRARY: &str = include_str!("../reduce.cuh");

/// CUDA C++ of one launch.
pub(super) struct Source<'a, 'c> {
    pub(super) code: &'a Code<'c>,
    pub(super) places: &'a Places,
    pub(super) plan: &'a Plan,
    pub(super) reduction: &'a Reduction,
    pub(super) steps: &'a Steps<'a>,
    /// The type of the results.
    pub(super) out: &'static str,
}

/// What its text depends on.
impl Hash for Source<'_, '_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Plan { columns, lanes, width, unroll, .. } = *self.plan;
        (columns, lanes, width, unroll, index_type(self.elements()), self.out).hash(state);
        let Reduction { accumulator, identity, combine, .. } = self.reduction;
        (accumulator.name, identity, combine, self.steps.absorb, self.steps.finish).hash(state);
        self.places.hash(state);
        self.code.arrays.iter().for_each(|array| Piece::new(array, width).hash(state));
    }
}

impl Source<'_, '_> {
    /// How many elements there are in all.
    pub(super) fn elements(&self) -> u64 {
        (self.plan.outputs as u64).saturating_mul(self.plan.length.max(1) as u64)
    }

    pub(super) fn text(&self) -> String {
        let (parameter, identity) = match &self.reduction.identity {
            Identity::Value(_) => ("const Accumulator identity_, ", String::new()),
            Identity::Code(code) => ("", format!("const Accumulator identity_ = {code}; ")),
        };
        format!(
            "using Accumulator = {accumulator};
using Result = {result};
using Index = {index};
__device__ Accumulator combine(const Accumulator &a, const Accumulator &b) {{ return {combine}; }}
template <class T> __device__ Accumulator absorb(const Accumulator &a, const T &x, const Index r) {{ return {absorb}; }}
__device__ Result finish(const Accumulator &a, const double n) {{ return {finish}; }}
template <class T, int ALIGNMENT> struct alignas(ALIGNMENT) Piece {{ T at[{width}]; }};
{places}
extern \"C\" __global__ void __launch_bounds__({BLOCK}) {GENERATED}({parameters}const Places places_,
    {parameter}Result *out_, const unsigned long long outputs_, const unsigned long long length_,
    const unsigned long long chunk_, const unsigned long long count_)
{{
    {identity}{body}
}}
",
            accumulator = self.reduction.accumulator.name,
            result = self.out,
            index = index_type(self.elements()),
            combine = self.reduction.combine,
            absorb = self.steps.absorb,
            finish = self.steps.finish,
            width = self.plan.width,
            places = self.places.definition(),
            parameters = self.code.parameters(),
            body = self.body(),
        )
    }

    fn body(&self) -> String {
        let (lanes, slots) = (self.plan.lanes, self.plan.slots());
        // Threads of one output are neighbours, or those of neighbouring outputs are.
        let (thread, step) = if self.plan.columns {
            (format!("lane_ = threadIdx.x / {slots}, slot_ = threadIdx.x % {slots}"), slots)
        } else {
            (format!("lane_ = threadIdx.x % {lanes}, slot_ = threadIdx.x / {lanes}"), 1)
        };
        let bases = self.each(|k| format!("long long b{k}_ = 0; "));
        format!(
            "__shared__ alignas(Accumulator) unsigned char memory_[sizeof(Accumulator) * {BLOCK}];
    Accumulator *const shared_ = (Accumulator *)memory_;
    const unsigned {thread};
    const Index begin_ = blockIdx.y * chunk_, end_ = begin_ + chunk_ < length_ ? begin_ + chunk_ : length_;
    for (unsigned long long first_ = blockIdx.x * {slots}ull; first_ < outputs_; first_ += gridDim.x * {slots}ull) {{
        const Index k_ = first_ + slot_;
        Accumulator total_ = identity_;
        if (k_ < outputs_) {{
            {bases}{to_output}
            {elements}
        }}
        shared_[threadIdx.x] = total_;
        for (unsigned half_ = {lanes} / 2; half_ > 0; half_ /= 2) {{
            __syncthreads();
            if (lane_ >= half_) continue;
            shared_[threadIdx.x] = combine(shared_[threadIdx.x], shared_[threadIdx.x + half_ * {step}]);
        }}
        if (lane_ == 0 && k_ < outputs_) {{
            out_[(unsigned long long)k_ * gridDim.y + blockIdx.y] = finish(shared_[threadIdx.x], count_);
        }}
        __syncthreads();
    }}",
            to_output = self.places.to_output("k_"),
            elements = self.loops(),
        )
    }

    /// The loops over the elements of one output from `begin_` to `end_`.
    fn loops(&self) -> String {
        let Plan { width, unroll, .. } = *self.plan;
        if width == 1 {
            return self.looped(1, unroll, "begin_", "end_");
        }
        let whole = format!("end_ / {width}");
        let pieces = self.looped(width, unroll, &format!("begin_ / {width}"), &whole);
        pieces + &self.looped(1, 1, &format!("{whole} * {width}"), "end_")
    }

    /// A loop over pieces of `width` elements, `unroll` at a time where there are as many.
    fn looped(&self, width: usize, unroll: usize, from: &str, to: &str) -> String {
        let lanes = self.plan.lanes;
        let mut text = format!("{{ Index p_ = {from} + lane_; const Index to_ = {to};\n");
        if unroll > 1 {
            let (reach, step) = ((unroll - 1) * lanes, unroll * lanes);
            let pieces = self.pieces(width, unroll);
            let _ = writeln!(
                text,
                "#pragma unroll 1\nfor (; p_ + {reach} < to_; p_ += {step}) {{ {pieces} }}\n#pragma unroll 1"
            );
        }
        let _ =
            writeln!(text, "for (; p_ < to_; p_ += {lanes}) {{ {} }} }}", self.pieces(width, 1));
        text
    }

    /// Reads `unroll` pieces of `width` elements, and then takes their elements into `total_`.
    pub(super) fn pieces(&self, width: usize, unroll: usize) -> String {
        let lanes = self.plan.lanes;
        let in_pieces = |k: usize| width > 1 && !self.places.is_uniform(k);
        let arrays = &self.code.arrays;
        let held = self.each(|k| match in_pieces(k) {
            true => format!("{} q{k}_[{unroll}]; ", Piece::new(arrays[k], width)),
            false => format!("{} q{k}_[{unroll}]; ", arrays[k].dtype.name),
        });
        let read = self.each(|k| match in_pieces(k) {
            true => {
                let piece = Piece::new(arrays[k], width);
                format!("q{k}_[u_] = ((const {piece} *)(a{k} + b{k}_))[at_]; ")
            }
            false => format!("q{k}_[u_] = a{k}[o{k}_]; "),
        });
        let starts = self.each(|k| format!("long long o{k}_ = b{k}_; "));
        let values = self.code.reads(|k| match in_pieces(k) {
            true => format!("q{k}_[u_].at[j_]"),
            false => format!("q{k}_[u_]"),
        });
        // Of pieces, only what is the same for all elements is read by itself.
        let walk = if width == 1 { self.places.to_element("at_") } else { String::new() };
        format!(
            "{held}
#pragma unroll
for (unsigned u_ = 0; u_ < {unroll}; ++u_) {{ const Index at_ = p_ + u_ * {lanes}; {starts}{walk}{read}}}
#pragma unroll
for (unsigned u_ = 0; u_ < {unroll}; ++u_) {{
#pragma unroll
for (unsigned j_ = 0; j_ < {width}; ++j_) {{
const Index r_ = (p_ + u_ * {lanes}) * {width} + j_, i = r_;
{values}{statements}const auto value_ = {result};
total_ = absorb(total_, value_, r_); }} }}
",
            statements = self.code.statements(),
            result = self.code.result(),
        )
    }

    pub(super) fn each(&self, text: impl Fn(usize) -> String) -> String {
        (0..self.code.arrays.len()).map(text).collect()
    }
}
