"""Figures of a summary, computed again by formulas written for the audit alone, and checks."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hpcsched.audit.columns import Declared, RunColumns, sums_upto
from hpcsched.audit.violations import TOLERANCE, Check, compare
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.solver_rounds import in_words, solver_rounds, warning
from hpcsched.system.outages import DownTime, Outages, down_time
from hpcsched.system.system import IntArray, System
from hpcsched.workload.trace_source import TraceAccount


def lost_amounts(
    run: RunColumns, system: System, *, rejected_wait: bool, down: DownTime | None
) -> list[float]:
    """Return ∫ min(amount waited for, amount free) dt of each resource type, in amount × seconds.

    The instant at which a dispatcher rejected a job is not recorded, so that there are two bounds.
    A job that was rejected at submission never waits. Attempts that were lost to outages are rows
    with the state `requeued`: their jobs wait again from then on.

    Parameters
    ----------
    rejected_wait
        True: a job that the dispatcher rejected waits from its submission to the last instant of
        the run. False: it does not wait.
    down
        Intervals in which nodes are not free; None without outages.
    """
    ran = run.ran
    again = run.state == "requeued"
    waits = ran | (run.rejected_by == "dispatcher") if rejected_wait else ran
    waits = waits & ~again
    allocated = allocated_amounts(run, system)[ran]
    submits, starts, ends = run.submit_time[waits], run.start_time[ran], run.end_time[ran]
    of_outages = () if down is None else (down.start, down.end)
    instants = np.unique(np.concatenate((submits, starts, ends, *of_outages)))
    lost: list[float] = []
    for r, total in enumerate(system.capacity.sum(axis=0).tolist()):
        asked = run.units * run.unit_request[:, r]
        waiting = sums_upto(submits, asked[waits], instants)
        waiting -= sums_upto(starts, asked[ran], instants)
        # What was lost to an outage waits again from then on.
        waiting += sums_upto(run.end_time[again], asked[again], instants)
        busy = sums_upto(starts, allocated[:, r], instants)
        busy -= sums_upto(ends, allocated[:, r], instants)
        if down is not None:
            gone = system.capacity[down.node, r]
            busy += sums_upto(down.start, gone, instants) - sums_upto(down.end, gone, instants)
        idle = np.minimum(waiting, total - busy)[:-1].astype(np.float64)
        lost.append(float(np.sum(idle * np.diff(instants))))
    return lost


def allocated_amounts(run: RunColumns, system: System) -> IntArray:
    """Return the amounts that each job holds while it runs, `[J, R]`.

    An exclusive job holds its nodes whole.
    """
    allocated = run.units[:, np.newaxis] * run.unit_request
    row = run.place_row
    exists = run.on_known_nodes(system)
    whole = np.zeros_like(allocated)
    np.add.at(whole, row[exists], system.capacity[run.node[exists]])
    return np.where(run.flags["exclusive"][:, np.newaxis], whole, allocated)


Values = npt.NDArray[Any]


def mean(values: Values) -> float | None:
    """Return the mean; None of no values."""
    return float(np.mean(values)) if len(values) else None


class Figures:
    """Figures over the jobs that ran; times in seconds.

    Parameters
    ----------
    down
        Intervals in which nodes are out of service; None without outages.
    """

    def __init__(
        self,
        run: RunColumns,
        system: System,
        attempts: RunColumns,
        down: DownTime | None,
    ) -> None:
        self._run, self._system, self._attempts, self._down = run, system, attempts, down
        ran = np.flatnonzero(run.ran)
        self._ran = ran
        self.wait: IntArray = run.start_time[ran] - run.submit_time[ran]
        self.response: IntArray = run.end_time[ran] - run.submit_time[ran]
        self.run_time: IntArray = run.end_time[ran] - run.start_time[ran]
        self._demand = [run.demand[row] for row in ran.tolist()]
        self.makespan: int | None = (
            int(run.end_time[ran].max() - run.submit_time[ran].min()) if len(ran) else None
        )

    def metrics(self, parameters: Mapping[str, Mapping[str, Any]]) -> dict[str, float | None]:
        """Return all built-in metrics but the loss of capacity."""
        return {
            "mean_bounded_slowdown": self.objective(
                "mean_bounded_slowdown", parameters["mean_bounded_slowdown"]
            ),
            "mean_slowdown": self.objective("mean_slowdown", {}),
            "mean_wait_time": mean(self.wait),
            "mean_response_time": self.objective("mean_response_time", {}),
            "area_weighted_response_time": self.objective("area_weighted_response_time", {}),
            "p2sf": self.objective("p2sf", parameters["p2sf"]),
            "utilization": max(self.utilization().values(), default=None),
            "makespan": self.makespan,
        }

    def objective(self, name: str, parameters: Mapping[str, Any]) -> float | None:
        """Return the value of a built-in objective; None if it has none."""
        # Slowdown is undefined for a run time of 0.
        some = self.run_time > 0
        formulas: dict[str, Callable[[], float | None]] = {
            "mean_slowdown": lambda: mean(self.response[some] / self.run_time[some]),
            "mean_bounded_slowdown": lambda: mean(self.bounded_slowdown(parameters["tau"])),
            "mean_response_time": lambda: mean(self.response),
            "mean_wait_time": lambda: mean(self.wait),
            "area_weighted_response_time": self._area_weighted,
            "p2sf": lambda: self._specific(parameters["alpha"]),
            "makespan": lambda: self.makespan,
            "weighted_sum": lambda: self._weighted_sum(parameters["terms"]),
        }
        return formulas[name]()

    def _weighted_sum(self, terms: Sequence[Mapping[str, Any]]) -> float | None:
        """Return Σ weight · objective; None if a term has no value."""
        total = 0.0
        for term in terms:
            own = dict(term["objective"])
            value = self.objective(own.pop("name"), own)
            if value is None:
                return None
            total += term["weight"] * value
        return total

    def bounded_slowdown(self, tau: int) -> Values:
        """Return the bounded slowdown of each job that ran, `[J]`; `tau` in seconds."""
        return np.maximum(self.response / np.maximum(self.run_time, tau), 1.0)

    def _area_weighted(self) -> float | None:
        # Python integers: area × response exceeds 64 bits on large systems.
        areas = [r * d for r, d in zip(self._demand, self.run_time.tolist(), strict=True)]
        total = sum(areas)
        weighted = sum(a * f for a, f in zip(areas, self.response.tolist(), strict=True))
        return weighted / total if total else None

    def _specific(self, alpha: float) -> float | None:
        """Return equation (6) of DEBS 2024 term by term, exactly for a whole α."""
        wait, response, demand = (
            np.array(values, dtype=object)
            for values in (self.wait.tolist(), self.response.tolist(), self._demand)
        )
        # Differences of large powers cancel in floats; integers are exact for a whole α.
        a: Any = int(alpha)
        if a != alpha:
            a = np.longdouble(alpha)
            wait, response = (values.astype(np.longdouble) for values in (wait, response))
        upper = np.sum(demand * (response ** (a + 2) - wait ** (a + 2)))
        lower = np.sum(demand * (response ** (a + 1) - wait ** (a + 1)))
        return float((alpha + 1) / (alpha + 2) * float(upper / lower)) if lower else None

    def utilization(self) -> dict[str, float]:
        """Return the utilization of each resource type, a share."""
        run, used = self._run, {}
        for name, whole in self._whole().items():
            k = self._system.resource_types.index(name)
            amounts = (run.units * run.unit_request[:, k])[self._ran].astype(np.float64)
            used[name] = float(amounts @ self.run_time) / whole
        return used

    def loss_of_capacity(self, *, rejected_wait: bool) -> dict[str, float]:
        """Return the loss of capacity of each resource type, a share (see `lost_amounts`)."""
        lost = lost_amounts(
            self._attempts, self._system, rejected_wait=rejected_wait, down=self._down
        )
        by_name = dict(zip(self._system.resource_types, lost, strict=True))
        return {name: by_name[name] / whole for name, whole in self._whole().items()}

    def _whole(self) -> dict[str, int]:
        """Return capacity × makespan of each resource type, less the parts out of service."""
        if not self.makespan:
            return {}
        capacity, names = self._system.capacity, self._system.resource_types
        whole = [total * self.makespan for total in capacity.sum(axis=0).tolist()]
        if self._down is not None:
            first = int(self._run.submit_time[self._ran].min())
            length = self._down.within(first, first + self.makespan)
            for node, seconds in zip(self._down.node.tolist(), length.tolist(), strict=True):
                whole = [
                    w - c * seconds for w, c in zip(whole, capacity[node].tolist(), strict=True)
                ]
        return {name: amount for name, amount in zip(names, whole, strict=True) if amount > 0}

    def percentiles(self, tau: int) -> dict[str, Values]:
        """Return the sorted values that percentiles are taken from, by quantity."""
        return {
            "wait_time": np.sort(self.wait),
            "response_time": np.sort(self.response),
            "bounded_slowdown": np.sort(self.bounded_slowdown(tau)),
        }

    def of_class(self, least: int, most: int | None, tau: int) -> dict[str, float | None]:
        """Return the figures of the jobs with a run time from `least` to `most` seconds.

        Parameters
        ----------
        most
            Largest run time of the class; None for no limit.
        tau
            Threshold of the bounded slowdown, in seconds.
        """
        mine = self.run_time >= least
        if most is not None:
            mine &= self.run_time <= most
        some = mine & (self.run_time > 0)
        return {
            "jobs": int(mine.sum()),
            "mean_wait_time": mean(self.wait[mine]),
            "mean_response_time": mean(self.response[mine]),
            "mean_slowdown": mean(self.response[some] / self.run_time[some]),
            "mean_bounded_slowdown": mean(self.bounded_slowdown(tau)[mine]),
        }


_STATES = ("completed", "killed", "rejected", "failed")


def check_account(
    jobs: dict[str, Any], run: RunColumns, account: TraceAccount, *, partial: bool
) -> Check:
    """Check that the counts of jobs balance, and equal those of the trace read again.

    Parameters
    ----------
    partial
        True for an interrupted run, which has not read the whole trace.
    """
    check = Check("the account of jobs balances, and is that of the trace read again")
    by_state = {state: int((run.state == state).sum()) for state in _STATES}
    for state, count in by_state.items():
        check.expect(f"jobs {state}", count, jobs.get(state))
    rules, counts = np.unique(run.rejected_by[run.rejected_by != ""], return_counts=True)
    by_rule = dict(zip(rules.tolist(), counts.tolist(), strict=True))
    check.expect("jobs rejected_by", by_rule, jobs.get("rejected_by"))
    # Waiting and running jobs are left only in a partial run.
    left = jobs.get("waiting", 0) + jobs.get("running", 0)
    check.expect("jobs submitted", sum(by_state.values()) + left, jobs.get("submitted"))
    ahead, skipped = jobs.get("not_yet_submitted", 0), jobs.get("skipped", {})
    accounted = jobs.get("submitted", 0) + ahead + sum(skipped.values())
    check.expect("records read", accounted, jobs.get("read"))
    if partial:
        check.notes.append("the run is partial: its account of the trace covers what it had read")
        return check
    check.expect("records read in the trace", account.read, jobs.get("read"))
    check.expect("jobs submitted in the trace", account.submitted, jobs.get("submitted"))
    for what in ("skipped", "clipped", "changed"):
        expected, found = dict(getattr(account, what)), jobs.get(what, {})
        check.expect(f"jobs.{what}: it is there", True, what in jobs)
        for reason in sorted({*expected, *found}):
            check.expect(f"{what} for {reason}", expected.get(reason, 0), found.get(reason, 0))
    return check


def check_rounds(run: RunDirectory, columns: RunColumns) -> Check:
    """Check that rounds add up to the jobs, and the summary's counts to the rounds."""
    check = Check("the rounds add up, and the summary's figures of them are right")
    figures = run.summary["rounds"]
    names = ("now", "latency", "started", "rejected", "fallback", "decision_time")
    rounds = run.rounds.read(*names)
    now, latency, started, rejected, fallback, seconds = (rounds[name].to_numpy() for name in names)
    done = now + latency
    check.expect("rounds", len(now), figures.get("count"))
    check.expect("rounds with a fallback", int(fallback.sum()), figures.get("fallbacks"))
    calls = run.rounds.read("solver")["solver"].to_pylist()
    statuses = Counter(call["status"] for call in calls if call is not None)
    check.expect("rounds by what the solver answered", dict(statuses), figures.get("solver"))
    asked = statuses.total()
    without_plan = asked - statuses["optimal"] - statuses["feasible"]
    check.expect("rounds that asked a solver", asked, figures.get("asked_solver"))
    check.expect("rounds without a plan", without_plan, figures.get("without_plan"))
    if without_plan:
        called = solver_rounds(statuses)
        check.notes.append(warning(called) or in_words(called))
    in_order = bool((latency >= 0).all() and (now[1:] >= done[:-1]).all())
    check.expect("rounds in order of time, one at a time", True, in_order)
    mean = float(np.mean(seconds)) if len(seconds) else None
    measured = run.timing["rounds"]
    compare(check, "decision_time_mean", mean, measured.get("decision_time_mean"))
    # Nearest rank in integers: a product with 0.99 would round at some counts.
    rank = (99 * len(seconds) + 99) // 100
    p99 = np.sort(seconds)[rank - 1].item() if rank else None
    compare(check, "decision_time_p99", p99, measured.get("decision_time_p99"))
    if not run.partial:
        in_jobs = int((columns.rejected_by == "dispatcher").sum())
        check.expect("jobs rejected by all rounds", in_jobs, int(rejected.sum()))
        _check_starts(check, columns.start_time[columns.ran], done, started)
    return check


