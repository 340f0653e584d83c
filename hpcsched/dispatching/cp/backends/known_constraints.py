"""Constraints known to schedule-or-postpone, with the mode of its search for each set of them.

The search has the meaning of a formulation from here, by the functions that make its variables and
its constraints. It refuses a formulation with any other function instead of leaving it out.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from hpcsched._core import PostponeMode
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.formulations import (
    joint_now,
    node_time,
    pcp4,
    pcp19,
    pcp20,
    pcp21,
    scheduling,
    unit_positions,
)
from hpcsched.errors import Finding, InputError


class Meaning(NamedTuple):
    """A set of known constraints, and the mode of the search for it.

    Attributes
    ----------
    others
        Constraints that leave at least one of the best plans of those that are needed, and
        `dominating_first`, which the search keeps to where the formulation has it.
    """

    mode: PostponeMode
    placings: tuple[Callable[..., Any], ...]
    needed: tuple[Callable[..., Any], ...]
    others: tuple[Callable[..., Any], ...] = ()


MEANINGS = (
    Meaning(PostponeMode.AGGREGATED, (scheduling.Nowhere,), (scheduling.system_cumulatives,)),
    Meaning(
        PostponeMode.NOW,
        (joint_now.counts_by_class, joint_now.counts_by_node),
        (scheduling.cumulatives, joint_now.units_that_start_now, joint_now.class_capacities),
    ),
    Meaning(
        PostponeMode.COUNTS,
        (pcp19.UnitIntervals,),
        (pcp19.alternatives, pcp19.node_cumulatives),
        (scheduling.cumulatives,),
    ),
    Meaning(
        PostponeMode.COUNTS,
        (pcp4.UnitCounts,),
        (pcp4.all_units, pcp4.node_capacities),
        (scheduling.cumulatives, scheduling.disjunctions),
    ),
    Meaning(
        PostponeMode.COUNTS,
        (node_time.UnitNodes,),
        (node_time.nodes_of_units, node_time.line_cumulatives),
        (node_time.all_nodes_together,),
    ),
    Meaning(
        PostponeMode.POSITIONS,
        (unit_positions.all_types, pcp21.needed_types),
        (unit_positions.on_nodes, unit_positions.no_overlap),
        (
            scheduling.cumulatives,
            scheduling.disjunctions,
            pcp21.ascending,
            pcp20.all_different,
            unit_positions.dominating_first,
        ),
    ),
)


def mode_of(formulation: Formulation) -> PostponeMode:
    """Return the mode of the search for a formulation, see `PostponeMode`."""
    meaning = next((one for one in MEANINGS if formulation.placing in one.placings), None)
    if meaning is None:
        raise _refused(formulation, f"does not know the variables {_name(formulation.placing)}")
    known = (*meaning.needed, *meaning.others)
    if odd := [_name(kind) for kind in formulation.constraints if kind not in known]:
        raise _refused(formulation, f"does not know the constraints {', '.join(odd)}")
    if absent := [_name(kind) for kind in meaning.needed if kind not in formulation.constraints]:
        names = ", ".join(absent)
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
