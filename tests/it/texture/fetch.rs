//! Texture fetches, compared with the programming guide's formulas.

use half::f16;
use warpaint::device::{
    AddressMode, ArrayDescriptor, ArrayShape, Channel, Device, Filter, Format, ReadMode,
    TextureDescriptor, TextureSource,
};

use super::bench::{Bench, CHANNELS, Random};

const TEX_1D: &str = "tex.1d.v4.f32.f32 {%o1, %o2, %o3, %o4}, [%handle, {%f1}];";
const TEX_2D: &str = "tex.2d.v4.f32.f32 {%o1, %o2, %o3, %o4}, [%handle, {%f1, %f2}];";
const TEX_3D: &str = "tex.3d.v4.f32.f32 {%o1, %o2, %o3, %o4}, [%handle, {%f1, %f2, %f3, %f3}];";

/// The guide's formulas for a texture of one `f32` a texel, up to the rounding of weights.
struct Model<'a> {
    extent: &'a [usize],
    descriptor: TextureDescriptor,
    texels: &'a [f32],
}

impl Model<'_> {
    fn index(mode: AddressMode, i: i64, n: i64) -> Option<i64> {
        match mode {
            _ if (0..n).contains(&i) => Some(i),
            AddressMode::Clamp => Some(i.clamp(0, n - 1)),
            AddressMode::Wrap => Some(i.rem_euclid(n)),
            AddressMode::Mirror if i.div_euclid(n) % 2 == 0 => Some(i.rem_euclid(n)),
            AddressMode::Mirror => Some(n - 1 - i.rem_euclid(n)),
            AddressMode::Border => None,
        }
    }

    /// The coordinate in texels.
    fn place(&self, axis: usize, x: f32) -> f64 {
        let (x, n) = (f64::from(x), self.extent[axis] as f64);
        if !self.descriptor.normalized {
            return x;
        }
        let fraction = x - x.floor();
        n * match self.descriptor.address[axis] {
            AddressMode::Clamp | AddressMode::Border => x,
            AddressMode::Wrap => fraction,
            AddressMode::Mirror if x.floor() % 2.0 == 0.0 => fraction,
            AddressMode::Mirror => 1.0 - fraction,
        }
    }

    fn texel(&self, at: &[i64]) -> f64 {
        let mut place = 0;
        for (axis, &i) in at.iter().enumerate().rev() {
            let n = self.extent[axis];
            match Self::index(self.descriptor.address[axis], i, n as i64) {
                Some(i) => place = place * n + i as usize,
                None => return f64::from(self.descriptor.border[0]),
            }
        }
        f64::from(self.texels[place])
    }

    fn sample(&self, at: [f32; 4]) -> f64 {
        let places: Vec<f64> =
            (0..self.extent.len()).map(|axis| self.place(axis, at[axis])).collect();
        if self.descriptor.filter == Filter::Point {
            let at: Vec<i64> = places.iter().map(|x| x.floor() as i64).collect();
            return self.texel(&at);
        }
        let mut sum = 0.0;
        for corner in 0..1usize << places.len() {
            let mut weight = 1.0;
            let at: Vec<i64> = (places.iter().enumerate())
                .map(|(axis, x)| {
                    let (first, far) = ((x - 0.5).floor(), corner >> axis & 1);
                    let alpha = x - 0.5 - first;
                    weight *= if far == 1 { alpha } else { 1.0 - alpha };
                    first as i64 + far as i64
                })
                .collect();
            sum += weight * self.texel(&at);
        }
        sum
    }
}