def _check_starts(check: Check, start_time: IntArray, done: IntArray, started: IntArray) -> None:
    """Check the number of starts at each instant against the rounds."""
    check.expect("jobs started by all rounds", len(start_time), int(started.sum()))
    instants, at = np.unique(np.concatenate((start_time, done)), return_inverse=True)
    # Compared per instant, since a round is not recorded with the jobs that it started.
    by_jobs, by_rounds = (np.zeros(len(instants), dtype=np.int64) for _ in range(2))
    np.add.at(by_jobs, at[: len(start_time)], 1)
    np.add.at(by_rounds, at[len(start_time) :], started)
    check.looked_at += len(instants)
    check.found_at(
        np.flatnonzero(by_jobs != by_rounds),
        lambda k: (
            f"second {instants[k]}: jobs started by rounds: expected {by_jobs[k]}, found"
            f" {by_rounds[k]}"
        ),
    )


_PROVED = 1e-6


def check_offline(summary: Mapping[str, Any], *, expected: bool) -> Iterator[Check]:
    """Yield a check of the lower bound, the gap and the claim of optimality.

    Parameters
    ----------
    expected
        True for a complete run of a scenario that is planned at once: its summary must have these
        figures, and no other may.
    """
    stated = summary.get("offline")
    if stated is None and not expected:
        return
    check = Check("the off-line plan is not better than its lower bound, and the gap is right")
    check.expect("offline: figures are there", expected, stated is not None)
    if stated is None:
        yield check
        return
    value = summary.get("objective", {}).get("value")
    compare(check, "offline.value", value, stated.get("value"))
    bound = stated.get("lower_bound")
    if value is None or bound is None:
        check.notes.append("there is no lower bound")
        check.expect("offline.gap", None, stated.get("gap"))
        check.expect("offline.proved", None, stated.get("proved"))
        yield check
        return
    check.looked_at += 1
    if bound > value:
        check.found(f"offline.lower_bound: expected at most {value}, found {bound}")
    # Avoids 0 / 0 where an objective of 0 is proved optimal.
    gap = 0.0 if value == bound else (value - bound) / abs(value)
    compare(check, "offline.gap", gap, stated.get("gap"))
    check.expect("offline.proved", gap <= _PROVED, stated.get("proved"))
    yield check


