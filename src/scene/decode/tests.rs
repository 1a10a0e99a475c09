use super::*;
use crate::scene::{
    Bound, ColorBy, Control, Formula, Measured, Number, Scene, Shape, Statistic, Value, ViewKind,
    What, When,
};

/// What a manifest of these lines (from line 2 on) is told, as `line:column: text`.
fn told(manifest: &str) -> Vec<String> {
    told_with(manifest, &[])
}

fn told_with(manifest: &str, constants: &[(&str, &str)]) -> Vec<String> {
    let pairs = constants.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let overrides = Overrides { constants: pairs.collect(), ..Overrides::default() };
    let found = match decode("t.cu", &format!("/*---\n{manifest}\n---*/"), &overrides) {
        Ok((_, found)) | Err(found) => found,
    };
    let place = |d: &Diagnostic| match (d.line, d.column) {
        (Some(line), Some(column)) => format!("{line}:{column}: "),
        _ => String::new(),
    };
    found.iter().map(|d| format!("{}{}", place(d), d.text)).collect()
}

fn numbers(axes: [i64; 3]) -> [Formula; 3] {
    axes.map(|axis| Formula::from(Number::Int(axis.into())))
}

/// A manifest and the places and parts of everything it is told.
#[track_caller]
fn check(manifest: &str, expected: &[(&str, &str)]) {
    let found = told(manifest);
    let matches = found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, (place, part))| {
            found.starts_with(&format!("{place}: ")) && found.contains(part)
        });
    assert!(matches, "{manifest}\nis told {found:#?}\nexpected {expected:#?}");
}

/// What makes a manifest complete, in front of what is tested: it takes lines 2 to 8.
const BASE: &str = "[buffer.position]
type = \"float4\"
count = 16
[[pass]]
kernel = \"advance\"
over = \"position\"
";

#[track_caller]
fn check_more(manifest: &str, expected: &[(&str, &str)]) {
    check(&format!("{BASE}{manifest}"), expected);
}

#[test]
fn a_good_one_is_told_nothing() {
    check_more("", &[]);
}

#[test]
fn faults_of_the_whole() {
    check("", &[("1:6", "no [[pass]]")]);
    check_more("a = = 1", &[("8:5", "not valid TOML")]);
    check_more("[buffer.position]\ntype = \"int\"\ncount = 1", &[("8:9", "not valid TOML")]);
    check(&format!("titel = \"a\"\n{BASE}"), &[("2:1", "no key `titel`; did you mean `title`?")]);
    check(&format!("title = 3\n{BASE}"), &[("2:9", "must be a string, not the integer 3")]);
    check(&format!("dt = 0\n{BASE}"), &[("2:6", "greater than 0")]);
    check_more("[buffers.a]\ntype=\"int\"", &[("8:2", "did you mean `buffer`?")]);
}

#[test]
fn a_comment_of_dashes_is_no_manifest() {
    for text in ["/*---*/", "/*----*/", "/*-----*/", "/*--- a banner ---*/", "/*-----\n---*/"] {
        let found = decode("t.cu", text, &Overrides::default());
        assert!(found.is_err_and(|found| found[0].text.contains("has no manifest")), "{text}");
    }
    for text in ["/*---*/ int a; /*---\n---*/", "/*-----\n---*/ /*---\n---*/"] {
        assert!(decode("t.cu", text, &Overrides::default()).is_ok(), "{text}");
    }
}

#[test]
fn every_fault_is_told_not_only_the_first() {
    check_more(
        "[buffer.a]\ntype = \"flaot4\"\ncount = 0\n[param.p]\nvalue = 5.0\nmax = 1.0\nstop = 1",
        &[
            ("9:8", "\"flaot4\"; did you mean `float4`"),
            ("10:9", "`count` is 0, but must be at least 1"),
            ("12:9", "outside of `min` 0 to `max` 1"),
            ("14:1", "no key `stop`; did you mean `step`"),
        ],
    );
}

