"""The reference that follows from the code is current, and no part of it is missing."""

import pytest

from tests.docs.pages import SITE, make_reference


def test_the_kept_parts_are_current() -> None:
    """The committed pages are what `python docs/make_reference.py` would write."""
    for path in make_reference().PAGES:
        page = path.read_text(encoding="utf-8")
        assert make_reference().make_page(page) == page


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("cli", ["## hpcsched run", "`--set` (`KEY.PATH=VALUE`)", "## hpcsched slurm-conf"]),
        ("hooks", ["hpcsched_dispatchers", "`capabilities: frozenset[str]`"]),
        ("plugin-parameters", ["- `easy`: ", "- `slurm-sacct`: ", "over_requested_time"]),
        ("plugin-types", ["### Job", "`submit_time: int`: Submit time"]),
    ],
)
def test_the_site_fills_in_what_is_not_kept(page: str, words: list[str]) -> None:
    """Reference pages say in the repository how to see their lists; on the site they have them."""
    (path,) = (path for path in SITE if path.stem == page)
    kept = path.read_text(encoding="utf-8")
    shown = make_reference().make_page(kept)
    assert "*`make docs` lists them here" in kept
    assert "*`make docs` lists them here" not in shown
    for word in words:
        assert word in shown
