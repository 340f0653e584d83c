"""Parameters of the CP dispatchers."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from hpcsched.dispatching.rules.rule_params import ExpectedWaitParams
from hpcsched.parameters import (
    NONE,
    Listed,
    NotReproducible,
    OrNone,
    Params,
    PositiveDuration,
    Selects,
)

BUDGET = 0.002
"""Default work of a round."""


class TimeLimits(Params):
    """The papers' protocol: the clock stops the solver."""

    first: PositiveDuration = Field(1, description="The time limit at first (δ), in seconds.")
    most: PositiveDuration = Field(
        16, description="The time limit at most (δmax), in seconds, where there is no plan yet."
    )
    extensions: int = Field(
        2,
        ge=0,
        description="After how many extensions, each to twice the limit before, without a better"
        " plan to stop (k); 0: as soon as there is a plan.",
    )

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.most < self.first:
            raise ValueError(f"most is at least first, found {self.most} and {self.first}")
        return self


class CpParams(Params):
    """Parameters of a CP dispatcher."""

    solver: Annotated[Any, Selects("solver")] = Field(
        "ortools", description="What solves the models."
    )
    jobs: Literal["fitting", "all"] = Field(
        "fitting", description="Whether to plan only the jobs that could start now, or all."
    )
    queue_length: int = Field(
        100, ge=1, description="How many jobs to plan at most, the first by priority (m)."
    )
    fill: bool = Field(
        True,
        description="Whether jobs beyond those start now where that delays none of them. In the"
        " papers they wait.",
    )
    priority: Annotated[Any, Selects("queue_order")] = Field(
        {"name": "slowdown", "ties": "area"}, description="Which jobs come first."
    )
    spare_nodes: float | None = Field(
        1.5,
        ge=1,
        description="Nodes are left out of the model beyond this multiple of what the jobs ask for;"
        " the fullest and those that are free soonest stay. null: none are. cp and best-of leave"
        " none out where queued jobs × nodes are 4,096 or fewer. hcp19, cp and best-of leave them"
        " out of list plans alone: their resources are those of all nodes.",
    )
    largest_model: int = Field(
        20_000,
        ge=1,
        description="At most so many decision variables; the solver is asked about fewer jobs"
        " beyond.",
    )
    orders: Annotated[tuple[Annotated[Any, Selects("queue_order")], ...], Listed] = Field(
        ("fcfs", "sjf", "saf"),
        description="The orders of the list plans that the solver starts from; none: it starts from"
        " nothing, and its plan is compared with none.",
    )
    equal_plans: Literal["any", "by_priority"] = Field(
        "any",
        description="Which plan is asked for where several have the least objective: any; or, so"
        " that solvers agree, the one in which the first job by priority starts soonest, then the"
        " second, and so on. That takes more calls within the limits once a plan is proved.",
    )
    budget: float | None = Field(
        None,
        gt=0,
        description="How much work the solver may do in a round, counted in its own measure (see"
        f" the page on solvers); {BUDGET} unless time limits are given.",
    )
    time_limits: Annotated[
        TimeLimits | None, NotReproducible("time limits stop the solver by the clock")
    ] = Field(None, description="The papers' time limits, instead of a budget.")
    guard: PositiveDuration | None = Field(
        60,
        description="After so many seconds the solver's process is ended and the best list plan is"
        " carried out; null: the solver shares hpcsched's process and nothing watches it.",
    )
    allocator: Annotated[Any, Selects("allocator")] = Field(
        "best-fit",
        description="Decides on which nodes a job is placed where the model does not say.",
    )

    @model_validator(mode="after")
    def _check_limits(self) -> Self:
        if self.budget is not None and self.time_limits is not None:
            raise ValueError("a budget and time limits exclude each other")
        return self


class PlanAllParams(CpParams):
    """Parameters of a CP dispatcher that can afford to plan all jobs."""

    jobs: Literal["fitting", "all"] = Field(
        "all", description="Whether to plan only the jobs that could start now, or all."
    )