/// A float that each kind of channel with this number can hold, and its bytes there.
fn value(channel: Channel, number: usize) -> (f64, Vec<u8>) {
    const FLOATS: [f32; 8] = [0.0, -2.5, 0.5, 1.0, 65504.0, -0.0625, 6.103_515_6e-5, 3.140_625];
    const INTS: [i64; 8] = [0, 1, -1, i64::MAX, i64::MIN, 77, -78, 0x1234_5678_9abc_def0];
    let (float, int) = (FLOATS[number % 8], INTS[number % 8]);
    let bits = 8 * channel.bytes() as u32;
    let max = 1i64 << (bits - 1);
    match channel {
        Channel::F32 => (f64::from(float), float.to_le_bytes().to_vec()),
        Channel::F16 => (f64::from(float), f16::from_f32(float).to_le_bytes().to_vec()),
        Channel::I8 | Channel::I16 | Channel::I32 => {
            let int = int.clamp(-max, max - 1);
            (int as f64, int.to_le_bytes()[..channel.bytes()].to_vec())
        }
        Channel::U8 | Channel::U16 | Channel::U32 => {
            let int = (int as u64 & (2 * max - 1) as u64) as i64;
            (int as f64, int.to_le_bytes()[..channel.bytes()].to_vec())
        }
    }
}

/// Points in the middle of texels of a row.
fn middles(count: usize) -> Vec<[u32; 4]> {
    (0..count).map(|i| [(i as f32 + 0.5).to_bits(), 0, 0, 0]).collect()
}

pub fn every_format_is_read(device: &Device) {
    let bench = Bench::new(device);
    for channel in CHANNELS {
        for channels in [1, 2, 4] {
            let format = Format::new(channel, channels).unwrap();
            let values: Vec<_> = (0..8 * channels as usize).map(|i| value(channel, i)).collect();
            let bytes: Vec<u8> = values.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
            let shape = ArrayShape::D1 { width: 8 };
            let array = bench.array(&ArrayDescriptor::new(shape, format), &bytes);
            let texture = bench.texture(&array, &TextureDescriptor::default());
            let to = match channel {
                Channel::F16 | Channel::F32 => "f32",
                Channel::I8 | Channel::I16 | Channel::I32 => "s32",
                Channel::U8 | Channel::U16 | Channel::U32 => "u32",
            };
            let instruction = TEX_1D.replacen("f32", to, 1);
            let found = bench.run(&instruction, texture.handle(), &middles(8));
            let number = |word: u32| match to {
                "f32" => f64::from(f32::from_bits(word)),
                "s32" => f64::from(word.cast_signed()),
                _ => f64::from(word),
            };
            for (texel, (words, values)) in
                found.iter().zip(values.chunks(format.channels())).enumerate()
            {
                for (word, (expected, _)) in words.iter().zip(values) {
                    assert_eq!(number(*word), *expected, "{format}, texel {texel}");
                }
            }
        }
    }
}

pub fn integers_are_read_as_fractions(device: &Device) {
    let bench = Bench::new(device);
    let descriptor =
        TextureDescriptor { read: ReadMode::NormalizedFloat, ..TextureDescriptor::default() };
    let cases = [
        (Channel::U8, 255.0, 1, 0),
        (Channel::I8, 127.0, 1, -128),
        (Channel::U16, 65535.0, 257, 0),
        (Channel::I16, 32767.0, 257, -32768),
    ];
    for (channel, most, step, least) in cases {
        let value = |i: usize| i as i64 * step + least;
        let format = Format::new(channel, 1).unwrap();
        let bytes: Vec<u8> =
            (0..256).flat_map(|i| value(i).to_le_bytes()[..channel.bytes()].to_vec()).collect();
        let shape = ArrayShape::D1 { width: 256 };
        let array = bench.array(&ArrayDescriptor::new(shape, format), &bytes);
        let texture = bench.texture(&array, &descriptor);
        for (i, words) in bench.run(TEX_1D, texture.handle(), &middles(256)).iter().enumerate() {
            let expected = (value(i) as f64 / most).max(-1.0);
            let found = f64::from(f32::from_bits(words[0]));
            assert!((found - expected).abs() < 1e-6, "{format} {i}: {found}, not {expected}");
        }
    }
}

