//! What host code does between its launches: it reads numbers, fills and copies memory, and points into arrays.

use super::on_each;

#[test]
fn the_numbers_of_launches_are_what_kernels_wrote() {
    let source = "/*---
[array.sums]
type = 'float'
count = 4
value = 2.0
[array.a]
type = 'float'
count = 4
[array.value]
type = 'float'
count = 1
value = 32.0
[array.counts]
type = 'unsigned'
count = 3
[array.flag]
type = 'bool'
count = 2
value = [true, false]
[[stat]]
name = 'twice'
of = 'sums'
map = '2 * x'
reduce = 'max'
[[pass]]
kernel = 'add'
grid = 1
block = 4
args = { q = 'sums[0] / 4', v = ['sums.mean', 'twice'], n = { many = 'sums_count * flag[0]' } }
[[pass]]
kernel = 'set'
grid = 1
block = 1
args = { n = 3 }
[[pass]]
kernel = 'tick'
repeat = 'counts[0]'
grid = 'counts[0] - 1'
block = 'counts[0]'
[[pass]]
kernel = 'set'
grid = 1
block = 1
only_if = 'counts[0] != 3 || flag[1]'
args = { n = 100 }
[[pass]]
repeat = 5
only_if = 'counts.max == 18'
[[pass.pass]]
kernel = 'put'
grid = 1
block = 1
args = { x = 'value[0] / 2' }
---*/
struct Many { int many; };
__global__ void add(float *a, float q, float2 v, Many n) { a[threadIdx.x] += q + v.x + v.y + n.many; }
__global__ void set(unsigned *counts, unsigned n) { counts[0] = n; }
__global__ void tick(unsigned *counts) { atomicAdd(&counts[1], 1u); }
__global__ void put(float *value, float x) { *value = x; }
";
    on_each(source, |program| {
        assert_eq!(program.read::<f32>("a"), [10.5; 4]);
        assert_eq!(program.read::<u32>("counts"), [3, 18, 0]);
        assert_eq!(program.read::<f32>("value"), [1.0]);
    });
}

/// `do { cudaMemset(changed, 0, 4); swap<<<...>>>(...); } while (changed);`, of two kernels and of one.
#[test]
fn a_loop_sets_its_flag_back() {
    let arrays = "/*---
[array.changed]
type = 'int'
count = 1
[array.rounds]
type = 'int'
count = 1
[array.a]
type = 'int'
count = 8
value = [7, 6, 5, 4, 3, 2, 1, 0]
[[pass]]
repeat = 100
until = 'changed[0] == 0'
";
    let kernels = "---*/
__global__ void swap(int *a, int *changed, int first) {
    int i = 2 * threadIdx.x + first;
    if (i + 1 < 8 && a[i] > a[i + 1]) { int t = a[i]; a[i] = a[i + 1]; a[i + 1] = t; *changed = 1; }
}
__global__ void sort(int *a, int *changed, int *rounds) {
    ++*rounds;
    for (int i = 0; i < 7; ++i)
        if (a[i] > a[i + 1]) { int t = a[i]; a[i] = a[i + 1]; a[i + 1] = t; *changed = 1; }
}
";
    let two = "clear = ['changed']
[[pass.pass]]
kernel = 'swap'
grid = 1
block = 4
args = { first = 0 }
[[pass.pass]]
kernel = 'swap'
grid = 1
block = 4
args = { first = 1 }
";
    let one = "clear = 'changed'\nkernel = 'sort'\ngrid = 1\nblock = 1\n";
    for (passes, rounds) in [(two, 0), (one, 8)] {
        on_each(&format!("{arrays}{passes}{kernels}"), |program| {
            assert_eq!(program.read::<i32>("a"), [0, 1, 2, 3, 4, 5, 6, 7]);
            assert_eq!(program.read::<i32>("changed"), [0]);
            assert_eq!(program.read::<i32>("rounds"), [rounds]);
        });
    }
}

/// `cudaMemcpy(x, y, ..., cudaMemcpyDeviceToDevice)` in a loop: PolyBench's way to take the new values over.
#[test]
fn arrays_are_copied_in_the_order_of_launches() {
    let source = "/*---
[buffer.x]
type = 'float'
count = 4
value = 1
[array.y]
type = 'float'
count = 4
[array.first]
type = 'float'
count = 4
[array.pair]
type = 'float'
count = 4
double = true
[[pass]]
on = 'reset'
copy = { from = 'x', to = 'first' }
[[pass]]
repeat = 3
[[pass.pass]]
kernel = 'twice'
grid = 1
block = 4
[[pass.pass]]
copy = { from = 'y', to = 'x' }
only_if = 'round < 2'
[[pass]]
kernel = 'next'
grid = 1
block = 4
clear = 'pair_next'
[[pass]]
copy = { from = 'pair_next', to = 'y' }
---*/
__global__ void twice(const float *x, float *y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
__global__ void next(const float *pair, float *pair_next) { pair_next[threadIdx.x] += 1 + pair[threadIdx.x]; }
";
    on_each(source, |program| {
        assert_eq!(program.read::<f32>("first"), [1.0; 4]);
        assert_eq!(program.read::<f32>("x"), [4.0; 4]);
        // The halves have changed places after the launch: the next one is what the launch read.
        assert_eq!(program.read::<f32>("y"), [0.0; 4]);
        assert_eq!(program.read::<f32>("pair"), [1.0; 4]);
        let snapshot = program.session.snapshot();
        let names: Vec<&str> = snapshot.passes.iter().map(|pass| pass.name.as_str()).collect();
        assert_eq!(names, ["twice, copy y to x", "next", "copy pair_next to y"]);
        program.run(1);
        assert_eq!(program.read::<f32>("pair"), [2.0; 4]);
    });
}

#[test]
fn pointers_point_into_arrays() {
    let source = "/*---
[constant]
n = 4
[array.all]
type = 'float2'
count = '3 * n'
[array.body]
type = 'Body'
count = 3
[array.at]
type = 'int'
count = 1
value = 2
[[pass]]
kernel = 'add'
grid = 1
block = 4
repeat = 2
args = { a = 'all + (round + 1) * n', body = 'body + at[0]', end = 'all + all_count' }
---*/
struct Body { double mass; int hits; };
__global__ void add(float2 *a, Body *body, const float *end) {
    a[threadIdx.x].y += threadIdx.x + 1;
    if (threadIdx.x == 0) body->hits += end - (const float *)a;
}
";
    on_each(source, |program| {
        let zero = [0.0_f32; 8];
        let one = [0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0];
        assert_eq!(program.read::<f32>("all"), [zero, one, one].concat());
        let hits = program.read::<i32>("body").chunks(4).map(|body| body[2]).collect::<Vec<_>>();
        assert_eq!(hits, [0, 0, 16 + 8]);
    });
}

#[test]
fn blocks_of_a_cooperative_launch_wait_for_one_another() {
    let source = "/*---
[array.a]
type = 'int'
count = 64
[[pass]]
kernel = 'k'
grid = 2
block = 32
cooperative = true
---*/
#include <cooperative_groups.h>
__global__ void k(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i;
    cooperative_groups::this_grid().sync();
    int other = a[63 - i];
    cooperative_groups::this_grid().sync();
    a[i] += other;
}
";
    on_each(source, |program| assert_eq!(program.read::<i32>("a"), [63; 64]));
}
