"""What a replay has written, as columns, by hand."""

import numpy as np

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state_arrays import new_output
from hpcsched.simulation.replay_output import take_written


def test_jobs_are_sorted_by_what_became_of_them() -> None:
    """One ended, one lost a node and runs again, one failed, and one was rejected."""
    output = new_output(1, 8, 8, 4)
    counters = np.zeros(codes.COUNTERS, dtype=np.int64)
    rows = [
        (0, 5, 15, codes.ENDED, 2), (1, 6, 9, codes.REQUEUED, 3), (2, 7, 9, codes.FAILED, 4),
        (3, 8, 8, codes.REJECTED, 4),
    ]  # fmt: skip
    columns = (
        codes.OUT_SEQUENCE, codes.OUT_START, codes.OUT_END, codes.OUT_HOW, codes.OUT_LAST_PLACE,
    )  # fmt: skip
    for row, values in enumerate(rows):
        output.jobs[row, columns] = values
    output.nodes[:4], output.units[:4] = [10, 11, 12, 13], [1, 1, 2, 2]
    counters[[codes.OUT_JOBS, codes.OUT_PLACES]] = len(rows), 4
    written = take_written(counters, output, None)
    assert written.left.sequence.tolist() == [0, 2, 3]
    assert written.left.failed.tolist() == [False, True, False]
    assert written.left.rejected_by.tolist() == [-1, -1, 0]
    assert written.left.last_place.tolist() == [2, 3, 3]
    assert written.left.nodes.tolist() == [10, 11, 13]
    assert written.lost.sequence.tolist() == [1, 2]
    assert written.lost.requeued.tolist() == [True, False]
    assert written.lost.nodes.tolist() == [12, 13]
    # The next part begins anew.
    again = take_written(counters, output, None)
    assert not (len(again.left.sequence) or len(again.lost.sequence) or len(again.rounds.now))
