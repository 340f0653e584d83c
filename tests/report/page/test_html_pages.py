"""Pages are whole: they name nothing outside, and what is put into them is escaped."""

import pytest
from jinja2 import UndefinedError

from hpcsched.report.page.page import render


def test_content_is_escaped() -> None:
    """A title from a file is text, not markup."""
    page = render("layout.html", title="<b>bold</b>")
    assert "<title>&lt;b&gt;bold&lt;/b&gt;</title>" in page
    assert "<b>" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_nothing_is_left_out() -> None:
    """A template that lacks a value fails."""
    with pytest.raises(UndefinedError, match="title"):
        render("layout.html")
