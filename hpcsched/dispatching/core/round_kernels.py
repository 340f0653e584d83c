"""Rounds as separate machine code: entry points for Python and for the event loop.

There is one for slots and one for nodes each; those for Python come with reasons and without.
"""

from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.fit_count_kernels import count_fits
from hpcsched.dispatching.core.rule_kernels import decide, decide_for
from hpcsched.dispatching.core.state_function import of_state


@of_state()
def decide_by_slot(state: State, now: int) -> None:
    """Hold a round where slots are counted."""
    decide(now, state, None, None)


@of_state()
def decide_by_node(state: State, now: int) -> None:
    """Hold a round where units are placed node by node."""
    count_fits(state)
    decide(now, state, True, None)


@of_state()
def explain_by_slot(state: State, now: int) -> None:
    """Hold a round as `decide_by_slot`, and note reasons of waiting jobs."""
    decide(now, state, None, True)


@of_state()
def explain_by_node(state: State, now: int) -> None:
    """Hold a round as `decide_by_node`, and note reasons of waiting jobs."""
    count_fits(state)
    decide(now, state, True, True)


@of_state()
def replay_round_by_slot(state: State, now: int) -> None:
    """Hold a round of a rule with one reservation at most, within the event loop."""
    decide_for(now, state, None, None, None)


@of_state()
def replay_round_by_node(state: State, now: int) -> None:
    """Hold a round as `replay_round_by_slot`, with fit counts of nodes kept by the event loop."""
    decide_for(now, state, True, None, None)


@of_state()
def replay_plan_by_slot(state: State, now: int) -> None:
    """Hold a round of a rule that may reserve for all jobs, within the event loop."""
    decide_for(now, state, None, None, True)


@of_state()
def replay_plan_by_node(state: State, now: int) -> None:
    """Hold a round as `replay_plan_by_slot`, with fit counts of nodes kept by the event loop."""
    decide_for(now, state, True, None, True)
