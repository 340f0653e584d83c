"""Parameters of solvers and their Python packages, apart from the solvers: they import slowly."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from hpcsched.parameters import NotReproducible, Params
from hpcsched.registration import OptionalPackage

SEARCH = (
    "Whether {} decides on what to branch, or the papers' search does: start the job with the"
    " highest priority as early as possible, then place it, or postpone it."
)


class OrToolsParams(Params):
    """Search parameters of CP-SAT."""

    search: Literal["own", "papers"] = Field("own", description=SEARCH.format("CP-SAT"))
    workers: Annotated[int, NotReproducible("several threads of CP-SAT race for plans")] = Field(
        1, ge=1, description="Number of search threads."
    )


class ChocoParams(Params):
    """Search parameters of Choco."""

    search: Literal["own", "papers"] = Field("own", description=SEARCH.format("Choco"))


class ScheduleOrPostponeParams(Params):
    """Search parameters of schedule-or-postpone."""

    restart_after: int | None = Field(
        None,
        ge=1,
        description="Number of fails before the first restart with another order of jobs; it"
        " doubles at each restart. null: no restarts.",
    )


class PumpkinParams(Params):
    """Pumpkin has no parameters."""

    not_reproducible: ClassVar = NotReproducible("the solver pumpkin stops by the clock")


class CpOptimizerParams(Params):
    """Search parameters of CP Optimizer."""

    not_reproducible: ClassVar = NotReproducible("the solver cpo stops by the clock")
    workers: int = Field(1, ge=1, description="Number of search threads.")


class AnySolverParams(Params):
    """The name of a solver of CPMpy."""

    not_reproducible: ClassVar = NotReproducible("the solver cpmpy stops by the clock")
    solver: str = Field(description="Solver, as CPMpy names it, such as exact, z3 or gcs.")


CHOCO_PACKAGE = OptionalPackage("solver choco", "pychoco", "pychoco", "choco")
PUMPKIN_PACKAGE = OptionalPackage("solver pumpkin", "pumpkin_solver", "pumpkin-solver", "pumpkin")
CPO_PACKAGE = OptionalPackage("solver cpo", "docplex", "docplex", "cpo")
