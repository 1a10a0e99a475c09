//! The past of the scene: a bar for each line of steps, on which a moment is chosen with the mouse.

use egui::{
    Align, Align2, Button, Layout, Pos2, Rangef, Rect, RichText, Sense, Stroke, Ui,
    containers::menu::MenuButton, pos2, vec2,
};

use super::{comparison_menu, past_menu};
use crate::{
    session::{Budget, Command, Exportable, Line, Moment, PastGap, Snapshot, Timeline},
    studio::{action::Action, number, theme},
};

/// The height of the panel, in points, however many lines there are: what stands above it does not move when one comes.
pub const HEIGHT: f32 = 40.0;
/// The height of all lines of steps together, and the greatest one of a line.
const ROWS: f32 = 32.0;
const ROW: f32 = 15.0;
/// As many lines are shown, the last ones.
const MOST_ROWS: usize = 4;
/// The least distance of marks of copies on the screen.
const LEAST_DISTANCE: f32 = 5.0;
/// The width of what stands beside the bars.
const BESIDE: f32 = 352.0;

/// What is said of steps that have other bits.
const OTHERS: &str = "These steps do not have the same bits when they are done again: kernels add floats atomically, \
                      or read clocks. What is shown is about what was there. The steps at the ends are exact.";

/// The lines that are shown.
fn rows(timeline: &Timeline) -> &[Line] {
    let shown = timeline.lines.len().min(MOST_ROWS);
    &timeline.lines[timeline.lines.len() - shown..]
}

/// The panel's content.
pub fn show(ui: &mut Ui, snapshot: &Snapshot, timeline: &Timeline) -> Vec<Action> {
    let mut actions = Vec::new();
    ui.horizontal_centered(|ui| {
        let width = (ui.available_width() - BESIDE).max(80.0);
        let count = rows(timeline).len() as f32;
        let size = vec2(width, (count * ROW).min(ROWS));
        let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        let scale = Scale::new(rows(timeline), rect);
        for (row, line) in rows(timeline).iter().enumerate() {
            let is_last = row + 1 == rows(timeline).len();
            scale.draw(ui, row, line, timeline, is_last);
        }
        if let Some(at) = response.interact_pointer_pos()
            && response.is_pointer_button_down_on()
            && let Some(moment) = scale.moment(at, rows(timeline))
            && timeline.sought.unwrap_or(timeline.shown) != moment
        {
            actions.push(Action::Session(Command::Seek(moment)));
        }
        if let Some(at) = response.hover_pos()
            && let Some(moment) = scale.moment(at, rows(timeline))
        {
            let text = format!("step {}", number::count(moment.step));
            response.on_hover_text_at_pointer(text);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            beside(ui, snapshot, timeline, &mut actions)
        });
    });
    actions
}

/// What stands beside the bars: where one is, the way back, and what the past costs.
fn beside(ui: &mut Ui, snapshot: &Snapshot, timeline: &Timeline, actions: &mut Vec<Action>) {
    export_menu(ui, actions);
    comparison_menu::show(ui, snapshot, timeline, actions);
    if let (true, Some(line)) = (timeline.is_past, timeline.lines.last()) {
        let now = Button::new("Now");
        let tip =
            "Back to the end of the line that goes on. Play goes on from the moment that is shown.";
        if ui.add(now).on_hover_text(tip).clicked() {
            let moment = Moment { line: line.id, step: line.last };
            actions.push(Action::Session(Command::Seek(moment)));
        }
        let step = number::count(timeline.shown.step);
        let (text, color) = match timeline.sought {
            Some(sought) if sought != timeline.shown => ("seeking".to_owned(), theme::accent()),
            Some(_) | None if is_other(timeline) => {
                (format!("past: about step {step}"), theme::warning())
            }
            Some(_) | None => (format!("past: step {step}"), theme::accent()),
        };
        let label = ui.label(RichText::new(text).color(color).size(12.0));
        if is_other(timeline) {
            label.on_hover_text(OTHERS);
        }
        return;
    }
    let [device, host] = timeline.bytes;
    let (text, color) = match timeline.gap {
        Some(PastGap::NoRoom) => ("no room for copies".to_owned(), theme::warning()),
        Some(PastGap::Heap) => ("no past: kernels call malloc".to_owned(), theme::warning()),
        None => (format!("past: {}", number::bytes(device + host)), theme::weak()),
    };
    let text = RichText::new(text).color(color).size(12.0);
    past_menu::show(ui, text, timeline, actions).on_hover_text(cost(timeline));
}