#[test]
fn faults_of_constants() {
    check_more("[constant]\nn = \"m + 1\"\nm = \"n\"", &[("10:6", "depends on itself")]);
    check_more(
        "[constant]\nn = \"mm + 1\"\nm = 2",
        &[("9:6", "no constant `mm`; did you mean `m`")],
    );
    let chain: String = (0..40).map(|i| format!("c{i} = \"c{}\"\n", i + 1)).collect();
    let found = told(&format!("[constant]\n{chain}c40 = 1\n"));
    assert!(found.iter().any(|text| text.contains("depend on one another")), "{found:#?}");
    assert!(!found.iter().any(|text| text.contains("itself")), "{found:#?}");
    check_more("[constant]\nn = [1]", &[("9:5", "not an array")]);
    check_more("[constant]\nn = 1e39", &[("9:5", "beyond the range of a float")]);
    check_more("[constant]\nn = inf", &[("9:5", "not a finite number")]);
    check_more("[constant]\nn = 99999999999999999999", &[("9:5", "64 bits")]);
    check_more("[constant]\nn = \"1 / 0\"", &[("9:8", "division by zero")]);
    check_more("constant = 3", &[("8:1", "no key `constant`")]);
    check(&format!("constant = 3\n{BASE}"), &[("2:12", "must be a table")]);
}

#[test]
fn faults_of_names() {
    check_more(
        "[param.position]\nvalue = 1.0",
        &[("8:8", "a name that the resource `position` has")],
    );
    check_more("[param.position_count]\nvalue = 1", &[("8:8", "derived from `position`")]);
    check_more("[param.float]\nvalue = 1", &[("8:8", "a word of CUDA C++")]);
    check_more("[param.seed]\nvalue = 1", &[("8:8", "`seed` is built in")]);
    check_more("[param.dt]\nvalue = 0.1", &[]);
    check_more("[constant]\ndt = 1", &[("9:1", "`dt` is built in")]);
    check_more("[param.\"a b\"]\nvalue = 1", &[("8:8", "letters, digits")]);
    check_more("[param.4d]\nvalue = 1", &[("8:8", "no digit first")]);
}

#[test]
fn faults_of_resources() {
    check_more("[buffer.a]", &[("8:9", "needs `type`"), ("8:9", "needs `count`")]);
    check_more("[buffer.a]\ntype=\"int\"\ncount=-1", &[("10:7", "at least 1")]);
    check_more(
        "[buffer.a]\ntype=\"int\"\ncount=1.5",
        &[("10:7", "whole number, not the float 1.5")],
    );
    check_more("[buffer.a]\ntype=\"int\"\ncount=\"2*(3\"", &[("10:10", "never closed")]);
    check_more("[buffer.a]\ntype=\"int\"\ncount=1000000000000", &[("8:9", "takes 3725 GiB")]);
    check_more("[array.a]\ntype=\"int\"\ncount=true", &[("10:7", "not the bool true")]);
    check_more("[buffer]\na = 3", &[("9:5", "must be a table, [buffer.a]")]);
    check_more(
        "[texture.t]\nformat=\"rgba16\"\nsize=[8,8,8,8]\nfilter=\"lienar\"",
        &[
            ("9:8", "did you mean `rgba16f`"),
            ("10:6", "must be [width], [width, height]"),
            ("11:8", "`linear`"),
        ],
    );
    check_more("[texture.t]\nformat=\"r32f\"\nsize=[65536, 65536, 65536]", &[("8:10", "GiB")]);
    check_more("[texture.t]\nformat=\"r32f\"\nsize=[0, 8]", &[("10:7", "at least 1")]);
}

#[test]
fn presets_have_values_of_parameters() {
    let all = "[param.p]\nvalue = 1.0\nmax = 4.0\n[param.n]\nvalue = 3\n[param.on]\nvalue = true\n\
               [param.tint]\nvalue = [1, 1, 1]\nkind = \"color\"\n";
    let preset = "[preset.\"calm sea\"]\np = 2\non = 0\ntint = [0, 0.5, 1]\nn = 4\n";
    let source = format!("/*---\n{all}{preset}---*/");
    let (manifest, _) = decode("t.cu", &source, &Overrides::default()).unwrap();
    let [preset] = &manifest.presets[..] else { panic!("{:?}", manifest.presets) };
    let values = [
        ("p", Value::Float(2.0)),
        ("on", Value::Toggle(false)),
        ("tint", Value::Color([0.0, 0.5, 1.0, 1.0])),
        ("n", Value::Int(4)),
    ];
    assert_eq!(preset.name, "calm sea");
    assert_eq!(preset.values, values.map(|(name, value)| (name.to_owned(), value)));
    let faults = "[param.drag]\nvalue = 1.0\n[preset.a]\ndrug = 1.0\ndrag = 3.0";
    check_more(faults, &[("11:1", "did you mean `drag`?"), ("12:8", "no value of `drag`")]);
}

