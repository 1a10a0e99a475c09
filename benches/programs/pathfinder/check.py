"""Rodinia's pathfinder: the cheapest way from the first row of a table to each place of the last one."""
import numpy as np
from common import main, relative_error

SOURCE = "yuhc/gpu-rodinia/cuda/pathfinder/pathfinder.cu"
STEPS = 1
OUTPUTS = ["best"]
ROWS, COLUMNS = 100, 2000


def prepare():
    table = np.random.default_rng(6).integers(0, 10, (ROWS, COLUMNS)).astype("int32")
    np.save("first.npy", table[0])
    np.save("wall.npy", table[1:])


def compare():
    best = np.load("first.npy").astype(int)
    for row in np.load("wall.npy"):
        beside = np.pad(best, 1, mode="edge")
        best = row + np.minimum(best, np.minimum(beside[:-2], beside[2:]))
    return relative_error(np.load("best.out.npy"), best), 0  # whole numbers


main(__name__, prepare, compare)
