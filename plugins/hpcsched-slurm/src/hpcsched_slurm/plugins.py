"""The plugins of this package, as hpcsched finds them; what they are made of is imported later."""

from collections.abc import Iterable

import hpcsched
from hpcsched import RECORDS_WAITS, Command, Context, Plugin
from hpcsched_slurm.params import SlurmHistoryParams, SlurmParams, SlurmSacctParams


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
    """Return `slurm-history` and `slurm-sacct`."""
    yield Plugin(
        "slurm-history",
        "jobs that Slurm has completed: its job completion file, or what sacct or slurmdbd tell",
        _make_history,
        SlurmHistoryParams,
    )
    yield Plugin(
        "slurm-sacct",
        "output of Slurm's `sacct --parsable2`: cores, memory, GPUs, names",
        _make_sacct,
        SlurmSacctParams,
        frozenset({RECORDS_WAITS}),
    )


def _make_history(params: SlurmHistoryParams, context: Context) -> object:
    from hpcsched_slurm.history import SlurmHistory  # noqa: PLC0415

    return SlurmHistory(params, context.system)


def _make_sacct(params: SlurmSacctParams, context: Context) -> object:
    from hpcsched_slurm.logs.slurm_sacct import SlurmSacctSource  # noqa: PLC0415

    return SlurmSacctSource(params, context.system)


@hpcsched.hookimpl
def hpcsched_commands() -> Iterable[Command]:
    """Return `hpcsched live`, and the commands on a site."""
    yield Command("live", "hpcsched_slurm.live.live_commands:app", "Site")
    for name, function in (
        ("init site", "init_site"),
        ("trace system-from", "system_from"),
        ("trace accounts-from", "accounts_from"),
        ("trace failures-from", "failures_from"),
        ("slurm-conf", "slurm_conf"),
    ):
        yield Command(name, f"hpcsched_slurm.site.site_commands:{function}", "Site")
