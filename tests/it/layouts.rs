//! Edits that change how resources lie in memory: what they held goes on.

mod table;

use std::time::{Duration, Instant};

use warpaint::{
    compile::{Cache, Compiler},
    device::Device,
    interop::Interop,
    session::{Command, Moment, Options, Past, Session},
};

/// A scene with this table, whose resource `a` is filled by a reset pass with `fill` and changed by `step`.
fn scene(table: &str, parameter: &str, fill: &str, step: &str) -> String {
    format!(
        "/*---\n{table}\n[[pass]]\nkernel = \"fill\"\non = \"reset\"\nover = \"a\"\n[[pass]]\nkernel = \"go\"\n\
         over = \"a\"\n---*/\nstruct P {{ float x; int n; }};\nstruct Q {{ int n; double extra; float x; }};\n\
         __global__ void fill({parameter}, int a_count)\n{{\n    \
         int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < a_count) {{ {fill} }}\n}}\n\
         __global__ void go({parameter}, int a_count)\n{{\n    \
         int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < a_count) {{ {step} }}\n}}\n"
    )
}

fn array(of: &str, count: usize) -> String {
    format!("[array.a]\ntype = \"{of}\"\ncount = {count}")
}

fn open(source: &str) -> Session {
    let device = Device::cpu().unwrap();
    let options = Options { history: Past::Kept, ..Options::new("scene.cu", source) };
    let compiler = Compiler::new(Cache::user());
    let interop = Interop::none(&device);
    let mut session = Session::open(options, device, compiler, interop, || {}).unwrap();
    ready(&mut session);
    session
}

fn ready(session: &mut Session) {
    assert!(session.wait_for_program().unwrap(), "{:#?}", session.snapshot().compile.diagnostics);
}

/// What `name` holds after an edit of a scene that has done one step, before the next one.
fn edited<T: bytemuck::Pod>(before: &str, after: &str, name: &str) -> Vec<T> {
    let mut session = open(before);
    session.run_steps(1, |_| {}).unwrap();
    session.set_source(after.to_owned());
    ready(&mut session);
    session.run_steps(0, |_| {}).unwrap(); // the reset that may be due
    assert_eq!(session.clock().step, 1);
    bytemuck::pod_collect_to_vec(&session.read(name).unwrap())
}

#[test]
fn a_grown_array_keeps_its_elements_and_the_reset_passes_fill_the_rest() {
    let before = scene(&array("int", 3), "int *a", "a[i] = i;", "a[i] += 100;");
    let after = scene(&array("int", 5), "int *a", "a[i] = -i;", "a[i] += 100;");
    assert_eq!(edited::<i32>(&before, &after, "a"), [100, 101, 102, -3, -4]);
    let shrunk = scene(&array("int", 2), "int *a", "a[i] = -i;", "a[i] += 100;");
    assert_eq!(edited::<i32>(&before, &shrunk, "a"), [100, 101]);
    let anew = after.replace("count = 5", "count = 5\nkeep = false");
    assert_eq!(edited::<i32>(&before, &anew, "a"), [0, -1, -2, -3, -4]);
}

#[test]
fn types_are_converted() {
    let before =
        scene(&array("float2", 2), "float2 *a", "a[i] = make_float2(i, 0.5f);", "a[i].y += 1;");
    let after = scene(&array("double3", 2), "double3 *a", "a[i] = make_double3(7, 7, 7);", "");
    assert_eq!(edited::<f64>(&before, &after, "a"), [0.0, 1.5, 7.0, 1.0, 1.5, 7.0]);
    let after = scene(&array("int", 2), "int *a", "a[i] = 7;", "");
    assert_eq!(edited::<i32>(&before, &after, "a"), [0, 1]);
}

