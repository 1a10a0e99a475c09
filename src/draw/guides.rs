//! Guides: a grid with numbers in a box around what has depth, rulers along the edges of an image.

use epaint::{
    Color32, FontId, Pos2, Rect, Shape, Stroke, Vec2, emath::Align2, text::FontsView, vec2,
};
use glam::{Mat4, Vec3, Vec4};

use super::{Bounds, Camera, PanZoom, ticks};

/// What shows where things are and how large.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Guides {
    /// A grid on those sides of a box around `bounds` that are behind what is in it.
    Grid(Bounds),
    /// Rulers along an image of so many texels: columns from the left and rows from the bottom, from 0.
    Rulers([u32; 2]),
}

/// The longest side of a box has so many cells at most, more or less.
const MOST_CELLS: f64 = 5.0;
/// A side of the box that is seen shorter, in points, has no numbers.
const SHORTEST: f32 = 40.0;
/// From an edge to its numbers, and on to the name of its axis, in points.
const ASIDE: f32 = 16.0;
const BEYOND: f32 = 26.0;
/// Numbers are so far within the picture, and beside the line that they are of where that comes into it.
const INSIDE: f32 = 14.0;
const BESIDE_LINE: Vec2 = vec2(12.0, -9.0);
/// Points between the numbers of a ruler, at least.
const APART: f32 = 64.0;
/// How wide rulers are, above and at the left, in points.
const ABOVE: f32 = 18.0;
const BESIDE: f32 = 38.0;
const TICK: f32 = 4.0;
const FONT: f32 = 11.0;

const LINE: Color32 = Color32::from_rgb(0x9a, 0xa4, 0xb8);
const NUMBER: Color32 = Color32::from_rgb(0x9a, 0xa2, 0xb2);
const GROUND: Color32 = Color32::from_rgb(0x13, 0x15, 0x1b);
/// How much lines within the grid and at its borders cover, and the ground of rulers.
const FAINT: f32 = 0.16;
const CLEAR: f32 = 0.4;
const VEIL: f32 = 0.84;
/// x, y and z.
const AXES: [(&str, Color32); 3] = [
    ("x", Color32::from_rgb(0xe0, 0x7a, 0x72)),
    ("y", Color32::from_rgb(0x86, 0xc0, 0x7c)),
    ("z", Color32::from_rgb(0x74, 0xa4, 0xe6)),
];

impl Guides {
    /// What they look like in a picture of `size` points.
    pub(super) fn shapes(
        &self,
        (camera, part): (&Camera, PanZoom),
        size: Vec2,
        fonts: &mut FontsView<'_>,
    ) -> Vec<Shape> {
        match self {
            Self::Grid(bounds) if bounds.half() > 0.0 => {
                Grid::around(bounds, camera, size).shapes(fonts)
            }
            Self::Grid(_) => Vec::new(),
            Self::Rulers(texels) => rulers(*texels, part, size, fonts),
        }
    }

    /// The colour of each of the three axes in sRGB.
    pub fn axis_colors() -> [[u8; 3]; 3] {
        AXES.map(|(_, color)| [color.r(), color.g(), color.b()])
    }
}

/// A grid as a camera sees it.
struct Grid {
    projection: Mat4,
    /// What is nearer to the eye is not seen.
    near: f32,
    size: Vec2,
    /// The box, whose ends are multiples of the cells' side.
    low: [f64; 3],
    high: [f64; 3],
    cell: f64,
    /// Whether the side of the box at the low end is the one that is behind, of each axis.
    low_is_behind: [bool; 3],
}

impl Grid {
    fn around(bounds: &Bounds, camera: &Camera, size: Vec2) -> Self {
        let [low, high] = [bounds.low, bounds.high].map(|end| end.to_array().map(f64::from));
        let longest = (0..3).map(|axis| high[axis] - low[axis]).fold(f64::MIN_POSITIVE, f64::max);
        let cell = ticks::step(longest, MOST_CELLS);
        // An end that is a multiple but for the rounding of floats stays where it is.
        let slack = 1.0e-5;
        let origin = camera.origin();
        let behind = |axis: usize| {
            let centre = bounds.centre().to_array()[axis];
            origin[axis] - centre * origin.w >= 0.0
        };
        Self {
            projection: camera.view_projection(size.x / size.y.max(1.0)),
            near: camera.distance * 0.02,
            size,
            low: low.map(|end| ((end / cell + slack).floor()) * cell),
            high: high.map(|end| ((end / cell - slack).ceil()) * cell),
            cell,
            low_is_behind: [0, 1, 2].map(behind),
        }
    }

