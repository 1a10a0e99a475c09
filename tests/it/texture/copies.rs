//! Copies to, from and between arrays.

use warpaint::device::{ArrayDescriptor, ArrayShape, Channel, Device, Error, Format, Pitch};

use super::bench::{Bench, CHANNELS};

pub const SHAPES: [ArrayShape; 7] = [
    ArrayShape::D1 { width: 13 },
    ArrayShape::D2 { width: 13, height: 5 },
    ArrayShape::D3 { width: 13, height: 5, depth: 3 },
    ArrayShape::Layered1 { width: 13, layers: 4 },
    ArrayShape::Layered2 { width: 13, height: 5, layers: 3 },
    ArrayShape::Cube { width: 5 },
    ArrayShape::LayeredCube { width: 5, cubes: 2 },
];

/// Bytes of which neighbours differ.
fn pattern(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * 7 + i / 251) as u8).collect()
}

pub fn an_array_keeps_its_bytes(device: &Device) {
    let bench = Bench::new(device);
    for shape in SHAPES {
        for channel in CHANNELS {
            for channels in [1, 2, 4] {
                let format = Format::new(channel, channels).unwrap();
                let descriptor = ArrayDescriptor::new(shape, format);
                let bytes = pattern(descriptor.bytes());
                let array = bench.array(&descriptor, &bytes);
                assert_eq!(*array.descriptor(), descriptor);
                assert_eq!(bench.read(&array), bytes, "{descriptor}");
            }
        }
    }
}

/// The bytes of a box in tight rows.
fn part(all: &[u8], extent: [usize; 3], texel: usize, at: [usize; 3], size: [usize; 3]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for z in at[2]..at[2] + size[2] {
        for y in at[1]..at[1] + size[1] {
            let start = ((z * extent[1] + y) * extent[0] + at[0]) * texel;
            bytes.extend(&all[start..start + size[0] * texel]);
        }
    }
    bytes
}

pub fn regions_are_copied(device: &Device) {
    let bench = Bench::new(device);
    let cases = [
        (ArrayShape::D1 { width: 13 }, [3, 0, 0], [7, 1, 1]),
        (ArrayShape::D2 { width: 13, height: 5 }, [3, 1, 0], [7, 3, 1]),
        (ArrayShape::D3 { width: 13, height: 5, depth: 4 }, [3, 1, 1], [7, 3, 2]),
        (ArrayShape::Layered1 { width: 13, layers: 4 }, [3, 0, 2], [7, 1, 2]),
        (ArrayShape::Layered2 { width: 13, height: 5, layers: 4 }, [3, 1, 1], [7, 3, 2]),
        (ArrayShape::Cube { width: 5 }, [1, 2, 3], [4, 3, 2]),
    ];
    for (shape, at, size) in cases {
        let descriptor = ArrayDescriptor::new(shape, Format::RGBA16F);
        let mut bytes = pattern(descriptor.bytes());
        let array = bench.array(&descriptor, &bytes);
        let region = array.region().part(at, size).unwrap();
        assert_eq!((region.origin(), region.size()), (at, size));
        let expected = part(&bytes, shape.extent(), 8, at, size);
        assert_eq!(region.bytes(), expected.len());
        assert_eq!(bench.stream.download(region).unwrap().wait().unwrap(), expected);

        // What is uploaded to the region changes it alone.
        bench.stream.upload(region, &vec![0xee; expected.len()]).unwrap();
        for z in 0..size[2] {
            for y in 0..size[1] {
                let extent = shape.extent();
                let start = (((z + at[2]) * extent[1] + y + at[1]) * extent[0] + at[0]) * 8;
                bytes[start..start + size[0] * 8].fill(0xee);
            }
        }
        assert_eq!(bench.read(&array), bytes, "{shape}");
    }
}