#[test]
fn fields_of_structures_are_found_by_name() {
    let before = scene(&array("P", 2), "P *a", "a[i].x = 1.5f * i; a[i].n = 4;", "a[i].n += i;");
    let after = scene(&array("Q", 3), "Q *a", "a[i].n = 9; a[i].x = 9; a[i].extra = 0.25;", "");
    let found: Vec<u8> = edited(&before, &after, "a");
    let fields = |element: &[u8]| {
        let n: i32 = bytemuck::pod_read_unaligned(&element[..4]);
        let extra: f64 = bytemuck::pod_read_unaligned(&element[8..16]);
        let x: f32 = bytemuck::pod_read_unaligned(&element[16..20]);
        (n, extra, x)
    };
    let found: Vec<_> = found.chunks(24).map(fields).collect();
    assert_eq!(found, [(4, 0.25, 0.0), (5, 0.25, 1.5), (9, 0.25, 9.0)]);
}

/// Members that are no fields have no names by which they could be found, but their bytes go on with their structure.
#[test]
fn members_that_are_no_fields_go_on_with_their_structure() {
    let text = |count: usize, more: &str| {
        let parts = "struct Base { int inherited; };\nstruct P : Base {\n    int own;\n    mutable int cached;\n    \
                     unsigned bits : 5;\n    union { int i; float f; };\n";
        let structure = format!(
            "{parts}    __device__ int &part() {{ return hidden; }}\n{more}  private:\n    int hidden;\n}};\n"
        );
        let own = "struct P { float x; int n; };\n";
        let step = "P &p = a[i]; p.own += 1; p.inherited += 2; p.cached += 3; p.bits += 4; p.i += 5; p.part() += 6;";
        scene(&array("P", count), "P *a", "", step).replace(own, &structure)
    };
    let before = text(2, "");
    let old: Vec<i32> = edited(&before, &format!("{before}// the same\n"), "a");
    assert_eq!(old, [[2, 1, 3, 4, 5, 6]; 2].concat());
    let grown: Vec<i32> = edited(&before, &text(3, ""), "a");
    assert_eq!(grown, [&old[..], &[0; 6]].concat());
    // Of another structure only the fields are known, and that is said.
    let mut session = open(&before);
    session.run_steps(1, |_| {}).unwrap();
    session.set_source(text(2, "    int added;\n"));
    ready(&mut session);
    let found: Vec<i32> = bytemuck::pod_collect_to_vec(&session.read("a").unwrap());
    assert_eq!(found, [[0, 1, 0, 0, 0, 0, 0]; 2].concat());
    let remarks = session.snapshot().compile.diagnostics;
    assert!(
        remarks.iter().any(|of| of.text.contains("members of `P` that are no fields")),
        "{remarks:#?}"
    );
}

#[test]
fn a_renamed_resource_goes_on_and_so_does_a_buffer_that_becomes_an_array() {
    let before = scene(&array("int", 2), "int *a", "a[i] = i;", "a[i] += 10;");
    let after = before
        .replace("[array.a]", "[buffer.b]\nwas = \"a\"")
        .replace("over = \"a\"", "over = \"b\"");
    let after = after
        .replace("int *a, int a_count", "int *b, int b_count")
        .replace("a_count", "b_count")
        .replace("a[i]", "b[i]");
    assert_eq!(edited::<i32>(&before, &after, "b"), [10, 11]);
    let other = after.replace("was = \"a\"\n", "");
    assert_eq!(edited::<i32>(&before, &other, "b"), [0, 1], "it is new");
    // One that was there keeps its own, which is said once.
    let mut session = open(&after);
    let warnings = |session: &mut Session, text: &str| {
        session.set_source(text.to_owned());
        ready(session);
        let remarks = session.snapshot().compile.diagnostics;
        remarks.iter().filter(|of| of.text.contains("has no effect")).count()
    };
    let both = |was: &str| {
        let more = format!("[array.a]\ntype = \"int\"\ncount = 2\n{was}[buffer.b]");
        after.replace("[buffer.b]\nwas = \"a\"", &format!("{more}\nwas = \"a\""))
    };
    assert_eq!(warnings(&mut session, &both("")), 0, "`a` is new, and `b` is what it was");
    assert_eq!(warnings(&mut session, &both("was = \"b\"\n")), 1);
    assert_eq!(warnings(&mut session, &format!("{}// again\n", both("was = \"b\"\n"))), 0);
}

