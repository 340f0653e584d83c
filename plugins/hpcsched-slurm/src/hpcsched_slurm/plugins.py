"""The plugins of this package, as hpcsched finds them; what they are made of is imported later."""

from collections.abc import Iterable

import hpcsched
from hpcsched import Context, Plugin
from hpcsched_slurm.params import SlurmHistoryParams, SlurmParams


@hpcsched.hookimpl
def hpcsched_workload_managers() -> Iterable[Plugin]:
    """Return `slurm`."""
    yield Plugin(
        "slurm",
        "a cluster that Slurm runs, through its REST interface or its commands",
        _make_slurm,
        SlurmParams,
    )


def _make_slurm(params: SlurmParams, _context: Context) -> object:
    from hpcsched_slurm.manager import make_slurm  # noqa: PLC0415

    return make_slurm(params)


@hpcsched.hookimpl
def hpcsched_trace_sources() -> Iterable[Plugin]:
    """Return `slurm-history`."""
    yield Plugin(
        "slurm-history",
        "jobs that Slurm has completed: its job completion file, or what sacct or slurmdbd tell",
        _make_history,
        SlurmHistoryParams,
    )


def _make_history(params: SlurmHistoryParams, context: Context) -> object:
    from hpcsched_slurm.history import SlurmHistory  # noqa: PLC0415

    return SlurmHistory(params, context.system)
