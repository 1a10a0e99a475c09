//! Checks of the built-in scenes can fail: with a sign in the physics turned round, one does.

use warpaint::scene::Scene;

use super::super::support::Workplace;

/// `warpaint test` on a built-in scene of which `from` is replaced by `to`, with other arguments behind.
fn is_noticed(scene: &str, arguments: &[&str], from: &str, to: &str) {
    let place = Workplace::new();
    let source = Scene::built_in(scene).unwrap();
    assert_eq!(source.matches(from).count(), 1, "{scene}: {from}");
    place.file("mutated.cu", &source.replace(from, to));
    let command = [&["test", "mutated.cu", "--device", "cpu"], arguments].concat();
    let ended = place.run(&command);
    assert!(ended.out.contains("FAILED"), "{scene}: {to}: {}{}", ended.out, ended.err);
    ended.expect(1, &[]);
}

#[test]
fn gray_and_scotts_reactions() {
    let small = ["--const", "w=96", "--const", "h=96"];
    for (from, to) in [
        ("+ eaten -", "- eaten -"),
        ("- eaten +", "+ eaten +"),
        ("+ spread_v *", "- spread_v *"),
        ("rate.x * (1.0f - here.x)", "rate.x * (here.x - 1.0f)"),
    ] {
        is_noticed("gray-scott", &small, from, to);
    }
}
