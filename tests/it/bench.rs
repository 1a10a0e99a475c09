//! `warpaint bench`: what its figures say.

use std::fs;

use super::support::{COUNTER, Workplace};

#[test]
fn passes_have_times_rates_and_their_share_of_the_ceilings() {
    let place = Workplace::new();
    let pass = "kernel = \"advance\"";
    let more = format!("{pass}\nbytes = \"2 * 16 * n\"\nflops = \"n\"\nrepeat = 3");
    place.file("scene.cu", &COUNTER.replacen(pass, &more, 1));
    let command = ["bench", "scene.cu", "--device", "cpu", "--steps", "4", "--json", "b.json"];
    let ended = place.run(&command);
    ended.expect(0, &[]);
    assert!(
        ended.out.contains("scene.cu: ") && ended.out.contains(" ms a step, 4 steps"),
        "{ended:#?}"
    );
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(place.path("b.json")).unwrap()).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let (ceilings, figure) = (&report["ceilings"], &report["scenes"][0]["passes"][0]);
    assert_eq!((figure["name"].as_str(), number(&figure["bytes"])), (Some("advance"), 96_000.0));
    assert_eq!(number(&figure["flops"]), 3000.0);
    assert!(
        number(&figure["min_ms"]) > 0.0
            && number(&figure["min_ms"]) <= number(&figure["median_ms"])
    );
    let rate = 96_000.0 / (number(&figure["median_ms"]) * 1e-3);
    let share = rate / number(&ceilings["copy_bytes_per_second"]);
    assert!((number(&figure["of_copy"]) / share - 1.0).abs() < 1e-9);
    assert!(number(&ceilings["fma_flops_per_second"]) > 1e6);

    let command = ["bench", "scene.cu", "--device", "cpu", "--steps", "1", "--history"];
    let ended = place.run(&[&command[..], &["--json", "h.json"]].concat());
    ended.expect(0, &[]);
    assert!(ended.out.contains("  the past: ") && ended.out.contains(" ms a step; "), "{ended:#?}");
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(place.path("h.json")).unwrap()).unwrap();
    let history = &report["scenes"][0]["history"];
    let shown: Vec<f64> = history["shown_ms"].as_array().unwrap().iter().map(number).collect();
    assert!(shown.len() == 4 && shown.is_sorted() && shown[0] > 0.0, "{shown:?}");
    assert!(number(&history["with_ms"]) > 0.0 && number(&history["without_ms"]) > 0.0);
    // Four floats of each of 1000 elements, and what a copy has to be aligned to.
    assert!((16_000..20_000).contains(&history["copy_bytes"].as_u64().unwrap()), "{history}");

    place.file("wrong.cu", &COUNTER.replacen(pass, &format!("{pass}\nbytes = 0"), 1));
    place
        .run(&["bench", "wrong.cu", "--device", "cpu"])
        .expect(1, &["`bytes` is 0, but must be greater than 0"]);
    // A scene that fails does not keep those behind it from being measured, and each is told.
    place.file("broken.cu", "not a kernel");
    let command = ["bench", "wrong.cu", "broken.cu", "scene.cu", "--device", "cpu", "--steps", "1"];
    let ended = place.run(&command);
    ended.expect(1, &["must be greater than 0", "broken.cu:1"]);
    assert!(ended.out.contains(" ms a step, 1 steps"), "{ended:#?}");
    place.run(&["bench", "scene.cu", "--steps", "0"]).expect(2, &["--steps"]);
}