#[test]
fn faults_of_parameters() {
    check_more("[param.p]", &[("8:8", "needs `value`")]);
    check_more("[param.p]\nvalue = 1\nmin = 0.5", &[("10:7", "an integer like `value`")]);
    check_more("[param.p]\nvalue = 1.0\nmin = 2\nmax = 1", &[("10:7", "less than `max`")]);
    check_more("[param.p]\nvalue = 1.0\nlog = true", &[("10:7", "greater than 0, not 0")]);
    check_more("[param.p]\nvalue = 2\nchoices = [\"a\"]", &[("9:9", "at most 0")]);
    check_more("[param.p]\nvalue = 0\nchoices = [1]", &[("10:11", "array of strings")]);
    check_more("[param.p]\nvalue = 3\nkind = \"toggle\"", &[("9:9", "0 or 1")]);
    check_more("[param.p]\nvalue = [1, 2]\nkind = \"color\"", &[("9:9", "3 or 4 numbers")]);
    check_more("[param.p]\nvalue = [1, 2, 0]\nkind = \"color\"", &[("9:9", "0 to 1")]);
    check_more(
        "[param.p]\nvalue = [1, 0, 0]\nkind = \"colour\"",
        &[("9:9", "a number"), ("10:8", "`color`")],
    );
}

#[test]
fn faults_of_passes() {
    check_more("[[pass]]\nkernel = \"f\"", &[("8:1", "needs `over`")]);
    check_more("[[pass]]\nkernel = \"f\"\nover = \"posit\"", &[("10:8", "`position`")]);
    check_more("[[pass]]\nkernel = \"f\"\nover = \"4 *\"", &[("10:12", "found the end")]);
    check_more("[[pass]]\nkernel = \"f\"\ngrid = 4", &[("10:8", "`grid` needs `block`")]);
    check_more("[[pass]]\nkernel = \"f\"\ngrid = 4\nblock = [64, 32]", &[("11:9", "1024 threads")]);
    check_more("[[pass]]\nkernel = \"f\"\nover = 4\nrepeat = 0", &[("11:10", "at least 1")]);
    check_more(
        "[[pass]]\nkernel = \"f\"\nover = 4\nrepeat = \"p\"",
        &[("11:11", "no constant or parameter `p`")],
    );
    check_more(
        "[[pass]]\nkernel = \"f\"\nover = 4\nonly_if = \"p\"",
        &[("11:12", "no constant or parameter `p`")],
    );
    check_more("[[pass]]\nkernel = \"f\"\nover = 4\non = \"rest\"", &[("11:6", "`reset`")]);
    check("[pass]\nkernel = \"f\"", &[("2:1", "[[pass]] with two brackets")]);
}

#[test]
fn threads_are_counted_beyond_32_bits() {
    let text = format!("/*---\n{BASE}[[pass]]\nkernel = \"f\"\nover = 4294967297\n---*/");
    let (manifest, _) = decode("t.cu", &text, &Overrides::default()).expect("good");
    let shape = Shape::Over { extent: numbers([4_294_967_297, 1, 1]), block: None };
    assert_eq!(manifest.passes[1].shape, shape);
}

#[test]
fn faults_of_views() {
    check_more("[view]\nkind = \"point\"", &[("9:8", "`points`")]);
    check_more("[view]\nposition = \"position\"", &[("8:2", "needs `kind`")]);
    check_more("[view]\nkind = \"points\"", &[("8:2", "needs `position`")]);
    check_more("[view]\nkind = \"points\"\nposition = \"p\"", &[("10:12", "no buffer or array")]);
    let image = |more: &str| format!("[view]\nkind = \"image\"\ntexture = {more}");
    check_more(&image("\"p\""), &[("10:11", "no texture, buffer or array `p`")]);
    check_more(&image("\"position\""), &[("10:11", "`size = [width, height]`")]);
    check_more(&image("\"position\"\nsize = 4"), &[("11:8", "must be an array")]);
    check_more(&image("\"position\"\nsize = [4]"), &[("11:8", "two numbers")]);
    check_more(&image("\"position\"\nsize = [0, 4]"), &[("11:9", "at least 1")]);
    check_more(&image("\"position\"\nsize = [65537, 1]"), &[("11:9", "at most 65536")]);
    check_more(&image("\"position\"\nsize = [65536, 65536]"), &[("11:8", "4294967296 elements")]);
    check_more(
        "[array.a]\ntype = \"double\"\ncount = 4\n[view]\nkind = \"surface\"\ntexture = \"a\"\nsize = [2, 2]",
        &[("13:11", "not double")],
    );
    check_more(
        "[texture.t]\nformat = \"r32f\"\nsize = [4, 4]\n[view]\nkind = \"image\"\ntexture = \"t\"\nsize = [4, 4]",
        &[("14:8", "a size of its own")],
    );
    check_more(
        "[view]\nkind=\"points\"\nposition=\"position\"\ncolormap=\"infreno\"\nrange=[2,1]\nsize=0",
        &[("11:10", "`inferno`"), ("12:7", "not below"), ("13:6", "greater than 0")],
    );
}

