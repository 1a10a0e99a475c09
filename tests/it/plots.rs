//! Plots of scenes, as files and in sessions.

use std::fs;

use warpaint::{
    compile::{Cache, Compiler},
    device::Device,
    draw::Chart,
    interop::Interop,
    session::{Options, Session},
};

use crate::{
    skip::{Need, skip},
    support::Workplace,
};

/// After step `s` element `i` of `value` is `(i, s)`; `field` is `x + 100 * y`; `odd` has a gap.
const NUMBERS: &str = r#"/*---
[array.value]
type = "int2"
count = 1000
[array.odd]
type = "half"
count = 5
value = [0.5, 1.5, "2.0", 65504, -4]
[texture.field]
format = "r32f"
size = [8, 4]
[[pass]]
kernel = "fill"
over = "value"
[[stat]]
name = "steps, all of them"
of = "value"
map = "x.y == 3 ? NAN : x.y"
reduce = "max"
[[plot]]
name = "over-steps"
title = "Steps <& more>"
kind = "time"
of = ["steps, all of them", "value.x.mean"]
unit = "m"
[[plot]]
name = "how-often"
kind = "histogram"
of = "value.x"
bins = 10
[[plot]]
name = "both"
kind = "histogram"
of = "value"
bins = 2
range = [0, 4]
[[plot]]
name = "row"
kind = "line"
of = "field"
row = 2
[[plot]]
name = "column"
kind = "line"
of = "field"
column = 7
[[plot]]
name = "odd"
kind = "line"
of = "odd"
log = true
[[plot]]
name = "array-row"
kind = "line"
of = "value.x"
size = [40, 25]
row = 24
[[plot]]
name = "array-column"
kind = "line"
of = "value"
size = [100, 10]
column = 99
---*/
__global__ void fill(int2 *value, cudaSurfaceObject_t field, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1000) return;
    value[i] = make_int2(i, step + 1);
    if (i < 32) surf2Dwrite(i % 8 + 100.0f * (i / 8), field, 4 * (i % 8), i / 8);
}
"#;

fn open(source: &str) -> Session {
    let device = Device::cpu().unwrap();
    let (options, interop) = (Options::new("p.cu", source), Interop::none(&device));
    let compiler = Compiler::new(Cache::user());
    let mut session = Session::open(options, device, compiler, interop, || {}).unwrap();
    assert!(session.wait_for_program().unwrap(), "{:?}", session.snapshot().compile.diagnostics);
    session
}

fn step(session: &mut Session, steps: u64) {
    for _ in 0..steps {
        session.run_steps(1, |_| {}).unwrap();
        session.measure().unwrap();
    }
}

fn values(chart: &Chart, series: usize) -> Vec<f64> {
    chart.series[series].points.iter().map(|point| point[1]).collect()
}

#[test]
fn each_kind_has_the_numbers_of_the_scene() {
    let mut session = open(NUMBERS);
    assert!(
        session
            .snapshot()
            .plots
            .iter()
            .all(|chart| chart.series.iter().all(|s| s.points.is_empty()))
    );
    step(&mut session, 4);
    let plots = session.snapshot().plots;
    let steps = values(&plots[0], 0);
    assert_eq!((steps[0], steps[1], steps[3]), (1.0, 2.0, 4.0));
    assert!(steps[2].is_nan() && steps.len() == 4);
    assert_eq!(plots[0].series[1].points, [[1.0, 499.5], [2.0, 499.5], [3.0, 499.5], [4.0, 499.5]]);
    assert_eq!(plots[0].title, "Steps <& more> in m");
    // Edges are multiples of 99.9, so that of 0 to 999 each of the ten has a hundred.
    assert_eq!(values(&plots[1], 0), [[100.0; 10].as_slice(), &[0.0]].concat());
    assert_eq!((plots[1].series.len(), plots[1].series[0].points[10][0]), (1, 999.0));
    assert_eq!(
        (values(&plots[2], 0), values(&plots[2], 1)),
        (vec![2.0, 3.0, 0.0], vec![0.0, 1000.0, 0.0])
    );
    assert_eq!(values(&plots[3], 0), (0..8).map(|x| f64::from(x) + 200.0).collect::<Vec<_>>());
    assert_eq!(values(&plots[4], 0), [7.0, 107.0, 207.0, 307.0]);
    assert_eq!(values(&plots[5], 0), [0.5, 1.5, 2.0, 65504.0, -4.0]);
    assert_eq!(values(&plots[6], 0), (960..1000).map(f64::from).collect::<Vec<_>>());
    assert_eq!(values(&plots[7], 0), (0..10).map(|y| f64::from(99 + 100 * y)).collect::<Vec<_>>());
    assert_eq!(values(&plots[7], 1), [4.0; 10]);
}

