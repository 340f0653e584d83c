"""Categories of jobs by which a Gantt chart is coloured: user, size, run time, state."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from hpcsched.report.figures.figure_style import PALETTE

By = Literal["user", "size", "run-time", "state", "job"]
"""Attributes of jobs that colours can show; `job` only tells neighbours apart."""
ATTRIBUTES: Sequence[By] = get_args(By)

OTHERS = "others"
LARGEST_SHOWN = 7
"""Largest number of users with a colour of their own."""
_GREY = "#D5D5D5"
_SIZES = (1, 4, 16, 64)
"""Largest number of nodes of each class of sizes but the last."""
_COLOURS = tuple(
    PALETTE[name]
    for name in ("blue", "orange", "green", "purple", "sky blue", "vermilion", "yellow")
)
# Light to dark, so that print in grey keeps their order.
_SIZE_COLOURS = ("#FDE725", "#5EC962", "#21918C", "#3B528B", "#440154")
_STATE_COLOURS = {
    "completed": PALETTE["sky blue"],
    "killed": PALETTE["vermilion"],
    "failed": PALETTE["black"],
}


class JobAbout(NamedTuple):
    """Attributes of a job in a Gantt chart.

    Attributes
    ----------
    user
        Number of the user; None if the trace has none.
    area
        Amount of the resource type times seconds within the window.
    """

    user: int | None
    nodes: int
    run_time_class: str
    state: str
    area: int


def default_attribute(jobs: Iterable[JobAbout]) -> By:
    """Return the attribute that is shown by default: users if there are several, else sizes."""
    return "user" if len({job.user for job in jobs if job.user is not None}) > 1 else "size"


def category_of(by: By, jobs: Sequence[JobAbout]) -> Callable[[JobAbout], str]:
    """Return the function that names the category of a job."""
    if by == "user":
        areas: dict[int | None, int] = defaultdict(int)
        for job in jobs:
            areas[job.user] += job.area
        ascending = sorted(areas, key=lambda user: (-areas[user], user is None, user or 0))
        # A category of one user less would not be shorter.
        count = LARGEST_SHOWN if len(ascending) > LARGEST_SHOWN + 1 else len(ascending)
        shown = {user: _user_name(user) for user in ascending[:count]}
        return lambda job: shown.get(job.user, OTHERS)
    names: Mapping[By, Callable[[JobAbout], str]] = {
        "size": lambda job: _size_name(job.nodes),
        "run-time": lambda job: job.run_time_class,
        "state": lambda job: job.state,
        "job": lambda _: "",
    }
    return names[by]


def category_colours(
    by: By, jobs: Sequence[JobAbout], run_time_classes: Sequence[str]
) -> dict[str, str]:
    """Return the colours of the categories that jobs have, in the order of the legend.

    Parameters
    ----------
    run_time_classes
        Names of the classes of run times, ascending.
    """
    name = category_of(by, jobs)
    areas: dict[str, int] = defaultdict(int)
    for job in jobs:
        areas[name(job)] += job.area
    if by == "user":
        users = sorted(areas, key=lambda one: (one == OTHERS, -areas[one], one))
        colours = dict(zip(users, (*_COLOURS, PALETTE["grey"]), strict=False))
        return {**colours, OTHERS: _GREY} if OTHERS in areas else colours
    ordered: Mapping[By, Mapping[str, str]] = {
        "size": dict(zip(map(_size_name, (*_SIZES, _SIZES[-1] + 1)), _SIZE_COLOURS, strict=True)),
        "run-time": dict(zip(run_time_classes, _COLOURS * len(run_time_classes), strict=False)),
        "state": {**_STATE_COLOURS, **dict.fromkeys(sorted(areas.keys() - _STATE_COLOURS), _GREY)},
        "job": {},
    }
    return {one: colour for one, colour in ordered[by].items() if one in areas}


def _user_name(user: int | None) -> str:
    return "no user" if user is None else f"user {user}"


def _size_name(nodes: int) -> str:
    """Return the name of the class of a number of nodes."""
    least = 1
    for most in _SIZES:
        if nodes <= most:
            return "1 node" if most == 1 else f"{least} to {most} nodes"
        least = most + 1
    return f"more than {_SIZES[-1]} nodes"
