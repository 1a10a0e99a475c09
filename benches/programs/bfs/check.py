"""Rodinia's breadth-first search: how many edges each node of a directed graph is away from node 0."""
import numpy as np
from common import main, relative_error
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path

SOURCE = "yuhc/gpu-rodinia/cuda/bfs/bfs.cu"
STEPS = 1
OUTPUTS = ["cost"]
NODES, EDGES = 5000, 30000


def prepare():
    random = np.random.default_rng(3)
    # Most edges lead to nodes nearby, so that there are many levels.
    start = np.sort(random.integers(0, NODES, EDGES))
    end = (start + random.integers(-40, 60, EDGES)) % NODES
    degree = np.bincount(start, minlength=NODES)
    graph = np.zeros(NODES, [("starting", "int32"), ("no_of_edges", "int32")])
    graph["starting"], graph["no_of_edges"] = np.cumsum(degree) - degree, degree
    cost = np.full(NODES, -1, "int32")
    cost[0] = 0
    np.save("graph.npy", graph)
    np.save("edge.npy", end.astype("int32"))
    np.save("start.npy", np.arange(NODES) == 0)
    np.save("cost.npy", cost)


def compare():
    graph, end = np.load("graph.npy"), np.load("edge.npy")
    # Parallel edges count once.
    first = np.append(graph["starting"], EDGES)
    matrix = csr_matrix((np.ones(EDGES), end, first), shape=(NODES, NODES))
    distance = shortest_path(matrix, unweighted=True, indices=0)
    distance[np.isinf(distance)] = -1
    assert distance.max() > 50
    return relative_error(np.load("cost.out.npy"), distance), 0  # whole numbers


main(__name__, prepare, compare)
