//! What a pane shows of a view.

use super::{followed::Followed, reel::Progress, viewpoints::Viewpoint};
use crate::{
    scene::ViewId,
    session::{Legend, Spread},
};

/// What a pane shows of a view.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The view.
    pub view: ViewId,
    /// What an image has under the pointer.
    pub probe: Option<Probe>,
    /// Whether B has a picture, too.
    pub has_other: bool,
    /// What the colours of the picture of differences stand for.
    pub difference: Option<Legend>,
    /// From where it is seen, and what is shown around it.
    pub viewpoint: Viewpoint,
    /// How far its recording is, where it is recorded.
    pub recording: Option<Progress>,
    /// The element that is followed in it.
    pub marked: Option<Marked>,
    /// What its colours stand for, as they are.
    pub legend: Option<Legend>,
    /// How the values are spread that it colours, while their colours are chosen.
    pub spread: Option<Spread>,
    /// What is measured in it.
    pub measured: Option<Measured>,
}

/// A distance that is measured in a view.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Its ends so far, from 0 at the picture's lower left corner to 1 at its upper right one; `None` behind the eye.
    pub ends: Vec<Option<[f32; 2]>>,
    /// How long it is, once there are both.
    pub told: String,
}

/// An element that is followed in a view.
#[derive(Clone, Debug)]
pub struct Marked {
    /// What is known of it.
    pub followed: Followed,
    /// Where it is drawn, from 0 at the picture's lower left corner to 1 at its upper right one; `None` where it is
    /// not.
    pub at: Option<[f32; 2]>,
}

/// What an image has under the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Column and row of the texel; row 0 is the lowest one.
    pub texel: [u32; 2],
    /// Its components as they are stored.
    pub values: Vec<f64>,
    /// Those of B, where two are compared.
    pub other: Option<Vec<f64>>,
}
