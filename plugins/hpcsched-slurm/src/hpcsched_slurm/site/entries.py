"""Entries about nodes, partitions, licences, the scheduler and priorities in a file of Slurm."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from hpcsched.errors import Finding, InputError, Place
from hpcsched.paths import MOST_TEXT
from hpcsched.scenario.document import read_text
from hpcsched_slurm.syntax.slurm_lines import (
    configuration_lines,
    configured_pairs,
    is_state,
    pairs_of,
    shown_settings,
    state_blocks,
)

_KINDS = frozenset(
    {"nodename", "partitionname", "nodeset", "schedulerparameters", "licenses", "licensename"}
)
NOT_REPLAYED = {
    key.lower(): key
    for key in (
        *("AccountingStorageEnforce", "AuthInfo", "BurstBufferType", "EnforcePartLimits"),
        *(
            "JobSubmitPlugins",
            "OverTimeLimit",
            "PreemptExemptTime",
            "PreemptMode",
            "PreemptType",
            "SchedulerType",
        ),
        *("SelectType", "SelectTypeParameters", "SuspendTime", "TopologyPlugin"),
    )
}
"""Further settings that have an effect on starts, with their spelling."""
_PRIORITY = "priority"
"""Beginning of the keys of the priority plugin."""
_INCLUDE = re.compile(r"\s*include\s+(\S+)", re.IGNORECASE)
_MENTIONED = re.compile(r"(?<![\w/-])(nodename|partitionname)(?![\w/-])", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True, slots=True)
class Entry:
    """Entry about nodes, a partition, a node set, licences, the scheduler or priorities.

    Attributes
    ----------
    kind
        `nodename`, `partitionname`, `nodeset`, `schedulerparameters`, `licenses` (of a
        configuration), `licensename` (of a state), a key that begins with `priority` or one of
        `NOT_REPLAYED`; it is a key of the pairs too.
    pairs
        Values by key in lower case.
    rest
        Text of the line that is no pair, or not understood as an entry.
    """

    kind: str
    pairs: dict[str, str]
    place: Place
    rest: str = ""

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
        If it cannot be read or has none, or a file that it includes cannot be read.
    """
    found = list(_entries(path, path.parent, {path.name}))
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


def _entries(path: Path, folder: Path, seen: set[str]) -> Iterator[Entry]:
    """Yield the entries of a file; in the place of an `Include`, those of the file it names."""
    text = read_text(path, MOST_TEXT)
    if "\0" in text:
        raise InputError(Finding("no-text", "expected text, found a NUL byte", Place(str(path))))
    if is_state(text):
        for number, said in chain(state_blocks(text), shown_settings(text)):
            pairs = pairs_of(said)
            kind = next(iter(pairs), "")
            if _is_read(kind):
                yield Entry(kind, pairs, Place(str(path), number))
        return
    for number, said in configuration_lines(text):
        place = Place(str(path), number)
        included = _INCLUDE.match(said)
        if included is not None:
            yield from _entries(_beside(included[1], folder, place, seen), folder, seen)
            continue
        pairs, rest = configured_pairs(said)
        kind = next(iter(pairs), "")
        if _is_read(kind):
            yield Entry(kind, pairs, place, rest)
            continue
        # Told, as the nodes or the partition would be missing without a word.
        mentioned = _MENTIONED.search(_QUOTED.sub("", said))
        if mentioned is not None:
            yield Entry(mentioned[1].lower(), {mentioned[1].lower(): ""}, place, said.strip())


def _is_read(kind: str) -> bool:
    return kind in _KINDS or kind in NOT_REPLAYED or kind.startswith(_PRIORITY)


def _beside(name: str, folder: Path, place: Place, seen: set[str]) -> Path:
    """Return the path of an included file, which lies in the folder or below."""
    # A copy of /etc/slurm names its files by their places there.
    inside = Path(name).name if Path(name).is_absolute() else str(Path(name))
    file = folder / inside
    if ".." in Path(inside).parts or not file.is_file():
        message = (
            f"expected the file {inside} in the folder {folder}, found none: put its lines here, or"
            " give what `scontrol show nodes` and `scontrol show partitions` print"
        )
        raise InputError(Finding("include", message, place))
    if inside in seen:
        raise InputError(Finding("include", f"the file {inside} was read before", place))
    seen.add(inside)
    return file
