//! The editor, shown without a window.

use std::fmt::Write;

use egui::{Key, Modifiers, pos2};

use super::*;
use crate::studio::{
    keymap::{self, Keymap},
    test_screen::{TestScreen, snapshot},
};

const CONTROL: Modifiers = Modifiers { ctrl: true, ..Modifiers::COMMAND };

struct Shown {
    screen: TestScreen,
    document: Document,
    local: Local,
    snapshot: Snapshot,
}

impl Shown {
    /// A text in the editor, which has the keyboard.
    fn text(text: &str) -> Self {
        Self::document(Document::new("a.cu", Some("a.cu".into()), text))
    }

    fn document(document: Document) -> Self {
        let (screen, snapshot) = (TestScreen::sized(vec2(700.0, 400.0)), snapshot());
        let mut shown = Self { screen, document, local: Local::default(), snapshot };
        shown.local.reveal(1, None);
        shown.frames();
        shown
    }

    fn frames(&mut self) -> Vec<Action> {
        let (mut size, mut actions) = (13.0, Vec::new());
        for _ in 0..4 {
            let Self { screen, document, local, snapshot } = self;
            screen.frame(|ui| actions.extend(show(ui, snapshot, document, &mut size, local)));
        }
        actions
    }

    fn press(&mut self, key: Key, modifiers: Modifiers) {
        self.screen.press_with(key, modifiers);
        self.frames();
    }

    fn types(&mut self, text: &str) {
        self.screen.types(text);
        self.frames();
    }
}

/// So many lines, each of which names its number.
fn long(count: usize) -> String {
    (1..=count).fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "int line_{line}_is_here;");
        text
    })
}

#[test]
fn a_caret_that_jumps_out_of_sight_is_followed_up_as_it_is_down() {
    let mut shown = Shown::text(&long(300));
    let sees = |shown: &Shown, line: usize| shown.screen.sees(&format!("line_{line}_is_here"));
    assert!(sees(&shown, 1) && !sees(&shown, 300));
    shown.press(Key::End, CONTROL);
    assert!(sees(&shown, 300) && !sees(&shown, 1));
    shown.press(Key::Home, CONTROL);
    assert!(sees(&shown, 1) && !sees(&shown, 300), "Ctrl+Home");
    for (line, key) in [(200, "200"), (40, "40")] {
        shown.press(Key::G, CONTROL);
        shown.types(key);
        shown.press(Key::Enter, Modifiers::NONE);
        assert_eq!(shown.local.caret(), (line, 1));
        // In the middle: what is around it is seen, too.
        let around = line - 4..=line + 4;
        assert!(around.into_iter().all(|line| sees(&shown, line)), "Ctrl+G {line}");
    }
    for (key, times) in [(Key::PageDown, 5), (Key::PageUp, 9)] {
        for _ in 0..times {
            shown.press(key, Modifiers::NONE);
            let (line, _) = shown.local.caret();
            assert!(sees(&shown, line), "{key:?} to {line}");
        }
    }
    // What is looked for is found from the end on, too.
    shown.press(Key::End, CONTROL);
    shown.press(Key::F, CONTROL);
    shown.types("line_42_");
    assert_eq!(shown.local.caret().0, 42);
    assert!(sees(&shown, 42), "found");
}

#[test]
fn the_editor_has_the_keyboard_after_all_is_replaced_by_a_click() {
    let mut shown = Shown::text("int a; int a;\n");
    shown.press(Key::H, CONTROL);
    shown.types("a");
    shown.press(Key::Tab, Modifiers::NONE);
    shown.types("b");
    shown.screen.click("Replace all");
    shown.frames();
    assert_eq!(shown.document.text, "int b; int b;\n");
    shown.press(Key::Z, CONTROL);
    assert_eq!(shown.document.text, "int a; int a;\n", "Ctrl+Z");
    assert!(shown.screen.sees("Replace all"));
    shown.press(Key::Escape, Modifiers::NONE);
    assert!(!shown.screen.sees("Replace all"), "Escape closes the fields");
}

#[test]
fn a_symbol_is_found_by_its_name_or_kind_and_gone_to() {
    let text = format!("{}__global__ void advance() {{\n}}\nstruct Ray {{}};\n", long(90));
    let mut shown = Shown::text(&text);
    shown.press(Key::O, CONTROL | Modifiers::SHIFT);
    assert!(shown.screen.sees("advance") && shown.screen.sees("Ray"));
    shown.types("structure");
    assert!(!shown.screen.sees("advance"), "{:?}", shown.screen.written());
    shown.press(Key::Enter, Modifiers::NONE);
    assert_eq!(shown.local.caret(), (93, 1));
    assert!(shown.screen.sees("struct Ray"), "{:?}", shown.screen.written());
    shown.press(Key::O, CONTROL | Modifiers::SHIFT);
    shown.types("adv");
    shown.press(Key::Enter, Modifiers::NONE);
    assert_eq!(shown.local.caret(), (91, 1));
    // The keyboard is the editor's again.
    shown.types("// ");
    assert!(shown.document.text.to_string().contains("\n// __global__ void advance"));
}