#[test]
fn faults_of_several_views() {
    let views = |names: &[&str]| -> String {
        let view =
            |name: &&str| format!("[[view]]\n{name}kind = \"points\"\nposition = \"position\"\n");
        names.iter().map(view).collect()
    };
    check_more(&views(&["", "name = \"b\"\n"]), &[("8:1", "needs `name`")]);
    let same = views(&["name = \"a\"\n", "name = \"a\"\n"]);
    check_more(&same, &[("13:8", "another view `a` already")]);
    for name in ["a b", "", "a=b", "a/b", "a\\u001b", "\u{e4}", &"a".repeat(65)] {
        check_more(&views(&[&format!("name = \"{name}\"\n")]), &[("9:8", "letters, digits")]);
    }
    let many: Vec<String> = (0..10_000).map(|index| format!("name = \"v{index}\"\n")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).take(33).collect();
    check_more(&views(&many), &[("136:1", "one too many")]);
    check_more("[[golden]]\nimage = \"a.png\"\nview = \"side\"", &[("10:8", "no view `side`")]);
    let golden = "[[golden]]\nof = \"position\"\nfile = \"a.npy\"\nview = \"view\"";
    check_more(golden, &[("11:1", "no key `view`")]);
}

#[test]
fn faults_of_plots() {
    let plot = |more: &str| format!("[[plot]]\nname = \"p\"\n{more}");
    check_more(
        "[[plot]]",
        &[("8:1", "needs `name`"), ("8:1", "needs `kind`"), ("8:1", "needs `of`")],
    );
    let time = |of: &str| plot(&format!("kind = \"time\"\nof = {of}"));
    check_more(&time("\"position\""), &[("11:6", "no statistic \"position\"")]);
    check_more(&time("[\"position.nan\", \"position.v.max\"]"), &[("11:23", "no component `v`")]);
    check_more(&time("[\"position.nan\", 3]"), &[("11:23", "must name statistics")]);
    check_more(&time("[]"), &[("11:6", "1 to 8 statistics")]);
    let histogram = |of: &str| plot(&format!("kind = \"histogram\"\nof = {of}"));
    check_more(&histogram("\"positoin\""), &[("11:6", "did you mean `position`?")]);
    check_more(&histogram("\"position.v\""), &[("11:6", "no component `v`")]);
    check_more(&histogram("\"position\"\nbins = 0"), &[("12:8", "at least 1")]);
    check_more(&histogram("\"position\"\nbins = 1000000000000"), &[("12:8", "at most 4096")]);
    check_more(&histogram("\"position\"\nrange = [1, 1]"), &[("12:9", "not below its end")]);
    let line = |more: &str| plot(&format!("kind = \"line\"\n{more}"));
    let large = "of = \"a\"\n[array.a]\ntype = \"float\"\ncount = 1048577";
    check_more(&line(large), &[("11:6", "at most 1048576")]);
    check_more(&line("of = \"position\"\nrow = 3"), &[("11:6", "`size = [width, height]`")]);
    check_more(&line("of = \"position\"\nsize = [2, 2]"), &[("8:1", "needs `row` or `column`")]);
    let texture = "[texture.t]\nformat = \"r32f\"\nsize = [8, 4]\n";
    let of_texture = |more: &str| format!("{texture}{}", line(&format!("of = \"t\"\n{more}")));
    check_more(&of_texture(""), &[("11:1", "needs `row` or `column`")]);
    check_more(&of_texture("row = 4"), &[("15:7", "at most 3")]);
    check_more(&of_texture("column = -1"), &[("15:10", "at least 0")]);
    check_more(&of_texture("row = 0\ncolumn = 0"), &[("11:1", "needs `row` or `column`")]);
    let solid = of_texture("row = 0").replace("[8, 4]", "[8, 4, 2]");
    check_more(&solid, &[("14:6", "`t` is 3-D")]);
    let odd = time("\"position.nan\"\ntitle = \"a\\u001b[2Jb\"\nunit = \"\\n\"\nbins = 3");
    check_more(
        &odd,
        &[("12:9", "no control"), ("13:8", "no control"), ("14:1", "has no key `bins`")],
    );
    let many: String = (0..33)
        .map(|i| format!("[[plot]]\nname = \"p{i}\"\nkind = \"line\"\nof = \"position\"\n"))
        .collect();
    check_more(&many, &[("136:1", "one too many")]);
    check_more(&format!("{0}\n{0}", time("\"position.nan\"")), &[("13:8", "another plot `p`")]);
}

