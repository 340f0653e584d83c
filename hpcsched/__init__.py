"""hpcsched: declare an HPC system, a workload and a dispatcher; replay; report how well it went.

`load_scenario` reads and validates a YAML file, `run` replays it and returns a `RunResult`, and
`open_run` returns that of a run directory that is there already. `replay` replays a scenario in
memory, without a run directory, over a workload that `read_workload` reads once, so that many
dispatchers can be compared in one process. The other names are for plugins: protocols, parameters
and errors. These names are the public interface, with `hpcsched.testing` and the modules that
docs/api.md lists; every other module may change in any release.
"""

# Each name is loaded when it is first used: importing the package takes no time. The stub, which
# type checkers read, lists them, a line for each: `from MODULE import NAME as NAME`.
from importlib import import_module
from typing import Any

from hpcsched.version import __version__ as __version__

with open(f"{__file__}i", encoding="utf-8") as _stub:  # noqa: PTH123 (pathlib takes its time)
    _EXPORTS = {words[3]: words[1] for words in map(str.split, _stub) if words[:1] == ["from"]}
del _EXPORTS["__version__"]

__all__ = list(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'hpcsched' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
