//! Rows of the table in "What an edit keeps" of `docs/scenes.md` that no other test of layouts is about.

use super::*;

#[test]
fn both_halves_of_what_is_double_now_hold_what_the_last_one_held() {
    let single = scene(&array("int", 3), "int *a", "a[i] = i;", "a[i] += 100;");
    let table = format!("{}\ndouble = true", array("int", 3));
    // What a step does not write is what was there two steps before.
    let double = scene(
        &table,
        "int *a, int *a_next",
        "a_next[i] = -i;",
        "if (i == 0) a_next[i] = a[i] + 1;",
    );
    let mut session = open(&single);
    session.run_steps(1, |_| {}).unwrap();
    for (text, expected) in [
        (&double, [[100, 101, 102], [101, 101, 102], [102, 101, 102]]),
        (&single, [[102, 101, 102], [202, 201, 202], [302, 301, 302]]),
    ] {
        session.set_source(text.clone());
        ready(&mut session);
        for expected in expected {
            assert_eq!(read_ints(&mut session, "a"), expected);
            session.run_steps(1, |_| {}).unwrap();
        }
        // Back to the last that was looked at.
        let shown = session.snapshot().timeline.unwrap().shown;
        session.seek(Moment { step: shown.step - 1, ..shown });
        session.finish_seeking().unwrap();
    }
}

const PAINTED: [f32; 6] = [1.0, 2.0, 3.0, 11.0, 12.0, 13.0];

#[test]
fn how_a_texture_is_sampled_changes_nothing_of_it() {
    let after = TEXTURE
        .replace("[3, 2]", "[3, 2]\nfilter = \"linear\"\nwrap = \"mirror\"\nnormalized = true");
    assert_eq!(edited::<f32>(TEXTURE, &after, "dye"), PAINTED);
}

#[test]
fn another_format_has_the_channels_that_both_have() {
    let after = TEXTURE.replace("r32f", "rg32f");
    let expected: Vec<f32> = PAINTED.iter().flat_map(|red| [*red, 0.0]).collect();
    assert_eq!(edited::<f32>(TEXTURE, &after, "dye"), expected);
    let bytes = TEXTURE
        .replace("r32f", "rgba8")
        .replace("1.0f + x + 10 * y, dye", "make_uchar4(51, 0, 255, 1), dye");
    let wide = bytes.replace("rgba8", "rgba32f");
    let texel = [0.2, 0.0, 1.0, 1.0 / 255.0].map(|part: f64| part as f32);
    assert_eq!(edited::<f32>(&bytes, &wide, "dye"), [texel; 6].concat());
}

#[test]
fn what_has_no_place_in_what_it_is_now_begins_anew() {
    let one = scene(&array("float", 3), "float *a", "a[i] = i;", "a[i] += 100;");
    let flat = TEXTURE.replace("dye", "a");
    let row =
        flat.replace("[3, 2]", "[6]").replace("x * 4, y", "x * 4").replace("surf2D", "surf1D");
    let row = row.replace(", int a_height", "").replace("&& y < a_height", "");
    for (before, after) in [(&one, &flat), (&flat, &row), (&row, &flat)] {
        let found = edited::<f32>(before, after, "a");
        assert_eq!(found, [0.0; 6], "{after}");
    }
    assert_eq!(edited::<f32>(&flat, &one, "a"), [0.0, 1.0, 2.0], "by the reset pass");
}
