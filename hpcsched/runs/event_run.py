"""Replay of a run event by event, in Python."""

from collections.abc import Mapping, Sequence

from hpcsched.dispatching.offline.offline_problem import OfflinePlan, PlansOffline, problem_of
from hpcsched.dispatching.offline.plan_replay import ReplaysPlan
from hpcsched.dispatching.problem import RunningJob
from hpcsched.monitoring.monitor import Monitor
from hpcsched.results.outage_records import InterruptionRecorder
from hpcsched.results.process_usage import ProcessUsage
from hpcsched.results.recorder import RunRecorder
from hpcsched.results.shared_resource_records import SharedResourceRecorder
from hpcsched.runs.assembly import Assembly
from hpcsched.runs.watching import Watching
from hpcsched.simulation.engine import Simulation
from hpcsched.simulation.observer import Observer, close_observers
from hpcsched.simulation.occupancy import idle_system
from hpcsched.simulation.parts import Parts


class EventRun:
    """One run; `run` can be called once.

    Attributes
    ----------
    in_python
        Parts that need Python.
    not_closed
        Why observers of third parties failed in their `close`, by plugin.
    plan
        Plan of the whole trace, if it is planned off-line.
    """

    def __init__(
        self, assembly: Assembly, parts: Parts, watching: Watching, because: Sequence[str]
    ) -> None:
        watching.tell_loop(because)
        folder, system = assembly.folder, assembly.system
        followers: list[Observer] = [
            RunRecorder(folder, system),
            *parts.observers,
            Monitor(watching.board()),
        ]
        if assembly.scenario.outages is not None:
            followers.append(InterruptionRecorder(folder))
        if system.shared_resources:
            followers.append(SharedResourceRecorder(folder, system))
        if watching.with_bar:
            followers.append(watching.bar())
        self._followers, self._assembly, self.in_python = followers, assembly, because
        self._parts = parts._replace(observers=followers)
        self._usages = [one for one in parts.observers if isinstance(one, ProcessUsage)]
        self._simulation = Simulation(self._timed(self._parts))
        self._planning = False
        self.not_closed: Mapping[str, str] = {}
        self.plan: OfflinePlan | None = None

    @property
    def stopped(self) -> bool:
        """True after `stop`."""
        return self._simulation.stopped

    @property
    def waiting(self) -> int:
        """Number of jobs in the queue."""
        return self._simulation.waiting

    @property
    def running(self) -> int:
        """Number of running jobs."""
        return self._simulation.running

    def stop(self) -> None:
        """End the run after the present instant; planning and compilation are interrupted."""
        if self._planning or self._simulation.preparing:
            raise KeyboardInterrupt
        self._simulation.stop()

    def run(self) -> None:
        """Replay all jobs; see `Simulation.run`."""
        if self._assembly.scenario.simulation.mode == "offline":
            self._planning = True
            # The trace is read three times: for the problem, for the on-line schedule, and for the
            # replay of the plan, which needs jobs as they come.
            self.plan, parts = planned_offline(self._assembly, self._parts)
            self._simulation = Simulation(self._timed(parts))
            self._planning = False
        jobs = self._assembly.source.jobs()
        for usage in self._usages:
            jobs = usage.timed_jobs(jobs)
        self._simulation.run(jobs)

    def _timed(self, parts: Parts) -> Parts:
        """Return parts with a dispatcher timed by the observers of CPU time."""
        for usage in self._usages:
            parts = parts._replace(dispatcher=usage.timed_dispatcher(parts.dispatcher))
        return parts

    def close(self) -> None:
        """Finish all records and displays."""
        self.not_closed = close_observers(self._followers)


class _Starts(Observer):
    """Observer of start times, by job number, in seconds."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {}

    def job_started(self, job: RunningJob) -> None:
        """Record the start."""
        self.of[job.job_id] = job.start_time


def planned_offline(assembly: Assembly, parts: Parts) -> tuple[OfflinePlan, Parts]:
    """Return a plan of the whole trace, and parts with a dispatcher that follows it.

    Planning begins with the on-line schedule of the dispatcher, among other plans.

    Raises
    ------
    InputError
        If the jobs or the objective cannot be planned for.
    """
    dispatcher = assembly.dispatcher
    assert isinstance(dispatcher, PlansOffline)
    problem = problem_of(
        assembly.source.jobs(),
        assembly.system,
        assembly.objective,
        idle_system(assembly.system, parts.uniform_request).snapshot(),
        kill_at_requested_time=parts.kill_at_requested_time,
    )
    starts = _Starts()
    Simulation(parts._replace(observers=[starts], givers={})).run(assembly.source.jobs())
    plan = dispatcher.plan_offline(problem._replace(online=starts.of))
    follower = ReplaysPlan(plan, dispatcher.allocator)
    return plan, parts._replace(dispatcher=follower, instants=plan.extra_rounds)
