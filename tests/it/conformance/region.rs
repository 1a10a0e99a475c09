//! Rows in memory: pitched allocations, structured copies and fills, and whose memory an address is.

use warpaint::device::{
    ArrayDescriptor, ArrayShape, Device, Error, Fill, Format, HostFlags, Pitch,
};

use super::Clause;

pub const CLAUSES: &[Clause] = &[
    ("rows are copied as by hand", rows_are_copied_as_by_hand),
    ("rows are filled", rows_are_filled),
    ("regions without bytes are nothing", regions_without_bytes_are_nothing),
    ("memory without gaps takes the other's shape", memory_without_gaps_takes_the_others_shape),
    ("pitched memory starts its rows well", pitched_memory_starts_its_rows_well),
    ("an address tells its allocation", an_address_tells_its_allocation),
    ("wrong rows are errors", wrong_rows_are_errors),
];

/// A box in memory: bytes and pitch of the whole, where the box starts, and its extent.
struct Place {
    pitch: Pitch,
    slices: usize,
    origin: [usize; 3],
    extent: [usize; 3],
}

impl Place {
    /// A box of this extent in memory with room around it.
    fn random(extent: [usize; 3], random: &mut fastrand::Rng) -> Self {
        let origin = [0; 3].map(|_| random.usize(0..4));
        let mut size = || random.usize(0..4);
        let pitch = Pitch {
            row_bytes: origin[0] + extent[0] + size(),
            rows: origin[1] + extent[1] + size(),
        };
        Self { pitch, slices: origin[2] + extent[2], origin, extent }
    }

    fn bytes(&self) -> usize {
        self.pitch.row_bytes * self.pitch.rows * self.slices
    }

    fn whole(&self) -> [usize; 3] {
        [self.pitch.row_bytes, self.pitch.rows, self.slices]
    }

    /// The box's bytes in order, as places in the whole.
    fn places(&self) -> impl Iterator<Item = usize> {
        let [width, rows, slices] = self.extent;
        let ([x, y, z], pitch) = (self.origin, self.pitch);
        let all = (0..slices * rows * width).map(move |index| {
            let (byte, row, slice) = (index % width, index / width % rows, index / width / rows);
            ((z + slice) * pitch.rows + y + row) * pitch.row_bytes + x + byte
        });
        all.collect::<Vec<_>>().into_iter()
    }
}

fn pattern(bytes: usize, random: &mut fastrand::Rng) -> Vec<u8> {
    (0..bytes).map(|_| random.u8(..)).collect()
}

fn rows_are_copied_as_by_hand(device: &Device) {
    let (stream, mut random) = (device.stream().unwrap(), fastrand::Rng::with_seed(7));
    for round in 0..40 {
        let extent = [random.usize(1..9), random.usize(0..5), random.usize(0..4)];
        let (to, from) = (Place::random(extent, &mut random), Place::random(extent, &mut random));
        let source = pattern(from.bytes(), &mut random);
        let mut expected = pattern(to.bytes(), &mut random);
        let (to_memory, from_memory) =
            (device.alloc(to.bytes()).unwrap(), device.alloc(from.bytes()).unwrap());
        let (to_all, from_all) = (to_memory.slice(..).unwrap(), from_memory.slice(..).unwrap());
        stream.upload(to_all, &expected).unwrap();
        stream.upload(from_all, &source).unwrap();
        let boxed = |place: &Place, all: warpaint::device::Slice<'_>| {
            let whole = all.rows(place.pitch, place.whole()).unwrap();
            whole.part(place.origin, place.extent).map(|part| part.address() - all.address())
        };
        assert!(boxed(&to, to_all).is_ok());
        let to_box = to_all.rows(to.pitch, to.whole()).unwrap().part(to.origin, extent).unwrap();
        let from_box =
            from_all.rows(from.pitch, from.whole()).unwrap().part(from.origin, extent).unwrap();

        let taken: Vec<u8> = from.places().map(|at| source[at]).collect();
        let downloaded = stream.download(from_box).unwrap().wait().unwrap();
        assert_eq!(downloaded, taken, "round {round}, {extent:?}");
        stream.copy(to_box, from_box).unwrap();
        to.places().zip(&taken).for_each(|(at, byte)| expected[at] = *byte);
        let found = stream.download(to_all).unwrap().wait().unwrap();
        assert_eq!(found, expected, "round {round}, {extent:?}");

        let bytes = pattern(taken.len(), &mut random);
        stream.upload(to_box, &bytes).unwrap();
        to.places().zip(&bytes).for_each(|(at, byte)| expected[at] = *byte);
        let found = stream.download(to_all).unwrap().wait().unwrap();
        assert_eq!(found, expected, "round {round}, {extent:?}");

        // Page-locked rows, whose gaps stay.
        let mut host = device.alloc_host(from.bytes() + 3, HostFlags::default()).unwrap();
        host.fill(0xee);
        let transfer = stream.download_to(host.at(3).pitched(from.pitch), to_box).unwrap();
        let host = transfer.wait().unwrap();
        let mut rows = vec![0xee; from.bytes()];
        let starts = Place { origin: [0; 3], ..from };
        starts.places().zip(&bytes).for_each(|(at, byte)| rows[at] = *byte);
        assert_eq!(host[3..], rows, "round {round}, {extent:?}");
    }
}

