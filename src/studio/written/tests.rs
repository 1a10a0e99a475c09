use super::*;
use crate::{
    scene::{Manifest, Overrides, Scene},
    studio::text::Buffer,
};

const TEXT: &str = "/*---\ntitle = \"größer\"\n[param.drag]\nvalue = 0.5  # value = 1\nmax = 2.0\n\n\
                    [param.\"on\"]\nkind = \"toggle\"\nvalue=0\n[param.tint]\nvalue = [1, 0.5, 0]\nkind = \"color\"\n\
                    ---*/\n// [param.drag]\n// value = 3\n";

fn parameter(name: &str, value: Value, control: Control) -> Parameter {
    let (name, label) = (name.to_owned(), name.to_owned());
    Parameter { name, label, unit: String::new(), default: value.clone(), value, control }
}

fn float(name: &str, value: f64) -> Parameter {
    let slider = Control::Slider { min: -1e308, max: 1e308, step: 0.0, log: false };
    parameter(name, Value::Float(value), slider)
}

fn all() -> Vec<Parameter> {
    vec![
        parameter("tint", Value::Color([0.25, 0.5, 1.0, 1.0]), Control::Color(false)),
        float("drag", 0.35),
        parameter("on", Value::Toggle(true), Control::Toggle),
    ]
}

fn changed(changes: Vec<Change>, text: &str) -> String {
    let mut buffer = Buffer::new(text);
    buffer.replace(changes, 0.0);
    buffer.to_string()
}

/// The text with these values as those of the manifest.
fn put(text: &str, parameters: &[Parameter]) -> Result<String, String> {
    let changes = values(text, &Overrides::default(), parameters);
    changes.map(|changes| changed(changes, text)).map_err(|error| error.to_string())
}

/// The text with these values as a preset.
fn saved(text: &str, name: &str, parameters: &[Parameter]) -> Result<String, String> {
    let changes = preset(text, &Overrides::default(), name, parameters);
    changes.map(|changes| changed(changes, text)).map_err(|error| error.to_string())
}

#[track_caller]
fn read(text: &str) -> Manifest {
    let scene = Scene::parse("t.cu", text, &Overrides::default());
    scene.unwrap_or_else(|told| panic!("{text}\nis told {told:#?}")).manifest
}

/// What the text has as the preset `name`.
#[track_caller]
fn preset_in(text: &str, name: &str) -> Vec<(String, Value)> {
    let manifest = read(text);
    let found = manifest.presets.iter().find(|of| of.name == name);
    let mut values = found.unwrap_or_else(|| panic!("no {name} in {text}")).values.clone();
    values.sort_by(|a, b| a.0.cmp(&b.0));
    values
}

#[test]
fn values_take_the_place_of_those_that_are_written() {
    let all = all();
    let expected = TEXT
        .replace("value = 0.5  #", "value = 0.35  #")
        .replace("value=0", "value=1")
        .replace("[1, 0.5, 0]", "[0.25, 0.5, 1.0]");
    assert_eq!(put(TEXT, &all).unwrap(), expected);
    assert_eq!(put(&expected, &all).unwrap(), expected, "nothing is written anew");
    let gone = TEXT.replace("[param.drag]", "[param.drab]");
    assert!(put(&gone, &all).unwrap_err().contains("`drag`"));
    assert!(put("no manifest", &all).is_err());
    let broken = TEXT.replace("max = 2.0", "max = = 2.0");
    assert!(put(&broken, &all).unwrap_err().contains("line 5"), "{:?}", put(&broken, &all));
}

#[test]
fn a_preset_is_written_behind_the_other_tables_and_in_the_place_of_its_own() {
    let mut all = all();
    let once = saved(TEXT, "calm sea", &all).unwrap();
    let table = "\n[preset.\"calm sea\"]\ntint = [0.25, 0.5, 1.0]\ndrag = 0.35\non = true\n---*/";
    assert!(once.contains(table), "{once}");
    all[1].value = Value::Float(1.0);
    let twice = saved(&once, "calm sea", &all).unwrap();
    assert_eq!(twice, once.replace("drag = 0.35", "drag = 1.0"));
    assert!(saved("no manifest", "a", &all).is_err());
}

