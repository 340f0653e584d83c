"""Entries of `key=value` pairs, of a `slurm.conf` and of what `scontrol show` prints."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hpcsched.errors import Finding, InputError, Place
from hpcsched.scenario.document import read_text

_KINDS = ("NodeName", "PartitionName", "NodeSet")
_PAIR = re.compile(r'([A-Za-z][A-Za-z0-9_]*)=("[^"]*"|\S*)')
_COMMENT = re.compile(r"(?<!\\)#.*")
_INCLUDE = re.compile(r"\s*include\s+(\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is said of nodes or a partition: its kind, its pairs with keys in lower case, its line.

    `kind` is `nodename`, `partitionname` or `nodeset`, which is a key too.
    """

    kind: str
    pairs: dict[str, str]
    place: Place

    @property
    def name(self) -> str:
        """The name, or list of names, that it is about."""
        return self.pairs[self.kind]

    def fault(self, message: str) -> InputError:
        """Return the error of something that is wrong with it."""
        return InputError(Finding("bad-entry", f"{self.kind} {self.name}: {message}", self.place))


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of a file; `is_state` says that they are what `scontrol show` prints."""

    entries: list[Entry]
    is_state: bool


def read_entries(path: Path) -> Entries:
    """Return the entries about nodes and partitions in a file.

    Raises InputError where it cannot be read, has none, or includes another file.
    """
    text = read_text(path)
    if "\0" in text:
        raise InputError(Finding("no-text", "expected text, found a NUL byte", Place(str(path))))
    # Only the state of a node says how many CPUs are allocated, not its configuration.
    is_state = re.search(r"\bCPUAlloc=", text) is not None
    found = list(_of_state(text, path) if is_state else _of_configuration(text, path))
    if not any(entry.kind == "nodename" for entry in found):
        raise InputError(
            Finding(
                "no-nodes",
                "expected a slurm.conf with NodeName lines, or what `scontrol show nodes` prints,"
                " found no node",
                Place(str(path)),
            )
        )
    return Entries(found, is_state)


def _of_configuration(text: str, path: Path) -> Iterator[Entry]:
    """Yield an entry for each line that begins one; lines may go on after a backslash."""
    begun, before = 0, ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        said = before + _COMMENT.sub("", line)
        begun = begun or number
        if said.rstrip().endswith("\\"):
            before = said.rstrip()[:-1] + " "
            continue
        place = Place(str(path), begun)
        begun, before = 0, ""
        included = _INCLUDE.match(said)
        if included is not None:
            raise InputError(
                Finding(
                    "include",
                    f"the file {included[1]} is not read: put its lines here, or give what"
                    " `scontrol show nodes` and `scontrol show partitions` print",
                    place,
                )
            )
        yield from _entry(said, place)


def _of_state(text: str, path: Path) -> Iterator[Entry]:
    """Yield an entry for each block: lines up to the next that begins one."""
    begun, block = 0, ""
    for number, line in enumerate([*text.splitlines(), "NodeName="], 1):
        if line.startswith(("NodeName=", "PartitionName=")):
            yield from _entry(block, Place(str(path), begun))
            begun, block = number, line
        elif block:
            block += f" {line}"


def _entry(said: str, place: Place) -> Iterator[Entry]:
    pairs: dict[str, str] = {}
    for key, value in _PAIR.findall(said):
        # Free text, such as why a node is down, comes last and may look like pairs.
        pairs.setdefault(key.lower(), value.strip('"'))
    kind = next(iter(pairs), "")
    if kind in {name.lower() for name in _KINDS}:
        yield Entry(kind, pairs, place)
