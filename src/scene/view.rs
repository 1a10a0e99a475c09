//! What of a scene is drawn, and how.

use super::{ResourceId, resource::named};
use crate::cuda::Position;

/// A view of a manifest: an index into [`Manifest::views`](super::Manifest::views). The first is shown where nobody
/// asks for another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViewId(pub usize);

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// What commands call it: no other view of the scene has this name.
    pub name: String,
    /// What is drawn, as what.
    pub kind: ViewKind,
    /// How values become colours.
    pub coloring: Coloring,
    /// Where the camera starts; the view's own choice where it says nothing.
    pub camera: Camera,
    /// Where it stands; `None` where the manifest has none and the view was chosen from its resources.
    pub at: Option<Position>,
}

impl View {
    /// The name of a view that is given none.
    pub const DEFAULT_NAME: &'static str = "view";
}

/// What a [`View`] draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ViewKind {
    /// A buffer's elements as points in space.
    Points {
        /// `float2`, `float3` or `float4` (x, y, z).
        position: ResourceId,
        /// A colour, or a value for the colour map, for each point.
        color: Option<ResourceId>,
        /// Diameter in pixels.
        size_px: f32,
        /// Whether points add their light instead of hiding one another.
        additive: bool,
    },
    /// A grid as a picture.
    Image {
        /// Of what.
        grid: Grid,
        /// How it is enlarged.
        filter: super::Filter,
    },
    /// A grid as a lit height field.
    Surface {
        /// Its first components are the heights.
        grid: Grid,
        /// Height of the value 1, where the field is 2 wide.
        height: f32,
    },
    /// A texture as a glowing volume.
    Volume {
        /// Three-dimensional.
        texture: ResourceId,
        /// Optical depth of the value 1 along the width of the volume.
        density: f32,
    },
}

/// Values side by side, in rows of which the first is the lowest: the texels of a flat texture, or as many elements of
/// a buffer or array, from its start on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Whose.
    pub of: ResourceId,
    /// Values in a row, and rows.
    pub size: [u32; 2],
}

impl ViewKind {
    /// Its name in manifests.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Points { .. } => "points",
            Self::Image { .. } => "image",
            Self::Surface { .. } => "surface",
            Self::Volume { .. } => "volume",
        }
    }

    /// The resources that OpenGL must see for it.
    pub fn drawn(&self) -> impl Iterator<Item = ResourceId> + use<> {
        let drawn = match *self {
            Self::Points { position, color, .. } => [Some(position), color],
            Self::Image { grid, .. } | Self::Surface { grid, .. } => [Some(grid.of), None],
            Self::Volume { texture, .. } => [Some(texture), None],
        };
        drawn.into_iter().flatten()
    }
}

/// How values become colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Coloring {
    /// What of an element counts.
    pub by: ColorBy,
    /// A name of [`COLORMAPS`].
    pub colormap: String,
    /// The values at the colour map's ends; `None`: those of the data.
    pub range: Option<[f32; 2]>,
    /// Unit of the values, for the legend; may be empty.
    pub unit: String,
}

named! {
    /// What of an element is turned into a colour.
    ColorBy {
        /// The length of x, y, z (a scalar: its value) through the colour map.
        Magnitude = "magnitude",
        /// x through the colour map.
        X = "x",
        /// y through the colour map.
        Y = "y",
        /// z through the colour map.
        Z = "z",
        /// w through the colour map.
        W = "w",
        /// It is a colour.
        Rgba = "rgba",
    }
}

/// Where an orbit camera starts; `None` leaves it to the view.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Camera {
    /// The point looked at.
    pub target: Option<[f32; 3]>,
    /// Distance from it.
    pub distance: Option<f32>,
    /// Angle round the vertical axis in degrees.
    pub yaw_deg: Option<f32>,
    /// Angle above the horizon in degrees.
    pub pitch_deg: Option<f32>,
    /// Vertical angle of view in degrees.
    pub fov_deg: Option<f32>,
}

/// The colour maps that a view may name.
pub const COLORMAPS: &[&str] =
    &["inferno", "viridis", "magma", "plasma", "cividis", "turbo", "twilight", "gray"];
