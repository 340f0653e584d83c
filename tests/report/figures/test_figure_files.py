"""Figures as files: the same every time, whole or not at all."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import Figure, format_of, write_figure
from hpcsched.report.figures.gantt_figure import gantt_figure
from hpcsched.report.figures.run_figures import (
    box_figure,
    decision_time_figure,
    distribution_figure,
    load_figure,
    metric_figure,
)
from hpcsched.whole_files import check_target
from tests.report.figures.described import texts
from tests.report.studies import pair, tables_of

FIGURES: dict[str, Callable[[ComparedStudy], Figure]] = {
    "boxes": lambda tables: box_figure(tables, "wait_time"),
    "distribution": lambda tables: distribution_figure(tables, "bounded_slowdown"),
    "bars": lambda tables: metric_figure(tables, "mean_wait_time"),
    "load": load_figure,
    "decision-time": decision_time_figure,
    "gantt": lambda tables: gantt_figure(tables, "core", 0, 200),
}
BEGINS = {"pdf": b"%PDF", "svg": b"<svg", "png": b"\x89PNG"}


@pytest.mark.parametrize(
    ("name", "kind"), [*((name, "svg") for name in FIGURES), ("boxes", "pdf"), ("boxes", "png")]
)
def test_equal_runs_give_equal_bytes(name: str, kind: str, tmp_path: Path) -> None:
    """A figure drawn twice is the same file."""
    tables = tables_of(pair(tmp_path / "runs"))
    paths = [tmp_path / f"{k}.{kind}" for k in range(2)]
    for path in paths:
        write_figure(FIGURES[name](tables).chart, path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert first.startswith(BEGINS[kind])


def test_what_is_written_in_it(tmp_path: Path) -> None:
    """Titles of axes, configurations and values of bars can be read."""
    out = tmp_path / "bars.svg"
    write_figure(metric_figure(tables_of(pair(tmp_path / "runs")), "mean_wait_time").chart, out)
    assert {"mean wait time [s]", "easy", "sjf", "35.71", "44.29", "trace"} <= set(texts(out))


def test_formats() -> None:
    """The ending of the name says the format."""
    assert format_of(Path("a.PDF")) == "pdf"
    with pytest.raises(InputError, match=r"a\.jpg does not end in one of \.pdf, \.svg, \.png"):
        format_of(Path("a.jpg"))


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    """Unless it is to be replaced; a directory never is."""
    out = tmp_path / "mine.svg"
    out.write_text("mine")
    figure = load_figure(tables_of(pair(tmp_path / "runs")))
    with pytest.raises(InputError, match="it is there already; --force or force=True replaces it"):
        write_figure(figure.chart, out)
    assert out.read_text() == "mine"
    write_figure(figure.chart, out, force=True)
    assert out.read_text().startswith("<svg")
    with pytest.raises(InputError, match="it is a directory"):
        check_target(tmp_path, force=True)
