//! What a session has to show, in the words of [`draw`].

use crate::{
    draw::{Blend, Camera, Cloud, Colormap, Content, Paint, Values},
    scene::{self, ColorBy, ResourceId, ViewKind},
    session::{Session, Snapshot},
};

/// What to draw of the last finished step; `snapshot` is the session's.
pub fn content<'a>(session: &'a Session, snapshot: &Snapshot) -> Content<'a> {
    let Some(view) = session.view() else { return Content::Nothing };
    match view.kind {
        ViewKind::Points { position, color, size_px, additive } => {
            let cloud = cloud(session, snapshot, position);
            let Some(cloud) = cloud else { return Content::Nothing };
            let coloring = &view.coloring;
            Content::Points(Cloud {
                color: color.and_then(|id| values(session, snapshot, id)),
                paint: paint(coloring.by),
                size_px,
                blend: if additive { Blend::Additive } else { Blend::Opaque },
                colormap: Colormap::parse(&coloring.colormap).unwrap_or_default(),
                range: coloring.range.unwrap_or_else(|| match color {
                    Some(id) => range(session.statistics(id), coloring.by),
                    None => [0.0, 1.0],
                }),
                ..cloud
            })
        }
        // The other kinds join `draw` later.
        _ => Content::Nothing,
    }
}

fn cloud<'a>(session: &'a Session, snapshot: &Snapshot, id: ResourceId) -> Option<Cloud<'a>> {
    let (buffer, count) = session.drawn(id)?;
    let position = values(session, snapshot, id)?;
    Some(Cloud { position, ..Cloud::new(buffer, usize::try_from(count).ok()?) })
}

fn values<'a>(session: &'a Session, snapshot: &Snapshot, id: ResourceId) -> Option<Values<'a>> {
    let (buffer, _) = session.drawn(id)?;
    let element = &snapshot.resources.get(id.0)?.element;
    let lanes = element.chars().last().and_then(|c| c.to_digit(10)).unwrap_or(1);
    Some(Values { buffer, components: lanes.clamp(1, 4) as u8 })
}

fn paint(by: ColorBy) -> Paint {
    match by {
        ColorBy::Magnitude => Paint::Magnitude,
        ColorBy::X => Paint::Component(0),
        ColorBy::Y => Paint::Component(1),
        ColorBy::Z => Paint::Component(2),
        ColorBy::W => Paint::Component(3),
        ColorBy::Rgba => Paint::Rgba,
    }
}

/// The colour map's ends where the manifest names none: those of the data, as far as they are known.
fn range(statistics: &[crate::session::Statistics], by: ColorBy) -> [f32; 2] {
    let ends = |at: usize| statistics.get(at).map(|s| [s.min as f32, s.max as f32]);
    let found = match by {
        ColorBy::Magnitude | ColorBy::Rgba => {
            let largest = |s: &crate::session::Statistics| s.min.abs().max(s.max.abs());
            let square: f64 = statistics.iter().take(3).map(|s| largest(s).powi(2)).sum();
            (square > 0.0).then(|| [0.0, square.sqrt() as f32])
        }
        ColorBy::X => ends(0),
        ColorBy::Y => ends(1),
        ColorBy::Z => ends(2),
        ColorBy::W => ends(3),
    };
    found.filter(|[low, high]| low < high && high.is_finite()).unwrap_or([0.0, 1.0])
}

/// Where the camera of `view` starts.
pub fn start_camera(view: &scene::View) -> Camera {
    let mut camera = Camera::default();
    let start = view.camera;
    if let Some(target) = start.target {
        camera.target = target.into();
    }
    camera.distance = start.distance.unwrap_or(camera.distance);
    camera.yaw = start.yaw_deg.map_or(camera.yaw, f32::to_radians);
    camera.pitch = start.pitch_deg.map_or(camera.pitch, f32::to_radians);
    camera.fov = start.fov_deg.map_or(camera.fov, f32::to_radians);
    camera
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Statistics;

    fn statistics(min: f64, max: f64) -> Statistics {
        Statistics { count: 1, min, max, mean: 0.0, nan: 0, inf: 0 }
    }

    #[test]
    fn a_magnitude_starts_at_zero_and_a_component_where_it_starts() {
        let taken = [statistics(-3.0, 1.0), statistics(0.0, 4.0)];
        assert_eq!(range(&taken, ColorBy::Magnitude), [0.0, 5.0]);
        assert_eq!(range(&taken, ColorBy::X), [-3.0, 1.0]);
    }

    #[test]
    fn without_statistics_or_with_equal_values_there_is_still_a_range() {
        assert_eq!(range(&[], ColorBy::Magnitude), [0.0, 1.0]);
        assert_eq!(range(&[statistics(2.0, 2.0)], ColorBy::X), [0.0, 1.0]);
        assert_eq!(range(&[statistics(0.0, f64::INFINITY)], ColorBy::X), [0.0, 1.0]);
    }
}
