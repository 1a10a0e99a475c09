//! What is left of the files of before where the program is killed while it writes new ones.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant, SystemTime},
};

use super::{super::support::binary, SCENE, about_of, folder, run};

/// What the program does, in this order. It writes the state's file, and then the run's.
const MOMENTS: [&str; 5] = [
    "before anything is written",
    "while the state is",
    "behind that",
    "while the run is",
    "behind that, too",
];
/// The kills of a moment are spread over so much of the time that it takes, so that some of them fall behind it.
const WIDEST: f64 = 1.5;
/// How often the folder is looked at.
const LOOK: Duration = Duration::from_micros(200);

/// The files of a folder, with what tells their contents apart.
type Listing = BTreeMap<OsString, (u64, SystemTime)>;

fn listing(folder: &Path) -> Listing {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let told = |entry: fs::DirEntry| {
        let metadata = entry.metadata().ok()?;
        Some((entry.file_name(), (metadata.len(), metadata.modified().unwrap())))
    };
    entries.filter_map(told).collect()
}

/// Which of the [`MOMENTS`] it is in the folder, which was so before.
fn moment(folder: &Path, before: &Listing) -> usize {
    let now = listing(folder);
    let is_new = |name| now.get(OsStr::new(name)) != before.get(OsStr::new(name));
    let is_writing = now.keys().any(|name| !before.contains_key(name));
    match (is_new("s.npz"), is_new("r.json")) {
        (false, false) => usize::from(is_writing),
        (true, false) => 2 + usize::from(is_writing),
        (_, true) => 4,
    }
}

/// Waits for a moment, or for the program's end; says whether it goes on.
fn wait_for(wanted: usize, child: &mut Child, folder: &Path, before: &Listing) -> bool {
    while moment(folder, before) < wanted {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        thread::sleep(LOOK);
    }
    true
}

/// Kills the program at moments spread over the time in which it writes both files: they are those of before, or whole.
#[test]
fn a_program_that_is_killed_leaves_whole_files() {
    let folder = folder();
    let at = folder.path();
    // So large that writing takes a while, the run with the data that it has, too: else no kill would fall into it.
    let data = ndarray::Array1::<f32>::linspace(0.0, 1.0, 2_000_000);
    let file = fs::File::create(at.join("data.npy")).unwrap();
    ndarray_npy::WriteNpyExt::write_npy(&data, file).unwrap();
    let array =
        "[array.data]\ntype  = \"float\"\ncount = 2000000\nfile  = \"data.npy\"\n[array.slow]";
    fs::write(at.join("scene.cu"), SCENE.replace("[array.slow]", array)).unwrap();
    let render = |steps: u32| {
        let mut command = Command::new(binary());
        let steps = steps.to_string();
        command.current_dir(at).args(["render", "scene.cu", "--device", "cpu", "--steps", &steps]);
        command.args(["--save", "s.npz", "--record", "r.json"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    assert!(render(3).wait().unwrap().success());
    let (before, mut child) = (listing(at), render(3));
    let mut seen = vec![Instant::now()];
    for wanted in 1..MOMENTS.len() {
        wait_for(wanted, &mut child, at, &before);
        seen.push(Instant::now());
    }
    assert!(child.wait().unwrap().success());
    seen.push(Instant::now());
    let times: Vec<Duration> = seen.windows(2).map(|pair| pair[1] - pair[0]).collect();

    let kills = std::env::var("WARPAINT_KILLS").map_or(15, |text| text.parse().unwrap());
    let rounds = kills / MOMENTS.len();
    let (mut met, mut finished) = ([0; MOMENTS.len()], 0);
    for kill in 0..rounds * MOMENTS.len() {
        let steps = 4 + kill as u64;
        let (wanted, round) = (kill % MOMENTS.len(), kill / MOMENTS.len());
        let (before, mut child) = (listing(at), render(steps as u32));
        if wait_for(wanted, &mut child, at, &before) {
            thread::sleep(times[wanted].mul_f64(WIDEST * round as f64 / rounds as f64));
        }
        child.kill().unwrap();
        finished += u32::from(child.wait().unwrap().success());
        let found = moment(at, &before);
        met[found] += 1;
        let run: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(at.join("r.json")).unwrap()).unwrap();
        let of_files = [steps_of(&at.join("s.npz")), run["steps"].as_u64().unwrap()];
        // Each is this run's as soon as it is another file, and not before.
        assert_eq!(of_files.map(|of| of == steps), [found >= 2, found >= 4], "{of_files:?}");
    }
    for ((told, time), met) in MOMENTS.iter().zip(&times).zip(met) {
        eprintln!("{met} kills {told} ({time:?})");
    }
    eprintln!("{finished} of the last ones came too late");
    assert!(kills < 100 || met.iter().all(|met| *met > 0), "{met:?}");
    let (said, code) = run(at, &["replay", "r.json", "--device", "cpu"]);
    assert_eq!(code, 0, "{said}");
    // What else there is are drafts, which are cleared away once they are old enough.
    let names = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name());
    let whole: Vec<_> =
        names.filter(|name| !name.to_string_lossy().starts_with(".warpaint-")).collect();
    assert_eq!(whole.len(), 4, "{whole:?}");
}

/// The steps that a state's file says were finished; reads all that it has.
pub(super) fn steps_of(path: &Path) -> u64 {
    let mut archive = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    for at in 0..archive.len() {
        // A checksum that does not fit is an error.
        std::io::copy(&mut archive.by_index(at).unwrap(), &mut std::io::sink()).unwrap();
    }
    let about: serde_json::Value = serde_json::from_str(&about_of(path)).unwrap();
    about["step"].as_u64().unwrap()
}
