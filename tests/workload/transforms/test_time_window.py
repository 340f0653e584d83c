"""The transform `window`, by hand."""

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.transform import TransformAccount
from hpcsched.workload.transforms.job_transforms import Window, WindowParams
from tests.workload.transforms.chains import numbers, submitted, times

MIDNIGHT = 1_000_080_000
"""2001-09-10T00:00:00Z."""


def test_from_its_start_to_its_end() -> None:
    """A job at the start is inside, one at the end is not; what comes behind is not read."""
    account = TransformAccount()
    waiting = iter(submitted([9, 10, 19, 20, 21]))
    jobs = list(Window(WindowParams(start=10, end=20)).apply(waiting, account))
    assert (numbers(jobs), times(jobs)) == ([2, 3], [0, 9])
    assert account.counts.skipped == {"outside_window": 1}
    assert (account.ended, account.origin) == ("outside_window", 10)
    assert numbers(list(waiting)) == [5]


def test_dates() -> None:
    """Second 0 is 10 s before midnight: the day begins at second 10."""
    account = TransformAccount(lambda: (f"UnixStartTime: {MIDNIGHT - 10}",))
    window = Window(WindowParams(start="2001-09-10", shift=False))
    assert times(list(window.apply(iter(submitted([9, 10, 11])), account))) == [10, 11]


def test_a_date_in_a_trace_without_dates() -> None:
    """The message names the date, and what is possible instead."""
    window = Window(WindowParams(start="2001-09-10"))
    with pytest.raises(InputError) as caught:
        list(window.apply(iter(submitted([0])), TransformAccount()))
    (finding,) = caught.value.findings
    assert (finding.rule, finding.key) == ("no-dates", "trace.transforms")
    assert finding.message.startswith("2001-09-10 is no second of this trace")
