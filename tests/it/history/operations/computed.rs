//! The scene of random operations in its layouts, and what it holds, computed by hand.

use std::fmt::Write as _;

/// What a random operation may be about: layouts of resources, of which an edit goes from any to any.
const LAYOUTS: [Layout; 5] = [
    BASE,
    Layout { count: 33, size: [7, 4], ..BASE },
    Layout { count: 12, lanes: 4, ..BASE },
    Layout { is_short: true, ..BASE },
    Layout { name: "renamed", ..BASE },
];
pub(super) const BASE: Layout = Layout {
    name: "value",
    is_array: false,
    count: 20,
    lanes: 2,
    is_short: false,
    fields: FIELDS[0],
    size: [6, 5],
};
/// The fields of a structure: what is added to the first, what is taken away, and all in another order.
pub(super) const FIELDS: [&[Field]; 5] = [
    &[Field::A, Field::B],
    &[Field::A, Field::C, Field::B],
    &[Field::B],
    &[Field::B, Field::A],
    &[Field::C, Field::A],
];
/// What kernels multiply with.
pub(super) const FACTORS: [u32; 2] = [1_664_525, 22_695_477];
const TWINS: usize = 16;
const PARTS: usize = 9;
const SEED: u32 = 7;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Layout {
    pub(super) name: &'static str,
    pub(super) is_array: bool,
    pub(super) count: usize,
    pub(super) lanes: usize,
    pub(super) is_short: bool,
    pub(super) fields: &'static [Field],
    pub(super) size: [usize; 2],
}

impl Layout {
    /// Whether a resource of `other` is another one here, or lies in memory in another way: a buffer and an array do
    /// not.
    pub(super) fn differs(&self, other: &Self) -> bool {
        Self { is_array: false, ..*self } != Self { is_array: false, ..*other }
    }
}

/// A field of the structure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field {
    A,
    B,
    C,
}

impl Field {
    fn name(self) -> &'static str {
        ["a", "b", "c"][self as usize]
    }

    fn type_name(self) -> &'static str {
        ["unsigned", "unsigned short", "unsigned long long"][self as usize]
    }

    fn bytes(self) -> usize {
        [4, 2, 8][self as usize]
    }

    /// What the reset pass gives it, in CUDA C++.
    fn start(self) -> &'static str {
        ["seed + i", "3 * i", "gain"][self as usize]
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Text {
    pub(super) layout: Layout,
    pub(super) factor: u32,
}

impl Text {
    /// Any other, whose structure is the same.
    pub(super) fn any(&self, random: &mut fastrand::Rng) -> Self {
        let Layout { is_array, fields, .. } = self.layout;
        Self {
            layout: Layout { is_array, fields, ..LAYOUTS[random.usize(..LAYOUTS.len())] },
            factor: FACTORS[random.usize(..FACTORS.len())],
        }
    }

    pub(super) fn source(&self) -> String {
        let Self { layout, factor } = self;
        let Layout { name, is_array, count, lanes, is_short, fields, size: [width, height] } =
            layout;
        let kind = if *is_array { "array" } else { "buffer" };
        let mut declared = String::new();
        let (mut begun, mut turned) = (String::new(), String::new());
        for field in *fields {
            let name = field.name();
            write!(declared, "{} {name}; ", field.type_name()).unwrap();
            write!(begun, "part[i].{name} = {}; ", field.start()).unwrap();
            write!(turned, "part[i].{name} = part[i].{name} * 5 + calls + i; ").unwrap();
        }
        let was = LAYOUTS.iter().find(|other| other.name != *name).unwrap().name;
        let twin = if *is_short { "unsigned short" } else { "unsigned" };
        let mut more = String::new();
        if *lanes == 4 {
            write!(more, "v.z += v.y + (unsigned)step; v.w = v.w * 5u + (i & 3);").unwrap();
        }
        let start = if *lanes == 4 { "i, seed, gain, 9" } else { "i, seed" };
        format!(
            r#"/*---
[{kind}.{name}]
type  = "uint{lanes}"
count = {count}
was   = "{was}"
[array.part]
type   = "Part"
count  = {PARTS}
[array.twin]
type   = "{twin}"
count  = {TWINS}
double = true
[texture.dye]
format = "r32f"
size   = [{width}, {height}]
double = true
[param.gain]
value = 3
min   = 0
max   = 1000
[[pass]]
kernel = "begin"
on     = "reset"
over   = "{name}"
[[pass]]
kernel = "begin_part"
on     = "reset"
over   = "part"
[[pass]]
kernel = "mix"
over   = "{name}"
[[pass]]
kernel = "turn"
over   = "part"
[[pass]]
kernel = "shift"
over   = "twin"
[[pass]]
kernel = "paint"
over   = "dye"
---*/
struct Part {{ {declared}}};
__device__ unsigned calls;

__global__ void begin_part(Part *part, int part_count, unsigned seed, int gain)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < part_count) {{ {begun}}}
}}

