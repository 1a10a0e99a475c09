//! Structures of the source as elements: their layouts, their statistics by field, their files.

use super::{Folder, npy, npy_of, on_each_device, read, scene, write};
use crate::support::Workplace;

/// A structure as public code has them: a name by `typedef`, another structure in it, an array, a byte, gaps.
const BODIES: &str = "
#define REAL double
typedef REAL real;
struct Spin { float2 axis; real rate; };
typedef struct __align__(16) Body_ {
    float3 position, velocity; // 0, 12
    real mass;                 // 24
    Spin spin;                 // 32: axis, 40: rate
    unsigned char tag[3];      // 48
    Body_ *next;               // 56
    bool is_alive;             // 64
} Body;
";

const MANIFEST: &str = "
[constant]
n = 1000
[buffer.body]
type  = 'Body'
count = 'n'
[array.sum]
type = 'double'
count = 'n'
[[pass]]
kernel = 'begin'
over = 'body'
on = 'reset'
[[pass]]
kernel = 'weigh'
over = 'body'
[[stat]]
name = 'momentum'
of = 'body'
map = 'x.mass * x.velocity.y + body[i].spin.rate'
reduce = 'sum'
";

const KERNELS: &str = "
__global__ void begin(Body *body, int body_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= body_count) return;
    Body b = {};
    b.position = make_float3(i, -i, 0.5f * i);
    b.velocity = make_float3(0.0f, 2.0f, i);
    b.mass = 0.25 * i;
    b.spin.axis = make_float2(i % 2, 1.0f);
    b.spin.rate = 1e300;
    for (int k = 0; k < 3; ++k) b.tag[k] = (i + k) % 7;
    b.is_alive = i % 3 == 0;
    body[i] = b;
}
__global__ void weigh(const Body *body, double *sum, int body_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < body_count) sum[i] = body[i].mass + body[i].tag[2] + body[i].is_alive;
}
";

fn bodies() -> String {
    scene(MANIFEST, &format!("{BODIES}{KERNELS}"))
}

#[test]
fn fields_lie_where_the_compiler_puts_them() {
    on_each_device(|device| {
        let mut session = Folder::new().begun(device, &bodies());
        session.run_steps(1, |_| {}).unwrap();
        let bytes = session.read("body").unwrap();
        assert_eq!(bytes.len(), 80 * 1000);
        let body = &bytes[80 * 10..80 * 11];
        let float = |at: usize| f32::from_le_bytes(body[at..at + 4].try_into().unwrap());
        let double = |at: usize| f64::from_le_bytes(body[at..at + 8].try_into().unwrap());
        assert_eq!([float(0), float(4), float(8), float(16)], [10.0, -10.0, 5.0, 2.0]);
        assert_eq!(
            (double(24), double(40), &body[48..51], body[64]),
            (2.5, 1e300, &[3, 4, 5][..], 0)
        );
        let sum: Vec<f64> = read(&mut session, "sum");
        let expected =
            |i: usize| 0.25 * i as f64 + ((i + 2) % 7) as f64 + f64::from(i.is_multiple_of(3));
        assert!((0..1000).all(|i| sum[i] == expected(i)));
    });
}

#[test]
fn statistics_are_those_of_each_field() {
    on_each_device(|device| {
        let mut session = Folder::new().begun(device, &bodies());
        session.run_steps(1, |_| {}).unwrap();
        session.measure().unwrap();
        let body = session.snapshot().resources.remove(0);
        assert_eq!((body.element.as_str(), body.count, body.bytes), ("Body", 1000, 80_000));
        let names = [
            "position.x",
            "position.y",
            "position.z",
            "velocity.x",
            "velocity.y",
            "velocity.z",
            "mass",
            "spin.axis.x",
            "spin.axis.y",
            "spin.rate",
            "tag",
            "is_alive",
        ];
        assert_eq!(body.names, names);
        let of =
            |name: &str| body.components[names.iter().position(|known| *known == name).unwrap()];
        assert_eq!(
            (of("position.y").min, of("position.y").max, of("position.y").count),
            (-999.0, 0.0, 1000)
        );
        assert_eq!((of("velocity.y").mean, of("velocity.y").std), (2.0, 0.0));
        // The sum of 0 to 999, a quarter each.
        assert_eq!(of("mass").sum, 0.25 * 499_500.0);
        assert_eq!(of("spin.axis.x").sum, 500.0);
        assert_eq!((of("spin.rate").min, of("spin.rate").max), (1e300, 1e300));
        // An array is one component with all of its numbers.
        let tags: u32 = (0..1000).flat_map(|i| (0..3).map(move |k| (i + k) % 7)).sum();
        assert_eq!((of("tag").count, of("tag").sum, of("tag").max), (3000, f64::from(tags), 6.0));
        assert_eq!(of("is_alive").sum, 334.0);
        let momentum = session.snapshot().stats[0].value.unwrap();
        assert_eq!(momentum, 1e303, "1000 rates, beside which all the rest is nothing");
    });
}

