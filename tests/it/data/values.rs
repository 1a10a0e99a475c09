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
