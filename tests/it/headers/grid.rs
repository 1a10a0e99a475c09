//! Sorting by cell and neighbours, against all pairs; sums of what comes before.

use super::{contexts, numbers, run};

#[test]
fn sums_of_what_comes_before() {
    for context in contexts() {
        // Less than a chunk, whole chunks, and more of them than a block has threads.
        for n in [1_usize, 2047, 2048, 2049, 6144, 600_000] {
            let source = format!(
                "#include <warpaint/scan.cuh>
                __global__ void totals(const int *count, int *total, int *) {{ warpaint::sum_chunk(count, {n}, total); }}
                __global__ void starts(const int *count, int *total, int *start) {{
                    warpaint::scan_chunk(count, {n}, total, start);
                }}"
            );
            let chunks = n.div_ceil(2048);
            let count: Vec<i32> = numbers(n, 3).iter().map(|x| (x.abs() * 5.0) as i32).collect();
            let total = vec![0; chunks];
            let kernels = [("totals", chunks as u32, 256), ("starts", chunks as u32, 256)];
            let found: Vec<i32> = run(&context, &source, &kernels, &[&count, &total], n + 1);
            let mut sum = 0;
            let starts = count.iter().map(|count| {
                sum += count;
                sum
            });
            let expected: Vec<i32> = std::iter::once(0).chain(starts).collect();
            assert_eq!(found, expected, "n {n}");
        }
    }
}

/// Sorts points as the head of grid.cuh says, and counts each one's neighbours.
const NEAR: &str = "#include <warpaint/grid.cuh>
using namespace warpaint;
const int n = 3000, cells = 7 * 6 * 5;
__device__ int count[cells], total[1], start[cells + 1], list[n], place[n];
__device__ int2 where[n];
__device__ float3 sorted[n];
__device__ int number[n];
__device__ Grid grid() { return Grid(make_float3(-0.7f, -0.9f, -1.0f), make_float3(0.7f, 0.9f, 1.0f), make_int3(7, 6, 5)); }
__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ float3 point(const float *p, int i) { return make_float3(p[3 * i], p[3 * i + 1], p[3 * i + 2]); }
__global__ void enters(const float *p, int *out) { if (thread() < n) where[thread()] = enter(count, grid().cell(point(p, thread()))); }
__global__ void totals(const float *p, int *out) { sum_chunk(count, cells, total); }
__global__ void starts(const float *p, int *out) { scan_chunk(count, cells, total, start); }
__global__ void enlists(const float *p, int *out)
{
    int i = thread();
    if (i < n) list[start[where[i].x] + where[i].y] = i;
}
__global__ void arranges(const float *p, int *out)
{
    int i = thread();
    if (i >= n) return;
    place[i] = place_of(i, where[i], start, list);
    sorted[place[i]] = point(p, i);
    number[place[i]] = i;
}
__global__ void counts(const float *p, int *out)
{
    int i = thread();
    if (i >= n) return;
    int near = 0, last = -1;
    bool ordered = true;
    grid().near(start, point(p, i), [&](int j) {
        float3 way = sorted[j] - point(p, i);
        near += dot(way, way) < 0.04f;
        ordered = ordered && j > last;
        last = j;
    });
    out[2 * i] = near;
    // Sorted by cell, and by number within a cell.
    int k = place[i];
    bool before = k == 0 || where[number[k - 1]].x < where[i].x || (where[number[k - 1]].x == where[i].x && number[k - 1] < i);
    out[2 * i + 1] = ordered && before;
}";

#[test]
fn all_that_are_near_are_found() {
    let n = 3000;
    // Some outside of the box.
    let points = numbers(3 * n, 11);
    let near = |a: &[f32], b: &[f32]| {
        let way = [0, 1, 2].map(|axis| b[axis] - a[axis]);
        way.iter().map(|d| d * d).sum::<f32>() < 0.04
    };
    let expected: Vec<usize> =
        points.chunks(3).map(|a| points.chunks(3).filter(|b| near(a, b)).count()).collect();
    assert!(expected.iter().sum::<usize>() > 10 * n);
    for context in contexts() {
        let blocks = n.div_ceil(128) as u32;
        let kernels = [
            ("enters", blocks, 128),
            ("totals", 1, 256),
            ("starts", 1, 256),
            ("enlists", blocks, 128),
            ("arranges", blocks, 128),
            ("counts", blocks, 128),
        ];
        let found: Vec<i32> = run(&context, NEAR, &kernels, &[&points], 2 * n);
        for (i, found) in found.chunks(2).enumerate() {
            // Sums of three rounded squares may fall to either side of the bound.
            assert!(found[0].abs_diff(expected[i] as i32) <= 1, "{i}: {found:?}, {}", expected[i]);
            assert_eq!(found[1], 1, "the order around {i}");
        }
    }
}