/// Writes files of what is shown.
fn export_menu(ui: &mut Ui, actions: &mut Vec<Action>) {
    let (button, _) = MenuButton::new("Export").ui(ui, |ui| {
        let state = "A .npz file: numpy opens it, and `warpaint render --from` goes on from it";
        let run = "A file for others: `warpaint replay` does the same steps again and compares";
        for (text, tip, what) in [
            ("State at this step", state, Exportable::State),
            ("Run up to this step", run, Exportable::Run),
        ] {
            if ui.button(text).on_hover_text(tip).clicked() {
                actions.push(Action::Export(what));
                ui.close();
            }
        }
    });
    button.on_hover_text("Write the state or the run to a file beside the scene's own one");
}

/// Whether the moment that is shown was not had again to the bit.
fn is_other(timeline: &Timeline) -> bool {
    let Moment { line, step } = timeline.shown;
    let mut others = timeline.lines.iter().filter(|of| of.id == line).flat_map(|line| &line.others);
    others.any(|[from, to]| (from + 1..*to).contains(&step))
}

fn cost(timeline: &Timeline) -> String {
    let [device, host] = timeline.bytes;
    let Budget { device: most_device, host: most_host } = timeline.keeping.budget;
    let with_host = match most_host {
        0 => String::new(),
        _ => format!(", {} of {} with the host", number::bytes(host), number::bytes(most_host)),
    };
    format!(
        "Copies of the state: {} of {} on the device{with_host}.\nOne is taken every {} steps, which takes {:.1} % of \
         their time.\nDrag along the bar to see a past step.",
        number::bytes(device),
        number::bytes(most_device),
        timeline.spacing,
        timeline.share * 100.0
    )
}

/// Where steps lie on the screen.
struct Scale {
    rect: Rect,
    first: f64,
    last: f64,
    /// The height of a line.
    row: f32,
}

impl Scale {
    fn new(lines: &[Line], rect: Rect) -> Self {
        let first = lines.iter().map(|line| line.first).min().unwrap_or(0);
        let last = lines.iter().map(|line| line.last).max().unwrap_or(0);
        let row = rect.height() / lines.len().max(1) as f32;
        Self { rect, first: first as f64, last: last.max(first + 1) as f64, row }
    }

    fn x(&self, step: u64) -> f32 {
        let part = (step as f64 - self.first) / (self.last - self.first);
        self.rect.left() + part.clamp(0.0, 1.0) as f32 * self.rect.width()
    }

    fn y(&self, row: usize) -> f32 {
        self.rect.top() + (row as f32 + 0.5) * self.row
    }

    /// The moment in this place, in the line whose bar is nearest.
    fn moment(&self, at: Pos2, lines: &[Line]) -> Option<Moment> {
        let row = ((at.y - self.rect.top()) / self.row.max(1.0)).max(0.0) as usize;
        let line = lines.get(row.min(lines.len().saturating_sub(1)))?;
        let part = f64::from((at.x - self.rect.left()) / self.rect.width());
        let step = self.first + part.clamp(0.0, 1.0) * (self.last - self.first);
        let step = (step.round() as u64).clamp(line.first, line.last);
        Some(Moment { line: line.id, step })
    }

    fn draw(&self, ui: &Ui, row: usize, line: &Line, timeline: &Timeline, is_last: bool) {
        let (painter, y) = (ui.painter(), self.y(row));
        let (left, right) = (self.x(line.first), self.x(line.last));
        let color = if is_last { theme::weak() } else { theme::faint() };
        let thick = (0.5 * self.row - 1.0).min(3.0);
        let bar = Rect::from_x_y_ranges(left..=right.max(left + 3.0), y - thick..=y + thick);
        painter.rect_filled(bar, thick, theme::faded(color, 0.55));
        for [from, to] in &line.others {
            let steps = Rect::from_x_y_ranges(self.x(*from)..=self.x(*to), bar.y_range());
            painter.rect_filled(steps, 0.0, theme::faded(theme::warning(), 0.55));
        }
        let mut last = f32::NEG_INFINITY;
        for step in &line.copies {
            let x = self.x(*step);
            // Closer ones would be a pattern that says nothing.
            if x - last >= LEAST_DISTANCE {
                painter.vline(x, Rangef::new(y - 1.5, y + 1.5), Stroke::new(1.0, theme::ground()));
                last = x;
            }
        }
        for (step, _) in line.edits.iter().skip(1) {
            painter.circle_filled(pos2(self.x(*step), y), 3.0, theme::note());
        }
        if let Some(parent) = line.parent {
            painter.circle_filled(pos2(self.x(parent.step), y), 3.0, color);
        }
        let shown = timeline.sought.unwrap_or(timeline.shown);
        if shown.line == line.id {
            let x = self.x(shown.step);
            let color = if timeline.is_past { theme::accent() } else { theme::strong() };
            painter.vline(
                x,
                Rangef::new(y - 2.0 * thick, y + 2.0 * thick),
                Stroke::new(2.0, color),
            );
            if timeline.is_past {
                let place = pos2(x + 5.0, y);
                let text = number::count(shown.step);
                painter.text(place, Align2::LEFT_CENTER, text, theme::code_font(10.5), color);
            }
        }
    }
}
