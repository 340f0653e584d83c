"""The transform `shift`, by hand."""

import pytest
from pydantic import ValidationError

from hpcsched.workload.transforms.submission_changes import ShiftParams
from tests.workload.transforms.chains import Given, chain, read, submitted, times


def test_all_later() -> None:
    """Every job two hours later."""
    source = chain(Given(submitted([0, 10])), ("shift", {"by": "2h"}))
    assert times(read(source)) == [7200, 7210]
    assert source.account.changed == {"shifted": 2}


def test_all_earlier() -> None:
    """Five seconds earlier; there is nothing before second 0."""
    source = chain(Given(submitted([0, 4, 5, 9])), ("shift", {"by": "-5s"}))
    assert times(read(source)) == [0, 4]
    assert source.account.skipped == {"shifted_before_start": 2}
    assert source.account.changed == {"shifted": 2}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"by": "1x"}, "expected a duration"),
        ({"by": "--1s"}, "expected a duration"),
    ],
)
def test_what_is_refused(params: dict[str, object], message: str) -> None:
    """A duration is one."""
    with pytest.raises(ValidationError, match=message):
        ShiftParams.model_validate(params)
