"""Conjugate gradients for a symmetric matrix, from the EUMaster4HPC challenge."""
import numpy as np
from common import main, relative_error

SOURCE = "giorgiodaneri/EUMaster4HPC-Challenge/conjugate_gradients-main/test/testCuda/CGSolverCUDA.cu"
ROOT = "giorgiodaneri/EUMaster4HPC-Challenge/conjugate_gradients-main"
STEPS = 1
OUTPUTS = ["solution"]
N = 128


def prepare():
    random = np.random.default_rng(15)
    vectors, _ = np.linalg.qr(random.normal(size=(N, N)))
    np.save("matrix.npy", vectors @ np.diag(np.linspace(1, 100, N)) @ vectors.T)
    np.save("rhs.npy", random.uniform(-1, 1, N))


def compare():
    expected = np.linalg.solve(np.load("matrix.npy"), np.load("rhs.npy"))
    # The loop ends where the residual is 1e-10 of the right side; the matrix's condition is 100.
    return relative_error(np.load("solution.out.npy"), expected), 1e-8


main(__name__, prepare, compare)
