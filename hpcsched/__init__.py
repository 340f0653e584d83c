"""hpcsched: declare an HPC system, a workload and a dispatcher; replay; report how well it went.

The Python API is small: `load_scenario` reads and validates a YAML file, `run` replays it and
returns a `RunResult`. The protocols that plugins implement, and `hookimpl` with which they
register, are importable from here too. Everything is loaded on first use, so that importing the
package costs nothing.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_EXPORTS = {
    "Allocator": "hpcsched.dispatching.allocator",
    "Decision": "hpcsched.dispatching.decision",
    "Dispatcher": "hpcsched.dispatching.dispatcher",
    "DispatchingProblem": "hpcsched.dispatching.problem",
    "Observer": "hpcsched.simulation.observer",
    "Params": "hpcsched.parameters",
    "Plugin": "hpcsched.plugin.registry",
    "Predictor": "hpcsched.prediction.predictor",
    "RunResult": "hpcsched.runner",
    "Scenario": "hpcsched.scenario.models",
    "TraceSource": "hpcsched.workload.source",
    "hookimpl": "hpcsched.plugin.spec",
    "load_scenario": "hpcsched.scenario",
    "run": "hpcsched.runner",
}

__all__ = list(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'hpcsched' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
