"""Node requests in the syntax of PBS and TORQUE users: `2:ppn=8:cl_zewura#excl`.

A request is a list of chunks with `+` between them; a chunk is a number of nodes, the processors on
each (`ppn`), and properties that the nodes must have (`cl_zewura`) or must not have (`^cl_zewura`).
"""

import re
from math import floor
from typing import NamedTuple

from hpcsched.parameters import LARGEST

_MEMORY = re.compile(r"([0-9]{1,15})(b|kb|mb|gb|tb)?", re.IGNORECASE)
_BYTES = {"": 1, "b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40}
_LARGEST = 10**9


class NodeRequest(NamedTuple):
    """Request for identical nodes.

    Attributes
    ----------
    memory
        Bytes on each node; None if not given.
    exclusive
        Whether other jobs are kept off the nodes.
    rounded
        Whether a fraction of a processor was cut off.
    """

    nodes: int
    processors: int
    memory: int | None = None
    exclusive: bool = False
    wanted: tuple[str, ...] = ()
    unwanted: tuple[str, ...] = ()
    rounded: bool = False


class HeterogeneousChunksError(ValueError):
    """Request for heterogeneous chunks, which are no identical units of one job."""


def parse_node_request(text: str) -> NodeRequest:
    """Return the request in a text.

    Raises
    ------
    HeterogeneousChunksError
        If its chunks differ in more than their number of nodes.
    ValueError
        If the text is no request.

    Examples
    --------
    >>> parse_node_request("2:ppn=8").processors
    8
    """
    body, mark, flags = text.partition("#")
    if mark and flags != "excl":
        raise ValueError(f"expected '#excl', found {'#' + flags!r}")
    chunks = [_chunk(part, exclusive=bool(flags)) for part in body.split("+")]
    if len({chunk._replace(nodes=0) for chunk in chunks}) > 1:
        raise HeterogeneousChunksError(f"the chunks of {text!r} ask for unlike nodes")
    return chunks[0]._replace(nodes=sum(chunk.nodes for chunk in chunks))


def _chunk(text: str, *, exclusive: bool) -> NodeRequest:
    first, *others = text.split(":")
    if first[:1].isalpha() or first[:1] == "^":  # one node, of which this is a name or a property
        request, others = NodeRequest(1, 1, exclusive=exclusive), [first, *others]
    else:
        request = NodeRequest(_whole(first), 1, exclusive=exclusive)
    wanted: set[str] = set()
    unwanted: set[str] = set()
    for word in others:
        key, equals, value = word.partition("=")
        if key == "ppn" and equals:
            processors = _processors(value)
            request = request._replace(
                processors=floor(processors), rounded=processors != floor(processors)
            )
        elif key == "mem" and equals:
            request = request._replace(memory=_memory(value))
        elif key == "host" and value:
            wanted.add(value)
        elif word == "excl":
            request = request._replace(exclusive=True)
        elif word.startswith("^") and len(word) > 1 and not equals:
            unwanted.add(word[1:])
        elif word.strip("^") and not equals:
            wanted.add(word)
        else:
            raise ValueError(f"expected a property, ppn=, mem= or host=, found {word!r}")
    # Sorted, since their order makes no difference between chunks.
    return request._replace(wanted=tuple(sorted(wanted)), unwanted=tuple(sorted(unwanted)))


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,10}", text) or not 1 <= int(text) <= _LARGEST:
        raise ValueError(f"expected a number of nodes from 1 on, found {text!r}")
    return int(text)


def _processors(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,10}(\.[0-9]{1,6})?", text) or not 1 <= float(text) <= _LARGEST:
        raise ValueError(f"expected ppn=1 or more, found 'ppn={text}'")
    return float(text)


def _memory(text: str) -> int:
    match = _MEMORY.fullmatch(text)
    amount = int(match[1]) * _BYTES[(match[2] or "").lower()] if match else 0
    if not 1 <= amount <= LARGEST:
        raise ValueError(f"expected an amount such as mem=3gb, found 'mem={text}'")
    return amount
