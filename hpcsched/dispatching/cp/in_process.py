"""A solver that runs in this process, for `guard: null`."""

import signal
import threading
from time import perf_counter

from hpcsched.dispatching.cp.answer_check import checked_answer
from hpcsched.dispatching.cp.model_solving import Answer, Task, solve
from hpcsched.interrupts import killed_where_stuck

_STUCK_SECONDS = 1.5
"""Time limit of a call in this process after a signal, in seconds."""


class InProcess:
    """Solves in this process: errors are caught, but nothing ends a call that overruns.

    `seconds` is not looked at, and a solver that crashes ends the run, as does one that goes on
    after Ctrl-C.
    """

    def solve(self, task: Task, seconds: float | None) -> Answer:
        """Solve a task, however long it takes.

        Parameters
        ----------
        task
            The model and its limits.
        seconds
            Time limit in real seconds; None: no limit.
        """
        began = perf_counter()
        on_interrupt = signal.getsignal(signal.SIGINT)
        try:
            with killed_where_stuck(_STUCK_SECONDS):
                solved = solve(task)
            answer = checked_answer(solved)
        except Exception as error:
            answer = failed(error)
        finally:
            # CP-SAT leaves the default behind, with which Ctrl-C ends the run without a word.
            if on_interrupt and threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGINT, on_interrupt)
        return timed(answer, began)

    def close(self) -> None:
        """Do nothing."""


def failed(error: Exception) -> Answer:
    """Return the answer of a call that raised an error."""
    return Answer("failed", why=f"{type(error).__name__}: {error}")


def timed(answer: Answer, began: float) -> Answer:
    """Return an answer with the time that was lost on it, where it says nothing of times."""
    if answer.status not in ("failed", "overrun") or answer.solve_time:
        return answer
    return answer._replace(solve_time=perf_counter() - began)