def check_figures(
    summary: Mapping[str, Any],
    run: RunColumns,
    system: System,
    declared: Declared,
    *,
    partial: bool,
    attempts: RunColumns,
    outages: Outages,
) -> Check:
    """Check every figure of a summary within a relative tolerance of 10⁻⁹.

    The loss of capacity of a partial run is not checked, since its waiting jobs are not recorded;
    that of a run with jobs that the dispatcher rejected must lie between two bounds.
    """
    check = Check(f"every figure of the summary, worked out again, agrees within {TOLERANCE:g}")
    down = down_time(outages.all) if outages.all else None
    figures = Figures(run, system, attempts, down)
    parameters = declared.metric_parameters
    stated = summary["metrics"]
    for name, expected in figures.metrics(parameters).items():
        compare(check, f"metrics.{name}", expected, stated.get(name))
    # Metrics of plugins have no second implementation to compare with.
    known = {*figures.metrics(parameters), "loss_of_capacity"}
    for name in stated:
        if name not in known:
            check.notes.append(f"metrics.{name} is a plugin's and was not worked out again")
    check.expect("metrics", sorted(declared.definitions), sorted(stated))
    for name, definition in declared.definitions.items():
        whole = {**definition._asdict(), "parameters": dict(parameters[name])}
        check.expect(f"definitions.{name}", whole, summary.get("definitions", {}).get(name))

    _check_objective(check, summary.get("objective", {}), figures, declared)
    utilization = figures.utilization()
    stated_utilization = summary.get("utilization_by_resource", {})
    check.expect("utilization_by_resource", sorted(utilization), sorted(stated_utilization))
    for name, expected in utilization.items():
        where = f"utilization_by_resource.{name}"
        compare(check, where, expected, stated_utilization.get(name))
    if partial:
        check.notes.append("loss_of_capacity was not worked out again: jobs were left waiting")
    else:
        _check_loss(check, summary, run, figures)

    tau = parameters["mean_bounded_slowdown"]["tau"]
    _check_percentiles(check, summary.get("percentiles", {}), figures, declared.percentiles, tau)
    _check_classes(check, summary.get("classes", []), figures, declared.class_bounds, tau)
    return check


