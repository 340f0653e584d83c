"""Calibration of quantiles by earlier ranks."""

import pytest

from hpcsched.studies.forecast.calibration import FEWEST, Calibration


def test_few_ranks_change_nothing() -> None:
    """A quantile is then taken at its own level."""
    calibration = Calibration()
    for _ in range(FEWEST - 1):
        calibration.add(0.9)
    assert calibration.level(0.5) == 0.5


def test_starts_that_were_later_than_told() -> None:
    """Ranks from 0.5 to 1 alone: half of the starts were before the quantile 0.75."""
    calibration = Calibration()
    for k in range(FEWEST + 1):
        calibration.add(0.5 + 0.5 * k / FEWEST)
    assert calibration.level(0.5) == pytest.approx(0.75)
    assert calibration.level(0.9) == pytest.approx(0.95)
