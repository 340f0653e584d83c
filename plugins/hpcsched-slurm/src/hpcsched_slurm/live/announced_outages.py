"""Outages that a cluster announces: reservations for jobs of others."""

from collections.abc import Iterable, Mapping, Sequence

from hpcsched.dispatching.problem import WaitingJob
from hpcsched.system.cluster import ClusterOutage
from hpcsched.system.outages import Outage
from hpcsched.system.space import units_that_fit
from hpcsched_slurm.live.site import Site


def outages_of(announced: Iterable[ClusterOutage], site: Site, now: int) -> tuple[Outage, ...]:
    """Return the outages of a site's nodes that are not over, by start.

    Parameters
    ----------
    announced
        Outages of the cluster.
    site
        The site.
    now
        The present instant, in seconds since the origin.
    """
    found = []
    for outage in announced:
        nodes = {site.numbers[name] for name in outage.nodes if name in site.numbers}
        start, end = site.time(outage.start), site.time(outage.end)
        if nodes and end > max(start, now):
            found.append(Outage(start, end, tuple(sorted(nodes)), "reservation", outage.name))
    return tuple(sorted(found))


def closed_now(outages: Iterable[Outage], now: int) -> dict[int, int]:
    """Return the end of the outage of each node that is out of service now, by number."""
    closed: dict[int, int] = {}
    for outage in outages:
        if outage.start <= now:
            closed |= {node: max(outage.end, closed.get(node, now)) for node in outage.nodes}
    return closed


def within_service(
    waiting: WaitingJob, outages: Sequence[Outage], site: Site, now: int
) -> WaitingJob | None:
    """Return a job bound to nodes that stay in service for it; None if these are too few.

    A cluster refuses a start that could reach into a reservation, so the requested time counts
    and not the predicted one.
    """
    end = now + max(waiting.job.requested_time, waiting.predicted_run_time)
    closing = {node for one in outages if now < one.start < end for node in one.nodes}
    request = waiting.request
    nodes = request.allowed_nodes
    left = frozenset(range(len(site.names)) if nodes is None else nodes) - closing
    if not closing or left == nodes:
        return waiting
    request = request._replace(allowed_nodes=left)
    if not left or units_that_fit(site.system, site.system.capacity.T, request).sum() < (
        request.units
    ):
        return None
    return waiting._replace(request=request)


def closing_names(waiting: WaitingJob, outages: Iterable[Outage], now: int) -> str:
    """Return the outages that start before a job's end if it starts now, in words."""
    end = now + max(waiting.job.requested_time, waiting.predicted_run_time)
    return ", ".join(dict.fromkeys(one.label for one in outages if now < one.start < end))


def returns(back: Mapping[str, int | None], site: Site, now: int, default: int) -> dict[int, int]:
    """Return the assumed return of each node that cannot be used, by number.

    Parameters
    ----------
    back
        Return of each node by name, in seconds since 1970; None: unknown.
    site
        The site.
    now
        The present instant, in seconds since the origin.
    default
        Seconds from now where it is unknown.
    """
    found = {}
    for name, instant in back.items():
        number = site.numbers.get(name)
        if number is not None:
            end = now + default if instant is None else site.time(instant)
            found[number] = max(end, now + 1)
    return found
