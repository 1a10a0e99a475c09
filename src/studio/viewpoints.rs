//! How the views of a scene are looked at: which one is shown, and from where each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    draw::{Camera, PanZoom},
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
    /// Whether the user has moved it. Until then the camera follows its start, which goes by the picture's shape.
    moved: bool,
    /// Where the camera started; another start in the manifest moves it. Unknown of one that was remembered: it stays
    /// where it is.
    #[serde(skip)]
    start: Option<Start>,
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
            .retain(|_, viewpoint| viewpoint.camera.is_sound() && viewpoint.part.is_sound());
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
        let is_other_wish = viewpoint.start.is_some_and(|old| {
            (old.camera, old.is_known) != (start.camera, start.is_known)
                && old.aspect == start.aspect
        });
        if !start.is_known {
            return;
        }
        if is_other_wish {
            *viewpoint = Viewpoint { part: viewpoint.part, ..fresh };
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

    /// Sees the view that is shown as the manifest has it.
    pub fn start_anew(&mut self) {
        self.remembered.remove(&self.shown);
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
    fn what_is_remembered_has_a_limit() {
        let mut viewpoints = Viewpoints::default();
        for index in 0..200 {
            viewpoints.show(&views(&[&format!("v{index}")]), ViewId(0), at(1.0));
        }
        assert!(viewpoints.remembered.len() <= MOST_REMEMBERED + 1);
    }
}
