"""The comparison of predictors: which runs it has, what they came to, and how that is shown."""

import pytest

from experiments.declaring import read_declaration
from experiments.predictors import __main__ as command
from experiments.predictors.declaration import Comparison, cells
from experiments.predictors.distributions import read_outcomes
from experiments.predictors.page import write_page
from hpcsched import run
from hpcsched.errors import InputError
from hpcsched.report.boxes import Box
from tests.docs.pages import tables
from tests.workload.swf_files import record, write

DECLARATION = """\
name: small
correction: doubling
traces:
  log: {scenario: base.yaml, allocator: best_fit}
predictors:
  - {label: asked, colour: grey, predictor: requested-time}
  - {label: known, colour: purple, predictor: {name: actual}}
dispatchers:
  - {label: sjf, dispatcher: {name: list, order: sjf, option: greedy}}
  - {label: easy, dispatcher: {name: easy}}
"""

BASE = """\
name: base
system: {groups: [{name: node, count: 1, resources: {core: 1}}]}
trace: {source: swf, path: log.swf}
dispatcher: easy
"""


@pytest.fixture
def declared(tmp_path):
    """Return the file of a comparison on four jobs and one core."""
    jobs = ((0, 10, 10), (2, 8, 20), (4, 2, 30), (100, 5, 9))
    write(tmp_path, [record(n, *job[:2], 1, job[2]) for n, job in enumerate(jobs, 1)])
    (tmp_path / "base.yaml").write_text(BASE)
    path = tmp_path / "small.yaml"
    path.write_text(DECLARATION)
    return path


def test_every_combination_is_a_cell(declared, tmp_path):
    """With the trace's allocator, and the predictor in full."""
    comparison = read_declaration(declared, Comparison)
    found = cells(comparison, tmp_path / "out")
    assert [cell.name for cell in found] == [
        "log/sjf+asked",
        "log/sjf+known",
        "log/easy+asked",
        "log/easy+known",
    ]
    scenario = found[1].load()
    assert scenario.predictor.plugin_name == "actual"
    assert scenario.correction.plugin_name == "doubling"
    assert scenario.dispatcher.allocator.plugin_name == "best_fit"
    assert scenario.dispatcher.option == "greedy"


def test_only(declared, tmp_path):
    """Labels of one kind choose among that kind alone; a label that is not there is refused."""
    comparison = read_declaration(declared, Comparison)

    def names(*only, first=None):
        return [cell.name for cell in cells(comparison, tmp_path, only, first)]

    assert names("known") == ["log/sjf+known", "log/easy+known"]
    assert names("known", "log", "easy") == ["log/easy+known"]
    assert "trace.jobs=3" in cells(comparison, tmp_path, first=3)[0].overrides
    with pytest.raises(InputError, match="nothing is called 'lsf'; there are: log, sjf, easy"):
        names("lsf")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (DECLARATION.replace("easy, disp", "sjf, disp"), "the dispatcher 'sjf' is declared twice"),
        (DECLARATION.replace("known", "asked"), "the predictor 'asked' is declared twice"),
        (DECLARATION.replace("purple", "pink"), "no colour 'pink' is declared"),
        (DECLARATION.replace("dispatchers", "dispatcher"), "there is no key 'dispatcher' here"),
    ],
)
def test_a_wrong_declaration(wrong, message, declared):
    """It is refused at its place."""
    declared.write_text(wrong)
    with pytest.raises(InputError, match=message) as caught:
        read_declaration(declared, Comparison)
    assert caught.value.findings[0].place.line


def test_outcomes_worked_by_hand(declared, tmp_path):
    """Jobs 2 and 3 wait for job 1; as requested job 2 is the shorter one, in truth it is job 3.

    Job 2 starts at 10 and job 3 at 18, or job 3 at 10 and job 2 at 12. One job waits from 2 on, two
    from 4 to 10, and from then on one until 18 or 12. Job 4 comes when all is idle.
    """
    chosen = cells(read_declaration(declared, Comparison), tmp_path / "out", ["sjf"])
    run(chosen[0].load(), chosen[0].folder)
    outcomes, missing = read_outcomes(chosen)
    assert missing == ["log/sjf+known"]
    run(chosen[1].load(), chosen[1].folder)
    outcomes, missing = read_outcomes(chosen)
    assert missing == []
    asked, known = outcomes["sjf+asked"], outcomes["sjf+known"]
    assert (asked.wait_time, known.wait_time) == ((8 + 14) / 4, (10 + 6) / 4)
    assert asked.bounded_slowdown == pytest.approx((1 + 1.6 + 1.6 + 1) / 4)
    assert known.bounded_slowdown == pytest.approx((1 + 1.8 + 1 + 1) / 4)
    assert (asked.waiting, known.waiting) == (22 / 105, 16 / 105)
    assert asked.slowdowns == Box(2, 2, 2, 8, 8, 5)
    assert known.slowdowns == Box(2.25, 2.25, 2.25, 4, 4, 3.125)
    # Of the 16 seconds in which jobs wait, two wait for 6, and one for 10 or for 4.
    assert asked.queue == Box(1, 1, 1, 2, 2, 22 / 16)
    assert known.queue == Box(0, 0, 1, 2, 2, 16 / 16)


def test_the_page(declared, tmp_path):
    """It gets tables and pictures; a run that is not there is a dash."""
    comparison = read_declaration(declared, Comparison)
    chosen = cells(comparison, tmp_path / "out")
    for cell in chosen[:3]:
        run(cell.load(), cell.folder)
    outcomes, _ = read_outcomes(chosen)
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n<!-- begin small -->\nold\n<!-- end small -->\n\nMore.\n")
    drawn = [tmp_path / "figures" / "small" / f"log-{name}.png" for name in ("slowdown", "queue")]
    assert write_page(comparison, {"log": outcomes}, page) == [page, *drawn]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn)
    text = page.read_text()
    assert "](figures/small/log-queue.png)\n<!-- end small -->\n\nMore." in text
    assert "old" not in text
    slowdown, wait, _ = tables(text)
    assert slowdown == [
        ["dispatcher", "asked", "known"],
        ["sjf", "1.30", "1.20"],
        ["easy", "1.30", "–"],
    ]
    assert wait[1] == ["sjf", "6", "4"]


def test_the_command(declared, tmp_path, monkeypatch, capsys):
    """It runs what is missing, shows the tables, and leaves them beside the runs."""
    monkeypatch.chdir(tmp_path)
    options = ["--declaration", str(declared), "--only", "easy", "--first", "2", "--jobs", "1"]
    for status in ("done in", "kept"):
        assert command.main(options) == 0
        said = capsys.readouterr()
        assert f"] log/easy+asked: {status}" in said.err
    folder = tmp_path / "runs" / "small-first-2"
    assert (folder / "tables.md").read_text() == said.out
    assert sorted(path.suffix for path in (folder / "figures").iterdir()) == 2 * [".pdf"] + 2 * [
        ".png"
    ]
    assert command.main(["--write-docs", "--again"]) == 2
