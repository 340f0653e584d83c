"""Parts of a simulation."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from hpcsched.dispatching.additional import DataProvider
from hpcsched.dispatching.problem import Dispatcher, JobEventObserver, Objective
from hpcsched.dispatching.rules.recorded import RecordedStarts
from hpcsched.prediction.predictor import Correction, OneSecond, Oracle, Predictor
from hpcsched.simulation.latency import Latency
from hpcsched.simulation.observer import Observer
from hpcsched.system.outages import NO_OUTAGES, Outages
from hpcsched.system.system import Request, System
from hpcsched.workload.preemption import Checkpoints, Preemption
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partitions
from hpcsched.workload.site_policies import NO_POLICIES, SitePolicies


class Parts(NamedTuple):
    """Parts of a simulation.

    Attributes
    ----------
    uniform_request
        Unit request of every job, if it is the same for all and counting slots is enough: no job is
        bound to nodes, and there are no shared resources and outages. None otherwise.
    dispatcher_name, predictor_name
        Names in messages; the predictor's class by default.
    latency
        Charge of a round; None if decisions take no simulated time.
    correction
        Asked about running jobs that have outlived their prediction.
    dependencies
        True if jobs may wait for others to end (`Job.after`).
    givers
        Observers, by name, that pass data to dispatchers before each round.
    recorded
        Starts of a log that the dispatcher follows: a job is ineligible until it is due.
    preemption
        Rules of preemption, and ranks of jobs; None: there are none.
    checkpoints
        Checkpoints from which jobs go on; None: they begin anew.
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
    followers: Sequence[JobEventObserver] = ()
    dependencies: bool = False
    outages: Outages = NO_OUTAGES
    givers: Mapping[str, DataProvider] = MappingProxyType({})
    predictor_name: str | None = None
    recorded: RecordedStarts | None = None
    policies: SitePolicies = NO_POLICIES
    preemption: Preemption | None = None
    checkpoints: Checkpoints | None = None

    @property
    def equal_unit(self) -> Request | None:
        """A unit of any job, if all are equal and go on any node, so that counting is exact."""
        system = self.system
        counts = not (
            self.outages.all or system.shared_resources or self.preemption or system.devices
        )
        unit = self.uniform_request
        return Request(1, unit) if unit is not None and counts else None
