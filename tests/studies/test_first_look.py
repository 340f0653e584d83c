"""A log is replayed without a scenario; each run is audited."""

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import hpcsched
from hpcsched import cli
from hpcsched.errors import InputError
from hpcsched.scenario.loading import check_document
from hpcsched.studies.first_look import document_of, look_at, look_lines, try_dispatchers
from tests.studies import first_look_samples as samples
from tests.workload.presets.samples import WRITERS


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        (samples.SWF, (4, 2)),
        (samples.SACCT, (1, 4)),
        (samples.PBS, (1, 4)),
        (samples.BATSIM, (2, 1)),
    ],
)
def test_logs_of_several_formats(tmp_path: Path, text: str, machine: tuple[int, int]) -> None:
    """Each is replayed, and every job runs."""
    look = look_at(samples.written(tmp_path, text), ["easy"])
    assert look.machine[:2] == machine
    ((_, tried),) = try_dispatchers(look, tmp_path / "made")
    jobs = tried.summary["jobs"]
    assert jobs["completed"] == jobs["submitted"] > 0
    assert tried.verify().ok


@pytest.mark.parametrize(
    "odd", ["1 - - 60 2", "a remark", "1 0 nan 60 2 - - 2 - - - - - - - - - -"]
)
def test_an_odd_first_record(tmp_path: Path, odd: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The log is known all the same; the record is counted as malformed."""
    log = samples.written(tmp_path, f"{odd}\n{samples.SWF}")
    assert cli.main(["trace", "info", str(log)]) == 0
    out, err = capsys.readouterr()
    assert "log: Standard Workload Format" in err
    assert re.search(r"malformed +1\n", out)


def test_why_records_are_malformed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first of each kind is told with its line, by every command that reads the log."""
    odd = "odd line\none more odd\nodd again\n" + samples.RECORDS.splitlines()[0][:-2] + "x\n"
    log = samples.written(tmp_path, samples.SWF + odd + samples.RECORDS.splitlines()[4] + "\n")
    told = [
        "log:84: expected 18 fields, found 2",
        "log:87: job number 1 was seen before",
    ]
    assert cli.main(["try", str(log), "--dispatchers", "easy"]) == 0
    out = capsys.readouterr().out
    assert "  5 skipped: malformed\n" in out
    assert [line for line in out.splitlines() if line.startswith("  malformed: ")] == [
        f"  malformed: {one}" for one in told
    ]
    assert cli.main(["trace", "info", str(log)]) == 0
    assert re.search(r"\n    log:87 +job number 1 was seen before\n", capsys.readouterr().out)


def test_texts_as_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The jobs of a workload whose ids are texts are numbered by their places, and it is told."""
    log = samples.written(tmp_path, samples.BATSIM.replace("w0!1", "solver"))
    saved = tmp_path / "saved"
    assert cli.main(["try", str(log), "--dispatchers", "easy", "--save", str(saved)]) == 0
    out = capsys.readouterr().out
    assert "job_ids: position, ids are texts: the places in the file are the numbers\n" in out
    assert "1 records read, 1 jobs submitted: 1 completed\n" in out
    assert "  job_ids: position  # ids are texts" in (saved / "easy.yaml").read_text()
    assert "job_ids" not in (look_at(samples.written(tmp_path, samples.BATSIM), ["easy"])).log.keys


def test_a_time_zone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Local times are those of the zone: midnight of March 4 in Prague is 23:00 UTC."""
    log, saved = samples.written(tmp_path, samples.SACCT), tmp_path / "saved"
    arguments = ["try", str(log), "--dispatchers", "easy", "--save", str(saved)]
    assert cli.main([*arguments, "--time-zone", "Europe/Prague"]) == 0
    assert "time_zone: Europe/Prague, the zone of the log's clocks\n" in capsys.readouterr().out
    (job,) = pq.read_table(saved / "runs" / "easy" / "jobs.parquet").to_pylist()
    assert job["submit_time"] == 1709506800
    assert cli.main([*arguments, "--force", "--time-zone", "Mars"]) == 1
    assert "expected a time zone such as Europe/Prague or UTC, found 'Mars'" in (
        capsys.readouterr().err
    )
    log = samples.written(tmp_path, samples.SWF)
    assert cli.main(["try", str(log), "--time-zone", "UTC"]) == 1
    assert "--time-zone: the times of Standard Workload Format are not local" in (
        capsys.readouterr().err
    )


def test_the_scenarios_do_the_same(tmp_path: Path) -> None:
    """What was written gives the values of the runs."""
    look = look_at(samples.written(tmp_path, samples.SWF), ["easy", "sjf", "ljf"], objective="af")
    for label, run in try_dispatchers(look, tmp_path / "made"):
        scenario = hpcsched.load_scenario(tmp_path / "made" / f"{label}.yaml")
        assert hpcsched.replay(scenario).objective == run.objective


def test_what_is_told(tmp_path: Path) -> None:
    """The format, the machine with its basis, and the number of jobs."""
    look = look_at(samples.written(tmp_path, samples.SWF), ["easy"], jobs=20, machine=(9, None))
    assert list(look_lines(look)) == [
        "log: Standard Workload Format",
        "machine: 9 nodes with 2 cores each, as given",
        "jobs: at most the first 20",
    ]


def test_a_document_for_a_log(tmp_path: Path) -> None:
    """Commands that need a trace take a log in place of a scenario."""
    log, told = samples.written(tmp_path, samples.SWF), list[str]()
    scenario = check_document(document_of(log, told.append), log).scenario
    assert scenario.trace.plugin_name == "swf"
    assert told[0] == "log: Standard Workload Format"
    for name in ("own.yaml", "own.txt"):
        assert document_of(samples.written(tmp_path, "name: own\n", name)).value == {"name": "own"}
    for text, message in (("", "the file is empty"), ("a\tb\n", "it is none of these")):
        with pytest.raises(InputError, match=message):
            document_of(samples.written(tmp_path, text, "log.swf"))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (None, {}, "there is no file"),
        (samples.HEADER, {}, "expected at least one job that ran; found 0 records"),
        (samples.NO_PROCESSORS, {}, "that ran; found 80 records, skipped: 80 missing_processors"),
        (samples.SWF, {"objective": "best"}, "no objective is called 'best'"),
    ],
)
def test_refused(tmp_path: Path, text: str | None, options: dict, message: str) -> None:
    """In one message."""
    log = tmp_path / "log"
    if text is not None:
        samples.written(tmp_path, text)
    with pytest.raises(InputError, match=message):
        look_at(log, ["easy"], **options)


def test_known_data_sets(tmp_path: Path) -> None:
    """A machine with all that the jobs ask for; every job runs on it."""
    look = look_at(WRITERS["helios"](tmp_path), ["easy"])
    assert look.machine.resources == {"core": 16, "gpu": 8}
    # 32 + 6 CPUs and 16 + 3 GPUs at a time, of 16 and 8 on each node.
    assert look.machine.nodes == 3
    assert list(look_lines(look))[1].startswith("machine: 3 nodes with 16 cores, 8 gpu each")
    ((_, tried),) = try_dispatchers(look, tmp_path / "made")
    assert tried.summary["jobs"]["completed"] == 2
    assert tried.verify().ok