#[test]
fn conditions_and_checks_name_fields() {
    let place = Workplace::new();
    let manifest = "
[array.cell]
type = 'Cell'
count = 4
[[pass]]
repeat = 100
until = 'cell[2].at.y >= 7 && cell.at.max < 8'
[[pass.pass]]
kernel = 'grow'
over = 'cell'
[[check]]
stat = 'cell.at.y.max'
equals = 7
[[check]]
stat = 'cell.at.max'
equals = 7
[[check]]
stat = 'cell.n.min'
equals = 7
";
    let text = scene(
        manifest,
        "struct Cell { short n; float2 at; };
         __global__ void grow(Cell *cell, int cell_count) {
             int i = threadIdx.x;
             if (i < cell_count) cell[i].n += 1, cell[i].at.y = cell[i].n, cell[i].at.x = -i;
         }",
    );
    let scene = place.file("cells.cu", &text);
    let ended = place.run(&["test", scene, "--steps", "1", "--device", "cpu"]);
    ended.expect(0, &[]);
    for told in ["cell.at.y.max = 7", "cell.at.max = 7", "cell.n.min = 7"] {
        assert!(ended.out.contains(told), "{}", ended.out);
    }
    let text = text.replace("cell.n.min", "cell.m.min");
    let scene = place.file("cells.cu", &text);
    place
        .run(&["test", scene])
        .expect(1, &["`cell` has no component `m`: its elements are Cell; known are `n`, `at.x`, `at.y`, `at`"]);
    // Of a type that there is not, no more is told than that.
    let text = text.replace("cell.m.min", "cell.n.min").replace("'Cell'", "'Cel'").replace(
        "[[pass]]\nrepeat",
        "[[view]]\nname = 'v'\nkind = 'points'\nposition = 'cell.at'\ncolor = 'cell.n'\n[[plot]]\nname = 'p'\nkind = 'time'\n\
         of = ['cell.at.y.max']\n[[plot]]\nname = 'h'\nkind = 'histogram'\nof = 'cell.at.x'\nbins = 4\n[[pass]]\nrepeat",
    );
    assert!(text.contains("'Cel'") && text.contains("histogram"), "{text}");
    let scene = place.file("cells.cu", &text);
    place.run(&["check", scene]).expect_one_line(1, &["`type` cannot be \"Cel\""]);
}

/// Two structures as numpy saves them, of another layout than ours: `numpy.zeros(2, [("mass", ">f4"), ("id", "<i8"),
/// ("position", "<f4", 3), ("tag", "u1", (3, 1))])`.
fn saved() -> Vec<u8> {
    let mut data = Vec::new();
    for i in 0..2_u8 {
        data.extend((1.5 + f32::from(i)).to_be_bytes());
        data.extend(i64::from(i).to_le_bytes());
        (0..3).for_each(|k| data.extend((f32::from(i) + 10.0 * k as f32).to_le_bytes()));
        data.extend([i, 7, 9]);
    }
    let kind =
        "[('mass', '>f4'), ('id', '<i8'), ('position', '<f4', (3,)), ('tag', '|u1', (3, 1))]";
    npy_of(kind, false, "(2,)", &data)
}

const LOADED: &str = "struct P { double mass; float3 position; short tag[3]; };
__global__ void look(const P *p, double *out) {
    int i = threadIdx.x;
    if (i < 2) out[i] = p[i].mass + 100 * p[i].position.y + 1000 * p[i].tag[2] + 10000 * p[i].tag[0];
}";

fn loading(more: &str) -> String {
    let manifest = format!(
        "[array.p]\ntype = 'P'\ncount = 2\nfile = 'p.npy'\n{more}[array.out]\ntype = 'double'\ncount = 2\n\
         [[pass]]\nkernel = 'look'\nover = 'p'\n"
    );
    scene(&manifest, LOADED)
}

