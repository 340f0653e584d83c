"""The state of a run as rows of text, and as a single line."""

from collections.abc import Iterator

from hpcsched.runs.run_state import ResourceState, RunState, SharedResourceState
from hpcsched.runs.solver_rounds import SolverRounds, in_words, solver_rounds, what_to_do

DOING = {
    "preparing": "preparing",
    "replaying": "replaying",
    "summarizing": "replay over, working out the figures",
}


PREFIXES = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
"""Binary prefixes of amounts: 2¹⁰, 2²⁰ and so on."""


def state_rows(state: RunState) -> Iterator[tuple[str, str]]:
    """Yield a state as pairs of a label and a text."""
    yield "doing", f"{DOING[state.phase]}, for {duration(state.elapsed)}"
    if state.progress is not None:
        yield "progress", f"{state.progress:.1%}{_rest(state)}"
    if state.now is not None:
        yield "simulated time", f"{state.date or simulated(state.now)} ({state.now:,} s)"
    yield (
        "jobs",
        f"{state.waiting:,} waiting, {state.running:,} running, {state.ended:,} ended,"
        f" of {state.submitted:,} submitted",
    )
    times = state.decision_time
    if times.mean is not None and times.last is not None and times.longest is not None:
        yield (
            "decisions",
            f"{state.rounds:,} rounds: mean {real(times.mean)}, last {real(times.last)},"
            f" longest {real(times.longest)}",
        )
    yield from solver_rows(solver_rounds(state.solver))
    for name, resource in state.resources.items():
        yield name, _resource(resource)
    for name, shared in state.shared_resources.items():
        drawn, offered = amount(shared.drawn), amount(shared.capacity)
        yield name, f"{drawn} drawn, of {offered} offered ({_drawn(shared)})"
    if state.nodes is not None:
        yield "nodes", f"{state.nodes.down:,} of {state.nodes.count:,} out of service"


def state_line(state: RunState) -> str:
    """Return a state as one line."""
    parts = [DOING[state.phase]]
    if state.progress is not None:
        parts.append(f"{state.progress:.1%}{_rest(state)}")
    if state.now is not None:
        parts.append(f"at {state.date or simulated(state.now)}")
    parts.append(f"{state.waiting:,} waiting, {state.running:,} running, {state.ended:,} ended")
    free = (f"{name} {_free(resource)}" for name, resource in state.resources.items())
    parts.append(f"free: {', '.join(free)}")
    if state.shared_resources:
        drawn = (f"{name} {_drawn(shared)}" for name, shared in state.shared_resources.items())
        parts.append(f"drawn: {', '.join(drawn)}")
    if state.nodes is not None:
        parts.append(f"{state.nodes.down:,} nodes out of service")
    times = state.decision_time
    if times.mean is not None and times.last is not None:
        parts.append(f"decisions: mean {real(times.mean)}, last {real(times.last)}")
    called = solver_rounds(state.solver)
    if called.unsolved:
        parts.append(in_words(called))
    return f"{state.scenario}: {'; '.join(parts)}"


def solver_rows(rounds: SolverRounds) -> Iterator[tuple[str, str]]:
    """Yield the rounds that asked a solver, and advice if too many had no plan."""
    if rounds.asked:
        yield "solver", in_words(rounds)
    if rounds.too_many:
        yield "warning", what_to_do([rounds])


def simulated(seconds: int) -> str:
    """Return a simulated time as days and time of day since the trace's origin.

    Examples
    --------
    >>> simulated(90_061)
    'day 1 01:01:01'
    """
    days, rest = divmod(seconds, 86_400)
    return f"day {days:,} {rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"


def duration(seconds: float) -> str:
    """Return real seconds in a suitable unit.

    Examples
    --------
    >>> duration(5), duration(65), duration(3660)
    ('5.0 s', '1 min 5 s', '1 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole // 60 % 60} min"


def real(seconds: float) -> str:
    """Return a decision time in milliseconds, or in seconds from one second on.

    Examples
    --------
    >>> real(0.0012), real(2)
    ('1.2 ms', '2.00 s')
    """
    return f"{seconds * 1000:,.3g} ms" if seconds < 1 else f"{seconds:,.2f} s"


def amount(value: int) -> str:
    """Return an amount; from a million on it is taken for bytes, with a binary prefix.

    Examples
    --------
    >>> amount(512)
    '512'
    """
    if value < 2**23:
        return f"{value:,}"
    power = min((value.bit_length() - 1) // 10, len(PREFIXES))
    return f"{value / 2 ** (10 * power):,.4g} {PREFIXES[power - 1]}"


def _rest(state: RunState) -> str:
    return "" if state.remaining is None else f", about {duration(state.remaining)} left"


def _resource(resource: ResourceState) -> str:
    free, capacity = amount(resource.free), amount(resource.capacity)
    text = f"{free} of {capacity} free ({_free(resource)})"
    share = resource.utilization_last_day
    if share is None:
        return text
    return f"{text}, {share:.1%} used over the last simulated day"


def _free(resource: ResourceState) -> str:
    return f"{resource.free / resource.capacity:.1%}" if resource.capacity else "none"


def _drawn(resource: SharedResourceState) -> str:
    return f"{resource.drawn / resource.capacity:.1%}" if resource.capacity else "none is offered"
