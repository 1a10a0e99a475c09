//! Graphs and dynamic programming.

use super::{noise, on_each, sorting::with_noise, unit};

/// Rodinia's way: two kernels a level, and a flag that the host looks at.
#[test]
fn a_breadth_first_search() {
    let source = "/*---
[constant]
nodes = 3000
degree = 3
[array.edges]
type = 'int'
count = 'nodes * degree'
[array.cost]
type = 'int'
count = 'nodes'
[array.frontier]
type = 'int'
count = 'nodes'
[array.updating]
type = 'int'
count = 'nodes'
[array.over]
type = 'int'
count = 1
[[pass]]
kernel = 'build'
on = 'reset'
over = 'nodes'
[[pass]]
repeat = 'nodes'
until = '!over[0]'
clear = 'over'
[[pass.pass]]
kernel = 'expand'
over = 'nodes'
[[pass.pass]]
kernel = 'advance'
over = 'nodes'
---*/
__global__ void build(int *edges, int *cost, int *frontier) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nodes) return;
    cost[i] = i == 0 ? 0 : -1;
    frontier[i] = i == 0;
    edges[3 * i] = (i + 1) % nodes;
    edges[3 * i + 1] = noise(2 * i) % 8 ? i : noise(3 * i) % nodes;
    edges[3 * i + 2] = i / 2;
}
__global__ void expand(const int *edges, int *cost, int *frontier, int *updating) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nodes || !frontier[i]) return;
    frontier[i] = 0;
    for (int e = 0; e < degree; ++e) {
        int to = edges[i * degree + e];
        if (cost[to] < 0) updating[to] = cost[i] + 1;
    }
}
__global__ void advance(int *cost, int *frontier, int *updating, int *over) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nodes || !updating[i]) return;
    if (cost[i] < 0) { cost[i] = updating[i]; frontier[i] = 1; *over = 1; }
    updating[i] = 0;
}
";
    let nodes = 3000_u32;
    let edges = |i: u32| {
        let long = if noise(2 * i).is_multiple_of(8) { noise(3 * i) % nodes } else { i };
        [(i + 1) % nodes, long, i / 2]
    };
    let mut cost = vec![-1; nodes as usize];
    cost[0] = 0;
    let mut queue = std::collections::VecDeque::from([0_u32]);
    while let Some(from) = queue.pop_front() {
        for to in edges(from) {
            if cost[to as usize] < 0 {
                cost[to as usize] = cost[from as usize] + 1;
                queue.push_back(to);
            }
        }
    }
    assert!(cost.iter().max().is_some_and(|most| *most > 5), "several levels");
    on_each(&with_noise(source), |program| assert_eq!(program.read::<i32>("cost"), cost));
}

/// A launch for each vertex that paths may lead over.
#[test]
fn all_shortest_paths() {
    let source = "/*---
[constant]
n = 60
[array.distance]
type = 'float'
count = 'n * n'
[[pass]]
kernel = 'build'
on = 'reset'
over = ['n', 'n']
[[pass]]
kernel = 'relax'
over = ['n', 'n']
repeat = 'n'
args = { k = 'round', d = 'distance' }
---*/
__global__ void build(float *distance) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) distance[y * n + x] = x == y ? 0.0f : 1.0f + 100.0f * unit(y * n + x);
}
__global__ void relax(float *d, int k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) d[y * n + x] = fminf(d[y * n + x], d[y * n + k] + d[k * n + x]);
}
";
    let n = 60;
    let mut distance: Vec<f32> = (0..n * n)
        .map(|i| if i / n == i % n { 0.0 } else { 1.0 + 100.0 * unit(i as u32) })
        .collect();
    for k in 0..n {
        for y in 0..n {
            for x in 0..n {
                let over = distance[y * n + k] + distance[k * n + x];
                distance[y * n + x] = distance[y * n + x].min(over);
            }
        }
    }
    // The same additions in the same order. A product and a sum may be one operation on the device when it builds.
    on_each(&with_noise(source), |program| {
        for (found, expected) in program.read::<f32>("distance").iter().zip(&distance) {
            assert!((found - expected).abs() <= 1e-4, "{found} and {expected}");
        }
    });
}

