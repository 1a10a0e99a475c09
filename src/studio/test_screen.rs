//! Panels shown without a window, for their tests: what is written on them is read, and clicked on.

use egui::{Context, Event, Key, Modifiers, PointerButton, Pos2, RawInput, Rect, Shape, Ui, vec2};

use super::theme;
use crate::session::{Clock, CompileState, Resource, Sharing, Snapshot};

/// What a scene of one resource, `position`, shows that has just been opened.
pub fn snapshot() -> Snapshot {
    Snapshot {
        title: "A scene".into(),
        summary: String::new(),
        device: "cpu".into(),
        renderer: None,
        sharing: Sharing::None,
        clock: Clock::default(),
        seed: 1,
        speed: 1.0,
        steps_left: 0,
        timeline: None,
        comparison: None,
        views: Vec::new(),
        parameters: Vec::new(),
        resources: vec![Resource {
            name: "position".into(),
            element: "float2".into(),
            count: 100,
            bytes: 800,
            shared: false,
            step: 0,
            names: Vec::new(),
            components: Vec::new(),
        }],
        stats: Vec::new(),
        plots: Vec::new(),
        passes: Vec::new(),
        guard: None,
        compile: CompileState::default(),
        fault: None,
        running: None,
        pauses_at_nan: false,
        first_nan: None,
        reset_is_edited: false,
        findings: Vec::new(),
        renamed: None,
    }
}

/// A screen that nobody sees.
pub struct TestScreen {
    context: Context,
    events: Vec<Event>,
    /// What the last frame has written, and where.
    written: Vec<(String, Rect)>,
    time: f64,
}

impl Default for TestScreen {
    fn default() -> Self {
        let context = Context::default();
        theme::apply(&context);
        Self { context, events: Vec::new(), written: Vec::new(), time: 0.0 }
    }
}

impl TestScreen {
    /// Shows a frame, to which goes what was done since the last one.
    pub fn frame(&mut self, mut show: impl FnMut(&mut Ui)) {
        self.time += 0.1;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1400.0, 900.0))),
            events: std::mem::take(&mut self.events),
            time: Some(self.time),
            ..RawInput::default()
        };
        let mut output = self.context.run_ui(input, |ui| show(ui));
        // There is no GPU to take them to.
        output.textures_delta.clear();
        self.written.clear();
        for clipped in output.shapes {
            read(&clipped.shape, clipped.clip_rect, &mut self.written);
        }
    }

    /// Whether a text is on the screen, as a whole label or a part of one.
    pub fn sees(&self, text: &str) -> bool {
        self.written.iter().any(|(written, _)| written.contains(text))
    }

    /// All that is written, for what a test tells.
    pub fn written(&self) -> Vec<&str> {
        self.written.iter().map(|(written, _)| written.as_str()).collect()
    }

    /// Where a label stands.
    pub fn place(&self, text: &str) -> Rect {
        let found = self.written.iter().find(|(written, _)| written == text);
        found.unwrap_or_else(|| panic!("no {text:?} in {:?}", self.written())).1
    }

    /// The right end of what is written.
    pub fn right_end(&self) -> f32 {
        self.written.iter().map(|(_, place)| place.right()).fold(0.0, f32::max)
    }

    /// Clicks on a label, in the next frame.
    pub fn click(&mut self, text: &str) {
        let at = self.place(text).center();
        self.events.push(Event::PointerMoved(at));
        for pressed in [true, false] {
            let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
            self.events.push(Event::PointerButton { pos: at, button, pressed, modifiers });
        }
    }

    /// Types into what has the keyboard, in the next frame.
    pub fn types(&mut self, text: &str) {
        self.events.push(Event::Text(text.to_owned()));
    }

    /// Presses a key, in the next frame.
    pub fn press(&mut self, key: Key) {
        for pressed in [true, false] {
            let modifiers = Modifiers::NONE;
            self.events.push(Event::Key {
                key,
                physical_key: None,
                pressed,
                repeat: false,
                modifiers,
            });
        }
    }
}

fn read(shape: &Shape, clip: Rect, written: &mut Vec<(String, Rect)>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| read(shape, clip, written)),
        Shape::Text(text) => {
            let rect = text.galley.rect.translate(text.pos.to_vec2());
            if clip.intersects(rect) {
                written.push((text.galley.text().to_owned(), rect));
            }
        }
        _ => {}
    }
}
