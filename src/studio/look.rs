//! How the user looks at a view.

use super::viewpoints::{Side, Switch};
use crate::session::Recoloring;

/// How somebody looks at a view.
#[derive(Clone, Debug, PartialEq)]
pub enum Look {
    /// Turn the camera, by a part of the view's height.
    Orbit([f32; 2]),
    /// Move the camera sideways, by a part of the view's height.
    Pan([f32; 2]),
    /// Come nearer by a factor (more than 1) or go farther.
    Zoom {
        /// How much.
        factor: f32,
        /// Where the pointer is, from -1 at the view's lower left corner to 1 at its upper right one.
        at: [f32; 2],
    },
    /// The camera's first place again, or all of an image.
    Reset,
    /// The camera so that all that is drawn now is in the picture.
    Fit,
    /// The camera on this side of its target.
    From(Side),
    /// The camera on the opposite side.
    FromBehind,
    /// Switch something on or off.
    Switch(Switch),
    /// Show the view that is called so.
    Show(String),
    /// The pointer over the view changed: what kernels get as `mouse`.
    Pointer(Pointer),
    /// Follow the element that is drawn there, from 0 at the view's lower left corner to 1 at its upper right one, or
    /// none where nothing is.
    Pick([f32; 2]),
    /// The same where the pointer is, or in the middle of the view.
    PickHere,
    /// Follow the element with this index of the resource that is followed.
    Follow(u64),
    /// Follow none.
    Unfollow,
    /// Choose the colours.
    Color(Recoloring),
    /// Measure distances from now on, or no more.
    Measure,
    /// Measure no more.
    StopMeasuring,
}

/// The pointer in the view.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pointer {
    /// From 0 at the view's lower left corner to 1 at its upper right one.
    pub position: [f32; 2],
    /// Bit 0 left, bit 1 right, bit 2 middle button.
    pub buttons: u32,
    /// Wheel notches since the last one.
    pub wheel: f32,
    /// Whether it is over the view.
    pub inside: bool,
}
