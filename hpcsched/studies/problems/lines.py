"""Lines of a file of dispatching problems, as JSON objects.

A line describes a job only where the line before did not, so that each job and each allocation is
written once, however long the job waits and runs.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hpcsched.parameters import LARGEST
from hpcsched.scenario.faults import expected, found

Whole = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Count = Annotated[int, Field(ge=1, le=LARGEST)]
Amount = Annotated[int, Field(ge=0, le=2**63 - 1)]
Node = Annotated[int, Field(ge=0, le=LARGEST)]


class Line(BaseModel):
    """Base of the parts of a line: frozen, strict, unknown keys refused."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class JobLine(Line):
    """A job, with the keys of `Job` and its prediction; absent values are left out."""

    job_id: Whole
    submit_time: Whole
    units: Count
    unit_request: tuple[Amount, ...]
    requested_time: Whole
    predicted_run_time: Count
    user: Whole | None = None
    group: Whole | None = None
    application: Whole | None = None
    queue: Whole | None = None
    partition: Whole | None = None
    node_groups: tuple[str, ...] | None = None
    exclusive: bool = False
    one_unit_per_node: bool = False
    allowed_nodes: tuple[Node, ...] | None = None
    name: str | None = None
    queue_name: str | None = None
    partition_name: str | None = None
    shared_requests: tuple[tuple[str, Amount], ...] = ()


class PlacedLine(Line):
    """Start and places of a running job: intervals of slots, or nodes with the units on each."""

    job_id: Whole
    start_time: Whole
    slots: tuple[tuple[Node, Node], ...] | None = None
    nodes: tuple[Node, ...] | None = None
    node_units: tuple[Count, ...] | None = None


class ProblemLine(Line):
    """A dispatching problem.

    Attributes
    ----------
    jobs, placed
        Jobs and allocations that are new or changed since the line before.
    running
        Number and predicted end of each running job, in the order of the problem.
    queue
        Numbers of the queued jobs, in the order of the problem.
    """

    round: Count
    now: Whole
    jobs: tuple[JobLine, ...] = ()
    placed: tuple[PlacedLine, ...] = ()
    running: tuple[tuple[Whole, Whole], ...] = ()
    queue: tuple[Whole, ...]


def in_words(error: ValidationError) -> str:
    """Return the first fault: place, expected and found value."""
    # The first alone: later ones of a damaged line mostly follow from it.
    details = error.errors(include_url=False)[0]
    kind, at, context = details["type"], details["loc"], details.get("ctx", {})
    if kind == "json_invalid":
        return f"expected JSON, found a fault in it: {context['error']}"
    if kind == "missing":
        return f"{_path(at[:-1])}{_part(at[-1])} is missing"
    if kind == "extra_forbidden":
        return f"{_path(at[:-1])}there is no key {at[-1]!r}"
    wanted = expected(kind, context)
    if wanted is None:
        return f"{_path(at)}{details['msg']}"
    return f"{_path(at)}expected {wanted}, found {found(details['input'])}"


def _path(at: tuple[Any, ...]) -> str:
    """Return a place in a line, such as `jobs[3].units: `; empty for the line itself."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
    text = "".join(steps).removeprefix(".")
    return f"{text}: " if text else ""


def _part(step: int | str) -> str:
    return f"item {step}" if isinstance(step, int) else f"the key {step!r}"