/// The scene with two arrays of one type, `m` and another one by this name, both of which count steps.
fn counting(name: &str) -> String {
    let m = "[array.m]\ntype = \"int\"\ncount = 2\n";
    scene(
        &format!("{m}{}", array("int", 2)),
        "int *a, int *m",
        "a[i] = i;",
        "a[i] += 10; m[i] += 1;",
    )
    .replace("[array.a]", &format!("[array.{name}]"))
    .replace("over = \"a\"", &format!("over = \"{name}\""))
    .replace("int *a,", &format!("int *{name},"))
    .replace("a_count", &format!("{name}_count"))
    .replace("a[i]", &format!("{name}[i]"))
}

#[test]
fn what_may_have_been_renamed_is_offered_and_goes_on_from_the_edit() {
    let mut session = open(&counting("a"));
    session.run_steps(3, |_| {}).unwrap();
    let renamed = counting("b");
    session.set_source(renamed.clone());
    ready(&mut session);
    let at = Moment { step: 3, ..session.snapshot().timeline.unwrap().shown };
    for _ in 0..2 {
        let offered = session.snapshot().renamed.unwrap();
        assert_eq!((offered.from.as_str(), offered.to.as_str(), offered.at), ("a", "b", at));
        assert!(renamed.lines().nth(offered.line as usize - 1).unwrap().contains("[array.b]"));
        session.run_steps(2, |_| {}).unwrap();
    }
    assert_eq!(read_ints(&mut session, "b"), [40, 41], "it begins anew until somebody says so");
    assert_eq!(read_ints(&mut session, "m"), [7, 7]);
    // What a user who says so has done for him.
    session.apply(&Command::Seek(at));
    session.finish_seeking().unwrap();
    session.set_source(renamed.replace("[array.b]\n", "[array.b]\nwas = \"a\"\n"));
    ready(&mut session);
    session.run_steps(0, |_| {}).unwrap();
    assert_eq!(session.clock().step, 3);
    assert_eq!(read_ints(&mut session, "b"), [30, 31]);
    assert_eq!(read_ints(&mut session, "m"), [3, 3]);
    assert_eq!(session.snapshot().renamed, None);
    session.run_steps(1, |_| {}).unwrap();
    assert_eq!(
        (read_ints(&mut session, "b"), read_ints(&mut session, "m")),
        (vec![40, 41], vec![4, 4])
    );
}

#[test]
fn only_what_may_be_one_resource_is_offered_as_renamed() {
    let offered = |after: &str| {
        let mut session = open(&counting("a"));
        session.run_steps(1, |_| {}).unwrap();
        session.set_source(after.to_owned());
        ready(&mut session);
        session.run_steps(0, |_| {}).unwrap();
        session.snapshot().renamed.map(|of| (of.from, of.to))
    };
    let b = counting("b");
    assert_eq!(offered(&b), Some(("a".to_owned(), "b".to_owned())));
    assert_eq!(
        offered(&b.replace("count = 2\n[[", "count = 5\n[[")),
        Some(("a".to_owned(), "b".to_owned()))
    );
    // Another type, two that came, two that went, one that shall not keep, one that is told.
    assert_eq!(
        offered(
            &b.replace("[array.b]\ntype = \"int\"", "[array.b]\ntype = \"unsigned\"")
                .replace("int *b", "unsigned *b")
        ),
        None
    );
    assert_eq!(
        offered(&b.replace("[array.m]", "[array.c]\ntype = \"int\"\ncount = 2\n[array.m]")),
        None
    );
    assert_eq!(
        offered(
            &b.replace("array.m]", "array.n]").replace("int *m", "int *n").replace("m[i]", "n[i]")
        ),
        None
    );
    assert_eq!(offered(&b.replace("[array.b]\n", "[array.b]\nkeep = false\n")), None);
    assert_eq!(offered(&b.replace("[array.b]\n", "[array.b]\nwas = \"a\"\n")), None);

    let mut session = open(&counting("a"));
    let there = |session: &Session| session.snapshot().renamed.is_some();
    for end in [Command::ForgetRename, Command::Reset] {
        session.set_source(counting("a"));
        ready(&mut session);
        session.run_steps(1, |_| {}).unwrap();
        session.set_source(b.clone());
        ready(&mut session);
        assert!(there(&session));
        session.apply(&end);
        assert!(!there(&session), "{end:?}");
    }
    // It is there again by its old name.
    session.set_source(counting("a"));
    ready(&mut session);
    session.run_steps(1, |_| {}).unwrap();
    session.set_source(b);
    ready(&mut session);
    session.set_source(counting("a"));
    ready(&mut session);
    assert!(session.snapshot().renamed.is_none_or(|of| of.from == "b"));
}

