//! Surface loads and stores.

use half::f16;
use warpaint::device::{ArrayDescriptor, ArrayShape, Channel, Device, Format, TextureDescriptor};

use super::bench::{Bench, CHANNELS};

/// A load or store of every width: its suffix, bytes, and the registers of its lanes in memory order.
const WIDTHS: [(&str, usize, &str); 11] = [
    ("b8", 1, "{%h1}"),
    ("b16", 2, "{%h1}"),
    ("b32", 4, "{%o1}"),
    ("b64", 8, "{%rd4}"),
    ("v2.b8", 2, "{%h1, %h2}"),
    ("v2.b16", 4, "{%h1, %h2}"),
    ("v2.b32", 8, "{%o1, %o2}"),
    ("v2.b64", 16, "{%rd4, %rd5}"),
    ("v4.b8", 4, "{%h1, %h2, %h3, %h4}"),
    ("v4.b16", 8, "{%h1, %h2, %h3, %h4}"),
    ("v4.b32", 16, "{%o1, %o2, %o3, %o4}"),
];

/// Reads at byte `%r1` of row `%r2` and writes the same to row `%r3`.
pub fn every_width_is_read_and_written(device: &Device) {
    let bench = Bench::new(device);
    let shape = ArrayShape::D2 { width: 8, height: 2 };
    let descriptor = ArrayDescriptor::new(shape, Format::RGBA32F).with_surface();
    let pattern: Vec<u8> = (0..descriptor.bytes()).map(|i| (i * 37 % 251) as u8).collect();
    for (suffix, bytes, lanes) in WIDTHS {
        let array = bench.array(&descriptor, &pattern);
        let surface = device.surface(&array).unwrap();
        let instructions = format!(
            "suld.b.2d.{suffix}.trap {lanes}, [%handle, {{%r1, %r2}}];
             sust.b.2d.{suffix}.trap [%handle, {{%r1, %r3}}], {lanes};"
        );
        let at: Vec<_> =
            (0..128 / bytes).step_by(2).map(|i| [(i * bytes) as u32, 0, 1, 0]).collect();
        bench.run(&instructions, surface.handle(), &at);
        let mut expected = pattern.clone();
        for [x, ..] in at {
            let x = x as usize;
            expected.copy_within(x..x + bytes, 128 + x);
        }
        assert_eq!(bench.read(&array), expected, "{suffix}");
    }
}

/// Shapes, the instruction's name for them, and its coordinates for x = `%r1`, y = `%r2`, z = `%r3`.
const SHAPES: [(ArrayShape, &str, &str); 6] = [
    (ArrayShape::D1 { width: 5 }, "1d", "{%r1}"),
    (ArrayShape::D2 { width: 5, height: 3 }, "2d", "{%r1, %r2}"),
    (ArrayShape::D3 { width: 5, height: 3, depth: 2 }, "3d", "{%r1, %r2, %r3, %r3}"),
    (ArrayShape::Layered1 { width: 5, layers: 3 }, "a1d", "{%r3, %r1}"),
    (ArrayShape::Layered2 { width: 5, height: 3, layers: 2 }, "a2d", "{%r3, %r1, %r2, %r2}"),
    (ArrayShape::Cube { width: 3 }, "a2d", "{%r3, %r1, %r2, %r2}"),
];

/// Every texel of a shape: its byte, row and slice.
fn all([width, height, depth]: [usize; 3], texel: usize) -> Vec<[u32; 4]> {
    (0..width * height * depth)
        .map(|i| [i % width * texel, i / width % height, i / width / height, i].map(|n| n as u32))
        .collect()
}

pub fn every_shape_is_written(device: &Device) {
    let bench = Bench::new(device);
    let format = Format::new(Channel::U32, 1).unwrap();
    for (shape, name, at) in SHAPES {
        let descriptor = ArrayDescriptor::new(shape, format).with_surface();
        let array = bench.array(&descriptor, &vec![0xff; descriptor.bytes()]);
        let surface = device.surface(&array).unwrap();
        let input = all(shape.extent(), 4);
        let store = format!("sust.b.{name}.b32.trap [%handle, {at}], {{%r4}};");
        bench.run(&store, surface.handle(), &input);
        let expected: Vec<u8> = (0..input.len() as u32).flat_map(u32::to_le_bytes).collect();
        assert_eq!(bench.read(&array), expected, "{shape}");
        let load = format!("suld.b.{name}.b32.zero {{%o1}}, [%handle, {at}];");
        let found = bench.run(&load, surface.handle(), &input);
        assert!(found.iter().enumerate().all(|(i, words)| words[0] == i as u32), "{shape}");
    }
}

