//! Matrices that the threads of a warp hold together: what `ldmatrix`, `mma` and `wmma` say of them.
//!
//! Which thread holds which element is the device's affair; here is what stands in the instructions.

use super::keyword::keywords;
use super::modifier::Rounding;
use super::types::{Space, Type};

keywords! {
    /// The type of a matrix's elements.
    Element {
        /// IEEE binary16.
        F16 = "f16",
        /// bfloat16.
        Bf16 = "bf16",
        /// TensorFloat-32, in 32 bits.
        Tf32 = "tf32",
        /// 8 bits, 4 of them exponent.
        E4m3 = "e4m3",
        /// 8 bits, 5 of them exponent.
        E5m2 = "e5m2",
        /// IEEE binary32.
        F32 = "f32",
        /// IEEE binary64.
        F64 = "f64",
        /// Signed, 32 bits.
        S32 = "s32",
        /// Signed, 8 bits.
        S8 = "s8",
        /// Unsigned, 8 bits.
        U8 = "u8",
        /// Signed, 4 bits.
        S4 = "s4",
        /// Unsigned, 4 bits.
        U4 = "u4",
        /// A bit.
        B1 = "b1",
    }
}

impl Element {
    /// Its width in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::F64 => 64,
            Self::Tf32 | Self::F32 | Self::S32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::E4m3 | Self::E5m2 | Self::S8 | Self::U8 => 8,
            Self::S4 | Self::U4 => 4,
            Self::B1 => 1,
        }
    }

    /// The type of the registers that hold such elements.
    pub const fn register(self) -> Type {
        match self {
            Self::F64 => Type::B64,
            Self::F16 | Self::Bf16 | Self::Tf32 | Self::E4m3 | Self::E5m2 | Self::F32 => Type::B32,
            Self::S32 | Self::S8 | Self::U8 | Self::S4 | Self::U4 | Self::B1 => Type::B32,
        }
    }

    /// Whether it is a floating-point number.
    pub const fn is_float(self) -> bool {
        match self {
            Self::F16 | Self::Bf16 | Self::Tf32 | Self::E4m3 | Self::E5m2 => true,
            Self::F32 | Self::F64 => true,
            Self::S32 | Self::S8 | Self::U8 | Self::S4 | Self::U4 | Self::B1 => false,
        }
    }
}

keywords! {
    /// Which elements of a matrix follow each other in memory.
    Major {
        /// Those of a row.
        Row = "row",
        /// Those of a column.
        Col = "col",
    }
}

keywords! {
    /// Which matrix of `d = a * b + c`.
    Role {
        /// The left factor, of m rows and k columns.
        A = "a",
        /// The right factor, of k rows and n columns.
        B = "b",
        /// What is added, and the result: m rows and n columns.
        C = "c",
    }
}

keywords! {
    /// What stands for the product of two bits.
    BitOp {
        /// Exclusive or.
        Xor = "xor",
        /// And.
        And = "and",
    }
}

/// The shape of a product: `m16n8k16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of `a`, `c` and `d`.
    pub m: u16,
    /// Columns of `b`, `c` and `d`.
    pub n: u16,
    /// Columns of `a` and rows of `b`.
    pub k: u16,
}

impl Shape {
    /// The shape spelt `text`.
    pub fn parse(text: &str) -> Option<Self> {
        let (m, rest) = text.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some(Self { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
    }

    /// Rows and columns of one of the matrices.
    pub const fn of(self, role: Role) -> [usize; 2] {
        let [m, n, k] = [self.m as usize, self.n as usize, self.k as usize];
        match role {
            Role::A => [m, k],
            Role::B => [k, n],
            Role::C => [m, n],
        }
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "m{}n{}k{}", self.m, self.n, self.k)
    }
}

/// `ldmatrix`, `stmatrix`: matrices of 8 by 8 halves, of which each of the first threads gives the address of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tiles {
    /// 1, 2 or 4.
    pub count: u8,
    /// Rows and columns change places.
    pub trans: bool,
    /// State space; `None`: a generic address.
    pub space: Option<Space>,
}

/// `wmma.load`, `wmma.store`: one matrix, all of it at an address that the threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatrixAccess {
    /// Which matrix.
    pub role: Role,
    /// Whether it is stored, as a result.
    pub stored: bool,
    /// How it lies in memory.
    pub major: Major,
    /// The shape of the product that it is for.
    pub shape: Shape,
    /// State space; `None`: a generic address.
    pub space: Option<Space>,
    /// The elements' type.
    pub element: Element,
}

impl MatrixAccess {
    /// How many elements follow each other, and how many such lines there are.
    pub const fn line(&self) -> [usize; 2] {
        let [rows, columns] = self.shape.of(self.role);
        match self.major {
            Major::Row => [columns, rows],
            Major::Col => [rows, columns],
        }
    }

    /// Elements from the beginning of a line to that of the next, where no operand says it.
    pub const fn default_stride(&self) -> u32 {
        self.line()[0] as u32
    }

    /// The bytes from its first element to its last one, with so many elements from line to line; none where they are
    /// no number of bytes, or more than anybody has.
    pub fn span(&self, stride: u32) -> Option<u32> {
        let [length, lines] = self.line().map(|count| count as u64);
        let elements = (lines - 1) * u64::from(stride) + length;
        let bits = elements * u64::from(self.element.bits());
        u32::try_from(bits / 8).ok().filter(|_| bits.is_multiple_of(8))
    }

