"""Resource types for generic resources, under names that a scenario accepts.

A resource type consists of lower-case letters, digits and `_`, and starts with a letter; Slurm's
names may be anything.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from hpcsched_slurm.syntax.gres import Gres

_TAKEN = frozenset({"core", "mem"})
"""Resource types of processors and memory, which no device may use."""
_PREFIX = "gres_"


def resource_type(name: str) -> str:
    """Return the resource type of a generic resource: its name, changed as little as possible.

    Letters become lower case, any other character `_`. A name that then does not start with a
    letter, or is a built-in type (`core`, `mem`), gets the prefix `gres_`.

    Examples
    --------
    >>> [resource_type(name) for name in ("gpu", "GPU", "nv-link", "2080ti", "mem")]
    ['gpu', 'gpu', 'nv_link', 'gres_2080ti', 'gres_mem']
    """
    found = re.sub(r"[^a-z0-9_]", "_", name.lower())
    plain = re.match("[a-z]", found) is not None and found not in _TAKEN
    return found if plain else f"{_PREFIX}{found}"


def renamed(names: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each changed name, and for each type shared by several names."""
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
    """Return the number of devices of each resource type, without those that are not consumed."""
    counts: Counter[str] = Counter()
    for one in resources:
        if one.consumed and one.amount:
            counts[resource_type(one.name)] += one.amount
    return counts
