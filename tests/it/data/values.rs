//! `value` of buffers and arrays.

use super::{Folder, on_each_device, read, scene};

#[test]
fn values_fill_or_are_given_one_by_one() {
    on_each_device(|device| {
        let manifest = "
[constant]
n = 3
[array.middle]
type = \"float\"
count = \"n\"
value = 0.5
[array.large]
type = \"float3\"
count = 70000
value = \"1.0 / n\"
[array.longs]
type = \"long long\"
count = 5
value = -2
[buffer.ones]
type = \"uchar4\"
count = 9
value = 1
[array.each]
type = \"int\"
count = \"2 * n\"
value = [[1, 2, 3], [4, \"n + 2\", 6]]
[array.pairs]
type = \"double2\"
count = 2
value = [[1, 2.5], [3, 4]]
[array.flags]
type = \"bool\"
count = 2
value = [true, \"n < 2\"]
[array.flat]
type = \"float2\"
count = 2
value = [1, 2, 3, 4]
";
        let mut session = Folder::new().begun(device, &scene(manifest, ""));
        assert_eq!(read::<f32>(&mut session, "middle"), [0.5; 3]);
        assert_eq!(read::<f32>(&mut session, "large"), vec![1.0 / 3.0; 210_000]);
        assert_eq!(read::<i64>(&mut session, "longs"), [-2; 5]);
        assert_eq!(read::<u8>(&mut session, "ones"), [1; 36]);
        assert_eq!(read::<i32>(&mut session, "each"), [1, 2, 3, 4, 5, 6]);
        assert_eq!(read::<f64>(&mut session, "pairs"), [1.0, 2.5, 3.0, 4.0]);
        assert_eq!(read::<u8>(&mut session, "flags"), [1, 0]);
        assert_eq!(read::<f32>(&mut session, "flat"), [1.0, 2.0, 3.0, 4.0]);
    });
}

#[test]
fn a_value_that_cannot_be_is_told_where_it_stands() {
    for (element, value, column, told) in [
        ("int", "0.5", 9, "0.5 is no int"),
        ("uchar", "256", 9, "256 is beyond the range of unsigned char"),
        ("int", "true", 9, "true is no int"),
        ("half", "70000", 9, "70000.0 is beyond the range of half"),
        ("float", "1e300", 9, "1e300 is beyond the range of float"),
        ("float", "[1, 2, 3]", 9, "`value` has 3 numbers, and takes 4, or one number for all"),
        ("float", "[]", 9, "`value` has 0 numbers, and takes 4"),
        ("float2", "[1, 2, 3, 4]", 9, "`value` has 4 numbers, and takes 8: 4 float2"),
        (
            "float2",
            "[[1, 2, 3, 4], [1, 2, 3, 4]]",
            9,
            "innermost lists have 4 numbers, and float2 has 2",
        ),
        ("float", "[[1, 2], [3]]", 18, "this list is not as long as those before it"),
        ("float", "[1, [2], 3, 4]", 9, "there are both numbers and lists in this list"),
        ("float", "[1, 2, 3, \"m\"]", 20, "there is no constant `m`"),
        ("float", "{ a = 1 }", 9, "must be a number"),
        ("float", "1\nfile = \"a.npy\"", 9, "`file` and `value` exclude each other"),
        ("float", "1\ndtype = \"int8\"", 0, "`dtype` needs `file` beside it"),
    ] {
        let manifest = format!("[array.a]\ntype = \"{element}\"\ncount = 4\nvalue = {value}");
        let all = Folder::new().told(&scene(&manifest, ""));
        let at = if column == 0 { String::new() } else { format!("scene.cu:5:{column}: ") };
        assert!(
            all.len() == 1 && all[0].starts_with(&at) && all[0].contains(told),
            "{value}: {all:#?}"
        );
    }
    let texture = "[texture.a]\nformat = \"r32f\"\nsize = [2, 2]\nvalue = 1";
    let all = Folder::new().told(&scene(texture, ""));
    assert!(all[0].contains("[texture.a] has no key `value`"), "{all:#?}");
}

#[test]
fn random_numbers_lie_in_their_range_and_are_the_same_each_time() {
    on_each_device(|device| {
        let manifest = "
[array.places]
type = \"float2\"
count = 5000
random = [-1, 3]
double = true
[array.others]
type = \"float2\"
count = 5000
random = [-1, 3]
[array.dice]
type = \"int\"
count = 6000
random = [1, 6]
[buffer.bodies]
type = \"Body\"
count = 3000
random = [0, 1]
[variable.table]
type = \"float\"
random = [2.0, 4.0]
";
        let code =
            "__constant__ float table[256]; struct Body { double mass; char tag; float at[3]; };
__global__ void use(float *sum) { sum[0] = table[threadIdx.x]; }";
        let manifest = format!(
            "{manifest}[array.sum]\ntype = 'float'\ncount = 1\n[[pass]]\nkernel = 'use'\ngrid = 1\nblock = 1\n"
        );
        let text = scene(&manifest, code);
        let begun = || Folder::new().begun(device, &text);
        let (mut session, mut other) = (begun(), begun());
        for name in ["places", "dice", "bodies"] {
            assert_eq!(session.read(name).unwrap(), other.read(name).unwrap(), "{name}");
        }
        let places: Vec<f32> = read(&mut session, "places");
        assert!(places.iter().all(|x| (-1.0..=3.0).contains(x)));
        let mean = places.iter().map(|x| f64::from(*x)).sum::<f64>() / 10_000.0;
        // The deviation of the mean is 4 / sqrt(12 * 10000) = 0.012.
        assert!((mean - 1.0).abs() < 0.06, "{mean}");
        let others: Vec<f32> = read(&mut session, "others");
        assert_ne!(places, others);
        let dice: Vec<i32> = read(&mut session, "dice");
        assert!((1..=6).all(|face| dice.iter().filter(|x| **x == face).count() > 800), "{dice:?}");
        session.run_steps(1, |_| {}).unwrap();
        session.measure().unwrap();
        let bodies = session.snapshot().resources.into_iter().find(|r| r.name == "bodies").unwrap();
        for (name, one) in bodies.names.iter().zip(&bodies.components) {
            assert!(one.min >= 0.0 && one.max <= 1.0 && one.min < one.max, "{name}: {one:?}");
        }
        assert!((2.0..=4.0).contains(&read::<f32>(&mut session, "sum")[0]));
    });
}

#[test]
fn random_numbers_that_cannot_be_are_told() {
    for (element, more, told) in [
        ("float", "random = [1, 0]", "`random` starts at 1, behind its end 0"),
        ("float", "random = [1]", "`random` must have 2 numbers, not 1"),
        ("bool", "random = [0, 1]", "whole and floating-point numbers, and a bool is neither"),
        ("int", "random = [0.2, 0.8]", "there is no int between 0.2 and 0.8"),
        ("unsigned", "random = [-1, 8]", "-1 is beyond the range of unsigned"),
        ("half", "random = [0, 1e6]", "1000000.0 is beyond the range of half"),
        ("float", "value = 1\nrandom = [0, 1]", "`value` and `random` exclude each other"),
    ] {
        let manifest = format!("[array.a]\ntype = '{element}'\ncount = 8\n{more}\n");
        let said = Folder::new().told(&scene(&manifest, ""));
        assert!(said.len() == 1 && said[0].contains(told), "{said:#?}, not {told}");
    }
    let fields = "[array.a]\ntype = 'Pair'\ncount = 8\nrandom = [0.2, 0.8]\n";
    let said = Folder::new().told(&scene(fields, "struct Pair { float of; int with; };"));
    assert!(
        said.len() == 1 && said[0].contains("there is no int between 0.2 and 0.8"),
        "{said:#?}"
    );
    let large = "[array.a]\ntype = 'float4'\ncount = 300000000\nrandom = [0, 1]\n";
    let said = Folder::new().told(&scene(large, ""));
    let [of_random, of_all] = ["4294967296 bytes at most", "half of this machine's memory"];
    assert!(said[0].contains(of_random) || said[0].contains(of_all), "{said:#?}");
}
