"""Planning code is compiled before the first round, which changes no decision."""

import pytest

from hpcsched.dispatching.cp.cp_improver import CpImprover
from hpcsched.dispatching.dispatcher_protocol import PreparesCode
from hpcsched.dispatching.offline.offline_too import OfflineToo
from hpcsched.dispatching.planning.preparing import PreparesSearch, small_planner
from hpcsched.dispatching.search.improver import OrderSearch
from tests.builders import ALLOCATORS, alike, easy, replay, traced
from tests.dispatching.search.test_improver import OBJECTIVES, order_search


def test_the_small_model() -> None:
    """Two jobs of a second on a node with room for one: the second starts at 1."""
    assert small_planner().plan((0, 1)).starts.tolist() == [0, 1]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda objective: type(objective).__name__)
def test_equal_decisions(objective: object) -> None:
    """Random numbers and the best order so far are as they were, and so are all starts."""
    jobs = [traced(k, k // 3, 1 + k % 3, 5 + k * 7 % 11) for k in range(30)]
    plain, prepared = order_search(objective), order_search(objective)
    improver = prepared.improver
    assert isinstance(improver, OrderSearch)
    before = improver.random.copy()
    prepared.prepare_code()
    assert improver.random == before
    found = [replay(alike(4, core=1), one, jobs).start_times for one in (plain, prepared)]
    assert found[0] == found[1]


def test_protocols() -> None:
    """Planning dispatchers prepare, alone and as the one of the rounds; EASY need not."""
    online = order_search()
    both = OfflineToo(online, ALLOCATORS["first-fit"], 10, 1)
    assert isinstance(online, PreparesCode)
    assert isinstance(online.improver, PreparesSearch)
    assert isinstance(both, PreparesCode)
    both.prepare_code()
    alone = easy()
    assert not isinstance(alone, PreparesCode)
    OfflineToo(alone, ALLOCATORS["first-fit"], 10, 1).prepare_code()


def test_search_before_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order search of `cp` is compiled too; where there is none, nothing is."""
    prepared: list[OrderSearch] = []
    monkeypatch.setattr(OrderSearch, "prepare_code", lambda search, _: prepared.append(search))
    search = order_search().improver
    assert isinstance(search, OrderSearch)
    for found in (None, search):
        improver = CpImprover(None, 1, None, None, search=found)
        assert isinstance(improver, PreparesSearch)
        improver.prepare_code(small_planner())
    assert prepared == [search]
