"""The dispatcher that rejects every job."""

from hpcsched.dispatching.rules.recorded import Reject
from hpcsched.testing import make_problem, make_system


def test_the_whole_queue_is_rejected() -> None:
    """Both queued jobs go and none starts, whether there is room or not; the running job stays."""
    problem = make_problem(
        make_system(4),
        "job_id units run_time start_time\n1 1 9 0\n2 1 9 -\n3 4 9 -",
    )
    decision = Reject().dispatch(problem)
    assert (tuple(decision.rejected), tuple(decision.starts)) == ((2, 3), ())
