"""Fixed tasks in the terms of all solvers: their starts become variables of one value."""

from copy import copy
from typing import Any

import cpmpy as cp
from cpmpy.expressions.utils import is_num

ORIGINS = {
    "cumulative": (0,),
    "cumulative_optional": (0,),
    "no_overlap": (0,),
    "no_overlap_2d": (0, 2),
}
"""Where the starts, or origins, are among the arguments of a constraint on tasks."""


def with_constants(constraint: Any) -> Any:
    """Return a constraint on tasks with a variable of one value in place of each number.

    SCIP takes no number for the start of a task, and neither does Pumpkin. Each number gets a
    variable of its own, as SCIP 10 takes no variable for the starts of two tasks either. Any other
    constraint is returned as it is.
    """
    places = ORIGINS.get(getattr(constraint, "name", ""), ())
    if not any(is_num(origin) for place in places for origin in constraint.args[place]):
        return constraint
    arguments = list(constraint.args)
    for place in places:
        arguments[place] = [
            cp.intvar(int(origin), int(origin)) if is_num(origin) else origin
            for origin in arguments[place]
        ]
    # A copy, as the model's own constraint is used again when the model is loaded anew.
    changed = copy(constraint)
    changed.update_args(arguments)
    return changed
