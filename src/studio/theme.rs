//! How the studio looks: colours, spacing and text sizes, all in one place.
//!
//! A dark, calm ground so that the view is the brightest thing on the screen; one accent (ochre) for what
//! can be grabbed or is switched on; red, amber and green only for errors, warnings and success.

use egui::{
    Color32, Context, CornerRadius, FontFamily, FontId, Margin, Stroke, TextStyle, Theme, Visuals,
    style::{HandleShape, ScrollStyle, WidgetVisuals, Widgets},
};

use super::highlight::Syntax;

/// The ground behind everything: the view before anything is drawn, and the editor.
pub const GROUND: Color32 = Color32::from_rgb(0x0f, 0x11, 0x16);
/// Panels.
pub const PANEL: Color32 = Color32::from_rgb(0x17, 0x1a, 0x21);
/// Title and status bars.
pub const BAR: Color32 = Color32::from_rgb(0x13, 0x15, 0x1b);
/// Buttons, input fields.
pub const RAISED: Color32 = Color32::from_rgb(0x25, 0x2a, 0x34);
/// The same under the pointer.
pub const HOVERED: Color32 = Color32::from_rgb(0x31, 0x37, 0x44);
/// Lines between panels.
pub const LINE: Color32 = Color32::from_rgb(0x2a, 0x2f, 0x3a);
/// Text.
pub const TEXT: Color32 = Color32::from_rgb(0xc9, 0xce, 0xd8);
/// Text that steps back: units, headers, hints.
pub const WEAK: Color32 = Color32::from_rgb(0x82, 0x8a, 0x9a);
/// Text that is barely there: line numbers.
pub const FAINT: Color32 = Color32::from_rgb(0x50, 0x57, 0x66);
/// Text that stands out: values, titles.
pub const STRONG: Color32 = Color32::from_rgb(0xf1, 0xf3, 0xf7);
/// What is switched on or can be grabbed.
pub const ACCENT: Color32 = Color32::from_rgb(0xf2, 0xa5, 0x41);
/// Errors and faults.
pub const ERROR: Color32 = Color32::from_rgb(0xf2, 0x6d, 0x6d);
/// Warnings.
pub const WARNING: Color32 = Color32::from_rgb(0xe7, 0xc6, 0x5a);
/// Notes.
pub const NOTE: Color32 = Color32::from_rgb(0x7f, 0xb2, 0xe5);
/// All is well.
pub const GOOD: Color32 = Color32::from_rgb(0x86, 0xc4, 0x8e);

/// The three strokes of the mark: red earth, ochre, bone.
pub const MARK: [Color32; 3] =
    [Color32::from_rgb(0xd9, 0x4f, 0x3a), ACCENT, Color32::from_rgb(0xf0, 0xe4, 0xcf)];

/// Colours of lines in plots, told apart also by people who see red and green alike.
pub const SERIES: [Color32; 8] = [
    Color32::from_rgb(0xf2, 0xa5, 0x41),
    Color32::from_rgb(0x5f, 0xb7, 0xd4),
    Color32::from_rgb(0xc7, 0x8b, 0xd8),
    Color32::from_rgb(0x86, 0xc4, 0x8e),
    Color32::from_rgb(0xe8, 0x7e, 0x72),
    Color32::from_rgb(0xd9, 0xd2, 0x9c),
    Color32::from_rgb(0x6f, 0x8f, 0xe8),
    Color32::from_rgb(0xb0, 0xb6, 0xc2),
];

/// What is A's, where two programs are compared.
pub const A: Color32 = ACCENT;
/// What is B's.
pub const B: Color32 = Color32::from_rgb(0x6a, 0xb4, 0xe8);

/// How much of the view a ground behind text over it hides.
pub const VEIL: f32 = 0.84;

/// Space between the edge of a panel and what is in it.
pub const PADDING: i8 = 10;

/// The colour of a piece of text in the editor.
pub fn syntax(syntax: Syntax) -> Color32 {
    match syntax {
        Syntax::Plain => TEXT,
        Syntax::Comment => Color32::from_rgb(0x69, 0x72, 0x84),
        Syntax::Keyword => Color32::from_rgb(0xc7, 0x92, 0xea),
        Syntax::Type => Color32::from_rgb(0x6c, 0xc0, 0xd6),
        Syntax::Qualifier => ACCENT,
        Syntax::BuiltIn => Color32::from_rgb(0xec, 0x94, 0xb4),
        Syntax::Bound => Color32::from_rgb(0x9a, 0xd6, 0xa0),
        Syntax::Function => Color32::from_rgb(0x8a, 0xb0, 0xf5),
        Syntax::Number => Color32::from_rgb(0xe8, 0xb8, 0x86),
        Syntax::String => Color32::from_rgb(0xb5, 0xc9, 0x8a),
        Syntax::Preprocessor => Color32::from_rgb(0x8f, 0xa3, 0xb8),
        Syntax::Punctuation => Color32::from_rgb(0x93, 0x9b, 0xab),
        Syntax::Table => Color32::from_rgb(0xd9, 0x9a, 0x52),
        Syntax::Key => Color32::from_rgb(0x9f, 0xb4, 0xd0),
    }
}

/// `color` with `alpha` from 0 to 1.
pub fn faded(color: Color32, alpha: f32) -> Color32 {
    color.gamma_multiply(alpha)
}

/// The font of the editor at `size_pt`.
pub fn code_font(size_pt: f32) -> FontId {
    FontId::new(size_pt, FontFamily::Monospace)
}

/// Gives `context` the studio's looks.
pub fn apply(context: &Context) {
    context.set_theme(Theme::Dark);
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
    let widget = |fill: Color32, text: Color32, edge: Stroke| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: edge,
        corner_radius: CornerRadius::same(5),
        fg_stroke: Stroke::new(1.0, text),
        expansion: 0.0,
    };
    let mut visuals = Visuals::dark();
    visuals.widgets = Widgets {
        noninteractive: widget(PANEL, TEXT, Stroke::new(1.0, LINE)),
        inactive: widget(RAISED, TEXT, Stroke::NONE),
        hovered: widget(HOVERED, STRONG, Stroke::new(1.0, Color32::from_rgb(0x46, 0x4e, 0x5f))),
        active: widget(Color32::from_rgb(0x3a, 0x41, 0x50), STRONG, Stroke::new(1.0, ACCENT)),
        open: widget(HOVERED, STRONG, Stroke::new(1.0, LINE)),
    };
    visuals.selection.bg_fill = Color32::from_rgb(0x5a, 0x44, 0x22);
    visuals.selection.stroke = Stroke::new(1.0, ACCENT);
    visuals.text_cursor.stroke = Stroke::new(2.0, ACCENT);
    visuals.hyperlink_color = NOTE;
    visuals.warn_fg_color = WARNING;
    visuals.error_fg_color = ERROR;
    visuals.panel_fill = PANEL;
    visuals.extreme_bg_color = GROUND;
    visuals.faint_bg_color = Color32::from_rgb(0x1b, 0x1f, 0x27);
    visuals.code_bg_color = RAISED;
    visuals.weak_text_color = Some(WEAK);
    visuals.window_fill = Color32::from_rgb(0x1c, 0x20, 0x29);
    visuals.window_stroke = Stroke::new(1.0, Color32::from_rgb(0x38, 0x3f, 0x4d));
    visuals.slider_trailing_fill = true;
    visuals.handle_shape = HandleShape::Circle;
    visuals.striped = false;
    visuals
}
