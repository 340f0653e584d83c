"""A formulation of its own in CPMpy: HCP'19 with a share of the machine kept free."""

from dataclasses import replace
from typing import Any

import cpmpy as cp

from hpcsched import ModelParts, hcp19


def headroom(parts: ModelParts) -> list[Any]:
    """Return that a quarter of each resource type stays free, unless one job asks for more."""
    data = parts.data
    constraints = []
    for r, total in enumerate(data.totals.tolist()):
        tasks = [
            (start, int(run_time), int(demand))
            for start, run_time, demand in zip(
                parts.starts, data.run_times, data.demands[:, r], strict=True
            )
        ]
        # What runs already may hold more than that; nothing can start beside it then.
        tasks += [(0, end, int(held[r])) for end, held in data.allocated_together]
        capacity = max(total - total // 4, *(demand for _, _, demand in tasks))
        begins, durations, demands = (list(column) for column in zip(*tasks, strict=True))
        constraints.append(cp.Cumulative(begins, durations, demand=demands, capacity=capacity))
    return constraints


HEADROOM = replace(
    hcp19(), name="headroom", constraints=(*hcp19().constraints, headroom), strict=True
)
