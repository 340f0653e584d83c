"""The page of a report: what is in it, that it is the same every time, and that all is escaped."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures import pictures
from hpcsched.report.figures.picture_files import write_picture
from hpcsched.report.page.page import Verdict, write_page
from hpcsched.report.page.page_figures import STEPS, page_figures, thinned_shares
from hpcsched.report.tables.run_comparison import compare_runs
from tests.report.studies import pair, tables_of, write_experiment, write_studied
from tests.results.hand_made import REJECTED

NOTHING = "–"
NASTY = "</script><script>alert(1)</script>"


def page_of(tables: ComparedStudy, verdict: Verdict) -> str:
    """Return the page of runs that all have one verdict."""
    runs = tables.study.runs
    names = [one.name for one in runs]
    comparison = compare_runs(tables)
    verdicts = dict.fromkeys(names, verdict)
    return write_page(tables, comparison, verdicts, title="Two & two", warnings=["<beware>"])


class Reader(HTMLParser):
    """Collects the texts of a page's cells and headings, and whatever is fetched from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.fetched: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what there is, and what would be fetched."""
        self._inside = tag
        self.tags.append(tag)
        self.fetched += [
            f"{tag} {value}"
            for name, value in attrs
            if name == "src" or (name == "href" and not (value or "").startswith("#"))
        ]

    def handle_data(self, data: str) -> None:
        """Note what is shown."""
        if self._inside not in ("script", "style"):
            self.texts.append(data.strip())


def read(page: str) -> Reader:
    """Return what is in a page."""
    reader = Reader()
    reader.feed(page)
    return reader


def test_what_is_in_it(tmp_path: Path) -> None:
    """Runs, tables, pictures, scenarios and verdicts are there, and nothing is fetched."""
    tables = tables_of(pair(tmp_path))
    reader = read(page_of(tables, Verdict("not ok", ("1 violation: of what is claimed",))))
    assert reader.fetched == []
    text = "\n".join(reader.texts)
    for one in tables.study.runs:
        manifest = one.run.manifest
        assert manifest.trace_files[0].sha256 in text
        assert one.run.scenario_path.read_text().strip() in text
        assert f"numpy {manifest.versions['numpy']}" in text
    for wanted in (
        "Two & two",
        "Warning: <beware>",
        "not ok",
        "1 violation: of what is claimed",
        "Differences of the same jobs from easy",
        "35.7143",  # the mean wait of seven jobs that wait 250 s in all
    ):
        assert wanted in text
    assert reader.tags.count("table") == 1 + 7  # none over seeds, as there is but one


def test_equal_runs_give_equal_bytes(tmp_path: Path) -> None:
    """A page does not depend on when it is written."""
    paths = pair(tmp_path)
    first, second = (page_of(tables_of(paths), Verdict("ok", ())) for _ in range(2))
    assert first == second


def test_nothing_of_a_scenario_is_a_command(tmp_path: Path) -> None:
    """Names and texts from outside are shown, not run."""
    path = write_studied(tmp_path / "run", name=NASTY)
    harmless = page_of(tables_of([write_studied(tmp_path / "other")]), Verdict("ok", ()))
    page = page_of(tables_of([path]), Verdict("ok", (NASTY,)))
    assert NASTY not in page
    assert page.count("</script>") == harmless.count("</script>")
    assert NASTY in "\n".join(read(page).texts)


def test_pictures_are_valid(tmp_path: Path) -> None:
    """Plotly's own checks accept every picture, and the page's data are those of the pictures."""
    write_experiment(tmp_path)
    tables = tables_of([tmp_path])
    figures = list(page_figures(tables))
    for figure in figures:
        checked = go.Figure(data=list(figure.data), layout=figure.layout)
        assert len(checked.data) >= 1
        assert {trace.legendgroup for trace in checked.data} <= set(tables.study.contenders)
    names = [figure.name for figure in figures]
    assert len(set(names)) == len(names)
    page = page_of(tables, Verdict("ok", ()))
    (held,) = re.findall(r'<script type="application/json" id="drawings">(.*?)</script>', page)
    assert list(json.loads(held)) == sorted(names)
    assert all(f'id="figure-{name}"' in page for name in names)


def test_a_run_in_which_no_job_ran(tmp_path: Path) -> None:
    """Its tables say that there is nothing, and its pictures are empty."""
    path = write_studied(tmp_path / "run", [REJECTED])
    tables = tables_of([path])
    assert NOTHING in "\n".join(read(page_of(tables, Verdict("ok", ()))).texts)
    for draw in (
        pictures.draw_boxes(tables, "wait_time"),
        pictures.draw_shares(tables, "wait_time"),
        pictures.draw_load(tables, None),
        pictures.draw_decision_times(tables),
    ):
        out = tmp_path / "picture.svg"
        write_picture(draw, out, force=True)
        assert out.read_text().startswith("<?xml")


def test_the_bars_of_a_metric(tmp_path: Path) -> None:
    """Each button shows the bars of its metric alone."""
    figure = next(page_figures(tables_of(pair(tmp_path))))
    buttons = figure.layout["updatemenus"][0]["buttons"]
    chosen = next(b for b in buttons if b["label"] == "mean_wait_time")
    visible = [
        trace
        for trace, shown in zip(figure.data, chosen["args"][0]["visible"], strict=True)
        if shown
    ]
    assert [trace["y"] for trace in visible] == [[35.7143], [44.2857]]
    assert chosen["args"][1] == {"yaxis.title.text": "mean_wait_time [s]"}


def test_many_jobs_are_thinned() -> None:
    """Of a hundred thousand values a few hundred remain, with the ends, none far off."""
    values = np.random.default_rng(3).exponential(size=100_000)
    x, y = thinned_shares(values)
    assert len(x) <= STEPS + 2
    assert (x[0], x[-1], y[-1]) == (values.min(), values.max(), 100)
    for at, percent in zip(x, y, strict=True):
        assert 100 * np.mean(values <= at) == pytest.approx(percent)
    assert np.diff(y).max() < 100 / STEPS + 0.01


def test_the_command(tmp_path: Path) -> None:
    """A run that cannot be audited is said to be unchecked, and the page is written."""
    out = tmp_path / "report.html"
    paths = [str(path) for path in pair(tmp_path / "runs")]
    result = CliRunner().invoke(app, ["report", *paths, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert result.stderr == "warning: the audit does not say ok: easy, sjf\n"
    assert "not checked" in out.read_text()
    again = CliRunner().invoke(app, ["report", *paths, "--out", str(out)])
    assert again.exit_code == 1
    assert "--force replaces it" in str(again.exception)
    forced = ["report", *paths, "--out", str(out), "--force", "--no-verify", "--title", "Mine"]
    result = CliRunner().invoke(app, forced)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "<title>Mine</title>" in out.read_text()
