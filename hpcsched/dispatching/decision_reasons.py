"""Why a round let a job start, or left it waiting, in a dispatcher's own words."""

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
"""What a reason says.

Of a job that starts: `in_order`, nothing that comes before it waits; `backfilled`, it passes `job`,
the first that waits; `planned`, the plan starts it now. Of a job that waits: `no_room` for it now;
`reserved_for`, there is room, but starting would delay `job`; `behind`, `job` waits and none may
pass it; `beyond_depth`, it came after all reservations were given out, and has none;
`solver_postponed`, the plan starts it later though there may be room; `not_planned`, the plan
leaves it out; `limit`, what `detail` names does not let it start; `dependency`, it has to wait for
`job` to end, or for its think time after that; `outage`, nodes are out of service, or will be too
soon, and what is left is not enough; `recorded_later`, the log that is followed starts it later.
"""

REASON_KINDS: tuple[ReasonKind, ...] = get_args(ReasonKind)
STARTS: frozenset[ReasonKind] = frozenset({"in_order", "backfilled", "planned"})
"""The kinds that tell of a start."""


class Reason(NamedTuple):
    """Why one queued job starts now, or waits.

    `job` is the other job that the kind speaks of. `time`, in seconds, is when the job is planned
    to start, where a reservation or a plan says so; it binds nobody.
    """

    job_id: int
    kind: ReasonKind
    job: int | None = None
    time: int | None = None
    detail: str = ""
