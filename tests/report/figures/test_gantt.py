"""Data of Gantt charts: rectangles of jobs in a window."""

from collections import defaultdict
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.report.figures import gantt_figure as gantt
from hpcsched.report.figures.gantt_figure import JobRectangle, Window, gantt_windows
from hpcsched.report.studied_runs import open_study
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.report.studies import write_studied


def window_of(folder: Path, resource: str | None, begin: int | None, end: int | None) -> Window:
    """Write a run, and return its window."""
    runs = open_study([write_studied(folder / "run")]).runs
    (window,) = gantt_windows(runs, resource, begin, end)
    return window


def test_by_hand(tmp_path: Path) -> None:
    """Until 40 s the first job fills three nodes, and the second has half of the fourth."""
    window = window_of(tmp_path / "1", None, 0, 40)
    assert (window.resource, window.begin, window.end) == ("core", 0, 40)
    assert sorted(window.rectangles) == [
        # Three whole neighbours are one rectangle.
        JobRectangle(1, 0, 0, 40, 0, 3),
        JobRectangle(2, 3, 0, 40, 0, 0.5),
    ]
    # 12 cores of the first job and 2 of the second, for 40 s; the user of the first is unknown.
    about = {number: (job.user, len(job.units), job.area) for number, job in window.jobs.items()}
    assert about == {1: (None, 3, 480), 2: (7, 1, 80)}
    # The first job asks for 2 of 16 on each node, the second for 2 × 8 of 64.
    window = window_of(tmp_path / "2", "mem", 0, 40)
    assert sorted((job.job_id, job.high) for job in window.rectangles) == [
        (1, 0.125), (1, 0.125), (1, 0.125), (2, 0.25),
    ]  # fmt: skip
    window = window_of(tmp_path / "3", "gpu", 0, 40)
    assert window.nodes == (3,)
    assert window.rectangles == (JobRectangle(2, 3, 0, 40, 0, 1),)


def test_the_whole_run(tmp_path: Path) -> None:
    """No two rectangles overlap, and together they are what jobs asked for while they ran."""
    for resource in ("core", "mem", "gpu"):
        window = window_of(tmp_path / resource, resource, None, None)
        assert (window.begin, window.end) == (0, 20_100)
        by_node: dict[int, list[JobRectangle]] = defaultdict(list)
        for job in window.rectangles:
            assert 0 <= job.low < job.high
            assert job.high <= 1 or (job.low, job.high) == (0, int(job.high))
            # One rectangle of several nodes fills each of them.
            for further in range(max(int(job.high), 1)):
                share = job._replace(node=job.node + further, high=min(job.high, 1))
                by_node[share.node].append(share)
        for rectangles in by_node.values():
            for k, a in enumerate(rectangles):
                for b in rectangles[:k]:
                    beside = a.end <= b.begin or b.end <= a.begin
                    assert beside or a.high <= b.low or b.high <= a.low
        capacity = window.system.capacity[:, window.system.resource_types.index(resource)]
        area = sum(
            (job.end - job.begin) * (job.high - job.low) * int(capacity[job.node])
            for rectangles in by_node.values()
            for job in rectangles
        )
        jobs = window.run.run.jobs.read("run_time", "units", "unit_request").to_pylist()
        asked = sum(
            job["run_time"] * job["units"] * job["unit_request"][resource]
            for job in jobs
            if job["run_time"] is not None
        )
        assert area == pytest.approx(asked)


def test_separate_shares() -> None:
    """A job that finds no free shares side by side gets several rectangles."""
    assert gantt.take_shares([(0, 1), (2, 5)], 3) == ((0, 1), (2, 4))
    free = [(0, 2), (2, 3), (6, 8)]
    assert gantt.take_shares(free, 3) == ((0, 3),)
    assert free == [(6, 8)]


@pytest.mark.parametrize(
    ("resource", "begin", "end", "message"),
    [
        ("tpu", 0, 10, "has no 'tpu'; there are: core, mem, gpu"),
        ("core", 10, 10, "has core from second 10 to second 10; its jobs run from second 0 to"),
        (
            "core",
            30_000,
            40_000,
            "has core from second 30000 to second 40000; its jobs run from second 0 to",
        ),
    ],
)
def test_what_cannot_be_drawn(
    resource: str, begin: int, end: int, message: str, tmp_path: Path
) -> None:
    """It is one clear message."""
    with pytest.raises(InputError, match=message):
        window_of(tmp_path, resource, begin, end)


def test_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More rectangles than can be told apart are refused."""
    monkeypatch.setattr(gantt, "LARGEST", 3)
    with pytest.raises(InputError, match="choose a shorter window"):
        window_of(tmp_path, "core", None, None)


def test_devices_lie_one_above_the_other(tmp_path: Path) -> None:
    """The jobs of 0.6 and 0.4 share the first GPU, that of 0.5 has the second of the node."""
    (tmp_path / "jobs.csv").write_text(
        "submit_time,run_time,requested_time,units,gpu\n"
        "0,100,100,1,0.6\n1,100,100,1,0.5\n2,100,100,1,0.4\n3,50,50,1,2\n"
    )
    (tmp_path / "s.yaml").write_text(
        "name: s\nsystem: {groups: [{name: n, count: 2, resources: {gpu: {count: 2}}}]}\n"
        "trace: {source: table, path: jobs.csv, requests: {gpu: gpu}}\ndispatcher: easy\n"
    )
    path = run(load_scenario(tmp_path / "s.yaml"), tmp_path / "run").directory.path
    (window,) = gantt_windows(open_study([path]).runs, "gpu", None, None)
    assert sorted(window.rectangles) == [
        JobRectangle(1, 0, 0, 100, 0, 0.3),
        JobRectangle(2, 0, 1, 101, 0.5, 0.75),
        JobRectangle(3, 0, 2, 102, 0.3, 0.5),
        JobRectangle(4, 1, 3, 53, 0, 1),
    ]
