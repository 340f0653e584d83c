"""Lines of `key=value` pairs: of `slurm.conf`, and of `scontrol show`.

Source: the manual pages `slurm.conf` and `scontrol` of SchedMD.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_PAIR = re.compile(r'([A-Za-z][A-Za-z0-9_]*)=("[^"]*"|\S*)')
_CONFIGURED = re.compile(r'(?<!\S)([A-Za-z0-9_.]+)\s*[-+*/]?=\s*("[^"]*"|\S+)(?!\S)')
"""Pair of a configuration: blanks may be around the sign, and Slurm reads `+=` as `=`."""
_COMMENT = re.compile(r"(?<!\\)#.*")
_STATE = re.compile(r"\bCPUAlloc=")
_SETTINGS = "Configuration data as of"
"""Beginning of the first line that `scontrol show config` prints."""
_SETTING = re.compile(r"([A-Za-z]\w*) *= (.*)")


class Line(NamedTuple):
    """Logical line of a file, and the number of its first physical line, from 1."""

    number: int
    text: str


def is_state(text: str) -> bool:
    """Return whether a text is the output of `scontrol show nodes`, not a configuration.

    Only the state of a node says how many CPUs are allocated.
    """
    return _STATE.search(text) is not None


def configuration_lines(text: str) -> Iterator[Line]:
    """Yield the lines of a configuration without comments.

    A backslash continues a line with the next one, without a blank between them.
    """
    begun, parts = 0, []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        said = _COMMENT.sub("", line)
        begun = begun or number
        kept = said.rstrip()
        # Slurm counts: two backslashes are one that is written, and continue nothing.
        if (len(kept) - len(kept.rstrip("\\"))) % 2:
            parts.append(kept[:-1])
            continue
        yield Line(begun, "".join((*parts, said)))
        begun, parts = 0, []


def state_blocks(text: str) -> Iterator[Line]:
    """Yield the block of each node, partition and licence as one line, up to the next block."""
    begun, block = 0, ""
    # The extra header at the end closes the last block.
    for number, line in enumerate([*text.splitlines(), _SETTINGS], 1):
        if line.startswith(("NodeName=", "PartitionName=", "LicenseName=", _SETTINGS)):
            if block:
                yield Line(begun, block)
            begun, block = number, "" if line.startswith(_SETTINGS) else line
        elif block:
            block += f" {line}"


def shown_settings(text: str) -> Iterator[Line]:
    r"""Yield the settings that `scontrol show config` prints, as lines of a configuration.

    Examples
    --------
    >>> list(shown_settings("Configuration data as of 2024\nPriorityMaxAge   = 7-00:00:00\n"))
    [Line(number=2, text='PriorityMaxAge=7-00:00:00')]
    """
    shown = False
    for number, line in enumerate(text.splitlines(), 1):
        shown = shown or line.startswith(_SETTINGS)
        found = _SETTING.fullmatch(line)
        if shown and found is not None and found[2] != "(null)":
            yield Line(number, f"{found[1]}={found[2]}")


def configured_pairs(text: str) -> tuple[dict[str, str], str]:
    """Return the values of a line of a configuration by key in lower case, and the rest of it.

    The last value of a repeated key counts, as for Slurm. The rest is text without `=`, which
    Slurm refuses.

    Examples
    --------
    >>> configured_pairs("NodeName = c[1-2] CPUs+=4 idle")
    ({'nodename': 'c[1-2]', 'cpus': '4'}, 'idle')
    """
    pairs = {key.lower(): value.strip('"') for key, value in _CONFIGURED.findall(text)}
    return pairs, " ".join(_CONFIGURED.sub("", text).split())


def pairs_of(text: str) -> dict[str, str]:
    """Return the values of a line of a state by key in lower case, in their order, without quotes.

    The first value of a repeated key counts: free text, such as the reason why a node is down,
    comes last and may look like pairs.

    Examples
    --------
    >>> pairs_of('NodeName=c1 CPUs=8 Reason="no CPUs=4"')
    {'nodename': 'c1', 'cpus': '8', 'reason': 'no CPUs=4'}
    """
    pairs: dict[str, str] = {}
    for key, value in _PAIR.findall(text):
        pairs.setdefault(key.lower(), value.strip('"'))
    return pairs
