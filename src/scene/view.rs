//! What of a scene is drawn, and how.

use super::{ResourceId, resource::named};
use crate::cuda::Position;

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// What is drawn, as what.
    pub kind: ViewKind,
    /// How values become colours.
    pub coloring: Coloring,
    /// Where the camera starts; the view's own choice where it says nothing.
    pub camera: Camera,
    /// Where `[view]` is; `None` where the manifest has none and the view was chosen from its resources.
    pub at: Option<Position>,
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
    /// A texture as a picture.
    Image {
        /// Two-dimensional.
        texture: ResourceId,
        /// How it is enlarged.
        filter: super::Filter,
    },
    /// A texture as a lit height field.
    Surface {
        /// Two-dimensional; the first channel is the height.
        texture: ResourceId,
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
