"""Fidelity of a replay: waits of a small site by hand, and what is said of a run that is off."""

from pathlib import Path

import pytest

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.fidelity import Fidelity, WaitFit, fidelity, known_fidelity, use_table
from hpcsched.report.studied_runs import open_study
from tests.report.named_site import COLUMNS, LOG, shown, write_site

HELD = COLUMNS + "".join(
    f"{n}|2024-03-01T{n:02}:00:00|2024-03-01T{n:02}:20:00|2024-03-01T{n:02}:21:00|00:01:00|1|4"
    f"|cpu=4,node=1|{'gpu' if n < 11 else 'cpu'}|ada|physics|normal\n"
    for n in range(1, 12)
)
"""Eleven jobs alone on the machine, that waited 20 minutes each; the last one on the other node."""


def compared(folder: Path, log: str = LOG) -> ComparedStudy:
    """Return the site's run under EASY, to be compared."""
    return ComparedStudy(open_study(write_site(folder, log=log)))


def test_waits_by_partition_and_queue(tmp_path: Path) -> None:
    """EASY's waits are 0, 90 and 0 s, the site's 0, 140 and 0 s; that of job 4 is not known."""
    found = fidelity(compared(tmp_path))
    assert found.fits == (
        WaitFit("partition", "fast", 1, (1.0, 1.0, 1.0), 0.0, 0.0),
        WaitFit("partition", "slow", 2, (1.0, 1.0, 1.0), 45.0, 70.0),
        WaitFit("queue", "normal", 2, (1.0, 1.0, 1.0), 45.0, 70.0),
        WaitFit("queue", "express", 1, (1.0, 1.0, 1.0), 0.0, 0.0),
        WaitFit("", "all jobs", 3, (1.0, 1.0, 1.0), 30.0, 140 / 3),
    )
    assert found.all.ratio == 90 / 140
    assert list(found.lines()) == [
        "easy against its log, over 3 jobs: the mean wait is 30 s, and 47 s is recorded; 100 % of"
        " the jobs wait within 10 minutes of what they did."
    ]


def test_use_over_time(tmp_path: Path) -> None:
    """From the first submission to the last, 20 s later: job 1 has four of eight cores in both."""
    found = fidelity(compared(tmp_path))
    assert [row[1:] for row in found.use] == [(50.0, 50.0)] * 8
    assert found.use[0][0] == "2024-03-01 10:00:00"
    assert len(use_table(found).rows) == 8


def test_jobs_that_were_held(tmp_path: Path) -> None:
    """They start at once in the replay, which is off altogether; the cause is named."""
    found = fidelity(compared(tmp_path, HELD))
    assert found.all.within == (0.0, 0.0, 1.0)
    assert found.all.off
    said = list(found.lines())
    assert said[1].startswith("easy is off altogether: it is no replica of the site")
    assert "11 jobs that start at once here waited more than 10 minutes there, 100 %" in said[2]


def test_jobs_that_were_submitted_later(tmp_path: Path) -> None:
    """Jobs before `begin` do not count: of the eleven, the last one is left."""
    study = compared(tmp_path, HELD)
    submits = study.jobs["easy"].submits
    assert fidelity(study, int(submits[-1])).all.jobs == 1


def test_nodes_that_are_missing(tmp_path: Path) -> None:
    """Jobs 1 and 2 ran at the same time at the site, on four cores that the replay has once."""
    log = LOG.replace("10:02:30|2024-03-01T10:03:20", "10:00:10|2024-03-01T10:01:00")
    log += log.splitlines()[-1].replace("4|", "5|", 1).replace("cpu=2", "cpu=4") + "\n"
    lines = log.replace("10:00:30|2024-03-01T10:00:20", "10:00:20|2024-03-01T10:00:20")
    found = fidelity(compared(tmp_path, lines))
    # 4 + 4 + 2 + 2 + 4 of 8 cores from second 20 to 50, and three of two GPUs.
    assert [cause.partition(", ")[0] for cause in found.causes[:2]] == [
        "the log's jobs had up to 200 % of core",
        "the log's jobs had up to 150 % of gpu",
    ]


@pytest.mark.parametrize(
    ("replayed", "recorded", "told"),
    [(700.0, 100.0, "off by a factor of 7:"), (100.0, 250.0, "off by a factor of 2.5:")],
)
def test_a_run_that_is_off(replayed: float, recorded: float, told: str) -> None:
    """It is said in plain words, whichever waits are longer."""
    fit = WaitFit("", "all jobs", 9, (0.1, 0.2, 0.3), replayed, recorded)
    assert told in list(Fidelity("base", (fit,), (), ()).lines())[1]


def test_short_waits_are_never_off() -> None:
    """Ten seconds more are no other site."""
    assert not WaitFit("", "all jobs", 9, (1.0, 1.0, 1.0), 15.0, 5.0).off


def test_a_log_without_waits(tmp_path: Path) -> None:
    """The reason is told in the place of a table; other tables are as they are."""
    log = "".join(f"{n} {n} -1 60 1 -1 -1 1 90 -1 1 1 1 1 1 1 -1 -1\n" for n in (1, 2))
    (tmp_path / "log.swf").write_text(log)
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        "name: s\nsystem: {groups: [{name: n, count: 4, resources: {core: 1}}]}\n"
        "trace: {source: swf, path: log.swf}\npredictor: requested-time\ndispatcher: easy\n"
    )
    shown("run", scenario, "--out", tmp_path / "run")
    known = known_fidelity(ComparedStudy(open_study([tmp_path / "run"])))
    assert isinstance(known, str)
    assert "the log records the start of none of the 2 jobs" in known
    assert "Not known: " in shown("compare", tmp_path / "run", "--table", "fidelity")


def test_the_table_of_a_run(tmp_path: Path) -> None:
    """`compare` shows it; `report` says it again."""
    path = write_site(tmp_path, log=HELD)[0]
    table = shown("compare", path, "--table", "fidelity")
    assert [line.split() for line in table.splitlines() if "all jobs" in line] == [
        ["all", "jobs", "11", "0", "0", "100", "0", "1200", "0"]
    ]
    page = tmp_path / "page.html"
    shown("report", path, "--out", page)
    assert "easy is off altogether: it is no replica of the site" in page.read_text("utf-8")


def test_whatif_says_it_of_its_base(tmp_path: Path) -> None:
    """A base that is off is said to be no replica, below the verdict."""
    path = write_site(tmp_path, log=HELD)[0]
    vary = tmp_path / "vary.yaml"
    vary.write_text("name: v\nvariants: [{name: sjf, set: {dispatcher.order: sjf}}]\n")
    said = shown("whatif", path.parents[1] / "easy.yaml", "--vary", vary, "--out", tmp_path / "v")
    assert "base is off altogether: it is no replica of the site" in said
