"""The solvers that a scenario can name, with their parameters.

A backend is imported where one is made: CPMpy and the solvers take time to import.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from hpcsched.dispatching.cp.backends import installed
from hpcsched.parameters import NotReproducible, Params

SEARCH = (
    "Whether {} decides on what to branch, or the papers' search does: start the job with the"
    " highest priority as early as possible, then place it, or postpone it."
)


class OrToolsParams(Params):
    """How CP-SAT searches."""

    search: Literal["own", "papers"] = Field("own", description=SEARCH.format("CP-SAT"))


class ChocoParams(Params):
    """How Choco searches."""

    search: Literal["own", "papers"] = Field("own", description=SEARCH.format("Choco"))


class ScheduleOrPostponeParams(Params):
    """How schedule-or-postpone searches."""

    restart_after: int | None = Field(
        None,
        ge=1,
        description="After how many fails to begin anew with another order of jobs, at first; after"
        " twice as many the next time, and so on. null: never.",
    )


class PumpkinParams(Params):
    """Pumpkin has no parameters."""

    not_reproducible: ClassVar = NotReproducible("the solver pumpkin stops by the clock")


class CpOptimizerParams(Params):
    """How CP Optimizer searches."""

    not_reproducible: ClassVar = NotReproducible("the solver cpo stops by the clock")
    workers: int = Field(1, ge=1, description="How many threads search.")


def _make_ortools(params: OrToolsParams, _context: object) -> object:
    from hpcsched.dispatching.cp.backends.ortools import OrTools

    return OrTools(follow_phases=params.search == "papers")


def _make_schedule_or_postpone(params: ScheduleOrPostponeParams, _context: object) -> object:
    from hpcsched.dispatching.cp.backends.schedule_or_postpone import ScheduleOrPostpone

    return ScheduleOrPostpone(params.restart_after)


def _make_choco(params: ChocoParams, _context: object) -> object:
    installed.CHOCO.require()
    from hpcsched.dispatching.cp.backends.choco import Choco

    return Choco(follow_phases=params.search == "papers")


def _make_pumpkin(_params: PumpkinParams, _context: object) -> object:
    installed.PUMPKIN.require()
    from hpcsched.dispatching.cp.backends.pumpkin import Pumpkin

    return Pumpkin()


def _make_z3(_params: Params, _context: object) -> object:
    installed.Z3.require()
    from hpcsched.dispatching.cp.backends.z3 import Z3

    return Z3()


def _make_exact(_params: Params, _context: object) -> object:
    installed.EXACT.require()
    from hpcsched.dispatching.cp.backends.exact import Exact

    return Exact()


def _make_cpo(params: CpOptimizerParams, _context: object) -> object:
    installed.CPO.require()
    from hpcsched.dispatching.cp.backends.cpo import CpOptimizer

    return CpOptimizer(params.workers)


class SolverPlugin(NamedTuple):
    """A plugin of the kind `solver`; `package` is what it needs beside hpcsched."""

    name: str
    summary: str
    factory: Callable[[Any, Any], object]
    params: type[Params] = Params
    package: installed.Package | None = None


SOLVERS: Sequence[SolverPlugin] = (
    SolverPlugin("ortools", "OR-Tools CP-SAT", _make_ortools, OrToolsParams),
    SolverPlugin(
        "schedule-or-postpone",
        "the papers' search, which is part of hpcsched",
        _make_schedule_or_postpone,
        ScheduleOrPostponeParams,
    ),
    SolverPlugin("choco", "Choco", _make_choco, ChocoParams, installed.CHOCO),
    SolverPlugin(
        "pumpkin",
        "Pumpkin, which stops by the clock",
        _make_pumpkin,
        PumpkinParams,
        installed.PUMPKIN,
    ),
    SolverPlugin("z3", "z3, for small models", _make_z3, package=installed.Z3),
    SolverPlugin("exact", "Exact, for small models", _make_exact, package=installed.EXACT),
    SolverPlugin(
        "cpo",
        "CP Optimizer, which takes a licence and stops by the clock",
        _make_cpo,
        CpOptimizerParams,
        installed.CPO,
    ),
)
