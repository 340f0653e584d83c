"""Rounds as machine code of their own: what Python calls, and what the loop of events does.

They are for slots or for nodes, and those that Python calls with reasons or without.
"""

from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.fit_count_kernels import count_fits
from hpcsched.dispatching.core.rule_kernels import decide, decide_for
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


@of_state()
def replay_round_by_slot(state: State, now: int) -> None:
    """Start what a rule starts that reserves for one job at most; the loop of events calls it."""
    decide_for(now, state, None, None, None)


@of_state()
def replay_round_by_node(state: State, now: int) -> None:
    """As `replay_round_by_slot`, where the room on nodes is kept count of."""
    decide_for(now, state, True, None, None)


@of_state()
def replay_plan_by_slot(state: State, now: int) -> None:
    """Start what a rule starts that may reserve for all jobs; the loop of events calls it."""
    decide_for(now, state, None, None, True)


@of_state()
def replay_plan_by_node(state: State, now: int) -> None:
    """As `replay_plan_by_slot`, where the room on nodes is kept count of."""
    decide_for(now, state, True, None, True)
