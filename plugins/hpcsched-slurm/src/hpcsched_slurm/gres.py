"""Generic resources as Slurm writes them: `gpu:a100:4(S:0-1)`, `gres:gpu:2`, `gres/gpu=2`."""

import re
from collections import Counter
from typing import NamedTuple

_PART = re.compile(
    r"(?:gres[:/])?(?P<name>[A-Za-z_][\w.-]*)"
    r"(?::(?P<type>[A-Za-z_][\w.-]*))?"
    r"(?:[:=](?P<count>\d+)(?P<scale>[KMGTP]?))?"
)
_SCALES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}


class Gres(NamedTuple):
    """A resource's name, its type (None: any), and how many."""

    name: str
    type: str | None
    amount: int


def parse_gres(text: str) -> tuple[Gres, ...]:
    """Return the resources in a text; raises ValueError where it is not of this form."""
    found = []
    for part in re.split(r",(?![^(]*\))", text):
        bare = re.sub(r"\(.*?\)", "", part).strip()
        if not bare or bare == "(null)":
            continue
        match = _PART.fullmatch(bare)
        if match is None:
            raise ValueError(f"expected resources such as gpu:a100:4, found {text!r}")
        count = 1 if match["count"] is None else int(match["count"]) * _SCALES[match["scale"]]
        found.append(Gres(match["name"], match["type"], count))
    return tuple(found)


def totals(resources: tuple[Gres, ...]) -> Counter[str]:
    """Return how many there are by resource type, which is the name in lower case."""
    counts: Counter[str] = Counter()
    for resource in resources:
        counts[resource_type(resource.name)] += resource.amount
    return counts


def resource_type(name: str) -> str:
    """Return a name as a scenario can have it: lower-case letters, digits and `_`."""
    return re.sub(r"[^a-z0-9_]", "_", name.lower())


def offers(node: tuple[Gres, ...], asked: tuple[Gres, ...]) -> bool:
    """Say whether a node has as many of each as are asked for, of the types that are named."""
    return all(
        sum(one.amount for one in node if one.name == want.name and want.type in {None, one.type})
        >= want.amount
        for want in asked
    )
