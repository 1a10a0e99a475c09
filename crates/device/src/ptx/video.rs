//! Video instructions: arithmetic on bytes and halves of words, one, two or four at a time (PTX ISA, sections
//! 9.7.17 and 9.7.18). Today's GPUs emulate most of them, so nothing here needs to be fast.

use super::keyword::keywords;
use super::modifier::{Cmp, Simd, SimdOp};
use super::types::Type;

/// The comparisons that there are of `vset`, as [`Video::packed`] counts them.
const COMPARISONS: [Cmp; 6] = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge];

keywords! {
    /// What a video instruction computes.
    VideoOp {
        /// Sum.
        Add = "vadd",
        /// Difference.
        Sub = "vsub",
        /// Average, rounded away from zero.
        Avrg = "vavrg",
        /// Magnitude of the difference.
        Absdiff = "vabsdiff",
        /// Minimum.
        Min = "vmin",
        /// Maximum.
        Max = "vmax",
        /// Shift to the left.
        Shl = "vshl",
        /// Shift to the right.
        Shr = "vshr",
        /// Product and sum.
        Mad = "vmad",
        /// Comparison: 1 where it holds, else 0.
        Set = "vset",
    }
}

keywords! {
    /// What becomes of a result and the third operand.
    Second {
        /// Their sum.
        Add = "add",
        /// The smaller.
        Min = "min",
        /// The larger.
        Max = "max",
    }
}

/// The bytes or halves of an operand that an instruction reads or writes: `%r1.b2`, `%r1.h31`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// Halves, not bytes.
    pub halves: bool,
    /// How many.
    pub count: u8,
    /// Which, the lowest lane's first.
    pub picks: [u8; 4],
}

impl Part {
    /// The part written `text`, such as `b2` or `h31`: the highest lane's number stands first.
    pub fn parse(text: &str) -> Option<Self> {
        let halves = match text.as_bytes().first()? {
            b'b' => false,
            b'h' => true,
            _ => return None,
        };
        let digits = &text.as_bytes()[1..];
        if digits.is_empty() || digits.len() > 4 {
            return None;
        }
        let mut picks = [0; 4];
        for (pick, digit) in picks.iter_mut().zip(digits.iter().rev()) {
            *pick = digit.checked_sub(b'0').filter(|pick| *pick < 8)?;
        }
        Some(Self { halves, count: digits.len() as u8, picks })
    }

    /// Its PTX spelling.
    pub fn text(self) -> String {
        let digits = self.picks.iter().take(usize::from(self.count)).rev();
        let start = if self.halves { "h" } else { "b" };
        digits.fold(start.to_owned(), |text, pick| text + &pick.to_string())
    }

    fn bits(self) -> u32 {
        if self.halves { 16 } else { 8 }
    }

    const fn packed(self) -> u64 {
        let [a, b, c, d] = self.picks;
        let picks = a as u64 | (b as u64) << 3 | (c as u64) << 6 | (d as u64) << 9;
        picks | (self.halves as u64) << 12 | (self.count as u64) << 13
    }

    fn unpacked(code: u64) -> Option<Self> {
        let pick = |at: u64| (code >> (3 * at) & 7) as u8;
        let count = (code >> 13 & 7) as u8;
        let picks = [pick(0), pick(1), pick(2), pick(3)];
        (count > 0).then_some(Self { halves: code >> 12 & 1 != 0, count, picks })
    }
}

/// A video instruction `d <- a, b [, c]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Video {
    /// What is computed.
    pub op: VideoOp,
    /// 1, 2 or 4.
    pub lanes: u8,
    /// `u32` or `s32`: signedness of the result. A comparison's is `u32`, and not written.
    pub to: Type,
    /// Of `a`.
    pub a: Type,
    /// Of `b`.
    pub b: Type,
    /// Results are clamped to the lane, else cut.
    pub sat: bool,
    /// What is done with `c`; with several lanes only the sum.
    pub second: Option<Second>,
    /// Shifts: the amount is taken modulo 32 (true) or clamped to 32.
    pub wrap: bool,
    /// `vmad`: how far the result is shifted to the right: 0, 7 or 15.
    pub scale: u8,
    /// `vmad`: one is added.
    pub plus_one: bool,
    /// `vset`.
    pub cmp: Option<Cmp>,
    /// What is written of `d`; the rest comes from `c`.
    pub d_part: Option<Part>,
    /// What is read of `a` (with several lanes: of `a` and `b`, whose parts are numbered on).
    pub a_part: Option<Part>,
    /// What is read of `b` (with several lanes: of `a` and `b`).
    pub b_part: Option<Part>,
    /// `vmad`: `-a`, `-b`, `-c`.
    pub negated: [bool; 3],
}

