"""The tables of a comparison by name: what holds for each of them."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.report.tables.study_tables import TABLES
from tests.report.studies import pair, tables_of


def test_an_unknown_baseline(tmp_path: Path) -> None:
    """It is an error."""
    with pytest.raises(InputError, match="'fast' is none of these runs; there are: easy, sjf"):
        tables_of(pair(tmp_path), "fast")


def test_every_table_says_over_what_it_is(tmp_path: Path) -> None:
    """Every table has a note on its population, and bounded slowdowns one on their bound."""
    tables = tables_of(pair(tmp_path))
    for name, make in TABLES.items():
        table = make(tables)
        assert table.name == name
        notes = " ".join(table.notes)
        assert "Population: " in notes or "Over all jobs that ran" in notes
        if any("bounded_slowdown" in str(cell) for row in table.rows for cell in row):
            assert "tau = 10 s" in notes
