//! What B shows, and what shows how it differs from A.

use crate::{
    draw::{Camera, Colormap, Content, Frame, Legend},
    scene::{ResourceId, ViewId, ViewKind},
    session::{Error, Session},
};

impl Session {
    /// What B shows in the view that is called as this one is, after the same step; `None` where there is no B yet, or
    /// it has no such view. Where the manifest leaves ranges and sizes to the data, they are those of A's.
    pub fn other_frame<'a>(&'a self, view: ViewId, camera: &'a Camera) -> Option<Frame<'a>> {
        let (other, id) = self.other_view(view)?;
        let has_range = other.views().get(id.0)?.coloring.range.is_some();
        let mut frame = other.frame(id, camera);
        seen_as(&mut frame.content, &self.frame(view, camera).content, has_range);
        Some(frame)
    }

    /// As [`Session::texel`], of B.
    ///
    /// # Errors
    /// OpenGL's.
    pub fn other_texel(&self, view: ViewId, at: [u32; 2]) -> Result<Option<Vec<f64>>, Error> {
        match self.other_view(view) {
            Some((other, id)) => other.texel(id, at),
            None => Ok(None),
        }
    }

    /// What the colours of |A - B| stand for, where the view shows an image that both have. They reach as far as the
    /// numbers differed when they were compared last, in a round number.
    pub fn difference_legend(&self, view: ViewId) -> Option<Legend> {
        let (other, id) = self.other_view(view)?;
        let _both = (other.image(id)?, self.image(view)?);
        let shown = self.views().get(view.0)?;
        let ViewKind::Image { grid, .. } = shown.kind else { return None };
        let compared = self.compared(grid.of)?;
        let most = compared.last?.most.absolute;
        let most = if most.is_finite() { most } else { 0.0 };
        let title = format!("|A \u{2212} B| of {}", compared.name);
        let range = [0.0, round_up(most) as f32 * self.unit_of(grid.of)];
        Some(Legend {
            title,
            unit: shown.coloring.unit.clone(),
            range,
            colormap: Colormap::Inferno,
            reversed: false,
            logarithmic: false,
        })
    }

    /// B, and its view that is called as this one.
    fn other_view(&self, view: ViewId) -> Option<(&Self, ViewId)> {
        let other =
            &self.variants.companion.as_ref().filter(|companion| companion.is_shown())?.other;
        let name = &self.views().get(view.0)?.name;
        let place = other.views().iter().position(|view| view.name == *name)?;
        Some((other, ViewId(place)))
    }

    fn compared(&self, of: ResourceId) -> Option<&super::Compared> {
        let name = &self.state.resources.iter().nth(of.0)?.name;
        self.variants.companion.as_ref()?.compared(name)
    }
}

/// The next of 1, 2, 5, 10, 20 and so on; 1 for nothing.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    let found = [1.0, 2.0, 5.0].into_iter().map(|part| part * power).find(|round| *round >= value);
    found.unwrap_or(10.0 * power)
}

/// Gives `content` the sizes that `like` has from the data, and its range of colours, unless it has one of its own.
fn seen_as(content: &mut Content<'_>, like: &Content<'_>, has_range: bool) {
    let range = match (&mut *content, like) {
        (Content::Points(own), Content::Points(like)) => {
            own.scale = like.scale;
            Some((&mut own.coloring, like.coloring))
        }
        (Content::Image(own), Content::Image(like)) => Some((&mut own.coloring, like.coloring)),
        (Content::Surface(own), Content::Surface(like)) => Some((&mut own.coloring, like.coloring)),
        (Content::Volume(own), Content::Volume(like)) => Some((&mut own.coloring, like.coloring)),
        (
            Content::Nothing
            | Content::Points(_)
            | Content::Image(_)
            | Content::Surface(_)
            | Content::Volume(_),
            _,
        ) => None,
    };
    if let Some((own, like)) = range.filter(|_| !has_range) {
        own.range = like.range;
    }
}

#[cfg(test)]
mod tests {
    use super::round_up;

    #[test]
    fn scales_are_round_numbers() {
        for (value, round) in [(0.0, 1.0), (1.0, 1.0), (1.1, 2.0), (3.0, 5.0), (7.0, 10.0)] {
            assert!((round_up(value) - round).abs() < 1e-12, "{value}");
            let small = round_up(value * 1e-6);
            assert!(
                value == 0.0 || (small / (round * 1e-6) - 1.0).abs() < 1e-9,
                "{value}: {small}"
            );
        }
    }
}