#[test]
fn structures_come_from_files_of_structures_field_by_field() {
    on_each_device(|device| {
        let folder = Folder::new();
        write(&folder.path("p.npy"), saved());
        let mut session = folder.begun(device, &loading(""));
        session.run_steps(1, |_| {}).unwrap();
        assert_eq!(
            read::<f64>(&mut session, "out"),
            [1.5 + 1000.0 + 9000.0, 2.5 + 1100.0 + 9000.0 + 10000.0]
        );
    });
}

/// As numpy saves an array of 2 by 3 whose first index runs fastest, with fields of its own that nobody wants.
#[test]
fn structures_in_fortran_order_stand_at_their_places() {
    let manifest = "[array.p]\ntype = 'P'\ncount = 6\nfile = 'p.npy'\n[array.out]\ntype = 'int'\ncount = 6\n\
                    [[pass]]\nkernel = 'look'\nover = 'p'\n";
    let kernel = "struct P { short n; short m; };
__global__ void look(const P *p, int *out, int p_count) {
    int i = threadIdx.x;
    if (i < p_count) out[i] = p[i].n - p[i].m;
}";
    let numbers = |i: u8| [i, 0, 100, 0];
    let more = |i: u8| [numbers(i).to_vec(), vec![b'x'; 16 + 8]].concat();
    let as_in_memory = "[('n', '<i2'), ('m', '<i2')]";
    let wider = "[('n', '<i2'), ('m', '<i2'), ('name', '<U4'), ('day', '<M8[D]')]";
    let order = [0, 3, 1, 4, 2, 5];
    let files = [
        npy_of(as_in_memory, true, "(2, 3)", &order.map(numbers).concat()),
        npy_of(wider, true, "(2, 3)", &order.map(more).concat()),
        npy_of(wider, false, "(2, 3)", &[0, 1, 2, 3, 4, 5].map(more).concat()),
    ];
    on_each_device(|device| {
        let folder = Folder::new();
        for file in &files {
            write(&folder.path("p.npy"), file);
            let mut session = folder.begun(device, &scene(manifest, kernel));
            session.run_steps(1, |_| {}).unwrap();
            assert_eq!(read::<i32>(&mut session, "out"), [-100, -99, -98, -97, -96, -95]);
        }
    });
}

/// numpy takes any byte for a truth value where a view says so; kernels would take 2 for something else than 1.
#[test]
fn truth_values_are_0_or_1_whatever_the_layout() {
    let manifest = "[array.p]\ntype = 'P'\ncount = 2\nfile = 'p.npy'\n[array.out]\ntype = 'int'\ncount = 2\n\
                    [[pass]]\nkernel = 'look'\nover = 'p'\n";
    let kernel = "struct P { bool is_alive[2]; short tag; };
__global__ void look(const P *p, int *out) {
    int i = threadIdx.x;
    if (i < 2) out[i] = ((const unsigned char *)&p[i])[0] + 256 * ((const unsigned char *)&p[i])[1];
}";
    let (tag, is_alive) = ("('tag', '<i2')", "('is_alive', '|b1', (2,))");
    let as_in_memory =
        npy_of(&format!("[{is_alive}, {tag}]"), false, "(2,)", &[2, 0, 7, 0, 1, 255, 7, 0]);
    let other_way =
        npy_of(&format!("[{tag}, {is_alive}]"), false, "(2,)", &[7, 0, 2, 0, 7, 0, 1, 255]);
    on_each_device(|device| {
        let folder = Folder::new();
        for file in [&as_in_memory, &other_way] {
            write(&folder.path("p.npy"), file);
            let mut session = folder.begun(device, &scene(manifest, kernel));
            session.run_steps(1, |_| {}).unwrap();
            assert_eq!(read::<i32>(&mut session, "out"), [1, 257]);
        }
    });
}

