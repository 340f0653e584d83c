"""Commands tell a run whose solver always fails from one whose solver plans."""

import contextlib
import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

from hpcsched.cli import main
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.folder_lock import FolderLock
from hpcsched.runs.manifest import start_manifest
from hpcsched.runs.run_status import write_state
from tests.runs.hand_made import tamper_json
from tests.runs.test_run_status import STATE
from tests.solver_plugins import hopeless_solver

# On four cores, each job comes before the one before it has ended.
JOBS = "".join(
    f"{n} {n * 10} -1 {30 + n * 17 % 90} {1 + n % 4} -1 -1 {1 + n % 4} 200 -1 1 1 1 1 1 1 -1 -1\n"
    for n in range(1, 21)
)
SCENARIO = """\
name: {name}
system: {{groups: [{{name: node, count: 4, resources: {{core: 1}}}}]}}
trace: {{source: swf, path: trace.swf}}
dispatcher: {{name: cp, solver: {name}, guard: null}}
objective: af
"""
HELPS = (
    "above 10 % figures tell of the fallback rather than of the solver: check that the solver works"
)


class Ran(NamedTuple):
    """A run: its scenario, its directory, what the command wrote, and what its rounds say.

    `asked` is how many rounds asked a solver, `failed` in how many of them it failed.
    """

    scenario: Path
    folder: Path
    out: str
    err: str
    asked: int
    failed: int

    @property
    def told(self) -> str:
        """What is to be told of the run whose solver always fails."""
        return f"{self.asked} of {self.asked} rounds with a solver had no plan: failed {self.asked}"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Ran]]:
    """Give a run of each solver by its name; scenarios can name `hopeless` meanwhile."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "trace.swf").write_text(JOBS)
    with hopeless_solver():
        made = {name: run_with(name, folder) for name in ("hopeless", "ortools")}
        yield made.__getitem__


def run_with(solver: str, folder: Path) -> Ran:
    """Run the scenario with a solver, and count its rounds."""
    scenario, out_folder = folder / f"{solver}.yaml", folder / solver
    scenario.write_text(SCENARIO.format(name=solver))
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert main(["run", str(scenario), "--out", str(out_folder)]) == 0
    calls = pq.read_table(out_folder / "rounds.parquet")["solver"].to_pylist()
    statuses = [call["status"] for call in calls if call is not None]
    failed = statuses.count("failed")
    return Ran(scenario, out_folder, out.getvalue(), err.getvalue(), len(statuses), failed)


@pytest.fixture
def hopeless(runs: Callable[[str], Ran]) -> Ran:
    """Give the run whose solver always fails."""
    return runs("hopeless")


@pytest.fixture
def solved(runs: Callable[[str], Ran]) -> Ran:
    """Give the run whose solver has a plan in every round."""
    return runs("ortools")


def said(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> Any:
    """Run a command, and return what it wrote, as `out` and `err`."""
    assert main([str(argument) for argument in arguments]) == code
    return capsys.readouterr()


def test_run(hopeless: Ran, solved: Ran) -> None:
    """It ends with the numbers, and with a warning that says why and what to do."""
    assert hopeless.asked == hopeless.failed > 1
    assert f"  {hopeless.told}\nresults in {hopeless.folder}\n" in hopeless.out
    last = hopeless.err.splitlines()[-1]
    assert last.startswith(
        f"{hopeless.scenario}:4:13: warning: dispatcher: {hopeless.told}; {HELPS}; it said first,"
        " in round "
    )
    assert last.endswith(": ValueError: no luck [solver-without-plan]")
    assert f"  all {solved.asked} rounds with a solver had a plan\n" in solved.out
    assert "warning" not in solved.err


def test_summary(hopeless: Ran, solved: Ran) -> None:
    """It has the numbers, and no number that a clock has a say in."""
    rounds = RunDirectory.open(hopeless.folder).summary["rounds"]
    asked = hopeless.asked
    assert rounds["asked_solver"] == rounds["without_plan"] == rounds["fallbacks"] == asked
    assert rounds["solver"] == {"failed": asked}
    rounds = RunDirectory.open(solved.folder).summary["rounds"]
    assert (rounds["asked_solver"], rounds["without_plan"]) == (solved.asked, 0)


def test_status_of_a_run_that_has_ended(
    hopeless: Ran, solved: Ran, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is a line for the solver, and one that warns."""
    text = said(capsys, "status", hopeless.folder).out
    assert f"  solver    {hopeless.told}\n  warning   {HELPS}\n" in text
    content = json.loads(said(capsys, "status", hopeless.folder, "--format", "json").out)
    asked = hopeless.asked
    assert content["solver"] == {"asked": asked, "without_plan": {"failed": asked}}
    text = said(capsys, "status", solved.folder).out
    assert f"  solver    all {solved.asked} rounds with a solver had a plan\n" in text
    assert "warning" not in text


