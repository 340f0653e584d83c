"""Settings of `slurm.conf` for the order `multifactor` and the dispatcher `slurm-backfill`."""

from collections.abc import Iterator

from hpcsched.dispatching.rules.multifactor_params import MultifactorParams
from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from hpcsched.errors import Finding, InputError
from hpcsched.scenario import Scenario
from hpcsched.scenario.key_path import blocks
from hpcsched_slurm.site.priority import WEIGHTS
from hpcsched_slurm.site.scheduler import scheduler_parameters


def slurm_lines(scenario: Scenario) -> Iterator[str]:
    """Yield lines of `slurm.conf` for the dispatcher parameters that Slurm has.

    That is weights and times of `multifactor` and the parameters of `slurm-backfill`. Slurm's
    weights are whole numbers; those of the scenario are rounded.

    Raises
    ------
    InputError
        The dispatcher uses neither.
    """
    parts = [block for _, block in blocks(scenario.dispatcher)]
    priorities = [part for part in parts if isinstance(part, MultifactorParams)]
    backfill = [part for part in parts if isinstance(part, SlurmBackfillParams)]
    if not priorities and not backfill:
        message = (
            "Slurm knows the order 'multifactor' and the dispatcher 'slurm-backfill', and the"
            " scenario's dispatcher has neither"
        )
        raise InputError(Finding("no-multifactor", message, key="dispatcher"))
    for params in priorities[:1]:
        yield from _priority_lines(params)
    for limits in backfill[:1]:
        yield "SchedulerType=sched/backfill"
        # The line of a site usually has more keys, which have no counterpart in a scenario.
        yield "# Add the other keys of your SchedulerParameters: this line takes their place."
        yield f"SchedulerParameters={scheduler_parameters(limits)}"


def _priority_lines(params: MultifactorParams) -> Iterator[str]:
    """Yield lines of `slurm.conf` for weights and times of `multifactor`."""
    yield "PriorityType=priority/multifactor"
    for name, key in WEIGHTS.items():
        yield f"{key}={round(getattr(params.weights, name))}"
    yield f"PriorityMaxAge={_slurm_time(params.max_age)}"
    yield f"PriorityFavorSmall={'YES' if params.favor_small else 'NO'}"
    # Slurm takes 0 for no decay.
    yield f"PriorityDecayHalfLife={_slurm_time(params.half_life or 0)}"


def _slurm_time(seconds: int) -> str:
    """Return a duration as Slurm writes it: days, hours, minutes and seconds.

    Examples
    --------
    >>> _slurm_time(8 * 86_400 + 3600)
    '8-01:00:00'
    """
    days, rest = divmod(seconds, 86_400)
    minutes, second = divmod(rest, 60)
    return f"{days}-{minutes // 60:02}:{minutes % 60:02}:{second:02}"