    fn behind(&self, axis: usize) -> f64 {
        if self.low_is_behind[axis] { self.low[axis] } else { self.high[axis] }
    }

    fn in_front(&self, axis: usize) -> f64 {
        if self.low_is_behind[axis] { self.high[axis] } else { self.low[axis] }
    }

    fn is_flat(&self, axis: usize) -> bool {
        self.high[axis] - self.low[axis] < self.cell * 0.5
    }

    fn numbers(&self, axis: usize) -> Vec<(f64, String)> {
        ticks::named_multiples(self.low[axis], self.high[axis], self.cell)
    }

    fn clip(&self, at: [f64; 3]) -> Vec4 {
        self.projection * Vec3::from(at.map(|part| part as f32)).extend(1.0)
    }

    fn place(&self, clip: Vec4) -> Pos2 {
        let [x, y] = [clip.x / clip.w * 0.5 + 0.5, 0.5 - clip.y / clip.w * 0.5];
        Pos2::new(x * self.size.x, y * self.size.y)
    }

    /// What is seen of a line between two places; `None` of one behind the eye.
    fn seen(&self, from: [f64; 3], to: [f64; 3]) -> Option<[Pos2; 2]> {
        let [a, b] = [from, to].map(|end| self.clip(end));
        let cut = |end: Vec4, other: Vec4| match end.w < self.near {
            true => end + (other - end) * ((self.near - end.w) / (other.w - end.w)),
            false => end,
        };
        (a.w.max(b.w) > self.near).then(|| [self.place(cut(a, b)), self.place(cut(b, a))])
    }

    fn shapes(&self, fonts: &mut FontsView<'_>) -> Vec<Shape> {
        let mut shapes = Vec::new();
        (0..3).for_each(|axis| self.side(axis, &mut shapes));
        (0..3).for_each(|axis| self.edge(axis, fonts, &mut shapes));
        shapes
    }

    /// The side of the box across an axis that is behind.
    fn side(&self, axis: usize, shapes: &mut Vec<Shape>) {
        let others = [(axis + 1) % 3, (axis + 2) % 3];
        if others.iter().any(|other| self.is_flat(*other)) {
            return;
        }
        for [across, along] in [others, [others[1], others[0]]] {
            let numbers = self.numbers(across);
            let last = numbers.len().saturating_sub(1);
            for (index, (number, _)) in numbers.into_iter().enumerate() {
                let mut ends = [[self.behind(axis); 3]; 2];
                for (end, of) in ends.iter_mut().zip([self.low, self.high]) {
                    end[across] = number;
                    end[along] = of[along];
                }
                let cover = if index == 0 || index == last { CLEAR } else { FAINT };
                let stroke = Stroke::new(1.0, LINE.gamma_multiply(cover));
                let [from, to] = ends;
                shapes.extend(self.seen(from, to).map(|ends| Shape::line_segment(ends, stroke)));
            }
        }
    }

