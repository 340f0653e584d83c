"""`check_metric` and `check_objective` accept what is right, and find each mistake of others."""

from itertools import count

import numpy as np
import pytest

from hpcsched.dispatching.objectives import BoundedSlowdown, Makespan
from hpcsched.dispatching.planned_cost import linear
from hpcsched.metrics.metric import whole_column
from hpcsched.testing import check_metric, check_objective


class MeanWait:
    """Mean wait time, with a mistake."""

    numbers = count()

    def __init__(self, mistake: str = "none") -> None:
        self.mistake = mistake
        self.unit = None if mistake == "unit" else "s"
        self.population = "" if mistake == "population" else "all jobs"

    def measure(self, run):  # noqa: PLR0911 (one for each mistake)
        """Return the figure, with the mistake."""
        jobs = getattr(run, "jobs", run)
        match self.mistake:
            case "text":
                return "12"
            case "nan":
                return float("nan")
            case "true":
                return True
            case "calls":
                return next(self.numbers)
            case "first batch":
                ((start, submit), *_) = [*jobs.batches("start_time", "submit_time"), ([0], [0])]
                return float((np.array(start) - np.array(submit)).mean())
        wait = whole_column(jobs, "start_time") - whole_column(jobs, "submit_time")
        if not len(wait) and self.mistake != "no jobs":
            return None
        with np.errstate(invalid="ignore"):
            return float(wait.sum() / np.int64(len(wait)))


class Planned(MeanWait):
    """Objective with a planned cost, with a mistake."""

    def planned_cost(self, jobs, now: int):
        """Return the cost, with the mistake."""
        weights = np.ones(len(jobs))
        match self.mistake:
            case "cost type":
                return 5.0
            case "negative":
                weights = -weights
            case "shape":
                weights = np.ones(len(jobs) + 1)
            case "no weight" if len(jobs):
                weights[:-1] = 0.0
            case "infinite":
                weights = weights * np.inf
            case "constant":
                return linear(weights, constant=float("nan"))
        return linear(weights)


COMMON = [
    ("text", "expected a finite number, or None, found '12'"),
    ("nan", "expected a finite number, or None, found nan"),
    ("true", "expected a finite number, or None, found True"),
    ("calls", r"expected the same figure in batches of 1000 rows, found \d+ and \d+"),
    ("first batch", "expected the same figure in batches of 1 rows, found"),
    ("no jobs", "without jobs: expected a finite number, or None, found nan"),
]


def test_right() -> None:
    """A metric and objectives that are right pass."""
    check_metric(MeanWait, seeds=[0])
    check_objective(Planned, seeds=[0])
    check_objective(lambda: BoundedSlowdown(10), seeds=[0])
    check_objective(Makespan, seeds=[0])


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize(("mistake", "message"), COMMON)
def test_wrong_figures(mistake: str, message: str) -> None:
    """Each mistake is named, of metrics and of objectives."""
    for check, make in ((check_metric, MeanWait), (check_objective, Planned)):
        with pytest.raises(AssertionError, match=message) as caught:
            check(lambda make=make: make(mistake), seeds=[0])
        assert caught.value.__notes__ == ["on sample workload 'one-slot', seed 0"]


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("population", "expected a text as population, found ''"),
    ],
)
def test_wrong_texts(mistake: str, message: str) -> None:
    """A metric is described by texts."""
    with pytest.raises(AssertionError, match=message):
        check_metric(lambda: MeanWait(mistake), seeds=[0])


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("cost type", "planned_cost: expected a PlannedCost, found 5.0"),
        ("negative", "expected weights that are finite and not negative, found -1.0"),
        ("infinite", "expected weights that are finite and not negative, found inf"),
        ("shape", r"expected weights of shape \(terms, 0 jobs\), found \(1, 1\)"),
        ("constant", "expected a finite number as constant, found nan"),
        ("no weight", "expected less for the plan with the lower objective, found costs of"),
    ],
)
def test_wrong_costs(mistake: str, message: str) -> None:
    """Each mistake of a planned cost is named."""
    with pytest.raises(AssertionError, match=message):
        check_objective(lambda: Planned(mistake), seeds=[0])
