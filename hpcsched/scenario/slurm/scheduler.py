"""The dispatcher `slurm-backfill` from the parameters of a site's scheduler, and back.

Source: the manual page `slurm.conf` of SchedMD, `SchedulerParameters`.
"""

from collections.abc import Mapping

from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams

_UNITS = {"bf_interval": 1, "bf_window": 60, "bf_resolution": 1}
"""Seconds of the unit in which Slurm states a time."""
_NAMES = (
    "default_queue_depth",
    "bf_interval",
    "bf_max_job_test",
    "bf_max_job_user",
    "bf_window",
    "bf_resolution",
)
_ANY_NUMBER = "bf_max_job_user"
"""The only parameter of which 0 has a meaning of its own."""


def dispatcher_block(scheduler: Mapping[str, str]) -> str:
    """Return the block `dispatcher` of a scenario; comments name parameters that are left out.

    Parameters
    ----------
    scheduler
        Values of `SchedulerParameters` by name; empty ones have no value.

    Returns
    -------
    str
        Lines of YAML; empty without parameters.

    Examples
    --------
    >>> print(dispatcher_block({"bf_window": "2880", "bf_continue": ""}), end="")
    # SchedulerParameters without bf_continue
    dispatcher: {name: slurm-backfill, bf_window: 172800}
    """
    if not scheduler:
        return ""
    values, left_out = {}, []
    for name, value in scheduler.items():
        seconds = _value(name, value)
        if seconds is None:
            left_out.append(f"{name}={value}" if value else name)
        else:
            values[name] = seconds
    pairs = ", ".join(f"{name}: {value}" for name, value in values.items())
    block = f"dispatcher: {{name: slurm-backfill{', ' if pairs else ''}{pairs}}}\n"
    if left_out:
        told = "".join(c if c.isprintable() else " " for c in ", ".join(left_out))
        block = f"# SchedulerParameters without {told}\n{block}"
    return block


def _value(name: str, value: str) -> int | None:
    """Return a parameter as a scenario has it; None if it has no such parameter or value."""
    if name not in _NAMES or not (value.isascii() and value.isdigit()):
        return None
    number = int(value) * _UNITS.get(name, 1)
    return number if number or name in (_ANY_NUMBER, "default_queue_depth") else None


def scheduler_parameters(params: SlurmBackfillParams) -> str:
    """Return the value of `SchedulerParameters` for the parameters of `slurm-backfill`.

    Parameters
    ----------
    params
        Parameters of the dispatcher. Slurm's window is in minutes, and rounded up to them.

    Examples
    --------
    >>> scheduler_parameters(SlurmBackfillParams(bf_window="2d", bf_interval=60)).split(",")[3:5]
    ['bf_max_job_user=0', 'bf_window=2880']
    """
    values = {name: -(-getattr(params, name) // _UNITS.get(name, 1)) for name in _NAMES}
    return ",".join(f"{name}={value}" for name, value in values.items())
