//! The colours of a view, chosen by hand: a card above the legend with the colour maps, and how the values are spread,
//! over which the ends of the colours are dragged.

use std::ops::RangeInclusive;

use egui::{
    Align2, Area, Button, Color32, DragValue, Frame, Grid, Id, Margin, Order, Rect, Role, Sense,
    Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::{Action, Look};
use crate::{
    session::{Colormap, Legend, Recoloring, Spread},
    studio::{
        icons::{self, Icon},
        number,
        panels::named,
        panes::Slot,
        theme,
        viewpoints::Switch,
    },
};

/// The width of what is in the card, and the height of the bars.
const WIDTH: f32 = 250.0;
const BARS: f32 = 64.0;
/// A colour map's row.
const MAP: egui::Vec2 = vec2(121.0, 18.0);
/// Steps of its colours.
const STEPS: u8 = 24;
/// An end is dragged to a part of what is shown that is so small.
const FINEST: f32 = 1.0e-3;

/// What the card is about.
pub struct Shown<'a> {
    /// The pane.
    pub slot: Slot,
    /// The colours as they are.
    pub legend: &'a Legend,
    /// What of them was chosen by hand.
    pub chosen: &'a Recoloring,
    /// How the values are spread, once that is known.
    pub spread: Option<&'a Spread>,
}

/// Shows it within `rect`, its lower right end at `corner`; where it is then.
pub fn show(ui: &Ui, (rect, corner): (Rect, egui::Pos2), shown: &Shown<'_>) -> (Vec<Action>, Rect) {
    let mut actions = Vec::new();
    let area = Area::new(Id::unique(("colors", shown.slot)))
        .order(Order::Middle)
        .pivot(Align2::RIGHT_BOTTOM)
        .fixed_pos(corner)
        .constrain_to(rect);
    let card = area.show(ui.ctx(), |ui| {
        let frame = Frame::new()
            .fill(theme::faded(theme::bar(), theme::VEIL))
            .stroke(Stroke::new(1.0, theme::line()))
            .corner_radius(6)
            .inner_margin(Margin::symmetric(10, 8));
        frame.show(ui, |ui| {
            ui.set_width(WIDTH);
            ui.spacing_mut().item_spacing = vec2(8.0, 5.0);
            let look = |look| Action::Look(Some(shown.slot), look);
            ui.horizontal(|ui| {
                ui.label(&shown.legend.title);
                let layout = egui::Layout::right_to_left(egui::Align::Center);
                ui.with_layout(layout, |ui| {
                    if icons::small_button(ui, Icon::Close, "Done (Alt+L)").clicked() {
                        actions.push(look(Look::Switch(Switch::Colors)));
                    }
                });
            });
            let mut chosen = *shown.chosen;
            maps(ui, shown.legend, &mut chosen);
            switches(ui, shown, &mut chosen);
            bars(ui, shown, &mut chosen);
            ends(ui, shown.legend, &mut chosen);
            ui.horizontal(|ui| {
                let is_chosen = !shown.chosen.is_nothing();
                let as_file = ui.add_enabled(is_chosen, Button::new("As in the file").small());
                if as_file.on_hover_text("Leave all of it to the scene again").clicked() {
                    chosen = Recoloring::default();
                }
                let write = ui.add_enabled(is_chosen, Button::new("Write into the file").small());
                if write.on_hover_text("Put it into [view]; undo takes it back").clicked() {
                    actions.push(Action::WriteColors(Some(shown.slot)));
                }
            });
            if chosen != *shown.chosen && chosen.is_sound() {
                actions.push(look(Look::Color(chosen)));
            }
        });
    });
    (actions, card.response.rect)
}

/// All colour maps, each as it looks.
fn maps(ui: &mut Ui, legend: &Legend, chosen: &mut Recoloring) {
    Grid::new("maps").num_columns(2).spacing(vec2(8.0, 3.0)).show(ui, |ui| {
        for (at, map) in Colormap::ALL.into_iter().enumerate() {
            let is_chosen = map == legend.colormap;
            let (rect, response) = ui.allocate_exact_size(MAP, Sense::click());
            response.widget_info(|| {
                WidgetInfo::selected(Role::RadioButton, true, is_chosen, map.name())
            });
            let like_it = Legend { colormap: map, ..legend.clone() };
            gradient(ui, rect.shrink(2.0), &like_it);
            let edge = match (is_chosen, response.hovered() || response.has_focus()) {
                (true, _) => Stroke::new(2.0, theme::accent()),
                (false, true) => Stroke::new(1.0, theme::strong()),
                (false, false) => Stroke::new(1.0, theme::line()),
            };
            ui.painter().rect_stroke(rect, 3.0, edge, egui::StrokeKind::Inside);
            if response.clicked() {
                chosen.colormap = Some(map);
            }
            response.on_hover_text(map.name());
            if at % 2 == 1 {
                ui.end_row();
            }
        }
    });
}

