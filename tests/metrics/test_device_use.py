"""Use of devices over time: an example by hand, and fragmentation by brute force."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given

from hpcsched.metrics.device_use import MeanFragmentation, device_figures, device_use
from hpcsched.metrics.metric import RunTables
from hpcsched.runs.columns import jobs_schema
from hpcsched.system.mig import MIG_PROFILES, MIG_SHARES
from hpcsched.system.system import Devices, NodeGroup, System
from tests.properties.naive_devices import SHARES, Node, Unit, replay
from tests.properties.naive_scores import fragmentation
from tests.properties.test_devices import cases, named, system_of
from tests.strategies import tries


def table(system, rows):
    """Return jobs as `jobs.parquet` has them; columns that are not read have no sense."""
    schema = jobs_schema(system)
    columns = {}
    for field in schema:
        if field.name == "exclusive":
            columns[field.name] = [row.get("exclusive", False) for row in rows]
        else:
            columns[field.name] = [row.get(field.name) for row in rows]
    return pa.table({name: pa.array(of, schema.field(name).type) for name, of in columns.items()})


def row(submit, start, run_time, request, nodes, devices, **more):
    """Return a row of a job with a unit on each of its nodes; start None: it did not run."""
    end = None if start is None else start + run_time
    ran = {"nodes": nodes, "node_units": [1] * len(nodes)} if start is not None else {}
    return {
        "submit_time": submit, "start_time": start, "end_time": end, "unit_request": request,
        "devices": devices or None, **ran, **more,
    }  # fmt: skip


SMALL = System(
    (NodeGroup("n", 2, {"core": 4, "mem": 8, "gpu": 2}), NodeGroup("c", 1, {"core": 4})),
    {"gpu": Fraction(1, SHARES)},
    devices=Devices("gpu", SHARES),
)
"""Two nodes with two devices each, and one without."""


def small(core, gpu, mem=0):
    """Return the request of a unit."""
    return {"core": core, "mem": mem, "gpu": gpu}


HALF_AND_WHOLE = [
    row(0, 0, 30, small(1, 500), [0], [1]),
    row(10, 10, 20, small(1, 2000), [1], [3]),
    row(20, None, 0, small(1, 2000, 7), [], None),
    row(20, 20, 5, small(1, 500), [0], [2]),
]


def test_by_hand():
    """Two requests are usual, half a GPU and two of them, as memory does not count.

    At first two GPUs are of no use to neither. From 0 to 10 s the first node has 1.5 free, of no
    use to half of the requests; from 10 to 20 s that is all that is free. From 20 s on the two
    halves that are free there can be used by halves.
    """
    use = device_use(table(SMALL, HALF_AND_WHOLE), SMALL)
    assert use.instants.tolist() == [0, 10, 20, 25, 30]
    assert (use.allocated * 4).tolist() == [0.5, 2.5, 3.0, 2.5, 0.0]
    assert (use.fragmented * 4).tolist() == pytest.approx([0.75, 0.75, 0.5, 0.75, 0.0])
    assert use.last_arrival == 2


def run_of(all_jobs):
    """Return a run whose jobs are read so."""
    return RunTables(None, None, {}, all_jobs=all_jobs)


def test_figures():
    """They are of the last submission; the mean is over 20 s, in both of which 3 / 16 are lost."""
    run = run_of(lambda *columns: table(SMALL, HALF_AND_WHOLE).select(columns))
    found = device_figures(run, SMALL)
    assert found == pytest.approx(
        {"allocation_ratio": 0.75, "fragmentation": 0.125, "mean_fragmentation": 0.1875}
    )
    assert MeanFragmentation(SMALL).measure(run) == found["mean_fragmentation"]


def test_no_figures():
    """Without places, or jobs, there are none; of jobs that came at once there is no mean."""
    assert device_figures(run_of(None), SMALL) == {}
    empty = table(SMALL, [])
    assert device_figures(run_of(lambda *columns: empty.select(columns)), SMALL) == {}
    one = table(SMALL, [row(5, None, 0, small(1, 500), [], None)])
    found = device_figures(run_of(lambda *columns: one.select(columns)), SMALL)
    assert found == {"allocation_ratio": 0.0, "fragmentation": 0.0}


def test_an_exclusive_job_has_all_devices_of_its_nodes():
    """Whatever it asks for; it counts once, though it has two units."""
    jobs = table(
        SMALL,
        [row(0, 0, 10, small(1, 500), [0], [1, 1], exclusive=True) | {"node_units": [2]}],
    )
    assert (device_use(jobs, SMALL).allocated * 4).tolist() == [2.0, 0.0]


def test_slices():
    """Beside a slice at the end, `3g.20gb` can use half of a GPU, and `1g.5gb` 6 eighths."""
    profiles = MIG_PROFILES["a100-40gb"]
    group = NodeGroup("n", 1, {"core": 8, "gpu": 1}, sliced=True)
    devices = Devices("gpu", MIG_SHARES, profiles)
    system = System((group,), {"gpu": Fraction(1, MIG_SHARES)}, devices=devices)
    small, large = (
        next(one.amount for one in profiles if one.name == name) for name in ("1g.5gb", "3g.20gb")
    )
    rows = [
        row(0, 0, 10, {"core": 1, "gpu": small}, [0], [1 << 6]),
        row(0, None, 0, {"core": 1, "gpu": large}, [], None),
    ]
    use = device_use(table(system, rows), system)
    assert use.allocated.tolist() == [0.125, 0.0]
    lost = [(1 / 8 + 3 / 8) / 2, (1 / 8 + 0) / 2]
    assert use.fragmented.tolist() == pytest.approx(lost)


@tries(2000)
@given(cases(some_nodes=True))
def test_fragmentation_by_brute_force(case):
    """It is worked out again at each instant, for each usual request, node and device."""
    sizes, jobs = case
    assume(jobs)
    system, found = system_of(sizes), replay(sizes, jobs)
    rows = []
    for job in jobs:
        start, places = found[job.number]
        units = Counter(node for node, _ in places)
        bits = [sum(1 << d for d in devices) for _, devices in places if devices]
        request = {"core": job.cores, "gpu": job.amount}
        rows.append(
            row(job.submit, start, job.run_time, request, list(units), bits)
            | {"node_units": list(units.values())}
            | {"node_groups": job.nodes and sorted(named(job.nodes))}
        )
    use = device_use(table(system, rows), system)

    counts = list(Counter(job[4:] for job in jobs).items())
    counts.sort(key=lambda one: (-one[1], -one[0][0], -one[0][1]))
    usual, covered = [], 0
    while covered < 0.95 * len(jobs):
        key, count = counts.pop(0)
        usual.append((Unit(0, 0, 0, 1, *key), count))
        covered += count
    usual = [(unit, count / covered) for unit, count in usual]

    whole = SHARES * sum(devices for _, devices in sizes)
    assert len(use.allocated) == len(use.fragmented) == len(use.instants)
    for k, now in enumerate(use.instants.tolist()):
        nodes = [Node(*size) for size in sizes]
        for job in jobs:
            start, places = found[job.number]
            if start <= now < start + job.run_time:
                for node, devices in places:
                    nodes[node].take(job, devices)
        free = sum(sum(node.free) for node in nodes)
        lost = sum(fragmentation(nodes[n], sizes[n], usual, n) for n in range(len(sizes)))
        assert use.allocated[k] == pytest.approx(1 - free / whole)
        assert use.fragmented[k] == pytest.approx(lost / whole)
    assert use.instants[use.last_arrival] == max(job.submit for job in jobs)
    assert np.all(np.diff(use.instants) > 0)
