"""Figures of a summary, computed again by formulas written for the audit alone, and checks."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hpcsched.audit.columns import Amounts, AuditedRun, Replayed
from hpcsched.audit.violations import TOLERANCE, Check, rule
from hpcsched.runs.solver_rounds import in_words, solver_rounds, warning
from hpcsched.system.system import IntArray

_OF_DEVICES = ("allocation_ratio", "fragmentation", "mean_fragmentation")


def mean(values: Amounts) -> float | None:
    """Return the mean; None of no values."""
    return float(np.mean(values)) if len(values) else None


class Figures:
    """Figures over the jobs that ran; times in seconds."""

    def __init__(self, at: Replayed) -> None:
        run, ran = at.jobs, at.jobs.ran
        self._at, self._demand = at, run.demand[ran]
        self.submit: IntArray = run.submit_time[ran]
        self.wait: IntArray = run.start_time[ran] - self.submit
        self.response: IntArray = run.end_time[ran] - self.submit
        self.run_time: IntArray = run.run_time[ran]
        self.makespan: int | None = (
            int(run.end_time[ran].max() - self.submit.min()) if ran.any() else None
        )

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
            "utilization": lambda: max(self.utilization.values(), default=None),
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

    def bounded_slowdown(self, tau: int) -> Amounts:
        """Return the bounded slowdown of each job that ran, `[J]`; `tau` in seconds."""
        return np.maximum(self.response / np.maximum(self.run_time, tau), 1.0)

    def _area_weighted(self) -> float | None:
        # Python integers: area × response exceeds 64 bits on large systems.
        areas = self._demand * self.run_time
        total = areas.sum()
        return (areas * self.response).sum() / total if total else None

    def _specific(self, alpha: float) -> float | None:
        """Return equation (6) of DEBS 2024 term by term, exactly for a whole α."""
        # Differences of large powers cancel in floats; integers are exact for a whole α.
        a: Any = int(alpha)
        kind: Any = object
        if a != alpha:
            a, kind = np.longdouble(alpha), np.longdouble
        wait = self.wait.astype(kind)
        response = wait + self.run_time.astype(kind)
        upper = np.sum(self._demand * (response ** (a + 2) - wait ** (a + 2)))
        lower = np.sum(self._demand * (response ** (a + 1) - wait ** (a + 1)))
        return float((alpha + 1) / (alpha + 2) * float(upper / lower)) if lower else None

    @cached_property
    def utilization(self) -> dict[str, float]:
        """Utilization of each resource type, a share."""
        run, ran = self._at.jobs, self._at.jobs.ran
        amounts = (run.units[:, np.newaxis] * run.unit_request)[ran].astype(np.float64)
        return self._shares(self.run_time @ amounts)

    def loss_of_capacity(self, *, rejected_wait: bool, over: int = 0) -> dict[str, float]:
        """Return the loss of capacity of each resource type, a share; see `lost_amounts`."""
        return self._shares(lost_amounts(self._at, rejected_wait=rejected_wait, over=over))

    def _shares(self, amounts: Any) -> dict[str, float]:
        """Return amounts as shares of capacity × makespan, less the parts out of service."""
        if not self.makespan:
            return {}
        down, capacity = self._at.down, self._at.system.capacity.astype(object)
        first = int(self.submit.min())
        gone = down.within(first, first + self.makespan)[:, np.newaxis]
        whole = capacity.sum(axis=0) * self.makespan - (capacity[down.node] * gone).sum(axis=0)
        shares = zip(self._at.system.resource_types, amounts, whole, strict=True)
        return {name: float(amount) / of for name, amount, of in shares if of > 0}

    def of_class(self, least: int, most: float, tau: int) -> dict[str, float | None]:
        """Return the figures of the jobs with a run time from `least` to `most` seconds."""
        mine = (self.run_time >= least) & (self.run_time <= most)
        some = mine & (self.run_time > 0)
        return {
            "jobs": int(mine.sum()),
            "mean_wait_time": mean(self.wait[mine]),
            "mean_response_time": mean(self.response[mine]),
            "mean_slowdown": mean(self.response[some] / self.run_time[some]),
            "mean_bounded_slowdown": mean(self.bounded_slowdown(tau)[mine]),
        }


def lost_amounts(at: Replayed, *, rejected_wait: bool, over: int = 0) -> Amounts:
    """Return ∫ min(amount waited for, amount free) dt, in amount × seconds, `[R]`.

    The instant at which a dispatcher rejected a job is not recorded, so that there are two bounds.
    A job that was rejected at submission never waits.

    Parameters
    ----------
    rejected_wait
        True: a job that was rejected while it waited waits from its submission to the last instant
        of the run, or to `over`. False: it does not wait.
    """
    run = at.attempts
    waits = run.ran | run.dismissed if rejected_wait else run.ran
    moments = at.waiting_since[waits | run.withdrawn], run.start_time[run.ran], run.left_at
    pauses = at.lost.start_time, at.lost.end_time
    instants = np.unique(np.concatenate((*moments, *pauses, *at.down[1:], [over])))
    idle = at.idle_amounts(waits, instants)[:-1].astype(np.float64)
    return np.asarray(np.diff(instants) @ idle)


@rule()
def account(check: Check, at: AuditedRun) -> None:
    """Check that the account of jobs balances, and is that of the trace read again."""
    run, jobs, trace = at.jobs, at.run.summary["jobs"], at.source.account
    states = ("completed", "killed", "rejected", "failed", "preempted", "withdrawn")
    by_state = {state: int((run.state == state).sum()) for state in states}
    for state, count in by_state.items():
        check.expect(f"jobs {state}", count, jobs.get(state))
    by_rule = Counter(run.rejected_by[run.rejected_by != ""].tolist())
    check.expect("jobs rejected_by", dict(by_rule), jobs.get("rejected_by"))
    # Waiting and running jobs are left only in a partial run.
    left = jobs.get("waiting", 0) + jobs.get("running", 0)
    check.expect("jobs submitted", sum(by_state.values()) + left, jobs.get("submitted"))
    ahead, skipped = jobs.get("not_yet_submitted", 0), jobs.get("skipped", {})
    accounted = jobs.get("submitted", 0) + ahead + sum(skipped.values())
    check.expect("records read", accounted, jobs.get("read"))
    if at.partial:
        check.notes.append("the run is partial: its account of the trace covers what it had read")
        return
    check.expect("records read in the trace", trace.read, jobs.get("read"))
    check.expect("jobs submitted in the trace", trace.submitted, jobs.get("submitted"))
    for what in ("skipped", "clipped", "changed"):
        expected, found = dict(getattr(trace, what)), jobs.get(what, {})
        check.expect(f"jobs.{what}: it is there", True, what in jobs)
        for reason in sorted({*expected, *found}):
            check.expect(f"{what} for {reason}", expected.get(reason, 0), found.get(reason, 0))


@rule()
def round_figures(check: Check, at: AuditedRun) -> None:
    """Check that the rounds add up, and the summary's figures of them are right."""
    rounds, figures, measured = at.rounds, at.run.summary["rounds"], at.run.timing["rounds"]
    table = at.run.rounds.read("fallback", "solver")
    calls = [call["status"] for call in table["solver"].to_pylist() if call is not None]
    statuses = Counter(calls)
    without_plan = len(calls) - statuses["optimal"] - statuses["feasible"]
    fallbacks = int(table["fallback"].to_numpy().sum())
    check.expect("rounds", len(rounds.now), figures.get("count"))
    check.expect("rounds with a fallback", fallbacks, figures.get("fallbacks"))
    check.expect("rounds by what the solver answered", dict(statuses), figures.get("solver"))
    check.expect("rounds that asked a solver", len(calls), figures.get("asked_solver"))
    check.expect("rounds without a plan", without_plan, figures.get("without_plan"))
    if without_plan:
        called = solver_rounds(statuses)
        check.notes.append(warning(called) or in_words(called))
    now, done, seconds = rounds.now, rounds.done, np.sort(rounds.decision_time)
    in_order = bool((done >= now).all() and (now[1:] >= done[:-1]).all())
    check.expect("rounds in order of time, one at a time", True, in_order)
    check.compare("decision_time_mean", mean(seconds), measured.get("decision_time_mean"))
    # Nearest rank in integers: a product with 0.99 would round at some counts.
    rank = (99 * len(seconds) + 99) // 100
    p99 = seconds[rank - 1].item() if rank else None
    check.compare("decision_time_p99", p99, measured.get("decision_time_p99"))
    if at.partial:
        return
    run, started = at.attempts, rounds.started
    dismissed, start_time = int((run.rejected_by == "dispatcher").sum()), run.start_time[run.ran]
    check.expect("jobs rejected by all rounds", dismissed, int(rounds.rejected.sum()))
    check.expect("jobs started by all rounds", len(start_time), int(started.sum()))
    # Compared per instant, since a round is not recorded with the jobs that it started.
    instants = np.unique(np.concatenate((start_time, done)))
    by_jobs = np.bincount(np.searchsorted(instants, start_time), minlength=len(instants))
    by_rounds = np.zeros_like(by_jobs)
    np.add.at(by_rounds, np.searchsorted(instants, done), started)
    check.looked_at += len(instants)
    check.differ("second {}: jobs started by rounds", by_jobs, by_rounds, instants)


