"""Figures of a summary, computed again by formulas written for the audit alone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hpcsched.audit.columns import RunColumns
from hpcsched.audit.loss import lost_amounts
from hpcsched.system.outages import DownTime
from hpcsched.system.system import IntArray, System

Values = npt.NDArray[Any]

OBJECTIVES = {
    "slowdown": "mean_slowdown",
    "bounded_slowdown": "mean_bounded_slowdown",
    "af": "mean_response_time",
    "wait_time": "mean_wait_time",
    "awf": "area_weighted_response_time",
    "psf": "p2sf",
}
"""The objectives by their short names, which stand in runs of earlier versions."""


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
        """Return the value of a built-in objective; None if it has none.

        Raises
        ------
        KeyError
            If the objective, or a term of a weighted sum, is not built in.
        """
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
        return formulas[OBJECTIVES.get(name, name)]()

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
