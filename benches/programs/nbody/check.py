"""The bodies of NVIDIA's samples, which attract one another."""
import numpy as np
from common import main, relative_error

SOURCE = "NVIDIA/cuda-samples/Samples/5_Domain_Specific/nbody/bodysystemcuda.cu"
STEPS = 10
OUTPUTS = ["position", "velocity"]
BODIES = 1024


def prepare():
    random = np.random.default_rng(14)
    position = random.uniform(-1, 1, (BODIES, 4))
    position[:, 3] = random.uniform(0, 2 / BODIES, BODIES)  # the mass
    np.save("position.npy", position.astype("float32"))
    np.save("velocity.npy", random.uniform(-0.2, 0.2, (BODIES, 4)).astype("float32"))


def compare():
    position, velocity = np.load("position.npy").astype(float), np.load("velocity.npy").astype(float)
    mass = position[:, 3]
    for _ in range(STEPS):
        away = position[None, :, :3] - position[:, None, :3]
        pull = mass / ((away**2).sum(2) + 0.01) ** 1.5
        velocity[:, :3] = 0.995 * (velocity[:, :3] + 0.016 * (pull[:, :, None] * away).sum(1))
        position[:, :3] += 0.016 * velocity[:, :3]
    # Single precision, with sums of 1024 terms.
    return max(relative_error(np.load("position.out.npy"), position),
               relative_error(np.load("velocity.out.npy"), velocity)), 2e-6


main(__name__, prepare, compare)
