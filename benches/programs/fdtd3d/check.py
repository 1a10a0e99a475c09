"""FDTD3d of NVIDIA's samples: a stencil of 25 points in space."""
import numpy as np
from common import main, relative_error
from scipy.ndimage import correlate1d

SOURCE = "NVIDIA/cuda-samples/Samples/5_Domain_Specific/FDTD3d/src/FDTD3dGPU.cu"
INCLUDE = ["NVIDIA/cuda-samples/Samples/5_Domain_Specific/FDTD3d/inc"]
STEPS = 5
OUTPUTS = ["field"]
NX, NY, NZ, RADIUS, PADDING = 40, 36, 32, 4, 28


def prepare():
    random = np.random.default_rng(13)
    shape = NZ + 2 * RADIUS, NY + 2 * RADIUS, NX + 2 * RADIUS
    field = np.concatenate([np.zeros(PADDING), random.uniform(0, 1, shape).ravel()])
    np.save("field.npy", field.astype("float32"))
    np.save("stencil.npy", random.uniform(0.01, 0.1, RADIUS + 1).astype("float32"))


def compare():
    field, stencil = np.load("field.npy").astype(float), np.load("stencil.npy").astype(float)
    field = field[PADDING:].reshape(NZ + 2 * RADIUS, NY + 2 * RADIUS, NX + 2 * RADIUS)
    middle = (slice(RADIUS, -RADIUS),) * 3
    side = np.concatenate([stencil[:0:-1], [0], stencil[1:]])
    for _ in range(STEPS):
        field[middle] = (stencil[0] * field + sum(correlate1d(field, side, axis) for axis in range(3)))[middle]
    # Single precision, positive numbers: 25 roundings a step.
    return relative_error(np.load("field.out.npy")[PADDING:], field), 2e-6


main(__name__, prepare, compare)
