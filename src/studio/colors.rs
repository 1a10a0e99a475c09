//! The studio's colours: dark, light, and with much contrast. Text has at least 4.5 : 1 on every ground that it has.

use std::sync::atomic::{AtomicUsize, Ordering};

use egui::Color32;
use serde::{Deserialize, Serialize};

use super::highlight::Syntax;

/// Which colours the user wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// Those of the system, dark where it does not say.
    #[default]
    System,
    /// A dark, calm ground.
    Dark,
    /// A light one.
    Light,
    /// Black and white, and bright colours.
    Contrast,
}

impl Choice {
    /// All of them, with what they are called.
    pub const ALL: [(Self, &str); 4] = [
        (Self::System, "Theme: as the system"),
        (Self::Dark, "Theme: dark"),
        (Self::Light, "Theme: light"),
        (Self::Contrast, "Theme: high contrast"),
    ];
}

/// Declares the colours, each as a field and as a function that gives the present one.
macro_rules! colors {
    ($($(#[$doc:meta])* $name:ident),+; $($(#[$of_widgets:meta])* $widget:ident),+) => {
        /// All colours of the studio.
        #[derive(Clone, Copy, Debug)]
        pub struct Palette {
            /// Whether its ground is dark.
            pub is_dark: bool,
            $($(#[$doc])* pub $name: Color32,)+
            $($(#[$of_widgets])* pub $widget: Color32,)+
            /// Lines in plots, told apart also by people who see red and green alike.
            pub series: [Color32; 8],
            /// The three strokes of the mark: red earth, ochre, bone.
            pub mark: [Color32; 3],
            /// Text in the editor.
            pub syntax: SyntaxColors,
        }
        $($(#[$doc])* pub fn $name() -> Color32 { present().$name })+
    };
}

colors!(
    /// The ground behind everything: the view before anything is drawn, and the editor.
    ground,
    /// Panels.
    panel,
    /// Title and status bars.
    bar,
    /// Buttons, input fields.
    raised,
    /// The same under the pointer.
    hovered,
    /// The line of the editor with the caret.
    current_line,
    /// Lines between panels.
    line,
    /// Text.
    text,
    /// Text that steps back: units, headers, hints.
    weak,
    /// Text that steps back further: line numbers, zeros.
    faint,
    /// Text that stands out: values, titles.
    strong,
    /// What is switched on or can be grabbed.
    accent,
    /// Errors and faults.
    error,
    /// Warnings.
    warning,
    /// Notes.
    note,
    /// All is well.
    good,
    /// What is A's, where two programs are compared.
    a,
    /// What is B's.
    b,
    /// The ground of lines that a text has and one before it had not.
    added,
    /// That of lines that it had before.
    removed;
    /// Buttons while they are pressed.
    pressed,
    /// Menus, tooltips and pages over the window.
    window,
    /// The edge of what is under the pointer, and of menus.
    edge,
    /// The ground of selected text.
    selection
);

/// Colours of text in the editor.
#[derive(Clone, Copy, Debug)]
pub struct SyntaxColors {
    comment: Color32,
    keyword: Color32,
    types: Color32,
    built_in: Color32,
    bound: Color32,
    function: Color32,
    number: Color32,
    string: Color32,
    preprocessor: Color32,
    punctuation: Color32,
    table: Color32,
    key: Color32,
}

const fn rgb(code: u32) -> Color32 {
    Color32::from_rgb((code >> 16) as u8, (code >> 8) as u8, code as u8)
}

/// A dark, calm ground, so that the view is the brightest thing on the screen.
const DARK: Palette = Palette {
    is_dark: true,
    ground: rgb(0x0f_1116),
    panel: rgb(0x17_1a21),
    bar: rgb(0x13_151b),
    raised: rgb(0x25_2a34),
    hovered: rgb(0x31_3744),
    pressed: rgb(0x3a_4150),
    window: rgb(0x1c_2029),
    current_line: rgb(0x18_1b23),
    line: rgb(0x2a_2f3a),
    edge: rgb(0x46_4e5f),
    selection: rgb(0x5a_4422),
    text: rgb(0xc9_ced8),
    weak: rgb(0x8f_97a7),
    faint: rgb(0x8b_93a4),
    strong: rgb(0xf1_f3f7),
    accent: rgb(0xf2_a541),
    error: rgb(0xf2_6d6d),
    warning: rgb(0xe7_c65a),
    note: rgb(0x7f_b2e5),
    good: rgb(0x86_c48e),
    a: rgb(0xf2_a541),
    b: rgb(0x6a_b4e8),
    added: rgb(0x12_2b1b),
    removed: rgb(0x35_191d),
    series: [
        rgb(0xf2_a541),
        rgb(0x5f_b7d4),
        rgb(0xc7_8bd8),
        rgb(0x86_c48e),
        rgb(0xe8_7e72),
        rgb(0xd9_d29c),
        rgb(0x6f_8fe8),
        rgb(0xb0_b6c2),
    ],
    mark: [rgb(0xd9_4f3a), rgb(0xf2_a541), rgb(0xf0_e4cf)],
    syntax: SyntaxColors {
        comment: rgb(0x7b_8496),
        keyword: rgb(0xc7_92ea),
        types: rgb(0x6c_c0d6),
        built_in: rgb(0xec_94b4),
        bound: rgb(0x9a_d6a0),
        function: rgb(0x8a_b0f5),
        number: rgb(0xe8_b886),
        string: rgb(0xb5_c98a),
        preprocessor: rgb(0x8f_a3b8),
        punctuation: rgb(0x93_9bab),
        table: rgb(0xd9_9a52),
        key: rgb(0x9f_b4d0),
    },
};

const LIGHT: Palette = Palette {
    is_dark: false,
    ground: rgb(0xff_ffff),
    panel: rgb(0xf3_f4f7),
    bar: rgb(0xe9_ebf0),
    raised: rgb(0xdf_e2e9),
    hovered: rgb(0xd3_d7e0),
    pressed: rgb(0xc6_cbd6),
    window: rgb(0xfa_fbfc),
    current_line: rgb(0xf3_f5f9),
    line: rgb(0xcf_d3dc),
    edge: rgb(0xa9_b0bd),
    selection: rgb(0xf6_dfb8),
    text: rgb(0x2b_303b),
    weak: rgb(0x55_5d6d),
    faint: rgb(0x58_5f6e),
    strong: rgb(0x0c_0e12),
    accent: rgb(0x93_5300),
    error: rgb(0xbe_2626),
    warning: rgb(0x7c_5b00),
    note: rgb(0x1a_64b0),
    good: rgb(0x27_6e34),
    a: rgb(0x93_5300),
    b: rgb(0x16_66a4),
    added: rgb(0xd9_f2dd),
    removed: rgb(0xfc_dfdf),
    series: [
        rgb(0xb8_6a00),
        rgb(0x0b_7a99),
        rgb(0x8c_3fa8),
        rgb(0x2c_8a3c),
        rgb(0xc0_4636),
        rgb(0x7d_7423),
        rgb(0x2f_55c8),
        rgb(0x5a_6272),
    ],
    mark: [rgb(0xd9_4f3a), rgb(0xe0_8e1d), rgb(0x8a_7550)],
    syntax: SyntaxColors {
        comment: rgb(0x66_6e7f),
        keyword: rgb(0x7c_2fb5),
        types: rgb(0x0b_7285),
        built_in: rgb(0xb0_2a63),
        bound: rgb(0x27_7033),
        function: rgb(0x24_57b8),
        number: rgb(0x9a_4f0c),
        string: rgb(0x55_701f),
        preprocessor: rgb(0x4f_6479),
        punctuation: rgb(0x5a_6272),
        table: rgb(0x93_5300),
        key: rgb(0x3d_5a80),
    },
};

const CONTRAST: Palette = Palette {
    is_dark: true,
    ground: rgb(0x00_0000),
    panel: rgb(0x00_0000),
    bar: rgb(0x00_0000),
    raised: rgb(0x1c_1c1c),
    hovered: rgb(0x33_3333),
    pressed: rgb(0x44_4444),
    window: rgb(0x0a_0a0a),
    current_line: rgb(0x16_1616),
    line: rgb(0x8c_8c8c),
    edge: rgb(0xff_ffff),
    selection: rgb(0x5c_4400),
    text: rgb(0xff_ffff),
    weak: rgb(0xd6_d6d6),
    faint: rgb(0xc4_c4c4),
    strong: rgb(0xff_ffff),
    accent: rgb(0xff_c23d),
    error: rgb(0xff_9a9a),
    warning: rgb(0xff_e14d),
    note: rgb(0x8f_caff),
    good: rgb(0x8f_f09b),
    a: rgb(0xff_c23d),
    b: rgb(0x7f_c8ff),
    added: rgb(0x00_2e12),
    removed: rgb(0x3d_0008),
    series: [
        rgb(0xff_c23d),
        rgb(0x6f_dcff),
        rgb(0xea_a8ff),
        rgb(0x8f_f09b),
        rgb(0xff_9a8a),
        rgb(0xff_f6b0),
        rgb(0x8f_aaff),
        rgb(0xff_ffff),
    ],
    mark: [rgb(0xff_6a50), rgb(0xff_c23d), rgb(0xff_ffff)],
    syntax: SyntaxColors {
        comment: rgb(0xb4_bcc8),
        keyword: rgb(0xe0_b0ff),
        types: rgb(0x7f_e3f5),
        built_in: rgb(0xff_b0d0),
        bound: rgb(0xa8_f0b0),
        function: rgb(0xa8_c8ff),
        number: rgb(0xff_d0a0),
        string: rgb(0xd4_ec9a),
        preprocessor: rgb(0xb8_d0e8),
        punctuation: rgb(0xd8_d8d8),
        table: rgb(0xff_c070),
        key: rgb(0xc4_dcff),
    },
};

static PALETTES: [Palette; 3] = [DARK, LIGHT, CONTRAST];

/// Which of them is shown. A process has one window.
static PRESENT: AtomicUsize = AtomicUsize::new(0);

/// The present one.
pub fn present() -> &'static Palette {
    &PALETTES[PRESENT.load(Ordering::Relaxed) % PALETTES.len()]
}

/// Makes another one the present; gives whether it was another one. `is_light` is what the system says, if it does.
pub fn choose(choice: Choice, is_light: Option<bool>) -> bool {
    let index = match choice {
        Choice::System => usize::from(is_light.unwrap_or(false)),
        Choice::Dark => 0,
        Choice::Light => 1,
        Choice::Contrast => 2,
    };
    PRESENT.swap(index, Ordering::Relaxed) != index
}

/// Colours of lines in plots.
pub fn series() -> [Color32; 8] {
    present().series
}

/// The strokes of the mark.
pub fn mark() -> [Color32; 3] {
    present().mark
}

/// Text on a picture, which is dark in all of them.
pub fn on_picture() -> Color32 {
    DARK.weak
}

impl Palette {
    /// The colour of a piece of text in the editor.
    pub fn of_syntax(&self, syntax: Syntax) -> Color32 {
        let colors = &self.syntax;
        match syntax {
            Syntax::Plain => self.text,
            Syntax::Comment => colors.comment,
            Syntax::Keyword => colors.keyword,
            Syntax::Type => colors.types,
            Syntax::Qualifier => self.accent,
            Syntax::BuiltIn => colors.built_in,
            Syntax::Bound => colors.bound,
            Syntax::Function => colors.function,
            Syntax::Number => colors.number,
            Syntax::String => colors.string,
            Syntax::Preprocessor => colors.preprocessor,
            Syntax::Punctuation => colors.punctuation,
            Syntax::Table => colors.table,
            Syntax::Key => colors.key,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studio::theme;

    /// Relative luminance, as the Web Content Accessibility Guidelines (2.2) define it.
    fn luminance(color: Color32) -> f64 {
        let linear = |channel: u8| {
            let part = f64::from(channel) / 255.0;
            if part <= 0.03928 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue, _] = color.to_array().map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(one: Color32, two: Color32) -> f64 {
        let (one, two) = (luminance(one), luminance(two));
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    #[test]
    fn contrast_is_that_of_the_guidelines() {
        // Their own examples: black on white, and #777777 on white, which just fails.
        assert!((contrast(Color32::BLACK, Color32::WHITE) - 21.0).abs() < 1e-9);
        assert!((contrast(rgb(0x77_7777), Color32::WHITE) - 4.48).abs() < 0.005);
        // The picture's own ground.
        assert!(contrast(on_picture(), rgb(0x0f_1116)) >= 4.5);
    }

    #[test]
    fn text_can_be_read_on_every_ground_that_it_stands_on() {
        for (name, of, least) in
            [("dark", DARK, 4.5), ("light", LIGHT, 4.5), ("contrast", CONTRAST, 7.0)]
        {
            let grounds = [
                ("ground", of.ground),
                ("panel", of.panel),
                ("bar", of.bar),
                ("raised", of.raised),
                ("window", of.window),
                ("current line", of.current_line),
            ];
            let texts = [
                ("text", of.text),
                ("weak", of.weak),
                ("faint", of.faint),
                ("strong", of.strong),
                ("accent", of.accent),
                ("error", of.error),
                ("warning", of.warning),
                ("note", of.note),
                ("good", of.good),
                ("a", of.a),
                ("b", of.b),
            ];
            let pairs = texts.iter().flat_map(|text| grounds.map(|ground| (*text, ground)));
            // Over a picture grounds are veils.
            let [red, green, blue, _] = of.bar.to_array();
            let veiled = |part: u8| (f32::from(part) * theme::VEIL) as u8;
            let veil = Color32::from_rgb(veiled(red), veiled(green), veiled(blue));
            for (text, color) in [("weak", of.weak), ("strong", of.strong)] {
                let found = contrast(color, veil);
                assert!(found >= 4.5, "{name}: {text} on a veil: {found:.2}");
            }
            let changed = [("added", of.added), ("removed", of.removed)];
            let in_changes = [("text", of.text), ("weak", of.weak), ("strong", of.strong)];
            let in_changes =
                in_changes.iter().flat_map(|text| changed.map(|ground| (*text, ground)));
            let buttons =
                [("hovered", of.hovered), ("pressed", of.pressed), ("selection", of.selection)];
            let on_buttons = buttons.map(|ground| (("strong", of.strong), ground));
            let syntax = Syntax::ALL.iter().flat_map(|syntax| {
                let color = ("syntax", of.of_syntax(*syntax));
                [(color, ("ground", of.ground)), (color, ("current line", of.current_line))]
            });
            for ((text, color), (ground, behind)) in
                pairs.chain(on_buttons).chain(in_changes).chain(syntax)
            {
                let found = contrast(color, behind);
                assert!(found >= least, "{name}: {text} {color:?} on {ground}: {found:.2}");
            }
        }
    }

    #[test]
    fn the_system_is_followed_where_it_says_something() {
        assert!(!choose(Choice::System, None), "dark is where it begins");
        assert!(!choose(Choice::System, Some(false)) && choose(Choice::System, Some(true)));
        assert!(!present().is_dark);
        assert!(choose(Choice::Dark, Some(true)) && present().is_dark);
    }
}
