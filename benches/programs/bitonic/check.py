"""The bitonic sort of NVIDIA's samples: keys with values, several arrays at once."""
import numpy as np
from common import main, relative_error

SOURCE = "NVIDIA/cuda-samples/Samples/2_Concepts_and_Techniques/sortingNetworks/bitonicSort.cu"
STEPS = 1
OUTPUTS = ["key", "value"]
ROWS, N = 2, 65536


def prepare():
    random = np.random.default_rng(8)
    # No key occurs twice, so that there is only one right order of the values.
    keys = [random.permutation(2 * N)[:N] * 30011 for _ in range(ROWS)]
    np.save("key.npy", np.array(keys).astype("uint32"))
    np.save("value.npy", np.arange(ROWS * N, dtype="uint32"))


def compare():
    keys = np.load("key.npy")
    values = np.load("value.npy").reshape(ROWS, N)
    order = np.argsort(keys, axis=1)
    return max(relative_error(np.load("key.out.npy"), np.take_along_axis(keys, order, 1)),
               relative_error(np.load("value.out.npy"), np.take_along_axis(values, order, 1))), 0  # whole numbers


main(__name__, prepare, compare)
