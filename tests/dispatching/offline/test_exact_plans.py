"""Parts of a trace by hand."""

import numpy as np

from hpcsched.dispatching.objectives import AF
from hpcsched.dispatching.offline.exact_plans import parts_of_trace
from hpcsched.dispatching.offline.offline_trace import trace_of
from tests.builders import alike, traced
from tests.dispatching.offline.off_line import problem


def test_a_trace_falls_apart_where_nothing_is_left() -> None:
    """Jobs 0 and 1 end at 10 and 15, job 2 is submitted at 15, and still runs at 16."""
    jobs = [traced(1, 0, 4, 10), traced(2, 1, 4, 5), traced(3, 15, 4, 5), traced(4, 16, 4, 5)]
    trace = trace_of(problem(alike(4, core=1), jobs, AF(), (1,)))
    assert trace is not None
    parts = parts_of_trace(trace, np.array([0, 10, 15, 20]))
    assert [part.tolist() for part in parts] == [[0, 1], [2, 3]]
    late = parts_of_trace(trace, np.array([0, 11, 16, 21]))
    assert [part.tolist() for part in late] == [[0, 1, 2, 3]]
