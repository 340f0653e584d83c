"""Priorities and backfilling: `slurm.conf` as blocks of a scenario, and blocks as `slurm.conf`."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from hpcsched.dispatching.rules.multifactor_params import MultifactorParams
from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from hpcsched.errors import Finding, InputError, Place
from hpcsched.scenario import Scenario
from hpcsched.scenario.key_path import blocks
from hpcsched.workload.readers.quantities import parse_count
from hpcsched_slurm.site.preemption_text import YOUNGEST
from hpcsched_slurm.site.yaml_text import commented, duration, one_line
from hpcsched_slurm.syntax.values import NOT_GIVEN, parse_time_limit


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


WEIGHTS = {
    "age": "PriorityWeightAge",
    "size": "PriorityWeightJobSize",
    "fair_share": "PriorityWeightFairshare",
    "partition": "PriorityWeightPartition",
    "qos": "PriorityWeightQOS",
}
"""Keys of `slurm.conf` by the weights of `multifactor`."""

_TYPE = "PriorityType"
_FLAGS = "PriorityFlags"
_KEYS = {
    "max_age": "PriorityMaxAge",
    "half_life": "PriorityDecayHalfLife",
    "favor_small": "PriorityFavorSmall",
    "fair_share": _FLAGS,
}
"""Keys of `slurm.conf` by those of `multifactor`."""
_MULTIFACTOR = "priority/multifactor"
_CLASSIC = "NO_FAIR_TREE"
_ENABLES_CLASSIC = frozenset({_CLASSIC, "DEPTH_OBLIVIOUS"})
"""Flags with which Slurm does not use Fair Tree."""
_AS_HERE = frozenset({"ACCRUE_ALWAYS"})
"""Flags for what `multifactor` always does."""
_OTHERS = (
    "PriorityCalcPeriod",
    "PriorityParameters",
    "PrioritySiteFactorParameters",
    "PrioritySiteFactorPlugin",
    "PriorityUsageResetPeriod",
    "PriorityWeightAssoc",
    "PriorityWeightTRES",
)
"""Settings that `multifactor` does not have."""
_SPELLING = {key.lower(): key for key in _OTHERS}
_NO_EFFECT = NOT_GIVEN | {"0", "site_factor/none"}


class PriorityOrder(NamedTuple):
    """Order of the queue at a site.

    Attributes
    ----------
    lines
        Lines of YAML for the key `order`, without indentation; empty in order of submission.
    left_out
        Settings that they do not contain, as Slurm writes them.
    """

    lines: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def priority_order(
    settings: Mapping[str, str], places: Mapping[str, Place] = MappingProxyType({})
) -> PriorityOrder:
    """Return the order that the settings of the priority plugin stand for.

    Parameters
    ----------
    settings
        Values of `slurm.conf` by key in lower case.
    places
        Places of them, which comments name.

    Examples
    --------
    >>> found = priority_order({"priorityweightage": "500", "priorityweighttres": "CPU=100"})
    >>> found.lines[1]
    'weights: {age: 500, size: 0, fair_share: 0, partition: 0, qos: 0}'
    >>> found.left_out
    ('PriorityWeightTRES=CPU=100',)
    """
    kind = settings.get(_TYPE.lower())
    if not settings or kind not in {None, _MULTIFACTOR}:
        in_order = [] if kind is None else [f"{_TYPE}={kind}: jobs are in order of submission"]
        return PriorityOrder((), (), tuple(in_order))
    left_out: list[str] = []

    def read(key: str, parse: Callable[[str], str | None], default: str | None) -> str | None:
        value = settings.get(key.lower())
        if value is None:
            return default
        try:
            found = parse(value)
        except ValueError:
            found = None
        if found is None:
            left_out.append(f"{key}={value}")
        return found if found is not None else default

    weights = ", ".join(f"{name}: {read(key, _weight, '0')}" for name, key in WEIGHTS.items())
    flags = [flag for flag in settings.get(_FLAGS.lower(), "").split(",") if flag]
    unknown = [flag for flag in flags if flag.upper() not in _AS_HERE | {_CLASSIC}]
    pairs = {
        "max_age": read(_KEYS["max_age"], _positive, None),
        "half_life": read(_KEYS["half_life"], _half_life, None),
        "favor_small": read(_KEYS["favor_small"], _truth, None),
        "fair_share": None if _ENABLES_CLASSIC.isdisjoint(map(str.upper, flags)) else "classic",
    }
    if unknown:
        left_out.append(f"{_FLAGS}={','.join(unknown)}")
    left_out += _others(settings)
    notes = []
    if kind is None:
        notes.append(f"{_TYPE} is not stated: these settings count if it is {_MULTIFACTOR}")

    def told(line: str, *keys: str) -> str:
        return commented(line, (places.get(key.lower()) for key in keys))

    keys = (
        told(f"{key}: {value}", _KEYS[key]) for key, value in pairs.items() if value is not None
    )
    weighed = told(f"weights: {{{weights}}}", *WEIGHTS.values())
    lines = ("name: multifactor", weighed, *keys)
    return PriorityOrder(lines, tuple(left_out), tuple(notes))


def _others(settings: Mapping[str, str]) -> Iterator[str]:
    """Yield the settings that are not read and have an effect."""
    known = {key.lower() for key in (_TYPE, *WEIGHTS.values(), *_KEYS.values())}
    for key, value in settings.items():
        if key not in known and value.lower() not in _NO_EFFECT:
            yield f"{_SPELLING.get(key, key)}={value}"


def _weight(text: str) -> str:
    return str(parse_count(text, "weight"))


def _positive(text: str) -> str | None:
    seconds = parse_time_limit(text)
    return duration(seconds) if seconds else None


def _half_life(text: str) -> str | None:
    seconds = parse_time_limit(text)
    # Slurm takes 0 for no decay.
    return "null" if seconds == 0 else None if seconds is None else duration(seconds)


def _truth(text: str) -> str | None:
    return {"yes": "true", "no": "false"}.get(text.lower())


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


def dispatcher_block(
    scheduler: Mapping[str, str],
    priority: Mapping[str, str],
    places: Mapping[str, Place] = MappingProxyType({}),
) -> str:
    """Return the block `dispatcher` of a scenario; comments name settings that are left out.

    Parameters
    ----------
    scheduler
        Values of `SchedulerParameters` by name; empty ones have no value.
    priority
        Settings of the priority plugin by key in lower case.
    places
        Places of the settings, which comments name.

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
        if seconds is not None:
            values[name] = seconds
        elif name != YOUNGEST:
            left_out.append(f"{name}={value}" if value else name)
    order = priority_order(priority, places)
    comments = [*order.notes]
    if left_out:
        comments.append(f"SchedulerParameters without {', '.join(left_out)}")
    if order.left_out:
        comments.append(f"Priorities without {', '.join(order.left_out)}")
    block = "".join(f"# {one_line(comment)}\n" for comment in comments)
    pairs = [f"{name}: {value}" for name, value in values.items()]
    place = [places.get("schedulerparameters")] if pairs else []
    if order.lines:
        named = commented("name: slurm-backfill", place)
        block += "dispatcher:\n"
        block += "".join(f"  {pair}\n" for pair in (named, *pairs, "order:"))
        block += "".join(f"    {line}\n" for line in order.lines)
    elif scheduler:
        line = f"dispatcher: {{{', '.join(['name: slurm-backfill', *pairs])}}}"
        block += f"{commented(line, place)}\n"
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
