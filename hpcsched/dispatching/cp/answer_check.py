"""Check of the types in a solver's answer, which may come from another process."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from hpcsched.dispatching.cp.model_solving import Answer
from hpcsched.dispatching.decision import SOLVED, SOLVER_STATUSES
from hpcsched.dispatching.planning.plan import Plan


def checked_answer(answer: Any) -> Answer:
    """Return an answer after a check of its types.

    Whether the plan can be executed is not checked.

    Parameters
    ----------
    answer
        The answer of a backend, as it was unpickled.

    Raises
    ------
    TypeError
        If a part has another type, or the plan does not go with the status.
    """
    if not isinstance(answer, Answer):
        raise TypeError(f"a solver's answer is an Answer, found {type(answer).__name__}")
    status, plan = answer.status, answer.plan
    if not isinstance(status, str) or status not in SOLVER_STATUSES:
        raise TypeError(f"{status!r} is no status of a solver")
    if (plan is not None) != (status in SOLVED):
        raise TypeError(f"{'no' if plan is None else 'a'} plan with the status {status}")
    if plan is not None and not (isinstance(plan, Plan) and all(_is_whole(part) for part in plan)):
        raise TypeError("a plan is made of arrays of whole numbers")
    if not isinstance(answer.objective, Integral | None):
        raise TypeError(f"an objective is a whole number, found {answer.objective!r}")
    if not isinstance(answer.bound, Real | None):
        raise TypeError(f"a bound is a number, found {answer.bound!r}")
    return answer


def _is_whole(part: object) -> bool:
    return isinstance(part, np.ndarray) and part.dtype.kind == "i"