#[test]
fn views_have_names_and_either_spelling() {
    let names = |views: &str| {
        let text = format!("/*---\n{BASE}{views}---*/");
        let (manifest, _) = decode("t.cu", &text, &Overrides::default()).expect("good");
        manifest.views.iter().map(|view| view.name.clone()).collect::<Vec<_>>()
    };
    let rest = "kind = \"points\"\nposition = \"position\"\n";
    assert_eq!(names(""), ["view"], "one that was chosen");
    assert_eq!(names(&format!("[view]\n{rest}")), ["view"]);
    assert_eq!(names(&format!("[[view]]\n{rest}")), ["view"]);
    assert_eq!(names(&format!("[view]\nname = \"top\"\n{rest}")), ["top"]);
    let both = format!("[[view]]\nname = \"top\"\n{rest}[[view]]\nname = \"side-2\"\n{rest}");
    assert_eq!(names(&both), ["top", "side-2"]);
}

#[test]
fn what_becomes_a_colour_without_color_by() {
    let by = |format: &str| {
        let text = format!(
            "/*---\n[texture.t]\nformat = \"{format}\"\nsize = [8, 8]\n[view]\nkind = \"image\"\ntexture = \"t\"\n---*/"
        );
        let (manifest, _) = decode("t.cu", &text, &Overrides::default()).expect("good");
        manifest.views[0].coloring.by
    };
    assert_eq!(by("r32f"), ColorBy::X);
    assert_eq!(by("rg32f"), ColorBy::Magnitude);
    assert_eq!(by("rgba8"), ColorBy::Rgba);
}

#[test]
fn faults_of_statistics_and_checks() {
    let stat = "[[stat]]\nname = \"e\"\nof = \"position\"\nmap = \"x.x\"\nreduce = \"sum\"\n";
    check_more(stat, &[]);
    check_more(
        "[[stat]]\nname=\"e\"\nof=\"p\"\nmap=\"x\"\nreduce=\"avg\"",
        &[("10:4", "no resource"), ("12:8", "`sum`")],
    );
    check_more("[[stat]]\nname=\"e\"\nof=\"position\"\nreduce=\"sum\"", &[("8:1", "needs `map`")]);
    check_more("[[check]]\nstat=\"position.nan\"\nequals=0", &[]);
    let equals = "[[check]]\nstat=\"position.x.max\"\nequals=";
    check_more(&format!("{equals}\"1 << 60\""), &[]);
    check_more(&format!("{equals}\"(1 << 53) + 1\""), &[("10:8", "no 9007199254740993")]);
    check_more("[[check]]\nstat=\"position.x.max\"\nmax=1", &[]);
    check_more("[[check]]\nstat=\"position.q.max\"\nmax=1", &[("9:6", "no component `q`")]);
    check_more("[[check]]\nstat=\"position.nam\"\nmax=1", &[("9:6", "did you mean `nan`")]);
    check_more("[[check]]\nstat=\"energy\"\nmax=1", &[("9:6", "no statistic")]);
    check_more("[[check]]\nstat=\"position.nan\"", &[("8:1", "needs `min`, `max`")]);
    check_more(
        "[[check]]\nstat=\"position.nan\"\nmax=1\ntolerance=1",
        &[("11:11", "needs `equals`")],
    );
    check_more(
        &format!("{stat}[[check]]\nstat = \"e\"\nmin = 1\nafter = 0"),
        &[("16:9", "at least 1")],
    );
    check_more(
        &format!("{stat}[[check]]\nstat = \"e\"\nmin = 1\nafter = 9223372036854775807"),
        &[("16:9", "at most 1000000")],
    );
}

