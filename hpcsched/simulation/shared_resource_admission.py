"""Draws from shared resources in replays, and refusals."""

from collections.abc import Iterable
from itertools import repeat

import numpy as np

from hpcsched.simulation.column_checks import LARGEST_AMOUNT
from hpcsched.simulation.records import REFUSALS
from hpcsched.system.shared_resources import longest_stay
from hpcsched.system.space import Amounts, most_draw, own_draw
from hpcsched.system.system import IntArray, Request, System
from hpcsched.workload.job_batches import JobColumns, NeedsPythonError

_OVER_SHARED_RESOURCE = REFUSALS.index("over_shared_resource")

_Asked = tuple[int, int, tuple[tuple[str, int], ...]]
"""Number of a job's request, its units, and the draws that the trace states."""


class SharedResourceAdmission:
    """Refusal of jobs that could never run to their predicted end, for all shared resources."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._traced = any(resource.draw.traced for resource in system.shared_resources)
        self._stays: dict[Amounts, int] = {}
        self._of_batch = np.empty(0, dtype=np.int64)

    def begin(self, columns: JobColumns) -> IntArray:
        """Begin a batch; return the amounts that its jobs draw wherever they run, `[B, P]`.

        Raises
        ------
        NeedsPythonError
            If amounts are too large.
        """
        if not self._system.shared_resources:
            return np.empty((len(columns.units), 0), dtype=np.int64)
        place: dict[_Asked, int] = {}
        places = [place.setdefault(asked, len(place)) for asked in self._asked(columns)]
        requests = [
            columns.requests[number]._replace(units=units, shared_requests=drawn)
            for number, units, drawn in place
        ]
        stays = np.array(list(map(self._stay, requests)), dtype=np.int64)
        draws = [own_draw(self._system, request) for request in requests]
        self._of_batch = stays[places]
        return np.array(draws, dtype=np.int64).reshape(-1, len(self._system.shared_resources))[
            places
        ]

    def _asked(self, columns: JobColumns) -> Iterable[_Asked]:
        drawn: Iterable[tuple[tuple[str, int], ...]] = repeat((), len(columns.units))
        if self._traced:
            told = columns.details.column("shared_requests").to_pylist()
            drawn = (tuple(requests or ()) for requests in told)
        return zip(columns.request.tolist(), columns.units.tolist(), drawn, strict=True)

    def refuse(self, refused: IntArray, predicted: IntArray) -> None:
        """Refuse the jobs of the batch that could never run, given their predictions."""
        if self._system.shared_resources:
            refused[(predicted > self._of_batch) & (refused < 0)] = _OVER_SHARED_RESOURCE

    def refusal(self, k: int, predicted: int) -> int:
        """Return why job `k` of the batch is refused, given its prediction; -1 if it is not."""
        never = bool(self._system.shared_resources) and predicted > self._of_batch[k]
        return _OVER_SHARED_RESOURCE if never else -1

    def _stay(self, request: Request) -> int:
        draw = most_draw(self._system, request)
        if max(draw) > LARGEST_AMOUNT:
            raise NeedsPythonError("jobs that draw amounts of more than 61 bits")
        if draw not in self._stays:
            self._stays[draw] = longest_stay(self._system.shared_resources, draw)
        return self._stays[draw]
