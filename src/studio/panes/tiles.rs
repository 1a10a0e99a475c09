//! How tiles look, and what is in them.

use egui::{
    Color32, FontSelection, Frame, Id, Label, Margin, Rect, Response, RichText, Role, Sense,
    Stroke, TextWrapMode, Ui, UiBuilder, Vec2, WidgetInfo, WidgetText, pos2, vec2,
};
use egui_tiles::{EditAction, SimplificationOptions, TabState, TileId, Tiles, UiResponse};

use super::{Pane, tree};
use crate::studio::{icons, theme};

/// The height of a bar of tabs.
const BAR: f32 = 28.0;
/// What is left and right of a tab's title.
const BESIDE: f32 = 10.0;
/// The side of the cross that closes.
const CROSS: f32 = 14.0;

/// What is shown in panes.
pub trait Contents {
    /// Shows a pane, in all the space there is.
    fn show(&mut self, ui: &mut Ui, pane: Pane);
    /// What its tab says.
    fn title(&self, pane: Pane) -> String;
    /// The colour of a mark behind the title, where there is something to be seen.
    fn mark(&self, pane: Pane) -> Option<Color32>;
    /// Shows what stands at the right end of its bar, from right to left.
    fn beside_title(&mut self, ui: &mut Ui, pane: Pane);
    /// Whether there is something for it to show.
    fn is_there(&self, pane: Pane) -> bool;
}

/// What `egui_tiles` asks.
pub(super) struct Behavior<'a> {
    pub(super) contents: &'a mut dyn Contents,
    /// The tiles that show views.
    pub(super) views: Vec<TileId>,
    /// The tiles beside which there is no other tab.
    pub(super) alone: Vec<TileId>,
    /// Whether the mouse has changed something.
    pub(super) edited: bool,
    /// The pane that is to be hidden.
    pub(super) closed: Option<Pane>,
}

impl Behavior<'_> {
    /// The cross that hides a pane, while the pointer is over its tab; gives whether it was clicked on.
    fn cross(ui: &Ui, id: Id, place: Rect, is_hovered: bool) -> bool {
        let response = ui.interact(place, id.with("hide"), Sense::click());
        response
            .widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), "Hide this pane"));
        if is_hovered {
            let color = if response.hovered() { theme::accent() } else { theme::weak() };
            icons::cross(ui.painter(), place.shrink(3.5), color);
        }
        response.on_hover_text("Hide it; Panes in the status bar brings it back").clicked()
    }

    fn pane(tiles: &Tiles<Pane>, id: TileId) -> Option<Pane> {
        tiles.get_pane(&id).copied()
    }
}