    /// The numbers along one of the edges in an axis's direction: of the two between a side that is behind and one in
    /// front, the one that is farther down, or to the left for y, which goes upwards.
    fn edge(&self, axis: usize, fonts: &mut FontsView<'_>, shapes: &mut Vec<Shape>) {
        if self.is_flat(axis) {
            return;
        }
        let [b, c] = [(axis + 1) % 3, (axis + 2) % 3];
        let at = |number: f64, [of_b, of_c]: [f64; 2]| {
            let mut at = [number; 3];
            (at[b], at[c]) = (of_b, of_c);
            at
        };
        let edges = [[self.behind(b), self.in_front(c)], [self.in_front(b), self.behind(c)]];
        let ends = |edge| self.seen(at(self.low[axis], edge), at(self.high[axis], edge));
        let aside = |[from, to]: [Pos2; 2]| match axis {
            1 => -(from.x + to.x),
            _ => from.y + to.y,
        };
        let seen = edges.into_iter().filter_map(|edge| Some((edge, ends(edge)?)));
        let mut seen: Vec<_> = seen.collect();
        seen.sort_by(|(_, one), (_, two)| aside(*two).total_cmp(&aside(*one)));
        let Some(&(edge, [from, to])) = seen.first() else { return };
        if from.distance(to) < SHORTEST {
            return;
        }
        let middle =
            self.place(self.clip([0, 1, 2].map(|of| (self.low[of] + self.high[of]) / 2.0)));
        let outwards = outwards([from, to], middle);
        let numbers = self.numbers(axis);
        // Numbers must not run into one another.
        let every = (numbers.len() as f32 * APART * 0.5 / from.distance(to)).ceil().max(1.0);
        let (name, color) = AXES[axis];
        let within = Rect::from_min_size(Pos2::ZERO, self.size).shrink(INSIDE);
        let mut text = |place: Pos2, text: &str, color| {
            let font = FontId::proportional(FONT);
            shapes.push(Shape::text(fonts, place, Align2::CENTER_CENTER, text, font, color));
        };
        let behind = [self.behind(b), self.behind(c)];
        for (number, label) in numbers.iter().step_by(every as usize) {
            // The grid's line that the number is of, from an edge on.
            let line = |edge| self.seen(at(*number, edge), at(*number, behind));
            let outside = line(edge).map(|[end, _]| end + outwards * ASIDE);
            // Where the edge is not in the picture, the number stands where its line comes into it.
            let enters = || seen.iter().find_map(|(edge, _)| entered(line(*edge)?, within));
            let place = outside.filter(|place| within.contains(*place));
            // Beside it is still within the picture.
            let beside = |at: Pos2| (at + BESIDE_LINE).clamp(within.min, within.max);
            if let Some(place) = place.or_else(|| enters().map(beside)) {
                text(place, label, NUMBER.lerp_to_gamma(color, 0.5));
            }
        }
        let place = from + (to - from) * 0.5 + outwards * (ASIDE + BEYOND);
        if within.contains(place) {
            text(place, name, color);
        }
    }
}

/// Where a line comes into a rectangle; `None` where it begins within, or does not (the algorithm of Liang and Barsky,
/// 1984).
fn entered([from, to]: [Pos2; 2], within: Rect) -> Option<Pos2> {
    let along = to - from;
    let (mut enter, mut leave) = (0.0_f32, 1.0_f32);
    for (start, step, low, high) in [
        (from.x, along.x, within.left(), within.right()),
        (from.y, along.y, within.top(), within.bottom()),
    ] {
        if step == 0.0 && !(low..=high).contains(&start) {
            return None;
        }
        if step != 0.0 {
            let ends = [(low - start) / step, (high - start) / step];
            enter = enter.max(ends[0].min(ends[1]));
            leave = leave.min(ends[0].max(ends[1]));
        }
    }
    (enter > 0.0 && enter <= leave).then(|| from + along * enter)
}

/// Away from `middle`, across a line.
fn outwards([from, to]: [Pos2; 2], middle: Pos2) -> Vec2 {
    let across = (to - from).normalized().rot90();
    let side = (from + (to - from) * 0.5 - middle).dot(across);
    if side < 0.0 { -across } else { across }
}

