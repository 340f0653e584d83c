"""Reruns lists and EASY of docs/debs2024.md on the logs of DEBS 2024, as they are declared."""

from functools import cache

import pytest

from comparisons.debs2024_logs.paper import HALVES, LOGS, ROWS
from hpcsched import read_workload, replay
from hpcsched.studies.study_files import read_experiment
from tests.docs.debs2024 import FULL, KNOWN, REQUESTED, TITLES
from tests.docs.pages import ROOT
from tests.docs.reproduction import METRICS
from tests.real_traces import trace

FILES = (
    "KTH-SP2-1996-2.1-cln.swf.gz",
    "CTC-SP2-1996-3.1-cln.swf.gz",
    "SDSC-SP2-1998-4.2-cln.swf.gz",
    "SDSC-BLUE-2000-4.2-cln.swf.gz",
    "CEA-Curie-2011-2.1-cln.swf.gz",
)
SHOWN = {"actual": KNOWN, "requested-time": REQUESTED}
DIFFERENT = {
    ("actual", "SDSC-SP2", "BSLD", "EASY"),
    ("actual", "SDSC-SP2", "AF", "List-SJF"),
    ("requested-time", "CTC-SP2", "BSLD", "List-SAF"),
    ("requested-time", "CTC-SP2", "BSLD", "List-SJF"),
    ("requested-time", "CTC-SP2", "AF", "List-SAF"),
    ("requested-time", "CTC-SP2", "AF", "List-SJF"),
    ("requested-time", "SDSC-SP2", "AF", "List-SAF"),
    ("requested-time", "SDSC-SP2", "AF", "List-SJF"),
    ("requested-time", "SDSC-BLUE", "BSLD", "List-SAF"),
    ("requested-time", "SDSC-BLUE", "AF", "List-SAF"),
}
"""What is not the paper's in whole percent."""


@cache
def cells():
    """Return the cells of the experiment; it is refused where a log is not at hand."""
    for name in FILES:
        trace(name)
    return read_experiment(ROOT / "experiments" / "debs2024_logs.yaml").cells


def scenarios(log, half):
    """Return the scenarios of lists and EASY by dispatcher, without delays."""
    wanted = {"system": log, "predictor": half, "trace.transforms": "as-logged"}
    slow = {"order-search", "hyper"}
    return {
        cell.labels["dispatcher"]: cell.scenario
        for cell in cells()
        if wanted.items() <= cell.labels.items() and cell.labels["dispatcher"] not in slow
    }


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize(
    "log", [LOGS[0], *(pytest.param(log, marks=pytest.mark.slow) for log in LOGS[1:])]
)
def test_figures(log, half):
    """Every figure of a log and a half is that of the page, and the paper's but for ten."""
    declared = scenarios(log, half)
    workload = read_workload(declared["EASY"])
    came = {name: replay(scenario, workload).metrics for name, scenario in declared.items()}
    assert len(came) == 6

    k = LOGS.index(log)
    full = next(row for row in FULL if row[:2] == [f"run times {HALVES[half]}", log])
    for title, shown in zip(FULL[0][2:], full[2:], strict=True):
        digits = len(shown.partition(".")[2])
        assert f"{came['List-REG'][METRICS[title]]:.{digits}f}" == shown

    different = set()
    for row, shown in zip(ROWS, SHOWN[half][1:], strict=True):
        if row.dispatcher in came:
            metric = METRICS[TITLES[row.objective]]
            share = 100 * came[row.dispatcher][metric] / came["List-REG"][metric]
            assert shown[3 + 2 * k] == f"{share:.1f}", (row.objective, row.dispatcher)
            printed = row.printed[half][k]
            if printed is not None and round(share) != printed:
                different.add((half, log, row.objective, row.dispatcher))
    assert different == {one for one in DIFFERENT if one[:2] == (half, log)}
