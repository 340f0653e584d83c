"""Predictors under dispatchers: what runs came to, and how that is shown."""

import pytest

import predictors as command
from comparisons.box_charts import Box
from comparisons.distributions import read_outcomes
from hpcsched import cli
from hpcsched.runs.directory import RunDirectory
from hpcsched.studies.experiment_folder import ExperimentFolder
from hpcsched.studies.study_files import read_experiment
from tests.docs.pages import tables
from tests.studies.experiment_samples import run_cells_here
from tests.workload.readers.swf_files import record, write

EXPERIMENT = """\
name: predictors
scenario: base.yaml
matrix:
  - names: [sjf, easy]
    dispatcher: [{name: list, order: sjf, option: greedy}, {name: easy}]
  - names: [asked, known]
    predictor: [requested-time, actual]
  - names: [log]
    system: [{groups: [{name: node, count: 1, resources: {core: 1}}]}]
    dispatcher.allocator: [best-fit]
"""

BASE = """\
name: base
system: {groups: [{name: node, count: 1, resources: {core: 1}}]}
trace: {source: swf, path: log.swf}
dispatcher: easy
"""


@pytest.fixture
def declared(tmp_path, monkeypatch):
    """Return the file of an experiment on four jobs and one core."""
    monkeypatch.chdir(tmp_path)
    jobs = ((0, 10, 10), (2, 8, 20), (4, 2, 30), (100, 5, 9))
    write(tmp_path, [record(n, *job[:2], 1, job[2]) for n, job in enumerate(jobs, 1)])
    (tmp_path / "base.yaml").write_text(BASE)
    path = tmp_path / "predictors.yaml"
    path.write_text(EXPERIMENT)
    return path


def test_outcomes_worked_by_hand(declared, tmp_path, monkeypatch):
    """Jobs 2 and 3 wait for job 1; as requested job 2 is the shorter one, in truth it is job 3.

    Job 2 starts at 10 and job 3 at 18, or job 3 at 10 and job 2 at 12. One job waits from 2 on, two
    from 4 to 10, and from then on one until 18 or 12. Job 4 comes when all is idle.
    """
    run_cells_here(monkeypatch)
    assert cli.main(["experiment", str(declared), "--only", "sjf"]) == 0
    folder = ExperimentFolder(tmp_path / "runs" / "predictors")
    cells = {cell.labels["predictor"]: cell for cell in read_experiment(declared).cells[:2]}
    outcomes = read_outcomes(
        {label: RunDirectory.open(folder.place(cell)) for label, cell in cells.items()}
    )
    asked, known = outcomes["asked"], outcomes["known"]
    assert (asked.wait_time, known.wait_time) == ((8 + 14) / 4, (10 + 6) / 4)
    assert asked.bounded_slowdown == pytest.approx((1 + 1.6 + 1.6 + 1) / 4)
    assert known.bounded_slowdown == pytest.approx((1 + 1.8 + 1 + 1) / 4)
    assert asked.slowdowns == Box(2, 2, 2, 8, 8, 5)
    assert known.slowdowns == Box(2.25, 2.25, 2.25, 4, 4, 3.125)
    # Of the 16 seconds in which jobs wait, two wait for 6, and one for 10 or for 4.
    assert asked.queue == Box(1, 1, 1, 2, 2, 22 / 16)
    assert known.queue == Box(0, 0, 1, 2, 2, 16 / 16)
    # All of them are short.
    assert asked.by_class == {"short": asked.slowdowns}
    assert asked.sizes == known.sizes == {"short": 2, "medium": 0, "long": 0}


@pytest.mark.slow
def test_the_page_and_the_tables(declared, tmp_path, monkeypatch, capsys):
    """They have what was run; a run that is not there is a dash."""
    assert cli.main(["experiment", str(declared), "--only", "sjf"]) == 0
    assert cli.main(["experiment", str(declared), "--only", "easy", "--only", "asked"]) == 0
    capsys.readouterr()
    page = tmp_path / "page.md"
    page.write_text(
        "# A page\n\n<!-- begin predictors -->\nold\n<!-- end predictors -->\n\nMore.\n"
    )
    monkeypatch.setattr(command, "PAGE", page)
    assert command.main(["--write-docs"]) == 0
    said = capsys.readouterr().err
    assert said.endswith("not there, and shown so: easy_known_log\n")
    text = page.read_text()
    assert "![log, jobs waiting, by the second](figures/predictors/log-queue.png)\n<!--" in text
    assert (tmp_path / "figures" / "predictors" / "log-slowdown.png").is_file()
    assert "old" not in text
    slowdown, wait = tables(text)
    assert slowdown == [
        ["dispatcher", "asked", "known"],
        ["sjf", "1.30", "1.20"],
        ["easy", "1.30", "–"],
    ]
    assert wait[1] == ["sjf", "6", "4"]

    assert command.main([]) == 0
    folder = tmp_path / "runs" / "predictors"
    assert (folder / "tables.md").read_text() == capsys.readouterr().out
    assert sorted(path.suffix for path in (folder / "figures").iterdir()) == 2 * [".pdf"] + 2 * [
        ".png"
    ]