#[test]
fn a_number_is_read_back_as_it_was() {
    for value in [
        7.283_185_3,
        16_777_217.0,
        0.123_456_789,
        0.1 + 0.2,
        1e16,
        -1e-7,
        5e-324,
        f64::from(0.1_f32),
    ] {
        let text = format!(
            "/*---\n[param.a]\nvalue = 1.0\nmin = -1.0\nmax = {:?}\n---*/",
            2e7_f64.max(value)
        );
        let written = put(&text, &[float("a", value)]).unwrap();
        assert_eq!(read(&written).parameters[0].default, Value::Float(value), "{written}");
        let written = saved(&text, "p", &[float("a", value)]).unwrap();
        assert_eq!(preset_in(&written, "p"), [("a".to_owned(), Value::Float(value))], "{written}");
    }
    // The end of a slider is within it.
    let text = "/*---\n[param.a]\nvalue = 1.0\nmax = 7.2831853\n---*/";
    let written = put(text, &[float("a", 7.283_185_3)]).unwrap();
    assert_eq!(written, text.replace("1.0", "7.2831853"));
    // So is what lies beyond it since the text was edited.
    assert_eq!(put(text, &[float("a", 8.0)]).unwrap(), written);
}

#[test]
fn a_preset_is_changed_wherever_its_values_stand() {
    const PARAMS: &str = "[param.drag]\nvalue = 1.0\n[param.gain]\nvalue = 1.0\n";
    let params = [float("drag", 0.75), float("gain", 0.25)];
    for (name, before, after) in [
        (
            "calm",
            "[preset.calm]\n# of a quiet day\ndrag = 0.1 # slow\n\ngain = 0.2\n# end\n",
            "[preset.calm]\n# of a quiet day\ndrag = 0.75 # slow\n\ngain = 0.25\n# end\n",
        ),
        (
            "calm",
            "[preset.calm]\n\n  drag = 0.1 # slow\n\n# [preset.x]\n[preset.x]\n",
            "[preset.calm]\n\n  drag = 0.75 # slow\n  gain = 0.25\n\n# [preset.x]\n[preset.x]\n",
        ),
        (
            "calm",
            " [preset . 'calm'] # none yet\n",
            " [preset . 'calm'] # none yet\n drag = 0.75\n gain = 0.25\n",
        ),
        ("a/b", "[preset.ab]\n", "[preset.ab]\n\n[preset.\"a/b\"]\ndrag = 0.75\ngain = 0.25\n"),
        (
            "v[1]",
            "[preset.\"v[1]\"]\ndrag = 0.1\n",
            "[preset.\"v[1]\"]\ndrag = 0.75\ngain = 0.25\n",
        ),
        (
            "x.y",
            "[preset.x]\n[preset.'x.y']\n",
            "[preset.x]\n[preset.'x.y']\ndrag = 0.75\ngain = 0.25\n",
        ),
        (
            "calm",
            "[preset]\ncalm = { drag = 0.1 } # quiet\n",
            "[preset]\ncalm = { drag = 0.75, gain = 0.25 } # quiet\n",
        ),
        ("calm", "[preset]\ncalm = {}\n", "[preset]\ncalm = { drag = 0.75, gain = 0.25 }\n"),
        (
            "calm",
            "[preset]\ncalm.drag = 0.1\nx.drag = 1\n",
            "[preset]\ncalm.drag = 0.75\ncalm.gain = 0.25\nx.drag = 1\n",
        ),
        (
            "calm",
            "[preset]\nx.drag = 1\n",
            "[preset]\nx.drag = 1\n\n[preset.calm]\ndrag = 0.75\ngain = 0.25\n",
        ),
    ] {
        let text = format!("/*---\n{PARAMS}{before}---*/\nint x;\n");
        let written = saved(&text, name, &params).unwrap();
        assert_eq!(written, format!("/*---\n{PARAMS}{after}---*/\nint x;\n"));
        let expected = params.iter().map(|of| (of.name.clone(), of.value.clone()));
        assert_eq!(preset_in(&written, name), expected.collect::<Vec<_>>());
        assert_eq!(saved(&written, name, &params).unwrap(), written, "nothing is written anew");
    }
}

