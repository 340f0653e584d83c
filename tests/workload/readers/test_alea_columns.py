"""A log of Alea read as columns."""

from pathlib import Path

from hpcsched.workload.job_batches import RequestNumbers
from tests.workload.readers.alea_files import record, source_of
from tests.workload.readers.swf_files import write


def test_queues_are_numbered_in_the_order_of_their_jobs(tmp_path: Path) -> None:
    """Record 1 is skipped, so its queue has no number; 3 is clipped, and read by itself."""
    path = write(
        tmp_path,
        [
            record(1, run=0, queue="unused"),
            record(2, queue="second"),
            record(3, queue="third", ask="1:ppn=1.5"),
            record(4, queue="second"),
            record(5, queue="fifth"),
        ],
    )
    source = source_of(path)
    (batch,) = source.job_columns(RequestNumbers())
    assert batch.job_id.tolist() == [2, 3, 4, 5]
    assert batch.details.column("queue").to_pylist() == [1, 2, 1, 3]
    assert source.comments == ["Queue: 1 second", "Queue: 2 third", "Queue: 3 fifth"]
