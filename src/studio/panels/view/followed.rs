//! The element that is followed: a ring around it in the picture, and beside it a card with what it holds.

use egui::{
    Align, Area, DragValue, Frame, Grid, Id, Layout, Margin, Order, Pos2, Rect, RichText,
    ScrollArea, Sense, Stroke, Ui, pos2, vec2,
};

use super::{Action, Look};
use crate::{
    scene::Number,
    studio::{
        followed::Followed,
        icons::{self, Icon},
        number,
        panels::{named, shortened},
        panes::Slot,
        seen::Marked,
        theme,
    },
};

/// The width of the card, and the most of its numbers that is seen at once.
const WIDTH: f32 = 264.0;
const MOST_HIGH: f32 = 220.0;
/// Between the card and the element.
const BESIDE: f32 = 18.0;
/// The ring's radius.
const RING: f32 = 7.0;
/// What shows how a number has changed.
const SPARK: egui::Vec2 = vec2(72.0, 14.0);

/// Where it is shown.
pub struct Places {
    /// The card is within it.
    pub rect: Rect,
    pub picture: Rect,
    /// Another card is there.
    pub taken: Option<Rect>,
}

/// Shows it over the picture; `card` is where the card was.
pub fn show(
    ui: &Ui,
    Places { rect, picture, taken }: Places,
    slot: Slot,
    marked: &Marked,
    card: &mut Option<Rect>,
) -> Vec<Action> {
    let at = marked.at.map(|[x, y]| {
        pos2(picture.left() + x * picture.width(), picture.bottom() - y * picture.height())
    });
    if let Some(at) = at.filter(|at| picture.expand(RING).contains(*at)) {
        let painter = ui.painter_at(picture);
        painter.circle_stroke(at, RING, Stroke::new(4.0, theme::faded(theme::bar(), 0.8)));
        painter.circle_stroke(at, RING, Stroke::new(1.5, theme::accent()));
    }
    let place = place(ui, (rect, taken), at, *card);
    let mut actions = Vec::new();
    let area = Area::new(Id::unique(("followed", slot)))
        .order(Order::Middle)
        .fixed_pos(place)
        .constrain_to(rect);
    let shown = area.show(ui.ctx(), |ui| {
        let frame = Frame::new()
            .fill(theme::faded(theme::bar(), theme::VEIL))
            .stroke(Stroke::new(1.0, theme::line()))
            .corner_radius(6)
            .inner_margin(Margin::symmetric(10, 7));
        frame.show(ui, |ui| {
            ui.set_width(WIDTH - 20.0);
            ui.spacing_mut().item_spacing = vec2(8.0, 4.0);
            let look = content(ui, &marked.followed, rect.height() * 0.4);
            actions.extend(look.map(|look| Action::Look(Some(slot), look)));
            footer(ui, &marked.followed, &mut actions);
        });
    });
    *card = Some(shown.response.rect);
    actions
}

/// Where the card is put: beside the element; where it was while the pointer is on it, and while nobody sees the
/// element.
fn place(
    ui: &Ui,
    (rect, taken): (Rect, Option<Rect>),
    at: Option<Pos2>,
    card: Option<Rect>,
) -> Pos2 {
    let is_on = |card: &Rect| {
        ui.rect_contains_pointer(*card)
            || ui.input(|i| i.pointer.latest_pos()).is_some_and(|at| card.contains(at))
    };
    match (card, at) {
        (Some(card), _) if is_on(&card) => card.min,
        (card, Some(at)) => beside(at, card.map_or(0.0, |card| card.height()), rect, taken),
        (Some(card), None) => card.min,
        (None, None) => rect.left_center(),
    }
}

/// A place for a card so high beside an element, to its right if it can be: within `rect`, and not where another card
/// is; where it can be neither, at least within `rect`.
fn beside(at: Pos2, high: f32, rect: Rect, taken: Option<Rect>) -> Pos2 {
    let top = (at.y - high / 2.0).min(rect.bottom() - high).max(rect.top());
    let places = [at.x + BESIDE, at.x - BESIDE - WIDTH].map(|left| pos2(left, top));
    let is_within = |place: &&Pos2| place.x >= rect.left() && place.x + WIDTH <= rect.right();
    let is_free = |place: &&Pos2| {
        let card = Rect::from_min_size(**place, vec2(WIDTH, high));
        taken.is_none_or(|taken| !taken.intersects(card))
    };
    let free = places.iter().find(|place| is_within(place) && is_free(place));
    *free.or(places.iter().find(is_within)).unwrap_or(&places[0])
}

