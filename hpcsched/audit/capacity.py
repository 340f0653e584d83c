"""Check of node capacity."""

import numpy as np

from hpcsched.audit.columns import RunColumns
from hpcsched.audit.violations import Check
from hpcsched.system.system import IntArray, System


def check_capacity(run: RunColumns, system: System) -> Check:
    """Check that no node holds more than its capacity, for each resource type and instant.

    An exclusive job holds its nodes whole. Ends release before starts take at the same instant, and
    a zero-length job holds nothing.
    """
    check = Check("no node is overcommitted, or shared with an exclusive job, at any instant")
    row = run.place_row
    exists = (run.node >= 0) & (run.node < system.node_count)
    # Places on nodes that do not exist are reported by the check of places.
    holds = run.ran[row] & (run.end_time[row] > run.start_time[row]) & exists
    row, node, units = row[holds], run.node[holds], run.node_units[holds]
    capacity = system.capacity[node]
    allocated = np.where(
        run.flags["exclusive"][row, np.newaxis],
        capacity,
        units[:, np.newaxis] * run.unit_request[row],
    )

    event_node = np.concatenate((node, node))
    event_time = np.concatenate((run.start_time[row], run.end_time[row]))
    # Sorted by node, then time: one cumulative sum covers all nodes.
    order = np.lexsort((event_time, event_node))
    event_node, event_time = event_node[order], event_time[order]
    new = np.full(len(order), True)
    new[1:] = (np.diff(event_node) != 0) | (np.diff(event_time) != 0)
    instants = np.flatnonzero(new)
    check.looked_at = len(instants)
    if not len(instants):
        return check
    at_node, at_time = event_node[instants], event_time[instants]
    for r, resource in enumerate(system.resource_types):
        change = np.concatenate((allocated[:, r], -allocated[:, r]))[order]
        # All that a node takes it gives back, so that the sum starts anew with each node.
        level = np.cumsum(np.add.reduceat(change, instants))
        room = system.capacity[at_node, r]
        over = np.flatnonzero(level > room)
        check.found_many(
            len(over),
            (
                f"node {system.node_name(n)}, second {time}: {resource}: expected at most {most},"
                f" its capacity, found {found}, held by {_holders(run, row[node == n], time)}"
                for n, time, most, found in zip(
                    at_node[over].tolist(),
                    at_time[over].tolist(),
                    room[over].tolist(),
                    level[over].tolist(),
                    strict=True,
                )
            ),
        )
    return check


def _holders(run: RunColumns, rows: IntArray, time: int) -> str:
    """List the jobs among `rows` that run at `time`."""
    now = rows[(run.start_time[rows] <= time) & (time < run.end_time[rows])]
    return "jobs " + ", ".join(str(job_id) for job_id in sorted(run.job_id[now].tolist()))
