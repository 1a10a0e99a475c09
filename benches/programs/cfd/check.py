"""Rodinia's CFD: Euler's equations on an unstructured grid, with a wing and a far field as borders."""
import numpy as np
from common import main, relative_error

SOURCE = "yuhc/gpu-rodinia/cuda/cfd/euler3d.cu"
STEPS = 5
OUTPUTS = ["u"]
N, GAMMA = 1920, 1.4


def pressure(u):
    return (GAMMA - 1) * (u[4] - 0.5 * (u[1:4] ** 2).sum(0) / u[0])


def contributions(u):
    """What flows along each axis: an array of axis, variable, element."""
    p, velocity = pressure(u), u[1:4] / u[0]
    momentum = velocity[:, None] * u[None, 1:4] + p * np.eye(3)[:, :, None]
    return np.concatenate([u[1:4][:, None], momentum, (velocity * (u[4] + p))[:, None]], 1)


def far_field():
    speed = 1.2 * np.sqrt(GAMMA / 1.4)
    momentum = 1.4 * speed
    return np.array([[1.4], [momentum], [0], [0], [0.5 * 1.4 * speed**2 + 1 / (GAMMA - 1)]])


def prepare():
    random = np.random.default_rng(27)
    np.save("area.npy", random.uniform(0.5, 2, N).astype("float32"))
    neighbour = random.integers(0, N, (4, N))
    border = random.uniform(size=(4, N))
    neighbour[border < 0.05] = -1
    neighbour[border > 0.95] = -2
    np.save("neighbour.npy", neighbour.astype("int32"))
    np.save("normal.npy", random.uniform(-0.1, 0.1, (3, 4, N)).astype("float32"))
    far = far_field()
    flow = contributions(far)[:, :, 0].astype("float32")
    np.save("far.npy", far[:, 0].astype("float32"))
    for axis, name in enumerate("xyz"):
        np.save(f"far_{name}.npy", flow[:, 1 + axis])
    np.save("far_energy.npy", flow[:, 4])


def fluxes(u, neighbour, normal):
    far, flow, p = contributions(far_field()), contributions(u), pressure(u)
    speed = np.sqrt((u[1:4] ** 2).sum(0)) / u[0] + np.sqrt(GAMMA * p / u[0])
    total = np.zeros_like(u)
    for near, n in zip(neighbour, normal.swapaxes(0, 1)):
        smooth = -0.1 * np.sqrt((n**2).sum(0)) * (speed + speed[near]) * (u - u[:, near])
        inside = smooth + 0.5 * (n[:, None] * (flow + flow[:, :, near])).sum(0)
        outside = 0.5 * (n[:, None] * (flow + far)).sum(0)
        wing = np.concatenate([np.zeros((1, N)), n * p, np.zeros((1, N))])
        total += np.where(near >= 0, inside, np.where(near == -1, wing, outside))
    return total


def compare():
    area, neighbour = np.load("area.npy").astype(float), np.load("neighbour.npy")
    normal = np.load("normal.npy").astype(float)
    u = np.repeat(far_field(), N, 1)
    for _ in range(STEPS):
        speed = np.sqrt((u[1:4] ** 2).sum(0)) / u[0] + np.sqrt(GAMMA * pressure(u) / u[0])
        factor, old = 0.5 / (np.sqrt(area) * speed), u
        for stage in range(3):
            u = old + factor / (4 - stage) * fluxes(u, neighbour, normal)
    return relative_error(np.load("u.out.npy"), u), 3e-6  # single precision


main(__name__, prepare, compare)
