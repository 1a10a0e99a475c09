"""Rodinia's lavaMD: forces between particles in neighbouring boxes."""
import itertools

import numpy as np
from common import main, relative_error

SOURCE = "yuhc/gpu-rodinia/cuda/lavaMD/kernel/kernel_gpu_cuda_wrapper.cu"
ROOT = "yuhc/gpu-rodinia/cuda/lavaMD"
STEPS = 1
OUTPUTS = ["force"]
SIDE, IN_BOX, ALPHA = 3, 100, 0.5
NEIGHBOUR = np.dtype([("x", "i4"), ("y", "i4"), ("z", "i4"), ("number", "i4"), ("offset", "i8")], align=True)
BOX = np.dtype(NEIGHBOUR.descr + [("nn", "i4"), ("nei", NEIGHBOUR, 26)], align=True)
PARTICLE = np.dtype([("v", "f8"), ("x", "f8"), ("y", "f8"), ("z", "f8")])


def neighbours(place):
    """The boxes around a box, itself not among them."""
    around = itertools.product(*[[c for c in (p - 1, p, p + 1) if 0 <= c < SIDE] for p in place])
    return [other for other in around if other != place]


def number(place):
    return (place[0] * SIDE + place[1]) * SIDE + place[2]


def prepare():
    random = np.random.default_rng(25)
    boxes = np.zeros(SIDE**3, BOX)
    for place in itertools.product(range(SIDE), repeat=3):
        box = boxes[number(place)]
        box["number"], box["offset"] = number(place), IN_BOX * number(place)
        box["nn"] = len(neighbours(place))
        for slot, other in zip(box["nei"], neighbours(place)):
            slot["number"], slot["offset"] = number(other), IN_BOX * number(other)
    position = np.zeros(IN_BOX * SIDE**3, PARTICLE)
    for name in PARTICLE.names:
        position[name] = random.uniform(0.1, 1, position.size)
    boxes.tofile("box.raw")
    np.save("position.npy", position)
    np.save("charge.npy", random.uniform(0.1, 1, position.size))


def compare():
    position, charge = np.load("position.npy"), np.load("charge.npy").reshape(-1, IN_BOX)
    v = position["v"].reshape(-1, IN_BOX)
    place = np.stack([position[name] for name in "xyz"], 1).reshape(-1, IN_BOX, 3)
    got = np.load("force.out.npy").reshape(-1, IN_BOX)
    error = 0
    for home in itertools.product(range(SIDE), repeat=3):
        i = number(home)
        expected = np.zeros((IN_BOX, 4))
        for j in [i] + [number(other) for other in neighbours(home)]:
            distance = v[i][:, None] + v[j] - place[i] @ place[j].T
            weight = charge[j] * np.exp(-2 * ALPHA**2 * distance)
            away = place[i][:, None] - place[j]
            expected[:, 0] += weight.sum(1)
            expected[:, 1:] += 2 * (weight[:, :, None] * away).sum(1)
        error = max(error, relative_error(np.stack([got[i][name] for name in PARTICLE.names], 1), expected))
    return error, 1e-13  # double precision, sums of 2700 terms


main(__name__, prepare, compare)
