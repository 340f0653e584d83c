"""The page in a real browser: no error, no request, and everything drawn."""

import html
import json
import re
from pathlib import Path

import pytest

from hpcsched.report.page.page import Verdict
from tests.report.page.browser import open_in_browser
from tests.report.page.test_page import NASTY, page_of
from tests.report.studies import pair, tables_of, write_experiment


def test_it_opens_without_a_network(tmp_path: Path) -> None:
    """Tables and all pictures are there, nothing is complained of, and nobody is asked."""
    write_experiment(tmp_path / "experiment")
    tables = tables_of([tmp_path / "experiment"])
    page = tmp_path / "report.html"
    page.write_text(page_of(tables, Verdict("ok", (NASTY,))))
    opened = open_in_browser(page, tmp_path)
    assert opened.complaints == []
    assert opened.addresses == []
    body = opened.document[: opened.document.index('id="drawings"')]
    places = re.findall(r'class="drawing[^"]*" id="figure-([\w-]+)"', body)
    assert len(places) >= 6
    drawn = re.findall(r'class="drawing vega-embed[^"]*" id="figure-([\w-]+)"', body)
    assert drawn == places
    assert body.count("<svg ") >= len(places)
    assert '<table class="filtered" id="table-distribution">' in body
    assert "wait_time" in body


@pytest.mark.parametrize(
    ("content", "complaints", "addresses"),
    [
        ("<script>console.error('oh no')</script>", 1, 0),
        ("<script>missing()</script>", 1, 0),
        ('<img src="http://example.invalid/x.png">', None, 1),
        ("<p>fine</p>", 0, 0),
    ],
)
def test_the_browser_tells(
    content: str, complaints: int | None, addresses: int, tmp_path: Path
) -> None:
    """Errors and requests of a page are seen, so that there being none means something."""
    page = tmp_path / "page.html"
    page.write_text(f"<!DOCTYPE html><title>x</title>{content}")
    opened = open_in_browser(page, tmp_path)
    if complaints is not None:
        assert len(opened.complaints) == complaints
    assert len(set(opened.addresses)) == addresses


USER = """
<script>
setTimeout(() => {
  document.querySelector('#configurations input[value="sjf"]').click();
  const search = document.querySelector("#table-distribution").closest("section")
    .querySelector("input[type=search]");
  search.value = "WAIT_TIME easy";
  search.dispatchEvent(new Event("input"));
  document.querySelector("#table-ranks th:nth-child(4)").click();
}, 4000);
// Figures are drawn again in their own time.
setTimeout(() => {
  const cells = document.querySelectorAll("#table-ranks tbody td:nth-child(4)");
  const shown = document.querySelectorAll("#table-distribution tbody tr:not([hidden])");
  const seen = {
    drawn: [...document.querySelectorAll(".drawing")].map((d) =>
      [...d.querySelectorAll("[aria-label*='configuration: ']")].map((mark) =>
        mark.getAttribute("aria-label").match(/configuration: ([^;]*)/)[1])),
    shown: [...shown].map((row) => row.cells[0].textContent + " " + row.cells[1].textContent),
    ranks: [...cells].map((cell) => parseFloat(cell.textContent)),
  };
  const result = document.createElement("pre");
  result.id = "seen";
  result.textContent = JSON.stringify(seen);
  document.body.append(result);
}, 5000);
</script>
"""


def test_it_can_be_filtered_and_sorted(tmp_path: Path) -> None:
    """What is unticked leaves all pictures, words leave their rows alone, and heads sort."""
    runs = tmp_path / "runs"
    page = tmp_path / "report.html"
    text = page_of(tables_of(pair(runs)), Verdict("ok", ()))
    page.write_text(f"{USER}</body>".join(text.rsplit("</body>", 1)))
    opened = open_in_browser(page, tmp_path)
    assert opened.complaints == []
    (found,) = re.findall(r'<pre id="seen">(.*?)</pre>', opened.document)
    seen = json.loads(html.unescape(found))
    assert len(seen["drawn"]) >= 6
    assert {name for names in seen["drawn"] for name in names} == {"easy"}
    assert seen["shown"] == ["easy wait_time"]
    assert seen["ranks"] == sorted(seen["ranks"])
    assert len(set(seen["ranks"])) > 1