_PROVED = 1e-6


@rule(lambda at: (at.declared.offline and not at.partial) or "offline" in at.run.summary)
def offline_plan(check: Check, at: AuditedRun) -> None:
    """Check that the off-line plan is not better than its lower bound, and the gap is right.

    The claim of optimality is checked, too.

    The summary of a complete run that is planned at once must have these figures, and no other.
    """
    stated, expected = at.run.summary.get("offline"), at.declared.offline and not at.partial
    check.expect("offline: figures are there", expected, stated is not None)
    if stated is None:
        return
    value, bound = at.run.summary.get("objective", {}).get("value"), stated.get("lower_bound")
    gap: float | None = None
    check.compare("offline.value", value, stated.get("value"))
    if value is None or bound is None:
        check.notes.append("there is no lower bound")
    else:
        check.looked_at += 1
        if bound > value:
            check.found(f"offline.lower_bound: expected at most {value}, found {bound}")
        # Avoids 0 / 0 where an objective of 0 is proved optimal.
        gap = 0.0 if value == bound else (value - bound) / abs(value)
    check.compare("offline.gap", gap, stated.get("gap"))
    proved = None if gap is None else gap <= _PROVED
    check.expect("offline.proved", proved, stated.get("proved"))


@rule(claim=f"every figure of the summary, worked out again, agrees within {TOLERANCE:g}")
def summary_figures(check: Check, at: AuditedRun) -> None:
    """Check every figure of a summary.

    The loss of capacity of a partial run is not checked, since its waiting jobs are not recorded;
    that of a run with jobs that the dispatcher rejected must lie between two bounds.
    """
    summary, declared, figures = at.run.summary, at.declared, Figures(at)
    stated = summary["metrics"]
    check.expect("metrics", sorted(declared.definitions), sorted(stated))
    for name, definition in declared.definitions.items():
        found = summary.get("definitions", {}).get(name)
        check.expect(f"definitions.{name}", dict(definition), found)
        if name != "loss_of_capacity":
            try:
                expected = figures.objective(name, definition["parameters"])
            except KeyError:
                # Metrics of plugins, and of devices, have no second implementation to compare with.
                whose = "of devices" if name in _OF_DEVICES else "a plugin's"
                note = f"metrics.{name} is {whose} and was not worked out again"
                check.notes.append(note)
            else:
                check.compare(f"metrics.{name}", expected, stated.get(name))
    _check_objective(check, at, figures)
    found = summary.get("utilization_by_resource", {})
    check.expect("utilization_by_resource", sorted(figures.utilization), sorted(found))
    check.compare_all("utilization_by_resource", figures.utilization, found)
    if at.partial:
        check.notes.append("loss_of_capacity was not worked out again: jobs were left waiting")
    else:
        _check_loss(check, at, figures)
    tau = declared.definitions["mean_bounded_slowdown"]["parameters"]["tau"]
    _check_percentiles(check, at, figures, tau)
    stated = summary.get("classes", [])
    classes = list(_classes(declared.class_bounds))
    check.expect("classes", [one["class"] for one in classes], [o.get("class") for o in stated])
    for k, (one, found) in enumerate(zip(classes, stated, strict=False)):
        least, most = one["run_time_from"], one["run_time_to"]
        again = figures.of_class(least, math.inf if most is None else most, tau)
        check.expect(f"classes[{k}]", sorted({*one, *again}), sorted(found))
        for name in ("run_time_from", "run_time_to"):
            check.expect(f"classes[{k}].{name}", one[name], found.get(name))
        check.compare_all(f"classes[{k}]", again, found)


