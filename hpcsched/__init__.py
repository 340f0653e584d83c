"""hpcsched: declare an HPC system, a workload and a dispatcher; replay; report how well it went.

The Python API is small: `load_scenario` reads and validates a YAML file, `run` replays it and
returns a `RunResult`, and `open_run` returns that of a run directory that is there already. A
result has the `summary`, and all `jobs` and `rounds` as Arrow tables. `replay` replays a scenario
in memory, without a run directory, over a workload that `read_workload` reads once, so that many
dispatchers can be compared in one process. The protocols that plugins implement, and `hookimpl`
with which they register, are importable from here too. Everything is loaded on first use, so that
importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hpcsched.version import __version__ as __version__

if TYPE_CHECKING:
    from hpcsched.dispatching.allocator import Allocator as Allocator
    from hpcsched.dispatching.decision import Decision as Decision
    from hpcsched.dispatching.dispatcher_protocol import Dispatcher as Dispatcher
    from hpcsched.dispatching.problem import DispatchingProblem as DispatchingProblem
    from hpcsched.parameters import Params as Params
    from hpcsched.plugins.registry import Plugin as Plugin
    from hpcsched.plugins.spec import hookimpl as hookimpl
    from hpcsched.prediction.predictor import Predictor as Predictor
    from hpcsched.runs.replaying import Replay as Replay
    from hpcsched.runs.replaying import Workload as Workload
    from hpcsched.runs.replaying import read_workload as read_workload
    from hpcsched.runs.replaying import replay as replay
    from hpcsched.runs.runner import RunResult as RunResult
    from hpcsched.runs.runner import open_run as open_run
    from hpcsched.runs.runner import run as run
    from hpcsched.scenario import load_scenario as load_scenario
    from hpcsched.scenario.models import Scenario as Scenario
    from hpcsched.simulation.observer import Observer as Observer
    from hpcsched.workload.trace_source import TraceSource as TraceSource
    from hpcsched.workload.transform import Transform as Transform

_EXPORTS = {
    "Allocator": "hpcsched.dispatching.allocator",
    "Decision": "hpcsched.dispatching.decision",
    "Dispatcher": "hpcsched.dispatching.dispatcher_protocol",
    "DispatchingProblem": "hpcsched.dispatching.problem",
    "Observer": "hpcsched.simulation.observer",
    "Params": "hpcsched.parameters",
    "Plugin": "hpcsched.plugins.registry",
    "Predictor": "hpcsched.prediction.predictor",
    "Replay": "hpcsched.runs.replaying",
    "RunResult": "hpcsched.runs.runner",
    "Scenario": "hpcsched.scenario.models",
    "TraceSource": "hpcsched.workload.trace_source",
    "Transform": "hpcsched.workload.transform",
    "Workload": "hpcsched.runs.replaying",
    "hookimpl": "hpcsched.plugins.spec",
    "load_scenario": "hpcsched.scenario",
    "open_run": "hpcsched.runs.runner",
    "read_workload": "hpcsched.runs.replaying",
    "replay": "hpcsched.runs.replaying",
    "run": "hpcsched.runs.runner",
}

__all__ = list(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'hpcsched' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
