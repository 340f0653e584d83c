"""The Python API: what `import hpcsched` gives, and how results are read."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import hpcsched
from hpcsched.errors import InputError
from tests.studies.experiment_samples import EXPERIMENT, run_cells_here, write_sample

SCENARIO = Path(__file__).parents[1] / "scenarios" / "small-easy.yaml"
HEAVY = ("numpy", "pandas", "pyarrow", "pydantic", "rich", "altair", "ortools")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> hpcsched.RunResult:
    """A small run."""
    scenario = hpcsched.load_scenario(SCENARIO, ["trace.jobs=30"])
    return hpcsched.run(scenario, tmp_path_factory.mktemp("api") / "run")


def test_every_name_is_there() -> None:
    """What is listed can be imported, and is what type checkers are told of."""
    assert all(getattr(hpcsched, name) is not None for name in hpcsched.__all__)
    text = Path(hpcsched.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    for name in hpcsched.__all__:
        assert f" import {name} as {name}\n" in text
    assert set(dir(hpcsched)) == set(hpcsched.__all__)


def test_importing_it_loads_nothing_heavy() -> None:
    """The names are loaded when they are first used."""
    program = f"import hpcsched, sys; print(*[m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_tables(result: hpcsched.RunResult) -> None:
    """All rows and columns of the files, read once."""
    folder = result.directory.path
    assert result.jobs.equals(pq.read_table(folder / "jobs.parquet"))
    assert result.rounds.equals(pq.read_table(folder / "rounds.parquet"))
    assert result.jobs.num_rows == 30
    assert result.jobs is result.jobs


def test_pandas_works_on_the_same_memory(result: hpcsched.RunResult) -> None:
    """Nothing is copied: the column begins where the table's begins."""
    frame = result.jobs.to_pandas(types_mapper=pd.ArrowDtype)
    (_, values) = result.jobs["submit_time"].chunk(0).buffers()
    assert frame["submit_time"].to_numpy().__array_interface__["data"][0] == values.address


def test_a_run_is_opened_again(result: hpcsched.RunResult, tmp_path: Path) -> None:
    """It is the same run; what is none is refused."""
    opened = hpcsched.open_run(str(result.directory.path))
    assert opened.summary == result.summary
    assert opened.jobs.equals(result.jobs)
    with pytest.raises(InputError, match="it is not a run directory"):
        hpcsched.open_run(tmp_path)


def test_an_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of two cells is run, then the other too; their metrics are compared."""
    file = write_sample(tmp_path, EXPERIMENT.replace("[5, 9]", "[5]"))
    monkeypatch.chdir(tmp_path)
    half = hpcsched.run_experiment(file, only=["sjf"], jobs=1)
    assert half.folder == Path("runs/tiny")
    assert half.status.counts == {"complete": 1, "failed": 0, "running": 0, "waiting": 1}
    whole = hpcsched.run_experiment(file, jobs=2)
    assert whole.status.counts["complete"] == len(whole.runs) == 2
    name = next(cell.name for cell in half.cells)
    assert whole.runs[name].summary["jobs"]["completed"] == 5
    assert "mean_wait_time" in whole.compare().as_text()
    assert whole._repr_markdown_().startswith("| metric |")


def test_an_experiment_whose_cells_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Failures are in its status, with their reasons."""
    run_cells_here(monkeypatch)
    (tmp_path / "log.swf").write_text("1 0 nonsense\n")
    file = write_sample(tmp_path)
    (tmp_path / "log.swf").write_text("1 0 nonsense\n")
    result = hpcsched.run_experiment(file, tmp_path / "out", only=["sjf"], jobs=1)
    assert result.runs == {}
    assert "log.swf:1" in result.status.failed[0].message
    assert "2 failed" in result._repr_markdown_()


def test_jobs_that_were_rejected_are_there(tmp_path: Path) -> None:
    """They are among `jobs`, and not among those of the directory that ran."""
    scenario = hpcsched.load_scenario(SCENARIO, ["trace.jobs=5", "dispatcher=reject"])
    rejected = hpcsched.run(scenario, tmp_path / "run")
    assert rejected.jobs["state"].to_pylist() == ["rejected"] * 5
    assert rejected.directory.jobs.whole().num_rows == 0


def test_a_damaged_table(result: hpcsched.RunResult, tmp_path: Path) -> None:
    """The file is named."""
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in result.directory.path.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    (copy / "jobs.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"jobs\.parquet"):
        _ = hpcsched.open_run(copy).jobs


def test_runs_as_a_list(result: hpcsched.RunResult, tmp_path: Path) -> None:
    """One by one or as a list, runs give the same comparison; figures and pages take both."""
    path = str(result.directory.path)
    assert hpcsched.compare([result]).as_text() == hpcsched.compare(path).as_text()
    assert hpcsched.plot("ecdf", [result]).to_dict()
    assert hpcsched.write_report(tmp_path / "a.html", [result], verify=False).is_file()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (hpcsched.compare, "expected at least one run, found none"),
        (lambda: hpcsched.compare([5]), "expected runs: .*; found a value of type int"),
        (lambda: hpcsched.plot("pie"), "expected a kind of figure first: boxes, .*; found 'pie'"),
        (lambda: hpcsched.plot(["a"]), "kind of figure first: .*; found .'a'."),
        (lambda: hpcsched.write_report(["a"]), "expected the HTML file first, found a value of ty"),
        (lambda: hpcsched.load_scenario(None), "path of a scenario, or a dictionary; found .*None"),
        (lambda: hpcsched.load_scenario({}, {"a..b": 1}), r"override a\.\.b: error"),
        (lambda: hpcsched.replay("no.yaml"), r"no\.yaml: error: the file cannot be read"),
        (lambda: hpcsched.read_workload(5), "path of a scenario, or a dictionary; found .*int"),
    ],
)
def test_wrong_arguments(call: Callable[[], object], message: str) -> None:
    """They are errors of the project, each in one sentence."""
    with pytest.raises(InputError, match=message):
        call()


def test_overrides_of_several_kinds() -> None:
    """A list of texts, one text, and a dictionary say the same."""
    listed = hpcsched.load_scenario(SCENARIO, ["trace.jobs=5"])
    assert hpcsched.load_scenario(SCENARIO, "trace.jobs=5") == listed
    assert hpcsched.load_scenario(SCENARIO, {"trace.jobs": 5}) == listed
    with pytest.raises(InputError, match=r"override trace\.jobs: error: trace\.jobs: expected"):
        hpcsched.load_scenario(SCENARIO, {"trace.jobs": "many"})


def test_results_on_one_line(result: hpcsched.RunResult) -> None:
    """A result at the end of a cell, or in a list, does not fill the screen."""
    submitted = result.summary["jobs"]["submitted"]
    assert repr(result).startswith("RunResult(")
    assert f": complete, jobs submitted: {submitted}, objective: " in repr(result)
    assert repr(result.verify()) == f"AuditReport(ok: {len(result.verify().checks)} checks)"
    workload = hpcsched.read_workload(SCENARIO)
    assert repr(workload) == "Workload(records read: 3000, jobs: 3000)"
    short = hpcsched.replay(hpcsched.load_scenario(SCENARIO, {"trace.jobs": 5}))
    assert repr(short).startswith("Replay(jobs that ran: 5, rounds: ")
