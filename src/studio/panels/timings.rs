//! The device time of every pass, and of the window's own frames: as numbers, as their history, and one frame in all
//! its parts.

use egui::{
    Align, Align2, Color32, FontId, Layout, Pos2, Rect, RichText, ScrollArea, Sense, Stroke, Ui,
    UiBuilder, pos2, vec2,
};
use egui_plot::{GridMark, Line, Plot, PlotPoints};

use super::{
    FrameTimes,
    comparison_menu::{WITHOUT_GUARD, unguarded},
    named, tab,
};
use crate::{
    session::{Command, Comparison, Guarding, KernelGuarding, PassRatio, Snapshot},
    studio::{
        action::Action,
        number, theme,
        trace::{Span, Trace, TracedFrame, Track, Written},
    },
};

/// The width of the table, and of one of its numbers.
const TABLE: f32 = 430.0;
const NUMBER: f32 = 62.0;
/// The height of a row of the table, and of one of the frame's parts.
const ROW: f32 = 17.0;
const PART: f32 = 19.0;
/// The height of the bars among which a frame is chosen.
const CHOOSER: f32 = 34.0;

/// What the panel remembers from frame to frame.
#[derive(Debug, Default)]
pub struct Local {
    shown: Picture,
    /// The frame that was chosen; the last one until then.
    frame: Option<u64>,
}

/// What stands beside the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Picture {
    #[default]
    Lines,
    Stacked,
    Frame,
}

/// A row of the table and a line of the plot.
struct Series<'a> {
    name: &'a str,
    last_ms: f32,
    history_ms: &'a [f32],
    color: Color32,
    /// Whether it is of the device's step.
    is_pass: bool,
}

/// The table, and the picture right of it where there is room.
pub fn show(
    ui: &mut Ui,
    snapshot: &Snapshot,
    frames: &FrameTimes,
    trace: &Trace,
    local: &mut Local,
) -> Vec<Action> {
    let mut actions = Vec::new();
    let rows = series(snapshot, frames);
    let space = ui.available_rect_before_wrap();
    let table_width = TABLE.min(space.width());
    let (left, right) = space.split_left_right_at_x(space.left() + table_width);
    ui.scope_builder(UiBuilder::new().max_rect(left), |ui| {
        let area = ScrollArea::both().id_salt("timings").auto_shrink(false);
        area.show(ui, |ui| {
            ui.set_width(TABLE - 12.0);
            table(ui, &rows);
            if let Some(guard) = &snapshot.guard {
                guarding(ui, guard, &snapshot.guards);
                cost(ui, snapshot.comparison.as_ref(), &mut actions);
            }
        });
    });
    let right = right.with_min_x(right.left() + 12.0);
    if right.width() > 160.0 {
        ui.scope_builder(UiBuilder::new().max_rect(right), |ui| {
            choice(ui, local, &mut actions);
            ui.add_space(4.0);
            match local.shown {
                Picture::Lines => plot(ui, &rows),
                Picture::Stacked => stacked(ui, &rows),
                Picture::Frame => frame(ui, trace, local),
            }
        });
    }
    actions
}

/// What is shown beside the table, and the files.
fn choice(ui: &mut Ui, local: &mut Local, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 14.0;
        let all = [
            (Picture::Lines, "History"),
            (Picture::Stacked, "Stacked"),
            (Picture::Frame, "One frame"),
        ];
        for (picture, name) in all {
            if tab(ui, name, local.shown == picture).clicked() {
                local.shown = picture;
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            let tip = "Write all frames that are known as a trace that Chrome and Perfetto open";
            if ui.small_button("Trace").on_hover_text(tip).clicked() {
                actions.push(Action::ExportTimings(Written::Trace));
            }
            let tip = "Write a line for each part of each frame that is known";
            if ui.small_button("CSV").on_hover_text(tip).clicked() {
                actions.push(Action::ExportTimings(Written::Csv));
            }
        });
    });
}

