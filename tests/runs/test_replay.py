"""`verify --replay` runs a scenario again and compares every start, or says why it cannot."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import typer
import yaml
from typer.testing import CliRunner, Result

from hpcsched.cli.result_commands import verify
from hpcsched.runs.runner import run
from tests.audit.test_verify_command import SCENARIO, write_inputs
from tests.runs.hand_made import seal, tamper_json

APP = typer.Typer()
APP.command()(verify)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A run of a scenario that is the same on every machine, with all of its reasons and events."""
    write_inputs(tmp_path, SCENARIO + "observers: [reasons, event-log]\n")
    return run(tmp_path / "scenario.yaml", tmp_path / "out").directory.path


def verified(folder: Path, *options: str) -> Result:
    """Return what `hpcsched verify` says."""
    return CliRunner().invoke(APP, [str(folder), *options])


def test_what_was_done_is_said(made: Path) -> None:
    """Without the option it is said that nothing was replayed; with it, how many starts agree."""
    plain = verified(made)
    assert plain.exit_code == 0, plain.output
    assert plain.output.endswith(
        "checked against its own records, its trace and its scenario; not replayed\nok\n"
    )
    replayed = verified(made, "--replay")
    assert replayed.exit_code == 0, replayed.output
    assert replayed.output.endswith("replayed: 59 of 59 starts equal\nok\n")
    for name in (
        "jobs.parquet",
        "rounds.parquet",
        "reasons.parquet",
        "the summary",
        "events.jsonl",
    ):
        assert f"ok: replayed: {name}" in replayed.output


@pytest.mark.parametrize(
    "change",
    [
        {"dispatcher": {"name": "list", "order": "fcfs", "allocator": "first-fit"}},
        {"dispatcher": {"name": "list", "order": "sjf", "allocator": "first-fit"}},
        {"predictor": {"name": "last-two"}},
    ],
)
def test_another_policy(made: Path, change: dict[str, Any]) -> None:
    """A scenario with another dispatcher, order or predictor does not give these starts."""
    path = made / "scenario.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | change, sort_keys=False))
    seal(made)
    assert verified(made).exit_code == 0, verified(made).output
    replayed = verified(made, "--replay")
    assert replayed.exit_code == 1
    assert "start_time: expected" in replayed.output or "predicted_run_time" in replayed.output


def test_another_prediction(made: Path) -> None:
    """A predicted run time that was changed is found by a replay, in the row of its job."""
    path = made / "jobs.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[3]["predicted_run_time"] += 1
    pq.write_table(table.from_pylist(rows, schema=table.schema), path)
    seal(made)
    job_id, wrong = rows[3]["job_id"], rows[3]["predicted_run_time"]
    assert (
        f"job_id {job_id}: predicted_run_time: expected {wrong - 1}, found {wrong}"
        in verified(made, "--replay").output
    )


def test_an_interrupted_run(made: Path) -> None:
    """Of a run that was interrupted, jobs and rounds are compared as far as it came."""
    for name, most in (("jobs.parquet", 20), ("rounds.parquet", 30)):
        pq.write_table(pq.read_table(made / name).slice(0, most), made / name)
    tamper_json(made / "manifest.json", lambda m: m.update(status="interrupted"))
    output = verified(made, "--replay").output
    assert "ok: replayed: jobs.parquet" in output
    assert "ok: replayed: rounds.parquet" in output
    assert "replayed: 20 of 20 starts equal" in output


def test_why_not(made: Path) -> None:
    """Where a run cannot be expected to come out the same again, the reason is given, with a 1."""
    tamper_json(made / "manifest.json", lambda m: m["versions"].update(numpy="0.1"))
    replayed = verified(made, "--replay")
    assert replayed.exit_code == 1
    assert "\nnot replayed: it was made with numpy 0.1, and here is" in replayed.output
    assert "starts equal" not in replayed.output
