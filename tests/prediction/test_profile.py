"""`profile`: six rules, each with an example by hand."""

from typing import Any

import pytest

from hpcsched.prediction.predictors import RULES, Profile, ProfileParams, prefix
from tests.prediction.jobs import job

PAST = {"name": "job1", "queue": 1, "partition": 2, "units": 4, "unit_request": (2, 8)}
"""The job that has completed, after 300 of 1000 s."""


def predictor(memory: int = 1000) -> Profile:
    """Return a predictor that remembers so many records."""
    return Profile(ProfileParams(memory=memory))


@pytest.mark.parametrize(
    ("differs", "rule"),
    [
        ({}, "full"),
        ({"name": "job2"}, "full_prefix"),
        ({"name": "job"}, "full_prefix"),
        ({"units": 5}, "any_resources"),
        ({"unit_request": (2, 9)}, "any_resources"),
        ({"name": "job22", "units": 5}, "any_resources_prefix"),
        ({"queue": 9}, "name"),
        ({"partition": None}, "name"),
        ({"requested_time": 2000}, "name"),
        ({"name": "job2", "queue": 9}, "name_prefix"),
        ({"name": "jobs"}, "requested_time"),
        ({"user": 8}, "requested_time"),
        ({"user": None}, "requested_time"),
        ({"name": None}, "requested_time"),
        ({"name": None, "application": 3}, "requested_time"),
    ],
    ids=str,
)
def test_which_rule_matches(differs: dict[str, Any], rule: str) -> None:
    """A job that differs in one or two things from the one that has completed."""
    learns = predictor()
    learns.observe(job(**PAST), 300)
    new = job(**{**PAST, **differs})
    seconds = new.requested_time if rule == "requested_time" else 300
    assert learns.predict_by(new) == (seconds, rule)
    assert learns.predict(new) == seconds
    assert learns.rules == RULES


def test_rules_are_asked_in_order() -> None:
    """A match of an earlier rule counts, even if one of a later rule completed since."""
    learns = predictor()
    by_rule = [
        (PAST, "full"),
        ({**PAST, "name": "job2"}, "full_prefix"),
        ({**PAST, "units": 9}, "any_resources"),
        ({**PAST, "units": 9, "name": "job3"}, "any_resources_prefix"),
        ({**PAST, "queue": 9}, "name"),
        ({**PAST, "queue": 9, "name": "job4"}, "name_prefix"),
    ]
    said = []
    for seconds, (past, _) in enumerate(reversed(by_rule), start=101):
        learns.observe(job(**past), seconds)
        said.append(learns.predict_by(job(**PAST)))
    assert said == [(101 + k, rule) for k, (_, rule) in enumerate(reversed(by_rule))]
    learns.observe(job(**by_rule[-1][0]), 999)
    assert learns.predict_by(job(**PAST)) == (106, "full")


def test_the_last_to_complete_counts() -> None:
    """Whatever the order in which the jobs were submitted."""
    learns = predictor()
    learns.observe(job(2, **PAST), 200)
    learns.observe(job(1, **PAST), 100)
    assert learns.predict(job(3, **PAST)) == 100


def test_capped() -> None:
    """From 1 s to the requested time."""
    learns = predictor()
    learns.observe(job(**PAST), 0)
    assert learns.predict_by(job(**PAST)) == (1, "full")
    learns.observe(job(**PAST), 5000)
    assert learns.predict_by(job(**PAST)) == (1000, "full")


@pytest.mark.parametrize(
    ("past", "differs", "rule"),
    [
        ({"application": 12}, {}, "full"),
        ({"application": 12}, {"units": 9}, "any_resources"),
        ({"application": 12}, {"queue": 9}, "name"),
        ({"application": 12}, {"application": 1}, "requested_time"),
        ({}, {}, "full"),
        ({}, {"units": 9}, "any_resources"),
        ({}, {"queue": 9}, "requested_time"),
        ({}, {"requested_time": 50}, "requested_time"),
    ],
    ids=str,
)
def test_without_names(past: dict[str, Any], differs: dict[str, Any], rule: str) -> None:
    """Applications stand in for names, without prefixes; without either, what there is counts."""
    learns = predictor()
    learns.observe(job(**past), 40)
    new = job(**{**past, **differs})
    seconds = new.requested_time if rule == "requested_time" else 40
    assert learns.predict_by(new) == (seconds, rule)


def test_a_name_hides_the_application() -> None:
    """Of a job that has both, the name is what is compared."""
    learns = predictor()
    learns.observe(job(name="a", application=1), 40)
    assert learns.predict_by(job(name="b", application=1)).rule == "requested_time"
    assert learns.predict_by(job(name="a", application=2)).rule == "full"


@pytest.mark.parametrize(
    ("name", "start"), [("job12", "job"), ("job", "job"), ("a1b2", "a1b"), ("42", None)]
)
def test_prefix(name: str, start: str | None) -> None:
    """The digits at the end go; a name of nothing else has no prefix."""
    assert prefix(name) == start


def test_names_of_digits_match_only_as_they_are() -> None:
    """A number is no series of another."""
    learns = predictor()
    learns.observe(job(name="42"), 40)
    assert learns.predict_by(job(name="43")).rule == "requested_time"
    assert learns.predict_by(job(name="42")).rule == "full"


def test_jobs_without_a_user() -> None:
    """Nothing is learnt from them."""
    learns = predictor()
    learns.observe(job(**{**PAST, "user": None}), 300)
    assert len(learns) == 0


def test_what_was_written_longest_ago_is_forgotten() -> None:
    """Room for two jobs with an application, of three records each."""
    learns = predictor(memory=6)
    for application in (1, 2, 1, 3):
        learns.observe(job(application=application), 10 * application)
        assert len(learns) <= 6
    assert [learns.predict(job(application=application)) for application in (1, 2, 3)] == [
        10, 1000, 30,
    ]  # fmt: skip
