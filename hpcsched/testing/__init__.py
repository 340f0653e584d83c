"""Test kit for authors of plugins; needs the extra `testing`.

Functions build small systems, jobs and dispatching problems, replay jobs under a dispatcher, and
check a plugin of each kind (`check_dispatcher` and the like). Two pytest fixtures,
`use_plugins` and `run_scenario`, let a test use plugins that are not installed; put this into your
`conftest.py`:

    pytest_plugins = ["hpcsched.testing"]

Nothing here relies on rewritten `assert` statements, so pytest may leave it as it is:
PYTEST_DONT_REWRITE.
"""

from hpcsched.testing.building import (
    SampleWorkload,
    make_jobs,
    make_problem,
    make_system,
    sample_workloads,
)
from hpcsched.testing.replaying import (
    RunScenario,
    UsePlugins,
    audit_replay,
    replay,
    run_scenario,
    start_times,
    use_plugins,
)
from hpcsched.testing.service_checks import check_executor, check_solver, check_workload_manager
from hpcsched.testing.workload_checks import (
    check_allocator,
    check_correction,
    check_dispatcher,
    check_metric,
    check_objective,
    check_observer,
    check_predictor,
    check_queue_order,
    check_trace_source,
    check_transform,
)

__all__ = [
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
