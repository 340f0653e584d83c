"""The table of CPU time and memory."""

from pathlib import Path

import numpy as np
import pytest

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import open_study
from hpcsched.report.tables.study_tables import cpu_memory
from hpcsched.runs.columns import usage_schema
from hpcsched.runs.observers import UsageRow
from hpcsched.runs.recorder import RecordFile
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario

SCENARIO = Path(__file__).parents[3] / "scenarios" / "small-easy.yaml"
MB = 1_000_000


def studied(folder: Path) -> ComparedStudy:
    """Return two runs whose usage is written by hand, and one without."""
    for seed, scale in ((0, 1), (1, 3)):
        changes = ["trace.jobs=3", "observers=[cpu-memory]", f"seed={seed}"]
        run(load_scenario(SCENARIO, changes), folder / str(seed))
        rows = [
            UsageRow(1, 0, 1, scale * 0.5, scale * 1.0, scale * 0.25, 10 * scale * MB),
            UsageRow(2, 86_400, 1, 0.0, scale * 2.0, scale * 0.25, 20 * scale * MB),
        ]
        file: RecordFile[UsageRow] = RecordFile(
            folder / str(seed) / "usage.parquet", usage_schema()
        )
        for row in rows:
            file.add(row)
        file.close()
    run(load_scenario(SCENARIO, ["trace.jobs=3", "name=other"]), folder / "other")
    return ComparedStudy(open_study([folder / name for name in ("0", "1", "other")]))


def test_by_hand(tmp_path: Path) -> None:
    """Totals are 4 and 12 s: 8 in the mean, with a deviation of √32."""
    compared = studied(tmp_path)
    (row,) = cpu_memory(compared).rows
    configuration, _, count, *figures = row
    assert (configuration, count) == ("small-easy", 2)
    root = np.sqrt(2)
    expected = [8, 4 * root, 1, 0.5 * root, 6, 3 * root, 1, 0.5 * root]
    assert figures == pytest.approx([*expected, 30, 15 * root, 40, 20 * root])


def test_nothing_recorded(tmp_path: Path) -> None:
    """The table is empty."""
    run(load_scenario(SCENARIO, ["trace.jobs=3"]), tmp_path / "run")
    assert cpu_memory(ComparedStudy(open_study([tmp_path / "run"]))).rows == []