#[test]
fn what_the_text_has_other_than_its_file_is_shown_and_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.cu");
    let text = long(60);
    std::fs::write(&path, &text).unwrap();
    let mut shown = Shown::document(Document::read(&path).unwrap());
    let edited = text.replace("line_20_", "twenty_") + "// the end\n";
    shown.document.text = edited.as_str().into();
    shown.press(Key::D, CONTROL | Modifiers::SHIFT);
    let sees = |shown: &Shown, text: &str| {
        assert!(shown.screen.sees(text), "{text}: {:?}", shown.screen.written());
    };
    for text in ["change 1 of 2", "line_20_is_here", "twenty_is_here", "16 lines alike"] {
        sees(&shown, text);
    }
    assert!(!shown.screen.sees("line_1_is_here"), "it is alike");
    shown.press(Key::F7, Modifiers::NONE);
    sees(&shown, "change 2 of 2");
    shown.press(Key::F7, Modifiers::NONE);
    shown.screen.click("Put this back");
    let actions = shown.frames();
    assert_eq!(shown.document.text, (text.clone() + "// the end\n").as_str());
    assert!(actions.contains(&Action::Edit(shown.document.text.to_string())), "it is compiled");
    sees(&shown, "change 1 of 1");
    // What runs is another text, and nothing has worked yet.
    assert!(!shown.screen.sees("What runs") && !shown.screen.sees("What worked last"));
    shown.snapshot.compile.text = "int runs;\n".into();
    shown.frames();
    shown.screen.click("What runs");
    shown.frames();
    sees(&shown, "int runs;");
    shown.press(Key::D, CONTROL | Modifiers::SHIFT);
    assert!(!shown.screen.sees("What runs"));
    shown.press(Key::Z, CONTROL);
    assert_eq!(shown.document.text, edited.as_str(), "Ctrl+Z");
    // Its command in the list puts back, too.
    shown.press(Key::F7, Modifiers::NONE);
    shown.screen.click("File");
    shown.frames();
    shown.press(Key::P, CONTROL | Modifiers::SHIFT);
    shown.types("put this change");
    shown.press(Key::Enter, Modifiers::NONE);
    assert_eq!(shown.document.text, (text + "// the end\n").as_str());
    shown.press(Key::Escape, Modifiers::NONE);
    assert!(!shown.screen.sees("change 1 of 1"), "Escape closes it");
}

#[test]
fn keys_of_the_users_own_take_the_place_of_the_programs() {
    let mut shown = Shown::text("__global__ void advance() {}\n");
    let text =
        "\"Go to symbol\" = \"Ctrl+T\"\n\"Ten steps\" = \"F9\"\n\"Join lines\" = \"Ctrl+T\"\n";
    let (keymap, remarks) = Keymap::read(text, &shown.local.bindable(&shown.snapshot));
    assert_eq!(remarks, [(3, "Ctrl+T is \u{201c}Go to symbol\u{201d}, too".to_owned())]);
    shown.screen.frame(|ui| Typing::bind(ui.ctx(), keymap.clone()));
    shown.press(Key::O, CONTROL | Modifiers::SHIFT);
    assert!(!shown.screen.sees("Where do you want to go?"), "{:?}", shown.screen.written());
    shown.press(Key::T, CONTROL);
    assert!(shown.screen.sees("Where do you want to go?"), "{:?}", shown.screen.written());
    shown.press(Key::Escape, Modifiers::NONE);
    // Commands without a key of the program's, too.
    shown.screen.press(Key::F9);
    let ten = Action::Session(crate::session::Command::Steps(10));
    assert!(shown.frames().contains(&ten));
    shown.press(Key::P, CONTROL | Modifiers::SHIFT);
    shown.types("ten steps");
    assert!(shown.screen.sees("F9"), "{:?}", shown.screen.written());
}

/// The file that is written first has all commands, and none of its lines is refused.
#[test]
fn all_commands_can_be_bound_to_the_keys_that_they_have() {
    let shown = Shown::text("");
    let commands = shown.local.bindable(&shown.snapshot);
    let template = keymap::template(&commands);
    let refused = |line: &str| {
        let (_, remarks) = Keymap::read(line, &commands);
        remarks.into_iter().find(|(_, why)| !why.contains("types: a key"))
    };
    for line in template.lines().skip(3).map(|line| line.trim_start_matches("# ")) {
        assert_eq!(refused(line), None, "{line}");
    }
    let mut titles: Vec<&str> = commands.iter().map(|of| of.title.as_str()).collect();
    titles.sort_unstable();
    assert!(titles.windows(2).all(|two| two[0] != two[1]), "a name is one command's: {titles:?}");
}

#[test]
fn functions_of_headers_are_suggested_and_told_under_the_pointer() {
    let folder = tempfile::tempdir().unwrap();
    let header = folder.path().join("own.cuh");
    std::fs::write(&header, "// As far as light goes.\n__device__ float lightyear(int n) {}\n")
        .unwrap();
    let mut shown = Shown::text("lightyear\n");
    shown.snapshot.compile.included = vec![header];
    shown.frames();
    shown.screen.hover(pos2(shown.local.shown.origin.x + 10.0, shown.local.shown.origin.y + 8.0));
    // The pointer stands still.
    shown.frames();
    shown.frames();
    for told in ["float lightyear(int n)", "As far as light goes.", "In own.cuh."] {
        assert!(shown.screen.sees(told), "{told}: {:?}", shown.screen.written());
    }
    shown.press(Key::End, CONTROL);
    shown.types("ligh");
    assert!(shown.screen.sees("float lightyear(int n)"), "{:?}", shown.screen.written());
    shown.press(Key::Tab, Modifiers::NONE);
    assert_eq!(shown.document.text, "lightyear\nlightyear");
}