/// The diagonals of the table one after the other, first those that grow, then those that shrink.
#[test]
fn an_alignment_by_diagonals() {
    let source = "/*---
[constant]
n = 200
[array.score]
type = 'int'
count = '(n + 1) * (n + 1)'
[[pass]]
kernel = 'border'
on = 'reset'
over = 'n + 1'
[[pass]]
kernel = 'diagonal'
over = 'round < n ? round + 1 : 2 * n - 1 - round'
repeat = '2 * n - 1'
args = { d = 'round', first = 'max(0, round - n + 1)', length = 'min(round, 2 * n - 2 - round) + 1' }
---*/
__global__ void border(int *score) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n) return;
    score[i] = -2 * i;
    score[i * (n + 1)] = -2 * i;
}
__global__ void diagonal(int *score, int d, int first, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length) return;
    int y = first + i, x = d - y;
    int same = noise(x) % 4 == noise(y + 1000) % 4 ? 3 : -1;
    int *at = score + (y + 1) * (n + 1) + x + 1;
    *at = max(at[-(n + 1) - 1] + same, max(at[-1], at[-(n + 1)]) - 2);
}
";
    let n = 200_usize;
    let mut score = vec![0; (n + 1) * (n + 1)];
    for i in 0..=n {
        score[i] = -2 * i as i32;
        score[i * (n + 1)] = -2 * i as i32;
    }
    for y in 0..n {
        for x in 0..n {
            let same = if noise(x as u32) % 4 == noise(y as u32 + 1000) % 4 { 3 } else { -1 };
            let at = (y + 1) * (n + 1) + x + 1;
            let gap = score[at - 1].max(score[at - n - 1]) - 2;
            score[at] = (score[at - n - 2] + same).max(gap);
        }
    }
    on_each(&with_noise(source), |program| assert_eq!(program.read::<i32>("score"), score));
}

/// Labels go to neighbours until none changes; a label is the least vertex of its component.
#[test]
fn connected_components() {
    let source = "/*---
[constant]
side = 64
[array.label]
type = 'int'
count = 'side * side'
[array.changed]
type = 'int'
count = 1
[[pass]]
kernel = 'start'
on = 'reset'
over = 'label'
[[pass]]
repeat = 10000
until = 'changed[0] == 0'
clear = ['changed']
kernel = 'spread'
over = ['side', 'side']
block = [16, 16]
---*/
__device__ bool solid(int x, int y) { return noise(y * side + x) % 5 < 3; }
__global__ void start(int *label) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < side * side) label[i] = solid(i % side, i / side) ? i : -1;
}
__global__ void spread(int *label, int *changed) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int own = label[y * side + x], least = own;
    if (own < 0) return;
    if (x > 0 && label[y * side + x - 1] >= 0) least = min(least, label[y * side + x - 1]);
    if (x + 1 < side && label[y * side + x + 1] >= 0) least = min(least, label[y * side + x + 1]);
    if (y > 0 && label[(y - 1) * side + x] >= 0) least = min(least, label[(y - 1) * side + x]);
    if (y + 1 < side && label[(y + 1) * side + x] >= 0) least = min(least, label[(y + 1) * side + x]);
    if (least < own) { label[y * side + x] = least; *changed = 1; }
}
";
    let side = 64_usize;
    let solid = |i: usize| noise(i as u32) % 5 < 3;
    let mut label = vec![-1; side * side];
    for start in 0..side * side {
        if !solid(start) || label[start] >= 0 {
            continue;
        }
        let mut open = vec![start];
        label[start] = start as i32;
        while let Some(at) = open.pop() {
            let (x, y) = (at % side, at / side);
            let near = [
                (x > 0).then(|| at - 1),
                (x + 1 < side).then_some(at + 1),
                (y > 0).then(|| at - side),
                (y + 1 < side).then_some(at + side),
            ];
            for to in near.into_iter().flatten().filter(|to| solid(*to)) {
                if label[to] < 0 {
                    label[to] = start as i32;
                    open.push(to);
                }
            }
        }
    }
    on_each(&with_noise(source), |program| assert_eq!(program.read::<i32>("label"), label));
}

