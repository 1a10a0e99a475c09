//! What a scene keeps from step to step: buffers, arrays and textures.

use std::fmt;

use super::{Content, Element, Initial, Scalar, Type, named::named};
use crate::cuda::Position;

/// A resource of a manifest: an index into [`Manifest::resources`](super::Manifest::resources).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(pub usize);

/// A buffer, an array or a texture.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// The name that kernels use.
    pub name: String,
    /// What it is.
    pub kind: ResourceKind,
    /// Whether OpenGL sees it: every buffer, and an array or texture that the view draws.
    pub shared: bool,
    /// What it holds at the start; `None`: zeros.
    pub initial: Option<Initial>,
    /// What it was called before an edit.
    pub was: Option<String>,
    /// Whether what it held goes on in another layout after an edit.
    pub keep: bool,
    /// Where it is declared.
    pub at: Position,
}

/// What a [`Resource`] is.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourceKind {
    /// An OpenGL buffer object that kernels see as a pointer.
    Buffer(Elements),
    /// Device memory that kernels see as a pointer.
    Array(Elements),
    /// Texels that kernels see as a surface or texture object, and OpenGL as a texture.
    Texture(Texels),
}

/// Elements one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Type of each. Where the fields of a structure lie is known when the source has been compiled; up to then each
    /// lies behind the one before.
    pub of: Type,
    /// How many; at least 1.
    pub count: u64,
    /// Whether kernels see two of it: the last one, and `<name>_next`, which is being written.
    pub double: bool,
}

/// A texture's declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texels {
    /// What a texel is.
    pub format: Format,
    /// Width, height and depth in texels; 1 along the axes that it does not have.
    pub size: [u32; 3],
    /// 2 or 3.
    pub dimensions: u8,
    /// Whether kernels see two of it: the last one, and `<name>_next`, which is being written.
    pub double: bool,
    /// How texture objects read between texels.
    pub filter: Filter,
    /// How texture objects read outside.
    pub wrap: Wrap,
    /// Whether texture objects take coordinates in [0, 1) instead of texels.
    pub normalized: bool,
    /// Whether an edit of the size stretches what it holds; else each texel stays at its place.
    pub resample: bool,
}

/// Beyond this no device follows: 1 TiB.
pub(super) const MOST_BYTES: u64 = 1 << 40;

impl Resource {
    /// What is wrong with a resource of this size, if anything.
    pub(super) fn too_many_bytes(&self) -> Option<String> {
        let elements: u128 = self.extent().into_iter().map(u128::from).product();
        let bytes = elements.saturating_mul(self.of().bytes() as u128);
        let size = bytes as f64 / f64::from(1 << 30);
        let is_too_large = bytes > u128::from(MOST_BYTES);
        is_too_large.then(|| format!("takes {size:.0} GiB; more than 1024 GiB is surely a mistake"))
    }

    /// The type of its elements or texels.
    pub fn of(&self) -> Type {
        match &self.kind {
            ResourceKind::Buffer(elements) | ResourceKind::Array(elements) => elements.of.clone(),
            ResourceKind::Texture(texture) => texture.format.element().into(),
        }
    }

    /// The type of its elements or texels, where that is no structure.
    pub fn element(&self) -> Option<Element> {
        self.of().element()
    }

    /// Elements or texels (of one of its halves where it is double).
    pub fn count(&self) -> u64 {
        self.extent().into_iter().product()
    }

    /// Width, height and depth; a buffer is as wide as it has elements.
    pub fn extent(&self) -> [u64; 3] {
        match &self.kind {
            ResourceKind::Buffer(elements) | ResourceKind::Array(elements) => {
                [elements.count, 1, 1]
            }
            ResourceKind::Texture(texture) => texture.size.map(u64::from),
        }
    }

    /// Its size in bytes (of one of its halves where it is double).
    pub fn bytes(&self) -> u64 {
        self.count().saturating_mul(self.of().bytes() as u64)
    }

