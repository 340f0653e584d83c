"""`hpcsched trace` tells what is in traces, and writes them."""

import json
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hpcsched import cli
from tests.builders import changed_request
from tests.real_traces import FOLDER, KTH_SP2, trace
from tests.workload.readers.swf_files import record, write

ROOT = Path(__file__).parents[2]
SMALL = str(ROOT / "scenarios" / "small-easy.yaml")
SCENARIO = """\
name: {name}
system: {{groups: [{{name: node, count: 4, resources: {{core: 2}}}}]}}
trace: {{source: swf, path: log.swf}}
dispatcher: easy
"""


@pytest.fixture(autouse=True)
def _fake_plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Leave the plugins as they are, which other tests of commands do not."""
    monkeypatch.chdir(tmp_path)


def scenario(folder: Path, *lines: str, name: str = "tiny") -> str:
    """Write a log and a scenario with it; return the scenario's path."""
    folder.mkdir(exist_ok=True)
    write(folder, lines)
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO.format(name=name), encoding="utf-8")
    return str(path)


def tiny(folder: Path, name: str = "tiny") -> str:
    """Write three jobs of 60 s on 1, 2 and 8 of 8 cores, one more that ran for no time."""
    return scenario(
        folder,
        record(1, 0),
        record(2, 60, units=2),
        record(3, 90, run=0),
        record(4, 240, units=8, run=120),
        name=name,
    )


def row(text: str, label: str) -> str:
    """Return the cells beside a label."""
    (line,) = (line for line in text.splitlines() if line.strip().startswith(f"{label}  "))
    return line.strip().removeprefix(label).strip()


def test_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Figures by hand: 60 + 120 + 800 core seconds of 8 cores in 240 s."""
    assert cli.main(["trace", "info", tiny(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[0].split() == ["tiny"]
    assert row(out, "read") == "4"
    assert row(out, "skipped: zero_run_time") == "1"
    assert row(out, "clipped: over_requested_time") == "1"
    assert row(out, "submitted") == "3"
    assert row(out, "span") == "240 s"
    assert row(out, "core") == "51.0 %"
    assert row(out, "run time, max") == "100 s"
    assert row(out, "jobs: short (0 to 3,599 s)") == "100.0 %"
    assert row(out, "jobs: long (18,001 s and more)") == "0.0 %"
    assert row(out, "one unit") == "33.3 %"
    assert row(out, "units, mean") == "3.67"
    assert row(out, "exact") == "33.3 %"
    assert row(out, "00 h") == "██████████ 100.0 %"
    assert "24 bins a decade" in out
    assert "tiny: hours and weekdays from second 0, taken for midnight of a Monday" in out
    assert "when it was, and months are left out." in out
    assert "jobs by month" not in out


def test_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A column for each, and names that tell them apart."""
    same, other = tiny(tmp_path / "a"), tiny(tmp_path / "b", "other")
    assert cli.main(["trace", "info", same, SMALL, same, other]) == 0
    out = capsys.readouterr().out
    header = out.splitlines()[0]
    assert header.count(f"tiny ({same})") == 2
    assert header.split()[-1] == "other"
    assert row(out, "core+gpu+mem: jobs").split() == ["–", "606", "–", "–"]


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Programs get a list of objects with exact values, and nothing else."""
    path = tiny(tmp_path)
    assert cli.main(["trace", "info", "--format", "json", path, path, "--set", "trace.jobs=2"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    first, second = json.loads(out)
    assert first["records"] == {
        "read": 2, "skipped": {}, "clipped": {}, "changed": {}, "submitted": 2,
    }  # fmt: skip
    assert first["arrivals"]["span_seconds"] == 60
    assert first["arrivals"]["interarrival_time_seconds"]["bins"] == [[57, 1]]
    assert first["submitters"]["jobs_by_queue"] == {"0": 2}
    assert first["offered_load"]["by_resource_percent"] == {"core": 100 * 180 / (8 * 60)}
    assert [group["class"] for group in first["run_times"]["classes"]] == [
        "short", "medium", "long",
    ]  # fmt: skip
    assert first["sizes"]["kinds"][0]["resources"] == "core"
    assert first["accuracy"]["mean_absolute_error_minutes"] == 40 / 60
    assert len(first["cycles"]["hour_shares"]) == 24
    assert second == first


def test_classes_are_the_scenario_s(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bounds are those of its metrics."""
    arguments = ["trace", "info", tiny(tmp_path), "--set", "metrics.class_bounds=[1min]"]
    assert cli.main(arguments) == 0
    out = capsys.readouterr().out
    assert row(out, "jobs: short (0 to 59 s)") == "0.0 %"
    assert row(out, "run time: long (60 s and more)") == "100.0 %"