pub fn srgb_becomes_linear(device: &Device) {
    let bench = Bench::new(device);
    let bytes: Vec<u8> = (0..=255).flat_map(|i| [i; 4]).collect();
    let shape = ArrayShape::D1 { width: 256 };
    let array = bench.array(&ArrayDescriptor::new(shape, Format::RGBA8), &bytes);
    let texture = bench.texture(
        &array,
        &TextureDescriptor {
            read: ReadMode::NormalizedFloat,
            srgb: true,
            ..TextureDescriptor::default()
        },
    );
    for (i, words) in bench.run(TEX_1D, texture.handle(), &middles(256)).iter().enumerate() {
        let c = i as f64 / 255.0;
        let light = if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        let found = words.map(|word| f64::from(f32::from_bits(word)));
        for colour in &found[..3] {
            // An H200 gives multiples of 1/256: 123/256 for 0.4793, 244/256 for 0.9560.
            assert!((colour - light).abs() < 1.0 / 256.0, "{i}: {colour}, not {light}");
        }
        assert!((found[3] - c).abs() < 1e-6, "alpha is linear: {i}");
    }
}

fn shape_of(extent: &[usize]) -> ArrayShape {
    match *extent {
        [width] => ArrayShape::D1 { width },
        [width, height] => ArrayShape::D2 { width, height },
        [width, height, depth] => ArrayShape::D3 { width, height, depth },
        _ => panic!("no such array"),
    }
}

/// All ways of addressing, of one to three dimensions.
fn ways(filter: Filter) -> Vec<(Vec<usize>, TextureDescriptor)> {
    use AddressMode::{Border, Clamp, Mirror, Wrap};
    let mut ways = Vec::new();
    for extent in [vec![7], vec![8, 5], vec![5, 4, 3]] {
        for normalized in [false, true] {
            let modes =
                if normalized { vec![Clamp, Border, Wrap, Mirror] } else { vec![Clamp, Border] };
            for (turn, mode) in modes.iter().enumerate() {
                // All sides alike, then each with another.
                let mixed =
                    [*mode, modes[(turn + 1) % modes.len()], modes[(turn + 2) % modes.len()]];
                for address in [[*mode; 3], mixed] {
                    let border = [0.25, 0.5, 0.75, 1.0];
                    let way = TextureDescriptor {
                        address,
                        filter,
                        normalized,
                        border,
                        ..TextureDescriptor::default()
                    };
                    ways.push((extent.clone(), way));
                }
            }
        }
    }
    ways
}

/// Places in and around a texture, a tenth of a texel away from where another one begins.
fn places(extent: &[usize], normalized: bool, random: &mut Random) -> Vec<[f32; 4]> {
    let mut place = |axis: usize| {
        let Some(&n) = extent.get(axis) else { return 0.0 };
        let n = n as f32;
        let texel = random.between(-2.0 * n, 3.0 * n).floor() + random.between(0.1, 0.9);
        if normalized { texel / n } else { texel }
    };
    (0..200).map(|_| [place(0), place(1), place(2), 0.0]).collect()
}

fn instruction(dimensions: usize) -> &'static str {
    [TEX_1D, TEX_2D, TEX_3D][dimensions - 1]
}

fn texels(extent: &[usize], random: &mut Random) -> Vec<f32> {
    (0..extent.iter().product()).map(|_| random.unit()).collect()
}

fn compare(device: &Device, filter: Filter, tolerance: impl Fn(usize) -> f64) {
    let (bench, mut random) = (Bench::new(device), Random::new(1));
    for (extent, descriptor) in ways(filter) {
        let texels = texels(&extent, &mut random);
        let array = bench.floats(shape_of(&extent), &texels);
        let texture = bench.texture(&array, &descriptor);
        let model = Model { extent: &extent, descriptor, texels: &texels };
        let at = places(&extent, descriptor.normalized, &mut random);
        let found = bench.sample(instruction(extent.len()), texture.handle(), &at);
        for (at, found) in at.iter().zip(found) {
            let (found, expected) = (f64::from(found[0]), model.sample(*at));
            assert!(
                (found - expected).abs() <= tolerance(extent.len()),
                "{extent:?} {descriptor:?} at {at:?}: {found}, not {expected}"
            );
        }
    }
}

