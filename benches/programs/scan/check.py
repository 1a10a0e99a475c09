"""The scan of NVIDIA's samples: sums of all numbers before each one, of several arrays at once."""
import numpy as np
from common import main, relative_error

SOURCE = "NVIDIA/cuda-samples/Samples/2_Concepts_and_Techniques/scan/scan.cu"
STEPS = 1
OUTPUTS = ["result"]
ROWS, N = 16, 16384


def prepare():
    np.save("source.npy", np.random.default_rng(9).integers(0, 2**32, (ROWS, N), dtype="uint32"))


def compare():
    source = np.load("source.npy")
    sums = np.cumsum(source, axis=1, dtype="uint32")  # which wraps around, as in the kernels
    return relative_error(np.load("result.out.npy"), sums - source), 0  # whole numbers


main(__name__, prepare, compare)