fn rows_are_filled(device: &Device) {
    let stream = device.stream().unwrap();
    let memory = device.alloc(32 * 4 * 2).unwrap();
    let all = memory.slice(..).unwrap();
    for (value, width) in [(Fill::U8(0x11), 1), (Fill::U16(0x3322), 2), (Fill::U32(0x7766_5544), 4)]
    {
        stream.fill(all, Fill::U8(0)).unwrap();
        let whole = all.rows(Pitch { row_bytes: 32, rows: 4 }, [32, 4, 2]).unwrap();
        stream.fill(whole.part([4, 1, 0], [12, 2, 2]).unwrap(), value).unwrap();
        let found = stream.download(all).unwrap().wait().unwrap();
        let pattern: &[u8] = match width {
            1 => &[0x11],
            2 => &[0x22, 0x33],
            _ => &[0x44, 0x55, 0x66, 0x77],
        };
        for (index, byte) in found.iter().enumerate() {
            let (x, y) = (index % 32, index / 32 % 4);
            let inside = (4..16).contains(&x) && (1..3).contains(&y);
            let expected = if inside { pattern[x % width] } else { 0 };
            assert_eq!(*byte, expected, "width {width}, byte {index}");
        }
    }
    let rows = all.rows(Pitch { row_bytes: 30, rows: 2 }, [8, 2, 1]).unwrap();
    let odd = stream.fill(rows, Fill::U32(0));
    assert!(matches!(odd, Err(Error::Misaligned { width: 4, .. })), "{odd:?}");
    stream
        .fill(all.rows(Pitch { row_bytes: 30, rows: 2 }, [8, 0, 1]).unwrap(), Fill::U8(1))
        .unwrap();
}

/// However many rows and slices there are without a byte in them, nobody walks along them.
fn regions_without_bytes_are_nothing(device: &Device) {
    let (stream, memory) = (device.stream().unwrap(), device.alloc(16).unwrap());
    let most = usize::MAX;
    for extent in [[0, most, most], [8, most, 0], [most, 0, most], [0, 0, 0]] {
        let all = memory.slice(..).unwrap();
        let none = || all.rows(Pitch { row_bytes: 8, rows: 2 }, extent).unwrap();
        stream.upload(none(), &[]).unwrap();
        stream.copy(none(), none()).unwrap();
        stream.copy(none(), all.slice(3..3).unwrap()).unwrap();
        stream.fill(none(), Fill::U8(1)).unwrap();
        assert!(stream.download(none()).unwrap().wait().unwrap().is_empty());
        let host = device.alloc_host(0, HostFlags::default()).unwrap();
        stream.upload_from(none(), host).unwrap().wait().unwrap();
    }
}

fn memory_without_gaps_takes_the_others_shape(device: &Device) {
    let stream = device.stream().unwrap();
    let shape = ArrayShape::D2 { width: 3, height: 4 };
    let array = device.array(&ArrayDescriptor::new(shape, Format::R32F)).unwrap();
    let memory = device.alloc(100).unwrap();
    let bytes: Vec<u8> = (0..48).collect();
    stream.upload(memory.slice(10..58).unwrap(), &bytes).unwrap();
    stream.copy(array.region(), memory.slice(10..58).unwrap()).unwrap();
    assert_eq!(stream.download(array.region()).unwrap().wait().unwrap(), bytes);
    let rows =
        memory.slice(..).unwrap().rows(Pitch { row_bytes: 25, rows: 4 }, [12, 4, 1]).unwrap();
    stream.copy(rows, array.region()).unwrap();
    let other = device.alloc(48).unwrap();
    stream.copy(other.slice(..).unwrap(), rows).unwrap();
    assert_eq!(stream.download(other.slice(..).unwrap()).unwrap().wait().unwrap(), bytes);
}

