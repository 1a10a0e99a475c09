//! What of a scene is drawn, and how.

use super::{ResourceId, Selection, named::named};
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
    /// Elements of buffers and arrays as points in space.
    Points {
        /// Where they are.
        position: Coordinates,
        /// A colour, or a value for the colour map, for each point.
        color: Option<Selection>,
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

/// Where points are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinates {
    /// `float2`, `float3` or `float4` (x, y, z).
    Vector(Selection),
    /// x, y and z, each a `float`; the last may be missing.
    Axes([Option<Selection>; 3]),
}

impl Coordinates {
    /// What they consist of.
    pub fn selections(self) -> impl Iterator<Item = Selection> {
        let selections = match self {
            Self::Vector(vector) => [Some(vector), None, None],
            Self::Axes(axes) => axes,
        };
        selections.into_iter().flatten()
    }
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
        let (points, grid) = match *self {
            Self::Points { position, color, .. } => {
                (Some(position.selections().chain(color).map(|selection| selection.of)), None)
            }
            Self::Image { grid, .. } | Self::Surface { grid, .. } => (None, Some(grid.of)),
            Self::Volume { texture, .. } => (None, Some(texture)),
        };
        points.into_iter().flatten().chain(grid)
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
    /// Whether the colour map is gone through from its end.
    pub reversed: bool,
    /// Whether colours follow the logarithms of the values.
    pub logarithmic: bool,
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
    /// Two corners of a box that is to be seen whole.
    pub fit: Option<[[f32; 3]; 2]>,
    /// Vertical angle of view in degrees.
    pub fov_deg: Option<f32>,
    /// How depth is seen.
    pub projection: Option<Projection>,
}

named! {
    /// How depth is seen.
    Projection {
        /// What is farther away is smaller.
        Perspective = "perspective",
        /// Everything has the size that it has at the camera's target in perspective.
        Orthographic = "orthographic",
    }
}

/// The colour maps that a view may name.
pub const COLORMAPS: &[&str] =
    &["inferno", "viridis", "magma", "plasma", "cividis", "turbo", "twilight", "gray"];
