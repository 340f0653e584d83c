"""Explanations as plain sentences and as content for JSON."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hpcsched.dispatching.decision import ReasonKind
from hpcsched.explain.explanation import Explanation, HeldUp, JobFacts, Wait
from hpcsched.workload.trace_calendar import Calendar

JSON_VERSION = 1
"""Version of the JSON content; it grows when a key changes or goes, not when one is added."""

MOST_REASONS = 40
"""Largest number of reasons in the text; of more, the first and last halves are shown."""
MOST_JOBS = 5
"""Largest number of jobs that a list names."""

_WAITING: Mapping[ReasonKind, str] = {
    "no_room": "there was no room for it{planned}",
    "reserved_for": "there was room, but to start it would have delayed {other}{planned}",
    "behind": "it was behind {other}, which waited, and which none may pass",
    "beyond_depth": "it came after all reservations had been given out, and had none",
    "solver_postponed": "the plan had it start later{at}, though there may have been room",
    "not_planned": "the plan left it out",
    "limit": "a limit held it back: {detail}",
    "dependency": "it had to wait for {other} to end",
    "recorded_later": "the log has it start later{at}",
    "outage": "too few nodes were in service for it: {detail}",
}
_SAY_DETAILS: frozenset[ReasonKind] = frozenset({"limit", "outage"})
"""Kinds whose sentence includes the detail."""
_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20))
"""Units of amounts that are whole multiples of them: such amounts are most likely bytes."""


def explanation_text(explanation: Explanation) -> str:
    """Return an explanation in plain sentences, one a line."""
    return "\n".join(_lines(explanation))


def explanation_content(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation for JSON.

    Returns
    -------
    dict
        Times in seconds, jobs by their numbers. `since_submission` is null where the submission of
        the job is unknown.
    """
    facts, start = explanation.facts, explanation.start
    return {
        "version": JSON_VERSION,
        "run": explanation.run,
        "status": explanation.status,
        "job_id": explanation.job_id,
        "job": None if facts is None else facts._asdict(),
        "start_time": explanation.started,
        "waits": [
            {**wait._asdict(), "since_submission": _since(facts, wait.now)}
            for wait in explanation.waits
        ],
        "start": None if start is None else start._asdict(),
        "chosen": None if explanation.chosen is None else explanation.chosen._asdict(),
        "held_up": [held._asdict() for held in explanation.held_up],
        "passed": list(explanation.passed),
        "passed_by": [other._asdict() for other in explanation.passed_by],
        "others": {str(name): other._asdict() for name, other in explanation.others.items()},
    }


class _Names:
    """Names of other jobs, with their properties at the first mention, and of times."""

    def __init__(self, facts: Mapping[int, JobFacts], calendar: Calendar) -> None:
        self._facts = facts
        self._calendar = calendar
        self._known: set[int] = set()

    def time(self, second: int) -> str:
        """Return a time of the log as people read it."""
        return self._calendar.text(second)

    def name(self, job_id: int | None) -> str:
        """Return the name of a job; None is an unknown one."""
        if job_id is None:
            return "another job"
        facts = self._facts.get(job_id)
        if facts is None or job_id in self._known:
            return f"job {job_id}"
        # Repeating the properties at each mention would bury the reasons.
        self._known.add(job_id)
        time = facts.predicted_run_time
        time = facts.requested_time if time is None else time
        about = (
            f"{_request(facts)}, to run for {time} s, submitted at {self.time(facts.submit_time)}"
        )
        return f"job {job_id} ({about})"


def _lines(explanation: Explanation) -> Iterator[str]:
    facts, names = explanation.facts, _Names(explanation.others, explanation.calendar)
    yield f"job {explanation.job_id} of the run {explanation.run} ({explanation.status})"
    if explanation.calendar.known:
        yield f"Times are by the clock of the log, {explanation.calendar.clock}."
    yield from _account(explanation, names)
    if facts is not None and facts.state == "rejected":
        yield f"It was rejected ({facts.rejected_by}), and never started."
    if explanation.waits:
        yield ""
        yield "Why it waited:"
        yield from _shortened([_wait_line(facts, names, wait) for wait in explanation.waits])
        if len(explanation.waits) > 1:
            yield f"  in all: {_sums(explanation.waits)}"
    yield ""
    yield "How it started:"
    yield f"  {_start_line(explanation, names)}"
    chosen = explanation.chosen
    if chosen is not None:
        since = f"since round {chosen.round}, at {names.time(chosen.now)}"
        yield f"  {chosen.chosen} decided, {since}: {chosen.because}."
    yield ""
    yield "What it held up:"
    yield from _held_up_lines(explanation, names)


def _account(explanation: Explanation, names: _Names) -> Iterator[str]:
    """Yield the request of the job, and its outcome."""
    facts, started = explanation.facts, explanation.started
    if facts is None:
        yield "What it asked for is not known: it had not ended, and the trace does not tell."
        return
    yield f"It asked for {_request(facts)}, for up to {facts.requested_time} s."
    if facts.predicted_run_time is not None:
        yield f"It was predicted to run for {facts.predicted_run_time} s."
    steps = [f"submitted at {names.time(facts.submit_time)}"]
    if started is not None:
        steps.append(f"started at {names.time(started)}")
    if facts.end_time is not None:
        steps.append(f"ended at {names.time(facts.end_time)} ({facts.state})")
    yield f"It was {_listed(steps)}."
    if facts.requeues:
        often = "once" if facts.requeues == 1 else f"{facts.requeues} times"
        yield f"Before that it was run {often}, for {facts.lost_time} s in all, and lost a node."
    if started is not None:
        yield f"It waited for {started - facts.submit_time} s."
    if facts.state is None:
        yield f"It had not ended when the run was broken off ({explanation.status})."


