"""All flaws of a log are told at once, with what settles them."""

from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.runs.refused_records import Refused, refused_records
from hpcsched.scenario import load_scenario
from tests.runs.small_scenario import LOG, write_scenario

FLAWED = (
    LOG
    + """\
5 8 -1 30 1 -1 -1 1 -1 -1 1 2 -1 -1 -1 -1 -1 -1
6 9 -1 30 1 -1 -1 1 -1 -1 1 2 -1 -1 -1 -1 -1 -1
this is no record
7 2 -1 30 1 -1 -1 1 30 -1 1 2 -1 -1 -1 -1 -1 -1
"""
)
"""Two jobs without a requested time, a line that is none, and a job out of order."""


def test_all_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first flaw as before, then a count of all, at the trace of the scenario."""
    path = write_scenario(tmp_path)
    (tmp_path / "log.swf").write_text(FLAWED)
    assert refused_records(load_scenario(path)) == [
        Refused("missing_requested_time", 2, ("run_time", "skip")),
        Refused("unsorted", 1, ("skip", "sort")),
        Refused("malformed", 1, ("skip",)),
    ]
    out = tmp_path / "run"
    assert cli.main(["run", str(path), "--out", str(out)]) == 1
    first, of_all = capsys.readouterr().err.splitlines()
    assert first.startswith(f"{tmp_path / 'log.swf'}:5: error: no requested time is given")
    assert of_all == (
        f"{path}:3:8: error: trace: 4 records are refused in all; keys of the trace settle them:"
        " missing_requested_time: run_time or skip (2 of them), unsorted: skip or sort (1 of them),"
        " malformed: skip (1 of them) [refused-records]"
    )
    # What the sentence says does settle them.
    settled = "{source: swf, path: log.swf, missing_requested_time: run_time, unsorted: sort"
    text = path.read_text().replace("{source: swf, path: log.swf", f"{settled}, malformed: skip")
    path.write_text(text)
    assert cli.main(["run", str(path), "--out", str(out)]) == 0
    shown = capsys.readouterr()
    assert "8 records read, 7 jobs submitted" in shown.out
    told = f"warning: {out}: replacing the run in it, which failed by a fault of its input"
    assert told in shown.err.splitlines()


FLAWS = {
    "slurm-sacct": (
        "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|AllocTRES|JobName\n"
        "1|100|100|160|1|1|1||one\n1|105|105|165|1|1|1||again\n2|105|105|165|1|1|1||d\xeda\n"
        "3|106.5|107|165|1|1|1||half\n4|107|107|165|1|1|1|cpu=1,gres/gpu=1|gpu\n5|x|1|2|1|1|1||\n"
        "6|108|108|168||1|1||\n",
        {
            "duplicate": 1,
            "undecodable": 1,
            "fractional_seconds": 1,
            "unknown_resource_type": 1,
            "malformed": 1,
            "missing_requested_time": 1,
        },
    ),
    "pbs-accounting": (
        "".join(
            f"03/01/2024 11:05:00;E;{job};user={user} ctime={ctime} start=200 end=300"
            f" Resource_List.select={select}{limit}\n"
            for job, user, ctime, select, limit in (
                ("1", "a", "100", "1:ncpus=1", " Resource_List.walltime=60"),
                ("1", "a", "100", "1:ncpus=1", " Resource_List.walltime=60"),
                ("2", "d\xeda", "100", "1:ncpus=1", " Resource_List.walltime=60"),
                ("3", "a", "100", "1:ncpus=1:ngpus=1", " Resource_List.walltime=60"),
                ("4", "a", "100.5", "1:ncpus=1", " Resource_List.walltime=60"),
                ("5", "a", "100", "1:ncpus=1", ""),
                ("6", "a", "x", "1:ncpus=1", ""),
            )
        ),
        {
            "duplicate": 1,
            "undecodable": 1,
            "unknown_resource_type": 1,
            "fractional_seconds": 1,
            "missing_requested_time": 1,
            "malformed": 1,
        },
    ),
    "batsim": (
        '{"jobs": [{"id": 1, "subtime": 0, "res": 1, "profile": "d"},'
        ' {"id": 2, "subtime": 0, "res": 0, "profile": "d"},'
        ' {"id": 3, "subtime": 0.5, "res": 1, "profile": "d", "walltime": 9},'
        ' {"id": 4, "subtime": 1, "res": 1, "profile": "d", "walltime": 9, "name": "\xed"}],'
        ' "profiles": {"d": {"type": "delay", "delay": 9}}}',
        {"missing_requested_time": 1, "malformed": 1, "fractional_seconds": 1, "undecodable": 1},
    ),
    "table": (
        "submit_time,run_time,units,requested_time,name\n"
        "5,9,1,9,\n4,9,1,9,\n6,9,,9,\n7,9,1,,\n8,9,1,9.5,\n9,9,1,9,\xed\nx,9,1,9,\n",
        {
            "unsorted": 1,
            "missing_units": 1,
            "missing_requested_time": 1,
            "fractional_seconds": 1,
            "undecodable": 1,
            "malformed": 1,
        },
    ),
}
"""A log by source with flaws of many kinds, in Latin-1, and the number of records of each kind."""


@pytest.mark.parametrize("source", FLAWS)
def test_every_source(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`run` and `trace info` count all kinds, and the keys that are told settle them."""
    log, flaws = FLAWS[source]
    (tmp_path / "log").write_bytes(log.encode("latin-1"))
    path = tmp_path / "scenario.yaml"
    text = (
        "name: flaws\n"
        "system: {groups: [{name: node, count: 2, resources: {core: 8}}]}\n"
        f"trace: {{source: {source}, path: log, fractional_seconds: error}}\n"
        "dispatcher: easy\n"
    )
    path.write_text(text)
    refused = {one.policy: one for one in refused_records(load_scenario(path))}
    assert {policy: one.records for policy, one in refused.items()} == flaws
    told = f"{sum(flaws.values())} records are refused in all; keys of the trace settle them: "
    for command in (
        ["run", str(path), "--out", str(tmp_path / "run")],
        ["trace", "info", str(path)],
    ):
        assert cli.main(command) == 1
        _, of_all = capsys.readouterr().err.splitlines()
        assert told in of_all
        for policy, one in refused.items():
            assert f"{policy}: {' or '.join(one.choices)} (1 of them)" in of_all
    chosen = "".join(f", {policy}: {one.choices[0]}" for policy, one in refused.items())
    path.write_text(text.replace(", fractional_seconds: error", chosen))
    assert cli.main(["trace", "info", str(path)]) == 0
    assert cli.main(["run", str(path), "--out", str(tmp_path / "run"), "--force"]) == 0


