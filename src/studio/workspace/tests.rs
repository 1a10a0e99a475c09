//! Of files that others change and texts that nobody saved.

use std::{fs, time::Duration};

use super::*;
use crate::studio::{keeper::no_wake, text::Command};

struct Bench {
    folder: tempfile::TempDir,
    path: PathBuf,
    workspace: Workspace,
}

impl Bench {
    /// Another studio that opens `document`.
    fn start(&self, document: Document) -> Workspace {
        Workspace::new(
            document,
            Some(Recovery::new(self.folder.path().join("recovery"))),
            no_wake(),
        )
    }

    /// Another studio that opens the file.
    fn reopen(&self) -> Workspace {
        self.start(Document::read(&self.path).unwrap())
    }
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.cu");
    fs::write(&path, "old").unwrap();
    let recovery = Recovery::new(folder.path().join("recovery"));
    let workspace = Workspace::new(Document::read(&path).unwrap(), Some(recovery), no_wake());
    Bench { folder, path, workspace }
}

/// Types as a user who then pauses, and gives what the window would do meanwhile.
fn type_and_wait(workspace: &mut Workspace, text: &str) {
    workspace.document.text = text.into();
    let now = Instant::now();
    let due = workspace.keep_soon(now).expect("a changed text is due");
    assert!(due - now < Duration::from_secs(1), "{:?}", due - now);
    assert_eq!(workspace.keep_soon(due), None);
    workspace.keeper.flush();
}

fn answers(workspace: &Workspace) -> Vec<&str> {
    workspace.notices().iter().flat_map(|n| &n.answers).map(|(label, _)| *label).collect()
}

/// The names and texts of what the user is asked about.
fn asked(workspace: &Workspace) -> Vec<(String, String)> {
    let told = |version: &Version| (version.name().to_owned(), version.text().unwrap());
    workspace.unsaved().iter().map(told).collect()
}

fn texts(workspace: &Workspace) -> Vec<String> {
    asked(workspace).into_iter().map(|(_, text)| text).collect()
}

#[test]
fn saving_writes_the_file() {
    let mut bench = bench();
    bench.workspace.document.text = "new".into();
    bench.workspace.save(bench.folder.path());
    assert_eq!(fs::read_to_string(&bench.path).unwrap(), "new");
    assert!(!bench.workspace.document.is_modified());
    assert!(bench.workspace.notices().is_empty());
}

#[test]
fn a_text_that_has_grown_is_saved_again_and_again() {
    let mut bench = bench();
    for letter in ["a", "b", "c"] {
        bench.workspace.document.text = letter.repeat(Document::LARGEST as usize + 1).into();
        bench.workspace.save(bench.folder.path());
        assert!(!bench.workspace.document.is_modified(), "{:?}", bench.workspace.notices());
        assert!(fs::read_to_string(&bench.path).unwrap().starts_with(letter));
    }
}

#[test]
fn a_failed_save_is_told_and_loses_nothing() {
    let mut bench = bench();
    bench.workspace.document.text = "typed".into();
    let mut permissions = fs::metadata(&bench.path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&bench.path, permissions).unwrap();
    bench.workspace.save(bench.folder.path());
    assert_eq!(bench.workspace.document.text, "typed");
    assert!(bench.workspace.document.is_modified());
    assert!(
        bench.workspace.notices()[0].text.contains("read-only"),
        "{:?}",
        bench.workspace.notices()
    );
    assert_eq!(fs::read_to_string(&bench.path).unwrap(), "old");
}

