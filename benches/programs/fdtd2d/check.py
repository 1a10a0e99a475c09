"""PolyBench's FDTD-2D: waves of an electric and a magnetic field in a plane."""
import numpy as np
from common import main, relative_error

SOURCE = "sgrauerg/polybenchGpu/CUDA/FDTD-2D/fdtd2d.cu"
ROOT = "sgrauerg/polybenchGpu"
STEPS = 100
OUTPUTS = ["e_x", "e_y", "h_z"]
NX, NY = 96, 128


def prepare():
    random = np.random.default_rng(12)
    np.save("fict.npy", np.sin(0.1 * np.arange(200)).astype("float32"))
    for name in "ex", "ey", "hz":
        np.save(name + ".npy", random.uniform(-1, 1, (NX, NY)).astype("float32"))


def compare():
    source = np.load("fict.npy").astype(float)
    ex, ey, hz = (np.load(name + ".npy").astype(float) for name in ("ex", "ey", "hz"))
    for step in range(STEPS):
        ey[0] = source[step]
        ey[1:] -= 0.5 * np.diff(hz, axis=0)
        ex[:, 1:] -= 0.5 * np.diff(hz, axis=1)
        hz[:-1, :-1] -= 0.7 * (np.diff(ex, axis=1)[:-1] + np.diff(ey, axis=0)[:, :-1])
    pairs = ("e_x", ex), ("e_y", ey), ("h_z", hz)
    # Single precision; a hundred steps add up their roundings.
    return max(relative_error(np.load(name + ".out.npy"), field) for name, field in pairs), 5e-6


main(__name__, prepare, compare)