impl From<Simd> for Video {
    fn from(simd: Simd) -> Self {
        let op = match simd.op {
            SimdOp::Add => VideoOp::Add,
            SimdOp::Sub => VideoOp::Sub,
            SimdOp::Avrg => VideoOp::Avrg,
            SimdOp::Absdiff => VideoOp::Absdiff,
            SimdOp::Min => VideoOp::Min,
            SimdOp::Max => VideoOp::Max,
        };
        let second = simd.add.then_some(Second::Add);
        let video = Self::new(op, simd.lanes, simd.to, simd.a, simd.b);
        Self { sat: simd.sat, second, ..video }
    }
}

impl Video {
    /// One without modifiers.
    pub fn new(op: VideoOp, lanes: u8, to: Type, a: Type, b: Type) -> Self {
        Self {
            op,
            lanes,
            to,
            a,
            b,
            sat: false,
            second: None,
            wrap: false,
            scale: 0,
            plus_one: false,
            cmp: None,
            d_part: None,
            a_part: None,
            b_part: None,
            negated: [false; 3],
        }
    }

    /// What it gives for its operands; `c` counts only where the instruction has one.
    pub fn evaluate(&self, a: u32, b: u32, c: u32) -> u32 {
        if self.op == VideoOp::Mad {
            return self.multiply_add(a, b, c);
        }
        match self.lanes {
            1 => self.scalar(a, b, c),
            _ => self.vector(a, b, c),
        }
    }

    fn scalar(&self, a: u32, b: u32, c: u32) -> u32 {
        let a = chosen(a, self.a_part, self.a);
        let b = chosen(b, self.b_part, self.b);
        let width = self.d_part.map_or(32, Part::bits);
        let result = self.saturated(self.computed(a, b), width);
        // Of a comparison's result the ISA does not say whether it is signed; on an H100 it is where `a` is.
        let to = if self.op == VideoOp::Set { self.a } else { self.to };
        let other = extended(u64::from(c), 32, to.is_signed());
        let result = match self.second {
            Some(Second::Add) => result.wrapping_add(other),
            Some(Second::Min) => result.min(other),
            Some(Second::Max) => result.max(other),
            None => result,
        } as u32;
        let Some(part) = self.d_part else { return result };
        let shift = u32::from(part.picks[0]) * width;
        let mask = (((1u64 << width) - 1) as u32).wrapping_shl(shift);
        c & !mask | result.wrapping_shl(shift) & mask
    }

    fn vector(&self, a: u32, b: u32, c: u32) -> u32 {
        let lanes = u32::from(self.lanes);
        let width = 32 / lanes;
        let both = u64::from(b) << 32 | u64::from(a);
        let lane_of = |part: Option<Part>, lane: u32, start: u32, ty: Type| {
            let pick = part.map_or(start + lane, |part| u32::from(part.picks[lane as usize]));
            extended(both >> (pick * width % 64), width, ty.is_signed())
        };
        let masked = |lane: u32| {
            let part = self.d_part.as_ref();
            part.is_none_or(|p| p.picks[..usize::from(p.count.min(4))].contains(&(lane as u8)))
        };
        let add = self.second.is_some();
        let mut result = if add { c } else { 0 };
        for lane in 0..lanes {
            let x = lane_of(self.a_part, lane, 0, self.a);
            let y = lane_of(self.b_part, lane, lanes, self.b);
            let value = self.saturated(self.computed(x, y), width) as u32;
            let mask = (((1u64 << width) - 1) as u32) << (lane * width);
            result = match (add, masked(lane)) {
                (true, true) => result.wrapping_add(value),
                (true, false) => result,
                (false, true) => result | value << (lane * width) & mask,
                (false, false) => result | c & mask,
            };
        }
        result
    }

    fn computed(&self, a: i64, b: i64) -> i64 {
        let amount = if self.wrap { b & 31 } else { b.min(32) } as u32;
        match self.op {
            VideoOp::Add => a + b,
            VideoOp::Sub => a - b,
            VideoOp::Avrg => (a + b + i64::from(a + b >= 0)) >> 1,
            VideoOp::Absdiff => (a - b).abs(),
            VideoOp::Min => a.min(b),
            VideoOp::Max => a.max(b),
            VideoOp::Shl => a.wrapping_shl(amount),
            VideoOp::Shr => a.wrapping_shr(amount),
            VideoOp::Mad => a.wrapping_mul(b),
            VideoOp::Set => i64::from(match self.cmp {
                Some(cmp) => compares(cmp, a, b),
                None => a == b,
            }),
        }
    }

    fn saturated(&self, value: i64, width: u32) -> i64 {
        if !self.sat {
            return value;
        }
        let unsigned = i64::from(u32::MAX >> (32 - width));
        let (least, most) = match self.to.is_signed() {
            true => (-(unsigned / 2) - 1, unsigned / 2),
            false => (0, unsigned),
        };
        value.clamp(least, most)
    }

