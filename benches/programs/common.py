"""What the check.py files share: their command line and the measure of an error."""
import sys

import numpy as np


def relative_error(got, expected):
    """The largest difference, relative to the largest number expected. For integers 0 means: equal."""
    got, expected = np.asarray(got, float).ravel(), np.asarray(expected, float).ravel()
    if got.size != expected.size or not np.isfinite(got).all():
        return np.inf
    return np.abs(got - expected).max() / max(np.abs(expected).max(), 1e-30)


def main(name, prepare, compare):
    """Runs `check.py prepare` or `check.py compare`; does nothing where check.py is imported."""
    if name != "__main__":
        return
    if sys.argv[1:] == ["prepare"]:
        prepare()
    elif sys.argv[1:] == ["compare"]:
        error, tolerance = compare()
        print(f"largest relative error {error:.2g}, allowed {tolerance:g}")
        sys.exit(0 if error <= tolerance else 1)
    else:
        sys.exit("usage: check.py prepare | compare")