fn read_ints(session: &mut Session, name: &str) -> Vec<i32> {
    bytemuck::pod_collect_to_vec(&session.read(name).unwrap())
}

#[test]
fn what_a_reset_pass_of_something_new_overwrites_stays() {
    let before = scene(&array("int", 2), "int *a", "a[i] = i;", "a[i] += 10;");
    let after = before
        .replace(
            "[[pass]]\nkernel = \"fill\"",
            "[array.b]\ntype = \"int\"\ncount = 2\n[[pass]]\nkernel = \"fill\"",
        )
        .replace("void fill(int *a,", "void fill(int *b, int *a,")
        .replace("a[i] = i;", "a[i] = i; b[i] = 40 + i;");
    let mut session = open(&before);
    session.run_steps(1, |_| {}).unwrap();
    session.set_source(after);
    ready(&mut session);
    let mut read =
        |name: &str| bytemuck::pod_collect_to_vec::<u8, i32>(&session.read(name).unwrap());
    assert_eq!((read("a"), read("b")), (vec![10, 11], vec![40, 41]));
}

#[test]
fn other_data_are_those_of_the_edit_also_in_another_layout() {
    let of = |of: &str, count: usize, data: &str| {
        let pointer = format!("{of} *a");
        let table = format!("{}\n{data}", array(of, count));
        scene(&table, &pointer, "", "a[i] += 100;").replace("on = \"reset\"\n", "")
    };
    let before = of("int", 3, "value = [1, 2, 3]");
    assert_eq!(edited::<i32>(&before, &of("int", 2, "value = [7, 8]"), "a"), [7, 8]);
    assert_eq!(edited::<f32>(&before, &of("float", 3, "value = [7, 8, 9]"), "a"), [7.0, 8.0, 9.0]);
    assert_eq!(edited::<i32>(&before, &of("int", 4, "value = 5"), "a"), [5; 4]);
    assert_eq!(edited::<i32>(&before, &of("int", 4, ""), "a"), [0; 4]);
    // The same numbers, for another type or for more elements.
    let same = of("double", 3, "value = [1, 2, 3]");
    assert_eq!(edited::<f64>(&before, &same, "a"), [101.0, 102.0, 103.0]);
    let tenth = of("float", 2, "value = 0.1");
    let found: Vec<f64> = edited(&tenth, &of("double", 3, "value = 0.1"), "a");
    assert_eq!(found, [f64::from(100.1_f32), f64::from(100.1_f32), 0.1]);
    let random = of("int", 2, "random = [0, 9]");
    let found: Vec<i32> = edited(&random, &of("int", 3, "random = [0, 9]"), "a");
    assert!(found[0] >= 100 && found[1] >= 100 && found[2] < 10, "{found:?}");
}

