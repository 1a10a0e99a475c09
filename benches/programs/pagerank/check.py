"""HeCBench's PageRank."""
import numpy as np
from common import main, relative_error

SOURCE = "zjin-lcf/HeCBench/src/page-rank-cuda/main.cu"
STEPS = 1
OUTPUTS = ["rank"]
N, ROUNDS, DAMPING = 500, 15, 0.85


def prepare():
    links = np.random.default_rng(23).uniform(size=(N, N)) < 0.02
    links[np.arange(N), (np.arange(N) + 1) % N] = True  # nobody is without a link
    np.save("links.npy", links.astype("int32"))
    np.save("out.npy", links.sum(1).astype("uint32"))


def compare():
    links, out = np.load("links.npy"), np.load("out.npy")
    rank = np.full(N, 1 / N)
    for _ in range(ROUNDS):
        rank = (1 - DAMPING) / N + DAMPING * (rank / out) @ links
    return relative_error(np.load("rank.out.npy"), rank), 2e-6  # single precision


main(__name__, prepare, compare)