#[cfg(unix)]
#[test]
fn what_is_no_text_any_more_is_not_written_over() {
    let mut bench = bench();
    bench.workspace.document.text = "typed".into();
    fs::remove_file(&bench.path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&bench.path).status();
    assert!(made.unwrap().success());
    bench.workspace.save(bench.folder.path());
    assert!(
        bench.workspace.notices()[0].text.contains("a pipe"),
        "{:?}",
        bench.workspace.notices()
    );
    fs::remove_file(&bench.path).unwrap();
    fs::write(&bench.path, [0xff]).unwrap();
    bench.workspace.save(bench.folder.path());
    assert_eq!(fs::read(&bench.path).unwrap(), [0xff]);
    assert!(bench.workspace.document.is_modified());
    fs::remove_file(&bench.path).unwrap();
    bench.workspace.save(bench.folder.path());
    assert_eq!(
        fs::read_to_string(&bench.path).unwrap(),
        "typed",
        "a file that is gone is made anew"
    );
}

#[test]
fn a_save_over_anothers_change_asks_first() {
    let mut bench = bench();
    bench.workspace.document.text = "mine".into();
    fs::write(&bench.path, "theirs").unwrap();
    bench.workspace.save(bench.folder.path());
    assert_eq!(fs::read_to_string(&bench.path).unwrap(), "theirs");
    assert_eq!(answers(&bench.workspace), ["Reload from disk", "Keep mine"]);
    bench.workspace.keep_mine();
    bench.workspace.save(bench.folder.path());
    assert_eq!(fs::read_to_string(&bench.path).unwrap(), "mine");
    assert!(bench.workspace.notices().is_empty());
}

#[test]
fn reloading_keeps_the_replaced_text_in_the_recovery_folder() {
    let mut bench = bench();
    type_and_wait(&mut bench.workspace, "mine");
    bench.workspace.on_disk("theirs".into());
    bench.workspace.reload_from_disk();
    assert_eq!(bench.workspace.document.text, "theirs");
    assert!(answers(&bench.workspace).is_empty());
    assert!(bench.workspace.unsaved().is_empty(), "the user has just decided about it");
    bench.workspace.close();
    let next = bench.reopen();
    drop(std::mem::replace(&mut bench.workspace, next));
    assert_eq!(texts(&bench.reopen()), ["mine"]);
}

#[test]
fn a_plain_start_offers_all_that_is_unsaved_whatever_it_opens() {
    let bench = bench();
    let other = bench.folder.path().join("other.cu");
    fs::write(&other, "old").unwrap();
    for (path, text) in [(&bench.path, "first"), (&other, "second")] {
        let mut crashed = bench.start(Document::read(path).unwrap());
        type_and_wait(&mut crashed, text);
    }
    let asks = |workspace: &Workspace| {
        let mut asked = asked(workspace);
        asked.sort();
        asked
    };
    let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let both = [pair("a.cu", "first"), pair("other.cu", "second")];
    let mut next = bench.start(Document::built_in("particles").unwrap());
    assert_eq!(asks(&next), both);
    next.ask_later();
    assert_eq!(asks(&next), []);
    next.open(Document::read(&bench.path).unwrap());
    assert_eq!(asks(&next), both, "one of them is of this document");
    next.close();
    drop(next);
    assert_eq!(asks(&bench.reopen()), both, "not answered, still there");
}

#[test]
fn what_a_crash_left_stays_until_it_is_restored_or_discarded() {
    let bench = bench();
    type_and_wait(&mut bench.reopen(), "crashed");

    let mut second = bench.reopen();
    assert_eq!(second.document.text, "old", "not without asking");
    type_and_wait(&mut second, "typed instead of an answer");
    drop(second);
    let mut third = bench.reopen();
    assert_eq!(texts(&third), ["crashed", "typed instead of an answer"]);

    let crashed = third.unsaved()[0].file.clone();
    third.document.text = "on the way".into();
    assert_eq!(third.recover(&crashed), Recovered::InPlace);
    assert_eq!(third.document.text, "crashed");
    third.keeper.flush();
    assert_eq!(texts(&third), ["typed instead of an answer", "on the way"]);
    assert_eq!(third.recover(&crashed), Recovered::Not, "once");
    let file = third.unsaved()[0].file.clone();
    third.discard(&file);
    drop(third);

    let fourth = bench.reopen();
    let mut left = texts(&fourth);
    left.sort();
    assert_eq!(left, ["crashed", "on the way"], "restored is not saved");
}

