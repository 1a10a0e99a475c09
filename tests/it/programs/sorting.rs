//! Sorting and scanning.

use super::{NOISE, noise, on_each, unit};

/// The host launches `bitonic_step` for every pair (k, j).
#[test]
fn a_bitonic_sort() {
    let source = "/*---
[constant]
n = 4096
[array.values]
type = 'unsigned'
count = 'n'
[[pass]]
kernel = 'fill'
on = 'reset'
over = 'values'
[[pass]]                     # for (k = 2; k <= n; k <<= 1)
repeat = 'ilog2(n)'
counter = 'stage'
[[pass.pass]]                # for (j = k >> 1; j > 0; j >>= 1)
kernel = 'bitonic_step'
over = 'n'
repeat = 'stage + 1'
args = { dev_values = 'values', k = '2 << stage', j = '1 << (stage - round)' }
---*/
__global__ void fill(unsigned *values) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = noise(i);
}
__global__ void bitonic_step(unsigned *dev_values, int j, int k)
{
    unsigned i = threadIdx.x + blockDim.x * blockIdx.x, ixj = i ^ j;
    if (ixj > i) {
        bool up = (i & k) == 0;
        if (up ? dev_values[i] > dev_values[ixj] : dev_values[i] < dev_values[ixj]) {
            unsigned swapped = dev_values[i];
            dev_values[i] = dev_values[ixj];
            dev_values[ixj] = swapped;
        }
    }
}
";
    let mut expected: Vec<u32> = (0..4096).map(noise).collect();
    expected.sort_unstable();
    on_each(&with_noise(source), |program| assert_eq!(program.read::<u32>("values"), expected));
}

/// Each pass halves what is left, in place, until one number is.
#[test]
fn a_reduction_in_several_passes() {
    let source = "/*---
[constant]
n = 100000
[array.data]
type = 'float'
count = 'n'
[[pass]]
kernel = 'fill'
on = 'reset'
over = 'data'
[[pass]]
kernel = 'halve'
repeat = 'ilog2(n - 1) + 1'
over = 'ceil_div(n, 2 << round)'
args = { half = 'ceil_div(n, 2 << round)', count = 'ceil_div(n, 1 << round)' }
---*/
__global__ void fill(float *data) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = unit(i);
}
__global__ void halve(float *data, int half, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < half && i + half < count) data[i] += data[i + half];
}
";
    let expected: f64 = (0..100_000).map(|i| f64::from(unit(i))).sum();
    on_each(&with_noise(source), |program| {
        let sum = f64::from(program.read::<f32>("data")[0]);
        // Seventeen roundings of half a unit in the last place.
        let most = expected * 17.0 * f64::from(f32::EPSILON) / 2.0;
        assert!((sum - expected).abs() <= most, "{sum} and {expected}");
    });
}

/// Hillis and Steele's: source and destination change places in each round.
#[test]
fn a_scan_between_two_arrays() {
    let source = "/*---
[constant]
n = 5000
[array.sums]
type = 'int'
count = 'n'
double = true
[[pass]]
kernel = 'fill'
on = 'reset'
over = 'sums'
[[pass]]
kernel = 'scan_step'
repeat = 'ilog2(n - 1) + 1'
over = 'n'
args = { in = 'sums', out = 'sums_next', offset = '1 << round', length = 'n' }
---*/
__global__ void fill(int *sums) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sums[i] = noise(i) % 100;
}
__global__ void scan_step(const int *in, int *out, int offset, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) out[i] = i >= offset ? in[i] + in[i - offset] : in[i];
}
";
    let expected: Vec<i32> = (0..5000)
        .scan(0, |sum, i| {
            *sum += (noise(i) % 100) as i32;
            Some(*sum)
        })
        .collect();
    on_each(&with_noise(source), |program| assert_eq!(program.read::<i32>("sums"), expected));
}

/// Blelloch's, up and down a tree in place; the strides follow the rounds of two loops.
#[test]
fn a_scan_up_and_down_a_tree() {
    let source = "/*---
[constant]
n = 2048
[array.data]
type = 'int'
count = 'n'
[[pass]]
kernel = 'fill'
on = 'reset'
over = 'data'
[[pass]]
kernel = 'up'
repeat = 'ilog2(n)'
over = 'n >> (round + 1)'
args = { stride = '1 << round', length = 'n' }
[[pass]]
kernel = 'clear_last'
grid = 1
block = 1
args = { length = 'n' }
[[pass]]
kernel = 'down'
repeat = 'ilog2(n)'
over = '1 << round'
args = { stride = 'n >> (round + 1)', length = 'n' }
---*/
__global__ void fill(int *data) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = noise(i) % 100;
}
__global__ void up(int *data, int stride, int length) {
    int right = (blockIdx.x * blockDim.x + threadIdx.x + 1) * 2 * stride - 1;
    if (right < length) data[right] += data[right - stride];
}
__global__ void clear_last(int *data, int length) { data[length - 1] = 0; }
__global__ void down(int *data, int stride, int length) {
    int right = (blockIdx.x * blockDim.x + threadIdx.x + 1) * 2 * stride - 1;
    if (right >= length) return;
    int left = data[right - stride];
    data[right - stride] = data[right];
    data[right] += left;
}
";
    let expected: Vec<i32> = (0..2048)
        .scan(0, |sum, i| {
            let before = *sum;
            *sum += (noise(i) % 100) as i32;
            Some(before)
        })
        .collect();
    on_each(&with_noise(source), |program| assert_eq!(program.read::<i32>("data"), expected));
}

/// Odd-even transposition: as many rounds as there are numbers, or until nothing was exchanged in two of them.
#[test]
fn a_sort_that_ends_when_nothing_changes() {
    let source = "/*---
[constant]
n = 300
[array.data]
type = 'int'
count = 'n'
[array.exchanged]
type = 'int'
count = 1
[array.rounds]
type = 'int'
count = 1
[[pass]]
kernel = 'fill'
on = 'reset'
over = 'data'
[[pass]]
repeat = 'n'
until = 'exchanged[0] == 0'
[[pass.pass]]
kernel = 'clear_flag'
grid = 1
block = 1
[[pass.pass]]
kernel = 'exchange'
repeat = 2
over = 'n / 2'
args = { parity = 'round', length = 'n' }
---*/
__global__ void fill(int *data) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = i < 20 ? 20 - i : i;
}
__global__ void clear_flag(int *exchanged, int *rounds) { *exchanged = 0; ++*rounds; }
__global__ void exchange(int *data, int *exchanged, int parity, int length) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + parity;
    if (i + 1 >= length || data[i] <= data[i + 1]) return;
    int left = data[i];
    data[i] = data[i + 1];
    data[i + 1] = left;
    *exchanged = 1;
}
";
    on_each(&with_noise(source), |program| {
        assert!(program.read::<i32>("data").is_sorted());
        // Twenty in the wrong order need ten rounds of two, and one more that sees it; far below 300.
        assert_eq!(program.read::<i32>("rounds"), [11]);
    });
}

/// The source with [`NOISE`] behind its manifest.
pub(super) fn with_noise(source: &str) -> String {
    source.replacen("---*/", &format!("---*/{NOISE}"), 1)
}
