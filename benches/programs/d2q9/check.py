"""HeCBench's lattice Boltzmann method: a flow past obstacles, driven in the last row but one."""
import numpy as np
from common import main, relative_error

SOURCE = "zjin-lcf/HeCBench/src/d2q9-bgk-cuda/main.cu"
STEPS = 100
OUTPUTS = [f"s{i}" for i in range(9)] + ["speed_sum", "cell_sum"]
NX, NY, ACCELERATE, OMEGA = 128, 64, 0.005, 1.7
X = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
Y = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
WEIGHT = np.array([4 / 9] + 4 * [1 / 9] + 4 * [1 / 36])
OPPOSITE = [0, 3, 4, 1, 2, 7, 8, 5, 6]


def prepare():
    random = np.random.default_rng(18)
    np.save("obstacles.npy", (random.uniform(size=(NY, NX)) < 0.03).astype("int32"))
    for i in range(9):
        np.save(f"s{i}.npy", (WEIGHT[i] * 0.1 * random.uniform(0.9, 1.1, (NY, NX))).astype("float32"))


def compare():
    solid = np.load("obstacles.npy") != 0
    f = np.array([np.load(f"s{i}.npy") for i in range(9)]).astype(float)
    change = ACCELERATE * WEIGHT * X
    speeds, cells = [], []
    for _ in range(STEPS):
        row = f[:, NY - 2]
        free = ~solid[NY - 2] & (row[[3, 6, 7]] + change[[3, 6, 7], None] > 0).all(0)
        row += change[:, None] * free
        f = np.array([np.roll(f[i], (Y[i], X[i]), (0, 1)) for i in range(9)])
        density = f.sum(0)
        u, v = np.tensordot(X, f, 1) / density, np.tensordot(Y, f, 1) / density
        along = X[:, None, None] * u + Y[:, None, None] * v
        equal = WEIGHT[:, None, None] * density * (1 + 3 * along + 4.5 * along**2 - 1.5 * (u * u + v * v))
        f = np.where(solid, f[OPPOSITE], f + OMEGA * (equal - f))
        u, v = np.tensordot(X, f, 1) / f.sum(0), np.tensordot(Y, f, 1) / f.sum(0)
        speeds.append(np.where(solid, 0, np.hypot(u, v)).sum(1))
        cells.append((~solid).sum(1))
    got = [np.load(f"s{i}.out.npy") for i in range(9)]
    # Single precision; a hundred steps add up their roundings. The number of cells is exact.
    return max(relative_error(got, f), relative_error(np.load("speed_sum.out.npy"), speeds),
               relative_error(np.load("cell_sum.out.npy"), cells)), 1e-5


main(__name__, prepare, compare)
