//! Run files of every version of their format, which later programs have to read. Nobody writes the older ones any
//! more: these are in `tests/runs`, with digests that `numpy` and `hashlib` gave for the same sums.

use std::ffi::OsString;

use super::*;
use crate::support::root;

/// The numbers of the versions of which there are files.
fn kept(folder: &Path) -> Vec<u64> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let number = |name: OsString| {
        name.to_str()?.strip_prefix("version-")?.strip_suffix(".json")?.parse().ok()
    };
    let mut versions: Vec<u64> = names.filter_map(number).collect();
    versions.sort_unstable();
    versions
}

#[test]
fn run_files_of_every_version_are_repeated() {
    let (runs, place) = (root().join("tests/runs"), folder());
    for version in kept(&runs) {
        let file = runs.join(format!("version-{version}.json"));
        let text = fs::read_to_string(&file).unwrap();
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(parsed["version"], version);
        let file = file.to_str().unwrap();
        let (said, code) = run(place.path(), &["replay", file, "--device", "cpu"]);
        let expected = "6 steps, the same bits at all 3 steps that were compared";
        assert!(code == 0 && said.starts_with(expected), "version {version}: {code}: {said}");
        // What entered the fourth step has its part in the result.
        let other = place.path().join("other.json");
        let step = text.rfind("\"gain\": 7").unwrap();
        fs::write(&other, [&text[..step], "\"gain\": 8", &text[step + 9..]].concat()).unwrap();
        let (said, code) = run(place.path(), &["replay", "other.json", "--device", "cpu"]);
        assert!(code == 1 && said.contains("after step 6"), "version {version}: {code}: {said}");
    }
}

/// A version without a file would be one that nothing holds later programs to.
#[test]
fn there_is_a_run_file_of_every_version() {
    let place = folder();
    render(place.path(), &["--steps", "1", "--record", "r.json"]);
    let text = fs::read_to_string(place.path().join("r.json")).unwrap();
    let newest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let newest = newest["version"].as_u64().unwrap();
    assert_eq!(kept(&root().join("tests/runs")), (1..=newest).collect::<Vec<_>>());
}
