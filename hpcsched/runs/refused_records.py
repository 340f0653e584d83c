"""Records of a trace that its policies refuse: all of them, counted in one pass."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, get_args, get_origin

from hpcsched.errors import Finding, InputError
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import Scenario
from hpcsched.scenario.loading import LoadedScenario
from hpcsched.workload.job_batches import batches_of

REFUSE, LEAVE_OUT = "error", "skip"
"""Two values of a policy: a record ends the reading, or is left out and counted."""

NO_ZONE = "missing-time-zone"
"""Rule of an error about a local time, whose zone a key of the trace names."""


class Refused(NamedTuple):
    """Records that a policy refuses.

    Attributes
    ----------
    choices
        Other values that the policy can have.
    """

    policy: str
    records: int
    choices: tuple[str, ...]


def refused_records(scenario: Scenario) -> list[Refused]:
    """Return the records that the policies of a trace refuse, by policy, most records first.

    The trace is read once, with all such records left out. A record that several policies refuse
    counts for the first that applies.
    """
    return _refused(scenario, {})


@contextmanager
def all_refused_told(loaded: LoadedScenario, *, least: int = 2) -> Iterator[None]:
    """Add a count of all records that policies refuse to an error of reading the trace.

    Only an error about a record that a policy decides on, or about a missing time zone, changes.
    """
    try:
        yield
    except InputError as error:
        more = _all_refused(error, loaded, least)
        if more is None:
            raise
        raise InputError([*error.findings, more]) from error


def _all_refused(error: InputError, loaded: LoadedScenario, least: int) -> Finding | None:
    """Return a finding with all refused records; None if there are fewer than `least`."""
    strict = {policy.replace("_", "-") for policy, _ in _strict_policies(loaded.scenario.trace)}
    rules = {finding.rule for finding in error.findings}
    if not rules & {*strict, NO_ZONE}:
        return None
    # With a zone, whichever it is, the records behind the first are seen.
    assumed = {"time_zone": "UTC"} if NO_ZONE in rules else {}
    # What else is wrong with the log is found once these are settled.
    try:
        refused = _refused(loaded.scenario, assumed)
    except InputError:
        return None
    if sum(one.records for one in refused) + len(assumed) < least:
        return None
    return Finding("refused-records", in_words(refused), loaded.place("trace"), "trace")


def _refused(scenario: Scenario, assumed: Mapping[str, str]) -> list[Refused]:
    """Return the refused records, where some keys of the trace have other values."""
    trace = scenario.trace
    strict = dict(_strict_policies(trace))
    lenient = {policy: _lenient(choices) for policy, choices in strict.items()}
    # A log that is sorted first is read to its end, and refused for any of its records.
    whole = {"jobs": None} if getattr(trace, "unsorted", None) == "sort" else {}
    changed = trace.model_copy(update={**lenient, **assumed, **whole})
    source = assemble(scenario.model_copy(update={"trace": changed})).source
    for _ in batches_of(source):
        pass
    account = source.account
    found = [
        # A policy that does not leave records out counts those that it changes.
        Refused(policy, account.skipped[policy] + account.clipped[policy], choices)
        for policy, choices in strict.items()
    ]
    return sorted((one for one in found if one.records), key=lambda one: -one.records)


def in_words(refused: list[Refused]) -> str:
    """Return a sentence about the refused records, with the scenario lines that settle them.

    Examples
    --------
    >>> print(in_words([Refused("unsorted", 2, ("skip", "sort"))]))
    2 records are refused in all; keys of the trace settle them: unsorted: skip or sort (2 of them)
    """
    total = sum(one.records for one in refused)
    keys = ", ".join(
        f"{one.policy}: {' or '.join(one.choices)} ({one.records:,} of them)" for one in refused
    )
    records = "record is" if total == 1 else "records are"
    return f"{total:,} {records} refused in all; keys of the trace settle them: {keys}"


def _strict_policies(trace: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the policies of a trace that refuse records, with their other values."""
    fields: Mapping[str, Any] = type(trace).model_fields
    for name, field in fields.items():
        values = tuple(_literals(field.annotation))
        choices = tuple(value for value in values if value != REFUSE)
        if getattr(trace, name) == REFUSE and choices:
            yield name, choices


def _lenient(choices: tuple[str, ...]) -> str:
    """Return the value of a policy with which all records are read."""
    return LEAVE_OUT if LEAVE_OUT in choices else choices[0]


def _literals(annotation: Any) -> Iterator[str]:
    """Yield the texts that a type allows, also as a part of a union."""
    for inside in get_args(annotation):
        if get_origin(annotation) is Literal:
            yield inside
        else:
            yield from _literals(inside)
