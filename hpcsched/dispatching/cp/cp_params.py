"""Parameters of the CP dispatchers."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from hpcsched.dispatching.planning import Jobs
from hpcsched.dispatching.rules.rule_params import ExpectedWaitParams
from hpcsched.parameters import (
    NONE,
    Listed,
    NotReproducible,
    OrElse,
    Params,
    PositiveDuration,
    Selects,
)

BUDGET = 0.002
"""Default work of a round."""

ModelJobs = Annotated[
    Jobs,
    Field(
        description="Jobs in the model. fitting: those for which there is room on nodes now; pool:"
        " those that ask for no more than is free of all nodes together, as in the papers' text;"
        " all."
    ),
]

Orders = Annotated[tuple[Annotated[Any, Selects("queue_order")], ...], Listed]

Length = Annotated[
    int, Field(ge=1, description="Maximum number of planned jobs, the first by priority (m).")
]


class TimeLimits(Params):
    """The papers' protocol: the clock stops the solver."""

    first: PositiveDuration = 1
    """Initial time limit (δ), in seconds."""
    most: PositiveDuration = 16
    """Maximum time limit (δmax), in seconds, while there is no plan."""
    extensions: int = Field(2, ge=0)
    """Number of extensions without a better plan after which the search stops (k); each doubles the
    limit. 0: stop at the first plan."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.most < self.first:
            raise ValueError(f"most is at least first, found {self.most} and {self.first}")
        return self


class CpParams(Params):
    """Parameters of a CP dispatcher."""

    solver: Annotated[Any, Selects("solver")] = "ortools"
    """Solver of the models."""
    jobs: ModelJobs = "fitting"
    queue_length: Length = 100
    fill: bool = True
    """Start jobs beyond these now if that delays none of them. In the papers they wait."""
    priority: Annotated[Any, Selects("queue_order")] = Field({"name": "slowdown", "ties": "area"})
    """Priority order of the jobs."""
    spare_nodes: float | None = Field(1.5, ge=1)
    """Capacity of the nodes in the model, as a multiple of the requests of the planned jobs; the
    fullest nodes and those that are free soonest are kept. null: all nodes. cp and best-of keep all
    nodes if queued jobs × nodes are at most 4,096. hcp19, cp and best-of leave out nodes in list
    plans only; their models count all nodes."""
    largest_model: int = Field(20_000, ge=1)
    """Maximum number of decision variables; a larger model is cut to fewer jobs."""
    orders: Orders = ("fcfs", "sjf", "saf")
    """Queue orders of the list plans that give the warm start; []: no warm start, and no list plan
    to fall back to."""
    budget: float | None = Field(
        None,
        gt=0,
        description="How much work the solver may do in a round, counted in its own measure (see"
        f" the page on solvers); {BUDGET} unless time limits are given.",
    )
    time_limits: Annotated[
        TimeLimits | None, NotReproducible("time limits stop the solver by the clock")
    ] = None
    """The papers' time limits, in place of a budget."""
    guard: PositiveDuration | None = 60
    """Time limit of the watchdog, in seconds: it ends the solver's process, and the best list plan
    is used. null: the solver runs in hpcsched's process, without a watchdog."""
    allocator: Annotated[Any, Selects("allocator")] = "best-fit"
    """Allocator, which chooses the nodes of a job if the model does not."""

    @model_validator(mode="after")
    def _check_limits(self) -> Self:
        if self.budget is not None and self.time_limits is not None:
            raise ValueError("a budget and time limits exclude each other")
        return self


class PlanAllParams(CpParams):
    """Parameters of a CP dispatcher that can afford to plan all jobs."""

    jobs: ModelJobs = "all"


class PaperParams(CpParams):
    """Parameters of the dispatchers of the CP 2021 paper and of the thesis."""

    horizon: Literal["tight", "worst_case"] = "tight"
    """Planning horizon: the latest time that a better plan can reach, or the sum of all run times,
    as in the papers."""


class VersionParams(PaperParams):
    """Parameters of the dispatchers with several versions in the thesis."""

    version: Literal[0, 1, 2, 3] = 3
    """Version (thesis, table 5.1). 0: the original; 1: reduced model; 2: running jobs that outlive
    their prediction keep their nodes; 3: the scenario's objective and priority, in place of
    expected waits."""
    expected_wait: ExpectedWaitParams | None = None
    """Expected wait times, for versions 0 to 2."""

    @model_validator(mode="after")
    def _check_version(self) -> Self:
        if self.version < 3 and self.expected_wait is None:
            raise ValueError(f"expected 'expected_wait' with version {self.version}, found none")
        if self.version == 3 and self.expected_wait is not None:
            raise ValueError(
                "expected 'version' 0, 1 or 2 with 'expected_wait', found 3, which is the default"
            )
        return self


class Hcp19Params(VersionParams):
    """Parameters of `hcp19`."""

    jobs: ModelJobs = "pool"
    decode: Literal["list", "prb"] = "prb"
    """Decoding of the plan. prb, as in the papers: jobs planned to start now are placed by
    priority, and wait where they do not fit. list: list scheduling in the order of planned starts,
    if better than the list plans."""

    @model_validator(mode="after")
    def _check_decode(self) -> Self:
        if self.version < 2 and self.decode != "prb":
            raise ValueError(f"version {self.version} needs decode: prb")
        return self


class Pcp21Params(PaperParams):
    """Parameters of `pcp21`."""

    symmetric: bool = False
    """PCP'21s: the same model; a solver with the papers' search tries one placement of a job for
    each start time."""


class ImproveParams(PlanAllParams):
    """Parameters that `cp` and `best-of` share."""

    queue_length: Length = 200
    dinkelbach_parameter: float | None = Field(None, ge=0)
    """For an objective that is a ratio of sums (psf), the Dinkelbach parameter as a share of the
    ratio so far; null: the ratio of the planned jobs alone."""


class CpPlanParams(ImproveParams):
    """Parameters of `cp`."""

    search: int = Field(0, ge=0)
    """Work of an order search before the solver, in visited segments of plans (as `budget` of
    `order-search`); its plan is the warm start. 0: the best list plan is."""

    @model_validator(mode="after")
    def _check_search(self) -> Self:
        if self.search and not self.orders:
            raise ValueError("a search begins with orders, and there are none")
        return self


class BestOfParams(ImproveParams):
    """Parameters of `best-of`."""

    solver: Annotated[Any, Selects("solver"), OrElse(NONE)] = "ortools"
    """Solver that improves the list plans; `none`: the best list plan is used as it is."""
    orders: Orders = ("spf", "saf", "sjf")
    """Queue orders of the list plans, each of which the solver improves."""

    @model_validator(mode="after")
    def _check_solver(self) -> Self:
        limited = self.budget is not None or self.time_limits is not None
        if self.solver == NONE and (limited or not self.orders):
            raise ValueError("without a solver there are orders, no budget and no time limits")
        return self


class OrToolsParams(Params):
    """Search parameters of CP-SAT."""

    workers: Annotated[int, NotReproducible("several threads of CP-SAT race for plans")] = Field(
        1, ge=1
    )
    """Number of search threads."""


class AnySolverParams(Params):
    """The name of a solver of CPMpy."""

    not_reproducible: ClassVar = NotReproducible("the solver cpmpy stops by the clock")
    solver: str
    """Solver, as CPMpy names it, such as choco, exact or z3."""
