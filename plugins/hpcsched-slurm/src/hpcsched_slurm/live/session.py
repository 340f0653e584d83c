"""One live run: the parts of a scenario with a real cluster, its loop, and its records."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from hpcsched.errors import Finding, InputError
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.manifest import ON_A_CLUSTER
from hpcsched.runs.observers import ReasonRecorder
from hpcsched.runs.recorder import RunRecorder
from hpcsched.runs.runner import LoopEnd, Run
from hpcsched.runs.summary import Remaining
from hpcsched.scenario import Scenario
from hpcsched.simulation.observer import Observer, close_observers
from hpcsched.system.cluster import (
    ClusterState,
    UnavailableError,
    WorkloadManager,
    read_cluster,
)
from hpcsched_slurm.live.advice import Advice, advice_lines
from hpcsched_slurm.live.driver import Driver, Limits, Listeners, Pace, tried_again
from hpcsched_slurm.live.following import Following, Predictions
from hpcsched_slurm.live.journal import Heartbeat, Journal, driver_lock
from hpcsched_slurm.live.rounds import GuardedDispatcher, Round, hold_round
from hpcsched_slurm.live.site import check_site, site_of
from hpcsched_slurm.live.snapshot import Asked, snapshot

_WARM_UP = 300.0
"""Real seconds for the first decision, which may include loading of modules."""
_SHOWN = 20
"""Number of waiting jobs shown in a round of advice; the run directory has all of them."""


def run_live(
    scenario: Scenario,
    out: Path,
    *,
    drive: bool,
    say: Callable[[str], None],
    seconds: float | None = None,
    rounds: int | None = None,
    until_idle: bool = False,
    force: bool = False,
) -> RunDirectory:
    """Advise about a cluster, or drive it; return the run directory.

    The run ends after a limit, when no job is left, or at an interrupt: Ctrl-C, SIGTERM or SIGHUP.
    Advice without limits ends after one look.

    Parameters
    ----------
    drive
        True: place jobs. False: only advise.
    seconds
        Real seconds after which the run ends.

    Raises
    ------
    InputError
        If the scenario does not fit the cluster or another driver is at work.
    UnavailableError
        If the cluster cannot be read, to advise, at the start or in the only look. A driver waits.
    PluginError
        If a plugin fails.
    """
    live = scenario.live
    if live is None:
        message = "it has no 'live:', which says how the cluster is reached"
        raise InputError(Finding("not-live", message))
    assembly = assemble(scenario, folder=out).build_all()
    manager: WorkloadManager = assembly.make("workload_manager", live.workload_manager)
    with ExitStack() as stack:
        folder = Path(live.folder)
        journal = None
        if drive:
            stack.enter_context(driver_lock(folder))
            journal = Journal(folder)
            stack.callback(journal.close)
        state = _first_state(manager, live.poll, say) if drive else read_cluster(manager)
        # The origin is fixed by the first look: every later time of the run counts from it.
        site = site_of(assembly.system, live, earliest_submission(state))
        check_site(site, state.nodes, state.shared)
        predictions = Predictions(assembly.predictor, scenario.predictor.plugin_name)
        learnt = predictions.learn_history(assembly.source.jobs(), site.origin)
        say(f"{learnt} jobs of the history were learnt from")
        run = stack.enter_context(
            Run(assembly, not_reproducible_because=[ON_A_CLUSTER], force=force)
        )
        recorder = RunRecorder(assembly.folder, assembly.system)
        observers = live_observers(assembly, recorder, run.observers)
        ours = frozenset() if journal is None else frozenset(journal.placed)
        following = Following(site, predictions, observers, assembly.followers, ours)
        asking = GuardedDispatcher(assembly.dispatcher, live.round_limit)
        advice = Advice(site.names)
        heartbeat = Heartbeat(folder, live.partitions, live.release_after)
        numbers = count(1)

        def asked(shunned: frozenset[str] = frozenset()) -> Asked:
            starting = frozenset() if journal is None else frozenset(journal.placed)
            return Asked(
                site, predictions.of, assembly.correction, assembly.objective, drive, starting,
                shunned,
            )  # fmt: skip

        def ask(seen: ClusterState, now: int, shunned: frozenset[str]) -> Round:
            return hold_round(seen, asked(shunned), asking, now=now, number=next(numbers))

        def round_held(held: Round, seen: ClusterState) -> None:
            for observer in observers:
                observer.round_ended(held.record)
                observer.reasons_given(held.record, held.reasons)
            new = advice.take(held)
            if drive:
                for one in new:
                    say(f"job {one.key} starts on {','.join(one.nodes)}: {one.why}")
            else:
                for line in advice_lines(held, site.names, seen, _SHOWN):
                    say(line)

        # Without it the first round would be late by loading modules, and be answered by list
        # scheduling.
        asking.warm_up(snapshot(state, asked(), site.time(time.time()), 0).problem, _WARM_UP)
        driver = Driver(
            manager,
            following,
            ask,
            Pace(live.poll, live.tick, live.placement_timeout),
            Listeners(round_held, say, heartbeat.beat if drive else lambda _now: None),
            journal=journal,
        )
        # Advice without end would poll the cluster for good.
        once = not drive and seconds is None and rounds is None and not until_idle
        limits = Limits(seconds, rounds, until_idle, once)
        loop = LiveLoop(driver, limits, following, observers, write=partial(advice.write, out))
        # A second signal does not cut a driver short: it may be placing jobs.
        return run.carry_out(loop, insist=False)


def _first_state(manager: WorkloadManager, poll: float, say: Callable[[str], None]) -> ClusterState:
    """Return the cluster as soon as it can be read, and say so when it cannot."""
    waits = False
    while True:
        try:
            state = read_cluster(manager)
        except UnavailableError as error:
            if not waits:
                say(tried_again(error))
            waits = True
            time.sleep(poll)
        else:
            if waits:
                say("the cluster can be read again")
            return state


def earliest_submission(state: ClusterState) -> float:
    """Return the submission of the first job that is left, or else the present instant."""
    submitted = (job.submit_time for job in state.jobs if job.phase != "ended")
    return min([time.time(), *submitted])


def live_observers(
    assembly: Assembly, recorder: RunRecorder, listed: Sequence[Observer]
) -> list[Observer]:
    """Return the observers of a live run: the tables, the reasons, and those of the scenario."""
    own: list[Observer] = [recorder]
    # Reasons are recorded always: an operator asks afterwards why a job waited.
    if not any(isinstance(observer, ReasonRecorder) for observer in listed):
        own.append(ReasonRecorder(assembly.folder))
    return [*own, *listed]


class LiveLoop:
    """Loop of a driver, and the files that it fills.

    Parameters
    ----------
    write
        Function that writes a further file, given the starts and nodes of the jobs by number.
    """

    def __init__(
        self,
        driver: Driver,
        limits: Limits,
        following: Following,
        observers: Sequence[Observer],
        *,
        write: Callable[[Mapping[int, int], Mapping[int, tuple[str, ...]]], None],
    ) -> None:
        self._driver, self._limits = driver, limits
        self._following, self._observers = following, observers
        self._write = write
        self._not_closed: Mapping[str, str] = {}

    def run(self) -> None:
        """Read and answer until stopped, or until a limit is reached."""
        self._driver.run(self._limits)

    def stop(self) -> None:
        """End the loop before the next look."""
        self._driver.stop()

    def close(self) -> None:
        """Write all files and finish all tables."""
        # Before the manifest is finished, which holds the hash of every file.
        self._write(self._following.started_at, self._following.nodes_of)
        self._not_closed = close_observers(self._observers)

    @property
    def complete(self) -> bool:
        """True if no followed job is left, however the loop ended."""
        return not (self._following.waiting or self._following.running)

    @property
    def end(self) -> LoopEnd:
        """State of the loop."""
        remaining = Remaining(self._following.waiting, self._following.running)
        # The trace is the history here: its header is not that of the jobs in the tables.
        account = self._following.account
        return LoopEnd(remaining, account, (), (ON_A_CLUSTER,), {}, self._not_closed)

    def more_figures(self, _summary: Mapping[str, Any], *, complete: bool) -> dict[str, Any]:
        """Return no further figures: a cluster is not known as closely as a simulated system."""
        return {}
