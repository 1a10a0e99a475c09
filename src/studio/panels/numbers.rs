//! The elements of a resource: a table that is filtered and sorted, and how the values of a column are spread and have
//! changed.

use egui::{
    Align, Button, ComboBox, Layout, Rect, RichText, Sense, Stroke, TextEdit, Ui, UiBuilder, pos2,
    vec2,
};
use egui_extras::{Column, TableBuilder};

use super::named;
use crate::{
    session::Snapshot,
    studio::{
        action::Action,
        icons, number,
        table::{Histogram, MOST_BYTES, PAGE, Table, Wish, Written},
        tables::Tables,
        theme,
        trends::{Sample, Trends},
    },
};

const ROW: f32 = 19.0;
/// The width of the histogram and the history beside the table.
const SIDE: f32 = 250.0;

/// What the panel remembers from frame to frame.
#[derive(Debug, Default)]
pub struct Local {
    /// The resource that is shown; the first one until another is chosen.
    pub resource: Option<String>,
    /// What is wanted of it.
    pub wish: Wish,
    jump: String,
    /// The page of rows that is shown, from 0.
    page: u64,
    /// The element that is to be brought in sight, and the one that is marked.
    seeks: Option<u64>,
    marked: Option<u64>,
}

impl Local {
    /// Shows an element of a resource.
    pub fn go_to(&mut self, resource: &str, element: u64) {
        if self.resource.as_deref() != Some(resource) {
            *self = Self { resource: Some(resource.to_owned()), ..Self::default() };
        }
        self.wish.filter.clear();
        self.wish.sort = None;
        (self.seeks, self.marked) = (Some(element), Some(element));
    }

    /// The resource to show of these.
    pub fn chosen(&self, snapshot: &Snapshot) -> Option<String> {
        let is_there = |name: &&String| snapshot.resources.iter().any(|of| of.name == **name);
        let first = snapshot.resources.first().map(|of| of.name.clone());
        self.resource.as_ref().filter(is_there).cloned().or(first)
    }
}

/// The panel.
pub fn show(
    ui: &mut Ui,
    snapshot: &Snapshot,
    tables: &Tables,
    trends: &Trends,
    local: &mut Local,
) -> Vec<Action> {
    let mut actions = Vec::new();
    let Some(name) = local.chosen(snapshot) else {
        ui.label(RichText::new("There is nothing to show yet.").color(theme::weak()));
        return actions;
    };
    let table = tables.present().filter(|table| table.content.resource.name == name);
    let table = table.map(|table| &**table);
    bar(ui, snapshot, &name, table, local, &mut actions);
    let Some(table) = table else {
        let bytes = snapshot.resources.iter().find(|of| of.name == name).map_or(0, |of| of.bytes);
        let text = match bytes > MOST_BYTES {
            true => format!(
                "{} are too much for a table: it has {} at most. Statistics are of all.",
                number::bytes(bytes),
                number::bytes(MOST_BYTES)
            ),
            false => "The elements are on their way \u{2026}".to_owned(),
        };
        ui.label(RichText::new(text).color(theme::weak()));
        return actions;
    };
    let space = ui.available_rect_before_wrap();
    let side = if space.width() > 2.2 * SIDE { SIDE } else { 0.0 };
    let (left, right) = space.split_left_right_at_x(space.right() - side);
    // What is in them has the panel's size, and gives it none.
    elements(&mut ui.new_child(UiBuilder::new().max_rect(left)), table, local);
    if side > 0.0 {
        let right = right.with_min_x(right.left() + 14.0);
        let mut beside = ui.new_child(UiBuilder::new().max_rect(right));
        spread(&mut beside, table, trends, local.wish.column);
    }
    ui.allocate_rect(space, Sense::hover());
    actions
}

