"""Values of each job or round of a comparison, by configuration and trace."""

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.metric_tables import whole_column
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.tables.job_times import QUANTITIES

QUEUE_SIZE = "queue_size"
"""Queue length before a round: a value of each round, not of each job."""


def quantity_title(compared: ComparedStudy, quantity: str) -> str:
    """Return the label of the axis of a quantity: title and bound."""
    if quantity == QUEUE_SIZE:
        return "jobs in the queue before a round"
    about = QUANTITIES[quantity]
    bound = ""
    if quantity == "bounded_slowdown":
        taus = sorted({jobs.tau for jobs in compared.jobs.values()})
        bound = f", τ = {', '.join(map(str, taus))} s"
    # The marks of durations have units of their own.
    return f"{about.title}{bound}"


def is_duration(quantity: str) -> bool:
    """Return whether a quantity is a time, by its name."""
    return quantity != QUEUE_SIZE and QUANTITIES[quantity].unit == "s"


def quantity_values(
    compared: ComparedStudy, quantity: str
) -> Mapping[tuple[str, str], FloatColumn]:
    """Return the values of all jobs by configuration and trace, of all seeds together."""
    parts: dict[tuple[str, str], list[FloatColumn]] = defaultdict(list)
    for one in compared.study.runs:
        if quantity == QUEUE_SIZE:
            own = whole_column(one.run.rounds, "queued").astype(np.float64)
        else:
            own = QUANTITIES[quantity].values(compared.jobs[one.name])
        parts[one.configuration, one.group].append(own)
    return {key: np.concatenate(part) for key, part in parts.items()}
