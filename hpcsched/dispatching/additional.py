"""Additional data that observers provide to dispatchers, beside the dispatching problem.

Such data, on power, temperature or health, are an idea of AccaSim (Galleguillos, thesis 2020,
section 3).
"""

from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable


@runtime_checkable
class DataProvider(Protocol):
    """Protocol of an observer that provides data to dispatchers.

    An observer needs no registration: having this method is enough.
    """

    def additional_data(self, now: int) -> Mapping[str, object]:
        """Return the observer's data at `now`, under names of its own choice.

        The method is called before each dispatching round, after all events of that instant. Its
        result must follow from those events alone, so that equal replays stay equal, and must not
        be changed later.

        Parameters
        ----------
        now
            Simulated time, in seconds.

        Returns
        -------
        Mapping[str, object]
            Values by name; another type ends the run.
        """


class AdditionalData(Mapping[str, Mapping[str, object]]):
    """Read-only mapping from an observer's name to the data that it provides.

    Parameters
    ----------
    provided
        Data by name of the observer; the mappings are copied.
    """

    def __init__(self, provided: Mapping[str, Mapping[str, object]]) -> None:
        self._provided = {name: _Frozen(data) for name, data in provided.items()}

    def __getitem__(self, observer: str) -> Mapping[str, object]:
        """Return the data of one observer.

        Raises
        ------
        KeyError
            No observer of this name provides data.
        """
        return self._provided[observer]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of observers."""
        return iter(self._provided)

    def __len__(self) -> int:
        """Return the number of observers that provide data."""
        return len(self._provided)


# MappingProxyType would do, but it cannot be pickled.
class _Frozen(Mapping[str, object]):
    """Immutable mapping that can be pickled."""

    def __init__(self, data: Mapping[str, object]) -> None:
        self._data = dict(data)

    def __getitem__(self, name: str) -> object:
        return self._data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)


NO_DATA = AdditionalData({})
"""Additional data without any observer."""
