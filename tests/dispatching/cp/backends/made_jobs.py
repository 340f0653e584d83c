"""Jobs of one resource type, for searches by hand."""

import numpy as np

from hpcsched.dispatching.planning.model_data import ModelData


def jobs(
    requests: list[int],
    run_times: list[int],
    capacity: list[int],
    weights: list[int] | None = None,
    units: list[int] | None = None,
) -> ModelData:
    """Return jobs of one resource type, on nodes that are free."""
    size, none = len(requests), np.zeros(0, dtype=np.int64)
    asked = np.array(requests)[:, np.newaxis]
    return ModelData(
        np.array(units or [1] * size),
        asked,
        np.array(run_times),
        np.array(capacity)[:, np.newaxis],
        np.array(capacity) // asked,
        none,
        none,
        none.reshape(0, 1),
        np.array([weights or [1] * size]),
        np.zeros((1, size), dtype=np.int64),
        0,
        sum(run_times),
    )