#[test]
fn steps_go_on_through_edits_and_begin_anew_with_the_scene() {
    let mut session = open(NUMBERS);
    step(&mut session, 2);
    session.measure().unwrap();
    assert_eq!(values(&session.snapshot().plots[0], 0), [1.0, 2.0], "a step has one value");
    session.set_source(NUMBERS.replace("make_int2(i, step + 1)", "make_int2(i, 10)"));
    assert!(session.wait_for_program().unwrap());
    step(&mut session, 1);
    assert_eq!(values(&session.snapshot().plots[0], 0), [1.0, 2.0, 10.0]);
    session.set_source(NUMBERS.replace(", \"value.x.mean\"]", "]"));
    assert!(session.wait_for_program().unwrap());
    assert_eq!(session.snapshot().plots[0].series.len(), 0, "it shows something else");
    step(&mut session, 1);
    session.reset();
    step(&mut session, 1);
    assert_eq!(session.snapshot().plots[0].series[0].points, [[1.0, 1.0]]);
}

#[test]
fn plots_are_written_as_their_files_say() {
    let place = Workplace::new();
    place.file("scene.cu", NUMBERS);
    let run = |arguments: &[&str]| {
        place.run(&[&["render", "scene.cu", "--device", "cpu"][..], arguments].concat())
    };
    let files =
        ["--plot", "over-steps=a.csv", "--plot", "over-steps=a.svg", "--plot", "how-often=h.csv"];
    run(&[&["--steps", "6", "--every", "2"][..], &files].concat()).expect(0, &[]);
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    let expected = "series,step,value\n\"steps, all of them\",2,2\n\"steps, all of them\",4,4\n\
                    \"steps, all of them\",6,6\nvalue.x.mean,2,499.5\nvalue.x.mean,4,499.5\nvalue.x.mean,6,499.5\n";
    assert_eq!(read("a.csv"), expected);
    assert!(read("h.csv").starts_with("series,from,to,count\nx,0,99.9,100\n"), "{}", read("h.csv"));
    let svg = read("a.svg");
    assert!(svg.contains(">Steps &lt;&amp; more&gt; in m</text>"), "{svg}");
    assert_eq!((svg.matches("<polyline").count(), svg.matches("</svg>").count()), (2, 1));
    for (arguments, said) in [
        (&["--plot", "how-oftn=a.svg"][..], "no plot `how-oftn`; did you mean `how-often`?"),
        (&["--plot", "row=a.pdf"], "a.pdf: plots are written as .svg, .png or .csv"),
        (&["--plot", "row=a.svg", "--json", "a.svg"], "are the same file"),
        (&["--plot", "row=scene.cu"], "would replace the scene"),
    ] {
        run(arguments).expect(2, &[said]);
    }
    let alone = "/*---\n[array.a]\ntype = \"float\"\ncount = 9\n[[plot]]\nname = \"row\"\nkind = \"line\"\n\
                 of = \"a\"\n---*/\n";
    place.file("alone.cu", alone);
    let ended = place.run(&["render", "alone.cu", "--device", "cpu", "--out", "a.png"]);
    ended.expect(2, &["no [view], but plots: --plot row=FILE.png draws one"]);
    let ended = run(&["--plot", "row=r.png", "--size", "300x200"]);
    if ended.err.contains("no EGL") {
        return skip(Need::Gl, &ended.err);
    }
    ended.expect(0, &[]);
    let picture = image::open(place.path("r.png")).unwrap().to_rgb8();
    // On paper, with a line of the first colour.
    assert_eq!((picture.dimensions(), picture.get_pixel(1, 1).0), ((300, 200), [255; 3]));
    let line = picture.pixels().filter(|pixel| pixel[0] > 180 && pixel[2] < 60).count();
    assert!(line > 150, "{line} pixels of a line");
}

#[test]
fn every_chart_is_drawn_whatever_its_numbers_are() {
    use warpaint::draw::{Marks, Series};
    let odd = [f64::NAN, f64::INFINITY, -f64::MAX, f64::MAX, 5e-324, 0.0, -1.0, 1e15];
    let many: Vec<[f64; 2]> = (0..100_000).map(|i| [f64::from(i), f64::from(i % 7)]).collect();
    for points in [
        vec![],
        vec![[1.0, 2.0]],
        vec![[1.0, f64::NAN], [2.0, 3.0], [3.0, f64::NAN]],
        odd.iter().flat_map(|x| odd.map(|y| [*x, y])).collect(),
        vec![[0.0, 4.0]; 3],
        many,
    ] {
        for (marks, log) in
            [(Marks::Line, false), (Marks::Line, true), (Marks::Bars, false), (Marks::Bars, true)]
        {
            for size in [[800, 480], [1, 1], [40, 20]] {
                let series = Series { name: "s\u{1b}<".repeat(9), points: points.clone() };
                let series = vec![series.clone(), series];
                let chart = Chart { title: "t".into(), x_label: "x".into(), log, marks, series };
                let svg = chart.to_svg(size);
                assert!(
                    !svg.contains("NaN") && !svg.contains("inf") && !svg.contains('\u{1b}'),
                    "{svg}"
                );
                // Four places a column of half a point, for each of two series, and no more.
                assert!(svg.len() < 600_000, "{} bytes of {} points", svg.len(), points.len());
            }
        }
    }
}
