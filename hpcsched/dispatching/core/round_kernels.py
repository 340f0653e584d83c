"""What Python calls to have one round decided: by slots or by nodes, with or without reasons."""

from hpcsched.dispatching.core.codes import QUEUED, SHAPE
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.room_kernels import add_waiting
from hpcsched.dispatching.core.rule_kernels import decide
from hpcsched.dispatching.core.state_function import of_state


@compiled()
def _count_fits(state: State) -> None:
    """Count how many units fit on the nodes of each shape that waits."""
    for k in range(state.counters[QUEUED]):
        add_waiting(state.jobs[state.queue[k], SHAPE], state)


@of_state()
def decide_by_slot(state: State, now: int) -> None:
    """Start what the rule starts now, where slots are counted."""
    decide(now, state, None, None)


@of_state()
def decide_by_node(state: State, now: int) -> None:
    """Start what the rule starts now, where units are placed node by node."""
    _count_fits(state)
    decide(now, state, True, None)


@of_state()
def explain_by_slot(state: State, now: int) -> None:
    """As `decide_by_slot`, writing down why jobs wait."""
    decide(now, state, None, True)


@of_state()
def explain_by_node(state: State, now: int) -> None:
    """As `decide_by_node`, writing down why jobs wait."""
    _count_fits(state)
    decide(now, state, True, True)
