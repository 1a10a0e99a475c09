"""Rodinia's Gaussian elimination: what is left is a triangular system, which has the same solution."""
import numpy as np
from common import main, relative_error
from scipy.linalg import solve_triangular

SOURCE = "yuhc/gpu-rodinia/cuda/gaussian/gaussian.cu"
STEPS = 1
OUTPUTS = ["a", "b"]
N = 200


def prepare():
    random = np.random.default_rng(4)
    # A strong diagonal, so that no pivots are needed.
    np.save("a.npy", (random.uniform(-1, 1, (N, N)) + N * np.eye(N)).astype("float32"))
    np.save("b.npy", random.uniform(-1, 1, N).astype("float32"))


def compare():
    expected = np.linalg.solve(np.load("a.npy").astype(float), np.load("b.npy").astype(float))
    a, b = np.load("a.out.npy").astype(float).reshape(N, N), np.load("b.out.npy").astype(float)
    # Below the diagonal there must be hardly anything, beside a diagonal of 200.
    below = relative_error(np.tril(a, -1) + np.diag(np.diag(a)), np.diag(np.diag(a)))
    # Single precision, 200 roundings one after the other.
    return max(below, relative_error(solve_triangular(a, b), expected)), 2e-6


main(__name__, prepare, compare)