__global__ void turn(Part *part, int part_count)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < part_count) {{ {turned}}}
}}

__global__ void begin(uint{lanes} *{name}, int {name}_count, unsigned seed, int gain)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < {name}_count) {name}[i] = make_uint{lanes}({start});
}}

__global__ void mix(uint{lanes} *{name}, int {name}_count, int gain, float4 mouse, uint4 keys, unsigned long long step)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) calls += gain + 1;
    if (i >= {name}_count) return;
    uint{lanes} v = {name}[i];
    v.x = v.x * {factor}u + 1013904223u + gain;
    v.y ^= v.x >> 7 ^ __float_as_uint(mouse.x) ^ keys.z;
    {more}
    {name}[i] = v;
}}

__global__ void shift({twin} *twin, {twin} *twin_next, int twin_count, const uint{lanes} *{name})
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // Every third element keeps what was there two steps before.
    if (i < twin_count && i % 3) twin_next[i] = twin[(i + 1) % twin_count] + {name}[i % 12].x + calls;
}}

__global__ void paint(cudaSurfaceObject_t dye, cudaSurfaceObject_t dye_next, int dye_width, int dye_height,
    const {twin} *twin)
{{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= dye_width || y >= dye_height || (x + y) % 4 == 0) return;
    float before = surf2Dread<float>(dye, x * 4, y);
    surf2Dwrite(before * 0.5f + (float)(twin[x + y] & 0xffff), dye_next, x * 4, y);
}}
"#
        )
    }
}

/// What the scene holds, computed by hand.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    pub(super) text: Text,
    pub(super) step: u64,
    pub(super) gain: u32,
    pub(super) value: Vec<[u32; 4]>,
    /// The fields of each element, those that there are not now, too.
    pub(super) part: Vec<[u64; 3]>,
    /// Both halves; the first is what is seen.
    pub(super) twin: [Vec<u32>; 2],
    pub(super) dye: [Vec<f32>; 2],
    pub(super) calls: u32,
}

impl State {
    pub(super) fn begin(text: Text, gain: u32) -> Self {
        let [width, height] = text.layout.size;
        Self {
            text,
            step: 0,
            gain,
            value: (0..text.layout.count as u32).map(|i| [i, SEED, gain, 9]).collect(),
            part: (0..PARTS as u64).map(|i| [u64::from(SEED) + i, 3 * i, gain.into()]).collect(),
            twin: [vec![0; TWINS], vec![0; TWINS]],
            dye: [vec![0.0; width * height], vec![0.0; width * height]],
            calls: 0,
        }
    }

