"""The page of a report: what is in it, that it is the same every time, and that all is escaped."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import altair as alt
import jsonschema
import vl_convert
from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import write_figure
from hpcsched.report.figures.run_figures import (
    box_figure,
    decision_time_figure,
    distribution_figure,
    load_figure,
)
from hpcsched.report.page.page import Verdict, _vega, interactive, page_figures, write_page
from hpcsched.report.studying import StudyComparison
from hpcsched.report.tables.run_comparison import compare_runs
from tests.report.studies import pair, tables_of, write_experiment, write_studied
from tests.runs.hand_made import REJECTED, tamper_json

NOTHING = "–"
NASTY = "</script><script>alert(1)</script>"


def page_of(tables: ComparedStudy, verdict: Verdict) -> str:
    """Return the page of runs that all have one verdict."""
    runs = tables.study.runs
    names = [one.name for one in runs]
    comparison = replace(compare_runs(tables), warnings=("<beware>",))
    found = StudyComparison(tables, comparison, {})
    return write_page(found, dict.fromkeys(names, verdict), title="Two & two")


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
    """Runs, tables, figures, scenarios and verdicts are there, and nothing is fetched."""
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
    assert reader.tags.count("table") == 1 + 6  # none over seeds, as there is but one


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


def test_figures_are_valid(tmp_path: Path) -> None:
    """Vega-Lite accepts every figure, and the page's data are those of the figures."""
    write_experiment(tmp_path)
    tables = tables_of([tmp_path])
    figures = list(page_figures(tables))
    names = [figure.name for figure in figures]
    assert len(set(names)) == len(names) >= 6
    page = page_of(tables, Verdict("ok", ()))
    (held,) = re.findall(r'<script type="application/json" id="drawings">(.*?)</script>', page)
    drawings = json.loads(held)
    assert list(drawings) == sorted(names)
    # Making charts of them would validate them, too, and take ten times as long.
    schema = jsonschema.Draft7Validator(alt.Chart._rootschema)
    assert not schema.is_valid({"mark": "nonsense"})
    for name, drawing in drawings.items():
        assert f'id="figure-{name}"' in page
        assert list(schema.iter_errors(drawing)) == []
        assert vl_convert.vegalite_to_svg(drawing).startswith("<svg")


def test_pages_hold_the_vega_that_draws_files() -> None:
    """The build took it from the version that is pinned."""
    assert _vega() == vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def test_a_run_in_which_no_job_ran(tmp_path: Path) -> None:
    """Its tables say that there is nothing, and its figures are empty."""
    path = write_studied(tmp_path / "run", [REJECTED])
    tables = tables_of([path])
    assert NOTHING in "\n".join(read(page_of(tables, Verdict("ok", ()))).texts)
    for figure in (
        box_figure(tables, "wait_time"),
        distribution_figure(tables, "wait_time"),
        load_figure(tables),
        decision_time_figure(tables),
    ):
        out = tmp_path / "figure.svg"
        write_figure(figure.chart, out, force=True)
        assert out.read_text().startswith("<svg")


def test_zooming_and_filtering(tmp_path: Path) -> None:
    """Every unit about configurations can be filtered, and views with two scales can be zoomed."""
    tables = tables_of(pair(tmp_path))
    figures = {figure.name: figure.chart for figure in page_figures(tables)}
    boxes = interactive(figures["boxes-wait_time"], tables.study.configurations)
    assert {"name": "shown", "value": ["easy", "sjf"]} in boxes["params"]
    for layer in boxes["layer"]:
        assert layer["transform"][0] == {"filter": "indexof(shown, datum.configuration) >= 0"}
        assert "params" not in layer
    load = interactive(figures["load"], tables.study.configurations)
    names = [param["name"] for view in load["concat"] for param in view["params"]]
    assert names == [f"zoom_{number}" for number in range(4)]


def test_an_axis_of_dates_can_be_zoomed(tmp_path: Path) -> None:
    """The load of a log with dates is zoomed like any other."""
    (path,) = pair(tmp_path)[:1]
    comments = ["UnixStartTime: 843480000"]
    tamper_json(path / "manifest.json", lambda content: content.update(trace_comments=comments))
    tables = tables_of([path])
    load = interactive(load_figure(tables).chart, tables.study.configurations)
    assert [view["encoding"]["x"]["type"] for view in load["concat"]] == ["temporal"] * 4
    assert all(view["params"][0]["bind"] == "scales" for view in load["concat"])
    for view in load["concat"]:
        assert view["encoding"]["x"]["axis"]["title"] == "from 1996-09-23, local time (UTC+00:00)"


def test_a_page_shows_labels(tmp_path: Path) -> None:
    """Runs have their labels in lists, tables and headings; details have the names, too."""
    paths = [
        write_studied(tmp_path / "one", name="kth-easy"),
        write_studied(tmp_path / "two", name="kth-sjf", dispatcher={"name": "list"}),
    ]
    page = page_of(tables_of(paths), Verdict("ok", ()))
    texts = read(page).texts
    assert texts.count("kth-sjf") == 1
    assert "Differences of the same jobs from easy" in texts
    assert '<input type="checkbox" checked value="kth-sjf"> sjf</label>' in page
    assert "<dt>Name</dt><dd>kth-sjf</dd>" in page


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
    assert "--force or force=True replaces it" in str(again.exception)
    forced = ["report", *paths, "--out", str(out), "--force", "--no-verify", "--title", "Mine"]
    result = CliRunner().invoke(app, forced)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "<title>Mine</title>" in out.read_text()
