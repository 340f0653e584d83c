"""Planning of a whole trace before it is replayed."""

from hpcsched.dispatching.offline.offline_problem import OfflinePlan, PlansOffline, problem_of
from hpcsched.dispatching.offline.plan_replay import ReplaysPlan
from hpcsched.dispatching.problem import RunningJob
from hpcsched.runs.assembly import Assembly
from hpcsched.simulation.engine import Simulation
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.occupancy import idle_system
from hpcsched.simulation.parts import Parts


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
