//! Linear algebra and differential equations.

use ndarray::{Array1, Array2};

use super::{Program, devices, noise, on_each, sorting::with_noise, unit};

/// Sweeps between two arrays until a statistic is small, which is looked at behind every tenth.
#[test]
fn jacobi_with_a_stopping_rule() {
    let source = "/*---
[constant]
side = 24
[array.u]
type = 'double'
count = 'side * side'
double = true
[array.change]
type = 'double'
count = 'side * side'
[array.rounds]
type = 'int'
count = 1
[[pass]]
kernel = 'start'
on = 'reset'
over = 'u'
[[pass]]
kernel = 'sweep'
over = ['side', 'side']
repeat = 5000
until = 'change.max < 1e-9'
every = 10
---*/
__global__ void start(double *u, double *u_next) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= side * side) return;
    u[i] = i < side ? 1.0 : 0.0;
    u_next[i] = u[i];
}
__global__ void sweep(const double *u, double *u_next, double *change, int *rounds) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 && y == 0) ++*rounds;
    if (x >= side || y >= side) return;
    int i = y * side + x;
    bool inner = x > 0 && y > 0 && x < side - 1 && y < side - 1;
    u_next[i] = inner ? 0.25 * (u[i - 1] + u[i + 1] + u[i - side] + u[i + side]) : u[i];
    change[i] = fabs(u_next[i] - u[i]);
}
";
    let side = 24;
    let mut u: Vec<f64> = (0..side * side).map(|i| f64::from(u8::from(i < side))).collect();
    let mut rounds = 0;
    loop {
        let before = u.clone();
        for y in 1..side - 1 {
            for x in 1..side - 1 {
                let i = y * side + x;
                let sum = before[i - 1] + before[i + 1] + before[i - side] + before[i + side];
                u[i] = 0.25 * sum;
            }
        }
        rounds += 1;
        let change = u.iter().zip(&before).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if rounds % 10 == 0 && change < 1e-9 {
            break;
        }
    }
    assert!(rounds > 100 && rounds < 5000);
    for device in devices() {
        let mut program = Program::open(&device, source);
        program.run(1);
        assert_eq!(program.read::<i32>("rounds"), [rounds]);
        // The same operations in the same order, in the same precision.
        assert_eq!(program.read::<f64>("u"), u);
    }
}

/// A system that is symmetric and positive definite; all numbers stay on the device.
#[test]
fn conjugate_gradients() {
    let source = "/*---
[constant]
n = 400
[array.x]
type = 'double'
count = 'n'
[array.r]
type = 'double'
count = 'n'
[array.p]
type = 'double'
count = 'n'
[array.ap]
type = 'double'
count = 'n'
[array.scalars]
type = 'double'
count = 3
[[stat]]
name = 'residual'
of = 'r'
map = 'x * x'
reduce = 'sum'
[[pass]]
kernel = 'start'
on = 'reset'
over = 'n'
[[pass]]
kernel = 'dot'
on = 'reset'
grid = 1
block = 256
args = { a = 'r', b = 'r', to = 0 }
[[pass]]
repeat = 'n'
until = 'residual < 1e-18'
[[pass.pass]]
kernel = 'multiply'
over = 'n'
[[pass.pass]]
kernel = 'dot'
grid = 1
block = 256
args = { a = 'p', b = 'ap', to = 1 }
[[pass.pass]]
kernel = 'step_along'
over = 'n'
[[pass.pass]]
kernel = 'dot'
grid = 1
block = 256
args = { a = 'r', b = 'r', to = 2 }
[[pass.pass]]
kernel = 'turn'
over = 'n'
[[pass.pass]]
kernel = 'shift'
grid = 1
block = 1
---*/
__device__ double matrix(int row, int column) {
    return row == column ? 4.0 : abs(row - column) == 1 || abs(row - column) == 20 ? -1.0 : 0.0;
}
__global__ void start(double *x, double *r, double *p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    x[i] = 0.0;
    r[i] = p[i] = unit(i);
}
__global__ void dot(const double *a, const double *b, double *scalars, int to) {
    __shared__ double part[256];
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += 256) sum += a[i] * b[i];
    part[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) scalars[to] = part[0];
}
__global__ void multiply(const double *p, double *ap) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += matrix(i, j) * p[j];
    ap[i] = sum;
}
__global__ void step_along(double *x, double *r, const double *p, const double *ap, const double *scalars) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double alpha = scalars[0] / scalars[1];
    x[i] += alpha * p[i];
    r[i] -= alpha * ap[i];
}
__global__ void turn(double *p, const double *r, const double *scalars) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = r[i] + scalars[2] / scalars[0] * p[i];
}
__global__ void shift(double *scalars) { scalars[0] = scalars[2]; }
";
    let n = 400;
    let matrix = Array2::from_shape_fn((n, n), |(row, column)| match row.abs_diff(column) {
        0 => 4.0,
        1 | 20 => -1.0,
        _ => 0.0,
    });
    let right = Array1::from_shape_fn(n, |i| f64::from(unit(i as u32)));
    on_each(&with_noise(source), |program| {
        let x = Array1::from(program.read::<f64>("x"));
        let left = (matrix.dot(&x) - &right).mapv(|r| r * r).sum();
        // What the loop was to reach, and what rounding adds to it.
        assert!(left < 2e-18, "{left}");
        assert!(program.read::<f64>("r").iter().map(|r| r * r).sum::<f64>() < 1e-18);
    });
}