def test_status_of_a_run_that_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is told from the state."""
    start_manifest(tmp_path, scenario="x", seed=0, trace_files=[], plugins={})
    write_state(tmp_path, STATE.model_copy(update={"solver": {"failed": 908, "optimal": 483}}))
    told = "908 of 1,391 rounds with a solver had no plan: failed 908"
    with FolderLock(tmp_path).acquire():
        text = said(capsys, "status", tmp_path).out
    assert text.startswith("x: running\n")
    assert f"  solver          {told}\n  warning         {HELPS}\n" in text


def test_compare(hopeless: Ran, solved: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    """The run is marked, in every format for people; programs get the numbers."""
    both = (solved.folder, hopeless.folder)
    text, warned = said(capsys, "compare", *both)
    assert warned == f"warning: hopeless: {hopeless.told}; {HELPS}\n"
    header, *_, last = text.splitlines()
    assert header.split() == ["metric", "unit", "ortools", "(baseline)", "hopeless", "(!)"]
    assert last == f"hopeless (!): {hopeless.told}."
    assert "ortools:" not in text
    for form in ("markdown", "latex"):
        text = said(capsys, "compare", *both, "--format", form).out
        assert text.count("hopeless (!)") == 2 and hopeless.told in text
    content = json.loads(said(capsys, "compare", *both, "--format", "json").out)
    assert [run["name"] for run in content["runs"]] == ["ortools", "hopeless"]
    assert [run["solver"] for run in content["runs"]] == [
        {"asked": solved.asked, "without_plan": {}},
        {"asked": hopeless.asked, "without_plan": {"failed": hopeless.asked}},
    ]


def test_few_failures_are_told_and_not_warned_of(
    solved: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """1 of 10 is a tenth, and no more."""
    few = shutil.copytree(solved.folder, tmp_path / "few")
    tamper_json(
        few / "summary.json", lambda s: s["rounds"].update(solver={"optimal": 9, "unknown": 1})
    )
    text, warned = said(capsys, "compare", few)
    assert text.splitlines()[-1] == "ortools: 1 of 10 rounds with a solver had no plan: unknown 1."
    assert warned == ""
    assert "warning" not in said(capsys, "status", few).out


def test_a_damaged_count_is_an_error(
    solved: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It names the file."""
    damaged = shutil.copytree(solved.folder, tmp_path / "damaged")
    tamper_json(damaged / "summary.json", lambda s: s["rounds"].update(solver={"failed": "many"}))
    error = said(capsys, "compare", damaged, code=1).err
    assert error.startswith(f"{damaged}/summary.json: error: it is damaged: 'rounds.solver'")


def test_report(
    hopeless: Ran, solved: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page warns at its top, and marks the run in its list of runs and below."""
    page = tmp_path / "report.html"
    shown = said(capsys, "report", solved.folder, hopeless.folder, "--out", page)
    assert shown.err == f"warning: hopeless: {hopeless.told}; {HELPS}\n"
    text = page.read_text()
    assert f'<p class="warning">Warning: hopeless: {hopeless.told}; {HELPS}</p>' in text
    asked = hopeless.asked
    assert f'<td class="figure bad">{asked} of {asked}</td>' in text
    assert f'<td class="figure">0 of {solved.asked}</td>' in text
    assert f'<dt>Solver</dt><dd class="bad">{hopeless.told}</dd>' in text
    assert f"<dt>Solver</dt><dd>all {solved.asked} rounds with a solver had a plan</dd>" in text


def test_verify(hopeless: Ran, solved: Ran, capsys: pytest.CaptureFixture[str]) -> None:
    """The run is as it was made, so it is fine; it is told all the same."""
    text = said(capsys, "verify", hopeless.folder).out
    assert f"  note: {hopeless.told}; {HELPS}\n" in text
    assert text.endswith("\nok\n")
    assert "with a solver" not in said(capsys, "verify", solved.folder).out


@pytest.mark.parametrize(
    ("changed", "violation"),
    [
        ({"asked_solver": 99}, "rounds that asked a solver: expected {n}, found 99"),
        ({"without_plan": 0}, "rounds without a plan: expected {n}, found 0"),
        (
            {"solver": {"optimal": 99}},
            "rounds by what the solver answered: expected {{'failed': {n}}}, found"
            " {{'optimal': 99}}",
        ),
    ],
)
def test_verify_counts_again(
    changed: dict[str, Any],
    violation: str,
    hopeless: Ran,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A summary that says otherwise than the rounds is not right."""
    tampered = shutil.copytree(hopeless.folder, tmp_path / "tampered")
    tamper_json(tampered / "summary.json", lambda s: s["rounds"].update(changed))
    text = said(capsys, "verify", tampered, code=1).out
    assert violation.format(n=hopeless.asked) in text


def test_instances(hopeless: Ran, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Saved problems are told of likewise, when they are solved and when they are compared."""
    saved, out = tmp_path / "saved.jsonl", tmp_path / "solved"
    easy = ("--set", "dispatcher=easy")
    said(capsys, "trace", "instances", "record", hopeless.scenario, *easy, "--out", saved)
    other = hopeless.scenario.with_name("ortools.yaml")
    text, warned = said(
        capsys, "trace", "instances", "solve", saved, hopeless.scenario, other, "--out", out
    )
    rows = pq.read_table(out / "hopeless.parquet")["solver_status"].to_pylist()
    asked = len(rows) - rows.count(None)
    told = f"{asked} of {asked} problems with a solver had no plan: failed {asked}"
    assert asked > 1 and text.splitlines()[1] == f"  {told}"
    assert text.splitlines()[3].startswith("  all ")
    assert warned == f"warning: hopeless: {told}; {HELPS}\n"
    tables = (out / "ortools.parquet", out / "hopeless.parquet")
    text, warned = said(capsys, "trace", "instances", "compare", *tables)
    assert f"\nB: {told}.\n" in text
    assert f"warning: hopeless: {told}; {HELPS}\n" in warned
    content = json.loads(
        said(capsys, "trace", "instances", "compare", *tables, "--format", "json").out
    )
    assert content["solver"][1] == {"asked": asked, "without_plan": {"failed": asked}}
    assert content["solver"][0]["without_plan"] == {}
