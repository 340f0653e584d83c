"""The table has the paper's values beside those of the runs."""

import pytest

from comparisons.debs2024.results import Result
from comparisons.debs2024.table import as_markdown, effort
from tests.docs.pages import tables
from tests.experiments.samples import written_comparison


def test_the_table(tmp_path):
    """Shares are of the baseline of the same half; a bound stands beside its own objective."""
    (table,) = tables(as_markdown(written_comparison(tmp_path)))
    assert table == [
        ["objective", "dispatcher"]
        + [
            f"{half}: {what}" for half in ("known", "requested") for what in ("paper", "ours", "ms")
        ],
        ["AF", "SJF+", "80 %", "75.0 % (at least 60.0 %)", "–", "not legible", "–", "–"],
        ["AF", "EASY", "97 % or so", "98.3 %", "12.3", "–", "–", "–"],
        ["P²SF", "REG", "–", "100.0 %", "12.3", "–", "100.0 %", "12.3"],
        ["P²SF", "SJF+", "–", "130.0 %", "–", "–", "–", "–"],
    ]


def test_without_the_baseline_there_is_no_share(tmp_path):
    """A share of nothing is not known, nor is one of a value that is not defined."""
    comparison = written_comparison(tmp_path)
    results = dict(comparison.results)
    results["actual", "REG"] = Result({"mean_response_time": None}, 0.1, None, 1)
    del results["requested-time", "REG"]
    without = type(comparison)(comparison.shown, results)
    assert without.share("actual", "EASY", "AF") is None
    assert without.share("actual", "EASY", "P2SF") is None
    assert without.share("requested-time", "REG", "AF") is None


@pytest.mark.parametrize(
    ("seconds", "said"), [(12.4, "12 s"), (100, "2 min"), (3600, "1 h 0 min"), (7290, "2 h 2 min")]
)
def test_how_long_it_took(seconds, said):
    """Hours, minutes or seconds, summed over runs."""
    half = Result({}, None, None, seconds / 2)
    results = {("a", "x"): half, ("a", "y"): half}
    assert effort(results) == f"The 2 runs took {said}, added up."
