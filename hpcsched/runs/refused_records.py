"""Records of a trace that its policies refuse: all of them, counted in one pass."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args, get_origin

from hpcsched.errors import InputError
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import Scenario
from hpcsched.workload.job_batches import batches_of

REFUSE, LEAVE_OUT = "error", "skip"
"""Two values of a policy: a record ends the reading, or is left out and counted."""


class Refused(NamedTuple):
    """Records that a policy refuses.

    Attributes
    ----------
    policy
        Key of the trace.
    records
        Number of records.
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

    Parameters
    ----------
    scenario
        The scenario.

    Raises
    ------
    InputError
        The trace has a fault that no policy decides on.
    """
    trace = scenario.trace
    strict = dict(_strict_policies(trace))
    lenient = trace.model_copy(update=dict.fromkeys(strict, LEAVE_OUT))
    source = assemble(scenario.model_copy(update={"trace": lenient})).source
    for _ in batches_of(source):
        pass
    found = [
        Refused(policy, source.account.skipped[policy], choices)
        for policy, choices in strict.items()
        if source.account.skipped.get(policy)
    ]
    return sorted(found, key=lambda one: -one.records)


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
    return f"{total:,} records are refused in all; keys of the trace settle them: {keys}"


def is_policy(scenario: Scenario, error: InputError) -> bool:
    """Return True for the error of a record that a policy refuses."""
    strict = {policy.replace("_", "-") for policy, _ in _strict_policies(scenario.trace)}
    return any(finding.rule in strict for finding in error.findings)


def _strict_policies(trace: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the policies of a trace that refuse records, with their other values."""
    fields: Mapping[str, Any] = type(trace).model_fields
    for name, field in fields.items():
        values = tuple(_literals(field.annotation))
        if getattr(trace, name) == REFUSE and LEAVE_OUT in values:
            yield name, tuple(value for value in values if value != REFUSE)


def _literals(annotation: Any) -> Iterator[str]:
    """Yield the texts that a type allows, also as a part of a union."""
    for inside in get_args(annotation):
        if get_origin(annotation) is Literal:
            yield inside
        else:
            yield from _literals(inside)
