//! How much of the past is kept, as somebody sets it.

use super::*;
use warpaint::session::{Command, Keeping};

#[test]
fn a_narrower_budget_forgets_at_once_and_a_larger_share_copies_more_often() {
    on_each_device(|device| {
        let mut session = open(device, ROOM, SCENE);
        let mut known = vec![];
        for number in 0..60 {
            step(&mut session, number);
            known.push(contents(&mut session));
        }
        let Timeline { shown, bytes, keeping, spacing, .. } = timeline(&session);
        assert_eq!((keeping.budget, keeping.share), (ROOM, 0.04));
        // Every step, where copies may take as long as steps do.
        session.apply(&Command::KeepPast(Keeping { share: 1.0, ..keeping }));
        let often = timeline(&session).spacing;
        assert!(often <= spacing && often <= spacing.div_ceil(20) + 1, "{often} of {spacing}");

        let one = bytes[0] / timeline(&session).lines[0].copies.len() as u64;
        let budget = Budget { device: one, host: 0 };
        session.pause();
        session.apply(&Command::KeepPast(Keeping { budget, ..keeping }));
        while session.is_working() {
            session.update().unwrap();
        }
        session.update().unwrap();
        let left = timeline(&session);
        assert_eq!((left.bytes, left.lines[0].copies.as_slice()), ([one, 0], &[0][..]));
        for step in [1, 33, 60] {
            seek(&mut session, Moment { step, ..shown });
            assert!(contents(&mut session) == known[step as usize - 1], "step {step}");
        }
        // What is no share is none.
        for share in [f64::NAN, -1.0, 7.0] {
            session.keep_past(Keeping { share, ..keeping });
            assert!((0.001..=1.0).contains(&timeline(&session).keeping.share));
        }
    });
}

/// Copies that the device has no room for go to the host beside the steps, and are as good there.
#[test]
fn older_copies_go_to_the_host() {
    on_each_device(|device| {
        let one = 300 * 16 + 2 * 200 * 4 + 2 * 12 * 10 * 4;
        let budget = Budget { device: 2 * one, host: 30 * one };
        let mut session = open(device, budget, SCENE);
        let keeping = timeline(&session).keeping;
        session.keep_past(Keeping { share: 1.0, ..keeping });
        let mut known = vec![];
        // How many have come to the host depends on how long they are on their way.
        for number in 0.. {
            step(&mut session, number);
            known.push(contents(&mut session));
            let [_, with_host] = timeline(&session).bytes;
            if with_host >= 8 * one {
                break;
            }
            assert!(number < 5000, "{:?}", timeline(&session));
        }
        let Timeline { shown, bytes: [on_device, with_host], .. } = timeline(&session);
        let all = budget.device + budget.host;
        // A copy that is due is taken before another one is forgotten, and one more at the end.
        assert!(on_device + with_host <= all + 2 * one, "{on_device}, {with_host} of {all}");
        for part in 1..=20 {
            let step = 1 + (shown.step - 1) * part / 20;
            let to = Moment { step, ..shown };
            // As the headless commands do it, and as the window does.
            if part % 2 == 0 {
                seek(&mut session, to);
            } else {
                session.seek(to);
                while !session.is_idle() {
                    session.update().unwrap();
                }
                assert_eq!(timeline(&session).shown, to);
            }
            assert!(contents(&mut session) == known[step as usize - 1], "step {step}");
        }
    });
}

/// Programs stay loaded for the past, and somebody may edit all day.
#[test]
fn of_very_many_edits_the_newest_stay() {
    let mut session = open(&Device::cpu().unwrap(), ROOM, SCENE);
    let texts = [SCENE.to_owned(), SCENE.replace("gain + 1", "gain + 2")];
    let edits = 230;
    let mut known = vec![];
    for number in 0..edits {
        edit(&mut session, &texts[number % 2]);
        step(&mut session, number as u32);
        known.push(contents(&mut session));
    }
    let Timeline { lines, shown, .. } = timeline(&session);
    let [line] = &lines[..] else { panic!("{lines:?}") };
    // Each step is one of a program of its own; the last one came after what is older was forgotten.
    assert_eq!((line.first, line.last), (edits as u64 - 201, edits as u64), "{line:?}");
    for step in [line.first + 1, line.first + 100, line.last] {
        seek(&mut session, Moment { step, ..shown });
        assert!(contents(&mut session) == known[step as usize - 1], "step {step}");
    }
}
