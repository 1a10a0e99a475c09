//! The start page with real keys: scenes are found and opened, and saved under a name of the user's choice.

use std::fs;

use super::{screen::Screen, window::BLOB};

#[test]
fn a_scene_is_found_opened_and_saved_without_the_mouse() {
    let Some((screen, mut studio)) = Screen::open(BLOB) else { return };
    screen.blob_where("the blob is drawn", |_| true);
    screen.keys(&["ctrl+n"]);
    // The page takes the keyboard: nothing goes to the editor or the scene.
    screen.type_text("conway torus");
    screen.keys(&["Return"]);
    screen.until("life is open", || screen.title().starts_with("life.cu"));
    // It is in no file: saving asks where to. No desktop is there that would have a dialog.
    screen.keys(&["ctrl+s"]);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    screen.keys(&["BackSpace", "BackSpace", "BackSpace"]);
    screen.type_text("-mine.cu");
    screen.keys(&["Return"]);
    let saved = screen.place.path("life-mine.cu");
    screen.until("it is saved", || saved.exists());
    let text = fs::read_to_string(saved).unwrap();
    assert!(text.starts_with("/*---") && text.contains("Conway"));
    screen.until("the file is the document's", || screen.title().starts_with("life-mine.cu"));
    assert_eq!(fs::read_to_string(screen.place.path("scene.cu")).unwrap(), BLOB);
    assert!(studio.is_running());
}