/// Two launches for each column of the matrix, over what is left of it.
#[test]
fn an_lu_decomposition() {
    let source = "/*---
[constant]
n = 48
[array.a]
type = 'double'
count = 'n * n'
[[pass]]
kernel = 'fill'
on = 'reset'
over = 'a'
[[pass]]
repeat = 'n - 1'
counter = 'k'
[[pass.pass]]
kernel = 'scale'
over = 'n - 1 - k'
args = { column = 'k' }
[[pass.pass]]
kernel = 'update'
over = ['n - 1 - k', 'n - 1 - k']
args = { pivot = 'k', left = 'n - 1 - k' }
---*/
__global__ void fill(double *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * n) a[i] = (double)unit(i) + (i / n == i % n ? n : 0);
}
__global__ void scale(double *a, int column) {
    int row = column + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) a[row * n + column] /= a[column * n + column];
}
__global__ void update(double *a, int pivot, int left) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= left || y >= left) return;
    int row = pivot + 1 + y, column = pivot + 1 + x;
    a[row * n + column] -= a[row * n + pivot] * a[pivot * n + column];
}
";
    let n = 48;
    let original = Array2::from_shape_fn((n, n), |(row, column)| {
        let diagonal = if row == column { n as f64 } else { 0.0 };
        f64::from(unit((row * n + column) as u32)) + diagonal
    });
    on_each(&with_noise(source), |program| {
        let both = Array2::from_shape_vec((n, n), program.read::<f64>("a")).unwrap();
        let lower = Array2::from_shape_fn((n, n), |(row, column)| match row.cmp(&column) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => both[(row, column)],
        });
        let upper =
            Array2::from_shape_fn(
                (n, n),
                |(row, column)| {
                    if row <= column { both[(row, column)] } else { 0.0 }
                },
            );
        let worst = (lower.dot(&upper) - &original).mapv(f64::abs).fold(0.0_f64, |a, b| a.max(*b));
        // Dominated by its diagonal, so that no step grows: n roundings of numbers up to n.
        assert!(worst < n as f64 * n as f64 * f64::EPSILON, "{worst}");
    });
}

/// Two fields in turns, each from the other's differences; a source that swings with the step.
#[test]
fn finite_differences_in_time() {
    let source = "/*---
dt = 0.5
[constant]
cells = 200
[array.ez]
type = 'double'
count = 'cells'
[array.hy]
type = 'double'
count = 'cells'
[[pass]]
repeat = 100
[[pass.pass]]
kernel = 'update_h'
over = 'cells'
[[pass.pass]]
kernel = 'update_e'
over = 'cells'
args = { source = 'sin(0.1 * (100 * step + round))', at = 'cells / 2' }
---*/
__global__ void update_h(const double *ez, double *hy) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cells - 1) hy[i] += 0.5 * (ez[i + 1] - ez[i]);
}
__global__ void update_e(double *ez, const double *hy, double source, int at) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < cells) ez[i] += 0.5 * (hy[i] - hy[i - 1]);
    if (i == at) ez[i] = source;
}
";
    let (mut ez, mut hy) = (vec![0.0_f64; 200], vec![0.0_f64; 200]);
    for time in 0..200 {
        for i in 0..199 {
            hy[i] += 0.5 * (ez[i + 1] - ez[i]);
        }
        for i in 1..200 {
            ez[i] += 0.5 * (hy[i] - hy[i - 1]);
        }
        ez[100] = (0.1 * f64::from(time)).sin();
    }
    for device in devices() {
        let mut program = Program::open(&device, source);
        program.run(2);
        for (found, expected) in program.read::<f64>("ez").iter().zip(&ez) {
            // Products by a half are exact, so that it does not matter where they are fused with sums.
            assert!((found - expected).abs() < 1e-12, "{found} and {expected}");
        }
    }
}