/// The rulers of an image.
fn rulers(texels: [u32; 2], part: PanZoom, size: Vec2, fonts: &mut FontsView<'_>) -> Vec<Shape> {
    let picture = [size.x, size.y].map(|side| side.max(1.0) as u32);
    let [low, high] = [-1.0, 1.0].map(|end| part.at(glam::Vec2::splat(end), texels, picture));
    let ground = GROUND.gamma_multiply(VEIL);
    let bar = |size| Rect::from_min_size(Pos2::ZERO, size);
    let mut shapes = vec![
        Shape::rect_filled(bar(vec2(size.x, ABOVE)), 0.0, ground),
        Shape::rect_filled(bar(vec2(BESIDE, size.y)).with_min_y(ABOVE), 0.0, ground),
    ];
    for (axis, length) in [size.x, size.y].into_iter().enumerate() {
        let count = f64::from(texels[axis]);
        let ends = [low[axis], high[axis]].map(|end| f64::from(end) * count);
        let step = ticks::step(ends[1] - ends[0], f64::from(length / APART).max(1.0)).max(1.0);
        let (first, last) = (ends[0].max(0.0), ends[1].min(count - 1.0));
        for (number, label) in ticks::named_multiples(first.min(last), last, step) {
            // The middle of a texel.
            let along = (number + 0.5 - ends[0]) / (ends[1] - ends[0]);
            let (place, edge, align, tick) = match axis {
                0 => {
                    let x = along as f32 * size.x;
                    let edge = Pos2::new(x, ABOVE);
                    (edge - vec2(0.0, TICK), edge, Align2::CENTER_BOTTOM, vec2(0.0, -TICK))
                }
                _ => {
                    let edge = Pos2::new(BESIDE, (1.0 - along as f32) * size.y);
                    (edge - vec2(TICK + 3.0, 0.0), edge, Align2::RIGHT_CENTER, vec2(-TICK, 0.0))
                }
            };
            if edge.x < BESIDE || edge.y < ABOVE {
                continue;
            }
            let line = Stroke::new(1.0, LINE.gamma_multiply(CLEAR));
            shapes.push(Shape::line_segment([edge, edge + tick], line));
            let font = FontId::proportional(FONT - 1.0);
            shapes.push(Shape::text(fonts, place, align, label, font, NUMBER));
        }
    }
    shapes
}

#[cfg(test)]
mod tests {
    use epaint::{
        TextOptions,
        text::{FontDefinitions, Fonts, ViewportKey},
    };

    use super::*;
    use crate::draw::Projection;

    const SIZE: Vec2 = vec2(800.0, 600.0);

    /// What is written, and the ends of all lines.
    fn shown(guides: Guides, camera: &Camera, part: PanZoom) -> (Vec<(String, Pos2)>, Vec<Pos2>) {
        let mut fonts = Fonts::new(TextOptions::default(), FontDefinitions::default());
        fonts.begin_pass(TextOptions::default(), ViewportKey::default());
        let shapes = guides.shapes((camera, part), SIZE, &mut fonts.with_pixels_per_point(1.0));
        let (mut texts, mut ends) = (Vec::new(), Vec::new());
        for shape in shapes {
            match shape {
                Shape::Text(text) => {
                    let place = text.galley.rect.translate(text.pos.to_vec2()).center();
                    texts.push((text.galley.text().to_owned(), place));
                }
                Shape::LineSegment { points, .. } => ends.extend(points),
                _ => {}
            }
        }
        (texts, ends)
    }

    fn cube(low: f32, high: f32) -> Bounds {
        Bounds { low: Vec3::splat(low), high: Vec3::splat(high) }
    }

    #[test]
    fn a_number_stands_beside_its_place_on_the_edge() {
        let camera = Camera { projection: Projection::Orthographic, ..Camera::front() };
        let (texts, _) = shown(Guides::Grid(cube(-0.9, 0.8)), &camera, PanZoom::default());
        // From the front x and y are seen, and z is a point.
        let names: Vec<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
        assert!(names.contains(&"x") && names.contains(&"y") && !names.contains(&"z"), "{names:?}");
        let at = |x, y| {
            let [x, y] = camera.project(Vec3::new(x, y, 0.0), [800, 600]).unwrap().to_array();
            Pos2::new(x, y)
        };
        let stands = |name: &str, near: Pos2| {
            let is_near = |(text, place): &&(String, Pos2)| {
                text == name && place.distance(near) < ASIDE + 1.0
            };
            texts.iter().find(is_near).is_some()
        };
        // The box ends at the next round number.
        assert!(stands("0.5", at(0.5, -1.0)) && stands("-1.0", at(-1.0, -1.0)), "x: {texts:?}");
        assert!(stands("0.5", at(-1.0, 0.5)) && stands("1.0", at(-1.0, 1.0)), "y: {texts:?}");
    }

