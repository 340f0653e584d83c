"""The tables on five logs of DEBS 2024 have what is declared; tests/traces reruns their figures."""

import pytest

from comparisons.debs2024_logs import paper
from comparisons.debs2024_logs.shares import DELAYS, Shares
from comparisons.debs2024_logs.tables import half_table
from comparisons.finished import Finished
from tests.docs.debs2024 import DELAYED, KNOWN, LAST, REQUESTED, TEXT, TITLES
from tests.docs.pages import tables

RULES = ("List-", "EASY")
LATE = ("List-SAF", "List-SJF")
"""Under these a large job waits until there are no more submissions."""


@pytest.mark.parametrize(
    ("shown", "half"), [(KNOWN, "actual"), (REQUESTED, "requested-time")], ids=["known", "asked"]
)
def test_what_the_paper_prints_is_what_is_declared(shown, half):
    """Rows and printed numbers are those that `--write-docs` writes; only CP was not run."""
    nothing = Shares(Finished({DELAYS: ["as-logged"]}, [], []), {})
    (declared,) = tables(half_table(nothing, TITLES, half))
    known_before = (0, 1, 2, 4, 6, 8, 10)
    assert shown[0] == declared[0]
    assert [[row[k] for k in known_before] for row in shown] == [
        [row[k] for k in known_before] for row in declared
    ]
    for row in shown[1:]:
        assert ("–" not in row[3::2]) or not row[1].startswith(RULES)


def test_how_many_figures_agree():
    """96 are legible; to the digit shown, eight are off by more than rounding."""
    off, legible = [], 0
    for name, table in (("known", KNOWN), ("asked", REQUESTED)):
        for objective, dispatcher, *cells in table[1:]:
            if not dispatcher.startswith(RULES):
                continue
            for log, printed, ours in zip(paper.LOGS, cells[::2], cells[1::2], strict=True):
                legible += printed != "?"
                if printed != "?" and abs(float(ours) - float(printed)) > 0.55:
                    off.append((name, log, objective, dispatcher))
    assert legible == 96
    assert f"{legible} of the paper's figures" in TEXT
    assert sorted(off) == sorted(
        [
            *(("asked", "CTC-SP2", one, name) for one in ("BSLD", "AF") for name in LATE),
            *(("asked", "SDSC-SP2", "AF", name) for name in LATE),
            ("known", "SDSC-SP2", "AF", "List-SJF"),
            ("known", "SDSC-SP2", "BSLD", "EASY"),
        ]
    )


def test_without_the_last_job_the_others_agree():
    """All that is legible of the table rounds to the paper's number, but for List-SPF."""
    legible = [row for row in LAST[1:] if row[4] != "?"]
    off = [row[:4] for row in legible if abs(float(row[6]) - int(row[4])) > 0.5]
    assert off == [["as requested", "CTC-SP2", "BSLD", "List-SPF"]]


def test_ranges_hold_their_means():
    """Each row of delayed arrivals has a mean within its range."""
    assert len(DELAYED) == 11
    for row in DELAYED[1:]:
        least, most = map(float, row[5].split(" to "))
        assert least <= float(row[4]) <= most
