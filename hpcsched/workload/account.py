"""The account of a trace: what became of every record that was read."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class TraceAccount:
    """Counts records as they are read: `read` is the sum of those skipped and those submitted.

    `skipped` counts by reason, one reason a record; `clipped` counts changes by the policy that
    made them.
    """

    read: int = 0
    submitted: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    clipped: Counter[str] = field(default_factory=Counter)
