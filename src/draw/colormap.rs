//! Colour maps: from a scalar in [0, 1] to a colour.

use serde::{Deserialize, Serialize};

use crate::gl;

/// A colour map. All but [`Turbo`](Self::Turbo) are perceptually uniform: equal steps of the scalar look
/// equally far apart, for most colour-blind people too.
///
/// Data: inferno, viridis, magma and plasma by N. J. Smith, S. van der Walt and E. Firing (CC0,
/// <https://bids.github.io/colormap/>); cividis by J. R. Nuñez, C. R. Anderton and R. S. Renslow (PLoS ONE
/// 13(7), 2018); turbo by A. Mikhailov (Google, 2019); twilight by B. Bechtold (CC0). Each is kept as 33
/// points of the published 256 (twilight: 510).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Colormap {
    /// Black, purple, orange, pale yellow.
    #[default]
    Inferno,
    /// Dark violet, green, yellow.
    Viridis,
    /// Black, purple, pink, cream.
    Magma,
    /// Blue, magenta, yellow.
    Plasma,
    /// Blue to yellow, the same to colour-blind eyes.
    Cividis,
    /// A rainbow without its false edges; for reading values, not shapes.
    Turbo,
    /// White, blue, black, red, white: for angles and phases.
    Twilight,
    /// Black to white, even in lightness.
    Gray,
}

impl Colormap {
    /// All of them, in the order of a menu.
    pub const ALL: [Self; 8] = [
        Self::Inferno,
        Self::Viridis,
        Self::Magma,
        Self::Plasma,
        Self::Cividis,
        Self::Turbo,
        Self::Twilight,
        Self::Gray,
    ];

    /// Its name in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inferno => "inferno",
            Self::Viridis => "viridis",
            Self::Magma => "magma",
            Self::Plasma => "plasma",
            Self::Cividis => "cividis",
            Self::Turbo => "turbo",
            Self::Twilight => "twilight",
            Self::Gray => "gray",
        }
    }

    /// The colour map of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|map| map.name() == name)
    }

    /// The sRGB colour of what is not a number, which no map has.
    pub const NAN: [f32; 3] = [1.0, 0.0, 1.0];

    /// The sRGB colour of a scalar; below 0 as 0, above 1 as 1, NaN as [`NAN`](Self::NAN).
    pub fn srgb(self, scalar: f32) -> [f32; 3] {
        if scalar.is_nan() {
            return Self::NAN;
        }
        let table = self.table();
        let last = table.len() - 1;
        let place = scalar.clamp(0.0, 1.0) * last as f32;
        let below = (place as usize).min(last - 1);
        let [low, high] = [below, below + 1].map(|i| channels(table[i]));
        std::array::from_fn(|c| low[c] + (high[c] - low[c]) * (place - below as f32))
    }

    /// [`srgb`](Self::srgb) in bytes.
    pub fn srgb8(self, scalar: f32) -> [u8; 3] {
        self.srgb(scalar).map(|channel| (channel * 255.0).round() as u8)
    }

    /// The colour of a scalar in linear light.
    pub fn linear(self, scalar: f32) -> [f32; 3] {
        self.srgb(scalar).map(to_linear)
    }

    /// A texture of 256 x 1 sRGB colours: a scalar's is texel `scalar * 255 + 0.5`.
    ///
    /// # Errors
    /// What [`gl::Texture::new`] returns.
    pub fn texture(self, gl: &gl::Gl) -> gl::Result<gl::Texture> {
        let texture = gl::Texture::new(gl, gl::Format::Rgba8, gl::Size::Flat([256, 1]))?;
        let texel = |i: u8| {
            let [r, g, b] = self.srgb8(f32::from(i) / 255.0);
            [r, g, b, u8::MAX]
        };
        let texels: Vec<_> = (0..=255).map(texel).collect();
        texture.write(texels.as_flattened())?;
        Ok(texture)
    }

    fn table(self) -> &'static [u32] {
        match self {
            Self::Inferno => &INFERNO,
            Self::Viridis => &VIRIDIS,
            Self::Magma => &MAGMA,
            Self::Plasma => &PLASMA,
            Self::Cividis => &CIVIDIS,
            Self::Turbo => &TURBO,
            Self::Twilight => &TWILIGHT,
            // sRGB's own curve is close to even in lightness.
            Self::Gray => &[0x00_0000, 0xff_ffff],
        }
    }
}

impl std::fmt::Display for Colormap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

fn channels(color: u32) -> [f32; 3] {
    let [_, r, g, b] = color.to_be_bytes();
    [r, g, b].map(|channel| f32::from(channel) / 255.0)
}

/// IEC 61966-2-1.
fn to_linear(srgb: f32) -> f32 {
    if srgb <= 0.04045 { srgb / 12.92 } else { ((srgb + 0.055) / 1.055).powf(2.4) }
}

/// sRGB colours at equal distances.
type Table = [u32; 33];

