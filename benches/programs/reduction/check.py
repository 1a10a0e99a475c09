"""The sum of NVIDIA's samples, in several launches."""
import numpy as np
from common import main, relative_error

SOURCE = "NVIDIA/cuda-samples/Samples/2_Concepts_and_Techniques/reduction/reduction_kernel.cu"
STEPS = 1
OUTPUTS = ["sums"]
N = 1 << 20


def prepare():
    np.save("source.npy", np.random.default_rng(11).uniform(0, 1, N).astype("float32"))


def compare():
    total = np.load("source.npy").sum(dtype=float)
    # Single precision; each number passes 20 additions.
    return relative_error(np.load("sums.out.npy")[0], total), 20 * 6e-8


main(__name__, prepare, compare)
