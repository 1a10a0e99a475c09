"""Goldsborough's k-means: points in a plane, each in the cluster whose mean is nearest."""
import numpy as np
from common import main, relative_error

SOURCE = "goldsborough/k-means/cuda/k-means-simple-sm.cu"
STEPS = 20
OUTPUTS = ["mean_x", "mean_y"]
POINTS, K = 5000, 8


def prepare():
    random = np.random.default_rng(16)
    centres = random.uniform(-10, 10, (K, 2))
    points = centres[random.integers(0, K, POINTS)] + random.normal(size=(POINTS, 2))
    means = points[random.permutation(POINTS)[:K]]
    for name, values in ("x", points[:, 0]), ("y", points[:, 1]), ("mean_x", means[:, 0]), ("mean_y", means[:, 1]):
        np.save(name + ".npy", values.astype("float32"))


def compare():
    points = np.stack([np.load("x.npy"), np.load("y.npy")], 1).astype(float)
    means = np.stack([np.load("mean_x.npy"), np.load("mean_y.npy")], 1).astype(float)
    for _ in range(STEPS):
        nearest = ((points[:, None] - means[None]) ** 2).sum(2).argmin(1)
        means = np.array([points[nearest == cluster].mean(0) for cluster in range(K)])
    # Single precision sums of about 600 numbers, in an order that is not fixed.
    return max(relative_error(np.load("mean_x.out.npy"), means[:, 0]),
               relative_error(np.load("mean_y.out.npy"), means[:, 1])), 1e-5


main(__name__, prepare, compare)
