"""Figures of rounds: decision times, chosen dispatchers, CPU time and memory."""

from pathlib import Path

import numpy as np
import pytest

from hpcsched.cli import main
from hpcsched.errors import InputError
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures import round_figures, run_series
from hpcsched.report.figures.round_figures import (
    choice_figure,
    cpu_over_time_figure,
    cpu_time_figure,
    decision_time_figure,
)
from hpcsched.report.figures.run_series import ChosenFrom, QueueBin, by_queue_length, choice_at
from hpcsched.report.studied_runs import open_study
from hpcsched.report.tables.study_tables import cpu_memory
from hpcsched.runs.columns import usage_schema
from hpcsched.runs.process_usage import UsageRow
from hpcsched.runs.record_file import RecordFile
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.report.figures.described import units
from tests.report.studies import pair, tables_of, write_studied


def test_ranges_double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges are 0, 1, 2 to 3, 4 to 7; those without rounds are left out.

    Of the rounds with two and three jobs, which took 1, 2 and 6 s, the mean is 3 s and the median
    2 s; the 90th percentile by nearest rank is the largest.
    """
    queued = np.array([3, 0, 2, 7, 3])
    seconds = np.array([6.0, 0.5, 1.0, 8.0, 2.0])
    monkeypatch.setattr(run_series, "decision_times", lambda _: (queued, seconds))
    (one,) = open_study([write_studied(tmp_path / "run")]).runs
    assert list(by_queue_length(one)) == [
        QueueBin(0, 0, 1, 0.5, 0.5, 0.5, 0.5),
        QueueBin(2, 3, 3, 3.0, 2.0, 6.0, 6.0),
        QueueBin(4, 7, 1, 8.0, 8.0, 8.0, 8.0),
    ]


def test_dots_and_lines(tmp_path: Path) -> None:
    """Each run has dots and a line of medians, on logarithmic scales."""
    dots, line, _ = units(decision_time_figure(tables_of(pair(tmp_path))).chart)
    assert {one.encoding[axis]["scale"]["type"] for one in (dots, line) for axis in "xy"} == {"log"}
    assert dots.axis_title("y") == "decision time (wall clock)"
    for one in (dots, line):
        assert set(one.column("run")) == {"easy", "sjf"}
    # Dots are paler than lines.
    assert set(dots.column("colour")).isdisjoint(line.encoding["color"]["scale"]["range"])


CHOICES = (ChosenFrom(1, 0, "easy", "to begin with"), ChosenFrom(4, 30, "list", "it was behind"))


def test_a_bar_for_each_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first reaches from 0 to 30 s, the second to the last round; reasons can be read off."""
    tables = tables_of([write_studied(tmp_path / "run")])
    last = tables.study.runs[0].run.rounds.read("now")["now"].to_pylist()[-1]
    monkeypatch.setattr(round_figures, "choices_of", lambda _: CHOICES)
    (bars,) = units(choice_figure(tables).chart)
    assert bars.column("dispatcher") == ["easy", "list"]
    assert bars.column("begin") == [0, 30]
    assert bars.column("end") == [30, last]
    assert bars.column("because") == ["to begin with", "it was behind"]
    assert bars.axis_title("x") == "seconds since the trace's origin"


def test_the_choice_at_a_time() -> None:
    """It is the last one that was made; there is none before the first round."""
    assert choice_at(CHOICES, -1) is None
    assert choice_at(CHOICES, 29) == CHOICES[0]
    assert choice_at(CHOICES, 30) == CHOICES[1]


def test_no_run_chose(tmp_path: Path) -> None:
    """The error says which dispatcher chooses."""
    with pytest.raises(InputError, match="expected one of the dispatcher hyper"):
        choice_figure(tables_of([write_studied(tmp_path / "run")]))


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