fn series<'a>(snapshot: &'a Snapshot, frames: &'a FrameTimes) -> Vec<Series<'a>> {
    let passes = snapshot.passes.iter().enumerate().map(|(at, pass)| Series {
        name: &pass.name,
        last_ms: pass.last_ms,
        history_ms: &pass.history_ms,
        color: theme::series()[at % theme::series().len()],
        is_pass: true,
    });
    let window =
        [("draw", &frames.draw_ms, theme::strong()), ("frame", &frames.frame_ms, theme::faint())];
    let window = window.into_iter().map(|(name, history, color)| Series {
        name,
        last_ms: history.last().copied().unwrap_or(0.0),
        history_ms: history,
        color,
        is_pass: false,
    });
    passes.chain(window).collect()
}

/// The parts of the values in their order of which the table tells.
const PARTS: [(f32, &str); 4] = [(0.5, "median"), (0.95, "95 %"), (0.99, "99 %"), (1.0, "most")];

fn table(ui: &mut Ui, rows: &[Series<'_>]) {
    ui.spacing_mut().item_spacing.y = 3.0;
    let heads: Vec<String> =
        [("last")].into_iter().chain(PARTS.map(|(_, name)| name)).map(str::to_owned).collect();
    row(ui, None, "pass", &heads, theme::weak());
    for series in rows {
        let parts = number::quantiles(series.history_ms, &PARTS.map(|(part, _)| part));
        let numbers = [series.last_ms].into_iter().chain(parts).map(number::milliseconds);
        row(ui, Some(series.color), series.name, &numbers.collect::<Vec<_>>(), theme::text());
    }
}

/// What guards the kernels on a GPU.
fn guarding(ui: &mut Ui, guard: &Guarding, kernels: &[KernelGuarding]) {
    let Guarding { accesses, proved, checked, at_launch, unchecked } = *guard;
    let mut text = format!("guard: {accesses} accesses, {proved} proved, {checked} checks");
    if unchecked > 0 {
        text += &format!(", {unchecked} not guarded");
    }
    let mut about = format!(
        "An access outside its memory is told and does not happen, and a kernel that does not end is stopped. \
         {at_launch} of the checks are not needed in launches of which the arguments prove that they hold. \
         A pass with `guard = \"off\"` does without."
    );
    for KernelGuarding { kernel, accesses: of } in kernels {
        let left = of.checked - of.at_launch.min(of.checked);
        let proved = of.accesses.saturating_sub(left + of.unchecked);
        about += &format!("\n{kernel}: {} accesses, {proved} proved, {left} checked", of.accesses);
    }
    ui.label(RichText::new(text).small().color(theme::weak())).on_hover_text(about);
}

/// What the guard costs: B, which does without, tells.
fn cost(ui: &mut Ui, comparison: Option<&Comparison>, actions: &mut Vec<Action>) {
    let is_same = |of: &&Comparison| of.variant == unguarded() && of.has_same_text;
    let without = comparison.filter(is_same);
    ui.horizontal(|ui| {
        let (button, tip, command) = match without {
            None => ("Measure its cost", WITHOUT_GUARD, Command::StartComparison(unguarded())),
            Some(_) => ("End", "End the comparison with plain kernels", Command::StopComparison),
        };
        if ui.small_button(button).on_hover_text(tip).clicked() {
            actions.push(Action::Session(command));
        }
        let Some(comparison) = without else { return };
        let (text, about) = costs(&comparison.passes);
        ui.label(RichText::new(text).small().color(theme::weak())).on_hover_text(about);
    });
}

/// How much longer guarded passes take, in all and each.
fn costs(passes: &[PassRatio]) -> (String, String) {
    let [guarded, plain] =
        [0, 1].map(|side| passes.iter().map(|pass| pass.median_ms[side]).sum::<f64>());
    if plain <= 0.0 {
        return ("measuring …".to_owned(), String::new());
    }
    // B is the plain side, so a ratio of its time by the guarded one's is turned round.
    let each = passes.iter().filter_map(|pass| {
        let [first, median, third] = pass.ratio?.map(f64::recip);
        Some(format!("{}: {median:.3} (quartiles {third:.3} to {first:.3})", pass.name))
    });
    let about = each.collect::<Vec<_>>().join("\n");
    (format!("guarded passes take {:.3} times as long as plain ones", guarded / plain), about)
}

fn row(ui: &mut Ui, swatch: Option<Color32>, name: &str, numbers: &[String], color: Color32) {
    let header = swatch.is_none();
    let text = |text: &str| match header {
        true => RichText::new(text).small().color(color),
        false => RichText::new(text).monospace().color(color),
    };
    ui.horizontal(|ui| {
        ui.set_height(ROW);
        ui.spacing_mut().item_spacing.x = 4.0;
        let (rect, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
        if let Some(swatch) = swatch {
            ui.painter().rect_filled(rect.shrink(1.0), 2.0, swatch);
        }
        let cell = |ui: &mut Ui, width: f32, layout: Layout, words: &str| {
            ui.allocate_ui_with_layout(vec2(width, ROW), layout, |ui| {
                ui.set_width(width);
                ui.add(egui::Label::new(text(words)).truncate());
            });
        };
        let beside = numbers.len() as f32 * (NUMBER + 4.0);
        let width = (ui.available_width() - beside).max(50.0);
        cell(ui, width, Layout::left_to_right(Align::Center), name);
        for number in numbers {
            cell(ui, NUMBER, Layout::right_to_left(Align::Center), number);
        }
    });
}

fn plot(ui: &mut Ui, rows: &[Series<'_>]) {
    let passes =
        rows.iter().filter(|series| series.name != "frame" && !series.history_ms.is_empty());
    let lines: Vec<Line<'_>> = passes
        .map(|series| {
            let first = -(series.history_ms.len() as f64) + 1.0;
            let points = series.history_ms.iter().enumerate();
            let points: PlotPoints<'_> =
                points.map(|(at, ms)| [first + at as f64, f64::from(*ms)]).collect();
            Line::new(series.name, points).color(series.color).width(1.5)
        })
        .collect();
    let axis =
        |mark: GridMark, _: &std::ops::RangeInclusive<f64>| number::milliseconds(mark.value as f32);
    let plot = Plot::new("timing history")
        .show_x(false)
        .set_margin_fraction(vec2(0.0, 0.08))
        .grid_color(theme::line())
        .show_axes([false, true])
        .y_axis_formatter(axis)
        .y_axis_min_width(54.0)
        .include_y(0.0)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .show_grid([false, true])
        .label_formatter(|hover| {
            let (name, at) = match hover {
                egui_plot::HoverPosition::NearDataPoint { plot_name, position, .. } => {
                    (*plot_name, position.y)
                }
                egui_plot::HoverPosition::Elsewhere { position } => ("", position.y),
            };
            Some(format!("{name}  {}", number::milliseconds(at as f32)))
        })
        .show(ui, |plot| lines.into_iter().for_each(|line| plot.line(line)));
    named(&plot.response, "Times of the last steps and frames");
}

/// The passes of each step on top of one another: how long the step took, and what of it.
fn stacked(ui: &mut Ui, rows: &[Series<'_>]) {
    let passes: Vec<&Series<'_>> = rows.iter().filter(|series| series.is_pass).collect();
    let steps = passes.iter().map(|pass| pass.history_ms.len()).max().unwrap_or(0);
    let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
    ui.painter().rect_filled(rect, 3.0, theme::ground());
    // Histories end at the same step, and begin where their pass did.
    let of = |pass: &Series<'_>, back: usize| {
        pass.history_ms.len().checked_sub(back + 1).map_or(0.0, |at| pass.history_ms[at])
    };
    let whole = |back: usize| passes.iter().map(|pass| of(pass, back)).sum::<f32>();
    let most = (0..steps).map(whole).fold(0.0, f32::max);
    if most <= 0.0 {
        return;
    }
    let area = rect.shrink2(vec2(0.0, 2.0)).with_min_y(rect.top() + 16.0);
    let width = area.width() / steps as f32;
    for back in 0..steps {
        let right = area.right() - back as f32 * width;
        let mut bottom = area.bottom();
        for pass in &passes {
            let top = bottom - of(pass, back) / most * area.height();
            let bar = Rect::from_min_max(pos2(right - width, top), pos2(right, bottom));
            ui.painter().rect_filled(bar, 0.0, pass.color);
            bottom = top;
        }
    }
    label(
        ui,
        rect.left_top() + vec2(6.0, 3.0),
        &format!("{} a step at most", number::milliseconds(most)),
    );
    let hovered = response.hover_pos().map(|at| ((area.right() - at.x) / width) as usize);
    if let Some(back) = hovered.filter(|back| *back < steps) {
        let right = area.right() - back as f32 * width;
        let column = Rect::from_x_y_ranges(right - width..=right, area.y_range());
        ui.painter().rect_filled(column, 0.0, theme::faded(theme::strong(), 0.15));
        let parts = passes
            .iter()
            .rev()
            .map(|pass| format!("{}  {}", pass.name, number::milliseconds(of(pass, back))));
        let text = format!(
            "{}\n{}",
            match back {
                0 => "the last step".to_owned(),
                back => format!("{back} steps before"),
            },
            parts.collect::<Vec<_>>().join("\n")
        );
        response.on_hover_text_at_pointer(RichText::new(text).monospace());
    }
}

/// One frame in all its parts, below the bars of all, among which it is chosen.
fn frame(ui: &mut Ui, trace: &Trace, local: &mut Local) {
    choose_frame(ui, trace, local);
    let Some(frame) = trace.frame(local.frame) else { return };
    ui.horizontal(|ui| {
        let text = format!("frame {}: {}", frame.number, number::milliseconds(frame.ms as f32));
        ui.label(RichText::new(text).small().color(theme::text()));
        if local.frame.is_some() && ui.small_button("The last one").clicked() {
            local.frame = None;
        }
    });
    let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
    ui.painter().rect_filled(rect, 3.0, theme::ground());
    flame(ui, rect, frame, response.hover_pos());
}

/// A bar for each frame, as high as it took long; a click chooses one.
fn choose_frame(ui: &mut Ui, trace: &Trace, local: &mut Local) {
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), CHOOSER), Sense::click_and_drag());
    response.widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::Slider, true, "The frame that is shown")
    });
    ui.painter().rect_filled(rect, 3.0, theme::ground());
    let most = (rect.width() / 3.0) as usize;
    let shown: Vec<&TracedFrame> = trace.frames().rev().take(most).collect();
    let longest = shown.iter().map(|frame| frame.ms).fold(1e-3, f64::max);
    let place = |back: usize| {
        let right = rect.right() - back as f32 * 3.0;
        let part = (shown[back].ms / longest) as f32;
        let top = rect.bottom() - part * (rect.height() - 3.0);
        Rect::from_min_max(pos2(right - 2.0, top), pos2(right, rect.bottom()))
    };
    let chosen = trace.frame(local.frame).map(|frame| frame.number);
    for (back, frame) in shown.iter().enumerate() {
        let color = if Some(frame.number) == chosen { theme::accent() } else { theme::faint() };
        ui.painter().rect_filled(place(back), 0.0, color);
    }
    if let Some(at) = response.interact_pointer_pos().filter(|at| rect.contains(*at)) {
        let back = ((rect.right() - at.x) / 3.0) as usize;
        local.frame = shown.get(back).map(|frame| frame.number).or(local.frame);
    }
    response.on_hover_text("Each bar is a frame, the last one at the right: click on one");
}