#[test]
fn what_an_edit_would_carry_is_not_lost_by_a_reset_pass_that_faults() {
    let before = scene(&array("int", 3), "int *a", "a[i] = i;", "a[i] += 100;");
    let mended = scene(&array("int", 5), "int *a", "a[i] = -i;", "a[i] += 100;");
    let broken = mended.replace("a[i] = -i;", "a[i + 1000] = -i;");
    let expected = [100, 101, 102, -3, -4];
    let mut session = open(&before);
    session.run_steps(1, |_| {}).unwrap();
    let mut edit = |texts: &[&str]| {
        for text in texts {
            session.set_source((*text).to_owned());
            ready(&mut session);
            session.run_steps(0, |_| {}).unwrap();
            assert_eq!(session.fault().is_some(), text.contains("1000"), "{:#?}", session.fault());
        }
        bytemuck::pod_collect_to_vec::<u8, i32>(&session.read("a").unwrap())
    };
    // Once, twice, and with a third layout.
    assert_eq!(edit(&[&broken, &mended]), expected);
    assert_eq!(edit(&[&before]), expected[..3]);
    let twice = broken.replace("1000", "1000000");
    assert_eq!(edit(&[&broken, &twice, &mended]), expected);
    assert_eq!(edit(&[&before, &broken, &before]), expected[..3]);
    // The past is left, and so is what would be carried.
    assert_eq!(edit(&[&broken]).len(), 5);
    session.reset();
    session.set_source(mended.clone());
    ready(&mut session);
    session.run_steps(0, |_| {}).unwrap();
    let found = bytemuck::pod_collect_to_vec::<u8, i32>(&session.read("a").unwrap());
    assert_eq!(found, [0, -1, -2, -3, -4]);
}

const TEXTURE: &str = r#"/*---
[texture.dye]
format = "r32f"
size   = [3, 2]
[[pass]]
kernel = "paint"
over   = "dye"
---*/
__global__ void paint(cudaSurfaceObject_t dye, int dye_width, int dye_height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < dye_width && y < dye_height) surf2Dwrite(1.0f + x + 10 * y, dye, x * 4, y);
}
"#;

#[test]
fn of_a_texture_the_common_corner_stays() {
    let after = TEXTURE.replace("[3, 2]", "[2, 3]");
    assert_eq!(edited::<f32>(TEXTURE, &after, "dye"), [1.0, 2.0, 11.0, 12.0, 0.0, 0.0]);
}

#[test]
fn the_old_state_is_in_the_past() {
    let before = scene(&array("int", 3), "int *a", "a[i] = i;", "a[i] += 100;");
    let mut session = open(&before);
    session.run_steps(2, |_| {}).unwrap();
    let shown = session.snapshot().timeline.unwrap().shown;
    session.set_source(before.replace("count = 3", "count = 1"));
    ready(&mut session);
    session.run_steps(3, |_| {}).unwrap();
    let read = |session: &mut Session| {
        bytemuck::pod_collect_to_vec::<u8, i32>(&session.read("a").unwrap())
    };
    assert_eq!(read(&mut session), [500]);
    let after = session.snapshot().timeline.unwrap().shown;
    assert_ne!(after.line, shown.line, "the new layout has a line of its own");
    let mut at = |moment: Moment| {
        session.seek(moment);
        session.finish_seeking().unwrap();
        read(&mut session)
    };
    assert_eq!(at(shown), [200, 201, 202], "what there was as the text was edited");
    assert_eq!(at(Moment { step: 2, ..after }), [200]);
    assert_eq!(at(Moment { step: 1, ..shown }), [100, 101, 102]);
    assert_eq!(at(Moment { step: 4, ..after }), [400]);
}

/// Whoever types `30` where there was `3` is understood after the first digit, too.
#[test]
fn an_edit_on_the_way_to_another_loses_nothing() {
    let before = scene(&array("int", 300), "int *a", "a[i] = i;", "a[i] += 1000;");
    let mut session = open(&before);
    session.run_steps(2, |_| {}).unwrap();
    let old = session.snapshot().timeline.unwrap().shown;
    for count in ["3", "30", "300"] {
        session.set_source(before.replace("count = 300", &format!("count = {count}")));
        ready(&mut session);
    }
    session.run_steps(1, |_| {}).unwrap();
    let lines = session.snapshot().timeline.unwrap().lines;
    assert_eq!(lines.len(), 2, "one for all that was typed: {lines:?}");
    assert_eq!(lines[1].parent, Some(old));
    session.seek(old);
    session.finish_seeking().unwrap();
    let found = bytemuck::pod_collect_to_vec::<u8, i32>(&session.read("a").unwrap());
    assert_eq!(found, (2000..2300).collect::<Vec<_>>());
    // Play goes on from there, with the text as it is: a line of its own again.
    session.run_steps(1, |_| {}).unwrap();
    let found = bytemuck::pod_collect_to_vec::<u8, i32>(&session.read("a").unwrap());
    assert_eq!(found, (3000..3300).collect::<Vec<_>>());
}

