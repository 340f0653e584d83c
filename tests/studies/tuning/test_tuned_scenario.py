"""The tuned scenario is read with all findings, and takes the values of trials."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from tests.studies.tuning.samples import SPACE, small_study


def test_values_of_a_trial(tmp_path: Path) -> None:
    """The base stays as it is."""
    tuned = small_study(tmp_path)
    values = {"dispatcher.order.weights.age": 7, "dispatcher.order.favor_small": True}
    order = tuned.with_values(values).dispatcher.order
    assert (order.weights.age, order.favor_small) == (7, True)
    assert tuned.base.dispatcher.order.weights.age == 1000
    assert tuned.name == "sought"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{low: 0, high: 5000}", "{low: -3, high: 5000}", "at least 0.0, found -3"),
        ("{low: 0, high: 5000}", "{low: 9, high: 5}", "low below high"),
        ("{low: 0, high: 5000}", "{low: 1}", "'low' and 'high', or 'values'"),
        ("{low: 0, high: 5000}", "{low: 1, high: 2, values: [3]}", "found both"),
        ("low: 1.0, high", "low: 0.0, high", "low above 0 with 'log'"),
        ("weights.age", "weights.agee", "agee"),
        ("by: size", "by: colour", "colour"),
        ("trials: 8", "trials: 0", "at least 1, found 0"),
        ("name: sought\n", "name: sought\nspace: 1\n", "space"),
    ],
)
def test_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    """What is wrong is told at its line in the tuning file."""
    with pytest.raises(InputError) as caught:
        small_study(tmp_path, SPACE.replace(old, new))
    finding = next(iter(caught.value.findings))
    assert message in " ".join(one.message for one in caught.value.findings), finding
    assert finding.place is not None
    assert finding.place.file.endswith("space.yaml")
    assert finding.place.line is not None
