"""The account of a trace: what became of every record that was read."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class TraceAccount:
    """Counts records as they are read: `read` is the sum of those skipped and those submitted.

    `skipped` counts by reason, one reason a record; `clipped` counts changes by the policy that
    made them, or by what had to be left out: `unknown_preceding_job`. `changed` counts the jobs
    that a transform has changed, by what it did.
    """

    read: int = 0
    submitted: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    clipped: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
