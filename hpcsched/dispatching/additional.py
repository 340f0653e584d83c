"""Additional data that observers provide to dispatchers, beside the dispatching problem.

Such data, on power, temperature or health, are an idea of AccaSim (Galleguillos, thesis 2020,
section 3).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class DataProvider(Protocol):
    """Protocol of an observer that provides data to dispatchers.

    An observer needs no registration: having this method is enough.
    """

    def additional_data(self, now: int) -> Mapping[str, object]:
        """Return the observer's data at `now`, under names of its own choice.

        The method is called before each dispatching round, after all events of that instant. Its
        result must follow from those events alone, so that equal replays stay equal.
        """


class AdditionalData(Mapping[str, Any]):
    """Read-only mapping from an observer's name to the data that it provides.

    Mappings within are copied and read-only, too.
    """

    # MappingProxyType would do, but it cannot be pickled.
    def __init__(self, provided: Mapping[str, object]) -> None:
        self._provided = {
            name: AdditionalData(data) if isinstance(data, Mapping) else data
            for name, data in provided.items()
        }

    def __getitem__(self, name: str) -> Any:
        return self._provided[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._provided)

    def __len__(self) -> int:
        return len(self._provided)


NO_DATA = AdditionalData({})
"""Additional data without any observer."""
