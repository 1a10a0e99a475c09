//! Matrices between memory and registers.

use super::{Memory, Warp, fragment::Fragment};
use crate::ptx::matrix::{Major, MatrixAccess, Role, Tiles};

/// Rows, columns of the matrices of `ldmatrix`, and bytes of a row.
const SIDE: usize = 8;
const ROW_BYTES: u32 = 16;

/// 8 by 8 halves.
type Tile = [[u16; SIDE]; SIDE];

/// What the threads hold of a tile in a register: two halves of a row each.
fn gather(warp: &Warp, register: usize) -> Tile {
    let mut tile = Tile::default();
    for (lane, registers) in warp.iter().enumerate() {
        let column = lane % 4 * 2;
        tile[lane / 4][column] = registers[register] as u16;
        tile[lane / 4][column + 1] = (registers[register] >> 16) as u16;
    }
    tile
}

/// The opposite.
fn scatter(warp: &mut Warp, register: usize, tile: &Tile) {
    for (lane, registers) in warp.iter_mut().enumerate() {
        let [low, high] = [0, 1].map(|next| u64::from(tile[lane / 4][lane % 4 * 2 + next]));
        registers[register] = low | high << 16;
    }
}

fn transposed(tile: &Tile) -> Tile {
    std::array::from_fn(|row| std::array::from_fn(|column| tile[column][row]))
}

/// `ldmatrix`: thread 8i + r brings the address of row r of the i-th tile.
pub(super) fn load_tiles<M: Memory>(
    tiles: &Tiles,
    warp: &mut Warp,
    memory: &mut M,
) -> Result<(), M::Refused> {
    let mut loaded = [Tile::default(); 4];
    for (lane, registers) in warp.iter().enumerate().take(SIDE * usize::from(tiles.count)) {
        let at = memory.locate(lane, registers[0], ROW_BYTES)?;
        let row = &mut loaded[lane / SIDE][lane % SIDE];
        for (half, values) in (0..).zip(row.chunks_mut(4)) {
            let word = memory.load(lane, at + 8 * half, 8)?;
            for (place, value) in (0..).zip(values) {
                *value = (word >> (16 * place)) as u16;
            }
        }
    }
    for (register, tile) in loaded.iter().enumerate().take(tiles.count.into()) {
        let tile = if tiles.trans { transposed(tile) } else { *tile };
        scatter(warp, register, &tile);
    }
    Ok(())
}

/// `stmatrix`: the same, the tiles behind the address.
pub(super) fn store_tiles<M: Memory>(
    tiles: &Tiles,
    warp: &Warp,
    memory: &mut M,
) -> Result<(), M::Refused> {
    for number in 0..usize::from(tiles.count) {
        let tile = gather(warp, 1 + number);
        let tile = if tiles.trans { transposed(&tile) } else { tile };
        for (row, values) in tile.iter().enumerate() {
            let lane = SIDE * number + row;
            let at = memory.locate(lane, warp[lane][0], ROW_BYTES)?;
            for (half, values) in (0..).zip(values.chunks(4)) {
                let places = (0..).zip(values);
                let word =
                    places.fold(0, |word, (at, value)| word | u64::from(*value) << (16 * at));
                memory.store(lane, at + 8 * half, 8, word)?;
            }
        }
    }
    Ok(())
}

/// `movmatrix`.
pub(super) fn transpose(warp: &mut Warp) {
    let tile = gather(warp, 0);
    scatter(warp, 0, &transposed(&tile));
}

/// Where a register's elements lie in memory.
struct Walk<'a> {
    access: &'a MatrixAccess,
    fragment: Fragment,
    /// Bytes that are accessed at once.
    unit: u64,
}

impl<'a> Walk<'a> {
    fn new(access: &'a MatrixAccess) -> Self {
        let unit = access.alignment().into();
        Self { access, fragment: Fragment::accessed(access), unit }
    }

    /// Whether a register's elements follow each other in memory.
    fn is_whole(&self) -> bool {
        let along = if self.access.role == Role::B { Major::Col } else { Major::Row };
        self.fragment.parts() == 1 || self.access.major == along
    }

    /// How many accesses a register takes, and the bytes of each.
    fn pieces(&self) -> (usize, u32) {
        let whole = self.access.element.register().bytes();
        match self.is_whole() {
            true => (1, whole),
            false => (self.fragment.parts(), whole / self.fragment.parts() as u32),
        }
    }

    /// Where a piece of a register lies, and is allowed to: all elements of its unit have to be there.
    fn locate<M: Memory>(
        &self,
        (lane, register, piece): (usize, usize, usize),
        (address, stride): (u64, u64),
        memory: &M,
    ) -> Result<u64, M::Refused> {
        let place = self.fragment.place(lane, register, piece);
        let (line, along) = match self.access.major {
            Major::Row => (place.row, place.column),
            Major::Col => (place.column, place.row),
        };
        let bytes = |elements: u64| elements.wrapping_mul(self.access.element.bits().into()) / 8;
        let start = address.wrapping_add(bytes(stride.wrapping_mul(line as u64)));
        let along = bytes(along as u64);
        let unit = along / self.unit * self.unit;
        let at = memory.locate(lane, start.wrapping_add(unit), self.unit as u32)?;
        Ok(at + (along - unit))
    }
}

/// `wmma.load`: the address, then the stride in elements.
pub(super) fn load<M: Memory>(
    access: &MatrixAccess,
    warp: &mut Warp,
    memory: &mut M,
) -> Result<(), M::Refused> {
    let walk = Walk::new(access);
    let (pieces, bytes) = walk.pieces();
    let distinct = walk.fragment.distinct();
    for (lane, registers) in warp.iter_mut().enumerate() {
        let from = (registers[0], registers[1] & 0xffff_ffff);
        for (register, value) in registers.iter_mut().enumerate().take(distinct) {
            *value = 0;
            for piece in 0..pieces {
                let at = walk.locate((lane, register, piece), from, memory)?;
                *value |= memory.load(lane, at, bytes)? << (8 * bytes * piece as u32);
            }
        }
        for copy in distinct..walk.fragment.registers {
            registers[copy] = registers[copy % distinct];
        }
    }
    Ok(())
}

/// `wmma.store`: the address, the matrix, then the stride in elements.
pub(super) fn store<M: Memory>(
    access: &MatrixAccess,
    warp: &Warp,
    memory: &mut M,
) -> Result<(), M::Refused> {
    let walk = Walk::new(access);
    let (pieces, bytes) = walk.pieces();
    for (lane, registers) in warp.iter().enumerate() {
        let to = (registers[0], registers[1 + walk.fragment.registers] & 0xffff_ffff);
        for (register, value) in registers[1..=walk.fragment.registers].iter().enumerate() {
            for piece in 0..pieces {
                let at = walk.locate((lane, register, piece), to, memory)?;
                let value = value >> (8 * bytes * piece as u32);
                memory.store(lane, at, bytes, value & (u64::MAX >> (64 - 8 * bytes)))?;
            }
        }
    }
    Ok(())
}
