"""When compiled code is looked for, and when it is made."""

import pytest

from hpcsched.dispatching.core.plain_time import (
    COMPILING_TAKES,
    LOADING_TAKES,
    PlainTime,
    compiled_at_once,
)


@pytest.fixture(autouse=True)
def _new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlainTime, "_of_process", 0.0)


def test_loading_pays_for_all_callers_of_a_process() -> None:
    """Two that took most of it each are enough, also for a third that took nothing."""
    callers = [PlainTime(), PlainTime(), PlainTime()]
    for caller in callers[:2]:
        assert not caller.loading_pays
        caller.add(0.6 * LOADING_TAKES)
    assert all(caller.loading_pays for caller in callers)


def test_compiling_pays_for_one_caller() -> None:
    """What others took does not count."""
    first, second = PlainTime(), PlainTime()
    first.add(COMPILING_TAKES + 1)
    assert first.compiling_pays
    assert not second.compiling_pays


def test_code_can_be_wanted_at_once() -> None:
    """Within a block, by the thread that says so."""
    caller = PlainTime()
    with compiled_at_once():
        assert caller.compiling_pays
    assert not caller.compiling_pays
