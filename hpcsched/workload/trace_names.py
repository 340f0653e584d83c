"""Names for the numbers of a trace: users, groups, queues and partitions in its header comments."""

import re
from collections.abc import Mapping, Sequence

KINDS = {
    "user": "User",
    "group": "Group",
    "application": "Application",
    "queue": "Queue",
    "partition": "Partition",
}
"""Header comments with names, by the numbers that they are for."""


def trace_names(comments: Sequence[str], kind: str) -> Mapping[int, str]:
    """Return the names for the numbers of one kind.

    Parameters
    ----------
    comments
        Header comments of the trace, such as `Partition: 3 gpu` of the Parallel Workloads Archive.
        Only the part before ` - ` counts as the name: some logs have a description after it.

    Examples
    --------
    >>> trace_names(["Queue: 1 day", "Queue:  2 - Night - any size"], "queue")
    {1: 'day', 2: 'Night'}
    """
    named = re.compile(rf"\s*{KINDS[kind]}:\s*(\d+)\s+(?:-\s+)?(\S.*)")
    found = filter(None, map(named.match, comments))
    return {int(one[1]): one[2].split(" - ")[0].strip() for one in found}
