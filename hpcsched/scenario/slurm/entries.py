"""Entries about nodes, partitions, licences, the scheduler and priorities in a file of Slurm."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from hpcsched.errors import Finding, InputError, Place
from hpcsched.scenario.document import read_text
from hpcsched.slurm.slurm_lines import (
    configuration_lines,
    is_state,
    pairs_of,
    shown_settings,
    state_blocks,
)

_KINDS = frozenset(
    {"nodename", "partitionname", "nodeset", "schedulerparameters", "licenses", "licensename"}
)
_PRIORITY = "priority"
"""Beginning of the keys of the priority plugin."""
_INCLUDE = re.compile(r"\s*include\s+(\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """Entry about nodes, a partition, a node set, licences, the scheduler or priorities.

    Attributes
    ----------
    kind
        `nodename`, `partitionname`, `nodeset`, `schedulerparameters`, `licenses` (of a
        configuration), `licensename` (of a state) or a key that begins with `priority`; it is a
        key of the pairs too.
    pairs
        Values by key in lower case.
    place
        File and line.
    """

    kind: str
    pairs: dict[str, str]
    place: Place

    @property
    def name(self) -> str:
        """Name, or list of names, of the entry; the value of a setting."""
        return self.pairs[self.kind]

    def fault(self, message: str) -> InputError:
        """Return the error about a fault of the entry."""
        return InputError(Finding("bad-entry", f"{self.kind} {self.name}: {message}", self.place))

    def warning(self, message: str) -> Finding:
        """Return a warning about a part of the entry that is left out or changed."""
        told = f"{self.kind} {self.name}: {message}"
        return Finding("bad-entry", told, self.place, severity="warning")


def read_entries(path: Path) -> list[Entry]:
    """Return the entries about nodes, partitions, licences, the scheduler and priorities in a file.

    Raises
    ------
    InputError
        If it cannot be read, has none, or includes another file.
    """
    text = read_text(path)
    if "\0" in text:
        raise InputError(Finding("no-text", "expected text, found a NUL byte", Place(str(path))))
    found = list(_entries(text, path))
    if not any(entry.kind == "nodename" for entry in found):
        raise InputError(
            Finding(
                "no-nodes",
                "expected a slurm.conf with NodeName lines, or what `scontrol show nodes` prints,"
                " found no node",
                Place(str(path)),
            )
        )
    return found


def _entries(text: str, path: Path) -> Iterator[Entry]:
    state = is_state(text)
    lines = chain(state_blocks(text), shown_settings(text)) if state else configuration_lines(text)
    for number, said in lines:
        place = Place(str(path), number)
        # Refused and not skipped: the nodes of the other file would be missing without a word.
        included = None if state else _INCLUDE.match(said)
        if included is not None:
            raise InputError(
                Finding(
                    "include",
                    f"the file {included[1]} is not read: put its lines here, or give what"
                    " `scontrol show nodes` and `scontrol show partitions` print",
                    place,
                )
            )
        pairs = pairs_of(said)
        kind = next(iter(pairs), "")
        if kind in _KINDS or kind.startswith(_PRIORITY):
            yield Entry(kind, pairs, place)
