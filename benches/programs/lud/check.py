"""Rodinia's LU decomposition, without pivots, in blocks of 16."""
import numpy as np
from common import main, relative_error

SOURCE = "yuhc/gpu-rodinia/cuda/lud/cuda/lud_kernel.cu"
STEPS = 1
OUTPUTS = ["a"]
N = 256


def prepare():
    random = np.random.default_rng(1)
    # A strong diagonal, so that no pivots are needed.
    matrix = random.uniform(-1, 1, (N, N)) + N * np.eye(N)
    np.save("a.npy", matrix.astype("float32"))


def compare():
    matrix, factors = np.load("a.npy").astype(float), np.load("a.out.npy").astype(float).reshape(N, N)
    lower, upper = np.tril(factors, -1) + np.eye(N), np.triu(factors)
    # Single precision, with at most 256 products in a sum; the diagonal is about 256, so are the largest numbers.
    return relative_error(lower @ upper, matrix), 1e-6


main(__name__, prepare, compare)
