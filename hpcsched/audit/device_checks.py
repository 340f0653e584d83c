"""Check of devices: what each unit takes, and that none is taken twice."""

from itertools import chain

import numpy as np

from hpcsched.audit.columns import Replayed, levels_over_time
from hpcsched.audit.violations import Check, rule


@rule(
    "each unit has the devices that it asks for, and none is taken beyond its shares",
    lambda at: at.system.devices is not None,
)
def devices(check: Check, at: Replayed) -> None:
    """Check number and shares of each unit's devices, and their sums at each instant."""
    run, of_type = at.attempts, at.system.devices
    assert of_type is not None
    width = at.system.device_capacity.shape[1]
    asked = run.unit_request[:, at.system.resource_types.index(of_type.resource_type)]
    # Exclusive jobs have all devices of their nodes, and places on unknown nodes are reported.
    wants = run.ran & ~run.unpaired & (asked > 0) & ~run.exclusive
    wants[run.place_row[~at.exists(run.node)]] = False
    check.looked_at = int(wants.sum())
    taken = [one or [] for one in run.devices]
    found, units = np.array(list(map(len, taken))), np.zeros(len(taken), dtype=np.int64)
    np.add.at(units, run.place_row, run.node_units)
    message = "job {}: devices: expected those of {} units, found {}"
    check.found_at(wants & (found != units), message, run.job_id, units, found)

    wants &= found == units
    rows = np.flatnonzero(wants)
    row = np.repeat(rows, units[rows])
    bits = np.fromiter(chain.from_iterable(taken[k] for k in rows), dtype=np.int64)
    listed = wants[run.place_row]
    node = np.repeat(run.node[listed], run.node_units[listed])
    names = at.node_names[node]
    count, share = np.array([of_type.asked(int(amount)) for amount in asked]).reshape(-1, 2)[row].T
    takes = (bits[:, np.newaxis] >> np.arange(64)) & 1 == 1
    check.differ("job {}, node {}: devices", count, takes.sum(axis=1), run.job_id[row], names)
    there = at.system.device_capacity[node] > 0
    missing = takes[:, width:].any(axis=1) | (takes[:, :width] & ~there).any(axis=1)
    check.found_at(missing, "job {}, node {}: a device that is not there", run.job_id[row], names)

    unit, device = np.nonzero(takes[:, :width])
    row, device_key = row[unit], node[unit] * width + device
    lasts = run.end_time[row] > run.start_time[row]
    key, time, level = levels_over_time(
        device_key[lasts],
        run.start_time[row[lasts]],
        run.end_time[row[lasts]],
        share[unit[lasts]],
    )
    message = "node {}, device {}, second {}: expected at most {} shares, found {}"
    columns = at.node_names[key // max(width, 1)], key % max(width, 1), time, of_type.shares, level
    check.found_at(level > of_type.shares, message, *columns)
