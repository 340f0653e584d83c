"""The dispatcher `slurm-backfill` from the settings of a site's scheduler, and back.

Source: the manual page `slurm.conf` of SchedMD, `SchedulerParameters`.
"""

from collections.abc import Mapping

from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from hpcsched_slurm.site.priority import priority_order
from hpcsched_slurm.site.yaml_text import one_line

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


def dispatcher_block(scheduler: Mapping[str, str], priority: Mapping[str, str]) -> str:
    """Return the block `dispatcher` of a scenario; comments name settings that are left out.

    Parameters
    ----------
    scheduler
        Values of `SchedulerParameters` by name; empty ones have no value.
    priority
        Settings of the priority plugin by key in lower case.

    Returns
    -------
    str
        Lines of YAML; empty without parameters and settings.

    Examples
    --------
    >>> print(dispatcher_block({"bf_window": "2880", "bf_continue": ""}, {}), end="")
    # SchedulerParameters without bf_continue
    dispatcher: {name: slurm-backfill, bf_window: 172800}
    """
    values, left_out = {}, []
    for name, value in scheduler.items():
        seconds = _value(name, value)
        if seconds is None:
            left_out.append(f"{name}={value}" if value else name)
        else:
            values[name] = seconds
    order = priority_order(priority)
    comments = [*order.notes]
    if left_out:
        comments.append(f"SchedulerParameters without {', '.join(left_out)}")
    if order.left_out:
        comments.append(f"Priorities without {', '.join(order.left_out)}")
    block = "".join(f"# {one_line(comment)}\n" for comment in comments)
    pairs = [f"{name}: {value}" for name, value in values.items()]
    if order.lines:
        block += "dispatcher:\n"
        block += "".join(f"  {pair}\n" for pair in ("name: slurm-backfill", *pairs, "order:"))
        block += "".join(f"    {line}\n" for line in order.lines)
    elif scheduler:
        block += f"dispatcher: {{{', '.join(['name: slurm-backfill', *pairs])}}}\n"
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
