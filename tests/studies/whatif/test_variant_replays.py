"""Variants are replayed once, and give what a replay by itself gives."""

import shutil
from pathlib import Path

import pytest

import hpcsched
from hpcsched.errors import InputError
from hpcsched.studies.whatif.outcomes import read_outcome
from hpcsched.studies.whatif.reading import WhatIf, read_whatif
from hpcsched.studies.whatif.variant_replays import WhatIfFolder, replay_cells
from tests.studies.whatif.samples import FEW, SCENARIO, VARIATION, variation


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
