//! Runs as files: what led to a state, and the same bits from it.

use std::{fs, path::Path};

use super::{
    waiting::{Copies, LEAST},
    *,
};

/// Repeats a run with the program, on the CPU device; gives what it says.
pub(super) fn replay(run: &Run) -> std::process::Output {
    replay_in(tempfile::tempdir().unwrap().path(), run, &[])
}

fn replay_in(folder: &Path, run: &Run, arguments: &[&str]) -> std::process::Output {
    run.write(&folder.join("run.json")).unwrap();
    let mut command = Command::new(binary());
    command.args(["replay", "run.json", "--device", "cpu"]).args(arguments);
    command.current_dir(folder).output().unwrap()
}

#[track_caller]
pub(super) fn assert_repeats(session: &mut Session) -> Run {
    let run = session.run().unwrap();
    let run = Run::parse(&run.to_json()).unwrap();
    let replayed = replay(&run);
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stderr));
    repeats_without_waiting(&run);
    run
}

/// Repeats a run as the window does, which waits for nothing; it has a past then.
#[track_caller]
fn repeats_without_waiting(run: &Run) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    run.write(&path).unwrap();
    let mut replay = Replay::read(&path, &Interrupt::default()).unwrap();
    let options = Options {
        path: Some(replay.place()),
        overrides: replay.overrides(),
        seed: run.seed,
        seed_is_asked_for: true,
        real_time: true,
        history: Past::Kept,
        ..Options::new(&run.name, &run.texts[0].text)
    };
    let mut session = open_with(&Device::cpu().unwrap(), options);
    session.pause();
    let mut digests: Option<Arrival<Digests>> = None;
    let copies = Copies::default();
    let mut goes_on = || {
        session.update().unwrap();
        if !session.is_idle() || digests.as_ref().is_some_and(|digests| !digests.is_here()) {
            std::thread::yield_now();
            return true;
        }
        if let Some(digests) = digests.take() {
            replay.compare(&digests.wait().unwrap());
        }
        match replay.next(&mut session, run.steps).unwrap() {
            Next::Program => {}
            Next::Steps(step) if session.clock().step < step => session.step_once(),
            Next::Steps(_) => {}
            Next::Digests => digests = session.start_digests().unwrap(),
            Next::End => return false,
        }
        true
    };
    copies.during(|| while goes_on() {});
    assert_eq!(copies.of(LEAST), [""; 0], "the window copies nothing itself");
    assert_eq!(replay.outcome(), Outcome::Same { compared: run.digests.len() });
    let timeline = timeline(&session);
    assert_eq!((timeline.shown.step, timeline.is_past), (run.steps, false));
}

/// The scene with a variable that its kernel counts up.
fn counting_of(text: &str) -> String {
    let counted = text.replace("a[i] * 5", "a[i] * 5 + (i == 0 ? ++other : 0)");
    counted.replace("__global__ void init", "__device__ int other = 7;\n__global__ void init")
}

