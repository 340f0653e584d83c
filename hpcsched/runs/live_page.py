"""The view for browsers: a page in a file, which reads itself again while the run goes on."""

import logging
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from hpcsched.errors import InputError
from hpcsched.runs.run_status import RunState, state_rows
from hpcsched.whole_files import write_text

INTERVAL = 2.0
"""Real seconds between two pages."""

MOST_POINTS = 600
"""Number of points of a curve above which every other one is dropped."""

_log = logging.getLogger(__name__)


class Curve(NamedTuple):
    """A quantity over time, drawn into a square of side 1.

    Attributes
    ----------
    points
        Points of the line, as SVG has them: time from 0 to 1, and 1 less the share of the largest
        value.
    """

    title: str
    points: str
    last: str
    most: str


def curve_of(title: str, values: Sequence[float], unit: str = "") -> Curve:
    """Return a curve over equal steps of time.

    Examples
    --------
    >>> curve_of("queue", [0, 4, 2]).points
    '0,1 0.5,0 1,0.5'
    """
    most = max(values, default=0.0)
    steps = max(len(values) - 1, 1)
    points = (f"{k / steps:.4g},{1 - value / (most or 1):.4g}" for k, value in enumerate(values))
    last = values[-1] if values else 0.0
    return Curve(title, " ".join(points), f"{last:,.4g}{unit}", f"{most:,.4g}{unit}")


class PageFile:
    """Writer of the page of something in progress, which is written anew from time to time."""

    def __init__(self, path: Path, title: str) -> None:
        self._path, self._title = path, title
        self._failed = False

    def write(
        self,
        *,
        progress: float | None,
        rows: Iterable[tuple[str, str]],
        curves: Sequence[Curve] = (),
        ended: bool,
    ) -> None:
        """Write the page, whole or not at all.

        Nothing ends because its page cannot be written: it is warned of once.

        Parameters
        ----------
        progress
            Share that is done, from 0 to 1; None if unknown.
        ended
            Whether it is over: the page is then not read again.
        """
        text = _template().render(
            title=self._title,
            progress=progress,
            rows=list(rows),
            curves=curves,
            ended=ended,
            refresh=round(INTERVAL),
            written=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        try:
            # A browser may read at any time, so it must never meet half a page.
            write_text(self._path, text)
        except InputError as error:
            if not self._failed:
                _log.warning("the page goes without updates: %s", error)
            self._failed = True


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("hpcsched.runs"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    return environment.get_template("live.html")


class LivePage:
    """Writer of the state of a run as a page, with the queue and the utilisation so far.

    Parameters
    ----------
    interval
        Real seconds between two pages.
    """

    def __init__(self, path: Path, title: str, interval: float = INTERVAL) -> None:
        self.interval = interval
        self._page = PageFile(path, title)
        self._last: RunState | None = None
        self._queue: list[float] = []
        self._used: dict[str, list[float]] = {}

    def show(self, state: RunState) -> None:
        """Write the page."""
        self._last = state
        self._queue.append(state.waiting)
        for name, resource in state.resources.items():
            used = resource.capacity - resource.free
            share = 100 * used / resource.capacity if resource.capacity else 0.0
            self._used.setdefault(name, []).append(share)
        if len(self._queue) > MOST_POINTS:
            self._queue = self._queue[::2]
            self._used = {name: values[::2] for name, values in self._used.items()}
        self._write(state, ended=False)

    def close(self) -> None:
        """Write the page a last time, as one that is not read again."""
        if self._last is not None:
            self._write(self._last, ended=True)

    def _write(self, state: RunState, *, ended: bool) -> None:
        curves = [curve_of("waiting jobs", self._queue)]
        curves += [curve_of(f"{name} in use", used, " %") for name, used in self._used.items()]
        rows = state_rows(state)
        self._page.write(progress=state.progress, rows=rows, curves=curves, ended=ended)