#[test]
fn constants_of_the_command_line() {
    let text =
        "[constant]\nn = 8\nm = \"n * 2\"\nr = 0.5\n[buffer.a]\ntype = \"int\"\ncount = \"m\"";
    let with = |name: &str, text_: &str| {
        let constants = [(name.to_owned(), text_.to_owned())].into();
        decode(
            "t.cu",
            &format!("/*---\n{text}\n---*/"),
            &Overrides { constants, ..Overrides::default() },
        )
    };
    let (manifest, _) = with("n", "100").expect("good");
    assert_eq!(manifest.resources()[0].count(), 200);
    let (manifest, _) = with("m", "n * n").expect("good");
    assert_eq!(manifest.resources()[0].count(), 64);
    let (manifest, _) = with("r", "2").expect("good");
    assert_eq!(manifest.find_constant("r"), Some(Number::Float(2.0)));
    for (name, value, part) in [
        ("k", "1", "--const k: the scene has no such constant"),
        ("n", "0.5", "--const n=0.5: `n` is of kind int, not float"),
        ("n", "many", "--const n=many: there is no constant `many`"),
    ] {
        let found = told_with(text, &[(name, value)]);
        assert!(found.iter().any(|text| text.contains(part)), "{found:?}");
    }
}

#[test]
fn constants_for_the_cpu_device() {
    let text = "[constant]\nn = 4096\nm = \"n * 2\"\nr = 0.5\n[constant.cpu]\nn = 64\nr = 2";
    let with = |cpu: bool, constants: &[(&str, &str)]| {
        let constants =
            constants.iter().map(|(name, text)| (String::from(*name), String::from(*text)));
        let overrides =
            Overrides { constants: constants.collect(), cpu: Some(cpu), ..Overrides::default() };
        let source = format!("/*---\n{text}\n---*/");
        let (manifest, _) = decode("t.cu", &source, &overrides).expect("good");
        let value = |name| manifest.find_constant(name).expect("there");
        assert_eq!(manifest.constants.len(), 3);
        [value("n"), value("m"), value("r")]
    };
    let (int, float) = (Number::Int, Number::Float);
    assert_eq!(with(false, &[]), [int(4096), int(8192), float(0.5)]);
    assert_eq!(with(true, &[]), [int(64), int(128), float(2.0)]);
    assert_eq!(
        with(true, &[("n", "8")]),
        [int(8), int(16), float(2.0)],
        "the command line stands above"
    );
    assert_eq!(with(false, &[("n", "8")]), [int(8), int(16), float(0.5)]);
    // Whatever device it is read for.
    let faults =
        "[constant]\nn = 1\n[constant.cpu]\nm = 2\nn = 0.5\n[[pass]]\nkernel = \"f\"\nover = 1";
    for cpu in [false, true] {
        let overrides = Overrides { cpu: Some(cpu), ..Overrides::default() };
        let found =
            decode("t.cu", &format!("/*---\n{faults}\n---*/"), &overrides).expect_err("bad");
        let told: Vec<_> = found.iter().map(|d| (d.line, d.text.as_str())).collect();
        let unknown = "[constant] has no `m` to be replaced for the CPU device; known are `n`";
        assert_eq!(told, [(Some(5), unknown), (Some(6), "`n` is of kind int, not float")]);
    }
}

#[test]
fn a_file_without_a_manifest_is_shown_the_smallest_one() {
    for (source, line, part) in [
        ("int main() {}", 1, "has no manifest"),
        ("", 1, "has no manifest"),
        ("// /*---\n\"/*---\"\n/* x */", 1, "has no manifest"),
        ("\n  /*---\ntitle = \"a\"", 2, "has no end"),
        ("/*---\ntitle = \"a*/b\"\n---*/", 2, "before the manifest's"),
    ] {
        let found = decode("t.cu", source, &Overrides::default()).expect_err(source);
        assert!(found[0].line == Some(line) && found[0].text.contains(part), "{source}: {found:?}");
    }
    // What is shown is a manifest that works.
    assert!(
        decode("t.cu", SMALLEST, &Overrides::default()).is_ok_and(|(_, found)| found.is_empty())
    );
}

/// DESIGN's example, whole.
pub(crate) const SPARKS: &str = include_str!("../../../tests/scenes/sparks.cu");

