"""Lines of `key=value` pairs, in a `slurm.conf` or printed by `scontrol show`.

Source: the manual pages `slurm.conf` and `scontrol` of SchedMD.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_PAIR = re.compile(r'([A-Za-z][A-Za-z0-9_]*)=("[^"]*"|\S*)')
_COMMENT = re.compile(r"(?<!\\)#.*")
_STATE = re.compile(r"\bCPUAlloc=")


class Line(NamedTuple):
    """A logical line, and the number of its first physical line."""

    number: int
    text: str


def is_state(text: str) -> bool:
    """Return True if a text is the output of `scontrol show nodes`, and no configuration.

    Only the state of a node has a number of allocated CPUs.
    """
    return _STATE.search(text) is not None


def configuration_lines(text: str) -> Iterator[Line]:
    """Yield the lines of a configuration without comments; a backslash continues a line."""
    begun, before = 0, ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        said = before + _COMMENT.sub("", line)
        begun = begun or number
        if said.rstrip().endswith("\\"):
            before = said.rstrip()[:-1] + " "
            continue
        yield Line(begun, said)
        begun, before = 0, ""


def state_blocks(text: str) -> Iterator[Line]:
    """Yield the block of each node and partition as one line."""
    begun, block = 0, ""
    for number, line in enumerate([*text.splitlines(), "NodeName="], 1):
        if line.startswith(("NodeName=", "PartitionName=")):
            if block:
                yield Line(begun, block)
            begun, block = number, line
        elif block:
            block += f" {line}"


def pairs_of(text: str) -> dict[str, str]:
    """Return the values of a line by key in lower case, in order, without quotes.

    Of a key that occurs twice the first value counts: free text, such as the reason of a drained
    node, comes last and may look like pairs.
    """
    pairs: dict[str, str] = {}
    for key, value in _PAIR.findall(text):
        pairs.setdefault(key.lower(), value.strip('"'))
    return pairs
