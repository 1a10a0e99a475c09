//! What the bytes of a texel mean.

use std::sync::OnceLock;

use bytemuck::AnyBitPattern;
use half::{f16, slice::HalfFloatSliceExt as _};

/// A kind of channel, and how it is read.
pub(super) trait Kind: 'static {
    /// A channel as it is stored.
    type Raw: AnyBitPattern;
    /// The fourth channel of texels that have none.
    const ONE: u32 = 1.0f32.to_bits();

    /// The word that an instruction gets for a channel; a `float`'s bits where it is read as one.
    fn word(raw: Self::Raw, channel: usize) -> u32;

    /// The words of all channels.
    #[inline]
    fn words<const N: usize>(raw: [Self::Raw; N]) -> [u32; N] {
        let mut channel = 0;
        raw.map(|raw| {
            let word = Self::word(raw, channel);
            channel += 1;
            word
        })
    }
}

/// Read as they are.
macro_rules! elements {
    ($($kind:ident: $raw:ty, |$value:ident| $word:expr;)*) => {$(
        pub(super) struct $kind;

        impl Kind for $kind {
            type Raw = $raw;
            const ONE: u32 = 1;

            #[inline]
            fn word($value: $raw, _: usize) -> u32 {
                $word
            }
        }
    )*};
}

/// Read as `float`.
macro_rules! floats {
    ($($(#[$about:meta])* $kind:ident: |$value:ident: $raw:ty| $float:expr;)*) => {$(
        $(#[$about])*
        pub(super) struct $kind;

        impl Kind for $kind {
            type Raw = $raw;

            #[inline]
            fn word($value: $raw, _: usize) -> u32 {
                let float: f32 = $float;
                float.to_bits()
            }
        }
    )*};
}

elements! {
    U8: u8, |raw| u32::from(raw);
    I8: i8, |raw| i32::from(raw).cast_unsigned();
    U16: u16, |raw| u32::from(raw);
    I16: i16, |raw| i32::from(raw).cast_unsigned();
    U32: u32, |raw| raw;
    I32: i32, |raw| raw.cast_unsigned();
}

floats! {
    F32: |raw: f32| raw;
    Unorm8: |raw: u8| f32::from(raw) / 255.0;
    Unorm16: |raw: u16| f32::from(raw) / 65535.0;
    /// The most negative value reads as -1 too.
    Snorm8: |raw: i8| (f32::from(raw) / 127.0).max(-1.0);
    Snorm16: |raw: i16| (f32::from(raw) / 32767.0).max(-1.0);
}

/// Halves, which processors convert several at once.
pub(super) struct F16;

impl Kind for F16 {
    type Raw = u16;

    #[inline]
    fn word(raw: u16, _: usize) -> u32 {
        f16::from_bits(raw).to_f32().to_bits()
    }

    #[inline]
    fn words<const N: usize>(raw: [u16; N]) -> [u32; N] {
        let mut floats = [0.0; N];
        raw.map(f16::from_bits).convert_to_f32_slice(&mut floats);
        floats.map(f32::to_bits)
    }
}

/// sRGB colours, made linear; the fourth channel is linear already.
pub(super) struct Srgb8;

impl Kind for Srgb8 {
    type Raw = u8;

    #[inline]
    fn word(raw: u8, channel: usize) -> u32 {
        if channel == 3 { Unorm8::word(raw, channel) } else { linear()[usize::from(raw)].to_bits() }
    }
}

/// IEC 61966-2-1: linear light of each of 256 sRGB values.
fn linear() -> &'static [f32; 256] {
    static TABLE: OnceLock<[f32; 256]> = OnceLock::new();
    TABLE.get_or_init(|| {
        std::array::from_fn(|value| {
            let encoded = value as f64 / 255.0;
            let light = if encoded <= 0.04045 {
                encoded / 12.92
            } else {
                ((encoded + 0.055) / 1.055).powf(2.4)
            };
            light as f32
        })
    })
}

/// The words of a texel of `N` channels; those it does not have are 0, 0 and one.
#[inline]
pub(super) fn decode<K: Kind, const N: usize>(raw: [K::Raw; N]) -> [u32; 4] {
    let mut words = [0, 0, 0, K::ONE];
    for (word, known) in words.iter_mut().zip(K::words(raw)) {
        *word = known;
    }
    words
}
