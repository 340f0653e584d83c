"""Queue orders by the number of processors of a job: WFP3, UNICEF, and F1 to F4.

The number of processors is a job's `demand` in units of the system's first resource type with a
capacity. On a system of one type it is the requested amount; on others a job that takes a tenth of
the memory and less of the rest counts as a tenth of the cores. Run times are predicted ones;
studies without a predictor use the requested time, as the predictor `requested-time` does.
"""

from typing import Any

import numpy as np

from hpcsched.context import Context
from hpcsched.dispatching.rules.orders import KeyOrder, QueueOrder, WaitOver
from hpcsched.parameters import Params
from hpcsched.portable_math import log, of_each, power
from hpcsched.registration import builtin
from hpcsched.system.system import System

_STEPS = 2**20
"""Resolution of the divisors of wait times: they are rounded to 2⁻²⁰ and scaled to integers."""


def _cube_root(x: float) -> float:
    return power(x, 1 / 3)


def _log2(x: float) -> float:
    return log(x) / log(2.0)


def _log10(x: float) -> float:
    return log(x) / log(10.0)


def wfp3(system: System) -> QueueOrder:
    """Return the order by (wait / run time)³ × processors, the largest first.

    It favours large jobs and those that have waited long in relation to their run time. Source:
    Tang, Lan, Desai, Buettner, *Fault-aware, utility-based job scheduling on Blue Gene/P systems*,
    2009.
    """
    # Cube roots have the same order: wait × ∛processors / run time.
    return WaitOver(
        lambda job: _parts(_run_time(job) / of_each(_cube_root, _processors(job, system)))
    )


def unicef(system: System) -> QueueOrder:
    """Return the order by wait / (run time × log₂ processors), the largest first.

    It favours small jobs; those of one processor come before all others once they have waited.
    Source: as for `wfp3`.
    """
    return WaitOver(lambda job: _parts(_run_time(job) * of_each(_log2, _processors(job, system))))


def f1(system: System) -> QueueOrder:
    """Return the order by log₁₀(run time) × processors + 870 × log₁₀(submit time), ascending.

    Notes
    -----
    F1 to F4 were fitted to schedules of small sets of jobs by Carastan-Santos and de Camargo,
    *Obtaining dynamic scheduling policies with simulation and machine learning*, SC 2017, table 3.
    Submit times are seconds since the trace's own second 0, and at least 1.
    """
    return _fitted(system, lambda r, n: of_each(_log10, r) * n, 870)


def f2(system: System) -> QueueOrder:
    """Return the order by √(run time) × processors + 25,600 × log₁₀(submit time), ascending."""
    return _fitted(system, lambda r, n: np.sqrt(r) * n, 2.56e4)


def f3(system: System) -> QueueOrder:
    """Return the order by run time × processors + 6,860,000 × log₁₀(submit time), ascending."""
    return _fitted(system, lambda r, n: r * n, 6.86e6)


def f4(system: System) -> QueueOrder:
    """Return the order by run time × √processors + 530,000 × log₁₀(submit time), ascending."""
    return _fitted(system, lambda r, n: r * np.sqrt(n), 5.3e5)


def _fitted(system: System, size: Any, weight: float) -> QueueOrder:
    def key(job: Any) -> Any:
        submit_time = np.asarray(job.submit_time, dtype=np.float64)
        submitted = of_each(_log10, np.maximum(submit_time, 1))
        value = size(_run_time(job), _processors(job, system)) + weight * submitted
        # Numbers from 0 on are ordered as the integers that have the same bits.
        return np.asarray(value, dtype=np.float64).view(np.int64)[()]

    return KeyOrder(key)


def _run_time(job: Any) -> Any:
    return np.asarray(job.predicted_run_time, dtype=np.float64)


def _processors(job: Any, system: System) -> Any:
    first = next(total for total in system.totals if total)
    return np.asarray(job.demand, dtype=np.float64) * (first / system.full_demand)


def _parts(value: Any) -> Any:
    """Return a positive number in integer steps of 2⁻²⁰, at least one."""
    return np.maximum(np.rint(value * _STEPS), 1).astype(np.int64)[()]


@builtin("queue_order", "wfp3", summary="largest (wait / run time)³ × processors first")
def make_wfp3(_params: Params, context: Context) -> QueueOrder:
    """Create the queue order `wfp3` for the scenario's system."""
    return wfp3(context.system)


@builtin("queue_order", "unicef", summary="largest wait / (run time × log₂ processors) first")
def make_unicef(_params: Params, context: Context) -> QueueOrder:
    """Create the queue order `unicef` for the scenario's system."""
    return unicef(context.system)


@builtin(
    "queue_order", "f1", summary="smallest log₁₀(run time) × processors + 870 × log₁₀(submit time)"
)
def make_f1(_params: Params, context: Context) -> QueueOrder:
    """Create the queue order `f1` for the scenario's system."""
    return f1(context.system)


@builtin(
    "queue_order", "f2", summary="smallest √(run time) × processors + 25600 × log₁₀(submit time)"
)
def make_f2(_params: Params, context: Context) -> QueueOrder:
    """Create the queue order `f2` for the scenario's system."""
    return f2(context.system)


@builtin(
    "queue_order", "f3", summary="smallest run time × processors + 6.86e6 × log₁₀(submit time)"
)
def make_f3(_params: Params, context: Context) -> QueueOrder:
    """Create the queue order `f3` for the scenario's system."""
    return f3(context.system)


@builtin(
    "queue_order", "f4", summary="smallest run time × √processors + 5.3e5 × log₁₀(submit time)"
)
def make_f4(_params: Params, context: Context) -> QueueOrder:
    """Create the queue order `f4` for the scenario's system."""
    return f4(context.system)
