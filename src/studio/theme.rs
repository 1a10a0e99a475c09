//! How the studio looks: spacing, text sizes, and what its colours are for.
//!
//! A calm ground so that the view is the brightest thing on the screen; one accent (ochre) for what can be grabbed or
//! is switched on; red, amber and green only for errors, warnings and success.

use egui::{
    Color32, Context, CornerRadius, FontFamily, FontId, Margin, Stroke, TextStyle, Theme, Visuals,
    style::{HandleShape, ScrollStyle, WidgetVisuals, Widgets},
};

pub use super::colors::{
    a, accent, added, b, bar, current_line, error, faint, good, ground, hovered, line, mark, note,
    on_picture, panel, raised, removed, series, strong, text, warning, weak,
};
use super::{colors, highlight::Syntax};

/// How much of the view a ground behind text over it hides.
pub const VEIL: f32 = 0.94;

/// Space between the edge of a panel and what is in it.
pub const PADDING: i8 = 10;

/// The colour of a piece of text in the editor.
pub fn syntax(syntax: Syntax) -> Color32 {
    colors::present().of_syntax(syntax)
}

/// `color` with `alpha` from 0 to 1.
pub fn faded(color: Color32, alpha: f32) -> Color32 {
    color.gamma_multiply(alpha)
}

/// The font of the editor at `size_pt`.
pub fn code_font(size_pt: f32) -> FontId {
    FontId::new(size_pt, FontFamily::Monospace)
}

/// The sizes of the interface's letters, as parts of the usual one.
pub const SCALES: [f32; 2] = [0.7, 2.0];

/// Chooses the colours; `scale` is that of all that is shown.
pub fn choose(context: &Context, choice: colors::Choice, scale: f32) {
    let system = context.input(|input| input.raw.system_theme);
    if colors::choose(choice, system.map(|theme| theme == Theme::Light)) {
        apply(context);
    }
    if (context.zoom_factor() - scale).abs() > 1.0e-3 {
        context.set_zoom_factor(scale);
    }
}

/// Gives `context` the studio's looks.
pub fn apply(context: &Context) {
    context.set_theme(if colors::present().is_dark { Theme::Dark } else { Theme::Light });
    // These keys are the editor's.
    context.options_mut(|options| options.zoom_with_keyboard = false);
    context.all_styles_mut(|style| {
        style.visuals = visuals();
        style.text_styles = [
            (TextStyle::Heading, FontId::new(16.0, FontFamily::Proportional)),
            (TextStyle::Body, FontId::new(13.5, FontFamily::Proportional)),
            (TextStyle::Button, FontId::new(13.5, FontFamily::Proportional)),
            (TextStyle::Small, FontId::new(11.5, FontFamily::Proportional)),
            (TextStyle::Monospace, FontId::new(12.5, FontFamily::Monospace)),
        ]
        .into();
        style.spacing.item_spacing = egui::vec2(8.0, 6.0);
        style.spacing.button_padding = egui::vec2(9.0, 4.0);
        style.spacing.interact_size = egui::vec2(36.0, 22.0);
        style.spacing.menu_margin = Margin::same(6);
        style.spacing.slider_rail_height = 4.0;
        style.spacing.scroll = ScrollStyle { bar_width: 8.0, ..ScrollStyle::thin() };
        style.spacing.scroll.fade.strength = 0.0;
        style.interaction.selectable_labels = false;
        style.interaction.tooltip_delay = 0.3;
        style.animation_time = 0.1;
    });
}

fn visuals() -> Visuals {
    let of = colors::present();
    let widget = |fill: Color32, text: Color32, edge: Stroke| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: edge,
        corner_radius: CornerRadius::same(5),
        fg_stroke: Stroke::new(1.0, text),
        expansion: 0.0,
    };
    let mut visuals = if of.is_dark { Visuals::dark() } else { Visuals::light() };
    visuals.widgets = Widgets {
        noninteractive: widget(of.panel, of.text, Stroke::new(1.0, of.line)),
        inactive: widget(of.raised, of.text, Stroke::NONE),
        hovered: widget(of.hovered, of.strong, Stroke::new(1.0, of.edge)),
        active: widget(of.pressed, of.strong, Stroke::new(1.0, of.accent)),
        open: widget(of.hovered, of.strong, Stroke::new(1.0, of.line)),
    };
    visuals.selection.bg_fill = of.selection;
    visuals.selection.stroke = Stroke::new(1.0, of.accent);
    visuals.text_cursor.stroke = Stroke::new(2.0, of.accent);
    visuals.hyperlink_color = of.note;
    visuals.warn_fg_color = of.warning;
    visuals.error_fg_color = of.error;
    visuals.panel_fill = of.panel;
    visuals.extreme_bg_color = of.ground;
    visuals.faint_bg_color = of.current_line;
    visuals.code_bg_color = of.raised;
    visuals.weak_text_color = Some(of.weak);
    visuals.window_fill = of.window;
    visuals.window_stroke = Stroke::new(1.0, of.edge);
    visuals.slider_trailing_fill = true;
    visuals.handle_shape = HandleShape::Circle;
    visuals.striped = false;
    visuals
}
