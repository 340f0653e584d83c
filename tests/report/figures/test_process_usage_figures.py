"""CPU time and memory of runs: the table and the figures."""

from pathlib import Path

import numpy as np
import pytest

from hpcsched.cli import main
from hpcsched.errors import InputError
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.round_figures import cpu_over_time_figure, cpu_time_figure
from hpcsched.report.studied_runs import open_study
from hpcsched.report.tables.study_tables import cpu_memory
from hpcsched.runs.columns import usage_schema
from hpcsched.runs.process_usage import UsageRow
from hpcsched.runs.record_file import RecordFile
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.report.figures.described import units

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


def test_table_and_figures_by_hand(tmp_path: Path) -> None:
    """Totals are 4 and 12 s: 8 in the mean, with a deviation of √32; a round takes 2 and 6 s."""
    compared = studied(tmp_path)
    (row,) = cpu_memory(compared).rows
    configuration, _, count, *figures = row
    assert (configuration, count) == ("small-easy", 2)
    root = np.sqrt(2)
    expected = [8, 4 * root, 1, 0.5 * root, 6, 3 * root, 1, 0.5 * root]
    assert figures == pytest.approx([*expected, 30, 15 * root, 40, 20 * root])
    # Over the four rounds of both: 0.5 s of loading, 1.5 of decisions and 0.5 of the rest, in ms.
    (bars,) = units(cpu_time_figure(compared).chart)
    assert bars.column("part") == ["loading", "dispatching", "other"]
    assert bars.column("milliseconds") == pytest.approx([500, 3000, 500])
    cpu, memory = units(cpu_over_time_figure(compared).chart)
    assert cpu.column("seconds") == [1.75, 4.0]
    assert memory.column("memory") == [10, 20]
    assert cpu.column("time") == [0, 24]
    assert cpu.axis_title("x") == "hours since the trace's origin"


def test_nothing_recorded(tmp_path: Path) -> None:
    """Figures say what records it; the table is empty."""
    run(load_scenario(SCENARIO, ["trace.jobs=3"]), tmp_path / "run")
    compared = ComparedStudy(open_study([tmp_path / "run"]))
    assert cpu_memory(compared).rows == ()
    for draw in (cpu_time_figure, cpu_over_time_figure):
        with pytest.raises(InputError, match="observers: \\[cpu-memory\\]"):
            draw(compared)


@pytest.mark.parametrize("command", ["cpu-time", "cpu-memory"])
def test_the_commands(tmp_path: Path, command: str) -> None:
    """They draw the figures of runs that recorded it, and tell others what records it."""
    recorded, plain = tmp_path / "recorded", tmp_path / "plain"
    changes = ["trace.jobs=3", "observers=[cpu-memory]"]
    run(load_scenario(SCENARIO, changes), recorded)
    run(load_scenario(SCENARIO, changes[:1]), plain)
    out = tmp_path / "figure.svg"
    assert main(["plot", command, str(recorded), "--out", str(out)]) == 0
    assert out.read_text().startswith("<svg")
    assert main(["plot", command, str(plain), "--out", str(tmp_path / "none.svg")]) == 1
