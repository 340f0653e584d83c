"""Runs of transformed traces: replayed, audited, planned off-line, mimicked, written, varied."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hpcsched import cli, load_scenario, run
from hpcsched.audit.auditing import audit_directory
from hpcsched.runs.assembly import assemble, parts_of
from hpcsched.runs.directory import RunDirectory
from hpcsched.studies.study_files import read_experiment
from hpcsched.workload.transform import TransformedSource
from tests.runs.hand_made import messages, tamper_json
from tests.workload.readers.swf_files import write

SCENARIO = """\
name: base
seed: 3
system: {groups: [{name: node, count: 4, resources: {core: 2, mem: 4GiB}}]}
trace:
  source: swf
  path: log.swf
  unit: {core: 1}
  transforms:
    - {name: window, start: 100, end: 400}
    - {name: sample-users, share: 0.6}
    - {name: scale-load, factor: 2}
    - {name: attach, resource: mem, per: core, amount: {median: 1GiB, spread: 1.0}}
    - {name: first, jobs: 12}
predictor: actual
dispatcher: order-search
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Write a log of 60 jobs of seven users, 10 s apart, and a scenario; return its path."""
    write(
        tmp_path,
        [
            f"{n} {n * 10} -1 {20 + n * 7 % 50} 1 -1 -1 {1 + n % 3} 90 -1 1 {n % 7} 1 1 0 -1 -1 -1"
            for n in range(60)
        ],
    )
    path = tmp_path / "base.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def test_run_and_audit(base: Path, tmp_path: Path) -> None:
    """The account of a run is that of its transformed trace, and the audit reads it the same."""
    directory = run(base, tmp_path / "run").directory
    jobs = directory.summary["jobs"]
    assert jobs["submitted"] == jobs["completed"] == 12
    assert jobs["read"] == jobs["submitted"] + sum(jobs["skipped"].values())
    assert set(jobs["skipped"]) == {"not_sampled", "outside_window"}
    # The first is submitted at second 0 of the window, which twice the load does not change.
    assert jobs["changed"] == {"mem_attached": 12, "submit_time_scaled": 11}
    assert messages(audit_directory(directory)) == ""
    assert (
        "window, sample-users, scale-load, attach, first" in directory.manifest.trace_comments[-1]
    )
    again = run(base, tmp_path / "again").directory
    for name in ("jobs.parquet", "summary.json"):
        assert (directory.path / name).read_bytes() == (again.path / name).read_bytes()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda s: s["jobs"]["skipped"].update(not_sampled=1), "skipped for not_sampled"),
        (lambda s: s["jobs"]["changed"].update(mem_attached=11), "changed for mem_attached"),
        (lambda s: s["jobs"]["changed"].update(made_up=1), "changed for made_up"),
    ],
)
def test_an_account_that_is_off_is_found(
    base: Path, tmp_path: Path, change: Callable[[Any], None], expected: str
) -> None:
    """Of what transforms took away and of what they changed."""
    directory = run(base, tmp_path / "run").directory
    tamper_json(directory.path / "summary.json", change)
    assert expected in messages(audit_directory(RunDirectory.open(directory.path)))


def test_aggregation(base: Path) -> None:
    """Where requests may have changed, units are not counted; where not, they are."""
    attached = assemble(load_scenario(base))
    assert isinstance(attached.source, TransformedSource)
    assert parts_of(attached, ()).uniform_request is None
    without = ["trace.transforms=[{name: first, jobs: 5}]"]
    assert parts_of(assemble(load_scenario(base, without)), ()).uniform_request == (1, 0)


def test_offline(base: Path, tmp_path: Path) -> None:
    """A transformed trace is planned at once as any other, and read twice for that."""
    scenario = load_scenario(base, ["simulation.mode=offline"])
    summary = run(scenario, tmp_path / "run").summary
    assert summary["jobs"]["completed"] == 12
    assert summary["offline"]["value"] >= summary["offline"]["lower_bound"]


def test_commands(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands that take a scenario see the transformed trace; written out, it is the same."""
    assert cli.main(["trace", "info", "--format", "json", str(base)]) == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert shown["records"]["submitted"] == shown["arrivals"]["jobs"] == 12
    assert shown["records"]["changed"]["mem_attached"] == 12
    written = tmp_path / "written.swf"
    assert cli.main(["trace", "convert", str(base), "--out", str(written)]) == 0
    plain = [f"trace={{source: swf, path: {written}}}"]
    written_jobs = list(assemble(load_scenario(base, plain)).source.jobs())
    assert written_jobs == list(assemble(load_scenario(base)).source.jobs())
    assert cli.main(["predictors", "evaluate", str(base), "--format", "json"]) == 0
    out = capsys.readouterr().out
    assert json.loads(out[out.index("{") :])["records"]["submitted"] == 12


def test_mimic(base: Path) -> None:
    """What is mimicked can be transformed, and so can what comes of it."""
    trace = (
        "trace={source: mimic, jobs: 30, of: {source: swf, path: log.swf, unit: {core: 1},"
        " transforms: [{name: attach, resource: mem, amount: 1GiB}]},"
        " transforms: [{name: first, jobs: 5}]}"
    )
    source = assemble(load_scenario(base, [trace])).source
    requests = [one.job.unit_request for one in source.jobs()]
    assert requests == [(1, 2**30)] * 5
    assert source.uniform_request is None


def test_experiment(base: Path) -> None:
    """Transforms are an axis like any other key, and so is a parameter of one."""
    declared = base.parent / "experiment.yaml"
    declared.write_text(
        "name: loads\nscenario: base.yaml\nmatrix:\n"
        "  - trace.transforms: [[], [{name: scale-load, factor: 1.5}]]\n"
        "    names: [as_is, denser]\n",
        encoding="utf-8",
    )
    cells = read_experiment(declared).cells
    assert [cell.name for cell in cells] == ["as_is", "denser"]
    assert [len(cell.scenario.trace.transforms) for cell in cells] == [0, 1]
    declared.write_text(
        "name: loads\nscenario: base.yaml\nmatrix:\n"
        "  - trace.transforms[2].factor: [1, 1.25, 1.5]\n",
        encoding="utf-8",
    )
    cells = read_experiment(declared).cells
    assert [cell.scenario.trace.transforms[2].factor for cell in cells] == [1, 1.25, 1.5]
    assert len({cell.address for cell in cells}) == 3
