"""Declarations of a scenario that an audit holds a run against."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple


class Charge(NamedTuple):
    """Dispatch latency of a round, in seconds: the sum of its parts.

    Attributes
    ----------
    base
        Seconds for each round.
    per_queued_job
        Seconds for each job that the dispatcher is shown.
    per_variable
        Seconds for each variable of the solver's model.
    measured
        Seconds for each real second of the decision.
    """

    base: Fraction
    per_queued_job: Fraction
    per_variable: Fraction
    measured: Fraction


class Definition(NamedTuple):
    """Unit of a metric, and its population in words."""

    unit: str
    population: str


class Declared(NamedTuple):
    """Figures, names and settings that a scenario declares.

    Attributes
    ----------
    charge
        Dispatch latency; None if decisions take no simulated time.
    not_reproducible
        Reasons why results depend on the machine; empty if they do not.
    offline
        True if the whole trace is planned at once.
    follows_record
        True if the dispatcher follows the starts of the log.
    portfolio
        Dispatchers that the dispatcher chooses from; empty if it does not choose.
    observers
        Observers, by name.
    predictor
        Predictor of hpcsched, by name; empty if it is a plugin of others.
    third_party_dispatcher
        True if a plugin of another distribution decides: its reasons and requests are its own.
    calls_again
        True if the dispatcher may ask for rounds by itself.
    backfill_interval
        Seconds between rounds of Slurm's backfill scheduler; None under other dispatchers.
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
    observers: frozenset[str] = frozenset()
    predictor: str = ""
    third_party_dispatcher: bool = False
    calls_again: bool = False
    backfill_interval: int | None = None