fn gradient(ui: &Ui, rect: Rect, legend: &Legend) {
    let width = rect.width() / f32::from(STEPS);
    for step in 0..STEPS {
        let left = rect.left() + f32::from(step) * width;
        // One overlaps the next, so that nothing is seen between them.
        let place = Rect::from_min_max(
            pos2(left, rect.top()),
            pos2((left + width + 0.5).min(rect.right()), rect.bottom()),
        );
        ui.painter().rect_filled(place, 0.0, color(legend, f32::from(step) / f32::from(STEPS - 1)));
    }
}

fn color(legend: &Legend, part: f32) -> Color32 {
    let [r, g, b] = legend.color(part);
    Color32::from_rgb(r, g, b)
}

fn switches(ui: &mut Ui, shown: &Shown<'_>, chosen: &mut Recoloring) {
    ui.horizontal(|ui| {
        let mut reversed = shown.legend.reversed;
        if ui.checkbox(&mut reversed, "Reversed").changed() {
            chosen.reversed = Some(reversed);
        }
        // Where no value is above 0 there are no logarithms.
        let allowed = shown.legend.logarithmic || shown.legend.range[1] > 0.0;
        let mut logarithmic = shown.legend.logarithmic;
        let switch = ui.add_enabled_ui(allowed, |ui| ui.checkbox(&mut logarithmic, "Logarithmic"));
        if switch.inner.changed() {
            chosen.logarithmic = Some(logarithmic);
            let is_below = |[low, _]: [f32; 2]| logarithmic && low <= 0.0;
            chosen.range = chosen.range.filter(|range| !is_below(*range));
        }
    });
}

/// What is shown of the values, from the left to the right.
#[derive(Clone, Copy)]
struct Axis {
    rect: Rect,
    ends: [f32; 2],
    logarithmic: bool,
}

impl Axis {
    /// One that has the values and the ends of the colours.
    fn of(rect: Rect, legend: &Legend, spread: Option<&Spread>) -> Self {
        let [mut low, mut high] = legend.range;
        if let Some(spread) = spread.filter(|spread| !spread.bars.is_empty()) {
            low = low.min(spread.range[0]);
            high = high.max(spread.range[1]);
        }
        Self { rect, ends: [low, high], logarithmic: legend.logarithmic && low > 0.0 }
    }

    fn along(&self, value: f32) -> f32 {
        if self.logarithmic { value.max(f32::MIN_POSITIVE).ln() } else { value }
    }

    fn x(&self, value: f32) -> f32 {
        let [low, high] = self.ends.map(|end| self.along(end));
        let part = if high > low { (self.along(value) - low) / (high - low) } else { 0.5 };
        self.rect.left() + part.clamp(0.0, 1.0) * self.rect.width()
    }

    /// The value at a place, rounded to what can be told apart.
    fn value(&self, x: f32) -> f32 {
        let part = ((x - self.rect.left()) / self.rect.width()).clamp(0.0, 1.0);
        let [low, high] = self.ends.map(|end| self.along(end));
        let along = low + part * (high - low);
        match self.logarithmic {
            true => rounded(along.exp(), along.exp() * 10.0 * FINEST),
            false => rounded(along, (high - low) * FINEST),
        }
    }
}

/// A value as a multiple of the power of ten that is not above `unit`.
fn rounded(value: f32, unit: f32) -> f32 {
    let power = 10_f64.powf(f64::from(unit).log10().floor());
    match power.is_normal() {
        true => ((f64::from(value) / power).round() * power) as f32 + 0.0,
        false => value,
    }
}