impl egui_tiles::Behavior<Pane> for Behavior<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _: TileId, pane: &mut Pane) -> UiResponse {
        // What is in it is known by the pane, wherever it lies.
        let place = UiBuilder::new().scope_id(Id::unique(("pane", *pane))).max_rect(ui.max_rect());
        ui.scope_builder(place, |ui| self.contents.show(ui, *pane));
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Pane) -> WidgetText {
        self.contents.title(*pane).into()
    }

    fn tab_title_for_tile(&mut self, tiles: &Tiles<Pane>, id: TileId) -> WidgetText {
        let panes = tree::arrangement(tiles, id).map_or_else(Vec::new, |of| of.panes());
        let titles: Vec<String> = panes.into_iter().map(|pane| self.contents.title(pane)).collect();
        titles.join(", ").into()
    }

    fn tab_ui(
        &mut self,
        tiles: &mut Tiles<Pane>,
        ui: &mut Ui,
        id: Id,
        tile: TileId,
        state: &TabState,
    ) -> Response {
        let pane = Self::pane(tiles, tile);
        let title = self.tab_title_for_tile(tiles, tile);
        let font = FontSelection::Default;
        let galley = title.into_galley(ui, Some(TextWrapMode::Extend), f32::INFINITY, font);
        let mark = pane.and_then(|pane| self.contents.mark(pane));
        let size = vec2(galley.size().x + 2.0 * BESIDE + CROSS, ui.available_height());
        let (_, rect) = ui.allocate_space(size);
        let response = ui.interact(rect, id, Sense::click_and_drag());
        response.widget_info(|| {
            WidgetInfo::selected(Role::Tab, ui.is_enabled(), state.active, galley.text())
        });
        if state.is_being_dragged || !ui.is_rect_visible(rect) {
            return response;
        }
        let is_hovered = ui.rect_contains_pointer(rect);
        let color = if state.active { theme::strong() } else { theme::weak() };
        let middle = rect.left_center() + vec2(BESIDE, -galley.size().y / 2.0);
        let end = middle.x + galley.size().x;
        ui.painter().galley(middle, galley, color);
        let is_chosen = state.active && !self.alone.contains(&tile);
        if is_chosen || is_hovered {
            let color = if is_chosen { theme::accent() } else { theme::faint() };
            let line = rect.left() + BESIDE..=end;
            ui.painter().hline(line, rect.bottom() - 2.0, Stroke::new(2.0, color));
        }
        let cross = Rect::from_center_size(
            pos2(end + 4.0 + CROSS / 2.0, rect.center().y),
            Vec2::splat(CROSS),
        );
        let closes = Self::cross(ui, id, cross, is_hovered);
        if let Some(mark) = mark.filter(|_| !is_hovered) {
            ui.painter().circle_filled(cross.center() - vec2(1.0, 3.0), 3.0, mark);
        }
        if closes || response.middle_clicked() {
            self.closed = pane;
        }
        response
    }

    fn top_bar_right_ui(
        &mut self,
        tiles: &Tiles<Pane>,
        ui: &mut Ui,
        _: TileId,
        tabs: &egui_tiles::Tabs,
        _: &mut f32,
    ) {
        if let Some(pane) = tabs.active.and_then(|active| Self::pane(tiles, active)) {
            ui.add_space(6.0);
            self.contents.beside_title(ui, pane);
        }
    }

    fn drag_ui(&mut self, tiles: &Tiles<Pane>, ui: &mut Ui, tile: TileId) {
        let title = self.tab_title_for_tile(tiles, tile);
        let frame = Frame::new().fill(theme::raised()).corner_radius(5);
        frame.inner_margin(Margin::symmetric(10, 5)).show(ui, |ui| {
            ui.add(Label::new(RichText::new(title.text()).color(theme::strong())));
        });
    }

    fn is_tab_bar_visible(&self, _: TileId, tabs: &egui_tiles::Tabs) -> bool {
        // A picture that is alone needs no title.
        let is_alone = self.views.len() == 1 && self.views.first() == tabs.children.first();
        !is_alone || tabs.children.len() > 1
    }

    fn tab_bar_height(&self, _: &egui::Style) -> f32 {
        BAR
    }

    fn gap_width(&self, _: &egui::Style) -> f32 {
        1.0
    }

    fn min_size(&self) -> f32 {
        60.0
    }

    fn tab_bar_color(&self, _: &egui::Visuals) -> Color32 {
        theme::panel()
    }

    fn tab_bar_hline_stroke(&self, _: &egui::Visuals) -> Stroke {
        Stroke::new(1.0, theme::line())
    }

    fn resize_stroke(&self, _: &egui::Style, state: egui_tiles::ResizeState) -> Stroke {
        match state {
            egui_tiles::ResizeState::Idle => Stroke::new(1.0, theme::line()),
            egui_tiles::ResizeState::Hovering => Stroke::new(2.0, theme::faint()),
            egui_tiles::ResizeState::Dragging => Stroke::new(2.0, theme::accent()),
        }
    }

    fn drag_preview_color(&self, _: &egui::Visuals) -> Color32 {
        theme::faded(theme::accent(), 0.2)
    }

    fn drag_preview_stroke(&self, _: &egui::Visuals) -> Stroke {
        Stroke::new(1.5, theme::accent())
    }

    fn dragged_overlay_color(&self, _: &egui::Visuals) -> Color32 {
        theme::faded(theme::panel(), 0.5)
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions { all_panes_must_have_tabs: true, ..SimplificationOptions::default() }
    }

    fn cycle_tabs_with_keyboard(&self) -> bool {
        true
    }

    fn on_edit(&mut self, _: EditAction) {
        self.edited = true;
    }
}