def _check_objective(
    check: Check, stated: Mapping[str, Any], figures: Figures, declared: Declared
) -> None:
    """Check name, parameters and value of the objective."""
    name, own = declared.objective, dict(declared.objective_parameters)
    check.expect("objective.name", name, stated.get("name"))
    check.expect("objective.parameters", own, stated.get("parameters"))
    try:
        expected = figures.objective(name, own)
    except KeyError as error:
        # Of a weighted sum, the plugin's may be one of the terms.
        (unknown,) = error.args
        whose = "is a plugin's" if unknown == name else f"adds up {unknown}, a plugin's,"
        check.notes.append(f"the objective {name} {whose} and was not worked out again")
        return
    compare(check, "objective.value", expected, stated.get("value"))


def _check_loss(
    check: Check, summary: Mapping[str, Any], run: RunColumns, figures: Figures
) -> None:
    """Check the loss of capacity by resource type, and the metric of the busiest one."""
    stated = summary.get("loss_of_capacity_by_resource", {})
    lower = figures.loss_of_capacity(rejected_wait=False)
    used = figures.utilization()
    busiest = max(used, key=used.__getitem__, default=None)
    found = {f"loss_of_capacity_by_resource.{name}": (name, stated.get(name)) for name in lower}
    if busiest is not None:
        found["metrics.loss_of_capacity"] = busiest, summary["metrics"].get("loss_of_capacity")
    if not (run.rejected_by == "dispatcher").any():
        for where, (name, value) in found.items():
            compare(check, where, lower[name], value)
        return
    upper = figures.loss_of_capacity(rejected_wait=True)
    for where, (name, value) in found.items():
        if not _lies_within(lower[name], value, upper[name]):
            check.found(f"{where}: expected {lower[name]!r} to {upper[name]!r}, found {value!r}")
    check.notes.append(
        "when jobs were rejected is not recorded: loss_of_capacity was checked against bounds"
    )


