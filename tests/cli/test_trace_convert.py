"""`hpcsched trace convert` writes traces in other formats, and says what was lost."""

from pathlib import Path

import pytest

from hpcsched import cli
from tests.workload.readers.swf_files import record, write
from tests.workload.readers.test_table import GOLDEN as TABLE

SCENARIO = """\
name: tiny
system: {groups: [{name: node, count: 4, resources: {core: 8, gpu: 2}}]}
trace:
  source: table
  path: jobs.csv
  columns: {job_id: id, submit_time: submitted, run_time: elapsed, requested_time: limit,
            units: nodes, user: uid, name: what}
  requests: {core: cores_per_node, gpu: gpus}
  named: [user]
dispatcher: easy
"""


@pytest.fixture(autouse=True)
def _fake_plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Work in a folder of its own, and leave the plugins as they are."""
    monkeypatch.chdir(tmp_path)


def convert(trace: str, out: str, *arguments: str) -> int:
    """Run the command and return its exit code."""
    return cli.main(["trace", "convert", trace, "--out", out, *arguments])


def test_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Jobs of no run time, and those over their limit, go through; what is lost is said."""
    write(tmp_path, ["; UnixStartTime: 5", record(1, run=0), record(2, run=500, units=99)])
    assert convert("log.swf", "back.swf.gz") == 0
    size = (tmp_path / "back.swf.gz").stat().st_size
    wrote = f"wrote back.swf.gz: 2 jobs, {size} bytes\n2 records read\n"
    assert capsys.readouterr() == (wrote, "")
    assert convert("log.swf", "log.parquet") == 0
    assert convert("log.parquet", "same.swf") == 0
    assert capsys.readouterr().err == ""
    lines = (tmp_path / "same.swf").read_text().splitlines()
    assert "; UnixStartTime: 5" in lines
    assert lines[-1] == "2 0 5 500 -1 -1 -1 99 100 -1 1 2 3 4 0 -1 -1 -1 1"


def test_a_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Any source goes, with its policies and its account."""
    (tmp_path / "jobs.csv").write_text(TABLE)
    (tmp_path / "tiny.yaml").write_text(SCENARIO)
    assert convert("tiny.yaml", "out.swf", "--jobs", "3", "--set", "trace.named=[user]") == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1:] == [
        "3 records read",
        "  1 clipped: fractional_seconds",
        "  1 clipped: over_requested_time",
    ]
    assert err.splitlines() == [
        "warning: 2 jobs have a name, which SWF cannot say: written without"
    ]
    assert convert("tiny.yaml", "out.parquet") == 0
    out, err = capsys.readouterr()
    assert (out.splitlines()[1], err) == ("7 records read", "")
    assert convert("out.parquet", "out.swf", "--force") == 0
    assert "; UnitResources: core gpu" in (tmp_path / "out.swf").read_text()


def test_a_log_with_another_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The content says what reads it, and `--set` what stands in for what is missing."""
    write(tmp_path, [record(1, requested=-1)]).rename(tmp_path / "log.txt")
    assert convert("log.txt", "out.swf") == 1
    assert "[missing-requested-time]\n" in capsys.readouterr().err
    setting = "trace.missing_requested_time=run_time"
    assert convert("log.txt", "out.swf", "--set", setting) == 0
    assert (tmp_path / "out.swf").read_text().splitlines()[-1].split()[8] == "60"


@pytest.mark.parametrize("way", ["log.swf.gz", "log.parquet"])
def test_recorded_waits_are_kept(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The log's own schedule is still there after a conversion, and back."""
    fields = ("1 0 7 60 1 -1 -1 1 60", "2 5 -1 60 1 -1 -1 1 60", "3 6 0 60 1 -1 -1 1 60")
    write(tmp_path, [f"{one} -1 1 -1 -1 -1 -1 -1 -1 -1" for one in fields])
    assert convert("log.swf", way) == convert(way, "back.swf") == 0
    assert capsys.readouterr().err == ""
    written = (tmp_path / "back.swf").read_text().splitlines()
    waits = [line.split()[2] for line in written if not line.startswith(";")]
    assert waits == ["7", "-1", "0"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["log.swf", "out.csv"], "out.csv: error: expected a name that ends in .swf, .swf.gz,"),
        (["none.swf", "out.swf"], "none.swf: error: there is no file none.swf [path-not-found]"),
        (["log.swf", "log.swf"], "log.swf: error: it is the trace that is to be read"),
        (["log.swf", "there.swf"], "there.swf: error: it is there already; --force or force=True"),
        (["log.swf", "out.swf", "--set", "trace.colour=red"], "there is no key 'colour' here"),
        (["bad.swf", "out.parquet"], "bad.swf:2: error: expected 18 fields, found 1"),
        (["bad.csv", "out.parquet"], "the table has no column called 'submit_time'"),
        (["bad.json", "out.swf"], "bad.json: error: expected a log of a known format:"),
    ],
)
def test_faults(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each fault is said, exits with 1, and nothing is written."""
    write(tmp_path, [record(1)])
    for name in ("there.swf", "bad.json"):
        (tmp_path / name).write_text("nonsense\n")
    (tmp_path / "bad.swf").write_text("; Version: 2\nnonsense\n")
    (tmp_path / "bad.csv").write_text("job_id,submit,run\n")
    before = sorted(file.name for file in tmp_path.iterdir())
    assert convert(*arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert sorted(file.name for file in tmp_path.iterdir()) == before


def test_policies_that_a_log_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first record that needs one is named; nothing is written."""
    lines = [record(1, requested=-1), record(2, submit=9), record(3, submit=5)]
    lines.append(record(4, submit=9).replace("4 9 5 ", "4 9 x "))
    write(tmp_path, lines)
    assert convert("log.swf", "log.parquet") == 1
    assert "the policy 'missing_requested_time' of the trace source says what else to do" in (
        capsys.readouterr().err
    )
    assert not (tmp_path / "log.parquet").exists()
    settled = "--set=trace.missing_requested_time=run_time", "--set=trace.unsorted=sort"
    assert convert("log.swf", "log.parquet", *settled) == 0
    # A wait that is no number is not given: it removes no job.
    assert capsys.readouterr().out.splitlines()[1:] == ["4 records read"]