fn bar(
    ui: &mut Ui,
    snapshot: &Snapshot,
    name: &str,
    table: Option<&Table>,
    local: &mut Local,
    actions: &mut Vec<Action>,
) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        let combo = ComboBox::from_id_salt("numbers of").selected_text(name).width(120.0);
        let combo = combo.show_ui(ui, |ui| {
            for resource in &snapshot.resources {
                if ui.selectable_label(resource.name == name, &resource.name).clicked() {
                    *local = Local { resource: Some(resource.name.clone()), ..Local::default() };
                }
            }
        });
        named(&combo.response, "Resource");
        let filter = TextEdit::singleline(&mut local.wish.filter);
        ui.add(filter.hint_text("x > 1 || isnan(y)").desired_width(170.0)).on_hover_text(
            "Shows the elements for which this holds: of the columns, and i, the index",
        );
        let jump = TextEdit::singleline(&mut local.jump).hint_text("element").desired_width(80.0);
        let field = ui.add(jump).on_hover_text("Goes to the element with this index");
        if field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter)) {
            local.seeks = local.jump.trim().parse().ok();
            local.marked = local.seeks;
        }
        if let Some(table) = table {
            pages(ui, table, local);
            told(ui, table);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if ui
                .small_button(".npy")
                .on_hover_text("Write all elements as numpy reads them")
                .clicked()
            {
                actions.push(Action::ExportNumbers(Written::Npy));
            }
            if ui
                .small_button("CSV")
                .on_hover_text("Write the rows that are shown, in this order")
                .clicked()
            {
                actions.push(Action::ExportNumbers(Written::Csv));
            }
        });
    });
    ui.add_space(2.0);
}

/// The page of rows, where there are several.
fn pages(ui: &mut Ui, table: &Table, local: &mut Local) {
    let pages = table.rows.pages(&table.content);
    local.page = local.page.min(pages - 1);
    if pages < 2 {
        return;
    }
    ui.spacing_mut().item_spacing.x = 4.0;
    let before = ui.add_enabled(local.page > 0, Button::new("\u{2039}").small());
    if before.on_hover_text("The page before").clicked() {
        local.page -= 1;
    }
    let text = format!("page {} of {}", number::count(local.page + 1), number::count(pages));
    ui.label(RichText::new(text).small().color(theme::text()));
    let next = ui.add_enabled(local.page + 1 < pages, Button::new("\u{203a}").small());
    if next.on_hover_text("The next page").clicked() {
        local.page += 1;
    }
    ui.spacing_mut().item_spacing.x = 8.0;
}

/// How many rows there are, or what is wrong with the filter.
fn told(ui: &mut Ui, table: &Table) {
    let (text, color) = match &table.problem {
        Some(problem) => (problem.clone(), theme::error()),
        None => {
            let (rows, all) = (table.rows.count(&table.content), table.content.count());
            let step = number::count(table.content.step);
            let text = match rows == all {
                true => format!("{} elements, after step {step}", number::count(all)),
                false => {
                    format!("{} of {}, after step {step}", number::count(rows), number::count(all))
                }
            };
            (text, theme::weak())
        }
    };
    ui.add(egui::Label::new(RichText::new(text).small().color(color)).truncate());
}

fn elements(ui: &mut Ui, table: &Table, local: &mut Local) {
    let content = &table.content;
    let all = table.rows.count(content);
    let seeks = local.seeks.take().and_then(|element| table.rows.row(element));
    let seeks = seeks.filter(|row| *row < all);
    local.page = seeks.map_or(local.page, |row| row / PAGE);
    let rows = table.rows.page(content, local.page);
    egui::ScrollArea::horizontal().id_salt("numbers across").auto_shrink(false).show(ui, |ui| {
        let height = (ui.available_height() - 30.0).max(20.0);
        let mut builder = TableBuilder::new(ui)
            .id_salt(("numbers", local.page))
            .auto_shrink(false)
            .min_scrolled_height(0.0)
            .max_scroll_height(height)
            .cell_layout(Layout::right_to_left(Align::Center))
            .column(Column::initial(70.0).at_least(50.0))
            .columns(Column::initial(92.0).at_least(60.0), content.names.len());
        if let Some(row) = seeks {
            builder = builder.scroll_to_row((row - rows.start) as usize, Some(Align::Center));
        }
        let table_of = builder.header(20.0, |mut header| {
            header.col(|ui| head(ui, "index", None, false, local));
            for (column, name) in content.names.iter().enumerate() {
                header.col(|ui| head(ui, name, Some(column), column == local.wish.column, local));
            }
        });
        table_of.body(|body| {
            body.rows(ROW, (rows.end - rows.start) as usize, |mut row| {
                let element = table.rows.element(rows.start + row.index() as u64);
                let is_marked = local.marked == Some(element);
                let index = if is_marked { theme::accent() } else { theme::weak() };
                row.col(|ui| _ = ui.label(mono(number::count(element)).color(index)));
                for column in 0..content.names.len() {
                    let value = content.value(element, column);
                    let color = if value.is_finite() { theme::text() } else { theme::error() };
                    row.col(|ui| {
                        let label = ui.label(mono(number::value(value)).color(color));
                        label.on_hover_ui(|ui| {
                            ui.label(mono(content.number(element, column).to_string()));
                        });
                    });
                }
            });
        });
    });
}

