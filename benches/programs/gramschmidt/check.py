"""PolyBench's Gram-Schmidt: columns at right angles."""
import numpy as np
from common import main, relative_error

SOURCE = "sgrauerg/polybenchGpu/CUDA/GRAMSCHM/gramschmidt.cu"
ROOT = "sgrauerg/polybenchGpu"
STEPS = 1
OUTPUTS = ["columns", "upper"]
NI, NJ = 160, 128


def prepare():
    np.save("matrix.npy", np.random.default_rng(22).uniform(-1, 1, (NI, NJ)).astype("float32"))


def compare():
    columns, upper = np.linalg.qr(np.load("matrix.npy").astype(float))
    sign = np.sign(np.diag(upper))  # numpy's diagonal may be negative
    # Single precision; the later columns are what is left of 128 subtractions.
    return max(relative_error(np.load("columns.out.npy"), columns * sign),
               relative_error(np.load("upper.out.npy"), upper * sign[:, None])), 3e-5


main(__name__, prepare, compare)
