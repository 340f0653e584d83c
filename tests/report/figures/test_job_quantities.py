"""Values of jobs by configuration and trace, and their titles."""

from pathlib import Path

from hpcsched.report.figures.distribution_figures import quantity_title, quantity_values
from tests.report.studies import pair, tables_of, write_studied


def test_titles(tmp_path: Path) -> None:
    """They have the bound of the bounded slowdown, and the unit."""
    tables = tables_of(pair(tmp_path))
    assert quantity_title(tables, "bounded_slowdown") == "bounded slowdown, τ = 10 s"
    assert quantity_title(tables, "wait_time") == "wait time"
    assert quantity_title(tables, "queue_size") == "jobs in the queue before a round"


def test_seeds_are_pooled(tmp_path: Path) -> None:
    """Seven jobs under each of two seeds are fourteen values that wait 500 s in all."""
    paths = [write_studied(tmp_path / f"{seed}", seed=seed) for seed in (0, 1)]
    ((case, values),) = quantity_values(tables_of(paths), "wait_time").items()
    assert case == ("easy", "trace")
    assert (len(values), values.sum()) == (14, 500)
