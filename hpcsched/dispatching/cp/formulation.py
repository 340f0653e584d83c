"""The protocol of a formulation, and what it builds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.system.system import IntArray

Variable = Any
"""A decision variable of CPMpy."""

Fit = Literal["exact", "restriction", "relaxation"]
"""How the plans of a model stand to those of the dispatching problem: as many, fewer, more."""

Binds = Literal["plan", "now", "nothing"]
"""For which jobs a formulation says on which nodes they go: all, those that start now, none."""


Value = Literal["least", "largest"]
"""From which end a variable's values are tried."""


class Phase(NamedTuple):
    """A step of a search: variables in the order to branch on them, and from which end."""

    variables: Sequence[Variable]
    value: Value = "least"


class Terms(NamedTuple):
    """What a formulation means, for a solver that works on the data and needs no model.

    `nodes`: of which jobs a plan says on which nodes they are: none, those that start now, or all;
    `positions`: and their units are side by side there, and stay where they are. `value`: from
    which end positions are tried. `back_to_start`: after a failure no other position is tried, but
    another start. `first`: only so many jobs, the first by priority, have a choice; all others end
    with the horizon.
    """

    nodes: Literal["none", "now", "counts", "positions"]
    value: Value = "least"
    back_to_start: bool = False
    first: int | None = None


@dataclass(frozen=True)
class BuiltModel:
    """A CPMpy model, and how to read it.

    `starts` are variables or numbers, `[J]`. `placed` returns units of each job on each node,
    `[J, N]`, once the model is solved; jobs of which the formulation says nothing have none.
    `hint` returns values for variables from a plan. `forbid` returns a constraint that rules out
    the placement of the present solution, for formulations whose placements may turn out wrong.
    `phases` are the papers' search, for backends that can be told.
    """

    model: Any
    starts: Sequence[Variable]
    placed: Callable[[], IntArray]
    hint: Callable[[Plan], dict[Variable, int]]
    variables: int
    phases: Sequence[Phase] = ()
    forbid: Callable[[], Any] | None = field(default=None)


class Formulation(Protocol):
    """Builds models; knows nothing of solvers."""

    @property
    def fit(self) -> Fit:
        """How plans of its models stand to those of the dispatching problem."""

    @property
    def binds(self) -> Binds:
        """For which jobs its plans name nodes."""

    @property
    def terms(self) -> Terms:
        """What its models mean, in short."""

    def variables(self, data: ModelData) -> int:
        """Return the number of decision variables of the model, as the source counts them."""

    def magnitude(self, data: ModelData) -> int:
        """Return the largest number in the constraints that a solver may have to work with."""

    def build(self, data: ModelData) -> BuiltModel:
        """Build the model."""