def _check_objective(check: Check, at: AuditedRun, figures: Figures) -> None:
    """Check name, parameters and value of the objective."""
    name, own = at.declared.objective, dict(at.declared.objective_parameters)
    stated = at.run.summary.get("objective", {})
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
    check.compare("objective.value", expected, stated.get("value"))


def _check_loss(check: Check, at: AuditedRun, figures: Figures) -> None:
    """Check the loss of capacity by resource type, and the metric of the busiest one."""
    summary, used = at.run.summary, figures.utilization
    stated = summary.get("loss_of_capacity_by_resource", {})
    lower = figures.loss_of_capacity(rejected_wait=False)
    found = {f"loss_of_capacity_by_resource.{name}": (name, stated.get(name)) for name in lower}
    if used:
        busiest = max(used, key=used.__getitem__)
        found["metrics.loss_of_capacity"] = busiest, summary["metrics"].get("loss_of_capacity")
    if not at.jobs.dismissed.any():
        for where, (name, value) in found.items():
            check.compare(where, lower[name], value)
        return
    # Jobs may wait while the last decision is awaited, and be rejected then.
    over = int(at.rounds.done.max(initial=0))
    upper = figures.loss_of_capacity(rejected_wait=True, over=over)
    for where, (name, value) in found.items():
        low, high, slack = lower[name], upper[name], TOLERANCE * upper[name]
        check.looked_at += 1
        if not isinstance(value, int | float) or not low - slack <= value <= high + slack:
            check.found(f"{where}: expected {low!r} to {high!r}, found {value!r}")
    check.notes.append(
        "when jobs were rejected is not recorded: loss_of_capacity was checked against bounds"
    )


