"""HeCBench's Floyd-Warshall: the shortest distance between any two nodes."""
import numpy as np
from common import main, relative_error
from scipy.sparse.csgraph import floyd_warshall

SOURCE = "zjin-lcf/HeCBench/src/floydwarshall-cuda/main.cu"
STEPS = 1
OUTPUTS = ["distance"]
NODES = 256


def prepare():
    distance = np.random.default_rng(7).integers(1, 201, (NODES, NODES)).astype("uint32")
    np.fill_diagonal(distance, 0)
    np.save("distance.npy", distance)


def compare():
    return relative_error(np.load("distance.out.npy"), floyd_warshall(np.load("distance.npy"))), 0  # whole numbers


main(__name__, prepare, compare)
