"""Drivers of a made-up cluster."""

from itertools import count
from pathlib import Path
from typing import NamedTuple

from hpcsched.dispatching.problem import Dispatcher
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_rules import list_rule
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.prediction.predictor import OneSecond
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.system.cluster import ClusterState
from hpcsched.system.shared_resources import Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched_slurm.live.driver import Clock, Driver, Listeners, Pace
from hpcsched_slurm.live.following import Following, Predictions
from hpcsched_slurm.live.journal import Journal
from hpcsched_slurm.live.rounds import GuardedDispatcher, Round, hold_round
from hpcsched_slurm.live.site import Site
from hpcsched_slurm.live.snapshot import Asked
from live.fake_cluster import FakeCluster
from tests.builders import NoObjective, Recorder

ORIGIN = 1_000_000 - 1_000_000 % 86_400


def site_of(cluster: FakeCluster) -> Site:
    """Return a site with all nodes and shared resources of a cluster."""
    names = tuple(cluster.nodes)
    shared = tuple(SharedResource(name, 9, Draw(traced=True)) for name in cluster.shared)
    system = System((NodeGroup("a", len(names), {"core": 4}),), shared_resources=shared)
    numbers = {name: k for k, name in enumerate(names)}
    return Site(system, names, numbers, frozenset({"main"}), ORIGIN)


OPEN: list[Journal] = []
"""Journals that a test has opened, which are closed when it is over."""


class Session(NamedTuple):
    """A driver, and what it has told."""

    driver: Driver
    following: Following
    recorder: Recorder
    rounds: list[Round]
    lines: list[str]


def session(
    cluster: FakeCluster,
    folder: Path | None,
    dispatcher: Dispatcher | None = None,
    limit: float = 60,
) -> Session:
    """Return a driver of a cluster with its journal in a folder; without one, it only advises."""
    site = site_of(cluster)
    journal = None if folder is None else Journal(folder)
    OPEN.extend([] if journal is None else [journal])
    predictions = Predictions(RequestedTime())
    recorder = Recorder()
    ours = () if journal is None else tuple(journal.placed)
    following = Following(site, predictions, [recorder], [], ours)
    asking = GuardedDispatcher(
        dispatcher or list_rule(ArrivalOrder(), "backfill", FirstFit()), limit
    )
    numbers, rounds, lines = count(1), list[Round](), list[str]()

    def ask(state: ClusterState, now: int, shunned: frozenset[str]) -> Round:
        starting = () if journal is None else tuple(journal.placed)
        asked = Asked(
            site, predictions.of, OneSecond(), NoObjective(), journal is not None, starting,
            shunned,
        )  # fmt: skip
        return hold_round(state, asked, asking, now=now, number=next(numbers))

    driver = Driver(
        cluster,
        following,
        ask,
        Pace(1, 10, 5),
        Listeners(lambda held, _state: rounds.append(held), lines.append),
        journal=journal,
        # Looked up at each call, so that a test can put another function in its place.
        clock=Clock(cluster.now, lambda seconds: cluster.sleep(seconds)),  # noqa: PLW0108
    )
    return Session(driver, following, recorder, rounds, lines)
