"""Outages of a scenario that a dump of sacct tells, from the YAML to the run."""

from pathlib import Path

import pytest

import hpcsched
from hpcsched import cli
from hpcsched.scenario.outage_declarations import NodeFailuresDeclaration
from hpcsched.system.outages import Outage
from hpcsched.system.system import NodeGroup, System

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
outages:
  node_failures: {path: jobs, nodes: {thin: "c[1-2]", fat: g1}}
trace: {source: slurm-sacct, path: jobs, duplicate: last}
dispatcher: easy
"""


def written(folder: Path, text: str = SCENARIO) -> Path:
    """Write the log and the scenario."""
    (folder / "jobs").write_text(LOG)
    path = folder / "scenario.yaml"
    path.write_text(text)
    return path


def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """c1 is down from 100 to 250, which the run tells, and g1 from 700 until the log ends at 900.

    Job 1 runs on c1 again from its submission; at 100 it has 50 s to go, and is lost. It runs anew
    on the other node of 4 cores or the one of 8.
    """
    path = written(tmp_path)
    out = tmp_path / "run"
    assert cli.main(["run", str(path), "--out", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("  failures of nodes in the log: 2 outages, from 2 records")
    assert lines[at + 1] == "    1 not_seen_again"
    assert "5 records read, 4 jobs submitted: 4 completed" in lines
    assert "lost to outages: 1 attempts, of which 1 were tried again" in lines[at + 2]
    assert cli.main(["verify", str(out)]) == 0
    result = hpcsched.open_run(out)
    assert result.summary["outages"]["node_failures"] == {
        "records": 2,
        "not_seen_again": 1,
        "outages": 2,
    }
    assert result.summary["outages"]["node_seconds_down"] == {"failure": 150 + 200}


def test_without_the_key_nothing_changes(tmp_path: Path) -> None:
    """Records of jobs that were lost to nodes are jobs, and no node is out of service."""
    path = written(tmp_path, SCENARIO.replace("outages:\n", "").replace("  node_fai", "# node_fai"))
    assert "outages" not in hpcsched.run(path, tmp_path / "run").summary


SYSTEM = System((NodeGroup("thin", 2, {"core": 4}), NodeGroup("fat", 1, {"core": 8})))


def declared(folder: Path, **more: object) -> NodeFailuresDeclaration:
    """Return a declaration about the log."""
    (folder / "jobs").write_text(LOG)
    nodes = {"thin": "c[1-2]", "fat": "g1"}
    given = {"path": str(folder / "jobs"), "nodes": nodes, **more}
    return NodeFailuresDeclaration.model_validate(given)


def test_the_origin(tmp_path: Path) -> None:
    """Second 0 of the trace is 120: the outage of c1 began before it, and ends at 130."""
    outages, counts = declared(tmp_path, origin=120).build(SYSTEM)
    assert outages == [
        Outage(0, 130, (0,), "failure", "c1"),
        Outage(580, 780, (2,), "failure", "g1"),
    ]
    outages, counts = declared(tmp_path, origin=250).build(SYSTEM)
    assert [outage.name for outage in outages] == ["g1"]
    assert counts["before_origin"] == 1
    # Midnight in Prague was an hour before that of 1970 in UTC.
    late = declared(tmp_path, origin="1970-01-01T01:01", time_zone="Europe/Prague").build(SYSTEM)
    assert late.outages[0] == Outage(40, 190, (0,), "failure", "c1")


def test_a_time_for_repairs(tmp_path: Path) -> None:
    """5 min after 100 and 700."""
    outages, _ = declared(tmp_path, repair="5min").build(SYSTEM)
    assert [(outage.start, outage.end) for outage in outages] == [(100, 400), (700, 1000)]


def test_nodes_that_are_not_named(tmp_path: Path) -> None:
    """They are an error that says what to do, or are counted."""
    with pytest.raises(hpcsched.InputError, match="the node g1 failed, and is not among 'nodes'"):
        declared(tmp_path, nodes={"thin": "c[1-2]"}).build(SYSTEM)
    only = declared(tmp_path, nodes={"thin": "c[1-2]"}, other_node="skip").build(SYSTEM)
    assert only.counts["other_node"] == 1
    assert only.counts["outages"] == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ('thin: "c[1-3]"', "the group thin has 2 nodes, and 3 are named"),
        ("thick: c1", "the system has no node group 'thick'; there are: thin, fat"),
        ("thin: c1, fat: c1", "the node c1 is named twice"),
    ],
)
def test_names_that_do_not_fit(
    given: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`validate` says so at the group."""
    path = written(tmp_path, SCENARIO.replace('thin: "c[1-2]", fat: g1', given))
    assert cli.main(["validate", str(path)]) == 1
    said = capsys.readouterr().out
    assert message in said
    assert said.startswith(f"{path}:7:")
    assert "outages.node_failures.nodes" in said