/// How the values are spread; the ends of the colours are dragged over it, and a double click leaves them to the scene.
fn bars(ui: &mut Ui, shown: &Shown<'_>, chosen: &mut Recoloring) {
    let Shown { legend, spread, .. } = *shown;
    let (rect, response) = ui.allocate_exact_size(vec2(WIDTH, BARS), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "How the values are spread"));
    let axis = Axis::of(rect.shrink2(vec2(4.0, 0.0)), legend, spread);
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 3.0, theme::ground());
    if let Some(spread) = spread {
        values(&painter, &axis, legend, spread);
    }
    let ends = legend.range.map(|end| axis.x(end));
    for (end, sign) in ends.into_iter().zip([1.0, -1.0]) {
        painter.vline(end, rect.y_range(), Stroke::new(1.5, theme::strong()));
        // A flag says to which side the colours lie.
        let flag =
            Rect::from_two_pos(pos2(end, rect.top()), pos2(end + sign * 5.0, rect.top() + 9.0));
        painter.rect_filled(flag, 0.0, theme::strong());
    }
    let grabbed = response.id.with("end");
    if let Some(at) = response.interact_pointer_pos().filter(|_| response.drag_started()) {
        let near = |end: f32| (end - at.x).abs();
        // Where both lie on one another, the side of the pointer tells.
        let is_high = near(ends[1]) < near(ends[0]) || ends[0] == ends[1] && at.x > ends[1];
        ui.data_mut(|data| data.insert_temp(grabbed, usize::from(is_high)));
    }
    if let Some(at) = response.interact_pointer_pos().filter(|_| response.dragged()) {
        let end: usize = ui.data(|data| data.get_temp(grabbed)).unwrap_or(0);
        let mut range = legend.range;
        range[end.min(1)] = axis.value(at.x);
        if range[0] < range[1] {
            chosen.range = Some(range);
        }
    }
    if response.double_clicked() {
        chosen.range = None;
    }
    if response.hovered() {
        ui.set_cursor_icon(egui::CursorIcon::ResizeHorizontal);
    }
    response.on_hover_text("Drag the ends of the colours; a double click leaves them to the scene");
}

/// A bar for each part of the values, in its colour.
fn values(painter: &egui::Painter, axis: &Axis, legend: &Legend, spread: &Spread) {
    let most = spread.bars.iter().copied().max().unwrap_or(0).max(1) as f32;
    let of = Axis { ends: spread.range, logarithmic: spread.logarithmic, ..*axis };
    let [low, high] = of.ends.map(|end| of.along(end));
    let count = spread.bars.len() as f32;
    let colors = Axis { ends: legend.range, ..*axis };
    for (at, bar) in spread.bars.iter().enumerate().filter(|(_, bar)| **bar > 0) {
        let place = |at: f32| {
            let along = low + (high - low) * at / count;
            if of.logarithmic { along.exp() } else { along }
        };
        let [from, middle, to] = [0.0, 0.5, 1.0].map(|part| place(at as f32 + part));
        let (left, right) = (axis.x(from), axis.x(to));
        // What is rare is seen, too.
        let high = (*bar as f32 / most * (BARS - 4.0)).max(1.5);
        let bottom = axis.rect.bottom();
        let bar =
            Rect::from_min_max(pos2(left, bottom - high), pos2(right.max(left + 1.0), bottom));
        let part = (colors.x(middle) - axis.rect.left()) / axis.rect.width();
        painter.rect_filled(bar, 0.0, color(legend, part).lerp_to_gamma(theme::weak(), 0.25));
    }
}

/// The ends as numbers.
fn ends(ui: &mut Ui, legend: &Legend, chosen: &mut Recoloring) {
    let [low, high] = legend.range;
    let speed = f64::from(high - low) * 2.0e-3;
    let mut range = legend.range;
    let mut field = |ui: &mut Ui, at: usize, name: &str, within: RangeInclusive<f32>| {
        let value = DragValue::new(&mut range[at]).speed(speed).range(within);
        let value = value.custom_formatter(|value, _| number::value(value));
        let response = ui.add(value);
        named(&response, name);
        if response.changed() && range[at] != legend.range[at] {
            chosen.range = Some(range);
        }
    };
    let least = if legend.logarithmic { f32::MIN_POSITIVE } else { f32::MIN };
    ui.horizontal(|ui| {
        field(ui, 0, "Lowest value", least..=high.next_down());
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            field(ui, 1, "Highest value", low.next_up()..=f32::MAX);
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(ends: [f32; 2], logarithmic: bool) -> Axis {
        Axis { rect: Rect::from_min_size(pos2(10.0, 0.0), vec2(200.0, 50.0)), ends, logarithmic }
    }

    #[test]
    fn a_place_is_a_round_value_and_back() {
        let linear = axis([-1.0, 3.0], false);
        assert_eq!((linear.x(0.0), linear.value(60.0)), (60.0, 0.0));
        assert_eq!(linear.value(61.0), 0.02, "to a thousandth of the width, or finer");
        assert_eq!((linear.value(-50.0), linear.value(500.0)), (-1.0, 3.0));
        let decades = axis([0.01, 100.0], true);
        assert_eq!((decades.x(1.0), decades.value(110.0)), (110.0, 1.0));
        let tiny = axis([0.0, 3.0e-30], false);
        assert!((tiny.value(110.0) / 1.5e-30 - 1.0).abs() < 1.0e-3);
    }
}
