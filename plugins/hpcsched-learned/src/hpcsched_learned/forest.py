"""A forest of trees that predicts any quantile."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesRegressor

_CANDIDATES = 0.5
"""Fraction of the features that are tried at each split."""


class QuantileForest:
    """Extremely randomised trees with all training targets in their leaves.

    A prediction is a quantile of the targets in the leaves that a row falls into, one leaf a tree;
    each tree has the same weight, and in a leaf each target. So one forest answers for every
    quantile, and a higher quantile never gives a lower answer.

    Sources: Geurts, Ernst and Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006;
    Meinshausen, "Quantile regression forests", Journal of Machine Learning Research 7, 2006. The
    trees are scikit-learn's, grown in one thread.
    """

    def __init__(
        self,
        rows: Sequence[Sequence[float]],
        targets: Sequence[float],
        trees: int,
        leaf_size: int,
        seed: int,
    ) -> None:
        """Grow the trees: `rows` `[n, features]`, a target for each, `[n]`; `seed` is 32 bits."""
        features = np.array(rows, dtype=np.float32)
        self._targets: NDArray[np.float64] = np.array(targets, dtype=np.float64)
        forest = ExtraTreesRegressor(
            trees,
            min_samples_leaf=leaf_size,
            max_features=_CANDIDATES,
            random_state=seed,
            n_jobs=1,
        ).fit(features, self._targets)
        self._trees = [grown.tree_ for grown in forest.estimators_]
        self._members = [_members(tree.apply(features), tree.node_count) for tree in self._trees]

    def predict(self, row: Sequence[float], quantile: float) -> float:
        """Return a quantile, between 0 and 1, of the target of a row."""
        features = np.array([row], dtype=np.float32)
        found, weights = [], []
        for tree, (order, begins) in zip(self._trees, self._members, strict=True):
            leaf = int(tree.apply(features)[0])
            members = order[begins[leaf] : begins[leaf + 1]]
            found.append(members)
            weights.append(np.full(len(members), 1 / len(members)))
        targets = self._targets[np.concatenate(found)]
        by_target = np.argsort(targets, kind="stable")
        reached = np.cumsum(np.concatenate(weights)[by_target])
        return float(targets[by_target[np.searchsorted(reached, quantile * reached[-1])]])


def _members(
    leaves: NDArray[np.int64], node_count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return row numbers sorted by leaf, `[n]`, and where each node's begin, `[nodes + 1]`."""
    order = np.argsort(leaves, kind="stable")
    return order, np.searchsorted(leaves[order], np.arange(node_count + 1))