    #[test]
    fn the_grid_is_behind_what_is_in_the_box() {
        let bounds = cube(-1.0, 1.0);
        for yaw in [0.3, 1.9, 3.5, 5.0] {
            for pitch in [-0.6, 0.6] {
                for projection in [Projection::Perspective, Projection::Orthographic] {
                    let camera = Camera { yaw, pitch, projection, ..Camera::default() };
                    let grid = Grid::around(&bounds, &camera, SIZE);
                    let back = camera.seen_axes().map(|[_, _, back]| back);
                    for (axis, back) in back.into_iter().enumerate() {
                        let apart = grid.in_front(axis) - grid.behind(axis);
                        assert!(apart * f64::from(back) > 0.0, "{camera:?} {axis}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_behind_the_eye_is_cut_off() {
        let inside = Camera { distance: 0.2, ..Camera::default() };
        let (texts, ends) = shown(Guides::Grid(cube(-1.0, 1.0)), &inside, PanZoom::default());
        let places = ends.iter().chain(texts.iter().map(|(_, place)| place));
        assert!(!ends.is_empty());
        for at in places {
            assert!(at.x.is_finite() && at.y.is_finite(), "{at}");
        }
    }

    #[test]
    fn numbers_of_a_box_that_is_larger_than_the_picture_stand_where_lines_come_in() {
        let near = Camera { projection: Projection::Orthographic, ..Camera::front() };
        let (texts, _) = shown(Guides::Grid(cube(-5.0, 5.0)), &near, PanZoom::default());
        let picture = Rect::from_min_size(Pos2::ZERO, SIZE);
        let is_in =
            |name: &str| texts.iter().any(|(text, at)| text == name && picture.contains(*at));
        assert!(is_in("0") && !is_in("4"), "{texts:?}");
        assert!(texts.iter().all(|(_, at)| picture.contains(*at)), "{texts:?}");
        let rect = Rect::from_min_max(Pos2::ZERO, Pos2::new(10.0, 10.0));
        let entered = |from: [f32; 2], to: [f32; 2]| entered([from.into(), to.into()], rect);
        assert_eq!(entered([5.0, 30.0], [5.0, -30.0]), Some(Pos2::new(5.0, 10.0)));
        assert_eq!(entered([-5.0, 0.0], [15.0, 10.0]), Some(Pos2::new(0.0, 2.5)));
        for line in
            [[[5.0, 5.0], [30.0, 5.0]], [[-5.0, 20.0], [15.0, 20.0]], [[-9.0, 5.0], [-1.0, 5.0]]]
        {
            assert_eq!(entered(line[0], line[1]), None, "{line:?}");
        }
    }

    #[test]
    fn a_flat_box_has_one_side_and_a_point_none() {
        let flat = Bounds { low: Vec3::new(-1.0, -1.0, 0.0), high: Vec3::new(1.0, 1.0, 0.0) };
        let (_, ends) = shown(Guides::Grid(flat), &Camera::default(), PanZoom::default());
        assert_eq!(ends.len(), 2 * (5 + 5), "five lines each way");
        let (texts, ends) =
            shown(Guides::Grid(cube(2.5, 2.5)), &Camera::default(), PanZoom::default());
        assert!(texts.is_empty() && ends.is_empty());
    }

    #[test]
    fn rulers_count_texels_in_their_middles() {
        let (camera, texels) = (Camera::default(), [8, 6]);
        let (texts, _) = shown(Guides::Rulers(texels), &camera, PanZoom::default());
        let place = |name: &str, above: bool| {
            let found = texts.iter().find(|(text, at)| text == name && (at.y < ABOVE) == above);
            found.unwrap_or_else(|| panic!("no {name} in {texts:?}")).1
        };
        // A texel is 100 points wide.
        assert!((place("3", true).x - 350.0).abs() < 1.0);
        assert!((place("2", false).y - 350.0).abs() < 1.0, "from the bottom");
        let mut part = PanZoom::default();
        part.zoom_at(2.0, glam::Vec2::ONE, texels, [800, 600]);
        let (texts, _) = shown(Guides::Rulers(texels), &camera, part);
        let names: Vec<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
        assert!(names.contains(&"7") && !names.contains(&"2"), "{names:?}");
    }
}