fn mono(text: String) -> RichText {
    RichText::new(text).monospace()
}

/// A column's name: a click sorts by it, the other way the second time, and not at all the third.
fn head(ui: &mut Ui, name: &str, column: Option<usize>, is_chosen: bool, local: &mut Local) {
    let sorted = local.wish.sort.filter(|(by, _)| Some(*by) == column);
    // Behind the name is room for a sign, which few fonts have.
    let mark = if sorted.is_some() { "    " } else { "" };
    let color = if is_chosen { theme::strong() } else { theme::weak() };
    let text = RichText::new(format!("{name}{mark}")).small().color(color);
    let button = ui.add(Button::new(text).frame(false)).on_hover_text("Sort by it");
    if let Some((_, down)) = sorted {
        let place = button.rect.right_center() - vec2(8.0, 0.0);
        icons::direction(ui.painter(), place, color, down);
    }
    if button.clicked() {
        local.wish.sort = match (column, local.wish.sort) {
            (Some(column), Some((by, false))) if by == column => Some((column, true)),
            (Some(column), Some((by, true))) if by == column => None,
            (Some(column), _) => Some((column, false)),
            (None, _) => None,
        };
        local.wish.column = column.unwrap_or(local.wish.column);
    }
}

/// The histogram of a column, and how its range and its mean have changed.
fn spread(ui: &mut Ui, table: &Table, trends: &Trends, column: usize) {
    let Some(name) = table.content.names.get(column) else { return };
    ui.spacing_mut().item_spacing.y = 3.0;
    let height = ((ui.available_height() - 96.0) / 2.0).clamp(16.0, 160.0);
    ui.label(
        RichText::new(format!("{name}: how often each value is there"))
            .small()
            .color(theme::weak()),
    );
    histogram(ui, height, &table.histogram);
    ui.add_space(6.0);
    let resource = &table.content.resource.name;
    let samples: Vec<Sample> = trends.of(resource, column).collect();
    ui.label(RichText::new("range and mean, step by step").small().color(theme::weak()));
    history(ui, height, &samples);
}

fn ends(ui: &mut Ui, low: String, high: String) {
    ui.horizontal(|ui| {
        ui.label(mono(low).size(11.0).color(theme::weak()));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(mono(high).size(11.0).color(theme::weak()));
        });
    });
}

fn histogram(ui: &mut Ui, height: f32, histogram: &Histogram) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    ui.painter().rect_filled(rect, 3.0, theme::ground());
    let most = histogram.bars.iter().copied().max().unwrap_or(0).max(1) as f32;
    let width = rect.width() / histogram.bars.len().max(1) as f32;
    for (at, count) in histogram.bars.iter().enumerate().filter(|(_, count)| **count > 0) {
        // What is rare is seen, too.
        let part = (*count as f32 / most).max(1.5 / rect.height().max(1.0));
        let left = rect.left() + at as f32 * width;
        let top = pos2(left + 0.5, rect.bottom() - part * rect.height());
        let bar = Rect::from_min_max(top, pos2(left + width - 0.5, rect.bottom()));
        ui.painter().rect_filled(bar, 0.0, theme::accent());
    }
    if !histogram.bars.is_empty() {
        let [low, high] = histogram.range;
        ends(ui, number::value(low), number::value(high));
    }
}