class JointNowParams(PlanAllParams):
    """Parameters of `joint-now`."""

    node_classes: bool = Field(
        True, description="Whether nodes of equal availability are modelled as one."
    )


class PaperParams(CpParams):
    """Parameters of the dispatchers of the CP 2021 paper and of the thesis."""

    horizon: Literal["tight", "worst_case"] = Field(
        "tight",
        description="How far plans reach: as far as better ones may, or, as in the papers, the sum"
        " of all run times.",
    )


class VersionParams(PaperParams):
    """Parameters of the dispatchers with several versions in the thesis."""

    version: Literal[0, 1, 2, 3] = Field(
        3,
        description="The version (thesis, table 5.1). 0: the original; 1: reduced model; 2: running"
        " jobs that outlive their prediction still hold their room; 3: the objective and the"
        " priority are the scenario's, not expected waits.",
    )
    expected_wait: ExpectedWaitParams | None = Field(
        None, description="How long jobs are expected to wait; versions 0 to 2 go by it."
    )

    @model_validator(mode="after")
    def _check_version(self) -> Self:
        if self.version < 3 and self.expected_wait is None:
            raise ValueError(f"version {self.version} needs expected_wait")
        if self.version == 3 and self.expected_wait is not None:
            raise ValueError("expected_wait is for versions 0 to 2")
        return self


class Hcp19Params(VersionParams):
    """Parameters of `hcp19`."""

    decode: Literal["list", "prb"] = Field(
        "prb",
        description="How its plan is carried out. prb, as in the papers: what is planned to start"
        " now is placed in order of priority, and waits where there is no room; list: by list"
        " scheduling in the order of planned starts, if that is better than the list plans.",
    )

    @model_validator(mode="after")
    def _check_decode(self) -> Self:
        if self.version < 2 and self.decode != "prb":
            raise ValueError(f"version {self.version} needs decode: prb")
        return self


class Pcp21Params(PaperParams):
    """Parameters of `pcp21`."""

    symmetric: bool = Field(
        False,
        description="PCP'21s: the same model, in which a solver that follows the papers' search"
        " tries one way to place a job at a start, and then another start.",
    )
    shared_positions: bool = Field(
        False,
        description="Whether a resource type has no positions of its own of which no job asks for a"
        " larger share of a node than of another: a smaller model, which is hpcsched's own.",
    )


class ImproveParams(PlanAllParams):
    """Parameters that `cp` and `best-of` share."""

    former_keys: ClassVar = {"level": "dinkelbach_parameter"}

    queue_length: int = Field(
        200, ge=1, description="How many jobs to plan at most, the first by priority."
    )
    dinkelbach_parameter: float | None = Field(
        None,
        ge=0,
        description="Share of the ratio so far around which plans are compared, for an objective"
        " that is a ratio of sums (psf); null: by the ratio of the planned jobs alone.",
    )


class CpPlanParams(ImproveParams):
    """Parameters of `cp`."""

    search: int = Field(
        0,
        ge=0,
        description="How long to search for the order with the best plan, which is then made"
        " better by the solver: looking through so many pieces of plans, as `budget` of"
        " `order-search`; 0: the solver starts from the best of the list plans.",
    )

    @model_validator(mode="after")
    def _check_search(self) -> Self:
        if self.search and not self.orders:
            raise ValueError("a search begins with orders, and there are none")
        return self


class BestOfParams(ImproveParams):
    """Parameters of `best-of`."""

    solver: Annotated[Any, Selects("solver"), OrNone()] = Field(
        "ortools",
        description="What makes list plans better; `none`: nothing does, and the best of them is"
        " carried out.",
    )
    orders: Annotated[tuple[Annotated[Any, Selects("queue_order")], ...], Listed] = Field(
        ("spf", "saf", "sjf"),
        description="The orders of the list plans, each of which the solver makes better.",
    )

    @model_validator(mode="after")
    def _check_solver(self) -> Self:
        if self.solver != NONE:
            return self
        if not self.orders:
            raise ValueError("without a solver there have to be orders")
        if self.budget is not None or self.time_limits is not None:
            raise ValueError("a budget and time limits are for a solver")
        return self