/// Each text that takes over may change the state, whether steps are done by it or not.
#[test]
fn a_run_has_every_text_that_changed_the_state() {
    let text = "/*---\n[array.a]\ntype = \"int\"\ncount = 64\n[[pass]]\nkernel = \"init\"\non = \"reset\"\nover = \"a\"\n\
                [[pass]]\nkernel = \"k\"\nover = \"a\"\n---*/\n\
                __global__ void init(int* a, int a_count) { int i = threadIdx.x; if (i < a_count) a[i] = 1 * i; }\n\
                __global__ void k(int* a, int a_count) { int i = threadIdx.x; if (i < a_count) a[i] = a[i] * 5 + i; }\n";
    let (short, other) = (text.replace("64", "10"), text.replace("a[i] * 5", "a[i] * 7"));
    let steps_of = |run: &Run| run.texts.iter().map(|text| text.step).collect::<Vec<_>>();
    let cpu = Device::cpu().unwrap();

    // Two changes of the layout between two steps: what was cut off is gone.
    let mut session = open(&cpu, ROOM, text);
    session.run_steps(3, |_| {}).unwrap();
    edit(&mut session, &short);
    edit(&mut session, &format!("{text}// again\n"));
    assert_eq!(steps_of(&assert_repeats(&mut session)), [0, 3, 3]);
    session.run_steps(2, |_| {}).unwrap();
    assert_eq!(steps_of(&assert_repeats(&mut session))[..3], [0, 3, 3]);

    // The reset was the old text's.
    edit(&mut session, &text.replace("1 * i", "2 * i"));
    let line = timeline(&session).lines[0].id;
    seek(&mut session, Moment { line, step: 0 });
    session.run_steps(2, |_| {}).unwrap();
    let run = assert_repeats(&mut session);
    assert_eq!((steps_of(&run)[..2].to_vec(), run.texts[0].text.as_str()), (vec![0, 0], text));

    // A line that leaves another one where a text changed the state.
    let mut session = open(&cpu, ROOM, text);
    session.run_steps(3, |_| {}).unwrap();
    edit(&mut session, &short);
    session.run_steps(3, |_| {}).unwrap();
    let line = timeline(&session).shown.line;
    edit(&mut session, &other);
    seek(&mut session, Moment { line, step: 3 });
    assert_repeats(&mut session);
    session.run_steps(2, |_| {}).unwrap();
    assert_eq!(steps_of(&assert_repeats(&mut session))[..3], [0, 3, 3]);

    // A text sets the manifest's variables when it takes over, and so does the one before when it comes back.
    let set = counting_of(text).replace(
        "[[pass]]\nkernel = \"init\"",
        "[variable.other]\ntype = \"int\"\nvalue = [5]\n[[pass]]\nkernel = \"init\"",
    );
    let mut session = open(&cpu, ROOM, &set);
    session.run_steps(3, |_| {}).unwrap();
    for text in [format!("{set}// a comment\n"), set] {
        session.set_source_with(text, Effort::Full);
        assert!(session.wait_for_program().unwrap());
    }
    session.run_steps(2, |_| {}).unwrap();
    assert_repeats(&mut session);

    // The newest text goes on from a past state, which has nothing of a variable of its own.
    let mut session = open(&cpu, ROOM, text);
    session.run_steps(3, |_| {}).unwrap();
    edit(&mut session, &counting_of(text));
    session.run_steps(4, |_| {}).unwrap();
    let line = timeline(&session).shown.line;
    seek(&mut session, Moment { line, step: 2 });
    session.run_steps(2, |_| {}).unwrap();
    assert_repeats(&mut session);

    // What a text fills anew is its own, and the next one's only where that takes over at once.
    let mut session = open(&cpu, ROOM, text);
    session.run_steps(3, |_| {}).unwrap();
    let longer = text.replace("64", "100");
    edit(&mut session, &longer);
    session.run_steps(0, |_| {}).unwrap();
    edit(&mut session, &longer.replace("1 * i", "2 * i"));
    assert_eq!(steps_of(&assert_repeats(&mut session)), [0, 3, 3]);

    // What an edit of its data begins anew is there when the state is looked at.
    let valued = text.replace("count = 64", "count = 64\nvalue = 7");
    let mut session = open(&cpu, ROOM, &text.replace("on = \"reset\"\n", ""));
    session.run_steps(3, |_| {}).unwrap();
    edit(&mut session, &valued.replace("on = \"reset\"\n", ""));
    session.run_steps(0, |_| {}).unwrap();
    assert_repeats(&mut session);
    session.run_steps(2, |_| {}).unwrap();
    let run = assert_repeats(&mut session);
    assert!(run.digests.iter().any(|of| of.step == 3));

    // A file that is written at once after an edit of the layout has the new one.
    edit(&mut session, &valued.replace("on = \"reset\"\n", "").replace("64", "80"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.run.json");
    session.start_export(Exportable::Run, path.clone());
    assert_eq!(exported(&mut session)[0].problem, None);
    let run = Run::parse(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(Some(&session.digests().unwrap()), run.digests.last());
    let replayed = replay(&run);
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stderr));

    // Whoever types while nothing runs changes nothing by it.
    let mut session = open(&cpu, ROOM, &other);
    session.run_steps(5, |_| {}).unwrap();
    for number in 0..5 {
        edit(&mut session, &format!("{other}// {number}\n"));
    }
    session.run_steps(1, |_| {}).unwrap();
    let run = assert_repeats(&mut session);
    assert!(run.texts.iter().filter(|text| text.step == 5).count() <= 2, "{:?}", steps_of(&run));
}

/// After an edit the CPU device steps with a draft first, of which roundings differ: a run file says which steps it
/// did.
#[test]
fn a_run_over_an_edit_is_repeated_to_the_bit() {
    let text = "/*---\n[array.a]\ntype = \"float\"\ncount = 4096\n[[pass]]\nkernel = \"k\"\nover = \"a\"\n---*/\n\
                __global__ void k(float *a, int a_count, unsigned step)\n{\n    \
                int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
                if (i < a_count) a[i] = 0.999f * a[i] + sinf(0.01f * i + 0.05f * step);\n}\n";
    let mut session = open(&Device::cpu().unwrap(), ROOM, text);
    // Before the first step there is a run of none.
    session.run_steps(0, |_| {}).unwrap();
    assert_eq!(Run::parse(&session.run().unwrap().to_json()).unwrap().steps, 0);
    session.run_steps(20, |_| {}).unwrap();
    // A copy where a program begins is of its own layout.
    edit(&mut session, &format!("{}// edited\n", text.replace("4096", "4000")));
    session.run_steps(20, |_| {}).unwrap();
    let begun = Instant::now();
    let efforts = |run: &Run| run.texts.iter().map(|text| text.effort).collect::<Vec<_>>();
    let run = loop {
        session.update().unwrap();
        session.run_steps(1, |_| {}).unwrap();
        let run = session.run().unwrap();
        if efforts(&run).len() == 3 {
            break run;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", efforts(&run));
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(efforts(&run), [Effort::Full, Effort::Draft, Effort::Full]);
    assert!(run.digests.iter().any(|of| of.step == 20), "one where the layout changes");
    let ended = replay(&run);
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    // That is what tells: without it other bits come out.
    let mut other = run;
    other.texts[1].effort = Effort::Full;
    assert_eq!(replay(&other).status.code(), Some(1));
}

/// A reset begins everything anew, the variables of the source among it.
#[test]
fn a_reset_leaves_nothing_of_variables() {
    let text = "/*---\n[array.value]\ntype = \"int\"\ncount = 2\n[[pass]]\nkernel = \"add\"\nover = \"value\"\n---*/\n\
                __device__ int from = 5, zero;\n__device__ int list[2] = { 7, 0 };\n\
                __global__ void add(int* value) {\n    if (threadIdx.x != 0) return;\n    \
                value[0] = 100 * ++from + 10 * ++zero + list[1]++;\n    value[1] = list[0]--;\n}\n";
    on_each_device(|device| {
        let mut session = open(device, ROOM, text);
        let numbers = |session: &mut Session| {
            let bytes = session.read("value").unwrap();
            bytemuck::pod_collect_to_vec::<u8, i32>(&bytes)
        };
        for _ in 0..2 {
            session.run_steps(2, |_| {}).unwrap();
            assert_eq!(numbers(&mut session), [721, 6]);
            session.reset();
        }
        // A variable that begins with another number is another one.
        session.run_steps(1, |_| {}).unwrap();
        edit(&mut session, &text.replace("from = 5", "from = 8"));
        session.run_steps(1, |_| {}).unwrap();
        assert_eq!(numbers(&mut session), [921, 6]);
    });
}

/// A run file has each file once: with the first one's steps it would not show the same.
#[test]
fn a_run_over_a_change_of_an_included_file_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let (scene, header) = (folder.path().join("scene.cu"), folder.path().join("gain.cuh"));
    let text = "/*---\n[array.value]\ntype = \"int\"\ncount = 1\n[[pass]]\nkernel = \"add\"\nover = \"value\"\n---*/\n\
                #include \"gain.cuh\"\n__global__ void add(int* value) { if (threadIdx.x == 0) value[0] += GAIN; }\n";
    fs::write(&header, "#define GAIN 1\n").unwrap();
    let options = Options {
        history: Past::Within(ROOM),
        path: Some(scene.clone()),
        ..Options::new(scene.to_str().unwrap(), text)
    };
    let mut session = open_with(&Device::cpu().unwrap(), options);
    session.run_steps(2, |_| {}).unwrap();
    let run = session.run().unwrap();
    assert_eq!(run.name, "scene.cu", "whoever gets the file learns nothing of the folder");
    assert_eq!(run.files.unwrap()[0].name, "gain.cuh");
    fs::write(&header, "#define GAIN 10\n").unwrap();
    edit(&mut session, text);
    session.run_steps(2, |_| {}).unwrap();
    assert_eq!(session.read("value").unwrap(), 22_i32.to_ne_bytes());
    let error = session.run().unwrap_err().to_string();
    assert!(error.contains("gain.cuh was changed while the scene ran"), "{error}");
    // After a reset there is a run again.
    session.reset();
    session.run_steps(2, |_| {}).unwrap();
    assert_eq!(session.run().unwrap().steps, 2);
}

/// Updates the session until no file is being written; gives what became of the files.
fn exported(session: &mut Session) -> Vec<Exported> {
    let deadline = Instant::now() + Duration::from_secs(60);
    while session.is_exporting() {
        session.update().unwrap();
        assert!(Instant::now() < deadline, "the files are not written");
    }
    std::iter::from_fn(|| session.take_exported()).collect()
}

/// What is with the host when the device is lost is the whole state of a past step.
#[test]
fn a_rescued_state_is_that_of_its_step() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rescued.npz");
    on_each_device(|device| {
        let options = || Options { seed: 7, ..Options::new("scene.cu", SCENE) };
        let mut session = open_with(device, Options { rescue: true, ..options() });
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut rescued = Vec::new();
        while rescued.len() < 2 {
            session.update().unwrap();
            // The first may be that of the start.
            rescued.extend(session.take_rescued().filter(|of| of.step() > 0));
            assert!(Instant::now() < deadline, "nothing is rescued");
        }
        let [first, second] = [0, 1].map(|at| rescued[at].step());
        assert!(first < second, "{first}, {second}");
        rescued[1].write(&path).unwrap();
        let mut again = open_with(device, options());
        again.load(&path).unwrap();
        let mut straight = open_with(device, options());
        straight.run_steps(second, |_| {}).unwrap();
        assert_eq!(again.clock().step, second);
        assert!(contents(&mut again) == contents(&mut straight), "the states differ");
        // Nobody pays for it who does not want it.
        assert!(straight.take_rescued().is_none());
    });
}

