//! How the views of a scene are looked at: which one is shown, and from where each.

use std::{
    collections::BTreeMap,
    f32::consts::{FRAC_PI_2, PI},
};

use serde::{Deserialize, Serialize};

use crate::{
    draw::{Camera, Guides, PanZoom, Projection, Recoloring},
    scene::{View, ViewId},
};

/// Views that are remembered although the scene has them no longer: an edit may bring them back.
const MOST_REMEMBERED: usize = 64;

/// Which view is shown, and from where each is seen. Views are known by their names, so that all of it outlives edits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Viewpoints {
    /// The view that the user chose; the first one until then.
    chosen: Option<String>,
    remembered: BTreeMap<String, Viewpoint>,
    /// The view that is shown.
    #[serde(skip)]
    shown: String,
}

/// From where a view is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Viewpoint {
    /// What has depth.
    pub camera: Camera,
    /// Which part of an image.
    pub part: PanZoom,
    /// What stands around what is seen.
    pub shows: Shows,
    /// What of its colours was chosen by hand.
    pub coloring: Recoloring,
    /// Whether the user has moved it. Until then the camera follows its start, which goes by the picture's shape.
    moved: bool,
    /// Where the camera started; another start in the manifest moves it. Unknown of one that was remembered: it stays
    /// where it is.
    #[serde(skip)]
    start: Option<Start>,
}

/// What helps to tell where things are; nothing of it is shown until somebody wants it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shows {
    /// The axes, in a corner.
    pub axes: bool,
    /// A grid with numbers; of an image, rulers.
    pub grid: bool,
    /// What its colours are chosen with.
    #[serde(skip)]
    pub colors: bool,
}

/// What is switched on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// See [`Shows::axes`].
    Axes,
    /// See [`Shows::grid`].
    Grid,
    /// See [`Shows::colors`].
    Colors,
    /// Whether there is no perspective.
    Orthographic,
}

/// A side that something is seen from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// From +z.
    Front,
    /// From -z.
    Back,
    /// From +x.
    Right,
    /// From -x.
    Left,
    /// From +y.
    Top,
    /// From -y.
    Bottom,
}

impl Side {
    /// All, and what they are called.
    pub const ALL: [(Self, &str); 6] = [
        (Self::Front, "Front"),
        (Self::Right, "Right"),
        (Self::Top, "Top"),
        (Self::Back, "Back"),
        (Self::Left, "Left"),
        (Self::Bottom, "Bottom"),
    ];

    /// The side that an axis points to, x being 0, or the opposite one.
    pub fn of_axis(axis: usize, is_opposite: bool) -> Self {
        let [positive, negative] = match axis {
            0 => [Self::Right, Self::Left],
            1 => [Self::Top, Self::Bottom],
            _ => [Self::Front, Self::Back],
        };
        if is_opposite { negative } else { positive }
    }

    /// The camera's yaw and pitch in radians.
    fn angles(self) -> [f32; 2] {
        match self {
            Self::Front => [0.0, 0.0],
            Self::Back => [PI, 0.0],
            Self::Right => [FRAC_PI_2, 0.0],
            Self::Left => [1.5 * PI, 0.0],
            Self::Top => [0.0, FRAC_PI_2],
            Self::Bottom => [0.0, -FRAC_PI_2],
        }
    }
}

impl Viewpoint {
    /// Turns the camera to see the target from a side.
    pub fn see_from(&mut self, side: Side) {
        [self.camera.yaw, self.camera.pitch] = side.angles();
    }

    /// Turns the camera to see the target from the opposite side.
    pub fn see_from_behind(&mut self) {
        self.camera.yaw = (self.camera.yaw + PI).rem_euclid(2.0 * PI);
        self.camera.pitch = -self.camera.pitch;
    }

    /// Whether there is no perspective.
    pub fn is_orthographic(&self) -> bool {
        self.camera.projection == Projection::Orthographic
    }

