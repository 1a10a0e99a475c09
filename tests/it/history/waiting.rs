//! The thread that draws waits for no copy, however long one takes.

use std::{sync::mpsc, thread};

use super::*;
use warpaint::session::{Command, Variant};

/// For so long nothing on the device's stream goes on: a copy behind it takes a second more.
const HELD: Duration = Duration::from_secs(1);
/// No update takes so long; one that waited would take all of it.
const AT_ONCE: Duration = Duration::from_millis(400);

#[test]
fn no_update_waits_for_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.npz");
    let longer = SCENE.replace("count = 300", "count = 310");
    let line = 0;
    let commands = [
        Command::Seek(Moment { line, step: 3 }),
        Command::Export(Exportable::State, path.clone()),
        Command::StartComparison(Variant { device: Some("cpu".into()), ..Variant::default() }),
        Command::StartComparison(Variant::default()),
    ];
    for command in commands.into_iter().map(Some).chain([None]) {
        let mut session = open(&Device::cpu().unwrap(), ROOM, SCENE);
        (0..20).for_each(|number| step(&mut session, number));
        assert_eq!(timeline(&session).shown, Moment { line, step: 20 });
        let (go, held) = mpsc::channel::<()>();
        session.stream().clone().host_function(move || held.recv().unwrap_or(())).unwrap();
        // It goes on at last whatever the session waits for.
        let release = thread::spawn(move || {
            thread::sleep(HELD);
            go.send(()).unwrap_or(());
        });
        let (started, mut longest) = (Instant::now(), Duration::ZERO);
        match &command {
            Some(command) => session.apply(command),
            None => _ = session.set_source(longer.clone()),
        }
        longest = longest.max(started.elapsed());
        while started.elapsed() < HELD || !session.is_idle() {
            let before = Instant::now();
            session.update().unwrap();
            if started.elapsed() < HELD {
                longest = longest.max(before.elapsed());
            }
            thread::sleep(Duration::from_millis(2));
        }
        release.join().unwrap();
        assert!(longest < AT_ONCE, "{command:?}: {longest:?}");
        match command {
            Some(Command::Seek(to)) => assert_eq!(timeline(&session).shown, to),
            Some(Command::Export(..)) => assert!(path.exists()),
            Some(_) => assert!(session.snapshot().comparison.unwrap().step.is_some()),
            None => assert_eq!(session.read("value").unwrap().len(), 310 * 16),
        }
    }
}