#[rustfmt::skip]
const INFERNO: Table = [
    0x000004, 0x040312, 0x0b0724, 0x150b37, 0x210c4a, 0x2e0a5a, 0x3c0965, 0x4a0c6b, 0x57106d,
    0x63146e, 0x70196e, 0x7d1e6d, 0x89226a, 0x962766, 0xa32b61, 0xaf315c, 0xbb3755, 0xc63e4d,
    0xd14644, 0xdb4f3b, 0xe35932, 0xeb6528, 0xf1711e, 0xf67f14, 0xf98d0a, 0xfb9c06, 0xfcab0f,
    0xfbba1f, 0xf9ca32, 0xf5d949, 0xf2e865, 0xf3f586, 0xfcffa4,
];

#[rustfmt::skip]
const VIRIDIS: Table = [
    0x440154, 0x470d60, 0x48186a, 0x482374, 0x472d7b, 0x453681, 0x424086, 0x3f4989, 0x3b528b,
    0x375a8d, 0x33638d, 0x2f6a8e, 0x2c728e, 0x297a8e, 0x26818e, 0x23898e, 0x21908c, 0x1f988b,
    0x1f9f88, 0x21a685, 0x28ae80, 0x31b57b, 0x3ebc74, 0x4cc26c, 0x5dc963, 0x6ece58, 0x82d34c,
    0x96d83f, 0xabdc32, 0xc0df24, 0xd5e21a, 0xeae51a, 0xfde725,
];

#[rustfmt::skip]
const MAGMA: Table = [
    0x000004, 0x030311, 0x0a0822, 0x130d33, 0x1d1146, 0x28115a, 0x36106a, 0x430f76, 0x50127c,
    0x5d177f, 0x691c81, 0x762181, 0x822681, 0x8f2a81, 0x9c2e7f, 0xa9327d, 0xb63779, 0xc33b75,
    0xcf4170, 0xdb486a, 0xe65163, 0xee5c5e, 0xf5695c, 0xf9785d, 0xfb8761, 0xfd9668, 0xfea571,
    0xfeb47b, 0xfec387, 0xfed194, 0xfde0a2, 0xfceeb0, 0xfcfdbf,
];

#[rustfmt::skip]
const PLASMA: Table = [
    0x0d0887, 0x220690, 0x310596, 0x3f049c, 0x4c02a1, 0x5901a5, 0x6600a7, 0x7201a8, 0x7e03a8,
    0x8909a6, 0x9511a2, 0x9f1a9c, 0xa92396, 0xb22c8e, 0xbb3587, 0xc33e80, 0xcb4778, 0xd25071,
    0xd9596a, 0xe06263, 0xe66c5c, 0xeb7555, 0xf07f4f, 0xf48a48, 0xf89441, 0xfb9f3a, 0xfdab33,
    0xfeb72d, 0xfdc328, 0xfcd025, 0xf9dd25, 0xf5eb27, 0xf0f921,
];

#[rustfmt::skip]
const CIVIDIS: Table = [
    0x00224e, 0x00285b, 0x002e6a, 0x043371, 0x1a386f, 0x273e6e, 0x32436d, 0x3b496c, 0x434e6c,
    0x4b546c, 0x52596d, 0x5a5f6e, 0x61656f, 0x686a71, 0x6f7073, 0x757676, 0x7c7b78, 0x848179,
    0x8b8778, 0x938d78, 0x9b9376, 0xa39a75, 0xaba072, 0xb3a670, 0xbbad6c, 0xc3b469, 0xccba64,
    0xd4c15f, 0xddc958, 0xe6d051, 0xefd748, 0xf8df3c, 0xfee838,
];

#[rustfmt::skip]
const TURBO: Table = [
    0x30123b, 0x392a73, 0x4040a1, 0x4456c7, 0x466be3, 0x467ff6, 0x4293ff, 0x37a7fa, 0x29bbec,
    0x1dcdd8, 0x18dcc3, 0x1ee8b0, 0x31f299, 0x4cf97e, 0x6bfd64, 0x8aff4d, 0xa3fd3c, 0xb8f735,
    0xcced34, 0xdee037, 0xedd03a, 0xf8c03a, 0xfdae35, 0xfe982c, 0xfb8022, 0xf56817, 0xec520f,
    0xe04009, 0xd23105, 0xc02302, 0xac1701, 0x950d01, 0x7a0403,
];

