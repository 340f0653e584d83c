"""Additional data: what observers tell dispatchers beside the problem itself.

Such data, of power, temperature or health, are an idea of AccaSim (Galleguillos, thesis 2020,
section 3).
"""

from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable


@runtime_checkable
class DataProvider(Protocol):
    """An observer that has something to tell dispatchers; whatever has this method is asked."""

    def additional_data(self, now: int) -> Mapping[str, object]:
        """Return what dispatchers may know of at `now`, in seconds, by names of its own.

        It is asked before each dispatching round, after all events of that instant. What it returns
        must follow from those events alone, so that equal replays stay equal, and must not be
        changed later.
        """


class AdditionalData(Mapping[str, Mapping[str, object]]):
    """What observers tell, by the name of the observer; it cannot be changed."""

    def __init__(self, told: Mapping[str, Mapping[str, object]]) -> None:
        self._told = {name: _Frozen(data) for name, data in told.items()}

    def __getitem__(self, observer: str) -> Mapping[str, object]:
        """Return what an observer tells; raises KeyError where there is no such observer."""
        return self._told[observer]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of observers."""
        return iter(self._told)

    def __len__(self) -> int:
        """Return the number of observers that tell something."""
        return len(self._told)


class _Frozen(Mapping[str, object]):
    """A mapping that cannot be changed, and can be pickled."""

    def __init__(self, data: Mapping[str, object]) -> None:
        self._data = dict(data)

    def __getitem__(self, name: str) -> object:
        return self._data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)


NO_DATA = AdditionalData({})
"""What is told where no observer tells anything."""