/// The parts of a frame: a row for each track, on a scale of time that has all of them.
fn flame(ui: &Ui, rect: Rect, frame: &TracedFrame, hovered: Option<Pos2>) {
    let whole =
        Span { track: Track::Window, name: "frame".into(), start_ms: frame.start_ms, ms: frame.ms };
    let all = || [&whole].into_iter().chain(&frame.spans);
    let first = all().map(|span| span.start_ms).fold(f64::INFINITY, f64::min);
    let last = all().map(|span| span.start_ms + span.ms).fold(f64::NEG_INFINITY, f64::max);
    let area = rect.shrink(6.0).with_min_x(rect.left() + 70.0);
    let x = |ms: f64| area.left() + ((ms - first) / (last - first).max(1e-6)) as f32 * area.width();
    let mut y = area.top();
    let mut told = None;
    for track in Track::ALL {
        let spans: Vec<&Span> = frame.spans.iter().filter(|span| span.track == track).collect();
        if spans.is_empty() && track != Track::Window {
            continue;
        }
        label(ui, pos2(rect.left() + 6.0, y + 3.0), track.name());
        let rows = match track {
            Track::Window => vec![vec![&whole], spans],
            Track::Device | Track::OpenGl | Track::Compiler => vec![spans],
        };
        for spans in rows {
            for (at, span) in spans.into_iter().enumerate() {
                let left = x(span.start_ms);
                let right = x(span.start_ms + span.ms).max(left + 1.0);
                let place = Rect::from_x_y_ranges(left..=right, y..=y + PART - 2.0);
                bar(ui, place, span, color_of(track, at));
                if hovered.is_some_and(|at| place.contains(at)) {
                    told = Some((place, span));
                }
            }
            y += PART;
        }
        y += 4.0;
    }
    if let Some((place, span)) = told {
        ui.painter().rect_stroke(
            place,
            2.0,
            Stroke::new(1.0, theme::strong()),
            egui::StrokeKind::Inside,
        );
        let text = format!("{}  {}", span.name, number::milliseconds(span.ms as f32));
        label(ui, pos2(area.left(), (y + 2.0).min(rect.bottom() - 16.0)), &text);
    }
}