/// A V-cycle of three levels: the same kernels with the sizes and places of each level, down and up again.
#[test]
fn a_multigrid_cycle() {
    let source = "/*---
[constant]
n = 64
levels = 4
[array.u]
type = 'double'
count = '2 * n + levels'
[array.f]
type = 'double'
count = '2 * n + levels'
[array.r]
type = 'double'
count = '2 * n + levels'
[[pass]]
kernel = 'start'
on = 'reset'
over = 'n + 1'
[[pass]]
repeat = 12
[[pass.pass]]
repeat = 'levels - 1'
counter = 'down'
[[pass.pass.pass]]
kernel = 'smooth'
repeat = 4
over = '(n >> down) + 1'
args = { at = '2 * n - (2 * n >> down) + down', size = 'n >> down', colour = 'round % 2' }
[[pass.pass.pass]]
kernel = 'restrict_residual'
over = '(n >> (down + 1)) + 1'
args = { at = '2 * n - (2 * n >> down) + down', coarse = '2 * n - (n >> down) + down + 1', size = 'n >> down' }
[[pass.pass]]
kernel = 'smooth'
repeat = 200
over = '(n >> (levels - 1)) + 1'
args = { at = '2 * n - (2 * n >> (levels - 1)) + levels - 1', size = 'n >> (levels - 1)', colour = 'round % 2' }
[[pass.pass]]
repeat = 'levels - 1'
counter = 'up'
[[pass.pass.pass]]
kernel = 'prolong'
over = '(n >> (levels - 2 - up)) + 1'
args = { at = '2 * n - (2 * n >> (levels - 2 - up)) + levels - 2 - up', coarse = '2 * n - (n >> (levels - 2 - up)) + levels - 1 - up', size = 'n >> (levels - 2 - up)' }
[[pass.pass.pass]]
kernel = 'smooth'
repeat = 4
over = '(n >> (levels - 2 - up)) + 1'
args = { at = '2 * n - (2 * n >> (levels - 2 - up)) + levels - 2 - up', size = 'n >> (levels - 2 - up)', colour = 'round % 2' }
---*/
__global__ void start(double *f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) f[i] = unit(i);
}
__global__ void smooth(double *u, const double *f, int at, int size, int colour) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double h = 1.0 / size;
    if (i > 0 && i < size && i % 2 == colour) u[at + i] = 0.5 * (u[at + i - 1] + u[at + i + 1] + h * h * f[at + i]);
}
__global__ void restrict_residual(double *u, double *f, int at, int coarse, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > size / 2) return;
    double h = 1.0 / size, sum = 0;
    if (i > 0 && i < size / 2)
        for (int d = -1; d <= 1; ++d) {
            int k = at + 2 * i + d;
            sum += (d ? 0.25 : 0.5) * (f[k] + (u[k - 1] - 2 * u[k] + u[k + 1]) / (h * h));
        }
    f[coarse + i] = sum;
    u[coarse + i] = 0;
}
__global__ void prolong(double *u, int at, int coarse, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < size) u[at + i] += 0.5 * (u[coarse + i / 2] + u[coarse + (i + 1) / 2]);
}
";
    // -u'' = f with u = 0 at the ends, by elimination.
    let n = 64_usize;
    let h = 1.0 / n as f64;
    let f: Vec<f64> = (0..=n).map(|i| f64::from(unit(i as u32))).collect();
    let (mut diagonal, mut right) = (vec![2.0; n], vec![0.0; n]);
    right[1] = h * h * f[1];
    for i in 2..n {
        let factor = 1.0 / diagonal[i - 1];
        diagonal[i] -= factor;
        right[i] = h * h * f[i] + factor * right[i - 1];
    }
    let mut u = vec![0.0; n + 1];
    for i in (1..n).rev() {
        u[i] = (right[i] + u[i + 1]) / diagonal[i];
    }
    on_each(&with_noise(source), |program| {
        let found = program.read::<f64>("u");
        for i in 0..=n {
            // Each cycle leaves less than a tenth of the error, and twelve of them are run.
            assert!((found[i] - u[i]).abs() < 1e-10, "{i}: {} and {}", found[i], u[i]);
        }
    });
}

/// A power iteration whose number of rounds a slider gives, with a matrix of noise.
#[test]
fn a_power_iteration() {
    let source = "/*---
[constant]
n = 32
[param.rounds]
value = 60
min = 1
max = 100
[array.v]
type = 'double'
count = 'n'
double = true
[array.norm]
type = 'double'
count = 1
[[pass]]
kernel = 'start'
on = 'reset'
over = 'n'
[[pass]]
repeat = 'rounds'
[[pass.pass]]
kernel = 'multiply'
over = 'n'
args = { from = 'v', to = 'v_next' }
[[pass.pass]]
kernel = 'normalize'
grid = 1
block = 1
---*/
__device__ double matrix(int i, int j) { return noise(min(i, j) * n + max(i, j)) % 100 / 100.0; }
__global__ void start(double *v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = 1;
}
__global__ void multiply(const double *from, double *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += matrix(i, j) * from[j];
    to[i] = sum;
}
__global__ void normalize(double *v, double *norm) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += v[i] * v[i];
    *norm = sqrt(sum);
    for (int i = 0; i < n; ++i) v[i] /= *norm;
}
";
    let n = 32;
    let matrix = Array2::from_shape_fn((n, n), |(i, j)| {
        f64::from(noise((i.min(j) * n + i.max(j)) as u32) % 100) / 100.0
    });
    let mut v = Array1::from_elem(n, 1.0);
    let mut norm = 0.0;
    for _ in 0..60 {
        v = matrix.dot(&v);
        norm = v.dot(&v).sqrt();
        v /= norm;
    }
    on_each(&with_noise(source), |program| {
        let found = program.read::<f64>("norm")[0];
        // Sums of 32 numbers around 1 in another order.
        assert!((found - norm).abs() < 1e-12 * norm, "{found} and {norm}");
    });
}
