"""Rodinia's SRAD: an image loses its speckles, where there is no edge."""
import numpy as np
from common import main, relative_error

SOURCE = "yuhc/gpu-rodinia/cuda/srad/srad_v1/main.cu"
STEPS = 1
OUTPUTS = ["image", "sums", "squares"]
ROWS, COLUMNS = 100, 80
LAMBDA, ITERATIONS = 0.5, 10


def prepare():
    random = np.random.default_rng(17)
    # The kernels have columns one after the other.
    np.save("image.npy", random.uniform(0, 255, (COLUMNS, ROWS)).astype("float32"))
    for name, size, step in ("north", ROWS, -1), ("south", ROWS, 1), ("west", COLUMNS, -1), ("east", COLUMNS, 1):
        np.save(name + ".npy", np.clip(np.arange(size) + step, 0, size - 1).astype("int32"))


def compare():
    image = np.exp(np.load("image.npy").astype(float) / 255)
    for _ in range(ITERATIONS):
        sums = image.sum(), (image**2).sum()
        q0sqr = image.var() / image.mean() ** 2
        wide = np.pad(image, 1, mode="edge")
        north, south = wide[1:-1, :-2] - image, wide[1:-1, 2:] - image
        west, east = wide[:-2, 1:-1] - image, wide[2:, 1:-1] - image
        laplacian = (north + south + west + east) / image
        gradient = (north**2 + south**2 + west**2 + east**2) / image**2
        q = (gradient / 2 - laplacian**2 / 16) / (1 + laplacian / 4) ** 2
        coefficient = np.clip(1 / (1 + (q - q0sqr) / (q0sqr * (1 + q0sqr))), 0, 1)
        after = np.pad(coefficient, 1, mode="edge")
        divergence = coefficient * (north + west) + after[1:-1, 2:] * south + after[2:, 1:-1] * east
        image = image + LAMBDA / 4 * divergence
    # Single precision.
    return max(relative_error(np.load("sums.out.npy")[0], sums[0]),
               relative_error(np.load("squares.out.npy")[0], sums[1]),
               relative_error(np.load("image.out.npy"), np.log(image) * 255)), 2e-6


main(__name__, prepare, compare)