#[test]
fn files_are_written_while_the_scene_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    on_each_device(|device| {
        let mut session = open(device, ROOM, SCENE);
        (0..20).for_each(|number| step(&mut session, number));
        let (state, run) = (folder.path().join("s.npz"), folder.path().join("s.run.json"));
        let (before, expected) = (contents(&mut session), session.run().unwrap());
        session.pause();
        session.start_export(Exportable::State, state.clone());
        session.start_export(Exportable::Run, run.clone());
        session.start_export(Exportable::State, folder.path().join("nowhere").join("s.npz"));
        let files = exported(&mut session);
        assert_eq!(files.len(), 3);
        for (file, path) in files.iter().zip([&state, &run]) {
            assert_eq!((&file.path, &file.problem), (path, &None));
        }
        assert!(files[2].problem.as_ref().is_some_and(|problem| problem.contains("nowhere")));
        assert_eq!(Run::parse(&fs::read_to_string(&run).unwrap()).unwrap(), expected);

        // Steps that follow change nothing of a file that is on its way.
        session.start_export(Exportable::State, state.clone());
        session.play();
        exported(&mut session);
        session.pause();
        assert!(contents(&mut session) != before);
        let mut other = open(device, ROOM, SCENE);
        assert_eq!(other.load(&state).unwrap(), [""; 0]);
        assert!(contents(&mut other) == before);
    });
}

