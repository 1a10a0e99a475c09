"""HeCBench's Jacobi iteration for the Laplace equation on a square."""
import numpy as np
from common import main, relative_error

SOURCE = "zjin-lcf/HeCBench/src/jacobi-cuda/main.cu"
STEPS = 1
OUTPUTS = ["field", "change"]
SIZE, TOLERANCE = 2048, 0.11


def prepare():
    np.save("field.npy", np.random.default_rng(20).uniform(-1, 1, (SIZE, SIZE)).astype("float32"))


def compare():
    field, change = np.load("field.npy").astype(float), np.inf
    while np.sqrt(change / SIZE**2) >= TOLERANCE:
        new = field.copy()
        new[1:-1, 1:-1] = (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]) / 4
        change = ((new - field) ** 2).sum()
        field = new
    # The field in single precision. The sum of four million squares, added by atomics, is less exact: a thousandth of
    # its error counts.
    return max(relative_error(np.load("field.out.npy"), field),
               relative_error(np.load("change.out.npy"), change) / 1000), 1e-6


main(__name__, prepare, compare)
