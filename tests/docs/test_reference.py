"""The reference of scenarios is current."""

import importlib.util

from tests.docs.pages import DOCS


def test_the_tables_are_current():
    """The committed page is what `python docs/make_reference.py` would write."""
    spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
    make_reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_reference)
    page = make_reference.PAGE.read_text(encoding="utf-8")
    assert make_reference.make_page(page) == page