/// What no layout of the new text can take over is in the past as well, and so is what only begins anew.
#[test]
fn what_an_edit_drops_is_in_the_past() {
    let read = |session: &mut Session, name: &str| {
        bytemuck::pod_collect_to_vec::<u8, i32>(&session.read(name).unwrap())
    };
    let before = scene(&array("int", 3), "int *a", "a[i] = i;", "a[i] += 100;");
    let renamed = before.replace("a_count", "b_count").replace("int *a", "int *b");
    let renamed = renamed.replace("[array.a]", "[array.b]").replace("\"a\"", "\"b\"");
    let renamed = renamed.replace("a[i]", "b[i]");
    let another = scene(&array("P", 3), "P *a", "a[i].n = 7;", "a[i].n += 1;");
    for after in [renamed, another] {
        let mut session = open(&before);
        session.run_steps(2, |_| {}).unwrap();
        let old = session.snapshot().timeline.unwrap().shown;
        session.set_source(after);
        ready(&mut session);
        session.run_steps(1, |_| {}).unwrap();
        session.seek(old);
        session.finish_seeking().unwrap();
        assert_eq!(read(&mut session, "a"), [200, 201, 202]);
    }
    // One that finds no room changes nothing, and is no reason for a line.
    let mut session = open(&before);
    session.run_steps(2, |_| {}).unwrap();
    let other = "[array.b]\ntype = \"double4\"\ncount = 30000000000\n";
    let too_large = before.replace("count = 3", "count = 2");
    session.set_source(too_large.replacen("[[pass]]", &format!("{other}[[pass]]"), 1));
    session.wait_for_program().unwrap();
    session.run_steps(1, |_| {}).unwrap();
    let remarks = session.snapshot().compile.diagnostics;
    assert!(remarks.iter().any(|of| of.text.contains("is too large")), "{remarks:?}");
    assert_eq!(session.snapshot().timeline.unwrap().lines.len(), 1);
    assert_eq!(read(&mut session, "a"), [300, 301, 302]);
    // A text that is none of the state's is no reason for a line.
    let mut session = open(&before);
    session.run_steps(2, |_| {}).unwrap();
    session.set_source(before.replace("+= 100", "+= sinf(1e6f * i) > 2 ? 1 : 50"));
    ready(&mut session);
    session.run_steps(1, |_| {}).unwrap();
    session.set_source(before.clone());
    ready(&mut session);
    session.run_steps(1, |_| {}).unwrap();
    assert_eq!(session.snapshot().timeline.unwrap().lines.len(), 1);
    assert_eq!(read(&mut session, "a"), [350, 351, 352]);
}

#[test]
fn what_begins_anew_is_told() {
    let told = |before: &str, after: &str| {
        let mut session = open(before);
        session.run_steps(1, |_| {}).unwrap();
        session.set_source(after.to_owned());
        ready(&mut session);
        let remarks = session.snapshot().compile.diagnostics;
        let anew = remarks.into_iter().filter(|of| of.text.contains("begins anew"));
        anew.map(|of| (of.line, of.text)).collect::<Vec<_>>()
    };
    let before = scene(&array("P", 3), "P *a", "a[i].x = 1;", "a[i].n += 1;");
    let after = scene(&array("float", 3), "float *a", "a[i] = 7;", "a[i] += 1;");
    let text = "`a` begins anew: what an array of `P` held has no place in an array of `float`";
    assert_eq!(told(&before, &after), [(Some(2), text.to_owned())]);
    // What goes on, or is not to go on, is not told.
    let kept = scene(&array("Q", 3), "Q *a", "a[i].x = 1;", "a[i].n += 1;");
    assert_eq!(told(&before, &kept), []);
    assert_eq!(told(&before, &after.replace("count = 3", "count = 3\nkeep = false")), []);
}