    /// The axes x, y and z as they are seen (to the right, upwards, towards the eye), and the colour of each in sRGB.
    pub fn axes(&self) -> [([f32; 3], [u8; 3]); 3] {
        let (seen, colors) = (self.camera.seen_axes(), Guides::axis_colors());
        [0, 1, 2].map(|axis| (seen[axis], colors[axis]))
    }

    /// Whether something is switched on.
    pub fn has(&self, switch: Switch) -> bool {
        match switch {
            Switch::Axes => self.shows.axes,
            Switch::Grid => self.shows.grid,
            Switch::Colors => self.shows.colors,
            Switch::Orthographic => self.is_orthographic(),
        }
    }
}

/// Where a camera starts in a picture of some shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// There.
    pub camera: Camera,
    /// The picture's width / height.
    pub aspect: f32,
    /// Whether all that it goes by is known.
    pub is_known: bool,
}

impl Viewpoints {
    /// The one of a state that was kept, without what no view can be seen from.
    pub fn sane(mut self) -> Self {
        self.remembered
            .retain(|_, of| of.camera.is_sound() && of.part.is_sound() && of.coloring.is_sound());
        self
    }

    /// From now on the view that is called so is shown.
    pub fn choose(&mut self, name: String) {
        self.chosen = Some(name);
    }

    /// The view to show of these.
    pub fn view(&self, views: &[View]) -> ViewId {
        let chosen = |name: &String| views.iter().position(|view| view.name == *name);
        ViewId(self.chosen.as_ref().and_then(chosen).unwrap_or(0))
    }

    /// Shows one of the views. Its camera goes to `start` where that is new; but a start that is not known yet moves no
    /// camera that has had one, and a picture of another shape none that the user has moved.
    pub fn show(&mut self, views: &[View], view: ViewId, start: Start) {
        let Some(View { name, .. }) = views.get(view.0) else { return self.shown.clear() };
        self.shown.clone_from(name);
        if self.remembered.len() > MOST_REMEMBERED {
            self.remembered.retain(|name, _| views.iter().any(|view| view.name == *name));
        }
        let fresh = Viewpoint { camera: start.camera, start: Some(start), ..Viewpoint::default() };
        let viewpoint = self.remembered.entry(name.clone()).or_insert(fresh);
        if viewpoint.start.is_none() && !viewpoint.moved {
            viewpoint.camera = start.camera;
        }
        let is_other_wish = viewpoint.start.is_some_and(|old| {
            (old.camera, old.is_known) != (start.camera, start.is_known)
                && old.aspect == start.aspect
        });
        if !start.is_known {
            return;
        }
        if is_other_wish {
            let Viewpoint { part, shows, coloring, .. } = *viewpoint;
            *viewpoint = Viewpoint { part, shows, coloring, ..fresh };
        } else if !viewpoint.moved {
            viewpoint.camera = start.camera;
        }
        viewpoint.start = Some(start);
    }

    /// From where the view that is shown is seen.
    pub fn current(&self) -> Viewpoint {
        self.remembered.get(&self.shown).copied().unwrap_or_default()
    }

    /// The same, to be moved; `None` where no view is shown.
    pub fn moved_by_user(&mut self) -> Option<&mut Viewpoint> {
        let viewpoint = self.remembered.get_mut(&self.shown)?;
        viewpoint.moved = true;
        Some(viewpoint)
    }

    /// Sees the view that is shown as the manifest has it, once that is asked for; what stands around it stays.
    pub fn start_anew(&mut self) {
        if let Some(viewpoint) = self.remembered.get_mut(&self.shown) {
            let Viewpoint { shows, coloring, .. } = *viewpoint;
            *viewpoint = Viewpoint { shows, coloring, ..Viewpoint::default() };
        }
    }

    /// Chooses the colours of the view that is shown.
    pub fn recolor(&mut self, coloring: Recoloring) {
        if let Some(viewpoint) = self.remembered.get_mut(&self.shown) {
            viewpoint.coloring = coloring;
        }
    }

