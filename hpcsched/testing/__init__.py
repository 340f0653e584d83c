"""Test kit for authors of plugins; needs the extra `testing`.

Functions build small systems, jobs and dispatching problems, replay jobs under a dispatcher, and
check a plugin of each kind (`check_dispatcher` and the like). Two pytest fixtures,
`use_plugins` and `run_scenario`, let a test use plugins that are not installed; put this into your
`conftest.py`:

    pytest_plugins = ["hpcsched.testing"]

Nothing here relies on rewritten `assert` statements, so pytest may leave it as it is:
PYTEST_DONT_REWRITE.
"""

from hpcsched.testing.allocator_check import check_allocator
from hpcsched.testing.audit import audit_replay
from hpcsched.testing.building import make_jobs, make_problem, make_system
from hpcsched.testing.correction import check_correction
from hpcsched.testing.dispatcher import check_dispatcher
from hpcsched.testing.executor_check import check_executor
from hpcsched.testing.figure_check import check_metric, check_objective
from hpcsched.testing.fixtures import RunScenario, UsePlugins, run_scenario, use_plugins
from hpcsched.testing.observer_check import check_observer
from hpcsched.testing.predictor import check_predictor
from hpcsched.testing.queue_order_check import check_queue_order
from hpcsched.testing.replaying import ReplayConditions, replay, start_times
from hpcsched.testing.solver_check import check_solver
from hpcsched.testing.trace_check import check_trace_source, check_transform
from hpcsched.testing.workload_manager_check import check_workload_manager
from hpcsched.testing.workloads import SampleWorkload, sample_workloads

__all__ = [
    "ReplayConditions",
    "RunScenario",
    "SampleWorkload",
    "UsePlugins",
    "audit_replay",
    "check_allocator",
    "check_correction",
    "check_dispatcher",
    "check_executor",
    "check_metric",
    "check_objective",
    "check_observer",
    "check_predictor",
    "check_queue_order",
    "check_solver",
    "check_trace_source",
    "check_transform",
    "check_workload_manager",
    "make_jobs",
    "make_problem",
    "make_system",
    "replay",
    "run_scenario",
    "sample_workloads",
    "start_times",
    "use_plugins",
]