    /// What the beginning of each line has to be a multiple of: the bytes that a thread's registers hold, as the PTX
    /// ISA has it ("Matrix Storage for WMMA"), but no more than the 16 that CUDA C++ asks of a stride.
    pub const fn alignment(&self) -> u32 {
        let held = self.registers() as u32 * self.element.register().bytes();
        if held < 16 { held } else { 16 }
    }

    /// How many registers of a thread hold it.
    pub const fn registers(&self) -> usize {
        registers_of_wmma(self.shape, self.role, self.element)
    }
}

/// Registers of a thread that hold a matrix of `wmma`: halves of factors have eight in any shape, more than a thread
/// has elements for.
const fn registers_of_wmma(shape: Shape, role: Role, element: Element) -> usize {
    match (role, element) {
        (Role::A | Role::B, Element::F16) => 8,
        _ => registers_of(shape, role, element, 1),
    }
}

/// Registers of a thread that hold a matrix in each of so many products.
const fn registers_of(shape: Shape, role: Role, element: Element, products: usize) -> usize {
    let [rows, columns] = shape.of(role);
    let elements = rows * columns * products / 32;
    elements * element.bits() as usize / element.register().bits() as usize
}

/// `mma`, `wmma.mma`: `d = a * b + c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    /// Whether the factors are what `wmma.load` gave.
    pub wmma: bool,
    /// Its shape.
    pub shape: Shape,
    /// How `a` and `b` lie: in `wmma`, in the memory that they were loaded from.
    pub majors: [Major; 2],
    /// The types of `d`, `a`, `b` and `c`.
    pub elements: [Element; 4],
    /// Of integers: results are clamped to 32 bits.
    pub satfinite: bool,
    /// Of `f64`.
    pub rounding: Option<Rounding>,
    /// Of bits.
    pub bit_op: Option<BitOp>,
}

impl Product {
    /// How many products of this shape the instruction computes: `m8n8k4` of halves is four, each of eight threads.
    pub const fn count(&self) -> usize {
        let [_, a, _, _] = self.elements;
        if self.shape.k == 4 && matches!(a, Element::F16) { 4 } else { 1 }
    }

    /// The type of one of its sources.
    pub const fn element(&self, role: Role) -> Element {
        let [_, a, b, c] = self.elements;
        match role {
            Role::A => a,
            Role::B => b,
            Role::C => c,
        }
    }

    /// The type of its result.
    pub const fn result(&self) -> Element {
        let [d, _, _, _] = self.elements;
        d
    }

    /// How many registers of a thread hold a matrix with such elements.
    pub const fn registers(&self, role: Role, element: Element) -> usize {
        match self.wmma {
            true => registers_of_wmma(self.shape, role, element),
            false => registers_of(self.shape, role, element, self.count()),
        }
    }
}

/// What a warp does with matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixOp {
    /// `ldmatrix`.
    LoadTiles(Tiles),
    /// `stmatrix`.
    StoreTiles(Tiles),
    /// `movmatrix`.
    Transpose,
    /// `wmma.load`.
    Load(MatrixAccess),
    /// `wmma.store`.
    Store(MatrixAccess),
    /// `mma`, `wmma.mma`.
    Multiply(Product),
}

/// The memory that such an operation accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixMemory {
    /// State space; `None`: a generic address.
    pub space: Option<Space>,
    /// Whether it is written.
    pub written: bool,
    /// What each line's beginning is a multiple of, and what is accessed at once, in bytes.
    pub unit: u32,
}

impl MatrixMemory {
    /// That of an operation which accesses none.
    pub const NONE: Self = Self { space: None, written: false, unit: 1 };
}

impl MatrixOp {
    /// The memory that it accesses, where it does.
    pub const fn memory(&self) -> Option<MatrixMemory> {
        match self {
            Self::LoadTiles(tiles) => {
                Some(MatrixMemory { space: tiles.space, written: false, unit: 16 })
            }
            Self::StoreTiles(tiles) => {
                Some(MatrixMemory { space: tiles.space, written: true, unit: 16 })
            }
            Self::Load(access) => {
                Some(MatrixMemory { space: access.space, written: false, unit: access.alignment() })
            }
            Self::Store(access) => {
                Some(MatrixMemory { space: access.space, written: true, unit: access.alignment() })
            }
            Self::Transpose | Self::Multiply(_) => None,
        }
    }

    /// The last source where it is missing: elements from line to line.
    pub const fn default_stride(&self) -> Option<u32> {
        match self {
            Self::Load(access) | Self::Store(access) => Some(access.default_stride()),
            Self::LoadTiles(_) | Self::StoreTiles(_) | Self::Transpose | Self::Multiply(_) => None,
        }
    }

    /// How many sources it has, all of them written.
    pub const fn sources(&self) -> usize {
        match self {
            Self::LoadTiles(_) | Self::Transpose => 1,
            Self::StoreTiles(_) | Self::Load(_) => 2,
            Self::Store(_) | Self::Multiply(_) => 3,
        }
    }

    /// The type of the registers that it takes and gives.
    pub const fn register(&self) -> Type {
        match self {
            Self::LoadTiles(_) | Self::StoreTiles(_) | Self::Transpose => Type::B32,
            Self::Load(access) | Self::Store(access) => access.element.register(),
            Self::Multiply(product) => product.result().register(),
        }
    }
}
