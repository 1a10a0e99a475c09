//! The editor in the studio's window: what is found, replaced, and changed at several places at once.

use std::fs;

use super::{
    screen::{EDITOR, Screen},
    window::BLOB,
};

/// Where the first character of the text is, at the studio's first layout, and the size of one.
const FIRST: [f32; 2] = [75.0, 92.0];
const LETTER: [f32; 2] = [7.83, 19.0];

impl Screen {
    /// A point of the screen at the left side of a character: line and column from 1.
    fn letter(&self, line: usize, column: usize) -> [i32; 2] {
        let at = |n: usize, axis: usize| FIRST[axis] + (n - 1) as f32 * LETTER[axis];
        [at(column, 0) as i32, at(line, 1) as i32]
    }

    /// Presses keys as fast as can be: many of them meet within a frame.
    #[track_caller]
    fn quick_keys(&self, keys: &str) {
        let keys: Vec<&str> = ["key", "--delay", "0"].into_iter().chain(keys.split(' ')).collect();
        self.xdotool(&keys).expect(0, &[]);
    }

    /// Saves, and waits until the file is `text`.
    #[track_caller]
    fn saved_is(&self, text: &str) {
        self.keys(&["ctrl+s"]);
        let path = self.place.path("scene.cu");
        let mut found = String::new();
        self.until(&format!("the file is {text:?}"), || {
            found = fs::read_to_string(&path).unwrap();
            found == text
        });
    }
}

#[test]
fn all_matches_are_replaced_and_come_back() {
    let Some((screen, _studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.click(EDITOR);
    screen.quick_keys("ctrl+h s h i f t Tab m o v e d ctrl+alt+Return Escape");
    screen.saved_is(&BLOB.replace("shift", "moved"));
    screen.keys(&["ctrl+z"]);
    screen.saved_is(BLOB);
    // One after the other, from the start.
    screen.quick_keys("ctrl+Home ctrl+h Tab Return Return Return Escape");
    screen.saved_is(&BLOB.replacen("shift", "moved", 2));
}

#[test]
fn every_next_occurrence_gets_a_caret() {
    let Some((screen, _studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.click(EDITOR);
    screen.quick_keys("ctrl+Home ctrl+f s h i f t Escape ctrl+d ctrl+d b y");
    screen.saved_is(&BLOB.replace("shift", "by"));
    // Escape leaves one caret, and only then the editor.
    screen.quick_keys("Escape x");
    let by = BLOB.replace("shift", "by");
    let last = by.rfind("by").unwrap() + 2;
    screen.saved_is(&format!("{}x{}", &by[..last], &by[last..]));
}

#[test]
fn a_line_is_gone_to_by_its_number() {
    let Some((screen, _studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    // Also where the editor has no keyboard.
    screen.quick_keys("ctrl+g 5 Return numbersign space");
    screen.saved_is(&BLOB.replace("[buffer", "# [buffer"));
}

#[test]
fn a_command_is_found_by_its_name() {
    let Some((screen, _studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.click(EDITOR);
    screen.quick_keys("ctrl+Home Down ctrl+shift+p d e l e t e space l i n e Return");
    screen.saved_is(&BLOB.replace("title = \"Blob\"\n", ""));
}

#[test]
fn a_word_is_completed() {
    let Some((screen, _studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.click(EDITOR);
    screen.quick_keys("ctrl+End Return a t o m i c a d Tab Return");
    screen.saved_is(&format!("{BLOB}\natomicAdd\n"));
}

#[test]
fn an_error_is_gone_to_by_a_key() {
    let broken = BLOB.replace("(i % 10)", "(q % 10)");
    let Some((screen, _studio)) = Screen::open(&broken) else { return };
    // Its sign in the line of problems.
    screen.until("the error is told", || {
        let picture = screen.picture();
        let is_red =
            |[r, g, b]: [u8; 3]| r > 220 && (90..130).contains(&g) && (90..130).contains(&b);
        (820..845).any(|y| (25..60).any(|x| is_red(picture.rgb[y * picture.width + x])))
    });
    screen.quick_keys("F8 plus");
    screen.saved_is(&broken.replace("(q", "(+q"));
}

#[test]
fn the_mouse_selects_words_and_adds_carets() {
    let Some((screen, _studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    let twice = ["click", "--repeat", "2", "--delay", "60", "1"];
    screen.mouse(&twice, screen.letter(2, 3));
    screen.type_text("a");
    screen.saved_is(&BLOB.replace("title", "a"));
    screen.keys(&["ctrl+z"]);
    screen.click(screen.letter(2, 1));
    screen.mouse(
        &["keydown", "alt", "sleep", "0.2", "click", "1", "sleep", "0.3", "keyup", "alt"],
        screen.letter(4, 1),
    );
    screen.type_text("#");
    screen.saved_is(&BLOB.replace("title", "#title").replace("n = 2000", "#n = 2000"));
    // Dragged over, from the key of a line to that of the next one.
    screen.mouse(&["mousedown", "1"], screen.letter(3, 1));
    screen.mouse(&["sleep", "0.4"], screen.letter(3, 4));
    screen.mouse(&["sleep", "0.4", "mouseup", "1"], screen.letter(4, 2));
    screen.type_text("x");
    screen.saved_is(&BLOB.replace("title", "#title").replace("[constant]\nn", "xn"));
}