def _lies_within(lower: float, found: Any, upper: float) -> bool:
    """Return True if a figure lies between two bounds, within the tolerance."""
    slack = TOLERANCE * upper
    return isinstance(found, int | float) and lower - slack <= found <= upper + slack


def _check_percentiles(
    check: Check, stated: Mapping[str, Any], figures: Figures, percents: Sequence[int], tau: int
) -> None:
    """Check that the declared percentiles are there, and no other."""
    again = figures.percentiles(tau)
    check.expect("percentiles", sorted(again), sorted(stated))
    for quantity, values in again.items():
        found = stated.get(quantity, {})
        wanted = sorted({f"p{percent}" for percent in percents})
        check.expect(f"percentiles.{quantity}", wanted, sorted(found))
        for percent in percents:
            rank = math.ceil(percent * len(values) / 100)
            expected = values[max(rank, 1) - 1].item() if len(values) else None
            key = f"p{percent}"
            compare(check, f"percentiles.{quantity}.{key}", expected, found.get(key))


# Names that a summary gives to up to three classes; more are numbered.
_CLASS_NAMES = {1: ("all",), 2: ("short", "long"), 3: ("short", "medium", "long")}


def _check_classes(
    check: Check,
    stated: Sequence[Mapping[str, Any]],
    figures: Figures,
    bounds: Sequence[int],
    tau: int,
) -> None:
    """Check that the declared classes are there, and no other."""
    count = len(bounds) + 1
    names = _CLASS_NAMES.get(count, tuple(f"class {k + 1}" for k in range(count)))
    check.expect("classes", list(names), [one.get("class") for one in stated])
    for k, found in zip(range(count), stated, strict=False):
        # The first class ends below its bound, and the others with theirs.
        least = 0 if k == 0 else bounds[0] if k == 1 else bounds[k - 1] + 1
        most = None if k == count - 1 else bounds[0] - 1 if k == 0 else bounds[k]
        check.expect(f"classes[{k}].run_time_from", least, found.get("run_time_from"))
        check.expect(f"classes[{k}].run_time_to", most, found.get("run_time_to"))
        again = figures.of_class(least, most, tau)
        keys = {"class", "run_time_from", "run_time_to", *again}
        check.expect(f"classes[{k}]", sorted(keys), sorted(found))
        for name, expected in again.items():
            compare(check, f"classes[{k}].{name}", expected, found.get(name))