/// Reset passes take parameters as they were when they ran, also where no step had them.
#[test]
fn a_run_has_what_entered_its_resets() {
    let text = "/*---\n[array.a]\ntype = \"int\"\ncount = 8\n[param.gain]\nvalue = 3\nmin = 0\nmax = 99\n\
                [[pass]]\nkernel = \"init\"\non = \"reset\"\nover = \"a\"\n\
                [[pass]]\nkernel = \"k\"\nover = \"a\"\n---*/\n\
                __global__ void init(int* a, int a_count, int gain) { int i = threadIdx.x; if (i < a_count) a[i] = gain; }\n\
                __global__ void k(int* a, int a_count, int gain) { int i = threadIdx.x; if (i < a_count) a[i] = a[i] * 5 + gain; }\n";
    let gain = |session: &mut Session, value| {
        assert!(session.set_parameter("gain", Value::Int(value)));
    };
    let cpu = Device::cpu().unwrap();
    let mut session = open(&cpu, ROOM, text);
    gain(&mut session, 50);
    session.run_steps(0, |_| {}).unwrap();
    gain(&mut session, 7);
    session.run_steps(2, |_| {}).unwrap();
    assert_eq!(session.read("a").unwrap()[..4], ((50 * 5 + 7) * 5 + 7_i32).to_le_bytes());
    assert_repeats(&mut session);
    // What is new is filled with another value than steps have before and after.
    edit(&mut session, &text.replace("count = 8", "count = 16"));
    gain(&mut session, 90);
    session.run_steps(0, |_| {}).unwrap();
    gain(&mut session, 7);
    session.run_steps(1, |_| {}).unwrap();
    assert_repeats(&mut session);
}

