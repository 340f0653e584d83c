"""Settings of `slurm.conf` that say what a scenario's queue order `multifactor` says."""

from collections.abc import Iterator

from hpcsched.dispatching.rules.multifactor_params import MultifactorParams
from hpcsched.errors import Finding, InputError
from hpcsched.scenario import Scenario
from hpcsched.scenario.walk import blocks

_WEIGHTS = {
    "age": "PriorityWeightAge",
    "size": "PriorityWeightJobSize",
    "fair_share": "PriorityWeightFairshare",
    "partition": "PriorityWeightPartition",
    "qos": "PriorityWeightQOS",
}
"""Keys of `slurm.conf` by the weights of `multifactor`."""


def slurm_lines(scenario: Scenario) -> Iterator[str]:
    """Yield lines of `slurm.conf` for the weights and times of `multifactor`.

    Slurm's weights are whole numbers; those of the scenario are rounded.

    Raises
    ------
    InputError
        The dispatcher does not use the queue order.
    """
    chosen = [b for _, b in blocks(scenario.dispatcher) if isinstance(b, MultifactorParams)]
    if not chosen:
        message = "the dispatcher has no order 'multifactor', whose weights Slurm knows"
        raise InputError(Finding("no-multifactor", message, key="dispatcher"))
    params = chosen[0]
    yield "PriorityType=priority/multifactor"
    for name, key in _WEIGHTS.items():
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