fn color_of(track: Track, at: usize) -> Color32 {
    let series = theme::series();
    match track {
        Track::Window => theme::raised(),
        Track::Device => theme::faded(series[at % series.len()], 0.8),
        Track::OpenGl => theme::faint(),
        Track::Compiler => theme::faded(theme::note(), 0.7),
    }
}

/// A part of a frame, with its name where there is room for it.
fn bar(ui: &Ui, place: Rect, span: &Span, color: Color32) {
    let painter = ui.painter_at(place.intersect(ui.clip_rect()));
    painter.rect_filled(place.shrink2(vec2(0.5, 0.0)), 2.0, color);
    if place.width() > 26.0 {
        let font = FontId::proportional(11.0);
        painter.text(
            place.left_center() + vec2(5.0, 0.0),
            Align2::LEFT_CENTER,
            &span.name,
            font,
            theme::strong(),
        );
    }
}

fn label(ui: &Ui, at: Pos2, text: &str) {
    ui.painter().text(at, Align2::LEFT_TOP, text, FontId::proportional(11.0), theme::weak());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        session::{ComparisonPhase, PassTiming, Variant},
        studio::{
            test_screen::{TestScreen, snapshot},
            trace::tests::trace,
        },
    };

    fn shown(screen: &mut TestScreen, local: &mut Local) -> Vec<Action> {
        shown_with(screen, local, snapshot())
    }

    fn shown_with(
        screen: &mut TestScreen,
        local: &mut Local,
        mut snapshot: Snapshot,
    ) -> Vec<Action> {
        let trace = trace();
        let history_ms = (1..=100).map(|ms| ms as f32).collect();
        let pass = |name: &str| PassTiming {
            name: name.to_owned(),
            last_ms: 100.0,
            history_ms,
            bytes: None,
            flops: None,
        };
        snapshot.passes = vec![pass("advect")];
        let mut actions = Vec::new();
        screen.frame(|ui| {
            actions.extend(show(ui, &snapshot, &FrameTimes::default(), &trace, local));
        });
        actions
    }

    #[test]
    fn percentiles_stand_in_the_table() {
        let (mut screen, mut local) = (TestScreen::default(), Local::default());
        shown(&mut screen, &mut local);
        for told in ["advect", "95 %", "50.0 ms", "95.0 ms", "99.0 ms", "100 ms"] {
            assert!(screen.sees(told), "{told}: {:?}", screen.written());
        }
    }

    #[test]
    fn what_the_guard_costs_is_measured_against_plain_kernels() {
        let (mut screen, mut local) = (TestScreen::default(), Local::default());
        let guard = Guarding { accesses: 12, proved: 9, checked: 3, at_launch: 1, unchecked: 0 };
        let not_all = Guarding { accesses: 14, unchecked: 2, ..guard };
        shown_with(&mut screen, &mut local, Snapshot { guard: Some(not_all), ..snapshot() });
        let told = "guard: 14 accesses, 9 proved, 3 checks, 2 not guarded";
        assert!(screen.sees(told), "{:?}", screen.written());
        let mut guarded = Snapshot { guard: Some(guard), ..snapshot() };
        shown_with(&mut screen, &mut local, guarded.clone());
        screen.click("Measure its cost");
        let start = Command::StartComparison(unguarded());
        let done = shown_with(&mut screen, &mut local, guarded.clone());
        assert_eq!(done, [Action::Session(start)]);
        let pass = |name: &str, ratio: f64, median_ms| PassRatio {
            name: name.to_owned(),
            ratio: Some([ratio - 0.1, ratio, ratio + 0.1]),
            median_ms,
        };
        guarded.comparison = Some(Comparison {
            variant: unguarded(),
            has_same_text: true,
            phase: ComparisonPhase::Running,
            since: 0,
            step: Some(3),
            resources: Vec::new(),
            unlike: Vec::new(),
            passes: vec![pass("advect", 0.5, [2.0, 1.0]), pass("show", 1.0, [3.0, 3.0])],
        });
        shown_with(&mut screen, &mut local, guarded.clone());
        let told = "guarded passes take 1.250 times as long as plain ones";
        assert!(screen.sees(told), "{:?}", screen.written());
        // Another B says nothing of the guard.
        if let Some(comparison) = &mut guarded.comparison {
            comparison.variant = Variant::default();
        }
        shown_with(&mut screen, &mut local, guarded);
        assert!(screen.sees("Measure its cost"), "{:?}", screen.written());
    }

    #[test]
    fn one_frame_shows_its_parts_and_files_are_asked_for() {
        let (mut screen, mut local) = (TestScreen::default(), Local::default());
        shown(&mut screen, &mut local);
        assert!(!screen.sees("panels"));
        screen.click("One frame");
        shown(&mut screen, &mut local);
        shown(&mut screen, &mut local);
        for told in ["frame 2: 10.0 ms", "panels", "show", "smooth<1, 0>", "device", "OpenGL"] {
            assert!(screen.sees(told), "{told}: {:?}", screen.written());
        }
        screen.click("Stacked");
        shown(&mut screen, &mut local);
        shown(&mut screen, &mut local);
        assert!(screen.sees("100 ms a step at most"));
        screen.click("Trace");
        assert_eq!(shown(&mut screen, &mut local), [Action::ExportTimings(Written::Trace)]);
        screen.click("CSV");
        assert_eq!(shown(&mut screen, &mut local), [Action::ExportTimings(Written::Csv)]);
    }
}
