"""The check of choices alone: of the portfolio, each another than before, with a reason."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from hpcsched.audit.rounds import choices
from hpcsched.audit.violations import Check
from tests.builders import alike
from tests.runs.columns_by_hand import audited, directory, seen
from tests.runs.hand_made import DECLARED, found_by

Choice = tuple[str | None, str | None]

PORTFOLIO = ["easy", "sjf", "laf"]
STAYS: Choice = (None, None)
RIGHT: Sequence[Choice] = (("easy", "first"), STAYS, ("sjf", "5 against 7"), STAYS)


def checked(folder: Path, stated: Sequence[Choice], portfolio: Sequence[str]) -> Check | None:
    """Return the check of rounds with these choices and reasons."""
    chosen, because = zip(*stated, strict=True)
    rounds = pa.table(
        {
            "round": range(1, len(stated) + 1),
            "chosen": pa.array(chosen, pa.string()),
            "because": pa.array(because, pa.string()),
        }
    )
    run, declared = directory(folder, rounds=rounds), DECLARED._replace(portfolio=portfolio)
    return choices(audited(seen(alike(1, core=1), []), run=run, declared=declared))


def test_right_choices(tmp_path: Path) -> None:
    """An empty cell means the choice of the round before; each round is looked at."""
    check = checked(tmp_path, RIGHT, PORTFOLIO)
    assert check is not None
    assert (check.violations, check.looked_at) == ([], 4)


def test_a_dispatcher_that_does_not_choose(tmp_path: Path) -> None:
    """Without a portfolio and choices there is no check; a choice is wrong then."""
    assert checked(tmp_path, [STAYS, STAYS], []) is None
    assert found_by(checked(tmp_path, [STAYS, ("easy", "so")], [])) == [
        "round 2: chosen: expected none, found 'easy'"
    ]
    assert found_by(checked(tmp_path, [STAYS, (None, "so")], [])) == [
        "round 2: expected a choice with a reason, found None, 'so'"
    ]


@pytest.mark.parametrize(
    ("row", "choice", "found"),
    [
        (0, STAYS, ["round 1: chosen: expected a choice, found none"]),
        (1, ("easy", "x"), ["round 2: chosen: expected one of 'sjf', 'laf', found 'easy'"]),
        (1, ("list", "x"), ["round 2: chosen: expected one of 'sjf', 'laf', found 'list'"]),
        # The next round then chooses the one that decides already.
        (1, ("sjf", "x"), ["round 3: chosen: expected one of 'easy', 'laf', found 'sjf'"]),
        (2, ("sjf", None), ["round 3: expected a choice with a reason, found 'sjf', None"]),
        (3, (None, "x"), ["round 4: expected a choice with a reason, found None, 'x'"]),
    ],
)
def test_wrong_choices(row: int, choice: Choice, found: list[str], tmp_path: Path) -> None:
    """The round and what is expected are told."""
    wrong = [*RIGHT[:row], choice, *RIGHT[row + 1 :]]
    assert found_by(checked(tmp_path, wrong, PORTFOLIO)) == found
