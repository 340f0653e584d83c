"""How long code is compiled or loaded is known, and that it is compiled is told."""

from pathlib import Path
from time import sleep

import pytest

from hpcsched.dispatching.core.compile_time import compiling, seconds_deciding, told_of_compiling
from tests.dispatching.core.test_compiled import CALLED, loaded
from tests.dispatching.core.test_state_function import COUNTING, state


class Listener:
    """Keeps the beginnings."""

    def __init__(self, told: list[str], kind: str) -> None:
        self._told, self._kind = told, kind
        self.shares: list[float] = []

    def begins(self, names) -> "Listener":
        """Keep it, of the function that is compiled."""
        assert list(names) in (["count"], ["times"])
        self._told.append(self._kind)
        return self

    def proceeds(self, share: float) -> None:
        """Keep the share."""
        self.shares.append(share)

    def ends(self, seconds: float | None) -> None:
        """Do nothing."""
        assert seconds is not None
        assert seconds > 0


@pytest.mark.parametrize("kind", ["a state", "numbers"])
def test_told_before_it_is_compiled(kind: str, tmp_path: Path) -> None:
    """It is told where it is compiled, and not where it is there, or was kept by others."""
    (tmp_path / "counting.py").write_text(COUNTING)
    (tmp_path / "called.py").write_text(CALLED)
    told: list[str] = []
    with told_of_compiling(Listener(told, kind)):
        for times in (1, 1):
            if kind == "a state":
                count = loaded(tmp_path, "counting").count
                assert [count(state(), 2) for _ in range(2)] == [18, 18]
            else:
                function = loaded(tmp_path, "called").times
                assert [function(2) for _ in range(2)] == [6, 6]
            assert told == [kind] * times
    assert list(tmp_path.glob("__pycache__/*"))


def test_the_clock_stands_still() -> None:
    """What is compiled within what is compiled is counted once."""
    before = seconds_deciding()
    with compiling(anew=True):
        sleep(0.05)
        with compiling(anew=False):
            sleep(0.05)
    assert seconds_deciding() - before < 0.05
    sleep(0.02)
    assert 0.02 <= seconds_deciding() - before < 0.1
