//! Panels shown without a window, for their tests: what is written on them is read, and clicked on.

use egui::{
    Context, Event, Key, Modifiers, PointerButton, Pos2, RawInput, Rect, Shape, Ui, Vec2,
    accesskit::{Action, Node, Role, TreeUpdate},
    vec2,
};

use super::{theme, typing::Typing};
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
        presets: Vec::new(),
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
        guards: Vec::new(),
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
    size: Vec2,
    is_pressed: bool,
    /// What a screen reader is told of the last frame.
    told: Option<TreeUpdate>,
}

impl Default for TestScreen {
    fn default() -> Self {
        Self::sized(vec2(1400.0, 900.0))
    }
}

impl TestScreen {
    /// One of this size.
    pub fn sized(size: Vec2) -> Self {
        let context = Context::default();
        theme::apply(&context);
        context.enable_accesskit();
        context.add_plugin(Typing::default());
        let (events, written) = (Vec::new(), Vec::new());
        Self { context, events, written, time: 0.0, size, is_pressed: false, told: None }
    }

    /// Shows a frame, to which goes what was done since the last one.
    pub fn frame(&mut self, mut show: impl FnMut(&mut Ui)) {
        self.time += 0.1;
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, self.size)),
            events: std::mem::take(&mut self.events),
            time: Some(self.time),
            ..RawInput::default()
        };
        let mut output = self.context.run_ui(input, |ui| show(ui));
        // There is no GPU to take them to.
        output.textures_delta.clear();
        self.told = output.platform_output.accesskit_update.take();
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

    /// Clicks on the last label of several that are called so, in the next frame.
    pub fn click_last(&mut self, text: &str) {
        let found = self.written.iter().rfind(|(written, _)| written == text);
        let at = found.unwrap_or_else(|| panic!("no {text:?} in {:?}", self.written())).1.center();
        self.button(at, true);
        self.button(at, false);
    }

    fn button(&mut self, at: Pos2, pressed: bool) {
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        self.events.push(Event::PointerMoved(at));
        self.events.push(Event::PointerButton { pos: at, button, pressed, modifiers });
    }

    /// Moves the pointer with its button pressed, in the next frame.
    pub fn drag(&mut self, at: Pos2) {
        if !std::mem::replace(&mut self.is_pressed, true) {
            return self.button(at, true);
        }
        self.events.push(Event::PointerMoved(at));
    }

    /// Lets the button go, in the next frame.
    pub fn release(&mut self, at: Pos2) {
        self.is_pressed = false;
        self.button(at, false);
    }

    /// Holds these keys from the next frame on.
    pub fn hold(&mut self, modifiers: Modifiers) {
        self.events.push(Event::ModifiersChanged(modifiers));
    }

    /// Moves the pointer, in the next frame.
    pub fn hover(&mut self, at: Pos2) {
        self.events.push(Event::PointerMoved(at));
    }

    /// Clicks with the second button, in the next frame.
    pub fn click_second(&mut self, at: Pos2) {
        self.events.push(Event::PointerMoved(at));
        for pressed in [true, false] {
            let (button, modifiers) = (PointerButton::Secondary, Modifiers::NONE);
            self.events.push(Event::PointerButton { pos: at, button, pressed, modifiers });
        }
    }

    /// Where a control is that is called so, for those who do not see it.
    pub fn control(&self, name: &str) -> Option<Rect> {
        let mut nodes = self.told.iter().flat_map(|told| &told.nodes);
        let (_, node) = nodes.find(|(_, node)| node.label() == Some(name))?;
        Self::place_of(node)
    }

    /// Where the controls of a role are.
    pub fn all_of(&self, role: Role) -> Vec<Rect> {
        let nodes = self.told.iter().flat_map(|told| &told.nodes);
        nodes
            .filter(|(_, node)| node.role() == role)
            .filter_map(|(_, of)| Self::place_of(of))
            .collect()
    }

    fn place_of(node: &Node) -> Option<Rect> {
        let of = node.bounds()?;
        let corners = [[of.x0, of.y0], [of.x1, of.y1]];
        let [min, max] = corners.map(|corner| Pos2::from(corner.map(|part| part as f32)));
        Some(Rect::from_min_max(min, max))
    }

    /// Turns the wheel, in the next frame.
    pub fn scroll(&mut self, at: Pos2, by: f32) {
        self.events.push(Event::PointerMoved(at));
        self.events.push(Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: vec2(0.0, by),
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Wheel,
            modifiers: Modifiers::NONE,
        });
    }

    /// What can be used and has no name for those who do not see it: its role, and where it is.
    pub fn unnamed(&self) -> Vec<String> {
        let nodes = self.told.iter().flat_map(|told| &told.nodes);
        let named = |node: &Node| {
            let texts = [node.label(), node.placeholder(), node.description()];
            let has_text =
                texts.iter().any(|text| text.is_some_and(|text| !text.trim().is_empty()));
            has_text || !node.labelled_by().is_empty()
        };
        // Seams between panes, and bars around tabs, are for the mouse alone: commands do the same.
        let is_seam = |node: &Node| {
            let size = node.bounds().map_or([0.0; 2], |of| [of.width(), of.height()]);
            node.role() == Role::Unknown && (size[0].min(size[1]) < 8.0 || size[1] == 28.0)
        };
        let is_used = |node: &Node| {
            !is_seam(node)
                && [Action::Click, Action::SetValue, Action::Increment]
                    .iter()
                    .any(|of| node.supports_action(*of))
        };
        let unnamed = nodes.filter(|(_, node)| is_used(node) && !named(node));
        unnamed.map(|(_, node)| format!("{:?} {:?}", node.role(), node.bounds())).collect()
    }

    /// Types into what has the keyboard, in the next frame.
    pub fn types(&mut self, text: &str) {
        self.events.push(Event::Text(text.to_owned()));
    }

    /// Presses a key, in the next frame.
    pub fn press(&mut self, key: Key) {
        self.press_with(key, Modifiers::NONE);
    }

    /// The same with modifiers.
    pub fn press_with(&mut self, key: Key, modifiers: Modifiers) {
        for pressed in [true, false] {
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
                written.push((text.galley.text().to_owned(), rect.intersect(clip)));
            }
        }
        _ => {}
    }
}
