"""The lists that follow from the code: the site has all of them, the repository none."""

import re

import pytest

from tests.docs.pages import SITE, reference

LISTED = {
    "cli": ["## hpcsched run", "`--set` (`KEY.PATH=VALUE`)", "## hpcsched slurm-conf"],
    "commands": ["- `hpcsched run`: "],
    "experiments": ["- `matrix`", "- `dask`: "],
    "hooks": ["hpcsched_dispatchers", "`capabilities: frozenset[str]`"],
    "known-data": ["- `eurora`: "],
    "plugin-parameters": ["- `easy`: ", "- `slurm-sacct`: ", "over_requested_time"],
    "plugin-types": ["### Job", "`submit_time: int`: Submit time"],
    "results": ["- `job_id`: ", "- `waiting_amounts` (amount): "],
    "scenario": ["`system`", "`system.groups`", "`outages.failures`"],
}
PART = re.compile(r"<!-- begin ([\w-]+) -->\n(.*?)<!-- end \1 -->", re.DOTALL)


@pytest.mark.parametrize("page", LISTED)
def test_the_site_has_the_lists(page: str) -> None:
    """A page says in the repository how to see its lists; on the site it has them."""
    (path,) = (path for path in SITE if path.stem == page)
    kept = path.read_text(encoding="utf-8")
    shown = reference().make_page(kept)
    for word in LISTED[page]:
        assert word in shown
        assert word not in "".join(text for _, text in PART.findall(kept))


def test_no_list_is_kept_or_left_out() -> None:
    """Each list of the code is on a page, and none is kept in the repository."""
    parts = [part for path in SITE for part in PART.findall(path.read_text(encoding="utf-8"))]
    made = {name: text for name, text in parts if name in reference().make_tables()}
    assert set(made) == set(reference().make_tables())
    assert all("make docs" in text and len(text) < 200 for text in made.values())
