"""Reasons: a dispatcher's explanation why a job starts or waits."""

from typing import Literal, NamedTuple, get_args

ReasonKind = Literal[
    "in_order",
    "backfilled",
    "planned",
    "no_room",
    "reserved_for",
    "behind",
    "beyond_depth",
    "solver_postponed",
    "not_planned",
    "limit",
    "dependency",
    "outage",
    "recorded_later",
]
"""Kind of a reason.

For a job that starts: `in_order`, no earlier job waits; `backfilled`, it passes `job`, the first
that waits; `planned`, the plan starts it now. For a job that waits: `no_room`, it does not fit now;
`reserved_for`, it fits, but starting it would delay `job`; `behind`, `job` waits and none may pass
it; `beyond_depth`, the limit on reservations was reached before it; `solver_postponed`, the plan
starts it later although it may fit; `not_planned`, the plan leaves it out; `limit`, the limit named
in `detail` blocks it; `dependency`, it has to wait for `job` to end, or for its think time after
that; `outage`, nodes are out of service, or will be too soon, and the others are too few;
`recorded_later`, the log that is followed starts it later.
"""

REASON_KINDS: tuple[ReasonKind, ...] = get_args(ReasonKind)
STARTS: frozenset[ReasonKind] = frozenset({"in_order", "backfilled", "planned"})
"""The kinds of reasons for a start."""


class Reason(NamedTuple):
    """Reason why one queued job starts now, or waits.

    Attributes
    ----------
    job
        Number of the other job that the kind refers to; None if it refers to none.
    time
        Planned start, in seconds, of a reservation or a plan; never binding.
    detail
        Further explanation, such as the name of a limit or a shared resource.
    """

    job_id: int
    kind: ReasonKind
    job: int | None = None
    time: int | None = None
    detail: str = ""