#[test]
fn files_that_do_not_fit_are_told() {
    let folder = Folder::new();
    for (content, expected) in [
        (
            npy("<f4", false, "(2,)", &[0; 8]),
            "it has numbers of type `f4`, and no field `mass` as `P` has",
        ),
        (
            swapped("'mass'", "'Mass'"),
            "it has the fields `Mass`, `id`, `position`, `tag`, and no field `mass`",
        ),
        (swapped("'mass'", "'m\nss'"), "it has the fields `m\\u{a}ss`, `id`"),
        (swapped("(3, 1)", "(1, 1)"), "it has 1 numbers in each field `tag`, not 3"),
        (
            swapped("'<f4'", "'<i4'"),
            "the field `position`: it has int32, which does not become float without loss",
        ),
        (swapped("(2,), }", "(3,), }"), "it has 3 structures, not 2"),
        (saved()[..saved().len() - 1].to_vec(), "it is damaged: 53 bytes are not 2 times 27"),
        (
            swapped("'|u1'", "'|O8'"),
            "its field `tag` is of numpy's type `O8`, which no element has",
        ),
    ] {
        write(&folder.path("p.npy"), content);
        let told = folder.told(&loading(""));
        assert!(told.len() == 1 && told[0].contains(expected), "{told:#?}\n{expected}");
    }
    write(&folder.path("p.npy"), saved());
    let told = folder.told(&loading("value = 1\n"));
    assert!(told.iter().any(|told| told.contains("`value` is for numbers")), "{told:#?}");
}

/// The file with another text in its header, of the same length.
fn swapped(from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let file = saved();
    let at = file.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    [&file[..at], to.as_bytes(), &file[at + to.len()..]].concat()
}

#[test]
fn what_is_saved_can_be_loaded_and_compared() {
    let place = Workplace::new();
    let more = "[[golden]]\nof = 'body'\nfile = 'body.npy'\n";
    let text = scene(&format!("{MANIFEST}{more}"), &format!("{BODIES}{KERNELS}"));
    let bodies = place.file("bodies.cu", &text);
    place.run(&["test", bodies, "--update-golden", "--device", "cpu"]).expect(0, &[]);
    let saved = std::fs::read(place.path("body.npy")).unwrap();
    let kind = "[('position', '<f4', (3,)), ('velocity', '<f4', (3,)), ('mass', '<f8'), ('spin.axis', '<f4', (2,)), \
                ('spin.rate', '<f8'), ('tag', '|u1', (3,)), ('', '|V13'), ('is_alive', '|b1'), ('', '|V15')]";
    let header = String::from_utf8_lossy(&saved[..512]).into_owned();
    assert!(header.contains(kind), "{header}");
    place.run(&["test", bodies, "--device", "cpu"]).expect(0, &[]);
    // Another scene begins with what this one ended with.
    let other = text.replace("on = 'reset'", "on = 'reset'\nover = 0").replace("body[i] = b", "");
    let other = other.replacen("count = 'n'", "count = 'n'\nfile = 'body.npy'", 1);
    let other = place.file(
        "other.cu",
        &other
            .replace("over = 'body'\non = 'reset'\nover = 0", "grid = 1\nblock = 1\non = 'reset'"),
    );
    place.run(&["test", other, "--device", "cpu"]).expect(0, &[]);
    let wrong = text.replace("b.mass = 0.25 * i", "b.mass = 0.25 * i + (i == 500)");
    let wrong = place.file("bodies.cu", &wrong);
    place.run(&["test", wrong, "--device", "cpu"]).expect(1, &[]);
}

#[test]
fn fields_may_be_said_of_what_the_text_does_not_show() {
    on_each_device(|device| {
        let folder = Folder::new();
        write(&folder.path("pair.h"), "template <class T> struct Pair { T a, b; };\n");
        let manifest = "
[array.pair]
type = 'Pair<float2>'
count = 3
fields = { a = 'float2', 'b.y' = 'float' }
[[pass]]
kernel = 'fill'
grid = 1
block = 3
";
        let kernel = "#include \"pair.h\"
__global__ void fill(Pair<float2> *pair) { pair[threadIdx.x].a.x = 2; pair[threadIdx.x].b.y = threadIdx.x; }";
        let mut session = folder.begun(device, &scene(manifest, kernel));
        session.run_steps(1, |_| {}).unwrap();
        session.measure().unwrap();
        let pair = session.snapshot().resources.remove(0);
        assert_eq!(pair.names, ["a.x", "a.y", "b.y"]);
        let sums = pair.components.iter().map(|component| component.sum);
        assert_eq!(sums.collect::<Vec<_>>(), [6.0, 0.0, 3.0]);
    });
}

