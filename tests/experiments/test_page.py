"""The page of the documentation gets what the runs came to, and nothing else of it changes."""

import pytest

from experiments.debs2024.page import write_page
from experiments.debs2024.table import as_markdown
from hpcsched.errors import InputError
from tests.experiments.samples import written_comparison

BEFORE, AFTER = "# A page\n\n<!-- begin small -->\n", "<!-- end small -->\n\nMore.\n"


def test_the_block_is_replaced(tmp_path):
    """Table, effort and whole figures, however often it is done."""
    comparison = written_comparison(tmp_path)
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(f"{BEFORE}old\n{AFTER}", encoding="utf-8")
    for _ in range(2):
        picture = page.parent / "figures" / "small" / "figure-1.png"
        assert write_page(comparison, page) == [page, picture]
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"{BEFORE}{as_markdown(comparison)}\n\nThe 4 runs took ")
        assert text.endswith(
            f", added up.\n\n![Figure 1: Of AF](figures/small/figure-1.png)\n{AFTER}"
        )
        assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("text", ["nothing\n", BEFORE, AFTER + BEFORE, 2 * (BEFORE + AFTER)])
def test_a_page_without_its_block(text, tmp_path):
    """It is left as it is, and no figure is written."""
    comparison = written_comparison(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="it needs one line <!-- begin small -->"):
        write_page(comparison, page)
    assert page.read_text(encoding="utf-8") == text
    assert not (tmp_path / "figures").exists()
