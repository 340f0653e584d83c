"""Membership of users in the groups that partitions name as `AllowGroups`.

slurmctld looks groups up on its own machine. The machine of the driver is asked here, which has
the same users as a rule; where it lacks a user or a group, membership is unknown.
"""

import grp
import os
import pwd
import time
from collections.abc import Iterable
from functools import lru_cache

KEPT_FOR = 60
"""Seconds for which an answer of the machine counts."""


def is_member(user: str, groups: Iterable[str]) -> bool | None:
    """Return whether a user is in one of some groups; None if this machine does not know.

    Parameters
    ----------
    user
        Name of the user.
    groups
        Names of the groups.
    """
    now = int(time.monotonic()) // KEPT_FOR
    own = _groups_of(user, now)
    if own is None:
        return None
    numbers = [_number_of(group, now) for group in groups]
    if not own.isdisjoint(numbers):
        return True
    return None if None in numbers else False


@lru_cache(maxsize=4096)
def _groups_of(user: str, _now: int) -> frozenset[int | None] | None:
    try:
        return frozenset(os.getgrouplist(user, pwd.getpwnam(user).pw_gid))
    except (KeyError, OSError):
        return None


@lru_cache(maxsize=4096)
def _number_of(group: str, _now: int) -> int | None:
    try:
        return grp.getgrnam(group).gr_gid
    except KeyError:
        return None
