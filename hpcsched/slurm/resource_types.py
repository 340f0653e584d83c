"""Resource types for generic resources: the names that a scenario accepts for them.

A resource type is made of lower-case letters, digits and `_`, and starts with a letter; Slurm's
names may be anything.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from hpcsched.slurm.gres import Gres

_TAKEN = frozenset({"core", "mem"})
"""The types of processors and memory, which no device may pass for."""
_PREFIX = "gres_"


def resource_type(name: str) -> str:
    """Return the resource type of a generic resource: its name, changed as little as can be.

    Capitals become small, and any other letter or sign `_`. A name that does not start with a
    letter then, or is that of another resource (`core`, `mem`), is put behind `gres_`.

    Examples
    --------
    >>> [resource_type(name) for name in ("gpu", "GPU", "nv-link", "2080ti", "mem")]
    ['gpu', 'gpu', 'nv_link', 'gres_2080ti', 'gres_mem']
    """
    found = re.sub(r"[^a-z0-9_]", "_", name.lower())
    plain = re.match("[a-z]", found) is not None and found not in _TAKEN
    return found if plain else f"{_PREFIX}{found}"


def renamed(names: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each name that is changed, and for each that two names share."""
    by_type: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        by_type.setdefault(resource_type(name), []).append(name)
    for type_, alike in by_type.items():
        listed = " and ".join(alike)
        if len(alike) > 1:
            yield f"the generic resources {listed} are counted together, as {type_}"
        elif alike != [type_]:
            yield f"the generic resource {listed} is called {type_}"


def totals(resources: Iterable[Gres]) -> Counter[str]:
    """Return how many there are of each resource type; those of which jobs use none up are not."""
    counts: Counter[str] = Counter()
    for one in resources:
        if one.consumed and one.amount:
            counts[resource_type(one.name)] += one.amount
    return counts