/// The thread that draws goes on while copies are on their way: a kernel holds the stream up for a second.
#[test]
fn nothing_is_waited_for() {
    let before = scene(&array("int", 3), "int *a", "a[i] = i;", "a[i] += 100;");
    let mut session = open(&before);
    session.run_steps(1, |_| {}).unwrap();
    session.set_source(before.replace("count = 3", "count = 4"));
    let stream = session.stream().clone();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    stream.host_function(move || wait.recv().unwrap_or(())).unwrap();
    let started = Instant::now();
    let mut longest = Duration::ZERO;
    while started.elapsed() < Duration::from_secs(1) {
        let before = Instant::now();
        session.update().unwrap();
        longest = longest.max(before.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    }
    // An update that waited for the stream would not have returned at all.
    go.send(()).unwrap();
    ready(&mut session);
    session.run_steps(1, |_| {}).unwrap();
    let found: Vec<i32> = bytemuck::pod_collect_to_vec(&session.read("a").unwrap());
    assert_eq!(found, [200, 201, 202, 103], "{longest:?}");
}

/// What a list of pointers leads to is written where the elements are not `const`, wherever else `const` stands.
#[test]
fn a_reset_pass_writes_what_its_lists_lead_to() {
    let text = |arrays: &str, kernel: &str| {
        format!(
            "/*---\n[array.a]\ntype = \"float\"\ncount = 2\n{arrays}[[pass]]\nkernel = \"go\"\nover = \"a\"\n---*/\n\
             {kernel}__global__ void go(float *a, int a_count)\n{{\n    int i = threadIdx.x;\n    \
             if (i < a_count) a[i] += 1;\n}}\n"
        )
    };
    let before = text("", "");
    let after = |of: &str, rows: &str, body: &str| {
        let array = "[array.b]\ntype = \"float\"\ncount = 2\n";
        let pass = format!(
            "[[pass]]\nkernel = \"fill\"\non = \"reset\"\ngrid = 1\nblock = 2\nargs = {{ rows = [\"{rows}\"] }}\n"
        );
        let kernel = format!("__global__ void fill(float *b, {of}rows)\n{{\n    {body}\n}}\n");
        text(&format!("{array}{pass}"), &kernel)
    };
    for of in ["float **", "float *const *"] {
        let new = after(of, "b", "rows[0][threadIdx.x] = 5;");
        assert_eq!(edited::<f32>(&before, &new, "b"), [5.0, 5.0], "{of}");
        let kept = after(of, "a", "b[threadIdx.x] = 7; rows[0][threadIdx.x] = 100;");
        assert_eq!(edited::<f32>(&before, &kept, "a"), [1.0, 1.0], "{of}");
        assert_eq!(edited::<f32>(&before, &kept, "b"), [7.0, 7.0], "{of}");
    }
}

/// Each launch is given its list as the manifest says, whatever kernels have written into theirs.
#[test]
fn a_kernel_that_changes_its_list_changes_no_other() {
    let mut session = open(
        "/*---
[array.a]
type = \"float\"
count = 1
value = 1
[array.b]
type = \"float\"
count = 1
value = 2
[array.o]
type = \"float\"
count = 8
[[pass]]
kernel = \"swap_rows\"
grid = 1
block = 1
args = { rows = [\"a\", \"b\"] }
[[pass]]
kernel = \"read_rows\"
grid = 1
block = 1
args = { rows = [\"a\", \"b\"] }
---*/
__global__ void swap_rows(float **rows, float *o, int step)
{
    o[4 + step] = rows[0][0];
    float *first = rows[0];
    rows[0] = rows[1];
    rows[1] = first;
}
__global__ void read_rows(float *const *rows, float *o, int step) { o[step] = rows[0][0]; }
",
    );
    session.run_steps(4, |_| {}).unwrap();
    let found: Vec<f32> = bytemuck::pod_collect_to_vec(&session.read("o").unwrap());
    assert_eq!(found, [1.0; 8]);
}