pub fn rows_with_a_pitch_are_copied(device: &Device) {
    let bench = Bench::new(device);
    let shape = ArrayShape::D3 { width: 6, height: 4, depth: 3 };
    let descriptor = ArrayDescriptor::new(shape, Format::R32F);
    let bytes = pattern(descriptor.bytes());
    let array = bench.array(&descriptor, &bytes);
    let pitch = Pitch { row_bytes: 64, rows: 5 };
    let memory = device.alloc(64 * 5 * 3).unwrap();
    let all = memory.slice(..).unwrap();
    bench.stream.fill(all, warpaint::device::Fill::U8(0xaa)).unwrap();
    let region = array.region().part([1, 1, 1], [4, 2, 2]).unwrap();
    let spaced = all.rows(pitch, region.extent()).unwrap();
    bench.stream.copy(spaced, region).unwrap();
    let found = bench.stream.download(all).unwrap().wait().unwrap();
    let mut expected = vec![0xaa; found.len()];
    let rows = part(&bytes, shape.extent(), 4, [1, 1, 1], [4, 2, 2]);
    for (row, bytes) in rows.chunks(16).enumerate() {
        let start = (row / 2 * 5 + row % 2) * 64;
        expected[start..start + 16].copy_from_slice(bytes);
    }
    assert_eq!(found, expected);

    // And back, to another place.
    let other = bench.array(&descriptor, &vec![0; descriptor.bytes()]);
    let place = other.region().part([2, 0, 1], [4, 2, 2]).unwrap();
    bench.stream.copy(place, spaced).unwrap();
    assert_eq!(bench.stream.download(place).unwrap().wait().unwrap(), rows);
    let sum = |bytes: &[u8]| bytes.iter().map(|b| u64::from(*b)).sum::<u64>();
    assert_eq!(sum(&bench.read(&other)), sum(&rows), "nothing else was written");
}

pub fn arrays_are_copied_to_arrays(device: &Device) {
    let bench = Bench::new(device);
    let layered = ArrayShape::Layered2 { width: 8, height: 6, layers: 3 };
    let from = ArrayDescriptor::new(layered, Format::RGBA8);
    // Other channels of the same size are the same bytes.
    let flat = ArrayShape::D2 { width: 8, height: 6 };
    let to = ArrayDescriptor::new(flat, Format::R32F);
    let bytes = pattern(from.bytes());
    let (from, to) = (bench.array(&from, &bytes), bench.array(&to, &vec![0; to.bytes()]));
    let layer = from.region().part([0, 0, 2], [8, 6, 1]).unwrap();
    bench.stream.copy(to.region(), layer).unwrap();
    assert_eq!(bench.read(&to), bytes[2 * 192..]);
}

pub fn large_arrays_are_copied_in_pieces(device: &Device) {
    let bench = Bench::new(device);
    let shape = ArrayShape::D3 { width: 500, height: 700, depth: 5 };
    let descriptor = ArrayDescriptor::new(shape, Format::RGBA16F);
    let bytes = pattern(descriptor.bytes());
    let array = bench.array(&descriptor, &bytes);
    assert!(bench.read(&array) == bytes, "{} bytes", bytes.len());
}

pub fn wrong_copies_are_errors(device: &Device) {
    let bench = Bench::new(device);
    let shape = ArrayShape::D2 { width: 8, height: 4 };
    let descriptor = ArrayDescriptor::new(shape, Format::R32F);
    let array = device.array(&descriptor).unwrap();
    let stream = &bench.stream;
    for (at, size) in [([0, 0, 0], [9, 1, 1]), ([5, 0, 0], [4, 1, 1]), ([0, 0, 1], [1, 1, 1])] {
        let error = array.region().part(at, size).unwrap_err();
        assert!(matches!(error, Error::RegionOutOfRange { .. }), "{error}");
    }
    assert!(array.region().part([usize::MAX, 0, 0], [2, 1, 1]).is_err());
    let short = stream.upload(array.region(), &[0; 127]);
    assert!(matches!(short, Err(Error::OutOfRange { .. })), "{short:?}");

    let memory = device.alloc(127).unwrap();
    let (all, extent) = (memory.slice(..).unwrap(), array.region().extent());
    let copy = stream.copy(all, array.region());
    assert!(matches!(copy, Err(Error::OutOfRange { end: 128, bytes: 127, .. })), "{copy:?}");
    let rows = all.rows(Pitch::tight(extent), extent);
    assert!(matches!(rows, Err(Error::OutOfRange { end: 128, bytes: 127, .. })), "{rows:?}");
    let rows = all.rows(Pitch { row_bytes: 16, rows: 4 }, extent);
    assert!(matches!(rows, Err(Error::OutOfRange { end: 32, bytes: 16, .. })), "{rows:?}");

    let other = device.array(&ArrayDescriptor::new(shape, Format::RG32F)).unwrap();
    let copy = stream.copy(other.region(), array.region()).unwrap_err();
    assert!(matches!(copy, Error::RegionsDiffer { .. }), "{copy}");
    assert!(copy.to_string().contains("f32x2"), "{copy}");

    let elsewhere = Device::cpu().unwrap().array(&descriptor).unwrap();
    for copy in [
        stream.upload(elsewhere.region(), &[0; 128]),
        stream.copy(elsewhere.region(), array.region()),
        stream.copy(elsewhere.region(), all),
    ] {
        assert!(matches!(copy, Err(Error::WrongDevice { .. })), "{copy:?}");
    }
    assert!(Format::new(Channel::F32, 3).is_err());
}
