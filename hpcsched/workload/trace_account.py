"""Account of a trace: counts of submitted, skipped, clipped and changed records."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class TraceAccount:
    """Counts of records as they are read; `read` is the sum of skipped and submitted ones.

    Attributes
    ----------
    read
        Number of records read.
    submitted
        Number of records that became jobs.
    skipped
        Records that gave no job, by reason; one reason a record.
    clipped
        Jobs changed by a policy, by its name; or by what was left out: `unknown_preceding_job`.
    changed
        Jobs changed by a transform, by the kind of change.
    """

    read: int = 0
    submitted: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    clipped: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
