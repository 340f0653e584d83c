"""Names for numbers in header comments."""

from hpcsched.workload.trace_calendar import trace_names


def test_names_as_logs_write_them() -> None:
    """Blanks vary, empty names are none, and a description after a dash is no part of a name."""
    comments = (
        "Partition:  2  parallel",
        "Partition: 10  standard",
        "Queue:  1  ",
        "    Queue: 2 - Besteffort jobs queue - low priority - may be preempted",
        "Queues: these are actually LoadLeveler classes",
        "User: 3 ada",
    )
    assert trace_names(comments, "partition") == {2: "parallel", 10: "standard"}
    assert trace_names(comments, "queue") == {2: "Besteffort jobs queue"}
    assert trace_names(comments, "user") == {3: "ada"}
    assert trace_names(comments, "group") == {}
