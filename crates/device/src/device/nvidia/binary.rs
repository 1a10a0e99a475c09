//! Machine code as files hold it: cubins, which are ELF files, and fatbins, which hold several.

/// A cubin or fatbin that is whole, in aligned memory: the driver is told where it starts, not where it ends, and
/// believes what stands in it.
#[derive(Debug)]
pub(super) struct Binary {
    words: Vec<u64>,
    bytes: usize,
}

impl Binary {
    /// `None` for what is neither, or is cut off.
    pub(super) fn new(bytes: &[u8]) -> Option<Self> {
        let end = elf_end(bytes).or_else(|| fatbin_end(bytes))?;
        if end > bytes.len() {
            return None;
        }
        let mut words = vec![0; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words).get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Self { words, bytes: bytes.len() })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        let all: &[u8] = bytemuck::cast_slice(&self.words);
        all.get(..self.bytes).unwrap_or(all)
    }
}

fn word<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    word(bytes, at).map(|word| u16::from_le_bytes(word).into())
}

fn u64_at(bytes: &[u8], at: usize) -> Option<usize> {
    word(bytes, at).and_then(|word| u64::from_le_bytes(word).try_into().ok())
}

/// Where a fatbin ends: a magic number, a version, the header's length and that of what follows.
fn fatbin_end(bytes: &[u8]) -> Option<usize> {
    let magic = u32::from_le_bytes(word(bytes, 0)?);
    if magic != 0xBA55_ED50 {
        return None;
    }
    u16_at(bytes, 6)?.checked_add(u64_at(bytes, 8)?)
}

/// Where the last part of a 64-bit ELF file ends (System V ABI, "Object Files"): its tables, sections and segments.
fn elf_end(bytes: &[u8]) -> Option<usize> {
    const NO_BITS: u32 = 8;
    if bytes.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let (segments, sections) = (u64_at(bytes, 32)?, u64_at(bytes, 40)?);
    let (segment_bytes, segment_count) = (u16_at(bytes, 54)?, u16_at(bytes, 56)?);
    let (section_bytes, section_count) = (u16_at(bytes, 58)?, u16_at(bytes, 60)?);
    let mut end = 64;
    for index in 0..segment_count {
        let at = segments.checked_add(index.checked_mul(segment_bytes)?)?;
        end = end.max(at.checked_add(56)?);
        end = end.max(u64_at(bytes, at.checked_add(8)?)?.checked_add(u64_at(bytes, at + 32)?)?);
    }
    for index in 0..section_count {
        let at = sections.checked_add(index.checked_mul(section_bytes)?)?;
        end = end.max(at.checked_add(64)?);
        if u32::from_le_bytes(word(bytes, at.checked_add(4)?)?) != NO_BITS {
            end = end.max(u64_at(bytes, at + 24)?.checked_add(u64_at(bytes, at + 32)?)?);
        }
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with one section of 10 bytes at 64, and its table behind it.
    fn elf() -> Vec<u8> {
        let mut bytes = vec![0; 80 + 64];
        bytes[..5].copy_from_slice(b"\x7fELF\x02");
        bytes[40] = 80; // the section table
        bytes[58] = 64; // bytes of an entry
        bytes[60] = 1;
        bytes[84] = 1; // of the section: it has bits,
        bytes[104] = 64; // from there,
        bytes[112] = 10; // so many
        bytes
    }

    #[test]
    fn only_whole_files_are_taken() {
        let whole = elf();
        assert_eq!(Binary::new(&whole).unwrap().bytes(), whole);
        for end in 0..whole.len() {
            assert!(Binary::new(&whole[..end]).is_none(), "cut off at {end}");
        }
        let mut long = whole.clone();
        long[113] = 1; // 266 bytes
        assert!(Binary::new(&long).is_none());
        long[84] = 8; // of which the file has none
        assert!(Binary::new(&long).is_some());
        let mut hostile = whole;
        hostile[112..120].fill(0xff);
        assert!(Binary::new(&hostile).is_none());
    }

    #[test]
    fn fatbins_say_how_long_they_are() {
        let mut fatbin = vec![0; 16 + 8];
        fatbin[..4].copy_from_slice(&0xBA55_ED50_u32.to_le_bytes());
        (fatbin[4], fatbin[6], fatbin[8]) = (1, 16, 8);
        assert!(Binary::new(&fatbin).is_some());
        assert!(Binary::new(&fatbin[..23]).is_none());
        assert!(Binary::new(b".version 8.0").is_none());
    }
}
