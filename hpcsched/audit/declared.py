"""What a scenario declares of a run, as far as an audit holds the run against it."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple


class Charge(NamedTuple):
    """The dispatch latency of each round, in seconds: the sum of these parts.

    `per_queued_job` is for each job that the dispatcher is shown, `per_variable` for each of the
    solver's, and `measured` for each real second that the decision took.
    """

    base: Fraction
    per_queued_job: Fraction
    per_variable: Fraction
    measured: Fraction


class Definition(NamedTuple):
    """The unit of a metric, and its population in words."""

    unit: str
    population: str


class Declared(NamedTuple):
    """The figures, names and settings that a scenario declares.

    `metric_parameters` and `definitions` are by metric; `distributions` are those whose plugins it
    uses. `charge` is the dispatch latency, None if decisions take no simulated time.
    `not_reproducible` says why results depend on the machine, if they do. `follows_record`: its
    dispatcher follows the starts of the log. `portfolio` has the dispatchers that its dispatcher
    chooses from; it is empty where that does not choose.
    """

    name: str
    seed: int
    metric_parameters: Mapping[str, Mapping[str, Any]]
    definitions: Mapping[str, Definition]
    objective: str
    objective_parameters: Mapping[str, Any]
    percentiles: Sequence[int]
    class_bounds: Sequence[int]
    distributions: frozenset[str]
    charge: Charge | None
    not_reproducible: Sequence[str]
    offline: bool
    follows_record: bool = False
    portfolio: Sequence[str] = ()
