"""Calls between separately compiled functions of a state.

Each function is compiled when it is first needed and stored by itself, so that the callee can
differ from call to call, and that both can be compiled at once.
"""

from typing import Any

from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.core.state_function import StateFunction


def call_code(function: StateFunction, state: Any, number: int) -> None:
    """Call a function of a state and an integer that returns nothing.

    Compiled code calls the machine code of `function`, a field of the state, by its address.

    Parameters
    ----------
    function
        The callee.
    state
        State that is passed on.
    number
        Integer that is passed on.
    """
    plain(function)(state, number)
