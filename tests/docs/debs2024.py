"""The tables of the page on five logs of DEBS 2024."""

from debs2024_logs import PAGE
from tests.docs.pages import tables

TEXT = PAGE.read_text(encoding="utf-8")
KNOWN, REQUESTED, FULL, LAST, DELAYED = tables(TEXT)[1:6]
TITLES = {"BSLD": "BSLD", "AF": "AF", "AWF": "AWF", "P2SF": "P²SF"}
"""What the objectives are called in them."""
