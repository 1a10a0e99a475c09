"""The merge sort of NVIDIA's samples: keys with values."""
import numpy as np
from common import main, relative_error

SOURCE = "NVIDIA/cuda-samples/Samples/0_Introduction/mergeSort/mergeSort.cu"
STEPS = 1
OUTPUTS = ["key", "value"]
N = 65536


def prepare():
    # Many keys occur more than once; the sort is stable.
    np.save("key.npy", np.random.default_rng(24).integers(0, 20000, N).astype("uint32"))
    np.save("value.npy", np.arange(N, dtype="uint32"))


def compare():
    key = np.load("key.npy")
    order = np.argsort(key, kind="stable")
    return max(relative_error(np.load("key.out.npy"), key[order]),
               relative_error(np.load("value.out.npy"), order)), 0  # whole numbers


main(__name__, prepare, compare)
