"""Rodinia's hotspot in three dimensions: heat in a stack of layers."""
import numpy as np
from common import main, relative_error

SOURCE = "yuhc/gpu-rodinia/cuda/hotspot3D/3D.cu"
STEPS = 1
OUTPUTS = ["temperature"]
NX, NY, NZ, ROUNDS = 64, 64, 8, 100


def prepare():
    random = np.random.default_rng(21)
    np.save("temperature.npy", random.uniform(320, 345, (NZ, NY, NX)).astype("float32"))
    np.save("heat.npy", random.uniform(0, 1e-3, (NZ, NY, NX)).astype("float32"))


def compare():
    start, heat = np.load("temperature.npy").astype(float), np.load("heat.npy").astype(float)
    thickness, ambient, conductivity = 0.0005, 80.0, 100.0
    dx, dy, dz = 0.016 / NY, 0.016 / NX, thickness / NZ
    time_step = 0.001 / (3.0e6 / (0.5 * thickness * 1.75e6)) / (0.5 * 1.75e6 * thickness * dx * dy)
    along_x, along_y = (time_step * 2 * conductivity * thickness * a / b for a, b in ((dx, dy), (dy, dx)))
    along_z = time_step * conductivity * dx * dy / dz
    now = start
    for _ in range(ROUNDS):
        wide = np.pad(now, 1, mode="edge")
        now = (now + time_step * heat + along_z * (ambient - now)
               + along_x * (wide[1:-1, 1:-1, 2:] + wide[1:-1, 1:-1, :-2] - 2 * now)
               + along_y * (wide[1:-1, 2:, 1:-1] + wide[1:-1, :-2, 1:-1] - 2 * now)
               + along_z * (wide[2:, 1:-1, 1:-1] + wide[:-2, 1:-1, 1:-1] - 2 * now))
    # The change, which is about 19, is compared. Numbers near 340 are rounded by up to 1.5e-5, nine times in each of
    # 100 rounds and mostly to the same side: the same sums in numpy's float32 are off by 1.2e-4, too.
    got = np.load("temperature.out.npy").astype(float).reshape(start.shape)
    return relative_error(got - start, now - start), 2e-4


main(__name__, prepare, compare)
