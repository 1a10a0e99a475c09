//! A text of the past as B: what is compared is what ran, whatever became of the files that it included.

use std::{fs, path::PathBuf};

use super::{
    super::support::{COUNTER, Workplace},
    ADD, comparison, edit, open_with, parting, start, steps, told,
};
use warpaint::{
    device::Device,
    session::{Budget, ComparisonPhase, Effort, Options, Past, Session, Variant, VariantText},
};

/// [`COUNTER`], whose `y` grows by the factor of a header.
struct Place {
    place: Workplace,
    text: String,
}

impl Place {
    fn new(factor: &str) -> Self {
        let text = COUNTER.replacen(ADD, "value[i].y += gain * FACTOR;", 1);
        let text = text.replacen("---*/", "---*/\n#include \"factor.cuh\"", 1);
        let place = Self { place: Workplace::new(), text };
        place.write(factor);
        place
    }

    fn header(&self) -> PathBuf {
        self.place.path("factor.cuh")
    }

    fn write(&self, factor: &str) {
        fs::write(self.header(), format!("#define FACTOR {factor}\n")).unwrap();
    }

    fn open(&self) -> Session {
        let past = Past::Within(Budget { device: 64 << 20, host: 0 });
        let path = Some(self.place.path("scene.cu"));
        let options = Options { path, history: past, ..Options::new("scene.cu", &*self.text) };
        open_with(&Device::cpu().unwrap(), options)
    }
}

fn variant(text: VariantText) -> Variant {
    Variant { text, ..Variant::default() }
}

/// The number of the version that runs.
fn version(session: &Session) -> VariantText {
    VariantText::Version(session.snapshot().compile.running)
}

/// Why B does not run.
#[track_caller]
fn refusal(session: &Session) -> String {
    let ComparisonPhase::Rejected(diagnostics) = comparison(session).phase else {
        panic!("it runs: {:#?}", comparison(session));
    };
    assert_eq!(diagnostics.len(), 1, "{diagnostics:#?}");
    diagnostics[0].text.clone()
}

/// After how many steps, and by how much, `y` grew otherwise in B.
#[track_caller]
fn expect_growth(session: &mut Session, text: VariantText, [of_a, of_b]: [f32; 2]) {
    let before = session.read("value").unwrap();
    let y: f32 = bytemuck::pod_read_unaligned(&before[4..8]);
    let from = session.clock().step;
    start(session, variant(text));
    steps(session, 1);
    let [a, b] = [y + of_a, y + of_b].map(|y| format!("{y:?}"));
    assert_eq!(parting(session), told(from + 1, "value[0].y", &a, &b));
    assert!(!comparison(session).has_same_text);
}

#[test]
fn a_version_has_the_headers_that_it_ran_with() {
    let place = Place::new("2.0f");
    let mut session = place.open();
    steps(&mut session, 2);
    let first = version(&session);
    place.write("-30.0f");
    edit(&mut session, &place.text);
    steps(&mut session, 2);
    for text in [first.clone(), VariantText::Before] {
        expect_growth(&mut session, text, [-30.0, 2.0]);
    }
    // As long as it is known, it needs no file at all.
    fs::remove_file(place.header()).unwrap();
    expect_growth(&mut session, first, [-30.0, 2.0]);
    // What runs is what ran, too, though it could not be compiled any more.
    start(&mut session, variant(VariantText::Running));
    steps(&mut session, 1);
    super::expect_same(&session);
}

#[test]
fn what_would_have_to_be_compiled_again_from_a_changed_header_is_refused() {
    let place = Place::new("2.0f");
    let mut session = place.open();
    steps(&mut session, 2);
    let other_way = |text: &VariantText| Variant { fast_math: Some(true), ..variant(text.clone()) };
    let first = version(&session);
    start(&mut session, other_way(&first));
    assert_eq!(comparison(&session).phase, ComparisonPhase::Running);
    place.write("3.0f");
    edit(&mut session, &place.text);
    steps(&mut session, 1);
    for text in [&first, &VariantText::Before] {
        start(&mut session, other_way(text));
        let expected = format!(
            "{} was changed since this text ran, and what it said then is not kept",
            place.header().display()
        );
        assert_eq!(refusal(&session), expected);
    }
    // Of the text that runs now the header is there.
    let present = other_way(&version(&session));
    start(&mut session, present);
    assert_eq!(comparison(&session).phase, ComparisonPhase::Running);
}

/// What an editor writes again without a change, as many do, is no edit.
#[test]
fn the_edit_before_is_one_of_what_is_said() {
    let place = Place::new("2.0f");
    let mut session = place.open();
    start(&mut session, variant(VariantText::Before));
    assert_eq!(refusal(&session), "nothing ran before: the text was not edited yet");
    start(&mut session, variant(VariantText::Version(77)));
    assert_eq!(refusal(&session), "version 77 lies further back than the past is kept");
    steps(&mut session, 1);
    place.write("5.0f");
    for _ in 0..3 {
        edit(&mut session, &place.text);
        steps(&mut session, 1);
        place.write("5.0f");
    }
    expect_growth(&mut session, VariantText::Before, [5.0, 2.0]);
    // The other way round, of the text alone.
    let text = place.text.replacen("gain * FACTOR", "gain * FACTOR + 1.0f", 1);
    edit(&mut session, &text);
    expect_growth(&mut session, VariantText::Before, [6.0, 5.0]);
}

/// A draft is slower than what it is a draft of, so it is nothing to compare times with.
#[test]
fn a_version_that_ran_as_a_draft_alone_is_compiled_in_full() {
    let place = Place::new("2.0f");
    let mut session = place.open();
    steps(&mut session, 1);
    let text = place.text.replacen("gain * FACTOR", "gain * FACTOR + 1.0f", 1);
    session.set_source_with(text.clone(), Effort::Draft);
    assert!(session.wait_for_program().unwrap());
    steps(&mut session, 1);
    let drafted = version(&session);
    start(&mut session, variant(drafted.clone()));
    steps(&mut session, 1);
    super::expect_same(&session);
    place.write("9.0f");
    edit(&mut session, &place.text);
    steps(&mut session, 1);
    // That needs the header of then.
    start(&mut session, variant(drafted));
    assert!(refusal(&session).contains("factor.cuh"), "{}", refusal(&session));
}
