"""Mean recorded wait times of a log as a parameter of a dispatcher."""

import json
from collections.abc import Iterator

from hpcsched.dispatching.wait_statistics import WaitStatistics, expected_waits
from hpcsched.workload.job import WaitClass


def waits_as_json(tally: WaitStatistics) -> str:
    """Return the wait times on one line, for `--set dispatcher.expected_wait=...`.

    Parameters
    ----------
    tally
        Mean recorded wait times in seconds, by class.
    """
    return json.dumps(expected_waits(tally))


def waits_as_yaml(tally: WaitStatistics, name: str) -> str:
    """Return the wait times as YAML of a scenario's dispatcher.

    Parameters
    ----------
    tally
        Mean recorded wait times in seconds, by class.
    """
    return "\n".join(_lines(tally, name))


def _lines(tally: WaitStatistics, name: str) -> Iterator[str]:
    yield f"# {name}: mean recorded waits by {tally.by}, in seconds"
    if tally.without_wait:
        yield f"# {tally.without_wait:,} of {tally.jobs:,} jobs have no recorded wait: left out"
    yield "expected_wait:"
    yield f"  other: {tally.all.mean}  # all {tally.all.jobs:,} jobs"
    if not tally.classes:
        yield f"  # no job has a {tally.by}"
        return
    yield f"  by_{tally.by}:"
    for number in sorted(tally.classes):
        waits = tally.classes[number]
        parts = [f"{waits.jobs:,} jobs"]
        if tally.by is WaitClass.UNITS:
            parts.append("of 1 unit" if number < 2 else f"of {number} units and more")
        if waits.name is not None:
            parts.append(json.dumps(waits.name))
        yield f"    {number}: {waits.mean}  # {', '.join(parts)}"
