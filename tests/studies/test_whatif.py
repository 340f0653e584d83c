"""Variants as validated cells, their replays, and outcomes that are kept."""

import shutil
from pathlib import Path

import pytest

import hpcsched
from hpcsched.errors import InputError
from hpcsched.studies.job_differences import read_outcome
from hpcsched.studies.whatif import BASE, WhatIf, read_whatif
from hpcsched.studies.whatif_study import WhatIfFolder, replay_cells
from tests.studies.whatif_samples import FEW, SCENARIO, VARIATION, variation


def test_variants_in_order(tmp_path: Path) -> None:
    """Named ones come first; each has its changes, and the settings of the command line."""
    found = read_whatif(SCENARIO, variation(tmp_path), FEW)
    assert (found.name, found.scenario) == ("tried", "small-easy")
    assert [cell.name for cell in found.cells] == [BASE, "shortest-first", "list-fcfs", "list-saf"]
    assert [dict(cell.labels) for cell in found.variants] == [
        {"dispatcher.order": "sjf"},
        {"dispatcher": "list-fcfs"},
        {"dispatcher": "list-saf"},
    ]
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


@pytest.fixture
def study(tmp_path: Path) -> WhatIf:
    """A study with three variants, of which one has another system."""
    text = VARIATION.replace("{dispatcher.order: sjf}", "{'system.groups[0].count': 70}")
    return read_whatif(SCENARIO, variation(tmp_path, text), FEW)


def replayed(study: WhatIf, folder: WhatIfFolder, limit: int = 2) -> list[tuple[str, str]]:
    """Replay all cells; return their names and what became of them, by name."""
    with folder.locked():
        outcomes = list(replay_cells(study.cells, folder, limit=limit))
    return sorted((one.cell.name, one.status) for one in outcomes)


def test_outcomes_are_those_of_replays(study: WhatIf, tmp_path: Path) -> None:
    """Times of all jobs, and the metrics."""
    folder = WhatIfFolder(tmp_path / "out")
    assert {status for _, status in replayed(study, folder)} == {"done"}
    for cell in study.cells:
        kept, alone = folder.outcome(cell), hpcsched.replay(cell.scenario)
        assert kept is not None
        starts = zip(kept.jobs.job_ids.tolist(), kept.jobs.starts.tolist(), strict=True)
        assert dict(starts) == alone.start_times
        assert kept.figures.metrics == dict(alone.metrics)
        assert kept.figures.objective == alone.objective
        assert (kept.figures.read, kept.figures.ran) == (200, 200)


def test_it_goes_on_where_it_was(study: WhatIf, tmp_path: Path) -> None:
    """What is whole is kept; what is damaged or missing is replayed, with the same bytes."""
    folder = WhatIfFolder(tmp_path / "out")
    replayed(study, folder)
    whole = {path.name: path.read_bytes() for path in (folder.path / "variants").iterdir()}
    folder.place(study.base).write_bytes(b"half")
    folder.place(study.variants[0]).unlink()
    assert replayed(study, folder, limit=1) == [
        ("base", "done"), ("list-fcfs", "kept"), ("list-saf", "kept"), ("shortest-first", "done"),
    ]  # fmt: skip
    again = {path.name: path.read_bytes() for path in (folder.path / "variants").iterdir()}
    assert again == whole


def test_an_outcome_of_another_variant_is_none(study: WhatIf, tmp_path: Path) -> None:
    """A file with the wrong name is not believed."""
    folder = WhatIfFolder(tmp_path / "out")
    replayed(study, folder)
    base, other = study.base, study.variants[0]
    shutil.copy(folder.place(base), folder.place(other))
    assert read_outcome(folder.place(other), other) is None


def test_a_variant_that_fails(tmp_path: Path) -> None:
    """Its reason is told, and the others are replayed."""
    log = tmp_path / "log.swf"
    log.write_text("1 0 -1 60 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1\n")
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        "name: s\nsystem: {groups: [{name: n, count: 4, resources: {core: 1}}]}\n"
        "trace: {source: swf, path: log.swf}\npredictor: requested-time\ndispatcher: easy\n"
    )
    damaged = tmp_path / "damaged.swf"
    damaged.write_text("1 2 three\n")
    vary = variation(tmp_path, "variants: [{name: d, set: {trace.path: damaged.swf}}]\n")
    study = read_whatif(scenario, vary)
    folder = WhatIfFolder(tmp_path / "out")
    with folder.locked():
        outcomes = {one.cell.name: one for one in replay_cells(study.cells, folder)}
    assert outcomes["base"].status == "done"
    assert outcomes["d"].status == "failed"
    assert "damaged.swf" in outcomes["d"].message


def test_one_process_at_a_time(tmp_path: Path) -> None:
    """The folder is locked."""
    folder = WhatIfFolder(tmp_path / "out")
    with folder.locked(), pytest.raises(InputError, match="worked on"), folder.locked():
        pass
