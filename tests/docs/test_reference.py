"""The reference of scenarios is current."""

from importlib import import_module

import pytest

from tests.docs.pages import DOCS


def test_the_tables_are_current(monkeypatch: pytest.MonkeyPatch):
    """The committed pages are what `python docs/make_reference.py` would write."""
    monkeypatch.syspath_prepend(DOCS)
    make_reference = import_module("make_reference")
    for path in make_reference.PAGES:
        page = path.read_text(encoding="utf-8")
        assert make_reference.make_page(page) == page