fn pitched_memory_starts_its_rows_well(device: &Device) {
    for (row_bytes, rows, element) in [(1, 1, 4), (100, 7, 4), (512, 3, 8), (513, 2, 16), (4, 0, 4)]
    {
        let (memory, pitch) = device.alloc_pitch(row_bytes, rows, element).unwrap();
        assert_eq!(pitch.rows, rows);
        assert!(pitch.row_bytes >= row_bytes && memory.bytes() >= pitch.row_bytes * rows);
        assert!(rows == 0 || pitch.row_bytes.is_multiple_of(32), "{pitch:?}");
        let all = memory.slice(..).unwrap().rows(pitch, [row_bytes, rows, 1]).unwrap();
        let stream = device.stream().unwrap();
        let bytes: Vec<u8> = (0..row_bytes * rows).map(|index| index as u8).collect();
        stream.upload(all, &bytes).unwrap();
        assert_eq!(stream.download(all).unwrap().wait().unwrap(), bytes);
    }
    let odd = device.alloc_pitch(100, 7, 3);
    assert!(matches!(odd, Err(Error::InvalidExtent { requested: 3, .. })), "{odd:?}");
}

fn an_address_tells_its_allocation(device: &Device) {
    let (first, second) = (device.alloc(1000).unwrap(), device.alloc(5000).unwrap());
    for memory in [&first, &second] {
        for offset in [0, 1, 999] {
            let found = device.address_range(memory.address() + offset).unwrap().unwrap();
            assert_eq!(found.address, memory.address());
            assert!(found.bytes >= memory.bytes() as u64, "{found:?}");
        }
    }
    assert_eq!(device.address_range(64).unwrap(), None);
    let address = second.address();
    drop(second);
    let found = device.address_range(address).unwrap();
    assert!(found.is_none_or(|found| found.address != address), "{found:?}");
}

fn wrong_rows_are_errors(device: &Device) {
    let memory = device.alloc(100).unwrap();
    let all = memory.slice(..).unwrap();
    let pitch = Pitch { row_bytes: 10, rows: 5 };
    let rows = |pitch, extent| all.rows(pitch, extent).is_ok();
    assert!(
        rows(pitch, [10, 5, 2])
            && rows(pitch, [10, 10, 1])
            && rows(pitch, [1, 5, 0])
            && rows(pitch, [100, 1, 1])
    );
    assert!(!rows(pitch, [10, 5, 3]) && !rows(pitch, [10, 11, 1]) && !rows(pitch, [11, 2, 1]));
    assert!(!rows(pitch, [10, 6, 2]) && !rows(pitch, [101, 1, 1]));
    let huge = Pitch { row_bytes: usize::MAX / 2, rows: usize::MAX / 2 };
    assert!(!rows(huge, [1, 3, 1]) && !rows(huge, [1, 1, 3]));
    assert!(rows(huge, [usize::MAX, 0, usize::MAX]), "nothing lies anywhere");
    let whole = all.rows(pitch, [10, 5, 2]).unwrap();
    for (origin, extent) in [([5, 0, 0], [6, 1, 1]), ([0, 0, 2], [1, 1, 1]), ([0, 5, 0], [1, 1, 1])]
    {
        let part = whole.part(origin, extent);
        assert!(matches!(part, Err(Error::RegionOutOfRange { .. })), "{part:?}");
    }
    assert!(whole.part([10, 5, 2], [0, 0, 0]).is_ok(), "nothing at the end");
    let stream = device.stream().unwrap();
    let (wide, high) =
        (whole.part([0; 3], [4, 2, 2]).unwrap(), whole.part([0; 3], [2, 4, 2]).unwrap());
    let copy = stream.copy(wide, high);
    assert!(matches!(copy, Err(Error::RegionsDiffer { .. })), "{copy:?}");
    let copy = stream.copy(wide, memory.slice(..15).unwrap());
    assert!(matches!(copy, Err(Error::OutOfRange { .. })), "{copy:?}");
    let upload = stream.upload(wide, &[0; 15]);
    assert!(matches!(upload, Err(Error::OutOfRange { .. })), "{upload:?}");
}