def _wait_line(facts: JobFacts | None, names: _Names, wait: Wait) -> str:
    lasted = "" if wait.until is None else f", for {wait.until - wait.now} s"
    why = "the dispatcher gave no reason"
    if wait.kind is not None:
        why = _WAITING[wait.kind].format(
            other=names.name(wait.job),
            planned=""
            if wait.time is None
            else f"; a start at {names.time(wait.time)} was planned",
            at="" if wait.time is None else f", at {names.time(wait.time)}",
            detail=wait.detail,
        )
    detail = f" ({wait.detail})" if wait.detail and wait.kind not in _SAY_DETAILS else ""
    return f"  {_when(facts, names, wait.round, wait.now)}{lasted}: {why}{detail}"


def _sums(waits: Sequence[Wait]) -> str:
    """Return the total wait by kind of reason."""
    seconds: Counter[str] = Counter()
    for wait in waits:
        if wait.until is not None:
            seconds[wait.kind or "no reason given"] += wait.until - wait.now
    return ", ".join(f"{kind} {sum_} s" for kind, sum_ in seconds.most_common())


def _start_line(explanation: Explanation, names: _Names) -> str:
    start, started = explanation.start, explanation.started
    if start is None:
        if started is None:
            return "it did not start"
        return f"at {names.time(started)}: the dispatcher gave no reason"
    detail = f" ({start.detail})" if start.detail else ""
    match start.kind:
        case "in_order":
            how = "in order, as nothing that came before it had to wait"
        case "backfilled":
            how = f"backfilled: it passed {names.name(start.job)}, the first that waited"
            head = None if start.job is None else explanation.others.get(start.job)
            if head is not None:
                how += f", for {start.now - head.submit_time} s by then"
        case _:
            how = "the plan started it then"
    return f"{_when(explanation.facts, names, start.round, start.now)}: {how}{detail}"


def _held_up_lines(explanation: Explanation, names: _Names) -> Iterator[str]:
    reserved = [held for held in explanation.held_up if held.kind == "reserved_for"]
    others = [held for held in explanation.held_up if held.kind != "reserved_for"]
    if reserved:
        yield f"  {_waited(reserved)} because of the reservation for it: {_held(reserved, names)}"
    if others:
        yield f"  {_waited(others)} behind it: {_held(others, names)}"
    if explanation.passed:
        count = len(explanation.passed)
        what = "a job" if count == 1 else f"{count} jobs"
        listed = _first([str(job_id) for job_id in explanation.passed])
        yield f"  it started before {what} submitted earlier: {listed}"
    if not (reserved or others or explanation.passed):
        yield "  nothing"
    if explanation.passed_by:
        count = len(explanation.passed_by)
        what = "a job was" if count == 1 else f"{count} jobs were"
        listed = _first(
            [f"{other.job_id} (at {names.time(other.now)})" for other in explanation.passed_by]
        )
        yield ""
        yield f"While it waited, {what} backfilled past it: {listed}"


def _waited(held: Sequence[HeldUp]) -> str:
    return "a job waited" if len(held) == 1 else f"{len(held)} jobs waited"


def _held(held: Sequence[HeldUp], names: _Names) -> str:
    return _first(
        [f"{one.job_id} (from {names.time(one.since)}, for {one.seconds} s)" for one in held]
    )


def _when(facts: JobFacts | None, names: _Names, number: int, now: int) -> str:
    """Return a time with its round, as text."""
    since = _since(facts, now)
    after = "" if since is None else f" ({since} s after its submission)"
    return f"at {names.time(now)}{after}, round {number}"


def _since(facts: JobFacts | None, now: int) -> int | None:
    return None if facts is None else now - facts.submit_time


def _request(facts: JobFacts) -> str:
    """Return the request of a job, and its placement rules."""
    amounts = [f"{_amount(amount)} {r}" for r, amount in facts.unit_request.items() if amount]
    units = "1 unit" if facts.units == 1 else f"{facts.units} units"
    request = f"{units} of {_listed(amounts) or 'nothing'}"
    if facts.one_unit_per_node and facts.units > 1:
        request += ", each on a node of its own"
    if facts.exclusive:
        request += ", on nodes shared with no other job"
    return request


def _amount(amount: int) -> str:
    for unit, size in _UNITS:
        if amount % size == 0:
            return f"{amount // size} {unit}"
    return str(amount)


def _listed(parts: Sequence[str]) -> str:
    """Return parts of a sentence as a list: a, b and c."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def _first(parts: Sequence[str]) -> str:
    """Return the first parts, and the number of the others."""
    more = len(parts) - MOST_JOBS
    return ", ".join(parts[:MOST_JOBS]) + (f", and {more} more" if more > 0 else "")


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    """Yield the first and the last of too many lines, and the number left out."""
    # The first and the last reasons say most: how the wait began, and how it ended.
    left_out = len(lines) - MOST_REASONS
    if left_out <= 0:
        yield from lines
        return
    yield from lines[: MOST_REASONS // 2]
    yield f"  … {left_out} more, which --format json has"
    yield from lines[-(MOST_REASONS // 2) :]
