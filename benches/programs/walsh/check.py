"""The fast Walsh transform of NVIDIA's samples: sums of data[i ^ k] * weights[k] over all k."""
import numpy as np
from common import main, relative_error

SOURCE = "NVIDIA/cuda-samples/Samples/5_Domain_Specific/fastWalshTransform/fastWalshTransform.cu"
STEPS = 1
OUTPUTS = ["data"]
N, WEIGHTS = 1 << 17, 128


def prepare():
    random = np.random.default_rng(10)
    weights = np.zeros(N, "float32")
    weights[:WEIGHTS] = random.uniform(0, 1, WEIGHTS)
    np.save("data.npy", random.uniform(0, 1, N).astype("float32"))
    np.save("weights.npy", weights)


def compare():
    data, weights = np.load("data.npy").astype(float), np.load("weights.npy").astype(float)
    index = np.arange(N)
    expected = sum(weights[k] * data[index ^ k] for k in range(WEIGHTS))
    # Single precision; the transforms have numbers up to 65536 times as large as the data, which cancel.
    return relative_error(np.load("data.out.npy"), expected), 3e-6


main(__name__, prepare, compare)
