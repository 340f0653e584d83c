"""Reasons of `slurm-backfill`, and when it asks for its next round."""

from hpcsched.dispatching.decision import Reason
from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from hpcsched.simulation.event_loop import simulate
from tests.builders import ALLOCATORS, ORDERS, Recorder, alike, parts, slurm_backfill_rule, traced

SYSTEM = alike(3, core=1)


class Reasons(Recorder):
    """Hears the reasons of each round."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[Reason, ...]] = []

    def reasons_given(self, _record, reasons: tuple[Reason, ...]) -> None:
        """Keep them."""
        self.told.append(reasons)


def replayed(**params: int) -> Reasons:
    """Replay three jobs: two cores from 0 to 10, three from 1 on, one from 2 on."""
    told = SlurmBackfillParams.model_validate({"bf_interval": 5, "bf_resolution": 1, **params})
    dispatcher = slurm_backfill_rule(ORDERS["fcfs"], ALLOCATORS["first-fit"], told)
    jobs = [traced(1, 0, 2, 10), traced(2, 1, 3, 2), traced(3, 2, 1, 4)]
    listener = Reasons()
    simulate(parts(SYSTEM, dispatcher, observers=(listener,)), jobs)
    return listener


def test_next_round() -> None:
    """It asks for second 6 at second 2, 5 s after the backfilling at 1, and never for another."""
    rounds = replayed().rounds
    assert [(r.now, r.call_again_at) for r in rounds] == [
        (0, None),
        (1, None),
        (2, 6),
        (6, None),
        (10, None),
    ]


def test_reasons() -> None:
    """A job that the main scheduler does not start is behind another until it is tried."""
    told = replayed().told
    assert told[1] == (Reason(2, "no_room", None, 10),)
    assert told[2] == (Reason(2, "no_room"), Reason(3, "behind", 2))
    assert told[3] == (Reason(2, "no_room", None, 10), Reason(3, "backfilled", 2))


def test_reasons_of_jobs_that_are_not_tried() -> None:
    """Job 3 is not among the first, neither for the main scheduler nor for backfilling."""
    told = replayed(default_queue_depth=1, bf_max_job_test=1).told
    beyond = Reason(3, "beyond_depth", detail="default_queue_depth")
    assert set(told[2]) == {Reason(2, "no_room"), beyond}
    assert set(told[3]) == {Reason(2, "no_room", None, 10), beyond}


def test_reason_beyond_the_window() -> None:
    """A job without a reservation has no planned start."""
    assert replayed(bf_window=8).told[1] == (Reason(2, "no_room"),)