#[test]
fn restoring_opens_the_file_that_it_is_of() {
    let bench = bench();
    type_and_wait(&mut bench.reopen(), "crashed");
    let mut next = bench.start(Document::new("particles.cu", None, "text"));
    let file = next.unsaved()[0].file.clone();
    assert_eq!(next.recover(&file), Recovered::Opened);
    assert_eq!(next.document.path.as_ref(), Some(&bench.path));
    assert_eq!((&*next.document.text.to_string(), next.document.is_modified()), ("crashed", true));
    assert!(next.unsaved().is_empty());
    next.save(bench.folder.path());
    assert_eq!(fs::read_to_string(&bench.path).unwrap(), "crashed");
    drop(next);
    assert!(bench.reopen().unsaved().is_empty(), "saved in the end");
}

#[test]
fn two_studios_with_one_file_keep_each_their_own() {
    let bench = bench();
    let (mut one, mut two) = (bench.reopen(), bench.reopen());
    type_and_wait(&mut one, "of one");
    type_and_wait(&mut two, "of two");
    assert!(bench.reopen().unsaved().is_empty(), "both are being worked on");
    drop((one, two));
    let mut left = texts(&bench.reopen());
    left.sort();
    assert_eq!(left, ["of one", "of two"]);
}

#[test]
fn text_is_kept_while_somebody_types_without_a_pause() {
    let bench = bench();
    let mut workspace = bench.reopen();
    let start = Instant::now();
    let mut kept_at = Vec::new();
    for key in 1..=60 {
        let now = start + key * Duration::from_millis(50);
        workspace.document.text.run(&Command::Type("x".into()), 0.0);
        let before = workspace.kept.as_ref().and_then(|kept| kept.text.clone());
        workspace.keep_soon(now);
        if workspace.kept.as_ref().and_then(|kept| kept.text.clone()) != before {
            kept_at.push(now - start);
        }
    }
    let gaps = kept_at.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(gaps.max().unwrap() < Duration::from_secs(1), "{kept_at:?}");
    assert!(kept_at.len() < 10, "not each key: {kept_at:?}");
}

#[test]
fn a_place_that_cannot_be_written_is_told_once_with_path_and_reason() {
    let bench = bench();
    fs::write(bench.folder.path().join("file"), "").unwrap();
    let folder = bench.folder.path().join("file/recovery");
    let document = || Document::read(&bench.path).unwrap();
    let mut workspace = Workspace::new(document(), Some(Recovery::new(&folder)), no_wake());
    assert_eq!(workspace.notices().len(), 1, "before anything is lost");
    let notice = workspace.notices()[0].clone();
    assert!(notice.text.contains(&folder.display().to_string()), "{notice:?}");
    assert!(notice.text.contains("a part of the path is a file"), "{notice:?}");
    workspace.open(Document::new("particles.cu", None, "text"));
    assert_eq!(workspace.notices().len(), 1, "it is as true for another document");
    workspace.dismiss(notice.number);
    workspace.document.text = "typed".into();
    workspace.keep();
    assert!(workspace.notices().is_empty(), "once");

    workspace.keeper.write(bench.folder.path().join("file/studio.json"), String::new());
    workspace.keeper.flush();
    workspace.keep_soon(Instant::now());
    workspace.keep_soon(Instant::now());
    assert_eq!(workspace.notices().len(), 1, "{:?}", workspace.notices());
}

#[test]
fn a_built_in_is_saved_to_a_new_file() {
    let mut bench = bench();
    bench.workspace.open(Document::new("particles", None, "text"));
    bench.workspace.save(bench.folder.path());
    let path = bench.folder.path().join("particles.cu");
    assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    assert_eq!(bench.workspace.document.path.as_ref(), Some(&path));
    assert!(bench.workspace.notices()[0].text.contains("particles.cu"));
}

