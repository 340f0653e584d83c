"""Memory of limited size that forgets the oldest entry first."""

from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Mapping of at most `size` entries; writing a key again makes it the newest.

    Reading changes nothing, so that asking for a prediction has no effect on later ones.

    Parameters
    ----------
    size
        Maximum number of entries.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[K, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        """Return the value of a key; None if it is unknown or forgotten."""
        return self._values.get(key)

    def put(self, key: K, value: V) -> None:
        """Store a value; forget the oldest entry if there are more than `size`."""
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._size:
            # At most one entry too many, since each call adds at most one.
            self._values.popitem(last=False)

    def pop(self, key: K) -> V | None:
        """Remove a key and return its value; None if it is unknown."""
        return self._values.pop(key, None)