/// Points go to the nearest centre, and centres to the middle of their points, until no point changes.
#[test]
fn k_means() {
    let source = "/*---
[constant]
n = 3000
k = 5
[array.point]
type = 'float2'
count = 'n'
[array.centre]
type = 'float2'
count = 'k'
[array.member]
type = 'int'
count = 'n'
[array.moved]
type = 'int'
count = 1
[[pass]]
kernel = 'start'
on = 'reset'
over = 'n'
[[pass]]
repeat = 100
until = 'moved[0] == 0'
[[pass.pass]]
kernel = 'assign'
over = 'n'
[[pass.pass]]
kernel = 'average'
grid = 'k'
block = 1
[[pass.pass]]
kernel = 'settle'
grid = 1
block = 1
---*/
__device__ int moved_now;
__global__ void start(float2 *point, float2 *centre, int *member) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    point[i] = make_float2(unit(2 * i) + i % k, unit(2 * i + 1) + 2 * (i % k));
    member[i] = -1;
    if (i < k) centre[i] = point[i];
}
__global__ void assign(const float2 *point, const float2 *centre, int *member) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = 0;
    float least = INFINITY;
    for (int c = 0; c < k; ++c) {
        float dx = point[i].x - centre[c].x, dy = point[i].y - centre[c].y, d = dx * dx + dy * dy;
        if (d < least) { least = d; best = c; }
    }
    if (member[i] != best) { member[i] = best; moved_now = 1; }
}
__global__ void average(const float2 *point, const int *member, float2 *centre) {
    double x = 0, y = 0;
    int count = 0;
    for (int i = 0; i < n; ++i)
        if (member[i] == blockIdx.x) { x += point[i].x; y += point[i].y; ++count; }
    if (count) centre[blockIdx.x] = make_float2(x / count, y / count);
}
__global__ void settle(int *moved) { *moved = moved_now; moved_now = 0; }
";
    let points: Vec<[f32; 2]> = (0..3000_u32)
        .map(|i| [unit(2 * i) + (i % 5) as f32, unit(2 * i + 1) + 2.0 * (i % 5) as f32])
        .collect();
    on_each(&with_noise(source), |program| {
        let (centres, members) =
            (program.read::<[f32; 2]>("centre"), program.read::<i32>("member"));
        assert_eq!(program.read::<i32>("moved"), [0]);
        // What it has ended at is what neither step changes: no other centre is nearer, and each is a mean.
        for (point, member) in points.iter().zip(&members) {
            let to = |c: &[f32; 2]| (point[0] - c[0]).powi(2) + (point[1] - c[1]).powi(2);
            let least = centres.iter().map(to).fold(f32::INFINITY, f32::min);
            assert!(to(&centres[*member as usize]) <= least * 1.0001);
        }
        for (c, centre) in centres.iter().enumerate() {
            let own = points.iter().zip(&members).filter(|(_, member)| **member == c as i32);
            let (sum, count) = own.fold(([0.0; 2], 0.0), |(sum, count), (point, _)| {
                ([sum[0] + f64::from(point[0]), sum[1] + f64::from(point[1])], count + 1.0)
            });
            for axis in 0..2 {
                let mean = sum[axis] / count;
                assert!((mean - f64::from(centre[axis])).abs() < 1e-5, "{c}: {mean} {centre:?}");
            }
        }
    });
}
