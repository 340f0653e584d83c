"""The tables on four logs of DEBS 2024 have what is declared; tests/traces reruns their figures."""

import pytest

from comparisons.debs2024_logs import paper
from comparisons.debs2024_logs.shares import DELAYS, Shares
from comparisons.debs2024_logs.tables import half_table
from comparisons.finished import Finished
from tests.docs.debs2024 import DELAYED, KNOWN, LAST, REQUESTED, TEXT, TITLES
from tests.docs.pages import tables

RULES = ("List-", "EASY")


@pytest.mark.parametrize(
    ("shown", "half"), [(KNOWN, "actual"), (REQUESTED, "requested-time")], ids=["known", "asked"]
)
def test_what_the_paper_prints_is_what_is_declared(shown, half):
    """Rows and printed numbers are those that `--write-docs` writes; only CP was not run."""
    nothing = Shares(Finished({DELAYS: ["as-logged"]}, [], []), {})
    (declared,) = tables(half_table(nothing, TITLES, half))
    known_before = (0, 1, 2, 4, 6, 8)
    assert shown[0] == declared[0]
    assert [[row[k] for k in known_before] for row in shown] == [
        [row[k] for k in known_before] for row in declared
    ]
    for row in shown[1:]:
        assert ("–" not in row[3::2]) or not row[1].startswith(RULES)


def test_how_many_figures_agree():
    """79 are legible; to the digit shown, four are off by more than rounding."""
    off, legible = [], 0
    for name, table in (("known", KNOWN), ("asked", REQUESTED)):
        for objective, dispatcher, *cells in table[1:]:
            if not dispatcher.startswith(RULES):
                continue
            for log, printed, ours in zip(paper.LOGS, cells[::2], cells[1::2], strict=True):
                legible += printed != "?"
                if printed != "?" and abs(float(ours) - float(printed)) > 0.55:
                    off.append((name, log, objective, dispatcher))
    assert legible == 79
    assert f"{legible} of the paper's figures" in TEXT
    assert off == [
        ("asked", "CTC-SP2", objective, dispatcher)
        for objective in ("BSLD", "AF")
        for dispatcher in ("List-SAF", "List-SJF")
    ]


def test_without_the_last_job_the_others_agree():
    """All of the table round to the paper's number without it, but for List-SPF."""
    off = [row[:4] for row in LAST[1:] if round(float(row[6])) != int(row[4])]
    assert off == [["as requested", "CTC-SP2", "BSLD", "List-SPF"]]


def test_ranges_hold_their_means():
    """Each row of delayed arrivals has a mean within its range."""
    assert len(DELAYED) == 11
    for row in DELAYED[1:]:
        least, most = map(float, row[5].split(" to "))
        assert least <= float(row[4]) <= most