#[test]
fn presets_within_one_table_of_a_line_are_joined_by_another() {
    let text = "/*---\npreset = { x.drag = 1, }\nparam.drag.value = 1.0\n---*/";
    let written = saved(text, "calm", &[float("drag", 0.5)]).unwrap();
    assert_eq!(written, text.replace("x.drag = 1,", "x.drag = 1, calm = { drag = 0.5 },"));
    assert_eq!(preset_in(&written, "calm"), [("drag".to_owned(), Value::Float(0.5))]);
}

#[test]
fn names_of_presets_are_read_back_as_they_were() {
    let text = "/*---\n[param.drag]\nvalue = 1.0\n---*/";
    for name in
        ["a*/b", "---*/", "a\"b", "a\\", "tab\there", "größer", "", "a'b", "\u{7f}\u{0}", "//*/"]
    {
        let once = saved(text, name, &[float("drag", 0.5)]).unwrap();
        assert_eq!(preset_in(&once, name), [("drag".to_owned(), Value::Float(0.5))], "{once}");
        let twice = saved(&once, name, &[float("drag", 0.25)]).unwrap();
        assert_eq!(twice, once.replace("0.5", "0.25"), "{name}");
    }
}

#[test]
fn values_are_changed_wherever_they_stand() {
    let all = all();
    for (before, after) in [
        (
            "param.on = { kind = 'toggle', value = false } # off\nparam.drag.value = 0.5\nparam.drag.max = 1.0\n\
             [param.tint]\nkind = 'color'\nvalue = [ # of the sea\n  1, # red\n  0.5, # green\n  0 ]\n",
            "param.on = { kind = 'toggle', value = true } # off\nparam.drag.value = 0.35\nparam.drag.max = 1.0\n\
             [param.tint]\nkind = 'color'\nvalue = [ # of the sea\n  0.25, # red\n  0.5, # green\n  1.0 ]\n",
        ),
        (
            "[param]\ndrag = { label = 'value = 1', max = 1.0, 'value' = '1 / 2.0' }\non = { value = false }\n\
             tint = {kind='color',value=[1,1,1]}\n",
            "[param]\ndrag = { label = 'value = 1', max = 1.0, 'value' = 0.35 }\non = { value = true }\n\
             tint = {kind='color',value=[0.25,0.5,1]}\n",
        ),
        (
            "[param.drag]\nunit = \"\"\"\nvalue = 3\n\"\"\"\nvalue = 0.5\nmax = 1.0\n[param.on]\nvalue = false\n\
             [param.tint]\nkind = 'color'\nvalue = [1,1,1]\n",
            "[param.drag]\nunit = \"\"\"\nvalue = 3\n\"\"\"\nvalue = 0.35\nmax = 1.0\n[param.on]\nvalue = true\n\
             [param.tint]\nkind = 'color'\nvalue = [0.25,0.5,1]\n",
        ),
    ] {
        let text = format!("/*---\n{before}---*/\n");
        assert_eq!(put(&text, &all).unwrap(), format!("/*---\n{after}---*/\n"));
    }
}

/// Where the manifest does not say them, they are twice the value: presets may lie between, and the slider stays.
#[test]
fn the_ends_of_a_slider_stay_where_they_were() {
    let text = "/*---\n[param.drag]\n  value = 1.0 # x\n[param.gain]\nvalue = -4\n[preset.p]\ndrag = 2.0\n---*/\n";
    let gain = parameter("gain", Value::Int(-3), float("gain", 0.0).control);
    let written = put(text, &[float("drag", 0.25), gain]).unwrap();
    let expected = text
        .replace("  value = 1.0 # x\n", "  value = 0.25 # x\n  max = 2.0\n")
        .replace("value = -4\n", "value = -3\nmin = -8\n");
    assert_eq!(written, expected);
    let [before, after] = [text, &*written].map(|text| read(text).parameters);
    assert!(before.iter().zip(&after).all(|(before, after)| before.control == after.control));
    let inline = "/*---\nparam = { drag = { value = 1.0 } }\n---*/";
    let written = put(inline, &[float("drag", 0.25)]).unwrap();
    assert_eq!(written, inline.replace("value = 1.0", "value = 0.25, max = 2.0"));
}

#[test]
fn nothing_is_written_where_the_text_has_another_parameter_by_now() {
    let text = "/*---\n[param.drag]\nvalue = 1\n---*/";
    let told = put(text, &[float("drag", 0.25)]).unwrap_err();
    assert!(told.contains("`drag`") && told.contains("int"), "{told}");
    let told = saved(text, "p", &[float("drag", 0.25)]).unwrap_err();
    assert!(told.contains("`drag`") && told.contains("int"), "{told}");
    assert!(saved(text, "p", &[float("gain", 0.25)]).unwrap_err().contains("`gain`"));
}

