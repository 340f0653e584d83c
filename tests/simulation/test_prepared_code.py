"""A dispatcher's code is compiled once before the first round, whatever asks the dispatcher."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hpcsched.dispatching.core.plain_time import compiled_at_once
from hpcsched.dispatching.dispatcher_protocol import PreparesCode, prepare_code
from hpcsched.errors import DecisionError
from hpcsched.live.guarded_dispatcher import GuardedDispatcher
from hpcsched.problems.header import Selection
from hpcsched.problems.recording import RecordingDispatcher
from hpcsched.problems.solving import answers
from hpcsched.results.process_usage import ProcessUsage
from hpcsched.runs.replaying import replay_in_python
from hpcsched.simulation.check import prepare_dispatcher
from hpcsched.simulation.engine import batches_in_order
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.replay_branches import branches
from hpcsched.testing import make_problem
from tests.builders import Prepared, alike, easy, one_type, parts, replay, traced
from tests.forecast.columns import jobs_of

JOBS = [traced(1, 0, 2, 3), traced(2, 1, 1, 2)]
QUEUE = "job_id submit_time units requested_time\n1 0 1 10"


def in_memory(dispatcher: Prepared) -> None:
    """Replay as `hpcsched.replay` does."""
    replay_in_python(parts(alike(2, core=1), dispatcher), JOBS, places=False)


def forecast(dispatcher: Prepared) -> None:
    """Replay as forecasts do, with continuations."""
    columns = jobs_of([(0, 2, 100, 60, 1), (10, 2, 100, 5, 1)])
    ((_, branch, _),) = branches(parts(one_type(2), dispatcher), columns, [2])
    for run_time in (30, 40):
        branch.start_times(np.array([run_time, 5]), (), np.array([1]))


def plugin_test(dispatcher: Prepared) -> None:
    """Replay as the kit for the tests of plugins does."""
    replay(alike(2, core=1), dispatcher, JOBS)


def problem():
    """Return a problem with a job that fits."""
    return make_problem(
        alike(2, core=1), "job_id submit_time units requested_time\n1 0 1 10", now=0
    )


def saved_problems(dispatcher: Prepared) -> None:
    """Answer a problem as `problems solve` does."""
    list(answers([problem()], dispatcher, "tested"))


def live(dispatcher: Prepared) -> None:
    """Answer a problem as on a real cluster."""
    GuardedDispatcher(dispatcher, 60).warm_up(problem(), 60)


@pytest.mark.parametrize("ask", [in_memory, forecast, plugin_test, saved_problems, live])
def test_before_the_first_round(ask: Callable[[Prepared], None]) -> None:
    """Code comes first, and comes once."""
    dispatcher = Prepared()
    ask(dispatcher)
    assert dispatcher.told[:2] == ["code", "round"]
    assert dispatcher.told.count("code") == 1


def test_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where compiled code is wanted at once, as in training, the loop is compiled before rounds."""
    dispatcher, looks = Prepared(), []
    monkeypatch.setattr(EventLoop, "_look_for_code", lambda *_: looks.append(list(dispatcher.told)))
    with compiled_at_once():
        in_memory(dispatcher)
    assert looks[0] == ["code"]
    assert "round" in dispatcher.told


def test_wrapped(tmp_path: Path) -> None:
    """Dispatchers that look at another one have its code compiled."""
    timed, recorded = Prepared(), Prepared()
    usage = ProcessUsage(tmp_path)
    prepare_code(usage.timed_dispatcher(timed))
    usage.close()
    prepare_code(RecordingDispatcher(recorded, Selection(), None))
    assert [timed.told, recorded.told] == [["code"], ["code"]]


def test_nothing_to_compile() -> None:
    """Other dispatchers need no such method."""
    assert not isinstance(easy(), PreparesCode)
    prepare_code(easy())


def test_stop_while_compiling() -> None:
    """It is known, so that the caller can interrupt what has no instants."""
    dispatcher = Prepared()
    loop = EventLoop(parts(alike(2, core=1), dispatcher), in_python=True)
    loop.plainly = True
    seen = []
    dispatcher.while_compiling = lambda: seen.append(loop.preparing)
    list(loop.run(batches_in_order(JOBS)))
    assert seen == [True]
    assert not loop.preparing


def test_a_dispatcher_that_fails() -> None:
    """The message names it, and says when."""
    dispatcher = Prepared()
    dispatcher.while_compiling = lambda: {}["missing"]
    for ask in (in_memory, lambda one: prepare_dispatcher(one, "dispatcher tested")):
        with pytest.raises(DecisionError) as caught:
            ask(dispatcher)
        said = str(caught.value)
        assert said.startswith("dispatcher ")
        assert said.endswith(", before the first round: raised KeyError: 'missing'")
