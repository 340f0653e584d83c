"""What a simulation is made of."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from hpcsched.dispatching.additional import GivesData
from hpcsched.dispatching.dispatcher import Dispatcher
from hpcsched.dispatching.history import FollowsJobs
from hpcsched.dispatching.objective import Objective
from hpcsched.dispatching.recorded_starts import RecordedStarts
from hpcsched.prediction.correction import Correction
from hpcsched.prediction.corrections import OneSecond
from hpcsched.prediction.predictor import Oracle, Predictor
from hpcsched.simulation.latency import Latency
from hpcsched.simulation.observer import Observer
from hpcsched.system.outages import NO_OUTAGES, Outages
from hpcsched.system.system import System
from hpcsched.workload.partitions import NO_PARTITIONS, Partitions


class Parts(NamedTuple):
    """What a simulation is made of.

    `uniform_request` is the unit request of every job, where that is one for all and the faster
    pooled form of what is free may be used, which no partition may bind to nodes, and which knows
    of no pools; None otherwise. `dispatcher_name` and `predictor_name` are for messages; without
    the latter they name the predictor's class. `followers` are told of starts
    and ends before observers are. `latency` is what rounds are charged; None if decisions take no
    simulated time. `correction` is asked about running jobs that have outlived their prediction.
    `dependencies` says that jobs may wait for others to end (`Job.after`). Where there are
    `outages`, there is no uniform request. `givers` are the observers, by name, that tell
    dispatchers something before each round. `recorded` are the starts of a log that the dispatcher
    follows: a job is held back until it is due. At `instants`, which ascend, a round is held
    if jobs wait.
    """

    system: System
    dispatcher: Dispatcher
    dispatcher_name: str
    predictor: Predictor | Oracle
    objective: Objective
    observers: Sequence[Observer] = ()
    uniform_request: tuple[int, ...] | None = None
    kill_at_requested_time: bool = False
    latency: Latency | None = None
    correction: Correction = OneSecond()
    partitions: Partitions = NO_PARTITIONS
    followers: Sequence[FollowsJobs] = ()
    dependencies: bool = False
    outages: Outages = NO_OUTAGES
    givers: Mapping[str, GivesData] = MappingProxyType({})
    predictor_name: str | None = None
    recorded: RecordedStarts | None = None
    instants: Sequence[int] = ()
