"""Rodinia's Needleman-Wunsch: the best score of an alignment of all beginnings of two sequences."""
import numpy as np
from common import main, relative_error

SOURCE = "yuhc/gpu-rodinia/cuda/nw/needle.cu"
STEPS = 1
OUTPUTS = ["score"]
N, GAP = 256, 10


def prepare():
    random = np.random.default_rng(2)
    similarity = np.zeros((N + 1, N + 1), "int32")
    similarity[1:, 1:] = random.integers(-4, 12, (N, N))
    score = np.zeros((N + 1, N + 1), "int32")
    score[:, 0] = score[0, :] = -GAP * np.arange(N + 1)
    np.save("similarity.npy", similarity)
    np.save("score.npy", score)


def compare():
    score, similarity = np.load("score.npy").astype(int), np.load("similarity.npy")
    for row in range(1, N + 1):
        for column in range(1, N + 1):
            score[row, column] = max(score[row - 1, column - 1] + similarity[row, column],
                                     score[row, column - 1] - GAP, score[row - 1, column] - GAP)
    return relative_error(np.load("score.out.npy"), score), 0  # whole numbers


main(__name__, prepare, compare)
