"""Reader of system files of the Alea simulator (`.machines`): one cluster of equal nodes a line.

A line has six fields: number, cluster, nodes, cores per node, speed, memory per node in KiB.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import LARGEST
from hpcsched.paths import read_file

_FIELDS = ("number", "cluster", "nodes", "cores per node", "speed", "memory per node in KiB")
_AMOUNTS = {2: 10_000_000, 3: LARGEST, 5: LARGEST // 1024}
"""The fields that hold whole numbers of at least 1, with the most that they may hold."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Cluster:
    """Line of a `.machines` file.

    Attributes
    ----------
    line
        Line number, from 1.
    cores
        Cores per node.
    memory
        Bytes per node.
    """

    line: int
    name: str
    nodes: int
    cores: int
    memory: int


def read_machines(path: Path) -> Sequence[Cluster]:
    """Return the clusters of a `.machines` file."""
    try:
        # With the signature variant, since editors on Windows begin files with a byte order mark.
        lines = read_file(path).decode("utf-8-sig").split("\n")
    except OSError as error:
        message = f"the file cannot be read: {(error.strerror or str(error)).lower()}"
        raise InputError(Finding("unreadable-file", message, Place(str(path)))) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        message = f"expected UTF-8 text, found byte {error.start} that is none"
        raise InputError(Finding("unreadable-file", message, Place(str(path), line))) from None
    clusters: list[Cluster] = []
    findings: list[Finding] = []
    seen: dict[str, int] = {}
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        problems = list(_problems(text.split(), seen))
        findings.extend(Finding("bad-machine", p, Place(str(path), number)) for p in problems)
        if not problems:
            _, name, nodes, cores, _, memory = text.split()
            seen[name] = number
            clusters.append(Cluster(number, name, int(nodes), int(cores), int(memory) * 1024))
    if not clusters and not findings:
        message = "expected at least one cluster, found none"
        findings.append(Finding("bad-machine", message, Place(str(path))))
    if findings:
        raise InputError(findings)
    return clusters


def _problems(fields: Sequence[str], seen: dict[str, int]) -> Iterator[str]:
    """Yield the errors of a line."""
    if len(fields) != len(_FIELDS):
        yield f"expected {len(_FIELDS)} fields ({', '.join(_FIELDS)}), found {len(fields)}"
        return
    name = fields[1]
    if not _NAME.fullmatch(name):
        yield f"expected a cluster name of letters, digits, '.', '_' and '-', found {name!r}"
    elif name in seen:
        yield f"the cluster {name!r} is given twice; first in line {seen[name]}"
    for k, most in _AMOUNTS.items():
        if not re.fullmatch(r"[0-9]{1,20}", fields[k]) or not 1 <= int(fields[k]) <= most:
            yield f"{_FIELDS[k]}: expected a whole number from 1 to {most}, found {fields[k]!r}"
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", fields[4]):
        yield f"speed: expected a number, found {fields[4]!r}"