pub fn coordinates_outside_are_addressed(device: &Device) {
    compare(device, Filter::Point, |_| 0.0);
}

pub fn filters_weigh_neighbours(device: &Device) {
    // Texels are in 0 to 1, and each weight is at most a step of 1/256 off.
    compare(device, Filter::Linear, |dimensions| dimensions as f64 / 256.0 + 1e-5);
}

/// The guide: weights are "stored in 9-bit fixed point format with 8 bits of fractional value".
pub fn weights_are_256ths(device: &Device) {
    let (bench, mut random) = (Bench::new(device), Random::new(6));
    let array = bench.floats(ArrayShape::D1 { width: 2 }, &[0.0, 1.0]);
    let linear = TextureDescriptor { filter: Filter::Linear, ..TextureDescriptor::default() };
    let texture = bench.texture(&array, &linear);
    let exact: Vec<_> = (0..=256).map(|step| [0.5 + step as f32 / 256.0, 0.0, 0.0, 0.0]).collect();
    for (step, found) in bench.sample(TEX_1D, texture.handle(), &exact).iter().enumerate() {
        assert_eq!(found[0], step as f32 / 256.0, "step {step}");
    }
    let any: Vec<_> = (0..500).map(|_| [random.between(0.5, 1.5), 0.0, 0.0, 0.0]).collect();
    for (at, found) in any.iter().zip(bench.sample(TEX_1D, texture.handle(), &any)) {
        assert_eq!((found[0] * 256.0).fract(), 0.0, "{at:?}: {}", found[0]);
        assert!((found[0] - (at[0] - 0.5)).abs() <= 1.0 / 256.0, "{at:?}: {}", found[0]);
    }
}

pub fn layers_do_not_mix(device: &Device) {
    let bench = Bench::new(device);
    let linear = TextureDescriptor { filter: Filter::Linear, ..TextureDescriptor::default() };
    let layered = [
        (
            ArrayShape::Layered1 { width: 4, layers: 3 },
            "tex.a1d.v4.f32.f32 {%o1, %o2, %o3, %o4}, [%handle, {%r1, %f2}];",
        ),
        (
            ArrayShape::Layered2 { width: 4, height: 2, layers: 3 },
            "tex.a2d.v4.f32.f32 {%o1, %o2, %o3, %o4}, [%handle, {%r1, %f2, %f3, %f3}];",
        ),
    ];
    for (shape, instruction) in layered {
        let [width, height, layers] = shape.extent();
        let texel = |x: usize, y: usize, z: usize| (100 * z + 10 * y + x) as f32;
        let all = (0..layers * height * width)
            .map(|i| texel(i % width, i / width % height, i / width / height));
        let array = bench.floats(shape, &all.collect::<Vec<_>>());
        let texture = bench.texture(&array, &linear);
        // Half-way between texels 1 and 2 of the first row; layers behind the last one are the last one.
        let at: Vec<_> =
            [0, 1, 2, 7].map(|layer| [layer, 2.0f32.to_bits(), 0.5f32.to_bits(), 0]).to_vec();
        let found = bench.run(instruction, texture.handle(), &at);
        let found: Vec<_> = found.iter().map(|words| f32::from_bits(words[0])).collect();
        assert_eq!(found, [1.5, 101.5, 201.5, 201.5], "{shape}");
    }
}