/// What is asked for may be there at the end only.
#[test]
fn what_a_later_text_has_is_written() {
    let cpu = Device::cpu().unwrap();
    let mut session = open(&cpu, ROOM, SCENE);
    (0..2).for_each(|number| step(&mut session, number));
    edit(
        &mut session,
        &SCENE.replace("---*/", "[array.late]\ntype = \"int\"\ncount = 3\nvalue = 4\n---*/"),
    );
    step(&mut session, 2);
    let run = session.run().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let written = replay_in(folder.path(), &run, &["--npy", "late=late.npy"]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    assert!(folder.path().join("late.npy").exists());
    let refused = replay_in(folder.path(), &run, &["--npy", "none=none.npy"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("late"), "{said}");
}

/// A difference can only be told where there is a digest.
#[test]
fn a_run_file_has_digests_of_all_small_copies_and_what_it_ran_on() {
    on_each_device(|device| {
        let mut session = open(device, ROOM, SCENE);
        (0..60).for_each(|number| step(&mut session, number));
        let mut steps = timeline(&session).lines[0].copies.clone();
        steps.push(60);
        steps.dedup();
        let run = session.run().unwrap();
        assert_eq!(run.digests.iter().map(|of| of.step).collect::<Vec<_>>(), steps);
        let driver = device.info().driver_version.map(|(major, minor)| format!("{major}.{minor}"));
        assert_eq!(run.driver, driver);
        assert_eq!(run.to_json().contains("\"driver\""), driver.is_some());
        let known = run.to_json().replace("\"nvrtc\"", "\"driver\": \"13.0\",\n  \"nvrtc\"");
        if driver.is_none() {
            assert_eq!(Run::parse(&known).unwrap().driver.as_deref(), Some("13.0"));
        }
    });
}

/// A run file has no state to begin with.
#[test]
fn what_goes_on_from_a_file_is_no_run_before_its_reset() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("s.npz");
    let mut session = open(&Device::cpu().unwrap(), ROOM, SCENE);
    (0..3).for_each(|number| step(&mut session, number));
    session.save(&state).unwrap();
    session.load(&state).unwrap();
    step(&mut session, 3);
    let said = session.run().unwrap_err().to_string();
    assert!(said.contains("goes on from the state in a file"), "{said}");
    session.reset();
    session.run_steps(2, |_| {}).unwrap();
    assert_eq!(session.run().unwrap().steps, 2);

    fs::write(folder.path().join("scene.cu"), SCENE).unwrap();
    let mut command = Command::new(binary());
    let arguments =
        ["render", "scene.cu", "--device", "cpu", "--from", "s.npz", "--record", "r.json"];
    let ended = command.args(arguments).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(
        said.contains("--record does not go with --from: a run file begins with a reset"),
        "{said}"
    );
    assert!(!folder.path().join("r.json").exists());
}
