"""Data of Gantt charts: rectangles, categories, merging."""

from collections import defaultdict
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.report.figures import gantt
from hpcsched.report.figures.gantt import (
    JobAbout,
    JobRectangle,
    MergedRectangle,
    category_colours,
    category_of,
    default_attribute,
    gantt_window,
    merged,
)
from hpcsched.report.studied_runs import open_study
from tests.report.studies import write_studied


def test_by_hand(tmp_path: Path) -> None:
    """Until 40 s the first job fills three nodes, and the second has half of the fourth."""
    (one,) = open_study([write_studied(tmp_path / "run")]).runs
    resource, window = gantt_window(one, None, 0, 40)
    assert (resource, window.begin, window.end) == ("core", 0, 40)
    assert sorted(window.rectangles) == [
        # Three whole neighbours are one rectangle.
        JobRectangle(1, 0, 0, 40, 0, 3),
        JobRectangle(2, 3, 0, 40, 0, 0.5),
    ]
    # 12 cores of the first job and 2 of the second, for 40 s; the user of the first is unknown.
    assert window.jobs == {
        1: JobAbout(None, 3, "short", "completed", 480),
        2: JobAbout(7, 1, "short", "completed", 80),
    }
    # The first job asks for 2 of 16 on each node, the second for 2 × 8 of 64.
    _, window = gantt_window(one, "mem", 0, 40)
    assert sorted((job.job_id, job.high) for job in window.rectangles) == [
        (1, 0.125), (1, 0.125), (1, 0.125), (2, 0.25),
    ]  # fmt: skip
    _, window = gantt_window(one, "gpu", 0, 40)
    assert window.nodes == (3,)
    assert window.rectangles == (JobRectangle(2, 3, 0, 40, 0, 1),)


def test_the_whole_run(tmp_path: Path) -> None:
    """No two rectangles overlap, and together they are what jobs asked for while they ran."""
    (one,) = open_study([write_studied(tmp_path / "run")]).runs
    for resource in ("core", "mem", "gpu"):
        _, window = gantt_window(one, resource, None, None)
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
        jobs = one.run.jobs.read("run_time", "units", "unit_request").to_pylist()
        asked = sum(
            job["run_time"] * job["units"] * job["unit_request"][resource]
            for job in jobs
            if job["run_time"] is not None
        )
        assert area == pytest.approx(asked)


def test_separate_shares() -> None:
    """A job that finds no free shares side by side gets several rectangles."""
    assert gantt._take([(0, 1), (2, 5)], 3) == ((0, 1), (2, 4))
    free = [(0, 2), (2, 3), (6, 8)]
    assert gantt._take(free, 3) == ((0, 3),)
    assert free == [(6, 8)]


@pytest.mark.parametrize(
    ("resource", "begin", "end", "message"),
    [
        ("tpu", 0, 10, "has no 'tpu'; there are: core, mem, gpu"),
        ("core", 10, 10, "is empty: it is from second 10 to second 10"),
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
    (one,) = open_study([write_studied(tmp_path / "run")]).runs
    with pytest.raises(InputError, match=message):
        gantt_window(one, resource, begin, end)


def test_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More rectangles than can be told apart are refused."""
    monkeypatch.setattr(gantt, "LARGEST", 3)
    (one,) = open_study([write_studied(tmp_path / "run")]).runs
    with pytest.raises(InputError, match="choose a shorter window"):
        gantt_window(one, "core", None, None)


A = MergedRectangle(0, 40, 0, 1, "a")
"""In the first of two rows of nodes, for the first 40 of 100 s."""


def test_cells_in_the_colour_of_most() -> None:
    """On 10 x 2 cells a job from 44 to 100 s begins at 40 s: it takes 60 % of that cell."""
    found = merged([A, MergedRectangle(44, 100, 0, 1, "b")], (0, 100, 2), (10, 2))
    assert found == [A, MergedRectangle(40, 100, 0, 1, "b")]


def test_neighbours_are_one() -> None:
    """Jobs of a category side by side and below each other are one rectangle."""
    parts = [A, A._replace(top=1, bottom=2), A._replace(begin=40, end=70, bottom=2)]
    assert merged(parts, (0, 100, 2), (10, 2)) == [MergedRectangle(0, 70, 0, 2, "a")]


def test_mostly_idle() -> None:
    """Eight nodes in a cell of which three are busy: nothing is drawn; of five, the whole cell."""
    busy = [MergedRectangle(0, 100, node, node + 1, "a") for node in range(5)]
    assert merged(busy[:3], (0, 100, 8), (10, 1)) == []
    assert merged(busy, (0, 100, 8), (10, 1)) == [MergedRectangle(0, 100, 0, 8, "a")]
    assert merged([], (0, 100, 8), (10, 1)) == []


def _jobs(*areas: int) -> list[JobAbout]:
    """Return a job of each user, with an area."""
    return [JobAbout(user, user + 1, "short", "killed", area) for user, area in enumerate(areas)]


def test_the_largest_users() -> None:
    """Of nine users the seven with the largest area have a colour, in its order."""
    jobs = _jobs(1, 9, 8, 7, 6, 5, 4, 3, 2)
    colours = category_colours("user", jobs, ["short"])
    assert list(colours) == [*(f"user {user}" for user in range(1, 8)), "others"]
    assert len(set(colours.values())) == 8
    name = category_of("user", jobs)
    assert [name(jobs[user]) for user in (0, 1, 8)] == ["others", "user 1", "others"]
    # The others would be one user: it has a colour of its own.
    assert "others" not in category_colours("user", jobs[:8], ["short"])


def test_the_default() -> None:
    """Sizes tell more than a single user, or none."""
    assert default_attribute(_jobs(1, 1)) == "user"
    assert default_attribute(_jobs(1)) == "size"
    assert default_attribute([JobAbout(None, 1, "short", "killed", 1)] * 2) == "size"


def test_classes() -> None:
    """They are in ascending order, and only those that occur."""
    jobs = _jobs(*[1] * 70)
    assert list(category_colours("size", jobs, [])) == [
        "1 node", "2 to 4 nodes", "5 to 16 nodes", "17 to 64 nodes", "more than 64 nodes",
    ]  # fmt: skip
    assert list(category_colours("run-time", jobs, ["short", "long"])) == ["short"]
    assert list(category_colours("state", jobs, [])) == ["killed"]