fn history(ui: &mut Ui, height: f32, samples: &[Sample]) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    ui.painter().rect_filled(rect, 3.0, theme::ground());
    let finite = |value: &f64| value.is_finite();
    let low = samples.iter().map(|of| of.min).filter(finite).fold(f64::INFINITY, f64::min);
    let high = samples.iter().map(|of| of.max).filter(finite).fold(f64::NEG_INFINITY, f64::max);
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return };
    if low > high || first.step == last.step {
        return;
    }
    let width = (high - low).max(f64::MIN_POSITIVE);
    let x = |step: u64| {
        let along = (step - first.step) as f32 / (last.step - first.step) as f32;
        rect.left() + along * rect.width()
    };
    let y =
        |value: f64| rect.bottom() - 2.0 - ((value - low) / width) as f32 * (rect.height() - 4.0);
    let whole = samples.iter().filter(|of| [of.min, of.mean, of.max].iter().all(finite));
    let mut mean: Vec<egui::Pos2> = Vec::new();
    for of in whole {
        let at = pos2(x(of.step), y(of.mean));
        let from = mean.last().map_or(at.x, |last| last.x);
        let band = Rect::from_x_y_ranges(from..=at.x, y(of.max)..=y(of.min));
        ui.painter().rect_filled(band, 0.0, theme::faded(theme::accent(), 0.25));
        mean.push(at);
    }
    ui.painter().line(mean, Stroke::new(1.5, theme::accent()));
    ends(ui, number::value(low), number::value(high));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::{
        table::tests::content,
        test_screen::{TestScreen, snapshot},
    };

    fn tables(wish: &Wish) -> Tables {
        let content = content(&[[3.0, 0.5], [1.0, f32::NAN], [2.0, 5.0]]);
        Tables::with(Table::make(content, wish.clone(), &|| Ok(())).expect("it is wanted"))
    }

    fn shown(screen: &mut TestScreen, local: &mut Local) -> Vec<Action> {
        let (mut snapshot, trends) = (snapshot(), Trends::default());
        snapshot.resources[0].name = "a".into();
        let mut actions = Vec::new();
        for _ in 0..3 {
            let tables = tables(&local.wish);
            screen.frame(|ui| actions.extend(show(ui, &snapshot, &tables, &trends, local)));
        }
        actions
    }

    #[test]
    fn elements_are_listed_sorted_by_a_click_and_filtered() {
        let (mut screen, mut local) = (TestScreen::default(), Local::default());
        shown(&mut screen, &mut local);
        assert!(screen.sees("3 elements, after step 3") && screen.sees("NaN"));
        screen.click("x");
        shown(&mut screen, &mut local);
        assert_eq!(local.wish.sort, Some((0, false)));
        screen.click("x    ");
        shown(&mut screen, &mut local);
        assert_eq!(local.wish.sort, Some((0, true)));
        local.wish.filter = "isnan(y)".into();
        shown(&mut screen, &mut local);
        assert!(screen.sees("1 of 3") && !screen.sees("5.000"));
        local.wish.filter = "oops".into();
        shown(&mut screen, &mut local);
        assert!(screen.sees("there is no `oops`, but x, y and i"));
        screen.click("CSV");
        assert_eq!(shown(&mut screen, &mut local), [Action::ExportNumbers(Written::Csv)]);
    }

    #[test]
    fn an_element_that_is_asked_for_is_marked_whatever_was_filtered() {
        let mut local = Local::default();
        local.wish.filter = "x > 2".into();
        local.go_to("a", 1);
        let mut screen = TestScreen::default();
        shown(&mut screen, &mut local);
        assert!(screen.sees("3 elements"));
        assert_eq!((local.marked, local.seeks), (Some(1), None));
    }

    #[test]
    fn many_rows_have_pages_and_an_element_brings_its_own() {
        let count = PAGE as usize + 7;
        let all: Vec<[f32; 2]> = (0..count).map(|at| [at as f32, 0.0]).collect();
        let make = || Table::make(content(&all), Wish::default(), &|| Ok(())).unwrap();
        let (tables, trends, mut snapshot) = (Tables::with(make()), Trends::default(), snapshot());
        snapshot.resources[0].name = "a".into();
        let (mut screen, mut local) = (TestScreen::default(), Local::default());
        let frames = |screen: &mut TestScreen, local: &mut Local| {
            for _ in 0..3 {
                screen.frame(|ui| _ = show(ui, &snapshot, &tables, &trends, local));
            }
        };
        frames(&mut screen, &mut local);
        assert!(screen.sees("page 1 of 2") && screen.sees("0"));
        screen.click("\u{203a}");
        frames(&mut screen, &mut local);
        assert!(screen.sees("page 2 of 2") && screen.sees(&number::count(PAGE)));
        local.go_to("a", 3);
        frames(&mut screen, &mut local);
        assert!(screen.sees("page 1 of 2"), "{:?}", screen.written());
    }

    #[test]
    fn what_is_too_large_is_told() {
        let mut snapshot = snapshot();
        snapshot.resources[0].bytes = MOST_BYTES + 1;
        let (mut screen, mut local) = (TestScreen::default(), Local::default());
        screen.frame(|ui| {
            _ = show(ui, &snapshot, &Tables::default(), &Trends::default(), &mut local);
        });
        assert!(screen.sees("too much for a table"));
    }
}