#[test]
fn a_text_is_read_with_its_constants_on_each_device() {
    let text = "/*---\n[constant]\nn = 100\n[constant.cpu]\nn = 10\n[param.a]\nvalue = 'n'\nmax = 'n'\n---*/";
    let a = |value| [parameter("a", Value::Int(value), float("a", 0.0).control)];
    assert_eq!(put(text, &a(7)).unwrap(), text.replace("value = 'n'", "value = 7"));
    // On the CPU device it would lie beyond the slider's end.
    let told = put(text, &a(70)).unwrap_err();
    assert!(told.contains("line 7") && told.contains("`value` is 70"), "{told}");
    let constants = [("n".to_owned(), "5".to_owned())].into();
    let overrides = Overrides { constants, ..Overrides::default() };
    let written = changed(values(text, &overrides, &a(7)).unwrap(), text);
    assert_eq!(written, text, "it is 5 already, the end of the slider");
}

#[test]
fn whole_numbers_beyond_double_precision_stay_what_they_are() {
    let most = (1 << 53) + 1;
    let text = format!("/*---\n[param.a]\nvalue = 0\nmax = {most}\n---*/");
    let a = parameter("a", Value::Int(most), float("a", 0.0).control);
    assert_eq!(put(&text, &[a]).unwrap(), text.replace("value = 0", &format!("value = {most}")));
}

#[test]
fn the_manifest_is_the_one_that_the_scene_reads_and_keeps_its_line_ends() {
    let text = "/*--- A banner. ---*/\r\nconst char *a = \"/*---\";\r\n/*---\r\n[param.drag]\r\nvalue = 1.0\r\n---*/";
    let written = saved(text, "p", &[float("drag", 0.25)]).unwrap();
    let table = "value = 1.0\r\n\r\n[preset.p]\r\ndrag = 0.25\r\n---*/";
    assert_eq!(written, text.replace("value = 1.0\r\n---*/", table));
    let ends = "/*---\nparam.drag.value = 1.0---*/";
    let written = put(ends, &[float("drag", 0.25)]).unwrap();
    assert_eq!(written, "/*---\nparam.drag.value = 0.25\nparam.drag.max = 2.0---*/");
    let written = saved(ends, "p", &[float("drag", 0.25)]).unwrap();
    assert_eq!(written, "/*---\nparam.drag.value = 1.0\n\n[preset.p]\ndrag = 0.25\n---*/");
}

#[test]
fn parameters_are_copied_as_constants() {
    let told: Vec<String> = all().iter().map(in_cuda).collect();
    assert_eq!(
        told,
        [
            "const float3 tint = {0.25f, 0.5f, 1.0f};",
            "constexpr float drag = 0.35f;",
            "constexpr int on = 1;"
        ]
    );
    let precise = in_cuda(&float("drag", 0.123_456_789));
    assert_eq!(precise, "constexpr float drag = 0.12345679f;");
    // What no `float` and no `int` has.
    assert_eq!(in_cuda(&float("big", 1e300)), "constexpr double big = 1e300;");
    let least = Parameter { value: Value::Int(i64::MIN), ..float("least", 0.0) };
    assert_eq!(in_cuda(&least), "constexpr long long least = -9223372036854775807 - 1;");
}

const TWO_VIEWS: &str = "/*---\n[buffer.p]\ntype = \"float4\"\ncount = 8\n[[view]]\nname = \"a\"\nkind = \"points\"\n\
                         position = \"p\"  # there\n\n[[view]]\nname = \"b\"\nkind = \"points\"\nposition = \"p\"\n\
                         [view.camera]\n# as it was\nyaw = 90\nprojection = \"orthographic\"\n---*/\n";

/// The text with this camera as the one of a view.
fn seen(text: &str, view: &str, of: &Camera) -> Result<String, String> {
    let changes = camera(text, &Overrides::default(), view, of);
    changes.map(|changes| changed(changes, text)).map_err(|error| error.to_string())
}