    /// Switches something of the view that is shown.
    pub fn switch(&mut self, switch: Switch) {
        let Some(viewpoint) = self.remembered.get_mut(&self.shown) else { return };
        match switch {
            Switch::Axes => viewpoint.shows.axes ^= true,
            Switch::Grid => viewpoint.shows.grid ^= true,
            Switch::Colors => viewpoint.shows.colors ^= true,
            Switch::Orthographic => {
                viewpoint.moved = true;
                viewpoint.camera.projection = match viewpoint.camera.projection {
                    Projection::Perspective => Projection::Orthographic,
                    Projection::Orthographic => Projection::Perspective,
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Overrides, Scene};

    fn views(names: &[&str]) -> Vec<View> {
        let views: String = names
            .iter()
            .map(|name| {
                format!("[[view]]\nname = \"{name}\"\nkind = \"points\"\nposition = \"p\"\n")
            })
            .collect();
        let buffer = "[buffer.p]\ntype = \"float4\"\ncount = 1";
        let text = format!("/*---\n{buffer}\n{views}---*/");
        Scene::parse("t.cu", &text, &Overrides::default()).expect("good").manifest.views
    }

    /// A start at a distance, in a square picture.
    fn at(distance: f32) -> Start {
        let camera = Camera { distance, ..Camera::default() };
        Start { camera, aspect: 1.0, is_known: true }
    }

    fn unknown(distance: f32) -> Start {
        Start { is_known: false, ..at(distance) }
    }

    #[test]
    fn each_view_has_its_own_camera_and_keeps_it_through_edits() {
        let (mut viewpoints, both) = (Viewpoints::default(), views(&["a", "b"]));
        let show = |viewpoints: &mut Viewpoints, views: &[View], start| {
            let view = viewpoints.view(views);
            viewpoints.show(views, view, at(start));
            viewpoints.current().camera.distance
        };
        assert_eq!(show(&mut viewpoints, &both, 4.0), 4.0);
        viewpoints.moved_by_user().unwrap().camera.distance = 1.0;
        viewpoints.choose("b".into());
        assert_eq!(show(&mut viewpoints, &both, 5.0), 5.0);
        viewpoints.moved_by_user().unwrap().camera.distance = 2.0;
        viewpoints.choose("a".into());
        assert_eq!(show(&mut viewpoints, &both, 4.0), 1.0);
        // It is gone for the time of an edit, and `b` is shown.
        assert_eq!(show(&mut viewpoints, &views(&["b"]), 5.0), 2.0);
        assert_eq!(show(&mut viewpoints, &views(&["b", "a"]), 4.0), 1.0);
        assert_eq!(show(&mut viewpoints, &both, 3.0), 3.0, "the manifest has moved it");
        viewpoints.moved_by_user().unwrap().camera.distance = 1.0;
        viewpoints.start_anew();
        assert_eq!(show(&mut viewpoints, &both, 3.0), 3.0);
        viewpoints.show(&[], ViewId(0), at(9.0));
        assert!(viewpoints.moved_by_user().is_none());
    }

    #[test]
    fn what_is_remembered_stays_and_a_start_that_is_not_known_moves_nothing() {
        let (mut viewpoints, one) = (Viewpoints::default(), views(&["a"]));
        viewpoints.show(&one, ViewId(0), unknown(4.3));
        viewpoints.show(&one, ViewId(0), at(8.0));
        assert_eq!(viewpoints.current().camera.distance, 8.0);
        viewpoints.show(&one, ViewId(0), unknown(4.3));
        assert_eq!(viewpoints.current().camera.distance, 8.0, "the scene starts anew");
        viewpoints.moved_by_user().unwrap().camera.distance = 1.0;
        let kept = serde_json::to_string(&viewpoints).unwrap();
        let mut viewpoints = serde_json::from_str::<Viewpoints>(&kept).unwrap().sane();
        viewpoints.show(&one, ViewId(0), unknown(4.3));
        viewpoints.show(&one, ViewId(0), at(7.0));
        assert_eq!(viewpoints.current().camera.distance, 1.0);
        viewpoints.show(&one, ViewId(0), at(6.0));
        assert_eq!(viewpoints.current().camera.distance, 6.0);
        let damaged = kept.replace("\"distance\":1.0", "\"distance\":-1.0");
        assert_ne!(damaged, kept);
        let viewpoints = serde_json::from_str::<Viewpoints>(&damaged).unwrap().sane();
        assert!(viewpoints.remembered.is_empty());
    }

    #[test]
    fn a_camera_follows_the_shape_of_the_picture_until_it_is_moved() {
        let (mut viewpoints, one) = (Viewpoints::default(), views(&["a"]));
        let wide = |distance| Start { aspect: 2.0, ..at(distance) };
        viewpoints.show(&one, ViewId(0), at(4.0));
        viewpoints.show(&one, ViewId(0), wide(3.0));
        assert_eq!(viewpoints.current().camera.distance, 3.0);
        viewpoints.moved_by_user().unwrap().camera.distance = 1.0;
        viewpoints.show(&one, ViewId(0), at(4.0));
        assert_eq!(viewpoints.current().camera.distance, 1.0);
        viewpoints.show(&one, ViewId(0), at(5.0));
        assert_eq!(viewpoints.current().camera.distance, 5.0, "the manifest has moved it");
    }

    #[test]
    fn what_stands_around_a_view_stays_when_its_camera_starts_anew() {
        let (mut viewpoints, one) = (Viewpoints::default(), views(&["a"]));
        viewpoints.show(&one, ViewId(0), at(4.0));
        viewpoints.switch(Switch::Grid);
        viewpoints.show(&one, ViewId(0), at(3.0));
        let has = |of: &Viewpoints, switch| of.current().has(switch);
        assert_eq!(viewpoints.current().camera.distance, 3.0, "nobody has moved it");
        viewpoints.switch(Switch::Orthographic);
        viewpoints.show(&one, ViewId(0), at(3.0));
        assert!(has(&viewpoints, Switch::Orthographic) && has(&viewpoints, Switch::Grid));
        let kept = serde_json::to_string(&viewpoints).unwrap();
        let mut kept = serde_json::from_str::<Viewpoints>(&kept).unwrap().sane();
        kept.show(&one, ViewId(0), at(3.0));
        assert!(has(&kept, Switch::Orthographic) && has(&kept, Switch::Grid));
        viewpoints.start_anew();
        viewpoints.show(&one, ViewId(0), at(3.0));
        assert!(!has(&viewpoints, Switch::Orthographic) && has(&viewpoints, Switch::Grid));
        viewpoints.switch(Switch::Grid);
        viewpoints.switch(Switch::Axes);
        assert!(!has(&viewpoints, Switch::Grid) && has(&viewpoints, Switch::Axes));
    }

    #[test]
    fn a_side_is_where_its_axis_points() {
        let mut seen = Viewpoint::default();
        for axis in 0..3 {
            for is_opposite in [false, true] {
                seen.see_from(Side::of_axis(axis, is_opposite));
                let sign = if is_opposite { -1.0 } else { 1.0 };
                // Towards the eye.
                let [.., back] = seen.camera.seen_axes()[axis];
                assert!((back - sign).abs() < 1.0e-6, "{axis} {is_opposite}: {back}");
                seen.see_from_behind();
                let [.., back] = seen.camera.seen_axes()[axis];
                assert!((back + sign).abs() < 1.0e-6, "{axis} {is_opposite}: {back}");
            }
        }
    }

    #[test]
    fn what_is_remembered_has_a_limit() {
        let mut viewpoints = Viewpoints::default();
        for index in 0..200 {
            viewpoints.show(&views(&[&format!("v{index}")]), ViewId(0), at(1.0));
        }
        assert!(viewpoints.remembered.len() <= MOST_REMEMBERED + 1);
    }
}