/// The guide's table "Cubemap Fetch": for the direction's largest part, the face and the signs of the others.
fn on_cube([x, y, z]: [f64; 3]) -> (usize, f64, f64) {
    let [ax, ay, az] = [x.abs(), y.abs(), z.abs()];
    let (face, m, s, t) = if ax > ay && ax > az {
        if x >= 0.0 { (0, x, -z, -y) } else { (1, -x, z, -y) }
    } else if ay > az {
        if y >= 0.0 { (2, y, x, z) } else { (3, -y, x, -z) }
    } else if z >= 0.0 {
        (4, z, x, -y)
    } else {
        (5, -z, -x, -y)
    };
    (face, (s / m + 1.0) / 2.0, (t / m + 1.0) / 2.0)
}

pub fn cubes_are_read_by_direction(device: &Device) {
    let (bench, mut random) = (Bench::new(device), Random::new(2));
    let normalized = TextureDescriptor { normalized: true, ..TextureDescriptor::default() };
    let cubes = [
        (
            ArrayShape::Cube { width: 4 },
            "tex.cube.v4.f32.f32 {%o1, %o2, %o3, %o4}, [%handle, {%f2, %f3, %f4, %f4}];",
        ),
        (
            ArrayShape::LayeredCube { width: 4, cubes: 3 },
            "tex.acube.v4.f32.f32 {%o1, %o2, %o3, %o4}, [%handle, {%r1, %f2, %f3, %f4}];",
        ),
    ];
    for (shape, instruction) in cubes {
        let texels: Vec<f32> =
            (0..shape.extent().iter().product()).map(|i: usize| i as f32).collect();
        let array = bench.floats(shape, &texels);
        let texture = bench.texture(&array, &normalized);
        let (mut at, mut expected) = (Vec::new(), Vec::new());
        while at.len() < 200 {
            let direction = [(); 3].map(|()| random.between(-2.0, 2.0));
            let (face, s, t) = on_cube(direction.map(f64::from));
            let inside = |place: f64| (0.1..0.9).contains(&(4.0 * place).fract());
            if !inside(s) || !inside(t) {
                continue; // too near to the next texel, or to another face
            }
            let cube = if shape.extent()[2] > 6 { random.word() % 3 } else { 0 };
            let slice = 6 * cube as usize + face;
            let [x, y, z] = direction.map(f32::to_bits);
            at.push([cube, x, y, z]);
            expected.push(((slice * 4 + (4.0 * t) as usize) * 4 + (4.0 * s) as usize) as f32);
        }
        let found = bench.run(instruction, texture.handle(), &at);
        for ((at, words), expected) in at.iter().zip(found).zip(expected) {
            assert_eq!(f32::from_bits(words[0]), expected, "{shape}: {at:?}");
        }
    }
}

pub fn four_texels_are_gathered(device: &Device) {
    let bench = Bench::new(device);
    let shape = ArrayShape::D2 { width: 6, height: 5 };
    let texel = |x: i32, y: i32, channel: i32| (1000 * channel + 10 * y + x) as f32;
    let texels: Vec<f32> = (0..120).map(|i| texel(i / 4 % 6, i / 24, i % 4)).collect();
    let descriptor = ArrayDescriptor::new(shape, Format::RGBA32F).with_gather();
    let array = bench.array(&descriptor, bytemuck::cast_slice(&texels));
    let texture = bench.texture(&array, &TextureDescriptor::default());
    for (channel, name) in ["r", "g", "b", "a"].iter().enumerate() {
        let instruction =
            format!("tld4.{name}.2d.v4.f32.f32 {{%o1, %o2, %o3, %o4}}, [%handle, {{%f1, %f2}}];");
        let at = [[2.8, 1.7, 0.0, 0.0], [3.2, 2.2, 0.0, 0.0], [0.1, 0.1, 0.0, 0.0]];
        let found = bench.sample(&instruction, texture.handle(), &at);
        let expected = |x: i32, y: i32| {
            let texel = |x: i32, y: i32| texel(x.clamp(0, 5), y.clamp(0, 4), channel as i32);
            [texel(x, y + 1), texel(x + 1, y + 1), texel(x + 1, y), texel(x, y)]
        };
        assert_eq!(found, [expected(2, 1), expected(2, 1), expected(-1, -1)], "{name}");
    }
}