    fn multiply_add(&self, a: u32, b: u32, c: u32) -> u32 {
        let turned = self.negated[0] ^ self.negated[1];
        let signed = self.a.is_signed() || self.b.is_signed() || turned || self.negated[2];
        let a = i128::from(chosen(a, self.a_part, self.a));
        let b = i128::from(chosen(b, self.b_part, self.b));
        let c = i128::from(extended(u64::from(c), 32, signed));
        let product = if turned { -(a * b) } else { a * b };
        let c = if self.negated[2] { -c } else { c };
        let sum = (product + c + i128::from(self.plus_one)) >> self.scale;
        let sum = match (self.sat, signed) {
            (false, _) => sum,
            (true, true) => sum.clamp(i128::from(i32::MIN), i128::from(i32::MAX)),
            (true, false) => sum.clamp(0, i128::from(u32::MAX)),
        };
        sum as u32
    }

    /// All of it in two words, for compiled code to name it.
    pub fn packed(&self) -> [u64; 2] {
        let flag = |set: bool, at: u32| u64::from(set) << at;
        let second = self.second.map_or(0, |second| u64::from(second.code()) + 1);
        let cmp = self.cmp.and_then(|cmp| COMPARISONS.iter().position(|known| *known == cmp));
        let cmp = cmp.unwrap_or(0) as u64;
        let flags = flag(self.to.is_signed(), 0)
            | flag(self.a.is_signed(), 1)
            | flag(self.b.is_signed(), 2)
            | flag(self.sat, 3)
            | flag(self.wrap, 4)
            | flag(self.plus_one, 5)
            | flag(self.negated[0], 6)
            | flag(self.negated[1], 7)
            | flag(self.negated[2], 8);
        let what = flags
            | second << 9
            | cmp << 11
            | u64::from(self.scale) << 14
            | u64::from(self.lanes) << 18
            | u64::from(self.op.code()) << 21;
        let part = |part: Option<Part>| part.map_or(0, Part::packed);
        [what, part(self.d_part) | part(self.a_part) << 16 | part(self.b_part) << 32]
    }

    /// The inverse of [`Self::packed`]; an operation that is none of them is a sum.
    pub fn unpacked([what, parts]: [u64; 2]) -> Self {
        let flag = |at: u32| what >> at & 1 != 0;
        let ty = |at: u32| if flag(at) { Type::S32 } else { Type::U32 };
        let op = VideoOp::from_code((what >> 21 & 15) as u32).unwrap_or(VideoOp::Add);
        Self {
            op,
            lanes: (what >> 18 & 7) as u8,
            to: ty(0),
            a: ty(1),
            b: ty(2),
            sat: flag(3),
            second: (what >> 9 & 3).checked_sub(1).and_then(|code| Second::from_code(code as u32)),
            wrap: flag(4),
            scale: (what >> 14 & 15) as u8,
            plus_one: flag(5),
            cmp: (op == VideoOp::Set)
                .then_some(COMPARISONS[(what >> 11 & 7) as usize % COMPARISONS.len()]),
            d_part: Part::unpacked(parts),
            a_part: Part::unpacked(parts >> 16),
            b_part: Part::unpacked(parts >> 32),
            negated: [flag(6), flag(7), flag(8)],
        }
    }
}

/// The low `width` bits, extended.
fn extended(value: u64, width: u32, signed: bool) -> i64 {
    let top = (value << (64 - width)) as i64;
    if signed { top >> (64 - width) } else { (top as u64 >> (64 - width)) as i64 }
}

/// The part of a word that a scalar instruction reads.
fn chosen(word: u32, part: Option<Part>, ty: Type) -> i64 {
    let (start, width) =
        part.map_or((0, 32), |part| (u32::from(part.picks[0]) * part.bits(), part.bits()));
    extended(u64::from(word).wrapping_shr(start), width, ty.is_signed())
}

/// How two numbers of any sign compare; those that only floating-point numbers or words have are like the others.
fn compares(cmp: Cmp, a: i64, b: i64) -> bool {
    match cmp {
        Cmp::Eq | Cmp::Equ => a == b,
        Cmp::Ne | Cmp::Neu => a != b,
        Cmp::Lt | Cmp::Lo | Cmp::Ltu => a < b,
        Cmp::Le | Cmp::Ls | Cmp::Leu => a <= b,
        Cmp::Gt | Cmp::Hi | Cmp::Gtu => a > b,
        Cmp::Ge | Cmp::Hs | Cmp::Geu => a >= b,
        Cmp::Num => true,
        Cmp::Nan => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_written_as_they_were_read() {
        for text in ["b0", "h1", "h31", "b7210"] {
            assert_eq!(Part::parse(text).map(Part::text).as_deref(), Some(text));
        }
        assert_eq!(Part::parse("b8"), None);
        assert_eq!(Part::parse("x"), None);
        assert_eq!(Part::parse("b"), None);
    }

    #[test]
    fn packing_loses_nothing() {
        let video = Video {
            sat: true,
            second: Some(Second::Max),
            cmp: Some(Cmp::Ge),
            scale: 15,
            d_part: Part::parse("b1"),
            a_part: Part::parse("h31"),
            b_part: Part::parse("b7654"),
            negated: [false, true, true],
            ..Video::new(VideoOp::Set, 4, Type::U32, Type::S32, Type::U32)
        };
        assert_eq!(Video::unpacked(video.packed()), video);
    }
}
