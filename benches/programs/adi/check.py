"""PolyBench's ADI: sweeps along the rows of a table, then along its columns."""
import numpy as np
from common import main, relative_error

SOURCE = "sgrauerg/polybenchGpu/CUDA/ADI/adi.cu"
ROOT = "sgrauerg/polybenchGpu"
STEPS = 1
OUTPUTS = ["b", "x"]
N = 1024


def prepare():
    random = np.random.default_rng(26)
    for name, low, high in ("a", 0, 0.5), ("b", 2, 3), ("x", -1, 1):
        np.save(name + ".npy", random.uniform(low, high, (N, N)).astype("float32"))


def compare():
    a, b, x = (np.load(name + ".npy").astype(float) for name in "abx")
    # The sweep along the rows is that along the columns of the transposed tables, but for one index of b.
    for back, (a, b, x) in ((1, (a.T, b.T, x.T)), (0, (a, b, x))):
        for i in range(1, N):
            x[i] -= x[i - 1] * a[i] / b[i - 1]
            b[i] -= a[i] ** 2 / b[i - 1]
        x[-1] /= b[-1]
        for i in range(N - 2, 0, -1):
            x[i] = (x[i] - x[i - 1] * a[i - 1]) / b[i - back]
    # Single precision; each number depends on a thousand before it, ever less on those further away.
    return max(relative_error(np.load("b.out.npy"), b), relative_error(np.load("x.out.npy"), x)), 2e-6


main(__name__, prepare, compare)