#[test]
fn a_camera_is_written_where_its_view_stands() {
    let parallel = Camera {
        target: glam::Vec3::new(0.123_456_7, -2.0, 0.0),
        distance: 4.321_987,
        yaw: 0.5,
        pitch: -0.25,
        projection: Projection::Orthographic,
        ..Camera::default()
    };
    let after = seen(TWO_VIEWS, "a", &parallel).unwrap();
    let line = "position = \"p\"  # there\ncamera = { target = [0.123, -2.0, 0.0], distance = 4.322, yaw = 28.65, \
                pitch = -14.32, projection = \"orthographic\" }\n";
    assert!(after.contains(line), "{after}");
    let [a, b] = [0, 1].map(|index| read(&after).views[index].camera);
    assert_eq!((a.distance, a.projection), (Some(4.322), Some(scene::Projection::Orthographic)));
    assert_eq!((b.yaw_deg, b.distance), (Some(90.0), None));
    // What is written says so where it is the usual one, too.
    let perspective = Camera { projection: Projection::Perspective, ..parallel };
    let after = seen(TWO_VIEWS, "b", &perspective).unwrap();
    assert!(after.contains("# as it was\nyaw = 28.65\nprojection = \"perspective\"\n"), "{after}");
    assert_eq!(read(&after).views[1].camera.distance, Some(4.322));
    assert_eq!(seen(&after, "b", &perspective), Ok(after), "once more changes nothing");
}

#[test]
fn a_camera_needs_a_view_that_is_declared() {
    let usual = Camera::default();
    let problem = seen(TWO_VIEWS, "c", &usual).unwrap_err();
    assert_eq!(problem, "the manifest declares no view `c`");
    let implied = "/*---\n[buffer.p]\ntype = \"float4\"\ncount = 8\n---*/\n";
    assert!(seen(implied, "view", &usual).is_err());
    let in_a_line = "/*---\nview = { kind = \"points\", position = \"p\" }\n[buffer.p]\ntype = \"float4\"\n\
                     count = 8\n---*/\n";
    let after = seen(in_a_line, "view", &usual).unwrap();
    assert_eq!(read(&after).views[0].camera.distance, Some(4.3), "{after}");
}

/// The text with these colours as those of a view.
fn colored(text: &str, view: &str, of: &Recoloring) -> Result<String, String> {
    let changes = coloring(text, &Overrides::default(), view, of);
    changes.map(|changes| changed(changes, text)).map_err(|error| error.to_string())
}

#[test]
fn colours_are_written_where_their_view_stands() {
    let chosen = Recoloring {
        colormap: Some(Colormap::Viridis),
        range: Some([-0.5, 2.0]),
        reversed: Some(false),
        ..Recoloring::default()
    };
    let after = colored(TWO_VIEWS, "a", &chosen).unwrap();
    let lines = "position = \"p\"  # there\ncolormap = \"viridis\"\nrange = [-0.5, 2.0]\n";
    assert!(after.contains(lines) && !after.contains("reverse"), "{after}");
    // Before the table of the camera, which has a head of its own.
    let logarithmic = Recoloring {
        logarithmic: Some(true),
        reversed: Some(true),
        range: Some([0.25, 8.0]),
        ..Recoloring::default()
    };
    let after = colored(&after, "b", &logarithmic).unwrap();
    let lines = "position = \"p\"\nreverse = true\nlog = true\nrange = [0.25, 8.0]\n[view.camera]";
    assert!(after.contains(lines), "{after}");
    let [a, b] = [0, 1].map(|index| read(&after).views[index].coloring.clone());
    assert_eq!(
        (a.colormap.as_str(), a.range, a.logarithmic),
        ("viridis", Some([-0.5, 2.0]), false)
    );
    assert_eq!((b.colormap.as_str(), b.reversed, b.logarithmic), ("inferno", true, true));
    assert_eq!(
        colored(&after, "b", &logarithmic).as_ref(),
        Ok(&after),
        "once more changes nothing"
    );
    // What is there is replaced, and what could not be read is not written.
    let plain = Recoloring { reversed: Some(false), ..Recoloring::default() };
    assert!(colored(&after, "b", &plain).unwrap().contains("reverse = false\n"));
    let below = Recoloring { range: Some([-1.0, 1.0]), ..Recoloring::default() };
    let problem = colored(&after, "b", &below).unwrap_err();
    assert!(problem.contains("begins above 0"), "{problem}");
}
