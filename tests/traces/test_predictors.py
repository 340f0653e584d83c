"""Predictors on the real logs: what the page on predictors shows, and what must hold."""

from functools import cache
from pathlib import Path

import pytest

from hpcsched.studies.predictor_evaluation import (
    PredictorFigures,
    choose,
    predict_trace,
    predictor_figures,
)
from tests.docs.predictors import LOGS, PREDICTORS, figure_rows, region, rule_rows
from tests.real_traces import KTH_SP2, trace

SCENARIOS = Path(__file__).parents[2] / "scenarios"
FILES = {"kth-easy": KTH_SP2, "cerit-easy": "CERIT-SC-2013.swf.gz"}
JOBS = {"kth-easy": 28481, "cerit-easy": 17885}


@cache
def evaluated(name: str) -> tuple[PredictorFigures, ...]:
    """Return the figures of the page's predictors on a scenario's log."""
    trace(FILES[name])
    own = [f"predictor={PREDICTORS[0]}"]
    chosen = choose(SCENARIOS / f"{name}.yaml", own, ", ".join(PREDICTORS[1:]))
    return tuple(predictor_figures(predict_trace(chosen.source.jobs(), chosen.predictors)))


@pytest.mark.parametrize(
    "where", [pytest.param(n, marks=pytest.mark.slow) if n == "kth-sp2" else n for n in LOGS]
)
def test_the_page(where: str) -> None:
    """Its tables are what comes out."""
    assert region(where)[1:] == figure_rows(evaluated(LOGS[where]))


@pytest.mark.slow
def test_the_rules_on_the_page() -> None:
    """How often each rule of `profile` answered, and how well."""
    assert region("rules")[1:] == rule_rows([evaluated(name) for name in LOGS.values()])


@pytest.mark.parametrize("name", JOBS)
def test_every_job_is_asked_about(name: str) -> None:
    """Shares add up, rules account for every job, and requests are never too short here."""
    for one in evaluated(name):
        assert one.jobs == JOBS[name]
        shares = (one.under_share, one.exact_share, one.over_share)
        assert sum(share or 0 for share in shares) == pytest.approx(1)
        if one.rules:
            assert sum(rule.jobs for rule in one.rules) == one.jobs
    assert evaluated(name)[0].under_share == 0  # run times are clipped to the request


def test_a_tenth_outlives_its_prediction() -> None:
    """On KTH-SP2 that is what a quantile of 0.9 comes to; predictors alone are twice as often."""
    alone, inflated = evaluated("kth-easy")[1:3], evaluated("kth-easy")[4:6]
    for one in inflated:
        assert one.under_share == pytest.approx(0.1, abs=0.005)
    for one in alone:
        assert (one.under_share or 0) > 0.4


def test_kth_sp2_has_no_names() -> None:
    """Neither names, applications nor queues: the rules that need them never answer."""
    trace(KTH_SP2)
    source = choose(SCENARIOS / "kth-easy.yaml").source
    for job, _ in source.jobs():
        assert (job.name, job.application, job.queue, job.partition) == (None,) * 4
        assert job.user is not None


def test_cerit_sc_has_one_application() -> None:
    """Every job has the same number, so the rule `name` is the user's last job."""
    trace(FILES["cerit-easy"])
    jobs = [job for job, _ in choose(SCENARIOS / "cerit-easy.yaml").source.jobs()]
    assert {job.application for job in jobs} == {1}
    assert len({job.queue for job in jobs}) == 11
    assert len({job.user for job in jobs}) == 75
