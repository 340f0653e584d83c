"""Compiled reservations of jobs with unequal units: the earliest start, and nodes at a start.

The segments of a plan are those of `hpcsched.dispatching.core.plan_kernels`.
"""

from hpcsched.dispatching.core.array_kernels import shares
from hpcsched.dispatching.core.codes import (
    KEEP_SCARCE,
    NEVER,
    PREDICTED,
    SHAPE,
    UNITS,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import Profile, State
from hpcsched.dispatching.core.node_profile_kernels import make_room, place_between
from hpcsched.dispatching.core.plan_reservation_kernels import earliest, reserve_one
from hpcsched.dispatching.core.shared_resource_kernels import earliest_in_shared
from hpcsched.system.system import IntArray


@compiled()
def reserve_unit(row: int, release: int, latest: int, profile: Profile, state: State) -> int:
    """Reserve room for a job of one unit at the earliest time; `profile.used[1]` is its node.

    Parameters
    ----------
    release
        Time before which there is known to be no room, in seconds.
    latest
        Latest start, in seconds.
    profile
        Profile of the round; updated.

    Returns
    -------
    int
        Start, in seconds; `NEVER` if there is none.
    """
    jobs = state.jobs
    shape = jobs[row, SHAPE]
    make_room(profile, 2)
    return reserve_one(
        release,
        latest,
        jobs[row, PREDICTED],
        profile.start,
        profile.after,
        profile.free,
        profile.used,
        state.asked[shape],
        state.on_idle[shape],
        state.exclusive[shape],
        state.capacity,
        state.totals,
    )


@compiled()
def earliest_in_profile(row: int, release: int, latest: int, profile: Profile, state: State) -> int:
    """Return the earliest start of a job from `release` to `latest`.

    Parameters
    ----------
    release
        Earliest start, in seconds.
    latest
        Latest start, in seconds.
    profile
        Profile of the round.

    Returns
    -------
    int
        Start, in seconds; `NEVER` if there is none.
    """
    jobs = state.jobs
    shape = jobs[row, SHAPE]
    return earliest(
        release,
        latest,
        jobs[row, UNITS],
        jobs[row, PREDICTED],
        profile.used[0],
        profile.start,
        profile.after,
        profile.free,
        state.asked[shape],
        state.on_idle[shape],
        state.exclusive[shape],
        state.capacity,
    )


@compiled()
def place_reservation(row: int, begin: int, profile: Profile, state: State) -> IntArray:
    """Reserve room for a job from `begin` to its predicted end.

    A reservation need not be on nodes of the allocator's choice, so nodes are ranked as by
    `KeepScarce` outside of a round.

    Parameters
    ----------
    begin
        Start, in seconds.
    profile
        Profile of the round; updated.

    Returns
    -------
    IntArray
        Units on each node, `[N]`; all 0 if the job does not fit.
    """
    pressure = shares(len(state.totals), 1.0)
    end = begin + state.jobs[row, PREDICTED]
    return place_between(row, begin, end, KEEP_SCARCE, pressure, profile, state)


@compiled()
def earliest_beside_shared(
    row: int, release: int, latest: int, profile: Profile, state: State
) -> int:
    """Return the earliest start in `release … latest` with enough nodes and shared resources.

    Nodes and shared resources are asked in turn, each from the other's answer on, until both agree.

    Parameters
    ----------
    release
        Earliest start, in seconds.
    latest
        Latest start on nodes, in seconds.
    profile
        Profile of the round.

    Returns
    -------
    int
        Start, in seconds; `NEVER` if there is none.
    """
    start = earliest_in_profile(row, release, latest, profile, state)
    while start != NEVER:
        later = earliest_in_shared(row, start, state, state.shared_free)
        if later == start:
            break
        start = later
        if start != NEVER:
            start = earliest_in_profile(row, start, latest, profile, state)
    return start