    pub(super) fn step(&mut self, mouse: f32, keys: u32) {
        let Layout { is_short, fields, size: [width, height], .. } = self.text.layout;
        self.calls = self.calls.wrapping_add(self.gain + 1);
        for (i, [x, y, z, w]) in self.value.iter_mut().enumerate() {
            *x = x.wrapping_mul(self.text.factor).wrapping_add(1_013_904_223 + self.gain);
            *y ^= *x >> 7 ^ mouse.to_bits() ^ keys;
            *z = z.wrapping_add(y.wrapping_add(self.step as u32));
            *w = w.wrapping_mul(5).wrapping_add(i as u32 & 3);
        }
        for (i, part) in self.part.iter_mut().enumerate() {
            for &field in fields {
                let of = &mut part[field as usize];
                let next =
                    of.wrapping_mul(5).wrapping_add(self.calls.into()).wrapping_add(i as u64);
                *of = next & (u64::MAX >> (64 - 8 * field.bytes()));
            }
        }
        let [twin, next] = &mut self.twin;
        for i in (0..TWINS).filter(|i| i % 3 != 0) {
            let sum = twin[(i + 1) % TWINS].wrapping_add(self.value[i % 12][0]);
            let sum = sum.wrapping_add(self.calls);
            next[i] = if is_short { sum & 0xffff } else { sum };
        }
        self.twin.swap(0, 1);
        let [dye, next] = &mut self.dye;
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            if (x + y) % 4 != 0 {
                let added = (self.twin[0][x + y] & 0xffff) as f32;
                next[y * width + x] = dye[y * width + x] * 0.5 + added;
            }
        }
        self.dye.swap(0, 1);
        self.step += 1;
    }

    /// What an edit carries over: see "What an edit keeps" in `docs/scenes.md`.
    pub(super) fn take_over(&mut self, text: Text) {
        let (old, new) = (self.text.layout, text.layout);
        self.text = text;
        // A component, or an element, that comes is as the reset passes make it.
        let fresh = Self::begin(text, self.gain);
        if old.lanes < new.lanes {
            for (value, fresh) in self.value.iter_mut().zip(&fresh.value) {
                value[old.lanes..].copy_from_slice(&fresh[old.lanes..]);
            }
        }
        for field in new.fields.iter().filter(|field| !old.fields.contains(field)) {
            for (part, fresh) in self.part.iter_mut().zip(&fresh.part) {
                part[*field as usize] = fresh[*field as usize];
            }
        }
        self.value.truncate(new.count);
        self.value.extend_from_slice(&fresh.value[self.value.len()..]);
        if old.is_short != new.is_short {
            let most = if new.is_short { 0xffff } else { u32::MAX };
            let converted: Vec<u32> = self.twin[0].iter().map(|&of| of.min(most)).collect();
            self.twin = [converted.clone(), converted];
        }
        if old.size != new.size {
            let mut dye = fresh.dye[0].clone();
            for (x, y) in (0..old.size[1]).flat_map(|y| (0..old.size[0]).map(move |x| (x, y))) {
                if x < new.size[0] && y < new.size[1] {
                    dye[y * new.size[0] + x] = self.dye[0][y * old.size[0] + x];
                }
            }
            self.dye = [dye.clone(), dye];
        }
    }

    /// What the resources hold, as bytes.
    pub(super) fn contents(&self) -> Vec<Vec<u8>> {
        let Layout { lanes, is_short, fields, .. } = self.text.layout;
        let value = self.value.iter().flat_map(|of| &of[..lanes]);
        let twin = self.twin[0].iter();
        vec![
            value.flat_map(|of| of.to_le_bytes()).collect(),
            match is_short {
                true => twin.flat_map(|of| (*of as u16).to_le_bytes()).collect(),
                false => twin.flat_map(|of| of.to_le_bytes()).collect(),
            },
            self.dye[0].iter().flat_map(|of| of.to_le_bytes()).collect(),
            self.part.iter().flat_map(|part| element(fields, part)).collect(),
        ]
    }
}

/// An element of the structure in memory, as C++ lays it out. Nothing writes what lies between fields.
fn element(fields: &[Field], part: &[u64; 3]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for &field in fields {
        bytes.resize(bytes.len().next_multiple_of(field.bytes()), 0);
        bytes.extend_from_slice(&part[field as usize].to_le_bytes()[..field.bytes()]);
    }
    let alignment = fields.iter().map(|field| field.bytes()).max().unwrap();
    bytes.resize(bytes.len().next_multiple_of(alignment), 0);
    bytes
}