pub fn levels_and_gradients_change_nothing(device: &Device) {
    let (bench, mut random) = (Bench::new(device), Random::new(3));
    let extent = [6, 5];
    let texels = texels(&extent, &mut random);
    let array = bench.floats(shape_of(&extent), &texels);
    let linear = TextureDescriptor { filter: Filter::Linear, ..TextureDescriptor::default() };
    let texture = bench.texture(&array, &linear);
    let mut at = places(&extent, false, &mut random);
    at.iter_mut().for_each(|at| (at[2], at[3]) = (random.between(-1.0, 3.0), random.unit()));
    let plain = bench.sample(TEX_2D, texture.handle(), &at);
    for other in [
        "tex.level.2d.v4.f32.f32 {%o1, %o2, %o3, %o4}, [%handle, {%f1, %f2}], %f3;",
        "tex.grad.2d.v4.f32.f32 {%o1, %o2, %o3, %o4}, [%handle, {%f1, %f2}], {%f3, %f4}, {%f4, %f3};",
        "tex.base.2d.v4.f32.f32 {%o1, %o2, %o3, %o4}, [%handle, {%f1, %f2}];",
    ] {
        let found = bench.sample(other, texture.handle(), &at);
        assert!(found.iter().zip(&plain).all(|(a, b)| a[0] == b[0]), "{other}");
    }
}

pub fn whole_texels_are_read(device: &Device) {
    let bench = Bench::new(device);
    let shape = ArrayShape::D3 { width: 3, height: 3, depth: 2 };
    let texels: Vec<u32> = (0..18).map(|i| 0xffff_0000 + i).collect();
    let format = Format::new(Channel::U32, 1).unwrap();
    let array = bench.array(&ArrayDescriptor::new(shape, format), bytemuck::cast_slice(&texels));
    let texture = bench.texture(&array, &TextureDescriptor::default());
    let at: Vec<[u32; 4]> = (0..18).map(|i| [i % 3, i / 3 % 3, i / 9, 0]).collect();
    let instruction = "tex.3d.v4.u32.s32 {%o1, %o2, %o3, %o4}, [%handle, {%r1, %r2, %r3, %r3}];";
    let found = bench.run(instruction, texture.handle(), &at);
    assert_eq!(found.iter().map(|words| words[0]).collect::<Vec<_>>(), texels);
}

pub fn offsets_move_texels(device: &Device) {
    let bench = Bench::new(device);
    let texels: Vec<f32> = (0..30).map(|i| i as f32).collect();
    let array = bench.floats(shape_of(&[6, 5]), &texels);
    let texture = bench.texture(&array, &TextureDescriptor::default());
    let instruction = "tex.2d.v4.f32.f32 {%o1, %o2, %o3, %o4}, [%handle, {%f1, %f2}], {2, -1};";
    let at = [[1.5, 2.5, 0.0, 0.0], [5.5, 0.5, 0.0, 0.0]];
    let found = bench.sample(instruction, texture.handle(), &at);
    assert_eq!([found[0][0], found[1][0]], [9.0, 5.0], "6 * (2 - 1) + 3, and the corner");
}

pub fn linear_memory_is_read(device: &Device) {
    let bench = Bench::new(device);
    let instruction = "tex.1d.v4.f32.s32 {%o1, %o2, %o3, %o4}, [%handle, {%r1}];";
    let values: Vec<f32> = (0..64).map(|i| i as f32 + 0.5).collect();
    let memory = device.alloc(256).unwrap();
    bench.stream.upload(memory.slice(..).unwrap(), bytemuck::cast_slice(&values)).unwrap();
    let source = TextureSource::Linear { memory: memory.slice(..).unwrap(), format: Format::RG32F };
    let texture = device.texture(source, &TextureDescriptor::default()).unwrap();
    let at: Vec<_> = [0, 31, 32, u32::MAX].map(|i| [i, 0, 0, 0]).to_vec();
    let found = bench.run(instruction, texture.handle(), &at);
    let found: Vec<_> =
        found.iter().map(|w| [f32::from_bits(w[0]), f32::from_bits(w[1])]).collect();
    assert_eq!(found, [[0.5, 1.5], [62.5, 63.5], [0.0, 0.0], [0.0, 0.0]], "zero outside");
}