/// Which element it is, and its numbers.
fn content(ui: &mut Ui, followed: &Followed, most_high: f32) -> Option<Look> {
    let mut look = None;
    let picked = &followed.picked;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        let name = RichText::new(&picked.resource).strong().color(theme::strong());
        ui.add(egui::Label::new(name).truncate());
        let mut index = picked.index;
        let last = picked.count().saturating_sub(1);
        let field = ui.add(DragValue::new(&mut index).range(0..=last));
        named(&field, "Element");
        if field.on_hover_text("Another element: drag, or click and type").changed() {
            look = Some(Look::Follow(index));
        }
        if let Some([x, y, z]) = picked.place() {
            let text =
                if picked.size[2] > 1 { format!("[{x}, {y}, {z}]") } else { format!("[{x}, {y}]") };
            ui.label(RichText::new(text).monospace().small().color(theme::weak()));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if icons::small_button(ui, Icon::Close, "Follow it no more (Esc)").clicked() {
                look = Some(Look::Unfollow);
            }
        });
    });
    // An area is as high as in the frame before, and numbers that come later must not stay cut off.
    let most_high = MOST_HIGH.min(most_high.max(40.0));
    let scroll = ScrollArea::vertical().max_height(most_high).min_scrolled_height(most_high);
    scroll.auto_shrink([false, true]).show(ui, |ui| {
        let grid = Grid::new("numbers").num_columns(3).spacing(vec2(8.0, 2.0)).min_row_height(16.0);
        grid.show(ui, |ui| {
            for (at, (name, of)) in followed.numbers().enumerate() {
                let is_sound = value(of).is_finite();
                let color = if is_sound { theme::strong() } else { theme::error() };
                let name = RichText::new(shortened(name, 18)).small();
                ui.label(name.color(theme::weak()));
                let text = match of {
                    Number::Float(value) => number::value(*value),
                    Number::Int(_) | Number::Bool(_) => of.to_string(),
                };
                // So that what is beside it stays in its place.
                let text = RichText::new(format!("{text:<9}")).monospace().color(color);
                ui.label(text).on_hover_text(of.to_string());
                spark(ui, followed, at);
                ui.end_row();
            }
        });
    });
    look
}

fn value(of: &Number) -> f64 {
    match of {
        Number::Float(value) => *value,
        Number::Int(value) => *value as f64,
        Number::Bool(value) => f64::from(u8::from(*value)),
    }
}

/// After which step it is so, and the way to the table.
fn footer(ui: &mut Ui, followed: &Followed, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        let text = match followed.step() {
            Some(step) => format!("after step {}", number::count(step)),
            None => "on its way \u{2026}".to_owned(),
        };
        ui.label(RichText::new(text).small().color(theme::weak()));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if ui.small_button("Show in the table").clicked() {
                let picked = &followed.picked;
                actions.push(Action::ShowElement(picked.resource.clone(), picked.index));
            }
        });
    });
}

/// How a number has changed since it was picked, between its least and its greatest.
fn spark(ui: &mut Ui, followed: &Followed, of: usize) {
    let (rect, response) = ui.allocate_exact_size(SPARK, Sense::hover());
    let past: Vec<(u64, f64)> = followed.past(of).filter(|(_, value)| value.is_finite()).collect();
    let [Some(first), Some(last)] = [past.first(), past.last()] else { return };
    let low = past.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
    let high = past.iter().map(|(_, value)| *value).fold(f64::NEG_INFINITY, f64::max);
    let steps = (last.0 - first.0) as f32;
    if steps > 0.0 {
        let part = |value: f64| {
            if high > low { ((value - low) / (high - low)) as f32 } else { 0.5 }
        };
        let at = |(step, value): &(u64, f64)| {
            let x = rect.left() + (*step - first.0) as f32 / steps * rect.width();
            pos2(x, rect.bottom() - 1.0 - part(*value) * (rect.height() - 2.0))
        };
        let line: Vec<Pos2> = past.iter().map(at).collect();
        ui.painter().line(line, Stroke::new(1.2, theme::accent()));
    }
    response.on_hover_ui(|ui| {
        let [low, high] = [low, high].map(number::value);
        let steps = [first.0, last.0].map(number::count);
        let text = format!("{low} to {high}, from step {} to {}", steps[0], steps[1]);
        ui.label(text);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_card_lies_beside_the_element_and_on_no_other_card() {
        let rect = Rect::from_min_size(Pos2::ZERO, vec2(900.0, 600.0));
        let card = |at: Pos2, taken| {
            Rect::from_min_size(beside(at, 200.0, rect, taken), vec2(WIDTH, 200.0))
        };
        let element = pos2(400.0, 500.0);
        let right = card(element, None);
        assert!(right.left() > element.x && rect.contains_rect(right), "{right:?}");
        let colors = Rect::from_min_max(pos2(500.0, 350.0), pos2(880.0, 590.0));
        assert!(colors.intersects(right));
        let left = card(element, Some(colors));
        assert!(left.right() < element.x && rect.contains_rect(left), "{left:?}");
        // At the picture's right edge it is on the left, whatever else there is.
        assert!(card(pos2(890.0, 300.0), None).right() < 890.0);
        // Where both sides are taken it is at least within the picture.
        let wide = Rect::from_min_max(pos2(10.0, 10.0), pos2(890.0, 590.0));
        assert!(rect.contains_rect(card(element, Some(wide))));
    }
}
