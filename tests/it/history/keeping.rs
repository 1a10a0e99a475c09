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
        assert_eq!((keeping.budget, keeping.share), (ROOM, 0.05));
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
