//! `each`: elements that follow from their places.

use super::{Folder, on_each_device, read, scene};

const BODY: &str = "struct Spin { float rate; };
struct Body { double mass; int tags[2]; float3 at; Spin spin; };";

#[test]
fn elements_follow_from_their_places() {
    on_each_device(|device| {
        let manifest = r#"
[constant]
n = 3
[array.whole]
type = "int"
count = "2 * n"
each = "i % n * 10"
[buffer.circle]
type = "float2"
count = 5000
each = ["cos(0.5 * i)", "i < 7 ? -1 : n"]
[array.flags]
type = "bool"
count = 4
each = "i % 2 == 1"
[array.same]
type = "float4"
count = 2
each = "0.5 * i"
[array.body]
type = "Body"
count = 4
each = { mass = "2 * i", tags = ["i", "i + 1"], at = [0, "i", 2], "spin.rate" = "1.0 / (i + 1)" }
[variable.table]
type = "int"
each = "i * i"
[array.sum]
type = "int"
count = 1
[[pass]]
kernel = "use"
grid = 1
block = 1
"#;
        let code = format!(
            "{BODY} __constant__ int table[20]; __global__ void use(int *sum) {{ sum[0] = table[threadIdx.x + 19]; }}"
        );
        let mut session = Folder::new().begun(device, &scene(manifest, &code));
        assert_eq!(read::<i32>(&mut session, "whole"), [0, 10, 20, 0, 10, 20]);
        let circle: Vec<f32> = read(&mut session, "circle");
        for (i, pair) in circle.chunks(2).enumerate() {
            let expected = [(0.5 * i as f64).cos() as f32, if i < 7 { -1.0 } else { 3.0 }];
            assert_eq!(pair, expected, "{i}");
        }
        assert_eq!(read::<u8>(&mut session, "flags"), [0, 1, 0, 1]);
        assert_eq!(read::<f32>(&mut session, "same"), [0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5]);
        let bytes = session.read("body").unwrap();
        let third = &bytes[2 * 32..3 * 32];
        assert_eq!(bytemuck::pod_read_unaligned::<f64>(&third[..8]), 4.0);
        assert_eq!(bytemuck::pod_collect_to_vec::<u8, i32>(&third[8..16]), [2, 3]);
        let floats = bytemuck::pod_collect_to_vec::<u8, f32>(&third[16..32]);
        assert_eq!(floats, [0.0, 2.0, 2.0, 1.0_f32 / 3.0]);
        session.run_steps(1, |_| {}).unwrap();
        assert_eq!(read::<i32>(&mut session, "sum"), [361]);
    });
}

#[test]
fn random_is_another_number_wherever_it_stands() {
    on_each_device(|device| {
        let manifest = "
[constant]
low = -2
[array.a]
type = \"float2\"
count = 5000
each = [\"low + 4 * random\", \"random\"]
[array.b]
type = \"int\"
count = 6000
each = \"int(6 * random) + 10 * (i % 2)\"
";
        let begun = || Folder::new().begun(device, &scene(manifest, ""));
        let (mut session, mut other) = (begun(), begun());
        for name in ["a", "b"] {
            assert_eq!(session.read(name).unwrap(), other.read(name).unwrap(), "{name}");
        }
        let a: Vec<f32> = read(&mut session, "a");
        let of = |lane: usize| a.iter().skip(lane).step_by(2).map(|x| f64::from(*x));
        let mean = |lane| of(lane).sum::<f64>() / 5000.0;
        assert!(
            of(0).all(|x| (-2.0..=2.0).contains(&x)) && of(1).all(|x| (0.0..=1.0).contains(&x))
        );
        // The deviation of the means is 4 / sqrt(12 * 5000) = 0.016 and a quarter of it.
        assert!(mean(0).abs() < 0.08 && (mean(1) - 0.5).abs() < 0.02, "{} {}", mean(0), mean(1));
        let product = of(0).zip(of(1)).map(|(x, y)| x * (y - 0.5)).sum::<f64>() / 5000.0;
        // The mean of so many products of independent numbers has a deviation of 0.005.
        assert!(product.abs() < 0.025, "{product}");
        let b: Vec<i32> = read(&mut session, "b");
        let is_right = |(i, x): (usize, &i32)| (0..6).contains(&(x - 10 * (i as i32 % 2)));
        assert!(b.iter().enumerate().all(is_right), "{b:?}");
        assert!((0..6).all(|face| b.iter().filter(|x| **x % 10 == face).count() > 800), "{b:?}");
    });
}

#[test]
fn what_cannot_be_computed_is_told_where_it_stands() {
    let body = "Body\"\ncount = 4\neach = ";
    for (rest, column, told) in [
        ("int\"\ncount = 4\neach = \"0.5 * i\"", 8, "element 0: 0.0 is no int: `int(...)` leaves"),
        ("int\"\ncount = 4\neach = \"8 / (2 - i)\"", 8, "element 2: division by zero"),
        ("uchar\"\ncount = 4\neach = \"100 * i\"", 8, "element 3: 300 is beyond the range of"),
        ("int\"\ncount = 4\neach = \"j\"", 9, "there is no constant `j`; `i` is the element's"),
        ("int\"\ncount = 4\neach = []", 8, "`each` has no expression in this list"),
        ("int\"\ncount = 4\neach = { x = 1 }", 8, "only structures have fields"),
        ("float4\"\ncount = 4\neach = [1, 2]", 8, "float4 has 4 numbers, and `each` gives it 2"),
        ("int\"\ncount = 4\nvalue = 1\neach = 1", 8, "`value` and `each` exclude each other"),
        (&format!("{body}1"), 8, "`each` of `Body` names its fields"),
        (&format!("{body}{{ mas = 1 }}"), 16, "`Body` has no field `mas`; did you mean `mass`"),
        (&format!("{body}{{ at = [1, 2] }}"), 15, "`at` has 3 numbers, and `each` gives it 2"),
    ] {
        let manifest = format!("[array.a]\ntype = \"{rest}");
        let line = 2 + manifest.lines().position(|line| line.starts_with("each")).unwrap();
        let all = Folder::new().told(&scene(&manifest, BODY));
        let at = format!("scene.cu:{line}:{column}: ");
        assert!(
            all.len() == 1 && all[0].starts_with(&at) && all[0].contains(told),
            "{rest}: {all:#?}"
        );
    }
}
