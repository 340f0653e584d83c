"""Constraints known to schedule-or-postpone, with the mode of its search for each set of them.

The search has the meaning of a formulation from here, by the functions that make its variables and
its constraints. It refuses a formulation with any other function instead of leaving it out.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from hpcsched._core import PostponeMode
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.formulations.joint_now import (
    class_capacities,
    counts_by_class,
    counts_by_node,
    units_that_start_now,
)
from hpcsched.dispatching.cp.formulations.node_time import (
    UnitNodes,
    all_nodes_together,
    line_cumulatives,
    nodes_of_units,
)
from hpcsched.dispatching.cp.formulations.pcp4 import UnitCounts, all_units, node_capacities
from hpcsched.dispatching.cp.formulations.pcp19 import UnitIntervals, alternatives, node_cumulatives
from hpcsched.dispatching.cp.formulations.pcp20 import all_different
from hpcsched.dispatching.cp.formulations.pcp21 import ascending, needed_types
from hpcsched.dispatching.cp.formulations.scheduling import (
    Nowhere,
    cumulatives,
    disjunctions,
    system_cumulatives,
)
from hpcsched.dispatching.cp.formulations.unit_positions import (
    all_types,
    dominating_first,
    no_overlap,
    on_nodes,
)
from hpcsched.errors import Finding, InputError


class Meaning(NamedTuple):
    """A set of known constraints, and the mode of the search for it.

    Attributes
    ----------
    mode
        See `PostponeMode`.
    placings
        Functions that make the variables.
    needed
        Constraints that mean this together.
    others
        Constraints that leave at least one of the best plans of those that are needed, and
        `dominating_first`, which the search keeps to where the formulation has it.
    """

    mode: PostponeMode
    placings: tuple[Callable[..., Any], ...]
    needed: tuple[Callable[..., Any], ...]
    others: tuple[Callable[..., Any], ...] = ()


MEANINGS = (
    Meaning(PostponeMode.AGGREGATED, (Nowhere,), (system_cumulatives,)),
    Meaning(
        PostponeMode.NOW,
        (counts_by_class, counts_by_node),
        (cumulatives, units_that_start_now, class_capacities),
    ),
    Meaning(
        PostponeMode.COUNTS, (UnitIntervals,), (alternatives, node_cumulatives), (cumulatives,)
    ),
    Meaning(
        PostponeMode.COUNTS,
        (UnitCounts,),
        (all_units, node_capacities),
        (cumulatives, disjunctions),
    ),
    Meaning(
        PostponeMode.COUNTS, (UnitNodes,), (nodes_of_units, line_cumulatives), (all_nodes_together,)
    ),
    Meaning(
        PostponeMode.POSITIONS,
        (all_types, needed_types),
        (on_nodes, no_overlap),
        (cumulatives, disjunctions, ascending, all_different, dominating_first),
    ),
)


def mode_of(formulation: Formulation) -> PostponeMode:
    """Return the mode of the search for a formulation, see `PostponeMode`.

    Raises
    ------
    InputError
        If one of its functions is not known, or one is absent that gives the others their meaning.
    """
    meaning = next((one for one in MEANINGS if formulation.placing in one.placings), None)
    if meaning is None:
        raise _refused(formulation, f"does not know the variables {_name(formulation.placing)}")
    known = (*meaning.needed, *meaning.others)
    if odd := [kind for kind in formulation.constraints if kind not in known]:
        names = ", ".join(map(_name, odd))
        raise _refused(formulation, f"does not know the constraints {names}")
    if absent := [kind for kind in meaning.needed if kind not in formulation.constraints]:
        names = ", ".join(map(_name, absent))
        raise _refused(formulation, f"always keeps the constraints {names}, which are not")
    return meaning.mode


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _refused(formulation: Formulation, why: str) -> InputError:
    message = (
        f"schedule-or-postpone {why} of the formulation {formulation.name}; expected a solver of"
        " CPMpy's models, such as ortools or choco"
    )
    return InputError(Finding("unknown-constraint", message, key="dispatcher.solver"))
