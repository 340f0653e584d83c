"""Errors that users read: a line for each finding, in the form of compilers."""

import pytest

from hpcsched.errors import (
    DecisionError,
    Finding,
    HpcschedError,
    InputError,
    Place,
    PluginError,
)


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place("a.yaml"), "a.yaml"),
        (Place("a.yaml", 3), "a.yaml:3"),
        (Place("a.yaml", 3, 14), "a.yaml:3:14"),
    ],
)
def test_places(place: Place, text: str) -> None:
    """Line and column follow the file, as far as they are known."""
    assert str(place) == text


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (Finding("unknown-key", "no such key"), "error: no such key [unknown-key]"),
        (
            Finding("bad-value", "expected 1", Place("a.yaml", 3, 14), "system.groups[0].count"),
            "a.yaml:3:14: error: system.groups[0].count: expected 1 [bad-value]",
        ),
        (
            Finding("deep", "too deep", Place("a.yaml"), severity="warning"),
            "a.yaml: warning: too deep [deep]",
        ),
    ],
)
def test_findings(finding: Finding, text: str) -> None:
    """Place, severity, key, message and rule are one line."""
    assert str(finding) == text


def test_an_error_of_one_finding() -> None:
    """It may be given by itself."""
    finding = Finding("deep", "too deep")
    error = InputError(finding)
    assert error.findings == (finding,)
    assert str(error) == str(finding)


def test_an_error_of_several_findings() -> None:
    """The message has a line for each; a generator of findings is kept."""
    findings = [Finding("a", "one"), Finding("b", "two")]
    error = InputError(finding for finding in findings)
    assert error.findings == tuple(findings)
    assert str(error) == "error: one [a]\nerror: two [b]"


def test_equal_findings_are_one() -> None:
    """A fault that is found twice can be told once."""
    assert len({Finding("a", "one", Place("x", 1)), Finding("a", "one", Place("x", 1))}) == 1


@pytest.mark.parametrize("kind", [PluginError, DecisionError])
def test_all_can_be_caught_as_one(kind: type[HpcschedError]) -> None:
    """They have a message in place of findings."""
    with pytest.raises(HpcschedError, match="what is wrong"):
        raise kind("what is wrong")
    assert issubclass(InputError, HpcschedError)
