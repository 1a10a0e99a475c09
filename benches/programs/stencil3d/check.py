"""HeCBench's cardiac stencil: currents through the six faces of each cell, with a conductivity for each direction."""
import numpy as np
from common import main, relative_error

SOURCE = "zjin-lcf/HeCBench/src/stencil3d-cuda/main.cu"
STEPS = 1
OUTPUTS = ["change"]
SHAPE = 44, 40, 35


def prepare():
    random = np.random.default_rng(19)
    np.save("v.npy", random.uniform(-1, 1, SHAPE))
    np.save("sigma.npy", random.uniform(0, 1, (3, 3, *SHAPE)))


def compare():
    v, expected = np.load("v.npy"), np.zeros(SHAPE)
    inner = (slice(1, -1),) * 3
    slopes = [np.gradient(v, axis=axis) for axis in range(3)]
    for axis, sigma in enumerate(np.load("sigma.npy")):
        current = np.zeros(SHAPE)  # from each cell to the one before it
        for direction in range(3):
            if direction == axis:
                slope = v - np.roll(v, 1, axis)
            else:
                slope = (slopes[direction] + np.roll(slopes[direction], 1, axis)) / 2
            current += sigma[direction] * slope
        expected[inner] += (np.roll(current, -1, axis) - current)[inner]
    return relative_error(np.load("change.out.npy"), expected), 1e-14  # double precision


main(__name__, prepare, compare)
