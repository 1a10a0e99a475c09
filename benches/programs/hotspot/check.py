"""Rodinia's hotspot: heat that is made in a chip, spreads in it and leaves it."""
import numpy as np
from common import main, relative_error

SOURCE = "yuhc/gpu-rodinia/cuda/hotspot/hotspot.cu"
STEPS = 1
OUTPUTS = ["temperature"]
N, ITERATIONS = 128, 20


def prepare():
    random = np.random.default_rng(5)
    np.save("temperature.npy", random.uniform(320, 345, (N, N)).astype("float32"))
    np.save("heat.npy", random.uniform(0, 1e-3, (N, N)).astype("float32"))


def compare():
    start, heat = np.load("temperature.npy").astype(float), np.load("heat.npy").astype(float)
    thickness, side, conductivity, ambient = 0.0005, 0.016 / N, 100.0, 80.0
    capacity = 0.5 * 1.75e6 * thickness * side**2
    time_step = 0.001 / (3.0e6 / (0.5 * thickness * 1.75e6))
    sideways, down = 2 * conductivity * thickness, conductivity * side**2 / thickness
    now = start
    for _ in range(ITERATIONS):
        around = np.pad(now, 1, mode="edge")
        spread = around[2:, 1:-1] + around[:-2, 1:-1] + around[1:-1, 2:] + around[1:-1, :-2] - 4 * now
        now = now + time_step / capacity * (heat + sideways * spread + down * (ambient - now))
    # The change, which is about 4, is compared. Numbers near 340 are rounded by up to 1.5e-5 in each of 20 iterations.
    got = np.load("temperature.out.npy").astype(float).reshape(N, N)
    return relative_error(got - start, now - start), 1e-4


main(__name__, prepare, compare)
