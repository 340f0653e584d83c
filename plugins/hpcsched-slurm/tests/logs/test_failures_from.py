"""`hpcsched trace failures-from`: node failures in a dump of sacct, from the command to the run."""

from pathlib import Path

import pytest

import hpcsched
from hpcsched import cli

LOG = """\
JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|State|NodeList|FailedNode
1|0|0|100|60|1|4|NODE_FAIL|c1|c1
2|0|0|600|60|1|4|COMPLETED|c2|
1|0|250|400|60|1|4|COMPLETED|c1|
3|300|400|900|60|1|4|COMPLETED|c1|
4|500|600|700|60|1|8|NODE_FAIL|g1|
"""
SCENARIO = """\
name: failures
system:
  groups:
    - {name: thin, count: 2, resources: {core: 4}}
    - {name: fat, count: 1, resources: {core: 8}}
outages: {failure_log: failures.csv}
trace: {source: slurm-sacct, path: jobs, duplicate: last}
dispatcher: easy
"""
NODES = ("--nodes", "thin=c[1-2]", "--nodes", "fat=g1")


def written(folder: Path, *options: str) -> int:
    """Write the log, and the failures in it; return the exit code."""
    (folder / "jobs").write_text(LOG)
    out = ("--out", str(folder / "failures.csv"), "--force")
    return cli.main(["trace", "failures-from", str(folder / "jobs"), *options, *out])


def rows(folder: Path) -> list[str]:
    """Return the lines of the file below its header."""
    header, *found = (folder / "failures.csv").read_text().splitlines()
    assert header == "node,from,until"
    return found


def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """c1 is down from 100 to 250, and g1 from 700 until the log ends at 900.

    Job 1 runs on c1 again from its submission; at 100 it has 50 s to go, and is lost. It runs anew
    on the other node of 4 cores or the one of 8.
    """
    assert written(tmp_path, *NODES) == 0
    assert capsys.readouterr().err == "2 records, 1 not_seen_again\n"
    assert rows(tmp_path) == ["thin-0,100,250", "fat-0,700,900"]
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO)
    result = hpcsched.run(path, tmp_path / "run")
    assert result.summary["outages"]["node_seconds_down"] == {"failure": 150 + 200}
    assert result.summary["outages"]["requeued"] == 1
    assert cli.main(["verify", str(tmp_path / "run")]) == 0


def test_the_origin(tmp_path: Path) -> None:
    """Second 0 of the trace is 120: the outage of c1 began before it, and ends at 130."""
    assert written(tmp_path, *NODES, "--origin", "120") == 0
    assert rows(tmp_path) == ["thin-0,0,130", "fat-0,580,780"]
    assert written(tmp_path, *NODES, "--origin", "250") == 0
    assert rows(tmp_path) == ["fat-0,450,650"]


def test_a_time_for_repairs(tmp_path: Path) -> None:
    """5 min after 100 and 700."""
    assert written(tmp_path, *NODES, "--repair", "300") == 0
    assert rows(tmp_path) == ["thin-0,100,400", "fat-0,700,1000"]


def test_nodes_that_are_not_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are left out, which a warning tells."""
    assert written(tmp_path, "--nodes", "thin=c[1-2]") == 0
    assert rows(tmp_path) == ["thin-0,100,250"]
    assert "failures of nodes that are not named: g1" in capsys.readouterr().err


@pytest.mark.parametrize("nodes", ["thin", "=c1", "thin=", "thin=c[1", "thin=c[1-2],c1"])
def test_names_that_are_none(
    nodes: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the option."""
    assert written(tmp_path, "--nodes", nodes) == 1
    assert f"--nodes {nodes}: " in capsys.readouterr().err


def test_a_zone_that_is_none(tmp_path: Path) -> None:
    """It is wrong use of the option."""
    assert written(tmp_path, *NODES, "--time-zone", "Mars") == 2