def test_without_a_time_zone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The zone is asked for first, and what is wrong behind it is told at once."""
    (tmp_path / "log").write_text(
        "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS\n"
        "1|2024-03-01T10:00:00|2024-03-01T10:00:00|2024-03-01T11:00:00||1|1\n"
        "2|2024-03-01T10:00:00|2024-03-01T10:00:00|x|60|1|1\n"
    )
    path = tmp_path / "scenario.yaml"
    path.write_text(
        "name: zone\n"
        "system: {groups: [{name: node, count: 2, resources: {core: 8}}]}\n"
        "trace: {source: slurm-sacct, path: log}\n"
        "dispatcher: easy\n"
    )
    assert cli.main(["trace", "info", str(path)]) == 1
    first, of_all = capsys.readouterr().err.splitlines()
    assert "is a local time: expected 'time_zone' of the trace to name the zone" in first
    assert "2 records are refused in all" in of_all
    assert "missing_requested_time: run_time or skip (1 of them)" in of_all


def test_a_first_look_passes_over_flaws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`try` counts the records of each kind that it leaves out or changes."""
    log = tmp_path / "log"
    log.write_bytes(FLAWS["slurm-sacct"][0].encode("latin-1"))
    assert cli.main(["try", str(log), "--dispatchers", "easy"]) == 0
    out = capsys.readouterr().out
    for line in (
        "7 records read, 5 jobs submitted: 5 completed",
        "  1 skipped: duplicate",
        "  1 skipped: malformed",
        "  1 clipped: fractional_seconds",
        "  1 clipped: unknown_resource_type",
    ):
        assert f"{line}\n" in out


def test_a_single_flaw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One is told once."""
    path = write_scenario(tmp_path)
    (tmp_path / "log.swf").write_text(LOG + "this is no record\n")
    assert cli.main(["run", str(path), "--out", str(tmp_path / "run")]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_another_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two of four jobs need two nodes: on one node they are left out, which is warned of."""
    path = write_scenario(tmp_path)
    given = ["run", str(path), "--out", str(tmp_path / "run"), "--force"]
    assert cli.main(given) == 0
    assert capsys.readouterr().err == ""
    path.write_text(path.read_text().replace("count: 2", "count: 1"))
    assert cli.main(given) == 0
    assert capsys.readouterr().err == (
        f"{path}:2:9: warning: system: 2 of 4 records ask for more than the whole system and were"
        " left out; is it the system of this trace? [larger-than-system]\n"
    )