pub fn accesses_outside_clamp_or_vanish(device: &Device) {
    let bench = Bench::new(device);
    let format = Format::new(Channel::U32, 1).unwrap();
    for (shape, name, at) in SHAPES {
        let [width, height, depth] = shape.extent();
        let descriptor = ArrayDescriptor::new(shape, format).with_surface();
        let texels: Vec<u8> =
            (1..=(width * height * depth) as u32).flat_map(u32::to_le_bytes).collect();
        let last = [width as i32 - 1, height as i32 - 1, depth as i32 - 1];
        // One side too far, the other sides inside.
        let mut outside = vec![[-1, 0, 0], [last[0] + 1, last[1], last[2]], [i32::MAX / 4, 0, 0]];
        if height > 1 {
            outside.extend([[1, -1, 0], [1, last[1] + 1, last[2]]]);
        }
        if name == "3d" {
            outside.extend([[1, 1, -1], [1, 1, last[2] + 1]]);
        }
        let input: Vec<_> = (outside.iter())
            .map(|at| [4 * at[0], at[1], at[2], 0x7777].map(i32::cast_unsigned))
            .collect();
        let array = bench.array(&descriptor, &texels);
        let surface = device.surface(&array).unwrap();
        let run = |instruction: String| bench.run(&instruction, surface.handle(), &input);
        run(format!("sust.b.{name}.b32.zero [%handle, {at}], {{%r4}};"));
        assert_eq!(bench.read(&array), texels, "{shape}: .zero writes nothing");
        let found = run(format!("suld.b.{name}.b32.zero {{%o1}}, [%handle, {at}];"));
        assert!(found.iter().all(|words| words[0] == 0), "{shape}: .zero reads zero");
        let found = run(format!("suld.b.{name}.b32.clamp {{%o1}}, [%handle, {at}];"));
        for (at, words) in outside.iter().zip(found) {
            let [x, y, z] = std::array::from_fn(|axis| at[axis].clamp(0, last[axis]) as usize);
            let nearest = ((z * height + y) * width + x) as u32 + 1;
            assert_eq!(words[0], nearest, "{shape}: .clamp reads the nearest at {at:?}");
        }
        run(format!("sust.b.{name}.b32.clamp [%handle, {at}], {{%r4}};"));
        let mut expected = texels.clone();
        for at in &outside {
            let [x, y, z] = std::array::from_fn(|axis| at[axis].clamp(0, last[axis]) as usize);
            let start = 4 * ((z * height + y) * width + x);
            expected[start..start + 4].copy_from_slice(&0x7777u32.to_le_bytes());
        }
        assert_eq!(bench.read(&array), expected, "{shape}: .clamp writes the nearest");
    }
}

/// `sust.p`: words become texels of the surface's format.
pub fn texels_are_converted(device: &Device) {
    let bench = Bench::new(device);
    for channel in CHANNELS {
        let format = Format::new(channel, 4).unwrap();
        let shape = ArrayShape::D1 { width: 3 };
        let descriptor = ArrayDescriptor::new(shape, format).with_surface();
        let array = bench.array(&descriptor, &vec![0; descriptor.bytes()]);
        let surface = device.surface(&array).unwrap();
        let (ty, words): (&str, [u32; 4]) = match channel {
            Channel::F16 | Channel::F32 => ("f32", [1.5f32, -0.25, 2048.0, 0.0].map(f32::to_bits)),
            Channel::U8 | Channel::U16 | Channel::U32 => ("u32", [1, 200, 0, 77]),
            _ => ("s32", [-1, 100, 0, -128].map(i32::cast_unsigned)),
        };
        let [a, b, c, d] = words;
        let instructions = format!(
            "mov.b32 %o1, {a}; mov.b32 %o2, {b}; mov.b32 %o3, {c}; mov.b32 %o4, {d};
             sust.p.1d.v4.b32.trap [%handle, {{%r1}}], {{%o1, %o2, %o3, %o4}};"
        );
        bench.run(&instructions, surface.handle(), &[[1, 0, 0, 0]]);
        let bytes = channel.bytes();
        let texel: Vec<u8> = (words.iter())
            .flat_map(|word| match channel {
                Channel::F16 => f16::from_f32(f32::from_bits(*word)).to_le_bytes().to_vec(),
                _ => word.to_le_bytes()[..bytes].to_vec(),
            })
            .collect();
        let expected = [vec![0; 4 * bytes], texel.clone(), vec![0; 4 * bytes]].concat();
        assert_eq!(bench.read(&array), expected, "{format} from {ty}");
        // Far outside its bytes are more than 32 bits count.
        for (clamp, x, last) in
            [("zero", i32::MAX, false), ("zero", i32::MIN, false), ("clamp", 1 << 30, true)]
        {
            let outside = instructions.replace(".trap", &format!(".{clamp}"));
            bench.run(&outside, surface.handle(), &[[x.cast_unsigned(), 0, 0, 0]]);
            let end = if last { texel.clone() } else { vec![0; 4 * bytes] };
            let expected = [vec![0; 4 * bytes], texel.clone(), end].concat();
            assert_eq!(bench.read(&array), expected, "{format}, {clamp} at {x}");
        }
    }
}

/// As scenes do it: one kernel writes the surface, the next reads the same array as a texture.
pub fn what_a_surface_wrote_a_texture_reads(device: &Device) {
    let bench = Bench::new(device);
    let shape = ArrayShape::D2 { width: 16, height: 16 };
    let array = device.array(&ArrayDescriptor::new(shape, Format::RGBA32F).with_surface()).unwrap();
    let surface = device.surface(&array).unwrap();
    let texture = bench.texture(&array, &TextureDescriptor::default());
    let input: Vec<_> = all(shape.extent(), 16);
    let store = "sust.b.2d.v4.b32.trap [%handle, {%r1, %r2}], {%r1, %r2, %r3, %r4};";
    bench.run(store, surface.handle(), &input);
    let load = "shr.u32 %r1, %r1, 4;
        tex.2d.v4.u32.s32 {%o1, %o2, %o3, %o4}, [%handle, {%r1, %r2}];";
    assert_eq!(bench.run(load, texture.handle(), &input), input);
}