#[test]
fn every_key_of_the_manual_arrives() {
    let scene = Scene::parse("sparks.cu", SPARKS, &Overrides::default()).expect("good");
    let manifest = &scene.manifest;
    assert_eq!((manifest.title.as_str(), manifest.dt), ("Sparks", 1.0 / 60.0));
    let names: Vec<_> = manifest.resources().iter().map(ToString::to_string).collect();
    assert_eq!(
        names,
        [
            "buffer position (262144 float4)",
            "array velocity (262144 float4)",
            "texture dye (512x512 rgba32f)"
        ]
    );
    assert!(manifest.resources()[1].shared, "the view draws it");
    let texture = manifest.resources()[2].texture().expect("a texture");
    assert!(texture.double && texture.wrap.name() == "repeat" && texture.filter.name() == "linear");
    assert_eq!(manifest.parameters[0].default, Value::Float(0.2));
    let slider = Control::Slider { min: 0.0, max: 1.0, step: 0.0, log: false };
    assert_eq!(manifest.parameters[0].control, slider);
    assert_eq!(manifest.passes[0].on, When::Reset);
    let shape = Shape::Over { extent: numbers([262_144, 1, 1]), block: None };
    assert_eq!(manifest.passes[1].shape, shape);
    assert_eq!(manifest.entries[1].what, What::Launch(1));
    assert_eq!(manifest.entries[1].repeat, None);
    let view = manifest.views.first().map(|view| view.kind);
    assert!(matches!(view, Some(ViewKind::Points { size_px: 2.0, color: Some(_), .. })));
    assert_eq!(manifest.checks[0].after, Some(100));
    assert_eq!(manifest.checks[0].bounds, [Bound::Max(1e6)]);
    let nan = Measured::Resource { of: ResourceId(0), components: None, statistic: Statistic::Nan };
    assert_eq!(manifest.checks[1].of, nan);
}

#[test]
fn the_prelude_gives_constants_their_types() {
    let source = "/*---\n[constant]\nn = 8\nbig = 4294967296\nr = 0.1\non = true\n---*/";
    let scene = Scene::parse("t.cu", source, &Overrides::default()).expect("good");
    let expected = "#define WARPAINT 1
#undef n
#undef big
#undef r
#undef on
[[maybe_unused]] constexpr int n = 8;
[[maybe_unused]] constexpr long long big = 4294967296LL;
[[maybe_unused]] constexpr float r = 0.1f;
[[maybe_unused]] constexpr bool on = true;
";
    assert_eq!(scene.prelude(), expected);
}

/// Whatever is typed into a scene, reading it ends in a value or in diagnostics.
#[test]
fn no_text_makes_it_panic() {
    let mut random = 1_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) as usize % below.max(1)
    };
    let mut scenes: Vec<&str> = crate::scene::built_ins().iter().map(|s| s.source).collect();
    scenes.push(SPARKS);
    let signs: Vec<char> = "[]{}=\"\\.,#/*-<>()\n 0aé\u{0}".chars().collect();
    for round in 0..600 {
        let mut text: Vec<char> = scenes[round % scenes.len()].chars().take(3000).collect();
        for _ in 0..=next(6) {
            let at = next(text.len());
            match next(4) {
                0 => drop(text.drain(at..(at + next(40)).min(text.len()))),
                1 => text.insert(at, signs[next(signs.len())]),
                2 => text[at] = signs[next(signs.len())],
                _ => text.truncate(at.max(10)),
            }
        }
        let text: String = text.into_iter().collect();
        match Scene::parse("t.cu", &text, &Overrides::default()) {
            Ok(scene) => drop(scene.plan()),
            Err(found) => assert!(!found.is_empty()),
        }
    }
}

/// They stand within lines of output, which a stranger's scene must not forge.
#[test]
fn names_of_checks_are_one_line() {
    let manifest = format!(
        "{BASE}\n[[stat]]\nname = \"x\\nok a.cu:1: well\"\nof = \"position\"\nreduce = \"sum\""
    );
    let found = told(&manifest);
    assert!(found.iter().any(|text| text.contains("`name` has a line end")), "{found:?}");
    let manifest = format!("{BASE}\n[[golden]]\nof = \"position\"\nfile = \"a\\n.npy\"");
    let found = told(&manifest);
    assert!(found.iter().any(|text| text.contains("`file` has a line end")), "{found:?}");
}