def test_tables_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--out` writes the table instead of printing it; sections are a column of CSV."""
    out = tmp_path / "trace.csv"
    given = ["trace", "info", tiny(tmp_path), "--format", "csv", "--out", str(out)]
    assert cli.main(given) == 0
    assert capsys.readouterr().out == f"wrote {out}\n"
    lines = out.read_text().splitlines()
    assert lines[0].startswith("section,,")
    assert lines[1].startswith("records,read,")


def test_a_trace_without_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is nothing to tell, and no fault."""
    path = scenario(tmp_path, record(1, run=0))
    assert cli.main(["trace", "info", path, path]) == 0
    out = capsys.readouterr().out
    assert row(out, "jobs").split() == ["0", "0"]
    assert row(out, "run time, p50").split() == ["–", "–"]
    assert cli.main(["trace", "info", path, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["run_times"]["run_time_seconds"]["mean"] is None


def test_a_table_on_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal gets a drawn table with the same rows, within its width."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "70")
    assert cli.main(["trace", "info", tiny(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "─" * 70 in out
    assert "skipped: zero_run_time" in out


@pytest.mark.parametrize("command", [["info"], ["convert", "--out", "new.swf"]])
def test_faults_of_the_input(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A scenario or trace at fault exits with 1 and says where, in one line; nothing is left."""
    good, bad = tiny(tmp_path / "good"), scenario(tmp_path / "bad", record(1), "nonsense")
    lacking = scenario(tmp_path / "lacking")
    Path(lacking).with_name("log.swf").unlink()
    for arguments, rule in (
        (["none.yaml"], "unreadable-file"),
        ([good, "--set", "trace.jobs=0"], "bad-value"),
        ([lacking], "path-not-found"),
        ([bad], "malformed"),
    ):
        assert cli.main(["trace", *command, *arguments]) == 1
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert err.endswith(f"[{rule}]\n")
    assert not list(tmp_path.glob("*new.swf*"))


def test_a_scenario_as_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The log has the jobs of the scenario, and runs as they do."""
    out = tmp_path / "small.swf.gz"
    arguments = ["trace", "convert", SMALL, "--out", str(out), "--jobs", "300"]
    assert cli.main(arguments) == 0
    said, err = capsys.readouterr()
    assert (said.splitlines()[0], err) == (
        f"wrote {out}: 300 jobs, {out.stat().st_size} bytes",
        "",
    )
    written = out.read_bytes()
    assert cli.main(arguments) == 1
    assert capsys.readouterr().err == (
        f"{out}: error: it is there already; --force or force=True replaces it [file-exists]\n"
    )
    assert cli.main([*arguments, "--force"]) == 0
    assert out.read_bytes() == written
    for run, change in (("before", "trace.jobs=300"), ("after", f"trace.path={out}")):
        assert cli.main(["run", SMALL, "--set", change, "--out", run]) == 0
    before, after = (pq.read_table(f"{run}/jobs.parquet") for run in ("before", "after"))
    assert before.num_rows == 300
    assert after.equals(before)


def test_a_log_without_the_nodes_of_jobs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs that keep others off their nodes are written without that, and counted."""
    from hpcsched.workload.readers.swf import SwfSource  # noqa: PLC0415

    jobs = SwfSource.jobs

    def exclusive(self):
        for traced in jobs(self):
            yield traced._replace(job=changed_request(traced.job, exclusive=True))

    monkeypatch.setattr(SwfSource, "jobs", exclusive)
    assert cli.main(["trace", "convert", tiny(tmp_path), "--out", "new.swf"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("wrote new.swf: 3 jobs, ")
    assert err == (
        "warning: 3 jobs are bound to nodes, exclusive or with one unit per node, which SWF"
        " cannot say: written without\n"
    )


def test_kth_sp2(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The real log, and when it was."""
    monkeypatch.setenv(FOLDER, str(trace(KTH_SP2).parent))
    assert cli.main(["trace", "info", str(ROOT / "scenarios" / "kth-easy.yaml")]) == 0
    out = capsys.readouterr().out
    assert row(out, "jobs") == "28,481"
    assert row(out, "core") == "68.6 %"
    assert row(out, "one unit") == "32.9 %"
    assert "from the trace's UnixStartTime: 843480031, Europe/Stockholm." in out
