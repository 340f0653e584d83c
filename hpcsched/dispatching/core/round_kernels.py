"""What Python calls to have one round decided: by slots or by nodes, with or without reasons."""

from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.room_kernels import count_fits
from hpcsched.dispatching.core.rule_kernels import decide
from hpcsched.dispatching.core.state_function import of_state


@of_state()
def decide_by_slot(state: State, now: int) -> None:
    """Start what the rule starts now, where slots are counted."""
    decide(now, state, None, None)


@of_state()
def decide_by_node(state: State, now: int) -> None:
    """Start what the rule starts now, where units are placed node by node."""
    count_fits(state)
    decide(now, state, True, None)


@of_state()
def explain_by_slot(state: State, now: int) -> None:
    """As `decide_by_slot`, writing down why jobs wait."""
    decide(now, state, None, True)


@of_state()
def explain_by_node(state: State, now: int) -> None:
    """As `decide_by_node`, writing down why jobs wait."""
    count_fits(state)
    decide(now, state, True, True)