#[test]
fn faults_of_groups_and_loops() {
    let group = |more: &str| format!("[[pass]]\n{more}\n[[pass.pass]]\nkernel = \"f\"\nover = 4");
    check_more(&group("repeat = 2"), &[]);
    check_more(&group("repeat = 2\nkernel = \"g\""), &[("10:10", "no kernel of its own")]);
    check_more(&group("repeat = 2.5"), &[("9:10", "a whole number")]);
    check_more(&group("counter = \"i\""), &[("9:11", "`repeat`, which is missing")]);
    check_more(&group("repeat = 2\ncounter = \"time\""), &[("10:11", "something else already")]);
    check_more(&group("repeat = 2\ncounter = \"1st\""), &[("10:11", "cannot be a name")]);
    check_more(&group("repeat = \"round\""), &[("9:11", "no constant or parameter `round`")]);
    check_more(&group("until = true"), &[("9:9", "needs `repeat`")]);
    check_more(&group("repeat = 9\nevery = 2"), &[("10:9", "`until` is looked at")]);
    check_more(&group("repeat = 9\nuntil = \"position\""), &[("10:10", "`position[0]`")]);
    check_more(&group("repeat = 9\nuntil = \"`mean age\""), &[("10:10", "no second `")]);
    check_more(&group("repeat = 9\nuntil = \"`mean age` > 1\""), &[("10:10", "`mean age`")]);
    check_more(
        &group("repeat = 9\nuntil = \"position[64].x > 0\""),
        &[("10:10", "there is no 64")],
    );
    check_more(&group("repeat = 9\nuntil = \"position[0] > 0\""), &[("10:10", "name a component")]);
    check_more(
        &group("repeat = 9\nuntil = \"position[0].q > 0\""),
        &[("10:10", "no component `q`")],
    );
    check_more(
        &group("repeat = 9\nuntil = \"position.mix > 0\""),
        &[("10:10", "no statistic `mix`")],
    );
    check_more(&group("repeat = 9\nuntil = \"position.max < 1 || round > 3\""), &[]);
    check_more(&group("only_if = \"position.max < 1\""), &[]);
    check_more(&group("only_if = \"positon.max < 1\""), &[("9:12", "did you mean `position.max`")]);
    let inner = "[[pass]]\n[[pass.pass]]\nkernel = \"f\"\nover = 4\non = \"reset\"";
    check_more(inner, &[("12:6", "when the group does")]);
    let deep = (1..11).map(|depth| format!("[[{}]]\n", vec!["pass"; depth].join(".")));
    let deep = deep.collect::<String>() + "kernel = \"f\"\nover = 4";
    check_more(&deep, &[("17:1", "at most 8 deep")]);
}

#[test]
fn faults_of_clears_and_copies() {
    let copy = |ends: &str| format!("[[pass]]\ncopy = {ends}");
    check_more(&copy("3"), &[("9:8", "must be a table")]);
    check_more(&copy("{ from = \"position\" }"), &[("9:8", "must be a table")]);
    check_more(&copy("{ from = \"position\", to = \"position\" }"), &[("9:8", "copied to itself")]);
    check_more(
        &copy("{ from = \"positon\", to = 3 }"),
        &[("9:17", "did you mean `position`"), ("9:33", "the name of a buffer")],
    );
    let other = "[array.few]\ntype = \"float4\"\ncount = 3\n";
    check_more(
        &format!("{other}{}", copy("{ from = \"few\", to = \"position\" }")),
        &[("12:8", "another type or size")],
    );
    let clear = |names: &str| format!("[[pass]]\nclear = {names}\nkernel = \"f\"\nover = 4");
    check_more(&clear("\"nix\""), &[("9:9", "`nix` is no buffer or array")]);
    check_more(&clear("[\"position\", 3]"), &[("9:22", "the name of a buffer")]);
    check_more(&clear("[\"position\"]"), &[]);
}

#[test]
fn faults_of_arguments() {
    let pass = |args: &str| format!("[[pass]]\nkernel = \"f\"\nover = 4\nargs = {args}");
    check_more(
        &pass("{ a = \"position\", b = 1, c = [1, \"2.5 * dt\"], d = { x = \"step\" } }"),
        &[],
    );
    check_more(&pass("3"), &[("11:8", "must be a table")]);
    check_more(&pass("{ a = \"positon\" }"), &[("11:14", "did you mean `position`")]);
    check_more(&pass("{ a = \"1 +\" }"), &[("11:18", "found the end")]);
    check_more(&pass("{ a = \"position + 1\" }"), &[]);
    check_more(&pass("{ a = \"position + nix\" }"), &[("11:26", "`nix`")]);
    check_more(&pass("{ a = \"1 + position\" }"), &[("11:19", "no number")]);
    check_more(&pass("{ a = \"true + 1\" }"), &[("11:20", "no numbers")]);
}

#[test]
fn more_macros_and_folders_than_are_taken_are_told() {
    let defines: Vec<String> = (0..=1000).map(|n| format!("M{n} = 1")).collect();
    let text = format!("[compile]\ndefine = {{ {} }}", defines.join(", "));
    check_more(&text, &[("9:10", "`define` takes 1000 macros at most")]);
    let text = format!("[compile]\ninclude = [{}]", "\"a\", ".repeat(1001));
    check_more(&text, &[("9:11", "`include` takes 1000 folders at most")]);
}
