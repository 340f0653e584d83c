"""Variants as validated cells, and their runs."""

from pathlib import Path

import pytest

import hpcsched
from hpcsched.errors import InputError
from hpcsched.studies.execution import run_in_folder
from hpcsched.studies.experiment_folder import ExperimentFolder
from hpcsched.studies.study_files import BASE, read_whatif
from hpcsched.studies.whatif_study import read_study
from tests.studies.experiment_samples import run_cells_here
from tests.studies.whatif_samples import FEW, SCENARIO, VARIATION, variation


def test_variants_in_order(tmp_path: Path) -> None:
    """Named ones come first; each has its changes, and the settings of the command line."""
    found = read_whatif(SCENARIO, variation(tmp_path), FEW)
    assert (found.name, found.scenario) == ("tried", "small-easy")
    assert [cell.name for cell in found.cells] == [BASE, "shortest-first", "list-fcfs", "list-saf"]
    assert found.changes == {
        "shortest-first": {"dispatcher.order": "sjf"},
        "list-fcfs": {"dispatcher": "list-fcfs"},
        "list-saf": {"dispatcher": "list-saf"},
    }
    assert len({cell.address for cell in found.cells}) == 4
    assert all("jobs: 200" in cell.text for cell in found.cells)


def test_named_after_the_file(tmp_path: Path) -> None:
    """Without a name the file's own is taken."""
    path = variation(tmp_path, VARIATION.replace("name: tried\n", ""))
    assert read_whatif(SCENARIO, path, FEW).name == "variation"


def findings(tmp_path: Path, text: str) -> list[str]:
    """Return what is wrong with a variation, with line and column."""
    with pytest.raises(InputError) as caught:
        read_whatif(SCENARIO, variation(tmp_path, text), FEW)
    return [
        f"{one.place.line}:{one.place.column} {one.message}" if one.place else one.message
        for one in caught.value.findings
    ]


def test_all_findings_at_once(tmp_path: Path) -> None:
    """Faults of several variants are told, each where it stands."""
    text = """\
variants:
  - {name: a, set: {dispatcher.order: nonsense}}
  - name: b
    set: {dispatcher.depths: 3}
"""
    first, second = findings(tmp_path, text)
    assert first.startswith("2:")
    assert "nonsense" in first
    assert second.startswith("4:")
    assert "depths" in second


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: nothing\n", "expected 'variants' or a 'matrix'"),
        ("variants: [{name: a, set: {}}]\n", "found an empty mapping"),
        ("variants: [{name: a, set: {name: b}}]\n", "'name' cannot be set"),
        ("variants: [{name: a, set: {'x..y': b}}]\n", "x..y"),
        ("variants: [{name: base, set: {seed: 1}}]\n", "two cells are called 'base'"),
        ("matrix: [{seed: [1], dispatcher: [easy, list]}]\n", "expected a list of 1 items"),
        ("matrix: [{seed: [1]}]\nexclude: [{seed: 1}]\n", "every"),
        ("variant: []\n", "variant"),
    ],
)
def test_refused(tmp_path: Path, text: str, message: str) -> None:
    """What cannot be expanded is refused in words."""
    assert message in " ".join(findings(tmp_path, text))


def test_runs_are_those_of_the_scenarios(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Times of all jobs and the objective; a variant has another system, named by its position."""
    run_cells_here(monkeypatch)
    text = VARIATION.replace("{dispatcher.order: sjf}", "{'system.groups[0].count': 70}")
    read = read_whatif(SCENARIO, variation(tmp_path, text), FEW)
    folder = ExperimentFolder(tmp_path / "out")
    assert run_in_folder(read, read.cells, folder) == 0
    study = read_study(read, folder)
    found = {one.name: one for one in (study.base, *study.variants)}
    for cell in read.cells:
        kept, alone = found[cell.name], hpcsched.replay(cell.scenario)
        jobs = kept.outcomes.jobs
        starts = zip(jobs.job_ids.tolist(), jobs.starts.tolist(), strict=True)
        assert dict(starts) == alone.start_times
        assert kept.value == alone.objective
    # A new variant costs one run.
    more = text + "  - seed: [1, 2]\n"
    again = read_whatif(SCENARIO, variation(tmp_path, more), FEW)
    statuses: list[str] = []
    run_in_folder(again, again.cells, folder, ended=lambda one: statuses.append(one.status))
    assert statuses.count("kept") == 2
    assert statuses.count("done") == 4


def test_a_variant_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its reason is told, and the others are run; without the base nothing is compared."""
    run_cells_here(monkeypatch)
    log = tmp_path / "log.swf"
    log.write_text("1 0 -1 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1\n")
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        "name: s\nsystem: {groups: [{name: n, count: 4, resources: {core: 1}}]}\n"
        "trace: {source: swf, path: log.swf}\npredictor: requested-time\ndispatcher: easy\n"
    )
    (tmp_path / "damaged.swf").write_text("1 2 three\n")
    vary = variation(tmp_path, "variants: [{name: d, set: {trace.path: damaged.swf}}]\n")
    read = read_whatif(scenario, vary)
    folder = ExperimentFolder(tmp_path / "out")
    with pytest.raises(InputError, match="the base scenario 's' has no run"):
        read_study(read, folder)
    messages: list[str] = []
    run_in_folder(read, read.cells, folder, ended=lambda one: messages.append(one.message))
    assert messages[0] == ""
    assert "damaged.swf" in messages[1]
    assert read_study(read, folder).failed == ["d"]
