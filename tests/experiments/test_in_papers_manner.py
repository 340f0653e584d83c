"""Replays in the papers' manner: what is read of a run, and what is shown of it."""

import pytest

import in_papers_manner as command
from comparisons.command import Drawing
from comparisons.finished import read_finished
from comparisons.in_papers_manner.beside_lists import BesideLists, beside_lists
from comparisons.in_papers_manner.papers import PAPERS, Printed, Printing, Row
from comparisons.in_papers_manner.spread import read_served
from comparisons.in_papers_manner.table import searches
from hpcsched import cli
from hpcsched.runs.directory import RunDirectory
from tests.docs.pages import tables
from tests.workload.readers.swf_files import record, write

BASE = """\
name: base
system: {groups: [{name: node, count: 2, resources: {core: 3}}]}
trace: {source: swf, path: log.swf, unit: {core: 2}}
predictor: actual
simulation: {aggregate_nodes: false}
objective: slowdown
dispatcher: easy
"""

EXPERIMENT = """\
name: small
scenario: base.yaml
matrix:
  - names: [hcp19]
    dispatcher:
      - name: hcp19
        orders: []
        spare_nodes: null
        fill: false
        solver: schedule-or-postpone
        guard: null
  - {names: [R], predictor: [actual]}
  - {names: [eurora], system: [{groups: [{name: node, count: 2, resources: {core: 3}}]}]}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the folder of an experiment with one run, of four jobs on two nodes of three cores.

    Job 1 has a unit on each node until 10 s. Jobs 2 and 3 come at 1 s and run for 10 s, job 4 comes
    at 9 s and runs for 5 s; each has one unit of two cores, so that a node has room for one.
    """
    base = tmp_path_factory.mktemp("papers")
    jobs = [(1, 0, 10, 2), (2, 1, 10, 1), (3, 1, 10, 1), (4, 9, 5, 1)]
    write(base, [record(*job) for job in jobs])
    (base / "base.yaml").write_text(BASE)
    (base / "small.yaml").write_text(EXPERIMENT)
    out = base / "out"
    assert cli.main(["experiment", str(base / "small.yaml"), "--out", str(out)]) == 0
    return out


def run_in(folder):
    """Return the run of the experiment's one cell."""
    (found,) = (folder / "runs").iterdir()
    return RunDirectory.open(found)


def test_decisions_beside_lists(folder):
    """At 10 s HCP'19 has room for all three on aggregated nodes, and starts the first two.

    So its plan costs 1.9 + 1.9 + 1.2 = 5.0 in slowdowns, (9 + 10) / 10 being 1.9 and (1 + 5) / 5
    being 1.2. The best list plan starts jobs 4 and 2, and job 3 at 15 s: 1.2 + 1.9 + 2.4 = 5.5.
    The solver is asked at 0, 10 and 20 s, of one job but at 10 s.
    """
    found = beside_lists(run_in(folder))
    assert found._replace(fails=0) == BesideLists(
        asked=3, choices=1, proved=1, better=1, worse=0, other_jobs=1, other_than_first=0, fails=0
    )


def test_means_and_deviations(folder):
    """Waits are 0, 9, 9 and 11 s; slowdowns 1, 1.9, 1.9 and (11 + 5) / 5 = 3.2."""
    everyone = read_served(run_in(folder))
    assert everyone.jobs == 4
    assert everyone.wait_time.mean == pytest.approx(29 / 4)
    assert everyone.wait_time.deviation == pytest.approx((283 / 4 - (29 / 4) ** 2) ** 0.5)
    assert everyone.slowdown.mean == pytest.approx(8.0 / 4)
    assert everyone.slowdown.deviation == pytest.approx(((1 + 2 * 0.01 + 1.44) / 4) ** 0.5)


def test_what_is_shown(folder, tmp_path):
    """The one run stands beside the paper's figures, all others are dashes."""
    finished = read_finished(folder, ("system", "dispatcher", "predictor"))
    drawing = Drawing(tmp_path / "figures", {"png": 50}, whole=False)
    content = command.content_of(PAPERS["cp2021"], finished, drawing)
    found = tables("\n\n".join(part for part in content if isinstance(part, str)))
    times, rounds, kit, _, served = found[:5]
    assert [row[0] for row in times[1:]] == [
        f"{name}-{letter}" for letter in "DR" for name in ("HCP'19", "PCP'19", "PCP'21")
    ]
    assert times[4][1] == "357"
    assert times[4][5:8] == ["4", "5", "0"]
    assert times[1] == ["HCP'19-D", "392", "–", "208,231", *["–"] * 5]
    assert rounds[4][1:8] == ["3", "1", "1 (100%)", "1 (100%)", "0 (0%)", "1 (100%)", "0 (0%)"]
    assert kit[2] == ["PCP'19-L2", "∞", "–", "∞", *["–"] * 5]
    assert served[4] == ["HCP'19-R", "4", "2.00 ± 0.78", "7 ± 4"]
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["figure-5.png"]


def test_how_searches_ended(folder):
    """The solver is asked of 1, 3 and 1 jobs, 5 / 3 on average, and proves all of its plans."""
    finished = read_finished(folder, ("system", "dispatcher", "predictor"))
    printing = Printing(
        "a table", "eurora", [Row("hcp19", letter, Printed(1, 1)) for letter in "DR"]
    )
    (found,) = tables(searches(finished, PAPERS["cp2021"], printing))
    assert found[1] == ["HCP'19-D", *["–"] * 6]
    assert found[2] == ["HCP'19-R", "3", "1.7", "1", "3", "3", "0"]


def test_a_log_of_a_paper_in_an_experiment_of_its_own(folder, capsys):
    """Table 5.4 is followed by how searches ended; of figure 5.5 there is no bar here."""
    assert command.main(["--of", "thesis2020-gaia", str(folder)]) == 0
    times, ended, served = tables(capsys.readouterr().out)
    assert times[1] == ["PCP₁-W", "78", "–", "6,380", *["–"] * 5]
    assert ended[0][-2:] == ["proved", "ended by the limit"]
    assert (len(times), len(ended), len(served)) == (8, 8, 15)


def test_a_paper_on_another_log(folder, capsys):
    """Of the thesis's figures, 5.3 has a bar here: that of HCP'19 with real run times."""
    assert command.main(["--of", "thesis2020", str(folder)]) == 0
    capsys.readouterr()
    assert sorted(path.name for path in (folder / "figures").glob("*.png")) == ["figure-5.3.png"]
