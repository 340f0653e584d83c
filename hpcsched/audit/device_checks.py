"""Check of devices: what each unit takes, and that none is taken twice."""

from itertools import chain

import numpy as np

from hpcsched.audit.columns import Replayed, levels_over_time
from hpcsched.audit.violations import Check, rule


@rule(lambda at: at.system.devices is not None)
def devices(check: Check, at: Replayed) -> None:
    """Check that each unit has the devices that it asks for, and none is taken beyond its shares.

    Shares that are taken are added up at each instant.
    """
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
    parts = of_type.parts
    amounts, which = np.unique(asked[row], return_inverse=True)
    wants_of = [of_type.asked(amount) for amount in amounts.tolist()]
    count, share = np.array([one[:2] for one in wants_of]).reshape(-1, 2)[which].T
    of_device = bits[:, np.newaxis] >> np.arange(0, 64, parts) & (1 << parts) - 1
    found = (of_device != 0).sum(axis=1)
    check.differ("job {}, node {}: devices", count, found, run.job_id[row], names)
    placed = np.ones(len(bits), dtype=np.bool_)
    for k, one in enumerate(wants_of):
        placed[which == k] = np.isin(of_device[which == k], (0, *one.positions)).all(axis=1)
    message = "job {}, node {}: slices that its MIG profile may not take"
    check.found_at(~placed, message, run.job_id[row], names)
    takes = bits[:, np.newaxis] >> np.arange(64) & 1 == 1
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
    most = of_type.shares // parts
    message = "node {}, {} {}, second {}: expected at most {} shares, found {}"
    kind = "device" if parts == 1 else "slice"
    columns = at.node_names[key // max(width, 1)], kind, key % max(width, 1), time, most, level
    check.found_at(level > most, message, *columns)
