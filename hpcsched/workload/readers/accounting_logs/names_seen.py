"""Numbering of names in the order of their first occurrence."""

from collections.abc import Iterator


class NamesSeen:
    """Numbers of names, from 1 in the order of their first occurrence.

    Parameters
    ----------
    kind
        Kind of name, as header comments of the Parallel Workloads Archive write it (`Partition`).
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int | None:
        """Return the name's number, a new one for a new name; None for an empty name."""
        return self._numbers.setdefault(name, len(self._numbers) + 1) if name else None

    def comments(self) -> Iterator[str]:
        """Yield a line for each name, such as `Partition: 3 gpu`."""
        for name, number in self._numbers.items():
            yield f"{self._kind}: {number} {name}"