def _check_percentiles(check: Check, at: AuditedRun, figures: Figures, tau: int) -> None:
    """Check that the declared percentiles are there, and no other."""
    percents, stated = at.declared.percentiles, at.run.summary.get("percentiles", {})
    columns = {
        "wait_time": figures.wait,
        "response_time": figures.response,
        "bounded_slowdown": figures.bounded_slowdown(tau),
    }
    check.expect("percentiles", sorted(columns), sorted(stated))
    for quantity, values in columns.items():
        ranks = {f"p{one}": max(math.ceil(one * len(values) / 100), 1) for one in percents}
        ordered = np.sort(values).tolist()
        again = {key: ordered[rank - 1] if ordered else None for key, rank in ranks.items()}
        found = stated.get(quantity, {})
        check.expect(f"percentiles.{quantity}", sorted(again), sorted(found))
        check.compare_all(f"percentiles.{quantity}", again, found)


def _classes(bounds: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield name and bounds of each class: the first ends below its bound, the others with it."""
    count = len(bounds) + 1
    # Up to three classes have names; more are numbered.
    named = {1: ("all",), 2: ("short", "long"), 3: ("short", "medium", "long")}
    names = named.get(count, tuple(f"class {k + 1}" for k in range(count)))
    ends = [bound - (not k) for k, bound in enumerate(bounds)]
    spans = zip(names, [0, *(end + 1 for end in ends)], [*ends, None], strict=True)
    for name, least, most in spans:
        yield {"class": name, "run_time_from": least, "run_time_to": most}