pub fn rows_in_linear_memory_are_read(device: &Device) {
    let (bench, mut random) = (Bench::new(device), Random::new(4));
    let (width, height, pitch_bytes) = (5, 4, 64);
    let texels = texels(&[width, height], &mut random);
    let memory = device.alloc(pitch_bytes * height).unwrap();
    for (row, texels) in texels.chunks(width).enumerate() {
        let bytes: &[u8] = bytemuck::cast_slice(texels);
        let start = row * pitch_bytes;
        let row = memory.slice(start..start + bytes.len()).unwrap();
        bench.stream.upload(row, bytes).unwrap();
    }
    let (memory, format) = (memory.slice(..).unwrap(), Format::R32F);
    let source = TextureSource::Pitched { memory, format, width, height, pitch_bytes };
    let linear = TextureDescriptor { filter: Filter::Linear, ..TextureDescriptor::default() };
    let texture = device.texture(source, &linear).unwrap();
    let at = places(&[width, height], false, &mut random);
    let model = Model { extent: &[width, height], descriptor: linear, texels: &texels };
    for (at, found) in at.iter().zip(bench.sample(TEX_2D, texture.handle(), &at)) {
        let (found, expected) = (f64::from(found[0]), model.sample(*at));
        assert!((found - expected).abs() < 2.0 / 256.0, "{at:?}: {found}, not {expected}");
    }
}

pub fn sizes_are_asked_for(device: &Device) {
    let bench = Bench::new(device);
    let shape = ArrayShape::D3 { width: 6, height: 5, depth: 3 };
    let array = device.array(&ArrayDescriptor::new(shape, Format::R32F).with_surface()).unwrap();
    let texture = bench.texture(&array, &TextureDescriptor::default());
    let surface = device.surface(&array).unwrap();
    for (name, handle) in [("txq", texture.handle()), ("suq", surface.handle())] {
        let instructions = format!(
            "{name}.width.b32 %o1, [%handle];
             {name}.height.b32 %o2, [%handle];
             {name}.depth.b32 %o3, [%handle];"
        );
        assert_eq!(bench.run(&instructions, handle, &[[0; 4]]), [[6, 5, 3, 0]], "{name}");
    }
}

/// What both devices make of the same fetches.
pub fn devices_agree(a: &Device, b: &Device) {
    for filter in [Filter::Point, Filter::Linear] {
        let mut random = Random::new(5);
        let (mut same, mut most, mut count) = (0usize, 0.0f32, 0usize);
        for (extent, descriptor) in ways(filter) {
            let texels = texels(&extent, &mut random);
            let mut at = places(&extent, descriptor.normalized, &mut random);
            if filter == Filter::Linear {
                // Anywhere, edges of texels too.
                at.iter_mut().flatten().for_each(|x| *x += random.between(-0.1, 0.1));
            }
            let [first, second] = [a, b].map(|device| {
                let bench = Bench::new(device);
                let array = bench.floats(shape_of(&extent), &texels);
                let texture = bench.texture(&array, &descriptor);
                bench.sample(instruction(extent.len()), texture.handle(), &at)
            });
            for (first, second) in first.iter().zip(&second) {
                count += 1;
                same += usize::from(first[0] == second[0]);
                most = most.max((first[0] - second[0]).abs());
            }
        }
        eprintln!("{filter:?}: {same} of {count} the same, the others at most {most} apart");
        let allowed = if filter == Filter::Point { 0.0 } else { 3.0 / 256.0 };
        assert!(most <= allowed, "{filter:?}: {most} apart");
    }
}
