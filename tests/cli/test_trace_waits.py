"""`hpcsched trace info --waits`: expected waits that a log has recorded."""

import json
from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.scenario import load_scenario

SCENARIO = """\
name: logged
system: {groups: [{name: node, count: 8, resources: {core: 1}}]}
trace: {source: swf, path: jobs.swf}
dispatcher: prb
"""
# Job, wait time, units, queue, partition. Job 5 has no recorded wait.
JOBS = (
    (1, 10, 1, 1, 1), (2, 21, 2, 1, 2), (3, 0, 3, 2, -1), (4, 100, 7, -1, 1), (5, -1, 4, 2, 1),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _fake_plugins() -> None:
    """Leave the plugins as they are, which other tests of commands do not."""


def write(folder: Path, text: str = SCENARIO) -> str:
    """Write the scenario and its log; return the scenario's path."""
    lines = [
        f"{k} {k} {wait} 5 {n} -1 -1 {n} 9 -1 1 1 1 1 {queue} {part} -1 -1\n"
        for k, wait, n, queue, part in JOBS
    ]
    (folder / "jobs.swf").write_text("".join(lines))
    (folder / "logged.yaml").write_text(text)
    return str(folder / "logged.yaml")


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        # All four: 131/4 = 32.75. Queue 1: 31/2 = 15.5; queue 2: 0, of which 1 is made.
        ("queue", {"other": 33, "by_queue": {"1": 16, "2": 1}}),
        ("partition", {"other": 33, "by_partition": {"1": 55, "2": 21}}),
        # 1; 2 and 3: 21/2 = 10.5; 4 to 7.
        ("units", {"other": 33, "by_units": {"1": 10, "2": 11, "4": 100}}),
    ],
)
def test_means_by_hand(
    by: str, expected: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The mean of each class, to the nearest second and at least 1; dispatchers take it."""
    path = write(tmp_path)
    assert cli.main(["trace", "info", path, "--waits", by, "--format", "json"]) == 0
    line = capsys.readouterr().out.strip()
    assert json.loads(line) == expected
    for name in ("prb", "{name: hcp19, version: 2, expected_wait: {other: 1}}"):
        given = [f"dispatcher={name}", f"dispatcher.expected_wait={line}"]
        waits = load_scenario(path, given).dispatcher.expected_wait
        assert (waits.by, waits.other) == (by, 33)
        assert {str(number): wait for number, wait in waits.waits.items()} == expected[f"by_{by}"]


def test_as_a_block(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The text is YAML that goes below `dispatcher:`; comments say how many jobs there were."""
    assert cli.main(["trace", "info", write(tmp_path), "--waits", "units"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "# logged: mean recorded waits by units, in seconds",
        "# 1 of 5 jobs have no recorded wait: left out",
        "expected_wait:",
        "  other: 33  # all 4 jobs",
        "  by_units:",
        "    1: 10  # 1 jobs, of 1 unit",
        "    2: 11  # 2 jobs, of 2 units and more",
        "    4: 100  # 1 jobs, of 4 units and more",
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("swf, path: jobs.swf", "lublin99, jobs: 3", "logged.yaml: error: trace.source: the trace"),
        (
            "path: jobs.swf",
            "path: jobs.swf, transforms: [{name: window, start: 5}]",
            "jobs.swf: error: no wait is recorded of any of its 1 jobs",
        ),
    ],
)
def test_nothing_to_learn_from(
    old: str, new: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A source without waits is at fault, and a log in which there are none."""
    path = write(tmp_path, SCENARIO.replace(old, new))
    assert cli.main(["trace", "info", path, "--waits", "queue"]) == 1
    assert said in capsys.readouterr().err
