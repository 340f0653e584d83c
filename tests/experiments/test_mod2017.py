"""The figures of MOD 2017: slowdowns of all jobs and by class, and queues."""

import pytest

import mod2017 as command
from comparisons.box_charts import Box
from comparisons.distributions import Outcome
from hpcsched import cli
from tests.docs.pages import tables
from tests.report.figures.described import texts
from tests.workload.readers.swf_files import record, write

EXPERIMENT = """\
name: mod2017
scenario: base.yaml
matrix:
  - names: [SJF, EBF]
    dispatcher: [{name: list, order: sjf, option: greedy}, easy]
  - names: [W, R]
    predictor: [requested-time, actual]
"""

BASE = """\
name: base
system: {groups: [{name: node, count: 1, resources: {core: 1}}]}
trace: {source: swf, path: log.swf}
dispatcher: easy
"""


@pytest.fixture
def page(tmp_path, monkeypatch, capsys):
    """Return the page; a medium job, two short ones and a long one have been run in a row."""
    monkeypatch.chdir(tmp_path)
    jobs = ((0, 7000, 7200), (10, 60, 7200), (20, 30, 3600), (30, 50_000, 80_000))
    write(tmp_path, [record(n, *job[:2], 1, job[2]) for n, job in enumerate(jobs, 1)])
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "mod2017.yaml").write_text(EXPERIMENT)
    assert cli.main(["experiment", "mod2017.yaml"]) == 0
    capsys.readouterr()
    page = tmp_path / "page.md"
    page.write_text("<!-- begin mod2017 -->\n<!-- end mod2017 -->\n")
    monkeypatch.setattr(command, "PAGE", page)
    return page


@pytest.mark.slow
def test_the_page(page, tmp_path):
    """It has tables, the number of jobs in each class, and figures as pixels and vectors."""
    assert command.main(["--write-docs"]) == 0
    text = page.read_text()
    waits = tables(text)[1]
    # Job 1 keeps all waiting until 7000; then the shorter of two starts first where that is known.
    assert waits[0] == ["dispatcher", "W", "R"]
    assert waits[1] == ["SJF", str(round((7020 + 6980 + 7060) / 4)), "5265"]
    assert "Jobs that wait in some run: 3 (2 short, 0 medium, 1 long)." in text
    folder = tmp_path / "figures" / "mod2017"
    names = sorted(path.name for path in folder.iterdir())
    assert names == [f"figure-{n}.{kind}" for n in (3, 4, 5) for kind in ("png", "svg")]
    assert "As vectors: [figure-4.svg](figures/mod2017/figure-4.svg)" in text
    shown = texts(folder / "figure-4.svg")
    assert {"short jobs", "long jobs", "SJF", "EBF", "W", "R"} <= set(shown)
    assert "medium jobs" not in shown, "no job of the class waits"


def test_a_class_without_jobs_has_no_box():
    """The panels of a figure have the boxes that there are."""
    box = Box(1.0, 1.0, 2.0, 3.0, 4.0, 2.0)
    outcome = Outcome(1.0, 1.0, box, box, {"short": box}, {"short": 1, "medium": 0, "long": 0})
    panels = command.figures({("SJF", "W"): outcome})["figure-4"]
    assert [panel.drawable for panel in panels] == [True, False, False]
