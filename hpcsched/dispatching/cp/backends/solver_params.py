"""Parameters of solvers and their Python packages, apart from the solvers: they import slowly."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from hpcsched.parameters import NotReproducible, Params
from hpcsched.registration import OptionalPackage

CHOCO_PACKAGE = OptionalPackage("solver choco", "pychoco", "pychoco", "choco")


class BranchingParams(Params):
    """Search parameters of solvers that can follow the papers' search."""

    search: Literal["own", "papers"] = Field(
        "own",
        description="Branching: the solver's own, or the papers': start the job with the highest"
        " priority as early as possible, then place it, or postpone it.",
    )


class OrToolsParams(BranchingParams):
    """Search parameters of CP-SAT."""

    workers: Annotated[int, NotReproducible("several threads of CP-SAT race for plans")] = Field(
        1, ge=1, description="Number of search threads."
    )


class AnySolverParams(Params):
    """The name of a solver of CPMpy."""

    not_reproducible: ClassVar = NotReproducible("the solver cpmpy stops by the clock")
    solver: str = Field(description="Solver, as CPMpy names it, such as pumpkin, exact or z3.")
