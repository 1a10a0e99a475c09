//! The short texts by which it was once shown what kernels from elsewhere are stopped by, as they stood: each with its
//! number, and what is to come of it now.

use warpaint::device::Device;

use super::{runs_of, told};
use crate::support::Workplace;

macro_rules! texts {
    ($($name:literal: $expected:expr,)*) => {
        &[$(($name, include_str!(concat!("../../foreign/", $name, ".cu")), $expected)),*]
    };
}

/// What the CPU device tells of each: these sentences, at these places; nothing but warnings where there are none. The
/// kernels of 4, 19 and 22 do not look at their index, and the block has more threads than the array elements.
const REPRODUCERS: &[(&str, &str, &[&str])] = texts! {
    "01_nvrtc_segv": &["12:36: error: identifier \"half\" is undefined"],
    "01b_typo_segv": &["9:36: error: identifier \"flaot\" is undefined"],
    "02_cuda_h": &[],
    "03_host_ctor": &[],
    "04_uint": &["11:17: fault: kernel `k`: write outside", "`a[64]`, which has 64 elements"],
    "05_infinity": &[],
    "06_bool_array": &[],
    "07_bool_as_uchar": &[],
    "08_typedef_scalar": &[],
    "09_struct_by_value": &["8:10: error: `p` is a `Params`: `args` gives it its fields by their names"],
    "10_vector_by_value": &["11:34: error: `d` is an int parameter, but the kernel takes `int2`", "`args`"],
    "11_vector_array_param": &["6:9: error: `value` must be a number, not an array", "args = { v = [\"x\", \"y\"] }"],
    "12_reserved_names": &[
        "5:8: error: the resource `keys` cannot have that name",
        "8:8: error: the parameter `seed` cannot have that name",
        "10:8: error: the parameter `step` cannot have that name",
        "the pass's `args` give it to a parameter of this one",
    ],
    "12b_time_conflict": &["9:37: error: `time` is the time in seconds, but the kernel takes `double *`", "`args`"],
    "13_overloads": &[],
    "14_ifdef_in_params": &[],
    "14b_ifdef_two_variants": &[],
    "15_macro_bounds": &[],
    "16_compound_literal": &["9:47: error: expected an expression; a limit of NVRTC: a compound literal"],
    "17_curand": &[],
    "18_std": &[],
    "19_cub": &["10:17: fault: kernel `k`: read outside", "`a[64]`, which has 64 elements"],
    "19b_main": &[],
    "21_uint64_c": &[],
    "22_host_const_table": &["10:17: fault: kernel `k`: read outside", "byte 16 of `table`, which has 16 bytes"],
    "23_bf16_array": &[],
    "24_count_clash": &["5:8: error: the resource `item_count` has a name", "derived from `item`", "`args`"],
    "26_warp_synchronous": &[],
    "27_fault_msg": &["13:17: fault: kernel `k`: write outside", "`a[1000]`, which has 32 elements"],
    "28_wmma": &[],
    "29_extern_shared": &["10:17: fault: kernel `k`: write outside", "no `shared = BYTES`"],
    "30_null": &["10:17: fault: kernel `k`: write outside", "through a null pointer"],
    "32_block_too_large": &["6:10: error: kernel `k`: 256 threads in a block, where at most 128 are allowed", "__launch_bounds__"],
};

#[test]
fn each_does_what_is_expected() {
    let device = Device::cpu().unwrap();
    for (name, source, due) in REPRODUCERS {
        let told = told(&device, source);
        let is_told = |part: &&str| told.iter().any(|text| text.contains(part));
        let is_harmless = |text: &String| text.contains(": warning: ") || text.contains(": note: ");
        let is_right = due.iter().all(is_told) && (!due.is_empty() || told.iter().all(is_harmless));
        assert!(is_right, "{name}: {told:#?}");
    }
}

/// What it measures is what it computes: the last but one pass sets every element, the last adds to sixteen.
#[test]
fn the_20th_times_launches_that_compute() {
    let n = 1 << 20;
    let due = |i: u32| (i + i / (n - 7)) as f32 + if i < 16 { (n / 16) as f32 } else { 0.0 };
    let bytes: Vec<u8> = (0..n).map(due).flat_map(f32::to_le_bytes).collect();
    runs_of(include_str!("../../foreign/20_microbench.cu"), &bytes);
}

/// It is no mistake of the kernel: who launches it asks for what it excludes.
#[test]
fn the_31st_and_the_32nd_end_with_codes_of_their_own() {
    let place = Workplace::new();
    place.file("31.cu", include_str!("../../foreign/31_timeout.cu"));
    let stopped = place.run(&["render", "31.cu", "--device", "cpu", "--step-timeout", "1"]);
    stopped.expect(
        4,
        &["31.cu:10:17: fault", "stopped after 1 s (the limit; `--step-timeout` raises it)"],
    );
    place.file("32.cu", include_str!("../../foreign/32_block_too_large.cu"));
    for command in ["render", "check"] {
        let refused = place.run(&[command, "32.cu", "--device", "cpu"]);
        refused.expect(2, &["32.cu:6:10: error", "__launch_bounds__"]);
    }
    place.file(
        "both.cu",
        &include_str!("../../foreign/32_block_too_large.cu").replace("{ a", "{ b = 1; a"),
    );
    place.run(&["render", "both.cu", "--device", "cpu"]).expect(1, &["\"b\" is undefined"]);
}