#[rustfmt::skip]
const TWILIGHT: Table = [
    0xe2d9e2, 0xd6d7dd, 0xc3ced4, 0xabc2cc, 0x94b4c7, 0x81a6c3, 0x7297c1, 0x6886be, 0x6275ba,
    0x5f63b5, 0x5e51ad, 0x5d3da1, 0x592a8f, 0x521b77, 0x45135c, 0x381146, 0x2f1437, 0x3a113a,
    0x4b1342, 0x5f174a, 0x741e4f, 0x872750, 0x983550, 0xa64550, 0xb25652, 0xbb6858, 0xc27c62,
    0xc78f72, 0xcca388, 0xd1b5a2, 0xd8c6bd, 0xded3d5, 0xe2d9e2,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_know_the_same_names() {
        let names = Colormap::ALL.map(Colormap::name);
        assert_eq!(names.as_slice(), crate::scene::COLORMAPS);
    }

    /// Entries of the published tables (matplotlib 3.11's `_cm_listed.py`), mostly between our 33 points.
    #[rustfmt::skip]
    const PUBLISHED: [(Colormap, [(f32, u32); 7]); 7] = [
        (Colormap::Inferno, [(0.0 / 255.0, 0x000004), (37.0 / 255.0, 0x290b55), (101.0 / 255.0, 0x922568), (127.0 / 255.0, 0xba3655), (190.0 / 255.0, 0xf98b0b), (229.0 / 255.0, 0xf6d543), (1.0, 0xfcffa4)]),
        (Colormap::Viridis, [(0.0 / 255.0, 0x440154), (37.0 / 255.0, 0x46337f), (101.0 / 255.0, 0x2a778e), (127.0 / 255.0, 0x21908d), (190.0 / 255.0, 0x5ac864), (229.0 / 255.0, 0xbade28), (1.0, 0xfde725)]),
        (Colormap::Magma, [(0.0 / 255.0, 0x000004), (37.0 / 255.0, 0x241253), (101.0 / 255.0, 0x8b2981), (127.0 / 255.0, 0xb5367a), (190.0 / 255.0, 0xfb8560), (229.0 / 255.0, 0xfecd90), (1.0, 0xfcfdbf)]),
        (Colormap::Plasma, [(0.0 / 255.0, 0x0d0887), (37.0 / 255.0, 0x5502a4), (101.0 / 255.0, 0xb02991), (127.0 / 255.0, 0xcb4679), (190.0 / 255.0, 0xf79342), (229.0 / 255.0, 0xfccd25), (1.0, 0xf0f921)]),
        (Colormap::Cividis, [(0.0 / 255.0, 0x00224e), (37.0 / 255.0, 0x233c6e), (101.0 / 255.0, 0x656870), (127.0 / 255.0, 0x7c7b78), (190.0 / 255.0, 0xbaac6d), (229.0 / 255.0, 0xe4ce53), (1.0, 0xfee838)]),
        (Colormap::Turbo, [(0.0 / 255.0, 0x30123b), (37.0 / 255.0, 0x4778f0), (101.0 / 255.0, 0x43f787), (127.0 / 255.0, 0xa1fd3d), (190.0 / 255.0, 0xfc8423), (229.0 / 255.0, 0xc52603), (1.0, 0x7a0403)]),
        (Colormap::Twilight, [(0.0 / 509.0, 0xe2d9e2), (74.0 / 509.0, 0x87abc4), (202.0 / 509.0, 0x551f7f), (254.0 / 509.0, 0x301437), (379.0 / 509.0, 0xb05351), (457.0 / 509.0, 0xd0b09b), (1.0, 0xe2d9e2)]),
    ];

    #[test]
    fn colours_are_the_published_ones() {
        for (map, entries) in PUBLISHED {
            // Cividis has a kink near its dark end, which 33 points round off.
            let tolerance = if map == Colormap::Cividis { 6 } else { 3 };
            for (scalar, published) in entries {
                let [_, published @ ..] = published.to_be_bytes();
                let ours = map.srgb8(scalar);
                let off = ours.iter().zip(published).map(|(a, b)| a.abs_diff(b)).max().unwrap();
                assert!(off <= tolerance, "{map} at {scalar}: {ours:?}, published {published:?}");
            }
        }
    }

    #[test]
    fn names_parse_back() {
        for map in Colormap::ALL {
            assert_eq!(Colormap::parse(map.name()), Some(map));
            assert_eq!(serde_json::to_string(&map).unwrap(), format!("\"{map}\""));
        }
        assert_eq!(Colormap::parse("Inferno"), None);
    }

    #[test]
    fn scalars_outside_are_the_ends() {
        for map in Colormap::ALL {
            assert_eq!(map.srgb(-1.0), map.srgb(0.0));
            assert_eq!(map.srgb(f32::NEG_INFINITY), map.srgb(0.0));
            assert_eq!(map.srgb(f32::INFINITY), map.srgb(1.0));
            assert_eq!(map.srgb(f32::NAN), Colormap::NAN);
        }
    }

    /// CIE lightness grows all along the sequential maps: what "perceptually uniform" rests on.
    #[test]
    fn lightness_rises() {
        for map in [
            Colormap::Inferno,
            Colormap::Viridis,
            Colormap::Magma,
            Colormap::Plasma,
            Colormap::Cividis,
            Colormap::Gray,
        ] {
            let lightness = |i: i32| {
                let [r, g, b] = map.linear(i as f32 / 64.0);
                0.2126 * r + 0.7152 * g + 0.0722 * b
            };
            assert!((0..64).all(|i| lightness(i) < lightness(i + 1)), "{map}");
        }
    }
}