#[test]
fn mistakes_are_told_at_the_resource() {
    let folder = Folder::new();
    let of = |declared: &str, text: &str| {
        let manifest = format!(
            "[array.p]\n{declared}\ncount = 2\n[[pass]]\nkernel = 'k'\ngrid = 1\nblock = 1\n"
        );
        folder.told(&scene(&manifest, text))
    };
    let kernel = "__global__ void k(P *p) { }";
    for (declared, text, expected) in [
        ("type = 'Q'", "struct P { int a; };", "`type` cannot be \"Q\""),
        (
            "type = 'P'",
            "struct P { int *a; };",
            "no field of `P` has a type that is known from the text",
        ),
        (
            "type = 'P'\nfields = { b = 'int' }",
            "struct P { int a; };",
            "scene.cu:2:1: error: class \"P\" has no member \"b\"",
        ),
        (
            "type = 'P'\nfields = { a = 'float' }",
            "struct P { int a; };",
            "scene.cu:2:8: error: the array p (2 P) cannot be read: `P::a` is a `int`, of 4 bytes, and not a `float`",
        ),
        (
            "type = 'P'",
            "#pragma pack(push, 1)\nstruct P { char a; int b; };\n#pragma pack(pop)",
            "`P` is packed, so that its field `b` does not lie where a `int` may",
        ),
        ("type = 'P'\nfields = 3", "struct P { int a; };", "`fields` must be a table"),
        (
            "type = 'P'\nfields = { 'a b' = 'int' }",
            "struct P { int a; };",
            "\"a b\" is no field's name",
        ),
        (
            "type = 'P'\nfields = { a = 'Q' }",
            "struct P { int a; };",
            "the field `a` must have the type of a number",
        ),
        (
            "type = 'P; int x'\nfields = { a = 'int' }",
            "struct P { int a; };",
            "that is no name of a type",
        ),
        (
            "type = 'P'",
            "struct P { int a[1 << 18]; int b; };",
            "too large: of more than 1048576 bytes",
        ),
    ] {
        let told = of(declared, &format!("{text}\n{kernel}"));
        let is_told = told.iter().filter(|told| told.contains(expected)).count() == 1;
        assert!(is_told, "{declared} {text}: {told:#?}");
    }
    let told = of("type = 'P'", "struct P { int a; };\n__global__ void k(float *p) { }");
    assert!(told.len() == 1 && told[0].contains("write `P *p`"), "{told:#?}");
}

#[test]
fn faults_name_the_field() {
    let text = scene(
        "[array.p]\ntype = 'P'\ncount = 4\n[[pass]]\nkernel = 'k'\ngrid = 1\nblock = 8\n",
        "struct P { int a; float4 b; };\n__global__ void k(P *p) { p[threadIdx.x].b.y = 1; }",
    );
    let place = Workplace::new();
    let scene = place.file("p.cu", &text);
    place.run(&["render", scene, "--device", "cpu"]).expect(4, &["`p[4].b`, which has 4 elements"]);
}

#[test]
fn plots_show_fields() {
    let place = Workplace::new();
    let plots = "
[[plot]]
name = 'masses'
kind = 'line'
of = 'body.mass'
[[plot]]
name = 'rates'
kind = 'histogram'
of = 'body.tag'
bins = 7
range = [0, 7]
[[plot]]
name = 'height'
kind = 'time'
of = 'body.position.y.min'
";
    let scene = place
        .file("bodies.cu", &scene(&format!("{MANIFEST}{plots}"), &format!("{BODIES}{KERNELS}")));
    let files = ["masses=masses.csv", "rates=rates.csv", "height=height.csv"];
    let mut run = vec!["render", scene, "--steps", "1", "--device", "cpu"];
    files.iter().for_each(|file| run.extend(["--plot", file]));
    place.run(&run).expect(0, &[]);
    let numbers = |name: &str| -> Vec<f64> {
        let text = std::fs::read_to_string(place.path(name)).unwrap();
        let last = |line: &str| line.rsplit(',').next().unwrap().parse().ok();
        text.lines().filter_map(last).collect()
    };
    assert_eq!(numbers("masses.csv"), (0..1000).map(|i| 0.25 * f64::from(i)).collect::<Vec<_>>());
    let counts = (0..7).map(|tag| {
        (0..1000).flat_map(|i| (0..3).map(move |k| (i + k) % 7)).filter(|t| *t == tag).count()
    });
    let counts: Vec<f64> = counts.map(|count| count as f64).collect();
    assert_eq!(numbers("rates.csv")[..7], counts[..]);
    assert_eq!(numbers("height.csv").last(), Some(&-999.0));
}
