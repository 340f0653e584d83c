"""Calls among functions of a state whose machine code is made apart.

Each is compiled when it is first needed and kept by itself, so that what is called can be another
function each time, and that both can be compiled at once.
"""

from typing import Any

from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.core.state_function import StateFunction


def call_code(function: StateFunction, state: Any, number: int) -> None:
    """Call a function of a state and a whole number that returns nothing.

    Compiled code calls the machine code of `function`, a field of the state, by its address.
    """
    plain(function)(state, number)