    /// The texture, where it is one.
    pub fn texture(&self) -> Option<&Texels> {
        match &self.kind {
            ResourceKind::Texture(texture) => Some(texture),
            ResourceKind::Buffer(_) | ResourceKind::Array(_) => None,
        }
    }

    /// Whether kernels see two of it: the last one, and `<name>_next`, which is being written.
    pub fn double(&self) -> bool {
        match &self.kind {
            ResourceKind::Buffer(elements) | ResourceKind::Array(elements) => elements.double,
            ResourceKind::Texture(texture) => texture.double,
        }
    }

    /// Whether its contents can be kept when `newer` takes its place: same kind of thing, type and size.
    ///
    /// How a texture is sampled may differ, and so may whether OpenGL draws it.
    pub fn keeps_contents(&self, newer: &Self) -> bool {
        if self.double() != newer.double() {
            return false;
        }
        match (self.texture(), newer.texture()) {
            (Some(old), Some(new)) => {
                (old.format, old.size, old.dimensions) == (new.format, new.size, new.dimensions)
            }
            (None, None) => self.of() == newer.of() && self.count() == newer.count(),
            _ => false,
        }
    }

    /// Whether it is declared to begin with what `newer` begins with, as far as both lie in memory alike. A file has
    /// other data where it fits another extent.
    pub(crate) fn begins_as(&self, newer: &Self) -> bool {
        match (&self.initial, &newer.initial) {
            (None, None) => true,
            (Some(own), Some(other)) => {
                let is_file = matches!(own.content, Content::File { .. });
                let fits = !is_file || self.extent() == newer.extent();
                fits && own.content.declares_as(&other.content)
            }
            (None, Some(_)) | (Some(_), None) => false,
        }
    }
}

impl fmt::Display for Resource {
    /// As in `buffer position (262144 float4)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match &self.kind {
            ResourceKind::Buffer(of) => write!(f, "buffer {name} ({} {})", of.count, of.of),
            ResourceKind::Array(of) => write!(f, "array {name} ({} {})", of.count, of.of),
            ResourceKind::Texture(of) => {
                let [w, h, d] = of.size;
                write!(f, "texture {name} ({w}")?;
                for side in [h, d].iter().take(usize::from(of.dimensions).saturating_sub(1)) {
                    write!(f, "x{side}")?;
                }
                write!(f, " {})", of.format.name())
            }
        }
    }
}

named! {
    /// A texel format.
    Format {
        /// Four 8-bit channels, 0 to 255 read as 0 to 1.
        Rgba8 = "rgba8",
        /// Four half-precision channels.
        Rgba16f = "rgba16f",
        /// Four single-precision channels.
        Rgba32f = "rgba32f",
        /// Two single-precision channels.
        Rg32f = "rg32f",
        /// One single-precision channel.
        R32f = "r32f",
    }
}

impl Format {
    /// A texel as kernels load and store it through a surface.
    pub const fn element(self) -> Element {
        match self {
            Self::Rgba8 => Element::vector(Scalar::U8, 4),
            Self::Rgba16f => Element::vector(Scalar::F16, 4),
            Self::Rgba32f => Element::vector(Scalar::F32, 4),
            Self::Rg32f => Element::vector(Scalar::F32, 2),
            Self::R32f => Element::scalar(Scalar::F32),
        }
    }
}

named! {
    /// How a texture object reads between texels.
    Filter {
        /// The texel that the point lies in.
        Nearest = "nearest",
        /// Interpolated between the nearest texels.
        Linear = "linear",
    }
}

named! {
    /// How a texture object reads outside the texture.
    Wrap {
        /// The nearest texel of the edge.
        Clamp = "clamp",
        /// As if it were tiled.
        Repeat = "repeat",
        /// As if it were tiled, every other tile mirrored.
        Mirror = "mirror",
    }
}