#[test]
fn opening_another_scene_keeps_the_unsaved_text_of_the_first() {
    let mut bench = bench();
    bench.workspace.document.text = "typed".into();
    bench.workspace.open(Document::new("particles", None, "text"));
    assert!(bench.workspace.unsaved().is_empty());
    bench.workspace.keeper.flush();
    bench.workspace.open(Document::read(&bench.path).unwrap());
    assert_eq!(texts(&bench.workspace), ["typed"]);
    let file = bench.workspace.unsaved()[0].file.clone();
    assert_eq!(bench.workspace.recover(&file), Recovered::InPlace);
    assert_eq!(bench.workspace.document.text, "typed");
}

#[test]
fn a_file_that_is_gone_makes_its_text_unsaved() {
    let mut bench = bench();
    let wait = |workspace: &mut Workspace, has_come: &dyn Fn(&Workspace) -> bool| {
        let end = Instant::now() + Duration::from_secs(20);
        while !has_come(workspace) {
            assert!(Instant::now() < end, "the change is seen");
            std::thread::sleep(Duration::from_millis(5));
            workspace.poll(&[]);
        }
    };
    fs::remove_file(&bench.path).unwrap();
    wait(&mut bench.workspace, &|workspace| workspace.unreadable_since.is_some());
    let now = bench.workspace.unreadable_since.unwrap();
    assert!(bench.workspace.keep_soon(now).is_some());
    assert!(!bench.workspace.document.is_modified(), "another editor may be writing it");
    let due = bench.workspace.keep_soon(now + GONE_AFTER).expect("the text is nowhere else");
    assert!(bench.workspace.document.is_modified());
    assert!(bench.workspace.notices()[0].text.starts_with("a.cu is gone"));
    bench.workspace.keep_soon(due);
    bench.workspace.keeper.flush();
    let kept = &bench.workspace.kept.as_ref().expect("a place in the recovery folder").file;
    assert!(fs::read_to_string(kept).unwrap().contains("old"));

    fs::write(&bench.path, "old").unwrap();
    wait(&mut bench.workspace, &|workspace| !workspace.document.is_modified());
    assert_eq!(bench.workspace.notices().len(), 0);
}

#[test]
fn what_cannot_be_saved_is_told_plainly_with_its_cure() {
    let mut bench = bench();
    bench.workspace.document.text = "mine".into();
    let nowhere = bench.folder.path().join("gone").join("a.cu");
    let refused = bench.workspace.save_as(nowhere.clone()).unwrap_err();
    assert!(refused.contains("no such folder") && !refused.contains("os error"), "{refused}");
    assert!(bench.workspace.notices().is_empty(), "who asked tells it");
    bench.workspace.document.path = Some(nowhere);
    bench.workspace.save(bench.folder.path());
    let told = &bench.workspace.notices()[0];
    assert!(told.text.starts_with("a.cu was not saved: there is no such folder"), "{told:?}");
    assert_eq!(answers(&bench.workspace), ["Save as \u{2026}"]);
    let other = bench.folder.path().join("b.cu");
    assert_eq!(bench.workspace.save_as(other.clone()), Ok(()));
    assert_eq!(fs::read_to_string(other).unwrap(), "mine");
    assert_eq!(answers(&bench.workspace), [""; 0]);
}

#[test]
fn what_went_well_is_told_for_a_while_and_what_did_not_until_it_is_closed() {
    let mut bench = bench();
    bench.workspace.tell(Severity::Note, "It was written.");
    bench.workspace.tell(Severity::Warning, "It was not.");
    let told = |workspace: &Workspace| {
        workspace.notices().iter().map(|of| of.text.clone()).collect::<Vec<_>>()
    };
    let now = Instant::now();
    let again = bench.workspace.keep_soon(now).expect("it goes");
    assert!(again > now + Duration::from_secs(5));
    assert_eq!(told(&bench.workspace).len(), 2);
    assert_eq!(bench.workspace.keep_soon(again), None);
    assert_eq!(told(&bench.workspace), ["It was not."]);
}
